"""Laws of impacts between rigid bodies, which say how much of the approach is given back.

    Plastic      nothing: contacts that are pressed together stay closed
    Newton       of the velocity: u_n+ = -e u_n-.  With friction it may gain energy, which is reported
    Poisson      of the impulse: the impulse of restitution is e times that of compression
    Energetic    of the energy: the normal impulse gives back e^2 of the work that it took (Stronge); it never gains

Where several contacts are hit, they act at once, or one after the other (`in_sequence`), in the order in which they are
given, until none approaches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kinemorph.errors import ModelError
from kinemorph.model.elements.declared import declaration
from kinemorph.model.parameter import Value


def _checked(law: str, restitution: Value) -> None:
    """Raises ModelError unless a restitution that is a number is between 0 and 1."""
    if isinstance(restitution, (int, float)) and not 0.0 <= restitution <= 1.0:
        raise ModelError(f"{law}: restitution is {restitution:g}; expected a number from 0 (plastic) to 1 (elastic).")


@dataclass(frozen=True)
class Plastic:
    """No restitution: a contact that receives an impulse stays closed, and a contact that would pull opens."""

    in_sequence: bool = False

    @property
    def restitution(self) -> Value:
        """The coefficient of restitution, which is 0."""
        return 0.0


@dataclass(frozen=True)
class Newton:
    """Restitution e of the normal velocity, u_n+ = -e u_n-. With friction it may gain energy."""

    restitution: Value = field(metadata=declaration("number"))
    in_sequence: bool = False

    def __post_init__(self) -> None:
        _checked("Newton", self.restitution)


@dataclass(frozen=True)
class Poisson:
    """Restitution e of the normal impulse: after compression it grows by e times what it was then."""

    restitution: Value = field(metadata=declaration("number"))
    in_sequence: bool = False

    def __post_init__(self) -> None:
        _checked("Poisson", self.restitution)


@dataclass(frozen=True)
class Energetic:
    """Restitution e of the energy: the normal impulse gives back e^2 of the work of compression (Stronge)."""

    restitution: Value = field(metadata=declaration("number"))
    in_sequence: bool = False

    def __post_init__(self) -> None:
        _checked("Energetic", self.restitution)


ImpactLaw: TypeAlias = Plastic | Newton | Poisson | Energetic
