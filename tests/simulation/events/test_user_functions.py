"""User functions that return unusable values: the run fails, keeps its results and says what was returned."""

import math

import numpy as np
import pytest

from kinemorph import Guard, HeldInputs, System, library, simulate
from kinemorph.model.elements import PythonController

METHODS = [{"method": "rk4", "step": 0.01}, {"method": "dop853"}, {"method": "scipy:RK45"}]


def failed(run, t, *words):
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(t) and run.t[-1] == pytest.approx(t)
    assert np.isfinite(run.q).all() and len(run) > 4
    assert run.outcome.message.startswith(f"At t = {run.outcome.t:.9g} s ")
    for word in words:
        assert word in run.outcome.message, run.outcome.message


@pytest.mark.parametrize("options", METHODS, ids=lambda options: options["method"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([math.nan], "'q1' is nan; expected a finite number"),
        ([math.inf], "'q1' is inf; expected a finite number"),
        ([0.0, 0.0], "u has shape (2,); expected (1,)"),
        (
            ["much"],
            "u 'q1': 'much' is not a number with a unit such as '1 N m'. Correct it, or give a plain number in N m",
        ),
        (None, "is None; expected 1 numbers"),
        ({"q1": [0.0, 1.0]}, "cannot be used as inputs u"),
        ({"knee": 0.0}, "has no input 'knee'"),
    ],
)
def test_inputs(value, words, options):
    for every in (None, 0.1):
        inputs = HeldInputs(lambda t: value if t > 0.45 else [0.0], every)
        run = simulate(library.pendulum(), 1.0, inputs=inputs, output_step=0.1, **options)
        failed(run, 0.5, "`inputs` returned values that cannot be used as inputs u", words)


@pytest.mark.parametrize("options", METHODS, ids=lambda options: options["method"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"v": [math.nan]}, "v 'q1' is nan; expected a finite number"),
        ({"q": [-math.inf]}, "q 'q1' is -inf; expected a finite number"),
        ({"v": [0.0, 1.0]}, "v has shape (2,); expected (1,)"),
        ([0.0], "the value is [0.0]; expected a dict of new values"),
        ({"speed": [0.0]}, "expected a dict of new values"),
        (None, "the value is None; expected a dict"),
    ],
)
def test_resets(value, words, options):
    guard = Guard("half", lambda t: t - 0.5, "rising", reset=lambda v: value)
    run = simulate(library.pendulum(), 1.0, events=[guard], output_step=0.1, **options)
    failed(run, 0.5, "the reset of guard 'half' returned a state that cannot be used", words)


def test_a_reset_of_wrong_arguments_keeps_what_was_computed():
    guard = Guard("half", lambda t: t - 0.5, "rising", reset=lambda speed: {})
    failed(simulate(library.pendulum(), 1.0, events=[guard], output_step=0.1), 0.5, "argument 'speed'")


@pytest.mark.parametrize("options", METHODS, ids=lambda options: options["method"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "nan as output; expected a finite number"),
        (-math.inf, "-inf as output; expected a finite number"),
        ([0.0, 1.0], "2 numbers"),
        ("much", "'much'"),
        (None, "None"),
    ],
)
def test_python_controllers(value, words, options):
    controller = PythonController("brain", lambda t: value if t > 0.45 else 0.0, (), "q1", every=0.1)
    run = simulate(System(library.pendulum(), (controller,)), 1.0, output_step=0.1, **options)
    failed(run, 0.5, "'brain'", words)
