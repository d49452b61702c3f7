"""The ways to keep loops closed: they agree on the motion, do what they say of errors, and hide no failure."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Guard, Robot, RobotBuilder, System, derive, elements, simulate, simulate_batch
from kinemorph.algebra.groups import translation
from kinemorph.algebra.scalar import cos, sin
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.errors import ModelError, ModelWarning, ShapeError, UnsupportedError
from kinemorph.loops import Baumgarte, Partitioning, Projection, SingularPerturbation, close_loops
from kinemorph.model.library import four_bar, n_four_bar
from kinemorph.plants import plant
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.loop_methods import LOOP_METHODS
from kinemorph.plants.programs import Plant
from support.robots.loop_robots import FIVE_BAR_START, five_bar

ROBOT = four_bar()
START = {"q1": 0.6}
END, END_RATE = -2.62546008, -15.88372404  # q1 and its rate after 2 s, from an index-1 solution to 1e-8


def torque(t: Any) -> list[Any]:
    return [0.5 * sin(2.0 * t), 0.0, 0.0]


@cache
def made(loops: Any = "projection", *, driven: bool = False) -> Plant:
    """The four-bar, compiled once for all tests that are alike."""
    return plant(ROBOT, loops=loops, forces=torque if driven else None, account=driven)


def run(loops: Any = "projection", until: float = 2.0, **options: Any) -> Any:
    options = {"rtol": 1e-11, "atol": 1e-13, "output_step": 0.05, **options}
    options.setdefault("q", START)
    return simulate(made(loops, driven=True), until, **options)


def test_every_method_ends_where_the_reference_does() -> None:
    runs = {name: run(name) for name in LOOP_METHODS}
    for found in runs.values():
        assert found.outcome.ok
        assert abs(found.q[-1, 0] - END) < 1e-8
        assert abs(found.v[-1, 0] - END_RATE) < 2e-8
    for name in ("projection", "partitioning"):  # and nothing is open
        assert runs[name].loop_error.max() < 1e-13
        assert runs[name].loop_rate.max() < 1e-11
    assert runs["multipliers"].loop_error.max() > 100 * runs["projection"].loop_error.max()
    assert np.ptp(runs["projection"].energy.balance) < 1e-8


def test_dense_samples_are_closed_too() -> None:
    # between the ends of steps the interpolant is off by as much as the tolerance; what is read off is not
    found = run(rtol=1e-6, atol=1e-8, output_step=1e-3)
    assert found.loop_error.max() < 1e-12 and found.loop_rate.max() < 1e-10
    assert run("multipliers", rtol=1e-6, atol=1e-8, output_step=1e-3).loop_error.max() > 1e-8


@pytest.mark.parametrize("epsilon", [pytest.param(0.1, marks=pytest.mark.slow), 0.02])
def test_errors_of_the_start_fall_exponentially_by_singular_perturbation(epsilon: float) -> None:
    q = np.array([0.6, 0.02989836 + 0.05, 1.6066907 - 0.03])
    found = run(SingularPerturbation(epsilon), until=0.3, q=q, output_step=0.02)
    expected = found.loop_error[0] * np.exp(-found.t / epsilon)
    assert found.loop_error[0] > 0.02
    assert np.abs(found.loop_error - expected).max() < 1e-9 * found.loop_error[0]
    soon = found.t < 4.0 * epsilon
    assert np.abs(found.loop_error[soon] / expected[soon] - 1.0).max() < 1e-7


def test_dependent_velocities_are_no_state_of_the_fast_motion() -> None:
    """What they are follows from the independent ones; what was integrated of them moves nothing."""
    laws = made(SingularPerturbation(0.01, ("q1",))).laws
    q = [0.6, 0.0299 + 0.05, 1.6067 - 0.03]  # open
    rates = [
        laws.rate(LocalInstant(0.0, q, [0.0] * 3 + v, [], [0.0] * 3, [])) for v in ([2.0, 0.0, 0.0], [2.0, 1.0, -3.0])
    ]
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-12)


def test_baumgarte_brings_errors_back_critically_damped() -> None:
    q = np.array([0.6, 0.02989836 + 0.01, 1.6066907])
    found = run(Baumgarte(30.0, 30.0), until=0.4, q=q, v=np.zeros(3), output_step=0.02)
    # phi'' + 2 a phi' + a^2 phi = 0 from rest, to first order in phi
    expected = found.loop_error[0] * (1.0 + 30.0 * found.t) * np.exp(-30.0 * found.t)
    assert np.abs(found.loop_error - expected).max() < 0.02 * found.loop_error[0]


def test_dependent_velocities_are_chosen_anew_at_a_dead_point() -> None:
    # driven by its rocker, the four-bar has dead points: the crank must take over and hand back
    found = simulate(made("partitioning"), 2.0, q=START, v={"q1": 9.0}, output_step=0.01)
    exact = simulate(made(), 2.0, q=START, v={"q1": 9.0}, output_step=0.01)
    chosen = found.m[1:]
    assert found.outcome.ok and (chosen.sum(axis=1) == 2.0).all()
    assert np.abs(found.q - exact.q).max() < 1e-5


def test_masks_of_columns_are_chosen_by_rank() -> None:
    rng = np.random.default_rng(3)
    choose = build(chosen_columns(3, 5))
    for rank in (1, 2, 3):
        A = rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 5))
        mask = choose(A)
        assert mask.sum() == rank and np.linalg.matrix_rank(A[:, mask > 0.5]) == rank
    assert choose(np.zeros((3, 5))).sum() == 0
    late = np.array([[0.0, 1e-3, 0.0, 0.0, 5.0], [0.0, 0.0, 2.0, 0.0, 5.0], [0.0] * 5])
    assert choose(late).tolist() == [0.0, 0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "name",
    [
        "projection",
        "partitioning",
        pytest.param("baumgarte", marks=pytest.mark.slow),
        pytest.param("perturbation", marks=pytest.mark.slow),
    ],
)
def test_a_batch_is_the_same_as_runs_one_by_one(name: str) -> None:
    system = made(name)
    starts = np.array([simulate(system, 0.01, q={"q1": angle}).q[0] for angle in (0.2, 0.6, 1.4, 2.5)])
    many = simulate_batch(system, 0.7, q=starts, rtol=1e-9, atol=1e-11, output_step=0.1)
    assert many.ok.all()
    for k, start in enumerate(starts):
        one = simulate(system, 0.7, q=start, rtol=1e-9, atol=1e-11, output_step=0.1)
        assert np.abs(many.q[k] - one.q).max() < 1e-9


@pytest.mark.parametrize("method", ["rk4", "radau", pytest.param("newmark", marks=pytest.mark.slow)])
def test_other_integrators_are_held_as_well(method: str) -> None:
    options = {"step": 2e-3} if method == "rk4" else {"rtol": 1e-7, "atol": 1e-9}
    found = simulate(made(), 0.5, q=START, method=method, output_step=0.1, **options)
    exact = simulate(made(), 0.5, q=START, rtol=1e-11, atol=1e-13, output_step=0.1)
    assert found.loop_error.max() < 1e-12
    assert np.abs(found.q - exact.q).max() < 1e-4


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_singular_configurations_are_passed_on_the_branch(n: int, rtol: float) -> None:
    # twice a turn all cranks lie flat, and each four-bar could fold on its own
    system = n_four_bar(n)
    for speed in (0.7, 1.0, 1.3):
        found = simulate(
            system, 8.0, v=speed * np.array(system.settings.v), rtol=rtol, atol=1e-2 * rtol, output_step=1.0
        )
        assert found.outcome.ok, found.outcome.message
        assert np.abs(found.q[:, : n + 1] - found.q[:, :1]).max() < 1e-9
        assert np.ptp(found.energy.kinetic + found.energy.potential) < 1e4 * rtol
        assert np.abs(found.q[-1, 0]) > 15.0  # it has gone round and round


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_perturbation_stops_where_it_would_lose_its_way(rtol: float) -> None:
    # it went on by another branch, or with energy from nowhere; seen as well where a step would leap over it
    system = n_four_bar(1)
    found = simulate(system, 3.0, rtol=rtol, atol=1e-2 * rtol, loops="perturbation")
    exact = simulate(system, 0.7, rtol=1e-10, atol=1e-12)
    assert not found.outcome.ok and "singular configuration" in found.outcome.message
    assert abs(abs(found.q[-1, 0]) - 0.5 * np.pi) < 0.15  # where all cranks lie flat
    assert np.abs(found.q[: len(exact.t)] - exact.q).max() < 1e2 * rtol  # what was computed is right


def test_samples_of_the_fast_motion_are_ends_of_steps() -> None:
    found = run("perturbation", rtol=1e-6, atol=1e-8, output_step=0.013)
    assert found.loop_error.max() < 1e-6
    assert np.abs(found.q - run(output_step=0.013).q).max() < 1e-5


@pytest.mark.slow
def test_stages_on_the_constraints_save_steps_at_singular_configurations() -> None:
    system = n_four_bar(2)
    steps = {}
    for stages in (False, True):
        found = simulate(system, 6.0, rtol=1e-12, atol=1e-14, output_step=6.0, loops=Projection(stages=stages))
        assert found.outcome.ok and np.ptp(found.q[-1, :3]) < 1e-9
        steps[stages] = found.statistics.accepted
    assert steps[True] <= steps[False]


def test_events_stop_on_the_constraints() -> None:
    guard = Guard("lower", lambda q: q[0] - 0.3, stop=True)
    found = simulate(made(), 2.0, q=START, events=guard, output_step=0.1)
    assert abs(found.q[-1, 0] - 0.3) < 1e-10 and found.loop_error.max() < 1e-12


def test_a_locked_joint_locks_the_loop() -> None:
    found = simulate(ROBOT, 0.2, q=START, locked="q1")
    assert np.abs(found.q - found.q[0]).max() < 1e-12


def test_named_joints_decide_with_others_locked() -> None:
    robot = five_bar()
    q = close_loops(derive(robot, backend="interpreter"), FIVE_BAR_START).q
    found = simulate(robot, 0.05, q=q, locked="l1", loops=Partitioning(("r1",)))
    assert found.outcome.ok and np.ptp(found.q[:, 0]) == 0.0 and np.ptp(found.q[:, 2]) > 1e-4


# ── starts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_named_is_kept_and_the_rest_follows() -> None:
    found = simulate(made(), 0.01, q={"q1": 0.6}, v={"q3": 0.5})
    assert found.q[0, 0] == 0.6 and found.v[0, 2] == 0.5
    assert found.loop_error[0] < 1e-13 and found.loop_rate[0] < 1e-13
    assert np.abs(found.q[0] - [0.6, 0.02989836, 1.6066907]).max() < 1e-7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ("loops of", "neutral configuration", "no q is given", "'closure' by", " m;", "q={'q1'", "close_loops")),
        ({"q": [0.0, 0.0, 0.0]}, ("open in the initial state", "'closure' by", " m;")),
        ({"q": {"q1": 0.6, "q2": 0.5}}, ("named coordinates kept", "'closure'")),
        ({"q": START, "v": [1.0, 0.0, 0.0]}, ("velocities", "loops", "'closure' by", " m/s", "v={...}")),
        ({"q": START, "v": {"q1": 1.0, "q3": 1.0}}, ("named velocities", "Name fewer")),
    ],
)
def test_starts_that_do_not_close_are_refused(options: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        simulate(made(), 1.0, **options)
    for word in words:
        assert word in str(caught.value)


def test_what_follows_is_found_where_all_joints_are_in_line() -> None:
    found = simulate(made(), 0.01, q={"q1": 0.0})  # coupler and rocker are in line with it at first
    assert found.q[0, 0] == 0.0 and found.loop_error[0] < 1e-13


def nearly_parallel(askew: float) -> Robot:
    """A four-bar linkage one of whose hinges has an axis that is off by `askew`, as a file with few digits has it."""
    builder = RobotBuilder("rounded")
    for name, length in (("crank", 0.3), ("coupler", 0.9), ("rocker", 0.7)):
        builder.add(Body.rod(name, 1.0, length, (0.5 * length, 0.0, 0.0), axis="x", radius=0.01))
    axis = (0.0, -1.0, 0.0)
    builder.joint("q1", "revolute", "world", "crank", axis=axis)
    builder.joint("q2", "revolute", "crank", "coupler", translation=(0.3, 0.0, 0.0), axis=axis)
    builder.joint("q3", "revolute", "world", "rocker", translation=(1.0, 0.0, 0.0), axis=(sin(askew), -cos(askew), 0.0))
    ends = {"placement": translation((0.9, 0.0, 0.0)), "child_placement": translation((0.7, 0.0, 0.0))}
    return builder.joint("closure", "revolute", "coupler", "rocker", axis=axis, cut=True, **ends).build()


def test_hinges_that_are_not_quite_parallel_run_with_a_note_or_are_told() -> None:
    with pytest.warns(ModelWarning, match=r"'closure' by .* rad: redundant"):
        run = simulate(nearly_parallel(1e-6), 0.1, q=START)
    np.testing.assert_allclose(run.q, simulate(nearly_parallel(0.0), 0.1, q=START).q, atol=1e-5)
    with pytest.raises(ShapeError) as caught:
        simulate(nearly_parallel(1e-4), 0.1, q=START)
    for word in ("'closure'", "slightly open", "more digits", "'spherical'"):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("loops", "error", "words"),
    [
        ("bomgarte", UnsupportedError, ("bomgarte", "baumgarte")),
        (Projection(-1.0), UnsupportedError, ("tolerance", "-1.0", "above 0")),
        (SingularPerturbation(float("nan")), UnsupportedError, ("epsilon", "nan")),
        (7, UnsupportedError, ("loops is 7",)),
        (Partitioning(("q9",)), ModelError, ("independent 'q9'", "q1, q2, q3")),
        (Partitioning(("q1", "q2")), ModelError, ("expected 1",)),
        pytest.param(Partitioning(()), ModelError, ("expected 1",), marks=pytest.mark.slow),
        (SingularPerturbation(0.01, ("q3",)), ModelError, ("q3", "condition", "dead point")),
    ],
)
def test_methods_that_cannot_be_are_refused(loops: Any, error: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(error) as caught:
        simulate(ROBOT, 1.0, q=START, loops=loops)
    for word in words:
        assert word in str(caught.value)


def test_named_joints_that_stop_deciding_end_the_run() -> None:
    found = simulate(ROBOT, 3.0, q={"q1": 1.6}, v={"q1": 6.0}, loops=Partitioning(("q3",)))
    assert not found.outcome.ok
    assert "q3" in found.outcome.message and "dead point" in found.outcome.message
    assert found.loop_error.max() < 1e-12  # what was computed is right


def test_a_drive_beyond_the_reach_ends_the_run() -> None:
    """The rocker is told to go where no crank can follow: no step from there on is a result."""
    drive = elements.PrescribedMotion("drive", "q3", "1.6066907 + 2 * t")
    found = simulate(System(ROBOT, (drive,)), 1.0, q=[0.6, 0.02989836, 1.6066907], v={}, output_step=0.05)
    assert not found.outcome.ok and "constraints" in found.outcome.message
    assert found.loop_error.max() < 1e-10 and 0.05 < found.t[-1] < 0.9


def test_a_light_rocker_decides_as_a_heavy_one_does() -> None:
    robot = four_bar(masses=(0.5, 1.0, 1e-7))
    runs = [simulate(robot, 0.1, q={"q1": 1.6}, v={"q1": 2.0}, loops=way) for way in (Partitioning(("q3",)), None)]
    assert runs[0].outcome.ok, runs[0].outcome.message
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() < 1e-6


def test_steps_too_long_for_the_fast_motion_are_named() -> None:
    found = simulate(made("perturbation"), 3.0, q=START, method="rk4", step=0.04)
    assert not found.outcome.ok and "epsilon" in found.outcome.message
