"""Writes numbers and poses of an MJCF file, and collects warnings about data that are left out."""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.algebra.groups import IDENTITY, Pose, rotation_to_quat
from kinemorph.formats.findings import Findings
from kinemorph.formats.xml_documents import Node
from kinemorph.words import quoted

FAR = 1e10  # [rad] or [m], [N] or [N m]: written instead of infinity where there is a limit in one direction only


def number(x: float) -> str:
    """A number as text that is read back without rounding; whole numbers have no decimal point."""
    x = float(x) + 0.0
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def numbers(values: Iterable[float]) -> str:
    """Numbers as text, separated by spaces."""
    return " ".join(number(x) for x in values)


def place(node: Node, pose: Pose) -> None:
    """Writes `pos` and `quat` of a node, each unless it is that of the identity."""
    if any(pose.p):
        node.set("pos", numbers(pose.p))
    if pose.R != IDENTITY.R:
        node.set("quat", numbers(rotation_to_quat(pose.R)))


class Losses:
    """Collects data that MJCF cannot express, and reports them once for each kind."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.found: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, name: str, remedy: str = "Save the model as TOML, too, to keep all data.") -> None:
        """Records that `what` applies to the part `name`, which is left out or not expressed exactly."""
        self.found.setdefault((what, remedy), []).append(name)

    def report(self) -> None:
        """Records one warning for each kind of data, with the names of the parts."""
        for (what, remedy), names in self.found.items():
            self.findings.warn("dropped", 0, "", f"{what}: {quoted(names, 4)}", remedy)
