"""The table of `kinemorph bench track` as text."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.bench.tables import RATIO, VERDICT, grid, number, text, three_digits
from kinemorph.bench.timing import Row
from kinemorph.display.tables.grid import Grid


def tracking_grid(rows: Sequence[Row]) -> Grid:
    """The table of a recorded fly: time per frame, and the distances that are left."""
    shown = (text("contestant"), number("frames"), number("ms per frame", "ms_per_frame", three_digits))
    ends = (number("distance µm", "rms_um", "{:.1f}"), RATIO, text("target"), VERDICT)
    return grid("a recorded fly, 24 points beyond the hips: CPU time, SeqIKPy / ours", (*shown, *ends), rows, "track")
