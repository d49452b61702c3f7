"""A robot that follows a gait: the joints that it moves, and a PD controller with gains chosen for their inertia.

    system = with_gait(robot, elements.Rhythmic("gait", gait_joints(robot)))
    run = simulate(system, 10.0)

Without gains, every joint is critically damped at the pulse w = 25 rad/s for the inertia that it moves in the initial
state: kp = w^2 J_i, kd = 2 w J_i, where J_i = sum over j of |M_ij| bounds the effort that all joints together may
require of joint i. The last joints of a long chain, which the others shake, need that. The output stays within the
effort limit of the joint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError
from kinemorph.model.configuration import neutral
from kinemorph.model.couplings import followers
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot

PULSE = 25.0  # [rad/s]
VIRTUAL = "virtual_"  # undriven joints that let an assembly move in space


def gait_joints(model: Robot | System) -> tuple[str, ...]:
    """The joints that a gait may move: those with one axis that are not coupled to another; of loops, the independent
    ones.
    """
    robot = as_robot(model)
    led = followers(robot.couplings)
    joints = [joint.name for joint in robot.joints if len(joint.v_names) == 1 and joint.name not in led]
    if robot.loops:
        from kinemorph.analysis.loops.mobility import mobility

        leading = set(mobility(model).independent)
        joints = [name for name in joints if robot.joint(name).v_names[0] in leading]
    return tuple(name for name in joints if not name.startswith(VIRTUAL))


def with_gait(
    model: Robot | System,
    gait: Any,
    *,
    kp: float | Sequence[float] | None = None,
    kd: float | Sequence[float] | None = None,
    name: str = "pd",
) -> System:
    """The system with a gait, an element with `joints`, and a PD controller that follows it.

    kp [N m/rad or N/m] and kd [N m s/rad or N s/m] are one number for all joints or one each.
    """
    system = model if isinstance(model, System) else System(as_robot(model))
    robot, joints = system.robot, tuple(getattr(gait, "joints", ()))
    known = {joint.name for joint in robot.joints}
    if not joints or any(joint not in known for joint in joints):
        listed = ", ".join(gait_joints(model)[:16]) or "none with one axis"
        raise ModelError(
            f"element '{getattr(gait, 'name', gait)}': its joints are {', '.join(joints) or 'none'}; expected joints "
            f"of robot '{robot.name}'. It has {listed}."
        )
    effort = [robot.joint(joint).effort for joint in joints]
    most = tuple(limits[0] if len(limits) == 1 and limits[0] > 0.0 else math.inf for limits in effort)
    if kp is None or kd is None:
        inertia = np.abs(_mass(system, joints)).sum(axis=1)
        kp = PULSE**2 * inertia if kp is None else kp
        kd = 2.0 * np.sqrt(np.asarray(kp, dtype=float) * inertia) if kd is None else kd
    reach: dict[str, Any] = {"lower": tuple(-x for x in most), "upper": most}
    pd = PD(name, joints, kp=_numbers(kp), kd=_numbers(kd), reference=gait.name, **reach)
    return replace(system, elements=(*system.elements, gait, pd))


def settling_rate(system: System, pd: Any) -> float:
    """The decay rate of the fastest motion that damping by `pd` causes [1/s]: explicit steps must be short
    against it.
    """
    M = _mass(system, pd.joints)
    damping = np.broadcast_to(np.asarray(pd.kd, dtype=float), len(M))
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(M, np.diag(damping)))).max(initial=0.0))


def _mass(system: System, joints: Sequence[str]) -> npt.NDArray[np.float64]:
    """M of joints in the initial state of a system, shape (n, n)."""
    robot = system.robot
    q = list(system.settings.q) or neutral(robot)
    places = [robot.v_slice(joint).start for joint in joints]
    return np.asarray(derive(robot, backend="interpreter").mass_matrix(q), dtype=float)[np.ix_(places, places)]


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in np.atleast_1d(values))
