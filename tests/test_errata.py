"""The errata of docs/errata.md that are algebra, checked again: the corrected form holds, the printed one fails.

Only NumPy and the few helpers below are used, none of Kinemorph's own algebra, so the two can be wrong independently.
References are definitions (power series, finite differences, point masses), never another closed formula. Twists and
wrenches are ordered [linear; angular] unless a test says otherwise.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.cases.paper_organism import DTL, DYADS, IDTL, PRINTED_AIM

Array = NDArray[np.float64]
STEP = 1e-5  # of central differences: truncation and rounding both near 1e-10


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def hat(w: Array) -> Array:
    """The matrix of the cross product, a~ b = a x b."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exponential(a: Array) -> Array:
    """The matrix exponential by its power series, after halving the argument ten times."""
    a = a / 1024.0
    result = term = np.eye(len(a))
    for k in range(1, 14):
        term = term @ a / k
        result = result + term
    for _ in range(10):
        result = result @ result
    return result


def screw(s: Array) -> Array:
    """The 4x4 matrix of a twist [linear; angular]."""
    m = np.zeros((4, 4), s.dtype)
    m[:3, :3], m[:3, 3] = hat(s[3:]), s[:3]
    return m


def twist(m: Array) -> Array:
    """The inverse of `screw`."""
    return np.array([*m[:3, 3], m[2, 1], m[0, 2], m[1, 0]])


def Ad(T: Array) -> Array:
    """Carries twists from frame b to frame a, T = T_ab."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, hat(p) @ R], [np.zeros((3, 3)), R]])


def ad(s: Array) -> Array:
    """The bracket with a twist, as a 6x6 matrix."""
    return np.block([[hat(s[3:]), hat(s[:3])], [np.zeros((3, 3)), hat(s[3:])]])


def difference(f, x: float = 0.0) -> Array:  # type: ignore[no-untyped-def]
    """The derivative of `f` by a central difference."""
    return (f(x + STEP) - f(x - STEP)) / (2.0 * STEP)


def slope(f, h: float = 1e-3) -> Array:  # type: ignore[no-untyped-def]
    """The derivative of `f` at 0 by differences of fourth order: for motions whose third derivatives are large."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def random_pose(rng: np.random.Generator) -> Array:
    return exponential(screw(rng.normal(size=6)))


def test_E000_1_rodrigues(rng: np.random.Generator) -> None:
    w = rng.normal(size=3)
    w /= np.linalg.norm(w)
    for q in (0.1, 0.9, 2.5, -4.0):
        reference = exponential(hat(w) * q)
        corrected = np.eye(3) + hat(w) * np.sin(q) + hat(w) @ hat(w) * (1.0 - np.cos(q))
        assert np.abs(corrected - reference).max() < 1e-13
        for sine in (np.sin(q), np.sin(q) * np.eye(3)):  # a lone sine, added to every entry or to the diagonal
            printed = np.eye(3) + hat(w) + sine + hat(w) @ hat(w) * (1.0 - np.cos(q))
            assert np.abs(printed - reference).max() > 0.05


def test_E000_4_the_inertia_follows_the_order_of_the_twist(rng: np.random.Generator) -> None:
    points, masses = rng.normal(size=(12, 3)), rng.uniform(0.5, 2.0, size=12)
    points -= masses @ points / masses.sum()  # the frame lies at the center of mass
    m = masses.sum()
    inertia = sum(-mk * hat(r) @ hat(r) for mk, r in zip(masses, points, strict=True))
    V = rng.normal(size=6)
    energy = sum(0.5 * mk * np.sum((V[:3] + np.cross(V[3:], r)) ** 2) for mk, r in zip(masses, points, strict=True))
    zero = np.zeros((3, 3))
    corrected = np.block([[m * np.eye(3), zero], [zero, inertia]])
    printed = np.block([[inertia, zero], [zero, m * np.eye(3)]])
    assert 0.5 * V @ corrected @ V == pytest.approx(energy, rel=1e-13)
    assert abs(0.5 * V @ printed @ V - energy) > 0.1
    # Eq. 23: a base that accelerates upward asks for the force that carries the weight, and nothing else.
    up = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    assert corrected @ up == pytest.approx(m * up)
    assert np.abs(printed @ up - m * up).max() > 0.1


