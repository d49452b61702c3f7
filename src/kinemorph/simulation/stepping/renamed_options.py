"""Options that have a new name: the old name still works, with a warning that gives the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from kinemorph.errors import users_level

F = TypeVar("F", bound=Callable[..., Any])

NEW_NAMES = {"largest": "max_step", "smallest": "min_step", "sample": "output_step"}


def takes_old_names(function: F) -> F:
    """The same function, which also takes the old names of its keyword arguments."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        for old in given.keys() & NEW_NAMES.keys():
            new = NEW_NAMES[old]
            if new in given:
                raise TypeError(f"both {old}= and {new}= are given, which are one option. Give {new}= only.")
            warnings.warn(
                f"{old}= is now called {new}=. Rename it: the old name will be removed.",
                DeprecationWarning,
                stacklevel=users_level(),
            )
            given[new] = given.pop(old)
        return function(*args, **given)

    return called  # type: ignore[return-value]
