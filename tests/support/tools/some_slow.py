"""Values of parametrized tests of which only the first belong to the default run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(values: Iterable[Any], count: int) -> list[Any]:
    """The values for `pytest.mark.parametrize`; those after the first `count` are marked slow.

    Tuples are values of several parameters.
    """
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*row, marks=[pytest.mark.slow] * (k >= count)) for k, row in enumerate(rows)]
