"""The problem of excitation: what a motion says about the parameters of a robot, and the limits that it keeps.

Forces are  tau = Y(q, v, a) theta + noise,  with white noise of known standard deviations. The information of a motion
is  H = sum over samples of  Y^T W Y  with the inverse variances W; its inverse is the covariance of the estimated
parameters, and  log det H  is larger the smaller the ellipsoid is in which they lie (D-optimality). Another choice of
base parameters changes log det H by the same constant for all motions, so that the best motion does not depend on it;
it changes the condition number of H in any way.

The gradient is exact:  d log det H = 2 sum <W Y H^-1, dY>.  A compiled reverse sweep through the regressor gives its
slopes by q, v and a, which are linear in the unknowns. Coulomb friction is the sign of the velocity, a step; in the
search it is v / sqrt(v^2 + s^2) with a small s, so that the search has slopes. Results are computed with the sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.excitation.hanging import Hanging, Swing
from kinemorph.analysis.identification.excitation.motion_limits import LimitUse, MotionLimits
from kinemorph.analysis.identification.excitation.series_basis import SeriesBasis
from kinemorph.analysis.identification.excitation.unknown_columns import Columns, Motion
from kinemorph.analysis.identification.excitation.zones import Zones
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.parameter_functions import chosen_regressor, chosen_regressor_gradient
from kinemorph.model.joint import Joint

SMOOTH = 0.02  # [1] of the largest velocity: below it the sign of Coulomb friction is smoothed in the search
AT_REST = 1e-12  # [1] of the limit of a velocity: what is less is a rounding error, and has no sign
SINGULAR = 1e-6  # a unit column is taken for a combination of others if what they leave of it is smaller


class Bounded(NamedTuple):
    """A quantity with limits: values (N, n), lower and upper limits (n,)."""

    name: str
    values: Array
    lower: Array
    upper: Array


Factored = tuple[float, Array, Array]  # see `_factored`


class Here(NamedTuple):
    """A motion, the quantities with limits along it, its weighted regressor A (N, rows, unknowns) and its factors."""

    x: Array
    motion: Motion
    bounded: list[Bounded]
    A: Array
    factored: Factored


class ExcitationProblem:
    """Information and limits as functions of the unknowns x (joints, basis.size) of a series.

    `held`      the configuration (nq,) of all that does not move
    `samples`   times in a period at which information is summed and limits hold in a search
    `hanging`   joints that nothing drives, and that swing
    `values`    the friction of joints, by column of the regressor: that of the robot by default, to which elements of a
                system may add
    """

    def __init__(
        self,
        dynamics: Dynamics,
        basis: SeriesBasis,
        limits: MotionLimits,
        columns: Columns,
        zones: Zones,
        held: Array,
        samples: int,
        hanging: Hanging | None = None,
        values: Mapping[str, float] | None = None,
    ) -> None:
        self.dynamics, self.basis, self.limits, self.columns, self.zones = dynamics, basis, limits, columns, zones
        self.held, robot = held, dynamics.robot
        self.at_q = [robot.q_slice(name).start for name in limits.joints]
        self.at_v = [robot.v_slice(name).start for name in limits.joints]
        self.start = held[self.at_q]
        self.shape = (len(limits.joints), basis.size)
        self.size = self.shape[0] * self.shape[1]
        self.t = times_of(basis.period, samples)
        self.functions = basis.functions(self.t)
        values = values or dict(zip(dynamics.regressor_columns, dynamics.regressor_parameters.tolist(), strict=True))
        velocities = [robot.v_names[k] for k in self.at_v]
        self.damping = np.array([values[f"{name}.viscous"] for name in velocities])
        self.friction = np.array([values[f"{name}.coulomb"] for name in velocities])
        self.hanging = hanging
        self.swinging = [] if hanging is None else [name for name in hanging.names if _bounded(robot.joint(name))]
        self.smooth = SMOOTH * limits.velocity
        self.limited = np.isfinite(limits.effort)
        self._last: Here | None = None
        self._swung: tuple[Array, Swing] | None = None

    @cached_property
    def _regressor(self) -> CompiledFunction:
        return chosen_regressor(self.dynamics._maker, self.columns.chosen)

    @cached_property
    def _gradient(self) -> CompiledFunction:
        return chosen_regressor_gradient(self.dynamics._maker, self.columns.chosen)

    # ── motions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def motion(self, x: Array, t: Array | None = None) -> Motion:
        """The motion of unknowns x at the times t, by default at those of the search."""
        times, functions = (self.t, self.functions) if t is None else (t, self.basis.functions(t))
        moved = functions @ x.reshape(self.shape).T
        q = np.tile(self.held, (len(times), 1))
        v, a = np.zeros((2, len(times), self.dynamics.robot.nv))
        q[:, self.at_q] = moved[0] + (self.start if self.basis.anchored else 0.0)
        v[:, self.at_v] = np.where(np.abs(moved[1]) > AT_REST * self.limits.velocity, moved[1], 0.0)
        a[:, self.at_v] = moved[2]
        if self.hanging is not None:
            swing = self.hanging.swing(x.reshape(self.shape), times)
            q[:, self.hanging.at_q], v[:, self.hanging.at_v], a[:, self.hanging.at_v] = swing[:3]
        return Motion(times, q, v, a)

    def torques(self, motion: Motion, *, smooth: bool = True) -> Array:
        """The forces (N, nv) [N m or N] of a motion, with the damping and friction of the joints in the model."""
        tau: Array = self.dynamics.inverse_dynamics(*motion[1:]).copy()
        v = motion.v[:, self.at_v]
        tau[:, self.at_v] += self.damping * v + self.friction * (_sign(v, self.smooth) if smooth else np.sign(v))
        if self.hanging is not None:
            tau[:, self.hanging.at_v] += self.hanging.damping * motion.v[:, self.hanging.at_v]
        return tau

    def quantities(self, motion: Motion) -> list[Bounded]:
        """All quantities with limits along a motion."""
        limits = self.limits
        found = [
            Bounded("position", motion.q[:, self.at_q], limits.lower, limits.upper),
            Bounded("velocity", motion.v[:, self.at_v], -limits.velocity, limits.velocity),
            Bounded("acceleration", motion.a[:, self.at_v], -limits.acceleration, limits.acceleration),
        ]
        if self.limited.any():
            tau = self.torques(motion)[:, self.at_v][:, self.limited]
            found.append(Bounded("torque", tau, -limits.effort[self.limited], limits.effort[self.limited]))
        if self.swinging:
            robot = self.dynamics.robot
            at = [robot.q_slice(name).start for name in self.swinging]
            found.append(Bounded("swing", motion.q[:, at], robot.q_lower[at], robot.q_upper[at]))
        if len(self.zones):
            distances = self.zones.clearance(motion.q).distances
            found.append(Bounded("distance", distances, np.zeros(len(self.zones)), np.full(len(self.zones), np.inf)))
        return found

    def keeps(self, motion: Motion) -> bool:
        """Whether a motion keeps all limits."""
        return bool(np.isfinite(motion.q).all()) and all(
            bool((one.values < one.upper).all() and (one.values > one.lower).all()) for one in self.quantities(motion)
        )

    def use(self, motion: Motion) -> tuple[LimitUse, ...]:
        """How far a motion goes towards each of its limits."""
        limits = self.limits
        names = {"torque": [name for name, has in zip(limits.joints, self.limited, strict=True) if has]}
        names |= {"distance": list(self.zones.names), "swing": self.swinging}
        return tuple(
            _use(name, one.name, one.values[:, k], float(one.lower[k]), float(one.upper[k]))
            for one in self.quantities(motion)
            for k, name in enumerate(names.get(one.name, limits.joints))
        )

    # ── information ───────────────────────────────────────────────────────────────────────────────────────────────

    def weighted_regressor(self, motion: Motion, *, smooth: bool = False) -> Array:
        """The rows of Y for all measured forces of a motion over their standard deviations, (N, rows, unknowns)."""
        columns = self.columns
        Y = np.zeros((len(motion.t), columns.chosen.shape[0], len(columns.names)))
        Y[:, :, : len(columns.inertial)] = self._regressor(*motion[1:])
        for k, (row, part) in enumerate(columns.frictional, len(columns.inertial)):
            Y[:, row, k] = self._frictional(motion, row, part, smooth)
        Y /= columns.deviations[:, None]
        return Y

    def _frictional(self, motion: Motion, row: int, part: str, smooth: bool) -> Array:
        velocity = self.columns.rows[row]
        if part == "coulomb":
            s = self.smooth[self.at_v.index(velocity)] if smooth else 0.0
            return _sign(motion.v[:, velocity], s)
        plain = {"armature": motion.a[:, velocity], "viscous": motion.v[:, velocity], "offset": np.ones(len(motion.t))}
        return plain[part]

    def information(self, motion: Motion) -> Array:
        """H (unknowns, unknowns): the sum over the samples of a motion."""
        A = self.weighted_regressor(motion).reshape(-1, len(self.columns.names))
        return A.T @ A

    def log_det(self, x: Array) -> float:
        """log det H, summed over the times of the search; -inf where H is singular."""
        motion = self.motion(x)
        if not np.isfinite(motion.q).all():
            return -np.inf
        A = self.weighted_regressor(motion)
        return _factored(A.reshape(-1, A.shape[-1]))[0]

    def _swing(self, x: Array) -> Swing:
        """The motion of hanging joints with its slopes; that of the last x is kept."""
        assert self.hanging is not None
        if self._swung is None or not np.array_equal(self._swung[0], x):
            self._swung = x.copy(), self.hanging.swing(x.reshape(self.shape), self.t, slopes=True)
        return self._swung[1]

    def log_det_slope(self, here: Here) -> tuple[Array, Array, Array]:
        """The slopes of log det H by q, v and a of each sample along the unit velocities, each (N, nv)."""
        columns, motion, (_, sizes, factor) = self.columns, here.motion, here.factored
        shape = here.A.shape
        scaled = here.A.reshape(-1, shape[-1]) / sizes
        solved = scipy.linalg.cho_solve((factor, False), scaled.T, check_finite=False)  # H^-1 A^T, scaled
        weights = 2.0 * (solved / sizes[:, None]).T.reshape(shape) / columns.deviations[:, None]
        inertial = np.ascontiguousarray(weights[:, :, : len(columns.inertial)])
        g_q, g_v, g_a = (np.array(one) for one in self._gradient(*motion[1:], inertial))
        for k, (row, part) in enumerate(columns.frictional, len(columns.inertial)):
            velocity, w = columns.rows[row], weights[:, row, k]
            if part == "armature":
                g_a[:, velocity] += w
            elif part == "viscous":
                g_v[:, velocity] += w
            elif part == "coulomb":
                s = self.smooth[self.at_v.index(velocity)]
                v = motion.v[:, velocity]
                g_v[:, velocity] += w * s**2 / (v**2 + s**2) ** 1.5
        tangent = np.zeros_like(g_v)
        tangent[:, self.at_v] = g_q[:, self.at_q]
        if self.hanging is not None:
            spread = self._swing(here.x).spread
            tangent[:, self.hanging.at_v] = np.einsum("nc,nck->nk", g_q[:, self.hanging.at_q], spread)
        return tangent, g_v, g_a

    # ── cost and barrier ──────────────────────────────────────────────────────────────────────────────────────────

    def _at(self, x: Array) -> Here:
        """What cost and slope share; that of the last x is kept."""
        if self._last is None or not np.array_equal(self._last.x, x):
            motion, A = self.motion(x), np.zeros((0, 0))
            found = bool(np.isfinite(motion.q).all())
            bounded = self.quantities(motion) if found else []
            factored: Factored = (-np.inf, A, A)
            if found and all(bool(((one.values < one.upper) & (one.values > one.lower)).all()) for one in bounded):
                A = self.weighted_regressor(motion, smooth=True)
                factored = _factored(A.reshape(-1, A.shape[-1]))
            self._last = Here(x.copy(), motion, bounded, A, factored)
        return self._last

    def cost(self, x: Array, mu: float) -> float:
        """- log det H - mu sum log(slack), infinite where a limit is broken or H is singular."""
        here = self._at(x)
        if here.factored[0] == -np.inf:
            return np.inf
        barrier = 0.0
        for one in here.bounded:
            for slack in (one.upper - one.values, one.values - one.lower):
                barrier -= float(np.log(slack[:, np.isfinite(slack[0])]).sum())
        return mu * barrier - here.factored[0]

    def slope(self, x: Array, mu: float) -> Array:
        """The gradient (size,) of `cost`."""
        here = self._at(x)
        slopes = [-one for one in self.log_det_slope(here)]
        for one in here.bounded:
            push = mu / (one.upper - one.values) - mu / (one.values - one.lower)
            self._pull(here.motion, one.name, push, slopes)
        total = self._by_unknowns(slopes)
        if self.hanging is not None:
            swing, at = self._swing(x), self.hanging.at_v
            for slope, by in zip(slopes, (swing.by_q, swing.by_v, swing.by_a), strict=True):
                total += np.einsum("nk,nkx->x", slope[:, at], by)
        return total

    def _pull(self, motion: Motion, name: str, push: Array, slopes: list[Array]) -> None:
        """Adds to slopes (by q, v, a) those of a sum of a quantity times `push`."""
        plain = {"position": 0, "velocity": 1, "acceleration": 2}
        if name in plain:
            slopes[plain[name]][:, self.at_v] += push
        elif name == "torque":
            for total, J in zip(slopes, self._torque_slopes(motion), strict=True):
                total += np.einsum("nk,nkj->nj", push, J)
        elif name == "swing":
            slopes[0][:, [self.dynamics.robot.v_slice(joint).start for joint in self.swinging]] += push
        else:
            slopes[0] += np.einsum("nk,nkj->nj", push, self.zones.clearance(motion.q).by_q)

    def _torque_slopes(self, motion: Motion) -> list[Array]:
        """The slopes of the limited torques by q, v, a: (N, limited, nv) each."""
        rows = np.array(self.at_v)[self.limited]
        dq, dv, da = (one[:, rows] for one in self.dynamics.inverse_dynamics_derivatives(*motion[1:]))
        dv = dv.copy()
        v, s = motion.v[:, rows], self.smooth[self.limited]
        own = self.damping[self.limited] + self.friction[self.limited] * s**2 / (v**2 + s**2) ** 1.5
        dv[:, np.arange(len(rows)), rows] += own
        return [dq, dv, da]

    def _by_unknowns(self, slopes: Sequence[Array]) -> Array:
        """The gradient (size,) by the unknowns, of slopes (N, nv) by q, v and a."""
        total = sum(slope[:, self.at_v].T @ function for slope, function in zip(slopes, self.functions, strict=True))
        return np.asarray(total).ravel()

    def curvature(self, x: Array, mu: float) -> Array:
        """An estimate (size, size) of the second derivatives of `cost`: those of the barrier, without bent quantities.

        Those of log det H, which are not positive, are replaced by a multiple of the unit matrix of their size.
        """
        here, (joints, size) = self._at(x), self.shape
        motion = here.motion
        H = np.eye(self.size) * len(self.columns.names) / max(float(x @ x), 1e-3)
        for one in here.bounded:
            bend = mu / (one.upper - one.values) ** 2 + mu / (one.values - one.lower) ** 2
            if one.name in ("position", "velocity", "acceleration"):
                F = self.functions[("position", "velocity", "acceleration").index(one.name)]
                for k in range(joints):
                    at = slice(k * size, (k + 1) * size)
                    H[at, at] += (F * bend[:, k, None]).T @ F
                continue
            if one.name == "swing":
                continue
            slopes = self._torque_slopes(motion) if one.name == "torque" else [self.zones.clearance(motion.q).by_q]
            J = np.zeros((*one.values.shape, self.size))
            for k, by in enumerate(slopes):
                J += np.einsum("nkj,nm->nkjm", by[:, :, self.at_v], self.functions[k]).reshape(J.shape)
                if self.hanging is not None:
                    swing = self._swing(x)
                    J += by[:, :, self.hanging.at_v] @ (swing.by_q, swing.by_v, swing.by_a)[k]
            J = J.reshape(-1, self.size) * np.sqrt(bend).reshape(-1, 1)
            H += J.T @ J
        return H


def _bounded(joint: Joint) -> bool:
    """Whether a joint has one plain coordinate, with limits."""
    return joint.nq == 1 and bool(np.isfinite(joint.lower[0]) and np.isfinite(joint.upper[0]))


def times_of(period: float, samples: int) -> Array:
    """Equal times (samples,) [s] in a period, from 0; the last is one step before its end."""
    return np.linspace(0.0, period, samples, endpoint=False, dtype=np.float64)


def _sign(v: Array, s: Array | float) -> Array:
    """The sign of v, smoothed below s."""
    return np.sign(v) if np.ndim(s) == 0 and s == 0.0 else v / np.sqrt(v**2 + s**2)


def _factored(A: Array) -> Factored:
    """log det(A^T A), -inf where it is singular; the norms of the columns of A, and the triangle of Cholesky of A^T A
    with columns of A scaled to length 1.
    """
    sizes = np.linalg.norm(A, axis=0)
    if not (sizes > 0.0).all():
        return -np.inf, sizes, A
    scaled = A / sizes
    try:
        factor = scipy.linalg.cholesky(scaled.T @ scaled, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -np.inf, sizes, A
    diagonal = np.diag(factor)
    if diagonal.min() < SINGULAR:
        return -np.inf, sizes, A
    return 2.0 * float(np.log(diagonal).sum() + np.log(sizes).sum()), sizes, factor


def _use(name: str, quantity: str, values: Array, lower: float, upper: float) -> LimitUse:
    least, most = float(values.min()), float(values.max())
    if np.isfinite(lower) and np.isfinite(upper):
        middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        share = max(most - middle, middle - least) / half
    else:  # a distance
        share = 1.0 if least <= lower else 0.0
    return LimitUse(name, quantity, least, most, lower, upper, share)
