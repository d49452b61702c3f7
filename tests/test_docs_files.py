"""The page on model files: its tables are those of the code, and its session on the command line is a true one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kinemorph.formats import limits
from kinemorph.formats.findings import RULES
from support.tools.command_line import run

PAGE = Path(__file__).resolve().parent.parent / "docs" / "files.md"


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
    source = Path(limits.__file__).read_text(encoding="utf-8")
    rows = []
    for name, comment in re.findall(r"^([A-Z_]+) = [^#\n]*(?:# (.*))?$", source, re.MULTILINE):
        value = getattr(limits, name)
        rows.append(f"| `{name}` | {value:,} | {comment or name.lower()} |")
    between(
        "| limit | value |",
        "<!-- end of limits -->",
        "\n".join(["| limit | value | |", "|---|---|---|", *rows]),
        request,
    )


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
