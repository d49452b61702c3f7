"""How far organisms go with the gait and gains of `with_gait`: by default as far as with small steps, or it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import elements, simulate
from kinemorph.analysis.followed_gait import NEARLY, convergence_notes, finer_steps
from kinemorph.analysis.with_gait import gait_joints, with_gait
from kinemorph.model.modules.ground_contacts import on_ground
from kinemorph.modules import assemble
from support.robots.random_assemblies import random_tree

TIME = 4.0  # [s]
CASES: dict[str, Any] = {
    **{f"row of {n}": " ".join(f"B>{k}" for k in range(n)) for n in (3, 4, 6, 8, 10, 12, 16)},
    "cross of 5": ".    B>1  .\nB>3  B>0  B>2\n.    B>4  .",
    "cross of 9": "\n".join(
        (
            ".    .    B>1  .    .",
            ".    .    B>2  .    .",
            "B>3  B>4  B>0  B>5  B>6",
            ".    .    B>7  .    .",
            ".    .    B>8  .    .",
        )
    ),
    **{f"tree of {n}, {seed}": (n, seed) for n, seed in zip(range(3, 14), range(11), strict=True)},
}


def crawled(case: Any) -> tuple[Any, Any, Any]:
    """(system, run with default steps, run with finer ones) of a case."""
    made = assemble(case) if isinstance(case, str) else random_tree(*case)
    placed = on_ground(made.system())
    system = with_gait(placed, elements.Rhythmic("gait", gait_joints(placed)))
    run = simulate(system, TIME)
    return system, run, simulate(system, TIME, **finer_steps(run))


def check(case: Any) -> None:
    system, run, finer = crawled(case)
    fine = simulate(system, TIME, method="extrapolated_contact", step=1e-4)
    went, goes = (float(np.linalg.norm((one.q[-1] - one.q[0])[:3])) for one in (run, fine))
    said = convergence_notes(system.robot, run, finer)
    assert said or abs(went - goes) <= NEARLY * max(goes, 0.02), (went, goes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["row of 4"])
def test_the_default_goes_as_far_as_small_steps(name: str) -> None:
    check(CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_default_distance_is_silently_wrong(name: str) -> None:
    check(CASES[name])
