"""The legs of a system: for each leg, the contacts of its foot with the ground, and the joints that carry the foot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from numbers import Real
from typing import Any

from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.wiring import channel_names, driven
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean, quoted

Feet = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
GroundContact = Contact | Hold  # what connects a foot with the ground


@dataclass(frozen=True)
class Limb:
    """One leg: its name, the elements that connect its foot with the ground, and the joints that carry the foot.

    The joints are those of the tree from the trunk to the foot; see `trunk`.
    """

    name: str
    contacts: tuple[GroundContact, ...]
    joints: tuple[str, ...]


def plant_of_run(run: Trajectory, what: str, after: float = 0.0) -> tuple[Plant, Robot]:
    """The plant and the robot of a run, for the public function `what`, whose results begin at the time `after` [s].

    Raises ShapeError where `run` is no run or `after` no finite time, and UnsupportedError for a run without a robot,
    or whose system changes.
    """
    if not isinstance(run, Trajectory):
        raise ShapeError(
            f"{what} was given a {type(run).__name__}; expected a Trajectory, the result of simulate, or one run of a "
            "batch, as batch[0]."
        )
    plant = run.segments[0].plant
    if plant.robot is None:
        raise UnsupportedError(f"{what}: run '{run.name}' has no robot, so that it has no legs.")
    if len(run.stretches) > 1:
        raise UnsupportedError(
            f"{what}: the system of run '{run.name}' changes during the run. Give run.stretches[0] instead."
        )
    finite_number(what, "after", after, "a time in seconds")
    return plant, plant.robot


def finite_number(
    owner: str, what: str, value: Any, expected: str = "a finite number", *, least: float = -inf, above: float = -inf
) -> float:
    """The value as a float; raises ShapeError where it is not a finite number, at least `least` and above `above`."""
    number = float(value) if isinstance(value, Real) else nan
    if not (isfinite(number) and number >= least and number > above):
        raise ShapeError(f"{owner}: {what} is {value!r}; expected {expected}.")
    return number


def force_signals(contact: GroundContact) -> tuple[str, str, str]:
    """The names of the signals of the force [N] on the foot along x, y and z of the world; "" along a free axis."""
    if isinstance(contact, Contact):
        x, y, z = (f"{contact.name}.force_{axis}" for axis in "xyz")
    else:
        x, y, z = (f"{contact.name}.{axis}.force" if axis in contact.axes else "" for axis in "xyz")
    return x, y, z


def limbs(robot: Robot, elements: Iterable[Any], feet: Feet = None) -> tuple[Limb, ...]:
    """The legs of a robot with these elements, in the order of their contacts.

    `feet` are the names of the contacts of feet with the ground (`Contact`, or `Hold` along axes of the world), one
    contact for each leg; or, by the name of the leg, one name or several. By default every such contact is a leg; the
    name of a leg is that of its contact without the ending that all of them share ("front_left" of
    "front_left_ground").
    """
    standing = [one for one in elements if isinstance(one, Contact | Hold)]
    known = {one.name: one for one in standing if isinstance(one, Contact) or one.along == WORLD}
    if not known:
        raise ModelError(
            f"'{robot.name}' has no contacts with the ground; expected a Contact, or a Hold along axes of the world, "
            "for each foot. Add them to the system."
        )
    chosen = feet_by_leg(known, feet)
    base = trunk(robot, [known[names[0]].body for names in chosen.values()])
    found = []
    for leg, names in chosen.items():
        path = _path(robot, known[names[0]].body)
        own = reversed(path[: path.index(base)])
        joints = tuple(robot.parent_joint[body].name for body in own if body in robot.parent_joint)
        found.append(Limb(leg, tuple(known[name] for name in names), joints))
    return tuple(found)


def feet_by_leg(known: Iterable[str], feet: Feet) -> dict[str, tuple[str, ...]]:
    """The names of contacts by the name of the leg; `known` are the names of all contacts."""
    known = tuple(known)
    if isinstance(feet, Mapping):
        chosen = {leg: (names,) if isinstance(names, str) else tuple(names) for leg, names in feet.items()}
    else:
        if not (feet is None or isinstance(feet, Iterable)):
            raise ModelError(f"feet is {feet!r}; expected names of contacts, some of: {quoted(known)}.")
        names = known if feet is None else (feet,) if isinstance(feet, str) else tuple(feet)
        ending = _shared_ending(names)
        chosen = {name.removesuffix(ending): (name,) for name in names}
    wrong = [name for names in chosen.values() for name in names if name not in known]
    if wrong or not all(chosen.values()) or not chosen:
        missing = f"there is no contact '{wrong[0]}' of a foot" if wrong else "feet has a leg without contacts"
        hint = did_you_mean(wrong[0], known) if wrong else ""
        raise ModelError(f"{missing}; expected one of: {quoted(known)}.{hint}")
    return chosen


def trunk(robot: Robot, feet: Sequence[str]) -> str:
    """The body that carries all legs, which end at the bodies or frames `feet`.

    It is the last body on the way from the world to every foot; for a single leg, the first one that has a mass.
    """
    paths = [_path(robot, foot) for foot in feet]
    if len(paths) == 1:
        return next((body for body in reversed(paths[0]) if evaluate(robot.body(body).mass) > 0.0), paths[0][-1])
    return next((body for body in paths[0] if all(body in path for path in paths)), paths[0][-1])


def drives_of(robot: Robot, elements: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """The signals of torques and forces that drive velocities of joints, by the name of the velocity.

    These are the outputs of controllers that drive joints, and the torques of `DCMotor`. A controller of motors is not
    among them, as its outputs are voltages. The force of an `Actuator` is that before its gear and before the limits of
    its joint, so that it is an error here.
    """
    velocity = {name: name for name in robot.all_v_names}
    velocity |= {joint.name: joint.v_names[0] for joint in robot.joints if len(joint.v_names) == 1}
    found: dict[str, tuple[str, ...]] = {}
    for element in elements:
        if isinstance(element, Actuator):
            raise ModelError(
                f"actuator '{element.name}' publishes its force, not the effort on its joint, so that its effort and "
                "work cannot be summed up. "
                "Let a controller drive its joint, or measure neither effort nor work."
            )
        pairs = dict(law_of(element).drives(element))
        if isinstance(element, PD):  # acts on its joints itself
            pairs = dict(zip(driven(element), channel_names(element), strict=True))
        elif isinstance(element, DCMotor):
            pairs = {element.joint: "torque"}
        for target, signal in pairs.items():
            if target in velocity:
                name = f"{element.name}.{signal}" if signal else str(element.name)
                found[velocity[target]] = (*found.get(velocity[target], ()), name)
    return found


def _path(robot: Robot, place: str) -> list[str]:
    """The bodies from that of a body or frame to the root, without the world."""
    return [body for body in robot.path_to_root(robot.frame(place).body) if body != WORLD]


def _shared_ending(names: Sequence[str]) -> str:
    """The ending from an underscore on that all names share, such as "_ground"; "" for a single name."""
    if len(names) < 2:
        return ""
    pieces = ["_" + "_".join(names[0].split("_")[k:]) for k in range(1, names[0].count("_") + 1)]
    return next((ending for ending in pieces if all(name.endswith(ending) for name in names)), "")
