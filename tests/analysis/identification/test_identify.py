"""Identification of simulated arms: known parameters are found again, and intervals hold them as often as they say."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.inertia import from_pseudo_inertia
from kinemorph.analysis.identification.covariances import MovingSums, correlation_time
from kinemorph.analysis.identification.estimators import Task, total, weighted
from kinemorph.analysis.identification.identified import Identified
from kinemorph.analysis.identification.identify import _quantile, identify
from kinemorph.analysis.identification.information import gathered
from kinemorph.analysis.identification.random_motions import random_motions
from kinemorph.analysis.identification.rates import Measured, ZeroPhase
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.unknowns import _trust_of_body
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import RecordingWarning, ShapeError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot

ROBOT: Robot = library.double_pendulum()
DYNAMICS: Dynamics = derive(ROBOT, backend="interpreter")
FREE: dict[str, Any] = {"prior": 0.0, "physical": False, "mass_deviation": None}
TRUE = {"viscous": 0.3, "coulomb": 0.5, "offset": -0.2}


def series(t: np.ndarray, seed: int, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (n, nv) of random Fourier series with five harmonics of a period of 10 s."""
    rng = np.random.default_rng(seed)
    w = 2.0 * np.pi / 10.0 * np.arange(1, 6)
    sizes, shifts = rng.uniform(0.1, 0.5, size=(nv, 5)), rng.uniform(0.0, 6.3, size=(nv, 5))
    angles = t[:, None, None] * w + shifts
    parts = sizes * np.sin(angles), sizes * w * np.cos(angles), -sizes * w**2 * np.sin(angles)
    return parts[0].sum(axis=2), parts[1].sum(axis=2), parts[2].sum(axis=2)


def truth(dynamics: Dynamics) -> np.ndarray:
    """The parameters of the simulated robot: the model's masses, with friction."""
    theta = dynamics.regressor_parameters.copy()
    for k, name in enumerate(dynamics.regressor_columns):
        theta[k] += TRUE.get(name.rpartition(".")[2], 0.0)
    return theta


def recorded(seed: int, noise: Any = 0.02, dynamics: Dynamics = DYNAMICS, n: int = 1000) -> Recording:
    """A recording with noise of a deviation [N m], or with the noise that a function (generator, shape) makes."""
    t = np.arange(n) * 0.01
    q, v, a = series(t, seed, dynamics.robot.nv)
    tau = dynamics.regressor(q, v, a) @ truth(dynamics)
    rng = np.random.default_rng(seed + 1000)
    errors = noise(rng, tau.shape) if callable(noise) else noise * rng.normal(size=tau.shape)
    return Recording(f"run {seed}", t, q, v, a, tau + errors)


def heavier(robot: Robot) -> Robot:
    """The robot with bodies that weigh 30 % more: what CAD would say."""
    return replace(robot, bodies=tuple(replace(body, mass=1.3 * body.mass) for body in robot.bodies))


def true_base(result: Identified, dynamics: Dynamics = DYNAMICS, theta: np.ndarray | None = None) -> np.ndarray:
    names = list(dynamics.regressor_columns)
    theta = truth(dynamics) if theta is None else theta
    found: np.ndarray = result.base.combinations @ [theta[names.index(name)] for name in result.columns]
    return found


@pytest.mark.parametrize("method", ["ordinary", "weighted", "robust", "total"])
def test_exact_data_give_back_the_base_parameters(method: str) -> None:
    options = {"column_error": 1e-6} if method == "total" else {}
    result = identify(heavier(ROBOT), recorded(1, 1e-7), method=method, options=options, prior=1e-4)
    assert np.allclose(result.base_values, true_base(result), rtol=1e-3, atol=1e-5)
    assert result.error < 1e-5
    fresh = result.predict(recorded(7, 0.0))
    assert fresh.error < 1e-4 and set(fresh.errors) == {f"tau.{name}" for name in ROBOT.v_names}


