"""`Fitted`: parameters that were found by simulated runs, with their deviations and what the recordings leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import stdtrit

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.runs.transformations import Transformation
from kinemorph.errors import ShapeError
from kinemorph.model.system import System
from kinemorph.sheet import DETERMINED, Facts, Field, Note, Part, Sheet, Table, fields, named, said
from kinemorph.shown import Shown
from kinemorph.words import did_you_mean, quoted

PART = 0.1  # parameters whose share in an undetermined direction is smaller are not named
TOUCHED = 1e-3  # a parameter with a larger share in an undetermined direction has no deviation
WEAK = 1.0  # relative deviations above this are pointed out
FAR = 3.0  # a variable that has moved further, and is weak, has left its parameter at 0 or at a bound
RUNS = Field("runs", "simulated runs")
COLUMNS = (
    *named("parameter", "name"),
    *named("value", 6),
    *fields("unit deviation"),
    Field("lower", "95 % from", form=6),
    *(Field("upper", "to", form=6), DETERMINED),
)
RESIDUALS = (*named("column", "name"), Field("noise", "root mean square of residuals", form=4))


@dataclass(frozen=True, eq=False)
class Prediction:
    """The residuals of a recording that was not used, for each column, with initial states that were estimated.

    `t` (n,), `residuals` (n, c) measured minus simulated, `deviations` their root mean square by column
    """

    columns: tuple[str, ...]
    t: Array
    residuals: Array
    deviations: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Fitted(Shown):
    """Parameters that were found by simulated runs. Made by `output_error`.

    `model`        the system with these values of its Parameters
    `names`        of the k parameters; `units` are theirs, where known
    `values`       shape (k,); `fitted["elbow.m"]` is one of them
    `covariance`   of the variables z of `transformation`, shape (k, k). With 8 pieces or more, and not fewer than
                   parameters, it comes from leaving out one piece after the other; otherwise it counts that neighboring
                   residuals are alike. `freedoms` are those of Student's distribution for intervals
    `columns`      the measured columns; `noise` is the root mean square of the residuals of each
    `residuals`    measured minus simulated columns of each recording, shape (n, columns)
    `runs`         how often all pieces were simulated
    `message`      why these are not the best parameters; empty where they are
    """

    model: System
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    transformation: Transformation
    variables: Array
    covariance: Array
    freedoms: float
    open_directions: Array
    columns: tuple[str, ...]
    noise: Mapping[str, float]
    residuals: tuple[Array, ...]
    correlation_times: tuple[float, ...]
    runs: int
    message: str = ""
    _predict: Callable[[Recording], Prediction] | None = field(default=None, repr=False)

    def __getitem__(self, name: str) -> float:
        return float(self.values[self._place(name)])

    @property
    def converged(self) -> bool:
        """Whether these are the best parameters near the first ones."""
        return not self.message

    @property
    def deviations(self) -> Array:
        """The standard deviations of the values, shape (k,); infinite for those that recordings leave open."""
        return np.abs(self.transformation.slopes(self.variables)) * self._spread

    @property
    def _spread(self) -> Array:
        """The standard deviations of the variables z, shape (k,)."""
        found = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        touched = (np.abs(self.open_directions) > TOUCHED).any(axis=0) if len(self.open_directions) else found < 0.0
        return np.where(touched, np.inf, found)

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """The interval that holds the true value with the probability `level`.

        It is computed in the variable z, so that a parameter that keeps its sign does so in all of its interval; a wide
        interval is symmetric, and ends where the sign or the bounds end.
        """
        if not 0.0 < level < 1.0:
            raise ShapeError(f"level is {level!r}; expected a probability between 0 and 1, such as 0.95.")
        k = self._place(name)
        width = float(stdtrit(self.freedoms, 0.5 + 0.5 * level)) * self._spread
        if not np.isfinite(width[k]):
            return -np.inf, np.inf
        if width[k] < WEAK:
            ends = [float(self.transformation.values(self.variables + side * width)[k]) for side in (-1.0, 1.0)]
            return min(ends), max(ends)
        low, high = self.transformation.ranges[k]
        around = float(self.values[k]), width[k] * float(np.abs(self.transformation.slopes(self.variables)[k]))
        return max(low, around[0] - around[1]), min(high, around[0] + around[1])

    @property
    def vanished(self) -> tuple[str, ...]:
        """Parameters that have come very near to 0 or to a bound, because recordings ask for values beyond it."""
        moved = np.abs(self.variables - self.transformation.first)
        far = (moved > FAR) & (self._spread > WEAK) & ~np.array([kind == "free" for kind in self.transformation.kinds])
        return tuple(self.names[k] for k in np.flatnonzero(far))

    @property
    def undetermined(self) -> tuple[tuple[str, ...], ...]:
        """Groups of parameters that the recordings do not tell apart or do not show, one for each open direction."""
        found = []
        for direction in self.open_directions:
            order = np.argsort(-np.abs(direction))
            largest = float(np.abs(direction).max())
            found.append(tuple(self.names[k] for k in order if abs(direction[k]) > PART * largest))
        return tuple(found)

    def predict(self, recording: Recording) -> Prediction:
        """Compares a recording that was not used with runs of the fitted model, from estimated initial states."""
        assert self._predict is not None
        return self._predict(recording)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ShapeError(f"'{name}' was not fitted.{did_you_mean(name, self.names)} Known: {quoted(self.names)}.")
        return self.names.index(name)

    def sheet(self) -> Sheet:
        """The parameters with their intervals, the residuals, and what the recordings leave open."""
        rows = []
        for name, value, unit, spread in zip(self.names, self.values, self.units, self.deviations, strict=True):
            sure = (None if spread > WEAK * abs(value) else True) if np.isfinite(spread) else False
            rows.append((name, value, unit, spread, *self.interval(name), sure))
        parts: list[Part] = [
            Note(self.message, "warning", "message"),
            Facts(((RUNS, self.runs),)),
            Table("parameters", COLUMNS, rows),
            Table("residuals", RESIDUALS, [*self.noise.items()]),
        ]
        for group in self.undetermined:
            open_ones = said(
                "{names} is not seen in the recordings, and stays near its first value.",
                "{names} are only seen in a combination in the recordings, and stay near their first values.",
                n=len(group),
                names=", ".join(group),
            )
            parts.append(Note(open_ones, "warning"))
        for name in self.vanished:
            ended = said("{name} has come to the end of its range: recordings ask for a value beyond.", name=name)
            parts.append(Note(ended, "warning"))
        return Sheet("Fitted parameters of", self.model.robot.name, parts, "robot")
