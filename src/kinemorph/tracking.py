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
    # lengths of a robot
    "scaled_segments": "kinemorph.analysis.tracking.segment_lengths",
    "ScaledSegments": "kinemorph.analysis.tracking.segment_lengths",
    "scaled_bodies": "kinemorph.mechanics.scaling.scaled_bodies",
    "check_markers": "kinemorph.analysis.tracking.marker_checks",
    # recordings of known motions
    "synthetic_markers": "kinemorph.analysis.tracking.synthetic",
    "tripod_markers": "kinemorph.analysis.tracking.synthetic",
    "disturbed": "kinemorph.analysis.tracking.synthetic",
    "film": "kinemorph.analysis.tracking.synthetic",
    "track": "kinemorph.analysis.tracking.track",
    "Tracked": "kinemorph.analysis.tracking.tracked",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.tracking.calibrated import calibrated as calibrated
    from kinemorph.analysis.tracking.filmed import Filmed as Filmed
    from kinemorph.analysis.tracking.filmed import load_view as load_view
    from kinemorph.analysis.tracking.load_markers import load_markers as load_markers
    from kinemorph.analysis.tracking.marker_checks import check_markers as check_markers
    from kinemorph.analysis.tracking.markers import Markers as Markers
    from kinemorph.analysis.tracking.reconstruct import Reconstructed as Reconstructed
    from kinemorph.analysis.tracking.reconstruct import reconstruct as reconstruct
    from kinemorph.analysis.tracking.segment_lengths import ScaledSegments as ScaledSegments
    from kinemorph.analysis.tracking.segment_lengths import scaled_segments as scaled_segments
    from kinemorph.analysis.tracking.synthetic import disturbed as disturbed
    from kinemorph.analysis.tracking.synthetic import film as film
    from kinemorph.analysis.tracking.synthetic import synthetic_markers as synthetic_markers
    from kinemorph.analysis.tracking.synthetic import tripod_markers as tripod_markers
    from kinemorph.analysis.tracking.track import track as track
    from kinemorph.analysis.tracking.tracked import Tracked as Tracked
    from kinemorph.analysis.tracking.views import View as View
    from kinemorph.mechanics.scaling.scaled_bodies import scaled_bodies as scaled_bodies
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
