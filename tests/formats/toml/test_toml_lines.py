"""The key locator: every key of a TOML text on its line, whatever the way it is written."""

from __future__ import annotations

import tomllib
from typing import Any

import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.formats.toml.documents import parse
from kinemorph.formats.toml.lines import Lines
from support.tools.each_case import each_case

TEXT = """\
one = 1                                     # 1
a.b."c d" = 3                               # 2
text = \"\"\"x
[not.a.table]
y = 1\\\"\"\" z\"\"\"
[bodies.arm] # [comment]
com = [1,
  2, # ]
  [3, 4]]
"q\\u0041".x = { k = 1, l = { m = [ { n = 1 },
  { n = '=[{' } ] } }
[[list]]                                    # 12
x = 1
[[list]]
x = 2
[list.sub]
y = '''=[[{'''
z = 1979-05-27T07:32:00Z
[[list.deep]]
w = 1
[[list.deep]]
w = 2                                       # 22
"""
LINES = {
    ("one",): 1,
    ("a", "b", "c d"): 2,
    ("a", "b"): 2,
    ("text",): 3,
    ("bodies", "arm"): 6,
    ("bodies", "arm", "com"): 7,
    ("bodies", "arm", "com", 0): 7,
    ("bodies", "arm", "com", 1): 8,
    ("bodies", "arm", "com", 2, 1): 9,
    ("bodies", "arm", "qA", "x", "k"): 10,
    ("bodies", "arm", "qA", "x", "l", "m", 0, "n"): 10,
    ("bodies", "arm", "qA", "x", "l", "m", 1, "n"): 11,
    ("list", 0): 12,
    ("list", 0, "x"): 13,
    ("list", 1, "x"): 15,
    ("list", 1, "sub", "y"): 17,
    ("list", 1, "sub", "z"): 18,
    ("list", 1, "deep", 0, "w"): 20,
    ("list", 1, "deep", 1, "w"): 22,
    ("list", 1, "deep", 1, "not there"): 21,
}


@each_case("path", LINES)
def test_lines(path: tuple[str | int, ...]) -> None:
    tomllib.loads(TEXT)
    assert Lines(TEXT).line(path) == LINES[path]


KEYS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=5)
LEAVES = st.one_of(st.integers(-9, 9), st.booleans(), st.text(st.characters(blacklist_categories=("Cs",)), max_size=8))
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
    ),
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_every_key_of_any_document_is_found(tree: dict[str, Any]) -> None:
    text = tomlkit.dumps(tree)
    if tomllib.loads(text) != tree:  # what tomlkit writes amiss is not ours
        return
    lines = Lines(text)
    rows = text.split("\n")
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((key,), value) for key, value in tree.items()]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, key), inner) for key, inner in value.items()]
        elif not isinstance(value, list) and isinstance(path[-1], str):
            assert path in lines._lines, text
            assert "=" in rows[lines.line(path) - 1]


@each_case(
    ("data", "rule", "line"),
    [
        (b"a = " + b"[" * 10_000, "file", 1),
        (b"\na = " + b"{b=" * 10_000, "file", 2),
        (b"a." * 10_000 + b"a = 1", "file", 1),
        (b"[" + b"a." * 10_000 + b"a]", "file", 1),
        (b"a = 1\nb = [1, 2\n", "syntax", 3),
        (b"a = 1\nb =\n", "syntax", 2),
        (b"[a]\nx = 1\n[a]\n", "syntax", 3),
        (b"a = 1\n\xff", "syntax", 2),
        (b"a = " + b"9" * 5000, "syntax", 0),
        (b"a = [" + b"0," * (limits.ELEMENTS + 1), "file", 0),
        (b"#" * (limits.TOML_SIZE + 1), "file", 0),
        (b"\n" * (limits.ELEMENTS + 1), "file", 0),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_what_cannot_be_read_is_a_finding(data: bytes, rule: str, line: int) -> None:
    findings = Findings("robot.toml")
    assert parse(Source("robot.toml", data), findings) is None
    assert [(finding.rule, finding.line) for finding in findings.found] == [(rule, line)]


def test_limits_are_limits() -> None:
    findings = Findings("robot.toml")
    deep = b"a = " + b"[" * limits.NESTING + b"]" * limits.NESTING
    assert parse(Source("robot.toml", deep), findings) is not None
    assert not findings.found


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab.=[]{}\"',#\\\n 1\r", max_size=60))
def test_any_text_is_walked(text: str) -> None:
    parse(Source("robot.toml", text.encode()), Findings("robot.toml"))
    assert Lines(text).line(("a", 0, "b")) >= 1
