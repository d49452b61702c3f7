"""Values of parametrized tests of which only the first belong to the default run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(values: Iterable[Any], count: int) -> list[Any]:
    """The values for `pytest.mark.parametrize`; those after the first `count` are marked slow."""
    listed = list(values)
    return [*listed[:count], *(pytest.param(value, marks=pytest.mark.slow) for value in listed[count:])]
