"""Exact derivatives along a motion, for laws about rates: one pass of dual numbers, no differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.dual import Direction


def rate_along(function: Callable[..., Any], *pairs: tuple[Sequence[float], Sequence[float]]) -> np.ndarray:
    """d/dt function(x, y, ...) as an array, where each pair holds an argument and its rate."""
    along = Direction()
    arguments = [along.all_moved(map(float, x), map(float, dx)) for x, dx in pairs]
    return np.array(_tangents(function(*arguments), along), dtype=float)


def numbers(nested: Any) -> np.ndarray:
    """Nested sequences of floats as an array."""
    return np.array(_plain(nested), dtype=float)


def _tangents(nested: Any, along: Direction) -> Any:
    if isinstance(nested, (list, tuple)):
        return [_tangents(item, along) for item in nested]
    return along.tangent(nested)


def _plain(nested: Any) -> Any:
    return [_plain(item) for item in nested] if isinstance(nested, (list, tuple)) else nested
