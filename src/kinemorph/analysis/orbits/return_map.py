"""Return maps: the state after one cycle of a motion, as a function of the state before it, with exact slopes.

    z' = P(z, p)        z (n,) independent coordinates of the state at the start of a cycle, p (np,) parameters

Everything in this folder is written over the protocol `ReturnMap`. It has three implementations: `ExplicitMap`, a map
that is written down as a formula; `FunctionMap`, a Python function that also returns slopes; and `FlowMap`, the motion
of a plant over one period or from a section back to that section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import KinemorphError, ModelError, ShapeError, UnsupportedError
from kinemorph.plants.user_laws import Column, columns
from kinemorph.sheet import Table, fields
from kinemorph.words import did_you_mean, quoted

Steps = Callable[[int, int], Any]  # progress(starts that are done, all starts)


class Return(NamedTuple):
    """The end of one cycle, or of one piece of a cycle, with slopes with respect to its start and to k parameters.

    `z` (n',)               coordinates at the end
    `duration`              the time that it takes [s], or 1 for a map without time
    `by_z` (n', n)          derivative of the end with respect to the start
    `by_p` (n', k)          derivative of the end with respect to the parameters that are varied
    `duration_by_z` (n,)    derivative of the duration with respect to the start
    `duration_by_p` (k,)    derivative of the duration with respect to the parameters that are varied
    `message`               "" where the motion returns; otherwise a sentence that says why it does not
    """

    z: Array
    duration: float
    by_z: Array
    by_p: Array
    duration_by_z: Array
    duration_by_p: Array
    message: str = ""

    @classmethod
    def lost(cls, n: int, k: int, message: str) -> Return:
        """The result of a motion that does not return."""
        gone = np.full(n, np.nan)
        return cls(gone, np.nan, np.full((n, n), np.nan), np.full((n, k), np.nan), gone, np.full(k, np.nan), message)


class Returns(NamedTuple):
    """The last returns of B starts after many cycles, without slopes.

    `z` (B, keep, n)        coordinates at the last `keep` returns, in the order of time; NaN for starts that fail
    `duration` (B,)         the duration of the last cycle [s]
    `messages`              by start: why it does not return; starts that return have no entry
    """

    z: Array
    duration: Array
    messages: Mapping[int, str]

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which starts returned every time, shape (B,)."""
        found = np.ones(len(self.z), dtype=bool)
        found[list(self.messages)] = False
        return found


class Piece(Protocol):
    """One piece of a cycle between two shooting nodes."""

    @property
    def start(self) -> Array:
        """The coordinates (n,) of the shooting node where the piece begins."""
        ...

    def __call__(self, z: Array, p: Array) -> Return:
        """The end of the piece that starts at z (n,), at the parameters p (np,)."""
        ...


@runtime_checkable
class ReturnMap(Protocol):
    """What orbits, continuation, diagrams and basins need to know about a motion that repeats."""

    @property
    def name(self) -> str:
        """The name of the map or of its plant."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and units of the coordinates z."""
        ...

    @property
    def parameters(self) -> tuple[Column, ...]:
        """Names and units of the parameters p."""
        ...

    @property
    def start(self) -> Array:
        """The coordinates (n,) where searches start."""
        ...

    @property
    def p(self) -> Array:
        """The values (np,) of the parameters."""
        ...

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of the k parameters with respect to which slopes are computed."""
        ...

    def __call__(self, z: Array, p: Array) -> Return:
        """One cycle from z (n,) at the parameters p (np,), with slopes."""
        ...

    def varying(self, names: Sequence[str]) -> ReturnMap:
        """The same map, whose slopes are with respect to the named parameters."""
        ...

    def split(self, count: int, z: Array, p: Array) -> tuple[Piece, ...]:
        """At most `count` pieces that make up one cycle; their shooting nodes lie on the motion from z at p."""
        ...

    def many(
        self,
        z: Array,
        p: Array,
        cycles: int,
        keep: int = 1,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Returns:
        """The last `keep` returns of all starts z (B, n) with parameters p (B, np) after `cycles` cycles."""
        ...

    def motion(self, z: Array, p: Array, duration: float) -> Any:
        """The motion from z for a duration: a Trajectory, or for a map without time an array (duration + 1, n)."""
        ...

    def state(self, z: Array, p: Array) -> Mapping[str, Array]:
        """The whole state at the coordinates z, by group: q, v, x; {"z": z} for a map without a plant."""
        ...


# ── values by name ────────────────────────────────────────────────────────────────────────────────────────────────────


def named_values(known: Sequence[Column], default: Array, given: Any, what: str) -> Array:
    """An array (n,) from numbers in order, from a dict of some numbers by name, or from None for the default."""
    names = [column.name for column in known]
    values = np.array(default, dtype=float)
    if given is None:
        return values
    if isinstance(given, Mapping):
        for name, value in given.items():
            values[place_of(known, name, what)] = value
    else:
        values = np.array(given, dtype=float)
    if values.shape != (len(names),):
        raise ShapeError(f"{what} has shape {values.shape}; expected ({len(names)},), in this order: {quoted(names)}.")
    if not np.isfinite(values).all():
        bad = names[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise ShapeError(f"{what} '{bad}' is not finite. Check how it was computed.")
    return values


def place_of(known: Sequence[Column], name: str, what: str) -> int:
    """The index of a name among columns; raises ShapeError where it is unknown."""
    names = [column.name for column in known]
    if name not in names:
        raise ShapeError(f"{what} '{name}' is unknown.{did_you_mean(name, names)} Known: {quoted(names)}.")
    return names.index(name)


def check_names(known: Sequence[Column], names: Sequence[str], owner: str) -> tuple[str, ...]:
    """The names as a tuple; raises ModelError where one of them is not a parameter."""
    listed = [column.name for column in known]
    for name in names:
        if name not in listed:
            raise ModelError(
                f"'{owner}' has no parameter '{name}'.{did_you_mean(name, listed)} Known: {quoted(listed)}."
            )
    return tuple(names)


# ── what sheets show ──────────────────────────────────────────────────────────────────────────────────────────────────


def edges_of(cycle: ReturnMap) -> list[str]:
    """The names of the edges of a cycle; empty for a motion without an automaton."""
    found = getattr(cycle, "edges", None)
    return [] if found is None else list(found.edges)


def coordinates_table(cycle: ReturnMap, z: Array, title: str = "") -> Table:
    """The coordinates z (n,) of a state on the section, by name; `data` of it makes them plain."""
    rows = [(column.name, float(value), column.unit) for column, value in zip(cycle.columns, z, strict=True)]
    return Table("coordinates", fields("name value unit"), rows, title)


# ── what maps share ───────────────────────────────────────────────────────────────────────────────────────────────────


class BaseMap:
    """What all return maps share: slopes by other parameters, and many starts at once.

    A map says how in `_varied_by(names)` and in `_last_returns(z, p, cycles, keep, threads, progress)`, where z (B, n)
    and p (B, np) are arrays and `progress` is a function.
    """

    if TYPE_CHECKING:

        @property
        def parameters(self) -> tuple[Column, ...]: ...

        @property
        def varied(self) -> tuple[str, ...]: ...

        def _varied_by(self, names: tuple[str, ...]) -> Self: ...

        def _last_returns(
            self, z: Array, p: Array, cycles: int, keep: int, threads: int | None, progress: Steps
        ) -> Returns: ...

    def varying(self, names: Sequence[str]) -> Self:
        """The same map, whose slopes are with respect to the named parameters."""
        return self if tuple(names) == self.varied else self._varied_by(tuple(names))

    def many(
        self,
        z: Array,
        p: Array,
        cycles: int,
        keep: int = 1,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Returns:
        """The last `keep` returns of all starts z (B, n) with parameters p (B, np) after `cycles` cycles.

        `threads` is the number of threads of compiled batches; `progress(done, all)` is called as starts are done.
        """
        z = np.array(z, dtype=float)
        p = np.broadcast_to(p, (len(z), len(self.parameters)))
        return self._last_returns(z, p, cycles, keep, threads, progress or (lambda done, starts: None))


# ── maps without time ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Timeless(BaseMap):
    """What maps without a plant share: a cycle has one piece, the state is z itself."""

    columns: tuple[Column, ...]
    start: Array

    def split(self, count: int, z: Array, p: Array) -> tuple[Piece, ...]:
        """One piece: a formula cannot be divided."""
        return (replace(self, start=np.asarray(z)),)  # type: ignore[type-var,return-value]

    def state(self, z: Array, p: Array) -> dict[str, Array]:
        """{"z": z}."""
        return {"z": np.asarray(z)}

    def motion(self, z: Array, p: Array, duration: float) -> Array:
        """The coordinates at the start and after each of the iterations, shape (duration + 1, n)."""
        found = [np.asarray(z, dtype=float)]
        for _ in range(round(duration)):
            found.append(self(found[-1], p).z)  # type: ignore[operator]
        return np.array(found)


@dataclass(frozen=True, eq=False)
class ExplicitMap(_Timeless):
    """A map z' = step(z, p) that is given as a formula, with slopes from that formula. Made by `explicit_map`."""

    name: str
    columns: tuple[Column, ...]
    parameters: tuple[Column, ...]
    start: Array
    p: Array
    step: Program
    varied: tuple[str, ...] = ()

    @cached_property
    def _slopes(self) -> CompiledFunction:
        return build(jacobian(self.step, "out", ("z", "p"), values=True), few_calls=True)

    @cached_property
    def _compiled(self) -> CompiledFunction:
        return build(self.step)

    def _varied_by(self, names: tuple[str, ...]) -> ExplicitMap:
        return replace(self, varied=check_names(self.parameters, names, self.name))

    def __call__(self, z: Array, p: Array) -> Return:
        """One iteration, with slopes."""
        places = [place_of(self.parameters, name, "parameter") for name in self.varied]
        try:
            out, by_z, by_p = self._slopes(z, p)
        except KinemorphError as error:  # the formula is not defined there
            return Return.lost(len(z), len(places), str(error))
        return Return(out, 1.0, by_z, by_p[:, places], np.zeros(len(z)), np.zeros(len(places)))

    def _last_returns(
        self, z: Array, p: Array, cycles: int, keep: int, threads: int | None, progress: Steps
    ) -> Returns:
        """The last returns of all starts, iteration by iteration; a start whose values overflow is lost."""
        here, kept = z, np.full((len(z), keep, len(self.columns)), np.nan)
        alive = np.arange(len(here))
        for cycle in range(cycles):
            if not len(alive):
                break
            after = np.empty((len(alive), len(self.columns)))
            self._compiled.shared(after, here[alive], np.ascontiguousarray(p[alive]), threads=threads)
            fine = np.isfinite(after).all(axis=1) & (np.abs(after).max(axis=1, initial=0.0) < 1e100)
            here[alive] = after
            alive = alive[fine]
            if cycle >= cycles - keep:
                kept[alive, cycle - (cycles - keep)] = here[alive]
        lost = np.setdiff1d(np.arange(len(here)), alive)
        kept[lost] = np.nan
        progress(len(here), len(here))
        why = f"the iterates of the map '{self.name}' grow without bound."
        return Returns(kept, np.ones(len(here)), dict.fromkeys(lost.tolist(), why))


def explicit_map(
    step: Callable[[Any, Any], Sequence[Any]],
    coordinates: Mapping[str, str],
    *,
    parameters: Mapping[str, float] | None = None,
    start: Sequence[float] | None = None,
    name: str = "map",
) -> ExplicitMap:
    """The return map  z' = step(z, p),  with slopes that are derived from the formula.

    `step` is traced: it gets lists z and p of expressions and returns a list as long as z. `coordinates` maps the names
    of z to their units, `parameters` those of p to their values; `start` is where searches begin, 0 by default.
    """
    z, given = columns(coordinates), dict(parameters or {})
    if not z:
        raise ModelError(f"map '{name}' has no coordinates. Name at least one, with its unit: {{'x': 'm'}}.")
    program = trace(step, {"z": (len(z),), "p": (len(given),)}, name=name, outputs={"out": (len(z),)})
    first = named_values(z, np.zeros(len(z)), start, "start")
    return ExplicitMap(name, z, tuple(map(Column, given)), first, np.array([*given.values()], dtype=float), program)


@dataclass(frozen=True, eq=False)
class FunctionMap(_Timeless):
    """A return map by a Python function(z, p) that returns a `Return`, with slopes for the parameters `sloped`."""

    name: str
    columns: tuple[Column, ...]
    parameters: tuple[Column, ...]
    start: Array
    p: Array
    function: Callable[[Array, Array], Return]
    sloped: tuple[str, ...] = ()  # the parameters that the columns of `by_p` of the function belong to
    varied: tuple[str, ...] = field(default=())

    def _varied_by(self, names: tuple[str, ...]) -> FunctionMap:
        missing = [name for name in check_names(self.parameters, names, self.name) if name not in self.sloped]
        if missing:
            raise UnsupportedError(
                f"map '{self.name}': its function gives no slopes with respect to '{missing[0]}'. Add a column to "
                "`by_p`, and the name to `sloped`."
            )
        return replace(self, varied=names)

    def __call__(self, z: Array, p: Array) -> Return:
        """One cycle, with slopes."""
        found = self.function(np.asarray(z, dtype=float), np.asarray(p, dtype=float))
        places = [self.sloped.index(name) for name in self.varied]
        return found._replace(by_p=found.by_p[:, places], duration_by_p=found.duration_by_p[places])

    def _last_returns(
        self, z: Array, p: Array, cycles: int, keep: int, threads: int | None, progress: Steps
    ) -> Returns:
        """The last returns of all starts, one after the other."""
        kept, last = np.full((len(z), keep, len(self.columns)), np.nan), np.full(len(z), np.nan)
        messages: dict[int, str] = {}
        for k, here in enumerate(z):
            for cycle in range(cycles):
                found = self.function(here, p[k])
                if found.message:
                    messages[k], kept[k] = found.message, np.nan
                    break
                here, last[k] = found.z, found.duration
                if cycle >= cycles - keep:
                    kept[k, cycle - (cycles - keep)] = here
            progress(k + 1, len(z))
        return Returns(kept, last, messages)