@pytest.mark.parametrize("method", ["ordinary", "weighted", "robust", "total"])
def test_data_without_noise_are_no_trouble(method: str) -> None:
    """Simulated data have no noise at all; solvers converge, and what no force shows is decided as with noisy data."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean, noisy = (identify(heavier(ROBOT), recorded(1, noise), method=method) for noise in (0.0, 1e-5))
    if method != "total":  # which allows for errors of columns
        assert np.allclose(clean.base_values, true_base(clean), rtol=1e-6, atol=1e-8)
    assert np.isfinite(clean.covariance).all()
    mass = f"{ROBOT.bodies[0].name}.m"
    assert clean.values[mass] == pytest.approx(noisy.values[mass], rel=1e-3)


@pytest.mark.parametrize("method", ["ordinary", "weighted", "robust"])
def test_the_prior_counts_in_deviations_of_the_residuals(method: str) -> None:
    """An arm that is a thousand times lighter, with noise in proportion, has parameters a thousand times smaller."""
    light = replace(
        ROBOT,
        bodies=tuple(
            replace(body, mass=1e-3 * body.mass, inertia=tuple(tuple(1e-3 * x for x in row) for row in body.inertia))  # type: ignore[arg-type]
            for body in ROBOT.bodies
        ),
    )
    data = recorded(19)
    small = replace(data, tau=1e-3 * data.tau)  # type: ignore[operator]
    one, other = (identify(heavier(robot), x, method=method) for robot, x in ((ROBOT, data), (light, small)))
    assert np.allclose(other.base_values, 1e-3 * one.base_values, rtol=1e-3, atol=1e-6)


def test_weights_are_the_deviations_of_the_channels() -> None:
    noisy = recorded(2, lambda rng, shape: rng.normal(size=shape) * [0.01, 0.3])
    result = identify(ROBOT, noisy, **FREE)
    assert np.allclose(list(result.deviations.values()), [0.01, 0.3], rtol=0.1)


def test_robust_estimates_ignore_collisions() -> None:
    """One sample in twenty is off by many deviations, as in a collision: least squares is wrong, bisquare is not."""

    def collisions(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        errors = 0.02 * rng.normal(size=shape)
        errors[::20] += 3.0
        return errors

    data = recorded(3, collisions)
    off = {}
    for method in ("weighted", "robust"):
        result = identify(ROBOT, data, method=method, **FREE)
        off[method] = np.abs(result.base_values - true_base(result)).max()
    assert off["robust"] < 0.1 * off["weighted"]
    assert np.allclose(list(result.deviations.values()), 0.02, rtol=0.2)


def test_the_order_of_recordings_does_not_matter() -> None:
    """Weights of samples belong to their recording: only the first of the two has collisions."""

    def collisions(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        errors: np.ndarray = 0.02 * rng.normal(size=shape)
        errors[::20] += 3.0
        return errors

    pair = recorded(21, collisions), recorded(22, n=700)
    one, other = (identify(ROBOT, data, method="robust", **FREE) for data in (pair, pair[::-1]))
    assert np.allclose(one.base_values, other.base_values, rtol=1e-6, atol=1e-9)
    assert np.allclose(one.base_deviations, other.base_deviations, rtol=1e-6)


def test_total_least_squares_undoes_what_noisy_columns_bias() -> None:
    """Errors in columns shrink least-squares estimates by 1 / (1 + error^2); total least squares is consistent."""
    rng = np.random.default_rng(11)
    theta, error, n = np.array([0.1, -1.0, 10.0, 0.5]), 0.3, 40_000
    clean = rng.normal(size=(n, 1, 4)) * [10.0, 1.0, 0.1, 1.0]
    clean[..., 3] = 1.0  # a column without errors
    y = clean @ theta + 0.5 * rng.normal(size=(n, 1))
    noisy = clean + error * rng.normal(size=clean.shape) * [10.0, 1.0, 0.1, 0.0]
    info = gathered(("a", "b", "c", "d"), ("y",), [([noisy[:, 0]], y)])
    task = Task(
        info, _least_squares, _least_squares, lambda theta: [], lambda weights: info, np.array([4.0]), (3,), np.eye(4)
    )
    shrunk = weighted(task).theta
    assert np.allclose(shrunk[:3] / theta[:3], 1.0 / (1.0 + error**2), rtol=0.02)
    share = error / np.sqrt(1.0 + error**2)  # of the noisy columns
    found = total(task, column_error=share, force_errors={"y": 0.5}).theta
    assert np.allclose(found / theta, 1.0, atol=0.02)
    with pytest.raises(ShapeError, match="column_error is 0"):
        total(task, column_error=0.0)


def _least_squares(R: np.ndarray, z: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.lstsq(R, z, rcond=None)[0]
    return found


# ── other forms ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_momentum_form_needs_no_accelerations() -> None:
    data = replace(recorded(12, 0.0, n=2000), a=None)
    result = identify(heavier(ROBOT), data, form="momentum", **FREE)
    assert result.information.channels[0].rows == 199
    assert np.allclose(result.base_values, true_base(result), rtol=1e-3, atol=1e-3)
    with pytest.raises(ShapeError, match="has no a"):
        identify(ROBOT, data, rates=Measured())


def test_momentum_is_balanced_between_irregular_times() -> None:
    """The mean of a force over a window counts how long each sample lasts."""
    t: Any = np.cumsum(np.random.default_rng(13).uniform(0.001, 0.009, size=2000))
    q, v, a = series(t, 13, ROBOT.nv)
    tau = DYNAMICS.regressor(q, v, a) @ truth(DYNAMICS)
    result = identify(heavier(ROBOT), Recording("late", t, q, v, tau=tau), form="momentum", **FREE)
    assert np.allclose(result.base_values, true_base(result), rtol=1e-3, atol=1e-3)


def test_wrenches_of_a_free_base_give_inertias_without_torques() -> None:
    """The sum of the outside wrenches of a floating robot shows the same base parameters as all of its forces."""
    builder = RobotBuilder("floating", gravity=(0.0, 0.0, -9.81))
    builder.add(Body.box("trunk", 3.0, (0.2, 0.3, 0.4)))
    builder.add(Body.box("limb", 1.0, (0.1, 0.1, 0.5), center=(0.0, 0.1, 0.2)))
    builder.joint("base", "free", "world", "trunk")
    robot = builder.joint("hip", "revolute", "trunk", "limb", translation=(0.1, 0.0, 0.0), axis=(1.0, 0.0, 0.0)).build()
    dynamics, rng = derive(robot), np.random.default_rng(2)
    q = np.array([random_configuration(robot, rng) for _ in range(200)])
    v, a = rng.normal(size=(2, 200, robot.nv))
    wrench = dynamics.inverse_dynamics(q, v, a)[:, :6]  # of the free joint: what acts on the robot from outside
    data = Recording("plate", np.arange(200.0), q, v, a, wrenches={"base": wrench + 1e-6 * rng.normal(size=(200, 6))})
    result = identify(heavier(robot), data, form="wrenches", friction=(), prior=1e-9)
    assert len(result.base) == 17  # 10 + 7 for a hinge
    assert np.allclose(result.base_values, true_base(result, dynamics), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", ["weighted", "total"])
def test_wrenches_through_a_joint_show_what_its_torque_does_not(method: str) -> None:
    """A force sensor in the shoulder weighs the arm; the base parameters are those of its wrenches."""
    data, first = recorded(14, 0.0), ROBOT.joint_names[0]
    wrench = DYNAMICS.joint_wrenches(data.q, data.v, data.a)[:, 0]  # type: ignore[call-overload]
    noisy = wrench + 1e-4 * np.random.default_rng(14).normal(size=wrench.shape)
    sensed = Recording("sensor", data.t, data.q, data.v, data.a, wrenches={first: noisy})
    given: dict[str, Any] = {"column_error": 1e-5} if method == "total" else {}
    result = identify(heavier(ROBOT), sensed, form="wrenches", channels=(first,), method=method, options=given, **FREE)
    W = DYNAMICS.wrench_regressor(first)(data.q[::10], data.v[::10], data.a[::10]).reshape(-1, len(truth(DYNAMICS)))
    assert len(result.base) == np.linalg.matrix_rank(W, tol=1e-8 * np.linalg.norm(W)) > 6  # 6 by torques
    masses = [f"{body.name}.m" for body in ROBOT.bodies]
    assert sum(result.values[name] for name in masses) == pytest.approx(ROBOT.total_mass, rel=1e-4)
    assert np.allclose(result.base_values, true_base(result), atol=1e-3) and result.error < 1e-3
    assert not any(name.rpartition(".")[2] in TRUE for name in result.base.names)
    two = DYNAMICS.joint_wrenches(data.q, data.v, data.a)  # type: ignore[call-overload]
    both = replace(sensed, wrenches={name: two[:, k] for k, name in enumerate(ROBOT.joint_names)})
    assert identify(ROBOT, both, form="wrenches", channels=ROBOT.joint_names[::-1], **FREE).error < 1e-9


@pytest.mark.slow
def test_closed_chains_have_rows_along_their_motions() -> None:
    robot = library.four_bar()
    dynamics = derive(robot)
    motions = random_motions(dynamics, 300, np.random.default_rng(3))
    crank = robot.v_names[0]
    theta = dynamics.regressor_parameters
    tau = dynamics.regressor(motions.q, motions.v, motions.a) @ theta
    data = Recording("bars", np.arange(float(len(tau))), motions.q, motions.v, motions.a, tau)
    result = identify(heavier(robot), data, channels=(crank,), friction=("viscous",), **FREE)
    assert [one.name for one in result.information.channels] == [f"tau.{crank}"]
    assert result.error < 1e-9
    assert np.allclose(result.base_values, true_base(result, dynamics, theta), atol=1e-6)


# ── intervals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def colored(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Noise of deviation 0.02 whose correlation falls by 0.9 from sample to sample."""
    from scipy.signal import lfilter

    white = rng.normal(size=(shape[0] + 200, shape[1]))
    found: np.ndarray = 0.02 * np.sqrt(1.0 - 0.9**2) * lfilter([1.0], [1.0, -0.9], white, axis=0)[200:]
    return found


