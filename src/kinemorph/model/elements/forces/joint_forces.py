"""What acts inside joints: springs, friction, stops. In each joint's own unit: [N m] about an axis, [N] along one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Value
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

ONE_AXIS = ("revolute", "prismatic", "helical")  # primitives whose velocity is the rate of their coordinate


@dataclass(frozen=True)
class TorsionSpring:
    """A spring in a joint with one axis: its effort is  -stiffness (q - rest) - damping v.

    On a slide it is a spring along the axis, with [N/m] and [m] in place of [N m/rad] and [rad].
    """

    name: str
    joint: str
    stiffness: Value = field(metadata={"kind": "joint stiffness"})
    rest: Value = field(default=0.0, metadata={"kind": "joint coordinate"})
    damping: Value = field(default=0.0, metadata={"kind": "joint damping"})


@dataclass(frozen=True)
class JointFriction:
    """Friction in joints: Coulomb's, with a peak at rest (Stribeck), and viscous. Along each velocity v the effort is

        -F(v) v / sqrt(v^2 + smoothing^2) - viscous v,      F(v) = coulomb (1 + (breakaway - 1) exp(-(v / stribeck)^2))

    `coulomb` is the `friction` of each joint where it is left out. Without `joints` it acts on all joints that have
    some. A joint under less than its friction does not rest: it creeps at about  smoothing * effort / coulomb.
    """

    name: str
    joints: tuple[str, ...] = ()
    coulomb: Value | None = field(default=None, metadata={"kind": "joint effort"})
    viscous: Value = field(default=0.0, metadata={"kind": "joint damping"})
    breakaway: Value = field(default=1.0, metadata={"kind": "number"})
    stribeck: Value = field(default=0.1, metadata={"kind": "joint velocity"})
    smoothing: Value = field(default=1e-3, metadata={"kind": "joint velocity"})


@dataclass(frozen=True)
class JointLimits:
    """Compliant stops at the limits of joints, lower and upper. Beyond a limit by s > 0 the effort pushes back with

        max(0, stiffness s + damping r ds/dt),      r = min(s / onset, 1)

    so that a stop never holds a joint back that leaves it. Left out, `stiffness` and `damping` are critical, whatever
    the robot weighs: with I the inertia that an effort of this joint alone moves, at the neutral configuration, they
    are  I / time^2  and  2 I / time. A joint that meets its stop at the speed v goes  v time / e  deep and comes back
    with 0.14 v. Without `joints` it acts on all joints that have limits.
    """

    name: str
    joints: tuple[str, ...] = ()
    stiffness: Value | None = field(default=None, metadata={"kind": "joint stiffness"})
    damping: Value | None = field(default=None, metadata={"kind": "joint damping"})
    time: float = field(default=0.01, metadata={"kind": "time"})
    onset: Value = field(default=1e-3, metadata={"kind": "joint coordinate"})


# ── what joints say of themselves ─────────────────────────────────────────────────────────────────────────────────────


def with_joint_forces(model: Robot | System, *, limits: bool = True, friction: bool = True) -> System:
    """The system with stops at the limits of its joints and with their friction, as far as joints have such data and no
    element covers them yet. The elements are called "joint limits" and "joint friction".
    """
    system = model if isinstance(model, System) else System(model)
    rows: tuple[tuple[bool, type[Any], Any], ...] = (
        (limits, JointLimits, has_limits),
        (friction, JointFriction, has_friction),
    )
    added: list[Any] = []
    for wanted, kind, has in rows:
        present = [element for element in system.elements if isinstance(element, kind)]
        seen_to = {name for element in present for name in element.joints}
        if not wanted or any(not element.joints for element in present):
            continue
        left = [joint.name for joint in system.robot.joints if has(joint) and joint.name not in seen_to]
        if left:
            name = "joint limits" if kind is JointLimits else "joint friction"
            added.append(kind(name, tuple(left) if seen_to else ()))
    return replace(system, elements=(*system.elements, *added)) if added else system


def has_limits(joint: Joint) -> bool:
    """Whether a joint has limits about or along axes."""
    return any(
        step.kind in ONE_AXIS and (joint.lower[step.q[0]] > -math.inf or joint.upper[step.q[0]] < math.inf)
        for step in joint.table.primitives
    )


def has_friction(joint: Joint) -> bool:
    """Whether a joint has Coulomb friction; of a parameter, 0 is a value like others."""
    return any(not (isinstance(x, float) and x == 0.0) for x in joint.friction)
