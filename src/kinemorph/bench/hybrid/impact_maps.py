"""The speed of plastic impact maps: our function, and Pinocchio's `impulseDynamics`, at the same states.

Both give the velocities after the feet have come to rest; ours gives impulses and the energy that is lost, too. In the
plane RABBIT's feet have two rows each; Pinocchio's point constraints have a third row, which is zero, and which it
regularizes by `mu`. As in the tables of loops, its fastest setting that agrees with our results counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.loops.pinocchio_loops import settled
from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin, PointPair, matrix, twin_of_robot
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.bench.speed.contest import VECTOR, Algorithm, Contest
from kinemorph.bench.speed.evaluation_times import Arena, measured_rows
from kinemorph.bench.targets import judge_hybrid
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.deriving.dynamics import derive
from kinemorph.model.library.walkers.rabbit import rabbit

MODES = ("scalar", "batched")
PLASTIC = Algorithm("impact", "velocities after a plastic impact", "impact", ("impulse",), (VECTOR,))


class Feet(NamedTuple):
    """The frames that hit the ground, and the world axes along which they are stopped."""

    frames: tuple[str, ...]
    axes: str


ROBOTS = {
    "rabbit": Feet(("right_foot",), "zx"),
    "rabbit, both feet": Feet(("left_foot", "right_foot"), "zx"),
    "talos": Feet(("leg_right_6_link",), "zxy"),
    "talos, both feet": Feet(("leg_left_6_link", "leg_right_6_link"), "zxy"),
}


def compare_impacts(pace: Pace, library: Path | None, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields the rows of the table, one per robot and mode of calling. Times are in µs per impact."""
    arena = Arena(pace, library)
    for name in list(ROBOTS)[: 1 if quick else None]:
        say(f"{name}: deriving the impact")
        contest = ImpactContest(name)
        settled(contest, arena.peer)
        for row in measured_rows(name, contest, MODES, arena):
            judged = {} if row["ours_us"] is None else judge_hybrid("impact", row["mode"], row["ratio"])._asdict()
            yield {"kind": "impact", **row, **judged}


class ImpactContest(Contest):
    """The comparison of the impact map of a robot."""

    def __init__(self, name: str) -> None:
        frames, axes = ROBOTS[name]
        twin = twin_of_robot(rabbit().robot) if name.startswith("rabbit") else bench_twin("talos")
        twin.closures = tuple(_on_ground(twin, frame) for frame in frames)
        dynamics = derive(twin.robot)
        super().__init__(twin, PLASTIC, dynamics, twin.robot.body_names[-1], dynamics.impact(frames, axes=axes))

    def difference(self, ours: list[Array], flat: Array) -> float:
        """The largest relative difference of our velocities from Pinocchio's; impulses and losses are not compared."""
        return super().difference(ours[:1], flat)


def _on_ground(twin: PinocchioTwin, frame: str) -> PointPair:
    """The origin of a frame, which is stopped in the world; where it is then does not matter for an impact.

    `impulseDynamics` reads the velocity of the first of two bodies only, so that this has to be the robot's.
    """
    found = twin.robot.frame(frame)
    index, pose = twin.at[found.body]
    return PointPair(index, pose @ matrix(found.placement), 0, np.eye(4))
