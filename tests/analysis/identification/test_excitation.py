"""Exciting motions: gradients, limits, information, and optima that other solvers and random series do not surpass."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from kinemorph import RobotBuilder, System, simulate
from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import translation
from kinemorph.analysis.identification.excitation.excitation import Excitation
from kinemorph.analysis.identification.excitation.excitation_problem import ExcitationProblem
from kinemorph.analysis.identification.excitation.excite import excite
from kinemorph.analysis.identification.excitation.hanging import Hanging
from kinemorph.analysis.identification.excitation.motion_limits import motion_limits
from kinemorph.analysis.identification.excitation.random_series import drawn_near, random_series, resting_posture
from kinemorph.analysis.identification.excitation.series_basis import SeriesBasis
from kinemorph.analysis.identification.excitation.unknown_columns import random_states, unknown_columns
from kinemorph.analysis.identification.excitation.zones import Zone, Zones
from kinemorph.deriving.dynamics import derive
from kinemorph.elements import DCMotor, PrescribedMotion
from kinemorph.errors import UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.configuration import difference, neutral
from kinemorph.model.robot import Robot
from support.tools.each_case import each_case

PARTS = ("viscous", "coulomb", "offset")


def planar_arm(**more: float) -> Robot:
    builder = RobotBuilder("planar", gravity=(0.0, -9.81, 0.0))
    for name, length in (("upper", 0.4), ("fore", 0.3)):
        builder.add(Body.rod(name, 1.0, length, center=(0.5 * length, 0.01, 0.02), axis="x", radius=0.02))
    common = {"lower": -2.0, "upper": 2.0, "velocity": 3.0, "effort": 12.0, **more}
    builder.joint("shoulder", "revolute", "world", "upper", **common)
    return builder.joint("elbow", "revolute", "upper", "fore", translation=(0.4, 0.0, 0.0), **common).build()


@pytest.fixture(scope="module")
def arm() -> Robot:
    return planar_arm(damping=0.3, friction=0.2)


@pytest.fixture(scope="module")
def found(arm: Robot) -> Excitation:
    """A motion of the arm whose tip stays above a floor and out of a box."""
    zones = (Zone((-9.0, -9.0, -9.0), (9.0, -0.5, 9.0)), Zone((0.3, 0.2, -1.0), (0.5, 0.6, 1.0), margin=0.02))
    options = {"duration": 6.0, "harmonics": 4, "draws": 20, "starts": 1, "rate": 50.0}
    return excite(arm, acceleration=20.0, zones=zones, points={"fore": (0.3, 0.0, 0.0)}, **options)


def problem_of(
    robot: Robot, zones: tuple[Zone, ...] = (), *, basis: SeriesBasis, samples: int, **given: object
) -> ExcitationProblem:
    dynamics = derive(robot, backend="interpreter")
    wanted = dict.fromkeys(("position", "velocity", "acceleration", "effort"), None) | given
    limits = motion_limits(robot, robot.joints, **wanted, share=1.0)  # type: ignore[arg-type]
    rows, held = range(robot.nv), np.zeros(robot.nq)
    noise = np.linspace(0.1, 0.3, robot.nv)
    states = random_states(dynamics, limits, (), held, 0)
    columns, _ = unknown_columns(dynamics, limits, rows, (), noise, PARTS, states)
    points = {"fore": ((0.3, 0.0, 0.0), (0.1, 0.05, 0.0))} if zones else None
    return ExcitationProblem(dynamics, basis, limits, columns, Zones(dynamics, zones, points), held, samples)


def test_a_series_that_breaks_limits_however_small_gives_the_posture_itself(arm: Robot) -> None:
    problem = problem_of(arm, basis=SeriesBasis(4, 6.0, False), samples=60, acceleration=40.0, effort=20.0)
    resting = np.zeros(problem.shape)
    resting[:, 0] = problem.limits.upper - 1e-9  # where every larger motion breaks a limit
    x = drawn_near(problem, (resting + 0.1).ravel(), resting.ravel())
    assert problem.keeps(problem.motion(x)) and np.array_equal(x, resting.ravel())


def test_slopes_are_exact(arm: Robot) -> None:
    """The gradient of information and barrier, through torques with friction and distances, against differences."""
    zones = (Zone((-9.0, -9.0, -9.0), (9.0, -0.75, 9.0)), Zone((-1.0, -0.9, -1.0), (1.0, 0.9, 1.0), inside=True))
    problem = problem_of(arm, zones, basis=SeriesBasis(4, 6.0, False), samples=60, acceleration=40.0, effort=20.0)
    rng = np.random.default_rng(2)
    x = random_series(problem, resting_posture(problem, rng), rng)
    for mu in (0.0, 0.3):
        slope = problem.slope(x, mu)
        for _ in range(3):
            step = rng.normal(size=problem.size)
            h = 1e-5 / np.linalg.norm(step)
            difference = (problem.cost(x + h * step, mu) - problem.cost(x - h * step, mu)) / (2.0 * h)
            assert slope @ step == pytest.approx(difference, rel=1e-6)


def test_the_motion_keeps_its_limits(arm: Robot, found: Excitation) -> None:
    """Evaluated anew from the element alone, on a fine grid: series, end conditions, torques, places of the tip."""
    element, t = found.element, np.linspace(0.0, 6.0, 6001)
    w = 2.0 * np.pi / 6.0 * np.arange(1, 5)
    b, c = np.array(element.sines), np.array(element.cosines)
    s, k = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q = np.array(element.offset) + s @ b + k @ c
    v, a = (k * w) @ b - (s * w) @ c, -(s * w**2) @ b - (k * w**2) @ c
    assert np.abs(v[[0, -1]]).max() < 1e-12 and np.abs(a[[0, -1]]).max() < 1e-11
    assert np.abs(q).max() <= 2.0 and np.abs(v).max() <= 3.0 and np.abs(a).max() <= 20.0
    tau = derive(arm).inverse_dynamics(q, v, a) + 0.3 * v + 0.2 * np.sign(np.round(v, 9))
    assert np.abs(tau).max() <= 12.0 + 0.02
    x, y = (0.4 * f(q[:, 0]) + 0.3 * f(q[:, 0] + q[:, 1]) for f in (np.cos, np.sin))
    assert y.min() >= -0.5 and not ((x > 0.28) & (x < 0.52) & (y > 0.18) & (y < 0.62)).any()
    assert found.q == pytest.approx(q[::20], abs=1e-12) and found.tau == pytest.approx(tau[::20], abs=1e-9)
    assert {use.quantity for use in found.limits if use.share > 0.97} >= {"velocity"}
    assert all(use.share <= 1.0 for use in found.limits if use.quantity != "distance")
    assert all(use.least >= 0.0 for use in found.limits if use.quantity == "distance")
    assert "acceleration" not in " ".join(found.assumed)  # it was given


def test_torques_contain_rotors_and_friction_of_motors() -> None:
    """A motor's rotor and friction, through its gear, were missing from the torques that limits are checked with."""
    robot = planar_arm()
    motor = DCMotor("drive", "elbow", 1.0, 0.05, ratio=30.0, inertia=1e-4, viscous=1e-3, coulomb=0.02)
    options = {"duration": 6.0, "harmonics": 2, "draws": 1, "starts": 1, "acceleration": 20.0}
    found = excite(System(robot, [motor]), **options)
    bare = derive(robot).inverse_dynamics(found.q, found.v, found.a)
    v, a = found.v[:, 1], found.a[:, 1]
    added = 0.09 * a + 0.9 * v + 0.6 * np.sign(v)
    np.testing.assert_allclose(found.tau - bare, np.stack([np.zeros_like(v), added], axis=1), atol=1e-9)


