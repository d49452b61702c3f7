"""`least_effort`: the forces of feet that hold a posture with the least effort, whatever the controller.

In a posture at rest, torques tau of the driven joints, forces f of the ground on the feet and multipliers of loops
balance gravity and the forces of passive elements,

    S tau + J^T f + L^T lambda = g(q) - forces of springs and other passive elements,

with every force in its friction cone. Where several feet stand, many forces do. Those with the least effort, the
weighted sum of squared torques, are a small convex program (`force_program`); its value is a bound below the effort of
every controller that holds the robot in this posture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.static_gait import passive_elements
from kinemorph.analysis.legs.force_program import ForceProgram, solved_by_scipy
from kinemorph.analysis.legs.limbs import Feet, GroundContact, drives_of, finite_number, limbs
from kinemorph.analysis.small_motions.plant_derivatives import point_of
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.elements.contact.touching_points import touched_along
from kinemorph.model.elements.contact.contact_laws import Anchor, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.sheet import Field, Sheet, Table, Verdict, fields, hidden
from kinemorph.shown import Shown
from kinemorph.words import counted, did_you_mean, quoted

FORCE = (Field("contact", "contact", form="name"), *(Field(axis, axis, "N") for axis in "xyz"))
FORCE += (Field("margin", "inside its friction cone by", "N"),)
TORQUE = (*fields("name"), Field("torque", "torque", "N m, N"))
REACH = 1e-6  # [m]: feet up to this height touch the ground


@dataclass(frozen=True, eq=False)
class LeastEffort(Shown):
    """Forces and torques that hold a posture with the least effort. As a bool it is True where there are such.

    `effort`        the weighted sum of squared torques [N^2 m^2]; infinite where nothing holds the posture
    `bound`         a number that no effort in this posture is below; it differs from `effort` by rounding
    `torques`       by the name of a driven velocity, its torque or force [N m or N]
    `forces`        by contact, the force (3,) of the ground on the foot in world axes [N]
    `margins`       by contact, how far the force is inside its friction cone [N]
    `message`       the outcome as a sentence
    `name`          of the system
    """

    effort: float
    bound: float
    torques: Mapping[str, float]
    forces: Mapping[str, Array]
    margins: Mapping[str, float]
    message: str
    name: str

    def __bool__(self) -> bool:
        return bool(np.isfinite(self.effort))

    def sheet(self) -> Sheet:
        """The forces of the feet and the torques of the joints, if there are such."""
        forces = [(name, *force, self.margins[name]) for name, force in self.forces.items()]
        return Sheet(
            "Least effort of",
            self.name,
            (
                Verdict(bool(self), self.message),
                hidden(message=self.message, effort=self.effort),
                Table("forces", FORCE, forces, "Forces of the ground on the feet"),
                Table("torques", TORQUE, [*self.torques.items()], "Torques of the joints"),
            ),
        )


class _Touch(NamedTuple):
    """A point of a foot that touches: its contact, Jacobian (3, nv), normal (3,), height [m] and friction mu."""

    contact: str
    J: Array
    normal: Array
    height: float
    mu: float


def least_effort(
    system: System,
    q: Any = None,
    feet: Feet = None,
    *,
    friction: float | None = None,
    joints: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    cone: Literal["cone", "pyramid"] = "cone",
) -> LeastEffort:
    """The forces of feet and the torques of joints that hold a posture with the least effort.

        found = equilibrium(library.cockroach())
        least_effort(library.cockroach(), found.q).effort

    `q`             the posture, by name or in order; by default the initial one
    `feet`          the contacts of the feet that stand, as in `stances`; by default all that touch the ground
    `friction`      the coefficient of friction, in place of that of each contact
    `joints`        joints or velocities that are driven; by default those that controllers and motors of the system
                    drive. Nothing but feet, loops and passive elements acts along the others
    `weights`       of squared torques, by velocity; 1 where none is given
    `cone`          "cone", Coulomb's friction cone; or "pyramid", with four faces that touch the cone from outside

    Controllers and motors of the system do not act. A posture that nothing holds gives a result that is False.
    """
    if not isinstance(system, System):
        raise not_a_model(system, "a System with contacts of feet")
    if cone not in ("cone", "pyramid"):
        raise UnsupportedError(f"least_effort: cone is {cone!r}; expected one of {quoted(('cone', 'pyramid'))}.")
    if friction is not None:
        finite_number("least_effort", "friction", friction, "a number, 0 or more", least=0.0)
    robot = system.robot
    driven = _driven(robot, system, joints)
    passive = replace(system, elements=passive_elements(system, (Contact, Hold)), automaton=None)
    plant = plant_of(passive)
    at = point_of(plant, q)
    contacts = [one for limb in limbs(robot, system.elements, feet) for one in limb.contacts]
    touches = [touch for one in contacts for touch in _touches(plant, one, at.q, friction)]
    standing = touches if feet is not None else [touch for touch in touches if touch.height <= REACH]
    if not standing:
        nearest = min(touches, key=lambda touch: touch.height)
        raise UnsupportedError(
            f"least_effort: no foot of '{plant.name}' touches the ground at this posture; the nearest, "
            f"'{nearest.contact}', is {nearest.height:.3g} m above it. Lower the robot, or name the feet that stand."
        )
    program, order = _program(plant, at, standing, driven, weights or {})
    x, bound, why = solved_by_scipy(program, 4 if cone == "pyramid" else None)
    if why:
        message = f"Nothing holds '{plant.name}' in this posture on {counted(len(standing), 'point')}: {why}."
        return LeastEffort(np.inf, np.inf, {}, {}, {}, message, plant.name)
    scale = np.array([np.sqrt(_weight(weights or {}, name)) for name in driven])
    torques = (program.b - program.A @ x) / scale
    forces: dict[str, Array] = {}
    margins: dict[str, float] = {}
    for touch, force, out in zip(standing, program.forces(x), program.outside(x), strict=True):
        forces[touch.contact] = forces.get(touch.contact, np.zeros(3)) + force
        margins[touch.contact] = min(margins.get(touch.contact, np.inf), float(-out))
    effort = program.effort(x)
    message = (
        f"Least effort of '{plant.name}' in this posture: {effort:.9g} N^2 m^2, on {counted(len(standing), 'point')}."
    )
    named = dict(zip(order, torques.tolist(), strict=True))
    return LeastEffort(effort, bound, named, forces, margins, message, plant.name)


def _program(
    plant: Plant, at: Any, standing: Sequence[_Touch], driven: Sequence[str], weights: Mapping[str, float]
) -> tuple[ForceProgram, Sequence[str]]:
    """The convex program at a state at rest, and the names of driven velocities in the order of its rows."""
    for name, weight in weights.items():
        if name not in driven:
            raise UnsupportedError(
                f"least_effort: weights has '{name}', which is not a driven velocity.{did_you_mean(name, driven)}"
            )
        finite_number("least_effort", f"the weight of '{name}'", weight, "a number above 0", above=0.0)
    dynamics, still = plant.dynamics, np.zeros(plant.nv)
    assert dynamics is not None
    needed = np.array(dynamics.inverse_dynamics(at.q, still, still))
    if plant.laws.efforts is not None:
        needed -= np.asarray(plant.compiled("efforts")(*at.inputs)[0])
    columns = [touch.J for touch in standing]
    if plant.laws.constraints:
        columns.append(np.asarray(plant.compiled("constraints")(*at.inputs)[2]))
    whole = np.vstack(columns).T
    places = [plant.index("v", name) for name in driven]
    others = [k for k in range(plant.nv) if k not in places]
    scale = np.array([np.sqrt(_weight(weights, name)) for name in driven])
    normals = np.array([touch.normal for touch in standing])
    return ForceProgram(
        scale[:, None] * whole[places],
        scale * needed[places],
        whole[others],
        needed[others],
        normals,
        np.array([_along(normal) for normal in normals]),
        np.array([touch.mu for touch in standing]),
    ), driven


def _weight(weights: Mapping[str, float], name: str) -> float:
    return float(weights.get(name, 1.0))


def _driven(robot: Robot, system: System, joints: Sequence[str] | None) -> tuple[str, ...]:
    """The names of driven velocities, in the order of the robot."""
    if joints is None:
        wanted = set(drives_of(robot, system.elements))
    else:
        velocities = {name: (name,) for name in robot.v_names} | {one.name: one.v_names for one in robot.joints}
        joints = (joints,) if isinstance(joints, str) else joints
        for name in joints:
            if name not in velocities:
                raise ModelError(
                    f"least_effort: '{robot.name}' has no joint or velocity '{name}'.{did_you_mean(name, velocities)}"
                )
        wanted = {velocity for name in joints for velocity in velocities[name]}
    found = tuple(name for name in robot.v_names if name in wanted)
    if not found:
        raise UnsupportedError(
            f"least_effort: no joint of '{robot.name}' is driven. Add a controller, or name joints that motors drive."
        )
    return found


def _touches(plant: Plant, contact: GroundContact, q: Array, friction: float | None) -> list[_Touch]:
    """The touching points of a foot."""
    dynamics = plant.dynamics
    assert dynamics is not None
    pose = np.asarray(dynamics.pose(contact.body)(q))
    J = np.asarray(dynamics.jacobian(contact.body, "local_world_aligned")(q))
    ground = contact.ground if isinstance(contact, Contact) else Plane()
    if isinstance(ground, Plane) and ground.on != "world":
        raise UnsupportedError(f"least_effort: the ground of '{contact.name}' is on '{ground.on}'; expected the world.")
    touching = contact
    if not isinstance(touching, Contact):
        touching = Contact(contact.name, contact.body, Rigid(), point=contact.point)
    found, mu = [], _friction(contact, friction)
    for points, heights, normals in touched_along(touching, pose[None]):
        x, y, z = pose[:3, :3] @ points[0]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        found.append(_Touch(contact.name, J[:3] - cross @ J[3:], normals[0], float(heights[0]), mu))
    return found


def _friction(contact: GroundContact, given: float | None) -> float:
    """The coefficient of friction of a contact: the static one of an anchor; 0 without friction."""
    if given is not None:
        return given
    if isinstance(contact, Hold):
        raise UnsupportedError(f"least_effort: '{contact.name}' is a Hold, which has no friction. Give friction=.")
    law = contact.friction
    if law is None:
        return 0.0
    return float(evaluate(law.static if isinstance(law, Anchor) else law.coefficient))


def _along(normal: Array) -> Array:
    """Two directions (2, 3) along the ground."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])