def coverage(seeds: range, noise: Any) -> tuple[float, float]:
    """How often intervals hold the truth, and how often they would if residuals were taken for independent."""
    hits, naive = [], []
    for seed in seeds:
        result = identify(ROBOT, recorded(seed, noise, n=2000), **FREE)
        off = np.abs(result.base_values - true_base(result))
        hits.append(off <= result.quantile * result.base_deviations)
        R = result.information.weighted(list(result.deviations.values()))[0] @ np.linalg.pinv(result.base.combinations)
        naive.append(off <= 1.96 * np.sqrt(np.diag(np.linalg.inv(R.T @ R))))
    return float(np.mean(hits)), float(np.mean(naive))


@pytest.mark.slow
def test_intervals_count_that_residuals_are_colored() -> None:
    found, naive = coverage(range(12), colored)
    assert 0.88 <= found <= 0.995
    assert naive < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.02, colored], ids=["white", "colored"])
def test_intervals_hold_the_truth_as_often_as_they_say(noise: Any) -> None:
    assert 0.90 <= coverage(range(100), noise)[0] <= 0.99


def test_intervals_are_wider_where_scores_are_summed_over_a_part_of_the_recording() -> None:
    """Means of white noise in deviations from sums over 10 % of all samples, as in Kiefer & Vogelsang (2005)."""
    n, length = 200, 20
    x = np.random.default_rng(17).normal(size=(10_000, n))
    centered = np.pad(x - x.mean(axis=1, keepdims=True), ((0, 0), (length, length - 1)))
    sums = np.cumsum(centered, axis=1)
    moving = sums[:, length:] - sums[:, :-length]
    ratios = np.abs(x.sum(axis=1)) / np.sqrt((moving**2).sum(axis=1) / length)
    assert _quantile(0.95, 1e9, length / n) == pytest.approx(np.quantile(ratios, 0.95), rel=0.03)


