"""A run of a scaled system, compared with the scaled run of the original, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinemorph
from kinemorph.conventions import Scales

MIXED = ("loop_error",)  # columns that add meters and radians
ROWS = {"linked.force": "J"}  # the force along a row whose value is a number: energy per unit of the row


def worst_column(
    system: kinemorph.System, until: float, step: float, *, samples: int = 10, events: int = 0, **factors: Any
) -> tuple[str, float]:
    """(column, error): the largest difference of a column at fixed steps, relative to its largest value.

    Columns that stay below a thousandth of the largest number of the same unit, or of the weight, size and time of
    fall of the robot, are compared with that thousandth: balances of energy, heights of anchors and generalized forces
    of free bodies are differences of large numbers. There are at least `events` events.
    """
    scales = Scales(**factors)
    assert scales.time is not None
    one = kinemorph.simulate(system, until, step=step, output_step=until / samples)
    times = {"step": step * scales.time, "output_step": until / samples * scales.time}
    other = kinemorph.simulate(kinemorph.scaled(system, **factors), until * scales.time, **times)
    assert one.outcome.ok and other.outcome.ok, (one.outcome, other.outcome)
    assert list(one.columns) == list(other.columns) and len(one.events) == len(other.events) >= events
    sizes: dict[str, float] = {}
    units = {name: ROWS.get(name, column.unit) for name, column in one.columns.items() if name not in MIXED}
    for name, unit in units.items():
        sizes[unit] = max(sizes.get(unit, 0.0), float(np.max(np.abs(one[name]), initial=0.0)))
    mass = system.robot.total_mass
    length = (mass / 1000.0) ** (1.0 / 3.0)  # that of a cube of water
    own = Scales(length, mass, (length / 9.81) ** 0.5)
    found = ("", 0.0)
    for name, unit in units.items():
        expected = np.asarray(one[name]) * scales.factor(unit)
        size = max(float(np.max(np.abs(one[name]), initial=0.0)), 1e-3 * sizes[unit], 1e-3 * own.factor(unit))
        error = float(np.max(np.abs(np.asarray(other[name]) - expected), initial=0.0))
        error /= size * scales.factor(unit)
        found = max(found, (name, error), key=lambda pair: pair[1])
    return found
