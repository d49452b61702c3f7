"""An arm as a TOML model file, and what the reader makes of such texts: a system, or the first thing that is wrong."""

from __future__ import annotations

from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import reader as toml
from kinemorph.model.system import System

ARM = """\
kinemorph = 1
name = "arm"
[bodies.link]
mass = 1
inertia = [0.1, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
parent = "world"
child = "link"
"""


def read(text: str, *, options: Options | None = None) -> tuple[System | None, list[Finding]]:
    findings = Findings("arm.toml")
    return toml.read(Source("arm.toml", text.encode()), options or Options(), findings), findings.found


def sound(text: str) -> System:
    system, found = read(text)
    assert found == []
    assert system is not None
    return system


def told(text: str) -> tuple[str, int, str]:
    """(rule, line, problem) of the first thing found; the file must not load."""
    system, found = read(text)
    assert system is None
    assert found
    for finding in found:
        assert finding.remedy.endswith((".", "?")), finding
        assert not finding.problem.endswith("."), finding
        assert finding.line > 0 or finding.rule == "file", finding
    return found[0].rule, found[0].line, found[0].problem