def test_deviations_of_white_noise_are_those_of_least_squares() -> None:
    """Those of weighted estimates are sigma (Y^T Y)^-1/2; bisquare weights cost 5 % more variance (Huber 2009)."""
    data = recorded(16, n=4000)
    plain, robust = (identify(ROBOT, data, method=method, **FREE) for method in ("weighted", "robust"))
    chosen = [DYNAMICS.regressor_columns.index(name) for name in plain.columns]
    Y = DYNAMICS.regressor(data.q, data.v, data.a)[..., chosen].reshape(-1, len(chosen))
    Y = Y @ np.linalg.pinv(plain.base.combinations)
    wanted = 0.02 * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
    assert np.median(plain.base_deviations / wanted) == pytest.approx(1.0, rel=0.05)
    assert np.median(robust.base_deviations / plain.base_deviations) == pytest.approx(0.95**-0.5, rel=0.03)


def test_predictions_find_rates_as_the_identification_did() -> None:
    data = replace(recorded(10), v=None, a=None)
    result = identify(ROBOT, data, rates=ZeroPhase(3.0), **FREE)
    fresh = replace(recorded(11), v=None, a=None)
    assert result.predict(fresh).error == result.predict(fresh, rates=ZeroPhase(3.0)).error
    assert result.predict(fresh).error != result.predict(fresh, rates=ZeroPhase(1.0)).error


