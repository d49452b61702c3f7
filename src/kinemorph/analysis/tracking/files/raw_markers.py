"""What a file with markers holds, before it becomes `Markers`, and its units of length and time."""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.model.units import in_si, parse_unit, with_article


class RawMarkers(NamedTuple):
    """The content of a file: names, times [s] (n,), positions [m] (n, k, 3), weights (n, k) or None.

    `ignored` are names of columns that were not read.
    """

    names: list[str]
    times: Array
    positions: Array
    weights: Array | None = None
    ignored: tuple[str, ...] = ()


def factor_to_si(label: str, what: str, unit: str, kind: str, default: str) -> float:
    """The factor from a unit of a length or a time to SI; an empty `unit` counts as `default`.

    Raises ShapeError where the unit is unknown or of another kind; `what` names the part of the file in the message.
    """
    try:
        found = parse_unit(unit or default)
    except ValueError:
        found = None
    if found is None or found.powers != parse_unit(default).powers:
        raise ShapeError(
            f"recording '{label}': {what} has the unit '{unit}'; expected that of {with_article(kind)}, such as "
            f"'{'mm' if kind == 'length' else 'ms'}'. Give the true unit, in the file or as an argument."
        )
    return in_si(1.0, found)


def times_of_frames(label: str, rate: float | None, frames: Array) -> Array:
    """Times [s] of frames that a file only counts, by the frame rate [1/s]."""
    if rate is None:
        raise ShapeError(
            f"recording '{label}' has numbers of frames and no times. Give the frames per second: rate=200, --rate 200."
        )
    check_rate(rate)
    found: Array = frames / rate
    return found


def check_rate(rate: float) -> None:
    """Raises ShapeError for a frame rate [1/s] that is not a finite number above 0."""
    if not 0.0 < rate < math.inf:
        raise ShapeError(f"rate is {rate:g}; expected frames per second, larger than 0. Give the rate of the camera.")
