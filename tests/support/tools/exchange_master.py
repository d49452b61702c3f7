"""A master for the C functions of model exchange: SciPy's integrators advance the continuous states, by `ctypes`.

It does what a master of FMI does: it locates changes of sign of the indicators, ends steps at time events, calls
`event` until nothing happens any more, and starts the integrator again where the state has jumped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from kinemorph.codegen.backends.c.library import compiler
from kinemorph.programs import Job
from kinemorph.programs.job_tables import job_tables
from kinemorph.programs.targets.c import c_name, library_texts
from support.tools.program_languages import compile_files

GOING, STOPPED, REST = 0, 13, 14
FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fPIC", "-shared")
SHIM = '#include "{0}_exchange.h"\nint {0}_size(void);\nint {0}_size(void) {{ return (int)sizeof({0}); }}\n'


class Library(NamedTuple):
    """The functions of a job as a shared library, and its sizes and columns."""

    functions: Any
    name: str
    size: int
    sizes: dict[str, int]
    columns: tuple[str, ...]

    @property
    def continuous(self) -> int:
        """The number of continuous states."""
        return self.sizes["nq"] + self.sizes["nv"] + self.sizes["nx"]


def build_library(job: Job, folder: Path) -> Library:
    """Writes the C of a job with the functions of model exchange, and compiles it; a warning is a failure."""
    name, tables = c_name(job), job_tables(job)
    texts = library_texts(job, name, exchange=True) | {"shim.c": SHIM.format(name)}
    folder.mkdir(exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text)
    sources = sorted(file for file in texts if file.endswith(".c"))
    compile_files(folder, [*compiler(), *FLAGS, *sources, "-lm", "-o", "model.so"])
    functions = ctypes.CDLL(str(folder / "model.so"))
    size = int(getattr(functions, f"{name}_size")())
    return Library(functions, name, size, tables.sizes, tuple(column for column, _ in tables.columns))


class Instance:
    """A model in the memory of a library: the functions of model exchange as methods."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.memory = ctypes.create_string_buffer(library.size)
        self._call("init")

    def _call(self, name: str, *arguments: Any) -> int:
        function = getattr(self.library.functions, f"{self.library.name}_{name}")
        return int(function(ctypes.byref(self.memory), *arguments))

    def set(self, name: str, value: float) -> None:
        """Sets a column by its name."""
        assert self._call("set", self.library.columns.index(name), ctypes.c_double(value)) == 0

    def get(self, name: str) -> float:
        """The value of a column."""
        function = getattr(self.library.functions, f"{self.library.name}_get")
        function.restype = ctypes.c_double
        return float(function(ctypes.byref(self.memory), self.library.columns.index(name)))

    def begin(self) -> None:
        """Ends the initialization."""
        assert self._call("begin") == GOING

    def move(self, t: float, states: Sequence[float] | np.ndarray | None = None) -> None:
        """Sets the time [s] and the continuous states."""
        self._call("set_instant", ctypes.c_double(t))
        if states is not None:
            assert self._call("set_continuous", _pointer(np.array(states, dtype=float))) == GOING

    @property
    def states(self) -> np.ndarray:
        """The continuous states."""
        found = np.zeros(self.library.continuous)
        self._call("get_continuous", _pointer(found))
        return found

    def rates(self, t: float, states: np.ndarray) -> np.ndarray:
        """The rates of the continuous states."""
        self.move(t, states)
        found = np.zeros(len(states))
        assert self._call("derivatives", _pointer(found)) == GOING
        return found

    def indicators(self, t: float, states: np.ndarray) -> np.ndarray:
        """The event indicators."""
        self.move(t, states)
        found = np.zeros(self.library.sizes["guards"])
        assert self._call("indicators", _pointer(found)) == GOING
        return found

    def event(self) -> tuple[int, bool, float, int]:
        """(status, whether states have jumped, the time of the next time event [s], rounds): all rounds of an event."""
        changed, rounds = False, 0
        jumped, more, following = ctypes.c_int(), ctypes.c_int(1), ctypes.c_double()
        status = GOING
        while more.value and status == GOING:
            status = self._call("event", ctypes.byref(jumped), ctypes.byref(more), ctypes.byref(following))
            changed, rounds = changed or bool(jumped.value), rounds + 1
            assert rounds < 100
        return status, changed, following.value, rounds

    def completed(self) -> bool:
        """Whether an event is needed after a step."""
        event = ctypes.c_int()
        assert self._call("completed", ctypes.byref(event)) == GOING
        return bool(event.value)

    def directional(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]) -> np.ndarray:
        """Directional derivatives."""
        rows, columns = (ctypes.c_int * len(unknowns))(*unknowns), (ctypes.c_int * len(knowns))(*knowns)
        found = np.zeros(len(unknowns))
        given = np.array(seed, dtype=float)
        status = self._call("directional", rows, len(unknowns), columns, len(knowns), _pointer(given), _pointer(found))
        assert status == GOING
        return found

    def slopes(self, t: float, states: np.ndarray, knowns: Sequence[int]) -> np.ndarray:
        """The derivatives of all rates by some columns, shape (continuous states, knowns)."""
        self.move(t, states)
        rows = [len(self.library.columns) + k for k in range(self.library.continuous)]
        return np.column_stack([self.directional(rows, [k], [1.0]) for k in knowns])


