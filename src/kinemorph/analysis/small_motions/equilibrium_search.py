"""The search for an equilibrium: Newton steps and steps of a damped motion, until all forces are balanced.

The residual r(w, x) of the equations of motion, at velocity and acceleration 0, has to become zero; w are displacements
in local coordinates, x the extra states, y = [w, x]. Newton's step solves  K dy = -r, K = dr/dy, which is arbitrary far
from a solution. There the mass matrix M helps:

    (K + k M) dy = -r,    k = 100 at first                                  (EasyDyn's regularizer)

is a step of a strongly damped motion. It creeps along the forces, downhill, to where a real robot comes to rest.
Newton's step is taken where it is short, or where it goes along the forces and halves them: then the number of correct
digits doubles with each step, also near an unstable equilibrium. After each step the local coordinates are centered
again, so that any kind of joint is allowed. Where no force acts along a direction (a cart on a rail), the step of least
norm is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import Point, slopes_of
from kinemorph.errors import KinemorphError
from kinemorph.plants.programs import Plant

SHORT = 0.25  # [rad or m], a Newton step up to this length is trusted
TURN = 1.0  # [rad], the longest step of an angle
LONG = 10.0  # [m or the unit of a state], the longest step of other coordinates in a damped motion
FREE = 1e-10  # singular values of the stiffness below this, relative to the largest, count as zero
CLOSED = 1e-10  # [m or rad], the largest gap of a closed loop
PATIENCE = 50  # the search ends when a force that no stiffness opposes is unchanged for this many steps


class Balance(NamedTuple):
    """Unbalanced forces f, stiffness K and inertia M at one point, along n independent directions, the columns of Z."""

    point: Point
    residual: Array  # (nv + nx,), forces, also where there are loops
    f: Array  # (n,)
    K: Array  # (n, n)
    M: Array  # (n, n)
    Z: Array  # (nv + nx, n)
    opened: float  # the largest gap of a loop [m or rad]
    closing: Array  # (nv,), the displacement that closes loops to first order


class Search:
    """One search for an equilibrium: its settings, the number of its steps, and the largest forces so far."""

    def __init__(self, plant: Plant, *, downhill: bool, tolerance: float, regularizer: float) -> None:
        self.plant, self.slopes = plant, slopes_of(plant)
        self.downhill, self.tolerance, self.k = downhill, tolerance, regularizer
        self.largest = np.zeros(2)  # largest force or stiffness so far: of joints, of extra states x
        self.count = 0
        self.last: Balance | None = None
        turns = np.array([column.unit == "rad/s" for column in plant.v], dtype=bool)
        self.longest = np.concatenate([np.where(turns, TURN, LONG), np.full(plant.nx, LONG)])

    def settle(self, here: Balance, most: int) -> Balance:
        """The result of steps from `here` until the forces are balanced, then up to three more for the last digits.

        At most `most` steps are made in the whole search.
        """
        constant, since = _unopposed(here), 0
        while not self.balanced(here) and self.count < most and since < PATIENCE:
            self.count += 1
            here = self._newton(here) or self._damped(here)
            now = _unopposed(here)
            unchanged = now.any() and np.abs(now - constant).max() <= 1e-6 * np.abs(now).max()
            constant, since = now, since + 1 if unchanged else 0
        for _ in range(3):
            polished = self.step(here, self._newton_step(here)[0])
            if not _size(polished) < _size(here) or not self.balanced(polished):
                break
            here = polished
        self.last = here
        return here

    def settled(self, start: Point, most: int) -> Balance | None:
        """The balance that at most `most` steps from `start` lead to; None where forces stay unbalanced."""
        try:
            here = self.settle(self.at(start), most)
        except (KinemorphError, np.linalg.LinAlgError):
            return None
        return here if self.balanced(here) else None

    def at(self, point: Point) -> Balance:
        """Unbalanced forces, stiffness and inertia at a point, along independent directions."""
        slopes, nv = self.slopes, self.plant.nv
        rest = slopes.residual(point)
        blocks = slopes.blocks(point, np.zeros(slopes.n))
        weight = np.eye(slopes.n)
        if slopes.constrained:
            weight[:nv, :nv] = slopes.mass(point, blocks)  # under constraints the residual is an acceleration
        rest, stiff, inert = weight @ rest, weight @ np.hstack([blocks.w, blocks.x]), weight @ blocks.z
        phi, J = slopes.closure(point)
        closing = -np.linalg.pinv(J, FREE) @ phi
        Y = slopes.free_directions(point)
        f = Y.T @ (rest + stiff[:, :nv] @ closing)
        here = Balance(
            point, rest, f, Y.T @ stiff @ Y, Y.T @ inert @ Y, Y, float(np.abs(phi).max(initial=0.0)), closing
        )
        for k, part in enumerate(self._parts(here)):
            sizes = (np.abs(f[part]).max(initial=0.0), np.abs(here.K[part]).max(initial=0.0))
            self.largest[k] = max(self.largest[k], *sizes)
        self.last = here
        return here

    def _parts(self, here: Balance) -> tuple[slice, slice]:
        n = len(here.f) - len(self.slopes.counted)
        return slice(0, n), slice(n, len(here.f))

    def balanced(self, here: Balance) -> bool:
        """Whether the forces are zero relative to the largest forces so far, and loops are closed."""
        small = all(
            np.abs(here.f[part]).max(initial=0.0) <= self.tolerance * largest
            for part, largest in zip(self._parts(here), self.largest, strict=True)
        )
        return small and here.opened <= CLOSED

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _newton_step(self, here: Balance) -> tuple[Array, bool]:
        """(Newton's step dy (n,), whether it balances all forces of the linear equations)."""
        if not len(here.f):
            return np.zeros(0), True
        dy = -np.linalg.pinv(here.K, FREE) @ here.f
        left = np.abs(here.f + here.K @ dy).max()
        return dy, bool(left <= 1e-6 * np.abs(here.f).max())

    def _newton(self, here: Balance) -> Balance | None:
        """The balance after Newton's step; None where that step cannot be trusted or does not reduce the forces."""
        dy, valid = self._newton_step(here)
        if not valid or (self.downhill and not _is_positive(here.K, here.M)):
            return None
        change = here.Z @ dy
        short = bool(np.abs(change).max(initial=0.0) <= SHORT)
        with_forces = float(dy @ here.f) <= 0.0 and bool((np.abs(change) <= np.maximum(self.longest, TURN)).all())
        if not (short or with_forces):
            return None
        new = self.step(here, dy)
        better = _size(new) < (1.0 if short else 0.5) * _size(here) or new.opened < 0.5 * here.opened
        return new if better else None

    def _damped(self, here: Balance) -> Balance:
        """The balance after a step of the damped motion; later steps are longer while forces keep their direction."""
        busy = (here.f != 0.0) | (here.K != 0.0).any(axis=0) | (here.K != 0.0).any(axis=1)
        f, K, M = here.f[busy], here.K[np.ix_(busy, busy)], here.M[np.ix_(busy, busy)]
        for _ in range(60):
            if _is_positive(K + self.k * M, M):
                break
            self.k *= 4.0
        dy = np.zeros(len(here.f))
        dy[busy] = -np.linalg.pinv(K + self.k * M, 1e-14) @ f
        change = here.Z @ dy
        share = min(1.0, 1.0 / max(float((np.abs(change) / self.longest).max(initial=0.0)), 1e-300))
        new = self.step(here, share * dy)
        onward = float(change @ (new.Z @ new.f)) <= 0.0
        self.k = max(self.k / 1.5, 1e-3) if onward else min(self.k * 3.0, 1e12)
        return new

    def step(self, here: Balance, dy: Array) -> Balance:
        """The balance after a step dy (n,), with loops closed again where short steps can close them."""
        change = here.Z @ dy
        nv = self.plant.nv
        return self.at(self._closed(self.moved(here.point, change[:nv] + here.closing, change[nv:])))

    def _closed(self, point: Point) -> Point:
        """The point with its loops closed by short Newton steps, as far as each step reduces the gaps."""
        phi, J = self.slopes.closure(point)
        opened = float(np.abs(phi).max(initial=0.0))
        nothing = np.zeros(self.plant.nx)
        while opened > CLOSED:
            dw = -np.linalg.pinv(J, FREE) @ phi
            new = self.moved(point, dw * min(1.0, SHORT / max(float(np.abs(dw).max()), 1e-300)), nothing)
            phi, J = self.slopes.closure(new)
            if not float(np.abs(phi).max()) < 0.9 * opened:
                break
            point, opened = new, float(np.abs(phi).max())
        return point

    def moved(self, point: Point, dw: Array, dx: Array) -> Point:
        """The point after displacements dw (nv,) and dx (nx,), with the local coordinates centered there."""
        s = np.concatenate([dw, np.zeros(self.plant.nv + self.plant.nx)])
        q = self.slopes.place(point.q, s) if self.plant.nv else point.q
        return replace(point, q=q, x=point.x + dx)


def _unopposed(here: Balance) -> Array:
    """The part of the forces that no displacement changes, shape (nv + nx,), such as a weight that nothing supports."""
    if not len(here.f):
        return np.zeros(len(here.Z))
    left = here.f - here.K @ (np.linalg.pinv(here.K, FREE) @ here.f)
    return here.Z @ np.where(np.abs(left) > 1e-6 * np.abs(here.f).max(), left, 0.0)


def _size(here: Balance) -> float:
    """The norm of the accelerations that the unbalanced forces cause: one size for forces and torques together."""
    if not len(here.f):
        return 0.0
    return float(np.linalg.norm(np.linalg.pinv(here.M, 1e-14) @ here.f))


def _is_positive(K: Array, M: Array) -> bool:
    """Whether the symmetric part of K is positive semidefinite; M sets the scale of rounding errors."""
    if not len(K):
        return True
    shifted = 0.5 * (K + K.T) + 1e-9 * max(float(np.abs(K).max()), 1e-300) * np.diag(
        np.maximum(M.diagonal(), 1e-300) / max(float(np.abs(M).max()), 1e-300)
    )
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True
