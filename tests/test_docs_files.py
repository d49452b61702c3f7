"""The page on model files: its tables are those of the code, and its session on the command line is a true one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from command_line import run
from kinemorph.model.formats import limits
from kinemorph.model.formats.rules import RULES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "files.md"
LIMITS = {
    "FILE_SIZE": "size of a file",
    "NESTING": "elements or brackets inside one another",
    "ELEMENTS": "XML elements, TOML keys or values",
    "TOML_SIZE": "size of a TOML file",
    "BODIES": "bodies",
    "NAME_LENGTH": "length of a name",
    "FINDINGS": "findings that are told one by one",
    "TEXT_LENGTH": "length of a name, a reason or a remedy in a message",
}
UNITS = {"FILE_SIZE": " bytes", **dict.fromkeys(("TOML_SIZE", "NAME_LENGTH", "TEXT_LENGTH"), " characters")}


def between(start: str, end: str, table: str, request: pytest.FixtureRequest) -> None:
    """Compares a table of the page with what it should be; --update-golden writes it."""
    text = PAGE.read_text(encoding="utf-8")
    first, last = text.index(start), text.index(end)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text[:first] + table + "\n\n" + text[last:], encoding="utf-8")
    else:
        assert text[first:last].strip() == table, "run this test with --update-golden"


def test_the_rules_are_those_of_the_code(request: pytest.FixtureRequest) -> None:
    rows = "\n".join(f"| `{rule}` | {says} |" for rule, says in RULES.items())
    between("| rule | says |", "<!-- end of rules -->", f"| rule | says |\n|---|---|\n{rows}", request)


def test_the_limits_are_those_of_the_code(request: pytest.FixtureRequest) -> None:
    named = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert set(LIMITS) == set(named), "name the new limit here"
    rows = "\n".join(f"| {LIMITS[name]} | {value:,}{UNITS.get(name, '')} |" for name, value in named.items())
    between("| limit | |", "<!-- end of limits -->", f"| limit | |\n|---|---|\n{rows}", request)


def test_the_session_is_a_true_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (model,) = re.findall(r"^```xml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(model)
    for session in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        played = ""
        for command in re.findall(r"^\$ kinemorph (.*)$", session, re.MULTILINE):
            result = run(*shlex.split(command))
            played += f"$ kinemorph {command}\n{result.output}"
        if request.config.getoption("--update-golden"):
            PAGE.write_text(PAGE.read_text(encoding="utf-8").replace(session, played), encoding="utf-8")
        else:
            assert session == played, "run this test with --update-golden and read what has changed"