def _pointer(values: np.ndarray) -> Any:
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class Advanced(NamedTuple):
    """What a master has seen: samples of the continuous states, times of events [s], status and time at the end."""

    t: np.ndarray
    states: np.ndarray
    events: list[float]
    ticks: list[float]
    asked: int
    status: int
    end: float


def advance(
    model: Instance,
    times: Sequence[float],
    *,
    rtol: float = 1e-11,
    atol: float = 1e-12,
    most: int = 100_000,
    method: Any = DOP853,
) -> Advanced:
    """Advances a model through sample times [s] by a method of SciPy, as a master of FMI does.

    It must need fewer than `most` steps.
    """
    t, samples, seen = float(times[0]), [], list(times)
    model.begin()
    status, _, following, _ = model.event()
    events: list[float] = []
    ticks: list[float] = []
    asked = steps = 0
    states = model.states
    while status == GOING:
        while seen and seen[0] <= t:
            samples.append((seen.pop(0), model.states))
        if not seen:
            break
        bound = min(following, times[-1])
        solver = method(model.rates, t, states, bound, rtol=rtol, atol=atol)
        signs = model.indicators(t, states)
        assert (signs != 0.0).all()
        event = False
        while not event and solver.status == "running":
            steps += 1
            assert steps < most
            solver.step()
            assert solver.status != "failed"
            dense, low = solver.dense_output(), solver.t_old
            t, states = solver.t, solver.y
            moved = _first_change(model, dense, signs, low, t)
            if moved is not None:
                t, states, event = moved, dense(moved), True
                events.append(t)
            while seen and seen[0] < t:
                samples.append((seen[0], dense(seen.pop(0))))
            model.move(t, states)
            if model.completed():
                asked, event = asked + 1, True
        if t == following:
            ticks.append(t)
        status, _, following, _ = model.event()
        states = model.states
    return Advanced(
        np.array([time for time, _ in samples]), np.array([row for _, row in samples]), events, ticks, asked, status, t
    )


def _first_change(
    model: Instance, dense: Callable[[float], np.ndarray], signs: np.ndarray, low: float, high: float
) -> float | None:
    """The first time in (low, high] at which an indicator has another sign than at the start, or None."""
    first = None
    for k, sign in enumerate(np.sign(signs)):

        def value(t: float, k: int = k) -> float:
            return float(model.indicators(t, dense(t))[k])

        if np.sign(value(high)) != sign:
            found = brentq(value, low, high, xtol=1e-15, rtol=1e-15) if np.sign(value(low)) == sign else low
            while np.sign(value(found)) == sign:  # a master ends on the other side
                found = np.nextafter(found, np.inf) + 1e-15
            first = found if first is None else min(first, found)
    return first
