"""Violated constraints in words, and the warning that a state was moved onto them."""

from __future__ import annotations

import warnings

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelWarning, users_level
from kinemorph.mechanics.constraints.closures import constraint_owners, constraint_units
from kinemorph.mechanics.constraints.newton_closing import CLOSED
from kinemorph.plants.programs import Plant


def row_gaps(plant: Plant, values: Array, sizes: Array, per: str = "") -> str:
    """The violated constraints in words, `'closure' by 0.3 m`, the worst first.

    `values` (nc,) are divided by the row `sizes` (nc,), and `per` is appended to units, as in "m/s". Rows of a loop or
    of coupled joints are listed under its name, rows of elements under their own, `rail.y`.
    """
    assert plant.robot is not None
    own = constraint_owners(plant.robot)
    owners = (*own, *plant.constraint_names[len(own) :])
    units = [f" {unit}{per}" for unit in constraint_units(plant.robot)]
    worst: dict[str, tuple[float, str]] = {}
    for row, (owner, value) in enumerate(zip(owners, np.abs(values), strict=False)):
        if value > max(CLOSED, worst.get(owner, (0.0, ""))[0]):
            unit = units[row] if row < len(units) else ""
            worst[owner] = float(value), f"'{owner}' by {value * sizes[row]:.3g}{unit}"
    listed = sorted(worst.values(), key=lambda entry: -entry[0])
    return ", ".join(words for _, words in listed[:6]) or "none"


def tell_moved(state: str, gaps: str, moved: Array) -> None:
    """Warns that a `state` of a model file was moved onto the constraints; `gaps` are as in `row_gaps`."""
    warnings.warn(
        f"{state} violates constraints, {gaps}; the nearest state that satisfies them is taken, "
        f"{float(np.abs(moved).max(initial=0.0)):.2g} rad or m away in the coordinate that moves most.",
        ModelWarning,
        stacklevel=users_level(),
    )