def test_the_motion_is_better_than_random_ones(found: Excitation) -> None:
    assert found.log_det > found.random.max() and found.gain > 1.2
    assert len(found.names) == 6 + 6 and found.names[-1] == "elbow.offset"


def test_deviations_are_those_of_estimates(arm: Robot, found: Excitation) -> None:
    """The spread of least-squares estimates from noisy torques is what the information says."""
    dynamics, rng = derive(arm), np.random.default_rng(5)
    columns = [dynamics.regressor_columns.index(name) for name in found.names]
    Y = dynamics.regressor(found.q[:-1], found.v[:-1], found.a[:-1])[:, :, columns] / found.noise[:, None]
    noise = rng.normal(size=(2000, Y.shape[0] * Y.shape[1]))
    estimates = noise @ np.linalg.pinv(Y.reshape(-1, len(columns))).T
    assert estimates.std(axis=0) == pytest.approx(found.deviations, rel=0.08)


def test_a_controller_follows_the_element(arm: Robot, found: Excitation) -> None:
    """The element is compiled with exact rates, so that joints on it need the torques of the result."""
    drives = tuple(PrescribedMotion(f"drive {name}", name, f"excitation.{name}") for name in arm.joint_names)
    system = System(planar_arm(), (found.element, *drives))
    run = simulate(system, 6.0, q=found.q[0], method="rk4", step=0.02, output_step=0.02)
    friction = 0.3 * found.v + 0.2 * np.sign(found.v)
    for k, name in enumerate(arm.joint_names):
        assert run[f"q.{name}"] == pytest.approx(found.q[:, k], abs=1e-9)
        assert run[f"drive {name}.force"] == pytest.approx((found.tau - friction)[:, k], abs=1e-7)