def test_E000_5_wrenches_go_against_twists(rng: np.random.Generator) -> None:
    g_ba, V_a, F_b = random_pose(rng), rng.normal(size=6), rng.normal(size=6)
    V_b = Ad(g_ba) @ V_a
    power = F_b @ V_b
    assert (Ad(g_ba).T @ F_b) @ V_a == pytest.approx(power, rel=1e-12)  # eq. 17 read with g_ba = pose of a seen from b
    assert abs((Ad(np.linalg.inv(g_ba)).T @ F_b) @ V_a - power) > 0.1  # the other reading


def test_E000_7_three_equal_forms_of_the_acceleration(rng: np.random.Generator) -> None:
    H0, S = random_pose(rng), rng.normal(size=6)
    V0, A0 = rng.normal(size=6), rng.normal(size=6)
    q, qd, qdd = rng.normal(size=3)

    def inverse_transform(t: float) -> Array:
        return Ad(np.linalg.inv(H0 @ exponential(screw(S * (q + qd * t + 0.5 * qdd * t * t)))))

    def velocity(t: float) -> Array:
        return inverse_transform(t) @ (V0 + A0 * t) + S * (qd + qdd * t)

    reference = difference(velocity)
    X, V = inverse_transform(0.0), velocity(0.0)
    common = X @ A0 + S * qdd
    forms = (common - ad(S * qd) @ (X @ V0), common - ad(S * qd) @ V, common + ad(V) @ (S * qd))
    for form in forms:
        assert np.abs(form - forms[0]).max() < 1e-13 * np.abs(forms[0]).max()
        assert np.abs(form - reference).max() < 1e-6
    # Eq. 26 prints a bare matrix ad_{Ad(V_i)}; no operand at hand makes it right.
    for operand in (S * qd, X @ V0, V):
        assert np.abs(common - ad(X @ V) @ operand - reference).max() > 0.1


