"""Forces in joints: springs, friction, stops. Efforts are in [N m] for rotations and [N] for translations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Value
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

ONE_AXIS = ("revolute", "prismatic", "helical")  # primitives with one coordinate q and dq/dt = v
RATIO = "Give the ratio of static to sliding friction, 1 or more."
Paired: TypeAlias = Value | tuple[Value, Value]  # one number for all joints, or one for rotations and one for slides


@dataclass(frozen=True)
class TorsionSpring:
    """A spring in a joint with one axis: its effort is  -stiffness (q - rest) - damping v.

    Units are [N m/rad], [rad] and [N m s/rad]; in a prismatic joint [N/m], [m] and [N s/m]. With x = q - rest, `curve`
    adds  -curve[0] x^2 - curve[1] x^3 - ...,  and `damping_curve`  -damping_curve[0] |v| v - damping_curve[1] v^3 - ...
    """

    name: str
    joint: str
    stiffness: Value = field(metadata=declaration("joint stiffness", least=0.0))
    rest: Value = declared(0.0, "joint coordinate")
    damping: Value = declared(0.0, "joint damping", least=0.0)
    curve: tuple[Value, ...] = declared((), unit="{curve}")
    damping_curve: tuple[Value, ...] = declared((), unit="{damping_curve}")


@dataclass(frozen=True)
class JointFriction:
    """Friction in joints: Coulomb friction, larger near rest (Stribeck), and viscous friction. For each velocity v,

        effort = -F(v) v / sqrt(v^2 + smoothing^2) - viscous v,
        F(v) = coulomb (1 + (breakaway - 1) exp(-(v / stribeck)^2))

    The default of `coulomb` is the `friction` of each joint. Without `joints` it acts on all joints that have friction.
    A joint with an effort below its friction does not rest, but creeps at about  smoothing * effort / coulomb.
    `stribeck` and `smoothing` may be pairs: for joints that turn [rad/s], and for joints that slide [m/s]. The effort
    along each velocity is a column of a run: run["friction.elbow"] for an element called "friction".
    """

    name: str
    joints: tuple[str, ...] = ()
    coulomb: Value | None = declared(None, "joint effort", least=0.0)
    viscous: Value = declared(0.0, "joint damping", least=0.0)
    breakaway: Value = declared(1.0, "number", least=1.0, give=RATIO)
    stribeck: Paired = declared(0.1, "joint velocity", pair=True, above=0.0)
    smoothing: Paired = declared(1e-3, "joint velocity", pair=True, above=0.0)


@dataclass(frozen=True)
class JointLimits:
    """Compliant stops at the lower and upper limits of joints. If a joint is beyond a limit by s > 0, the effort

        max(0, stiffness s + damping r ds/dt),      r = min(s / onset, 1)

    pushes it back; a stop never pulls. A joint with a `stop` of its own, as those of MJCF files, follows that law
    unless stiffness or damping are given here. Else `stiffness` is  I / time^2  and `damping`  2 I / time,  which is
    critical. I is the inertia that an effort of this joint alone accelerates, at the neutral configuration. A
    joint that hits its stop at speed v then goes  v time / e  (e = 2.718) beyond it and returns at 0.14 v.

    The stop of a joint that carries much, such as a knee below a trunk, is stiffer: it gives way by `give` at most
    under the largest weight that may rest on it, and under its effort limit, as far as 25 I / time^2 suffice for that.
    `onset` and `give` may be pairs: for joints that turn [rad], and for joints that slide [m]. Without `joints` it acts
    on all joints that have limits. The effort of each joint is a column of a run: run["stops.elbow"].
    """

    name: str
    joints: tuple[str, ...] = ()
    stiffness: Value | None = declared(None, "joint stiffness", least=0.0)
    damping: Value | None = declared(None, "joint damping", least=0.0)
    time: float = declared(0.01, "time", above=0.0)
    onset: Paired = declared(1e-3, "joint coordinate", pair=True, above=0.0)
    give: float | tuple[float, float] = declared((0.02, 0.002), "joint coordinate", above=0.0, pair=True)


def for_unit(value: Paired, unit: str) -> Value:
    """The number for a joint whose coordinate or velocity has this unit: "rad", "rad/s", "m" or "m/s"."""
    return value[0 if "rad" in unit else 1] if isinstance(value, tuple | list) else value


# ── elements from the data of joints ──────────────────────────────────────────────────────────────────────────────────


def with_joint_forces(model: Robot | System, *, limits: bool = True, friction: bool = True) -> System:
    """The system with elements "joint limits" and "joint friction" for all joints that have limits or friction.

    Joints that already have a JointLimits or JointFriction element are left out.
    """
    system = model if isinstance(model, System) else System(model)
    rows: tuple[tuple[bool, type[Any], str, tuple[str, ...]], ...] = (
        (limits, JointLimits, "joint limits", without_stops(system)),
        (friction, JointFriction, "joint friction", without_friction(system)),
    )
    added: list[Any] = []
    for wanted, kind, name, left in rows:
        if wanted and left:
            some = any(isinstance(element, kind) for element in system.elements)
            added.append(kind(name, left if some else ()))
    return replace(system, elements=(*system.elements, *added)) if added else system


def without_stops(system: System) -> tuple[str, ...]:
    """The joints that have limits, but no JointLimits element."""
    return _left(system, JointLimits, has_limits)


def without_friction(system: System) -> tuple[str, ...]:
    """The joints that have Coulomb friction, but no JointFriction element."""
    return _left(system, JointFriction, has_friction)


def _left(system: System, kind: type[Any], has: Callable[[Joint], bool]) -> tuple[str, ...]:
    """The joints that have data for an element of this kind, and on which no such element acts."""
    present = [element for element in system.elements if isinstance(element, kind)]
    if any(not element.joints for element in present):
        return ()  # it acts on all joints
    seen_to = {name for element in present for name in element.joints}
    return tuple(joint.name for joint in system.robot.joints if has(joint) and joint.name not in seen_to)


def has_limits(joint: Joint) -> bool:
    """Whether a joint has a finite limit of a rotation about an axis or a translation along an axis."""
    return any(
        step.kind in ONE_AXIS and (joint.lower[step.q[0]] > -math.inf or joint.upper[step.q[0]] < math.inf)
        for step in joint.table.primitives
    )


def has_friction(joint: Joint) -> bool:
    """Whether a joint has Coulomb friction; a parameter counts as friction even if its nominal value is 0."""
    return any(not (isinstance(x, float) and x == 0.0) for x in joint.friction)