@pytest.mark.slow
def test_no_other_solver_finds_more() -> None:
    """A pendulum in closed form: SLSQP, which starts at the result, gains next to nothing under the same limits."""
    robot = planar_arm()
    options = {"joints": ["elbow"], "q": [0.4, 0.0], "friction": (), "duration": 4.0, "harmonics": 3}
    found = excite(robot, **options, acceleration=25.0, draws=30, starts=3)
    t, w = np.linspace(0.0, 4.0, 120, endpoint=False), 2.0 * np.pi / 4.0 * np.arange(1, 4)
    s, k = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    order = np.arange(1.0, 4.0)

    def motion(z: Array) -> tuple[Array, Array, Array]:
        b, c = z[1:4], z[4:7]
        return z[0] + s @ b + k @ c, (k * w) @ b - (s * w) @ c, -(s * w**2) @ b - (k * w**2) @ c

    def columns(z: Array) -> Array:
        """Of m g c_x, m g c_y and I of the forearm, for the angle 0.4 + q from the horizontal."""
        q, _, a = motion(z)
        return np.stack([9.81 * np.cos(0.4 + q), -9.81 * np.sin(0.4 + q), a], axis=1)

    def slack(z: Array) -> Array:
        q, v, a = motion(z)
        tau = columns(z) @ [0.15, 0.01, 0.3**2 / 12.0 + 0.15**2 + 0.01**2]
        return np.concatenate([limit - np.abs(x) for limit, x in ((2.0, q), (3.0, v), (25.0, a), (12.0, tau))])

    def cost(z: Array) -> float:
        Y = columns(z)
        return -float(np.linalg.slogdet(Y.T @ Y)[1])

    z = np.concatenate([found.element.offset, np.ravel(found.element.sines), np.ravel(found.element.cosines)])
    rest = {"type": "eq", "fun": lambda z: np.array([order @ z[1:4], order**2 @ z[4:7]])}
    others = [rest, {"type": "ineq", "fun": slack}]
    better = scipy.optimize.minimize(cost, z, method="SLSQP", constraints=others, options={"maxiter": 60})
    assert slack(z).min() >= 0.0 and len(found.names) == 3
    assert better.success and cost(z) - better.fun < 0.05


