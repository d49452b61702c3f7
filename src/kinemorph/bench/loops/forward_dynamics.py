"""The speed of forward dynamics with closed loops: our function, and Pinocchio's `constraintDynamics` and `lcaba`.

Before anything is timed, both sides have to give the same accelerations at the same closed states, to 1e-9 relative.
The faster of Pinocchio's algorithms counts, each with the cheapest setting that is accurate enough (see
`pinocchio_loops`). There is one row per mode of calling. A robot made of several copies is compared with one copy: its
time should be proportional to the number of copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.loops.pinocchio_loops import settled, twin_with_loops
from kinemorph.bench.speed.contest import Algorithm, Contest
from kinemorph.bench.speed.evaluation_times import Arena, measured_rows
from kinemorph.bench.targets import judge_loops
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.benchmark_linkages import bricard
from kinemorph.model.library.linkages import four_bar
from kinemorph.model.library.walking_linkages import jansen, klann
from kinemorph.model.robot import Robot

MODES = ("scalar", "batched", "python-raw", "python-call")
CONSTRAINED = Algorithm(
    "constrained FD", "forward dynamics with loops", "forward_dynamics", ("constrained", "lcaba"), (("v",),), x="tau"
)
ASSEMBLED = (0.6, 0.02989836, 1.6066907)  # a closed configuration of the four-bar, to eight digits
STEPS, STRIDE, CORRECTIONS = 20, 0.5, 12  # of random walks: steps, their size [rad or m], corrections per step
RANK = 1e-7  # singular values below this share of the largest count as zero


def compare_loops(pace: Pace, library: Path | None, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields the rows of the table. Times are in µs per evaluation.

    `growth` is the time of a robot of copies divided by the time of as many separate robots.
    """
    arena = Arena(pace, library)
    alone: dict[tuple[object, str], float] = {}
    for name in QUICK_LOOPED if quick else LOOPED:
        say(f"{name}: deriving")
        contest = LoopContest(name)
        robot, copies = contest.twin.robot, contest.row.copies
        settled(contest, arena.peer)
        settings = ", ".join(f"{variant}: mu {p.mu:g}, {p.iterations} it." for variant, p in contest.twin.prox.items())
        for row in measured_rows(name, contest, MODES, arena):
            key, ours = (contest.row.make, row["mode"]), row["ours_us"]
            growth = None
            if ours is not None and copies == 1:
                alone[key] = ours
            elif ours is not None and key in alone:
                growth = ours / (copies * alone[key])
            facts = {"kind": "speed", **row, "loops": len(robot.loops), "growth": growth, "settings": settings}
            if ours is not None:
                facts |= judge_loops(row["mode"], row["ratio"], growth)._asdict()
            yield facts


# ── the robots, and states in which their loops are closed ────────────────────────────────────────────────────────────


class Looped(NamedTuple):
    """A robot of the table: the function that makes it, a configuration near a closed one, and the number of copies.

    All joints are hinges. The copies stand side by side and are one robot for both libraries.
    """

    make: Callable[[], Robot]
    q: tuple[float, ...] = ()  # empty: zeros
    copies: int = 1


LOOPED: dict[str, Looped] = {
    "four_bar": Looped(four_bar, ASSEMBLED),
    "four_bar x 4": Looped(four_bar, ASSEMBLED, 4),
    "four_bar x 16": Looped(four_bar, ASSEMBLED, 16),
    "klann": Looped(klann),
    "jansen": Looped(jansen),
    "bricard": Looped(lambda: bricard().robot),
}
QUICK_LOOPED = ("four_bar", "four_bar x 4")


def side_by_side(robot: Robot, copies: int) -> Robot:
    """One robot made of several copies of a robot; their positions do not matter, as there is no contact."""
    builder = RobotBuilder(f"{copies}_of_{robot.name}", gravity=robot.gravity)
    for k in range(copies):
        called = {"world": "world"} | {name: f"{name}_{k}" for name in robot.body_names}
        builder.add(*(replace(body, name=called[body.name]) for body in robot.bodies))
        for joint in (*robot.joints, *robot.loops):
            parent, child = called[joint.parent], called[joint.child]
            builder.add(replace(joint, name=f"{joint.name}_{k}", parent=parent, child=child))
    return builder.build()


class LoopContest(Contest):
    """A comparison of forward dynamics of a robot with loops, at states in which the loops are closed."""

    def __init__(self, name: str) -> None:
        self.row = LOOPED[name]
        self.single = derive(self.row.make())
        copies = self.row.copies
        robot = self.single.robot if copies == 1 else side_by_side(self.single.robot, copies)
        dynamics = self.single if copies == 1 else derive(robot)
        super().__init__(twin_with_loops(robot), CONSTRAINED, dynamics, robot.body_names[-1])

    def states(self, n: int, seed: int = 0) -> dict[str, Array]:
        """n random states: closed configurations, velocities that keep loops closed, and any forces.

        The copies of a robot are in different states.
        """
        near = np.array(self.row.q or (0.0,) * self.single.robot.nq)
        found = closed_states(self.single, near, n * self.row.copies, seed)
        return {name: np.ascontiguousarray(values.reshape(n, -1)) for name, values in found.items()}


def closed_states(dynamics: Dynamics, near: Array, n: int, seed: int = 0) -> dict[str, Array]:
    """Random states q, v and tau, shape (n, nv) each, in which loops are closed.

    They are the ends of n random walks from `near` (nq,); Newton's method closes the loops after every step. It uses
    the rank of the constraint Jacobian at the first configuration: an over-constrained mechanism has more constraint
    rows than that, and they contradict each other as long as the loops are slightly open.
    """
    rng = np.random.default_rng([seed, 53])
    nv = dynamics.robot.nv
    q = _closed(dynamics, near[None], _rank(dynamics, near))
    rank = _rank(dynamics, q[0])
    q = np.repeat(q, n, axis=0)
    for _ in range(STEPS):
        q = _closed(dynamics, q + STRIDE * _allowed(dynamics, q, rank, rng.normal(size=(n, nv))), rank)
    v = _allowed(dynamics, q, rank, 3.0 * rng.normal(size=(n, nv)))
    return {"q": q, "v": v, "tau": 5.0 * rng.normal(size=(n, nv))}


def _rank(dynamics: Dynamics, q: Array) -> int:
    values = np.linalg.svd(dynamics.constraint_jacobian(q), compute_uv=False)
    return int((values > RANK * values[0]).sum())


def _closed(dynamics: Dynamics, q: Array, rank: int) -> Array:
    for _ in range(CORRECTIONS):
        U, s, Vt = np.linalg.svd(dynamics.constraint_jacobian(q), full_matrices=False)
        along = np.einsum("nrk,nr->nk", U[:, :, :rank], dynamics.constraint_error(q)) / s[:, :rank]
        q = q - np.einsum("nkv,nk->nv", Vt[:, :rank], along)
    return q


def _allowed(dynamics: Dynamics, q: Array, rank: int, v: Array) -> Array:
    """The part of the velocities v (n, nv) that keeps loops closed at q; `rank` is that of the constraint Jacobian."""
    Vt = np.linalg.svd(dynamics.constraint_jacobian(q), full_matrices=False)[2][:, :rank]
    rest: Array = v - np.einsum("nkv,nk->nv", Vt, np.einsum("nkv,nv->nk", Vt, v))
    return rest
