"""Runs in which a dependent leaves its domain, such as acos above 1, end with its name, the time and the value."""

from __future__ import annotations

import numpy as np
import pytest

import kinemorph
from kinemorph.formats.loading import load_text
from kinemorph.model.system import System

MODEL = """\
kinemorph = 1
[coordinates.q]
[dependents]
gamma = "acos(0.5 + 0.3 * t)"
[bodies.b]
mass = 1
inertia = [1, 1, 1]
position = "Trotz(q) * Tdisp(1, 0, 0) * Trotx(gamma)"
"""


@pytest.fixture(scope="module")
def timed() -> System:
    return load_text(MODEL, "toml")


def test_a_run_with_steps_of_constant_size_ends_before_the_domain_is_left(timed: System) -> None:
    run = kinemorph.simulate(timed, 3.0, step=0.01)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(1.66)
    assert "dependent 'gamma' leaves its domain: the argument of acos is 1.001" in run.outcome.message
    assert "At t = 1.67 s" in run.outcome.message and "expected a value from -1 to 1" in run.outcome.message


def test_an_adaptive_run_ends_at_the_end_of_the_domain(timed: System) -> None:
    run = kinemorph.simulate(timed, 3.0)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(5.0 / 3.0, abs=1e-6)
    assert "dependent 'gamma' leaves its domain" in run.outcome.message


def test_a_coordinate_that_comes_to_rest_at_the_end_of_the_domain_does_not_finish() -> None:
    """The formula has no finite derivative there: an adaptive method would remain at this state without a word."""
    text = MODEL.replace("0.3 * t", "q").replace("Tdisp(1, 0, 0)", "Tdisp(q, 0, 0)")
    system = load_text(text, "toml")
    run = kinemorph.simulate(system, 2.0, v=[1.0], output_step=0.05)
    assert run.outcome.kind == "failed" and run.outcome.t < 1.0
    assert run.t[-1] == pytest.approx(run.outcome.t - 0.05)  # the last sample at which all formulas have rates
    assert all(np.isfinite(run[name]).all() for name in ("q", "v", "gamma"))
    assert "the argument of acos is 1, where the domain ends" in run.outcome.message
    batch = kinemorph.simulate_batch(system, 1.0, q=[[0.0], [0.1]], v=[[1.0], [0.0]])
    assert [one.kind for one in batch.outcomes] == ["failed", "finished"]
    assert "dependent 'gamma' leaves its domain" in batch.outcomes[0].message
    outside = kinemorph.simulate(system, 1.0, q=[0.7])
    assert outside.outcome.message.startswith(
        "At t = 0 s dependent 'gamma' leaves its domain: the argument of acos is 1.2"
    )


@pytest.mark.parametrize("method", ["newmark", "generalized_alpha"])
@pytest.mark.parametrize("sampled", [0.05, 0.001])
def test_newmark_does_not_turn_back_at_a_dead_point(method: str, sampled: float) -> None:
    """It stepped over the dead point, to a motion that the formula does not describe, and finished."""
    system = load_text(MODEL.replace("0.3 * t", "q").replace("Tdisp(1, 0, 0)", "Tdisp(q, 0, 0)"), "toml")
    run = kinemorph.simulate(system, 2.0, v=[1.0], method=method, output_step=sampled)
    assert run.outcome.kind == "failed" and 0.65 <= run.t[-1] < 0.72 and run.t[-1] <= run.outcome.t
    assert "dependent 'gamma' leaves its domain: the argument of acos is" in run.outcome.message


def test_newmark_turns_where_the_domain_does_not_end() -> None:
    """A spring turns the motion 1e-3 before the end of the domain."""
    text = MODEL.replace("0.3 * t", "q").replace("Tdisp(1, 0, 0)", "Tdisp(q, 0, 0)")
    system = load_text(text, "toml")
    held = kinemorph.elements.AppliedEffort("back", "q", -3.0)
    run = kinemorph.simulate(System(system.robot, (held,)), 1.0, v=[1.0], method="newmark", output_step=0.05)
    assert run.outcome.ok and 0.1 < run["q.q"].max() < 0.499
