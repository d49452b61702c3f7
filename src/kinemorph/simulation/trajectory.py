"""What a run gives: segments of samples, joined by events, with how it ended.

A plain run has one segment. Columns are addressed by name across segments (see `columns`): run["q.elbow"]. What was not
stored is found again from the samples when it is asked for (`recomputing`), and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.errors import MissingExtraError, ModelError, ShapeError, UnsupportedError, did_you_mean
from kinemorph.plants.laws import Column
from kinemorph.simulation.columns import Source, sources, unknown_column
from kinemorph.simulation.interpolation import Knots, States, between
from kinemorph.simulation.recomputing import recomputer
from kinemorph.simulation.segments import Segment as Segment

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
EventKind = Literal["crossing", "reset", "stop", "rest", "switch"]
Ending = Literal["finished", "stopped", "rest", "failed", "interrupted", "unfinished"]


@dataclass(frozen=True, repr=False)
class Event:
    """A guard that changed its sign, or the end of a series of them; the state before and after."""

    t: float
    name: str
    kind: EventKind
    before: Mapping[str, Array]  # q, v, x, m
    after: Mapping[str, Array]

    def __repr__(self) -> str:
        return f"<Event '{self.name}' at t = {self.t:.9g} s, {self.kind}>"


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and when. A run that failed keeps what was computed; the message says what is wrong."""

    kind: Ending
    t: float
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run did what was asked: reached its end, a stopping event, or rest."""
        return self.kind in ("finished", "stopped", "rest")


@dataclass(frozen=True)
class Statistics:
    """What a run cost."""

    method: str
    accepted: int = 0  # steps
    rejected: int = 0
    calls: int = 0  # of compiled code
    seconds: float = 0.0  # of wall-clock time, compilation not counted; files do not hold it
    compile_seconds: float = 0.0


class Energy(NamedTuple):
    """Energies [J] at every sample, shape (n,) each; `balance` is what is left unexplained, zero in exact arithmetic.

    balance = kinetic + potential - supplied + dissipated - its first value. An event that resets velocities takes or
    gives energy and shows in it.
    """

    kinetic: Array
    potential: Array
    supplied: Array
    dissipated: Array
    balance: Array


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A run. `settings` are the options it was made with, in words and numbers."""

    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    outcome: Outcome
    statistics: Statistics
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of samples."""
        return sum(len(segment.t) for segment in self.segments)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        done = f"{self.statistics.method}, {_counted(self.statistics.accepted, 'step')}"
        samples = _counted(len(self), "sample")
        events = f", {_counted(len(self.events), 'event')}" if self.events else ""
        return f"<Trajectory '{self.name}': {span}, {samples}, {self.outcome.kind}, {done}{events}>"

    def __str__(self) -> str:
        return f"{self!r}\n{self.outcome.message}" if self.outcome.message else repr(self)

    def _repr_html_(self) -> str:
        """What notebooks show; see `display.run_cards`."""
        from kinemorph.display.notebooks.run_cards import run_card

        return run_card(self)

    @property
    def name(self) -> str:
        """Of what was run."""
        return self.segments[0].plant.name

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
        """Inputs, shape (n, nu): what acts from the sample's time on."""
        return self._joined("u")

    @property
    def tau(self) -> Array:
        """Generalized forces, shape (n, nv) [N m or N]: inputs, forces and damping.

        For an open tree these are the inverse dynamics of a. What holds a locked joint, or closes a loop, is not in it.
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
        """The fastest opening of loops, couplings and other constraints [m/s or rad/s], shape (n,)."""
        return np.concatenate([segment.loop_rate for segment in self.segments])

    @cached_property
    def energy(self) -> Energy:
        """Where the energy is, comes from and goes to."""
        kinetic, potential = self._joined("energy").T
        supplied, dissipated = self._joined("account").T
        total = kinetic + potential - supplied + dissipated
        return Energy(kinetic, potential, supplied, dissipated, total - total[0])

    def _joined(self, group: str) -> Array:
        parts: list[Array] = [getattr(segment, group) for segment in self.segments]
        if len({part.shape[1:] for part in parts}) > 1:
            raise ShapeError(
                f"{group} of run '{self.name}' has another length in every segment. Ask for columns by name, as "
                "run['q.elbow'], or for run.segments."
            )
        joined: Array = self._arrays.setdefault(group, parts[0] if len(parts) == 1 else np.concatenate(parts))
        return joined

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        return {}

    # ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Every column by name, in order, with its unit."""
        return {name: source.column for found in self._sources for name, source in found.items()}

    @cached_property
    def _sources(self) -> tuple[dict[str, Source], ...]:
        return tuple(sources(segment) for segment in self.segments)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Array:
        """A column, shape (n,); NaN in segments that do not have it."""
        if not isinstance(name, str):
            raise UnsupportedError(
                f"run '{self.name}' is asked for {name!r}; expected the name of a column, as run['t']. Samples by "
                "number are run.q[k], run.v[k]."
            )
        if name not in self.columns:
            if name.startswith("energy."):  # says why there is no account
                _ = self.energy
            raise unknown_column(f"run '{self.name}'", name, list(self.columns))
        if name == "energy.balance":
            return self.energy.balance
        parts = []
        for segment, found in zip(self.segments, self._sources, strict=True):
            source = found.get(name)
            if source is None:
                parts.append(np.full(len(segment.t), np.nan))
            else:
                values: Array = getattr(segment, source.group)
                parts.append(values if values.ndim == 1 else values[:, source.place])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def to_dataframe(self) -> pandas.DataFrame:
        """All columns as a pandas DataFrame; its `attrs["units"]` maps names to units."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas") from None
        frame = pandas.DataFrame({name: self[name] for name in self.columns})
        frame.attrs["units"] = {name: column.unit for name, column in self.columns.items()}
        return frame

    # ── between samples, and inside joints ────────────────────────────────────────────────────────────────────────

    def at(self, times: npt.ArrayLike) -> States:
        """The states at times [s] of any shape within the run; see `interpolation`. One time gives one state."""
        wanted = np.asarray(times, dtype=float)
        flat = np.atleast_1d(wanted).ravel()
        for segment in self.segments:
            if segment.plant is not self.segments[0].plant:
                raise UnsupportedError(
                    f"run '{self.name}' changes its system on the way; ask each of run.segments for itself."
                )
        begin, end = self.t[0], self.t[-1]
        if not np.all((flat >= begin) & (flat <= end)):
            raise ShapeError(
                f"run '{self.name}' covers {begin:g} to {end:g} s; times from {flat.min():g} to {flat.max():g} s are "
                "asked for. Stay within."
            )
        found = between(self._knots, self.segments[0].plant.manifold, flat)
        return States(*(part.reshape(wanted.shape + part.shape[1:]) for part in found))

    @cached_property
    def _knots(self) -> Knots:
        """All samples. Where a segment ends and the next begins, the time stands twice."""
        return Knots(self.t, self.q, self.v, self.x, self.u, self._joined("z"), self._joined("z_until"))

    def reactions(self, joint: str) -> Array:
        """The wrench [force; moment] that the parent exerts on the child through a joint, shape (n, 6) [N, N m].

        In the axes of the joint frame on the child, about its origin. Everything that passes the joint is in it: what
        bears the child, and what the actuator and damping do along the joint's axes. Rotor inertia (armature) is not a
        part of the bodies: along an axis the wrench is tau less armature times acceleration.

        Joints that close loops are known by their names too. Where constraints repeat each other the motion does not
        decide who bears how much: these are the wrenches of least multipliers, see `Dynamics.joint_wrenches`.
        """
        parts = []
        for segment in self.segments:
            robot = segment.plant.robot
            if robot is None:
                raise UnsupportedError(
                    f"run '{self.name}' has no robot to compute joint reactions with. Where it comes from a file, give "
                    "load_trajectory(path, model=robot)."
                )
            known = (*robot.joint_names, *(loop.name for loop in robot.loops))
            if joint not in known:
                raise ModelError(
                    f"robot '{robot.name}' has no joint '{joint}'.{did_you_mean(joint, known)} "
                    f"Known: {', '.join(known)}."
                )
            parts.append(recomputer(segment.plant).wrenches(segment, segment.a)[:, known.index(joint)])
        return np.concatenate(parts)

    # ── lazy forwards ─────────────────────────────────────────────────────────────────────────────────────────────

    def save(self, path: str | Path) -> Path:
        """Writes the run to a file: .npz, .h5, .csv or .res by its ending; see `storage`."""
        from kinemorph.simulation.storage import save_trajectory

        return save_trajectory(self, path)

    def plot(self, *columns: str, **options: Any) -> Any:
        """Plots columns over time; see `display.plots.plot`."""
        from kinemorph.display.plots import plot

        return plot(self, *columns, **options)

    def animate(self, path: str | Path, **options: Any) -> Any:
        """Draws the motion into a file; see `display.animation.animate`."""
        from kinemorph.display.animation import animate

        return animate(self, path, **options)

    def replay(self, path: str | Path | None = None, **options: Any) -> Any:
        """The motion as a page that plays in any browser, and in a notebook; see `display.replays.pages.replay`."""
        from kinemorph.display.replays.pages import replay

        return replay(self, path, **options)

    def view(self, **options: Any) -> Any:
        """Shows the motion in the browser, from a server on this computer; see `display.viewer.viewers.view`."""
        from kinemorph.display.viewer.viewers import view

        return view(self, **options)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