BAD = [
    ({"duration": -1.0}, r"duration is -1; expected a finite number above 0"),
    ({"harmonics": 1}, r"harmonics is 1; expected a whole number of 2 or more"),
    ({"share": 1.5}, r"share is 1.5; expected a number above 0, at most 1"),
    ({"joints": ["elbo"]}, r"joint 'elbo' of 'planar' is unknown. Did you mean 'elbow'\?"),
    ({"velocity": [1.0, 2.0, 3.0]}, r"velocity has 3 numbers; expected 1, or 2, one for each joint"),
    ({"velocity": {"elbow": -1.0}}, r"velocity of 'elbow' is -1; expected a number above 0"),
    ({"effort": {"wrist": 1.0}}, r"effort names 'wrist', which is not a joint of 'planar' that moves"),
    ({"effort": 0.1}, r"does not keep its limits at rest .* torque of 'shoulder' is .*; expected -0.09.* Widen"),
    ({"position": {"elbow": (1.0, 0.0)}}, r"position of 'elbow' is 1 to 0; expected a lower and a larger upper"),
    ({"friction": ["stribeck"]}, r"friction names 'stribeck'. Known: 'armature', 'viscous'"),
    ({"measured": ["tool"]}, r"measured names 'tool', which is neither a joint nor a velocity"),
    ({"q": [0.0]}, r"q has the shape \(1,\); expected 2 finite numbers"),
    ({"zones": [Zone((0, 0, 0), (1, 0, 1))]}, r"zone 0 reaches from .*; expected two corners"),
    ({"zones": [Zone((-9, -9, -9), (9, 9, 9))]}, r"at rest .* distance of 'upper out of zone 0'"),
]


