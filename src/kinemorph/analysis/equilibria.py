"""Static equilibrium: a state at rest that stays at rest, and whether it does so when disturbed.

The residual r(w, x) at v = 0, z = 0 is to become zero. Newton's step solves  K dy = -r, K = dr/dy; far from a solution
it leads anywhere. There the inertia helps,

    (K + k M) dy = -r,    k = 100 at first                                  (EasyDyn's regularizer)

one step of a motion so damped that it creeps along the forces; it leads downhill, to where a real robot comes to rest.
Newton takes over where its step is short, or where it goes with the forces and halves them: then the digits double from
step to step, also near an equilibrium that is not stable. After each step the coordinates are centered anew, so any
joint manifold will do. Where forces leave a direction free (a cart on a rail), steps are those of least norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.analysis.linearization import Model
from kinemorph.analysis.modes import Poles
from kinemorph.analysis.slopes import Array, Point, point_of, slopes_of
from kinemorph.analysis.stability import Verdict, stability_of
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.plants import FORCE_UNITS, Law, Plant
from kinemorph.plants import plant as as_plant

SHORT = 0.25  # a Newton step up to this [rad or m] is near enough to be trusted
TURN = 1.0  # the longest step of an angle [rad]
LONG = 10.0  # the longest step of anything else in a damped motion [m or the unit of a state]
FREE = 1e-10  # singular values of the stiffness below this, against the largest, leave a direction free
CLOSED = 1e-10  # [m or rad] loops are closed up to this
KICK = 0.05  # [rad or m] away from an equilibrium that is not stable
KICKS = 10
PATIENCE = 50  # steps in which a force that no stiffness opposes may stay as it is


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a search for an equilibrium ended. True where it found one. Made by `equilibrium`.

    `q` (nq,), `x` (nx,), `u` (nu,), `p`    the state at rest
    `residual` (nv + nx,)         forces left unbalanced [N m or N], then rates of x; `worst` is the largest force
    `stable`                      True, False, or None where linear equations do not decide; `reason` says why
    `message`                     a sentence for a person
    """

    q: Array
    x: Array
    u: Array
    p: Array
    residual: Array
    converged: bool
    iterations: int
    stable: bool | None
    reason: str
    message: str
    plant: Plant

    def __bool__(self) -> bool:
        return self.converged

    @property
    def worst(self) -> float:
        """The largest unbalanced force [N m or N]."""
        return float(np.abs(self.residual[: self.plant.nv]).max(initial=0.0))


def equilibrium(
    model: Model,
    q: Any = None,
    u: Any = None,
    *,
    x: Any = None,
    p: Any = None,
    t: float = 0.0,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    stable: bool = False,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    regularizer: float = 100.0,
) -> Equilibrium:
    """A state at rest that stays at rest, near a first guess.

    `q`, `x`          the guess, by name or in order; the plant's start where none is given
    `u`, `p`, `t`     inputs, parameters and time, held
    `forces`          a law of generalized forces, as for `simulate`; `locked` are joints that do not move
    `stable`          seek a stable one: follow the damped motion downhill, and leave equilibria that are not stable
    `tolerance`       of the unbalanced forces, against the largest force or stiffness (per rad or m) on the way
    `regularizer`     k [1/s^2] of the damped steps

    Where none is found the result says so and names the joint with the largest unbalanced force.
    """
    for name, value in (("tolerance", tolerance), ("regularizer", regularizer), ("iterations", iterations)):
        if not value > 0 or not np.isfinite(value):
            raise UnsupportedError(f"equilibrium: {name} is {value}; expected a finite number above 0.")
    plant = as_plant(model, forces=forces, locked=locked)
    start = point_of(plant, q, None, x, u, p, t)
    start = replace(start, v=np.zeros(plant.nv))
    search = _Search(plant, downhill=stable, tolerance=tolerance, regularizer=regularizer)
    try:
        return search.run(start, int(iterations))
    except KinemorphError as error:
        return search.broken(start, str(error))


class _Balance(NamedTuple):
    """The problem at one point: forces f left over along independent y, their stiffness K and inertia M."""

    point: Point
    residual: Array  # (nv + nx,), forces even where loops close
    f: Array
    K: Array
    M: Array
    Z: Array
    opened: float  # how far loops are open
    closing: Array  # dw that closes them


