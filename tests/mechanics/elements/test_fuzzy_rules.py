"""Controllers of Sugeno fuzzy rules: their law, their limits, the PID that they can equal, and messages on bad data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Parameter, System, simulate
from kinemorph.errors import ModelError
from kinemorph.model.elements import PID, FuzzyRules, Sinusoid
from support.tools.each_case import each_case

QUICK: dict[str, Any] = {"method": "rk4", "step": 0.01}
SWING = Sinusoid("swing", amplitude=0.6, frequency=0.8, joints="q1")
MEMBERS: dict[str, Any] = {"centers": ((-0.4, 0.1, 0.5), (), (-1.0, 2.0)), "widths": ((0.3, 0.2, 0.4), (), (1.5, 2.5))}


def pendulum(*elements: Any) -> System:
    return System(kinemorph.library.pendulum(), (SWING, *elements))


def rules(**changes: Any) -> FuzzyRules:
    given = {"inputs": ("error", "integral", "v.q1"), "reference": "swing", "consequents": numbers(6, 4)} | MEMBERS
    return FuzzyRules("rules", "q1", **given | changes)


def numbers(*shape: int) -> Any:
    return tuple(map(tuple, np.random.default_rng(3).uniform(-8.0, 8.0, shape).tolist()))


def sugeno(element: FuzzyRules, premises: Any, x: Any) -> Any:
    """The output (n,) of Sugeno's rules for inputs x (n, k), in NumPy: the weighted mean of all rules."""
    above, below = 0.0, 0.0
    for premise, row in zip(premises, element.consequents, strict=True):
        w = 1.0
        for j, k in premise:
            w = w * np.exp(-0.5 * ((x[:, j] - element.centers[j][k]) / element.widths[j][k]) ** 2)
        above, below = above + w * (x @ row[:-1] + row[-1]), below + w
    return above / below


ALL = [[(0, i), (2, j)] for i in range(3) for j in range(2)]


@pytest.mark.parametrize("some", [False, True])
def test_output_is_the_weighted_mean_of_linear_rules(some: bool) -> None:
    """All combinations of membership functions, the last input fastest, or the rules that are listed."""
    chosen = {"rules": ((2, 0), (0, 1)), "consequents": numbers(2, 4)} if some else {}
    element = rules(lower=-3.0, upper=2.5, **chosen)
    run = simulate(pendulum(element), 1.0, q=[0.3], **QUICK)
    error = run["swing.q1"] - run["q.q1"]
    np.testing.assert_allclose(run["rules.error"], error, atol=1e-15)
    x = np.stack([error, run["rules.integral"], run["v.q1"]], axis=1)
    premises = [[(0, 2), (2, 0)], [(0, 0), (2, 1)]] if some else ALL
    u = sugeno(element, premises, x)
    np.testing.assert_allclose(run["rules"], np.clip(u, -3.0, 2.5), rtol=1e-12)
    assert abs(u).max() > 3.0  # the limits act
    slope = np.gradient(run["rules.integral"], run.t)[1:-1]
    np.testing.assert_allclose(slope, error[1:-1], atol=2e-3)


def test_output_is_finite_far_from_all_centers() -> None:
    """The weights of all rules would be 0 there in double precision, and their mean 0/0."""
    element = rules(
        inputs=("error",), centers=((500.0, 501.0),), widths=((0.1, 0.1),), consequents=((2.0, 1.0), (9.0, 0.0))
    )
    run = simulate(pendulum(element), 0.1, **QUICK)
    np.testing.assert_allclose(run["rules"], 2.0 * run["rules.error"] + 1.0, rtol=1e-12)


@pytest.mark.parametrize("every", [None, 0.02])
def test_rules_made_from_a_pid_act_as_that_pid(every: float | None) -> None:
    """Also at the limits of the output, where the integral is clamped."""
    shared: dict[str, Any] = {"filter": 0.03, "lower": -6.0, "upper": 6.0, "anti_windup": "clamp", "every": every}
    pid = PID("pid", "q1", kp=40.0, ki=90.0, kd=3.0, reference="swing", **shared)
    element = FuzzyRules.from_pid("rules", pid, inputs="v.q1", centers=((-0.1, 0.1), (), (), (0.0,)),
                                  widths=((0.1, 0.1), (), (), (1.0,)))  # fmt: skip
    one, other = (simulate(pendulum(controller), 1.0, q=[0.5], **QUICK) for controller in (pid, element))
    np.testing.assert_allclose(other["rules"], one["pid"], atol=1e-11)
    np.testing.assert_allclose(other.q, one.q, atol=1e-12)
    assert abs(one["pid"]).max() == 6.0
    with pytest.raises(ModelError, match=r"joint is 'q9'; expected a channel of the PID 'pid': 'q1'"):
        FuzzyRules.from_pid("rules", pid, "q9", centers=((), (), ()), widths=((), (), ()))


def test_numbers_may_be_parameters() -> None:
    gain = Parameter("gain", 3.0)
    element = rules(inputs="error", centers=((),), widths=((),), consequents=((gain, 2.0 * gain),), upper=7.0)
    run = simulate(pendulum(element), 0.2, **QUICK)
    np.testing.assert_allclose(run["rules"], np.minimum(3.0 * run["rules.error"] + 6.0, 7.0), rtol=1e-12)


BAD = (
    ({"widths": ((0.3, 0.4), (), (1.5, 2.5))}, "the input 'error' has 3 centers and 2 widths"),
    ({"centers": ((0.1,), ())}, "centers has 2 rows; expected 3, one for each input"),
    ({"inputs": ("error", "integral", "v.q9")}, "it reads 'v.q9', but there is no such signal"),
    ({"inputs": ("error", "error", "v.q1")}, "expected one or more names, each of them once"),
    ({"consequents": numbers(5, 4)}, "consequents has 5 rows; expected 6, one for each rule"),
    ({"consequents": numbers(6, 3)}, r"consequents\[0\] has 3 numbers; expected 4: a coefficient"),
    ({"rules": ((0, 2),), "consequents": numbers(1, 4)}, r"rules\[0\] has 2 for the input 'v.q1'; expected a whole"),
    ({"rules": ((0,),), "consequents": numbers(1, 4)}, r"rules\[0\] has 1 number; expected 2, one for each input with"),
    ({"lower": 3.0, "upper": 2.0}, "expected lower below upper"),
    ({"joints": ("q1", "q1")}, "expected one joint"),
)  # fmt: skip


@each_case(("changes", "message"), BAD)
def test_bad_rules_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        simulate(pendulum(rules(**changes) if "joints" not in changes else FuzzyRules("rules", **changes)), 0.1)
