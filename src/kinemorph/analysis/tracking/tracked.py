"""`Tracked`: the motion of a robot that follows recorded markers, and how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.attachments import place_of
from kinemorph.analysis.tracking.fitting.bands import band_of, inverse_band
from kinemorph.analysis.tracking.fitting.marker_problem import MarkerProblem
from kinemorph.analysis.tracking.fitting.smoothness import Smoothness
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import ModelError, ShapeError
from kinemorph.frozen import Fixed, dataclass
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.robot import Robot
from kinemorph.sheet import Facts, Field, Note, Part, Sheet, Table, Verdict, attributes, fields, hidden, named, said
from kinemorph.shown import ShownTracking
from kinemorph.words import guarded, listed

RIDGE = 1e-10  # added to scaled normal matrices, so that directions that no marker shows have a large variance
AXIAL = ("revolute", "prismatic", "helical")  # motions that have one coordinate along or about one axis
SHOWN = {"rad/s": (180.0 / np.pi, "deg"), "m/s": (1e3, "mm")}  # how coordinates are shown, by units of velocities
FACTS = (
    *(*named("recording", "name"), *named("frames")),
    Field("duration", "duration", "s", 4),
    Field("", "distance", "mm root mean square of all markers", 4),
    Field("", "noise", "mm in each coordinate of a marker", 4),
    *(Field("smoothness", "weight of smoothness"), *fields("iterations")),
)
MARKERS = (
    *named("marker", "name"),
    Field("place", "on the robot", form="name"),
    *(*named("seen"), Field("rms", ""), Field("", "distance", "mm", 4)),
)
COORDINATES = (
    *named("coordinate", "name"),
    *named("from to", 4),
    *(Field("", "95 % interval: +-", form=3), *fields("unit")),
)
LEAST = 0.5  # freedom below which residuals do not show the noise
UNKNOWN = 1e8  # scaled variance above which a velocity is not determined


class Spread(NamedTuple):
    """The deviations (n, nv) for noise of 1 m, the noise that the residuals show [m], and their freedom."""

    deviations: Array
    noise: float
    freedom: float


@dataclass(frozen=True, eq=False, repr=False)
class Tracked(Fixed, ShownTracking):
    """The result of `track`: n frames of k markers, followed by a robot. As a bool it is True where it converged.

    `robot`          the robot that was tracked, with a frame for each marker
    `markers`        the markers that were followed, and `frames`, the frame of the robot for each of them
    `q` (n, nq)      the configurations
    `positions`      (n, k, 3) [m], of the points of the robot, also where a marker is missing
    `residuals`      (n, k) [m], distances of markers from these points; NaN where a marker is missing
    `smoothness`     the weight of smoothness
    `noise` [m]      the standard deviation of each coordinate of a marker, if it was given
    `unseen`         velocities that no marker shows, which stayed at their first values
    `iterations`     the number of steps of all frames together; `converged`, whether the last one was small enough
    `notes`          sentences on questionable data; `message`, the outcome as a sentence
    """

    robot: Robot
    markers: Markers
    frames: tuple[str, ...]
    q: Array
    positions: Array
    residuals: Array
    smoothness: float
    noise: float | None
    unseen: tuple[str, ...]
    iterations: int
    converged: bool
    notes: tuple[str, ...]
    message: str
    problem: MarkerProblem

    def __bool__(self) -> bool:
        return self.converged

    def __repr__(self) -> str:
        return f"<Tracked '{self.robot.name}': {len(self.q)} frames, {1e3 * self.rms():.4g} mm root mean square>"

    def sheet(self) -> Sheet:
        """How far each marker is off, and the range and certainty of each coordinate."""
        robot, seen, rms = self.robot, self.markers.seen.sum(axis=0).tolist(), self.rms()
        least, largest, half = self.q.min(axis=0), self.q.max(axis=0), np.median(self.intervals(), axis=0)
        markers = [
            (name, place_of(robot.frame(frame)), count, off, 1e3 * off if count else None)
            for (name, off), frame, count in zip(self.rms_by_marker().items(), self.frames, seen, strict=True)
        ]
        rows: list[tuple[Any, ...]] = []
        places = {name: k for k, name in enumerate(robot.q_names)}  # the rates of a free base have other names
        for name, unit, width in zip(robot.v_names, robot.v_units, half, strict=True):
            factor, shown = SHOWN[unit]
            ends = [one[places[name]] * factor if name in places else None for one in (least, largest)]
            rows.append((name, *ends, width * factor, shown))
        joints = [
            {"joint": one.name, "units": robot.q_units[at], "least": least[at], "largest": largest[at]}
            | {"interval": half[robot.v_slice(one.name)]}
            for one, at in ((one, robot.q_slice(one.name)) for one in robot.joints if one.motion.nv)
        ]
        span = float(self.times[-1] - self.times[0])
        told = (self.markers.source, len(self.q), span, 1e3 * rms, 1e3 * self.sigma, self.smoothness, self.iterations)
        unseen = said("No marker shows {names}.", names=listed(self.unseen, 12))
        parts: list[Part] = [
            Verdict(self.converged, self.message, "converged"),
            Facts(tuple(zip(FACTS, told, strict=True))),
            Note(unseen if self.unseen else "", "warning"),
            Table("markers", MARKERS, markers, "Markers"),
            Table("", COORDINATES, rows, "Coordinates"),
            *(Note(note, "note") for note in self.notes),
            *(hidden(rms=rms), hidden(noise=self.sigma), hidden(joints=joints)),
            attributes(self, "unseen notes"),
        ]
        return Sheet("Motion tracked by", robot.name, parts, "robot")

    @property
    def times(self) -> Array:
        """The times of the frames [s], shape (n,)."""
        return self.markers.times

    def rms(self, names: Sequence[str] | None = None) -> float:
        """The root mean square distance [m] of the markers with these names, by default all, in all frames."""
        at = range(len(self.frames)) if names is None else [self._index(name) for name in names]
        return float(np.sqrt(np.nanmean(self.residuals[:, list(at)] ** 2)))

    def rms_by_marker(self) -> dict[str, float]:
        """The root mean square distance [m] of each marker; NaN for a marker that was never seen."""
        squares, seen = np.nansum(self.residuals**2, axis=0), self.markers.seen.sum(axis=0)
        means = np.divide(squares, seen, out=np.full(len(seen), np.nan), where=seen > 0)
        return dict(zip(self.markers.names, np.sqrt(means).tolist(), strict=True))

    def _index(self, name: str) -> int:
        self.markers.path(name)  # raises where there is no such marker
        return self.markers.names.index(name)

    # ── how certain the motion is ─────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def sigma(self) -> float:
        """The standard deviation [m] of each coordinate of a marker of weight 1: `noise`, or from the residuals.

        Squared residuals are divided by `freedom`. It is infinite, as are intervals, where no freedom is left over:
        then robot and markers agree in any case, and residuals say nothing. Give `track` the noise instead.
        """
        return self.noise if self.noise is not None else self._spread.noise

    @property
    def freedom(self) -> float:
        """The number of measured coordinates less the number of unknown coordinates that they determine."""
        return self._spread.freedom

    @cached_property
    def deviations(self) -> Array:
        """The standard deviations of all velocities, (n, nv) [rad or m], along the unit velocities of the joints.

        For a hinge it is that of its angle. It is infinite where no marker shows a velocity. With smoothness it is the
        deviation of a motion whose second differences are random with the variance that the weight of smoothness says.
        """
        scaled = self._spread.deviations
        return np.asarray(np.multiply(self.sigma, scaled, out=np.full_like(scaled, np.inf), where=np.isfinite(scaled)))

    def intervals(self, level: float = 0.95) -> Array:
        """Half widths of intervals that contain the coordinates with probability `level`, (n, nv) [rad or m].

        They are those of Student's distribution with `freedom` where the noise follows from the residuals, and of the
        normal one where it was given.
        """
        from scipy.special import ndtri, stdtrit

        if not 0.0 < level < 1.0:
            raise ShapeError(f"intervals: level is {level:g}; expected a probability between 0 and 1, such as 0.95.")
        chance = 0.5 + 0.5 * level
        known = self.noise is not None or not self.freedom > LEAST
        factor = float(ndtri(chance) if known else stdtrit(self.freedom, chance))
        return np.asarray(factor * self.deviations)

    @cached_property
    def _spread(self) -> Spread:
        """The deviations of the linearized problem."""
        problem, n = self.problem, len(self.q)
        at = problem.linearized(self.q)
        smooth = Smoothness(problem, self.smoothness) if self.smoothness > 0.0 and n > 2 else None
        variances, determined = np.full((n, self.robot.nv), np.inf), 0.0
        for group in range(problem.model.groups.many):
            own = np.flatnonzero(problem.model.groups.velocities == group)
            reach = problem.model.reach[own]
            band = band_of(problem, group, at, smooth, self.q)
            whole = band.whole
            whole[0] += RIDGE
            inside = inverse_band(whole)
            shares = inside * band.data
            determined += float(shares[0].sum() + 2.0 * shares[1:].sum()) - n * float((reach == 0.0).sum())
            scaled = inside[0].reshape(n, len(own))
            known = (scaled < UNKNOWN) & (reach > 0.0)
            variances[:, own] = np.where(known, scaled / np.where(reach > 0.0, reach, 1.0) ** 2, np.inf)
        leading = problem.model.ranges.leading
        for coupling in self.robot.couplings:  # these follow their leaders
            for v in range(*self.robot.v_slice(coupling.joint).indices(self.robot.nv)):
                leaders = np.flatnonzero(leading[v])
                variances[:, v] = variances[:, leaders] @ leading[v, leaders] ** 2
        count = 3.0 * float((problem.weights > 0.0).sum())
        freedom = max(count - determined, 0.0)
        noise = float(np.sqrt(at.loss.sum() / freedom)) if freedom > LEAST else np.inf
        return Spread(np.sqrt(variances), noise, freedom)

    # ── the motion as a reference, and as a file ──────────────────────────────────────────────────────────────────

    def path(
        self,
        name: str = "tracked",
        *,
        joints: Sequence[str] | None = None,
        method: Literal["cubic", "monotone", "linear"] = "cubic",
    ) -> SplinePath:
        """The motion as a reference for controllers: a path of joints with one axis, by default of all of them.

        The angles of universal joints, gimbals and cylindrical joints have an axis each, "hip.first". Times are those
        of the recording, from its first one on.
        """
        single = axis_places(self.robot)
        chosen = list(single if joints is None else joints)
        for joint in chosen:
            if joint not in single:
                if joint not in self.robot.q_names:
                    self.robot.joint(joint)  # raises where there is no such joint
                raise ModelError(
                    f"path: joint '{joint}' does not have one axis; a path can lead {listed(single, 40)}. Name some of "
                    "these joints."
                )
        points = tuple(tuple(row) for row in self.q[:, [single[name] for name in chosen]].tolist())
        return SplinePath(name, tuple(self.times.tolist()), points, tuple(chosen), method)

    def write_csv(self, path: str | Path, *, intervals: bool = False) -> Path:
        """Writes the configurations as a CSV file, a line for each frame: the time [s], then all coordinates.

        `intervals` adds the half widths of 95 % intervals, a column "joint +-" for each velocity. `SplinePath.from_csv`
        reads the angles and slides of the file.
        """
        header = ["t", *self.robot.q_names]
        columns = [self.times[:, None], self.q]
        if intervals:
            header += [f"{name} +-" for name in self.robot.v_names]
            columns.append(self.intervals())
        lines = [",".join(map(guarded, header)), *(",".join(f"{x:.12g}" for x in row) for row in np.hstack(columns))]
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return target


def axis_places(robot: Robot) -> dict[str, int]:
    """The coordinates of hinges and slides, also those of joints with several axes, "hip.first": name -> index in q.

    The velocity of such a coordinate has the same name.
    """
    return {
        name: robot.q_slice(joint.name).start + k
        for joint in robot.joints
        if all(step.kind in AXIAL for step in joint.table.primitives)
        for k, name in enumerate(joint.q_names)
    }
