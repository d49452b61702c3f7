"""The speed of regressors: our functions, and Pinocchio's `computeJointTorqueRegressor`, at the same states.

Pinocchio's matrix has ten columns for each joint; ours has ten for each body, and four more for each velocity. Our
second function gives only the entries that are not always 0, which is all that an identification reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.bench.speed.contest import MATRIX, Algorithm, Contest
from kinemorph.bench.speed.evaluation_times import Arena, measured_rows
from kinemorph.bench.targets import judge_identify
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.parameter_functions import moving_bodies

MODES = ("scalar", "batched")
ROBOTS = ("panda", "hexapod36")
FORMS = {
    "matrix": Algorithm("matrix", "the regressor", "regressor", ("regressor",), (MATRIX,)),
    "entries": Algorithm("entries", "its entries that are not 0", "regressor_entries", ("regressor",), (MATRIX,)),
}


def compare_regressors(pace: Pace, library: Path | None, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields the rows of the table, one per robot, form and mode of calling. Times are in µs per state."""
    arena = Arena(pace, library)
    for name in ROBOTS[: 1 if quick else None]:
        say(f"{name}: deriving the regressor")
        twin = bench_twin(name)
        dynamics = derive(twin.robot)
        for form in FORMS:
            for row in measured_rows(name, RegressorContest(name, form, dynamics), MODES, arena):
                judged = {} if row["ours_us"] is None else judge_identify("regressor", row["ratio"])._asdict()
                yield {"kind": "regressor", **row, **judged}


class RegressorContest(Contest):
    """The comparison of a form of the regressor of a robot."""

    def __init__(self, name: str, form: str, dynamics: Dynamics | None = None) -> None:
        twin = bench_twin(name)
        self.dynamics = dynamics or derive(twin.robot)
        super().__init__(twin, FORMS[form], self.dynamics, twin.robot.body_names[-1])

    def difference(self, ours: list[Array], flat: Array) -> float:
        """The largest difference of our columns of bodies from Pinocchio's, relative to the largest entry of a state.

        Pinocchio has no columns for friction and armature.
        """
        twin, mine = self.twin, ours[0]
        if self.algorithm.name == "entries":
            dense = np.zeros((len(mine), twin.robot.nv, len(self.dynamics.regressor_columns)))
            dense[:, self.dynamics.regressor_pattern.rows, self.dynamics.regressor_pattern.columns] = mine
            mine = dense
        there = twin.ours(flat.reshape(len(flat), twin.model.nv, -1), (1,))
        theirs = twin.body_columns(there, [body.name for body in moving_bodies(twin.robot)])
        gap = np.abs(mine[:, :, : theirs.shape[2]] - theirs).max(axis=(1, 2))
        return float((gap / np.abs(theirs).max(axis=(1, 2))).max())
