"""Motions from recorded markers: points that cameras measured, frame by frame.

from kinemorph.tracking import load_markers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "Markers": "kinemorph.analysis.tracking.markers",
    "load_markers": "kinemorph.analysis.tracking.load_markers",
    # pictures of several cameras
    "View": "kinemorph.analysis.tracking.views",
    "Filmed": "kinemorph.analysis.tracking.filmed",
    "load_view": "kinemorph.analysis.tracking.filmed",
    "calibrated": "kinemorph.analysis.tracking.calibrated",
    "reconstruct": "kinemorph.analysis.tracking.reconstruct",
    "Reconstructed": "kinemorph.analysis.tracking.reconstruct",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.tracking.calibrated import calibrated as calibrated
    from kinemorph.analysis.tracking.filmed import Filmed as Filmed
    from kinemorph.analysis.tracking.filmed import load_view as load_view
    from kinemorph.analysis.tracking.load_markers import load_markers as load_markers
    from kinemorph.analysis.tracking.markers import Markers as Markers
    from kinemorph.analysis.tracking.reconstruct import Reconstructed as Reconstructed
    from kinemorph.analysis.tracking.reconstruct import reconstruct as reconstruct
    from kinemorph.analysis.tracking.views import View as View
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
