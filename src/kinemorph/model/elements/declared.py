"""What a field of a dataclass says about its numbers: kind of quantity, unit and bounds, once, in its metadata.

Checks (`elements.field_problems`), model files, their JSON schema and the forms of the studio read it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple


class Bounds(NamedTuple):
    """The numbers that a field may have. None: no such bound; `infinite`: whether infinite numbers mean something."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    infinite: bool = False

    def hold(self, x: float) -> bool:
        """Whether a number is within these bounds; NaN is not."""
        return (
            (math.isfinite(x) or (self.infinite and not math.isnan(x)))
            and (self.least is None or x >= self.least)
            and (self.above is None or x > self.above)
            and (self.most is None or x <= self.most)
            and (self.below is None or x < self.below)
        )

    def words(self, *, whole: bool = False) -> str:
        """A number within these bounds in words: "a finite number above 0"."""
        if self.least is not None and self.most is not None:
            return f"a{' whole' if whole else ''} number from {self.least:g} to {self.most:g}"
        low = f"of at least {self.least:g}" if self.least is not None else ""
        low = f"above {self.above:g}" if self.above is not None else low
        high = f"of at most {self.most:g}" if self.most is not None else ""
        high = f"below {self.below:g}" if self.below is not None else high
        if low and high:
            high = high.removeprefix("of ")
        finite = " whole" if whole else "" if self.infinite or (low and high) else " finite"
        return f"a{finite} number {' and '.join(filter(None, (low, high)))}".rstrip()


def bounds_of(field: dataclasses.Field[Any]) -> Bounds:
    """The bounds of the numbers of a field, which may be infinite if its default is."""
    bounds: Bounds = field.metadata.get("bounds", Bounds())
    alone = field.default[0] if isinstance(field.default, tuple) and field.default else field.default
    return bounds._replace(infinite=True) if isinstance(alone, float) and math.isinf(alone) else bounds


def declaration(
    kind: str | tuple[str, str] = "",
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    **more: Any,
) -> Mapping[str, Any]:
    """The metadata of a field: the kind of quantity, a key of `units.KINDS`, and the bounds of its numbers.

    The bounds hold for every number of a field with several, and for the nominal values of parameters. Numbers have to
    be finite, unless they are `infinite` or the default is. Of `more`, `give` is the sentence that says how to correct
    a number, where the bounds do not tell it; `scaling.parts` reads `unit`, `pair`, `rows` and `per`.
    """
    return {"kind": kind, "bounds": Bounds(least, above, most, below, infinite), **more}


def declared(default: Any, kind: str | tuple[str, str] = "", **more: Any) -> Any:
    """A field of a dataclass with a default; the further arguments are those of its `declaration`."""
    return dataclasses.field(default=default, metadata=declaration(kind, **more))
