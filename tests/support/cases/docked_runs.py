"""A run in which two robots become one, put together by hand: bodies keep their names, joints and columns change.

Before: two free trees, each a base with a hinged arm ("a" with "a_arm", "b" with "b_arm"). Then "b" is fixed to "a_arm"
as it lies there, a plastic impact; its root is gone. A damped spring joins the two ends all the time, and another one,
"latch", from the docking on, when it is at rest. There is no gravity.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kinemorph import Body, Robot, RobotBuilder, System, simulate
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import Spring
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.event import Event, Quantity
from kinemorph.simulation.results.trajectory import Outcome, Statistics, Trajectory

DOCKED, END = 0.4, 1.0  # [s]
NAMES = ("a", "a_arm", "b", "b_arm")
TIE = Spring(
    "tie", "a", "b_arm", stiffness=4.0, rest=0.5, damping=0.3, point_a=(-0.15, 0.0, 0.1), point_b=(0.15, 0.0, 0.05)
)
OUTWARD = {"translation": (0.15, 0.0, 0.0), "child_placement": (np.eye(3), (-0.15, 0.0, 0.0)), "axis": (0.0, 1.0, 0.0)}


def _bodies(builder: RobotBuilder) -> RobotBuilder:
    for name in ("a", "b"):
        arm: Any = f"{name}_arm"
        builder.add(Body.box(name, 1.0, (0.3, 0.2, 0.2)), Body.box(arm, 0.5, (0.3, 0.1, 0.1)))
        builder.joint(f"{name}_hinge", "revolute", name, arm, **OUTWARD)
    return builder.root("a", "free")


def apart() -> Robot:
    """Two trees."""
    return _bodies(RobotBuilder("pair", gravity=(0.0, 0.0, 0.0))).root("b", "free").frame("eye", "b").build()


def together(T: np.ndarray) -> Robot:
    """One tree: `T` (4, 4) is the pose of "b" in "a_arm"."""
    builder = _bodies(RobotBuilder("union", gravity=(0.0, 0.0, 0.0)))
    builder.joint("dock", "fixed", "a_arm", "b", translation=T[:3, 3], rotation=T[:3, :3])
    return builder.frame("tip", "b_arm", translation=(0.15, 0.0, 0.0)).build()


def impact(before: Robot, q: np.ndarray, v: np.ndarray, after: Robot, q_after: np.ndarray) -> tuple[np.ndarray, float]:
    """(velocities of the new robot, energy lost [J]): those nearest to the old ones, weighed by the bodies' masses."""
    J = [_twists(robot, at) for robot, at in ((before, q), (after, q_after))]
    M = np.zeros((24, 24))
    for k, name in enumerate(NAMES):
        body = before.body(name)
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = float(body.mass) * np.eye(3)  # all centers of mass are at origins
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.array(body.inertia, dtype=float)
    V = J[0] @ v
    found = np.linalg.solve(J[1].T @ M @ J[1], J[1].T @ M @ V)
    W = J[1] @ found
    return found, float(0.5 * V @ M @ V - 0.5 * W @ M @ W)


def _twists(robot: Robot, q: np.ndarray) -> np.ndarray:
    tree = resolve(robot)
    return np.concatenate([np.array(jacobian(tree, q.tolist(), name), dtype=float) for name in NAMES])


@cache
def docked_run() -> Trajectory:
    """From 0 to END [s], with the docking at DOCKED."""
    first = apart()
    q = dict(zip(first.q_names, [0.0] * first.nq, strict=True)) | {"a_root.qw": 1.0, "b_root.qw": 1.0}
    v = dict.fromkeys(first.v_names, 0.0)
    q |= {"b_root.x": 0.75, "b_root.z": 0.1, "a_hinge": 0.2, "b_hinge": -0.4}
    v |= {"b_root.vx": -0.3, "b_root.wy": 0.8, "a_hinge": -0.5, "a_root.wx": 0.4, "b_hinge": 1.0}
    start = simulate(System(first, (TIE,)), DOCKED, q=list(q.values()), v=list(v.values()), output_step=0.02, rtol=1e-9)
    end = start.segments[-1]
    arm, base, other = frame_matrices(first, end.q[-1:], ["a_arm", "a", "b"])[0]
    second = together(np.linalg.inv(arm) @ other)
    latch = Spring("latch", "a", "b", stiffness=50.0, rest=float(np.linalg.norm(other[:3, 3] - base[:3, 3])))
    known = dict(zip(first.q_names, end.q[-1], strict=True))
    q_after = np.array([known[name] for name in second.q_names])
    v_after, lost = impact(first, end.q[-1], end.v[-1], second, q_after)
    system = System(second, (TIE, latch))
    later = simulate(system, END, start=DOCKED, q=q_after, v=v_after, x=end.x[-1], output_step=0.02, rtol=1e-9)
    states = [{g: getattr(s, g)[k] for g in "qvxm"} for s, k in ((end, -1), (later.segments[0], 0))]
    numbers = (Quantity("energy_loss", lost, "J"), Quantity("gap", 0.0, "m"))
    event = Event(DOCKED, "b to a_arm", "dock", *states, note="The two are one.", numbers=numbers)
    return joined(start, later, event)


def joined(*runs: Any) -> Trajectory:
    """Runs and the events between them as one run."""
    parts = [run for run in runs if isinstance(run, Trajectory)]
    events = [event for run in runs for event in (run.events if isinstance(run, Trajectory) else (run,))]
    segments = tuple(segment for run in parts for segment in run.segments)
    steps = sum(run.statistics.accepted for run in parts)
    method = parts[0].statistics.method
    return Trajectory(
        segments, tuple(events), Outcome("finished", parts[-1].outcome.t), Statistics(method, steps), parts[0].settings
    )