class _Search:
    """One search and what it has seen."""

    def __init__(self, plant: Plant, *, downhill: bool, tolerance: float, regularizer: float) -> None:
        self.plant, self.slopes = plant, slopes_of(plant)
        self.downhill, self.tolerance, self.k = downhill, tolerance, regularizer
        self.largest = np.zeros(2)  # force or stiffness seen: of mechanics, of x
        self.count = 0
        self.last: _Balance | None = None
        turns = np.array([column.unit == "rad/s" for column in plant.v], dtype=bool)
        self.longest = np.concatenate([np.where(turns, TURN, LONG), np.full(plant.nx, LONG)])

    # ── the search ────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, start: Point, most: int) -> Equilibrium:
        """From a guess to the result."""
        here = self.at(start)
        for _ in range(KICKS + 1):
            here = self.settle(here, most)
            if not self.balanced(here):
                return self.failed(here, most)
            verdict, found = stability_of(self.plant, here.point)
            if not self.downhill or verdict.stable is not False or found is None:
                return self.found(here, verdict)
            here = self.at(self.moved(here.point, self._away(found), np.zeros(self.plant.nx)))
        return self.found(here, verdict)

    def settle(self, here: _Balance, most: int) -> _Balance:
        """Steps until the forces are balanced, then a few more for the last digits."""
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

    def at(self, point: Point) -> _Balance:
        """Forces, stiffness and inertia at a point, along independent directions."""
        slopes, nv = self.slopes, self.plant.nv
        rest = slopes.residual(point)
        blocks = slopes.blocks(point, np.zeros(slopes.n))
        weight = np.eye(slopes.n)
        if self.plant.robot is not None and not self.plant.robot.is_open:
            weight[:nv, :nv] = slopes.mass(point, blocks)  # its residual is an acceleration
        rest, stiff, inert = weight @ rest, weight @ np.hstack([blocks.w, blocks.x]), weight @ blocks.z
        phi, J = slopes.closure(point)
        closing = -np.linalg.pinv(J, FREE) @ phi
        Z = slopes.directions(point).Z
        X = np.eye(self.plant.nx)[:, slopes.counted]
        Y = np.zeros((slopes.n, Z.shape[1] + X.shape[1]))
        Y[:nv, : Z.shape[1]], Y[nv:, Z.shape[1] :] = Z, X
        f = Y.T @ (rest + stiff[:, :nv] @ closing)
        here = _Balance(
            point, rest, f, Y.T @ stiff @ Y, Y.T @ inert @ Y, Y, float(np.abs(phi).max(initial=0.0)), closing
        )
        for k, part in enumerate(self._parts(here)):
            sizes = (np.abs(f[part]).max(initial=0.0), np.abs(here.K[part]).max(initial=0.0))
            self.largest[k] = max(self.largest[k], *sizes)
        self.last = here
        return here

    def _parts(self, here: _Balance) -> tuple[slice, slice]:
        n = len(here.f) - len(self.slopes.counted)
        return slice(0, n), slice(n, len(here.f))

    def balanced(self, here: _Balance) -> bool:
        """Whether the forces are zero against what was seen, and loops are closed."""
        small = all(
            np.abs(here.f[part]).max(initial=0.0) <= self.tolerance * largest
            for part, largest in zip(self._parts(here), self.largest, strict=True)
        )
        return small and here.opened <= CLOSED

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _newton_step(self, here: _Balance) -> tuple[Array, bool]:
        """(dy, whether it balances the linear equations)."""
        if not len(here.f):
            return np.zeros(0), True
        dy = -np.linalg.pinv(here.K, FREE) @ here.f
        left = np.abs(here.f + here.K @ dy).max()
        return dy, bool(left <= 1e-6 * np.abs(here.f).max())

    def _newton(self, here: _Balance) -> _Balance | None:
        """Newton's step where it can be trusted, else None."""
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

    def _damped(self, here: _Balance) -> _Balance:
        """A step of the damped motion: faster as long as forces go on pulling the same way, else slower."""
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

    def step(self, here: _Balance, dy: Array) -> _Balance:
        """The problem after a step, with loops closed as well as a linear step can."""
        change = here.Z @ dy
        nv = self.plant.nv
        return self.at(self.moved(here.point, change[:nv] + here.closing, change[nv:]))

    def moved(self, point: Point, dw: Array, dx: Array) -> Point:
        """A point with its coordinates moved, and centered anew."""
        s = np.concatenate([dw, np.zeros(self.plant.nv + self.plant.nx)])
        q = self.slopes.place(point.q, s) if self.plant.nv else point.q
        return replace(point, q=q, x=point.x + dx)

    def _away(self, found: Poles) -> Array:
        """A small displacement along the motion that grows fastest."""
        shape = found.vectors[int(np.argmax(found.alpha)), : self.plant.nv].real
        return np.asarray(KICK * shape / max(float(np.abs(shape).max(initial=0.0)), 1e-300))

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def found(self, here: _Balance, verdict: Verdict) -> Equilibrium:
        """An equilibrium with the verdict on it."""
        word = {True: "stable", False: "not stable", None: "marginal"}[verdict.stable]
        message = f"Equilibrium of '{self.plant.name}' after {self.count} iterations, {word}: {verdict.reason}"
        return self._result(here, True, verdict.stable, verdict.reason, message)

    def failed(self, here: _Balance, most: int) -> Equilibrium:
        """The sentence for a search that ended elsewhere."""
        why = f"No equilibrium of '{self.plant.name}' was found in {self.count} of {most} iterations: "
        if here.opened > CLOSED:
            why += f"loops stay open by {here.opened:.3g} [m or rad]. Start from an assembled configuration."
        else:
            why += self._unbalanced(here)
        return self._result(here, False, None, "It is no equilibrium.", why)

    def _unbalanced(self, here: _Balance) -> str:
        nv = self.plant.nv
        free = here.Z @ here.f
        sizes = np.abs(free) / np.repeat(np.maximum(self.largest, 1e-300), (nv, self.plant.nx))
        worst = int(np.argmax(sizes))
        if worst >= nv:
            column = self.plant.x[worst - nv]
            return f"'{column.name}' still changes by {-free[worst]:.3g} {column.unit}/s. Start nearer to a solution."
        column = self.plant.v[worst]
        unit = FORCE_UNITS.get(column.unit, "")
        return (
            f"a force of {-free[worst]:.4g} {unit}".rstrip()
            + f" is left at '{column.name}', the largest of all. Start nearer to a solution, or see that something "
            "holds that coordinate: a joint, a spring, an input."
        )

    def broken(self, start: Point, why: str) -> Equilibrium:
        """The result where the equations have no finite value on the way."""
        nothing = np.zeros(self.slopes.n)
        point, rest = (self.last.point, self.last.residual) if self.last else (start, nothing)
        message = f"No equilibrium of '{self.plant.name}' was found: after {self.count} iterations, {why}"
        return Equilibrium(
            point.q,
            point.x,
            point.u,
            point.p,
            rest,
            False,
            self.count,
            None,
            "It is no equilibrium.",
            message,
            self.plant,
        )

    def _result(self, here: _Balance, converged: bool, stable: bool | None, reason: str, message: str) -> Equilibrium:
        at = here.point
        return Equilibrium(
            at.q, at.x, at.u, at.p, here.residual, converged, self.count, stable, reason, message, self.plant
        )


def _unopposed(here: _Balance) -> Array:
    """The part of the forces that no displacement changes, shape (nv + nx,): a weight that nothing carries."""
    if not len(here.f):
        return np.zeros(len(here.Z))
    left = here.f - here.K @ (np.linalg.pinv(here.K, FREE) @ here.f)
    return here.Z @ np.where(np.abs(left) > 1e-6 * np.abs(here.f).max(), left, 0.0)


def _size(here: _Balance) -> float:
    """The forces as accelerations, so that all units count alike."""
    if not len(here.f):
        return 0.0
    return float(np.linalg.norm(np.linalg.pinv(here.M, 1e-14) @ here.f))


def _is_positive(K: Array, M: Array) -> bool:
    """Whether the symmetric part of K is positive, a direction without stiffness counted as such."""
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
