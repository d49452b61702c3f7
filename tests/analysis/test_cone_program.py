"""Impulses of contacts in space, and time steps of Moreau, equal those of cone programs, which Clarabel solves."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Parameter, RobotBuilder, Stepper, System
from kinemorph.elements import Contact, Coulomb, PairContact, Rigid
from kinemorph.plants.robot_plant import plant
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from support.references.cone_impulses import impulses_by_cone_program

RADIUS, MASS, G, STEP = 0.1, 2.0, 9.81, 1e-3
INERTIA = 0.4 * MASS * RADIUS**2


@pytest.mark.parametrize(("n", "freedom"), [(2, 6), (4, 6), (6, 12)])
def test_random_contacts(n: int, freedom: int) -> None:
    """Velocities are equal; impulses too, unless contacts are redundant.

    Coulomb's law may have several solutions, so that the iteration begins at our sliding speeds: it has to stay there.
    """
    pytest.importorskip("clarabel")
    rng, m = np.random.default_rng([n, freedom]), 3 * n
    for _ in range(6):
        J = rng.normal(size=(m, freedom)) / np.sqrt(freedom)
        W, b, mu = J @ J.T, J @ rng.normal(size=freedom), rng.uniform(0.1, 1.0, n)
        p = np.array(CoulombCone(n).meaning(*W.ravel(), *b, *mu, *np.zeros(n)))[:m, 0]
        speeds = np.linalg.norm((W @ p + b).reshape(n, 3)[:, 1:], axis=1)
        found = impulses_by_cone_program(W, b, mu, speeds)
        assert found.change < 1e-10
        np.testing.assert_allclose(W @ p + b, found.u, atol=1e-8)
        if m <= freedom:
            np.testing.assert_allclose(p, found.p, atol=1e-8)


# ── a pile of balls ───────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def pile(count: int) -> Any:
    """Balls that may touch each other and the ground, as a plant with the parameters mu and e."""
    mu, e = Parameter("mu", 0.4), Parameter("e", 0.0)
    builder = RobotBuilder("pile")
    contacts: list[Any] = []
    for k in range(count):
        builder.add(Body.sphere(f"ball{k}", MASS, RADIUS))
        builder.joint(f"free{k}", "free", "world", f"ball{k}")
        contacts.append(Contact(f"floor{k}", f"ball{k}", Rigid(e), Coulomb(mu), radius=RADIUS))
    for i, j in combinations(range(count), 2):
        ends = (f"ball{i}", f"ball{j}", Rigid(e), RADIUS, RADIUS, Coulomb(mu))
        contacts.append(PairContact(f"pair{i}{j}", *ends))
    return plant(System(builder.build(), tuple(contacts)), parameters=["mu", "e"])


def piled(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(centers, velocities), (n, 3) each, of three balls on the ground that touch, and of a fourth on top of them."""
    side = 2.0 * RADIUS
    places = [(0.0, 0.0, 0.5), (1.0, 0.0, 0.5), (0.5, np.sqrt(0.75), 0.5), (0.5, np.sqrt(1 / 12), 0.5 + np.sqrt(2 / 3))]
    centers = side * np.array(places[:count])
    return centers * 0.999 + rng.normal(size=centers.shape) * 1e-5, rng.normal(size=centers.shape)


def step_by_hand(
    centers: np.ndarray, v: np.ndarray, mu: float, e: float, begun: np.ndarray | None = None
) -> np.ndarray:
    """The twists (n, 6) after one step of Moreau and Jean, from rows that are written down for balls.

    The iteration begins at the sliding speeds of the twists `begun`, by default 0.
    """
    n = len(centers)
    middle = centers + 0.5 * STEP * v
    free = np.concatenate([v - [0.0, 0.0, STEP * G], np.zeros((n, 3))], axis=1).ravel()
    old = np.concatenate([v, np.zeros((n, 3))], axis=1).ravel()
    rows = []
    pairs: list[tuple[int, int | None, np.ndarray, float, float]] = [
        (i, None, np.array([0.0, 0.0, 1.0]), middle[i][2] - RADIUS, RADIUS) for i in range(n)
    ]
    for i, j in combinations(range(n), 2):
        away = middle[i] - middle[j]
        far = float(np.linalg.norm(away))
        pairs.append((i, j, away / far, far - 2.0 * RADIUS, 0.5 * far))  # they meet in the middle of the overlap
    for i, j, normal, gap, arm in pairs:
        if gap > 0.0:
            continue
        first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        first /= np.linalg.norm(first)
        for axis in (normal, first, np.cross(normal, first)):
            row = np.zeros(6 * n)
            row[6 * i : 6 * i + 6] = [*axis, *np.cross(-arm * normal, axis)]
            if j is not None:
                row[6 * j : 6 * j + 6] = [*-axis, *-np.cross(arm * normal, axis)]
            rows.append(row)
    J = np.array(rows)
    inverse = np.tile([1.0 / MASS] * 3 + [1.0 / INERTIA] * 3, n)
    b = J @ free
    b[::3] += e * np.minimum((J @ old)[::3], 0.0)
    speeds = None if begun is None else np.linalg.norm((J @ begun.ravel()).reshape(-1, 3)[:, 1:], axis=1)
    found = impulses_by_cone_program(J @ (inverse[:, None] * J.T), b, np.full(len(b) // 3, mu), speeds)
    assert found.change < 1e-10 * max(1.0, np.abs(b).max())
    new: np.ndarray = (free + inverse * (J.T @ found.p)).reshape(n, 6)
    return new


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 4])
def test_steps_of_moreau_are_those_of_cone_programs(count: int) -> None:
    """Balls that touch each other and the ground, of random velocities: 6 or 9 contacts, sliding, sticking, opening.

    With three balls the iteration begins at no sliding; with four it does not settle from there.
    """
    pytest.importorskip("clarabel")
    rng = np.random.default_rng(count)
    stepper = Stepper(pile(count), method="moreau", step=STEP)
    for _ in range(4):
        centers, v = piled(count, rng)
        mu, e = rng.uniform(0.1, 1.0), rng.choice([0.0, 0.5])
        q = np.concatenate([centers, np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))], axis=1).ravel()
        twists = np.concatenate([v, np.zeros((count, 3))], axis=1).ravel()
        stepper.begin(0.0, q, twists, p={"mu": mu, "e": e})
        after = stepper.step().v.reshape(count, 6)
        wanted = step_by_hand(centers, v, mu, e, None if count == 3 else after)
        np.testing.assert_allclose(after, wanted, atol=1e-8)
        assert np.abs(after[:, :3] - v).max() > 0.1  # impulses act
