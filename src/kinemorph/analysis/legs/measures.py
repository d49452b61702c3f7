"""`with_measures`: a system whose runs integrate impulses, work, effort and distance together with the motion.

    system = with_measures(library.amru5_walk())
    run = simulate(system, 26.0)
    run["foot1_impulse_z"], run["work"], run["effort"], run["distance"]

Each measure is a state of an `Integral` element, so that it has the accuracy of the run, also in batches and in
derivatives of motions; nothing reads these states, so that the motion is that of the system without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinemorph.analysis.legs.limbs import (
    Feet,
    GroundContact,
    Limb,
    drives_of,
    finite_number,
    force_signals,
    limbs,
    trunk,
)
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.elements.contact.contact_laws import Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.elements.sensing.sensors import Probe
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.system import System
from kinemorph.words import listed

MEASURES = ("impulse", "work", "effort", "distance")
Pairs = list[tuple[str, str]]
PROBE = "measured_velocity"  # the name of the element that measures the velocity of the trunk


def with_measures(
    system: System,
    measures: Sequence[str] | None = None,
    feet: Feet = None,
    *,
    body: str | None = None,
    direction: Sequence[float] = (1.0, 0.0, 0.0),
) -> System:
    """The system with `Integral` elements for some measures.

    `measures`      some of "impulse", "work", "effort" and "distance"; by default all of them, without the impulses of
                    rigid contacts and held points: their forces are those of constraints, which an `Integral` cannot
                    read; `stances` sums them up from samples
    `feet`          the contacts of the feet, as in `stances`
    `body`          the body or frame whose distance is measured; by default the body that carries all legs
    `direction`     of the distance, in world axes, shape (3,)

    The states of the run are

        <contact>_impulse_x, _y, _z     time integrals of the force of the ground on the foot, in world axes [N s]
        <leg>_work, work                mechanical work of the drives of the joints of a leg, and of all drives [J]
        <leg>_effort, effort            time integrals of the sum of squared torques [N^2 m^2 s]
        distance                        the time integral of the velocity along `direction` [m]

    Drives are controllers that drive joints, and motors. Those of joints that are not on the way from the trunk to a
    foot, as in closed chains, are part of the sums over all drives only.
    """
    if not isinstance(system, System):
        raise not_a_model(system, "a System with contacts of feet")
    chosen = MEASURES if measures is None else measures
    unknown = [name for name in chosen if name not in MEASURES]
    if isinstance(chosen, str) or unknown:
        given = chosen if isinstance(chosen, str) else unknown[0]
        raise ModelError(f"with_measures: measures has '{given}'; expected a list of some of {listed(MEASURES)}.")
    robot, legs = system.robot, limbs(system.robot, system.elements, feet)
    towards = _direction(direction)
    added: list[Any] = []
    if "impulse" in chosen:
        contacts = [contact for leg in legs for contact in leg.contacts]
        held = [contact for contact in contacts if not _is_soft(contact)]
        if held and measures is not None:
            raise ModelError(
                f"the force of '{held[0].name}' is that of a constraint, which an Integral cannot read. Leave "
                '"impulse" out of measures; stances(run) sums up its impulses from the samples.'
            )
        added += [one for contact in contacts if _is_soft(contact) for one in _impulses(contact)]
    if "work" in chosen or "effort" in chosen:
        drives = drives_of(robot, system.elements)
        for name, signals in _by_leg(robot, legs, drives).items():
            added += _efforts(name, signals, chosen)
    if "distance" in chosen:
        speeds = tuple(f"{PROBE}.v{axis}" for axis in "xyz")
        if body is not None:
            robot.frame(body)  # raises an error where there is none of this name
        added.append(Probe(PROBE, body or trunk(robot, [leg.contacts[0].body for leg in legs]), "velocity"))
        added.append(Integral("distance", speeds, weights=towards, unit="m"))
    return replace(system, elements=(*system.elements, *added))


def _direction(given: Sequence[float]) -> tuple[float, ...]:
    """The direction of the distance as three numbers; raises ShapeError where it is none."""
    numbers = tuple(finite_number("with_measures", "an entry of direction", x) for x in given)
    if len(numbers) != 3 or not any(numbers):
        raise ShapeError(f"with_measures: direction is {given!r}; expected three numbers along x, y, z, not all 0.")
    return numbers


def _is_soft(contact: GroundContact) -> bool:
    """Whether the force of a contact is a function of the state, and not that of a constraint."""
    return isinstance(contact, Contact) and not isinstance(contact.normal, Rigid)


def _impulses(contact: GroundContact) -> list[Integral]:
    return [
        Integral(f"{contact.name}_impulse_{axis}", signal, unit="N s")
        for axis, signal in zip("xyz", force_signals(contact), strict=True)
        if signal
    ]


def _by_leg(robot: Robot, legs: Sequence[Limb], drives: Mapping[str, Sequence[str]]) -> dict[str, Pairs]:
    """For the name of each leg, and "" for all drives, pairs of the signals of a torque and of its velocity."""
    found: dict[str, Pairs] = {}
    for leg in (*legs, None):
        mine = drives if leg is None else [name for joint in leg.joints for name in robot.joint(joint).v_names]
        pairs = [(signal, f"v.{name}") for name in mine for signal in drives.get(name, ())]
        if pairs:
            found["" if leg is None else f"{leg.name}_"] = pairs
    return found


def _efforts(name: str, pairs: Pairs, measures: Sequence[str]) -> list[Integral]:
    torques, speeds = zip(*pairs, strict=True)
    found = []
    if "work" in measures:
        found.append(Integral(f"{name}work", torques, times=speeds, unit="J"))
    if "effort" in measures:
        found.append(Integral(f"{name}effort", torques, of="square", unit="N^2 m^2 s"))
    return found
