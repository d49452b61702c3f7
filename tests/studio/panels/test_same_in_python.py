"""Texts of Python and of commands that panels show: what they say is what was given."""

from __future__ import annotations

import ast
import shlex
from typing import Any

import pytest

from kinemorph.studio.panels.same_in_python import Code, call, command, same, script, written

VALUES: list[Any] = [
    "plain", 'a "quoted" name', "it's", "back\\slash\nline", "ümlaut", 0.1, 1e-300, -0.0, 7, True, None,
    [1, [2.5, "x"]], {"knee": 0.5, "a b": [1]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_written_so_that_python_reads_them_back(value: Any) -> None:
    assert ast.literal_eval(written(value)) == value


def test_a_long_call_has_a_line_for_each_argument_and_means_the_same() -> None:
    given = {f"name_{k}": "x" * 20 for k in range(6)}
    text = call("km.simulate", Code("system"), 5.0, rest=None, **given)
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.Expr) and isinstance(found.value, ast.Call)
    assert max(map(len, text.splitlines())) < 100 and isinstance(found.value.args[0], ast.Name)
    assert {one.arg: ast.literal_eval(one.value) for one in found.value.keywords} == given


def test_a_command_is_split_by_the_shell_into_what_was_given() -> None:
    text = command(
        "simulate", "my robot; rm -rf $HOME.toml", run="a'b", output_step=0.01, json=True, lock=["x", "y"], q=None
    )
    assert shlex.split(text) == [
        *("kinemorph", "simulate", "my robot; rm -rf $HOME.toml", "--run", "a'b", "--output-step", "0.01", "--json"),
        *("--lock", "x", "--lock", "y"),
    ]
    assert same(script("a", "b"), text) == {"python": "a\nb\n", "command": text}
