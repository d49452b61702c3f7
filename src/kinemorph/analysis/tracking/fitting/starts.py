"""First configurations of a recording: one frame from many starts, all frames from it, and jumps over time mended.

A limb is a set of coordinates that are connected without the free joint of the base, such as a leg. Limbs are found
one by one: the best values of each limb among all starts are put together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.quaternions import quat_to_rotation, rotation_to_quat
from kinemorph.analysis.tracking.fitting.descent import State, descend
from kinemorph.analysis.tracking.fitting.marker_problem import MarkerProblem
from kinemorph.deriving.marker_functions import Places, moving_velocities
from kinemorph.model.configuration import difference, neutral, random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.topology import WORLD

JUMP = 1.0  # [rad], a change of an angle from frame to frame that is looked at again
AS_WELL = 1e-6  # a cost that is higher by a smaller share is as good
SEEN = 0.3  # a joint is seen in a frame if the markers there show at least this share of what all markers would show
LOOSE = 1e-5  # tolerance while starts are compared
NEARLY = 1e-3  # costs that differ by a smaller share are those of equally good configurations
TURN = 2.0 * np.pi  # [rad]


def anchor_configuration(problem: MarkerProblem, q0: Array | None, starts: int, seed: int) -> Array:
    """The best configuration (nq,) of the frame with most markers, from `starts` random configurations and q0."""
    robot, rng = problem.robot, np.random.default_rng(seed)
    frame = int(np.argmax((problem.weights > 0.0).sum(axis=1)))
    usual = neutral(robot) if q0 is None else q0
    q = np.array([usual, *(random_configuration(robot, rng) for _ in range(starts))])
    many = problem.chosen([frame] * len(q))
    q = many.model.ranges.inside(aligned(many, q))
    found = descend(many, q, tolerance=LOOSE).state
    q = unwound(problem, found.q, usual)
    labels, markers = limbs(problem)
    best = q[_best(found.costs.sum(axis=1), np.abs(q - usual).sum(axis=1), problem.size)]
    mixed = best.copy()
    for limb in range(1, labels.max() + 1):
        mine = np.flatnonzero(labels == limb)
        own = found.at.loss[:, markers == limb].sum(axis=1)
        mixed[mine] = q[_best(own, np.abs(q[:, mine] - usual[mine]).sum(axis=1), problem.size), mine]
    last = descend(problem.chosen([frame] * 2), np.array([mixed, best]), tolerance=LOOSE).state
    return np.asarray(last.q[_best(last.costs.sum(axis=1), np.arange(2.0), problem.size)])


def _best(costs: Array, changes: Array, size: float) -> int:
    """The index of the least cost [m^2]; among costs that are nearly the same, that of the least change."""
    near = costs <= costs.min() * (1.0 + NEARLY) + (LOOSE * size) ** 2
    return int(np.argmin(np.where(near, changes, np.inf)))


def unwound(problem: MarkerProblem, q: Array, usual: Array) -> Array:
    """q (n, nq) with angles of hinges changed by whole turns, to be nearest to those of `usual` (nq,) within limits."""
    robot, (lower, upper) = problem.robot, problem.model.ranges.bounds
    hinges = [
        robot.q_slice(joint.name).start + step.q[0]
        for joint in robot.joints
        for step in joint.table.primitives
        if step.kind == "revolute"
    ]
    changed = q.copy()
    changed[:, hinges] -= TURN * np.round((q[:, hinges] - usual[hinges]) / TURN)
    allowed = (changed >= lower) & (changed <= upper)
    return np.where(allowed, changed, q)


def mended(problem: MarkerProblem, state: State) -> State:
    """The state of independent frames after frames that jump started again from the frame before or after them.

    For each limb, the longest part of the recording without jumps is kept. From its ends on, a frame that jumps away
    from the one before starts again there, and takes the result if it fits the markers as well as before or better.
    """
    labels, _ = limbs(problem)
    q, costs = state.q.copy(), state.costs.sum(axis=1)
    for limb in range(labels.max() + 1):
        mine = np.flatnonzero(labels == limb)
        jumps = _jumps(problem, q[:-1], q[1:], mine)
        if not jumps.any():
            continue
        ends = np.concatenate([[0], np.flatnonzero(jumps) + 1, [len(q)]])
        longest = int(np.argmax(np.diff(ends)))
        first, stop = int(ends[longest]), int(ends[longest + 1])
        for sweep, back in ((range(stop, len(q)), 1), (range(first - 1, -1, -1), -1)):
            changed = False
            for k in sweep:
                near = k - back
                if not (_jumps(problem, q[[near]], q[[k]], mine)[0] if changed else jumps[min(k, near)]):
                    changed = False
                    continue
                start = q[[k]]
                start[:, mine] = q[near, mine]
                found = descend(problem.chosen([k]), start, tolerance=LOOSE).state
                cost = float(found.costs.sum())
                changed = cost <= costs[k] * (1.0 + AS_WELL) + (LOOSE * problem.size) ** 2
                if changed:
                    q[k], costs[k] = found.q[0], cost
    return descend(problem, q, iterations=0).state


def _jumps(problem: MarkerProblem, q0: Array, q1: Array, coordinates: Places) -> npt.NDArray[np.bool_]:
    """Whether one of these coordinates turns by more than JUMP from q0 to q1 (n, nq), shape (n,)."""
    return np.asarray((_turns(problem, q0, q1)[:, coordinates] > JUMP).any(axis=1))


def carried(problem: MarkerProblem, q: Array) -> Array:
    """q (n, nq) with coordinates that hardly any marker shows in a frame interpolated over time.

    Coordinates that are not numbers on a line, those of free and spherical joints, are taken from the nearest frame.
    """
    rows, columns = problem.model.triangle
    diagonal = np.flatnonzero(rows == columns)
    most = np.tile(problem.weights.max(axis=0), (len(q), 1))
    whole = replace(problem, weights=most, outlier=np.inf).linearized(q).matrix[:, diagonal]
    shown = problem.linearized(q).matrix[:, diagonal]
    seen = np.ones((len(q), problem.robot.nv), dtype=bool)
    seen[:, rows[diagonal]] = shown >= SEEN * whole
    q = q.copy()
    frames = np.arange(len(q))
    for joint in problem.robot.joints:
        at_q, at_v = problem.robot.q_slice(joint.name), problem.robot.v_slice(joint.name)
        good = seen[:, at_v].all(axis=1)
        if good.all() or not good.any():
            continue
        if at_q.stop - at_q.start == 1:
            q[~good, at_q.start] = np.interp(problem.times[~good], problem.times[good], q[good, at_q.start])
        else:
            nearest = frames[good][np.abs(frames[~good][:, None] - frames[good]).argmin(axis=1)]
            q[~good, at_q] = q[nearest, at_q]
    return q


def signs_kept(problem: MarkerProblem, q: Array) -> Array:
    """q (n, nq) with signs of quaternions that do not change from frame to frame: q and -q are the same rotation."""
    q = q.copy()
    for joint in problem.robot.joints:
        if "" in joint.table.q_units:
            stop = problem.robot.q_slice(joint.name).stop
            part = q[:, stop - 4 : stop]
            flips = np.where(np.sum(part[1:] * part[:-1], axis=1) < 0.0, -1.0, 1.0)
            part[1:] *= np.cumprod(flips)[:, None]
    return q


def limbs(problem: MarkerProblem) -> tuple[Places, Places]:
    """The limb of each coordinate (nq,) and of each marker (k,); 0 stands for the base and what belongs to no limb."""
    robot = problem.robot
    free = [robot.v_slice(joint.name) for joint in robot.joints if joint.kind == "free" and joint.parent == WORLD]
    base = {v for at in free for v in range(at.start, at.stop)}
    first = np.zeros(robot.nv, dtype=np.intp)
    markers = np.zeros(len(problem.model.frames), dtype=np.intp)
    count = 0
    for k, frame in enumerate(problem.model.frames):
        own = [v for v in moving_velocities(robot, frame) if v not in base]
        if not own:
            continue
        known = sorted({int(first[v]) for v in own} - {0})
        if known:
            limb = known[0]
            for other in known[1:]:
                first[first == other] = limb
                markers[markers == other] = limb
        else:
            count += 1
            limb = count
        first[own], markers[k] = limb, limb
    labels = np.zeros(robot.nq, dtype=np.intp)
    for joint in robot.joints:
        at = robot.v_slice(joint.name)
        if at.stop > at.start:
            labels[robot.q_slice(joint.name)] = first[at.start]
    return labels, markers


def aligned(problem: MarkerProblem, q: Array) -> Array:
    """q (n, nq) with the free joint of each base moved so that the points of the robot come nearest to the markers.

    A rigid motion is found by singular values (Kabsch 1976) in each frame that has three markers or more.
    """
    robot, q = problem.robot, q.copy()
    for joint in robot.joints:
        if joint.kind != "free" or joint.parent != WORLD:
            continue
        at_q, at_v = robot.q_slice(joint.name), robot.v_slice(joint.name)
        moved = [k for k, frame in enumerate(problem.model.frames) if at_v.start in moving_velocities(robot, frame)]
        if not moved:
            continue
        points = problem.linearized(q).positions[:, moved]
        for row in range(len(q)):
            seen = problem.weights[row, moved] > 0.0
            if seen.sum() >= 3:
                T = _rigid(points[row][seen], problem.targets[row][moved][seen])
                q[row, at_q] = _moved(joint, q[row, at_q], T)
    return q


def _rigid(points: Array, targets: Array) -> Pose:
    """The rigid motion that brings points (k, 3) nearest to targets (k, 3)."""
    a, b = points.mean(axis=0), targets.mean(axis=0)
    U, _, Vt = np.linalg.svd((points - a).T @ (targets - b))
    R = (U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt).T
    return Pose(tuple(map(tuple, R.tolist())), tuple((b - R @ a).tolist()))


def _moved(joint: Joint, q: Array, T: Pose) -> Array:
    """The coordinates (7,) of a free joint on the world after a motion T of its child in the world."""
    placement = evaluate_all(joint.placement)
    old = Pose(quat_to_rotation(q[3:].tolist()), tuple(q[:3].tolist()))
    new = compose(inverse(placement), T, placement, old)
    return np.array([*new.p, *rotation_to_quat(new.R)])


def _turns(problem: MarkerProblem, q0: Array, q1: Array) -> Array:
    """By how much each coordinate turns from q0 to q1, (n, nq) [rad]; those of one joint have its largest turn."""
    robot = problem.robot
    by_velocity = np.abs(np.asarray(difference(robot, q0, q1)))
    turns = np.array([not unit.startswith("m") for unit in robot.v_units])
    found = np.zeros_like(q1)
    for joint in robot.joints:
        at_q, at_v = robot.q_slice(joint.name), robot.v_slice(joint.name)
        if at_v.stop > at_v.start:
            found[:, at_q] = (by_velocity[:, at_v] * turns[at_v]).max(axis=1, keepdims=True)
    return found