class Organism:
    """Five links in two branches, of point masses; each joint has some constant axes. What the papers' equations want.

    Motions start at the poses H0 in the parents: H_i(t) = H0_i exp(S_i (qd_i t + qdd_i t^2 / 2)), which for any number
    of axes has the velocity qd and the acceleration qdd at t = 0.
    """

    parents = (-1, 0, 1, 0, 3)
    gravity = np.array([0.0, 0.0, -9.81])

    def __init__(self, rng: np.random.Generator, axes: tuple[int, ...] = (1, 1, 1, 1, 1)) -> None:
        n = self.n = len(self.parents)
        self.H0 = [random_pose(rng) for _ in range(n)]
        self.axes = [rng.normal(size=(6, k)) for k in axes]
        self.of = np.split(np.arange(sum(axes)), np.cumsum(axes)[:-1])  # places of each joint in qd
        self.qd, self.qdd = rng.normal(size=(2, sum(axes)))
        points, self.masses = rng.normal(size=(n, 8, 3)), rng.uniform(0.2, 1.0, size=(n, 8))
        center = np.einsum("np,npk->nk", self.masses, points) / self.masses.sum(axis=1)[:, None]
        self.points = points - center[:, None]  # as the paper has it: the origin is the center of mass
        self.pushes = 3.0 * rng.normal(size=(n, 8, 3))  # outside forces on the points, in the link's axes
        # the paper's stacked matrices
        self.S = np.zeros((6 * n, sum(axes)))
        for i, places in enumerate(self.of):
            self.S[6 * i : 6 * i + 6, places] = self.axes[i]
        self.T, self.T_H0 = (
            self.transmission(self.poses(0.0)),
            np.vstack([Ad(np.linalg.inv(H)) for H in self.poses(0.0)]),
        )
        self.M = self.diagonal(
            [
                np.block(
                    [
                        [m.sum() * np.eye(3), np.zeros((3, 3))],
                        [np.zeros((3, 3)), sum(-mk * hat(r) @ hat(r) for mk, r in zip(m, rs, strict=True))],
                    ]
                )
                for m, rs in zip(self.masses, self.points, strict=True)
            ]
        )
        self.V = self.T @ self.S @ self.qd
        self.ad_Sqd = self.diagonal([-ad(twist) for twist in (self.S @ self.qd).reshape(-1, 6)])
        self.ad_V = self.diagonal([-ad(twist).T for twist in self.V.reshape(-1, 6)])
        self.Vd0 = np.array([*-self.gravity, 0.0, 0.0, 0.0])
        self.Vd = self.T_H0 @ self.Vd0 + self.T @ (self.S @ self.qdd + self.ad_Sqd @ self.V)
        moments = np.cross(self.points, self.pushes).sum(axis=1)
        self.Fe = np.hstack([self.pushes.sum(axis=1), moments]).ravel()

    def diagonal(self, blocks: list[Array]) -> Array:
        return np.kron(np.eye(self.n), np.ones((6, 6))) * np.vstack([np.hstack([b] * self.n) for b in blocks])

    def poses(self, t: complex, rates: Array | None = None) -> list[Array]:
        """H_0i along the motion, or along constant rates."""
        found: list[Array] = []
        for i, parent in enumerate(self.parents):
            places = self.of[i]
            x = rates[places] * t if rates is not None else self.qd[places] * t + 0.5 * self.qdd[places] * t * t
            H = self.H0[i] @ exponential(screw(self.axes[i] @ x))
            found.append(H if parent < 0 else found[parent] @ H)
        return found

    def transmission(self, poses: list[Array], full: bool = False) -> Array:
        """T: block (i, j) where j is i or carries it (or, as for a chain, wherever j <= i)."""
        T = np.zeros((6 * self.n, 6 * self.n))
        for i in range(self.n):
            line = [i]
            while self.parents[line[-1]] >= 0:
                line.append(self.parents[line[-1]])
            for j in range(i + 1) if full else line:
                H_ji = np.linalg.inv(poses[j]) @ poses[i]
                T[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = Ad(np.linalg.inv(H_ji))
        return T

    def mass_matrix(self, t: float) -> Array:
        """M(q) along the motion."""
        J = self.transmission(self.poses(t)) @ self.S
        return J.T @ self.M @ J

    def places(self, t: complex, rates: Array | None = None) -> Array:
        """All points in the world, shape (n, 8, 3)."""
        return np.array([p @ H[:3, :3].T + H[:3, 3] for H, p in zip(self.poses(t, rates), self.points, strict=True)])

    @property
    def tau(self) -> Array:
        """Generalized forces from d'Alembert's principle on the points: no twist, no wrench, no inertia matrix."""
        h = 1e-30  # of complex steps, which are exact
        acceleration = slope(lambda t: self.places(t + 1j * h).imag / h)
        R = np.array([H[:3, :3] for H in self.poses(0.0)])
        pushes = np.einsum("nij,npj->npi", R, self.pushes)
        needed = self.masses[..., None] * (acceleration - self.gravity) - pushes
        units = np.eye(len(self.qd))
        return np.array([np.sum(needed * self.places(1j * h, unit).imag / h) for unit in units])


@pytest.fixture
def organism(rng: np.random.Generator) -> Organism:
    return Organism(rng)


EXACT, WRONG = 1e-9, 0.1  # of the largest entry


def off(found: Array, reference: Array) -> float:
    """max|found - reference| / max|reference|."""
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def test_E000_8_wrenches_of_all_children_are_summed(organism: Organism) -> None:
    o = organism

    def torques(children: dict[int, list[int]], moved: Array) -> Array:
        poses, F = o.poses(0.0), np.zeros((o.n, 6))
        own = (o.M @ o.Vd + moved - o.Fe).reshape(-1, 6)
        for i in range(o.n - 1, -1, -1):
            carried = sum((Ad(np.linalg.inv(poses[c]) @ poses[i]).T @ F[c] for c in children.get(i, [])), np.zeros(6))
            F[i] = own[i] + carried
        return o.S.T @ F.ravel()

    turned = o.ad_V @ o.M @ o.V  # -ad(V_i)^T M_i V_i
    assert off(torques({0: [1, 3], 1: [2], 3: [4]}, turned), o.tau) < EXACT
    assert off(torques({i: [i + 1] for i in range(o.n - 1)}, turned), o.tau) > WRONG  # one successor only
    assert off(torques({0: [1, 3], 1: [2], 3: [4]}, -turned), o.tau) > WRONG


def test_E000_9_sign_of_outside_wrenches_and_the_subscript(organism: Organism) -> None:
    o = organism
    ad_Vd = o.diagonal([-ad(rate).T for rate in o.Vd.reshape(-1, 6)])

    def torques(sign: float, rate: Array) -> Array:
        return o.S.T @ o.T.T @ (sign * o.Fe + o.M @ o.Vd + rate @ o.M @ o.V)

    assert off(torques(-1.0, o.ad_V), o.tau) < EXACT
    assert off(torques(1.0, o.ad_V), o.tau) > WRONG
    assert off(torques(-1.0, ad_Vd), o.tau) > WRONG


def test_E000_10_and_11_the_closed_form(organism: Organism) -> None:
    o = organism
    J = o.T @ o.S
    C = J.T @ (o.M @ o.T @ o.ad_Sqd + o.ad_V @ o.M) @ J
    N = J.T @ (o.M @ o.T_H0 @ o.Vd0 - o.Fe)
    M = J.T @ o.M @ J
    assert off(M @ o.qdd + C @ o.qd + N, o.tau) < EXACT
    without_M = J.T @ (o.M @ o.T @ o.ad_Sqd + o.ad_V) @ J  # eq. 38 as printed
    without_minus = J.T @ (-o.M @ o.T @ o.ad_Sqd - o.ad_V @ o.M) @ J
    for printed in (without_M, without_minus):
        assert off(M @ o.qdd + printed @ o.qd + N, o.tau) > WRONG
    other_sign = J.T @ (o.M @ o.T_H0 @ o.Vd0 + o.Fe)  # eq. 39 as printed, read with Vd_0; with Vd it does not even fit
    assert off(M @ o.qdd + C @ o.qd + other_sign, o.tau) > WRONG
    with pytest.raises(ValueError, match="matmul"):
        o.T_H0 @ o.Vd


def test_E000_12_branches_do_not_carry_each_other(organism: Organism) -> None:
    o = organism
    full = o.transmission(o.poses(0.0), full=True)
    h = 1e-30
    # the velocity of every link's points, from their places
    velocity = o.places(1j * h).imag / h
    for T, right in ((o.T, True), (full, False)):
        twists = (T @ o.S @ o.qd).reshape(-1, 6)
        found = np.array(
            [(V[:3] + np.cross(V[3:], p)) @ H[:3, :3].T for V, p, H in zip(twists, o.points, o.poses(0.0), strict=True)]
        )
        gap = off(found, velocity)
        assert gap < 1e-12 if right else gap > WRONG


@pytest.mark.parametrize("axes", [(1, 1, 1, 1, 1), (6, 1, 3, 1, 2)])
def test_E000_13_which_coriolis_matrix_leaves_a_skew_rest(rng: np.random.Generator, axes: tuple[int, ...]) -> None:
    o = Organism(rng, axes)
    J = o.T @ o.S
    momenta = (o.M @ o.V).reshape(-1, 6)
    zero = np.zeros((3, 3))
    B = o.diagonal([np.block([[zero, -hat(m[:3])], [-hat(m[:3]), -hat(m[3:])]]) for m in momenta])
    Jd = o.T @ o.ad_Sqd @ (o.T - np.eye(6 * o.n)) @ o.S
    printed = J.T @ (o.M @ o.T @ o.ad_Sqd + o.ad_V @ o.M) @ J  # eq. 38 with E000-10
    passive = J.T @ (o.M @ Jd + B @ J)
    Md = slope(o.mass_matrix)
    assert off(printed @ o.qd, passive @ o.qd) < 1e-13
    size = np.abs(Md).max()
    for C, skew in ((passive, True), (printed, False)):
        rest = Md - 2.0 * C
        assert abs(o.qd @ rest @ o.qd) < EXACT * size
        gap = np.abs(rest + rest.T).max() / size
        assert gap < EXACT if skew else gap > WRONG
    # Jd = T ad_Sqd T S will do where every joint has one axis; else axes of one joint would turn each other
    short = J.T @ (o.M @ o.T @ o.ad_Sqd @ J + B @ J)
    gap = off(short + short.T, Md)
    assert gap < EXACT if max(axes) == 1 else gap > WRONG


# ── the example of Figs. 4 and 5 ──────────────────────────────────────────────────────────────────────────────────────

NORMALS = {3: (1, 0, 0), 4: (-1, 0, 0), 5: (0, 1, 0), 2: (0, -1, 0)}  # of the sides that dock; z is up
X, Y = np.eye(3)[:2]


def docked(a: int, b: int) -> Array:
    """E000-15: the pose of a module whose side b is on side a, turned about the vertical only; the pitch is 1."""
    n_a, n_b = np.array(NORMALS[a]), np.array(NORMALS[b])
    c, s = -n_a @ n_b, np.cross(n_b, -n_a)[2]
    T = np.eye(4)
    T[:2, :2], T[:3, 3] = [[c, -s], [s, c]], n_a
    assert (T[:3, :3] @ n_b == -n_a).all()
    return T


def hinge_class(a: int, b: int, axis: Array = Y) -> str:
    """How the hinges of two modules lie to each other, each along `axis` through the middle of its module."""
    T = docked(a, b)
    if abs(axis @ T[:3, :3] @ axis) < 0.5:
        return "DO"
    return "DP" if np.cross(T[:3, 3], axis).any() else "DS"


def test_E000_14_two_columns_of_the_printed_matrix_contradict_their_class() -> None:
    lines = [line.split() for line in PRINTED_AIM.strip().splitlines()[2:]]
    sides = np.array([line[1:-1] for line in lines[:-1]], dtype=int)
    printed = [tuple(column[column > 0]) for column in sides.T]
    classes = lines[-1][1:]
    right = [(a, b) for *_, a, b in DTL]
    # the class that is printed belongs to the sides of Table III in every column, to those of Fig. 5 in six of them
    assert [hinge_class(*pair) for pair in right] == classes
    assert [hinge_class(*pair) for pair in printed] == ["DP", "DP", *classes[2:]]
    assert [k for k in range(8) if printed[k] != right[k]] == [0, 1]
    assert printed[:2] == [(3, 4), (3, 4)]
    # the class alone would leave a choice for e1, sides 2 and 5 of v1; Table III decides
    assert [b for b in NORMALS if hinge_class(3, b) == "DO"] == [5, 2]


def test_E000_15_the_hinge_goes_through_sides_2_and_5() -> None:
    table = {pair: name for name, pairs in DYADS.items() for pair in pairs}
    assert len(table) == 16
    assert {pair: hinge_class(*pair) for pair in table} == table
    # a hinge through 3 and 4 gives serial dyads where the table has parallel ones
    assert sum(hinge_class(*pair, X) != name for pair, name in table.items()) == 8


def test_E000_16_what_the_columns_of_the_indirect_list_mean(rng: np.random.Generator) -> None:
    T = {(i, j): random_pose(rng) for i, j, *_ in DTL}
    for i, j, i_again, x, x_again, j_again in IDTL:
        assert (i, x, j) == (i_again, x_again, j_again)
        assert x != j  # the third and fourth column are not x, j as printed
        T[i, j] = T[i, x] @ T[x, j]  # both are there: direct, or from a line above
    above = {j: i for i, j, *_ in DTL}
    for (i, j), product in T.items():
        path = [j]
        while path[0] != i:
            path.insert(0, above[path[0]])
        assert off(product, np.linalg.multi_dot([np.eye(4), *(T[pair] for pair in pairwise(path))])) < 1e-14
    assert len(T) == 15
    # nine modules, eight joints: the hinge of the base is in no line
    assert {j for _, j, *_ in DTL} == {*range(1, 9)}


def test_E001_5_the_pantograph_decouples() -> None:
    AB, BC, k = 0.10, 0.12, 4.0

    def direction(angle: float) -> Array:  # of the x axis after Troty(angle), in the leg plane (x outward, z up)
        return np.array([np.cos(angle), -np.sin(angle)])

    def foot(q7: float, q8: float, alpha: float, second: str) -> Array:
        AC = np.hypot(q7, q8)
        angles = {
            "delta": np.arccos((AC**2 + BC**2 - AB**2) / (2.0 * AC * BC)),
            "gamma": np.arccos((AB**2 + AC**2 - BC**2) / (2.0 * AB * AC)),
        }
        D = np.array([0.0, q7]) + k * AB * direction(alpha - angles["gamma"])
        return D + k * BC * direction(alpha + angles[second])

    for q7, q8 in ((0.05, 0.07), (0.08, 0.10), (0.11, 0.13), (0.08, -0.06)):
        expected = np.array([k * q8, (1.0 - k) * q7])
        assert np.abs(foot(q7, q8, np.arctan2(q7, q8), "delta") - expected).max() < 1e-14
        assert np.abs(foot(q7, q8, np.arctan2(q7, q8), "gamma") - expected).max() > 1e-3  # the angle at C is another
    q7, q8 = 0.08, -0.06  # eq. 15 as printed loses the quadrant
    assert np.abs(foot(q7, q8, np.arctan(q7 / q8), "delta") - np.array([k * q8, (1.0 - k) * q7])).max() > 0.1


def test_E002_1_change_of_frame_of_a_wrench(rng: np.random.Generator, record_property: Any) -> None:
    # The paper orders twists [angular; linear] and wrenches [moment; force].
    swap = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])
    Ad_kl = swap @ Ad(random_pose(rng)) @ swap  # eq. 1: t^l = Ad t^k
    t_k, w_k = rng.normal(size=6), rng.normal(size=6)
    t_l = Ad_kl @ t_k
    corrected, printed = (
        abs(moved @ t_l / (w_k @ t_k) - 1.0) for moved in (np.linalg.inv(Ad_kl).T @ w_k, Ad_kl.T @ w_k)
    )
    record_property("figure", ("errata", "E002-1, power by (2) corrected", corrected))
    record_property("figure", ("errata", "E002-1, power by (2) as printed", printed))
    assert corrected < 1e-12 and printed > 0.1


