"""Applied forces: wrenches on bodies and efforts on joints, constant or over time, and additional gravity fields.

A quantity that changes over time is given by a `Table` or by a Python function of the time [s]. The function is traced:
it has to use the functions of kinemorph.algebra.scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from kinemorph.model.body import Vector
from kinemorph.model.elements.csv_numbers import csv_numbers
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value

Law: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Table:
    """Numbers over time: `values` has one row of numbers for each of the rising `times` [s].

    `method` is the interpolation: "linear", "cubic" (continuous curvature) or "monotone" (cubic without overshoot).
    `outside` is the extrapolation: "hold" keeps the first and last values, "extend" continues the first and last
    pieces. In a model file, `file` may name a CSV file with a first line of names; `columns` are the names to use, the
    time first (default: all columns in order).
    """

    times: tuple[float, ...] = declared((), "time")
    values: tuple[tuple[float, ...], ...] = declared((), unit="{field}")
    method: Literal["linear", "cubic", "monotone"] = "linear"
    outside: Literal["hold", "extend"] = "hold"
    file: str = ""
    columns: tuple[str, ...] = ()

    @classmethod
    def from_csv(cls, path: str | Path, columns: Sequence[str] = (), **options: Any) -> Table:
        """The table in a CSV file; the first of `columns` is the time. Raises OSError or ValueError if it is wrong."""
        return cls(file=str(path), columns=tuple(columns), **options).read_from(
            lambda name: Path(name).read_text(encoding="utf-8-sig")
        )

    def read_from(self, read: Callable[[str], str]) -> Table:
        """The table with the numbers of its CSV file, whose text `read` returns. Raises ValueError if it is wrong."""
        if not self.file:
            return self
        _, rows = csv_numbers(self.file, read(self.file), self.columns)
        times, values = tuple(row[0] for row in rows), tuple(row[1:] for row in rows)
        return replace(self, times=times, values=values, file="", columns=())


@dataclass(frozen=True)
class AppliedWrench:
    """A force [N] at `point` [m] of a body and a moment [N m], in the axes of the world or of the body.

    Each is a vector, a Table with three columns, or a function of t [s] that returns (x, y, z). `point` is in the axes
    of the body. With `scaled`, both are multiplied by an input u of the element, such as the thrust of a rotor.
    """

    name: str
    body: str
    force: Vector | Table | Law = declared((0.0, 0.0, 0.0), "force")
    moment: Vector | Table | Law = declared((0.0, 0.0, 0.0), "torque")
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    axes: Literal["world", "body"] = "world"
    scaled: bool = False


@dataclass(frozen=True)
class AppliedEffort:
    """An effort [N m or N] on a joint with one axis: a number, a Table with one column, or a function of t [s]."""

    name: str
    joint: str
    effort: Value | Table | Law = field(metadata=declaration("joint effort"))


@dataclass(frozen=True)
class Gravity:
    """A uniform gravity field, in addition to the gravity of the robot: the force on a body is mass * acceleration.

    `acceleration` [m/s^2] is in world axes. Without `bodies` it acts on all bodies.
    """

    name: str
    acceleration: Vector = field(metadata=declaration("acceleration"))
    bodies: tuple[str, ...] = ()


@dataclass(frozen=True)
class WeightSupport:
    """A force against gravity that carries a share of the weight of bodies: -share * mass * gravity of the robot.

    It acts at the center of mass of each body, as a spring balance or a buoyant body would: an accelerometer measures
    it. With a `share` of 1 bodies float. Without `bodies` it acts on all bodies.
    """

    name: str
    share: Value = declared(1.0, "number")
    bodies: tuple[str, ...] = ()


@dataclass(frozen=True)
class CentralGravity:
    """A gravity field towards a point: the force on a body is -parameter mass r / |r|^3 [N].

    r is the vector from the point to the body's center of mass. The point is `point` [m] of the body `center`, on which
    the opposite force acts. `parameter` [m^3/s^2] is the gravitational constant times the mass at the point. Tidal
    forces are left out: the force acts at the center of mass. Without `bodies` it acts on all other bodies.
    """

    name: str
    parameter: Value = field(metadata=declaration("gravitational parameter", least=0.0))
    center: str = "world"
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    bodies: tuple[str, ...] = ()
