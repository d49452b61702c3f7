"""Scales: by how much lengths, masses, times and voltages of one system are larger than those of another.

The factor of every other quantity follows from its unit, as in dimensional analysis: a quantity in kg^a m^b s^c has the
factor mass^a length^b time^c. If only the length is given, the systems are similar in the sense of Froude: both move
under the same gravity and are made of a material of the same density,

    time = sqrt(length),    mass = length^3

so that speeds have the factor sqrt(length), forces length^3, and angles and friction coefficients stay the same.

Electrical quantities need a fourth factor. It is that of voltages, which is 1 by default: the larger system has the
same supply. Currents then have the factor of powers, mass length^2 / time^3, divided by that of voltages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from kinemorph.errors import ModelError
from kinemorph.model.units import BASES, parse_unit

LARGEST = 1e12  # of all factors, so that their products stay within the range of floating-point numbers


@dataclass(frozen=True)
class Scales:
    """The factors of lengths, masses, times and voltages; `factor` gives that of any unit.

    Without `time` it is the square root of `length`, without `mass` the third power of `length`: Froude similarity. All
    factors are numbers from 1e-12 to 1e12.
    """

    length: float = 1.0
    mass: float | None = None
    time: float | None = None
    voltage: float = 1.0

    def __post_init__(self) -> None:
        for name in ("length", "mass", "time", "voltage"):
            given = getattr(self, name)
            if given is None:
                continue
            plain = isinstance(given, Real) and not isinstance(given, bool)
            if not (plain and 1.0 / LARGEST <= given <= LARGEST):
                raise ModelError(
                    f"scaled: {name} is {given!r:.60}; expected a finite number above 0, from {1.0 / LARGEST:g} to "
                    f"{LARGEST:g}, by which every {name} is multiplied. Give 4, for example, for four times as much."
                )
            object.__setattr__(self, name, float(given))
        if self.mass is None:
            object.__setattr__(self, "mass", self.length**3)
        if self.time is None:
            object.__setattr__(self, "time", math.sqrt(self.length))

    def factor(self, unit: str) -> float:
        """The factor of quantities in this unit, such as "N m/rad"; 1 for an empty unit. Raises ValueError if unknown.

        A unit may be any unit of its kind: the factor is the same for "m" and for "mm".
        """
        if not unit.strip():
            return 1.0
        powers = parse_unit(unit).powers
        bases = self._bases
        return math.prod(bases[base] ** power for base, power in zip(BASES, powers, strict=True) if power)

    @property
    def _bases(self) -> dict[str, float]:
        """The factors of the base units of SI, and of the radian."""
        assert self.mass is not None and self.time is not None
        power = self.mass * self.length**2 / self.time**3
        current = power / self.voltage
        return {"m": self.length, "kg": self.mass, "s": self.time, "A": current, "K": 1.0, "rad": 1.0}
