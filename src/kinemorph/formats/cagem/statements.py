"""Splits the text of a CAGeM file into assignments. Nothing is executed: statements that are code are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kinemorph.formats import limits
from kinemorph.formats.cagem.keys import DEPENDENT
from kinemorph.formats.cagem.notations import MUPAD, Notation
from kinemorph.formats.findings import Findings
from kinemorph.model.input_reader import short

_INDEX = re.compile(r"\[\s*(\d{1,9})\s*\]")
_OTHER_DEPENDENT = re.compile(r"\bpi\[")  # another spelling of p[i]
_TARGET = re.compile(r"([^\W\d]\w*)(?:\[(\d+)\])?")
_WORD = re.compile(r"[^\W\d]\w*")
_STRING = r'"(?:[^"\\]|\\.)*"'
CODE = "Only assignments of numbers, formulas and position matrices are read: write the formulas out."
FORCES = "Add the forces as elements, such as AppliedWrench, in Python or in a sidecar file."
OUTPUTS = "Read columns of a run, or give user laws as outputs, in Python."
# functions of CADyn that are left out with a warning: what they give, and what to do instead
FUNCTIONS = {
    "appliedForces": ("it gives forces that are not read: the model moves without them", FORCES),
    "modelOutputs": ("it gives outputs, which are not read", OUTPUTS),
}
_FUNCTION = re.compile(rf"\s*({'|'.join(FUNCTIONS)})\s*\([^()]*\)\s*:=")
_ELASTIC = re.compile(r"\s*(?:ebody\b|elastic_dof\b|[\w\[\]]+@)")
RIGID = "Replace elastic bodies by rigid ones, with joints and springs between them."


class Statement(NamedTuple):
    """An assignment: the name, its index `place` if it has one, the text of the value, and the line where it begins.

    `refused` says that its value is code, for which there is a finding already.
    """

    name: str
    place: int | None
    text: str
    line: int
    refused: bool = False

    @property
    def key(self) -> str:
        """The name with its index, such as "mass[0]"."""
        return self.name if self.place is None else f"{self.name}[{self.place}]"


def read_statements(text: str, notation: Notation, findings: Findings) -> list[Statement]:
    """All assignments of a text; findings for everything else."""
    if len(text) > limits.CAGEM_SIZE:
        problem = f"the file has {len(text)} characters, expected at most {limits.CAGEM_SIZE}"
        findings.error("file", 0, "", problem, "Split the model.")
        return []
    found: list[Statement] = []
    awaited: tuple[str, ...] = ()  # words that end the code that is being skipped
    elastic = False
    for raw, line in _pieces(text, notation, findings):
        words = set(_WORD.findall(re.sub(_STRING, "", raw, flags=re.DOTALL)))
        if awaited:
            awaited = () if not words.isdisjoint(awaited) else awaited
            continue
        if _ELASTIC.match(raw) and notation is not MUPAD:
            if not elastic:  # one finding says it for all
                problem = f"{short(_brief(raw))} describes an elastic body; only rigid bodies are read"
                findings.error("structure", line, _element(raw), problem, RIGID)
            elastic = True
            continue
        function = _FUNCTION.match(raw) if notation is not MUPAD else None
        if function is not None:
            findings.warn("dropped", line, function[1], *FUNCTIONS[function[1]])
            continue
        code = next((word for word in notation.blocks if word in words), "")
        if code:
            problem = f"{short(_brief(raw))} is code ('{code}'), which is not executed"
            findings.error("structure", line, _element(raw), problem, CODE)
            ends = notation.blocks[code]
            found += _refused(raw, line, notation)
            awaited = ends if words.isdisjoint(ends) and any(re.search(rf"\b{end}\b", text) for end in ends) else ()
            continue
        statement = _assignment(raw, line, notation, findings)
        if statement is not None:
            found.append(statement)
    return found


def _pieces(text: str, notation: Notation, findings: Findings) -> Iterator[tuple[str, int]]:
    """The statements of a text without comments, each with its line."""
    pattern = re.compile(
        rf"(?P<comment>{notation.comment})|(?P<string>{_STRING})|(?P<end>{notation.end})|(?P<open>/\*|\")|(?P<rest>.)",
        re.DOTALL,
    )
    kept: list[str] = []
    line, begun = 1, 0
    for match in pattern.finditer(text):
        kind, piece = match.lastgroup, match[0]
        if kind == "open":
            what = "comment" if piece == "/*" else "text in quotes"
            findings.error("syntax", line, "", f"the {what} that begins here does not end", "Add its end.")
            return
        if kind == "end":
            if begun:
                yield "".join(kept), begun
            kept, begun = [], 0
        elif kind == "comment":
            kept.append(" ")
        else:
            if not begun and not piece.isspace():
                begun = line
            if begun:
                kept.append(piece)
        line += piece.count("\n")
    if begun:
        ends = "':' or ';'" if notation is MUPAD else "';' or '$'"
        problem = f"{short(_brief(''.join(kept)))} has no end, expected {ends}"
        findings.error("syntax", begun, _element("".join(kept)), problem, "End every statement with one of these.")


def _assignment(raw: str, line: int, notation: Notation, findings: Findings) -> Statement | None:
    """The assignment that a statement consists of; None, with a finding, if the statement is something else."""
    text = _OTHER_DEPENDENT.sub(f"{DEPENDENT}[", _INDEX.sub(lambda match: f"[{int(match[1])}]", raw))
    target, sign, value = text.partition(notation.sign)
    if not sign:
        expected = f"expected an assignment: name {notation.sign} value"
        problem = f"{short(_brief(raw))} is a command, which is not executed; {expected}"
        findings.error("structure", line, _element(raw), problem, CODE)
        return None
    name = _TARGET.fullmatch(target.strip())
    if value.startswith("=") or (name is None and "(" in target):
        problem = f"{short(_brief(raw))} defines a function, which is not executed"
        findings.error("structure", line, _element(raw), problem, CODE)
        return None
    if name is None:
        problem = (
            f"a value is assigned to {short(target.strip())}, expected a name, such as l0 or mass[{notation.first}]"
        )
        findings.error("name", line, "", problem, "Names begin with a letter; an index is a whole number.")
        return None
    bare = re.sub(_STRING, "", value, flags=re.DOTALL)
    if notation.sign in bare:
        problem = f"{short(_brief(raw))} has two assignments"
        end = "':'" if notation is MUPAD else "';'"
        findings.error("syntax", line, name[0], problem, f"End the first statement with {end}.")
        return None
    return Statement(name[1], None if name[2] is None else int(name[2]), value.strip(), line)


def _refused(raw: str, line: int, notation: Notation) -> list[Statement]:
    """The assignment of code to a name, as a list of one; empty if the code has no name."""
    target = _TARGET.fullmatch(_INDEX.sub(lambda match: f"[{int(match[1])}]", raw).partition(notation.sign)[0].strip())
    if target is None or notation.sign not in raw:
        return []
    return [Statement(target[1], None if target[2] is None else int(target[2]), "", line, refused=True)]


def _brief(raw: str) -> str:
    """A statement on one line."""
    return " ".join(raw.split())


def _element(raw: str) -> str:
    """The first word of a statement, which names it in messages."""
    found = re.match(r"\s*(\w+(?:\[\s*\d+\s*\])?)", raw)
    return found[1] if found else ""
