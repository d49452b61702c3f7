"""TRC, the text format of Motion Analysis that OpenSim reads: five lines of heads, then one line for each frame.

    PathFileType  4  (X/Y/Z)  walk.trc
    DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
    200  200  2  1  mm  200  1  2
    Frame#  Time  foot
                  X1  Y1  Z1

    1  0.000  12.5  3.0  0.1

Cells are separated by tabs, and a point that is missing has empty cells.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinemorph.analysis.recorded_tables import read_lines
from kinemorph.analysis.tracking.files.raw_markers import RawMarkers, factor_to_si, times_of_frames
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import ShapeError
from kinemorph.words import counted

KEYS = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"


def read(path: Path, unit: str | None, rate: float | None) -> RawMarkers:
    """The markers of a .trc file; `unit` and `rate` replace those that the file states."""
    lines = read_lines(path, "a text file in the format TRC")
    if len(lines) < 6 or not lines[0].startswith("PathFileType"):
        raise ShapeError(
            f"recording '{path.name}' has {counted(len(lines), 'line')} and does not begin with 'PathFileType' and "
            "five lines of heads, as TRC files do. Give a TRC file, or save the markers as .csv."
        )
    stated = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    names = [cell.strip() for cell in lines[3].split("\t")[2:] if cell.strip()]
    said = stated.get("NumMarkers", "").strip()
    if said.isdecimal() and int(said) != len(names):
        raise ShapeError(
            f"recording '{path.name}' states NumMarkers {said} in line 3 and names {len(names)} markers in line 4. "
            "Correct one of the two lines."
        )
    given = unit or stated.get("Units", "")
    factor = factor_to_si(path.name, "Units in line 3", given, "length", "m")
    rows = []
    for number, line in enumerate(lines[5:], 6):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.rstrip().split("\t")]
        if len(cells) % 3 == 2 and len(cells) < 2 + 3 * len(names):
            cells += [""] * (2 + 3 * len(names) - len(cells))  # many programs leave missing points at the end out
        rows.append(_row(path.name, number, cells, 2 + 3 * len(names)))
    table = np.array(rows, dtype=float).reshape(len(rows), 2 + 3 * len(names))
    times = table[:, 1] if rate is None else times_of_frames(path.name, rate, table[:, 0] - table[:1, 0])
    return RawMarkers(names, times, table[:, 2:].reshape(len(rows), len(names), 3) * factor)


def _row(label: str, number: int, cells: list[str], count: int) -> list[float]:
    """The numbers of one line, NaN for empty cells; `number` is that of the line, from 1."""
    if len(cells) != count:
        raise ShapeError(
            f"recording '{label}': line {number} has {len(cells)} cells; expected {count}, a frame, a time and three "
            "for each marker. Correct this line of the file."
        )
    try:
        return [float(cell) if cell else np.nan for cell in cells]
    except ValueError:
        wrong = next(cell for cell in cells if not _is_number(cell))
        raise ShapeError(
            f"recording '{label}': line {number} contains '{wrong}'; expected a number. Correct this line of the file."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True


def write(path: Path, markers: Markers, unit: str, factor: float) -> str:
    """The text of a .trc file; lengths are in `unit`, which has `factor` meters."""
    n, k, rate = len(markers), len(markers.names), repr(round(markers.rate, 6))
    lines = [f"PathFileType\t4\t(X/Y/Z)\t{path.name}", KEYS]
    lines.append("\t".join([rate, rate, str(n), str(k), unit, rate, "1", str(n)]))
    lines.append("\t".join(["Frame#", "Time", *(cell for name in markers.names for cell in (name, "", ""))]))
    lines.append("\t".join(["", "", *(f"{axis}{j}" for j in range(1, k + 1) for axis in "XYZ")]))
    lines.append("")
    for frame, (time, points) in enumerate(zip(markers.times.tolist(), markers.positions / factor, strict=True), 1):
        numbers = ["" if x != x else repr(x) for x in points.ravel().tolist()]
        lines.append("\t".join([str(frame), repr(time), *numbers]))
    return "\n".join(lines) + "\n"
