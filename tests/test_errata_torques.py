"""The errata of docs/errata.md about whole equations of motion, on an organism of two branches.

The corrected form gives the generalized forces of d'Alembert's principle on point masses, the printed one does not.
None of Kinemorph's own algebra is used. Twists and wrenches are ordered [linear; angular].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.references.screws import Ad, Array, ad, exponential, hat, off, random_pose, screw, slope


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


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
