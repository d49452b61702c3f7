"""Forces from outside: wrenches on bodies and efforts on joints, constant or over time, and further fields of gravity.

What changes over time is numbers, a `Table` of them, or a Python function of the time [s] over any scalar.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kinemorph.model.body import Vector
from kinemorph.model.parameter import Value

Law: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Table:
    """Numbers over time: `values` has one row for each of the rising `times` [s].

    Between them it is "linear", "cubic" (continuous curvature) or "monotone" (cubic that never overshoots). Outside,
    "hold" keeps the end values, "extend" the end pieces. In a model file `file` may name a CSV with a head of names
    beside the model; `columns` says which of them to take, the time first (left out: all, in order).
    """

    times: tuple[float, ...] = field(default=(), metadata={"kind": "time"})
    values: tuple[tuple[float, ...], ...] = ()
    method: Literal["linear", "cubic", "monotone"] = "linear"
    outside: Literal["hold", "extend"] = "hold"
    file: str = ""
    columns: tuple[str, ...] = ()

    @classmethod
    def from_csv(cls, path: str | Path, columns: Sequence[str] = (), **options: Any) -> Table:
        """The table in a CSV file."""
        return cls(file=str(path), columns=tuple(columns), **options).read_from(
            lambda name: Path(name).read_text(encoding="utf-8")
        )

    def read_from(self, read: Callable[[str], str]) -> Table:
        """The table with the numbers of its file, whose text `read` gives. Raises ValueError with a sentence."""
        if not self.file:
            return self
        rows = list(csv.reader(io.StringIO(read(self.file))))
        head = [name.strip() for name in rows[0]] if rows else []
        missing = [name for name in self.columns if name not in head]
        if missing:
            raise ValueError(f"file '{self.file}' has no column '{missing[0]}', expected one of {', '.join(head)}")
        places = [head.index(name) for name in self.columns] or list(range(len(head)))
        numbers = []
        for line, row in enumerate(rows[1:], start=2):
            if not any(cell.strip() for cell in row):
                continue
            try:
                numbers.append([float(row[k]) for k in places])
            except (ValueError, IndexError):
                raise ValueError(f"file '{self.file}' line {line} is {row}, expected {len(head)} numbers") from None
        times, values = tuple(row[0] for row in numbers), tuple(tuple(row[1:]) for row in numbers)
        return replace(self, times=times, values=values, file="", columns=())


@dataclass(frozen=True)
class AppliedWrench:
    """A force [N] at a point [m] of a body and a moment [N m], in the axes of the world or of the body.

    Each is a vector, a Table with rows of three, or a function t -> (x, y, z).
    """

    name: str
    body: str
    force: Vector | Table | Law = field(default=(0.0, 0.0, 0.0), metadata={"kind": "force"})
    moment: Vector | Table | Law = field(default=(0.0, 0.0, 0.0), metadata={"kind": "torque"})
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    axes: Literal["world", "body"] = "world"


@dataclass(frozen=True)
class AppliedEffort:
    """An effort [N m or N] on a joint with one axis: a number, a Table with rows of one, or a function t -> number."""

    name: str
    joint: str
    effort: Value | Table | Law = field(metadata={"kind": "joint effort"})


@dataclass(frozen=True)
class Gravity:
    """A uniform field that is added to the gravity of the robot: every kilogram of `bodies` feels `acceleration`.

    Without `bodies` all of them do.
    """

    name: str
    acceleration: Vector = field(metadata={"kind": "acceleration"})
    bodies: tuple[str, ...] = ()


@dataclass(frozen=True)
class CentralGravity:
    """A field towards a point: with r the vector from there to a body's center of mass, -parameter mass r / |r|^3  [N].

    `parameter` [m^3/s^2] is G times the mass at the point, which is at `point` [m] of `center`; that body feels the
    opposite. Tides are left out: a body is drawn as if its mass were at its center. Without `bodies` all others are.
    """

    name: str
    parameter: Value = field(metadata={"kind": "gravitational parameter"})
    center: str = "world"
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    bodies: tuple[str, ...] = ()
