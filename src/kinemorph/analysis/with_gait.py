"""`with_gait`: a system with a gait and a PD controller that follows it; its gains fit the inertia of the joints.

    system = with_gait(robot, elements.Rhythmic("gait", gait_joints(robot)))
    run = simulate(system, 10.0)

Where no gains are given, every joint is critically damped with the natural frequency w = 25 rad/s in the initial state:
kp = w^2 J_i, kd = 2 w J_i. Here J_i = sum over j of |M_ij| is the largest effort that joint i needs when no joint
accelerates by more than 1 rad/s^2: the last joints of a long chain need that much, because the other joints accelerate
them. The controller's output stays within the effort limits of the joints, and the gains are bounded by them: kp is at
most the value with which an error of 0.05 rad needs the whole effort limit. kd is at most 2 kp / w, and at most the
inertia that the joint moves alone divided by 1 ms, so that steps of this size stay stable.
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
from kinemorph.words import listed

PULSE = 25.0  # [rad/s], natural frequency of the controlled joints
SAG = 0.05  # [rad or m]: a joint that is off by so much gets all of its effort, and no gain asks for it earlier
STEP = 1e-3  # [s]: no damping gain is too stiff for steps of this size
VIRTUAL = "virtual_"  # prefix of the undriven joints that let an assembly move in space


def gait_joints(model: Robot | System) -> tuple[str, ...]:
    """The names of the joints that a gait may move: driven joints with one axis that follow no other joint.

    In closed chains these are the joints of the independent velocities that `mobility` chooses.
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
    """The system with two elements added: a gait, and a PD controller `name` that makes the joints follow the gait.

    `gait` is an element that moves its `joints`, as `elements.Rhythmic`. The gains kp [N m/rad or N/m] and kd
    [N m s/rad or N s/m] are one number for all joints or one for each; by default they follow from the mass matrix.
    """
    system = model if isinstance(model, System) else System(as_robot(model))
    robot, joints = system.robot, tuple(getattr(gait, "joints", ()))
    known = {joint.name for joint in robot.joints}
    if not joints or any(joint not in known for joint in joints):
        raise ModelError(
            f"element '{getattr(gait, 'name', gait)}': its joints are {listed(joints)}; expected joints of robot "
            f"'{robot.name}'. Choose from: {listed(gait_joints(model), 16)}."
        )
    effort = [robot.joint(joint).effort for joint in joints]
    most = tuple(limits[0] if len(limits) == 1 and limits[0] > 0.0 else math.inf for limits in effort)
    if kp is None or kd is None:
        M = _mass(system, joints)
        inertia = np.abs(M).sum(axis=1)
        kp = np.minimum(PULSE**2 * inertia, np.array(most) / SAG) if kp is None else kp
        stiffness = np.asarray(kp, dtype=float)
        kd = _damping(stiffness, inertia, M) if kd is None else kd
    reach: dict[str, Any] = {"lower": tuple(-x for x in most), "upper": most}
    pd = PD(name, joints, kp=_numbers(kp), kd=_numbers(kd), reference=gait.name, **reach)
    return replace(system, elements=(*system.elements, gait, pd))


def _damping(kp: npt.NDArray[np.float64], inertia: npt.NDArray[np.float64], M: npt.NDArray[np.float64]) -> Any:
    """The damping gains kd (n,) of n joints with stiffness gains kp (n,): critical, but at most 2 kp / PULSE.

    They are also at most the inertia that a joint moves alone divided by STEP. `inertia` (n,) are the row sums of |M|.
    """
    alone = 1.0 / np.diag(np.linalg.pinv(M, hermitian=True))
    return np.minimum(np.minimum(2.0 * np.sqrt(kp * inertia), 2.0 * kp / PULSE), alone / STEP)


def settling_rate(system: System, pd: Any) -> float:
    """The fastest decay rate [1/s] that the damping gains of the controller `pd` cause in the initial state.

    An explicit method needs steps that are short compared with the inverse of this rate.
    """
    M = _mass(system, pd.joints)
    damping = np.broadcast_to(np.asarray(pd.kd, dtype=float), len(M))
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(M, np.diag(damping)))).max(initial=0.0))


def _mass(system: System, joints: Sequence[str]) -> npt.NDArray[np.float64]:
    """The mass matrix of n joints in the initial state of a system, shape (n, n)."""
    robot = system.robot
    q = list(system.settings.q) or neutral(robot)
    places = [robot.axis_places[joint].v for joint in joints]
    return np.asarray(derive(robot, backend="interpreter").mass_matrix(q), dtype=float)[np.ix_(places, places)]


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in np.atleast_1d(values))