def test_correlation_times_are_those_of_known_noise() -> None:
    rng = np.random.default_rng(0)
    assert correlation_time(rng.normal(size=20_000)) == pytest.approx(1.0, abs=0.1)
    assert correlation_time(colored(rng, (200_000, 1))[:, 0]) == pytest.approx(1.9 / 0.1, rel=0.1)  # (1 + r) / (1 - r)


def test_moving_sums_are_bartlett_weights_of_all_pairs() -> None:
    scores = np.random.default_rng(1).normal(size=(40, 3))
    sums = MovingSums(3, 7)
    for part in (scores[:3], scores[3:20], scores[20:]):
        sums.add(part)
    lag = np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
    direct = scores.T @ np.maximum(1.0 - lag / 7.0, 0.0) @ scores
    assert np.allclose(sums.value(), direct, rtol=1e-12)


# ── prior, and bad requests ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_data_leave_open_is_decided_by_the_values_of_the_model() -> None:
    """A heavy prior gives the model back, a light one the data; the shares say so. Values of exact models stay."""
    model, data = heavier(ROBOT), recorded(4)
    with pytest.warns(RecordingWarning, match="12 of 12 base parameters less"):
        heavy = identify(model, data, prior=1e12)
    results = [heavy, *(identify(model, data, prior=weight) for weight in (1.0, 1e-6))]
    _, usual, light = results
    nominal = heavy.base.combinations @ heavy.nominal
    assert np.allclose(heavy.base_values, nominal, rtol=0.01, atol=1e-3)  # thin rods are made thicker
    assert np.all(np.diff([one.base_shares for one in results], axis=0) > -1e-9)
    assert heavy.base_shares.max() < 0.05 and light.base_shares.min() > 0.99
    assert np.all(usual.shares[[k for k, name in enumerate(usual.columns) if "viscous" in name]] > 0.99)
    assert np.allclose(light.base_values, true_base(light), atol=0.02) and usual.undetermined == ()
    mass = f"{ROBOT.bodies[0].name}.m"  # on the axis of a hinge in the world, no force shows it
    assert evaluate(ROBOT.bodies[0].mass) < usual.values[mass] < evaluate(model.bodies[0].mass)


def test_the_trust_in_a_body_does_not_depend_on_frames_or_units() -> None:
    """It is the norm of P0^(-1/2) (P - P0) P0^(-1/2), the same for bodies that are moved or measured in other units."""
    rng = np.random.default_rng(18)
    P0, P = (G @ G.T for G in rng.normal(size=(2, 4, 4)))
    values, axes = np.linalg.eigh(P0)
    root = axes / np.sqrt(values) @ axes.T
    wanted = np.linalg.norm(root @ (P - P0) @ root) ** 2
    moved = np.eye(4)
    moved[:3, :3], moved[:3, 3] = 1000.0 * np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    for T in (np.eye(4), moved):
        old, new = (np.array(from_pseudo_inertia((T @ one @ T.T).tolist())) for one in (P0, P))
        found = _trust_of_body("body", old) @ (new - old)
        assert found @ found == pytest.approx(wanted, rel=1e-6)


def test_known_values_are_kept_and_approximate_ones_pull() -> None:
    """A weighed mass stays what it is; one that is known to 1 % comes near, where the drawing says something else."""
    model, data = heavier(ROBOT), recorded(4)
    first, second = (f"{body.name}.m" for body in ROBOT.bodies)
    true = {name: evaluate(body.mass) for name, body in zip((first, second), ROBOT.bodies, strict=True)}
    known = {first: true[first], second: (true[second], 0.01 * true[second]), "q1.viscous": 0.3}
    result = identify(model, data, known=known)
    assert result.values[first] == pytest.approx(true[first], rel=1e-6)
    assert result.intervals[first][0] == result.intervals[first][1] == result.values[first]
    assert result.values[second] == pytest.approx(true[second], rel=0.02)
    assert 0.005 < result.standard_deviations[second] / true[second] < 0.011
    assert "q1.viscous" not in result.values and result.error < 0.02
    assert "armature is not identified, it has the model's values (0 for all joints); armature=True" in result.notes[0]
    assert not any("viscous" in note for note in result.notes)  # it is given
    free = identify(model, data, known={first: true[first]}, physical=False)
    assert free.values[first] == true[first]
    for bad in ((1.0, 0.0), (1.0, np.nan), (1.0, 2.0, 3.0)):
        with pytest.raises(ShapeError, match="expected a number, or"):
            identify(model, data, known={first: bad})  # type: ignore[dict-item]


