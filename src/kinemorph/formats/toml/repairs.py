"""Repairs of a TOML file: values that may safely be written in place of others, comments and layout kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.formats.toml.lines import Path

LARGEST = 200_000  # bytes of a file that is repaired


class Repairs:
    """Makes repairs for findings. The document that they act on is parsed when the first one is wanted."""

    def __init__(self, source: Source, findings: Findings) -> None:
        self.source, self.findings = source, findings

    def repair(self, values: Mapping[Path, Any]) -> Callable[[], None] | None:
        """What writes these values into the document; None for a file that is too large to be worth it."""
        if self.findings.document is None and not self._parsed():
            return None
        document = self.findings.document

        def mend() -> None:
            for path, value in values.items():
                table: Any = document
                for key in path[:-1]:
                    table = table[key]
                table[path[-1]] = value

        return mend

    def _parsed(self) -> bool:
        """Parses the document with its layout, which takes much longer than to read it."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        if len(self.source.data) > LARGEST:
            return False
        try:
            self.findings.document = tomlkit.parse(self.source.data.decode("utf-8-sig"))
        except (TOMLKitError, RecursionError, ValueError):  # it is stricter than tomllib in places
            return False
        return True
