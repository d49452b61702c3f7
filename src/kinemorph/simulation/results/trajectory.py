"""The result of a run: segments of samples, joined by events, and the outcome.

A plain run has one segment. A reset starts another one, and so does a change of the system: robots that dock have other
coordinates afterwards. Columns are read by name across segments (see `columns`): run["q.elbow"] is NaN where there is
no elbow. Quantities that are not stored are computed from the samples on request (`derived_columns`), and cached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import MissingExtraError, ModelError, ShapeError, UnsupportedError
from kinemorph.mechanics.constraints.wrench_views import WrenchPart, WrenchReference, wrench_view
from kinemorph.plants.user_laws import Column
from kinemorph.sheet import Sheet
from kinemorph.shown import ShownRun
from kinemorph.simulation.results.columns import (
    Source,
    all_columns,
    is_group,
    joined_sources,
    requested_sources,
    sources,
    unknown_column,
)
from kinemorph.simulation.results.derived_columns import recomputer
from kinemorph.simulation.results.event import Event as Event
from kinemorph.simulation.results.event import EventKind as EventKind
from kinemorph.simulation.results.event import Quantity as Quantity
from kinemorph.simulation.results.interpolation import Knots, States, between
from kinemorph.simulation.results.kept import Kept
from kinemorph.simulation.results.outcome import Outcome as Outcome
from kinemorph.simulation.results.quantities import is_quantity
from kinemorph.simulation.results.segment import Segment as Segment
from kinemorph.words import counted, did_you_mean

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Statistics:
    """The cost of a run: numbers of steps and calls, and wall-clock times [s], which are not stored in files."""

    method: str
    accepted: int = 0  # steps
    rejected: int = 0
    calls: int = 0  # calls of compiled code
    seconds: float = 0.0  # from the first step to the last
    compile_seconds: float = 0.0  # for deriving and compiling, whenever it was done
    preparation_seconds: float = 0.0  # for what runs are made from, such as contacts, and for the initial state
    check_seconds: float = 0.0  # for the checks before and after the run


class Energy(NamedTuple):
    """Energies [J] at every sample, shape (n,) each; `balance` is the error of the energy, zero in exact arithmetic.

    balance = kinetic + potential - supplied + dissipated - its first value. An event that resets velocities changes the
    energy, and the balance shows it; a docking event has the energy lost in its `numbers`.
    """

    kinetic: Array
    potential: Array
    supplied: Array
    dissipated: Array
    balance: Array


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(ShownRun):
    """The result of a run. `settings` are the options of the run, as text and numbers."""

    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    outcome: Outcome
    statistics: Statistics
    settings: Mapping[str, Any] = field(default_factory=dict)
    kept: Kept | None = None  # for a run that continues this one

    def __len__(self) -> int:
        """The number of samples."""
        return sum(len(segment.t) for segment in self.segments)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        done = f"{self.statistics.method}, {counted(self.statistics.accepted, 'step')}"
        samples = counted(len(self), "sample")
        events = f", {counted(len(self.events), 'event')}" if self.events else ""
        turns = f", {len(self.stretches)} systems in turn" if len(self.stretches) > 1 else ""
        return f"<Trajectory '{self.name}': {span}, {samples}, {self.outcome.kind}, {done}{events}{turns}>"

    def __str__(self) -> str:
        return f"{self!r}\n{self.outcome.message}" if self.outcome.message else repr(self)

    def sheet(self, columns: Sequence[str] | None = None) -> Sheet:
        """How the run ended, its steps, energies, events and last state, or the named columns; see `run_sheet`."""
        from kinemorph.simulation.results.run_sheet import run_sheet

        return run_sheet(self, columns)

    @property
    def name(self) -> str:
        """The name of the system; where the system changes, the name of the first one."""
        return self.segments[0].plant.name

    # ── segments ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def stretches(self) -> tuple[Trajectory, ...]:
        """The parts of the run in which the system stays the same, each a Trajectory; usually one, the run itself.

        Each part has the cost and the settings of the whole run. An event that changes the system ends the part before.
        """
        return self._stretches or (self,)

    @cached_property
    def _stretches(self) -> tuple[Trajectory, ...]:
        """The parts as in `stretches`; () for a run with a single part, which must not be cached in itself."""
        parts: list[list[Segment]] = []
        for segment in self.segments:
            if parts and parts[-1][-1].continues_in(segment):
                parts[-1].append(segment)
            else:
                parts.append([segment])
        return tuple(self._part(part, first=part is parts[0]) for part in parts) if len(parts) > 1 else ()

    def _part(self, segments: list[Segment], *, first: bool) -> Trajectory:
        times = np.concatenate([segment.t for segment in segments])
        begin, end = (float(times[0]), float(times[-1])) if len(times) else (np.inf, -np.inf)
        events = tuple(event for event in self.events if begin < event.t <= end or (first and event.t <= begin))
        outcome = self.outcome if segments[-1] is self.segments[-1] else Outcome("finished", end)
        return replace(self, segments=tuple(segments), events=events, outcome=outcome)

    def segment_at(self, t: float) -> Segment:
        """The segment that contains a time [s]; where two segments meet, the later one."""
        self.check_times(np.array([float(t)]))
        return [segment for segment in self.segments if len(segment.t) and segment.t[0] <= t][-1]

    # ── arrays ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def t(self) -> Array:
        """Times of the samples [s], shape (n,)."""
        return np.concatenate([segment.t for segment in self.segments])

    @property
    def q(self) -> Array:
        """Configurations, shape (n, nq)."""
        return self._joined("q")

    @property
    def v(self) -> Array:
        """Velocities, shape (n, nv)."""
        return self._joined("v")

    @property
    def a(self) -> Array:
        """Accelerations, shape (n, nv)."""
        return self._joined("a")

    @property
    def x(self) -> Array:
        """Further continuous states, shape (n, nx)."""
        return self._joined("x")

    @property
    def m(self) -> Array:
        """Discrete memory, shape (n, nm)."""
        return self._joined("m")

    @property
    def u(self) -> Array:
        """Inputs, shape (n, nu), as they act from the time of the sample on."""
        return self._joined("u")

    @property
    def tau(self) -> Array:
        """Generalized forces, shape (n, nv) [N m or N]: inputs, forces and damping.

        For an open tree these are the inverse dynamics of a. Forces of locked joints and of loops are not included.
        """
        return self._joined("tau")

    @property
    def y(self) -> Array:
        """Outputs, shape (n, ny)."""
        return self._joined("y")

    @property
    def loop_error(self) -> Array:
        """The largest error of loops, couplings and other constraints [m or rad], shape (n,)."""
        return self._joined("loop_error")

    @property
    def loop_rate(self) -> Array:
        """The largest rate of the errors of loops, couplings and other constraints [m/s or rad/s], shape (n,)."""
        return np.concatenate([segment.loop_rate for segment in self.segments])

    @property
    def momentum(self) -> Array:
        """[linear; angular about the world's origin] momentum in world axes, shape (n, 6) [N s, N m s]."""
        return np.concatenate([segment.momentum for segment in self.segments])

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential, supplied and dissipated energy [J] at every sample, and their balance."""
        kinetic, potential = self._joined("energy").T
        supplied, dissipated = self._joined("account").T
        total = kinetic + potential - supplied + dissipated
        return Energy(kinetic, potential, supplied, dissipated, total - total[0])

    def _joined(self, group: str) -> Array:
        if len({segment.column_names(group) for segment in self.segments}) > 1:
            name = next((name for name in self.columns if name.startswith(f"{group}.")), "t")
            raise ShapeError(
                f"run '{self.name}' changes its system, and with it the columns of {group}. Read columns by name, as "
                f"run['{name}'], or {group} of each of run.segments."
            )
        parts: list[Array] = [getattr(segment, group) for segment in self.segments]
        joined: Array = self._arrays.setdefault(group, parts[0] if len(parts) == 1 else np.concatenate(parts))
        return joined

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        return {}

    # ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Every column by name, with its unit. Where the unit changes, a second column has the new unit in its name.

        Reactions of joints and positions of frames are not listed here, but in `on_request`.
        """
        return all_columns(self._sources)

    @cached_property
    def on_request(self) -> dict[str, Column]:
        """The columns that are computed where they are named, with their units: run["reaction.knee.fz"].

        reaction.JOINT.fx, fy, fz, mx, my, mz   the wrench [N, N m] of `reactions(JOINT)`, in the joint frame
        position.PLACE.x, y, z                  the origin of a body or a frame in the world [m]
        """
        found = {name: source.column for mine in self._requested for name, source in mine.items()}
        return {name: column for name, column in found.items() if name not in self.columns}

    @cached_property
    def _requested(self) -> tuple[dict[str, Source], ...]:
        return tuple(requested_sources(segment) for segment in self.segments)

    @cached_property
    def _sources(self) -> tuple[dict[str, Source], ...]:
        return joined_sources([sources(segment) for segment in self.segments])

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.on_request

    def __getitem__(self, name: str) -> Array:
        """The column with this name, shape (n,); NaN in segments that do not have it.

        "q", "v", "a", "x", "u", "m", "tau" and "y" give all columns of that group, shape (n, width).
        """
        if not isinstance(name, str):
            raise UnsupportedError(
                f"run '{self.name}' is indexed with {name!r}; expected the name of a column, as run['t']. Sample k is "
                "run.q[k], run.v[k]."
            )
        if is_group(f"run '{self.name}'", name, self.columns):
            whole: Array = getattr(self, name)
            return whole
        if name not in self:
            if name.startswith("energy."):  # raises an error that says why there is no account
                _ = self.energy
            if is_quantity(name) and not self.on_request:
                raise self._without_robot(f"'{name}'")
            raise unknown_column(f"run '{self.name}'", name, list(self.columns), self.on_request)
        if name == "energy.balance":
            return self._balance()
        parts = []
        of_segments = self._sources if name in self.columns else self._requested
        for segment, found in zip(self.segments, of_segments, strict=True):
            source = found.get(name)
            if source is None:
                parts.append(np.full(len(segment.t), np.nan))
            else:
                values = segment.array(source.group)
                parts.append(values if values.ndim == 1 else values[:, source.place])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _balance(self) -> Array:
        """The energy balance [J], shape (n,); NaN in segments that do not record supplied energy."""
        if all(segment.has("account") for segment in self.segments):
            return self.energy.balance
        kinetic, potential, supplied, dissipated = (
            self[f"energy.{name}"] for name in ("kinetic", "potential", "supplied", "dissipated")
        )
        total: Array = kinetic + potential - supplied + dissipated
        known = total[np.isfinite(total)]
        return total - (known[0] if len(known) else np.nan)

    def to_dataframe(self, *names: str) -> pandas.DataFrame:
        """Columns as a pandas DataFrame; its `attrs["units"]` maps names to units.

        Without names, it has all of `columns`. Those `on_request` are named: run.to_dataframe("t", "reaction.hip.fz").
        """
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas") from None
        known = {**self.on_request, **self.columns} if names else self.columns
        frame = pandas.DataFrame({name: self[name] for name in names or known})
        frame.attrs["units"] = {name: known[name].unit for name in frame}
        return frame

    # ── between samples, and inside joints ────────────────────────────────────────────────────────────────────────

    def at(self, times: npt.ArrayLike) -> States:
        """The states at times [s] of any shape within the run; see `interpolation`. One time gives one state.

        Where the system changes, all times have to lie before the change, or all after it; `body_poses` takes any.
        """
        wanted = np.asarray(times, dtype=float)
        flat = np.atleast_1d(wanted).ravel()
        self.check_times(flat)
        run = self
        if any(segment.plant is not self.segments[0].plant for segment in self.segments):
            parts = self.stretches
            chosen = np.unique(stretch_numbers(self, flat))
            if len(chosen) > 1:
                raise UnsupportedError(
                    f"run '{self.name}' changes its system at t = {parts[chosen[0]].t[-1]:.9g} s, between the given "
                    "times. Give times before or after the change, read columns by name, or use body_poses(run, times)."
                )
            run = parts[chosen[0]] if len(chosen) else self.stretches[0]
        found = between(run._knots, run.segments[0].plant.manifold, flat)
        return States(*(part.reshape(wanted.shape + part.shape[1:]) for part in found))

    def check_times(self, times: Array) -> None:
        """Raises ShapeError where some of the times [s] are outside the run."""
        begin, end = self.t[0], self.t[-1]
        if not np.all((times >= begin) & (times <= end)):
            raise ShapeError(
                f"run '{self.name}' covers {begin:g} to {end:g} s; times from {times.min():g} to {times.max():g} s are "
                "given. Give times within the run."
            )

    @cached_property
    def _knots(self) -> Knots:
        """All samples of the run, for interpolation; a time at which two segments meet appears twice."""
        return Knots(self.t, self.q, self.v, self.x, self.u, self._joined("z"), self._joined("z_until"))

    def reactions(self, joint: str, reference: WrenchReference = "joint", part: WrenchPart = "whole") -> Array:
        """The wrench [force; moment] that the parent exerts on the child through a joint, shape (n, 6) [N, N m].

        `reference`     axes and point of reference: "joint" (the joint frame on the child), "child" or "parent" (the
                        frame of that body, where it is at each sample) or "world"
        `part`          "whole", "actuation" (along the freedoms of the joint: drives, damping, springs in the joint) or
                        "constraint" (what its bearings bear, which has no power)

        Rotor inertia (armature) is not part of the bodies: along an axis the wrench is tau minus armature times
        acceleration. Joints that close loops can be named too. Where constraints repeat each other, the motion does not
        determine how they share the load: these are the wrenches of least multipliers, see `Dynamics.joint_wrenches`.
        Where the system changes, rows are NaN while there is no such joint.
        """
        view = wrench_view(reference, part, "reactions")
        parts: list[Array] = []
        every: dict[str, None] = {}
        for segment in self.segments:
            robot = segment.plant.robot
            if robot is None:
                raise self._without_robot("joint reactions")
            known = (*robot.joint_names, *(loop.name for loop in robot.loops))
            every |= dict.fromkeys(known)
            if joint in known:
                parts.append(recomputer(segment.plant).wrenches(segment, view)[:, known.index(joint)])
            else:
                parts.append(np.full((len(segment.t), 6), np.nan))
        if joint not in every:
            raise ModelError(
                f"robot '{self.name}' has no joint '{joint}'.{did_you_mean(joint, every)} Known: {', '.join(every)}."
            )
        return np.concatenate(parts)

    def _without_robot(self, what: str) -> UnsupportedError:
        """The error for a quantity that needs the robot of a run that has none."""
        missing = next((segment.missing for segment in self.segments if segment.missing), "")
        if not missing:
            return UnsupportedError(f"run '{self.name}' has no robot, so it has no {what}. Define an output for it.")
        return UnsupportedError(
            f"run '{self.name}' has no robot to compute {what} with, because {missing}. Give the model: "
            "load_trajectory(path, model=robot)."
        )

    # ── lazy forwards ─────────────────────────────────────────────────────────────────────────────────────────────

    def body_poses(self, times: npt.ArrayLike | None = None, names: Sequence[str] | None = None) -> Array:
        """Poses of bodies at any times, also of a run whose robot changes; see `results.body_poses`."""
        from kinemorph.simulation.results.body_poses import body_poses

        return body_poses(self, times, names)


def stretch_numbers(run: Trajectory, times: Array) -> npt.NDArray[np.intp]:
    """For each of the times [s], the index in `run.stretches` of the part that contains it, shape (n,).

    Where two parts meet, it is the index of the later one.
    """
    begins = [part.t[0] if len(part) else np.inf for part in run.stretches]  # a stretch without samples is skipped
    return np.maximum(np.searchsorted(np.minimum.accumulate(begins[::-1])[::-1], times, side="right") - 1, 0)
