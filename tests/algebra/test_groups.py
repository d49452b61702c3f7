"""SO(3) and SE(3): group axioms, exponentials and logarithms, adjoints, duality. Ids 000-xx and 002-xx: the papers."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from kinemorph.algebra import groups as g
from kinemorph.algebra import vectors as la
from kinemorph.algebra.dual import derivative
from kinemorph.algebra.rotations import left_jacobian_so3, left_jacobian_so3_inverse, rotation_to_rpy
from kinemorph.codegen.graphs.graph import Expr, Graph
from support.references.twist_matrices import coAd, hat_se3, log_se3, vee, vee_se3
from support.tools.each_case import each_case

rng = np.random.default_rng(11)
ANGLES = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, 0.1, 0.999, 1.001, 2.0, 3.0, math.pi - 1e-4, math.pi - 1e-9)


def some_vector(n=3):
    return tuple(float(x) for x in rng.normal(size=n))


def some_axis():
    return la.normalize(some_vector())


def some_pose():
    return g.exp_se3(some_vector(6))


def close(a, b, tolerance=1e-13):
    np.testing.assert_allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=tolerance, atol=tolerance)


def matrix(T):
    return np.array(g.matrix_of(T), dtype=float)


@pytest.fixture(params=range(4), autouse=True)
def trial(request):
    """Every law is tried on four random draws."""
    return request.param


# ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_poses_form_a_group():  # 000-01: (R, p) multiplies as its 4x4 matrix does
    A, B, C = some_pose(), some_pose(), some_pose()
    close(matrix(g.compose(A, B)), matrix(A) @ matrix(B))
    close(matrix(g.compose(g.compose(A, B), C)), matrix(g.compose(A, g.compose(B, C))))
    close(matrix(g.compose(A, B, C)), matrix(g.compose(A, g.compose(B, C))))
    close(matrix(g.compose(A, g.inverse(A))), np.eye(4))
    close(matrix(g.compose(g.inverse(A), A)), np.eye(4))
    close(matrix(g.compose(A, g.IDENTITY)), matrix(A))
    close(matrix(g.relative(A, B)), np.linalg.inv(matrix(A)) @ matrix(B))
    assert g.pose_of(g.matrix_of(A)) == A


def test_a_pose_maps_points_of_b_to_a():
    T, x = some_pose(), some_vector()
    close(g.act(T, x), (matrix(T) @ [*x, 1.0])[:3])
    close(g.act(g.translation(x), (0.0, 0.0, 0.0)), x)
    close(g.act(g.turn(T.R), x), np.array(T.R) @ x)


def test_rotation_is_rodrigues_formula_and_orthonormal():  # 000-03, eq 8 as corrected by E000-1
    axis, q = some_axis(), float(rng.uniform(-7, 7))
    W = np.array(la.hat(axis))
    close(g.rotation(axis, q), np.eye(3) + W * math.sin(q) + W @ W * (1 - math.cos(q)))
    assert np.abs(np.array(g.rotation(axis, q)) - (np.eye(3) + W + math.sin(q) + W @ W * (1 - math.cos(q)))).max() > 0.1
    assert g.is_rotation(g.rotation(axis, q)) and g.is_rotation(g.exp_so3(some_vector()))
    assert not g.is_rotation(la.mat_scale(1.001, la.identity(3))) and not g.is_rotation(la.diagonal((1.0, 1.0, -1.0)))


def test_roll_pitch_yaw_turn_about_fixed_axes_and_come_back():
    r, p, y = (float(x) for x in rng.uniform(-1.5, 1.5, size=3))
    parts = [np.array(g.exp_so3(tuple(angle * e for e in la.identity(3)[k]))) for k, angle in enumerate((r, p, y))]
    close(g.rpy_to_rotation(r, p, y), parts[2] @ parts[1] @ parts[0])
    close(rotation_to_rpy(g.rpy_to_rotation(r, p, y)), (r, p, y), 1e-12)
    locked = g.rpy_to_rotation(r, math.pi / 2, y)
    close(g.rpy_to_rotation(*rotation_to_rpy(locked)), locked, 1e-12)


# ── exponential and logarithm ─────────────────────────────────────────────────────────────────────────────────────────


@each_case("angle", ANGLES)
def test_exp_is_the_matrix_exponential_and_log_undoes_it(angle):  # 000-03, eqs 6-9
    w = la.scale(angle, some_axis())
    V = (*some_vector(), *w)
    close(g.exp_so3(w), expm(np.array(la.hat(w))), 1e-13)
    close(matrix(g.exp_se3(V)), expm(np.array(hat_se3(V))), 1e-12)
    # near half a turn w and -w are almost the same rotation, so the round trip is compared there as a rotation too
    np.testing.assert_allclose(g.log_so3(g.exp_so3(w)), w, rtol=1e-12, atol=1e-13 * (angle > 1e-3))
    close(log_se3(g.exp_se3(V)), V, 1e-11)
    close(matrix(g.exp_se3(log_se3(g.exp_se3(V)))), matrix(g.exp_se3(V)), 1e-12)


@each_case("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, -0.8, 0.0), None])
def test_log_at_exactly_half_a_turn(axis):
    axis = axis or some_axis()
    R = la.mat_sub(la.mat_scale(2.0, la.outer(axis, axis)), la.identity(3))
    w = g.log_so3(R)
    assert la.norm(w) == pytest.approx(math.pi, abs=1e-12)
    close(g.exp_so3(w), R, 1e-12)


@each_case("angle", ANGLES)
def test_derivatives_of_exp_and_log_are_smooth_also_at_zero(angle):
    w, dw, h = la.scale(angle, some_axis()), some_vector(), 1e-6
    for function in (g.exp_so3, g.quat_exp, lambda x: g.exp_se3((*dw, *x)).p):
        difference = (np.array(function(la.add(w, la.scale(h, dw)))) - function(la.sub(w, la.scale(h, dw)))) / (2 * h)
        close(derivative(function, w, dw), difference, 1e-8)
    # d/dt log(exp(w(t))) = dw: exact, no difference quotient
    if angle < 3.1:
        close(derivative(lambda x: g.log_so3(g.exp_so3(x)), w, dw), dw, 1e-11)
        close(derivative(lambda x: g.quat_log(g.quat_exp(x)), w, dw), dw, 1e-11)
        second = derivative(lambda y: derivative(lambda x: g.log_so3(g.exp_so3(x)), y, dw), w, dw)
        close(second, (0.0, 0.0, 0.0), 1e-9)


@each_case("angle", [0.0, 1e-9, 0.3, 0.999, 1.001, 2.5])
def test_the_left_jacobian_is_the_rate_of_the_exponential(angle):
    w, dw = la.scale(angle, some_axis()), some_vector()
    rate = la.matmul(derivative(g.exp_so3, w, dw), la.transpose(g.exp_so3(w)))
    close(vee(rate), la.matvec(left_jacobian_so3(w), dw), 1e-12)
    close(la.matmul(left_jacobian_so3(w), left_jacobian_so3_inverse(w)), la.identity(3), 1e-12)
    close(left_jacobian_so3(la.neg(w)), la.transpose(left_jacobian_so3(w)))


# ── screws ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_screw_turns_about_its_axis():  # 000-04, eqs 10-12 (E000-2: the point is p, v = p x w)
    axis, point, pitch, q = some_axis(), some_vector(), 0.3, float(rng.uniform(-3, 3))
    V = g.screw(axis, point, pitch)
    T = g.exp_screw(V, q)
    close(matrix(T), expm(q * np.array(hat_se3(V))), 1e-12)
    close(g.act(T, point), la.add(point, la.scale(pitch * q, axis)), 1e-12)  # Chasles: points of the axis only slide
    close(g.screw(axis), (0.0, 0.0, 0.0, *axis))
    slide = g.exp_screw((*axis, 0.0, 0.0, 0.0), q)
    close(matrix(slide), expm(q * np.array(hat_se3((*axis, 0.0, 0.0, 0.0)))))
    assert la.identity(3) == slide.R


def test_hat_and_vee_of_twists():  # 000-01, eq 2
    V = some_vector(6)
    close(vee_se3(hat_se3(V)), V)
    T = some_pose()
    close(hat_se3(g.move_twist(T, V)), matrix(T) @ np.array(hat_se3(V)) @ np.linalg.inv(matrix(T)), 1e-12)


def test_the_bracket_is_the_commutator_skew_and_jacobi():  # 000-02
    X, Y, Z = some_vector(6), some_vector(6), some_vector(6)
    x, y = np.array(hat_se3(X)), np.array(hat_se3(Y))
    close(hat_se3(g.bracket(X, Y)), x @ y - y @ x)
    close(g.bracket(X, Y), la.neg(g.bracket(Y, X)))
    cycle = [g.bracket(a, g.bracket(b, c)) for a, b, c in ((X, Y, Z), (Y, Z, X), (Z, X, Y))]
    close(np.sum(cycle, axis=0), np.zeros(6), 1e-12)
    close(g.ad(X), np.column_stack([g.bracket(X, e) for e in la.identity(6)]))


# ── adjoints and duality ──────────────────────────────────────────────────────────────────────────────────────────────


def test_Ad_is_a_homomorphism_in_the_order_linear_angular():  # 000-05, 002-02
    A, B, V = some_pose(), some_pose(), some_vector(6)
    close(g.Ad(g.compose(A, B)), np.array(g.Ad(A)) @ np.array(g.Ad(B)), 1e-12)
    close(g.Ad(g.inverse(A)), np.linalg.inv(np.array(g.Ad(A))), 1e-12)
    close(g.move_twist(A, V), la.matvec(g.Ad(A), V))
    close(g.move_twist_back(A, g.move_twist(A, V)), V)
    # 002-02 writes (w, v): the same matrix with both halves swapped
    swap = np.roll(np.eye(6), 3, axis=0)
    R, p = np.array(A.R), np.array(la.hat(A.p))
    close(swap @ np.array(g.Ad(A)) @ swap, np.block([[R, np.zeros((3, 3))], [p @ R, R]]))


def test_ad_is_the_rate_of_Ad():  # 000-05, 002-02 eq 3 with the frames of E002-2
    V, T = some_vector(6), some_pose()

    def along_body(t):
        return g.Ad(g.compose(T, g.exp_se3(la.scale(t, V))))

    def along_space(t):
        return g.Ad(g.compose(g.exp_se3(la.scale(t, V)), T))

    close(derivative(along_body, 0.0), la.matmul(g.Ad(T), g.ad(V)), 1e-12)
    close(derivative(along_space, 0.0), la.matmul(g.ad(V), g.Ad(T)), 1e-12)
    close(g.Ad(g.exp_se3(V)), expm(np.array(g.ad(V))), 1e-11)


def test_power_is_the_same_in_every_frame():  # 002-03; 000-06 eq 17 (E000-5); 002-02 eq 2 as corrected by E002-1
    T_ab, V_b, F_b = some_pose(), some_vector(6), some_vector(6)
    V_a, F_a = g.move_twist(T_ab, V_b), g.move_wrench(T_ab, F_b)
    assert la.dot(F_a, V_a) == pytest.approx(la.dot(F_b, V_b), abs=1e-12)
    close(F_a, la.matvec_transposed(g.Ad(g.inverse(T_ab)), F_b), 1e-12)  # F_a = Ad(T_ba)^T F_b
    close(F_a, la.matvec(coAd(T_ab), F_b), 1e-12)
    printed = la.matvec_transposed(g.Ad(T_ab), F_b)  # E002-1: what eq 2 prints does not keep the power
    assert abs(la.dot(printed, V_a) - la.dot(F_b, V_b)) > 1e-3


def test_the_coadjoint_is_the_rate_of_moved_wrenches():
    V, F, W = some_vector(6), some_vector(6), some_vector(6)
    close(derivative(lambda t: g.move_wrench(g.exp_se3(la.scale(t, V)), F), 0.0), g.cobracket(V, F), 1e-12)
    close(la.matvec(g.coad(V), F), g.cobracket(V, F))
    assert la.dot(g.cobracket(V, F), W) == pytest.approx(-la.dot(F, g.bracket(V, W)), abs=1e-12)


def test_indices_of_the_notation_table():  # 002-01: twist of j relative to i, expressed in k; twists add along a chain
    V_ab, V_bc = some_vector(6), some_vector(6)
    T_ab, T_bc = some_pose(), some_pose()

    def chain(t):
        return g.matrix_of(
            g.compose(T_ab, g.exp_se3(la.scale(t, V_ab)), T_bc, g.exp_se3(la.scale(t, V_bc)))
        )  # both twists are body twists

    body = vee_se3(la.matmul(g.matrix_of(g.inverse(g.compose(T_ab, T_bc))), derivative(chain, 0.0)))
    close(body, la.add(g.move_twist_back(T_bc, V_ab), V_bc), 1e-12)


# ── every scalar ──────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case("angle", [1e-9, 0.7, 2.9])
def test_floats_batches_and_graph_nodes_agree(angle, through_graph):
    x = (*some_vector(), *la.scale(angle, some_axis()))

    def everything(v):
        T = g.exp_se3(v)
        moved = g.move_wrench(T, g.cobracket(v, g.move_twist(g.inverse(T), v)))
        return (*T, log_se3(T), g.rotation_to_quat(T.R), g.quat_log(g.quat_exp(v[3:])), moved)

    plain = everything(x)
    traced = through_graph(everything, x)
    batch = everything(tuple(np.full(5, part) for part in x))
    for a, b, c in zip(plain, traced, batch, strict=True):
        close(a, b, 1e-14)
        close(np.broadcast_to(np.array(a)[..., None], (*np.shape(a), 5)), np.array(c), 1e-14)


def test_a_joint_on_a_coordinate_axis_leaves_structural_zeros():
    graph = Graph()
    q = graph.input("q")
    R = g.rotation((0.0, 0.0, 1.0), q)
    assert len(graph) == 4  # zero, q, sin q, cos q: nothing else
    assert [[isinstance(x, Expr) for x in row] for row in R] == [[True, True, False], [True, True, False], [False] * 3]
    assert (R[0][2], R[1][2], R[2]) == (0.0, 0.0, (0.0, 0.0, 1.0))
    T = g.exp_screw(g.screw((0.0, 0.0, 1.0)), q)
    assert T.p == (0.0, 0.0, 0.0) and all(type(x) is float for x in T.p)
    V = g.move_twist_back(T, (0.0, 0.0, 0.0, 0.0, 0.0, q))
    assert V[:5] == (0.0,) * 5 and len(graph) == 4
