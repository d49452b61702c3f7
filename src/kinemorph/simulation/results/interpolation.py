"""States between samples: cubic Hermite polynomials, in local coordinates about the earlier sample.

    q       from q and v at both ends, in the chart of each joint (`charts`), so that quaternions stay unit
    v, x    from their values and rates at both ends

The error of q, v and x falls with the fourth power of the time between samples. Polynomials end at events that reset
the state: a bounce is not smoothed. Two samples must be less than half a turn apart. Where a rate is not known (NaN),
the interpolation is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.programs import Place


class States(NamedTuple):
    """States of a run at given times: t (...), q (..., nq), v (..., nv), x (..., nx), u (..., nu)."""

    t: Array
    q: Array
    v: Array
    x: Array
    u: Array


class Knots(NamedTuple):
    """The samples to interpolate, in order of time; where a state jumps, its time appears twice.

    t (n,), q (n, nq), v (n, nv), x (n, nx), u (n, nu), and the rates z = [a, dx/dt] (n, nv + nx) just after each
    sample; `z_until` are the rates just before it, which differ from z where inputs jump.
    """

    t: Array
    q: Array
    v: Array
    x: Array
    u: Array
    z: Array
    z_until: Array


def between(knots: Knots, manifold: Sequence[Place], times: Array) -> States:
    """The interpolated states at `times` (n,) [s]; at the time of a jump, the state after it."""
    last = np.clip(np.searchsorted(knots.t, times, side="right") - 1, 0, max(len(knots.t) - 2, 0))
    after = np.minimum(last + 1, len(knots.t) - 1)
    h = knots.t[after] - knots.t[last]
    part = np.divide(times - knots.t[last], h, out=np.ones_like(times), where=h > 0.0)
    first, second = ({name: getattr(knots, name)[k] for name in knots._fields} for k in (last, after))
    y = [np.concatenate([one["v"], one["x"]], axis=1) for one in (first, second)]
    moved = hermite(part, h, y[0], y[1], first["z"], second["z_until"])
    nv = knots.v.shape[1]
    q = np.empty((len(times), knots.q.shape[1]))
    for place in manifold:
        row, size = CHARTS[place.kind], ELEMENTARY[place.kind]
        at_q, at_v = slice(place.q, place.q + size.nq), slice(place.v, place.v + size.nv)
        base, end = _scalars(first["q"][:, at_q]), _scalars(second["q"][:, at_q])
        w = row.local(base, end)
        slope = row.rate(w, _scalars(second["v"][:, at_v]))
        start = np.zeros((len(times), size.nv))
        inside = hermite(part, h, start, np.stack(w, axis=-1), first["v"][:, at_v], np.stack(slope, axis=-1))
        q[:, at_q] = np.stack(row.finish(row.place(base, _scalars(inside))), axis=-1)
    exact = part == 0.0  # samples are returned unchanged, to the last bit
    q[exact], moved[exact] = first["q"][exact], y[0][exact]
    end = part == 1.0
    q[end], moved[end] = second["q"][end], y[1][end]
    u = np.where((part == 1.0)[:, None], second["u"], first["u"])  # held from sample to sample
    return States(times, q, moved[:, :nv], moved[:, nv:], u)


def _scalars(block: Any) -> list[Any]:
    """The columns of a block (n, k) as a list of k arrays of shape (n,)."""
    return [block[:, k] for k in range(block.shape[1])]


def hermite(part: Array, h: Array, y0: Array, y1: Array, d0: Array, d1: Array) -> Array:
    """The cubic through y0 and y1 (n, k) with slopes d0 and d1, at the fraction `part` (n,) of the interval h (n,)."""
    s, step = part[:, None], h[:, None]
    known = np.isfinite(d0) & np.isfinite(d1)
    line = (y1 - y0) / np.where(step > 0.0, step, 1.0)
    d0, d1 = np.where(known, d0, line), np.where(known, d1, line)
    t = 1.0 - s
    result: Array = t * t * ((1.0 + 2.0 * s) * y0 + s * step * d0) + s * s * ((1.0 + 2.0 * t) * y1 - t * step * d1)
    return result
