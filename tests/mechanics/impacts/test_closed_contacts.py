"""Forces and modes of closed contacts, against closed forms and against their own laws on random matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.mechanics.impacts.closed_contacts import Modes, closed_forces, decided_modes, grips, with_sliding
from support.robots.reference_robots import reference

RNG = np.random.default_rng(22)


def rod_space(theta: float) -> list[list[float]]:
    """W of the tip of Painleve's rod of 1 kg and half length 1 m, by Newton and Euler: its center is up and right."""
    c, s = math.cos(theta), math.sin(theta)
    return [[1.0 + 3.0 * c * c, -3.0 * s * c], [-3.0 * s * c, 1.0 + 3.0 * s * s]]


@pytest.mark.parametrize(
    "row", reference("painleve_rod")["reference"]["p_samples"], ids=lambda row: f"p={row['p']:.2f}"
)
def test_normal_force_of_painleves_rod(row) -> None:
    W, modes = rod_space(row["theta"]), Modes([1.0], [0.0], [[-1.0]])  # the tip slides to -x
    p = with_sliding(W, [row["mu"]], modes)[0][0]
    assert p == pytest.approx(row["p"], abs=1e-12)
    assert grips(W, [row["mu"]], modes)[0] == pytest.approx(row["p"] / W[0][0], abs=1e-12)
    decided = decided_modes(W, [-9.81, 0.0], [[-1.0]], [row["mu"]], [1.0])
    if row["p"] > 1e-9:
        force = closed_forces(W, [-9.81, 0.0], [row["mu"]], decided.modes)
        assert decided.modes.closed == [1.0] and decided.modes.sticks == [0.0]
        assert force == pytest.approx([9.81 / row["p"], row["mu"] * 9.81 / row["p"]], abs=1e-9)
    elif row["p"] < -1e-9:
        assert decided.modes.closed == [0.0] and decided.idle == [1.0]  # no force is possible
        assert decided_modes(W, [1.0, 0.0], [[-1.0]], [row["mu"]], [1.0]).idle == [0.0]  # it lifts


@pytest.mark.parametrize("width", [2, 3])
def test_modes_and_forces_of_random_contacts(width: int) -> None:
    """Forces push and are in their cones, closed contacts do not accelerate where their modes forbid it."""
    seen = set()
    for _ in range(60 if width == 2 else 16):
        n = int(RNG.integers(1, 4))
        J = RNG.normal(size=(n * width, n * width + 2))
        W, b = J @ J.T, RNG.normal(size=n * width)
        b[::width] = 3.0 * b[::width] - 2.0
        mu = RNG.uniform(0.1, 2.0, size=n).tolist()
        slip = [(RNG.normal(size=width - 1) * RNG.integers(0, 2)).tolist() for _ in range(n)]
        decided = decided_modes(W.tolist(), b.tolist(), slip, mu, [1.0] * n)
        if any(decided.idle):
            continue
        p = np.array(closed_forces(W.tolist(), b.tolist(), mu, decided.modes)).reshape(n, width)
        c = (W @ p.ravel() + b).reshape(n, width)
        for i in range(n):
            closed, sticks = decided.modes.closed[i], decided.modes.sticks[i]
            seen.add((closed, sticks))
            size = np.linalg.norm(p[i, 1:])
            if not closed:
                assert c[i, 0] > 0.0 and not p[i].any()
                continue
            assert p[i, 0] > -1e-9 and abs(c[i, 0]) < 1e-8
            if sticks:
                assert np.abs(c[i, 1:]).max() < 1e-8 and size <= mu[i] * p[i, 0] * (1.0 + 1e-8) and not any(slip[i])
            else:
                along = np.array(slip[i] if any(slip[i]) else c[i, 1:])
                expected = -mu[i] * p[i, 0] * along / np.linalg.norm(along)
                assert p[i, 1:] == pytest.approx(expected, abs=1e-6 * max(1.0, p[i, 0]))
    assert len(seen) == 3


def test_redundant_feet_share_the_load() -> None:
    """A table on four feet: each has a quarter of the weight; with a load beyond a diagonal, no foot pulls."""
    feet = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    J = np.array([row for x, y in feet for row in ([1.0, y, -x, 0.0], [0.0, 0.0, 0.0, 1.0])])
    W = (J @ J.T).tolist()
    for x, y in ((0.0, 0.0), (0.8, 0.7)):
        b = J @ np.array([-4.0, -4.0 * y, 4.0 * x, 0.0])
        decided = decided_modes(W, b.tolist(), [[0.0]] * 4, [0.5] * 4, [1.0] * 4)
        forces = np.array(closed_forces(W, b.tolist(), [0.5] * 4, decided.modes)).reshape(4, 2)
        assert forces[:, 0].min() > -1e-9 and forces[:, 0].sum() == pytest.approx(4.0)
        assert forces[:, 0] @ np.array(feet) == pytest.approx([4.0 * x, 4.0 * y])
        assert sum(decided.idle) == (0.0 if x == 0.0 else 1.0)


def test_friction_of_redundant_feet_is_shared_by_their_loads() -> None:
    """A block on two feet that is pulled: it slides where the pull is mu times its weight, and not before."""
    J = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    W = (J @ J.T).tolist()
    for pull, sticks in ((0.49, 1.0), (0.51, 0.0)):
        b = J @ np.array([pull, -1.0, 0.7])  # one foot has 15 % of the load, the other 85 %
        decided = decided_modes(W, b.tolist(), [[0.0]] * 2, [0.5] * 2, [1.0] * 2)
        assert decided.modes.sticks == [sticks] * 2
        forces = np.array(closed_forces(W, b.tolist(), [0.5] * 2, decided.modes)).reshape(2, 2)
        assert sorted(forces[:, 0]) == pytest.approx([0.15, 0.85])
        assert (np.abs(forces[:, 1]) <= 0.5 * forces[:, 0] + 1e-9).all()
