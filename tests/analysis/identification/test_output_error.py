"""`output_error`: parameters of a motor from voltage and encoder, compared with SciPy and with the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from kinemorph import Body, Parameter, RobotBuilder, System, simulate
from kinemorph.elements import PD, Contact, DCMotor, JointFriction, Rigid, Sinusoid
from kinemorph.errors import ModelError, ShapeError
from kinemorph.identification import Recording, output_error
from kinemorph.plants import plant
from kinemorph.simulation.stepping.regular_functions import HeldInputs

STEP, NOISE = 0.02, 1e-3  # [s], [rad]
TRUTH = {"K": 0.05, "J": 2e-5, "c": 1e-4}


def motor(R: float = 1.2, K: float = 0.05, J: float = 2e-5, c: float = 1e-4) -> System:
    """A pendulum of 0.3 kg and 0.2 m that a motor with a gear of 20 drives."""
    bob = Body.point("bob", 0.3, (0.0, 0.0, -0.2))
    robot = RobotBuilder("pendulum").add(bob).joint("pivot", "revolute", "world", "bob", axis=(0.0, 1.0, 0.0)).build()
    numbers = {"resistance": Parameter("R", R, "ohm"), "torque_constant": Parameter("K", K, "N m/A")}
    return System(
        robot, (DCMotor("motor", "pivot", **numbers, inertia=Parameter("J", J), ratio=20.0, viscous=Parameter("c", c)),)
    )


def voltage(t: float) -> float:
    return float(3.0 * np.sin(4.4 * t) + 2.0 * np.sign(np.sin(12.0 * t)))


def recorded(seed: int, noise: float = NOISE, until: float = 3.0) -> Recording:
    run = simulate(motor(), until, inputs=lambda t: [voltage(t)], output_step=STEP)
    q = run.q + noise * np.random.default_rng(seed).normal(size=run.q.shape)
    return Recording("voltage and encoder", run.t, q, inputs={"motor": run.u[:, 0]})


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded(0)


@pytest.fixture(scope="module")
def first() -> System:
    return motor(K=0.04, J=4e-5, c=2e-4)


@pytest.mark.slow
def test_a_motor_is_found_from_voltage_and_encoder(first: System, recording: Recording) -> None:
    fitted = output_error(first, recording, list(TRUTH))
    assert fitted.converged and not fitted.undetermined
    for k, (name, value) in enumerate(TRUTH.items()):
        assert abs(fitted[name] - value) < 4.0 * fitted.deviations[k] < 0.1 * value
        low, high = fitted.interval(name, 0.9999)
        assert 0.0 < low < value < high
    assert fitted.noise["q.pivot"] == pytest.approx(NOISE, rel=0.2)
    found = {
        one.name: one.value for one in (fitted.model.elements[0].torque_constant, fitted.model.elements[0].viscous)
    }
    assert found == {"K": fitted["K"], "c": fitted["c"]}
    other = fitted.predict(recorded(1))
    assert other.deviations["q.pivot"] == pytest.approx(NOISE, rel=0.2)
    assert "K" in str(fitted) and "95 %" in str(fitted)


@pytest.mark.slow
def test_the_optimum_is_that_of_scipy(first: System, recording: Recording) -> None:
    """SciPy with differences of plain runs finds the same parameters and initial state."""
    fitted = output_error(first, recording, list(TRUTH), deviations={"q.pivot": NOISE})
    u, plain = recording.inputs["motor"], plant(motor(), parameters=list(TRUTH))
    values = np.array(list(TRUTH.values()))

    def residuals(z: np.ndarray) -> np.ndarray:
        p = dict(zip(TRUTH, values * np.exp(z[:3]), strict=True))
        held = {"inputs": lambda t: [u[round(t / STEP)]], "output_step": STEP}
        run = simulate(plain, 3.0, q=[z[3]], v=[z[4]], p=p, **held)
        return (recording.q - run.q)[:, 0] / NOISE

    found = least_squares(residuals, np.zeros(5), diff_step=1e-5, x_scale=[1.0, 1.0, 1.0, 1e-2, 1e-2], xtol=1e-9)
    np.testing.assert_allclose(fitted.values, values * np.exp(found.x[:3]), rtol=1e-4)
    spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))[:3] * fitted.values
    assert np.all(fitted.deviations < 2.0 * spread) and np.all(fitted.deviations > spread / 2.0)


def test_a_motion_that_shows_nothing_is_told(first: System) -> None:
    t = np.arange(0.0, 1.0, STEP)
    still = Recording("at rest", t, np.zeros((len(t), 1)), inputs={"motor": np.zeros(len(t))})
    fitted = output_error(first, still, list(TRUTH))
    assert "K" in {name for group in fitted.undetermined for name in group}
    assert np.isinf(fitted.deviations[0]) and fitted.interval("K") == (-np.inf, np.inf)


@pytest.mark.slow
def test_what_recordings_do_not_tell_apart_is_named(recording: Recording) -> None:
    """Voltage and angle show K / R and K^2 / R + c, so that R, K and c are open along one direction."""
    fitted = output_error(motor(2.0, 0.04, 4e-5, 2e-4), recording, ["R", "K", "J", "c"])
    assert [set(group) for group in fitted.undetermined] == [{"R", "K", "c"}]
    assert np.isinf(fitted.deviations[[0, 1, 3]]).all() and np.isfinite(fitted.deviations[2])
    assert fitted["K"] / fitted["R"] == pytest.approx(0.05 / 1.2, rel=5e-3)
    assert fitted.converged and "combination" in str(fitted)


@pytest.mark.slow
def test_pieces_follow_an_unstable_motion() -> None:
    """An inverted pendulum with Stribeck friction and no noise: pieces with own initial states give the truth."""

    def system(coulomb: float, breakaway: float, damping: float) -> System:
        rod = Body.rod("rod", 0.5, 0.6, (0.0, 0.0, 0.3))
        joint = {"axis": (0.0, 1.0, 0.0), "damping": Parameter("damping", damping)}
        robot = RobotBuilder("inverted").add(rod).joint("pivot", "revolute", "world", "rod", **joint).build()
        friction = {"coulomb": Parameter("coulomb", coulomb), "breakaway": Parameter("breakaway", breakaway)}
        return System(robot, (JointFriction("friction", ("pivot",), **friction, stribeck=0.3, smoothing=0.05),))

    truth = {"coulomb": 0.2, "breakaway": 1.6, "damping": 0.05}
    run = simulate(
        *(system(*truth.values()), 4.0),
        inputs=lambda t, q, v: [-8.0 * (q[0] - 0.8 * np.sin(3.0 * t)) - 0.8 * v[0]],
        output_step=0.02,
    )
    recording = Recording("unstable", run.t, run.q, inputs={"pivot": run.u[:, 0]})
    start = {"coulomb": 0.3, "breakaway": 1.3, "damping": 0.1}
    fitted = output_error(system(*truth.values()), recording, start, piece=0.5)
    np.testing.assert_allclose(fitted.values, list(truth.values()), rtol=1e-4)
    assert fitted.noise["q.pivot"] < 1e-6


@pytest.mark.slow
def test_bounds_and_signs_are_kept(first: System, recording: Recording) -> None:
    """With a resistance that is too large, the best c is negative: it stops at 0, and this is said."""
    fitted = output_error(motor(2.0, 0.05, 2e-5, 1e-4), recording, ["K", "J", "c"], bounds={"J": (1e-5, 4e-5)})
    assert 0.0 < fitted["c"] < 5e-6 and fitted.vanished == ("c",)
    assert 1e-5 < fitted["J"] < 4e-5
    assert fitted.interval("c")[0] == 0.0


@pytest.mark.slow
def test_a_controlled_motion_shows_inertia_and_friction() -> None:
    """The controller and its reference act in the runs: neither forces nor inputs are recorded."""

    def arm(mass: float) -> System:
        box = Body.box("box", mass, (0.1, 0.1, 0.4), (0.0, 0.0, -0.2))
        joint = {"axis": (0.0, 1.0, 0.0), "damping": 0.5}
        robot = RobotBuilder("arm").add(box).joint("pivot", "revolute", "world", "box", **joint).build()
        path = Sinusoid("path", amplitude=(0.7,), frequency=(0.8,), joints=("pivot",))
        return System(robot, (path, PD("pd", ("pivot",), 60.0, 4.0, reference=("path",))))

    run = simulate(arm(2.0), 4.0, output_step=0.02)
    recording = Recording("controlled", run.t, run.q, tau=run.tau)
    fitted = output_error(arm(1.6), recording, ["box.hz", "box.Iyy", "pivot.viscous"])
    np.testing.assert_allclose(fitted.values, [-0.4, 2.0 * (0.17 / 12.0 + 0.04), 0.5], rtol=1e-4)


@pytest.mark.slow
def test_inputs_that_change_between_samples_are_linear(first: System) -> None:
    """A voltage that swings within samples: taken as linear it gives the truth to 1 %, taken as held it is late."""
    swing = HeldInputs(lambda t: [4.0 * np.sin(9.0 * t + 1.0)], every=1e-4)
    run = simulate(motor(), 3.0, inputs=swing, output_step=STEP)
    u = 4.0 * np.sin(9.0 * run.t + 1.0)
    recording = Recording("swing", run.t, run.q, inputs={"motor": u})

    def seen(K: float, J: float, c: float) -> np.ndarray:
        return np.array([K, J, K * K / 1.2 + c])  # torque, inertia and damping of the motor

    errors = {
        between: np.abs(
            seen(*output_error(first, recording, list(TRUTH), between=between).values) / seen(**TRUTH) - 1.0
        )
        for between in ("held", "linear")
    }
    assert np.all(errors["linear"] < 0.01) and errors["held"][1] > 0.2  # half a sample of delay looks like inertia


@pytest.mark.slow
def test_impacts_show_restitution() -> None:
    """Heights of a bouncing ball with noise: the slopes jump at impacts."""
    robot = RobotBuilder("ball").add(Body.point("ball", 1.0)).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1))
    ball = System(robot.build(), (Contact("ground", "ball", Rigid(Parameter("e", 0.8))),))
    run = simulate(ball, 2.0, q=[1.0], output_step=0.013)
    kept = np.append(np.diff(run.t) > 0.0, True)
    q = run.q[kept] + 1e-4 * np.random.default_rng(2).normal(size=run.q[kept].shape)
    recording = Recording("heights", run.t[kept], q, inputs={"z": np.zeros(len(q))})
    fitted = output_error(ball, recording, {"e": 0.78})
    assert fitted.converged and fitted["e"] == pytest.approx(0.8, abs=4.0 * fitted.deviations[0])
    assert fitted.deviations[0] < 1e-4


BAD = [
    ({"parameters": ["Q"]}, ModelError, "parameter 'Q'.*has no Parameter and no regressor column"),
    ({"parameters": []}, ModelError, "no parameter is named"),
    ({"parameters": ["K", "K"]}, ModelError, "named 2 times"),
    ({"measured": ["q.elbow"]}, ShapeError, "no column 'q.elbow'"),
    ({"measured": ["v"]}, ShapeError, "has no velocities"),
    ({"piece": 0.01}, ShapeError, "expected at least|numbers are unknown"),
    ({"piece": -1.0}, ShapeError, "expected a time above 0"),
    ({"between": "cubic"}, ShapeError, "expected 'held' or 'linear'"),
    ({"initial": "known"}, ShapeError, "expected 'estimated' or 'recorded'"),
    ({"bounds": {"K": (0.5, 1.0)}}, ShapeError, "on both sides of the first value"),
    ({"bounds": {"K": (0.0, 1.0)}, "free": ["K"]}, ShapeError, "is free and has bounds"),
    ({"free": ["L"]}, ShapeError, "not among the parameters"),
    ({"deviations": {"q.pivot": 0.0}}, ShapeError, "expected one positive number"),
    ({"deviations": {"v.pivot": 1.0}}, ShapeError, "unknown or missing"),
]


@pytest.mark.parametrize(("options", "error", "sentence"), BAD, ids=lambda one: str(one)[:30])
def test_bad_input_is_told(first: System, recording: Recording, options: dict, error: type, sentence: str) -> None:
    asked = {"parameters": ["K", "J", "c"], **options}
    with pytest.raises(error, match=sentence):
        output_error(first, recording, **asked)


def test_recordings_that_do_not_fit_are_told(first: System, recording: Recording) -> None:
    short = recording.part(0, 2)
    bare = Recording("bare", recording.t, recording.q)
    wide = Recording("wide", recording.t, np.tile(recording.q, (1, 2)), inputs=recording.inputs)
    for wrong, sentence in (
        (short, "2 samples"),
        (bare, "no input 'motor'"),
        (wide, "q has 2 columns"),
        ([], "no rec"),
    ):
        with pytest.raises(ShapeError, match=sentence):
            output_error(first, wrong, ["K", "J", "c"])
