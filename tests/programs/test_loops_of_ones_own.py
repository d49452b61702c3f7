"""The library form of programs in a loop of one's own: what is set between calls of `advance` disturbs no event.

SEEDS 001-02, 001-03: the model leaves as running code. The programs here are in Python, which needs no compiler.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from kinemorph import Guard, Parameter, Robot, RobotBuilder, Stepper, simulate
from kinemorph.programs import make_job, write_program

WALL = Guard("wall", lambda q: q[0] - 0.5, "rising", reset=lambda v: {"v": [-v[0]]})


def cart() -> Robot:
    """A mass that slides without friction and without gravity."""
    builder = RobotBuilder("cart", gravity=(0.0, 0.0, 0.0))
    builder.body("mass", mass=Parameter("m", 2.0, unit="kg"), inertia=(1.0, 1.0, 1.0))
    return builder.joint("s", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0)).build()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cart")
    write_program(make_job(cart(), 1.0, q=[0.0], v=[1.0], events=[WALL], parameters=["m"]), "python", folder)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("cart")
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("name", ["u.s", "p.m", ""])
@pytest.mark.parametrize("steps", [10, 16, 20, 33])
def test_a_wall_that_is_reached_where_a_value_is_set_is_hit(name: str, steps: int, program: Any) -> None:
    """The mass is at the wall after 0.5 s, up to rounding, and there an input or a parameter changes."""
    model = program.Model()
    for k in range(1, steps + 1):
        if name:
            model.set(name, 1e-15 * (k % 2) if name == "u.s" else 2.0 + k)
        assert model.advance(k / steps)
    assert abs(model.get("q.s")) < 1e-12 and abs(model.get("v.s") + 1.0) < 1e-12


@pytest.mark.parametrize("steps", [10, 33])
def test_a_stepper_and_simulate_hit_the_wall_where_inputs_change(steps: int) -> None:
    """Inputs that a Python function gives change at the samples, one of which is where the mass reaches the wall."""
    stepper = Stepper(cart(), q=[0.0], v=[1.0], guards=[WALL])
    for k in range(1, steps + 1):
        stepper.push([1e-15 * (k % 2)])
        while (state := stepper.advance(k / steps)).t < k / steps:
            pass
    assert abs(state.q[0]) < 1e-12 and abs(state.v[0] + 1.0) < 1e-12
    options: dict[str, Any] = {"q": [0.0], "v": [1.0], "events": [WALL], "output_step": 1.0 / steps}
    run = simulate(cart(), 1.0, inputs=lambda t, q, v: [1e-15 * (round(t * steps) % 2)], **options)
    assert len(run.events) == 1 and abs(run.q[-1, 0]) < 1e-12 and abs(run.v[-1, 0] + 1.0) < 1e-12


def test_a_state_that_is_set_at_the_wall_begins_a_new_motion(program: Any) -> None:
    """As where `simulate` begins at a guard: its first sign is that of its rate."""
    model = program.Model()
    assert model.advance(0.25)
    model.set("q.s", 0.5)
    assert model.advance(0.5) and abs(model.get("q.s") - 0.75) < 1e-12