@each_case(("options", "says"), BAD, ids=[says[:30] for _, says in BAD])
def test_bad_input_is_told(options: dict[str, object], says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        excite(derive(planar_arm(), backend="interpreter"), **options, draws=2)  # type: ignore[arg-type]


def test_what_is_missing_is_told() -> None:
    bare = RobotBuilder("bare").add(Body.box("box", 1.0, (0.1, 0.2, 0.3)))
    found = excite(bare.joint("slide", "prismatic", "world", "box").build(), duration=3.0, draws=5, starts=1)
    told = " ".join(found.assumed)
    for word in ("position is given for slide", "velocity", "acceleration", "torque", "noise"):
        assert word in told
    assert found.names == ("box.m", "slide.viscous", "slide.coulomb", "slide.offset")
    four_bar = library.four_bar()
    with pytest.raises(UnsupportedError, match="closed chains"):
        excite(four_bar)


def with_gripper(at: float | None = None) -> Robot:
    """The arm with two coupled fingers, the second one at 0.01 - 2 q of the first, or both welded where `at` puts them.

    `at` is the coordinate [m] of the first finger.
    """
    builder = RobotBuilder("gripping", gravity=(0.0, -9.81, 0.0))
    builder.add(Body.rod("upper", 1.0, 0.4, center=(0.2, 0.01, 0.02), axis="x", radius=0.02))
    builder.joint("shoulder", "revolute", "world", "upper", lower=-2.0, upper=2.0, velocity=3.0, effort=12.0)
    for name, place in (("left", at), ("right", None if at is None else 0.01 - 2.0 * at)):
        builder.add(Body.rod(name, 0.3, 0.1, axis="x", radius=0.01))
        if place is None:
            builder.joint(name, "prismatic", "upper", name, axis=(0.0, 1.0, 0.0), translation=(0.4, 0.0, 0.0))
        else:
            builder.joint(name, "fixed", "upper", name, translation=(0.4, place, 0.0))
    return (builder if at is not None else builder.couple("right", "left", multiplier=-2.0, offset=0.01)).build()


@each_case(("given", "place"), [({"left": 0.03}, 0.03), (None, 0.0), ([0.0, 0.02, -0.03], 0.02)])
@pytest.mark.slow
def test_coupled_joints_that_are_held_are_allowed(given: object, place: float) -> None:
    """The forces of the motion are those of an arm whose fingers are welded where the coupling puts them."""
    options = {"duration": 4.0, "harmonics": 3, "draws": 5, "starts": 1, "rate": 20.0, "acceleration": 20.0}
    found = excite(with_gripper(), joints=["shoulder"], q=given, **options)  # type: ignore[arg-type]
    assert np.allclose(found.q[:, 1:], [place, 0.01 - 2.0 * place], rtol=0.0, atol=1e-15)
    assert np.abs(found.q[:, 0]).max() > 0.1 and not found.v[:, 1:].any()
    welded = derive(with_gripper(place), backend="interpreter")
    tau = welded.inverse_dynamics(found.q[:, :1], found.v[:, :1], found.a[:, :1])
    assert np.allclose(found.tau[:, :1], tau, rtol=1e-12, atol=1e-12)
    assert any("left" in text and "right" in text for text in found.assumed)


@each_case(
    ("options", "says"),
    [
        ({}, "'right' and 'left' of 'gripping' are coupled"),
        ({"joints": ["shoulder", "left"]}, "are coupled"),
        ({"joints": ["shoulder"], "measured": ["shoulder", "right"]}, "measured names 'right', which is coupled"),
        ({"joints": ["shoulder"], "q": {"right": 0.5}}, "q of joint 'right' is 0.5; expected 0.01"),
    ],
)
def test_coupled_joints_that_are_not_held_are_told(options: dict[str, object], says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        excite(with_gripper(), **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_base_that_is_held_shows_its_wrench() -> None:
    """A free base in a fixture: joint torques alone show less than the wrench on the base does."""
    builder = RobotBuilder("carried").add(Body.box("base", 3.0, (0.3, 0.2, 0.1))).root("base", "free")
    builder.add(Body.rod("arm", 1.0, 0.4, center=(0.2, 0.01, 0.0), axis="x", radius=0.02))
    robot = builder.joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0), lower=-2, upper=2, velocity=4).build()
    options = {"duration": 4.0, "harmonics": 3, "acceleration": 30.0, "effort": 20.0, "draws": 5, "starts": 1}
    alone = excite(robot, **options)
    whole = excite(robot, **options, measured=("base_root", "hinge"), deviations={"hinge": 0.2})
    assert "Held where they are: base_root." in alone.assumed and len(alone.names) == 3 + 3
    dynamics = derive(robot)
    assert set(alone.names) < set(dynamics.regressor_columns) and len(whole.names) > len(alone.names)
    assert "base.m" in whole.names and not any(name.startswith("base.I") for name in whole.names)
    Y = dynamics.regressor(whole.q, whole.v, whole.a)
    assert len(whole.names) - 3 == np.linalg.matrix_rank(Y[:, :, :20].reshape(-1, 20), tol=1e-8)


@pytest.mark.slow
def test_wrenches_through_joints_show_more() -> None:
    """A sensor below the arm sees masses that no torque depends on, also without any torque."""
    options = {"duration": 4.0, "harmonics": 3, "acceleration": 30.0, "draws": 5, "starts": 1, "rate": 20.0}
    arm = planar_arm()
    found = excite(arm, **options, measured=(), wrenches=("shoulder",), deviations={"shoulder": 0.1})
    assert len(found.names) > 6 and found.measured[0] == "shoulder.fx" and "upper.m" in found.names
    dynamics = derive(arm)
    Y = dynamics.wrench_regressor(("shoulder",))(found.q[:-1], found.v[:-1], found.a[:-1]).reshape(-1, 28) / 0.1
    A = Y[:, [dynamics.regressor_columns.index(name) for name in found.names]]
    assert len(found.names) == np.linalg.matrix_rank(Y, tol=1e-7)
    assert found.information == pytest.approx(A.T @ A, rel=1e-9, abs=1e-9)


def hung_arm(kind: str, gravity: float, damping: float = 0.2) -> Robot:
    """A box that nothing drives, on a hook above it or free, with an arm of two joints."""
    builder = RobotBuilder("hung", gravity=(0.0, 0.0, -gravity)).add(Body.box("box", 4.0, (0.4, 0.3, 0.2)))
    place = {} if kind == "free" else {"child_placement": translation((0.02, 0.01, 0.6)), "damping": damping}
    builder.joint("hook", kind, "world", "box", **place)
    for name, length in (("upper", 0.4), ("fore", 0.3)):
        builder.add(Body.rod(name, 1.0, length, center=(0.5 * length, 0.02, 0.01), axis="x", radius=0.02))
    common = {"lower": -2.0, "upper": 2.0, "velocity": 3.0, "effort": 12.0}
    builder.joint("shoulder", "revolute", "box", "upper", axis=(0, 1, 0), translation=(0.2, 0, 0), **common)
    return builder.joint(
        "elbow", "revolute", "upper", "fore", axis=(0, 0.6, 0.8), translation=(0.4, 0, 0), **common
    ).build()


HUNG = [
    ("universal", 9.81),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in (("spherical", 9.81), ("free", 0.0))),
]


