"""Laws for methods that do not handle manifolds: the state is one vector y = [q, v, x], with quaternions of any length.

Rates of q follow from the plant's own laws by dual numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import where
from kinemorph.plants.instant import Instant
from kinemorph.plants.laws import Laws


def flow(laws: Laws, sizes: Mapping[str, int], t: Any, y: Any, m: Any, u: Any, p: Any) -> list[Any]:
    """The rate dy/dt, shape (nq + nv + nx,), at y = [q, v, x]: configuration, velocities, further states."""
    nq, nv = sizes["nq"], sizes["nv"]
    at = Instant(t, y[:nq], y[nq : nq + nv], y[nq + nv :], m, u, p)
    rates = laws.rate(at.local)
    return [*_moving(laws, at, rates[:nv]), *rates[nv:]]


def unmet(
    laws: Laws, sizes: Mapping[str, int], t: Any, y: Any, dy: Any, rows: Any, m: Any, u: Any, p: Any
) -> list[Any]:
    """The residual at y = [q, v, x, forces, pushes] and the rates dy = [dq/dt, dv/dt, dx/dt]; see `Plant.unmet`.

    `forces` and `pushes` are the multipliers of the constraints, see `constrained_motion.stabilized`.
    """
    nq, ny = sizes["nq"], sizes["ny"]
    ends = (nq, nq + sizes["nv"], ny, ny + sizes["nc"])
    q, v, x, forces, pushes = (y[a:b] for a, b in zip((0, *ends), (*ends, None), strict=True))
    at, z = Instant(t, q, v, x, m, u, p), dy[nq:]
    if laws.stabilized is None:
        found = {"moving": v, "left": laws.residual(at.local, z), "phi": [], "rate": []}
    else:
        found = laws.stabilized(at.local, z, forces, pushes)
    moved = [rate - own for rate, own in zip(dy, _moving(laws, at, found["moving"]), strict=False)]
    kept = [*zip(rows, found["rate"], forces, strict=True), *zip(rows, found["phi"], pushes, strict=False)]
    return [*moved, *found["left"], *(where(*choice) for choice in kept)]


def _moving(laws: Laws, at: Instant, rates: Sequence[Any]) -> list[Any]:
    """The rate dq/dt, shape (nq,), if the local coordinates w about q change at `rates` = dw/dt, shape (nv,)."""
    along = Direction()
    moving = [along.moved(0.0, rate) for rate in rates]
    return along.tangents(laws.place(at.q, [*moving, *at.v, *at.x], finished=False))
