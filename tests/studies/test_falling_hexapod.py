"""The hexapod of examples/50: intervals of its probability to fall hold that of a large study, in 95 of 100 studies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Guard, Parameter, elements
from kinemorph.studies import Normal
from kinemorph.studies.statistics.measured_items import measured_items, space_of
from kinemorph.studies.statistics.monte_carlo import Draws
from kinemorph.studies.statistics.stages import sample_in_stages

STANCE = (0.0, 0.9, 0.65) * 6
TRUTH, REPETITIONS = 20_000, 100  # items of the large study, and small studies
ERROR, ALPHA = 0.08, 0.05
TOGETHER = 10  # small studies with one program


def _upright(q: Any) -> Any:
    return 1.0 - 2.0 * (q[4] ** 2 + q[5] ** 2)


def _pushed_hexapod() -> kinemorph.System:
    robot = kinemorph.library.hexapod24()
    joints = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
    friction = elements.Regularized(Parameter("friction", 0.6), 1e-2)
    soil: dict[str, Any] = {"normal": elements.EasyDynNormal(5e4, 5e5), "friction": friction}
    feet = [elements.Contact(f"foot {k}", f"foot{k}", **soil) for k in range(1, 7)]
    hold = elements.PD("hold", joints, kp=100.0, kd=3.0, reference=STANCE)
    place: dict[str, Any] = {"point": (0.0, 0.0, 0.05), "scaled": True}
    ahead = elements.AppliedWrench("ahead", "trunk", lambda t: (1.0 * (t < 0.2), 0.0, 0.0), **place)
    aside = elements.AppliedWrench("aside", "trunk", lambda t: (0.0, 1.0 * (t < 0.2), 0.0), **place)
    return kinemorph.System(robot, (*feet, hold, ahead, aside))


@pytest.mark.slow
def test_intervals_of_the_probability_of_a_fall_hold_the_truth() -> None:
    parts = {"friction": Normal(0.6, 0.2, low=0.2), "u.ahead": Normal(0.0, 150.0), "u.aside": Normal(0.0, 150.0)}
    space = space_of(parts, "test", 1)
    limit = float(np.cos(np.pi / 4.0))
    start = np.array([0.0, 0.0, 0.2774, 1.0, 0.0, 0.0, 0.0, *STANCE])
    fall = Guard("fall", lambda q: _upright(q) - limit, "falling", stop=True)
    options = {"until": 1.2, "q": start, "events": fall, "workers": 0}
    measures = {"fell": lambda q: 1.0 * (_upright(q) < limit + 1e-3)}
    held, counts = [], []
    system = _pushed_hexapod()
    with measured_items(system, space, measures, options) as measured:
        truth = float(np.mean(Draws(space, 0, measured).values_of(TRUTH)))
    for first in range(1, REPETITIONS + 1, TOGETHER):
        with measured_items(system, space, measures, options) as measured:
            for seed in range(first, first + TOGETHER):
                draws = Draws(space, seed, measured)
                found = sample_in_stages(draws.values_of, {0: ERROR}, alpha=ALPHA, pilot=100, most=1000)
                estimate = found.history[-1][1][0]
                assert found.reached
                held.append(estimate.low <= truth <= estimate.high)
                counts.append(len(draws.values))
        print(f"{sum(held)} of {len(held)}", flush=True)
    print(f"probability of a fall {truth:.4f}; held in {sum(held)} of {REPETITIONS}, with {np.mean(counts):.0f} items")
    assert sum(held) >= 0.95 * REPETITIONS
