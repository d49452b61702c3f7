"""Plants and measures that the tests of implicit methods share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import kinemorph
from kinemorph.algebra.scalar import sin
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.stepping.stepper import State, Stepper


@lru_cache(maxsize=1)
def turning_body() -> Plant:
    """A box in free fall."""
    builder = kinemorph.RobotBuilder("brick").add(kinemorph.Body.box("brick", 1.3, (0.3, 0.2, 0.1)))
    return plant(builder.joint("base", "free", "world", "brick").build())


@lru_cache(maxsize=1)
def double_pendulum() -> Plant:
    """Two rods."""
    return plant(kinemorph.library.double_pendulum())


@lru_cache(maxsize=1)
def motor() -> Plant:
    """A double pendulum with a motor: current by its own law, torque by current."""
    return plant(
        kinemorph.library.double_pendulum(),
        states={"current": "A"},
        state_rates=lambda t, v, x: [40.0 * (6.0 * sin(3.0 * t) - x[0] - 0.5 * v[0])],
        forces=lambda x: [2.0 * x[0], 0.0],
    )


def flat(state: State) -> np.ndarray:
    return np.concatenate(state[1:])


def observed_orders(model: Plant, method: str, steps: list[float], until: float, **start: Any) -> list[float]:
    """Slopes of the error at `until` between steps, each half as long as the one before."""
    exact = flat(_reference(model).at(until, **start))
    runs = Runs(Stepper(model, method=method, step=steps[0]))
    errors = np.array([np.abs(flat(runs.at(until, h, **start)) - exact).max() for h in steps])
    return np.log2(errors[:-1] / errors[1:]).tolist()


class Runs:
    """One stepper, put back to the start for each run: machine code is made once."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.first = stepper, stepper.state

    def at(self, until: float, h: float | None = None, **start: Any) -> State:
        """The state at a time, with steps of size h."""
        self.stepper.place(0.0, **{"q": self.first.q, "v": self.first.v, "x": self.first.x, **start})
        self.stepper.plan.array(self.stepper.memory, "h")[...] = h or 1e-4
        return self.stepper.advance(until)


@lru_cache(maxsize=8)
def _reference(model: Plant) -> Runs:
    return Runs(Stepper(model, rtol=1e-13, atol=1e-15))