def test_E002_8_rate_of_the_inertia(rng: np.random.Generator, record_property: Any) -> None:
    H, s = random_pose(rng), rng.normal(size=6)
    root = rng.normal(size=(6, 6))
    M_body = root @ root.T + np.eye(6)

    def pose(t: float) -> Array:
        return exponential(screw(s) * t) @ H

    def inertia(t: float) -> Array:
        X = Ad(np.linalg.inv(pose(t)))
        return X.T @ M_body @ X

    t_world = twist(difference(pose) @ np.linalg.inv(H))
    assert np.abs(t_world - s).max() < 1e-7
    M, a = inertia(0.0), ad(t_world)
    reference = difference(inertia)
    scale = np.abs(reference).max()
    corrected = np.abs(-a.T @ M - M @ a - reference).max() / scale
    record_property("figure", ("errata", "E002-8, dM/dt by (20) corrected", corrected))
    assert corrected < 1e-7
    # The printed inverse of ad does not exist; its nearest substitute, the pseudoinverse, is wrong as well.
    assert np.linalg.matrix_rank(ad(s)) < 6
    wrong = np.linalg.pinv(a).T @ M + M @ np.linalg.pinv(a)
    printed = np.abs(wrong - reference).max() / scale
    record_property("figure", ("errata", "E002-8, dM/dt by (20) as printed", printed))
    assert printed > 0.1


