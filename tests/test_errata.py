"""The errata of docs/errata.md that are algebra, checked again: the corrected form holds, the printed one fails.

Only NumPy and support/references/screws.py are used, none of Kinemorph's own algebra, so the two can be wrong
independently. References are definitions (power series, finite differences, point masses), never another closed
formula. Twists and wrenches are ordered [linear; angular] unless a test says otherwise. Whole equations of motion are
in test_errata_torques.py.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from support.cases.paper_organism import DTL, DYADS, IDTL, PRINTED_AIM
from support.references.screws import Ad, Array, ad, difference, exponential, hat, off, random_pose, screw, twist


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


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