def test_parameters_that_a_motion_hardly_shows_are_named() -> None:
    data = recorded(5)
    still = replace(data, q=data.q * [1.0, 0.0], v=data.v * [1.0, 0.0], a=data.a * [1.0, 0.0])
    still = replace(still, tau=DYNAMICS.regressor(still.q, still.v, still.a) @ truth(DYNAMICS) + 0.01 * data.tau)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = identify(ROBOT, still)
    said = [str(one.message) for one in caught if one.category is RecordingWarning]
    joint = ROBOT.v_names[1]
    assert any("never moves" in one for one in said)
    assert f"{joint}.viscous" in result.undetermined and f"{joint}.coulomb" in result.undetermined
    assert any(f"{joint}.viscous" in one and "base parameters" in one for one in said)


def test_bad_requests_are_refused() -> None:
    data = recorded(6)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"method": "magic"}, "method is 'magic'; expected one of ordinary"),
        ({"prior": -1.0}, "prior is -1"),
        ({"confidence": 1.0}, "confidence is 1"),
        ({"friction": ("dry",)}, "friction: 'dry' is unknown"),
        ({"known": {"arm.m": 1.0}}, "has no parameter 'arm.m'"),
        ({"channels": ("elbow",)}, "has no velocity 'elbow'"),
    ]
    for given, sentence in cases:
        with pytest.raises(ShapeError, match=sentence):
            identify(ROBOT, data, **given)
    with pytest.raises(ShapeError, match="base parameters are unknown; expected at least"):
        identify(ROBOT, data.part(0, 5))
    with pytest.raises(ShapeError, match="no recording is given"):
        identify(ROBOT, [])


def test_a_prediction_that_is_far_worse_than_the_fit_is_told() -> None:
    """The same robot is predicted without a word; with a load that the used data did not have, the result tells it."""
    loaded = replace(recorded(9), name="loaded", tau=1.5 * recorded(9).tau)
    with pytest.warns(
        RecordingWarning, match=r"'loaded' was not used and is predicted with an error of 33.* %"
    ) as found:
        result = identify(ROBOT, recorded(8), validate=[recorded(9), loaded])
    told = [note for note in result.notes if "was not used" in note]
    assert len(told) == 1 and told[0] in " ".join(str(result).split())
    assert not any("'run 9' was not used" in str(one.message) for one in found)


TOLD = """\
Identified parameters of double_pendulum

method                                  weighted least squares
weight of the prior                     0.1
recordings                              1
error                                   0.33 % of the norm of all measured forces
parameters                              26
combinations of them that forces show   12

Residuals
channel  samples   error  standard deviation [N m, N]  correlation [samples]
----------------------------------------------------------------------------
tau.q1     1,000  0.24 %                      0.01948                    1.0
tau.q2     1,000  0.76 %                      0.01994                    1.2

Recordings that were not used: error of the predicted forces
channel   run 9
---------------
tau.q1   0.27 %
tau.q2   0.86 %
all      0.37 %

Parameters in SI units
parameter         value        from         to   model  share of the data
-------------------------------------------------------------------------
link1.m             1.1      0.4932      1.707     1.1             11.3 %
"""


def test_the_result_is_told_as_a_table() -> None:
    result = identify(ROBOT, recorded(8), validate=recorded(9))
    text = str(result)
    assert text.startswith(TOLD)
    assert "True values are within the intervals with a probability of 95 %.\n" in text
    assert "    -1.7399       -1.74     -1.739            100.0 %  link1.hz - 1.2 link2.m\n" in text
    assert text.endswith("\n".join(result.notes[1:])) and all(f"\n{name} " in text for name in result.columns)
    assert result.validation[0].error == pytest.approx(result.predict(recorded(9)).error)
