"""`standing_curve`: how a legged system stands for many stiffnesses of its posture, its efforts and ground reactions.

A PD controller holds all joints of the legs at the angles of a stance, and the feet are anchored where they stand in
it. Stiff joints leave the feet where they are, so that the ground pushes them straight up. With softer joints the trunk
sinks, the feet would spread, and the ground holds them back: reactions lean to the trunk, and the torques of joints
decrease. Where joints are so soft that the posture changes, torques increase again. Section "standing" and Table 1 of
Nelson and Quinn show this for a cockroach.

For small displacements of the joints and ground that is stiff along itself, the equilibrium minimizes the sum of
squares of all torques: it is the distribution of forces of least effort, which a controller of forces would have to
compute.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.limbs import Feet, Limb, drives_of, force_signals, limbs
from kinemorph.analysis.small_motions.equilibrium import Equilibrium, equilibrium
from kinemorph.analysis.small_motions.plant_derivatives import built, point_of
from kinemorph.errors import ModelError, ModelWarning, users_level
from kinemorph.model.elements.contact.contact_laws import Anchor
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.parameter import Parameter, evaluate
from kinemorph.model.robot import not_a_model
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant
from kinemorph.shown import ShownStanding
from kinemorph.words import counted, did_you_mean, quoted

GAIN = "standing gain"  # the name of the stiffness as a parameter of the plant
TOLERANCE = 1e-14  # of forces, relative to the stiffness of joints, which is far above the torques


@dataclass(frozen=True, eq=False, repr=False)
class StandingCurve(ShownStanding):
    """The result of `standing_curve`, for n gains and k legs; `message` says where no equilibrium was found, or "".

    `gains` (n,)              stiffness of all joints of the posture [N m/rad], as given
    `legs`                    the names of the legs
    `q` (n, nq)               the configurations at rest
    `errors` (n, k)           the mean magnitude of the angle errors of the joints of each leg [rad]
    `efforts` (n, k)          the sum of squares of the joint torques of each leg [N^2 m^2]
    `reactions` (n, k, 3)     the forces of the ground on the feet along x, y and z of the world [N]
    `grips` (n, k)            horizontal divided by vertical force of each foot
    `static` (k,)             the coefficient of static friction of each foot, infinite where it has none
    `slip_gain`               the largest gain [N m/rad] between those given at which a foot begins to slip, or NaN

    The feet stay anchored in all rows; below `slip_gain` friction would not hold them.
    """

    name: str
    gains: Array
    legs: tuple[str, ...]
    q: Array
    errors: Array
    efforts: Array
    reactions: Array
    grips: Array
    static: Array
    slip_gain: float
    message: str

    def __repr__(self) -> str:
        span = f"{self.gains.max():g} to {self.gains.min():g} N m/rad"
        slips = "" if np.isnan(self.slip_gain) else f", feet slip below {self.slip_gain:.3g} N m/rad"
        counts = f"{counted(len(self.gains), 'gain')} from {span}, {counted(len(self.legs), 'leg')}"
        return f"<StandingCurve of '{self.name}': {counts}{slips}>"

    def column(self, leg: str) -> int:
        """The index of a leg in `legs`. Raises ModelError for a name that is not one of them."""
        if leg not in self.legs:
            raise ModelError(
                f"'{self.name}' has no leg '{leg}'; expected one of: {quoted(self.legs)}.{did_you_mean(leg, self.legs)}"
            )
        return self.legs.index(leg)

    def relative_effort(self, leg: str) -> Array:
        """The effort of a leg divided by its effort at the largest gain, shape (n,)."""
        own = self.efforts[:, self.column(leg)]
        return np.asarray(own / own[int(np.argmax(self.gains))])

    def least(self, leg: str) -> int:
        """The row with the least effort of a leg."""
        return int(np.nanargmin(self.efforts[:, self.column(leg)]))


def standing_curve(
    model: System,
    gains: Iterable[float],
    *,
    controller: str = "posture",
    feet: Feet = None,
) -> StandingCurve:
    """How a legged system stands for each of the `gains` [N m/rad], from its initial configuration.

    `controller`    the name of the PD controller whose gain kp is set to each of the gains, for all its joints
    `feet`          the contacts of the feet with the ground, as in `stances`; by default all contacts

    Feet with `Anchor` friction are anchored where they are in the initial configuration of the system, in which they
    have to touch the ground; others give a ModelWarning, because nothing holds them along the ground at rest. The
    search for each gain starts from the one before it: give the gains in order, from the largest on. Where no
    equilibrium is found, the row has NaN and the message says why.

    Joints that the controller does not hold keep their own springs. Errors leave these joints out, and efforts count
    only torques of controllers and motors: for a cockroach with spherical hips, which bushings hold, they are those of
    the hinges.
    """
    if not isinstance(model, System):
        raise not_a_model(model, "a System with contacts of feet")
    try:
        chosen = np.array(gains if isinstance(gains, np.ndarray) else [*gains], dtype=float)
    except (TypeError, ValueError):
        chosen = np.zeros(0)
    if chosen.ndim != 1 or not chosen.size or not np.all((chosen > 0.0) & np.isfinite(chosen)):
        raise ModelError(f"standing_curve: gains are {gains!r:.80}; expected finite numbers above 0 [N m/rad].")
    study = _Study(model, controller, feet, float(chosen[0]))
    rows, message, before = [], "", None
    for gain in chosen:
        found = study.standing(gain, before)
        if not found and not message:
            message = f"At a gain of {gain:g} N m/rad: {found.message}"
        rows.append(study.row(found))
        before = found.q if found else before
    q, errors, efforts, reactions = (np.array(column) for column in zip(*rows, strict=True))
    grips = np.hypot(reactions[..., 0], reactions[..., 1]) / reactions[..., 2]
    slip = study.slip_gain(chosen, q, grips)
    names = tuple(leg.name for leg in study.legs)
    found_columns = (q, errors, efforts, reactions, grips, study.static)
    return StandingCurve(model.name, chosen, names, *found_columns, slip, message)


class _Study:
    """One plant for all gains: its anchored feet, and functions of a state that give angles, torques and forces."""

    def __init__(self, model: System, controller: str, feet: Feet, gain: float) -> None:
        pd = _posture(model, controller)
        soft = replace(pd, kp=(Parameter(GAIN, gain, "N m/rad"),))
        elements = tuple(soft if element is pd else element for element in model.elements)
        self.plant = plant(replace(model, elements=elements), parameters=[GAIN])
        robot = model.robot
        self.legs = limbs(robot, elements, feet)
        self.static = np.array([_static(leg) for leg in self.legs])
        _warn_of_loose_feet(self.legs)
        self.start = point_of(self.plant)
        signals = drives_of(robot, elements)
        names = [name for leg in self.legs for name in _velocities(leg, robot)]
        self.torques = {name: signals[name] for name in names if name in signals}
        self.forces = [force_signals(contact) for leg in self.legs for contact in leg.contacts]
        wanted = [one for signal in self.torques.values() for one in signal]
        wanted += [name for row in self.forces for name in row if name]
        self.columns = tuple(dict.fromkeys(wanted))
        self.observe = built(self.plant.observed({name: self.plant.outputs[name] for name in self.columns}, "standing"))
        places = robot.axis_places
        self.references = {places[axis].v: (places[axis].q, target) for axis, target in _references(pd)}
        self.places = [
            [k for k, name in enumerate(robot.v_names) if name in _velocities(leg, robot)] for leg in self.legs
        ]
        touching = self.row_of(self.start.q, self.start.p)[3][:, 2] > 0.0
        if not touching.all():
            lifted = [leg.name for leg, down in zip(self.legs, touching, strict=True) if not down]
            raise ModelError(
                f"standing_curve: feet of '{model.name}' are not on the ground in its initial configuration: "
                f"{quoted(lifted)}. Lower the system, or name the feet that stand: feet=[...]."
            )

    def standing(self, gain: float, q: Array | None) -> Equilibrium:
        """The equilibrium at this gain, searched from q (nq,), or from the initial configuration."""
        start = self.start.q if q is None else q
        return equilibrium(self.plant, start, m=self.start.m, p=[gain], tolerance=TOLERANCE)

    def row(self, found: Equilibrium) -> tuple[Array, Array, Array, Array]:
        """(q, errors, efforts, reactions) of an equilibrium as in `StandingCurve`; NaN where there is none."""
        row = self.row_of(found.q, found.p)
        return row if found else (row[0] * np.nan, row[1] * np.nan, row[2] * np.nan, row[3] * np.nan)

    def row_of(self, q: Array, p: Array) -> tuple[Array, Array, Array, Array]:
        """(q, errors, efforts, reactions) of the system at rest at q with the parameters p."""
        s = np.concatenate([np.zeros(2 * self.plant.nv), self.start.x])
        values = np.asarray(self.observe(self.start.t, q, s, self.start.m, self.start.u, p))
        signal = dict(zip(self.columns, values, strict=True)) | {"": 0.0}
        torques = {name: sum(signal[one] for one in own) for name, own in self.torques.items()}
        errors, efforts, reactions = [], [], []
        forces = iter(self.forces)
        for leg, places in zip(self.legs, self.places, strict=True):
            off = [abs(self.references[v][1] - q[self.references[v][0]]) for v in places if v in self.references]
            errors.append(np.mean(off) if off else np.nan)
            own = (torques.get(self.plant.v[v].name, 0.0) for v in places)
            efforts.append(sum(torque * torque for torque in own))
            reactions.append(np.sum([[signal[name] for name in next(forces)] for _ in leg.contacts], axis=0))
        return q, np.array(errors), np.array(efforts), np.array(reactions)

    def slip_gain(self, gains: Array, q: Array, grips: Array) -> float:
        """The largest gain between those given at which the friction of a foot reaches its static bound, or NaN."""
        excess = np.max(grips / self.static, axis=1) - 1.0
        order = np.argsort(-gains)
        for a, b in pairwise(order):
            if excess[a] < 0.0 <= excess[b]:
                near = q[a]

                def beyond(log_gain: float, near: Array = near) -> float:
                    reactions = self.row(self.standing(float(np.exp(log_gain)), near))[3]
                    horizontal = np.hypot(reactions[:, 0], reactions[:, 1])
                    return float(np.max(horizontal / (self.static * reactions[:, 2]))) - 1.0

                return float(np.exp(brentq(beyond, np.log(gains[b]), np.log(gains[a]), xtol=1e-6)))
        return float(gains[order[0]]) if excess[order[0]] >= 0.0 else float("nan")


def _posture(model: System, name: str) -> PD:
    """The PD of the posture. Raises ModelError for an element that is none, or follows a moving reference."""
    element = model.element(name)
    if not isinstance(element, PD) or element.drives or element.every:
        raise ModelError(
            f"standing_curve: element '{name}' is a {type(element).__name__}; expected a continuous PD that acts on "
            "its joints itself. Name one: controller=..."
        )
    targets: Any = element.reference
    moving = [target for target in targets if isinstance(target, str)]
    if moving:
        raise ModelError(
            f"standing_curve: the PD '{name}' follows the signal '{moving[0]}'; expected numbers, the angles of a "
            "stance. Give them as its reference."
        )
    return element


def _references(pd: PD) -> list[tuple[str, float]]:
    """The joints or axes of a PD, each with its reference angle [rad]."""
    targets: Any = pd.reference
    numbers = [float(evaluate(target)) for target in targets] * (len(pd.joints) if len(targets) == 1 else 1)
    return list(zip(pd.joints, numbers, strict=True))


def _velocities(leg: Limb, robot: Any) -> tuple[str, ...]:
    """The names of the velocities of the joints of a leg."""
    return tuple(name for joint in leg.joints for name in robot.joint(joint).v_names)


def _warn_of_loose_feet(legs: Iterable[Limb]) -> None:
    """Warns of contacts that nothing holds along the ground at rest, as friction that depends on velocity alone."""
    contacts = [one for leg in legs for one in leg.contacts if isinstance(one, Contact)]
    loose = [contact.name for contact in contacts if not isinstance(contact.friction, Anchor)]
    if loose:
        warnings.warn(
            f"standing_curve: contacts {quoted(loose, 6)} have no Anchor friction, so that nothing holds these feet "
            "along the ground at rest, and their horizontal forces are 0. Give them friction=Anchor(...).",
            ModelWarning,
            stacklevel=users_level(),
        )


def _static(leg: Limb) -> float:
    """The least coefficient of static friction of the contacts of a leg; infinite without anchors."""
    bounds = [
        float(evaluate(contact.friction.static))
        for contact in leg.contacts
        if isinstance(contact, Contact) and isinstance(contact.friction, Anchor)
    ]
    return min(bounds, default=np.inf)
