"""Names of a model stay names, and remarks stay remarks, whatever a model is called."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinemorph.codegen.backends.identifiers import LONGEST, comment, identifier

HOSTILE = [
    '"; system("x")',
    "*/ int main(){",
    "a\nb",
    "%s",
    "\\",
    "??/",
    "",
    "7up",
    "_x",
    "__attribute__",
    "a" * 300,
    "é",
]


@given(st.text())
def test_identifier_is_one_in_every_language(name):
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", identifier(name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("left knee", "left_knee"),
        ("hexapod36.forward_dynamics", "hexapod36_forward_dynamics"),
        ("7up", "x7up"),
        ("", "x"),
        ("été", "ete"),
        ("τ_1", "tau_1"),
        ("Ω", "Omega"),
        ('"; system("x")', "system_x"),
        ("*/ int main(){", "int_main"),
    ],
)
def test_readable_names_stay_readable(name, expected):
    assert identifier(name) == expected


def test_collisions_and_reserved_words():
    taken: list[str] = []
    for name in [*HOSTILE, "a b", "a-b", "a_b", "int", "for", *HOSTILE]:
        taken.append(identifier(name, taken, keyword.kwlist))
    assert len(set(taken)) == len(taken)
    assert not set(taken) & set(keyword.kwlist)
    assert max(map(len, taken)) <= LONGEST + 4
    assert identifier("for", reserved=["for"]) == "for_"
    assert identifier("for", taken=["for_"], reserved=["for"]) == "for_2"


@given(st.text() | st.text(alphabet="*/\\?\"'\n# -%{}<"))
def test_comment_cannot_be_ended_or_continued(text):
    line = comment(text)
    assert re.fullmatch(r"[ -~]*", line)
    for closer in ("*/", "/*", "\\", '"', "??"):
        assert closer not in line


def test_comment_keeps_plain_text():
    assert comment("arm 2: 36 dof, 50% of mass") == "arm 2: 36 dof, 50% of mass"
    assert comment("a\r\n\tb*/c") == "a b* /c"
