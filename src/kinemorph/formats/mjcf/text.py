"""Numbers, poses and warnings of an MJCF file that is being written."""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.algebra.groups import IDENTITY, Pose, rotation_to_quat
from kinemorph.formats.findings import Findings
from kinemorph.formats.xml_documents import Node


def number(x: float) -> str:
    """A number that reads back to the last bit; whole numbers without a point."""
    x = float(x) + 0.0
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def numbers(values: Iterable[float]) -> str:
    """Numbers with spaces between."""
    return " ".join(number(x) for x in values)


def place(node: Node, pose: Pose) -> None:
    """Writes the pose of a part, where it is not its parent's frame."""
    if any(pose.p):
        node.set("pos", numbers(pose.p))
    if pose.R != IDENTITY.R:
        node.set("quat", numbers(rotation_to_quat(pose.R)))


class Losses:
    """Data that MJCF cannot express, by kind; reported at the end, once for each kind."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.found: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, name: str, remedy: str = "Keep it in a TOML file.") -> None:
        """Records a part that is left out, or not expressed exactly."""
        self.found.setdefault((what, remedy), []).append(name)

    def tell(self) -> None:
        """The warnings."""
        for (what, remedy), names in self.found.items():
            listed = ", ".join(f"'{name}'" for name in names[:4]) + (", ..." if len(names) > 4 else "")
            self.findings.warn("dropped", 0, "", f"{what} ({len(names)}: {listed})", remedy)
