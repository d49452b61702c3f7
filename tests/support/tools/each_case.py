"""Many small cases in one test: a test item costs some milliseconds in every process, whatever it checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

PART = "part"  # the parameter that says which share of the cases a test item checks


def each_case(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[object] | None = None,
    parts: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but one test item checks all cases, or `parts` items a share of them each.

    Every case is checked, whatever became of those before it. An error says in a note which case it belongs to; several
    are raised as a group. The cases of an item share its fixtures, but for `tmp_path`: each has a folder of its own.
    An item counts as skipped where all its cases are. Decorators of this kind can be stacked.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [(case,) if len(listed) == 1 else tuple(case) for case in cases]
    if callable(ids) or ids is None:
        ids = [", ".join(str((ids or repr)(value)) for value in row) for row in rows]
    table = [(f"{', '.join(listed)} = {label}", row) for label, row in zip(ids, rows, strict=True)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            skips: list[BaseException] = []
            chosen = table[fixtures.pop(PART, 0) :: parts]
            folder = fixtures.get("tmp_path")
            for number, (label, row) in enumerate(chosen):
                if folder is not None:
                    fixtures["tmp_path"] = folder / str(number)
                    fixtures["tmp_path"].mkdir()
                try:
                    test(**dict(zip(listed, row, strict=True)), **fixtures)
                except pytest.skip.Exception as skip:
                    skips.append(skip)
                except (Exception, pytest.fail.Exception, Cases) as error:
                    for one in error.exceptions if isinstance(error, Cases) else [error]:
                        one.add_note(f"case: {label}")
                        failures.append(one)
            if len(failures) > 1:
                raise Cases(f"{len(failures)} cases failed", failures)
            if failures or 0 < len(skips) == len(chosen):
                raise [*failures, *skips][0]

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in listed]
        share = [inspect.Parameter(PART, inspect.Parameter.KEYWORD_ONLY)] if parts > 1 else []
        run.__signature__ = signature.replace(parameters=[*left, *share])  # type: ignore[attr-defined]
        return pytest.mark.parametrize(PART, range(parts))(run) if parts > 1 else run

    return decorate


class Cases(BaseExceptionGroup[BaseException]):
    """The errors of several cases of one test."""
