"""Results that are computed once for an object and cached as long as the object lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")


def kept_with(make: Callable[[K], T]) -> Callable[[K], T]:
    """A decorator: `make(owner)` is called once for each owner, and its result is cached until the owner is freed.

    The result must not refer to the owner, or neither of them is ever freed.
    """
    kept: WeakKeyDictionary[K, T] = WeakKeyDictionary()

    @wraps(make)
    def found(owner: K) -> T:
        if owner not in kept:
            kept[owner] = make(owner)
        return kept[owner]

    return found
