"""All formulations on random trees of all joint kinds, in plain numbers: with outside wrenches, armatures and locks.

    newton_euler (on prepared links) = closed_form = lagrange = dalembert = incidence, to 1e-11 of the largest entry

The default run takes 100 trees of up to 6 degrees of freedom, the slow one 1000 of up to 20.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.trees.resolve import resolve
from support.robots.random_robots import KINDS, random_robot, random_states

TOLERANCE = 1e-11
MOST = 6  # degrees of freedom of the default trees


def disagreement(seed: int, robot: Any) -> float:
    """The largest relative difference of ID, also with a wrench on a link, and of FD with the first velocity locked."""
    tree = resolve(robot)
    q, v, a, _ = (part[0].tolist() for part in random_states(robot, seed, 1))
    push = {len(tree.links) - 1: ((0.3, -0.5, 0.7), (0.2, 0.1, -0.4))}
    found: dict[str, list[float]] = {}
    for name, row in FORMULATIONS.items():
        ready = row.prepare(tree)
        plain = np.array(row.inverse_dynamics(ready, q, v, a), dtype=float)
        free = np.array(row.forward_dynamics(ready, q, v, plain.tolist(), locked=(0,)), dtype=float)
        parts = [plain / np.abs(plain).max(), free / max(1.0, np.abs(free).max())]
        if row.wrenches and name != "newton_euler":  # its links have other frames
            pushed = np.array(row.inverse_dynamics(ready, q, v, a, push), dtype=float)
            parts.append(pushed / np.abs(pushed).max())
        found[name] = np.concatenate(parts).tolist()
    reference = found["closed_form"]
    return max(float(np.abs(np.subtract(one, reference[: len(one)])).max()) for one in found.values())


def test_all_formulations_agree_on_random_trees() -> None:
    robots = [random_robot(seed, most=MOST) for seed in range(50)]
    assert {*KINDS} <= {joint.kind for robot in robots for joint in robot.joints}
    assert max(disagreement(seed, robot) for seed, robot in enumerate(robots)) < TOLERANCE


@pytest.mark.slow
def test_all_formulations_agree_on_a_thousand_random_trees() -> None:
    assert max(disagreement(seed, random_robot(seed, most=20)) for seed in range(1000)) < TOLERANCE