def test_E002_9_to_11_the_complete_model(organism: Organism, record_property: Any) -> None:
    """Equations 21 and 26 in world axes, with M, its rate and C = -B^-T, against d'Alembert's principle on points."""
    poses, n = organism.poses(0.0), organism.n
    B = np.zeros((n, n))
    for i, parent in enumerate(organism.parents):
        B[i, i] = -1.0
        if parent >= 0:
            B[parent, i] = 1.0
    C = np.kron(-np.linalg.inv(B).T, np.eye(6))
    moved, back = (organism.diagonal([Ad(X) for X in frames]) for frames in (poses, map(np.linalg.inv, poses)))
    M = back.T @ organism.M @ back
    t_K = moved @ organism.S @ organism.qd
    t_B = C @ t_K
    a = organism.diagonal([ad(twist) for twist in t_B.reshape(-1, 6)])
    t_g = np.tile([*organism.gravity, 0.0, 0.0, 0.0], n)
    w_E = back.T @ organism.Fe

    def torques(rate: Array, sign: float = 1.0) -> Array:
        w_B = rate @ t_B + M @ C @ (a @ t_K) + M @ C @ moved @ organism.S @ organism.qdd
        return organism.S.T @ moved.T @ C.T @ (w_B - sign * M @ t_g - w_E)

    reference = organism.tau
    corrected = off(torques(-a.T @ M - M @ a), reference)
    wrong = np.linalg.pinv(a).T @ M + M @ np.linalg.pinv(a)  # eq. 20 in eq. 21, with the nearest that exists
    printed = off(torques(wrong), reference)
    record_property("figure", ("errata", "E002-9, torques by (21) corrected", corrected))
    record_property("figure", ("errata", "E002-9, torques by (21) as printed", printed))
    assert corrected < 1e-7 and printed > 0.1
    assert off(torques(-a.T @ M - M @ a, sign=-1.0), reference) > 0.1  # k of eq. 23 along gravity: E002-10


