"""Motions from recorded markers: points that cameras measured, frame by frame.

from kinemorph.tracking import load_markers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "Markers": "kinemorph.analysis.tracking.markers",
    "load_markers": "kinemorph.analysis.tracking.load_markers",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.tracking.load_markers import load_markers as load_markers
    from kinemorph.analysis.tracking.markers import Markers as Markers
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
