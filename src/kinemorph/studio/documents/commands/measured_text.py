"""Measured poses of modules in a text with commas: one line for every pose of a module b in the frame of a module a.

    a, b, x, y, z, qw, qx, qy, qz           a place [m] and a quaternion
    a, b, x, y, z, roll, pitch, yaw         a place [m] and angles [rad]
    a, b, r11, r12, r13, x, r21, ...        the first three rows of a 4x4 matrix, or all four

The first line may name the columns, in any order. Numbers may also be separated by semicolons, tabs or spaces. Empty
lines and lines that begin with # have no effect.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence

from kinemorph.algebra.groups import Pose, pose_of, quat_to_rotation, rpy_to_rotation
from kinemorph.errors import ParseError
from kinemorph.words import listed

PLACE = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
ANGLES = ("roll", "pitch", "yaw")
FORMS = (("a", "b", *PLACE, *QUATERNION), ("a", "b", *PLACE, *ANGLES))
MOST = 10_000  # poses
UNIT = 0.05  # largest difference of the length of a quaternion from 1

Pair = tuple[str | int, str | int]


def measured_poses(text: str) -> dict[Pair, Pose]:
    """The measured poses in a text, by pairs of modules. Raises ParseError, with the line, for wrong text."""
    found: dict[Pair, Pose] = {}
    columns: tuple[str, ...] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = _cells(line)
        if columns is None and not found and not _is_number(cells[-1]):
            columns = _header(cells, number)
            continue
        if len(found) >= MOST:
            raise ParseError(f"line {number}: there are more than {MOST} poses. Leave some out.")
        pair, pose = _row(cells, columns, number)
        if pair in found or pair[::-1] in found:
            raise ParseError(f"line {number}: the pose of {pair[0]} and {pair[1]} is given twice, expected once.")
        found[pair] = pose
    if not found:
        raise ParseError("the text has no measured poses. Write lines such as 0, 1, 0.105, 0, 0, 1, 0, 0, 0.")
    return found


def _cells(line: str) -> list[str]:
    mark = next((mark for mark in ",;\t" if mark in line), None)
    cells = line.split() if mark is None else next(csv.reader([line], delimiter=mark, skipinitialspace=True))
    return [cell.strip() for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _header(cells: Sequence[str], number: int) -> tuple[str, ...]:
    names = tuple(cell.lower() for cell in cells)
    if not any(sorted(names) == sorted(form) for form in FORMS):
        forms = " or ".join(listed(form, 12) for form in FORMS)
        raise ParseError(f"line {number}: the columns are {listed(names, 12)}, expected {forms}.")
    return names


def _row(cells: Sequence[str], columns: tuple[str, ...] | None, number: int) -> tuple[Pair, Pose]:
    if columns is not None:
        if len(cells) != len(columns):
            raise ParseError(f"line {number}: it has {len(cells)} entries, expected {len(columns)}.")
        form = next(form for form in FORMS if sorted(form) == sorted(columns))
        by_name = dict(zip(columns, cells, strict=True))
        cells = [by_name[name] for name in form]
    if len(cells) not in (8, 9, 14, 18):
        raise ParseError(
            f"line {number}: it has {len(cells)} entries, expected two modules and 6, 7, 12 or 16 numbers, such as "
            "0, 1, 0.105, 0, 0, 1, 0, 0, 0."
        )
    wrong = next((cell for cell in cells[2:] if not _is_number(cell) or not math.isfinite(float(cell))), None)
    if wrong is not None:
        raise ParseError(f"line {number}: {wrong!r} is not a finite number. Write one, such as 0.105.")
    a, b = (int(name) if name.isdecimal() else name for name in cells[:2])
    values = [float(cell) for cell in cells[2:]]
    if len(values) >= 12:
        return (a, b), pose_of([values[4 * k : 4 * k + 4] for k in range(3)])
    place, turn = tuple(values[:3]), values[3:]
    if len(turn) == 3:
        return (a, b), Pose(rpy_to_rotation(*turn), place)
    length = math.hypot(*turn)
    if abs(length - 1.0) > UNIT:
        raise ParseError(f"line {number}: the quaternion has the length {length:.3g}, expected 1. Normalize it.")
    return (a, b), Pose(quat_to_rotation([x / length for x in turn]), place)
