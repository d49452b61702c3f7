"""`optimize`: closed forms at rest and in runs, slopes beside differences, populations as single runs, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are
from scipy.optimize import brentq, minimize_scalar

from kinemorph import Parameter, RobotBuilder, System, derive, library, optimize, simulate
from kinemorph.analysis.optimizing.design_problem import DesignProblem
from kinemorph.analysis.optimizing.equilibria import Equilibria
from kinemorph.analysis.optimizing.runs import Runs
from kinemorph.elements import PD, Automaton, Continuous, Edge, Integral, Phase, TorqueSpline, TorsionSpring
from kinemorph.errors import KinemorphError
from kinemorph.orbits import optimize_gait

MASS, ARM, KP, REFERENCE = 2.0, 0.5, 10.0, 0.3
WEIGHT = MASS * ARM * 9.81


def arm() -> System:
    """A level arm that a controller holds, with a spring in its hinge; a positive angle lowers it."""
    rod = {"mass": Parameter("mass", MASS), "com": (ARM, 0.0, 0.0), "inertia": (0.01, 0.1, 0.1)}
    robot = RobotBuilder("arm").body("rod", **rod).joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    spring = TorsionSpring("spring", "hinge", Parameter("k", 3.0), Parameter("rest", 0.1), damping=0.5)
    pd = PD("pd", "hinge", kp=Parameter("kp", KP), kd=1.0, reference=REFERENCE)
    return System(robot, (pd, spring, Integral("effort", "pd", of="square")))


def cart(**options: Any) -> System:
    """A mass of 1 kg on a line with a PD controller, from 1 m at rest: a double integrator with feedback."""
    robot = RobotBuilder("cart").body("mass", mass=1.0).joint("x", "prismatic", "world", "mass", axis=(1, 0, 0)).build()
    pd = PD("pd", "x", kp=Parameter("kp", 1.0), kd=Parameter("kd", 1.0))
    return System(robot, (pd, Integral("state", "q.x", of="square"), Integral("input", "pd", of="square")))


# ── closed forms ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_spring_of_best_rest_angle_carries_the_arm():
    """With the rest angle free, the spring carries the whole weight where the controller has no error."""
    found = optimize(arm(), {"rest": (-6.0, 1.0)}, "effort")
    assert found and found.cost == pytest.approx(0.0, abs=1e-9)
    assert found.values["rest"] == pytest.approx(REFERENCE - WEIGHT * math.cos(REFERENCE) / 3.0, abs=1e-5)
    assert found.result.q[0] == pytest.approx(REFERENCE, abs=1e-5)


def test_a_limit_of_the_rest_angle_costs_what_the_balance_says():
    found = optimize(arm(), {"rest": (-1.0, 1.0)}, "effort")
    q = brentq(lambda q: KP * (REFERENCE - q) + 3.0 * (-1.0 - q) + WEIGHT * math.cos(q), -3.0, 3.0)
    assert found.values["rest"] == pytest.approx(-1.0, abs=1e-9)
    assert found.cost == pytest.approx((KP * (REFERENCE - q)) ** 2, rel=1e-9)


def test_conditions_hold_and_cost():
    found = optimize(arm(), {"k": (0.0, 50.0), "rest": (-1.0, 1.0)}, "effort", {"q.hinge": (-0.1, 0.1)})
    assert found.conditions["q.hinge"] == pytest.approx(0.1, abs=1e-8)
    assert found.margins["q.hinge"] >= -1e-7
    assert found.cost == pytest.approx((KP * (REFERENCE - 0.1)) ** 2, rel=1e-6)
    exact = optimize(arm(), {"k": (0.0, 50.0)}, "k", {"q.hinge": 0.6})
    balance = KP * (REFERENCE - 0.6) + WEIGHT * math.cos(0.6)
    assert exact.values["k"] == pytest.approx(balance / (0.6 - 0.1), rel=1e-7)


def test_gains_are_those_of_the_linear_quadratic_regulator():
    r = 0.25
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    P = solve_continuous_are(A, B, np.diag([1.0, 0.0]), [[r]])
    start = {"at": "run", "search": "slsqp", "until": 25.0, "q": {"x": 1.0}, "rtol": 1e-9, "atol": 1e-11}
    found = optimize(cart(), {"kp": (0.2, 9.0), "kd": (0.2, 9.0)}, {"state": 1.0, "input": r}, **start)
    assert found.cost == pytest.approx(P[0, 0], rel=1e-7)
    assert [*found.values.values()] == pytest.approx((B.T @ P / r)[0], rel=2e-4)


@pytest.mark.slow
def test_work_per_meter_at_a_speed_is_that_of_the_slowest_motion_allowed():
    """A constant force F on a damped mass from rest: work / distance is F, and the distance is known."""
    c, T, m, speed = 2.0, 3.0, 1.0, 1.5
    body = RobotBuilder("cart").body("mass", mass=m)
    robot = body.joint("x", "prismatic", "world", "mass", axis=(1, 0, 0), damping=c).build()
    push = PD("push", "x", kp=0.0, feedforward=Parameter("force", 5.0))
    power = Continuous("power", lambda t, f, v: f * v, reads=("push", "v.x"), outputs="flow")
    system = System(robot, (push, power, Integral("work", "power.flow")))
    options = {"at": "run", "until": T, "subject_to": {"q.x / t": (speed, 2.0 * speed)}, "seed": 1}
    found = optimize(system, {"force": (0.5, 20.0)}, "work / q.x", tolerance=1e-7, **options)
    force = speed * c / (1.0 - m / (c * T) * (1.0 - math.exp(-c * T / m)))
    assert found.conditions["q.x / t"] >= speed
    assert (found.cost, found.values["force"]) == pytest.approx((force, force), rel=1e-4)
    exact = optimize(system, {"force": (0.5, 20.0)}, "work / q.x", search="slsqp", start=found, **options)
    assert exact.cost == pytest.approx(force, rel=1e-7)


def test_a_gait_is_a_case_of_it():
    robot = RobotBuilder("cart").body("mass", mass=2.0).joint("x", "prismatic", "world", "mass", axis=(1, 0, 0)).build()
    spline = TorqueSpline.free("force", "x", 1.0, count=4)
    lossy = Edge("step", "push", "push", "1.0 - q.x", reset={"q.x": "q.x - 1.0", "v.x": "0.5 * v.x"}, impact="none")
    elements = (spline, Integral("effort", "force", of="square"))
    system = System(robot, elements, automaton=Automaton(Phase("push", "force"), lossy))
    options: dict[str, Any] = {"duration": 1.0, "guess": {"q.x": [0.0, 1.0]}, "arcs": 1}
    gait = optimize_gait(system, "effort", spline.parameter_names, along={"v.x": (0.8, math.inf)}, **options)
    over = {name: (-math.inf, math.inf) for name in spline.parameter_names}
    found = optimize(system, over, "effort", {"v.x": (0.8, math.inf)}, at="gait", **options)
    assert found and found.cost == gait.cost and found.result.period == gait.period
    assert found.margins == gait.margins and found.values == {name: gait.parameters[name] for name in over}


# ── slopes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def assert_slopes(designs: Equilibria | Runs, Y: Any, step: float = 1e-5, rel: float = 1e-6) -> None:
    """Slopes of the cost and of every condition are central differences of values without slopes."""
    values, size = designs.unknowns.values(np.asarray(Y)), len(Y)
    found = designs.sloped(values)
    assert found is not None
    h = step * np.abs(values)
    moved = np.concatenate([values + np.diag(h), values - np.diag(h)])
    measured = designs.values(moved)
    differences = (measured[:size] - measured[size:]).T / (2.0 * h)
    assert found.by == pytest.approx(differences, rel=rel, abs=rel * np.abs(differences).max())
    assert designs.values(values[None])[0] == pytest.approx(found.values, rel=1e-8)
    problem, one = DesignProblem(designs), step * np.eye(size)
    here = problem.at(np.asarray(Y))
    assert problem.at(np.array(Y)) is here and len(problem.history.costs) == 1  # the last result is kept
    moved = problem.designs.values(designs.unknowns.values(np.concatenate([Y + one, Y - one])))
    differences = (moved[:size, 0] - moved[size:, 0]) / (2.0 * step)
    assert here.cost_by == pytest.approx(differences, rel=10.0 * rel, abs=10.0 * rel * np.abs(differences).max())


def test_slopes_at_rest_are_differences():
    over = {"k": (1.0, 9.0, "log"), "rest": (-1.0, -0.1), "mass": (1.0, 3.0), "kp": (1.0, 20.0)}
    conditions = {"q.hinge": (0.0, 1.0), "pd * k - mass": (0.0, 1.0)}
    assert_slopes(Equilibria(arm(), over, {"effort": 2.0, "q.hinge": 0.5}, conditions), [0.3, 0.4, 0.6, 0.2])


def test_slopes_at_rest_are_differences_where_a_loop_closes():
    """Lengths of a four-bar change the closed configuration as well as the forces."""
    robot = library.four_bar()
    spring = TorsionSpring("spring", "q1", stiffness=Parameter("k", 40.0), rest=0.4)
    over = {"l1": (0.28, 0.32), "l3": (0.65, 0.75), "k": (20.0, 60.0)}
    closed = [0.6, 0.02989836, 1.6066907]
    assert_slopes(
        Equilibria(System(robot, (spring,)), over, "q.q1", {"q.q3 + k": (0.0, 9.0)}, q=closed), [0.4, 0.5, 0.6]
    )


def test_slopes_of_runs_are_differences():
    over = {"v.x": (0.1, 0.5), "kp": (1.0, 9.0, "log"), "q.x": (0.5, 2.0), "kd": (0.5, 2.0)}
    designs = Runs(cart(), over, "input / state + q.x", {"v.x": (0.0, 1.0)}, until=2.0, rtol=1e-11, atol=1e-13)
    assert_slopes(designs, [0.3, 0.4, 0.5, 0.6])


def test_inputs_are_chosen_at_rest():
    """Two motors hold a double pendulum with its first rod at 0.5 rad: the second rod hangs where this costs least."""
    model = library.double_pendulum()
    names = [f"u.{name}" for name in model.v_names]
    over = {name: (-30.0, 30.0) for name in names}
    found = optimize(model, over, f"{names[0]} ** 2 + {names[1]} ** 2", {f"q.{model.v_names[0]}": 0.5}, q=[0.4, -0.3])
    hold = derive(model).inverse_dynamics
    least = minimize_scalar(lambda q2: np.sum(hold([0.5, q2], [0.0, 0.0], [0.0, 0.0]) ** 2), (-0.6, -0.3))
    assert found.cost == pytest.approx(least.fun, rel=1e-7)
    assert found.result.q == pytest.approx([0.5, least.x], abs=1e-4)


# ── populations ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_population_is_measured_as_its_single_runs_are():
    over = {"kp": (1.0, 9.0), "q.x": (0.5, 2.0)}
    problem = DesignProblem(Runs(cart(), over, "state + v.x", {"input": (0.0, 3.0)}, until=1.5))
    Y = np.random.default_rng(2).random((7, 2))
    costs, errors = problem.measured(Y)
    for k, row in enumerate(Y):
        cost, error = problem.measured(row[None])
        assert (cost[0], error[0]) == (costs[k], errors[k])
    kp, x = problem.unknowns.values(Y[0])
    robot, (pd, *others) = cart().robot, cart().elements
    run = simulate(System(robot, (PD(pd.name, "x", kp=kp, kd=1.0), *others)), 1.5, q={"x": x})
    assert costs[0] == pytest.approx(run["state"][-1] + run["v.x"][-1], rel=1e-9)
    assert errors[0, 0] == pytest.approx(max(run["input"][-1] - 3.0, 0.0) / 3.0, rel=1e-7, abs=1e-12)


def test_the_same_seed_gives_the_same_result_and_beats_random_designs():
    over = {"kp": (0.01, 100.0, "log"), "kd": (0.01, 100.0, "log")}
    options: dict[str, Any] = {"at": "run", "until": 10.0, "q": {"x": 1.0}}
    first, again = (optimize(cart(), over, "state + input", seed=5, iterations=15, **options) for _ in range(2))
    assert first.values == again.values and (first.history.costs == again.history.costs).all()
    other = optimize(cart(), over, "state + input", seed=6, iterations=15, **options)
    assert (other.history.values[1:30] != first.history.values[1:30]).any()
    chance = optimize(cart(), over, "state + input", seed=5, search="random", population=500, **options)
    assert len(chance.history.costs) == 500 and chance.cost == np.nanmin(chance.history.costs)
    assert first.cost < chance.cost
    some = [optimize(cart(), over, "state", search="random", population=3, seed=k, **options) for k in (7, 7, 8)]
    assert some[0].values == some[1].values != some[2].values
    assert first.history.best[-1] == pytest.approx(first.cost, rel=1e-12)


def test_functions_of_the_result_are_called_with_it():
    options: dict[str, Any] = {"at": "run", "until": 2.0, "q": {"x": 1.0}, "output_step": 0.02, "iterations": 8}
    found = optimize(cart(), {"kd": (0.1, 4.0)}, lambda run: np.abs(run["q.x"]).max() + run["q.x"][-1] ** 2, **options)
    assert found.cost == pytest.approx(1.0 + found.result["q.x"][-1] ** 2, rel=1e-6)
    still = optimize(arm(), {"k": (1.0, 5.0)}, lambda rest: rest.q[0], search="random", population=3)
    assert still.cost == pytest.approx(still.result.q[0], rel=1e-9)


def test_conditions_without_names_of_their_own_are_numbered():
    """Two functions "<lambda>" are two conditions in the result, too."""
    conditions = {lambda rest: rest.q[0]: (-3.0, 3.0), lambda rest: 2.0 * rest.q[0]: (-6.0, 6.0)}
    found = optimize(arm(), {"rest": (-1.0, 1.0)}, "effort", conditions, search="random", population=3)
    once, twice = found.conditions["<lambda>"], found.conditions["<lambda> #2"]
    assert twice == pytest.approx(2.0 * once) and found.margins["<lambda> #2"] == pytest.approx(6.0 - abs(twice))


def test_stable_equilibria_are_those_of_least_energy():
    """From a guess near the upright one, only `stable` finds the one that hangs."""
    pendulum = RobotBuilder("pendulum").body(
        "rod", mass=Parameter("mass", 1.0), com=(0.0, 0.0, -0.5), inertia=(1, 1, 1)
    )
    robot = pendulum.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)).build()
    for stable, angle in ((False, math.pi), (True, 0.0)):
        found = optimize(robot, {"mass": (1.0, 2.0)}, "mass + cos(q.hinge)", q={"hinge": 3.1}, stable=stable)
        assert found.cost == pytest.approx(1.0 + math.cos(angle), abs=1e-9)  # measured there
        assert found and found.result.stable is stable
        assert math.cos(found.result.q[0]) == pytest.approx(math.cos(angle), abs=1e-9)


def test_progress_is_told_and_a_result_is_shown(tmp_path):
    told: list[tuple[int, float, float]] = []
    found = optimize(arm(), {"rest": (-1.0, 1.0)}, "effort", progress=lambda *at: told.append(at))
    assert [number for number, *_ in told] == [*range(1, len(told) + 1)] and told[-1][1] == pytest.approx(found.cost)
    assert "Least cost of 'arm'" in str(found) and "rest" in str(found) and "cost 9.9" in repr(found)
    found.plot(path=tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 5000


# ── failures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("search", ["slsqp", "random"])
def test_conditions_that_no_design_meets_are_named(search):
    found = optimize(arm(), {"rest": (-1.0, 1.0)}, "effort", {"q.hinge": (2.0, 3.0)}, search=search, population=4)
    assert not found
    assert "No design of 'arm' was found" in found.message and "Condition 'q.hinge' is broken by" in found.message


def test_designs_without_equilibrium_or_number_are_told():
    heavy = RobotBuilder("stone").body("mass", mass=Parameter("mass", 1.0))
    robot = heavy.joint("z", "prismatic", "world", "mass", axis=(0, 0, 1)).build()
    found = optimize(System(robot), {"mass": (1.0, 2.0)}, "q.z")
    assert not found and "No equilibrium of 'stone'" in found.message
    nan = optimize(arm(), {"k": (1.0, 2.0)}, "sqrt(0.0 - k)")
    assert not nan and "not a finite number" in nan.message


BAD = {
    "unknown parameter": ({"over": {"kpp": (1.0, 2.0)}}, "no parameter 'kpp'.*Did you mean 'kp'"),
    "no parameter": ({"over": {}}, "expected the ranges of parameters"),
    "reversed": ({"over": {"k": (2.0, 1.0)}}, "the lower one first"),
    "infinite": ({"over": {"k": (2.0, math.inf)}}, "finite ends"),
    "log of zero": ({"over": {"k": (0.0, 1.0, "log")}}, "ends above 0"),
    "scale": ({"over": {"k": (0.0, 1.0, "square")}}, "'log' or 'linear'"),
    "one number": ({"over": {"k": 3.0}}, "a lower and an upper end"),
    "words": ({"over": {"k": ("a", "b")}}, "numbers as its ends"),
    "start of a state": ({"over": {"q.hinge": (0.0, 1.0)}}, "cannot be chosen with at='equilibrium'"),
    "unknown signal": ({"cost": "efort"}, r"cost 'efort' names 'efort'.*Did you mean 'effort'"),
    "a number as cost": ({"cost": 3.0}, "cost is 3.0; expected the name of an Integral"),
    "a cost that is none": ({"cost": lambda rest: "much", "search": "random"}, "returns 'much'; expected one number"),
    "a function with slopes": ({"cost": lambda rest: 1.0}, "has no slopes"),
    "no cost": ({"cost": {}}, "the cost is empty; expected texts with their weights"),
    "weight": ({"cost": {"effort": "much"}}, "the weight of 'effort' in the cost is 'much'; expected a number"),
    "weight of nan": ({"cost": {"effort": math.nan}}, "the weight of 'effort' in the cost is nan"),
    "two arguments": ({"cost": lambda a, b: 1.0, "search": "random"}, r"the arguments \(a, b\); expected some of t, q"),
    "no limits": ({"subject_to": ["q.hinge"]}, "expected conditions with their limits"),
    "name": ({"over": {3: (1.0, 2.0)}}, "the key 3; expected the name of a parameter"),
    "start of nan": ({"start": {"k": math.nan}}, "start has nan for 'k'; expected a finite number"),
    "start as text": ({"start": {"k": "soft"}}, "start has 'soft' for 'k'"),
    "seed": ({"seed": -1}, "seed is -1; expected a whole number, 0 or more"),
    "progress": ({"progress": 3}, "progress is 3; expected a function"),
    "tolerance as text": ({"tolerance": "tight"}, "tolerance is 'tight'"),
    "limits": ({"subject_to": {"q.hinge": (2.0, 1.0)}}, "the limits of 'q.hinge' are"),
    "an equation": ({"subject_to": {"q.hinge": 1.0}, "search": "random"}, "is an equation"),
    "at": ({"at": "walk"}, "at is 'walk'; expected one of"),
    "search": ({"search": "slqp"}, "Did you mean 'slsqp'"),
    "option": ({"until": 2.0}, "option 'until' is not used with at='equilibrium'"),
    "end of runs": ({"at": "run", "robot": True}, "until"),
    "start": ({"start": {"kp": 1.0}}, "start names 'kp', which is not in `over`"),
    "population": ({"population": 0}, "population is 0; expected a whole number"),
    "tolerance": ({"tolerance": -1.0}, "tolerance is -1.0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_a_sentence(case):
    changes, sentence = BAD[case]
    given: dict[str, Any] = {"over": {"k": (1.0, 2.0)}, "cost": "effort"} | changes
    model: Any = arm()
    if given.pop("robot", False):
        model, given = library.pendulum(), given | {"over": {"q.q1": (0.0, 1.0)}, "cost": "t"}
    with pytest.raises(KinemorphError, match=sentence):
        optimize(model, **given)