@pytest.mark.parametrize(("kind", "gravity"), HUNG)
@pytest.mark.slow
def test_a_hanging_base_swings_by_its_own_equations(kind: str, gravity: float) -> None:
    """Its forces are zero, its rates are derivatives, slopes of information and torques are exact; momentum is kept."""
    robot = hung_arm(kind, gravity)
    dynamics = derive(robot, few_calls=True)
    joints = [robot.joint(name) for name in ("shoulder", "elbow")]
    wanted = dict.fromkeys(("position", "velocity", "acceleration", "effort"), None)
    limits = motion_limits(robot, joints, **wanted, share=1.0)  # type: ignore[arg-type]
    basis, held = SeriesBasis(2, 3.0, False), neutral(robot)
    noise = np.linspace(0.1, 0.3, robot.nv)
    states = random_states(dynamics, limits, ("hook",), held, 0)
    columns, _ = unknown_columns(dynamics, limits, range(robot.nv), (), noise, PARTS, states)
    hanging = Hanging(dynamics, ("hook",), limits.joints, basis, held)
    problem = ExcitationProblem(dynamics, basis, limits, columns, Zones(dynamics, (), None), held, 30, hanging)
    rng = np.random.default_rng(4)
    x = random_series(problem, resting_posture(problem, rng), rng)
    fine = np.linspace(0.0, 3.0, 301)
    q, v, a = problem.motion(x, fine)[1:]
    hook = robot.v_slice("hook")
    tau = dynamics.inverse_dynamics(q, v, a)
    assert np.abs(tau[:, hook] + (0.0 if kind == "free" else 0.2) * v[:, hook]).max() < 1e-9
    assert np.abs(v[:, hook]).max() > 0.05 and np.abs(a[0, hook]).max() < 1e-7
    assert np.abs(np.gradient(v, fine, axis=0, edge_order=2)[1:-1] - a[1:-1]).max() < 2e-3 * np.abs(a).max()
    rates = np.array([difference(robot, q[k - 1], q[k + 1]) for k in range(1, 300)]) / 0.02
    assert np.abs(rates - v[1:-1]).max() < 2e-3 * np.abs(v).max()
    if kind == "free":
        assert np.abs(dynamics.momentum(q, v)).max() < 1e-6
    for mu in (0.0, 0.3):
        step = rng.normal(size=problem.size)
        h = 1e-5 / np.linalg.norm(step)
        change = (problem.cost(x + h * step, mu) - problem.cost(x - h * step, mu)) / (2.0 * h)
        assert problem.slope(x, mu) @ step == pytest.approx(change, rel=1e-5)


@pytest.mark.slow
def test_friction_of_hanging_joints_is_named() -> None:
    """It is left out of their equations, and the result says so."""
    builder = RobotBuilder("cart").add(
        Body.box("cart", 2.0, (0.4, 0.3, 0.2)), Body.rod("arm", 1.0, 0.5, center=(0.0, 0.0, -0.25))
    )
    builder.joint("slide", "prismatic", "world", "cart", axis=(1, 0, 0), friction=0.3)
    robot = builder.joint("hinge", "revolute", "cart", "arm", axis=(0, 1, 0), lower=-1, upper=1, velocity=4).build()
    found = excite(robot, hanging="slide", duration=2.0, harmonics=2, draws=2, starts=1)
    assert "Coulomb friction of hanging joints is not applied: slide." in found.assumed