def test_E003_1_closure_of_the_four_bar_needs_the_ground_link() -> None:
    l0, l1, l2, l3, th1 = 1.0, 0.3, 0.9, 0.7, 0.6
    # Intersect the circles about the crank's end P and the second ground pivot G: a triangle with sides l2, l3, |PG|.
    P, G = l1 * np.array([np.cos(th1), np.sin(th1)]), np.array([l0, 0.0])
    d = np.linalg.norm(G - P)
    along, side = (G - P) / d, np.array([-(G - P)[1], (G - P)[0]]) / d
    foot = (l2**2 - l3**2 + d**2) / (2.0 * d)
    Q = P + foot * along + np.sqrt(l2**2 - foot**2) * side
    th2, th3 = np.arctan2(*(Q - P)[::-1]), np.arctan2(*(Q - G)[::-1])
    assert (th2, th3) == pytest.approx((0.62989836, 1.6066907), abs=1e-7)

    def printed(a: float, b: float, c: float) -> Array:
        return np.array([f(a) * l1 + f(b) * l2 - f(c) * l3 for f in (np.cos, np.sin)])

    corrected = printed(th1, th2, th3) - np.array([l0, 0.0])
    assert np.abs(corrected).max() < 1e-14
    assert printed(th1, th2, th3) == pytest.approx([l0, 0.0], abs=1e-14)  # the residual is the missing length itself


