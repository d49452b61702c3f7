"""Units by the exponents of the base units of SI, as FMI defines them; and units in which values are shown."""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.model.units import BASES, parse_unit

# the unit of a variable: units in which a tool may show its values, and their factors
SHOWN: dict[str, dict[str, float]] = {
    "rad": {"deg": 180.0 / math.pi},
    "rad/s": {"deg/s": 180.0 / math.pi, "rpm": 30.0 / math.pi},
    "rad/s^2": {"deg/s^2": 180.0 / math.pi},
}


class UnitDefinition(NamedTuple):
    """A unit: its factor and the exponents of base units, None where it is not known; and units to show values in."""

    name: str
    factor: float
    powers: dict[str, int] | None
    shown: dict[str, float]


def unit_definition(name: str) -> UnitDefinition:
    """The definition of a unit of a model. A unit that is not known has a name alone."""
    try:
        unit = parse_unit(name)
    except ValueError:
        return UnitDefinition(name, 1.0, None, {})
    powers = {base: power for base, power in zip(BASES, unit.powers, strict=True) if power}
    return UnitDefinition(name, float(unit.scale) * math.pi**unit.turns, powers, SHOWN.get(name, {}))


def display_unit(name: str) -> str:
    """The unit in which values of a unit are shown at first; empty for the unit itself."""
    return next(iter(SHOWN.get(name, {})), "")
