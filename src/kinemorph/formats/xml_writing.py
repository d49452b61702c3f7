"""Numbers of XML files that are written, and warnings about data that their formats cannot express."""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.formats.findings import Findings
from kinemorph.words import quoted

TOO = "Save the model as TOML, too, to keep all data."


def number(x: float) -> str:
    """A number as text that is read back without rounding; whole numbers have no decimal point."""
    x = float(x) + 0.0  # turns -0.0 into 0.0
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def numbers(values: Iterable[float]) -> str:
    """Numbers as text, separated by spaces."""
    return " ".join(number(x) for x in values)


class Losses:
    """Collects data that a format cannot express, and reports them once for each kind."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.found: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, name: str, remedy: str = TOO) -> None:
        """Records that `what` applies to the part `name`, which is left out or not expressed exactly."""
        self.found.setdefault((what, remedy), []).append(name)

    def report(self) -> None:
        """Records one warning for each kind of data, with the names of the parts."""
        for (what, remedy), names in self.found.items():
            self.findings.warn("dropped", 0, "", f"{what}: {quoted(list(dict.fromkeys(names)), 4)}", remedy)