@pytest.mark.slow
def test_a_free_base_under_gravity_falls() -> None:
    with pytest.raises(UnsupportedError, match=r"hook of 'hung' find no equilibrium near q.* falls. Hold it"):
        excite(hung_arm("free", 9.81), hanging="hook")
    with pytest.raises(UnsupportedError, match="hanging names 'rope', which is not a joint of 'hung'"):
        excite(hung_arm("free", 9.81), hanging="rope")


@pytest.mark.slow
def test_a_hanging_robot_is_excited() -> None:
    """The motion is better than all random ones, and a run from its beginning swings in the same way."""
    robot = hung_arm("universal", 9.81, 0.0)
    options = {"duration": 5.0, "harmonics": 3, "acceleration": 20.0, "draws": 8, "starts": 1, "rate": 50.0}
    found = excite(robot, hanging=("hook",), **options)
    assert found.log_det > found.random.max() and np.abs(found.tau[:, robot.v_slice("hook")]).max() < 1e-8
    assert found.measured[:2] == robot.v_names[:2] and "1 N m" in " ".join(found.assumed)
    drives = tuple(PrescribedMotion(f"drive {name}", name, f"excitation.{name}") for name in ("shoulder", "elbow"))
    run = simulate(System(robot, (found.element, *drives)), 5.0, q=found.q[0], output_step=0.02, rtol=1e-9, atol=1e-10)
    assert np.abs(run.q - found.q).max() < 1e-4


@pytest.mark.slow
def test_panda_in_three_bases() -> None:
    """1.8 times smaller than the median of 300 random series, in 60 s on one core, in any base."""
    from kinemorph.bench.peers.robots import bench_twin

    robot = bench_twin("panda").robot
    given = {
        "velocity": [2.175] * 4 + [2.61] * 3,
        "acceleration": [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0],
        "effort": [87.0] * 4 + [12.0] * 3,
    }  # Franka Emika, Panda: limits in joint space
    dynamics = derive(robot)
    found = excite(dynamics, **given, draws=300)
    assert len(found.names) == 43 + 21 and found.seconds < 60.0 and found.gain > 1.8
    assert all(use.share <= 1.0 for use in found.limits)
    problem = problem_of(robot, basis=SeriesBasis(5, 20.0, False), samples=200, **given)
    rng = np.random.default_rng(1)
    resting = resting_posture(problem, rng)
    draws = [problem.motion(random_series(problem, resting, rng))[1:] for _ in range(300)]
    motions = [(found.q[:-1:10], found.v[:-1:10], found.a[:-1:10]), *draws]
    whole = [dynamics.regressor(*motion) / found.noise[:, None] for motion in motions]
    friction = [k for k, name in enumerate(dynamics.regressor_columns) if name.rpartition(".")[2] in PARTS]
    ratios, conditions, orders = [], [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(70)
        independent = _first_independent(np.concatenate([Y[:, :, :70].reshape(-1, 70) for Y in whole[:20]]), order)
        assert len(independent) == 43
        H = [_information(Y[:, :, [*independent, *friction]]) for Y in whole]
        log_dets = [np.linalg.slogdet(one)[1] for one in H]
        ratios.append(np.exp((log_dets[0] - np.median(log_dets[1:])) / (2.0 * 64.0)))
        conditions.append(np.linalg.cond(H[0]) ** 0.5)
        orders.append(tuple(sorted(independent)))
    assert len(set(orders)) == 3 and min(ratios) > 1.8 and np.ptp(ratios) < 1e-10 * min(ratios)
    assert max(conditions) > 1.5 * min(conditions)


def _information(Y: Array) -> Array:
    A = Y.reshape(-1, Y.shape[-1])
    return A.T @ A


def _first_independent(Y: Array, order: Array) -> list[int]:
    """The first columns of Y in this order that are independent of each other."""
    kept: list[int] = []
    basis = np.zeros((len(Y), 0))
    for k in order:
        size = np.linalg.norm(Y[:, k])
        left = Y[:, k] - basis @ (basis.T @ Y[:, k])
        left -= basis @ (basis.T @ left)
        if size > 1e-9 and np.linalg.norm(left) > 1e-7 * size:
            kept.append(int(k))
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
    return kept