def test_E004_1_derivative_by_a_rotation_matrix(rng: np.random.Generator, record_property: Any) -> None:
    C, x, y = random_pose(rng)[:3, :3], rng.normal(size=3), rng.normal(size=3)
    # T = x^T C y under a small turn d of the body, C -> C exp(d~): its gradient by d.
    gradient = np.array([difference(lambda h, e=e: x @ C @ exponential(hat(e * h)) @ y) for e in np.eye(3)])
    corrected, printed = (float(np.abs(hat(y) @ turn @ x - gradient).max()) for turn in (C.T, C))
    record_property("figure", ("errata", "E004-1, derivative by (4) corrected", corrected))
    record_property("figure", ("errata", "E004-1, derivative by (4) as printed", printed))
    assert corrected < 1e-8 and printed > 0.1


def test_E004_2_identity_of_two_tildes(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 3))
    corrected = hat(a) @ hat(b) + hat(b).T @ hat(a) + hat(hat(b) @ a)
    printed = hat(a) @ b + hat(b).T @ a + hat(b) @ a
    assert np.abs(corrected).max() < 1e-14
    assert printed == pytest.approx(np.cross(a, b), abs=1e-14)  # what is left over instead of zero
    assert np.abs(printed).max() > 0.1


def test_E004_4_elimination_of_the_coriolis_terms(rng: np.random.Generator, record_property: Any) -> None:
    bodies = 4
    rho, L, w = rng.normal(size=(3, bodies, 3))
    C0 = [random_pose(rng)[:3, :3] for _ in range(bodies)]

    def grid(rows: int, columns: int, blocks: dict[tuple[int, int], Array]) -> Array:
        out = np.zeros((3 * rows, 3 * columns))
        for (i, j), block in blocks.items():
            out[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
        return out

    def lever(i: int, j: int) -> Array:  # from frame j toward body i: its own mass point, or the next joint
        return rho[i] if i == j else L[j]

    def Phi(t: float) -> Array:  # eq. 9
        C = [C0[j] @ exponential(hat(w[j]) * t) for j in range(bodies)]
        return grid(bodies, bodies, {(i, j): C[j] @ hat(lever(i, j)).T for i in range(bodies) for j in range(i + 1)})

    # Columns of eq. 11 and 20 run rho_1, L_1, rho_2, L_2, ..., rho_M.
    column = {**{("rho", j): 2 * j for j in range(bodies)}, **{("L", j): 2 * j + 1 for j in range(bodies - 1)}}
    width = 2 * bodies - 1
    C_hat = {(i, column["rho" if i == j else "L", j]): C0[j] for i in range(bodies) for j in range(i + 1)}
    Q = {(j, place): np.eye(3) for (_, j), place in column.items()}
    arms = {place: (w[j], rho[j] if kind == "rho" else L[j]) for (kind, j), place in column.items()}
    corrected = {(k, k): hat(hat(omega) @ arm) for k, (omega, arm) in arms.items()}
    printed = {(k, k): hat(omega) @ hat(arm) for k, (omega, arm) in arms.items()}
    W = grid(bodies, bodies, {(j, j): hat(w[j]) for j in range(bodies)})
    Phi_dot = grid(
        bodies,
        bodies,
        {(i, j): C0[j] @ hat(w[j]) @ hat(lever(i, j)).T for i in range(bodies) for j in range(i + 1)},
    )
    assert np.abs(Phi_dot - difference(Phi)).max() < 1e-8  # E004-5: eq. 22 is the rate of Phi

    def identity_25(psi: dict[tuple[int, int], Array]) -> Array:
        tail = grid(bodies, width, C_hat) @ grid(width, width, psi) @ grid(bodies, width, Q).T
        return Phi_dot + Phi(0.0) @ W.T + tail

    right, wrong = (float(np.abs(identity_25(psi)).max()) for psi in (corrected, printed))
    record_property("figure", ("errata", "E004-4, identity (25) with (20) corrected", right))
    record_property("figure", ("errata", "E004-4, identity (25) with (20) as printed", wrong))
    assert right < 1e-13 and wrong > 0.1


def test_E004_9_integral_of_the_rate_of_phi(rng: np.random.Generator, record_property: Any) -> None:
    points, masses, w = rng.normal(size=(8, 3)), rng.uniform(0.5, 2.0, size=8), rng.normal(size=3)
    # One body, in its own axes: Phi = rho~^T at each point, and Phid = w~ rho~^T.
    exact = sum(m * hat(r) @ hat(w) @ hat(r).T for m, r in zip(masses, points, strict=True))
    S, m = masses @ points / masses.sum(), masses.sum()
    about_joint = sum(m * hat(r).T @ hat(r) for m, r in zip(masses, points, strict=True))
    I_star = about_joint + hat(S) @ hat(S) * m  # eq. 36
    about_center = sum(m * hat(r - S).T @ hat(r - S) for m, r in zip(masses, points, strict=True))
    assert np.abs(I_star - about_center).max() < 1e-13  # E004-10
    printed = m * hat(S) @ hat(w) @ hat(S).T + hat(w) @ I_star  # eq. 35
    record_property("figure", ("errata", "E004-9, (35) as matrices", float(np.abs(printed - exact).max())))
    record_property("figure", ("errata", "E004-9, (35) applied to w", float(np.abs((printed - exact) @ w).max())))
    assert np.abs(printed - exact).max() > 0.1
    assert np.abs((printed - exact) @ w).max() < 1e-14 * np.abs(exact).max() * len(points)
