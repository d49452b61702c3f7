"""References for controllers to follow. Each publishes positions, velocities and accelerations as signals.

The signals of a reference without `joints` are "swing", "swing.velocity", "swing.acceleration", for the name "swing".
A reference with `joints` has signals for each joint: "gait.hip", "gait.hip.velocity", ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kinemorph.errors import ModelError, Problem
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.csv_numbers import csv_numbers
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Value
from kinemorph.words import counted, listed


@dataclass(frozen=True)
class Setpoint:
    """A constant position [rad or m], one for all joints or one for each joint.

    With `from_inputs`, the positions are inputs of the plant, which begin at `values`: a run may set them at any time.
    There is one for each joint, "NAME.JOINT"; the input of a set point with one joint, or without joints, is "NAME".
    """

    name: str
    values: Numbers = declared((0.0,), "joint coordinate")
    joints: Names = ()
    from_inputs: bool = False

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "values")


@dataclass(frozen=True)
class Sinusoid:
    """The position offset + amplitude sin(2 pi frequency t + phase) [rad or m], with frequency [Hz] and phase [rad]."""

    name: str
    amplitude: Numbers = declared((1.0,), "joint coordinate")
    frequency: Numbers = declared((1.0,), "frequency")
    offset: Numbers = declared((0.0,), "joint coordinate")
    phase: Numbers = declared((0.0,), "angle")
    joints: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "frequency", "offset", "phase")


@dataclass(frozen=True, repr=False)
class SplinePath:
    """A path through points at given times [s]; it is constant before the first and after the last time.

    Its velocity is that of the curve from the first to the last instant, both included, and 0 outside of them.
    `points` has a row for each time, with a position [rad or m] for each joint; for a single path, numbers.
    `method`: "cubic", with continuous acceleration; "monotone", a cubic that does not overshoot; or "linear".
    In a model file, `file` may name a CSV file: its first line has names, first that of the time, then those of the
    joints; each further line is one time. `joints` then chooses columns; see `from_csv`.

    `period` [s] repeats the path; the points are then those of one period, with the first one again at its end. A
    Parameter may have another value than the times span: the path is then as much faster or slower. Two numbers change
    a path with a period, each one for all joints or one for each joint; they may be Parameters:

    `shift`    the share of the period by which the path is ahead: 0.25 begins a quarter of a period later in the points
    `duty`     the share of the period in which a leg stands. `stance` is this share in the points, from the first one
               on. The stance is stretched evenly to the share `duty`, and the rest of the points to the rest of the
               period, by a cubic of time that begins and ends at the pace of the stance, so that the velocity jumps
               nowhere that it does not jump in the points. Where duty is `stance`, the path is that of the points.
               Points after the stance pass in their order if duty >= stance / (3 - 2 stance)
    """

    name: str
    times: Numbers = declared((), "time")
    points: tuple[Numbers, ...] = declared((), "joint coordinate")
    joints: Names = ()
    method: Literal["cubic", "monotone", "linear"] = "cubic"
    period: Value = declared(0.0, "time", least=0.0)
    file: str = ""
    shift: Numbers = declared((0.0,), "number")
    duty: Numbers = declared((), "number")
    stance: float = declared(0.0, "number", least=0.0, below=1.0)

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "times", "shift", "duty")
        as_rows(self, "points")

    def __repr__(self) -> str:
        where = f"file '{self.file}'" if self.file else f"{counted(len(self.points), 'point')}"
        return f"<SplinePath '{self.name}': {where}, {counted(len(self.joints), 'joint')}, {self.method}>"

    @classmethod
    def from_csv(cls, name: str, path: str | Path, **options: Any) -> SplinePath:
        """The path through the points of a CSV file: a line of names, the time first, then a line for each time.

        `joints` chooses columns. By default all are read that can be joints with one axis, so that the files of
        `kinemorph track` can be read: the pose of a free base and quaternions ("base.x", "base.qw", ...) are left out,
        and so are half widths of intervals ("hip +-"). Raises ModelError if the file cannot be read.
        """
        try:
            return cls(name, file=str(path), **options).read_from(lambda file: Path(file).read_text("utf-8-sig"))
        except (OSError, ValueError) as error:
            raise ModelError(f"element '{name}': {error}.") from None

    def read_from(self, read: Callable[[str], str]) -> SplinePath:
        """The path with the points of its CSV file, whose text `read` returns. Raises ValueError if it is wrong."""
        if not self.file:
            return self
        header, rows = csv_numbers(self.file, read(self.file))
        if len(rows) < 2:
            raise ValueError(
                f"file '{self.file}' has {counted(len(rows), 'row')} of numbers, expected a line of names (time first, "
                "then joints) and at least two rows of numbers below it"
            )
        columns = _joint_columns(self.file, header, self.joints)
        points = tuple(tuple(row[k] for k in columns) for row in rows)
        joints = tuple(header[k] for k in columns)
        return replace(self, times=tuple(row[0] for row in rows), points=points, joints=joints, file="")


@dataclass(frozen=True)
class MinimumJerk:
    """A path through points at given times [s], at rest in each point, with minimum jerk in between:

        q = q0 + (q1 - q0) (10 s^3 - 15 s^4 + 6 s^5),     s from 0 to 1 between two times

    It is constant before the first and after the last time. `points` is as for SplinePath.
    """

    name: str
    times: Numbers = field(metadata=declaration("time"))
    points: tuple[Numbers, ...] = field(metadata=declaration("joint coordinate"))
    joints: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "times")
        as_rows(self, "points")


@dataclass(frozen=True)
class FourierSeries:
    """A motion from rest to rest: a finite Fourier series over a period [s], constant before it begins and after it.

        q = offset + sum over l = 1, 2, ... of  sines_l sin(l w t) + cosines_l cos(l w t),     w = 2 pi / period

    `sines` and `cosines` have a row for each harmonic l, with a coefficient [rad or m] for each joint; for a single
    path, numbers. `offset` [rad or m] is one number for all joints or one for each. Velocity and acceleration are 0
    where the period begins and ends, which is true if, for each joint,

        sum of l sines_l = 0,     sum of l^2 cosines_l = 0

    `at_rest` makes a series with this property from any coefficients. `cycles` is the number of periods, a whole number
    or infinite. `identification.excite` finds the series that shows the masses and friction of a robot best.
    """

    name: str
    period: float = field(metadata=declaration("time", above=0.0))
    sines: tuple[Numbers, ...] = field(metadata=declaration("joint coordinate"))
    cosines: tuple[Numbers, ...] = field(metadata=declaration("joint coordinate"))
    offset: Numbers = declared((0.0,), "joint coordinate")
    joints: Names = ()
    cycles: float = declared(1.0, "number", least=1.0, infinite=True)

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "offset")
        as_rows(self, "sines")
        as_rows(self, "cosines")

    @classmethod
    def at_rest(
        cls,
        name: str,
        period: float,
        sines: Any,
        cosines: Any,
        offset: Numbers = (0.0,),
        joints: Names = (),
        **more: Any,
    ) -> FourierSeries:
        """The series that begins and ends at rest and whose coefficients are nearest to the given numbers.

        The sum of the squared changes is least for each joint. `sines` and `cosines` are arrays of shape (harmonics,)
        or (harmonics, joints).
        """
        corrected = []
        for given, power in ((sines, 1), (cosines, 2)):
            rows = np.array(given, dtype=float)
            rows = rows.reshape(len(rows), -1)
            weights = np.arange(1.0, len(rows) + 1.0) ** power
            rows = rows - np.outer(weights, weights @ rows) / (weights @ weights)
            corrected.append(tuple(tuple(row) for row in rows.tolist()))
        return cls(name, period, corrected[0], corrected[1], offset, joints, **more)


@dataclass(frozen=True)
class Profile:
    """Positions [rad or m] given by a function `law` of t [s], which returns a number, or a list with one per joint.

    Velocities and accelerations are its exact derivatives. It is traced once: use the functions of
    kinemorph.algebra.scalar.
    """

    name: str
    law: Callable[..., Any]
    joints: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "joints")


def as_rows(element: Any, name: str) -> None:
    """Converts the field `name` of an element to a tuple of rows of numbers; a number alone is a row of one."""
    given = getattr(element, name)
    if not hasattr(given, "__iter__") or isinstance(given, str):
        what = f"{name} is {short(given)}; expected a list of rows of numbers"
        raise ModelError(Problem("element", element.name, what, "Give a list of rows.", name))
    rows = tuple(tuple(row) if hasattr(row, "__iter__") and not isinstance(row, str) else (row,) for row in given)
    object.__setattr__(element, name, tuple(tuple(map(_plain, row)) for row in rows))


def _joint_columns(file: str, header: list[str], joints: Names) -> list[int]:
    """The columns of a CSV file that hold `joints`; without any, all but poses with quaternions and intervals."""
    missing = [name for name in joints if name not in header[1:]]
    if missing:
        raise ValueError(
            f"file '{file}' has no column '{missing[0]}', expected one for each of joints; its columns are "
            f"{listed(header, 24)}"
        )
    if joints:
        return [header.index(name, 1) for name in joints]
    turned = {name.removesuffix(".qw") for name in header if name.endswith(".qw")}
    pose = {f"{joint}.{part}" for joint in turned for part in ("x", "y", "z", "qw", "qx", "qy", "qz")}
    return [k for k, name in enumerate(header) if k and name not in pose and not name.endswith(" +-")]


def _plain(x: Any) -> Any:
    return float(x) if isinstance(x, (int, float, np.number)) else x
