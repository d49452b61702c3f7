"""Local coordinates of a plant's configurations, over any scalar type; see `mechanics.trees.charts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.programs import Plant


def local(plant: Plant, base: Sequence[Any], q: Sequence[Any]) -> list[Any]:
    """The local coordinates w (nv,) about `base` (nq,) of the configuration q (nq,), less than half a turn away."""
    w: list[Any] = [0.0] * plant.nv
    for place in plant.manifold:
        row = ELEMENTARY[place.kind]
        part = slice(place.q, place.q + row.nq)
        w[place.v : place.v + row.nv] = CHARTS[place.kind].local(base[part], q[part])
    return w


def velocity(plant: Plant, w: Sequence[Any], rate: Sequence[Any]) -> list[Any]:
    """The velocity (nv,) at which local coordinates w (nv,) change at `rate` (nv,): see `charts.velocity`."""
    v: list[Any] = [0.0] * plant.nv
    for place in plant.manifold:
        part = slice(place.v, place.v + ELEMENTARY[place.kind].nv)
        v[part] = CHARTS[place.kind].velocity(w[part], rate[part])
    return v
