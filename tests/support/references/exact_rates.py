"""Exact derivatives along a motion, for laws about rates: one pass of dual numbers, no differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.dual import Dual

LEVEL = 50  # above every level that the mechanics open themselves


def rate_along(function: Callable[..., Any], *pairs: tuple[Sequence[float], Sequence[float]]) -> np.ndarray:
    """d/dt function(x, y, ...) as an array, where each pair holds an argument and its rate."""
    arguments = [[Dual(float(x), float(dx), LEVEL) for x, dx in zip(*pair, strict=True)] for pair in pairs]
    return np.array(_tangents(function(*arguments)), dtype=float)


def numbers(nested: Any) -> np.ndarray:
    """Nested sequences of floats as an array."""
    return np.array(_plain(nested), dtype=float)


def _tangents(nested: Any) -> Any:
    if isinstance(nested, (list, tuple)):
        return [_tangents(item) for item in nested]
    return nested.tangent if isinstance(nested, Dual) and nested.level == LEVEL else 0.0


def _plain(nested: Any) -> Any:
    return [_plain(item) for item in nested] if isinstance(nested, (list, tuple)) else nested
