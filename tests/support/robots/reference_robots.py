"""The robots of the reference problems, and a second way to their motion: equations written by hand, run by SciPy.

Planar ones move in the x-z plane with z up, as the library's do: an angle from the downward vertical is q, one from the
x axis is q - pi/2. The absolute angle of a link is the sum of the relative ones up to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.textbook import SWING
from kinemorph.model.robot import Robot

DATA = Path(__file__).parents[2] / "data"


def reference(name: str) -> dict[str, Any]:
    """A reference problem of tests/data."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return found


def planar_chain(
    masses: Sequence[float],
    lengths: Sequence[float],
    moments: Sequence[float],
    centers: Sequence[float],
    g: float,
) -> Robot:
    """A pinned chain; `moments` about the centers of mass, which lie at `centers` times the length."""
    builder = RobotBuilder("planar_chain", gravity=(0.0, 0.0, -g))
    for k, (m, l, J, c) in enumerate(zip(masses, lengths, moments, centers, strict=True)):
        builder.body(f"link{k}", m, com=(0.0, 0.0, -c * l), inertia=(J, J, J))
        parent, offset = (f"link{k - 1}", -lengths[k - 1]) if k else ("world", 0.0)
        builder.joint(f"q{k}", "revolute", parent, f"link{k}", translation=(0.0, 0.0, offset), axis=SWING)
    return builder.build()


def chain_by_lagrange(
    masses: Sequence[float],
    lengths: Sequence[float],
    moments: Sequence[float],
    centers: Sequence[float],
    g: float,
    start: Sequence[float],
    times: Sequence[float],
) -> np.ndarray:
    """[angles, rates] of the same chain at `times`, by Lagrange's equations in absolute angles from the vertical.

    M_ij = A_ij cos(th_i - th_j), the forces are A_ij th_j'^2 sin(th_i - th_j) and g b_i sin(th_i), where a link i moves
    its own center by c_i l_i and everything below by l_i.
    """
    m, l, J, c = (np.asarray(values, dtype=float) for values in (masses, lengths, moments, centers))
    n = len(m)
    reach = np.array([[l[i] if i < k else c[i] * l[i] if i == k else 0.0 for i in range(n)] for k in range(n)])
    A = np.einsum("k,ki,kj->ij", m, reach, reach)
    b = m @ reach

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        th, w = y[:n], y[n:]
        apart = th[:, None] - th[None, :]
        M = A * np.cos(apart) + np.diag(J)
        force = -(A * np.sin(apart)) @ (w * w) - g * b * np.sin(th)
        return np.concatenate([w, np.linalg.solve(M, force)])

    found = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=3e-14, atol=1e-14)
    assert found.success
    return found.y.T


def relative(absolute: Sequence[float]) -> np.ndarray:
    """Relative angles or rates, from absolute ones along the last axis."""
    return np.diff(np.asarray(absolute, dtype=float), axis=-1, prepend=0.0)
