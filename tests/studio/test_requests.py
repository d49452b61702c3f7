"""The table of questions: what a page sends is checked against the signature of the function that answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kinemorph.errors import UnsupportedError
from kinemorph.studio import requests


@pytest.fixture
def thing() -> Iterator[str]:
    """A question with an argument of every type."""

    @requests.request("test thing")
    def answer(
        session: Any, channel: Any, *, name: str, turn: int = 0, mass: float = 1.0, on: bool = False,
        rows: list[Any] | None = None, data: Any = None, either: int | dict[str, Any] = 0, loose: int | bytes = 0,
    ) -> tuple[Any, ...]:  # fmt: skip
        return session, channel, name, turn, mass, on, rows, data, either, loose

    yield "test thing"
    del requests.REQUESTS["test thing"]


def test_right_arguments_reach_the_function(thing: str) -> None:
    given = {
        "name": "x",
        "turn": 2,
        "mass": 3,
        "on": True,
        "rows": [1],
        "data": object(),
        "either": {"a": 1},
        "loose": "x",
    }
    assert requests.answer(1, 2, thing, given) == (1, 2, *given.values())
    assert requests.answer(1, 2, thing, {"name": "x", "rows": None}) == (1, 2, "x", 0, 1.0, False, None, None, 0, 0)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "'test thing' lacks the argument name; expected: name."),
        ({"name": "x", "nmae": 1}, "'test thing' has no argument 'nmae'; expected: name, turn, mass, on, rows"),
        ({"name": 1}, "argument name of 'test thing' is '1'; expected a text."),
        ({"name": None}, "argument name of 'test thing' is 'None'; expected a text."),
        ({"name": "x", "turn": 1.0}, "argument turn of 'test thing' is '1.0'; expected a whole number."),
        ({"name": "x", "turn": True}, "argument turn of 'test thing' is 'True'; expected a whole number."),
        ({"name": "x", "mass": True}, "argument mass of 'test thing' is 'True'; expected a number."),
        ({"name": "x", "mass": "1"}, "argument mass of 'test thing' is '1'; expected a number."),
        ({"name": "x", "on": 1}, "argument on of 'test thing' is '1'; expected true or false."),
        ({"name": "x", "rows": {}}, "argument rows of 'test thing' is '{}'; expected a list or null."),
        ({"name": "x", "either": "y"}, "argument either of 'test thing' is 'y'; expected a whole number or a table."),
    ],
)
def test_wrong_arguments_get_a_sentence(thing: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        requests.answer(None, None, thing, given)
    assert str(refused.value).startswith(sentence)


def test_an_unknown_question_is_compared_with_those_of_all_panels() -> None:
    with pytest.raises(UnsupportedError, match=r"question is 'compare_run'; .*Did you mean 'compare_runs'"):
        requests.answer(None, None, "compare_run", {})
