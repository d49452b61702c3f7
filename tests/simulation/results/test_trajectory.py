"""Trajectories: columns by name, what is found again from the samples, states between samples, going on."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import MissingExtraError, ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from support.robots.random_robots import robot_of_kind

CLOSED = [0.6, 0.02989836, 1.6066907]  # of the four-bar, to eight digits


def push(t: Any, v: Any) -> list[Any]:
    return [1.0 - 0.3 * v[0], 0.2 * t]


@pytest.fixture(scope="module")
def driven() -> Trajectory:
    """A damped double pendulum under forces, with an output."""
    builder = kinemorph.RobotBuilder("arm").add(kinemorph.Body("upper", 1.0, (0.0, 0.0, -0.5)))
    builder.add(kinemorph.Body("lower", 0.5, (0.0, 0.0, -0.4)))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), damping=[0.1])
    builder.joint("elbow", "revolute", "upper", "lower", translation=(0, 0, -1.0), axis=(0, 1, 0), damping=[0.05])
    made = plant(
        builder.build(), forces=push, outputs={"sum": lambda q: q[0] + q[1]}, output_units={"sum": "rad"}, account=True
    )
    return simulate(made, 3.0, q=[0.5, 1.0], output_step=0.05, rtol=1e-11, atol=1e-12)


@pytest.fixture(scope="module")
def bouncing() -> Trajectory:
    builder = kinemorph.RobotBuilder("ball").add(kinemorph.Body.sphere("ball", 1.0, 0.1))
    robot = builder.joint("fall", "prismatic", "world", "ball", axis=(0, 0, 1)).build()
    ground = Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-0.8 * v[0]]})
    return simulate(robot, 3.0, q=[1.0], events=[ground], output_step=0.1, rtol=1e-12, atol=1e-13)


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_columns_have_names_and_units_in_order(driven: Trajectory) -> None:
    assert [(column.name, column.unit) for column in driven.columns.values()] == [
        ("t", "s"),
        ("q.shoulder", "rad"),
        ("q.elbow", "rad"),
        ("v.shoulder", "rad/s"),
        ("v.elbow", "rad/s"),
        ("a.shoulder", "rad/s^2"),
        ("a.elbow", "rad/s^2"),
        ("u.shoulder", "N m"),
        ("u.elbow", "N m"),
        ("tau.shoulder", "N m"),
        ("tau.elbow", "N m"),
        ("sum", "rad"),
        ("energy.kinetic", "J"),
        ("energy.potential", "J"),
        ("energy.supplied", "J"),
        ("energy.dissipated", "J"),
        ("energy.balance", "J"),
    ]
    assert all(driven[name].shape == (61,) for name in driven.columns)
    assert np.array_equal(driven["v.elbow"], driven.v[:, 1]) and np.array_equal(driven["t"], driven.t)


def test_a_wrong_name_is_a_sentence_with_the_near_one(driven: Trajectory) -> None:
    with pytest.raises(ShapeError, match=r"run 'arm' has no column 'q.elbo'. Did you mean 'q.elbow'\? Known: t, q.sho"):
        _ = driven["q.elbo"]
    assert "q.elbow" in driven and "q.elbo" not in driven


def test_states_of_equations_keep_their_own_names() -> None:
    made = first_order(
        lambda x, u: [u[0] - x[0], x[0]],
        {"pressure": "Pa", "t": "m"},
        inputs={"pump": "V"},
        outputs={"double": lambda x: 2.0 * x[0]},
    )
    run = simulate(made, 1.0, inputs={"pump": 2.0}, output_step=0.25)
    assert list(run.columns) == ["t", "pressure", "x.t", "u.pump", "double"]
    assert np.array_equal(run["double"], 2.0 * run["pressure"]) and np.array_equal(run["x.t"], run.x[:, 1])
    assert run.q.shape == run.a.shape == run.tau.shape == (5, 0) and run.y.shape == (5, 1)
    with pytest.raises(UnsupportedError, match="'equations' is not a robot, so it has no energies"):
        _ = run.energy


def test_accelerations_of_equations_have_their_units() -> None:
    run = simulate(second_order(lambda q, a: [2.0 * a[0] + 8.0 * q[0]], {"y": "m"}, start=[1.0]), 1.0, output_step=0.1)
    assert (run.columns["v.y"].unit, run.columns["a.y"].unit) == ("m/s", "m/s^2")
    np.testing.assert_allclose(run["a.y"], -4.0 * np.cos(2.0 * run.t), atol=1e-6)


def test_short_descriptions(driven: Trajectory, bouncing: Trajectory) -> None:
    steps = driven.statistics.accepted
    assert repr(driven) == f"<Trajectory 'arm': 0 to 3 s, 61 samples, finished, dop853, {steps} steps>"
    assert f"{len(bouncing.events)} events" in repr(bouncing)
    failed = simulate(first_order(lambda x: [x[0] * x[0]], {"x": ""}, start=[1.0]), 2.0)
    assert "failed" in repr(failed) and str(failed).endswith(failed.outcome.message)
    assert len(failed) == len(failed["x"]) > 10 and np.isfinite(failed["x"]).all()


def test_a_table_for_pandas(driven: Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    frame = driven.to_dataframe()
    assert list(frame.columns) == list(driven.columns) and frame.attrs["units"]["tau.elbow"] == "N m"
    assert np.array_equal(frame["energy.balance"], driven.energy.balance)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"'pandas' is not installed. Run: pip install pandas$"):
        driven.to_dataframe()


def test_forwards_to_display(driven: Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (("charts.plot", "plot"), ("painting.animate", "animate")):
        fake = types.ModuleType(module)
        setattr(fake, name, lambda *given, **options: (given, options))
        monkeypatch.setitem(sys.modules, f"kinemorph.display.{module}", fake)
    given, options = driven.plot("q.elbow", path="x.png")
    assert given == (driven, "q.elbow") and options["path"] == "x.png"
    assert driven.animate("x.gif", fps=5) == ((driven, "x.gif"), {"fps": 5})


# ── found again ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_accelerations_and_forces_obey_the_equations_of_motion(driven: Trajectory) -> None:
    dynamics = driven.segments[0].plant.dynamics
    assert dynamics is not None
    expected = np.array([push(t, v) for t, v in zip(driven.t, driven.v, strict=True)]) - driven.v * [0.1, 0.05]
    np.testing.assert_allclose(driven.tau, expected, atol=1e-14)
    np.testing.assert_allclose(dynamics.inverse_dynamics(driven.q, driven.v, driven.a), driven.tau, atol=1e-12)


def test_inputs_show_what_acts_from_a_sample_on() -> None:
    run = simulate(library.pendulum(), 0.4, output_step=0.1, inputs=HeldInputs(lambda t, q, v, x: [t], every=0.2))
    np.testing.assert_allclose(run["u.q1"], [0.0, 0.0, 0.2, 0.2, 0.4], atol=1e-14)
    np.testing.assert_allclose(run.tau, run.u, atol=0)


def test_a_locked_joint_does_not_accelerate() -> None:
    run = simulate(library.double_pendulum(), 1.0, q=[0.3, 0.4], locked="q2", output_step=0.1)
    assert np.all(run["a.q2"] == 0.0) and np.all(run["q.q2"] == 0.4) and np.all(run.tau == 0.0)


def test_energies_balance(driven: Trajectory) -> None:
    energy = driven.energy
    assert np.abs(energy.balance).max() < 1e-9
    assert np.abs(energy.supplied).max() > 0.5 and energy.dissipated[-1] > 0.05
    assert np.all(np.diff(energy.dissipated) > 0.0)
    q, v = driven.q[7], driven.v[7]
    upper, lower = v[0] ** 2 * 0.25, 0.0
    x = np.cos(q[0]) * v[0] + 0.4 * np.cos(q.sum()) * v.sum(), np.sin(q[0]) * v[0] + 0.4 * np.sin(q.sum()) * v.sum()
    lower = 0.5 * (x[0] ** 2 + x[1] ** 2)
    assert energy.kinetic[7] == pytest.approx(0.5 * upper + 0.5 * lower, rel=1e-12)
    height = -0.5 * np.cos(q[0]) - 0.5 * (np.cos(q[0]) + 0.4 * np.cos(q.sum()))
    assert energy.potential[7] == pytest.approx(9.81 * height, rel=1e-12)


def test_nothing_is_supplied_where_nothing_acts() -> None:
    run = simulate(library.double_pendulum(), 1.0, q=[1.0, 0.0])
    assert not run.energy.supplied.any() and not run.energy.dissipated.any()
    assert np.abs(run["energy.balance"]).max() < 1e-6


def test_a_plant_that_keeps_no_account_says_so() -> None:
    run = simulate(plant(library.pendulum(), forces=lambda t: [1.0 + t]), 0.5)
    assert "energy.kinetic" in run and "energy.supplied" not in run
    for ask in (lambda: run.energy, lambda: run["energy.supplied"], lambda: run["energy.balance"]):
        with pytest.raises(UnsupportedError, match="does not record the energy that its forces supply"):
            ask()


def test_an_impact_shows_in_the_balance(bouncing: Trajectory) -> None:
    before, after = bouncing.segments[0], bouncing.segments[1]
    lost = 0.5 * (before.v[-1, 0] ** 2 - after.v[0, 0] ** 2)
    jump = bouncing["energy.balance"][len(before.t)] - bouncing["energy.balance"][len(before.t) - 1]
    assert jump == pytest.approx(-lost, rel=1e-12)


def test_loop_errors_are_the_largest_of_all_constraints() -> None:
    robot = library.four_bar()
    run = simulate(robot, 0.5, q=CLOSED, loops="multipliers", output_step=0.1)
    errors = np.abs([derive(robot).constraint_error(q) for q in run.q]).max(axis=1)
    np.testing.assert_allclose(run["loop_error"], errors, rtol=1e-12, atol=1e-15)
    assert 1e-12 < run.loop_error[-1] < 1e-6  # nothing is done against it
    assert "loop_error" not in simulate(library.pendulum(), 0.1)
    # for a closed robot, tau is what acts: constraint forces are not in it
    assert not run.tau.any() and np.abs(run.energy.balance).max() < 1e-6


def test_parameters_as_inputs() -> None:
    made = plant(library.pendulum(), parameters="all")
    run = simulate(made, 0.5, q=[1.0], p={"m1": 3.0})
    assert run.energy.potential[0] == pytest.approx(-3.0 * 9.81 * np.cos(1.0))
    assert run.reactions("q1").shape == (len(run), 6)


def test_numbers_that_do_not_exist_are_nan_and_the_rest_stays() -> None:
    sinking = first_order(lambda x: [(1.0 - x[0]) ** -0.5], {"x": ""}, start=[0.0], outputs={"y": lambda x: x[0]})
    run = simulate(sinking, 2.0, output_step=0.01)
    assert run.outcome.kind == "failed" and np.isfinite(run.x).all() and np.isfinite(run.y).all()


# ── reactions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reactions_carry_the_weight_and_the_pull() -> None:
    """A point pendulum, mass 2 kg, length 0.5 m: along the rod m (g cos + l w^2), and nothing across it."""
    robot = library.pendulum(2.0, 0.5)
    run = simulate(robot, 1.0, q=[0.7], output_step=0.05, rtol=1e-11, atol=1e-12)
    wrench = run.reactions("q1")
    pull = 2.0 * (9.81 * np.cos(run["q.q1"]) + 0.5 * run["v.q1"] ** 2)
    np.testing.assert_allclose(np.linalg.norm(wrench[:, :3], axis=1), pull, rtol=1e-12)
    np.testing.assert_allclose(wrench[:, 3:], 0.0, atol=1e-12)


def test_reactions_refuse_what_they_cannot_know(driven: Trajectory) -> None:
    assert driven.reactions("elbow").shape == (61, 6)
    with pytest.raises(ModelError, match=r"no joint 'elbo'. Did you mean 'elbow'"):
        driven.reactions("elbo")
    with pytest.raises(UnsupportedError, match="has no robot"):
        simulate(first_order(lambda x: [-x[0]], {"x": ""}), 0.1).reactions("q1")


# ── between samples ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["free", "spherical", "planar", "universal"])
def test_states_between_samples_converge_at_fourth_order_and_stay_on_the_manifold(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    options: dict[str, Any] = {"v": np.linspace(0.5, 1.0, robot.nv), "rtol": 1e-12, "atol": 1e-13}
    fine = simulate(robot, 0.8, output_step=0.0025, **options)
    errors = []
    for sample in (0.02, 0.01):
        coarse = simulate(robot, 0.8, output_step=sample, **options)
        states = coarse.at(fine.t)
        errors.append([np.abs(states.q - fine.q).max(), np.abs(states.v - fine.v).max()])
        again = coarse.at(coarse.t)
        assert all(np.array_equal(getattr(again, group), getattr(coarse, group)) for group in ("t", "q", "v", "x", "u"))
    ratio = np.array(errors[0]) / np.array(errors[1])
    assert np.all((ratio > 2**3.8) & (ratio < 2**4.2)), (ratio, errors)
    turning = [k for k, unit in enumerate(robot.q_units) if not unit]
    if turning:
        np.testing.assert_allclose(np.linalg.norm(states.q[:, turning], axis=1), 1.0, atol=1e-14)


def test_nothing_is_smoothed_over_a_bounce(bouncing: Trajectory) -> None:
    t = bouncing.events[0].t
    times = np.array([t - 1e-3, t, t + 1e-3])
    states = bouncing.at(times)
    fall = np.sqrt(2.0 * 9.81)
    np.testing.assert_allclose(states.v[:, 0], [-fall + 9.81e-3, 0.8 * fall, 0.8 * fall - 9.81e-3], rtol=1e-9)
    everywhere = bouncing.at(np.linspace(0.0, 3.0, 5001)).q
    assert everywhere.min() > -1e-12


def test_times_of_any_shape_within_the_run(driven: Trajectory) -> None:
    one = driven.at(0.333)
    assert one.t.shape == () and one.q.shape == (2,) and one.x.shape == (2,)
    many = driven.at([[0.333, 1.0], [2.0, 3.0]])
    assert many.q.shape == (2, 2, 2) and np.array_equal(many.q[0, 0], one.q)
    with pytest.raises(ShapeError, match=r"covers 0 to 3 s; times from 1 to 3.5 s are given"):
        driven.at([1.0, 3.5])


# ── going on ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_goes_on_from_another() -> None:
    robot = library.double_pendulum()
    options: dict[str, Any] = {"forces": push, "output_step": 0.1, "rtol": 1e-11, "atol": 1e-12}
    whole = simulate(robot, 2.0, q=[0.4, 0.1], **options)
    first = simulate(robot, 1.0, q=[0.4, 0.1], **options)
    second = simulate(robot, 2.0, start=first, **options)
    assert second.t[0] == 1.0 and np.array_equal(second.q[0], first.q[-1])
    assert second.energy.supplied[0] == first.energy.supplied[-1] != 0.0
    np.testing.assert_allclose(second.q[-1], whole.q[-1], atol=1e-9)
    other = simulate(robot, 2.0, start=first, q=[0.0, 0.0], output_step=0.1)  # what is given counts; nothing acts now
    assert np.array_equal(other.q[0], [0.0, 0.0]) and np.array_equal(other.v[0], first.v[-1]) and other.x.shape[1] == 0
    with pytest.raises(ModelError, match="no coordinate of 'double_pendulum'"):
        simulate(robot_of_kind("free", chained=False), 3.0, start=first)


def test_runs_with_equal_steps_go_on_bit_for_bit() -> None:
    robot = library.double_pendulum()
    options: dict[str, Any] = {"method": "rk4", "step": 1.0 / 128.0, "output_step": 0.25}
    whole = simulate(robot, 2.0, q=[0.4, 0.1], **options)
    second = simulate(robot, 2.0, start=simulate(robot, 1.0, q=[0.4, 0.1], **options), **options)
    assert np.array_equal(second.q, whole.q[4:]) and np.array_equal(second.v, whole.v[4:])


def test_compiled_functions_do_not_keep_a_plant_alive() -> None:
    made = plant(library.pendulum(length=1.7))  # no other test keeps it
    run = simulate(made, 0.1)
    assert run.a.shape == (11, 1)
    seen = weakref.ref(made)
    del made, run
    gc.collect()
    assert seen() is None


def test_states_between_samples_go_with_the_inputs_that_were_held(tmp_path: Any) -> None:
    """The rate at the end of a stretch is that under its own inputs, not under those that come next."""
    cart = kinemorph.RobotBuilder("cart").add(kinemorph.Body.sphere("cart", 2.0, 0.1))
    robot = cart.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0)).build()
    pushes = HeldInputs(lambda t, q, v, x: [2.0 * (-1.0) ** round(t / 0.5)], every=0.5)
    run = simulate(robot, 2.0, inputs=pushes, output_step=0.25)
    times = np.linspace(0.0, 2.0, 201)
    v = 0.5 - np.abs(times % 1.0 - 0.5)  # up for half a second, then down
    assert np.abs(run.at(times).v[:, 0] - v).max() < 1e-12
    run.save(tmp_path / "run.npz")
    assert np.abs(kinemorph.load_trajectory(tmp_path / "run.npz").at(times).v[:, 0] - v).max() < 1e-12


def test_a_run_is_asked_for_columns_by_name():
    run = simulate(library.pendulum(), 0.1)
    for asked in (0, slice(2), ("q.q1", "v.q1")):
        with pytest.raises(UnsupportedError, match="expected the name of a column"):
            run[asked]
