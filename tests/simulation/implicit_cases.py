"""Plants and measures that the tests of implicit methods share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import kinemorph
from kinemorph.plants import Plant, plant
from kinemorph.simulation.stepper import State, Stepper


@lru_cache(maxsize=1)
def turning_body() -> Plant:
    """A box in free fall."""
    builder = kinemorph.RobotBuilder("brick").add(kinemorph.Body.box("brick", 1.3, (0.3, 0.2, 0.1)))
    return plant(builder.joint("base", "free", "world", "brick").build())


def flat(state: State) -> np.ndarray:
    return np.concatenate(state[1:])


def observed_orders(model: Plant, method: str, steps: list[float], until: float, **start: Any) -> list[float]:
    """Slopes of the error at `until` between steps, each half as long as the one before."""
    exact = flat(Stepper(model, rtol=1e-13, atol=1e-15, **start).advance(until))
    ends = [flat(Stepper(model, method=method, step=h, **start).advance(until)) for h in steps]
    errors = np.array([np.abs(end - exact).max() for end in ends])
    return np.log2(errors[:-1] / errors[1:]).tolist()
