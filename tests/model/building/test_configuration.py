"""The configuration manifold: exact exponentials, inverse of each other, the same for one state and for a batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import matrix_of
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ShapeError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import difference, integrate, joint_motion, neutral, random_configuration
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from support.references.twist_matrices import hat_se3
from support.tools.each_case import each_case

SEEDS = range(5)


@pytest.fixture(scope="module")
def zoo() -> Robot:
    """One body on every kind of joint, all on the world."""
    builder = RobotBuilder("zoo")
    for kind in JOINT_KINDS:
        builder.add(Body.box(f"{kind}_body", 1.0, (0.3, 0.2, 0.1), (0.1, 0.2, 0.3)))
        builder.joint(kind, kind, "world", f"{kind}_body", pitch=0.2 if kind == "helical" else 0.0)
    return builder.build()


def test_neutral_is_zero_with_unit_quaternions(zoo: Robot) -> None:
    q = neutral(zoo)
    assert q.shape == (zoo.nq,) and q.sum() == 4.0
    assert q[zoo.q_slice("free")][3] == 1.0 and q[zoo.q_slice("spherical")][0] == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_difference_undoes_integrate(zoo: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, v = random_configuration(zoo, rng), rng.normal(size=zoo.nv)
    assert np.allclose(difference(zoo, q, integrate(zoo, q, v)), v, atol=1e-12)
    goal = random_configuration(zoo, rng)
    reached = integrate(zoo, q, difference(zoo, q, goal))
    assert np.allclose(difference(zoo, goal, reached), 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_halves_make_a_whole(zoo: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, v = random_configuration(zoo, rng), 2.0 * rng.normal(size=zoo.nv)
    halves = integrate(zoo, integrate(zoo, q, 0.5 * v), 0.5 * v)
    assert np.allclose(halves, integrate(zoo, q, v), atol=1e-12)


@pytest.mark.parametrize("kind", ["free", "planar", "spherical"])
def test_integrate_is_the_matrix_exponential(zoo: Robot, kind: str) -> None:
    rng, joint = np.random.default_rng(1), zoo.joint(kind)
    q, v = random_configuration(zoo, rng), rng.normal(size=zoo.nv)
    reached = integrate(zoo, q, v)
    V = v[zoo.v_slice(kind)]
    twist = {"free": V, "planar": [V[0], V[1], 0, 0, 0, V[-1]], "spherical": [0, 0, 0, *V]}[kind]
    expected = np.array(matrix_of(joint_motion(joint, q[zoo.q_slice(kind)]))) @ expm(
        np.array(hat_se3(twist), dtype=float)
    )
    assert np.allclose(matrix_of(joint_motion(joint, reached[zoo.q_slice(kind)])), expected, atol=1e-12)


def test_a_zero_step_stays_exactly_and_has_no_difference(zoo: Robot) -> None:
    q = random_configuration(zoo, np.random.default_rng(2))
    assert np.allclose(integrate(zoo, q, np.zeros(zoo.nv)), q, atol=1e-15)
    assert np.allclose(difference(zoo, q, q), 0.0, atol=1e-15)


def test_both_signs_of_a_quaternion_are_the_same_place(zoo: Robot) -> None:
    q = random_configuration(zoo, np.random.default_rng(4))
    other = q.copy()
    other[zoo.q_slice("spherical")] *= -1.0
    assert np.allclose(difference(zoo, q, other), 0.0, atol=1e-12)


def test_a_batch_gives_what_each_state_gives(zoo: Robot) -> None:
    rng = np.random.default_rng(5)
    q = np.array([[random_configuration(zoo, rng) for _ in range(3)] for _ in range(2)])
    v = rng.normal(size=(2, 3, zoo.nv))
    batch = integrate(zoo, q, v)
    assert batch.shape == q.shape
    assert np.allclose(batch[1, 2], integrate(zoo, q[1, 2], v[1, 2]), atol=1e-15)
    assert integrate(zoo, q[0], v[0, 0]).shape == (3, zoo.nq)  # one velocity for several states


def test_sequences_give_tuples(zoo: Robot) -> None:
    q, v = neutral(zoo).tolist(), [0.1] * zoo.nv
    assert isinstance(integrate(zoo, q, v), tuple)
    assert np.allclose(integrate(zoo, q, v), integrate(zoo, np.array(q), np.array(v)))


def test_wrong_lengths_are_refused(zoo: Robot) -> None:
    with pytest.raises(ShapeError, match=r"v has 3 entries, expected"):
        integrate(zoo, neutral(zoo), np.zeros(3))


def test_random_configurations_respect_limits_and_couplings() -> None:
    builder = RobotBuilder("finger")
    parent = "world"
    for i, limits in enumerate([(0.5, 0.6), (None, -4.0), (None, None)]):
        builder.add(Body.rod(f"b{i}", 1.0, 1.0, (0.0, 0.0, 0.5)))
        builder.joint(f"j{i}", "revolute", parent, f"b{i}", axis=(1.0, 0.0, 0.0), lower=limits[0], upper=limits[1])
        parent = f"b{i}"
    robot = builder.couple("j2", "j0", -2.0, 0.1).build()
    for seed in SEEDS:
        q = random_configuration(robot, np.random.default_rng(seed))
        assert np.all(q >= robot.q_lower) and np.all(q <= robot.q_upper)
        assert q[2] == pytest.approx(-2.0 * q[0] + 0.1)


HUGE = 1.7e308


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (-HUGE, HUGE, (-np.pi, np.pi)),
        (-1e9, 1e9, (-np.pi, np.pi)),
        (0.5, HUGE, (0.5, 0.5 + np.pi)),
        (-HUGE, -4.0, (-4.0 - np.pi, -4.0)),
        (2e6, 2e6 + 1.0, (2e6, 2e6 + 1.0)),
    ],
)
def test_limits_too_wide_to_mean_anything_count_as_none(
    lower: float, upper: float, expected: tuple[float, float]
) -> None:
    builder = RobotBuilder("wheel").body("wheel", 1.0, inertia=(0.1, 0.1, 0.1))
    robot = builder.joint("j", "revolute", "world", "wheel", lower=lower, upper=upper).build()
    rng = np.random.default_rng(0)
    drawn = [random_configuration(robot, rng)[0] for _ in range(50)]
    assert expected[0] <= min(drawn) and max(drawn) <= expected[1]
    assert max(drawn) - min(drawn) > 0.5 * (expected[1] - expected[0])


def test_integrate_can_be_traced(zoo: Robot) -> None:
    graph = Graph()
    q = [graph.input(f"q{i}") for i in range(zoo.nq)]
    v = [graph.input(f"v{i}") for i in range(zoo.nv)]
    assert len(integrate(zoo, q, v)) == zoo.nq and len(difference(zoo, q, q)) == zoo.nv
    assert all(isinstance(x, Expr) for x in integrate(zoo, q, v))


# ── whole turns of a planar joint ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def puck() -> Robot:
    return RobotBuilder("puck").body("puck", 1.0, inertia=(0.1, 0.1, 0.1)).root("puck", "planar").build()


@each_case("turns", [-1000, -2, -1, 0, 1, 2, 1000])
@each_case("rest", [0.0, 1e-9, 0.5, -0.5, 3.0, -3.0, 3.14159, -3.14159])
def test_planar_difference_takes_the_nearest_turn(puck: Robot, turns: int, rest: float) -> None:
    q0, q1 = np.array([0.3, -0.2, 0.4]), np.array([1.3, 0.7, 0.4 + rest + 2 * np.pi * turns])
    v = difference(puck, q0, q1)
    assert v[2] == pytest.approx(rest, abs=1e-11) and np.abs(v).max() < 4.0
    reached = integrate(puck, q0, v)
    assert np.allclose(reached[:2], q1[:2], atol=1e-11)
    assert np.allclose(np.exp(1j * reached[2]), np.exp(1j * q1[2]), atol=1e-11)


def test_a_whole_turn_is_a_straight_way(puck: Robot) -> None:
    assert np.allclose(difference(puck, np.zeros(3), np.array([1.0, 0.0, 2 * np.pi])), [1.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("angle", [np.pi, -np.pi, np.nextafter(np.pi, 0.0), np.nextafter(-np.pi, 0.0)])
def test_up_to_half_a_turn_the_angle_is_kept_bitwise(puck: Robot, angle: float) -> None:
    assert difference(puck, np.zeros(3), np.array([1.0, 2.0, angle]))[2] == angle


@pytest.mark.parametrize("angle", [np.nextafter(np.pi, 4.0), np.nextafter(-np.pi, -4.0), 3 * np.pi, -3 * np.pi])
def test_beyond_half_a_turn_it_goes_the_other_way(puck: Robot, angle: float) -> None:
    v = difference(puck, np.zeros(3), np.array([1.0, 2.0, angle]))
    assert abs(v[2]) == pytest.approx(np.pi, abs=1e-14)
    assert np.allclose(integrate(puck, np.zeros(3), v)[:2], [1.0, 2.0], atol=1e-14)


def test_nearest_turns_over_batches_sequences_duals_and_traces(puck: Robot) -> None:
    q1 = np.array([[1.0, 0.5, angle] for angle in (-9.0, -3.5, -3.0, 0.0, 3.0, 3.5, 2 * np.pi, 9.0)])
    q0 = np.array([0.1, 0.2, 0.3])
    batch = difference(puck, q0, q1)
    compiled = build(trace(lambda q: difference(puck, q0.tolist(), q), {"q": (3,)}), "interpreter")
    along = Direction()
    for row, expected in zip(q1, batch, strict=True):
        assert np.allclose(difference(puck, q0.tolist(), row.tolist()), expected, atol=1e-15)
        assert np.allclose(compiled(row), expected, atol=1e-14)
        turned = along.all_moved(row.tolist(), (0.0, 0.0, 1.0))
        slope = along.tangents(difference(puck, q0.tolist(), turned))
        step = np.array([0.0, 0.0, 1e-6])
        finite = (difference(puck, q0, row + step) - difference(puck, q0, row - step)) / 2e-6
        assert np.allclose(slope, finite, atol=1e-8)
