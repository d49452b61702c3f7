"""The clock of deriving and compiling: what it counts, and the line that says what is being made."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import library, simulate, simulate_batch
from kinemorph.codegen import work_clock
from kinemorph.codegen.backends.llvm import backend
from kinemorph.codegen.building import compile as building
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.work_clock import at_work, reported_by, seconds_at_work


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Cell(io.StringIO):
    """What stderr is in a notebook: no terminal, but someone reads it."""


Cell.__module__ = "ipykernel.iostream"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that speaks after a twentieth of a second."""
    for name, value in (("PATIENCE", 0.05), ("EVERY", 0.01), ("PAUSE", 0.02)):
        monkeypatch.setattr(work_clock, name, value)
    monkeypatch.setattr(work_clock, "_LINE", work_clock._Line())
    monkeypatch.delenv(work_clock.VARIABLE, raising=False)


def shown_on(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, seconds: float = 0.2) -> list[str]:
    """What a stream shows, one text after the other, while a program is compiled that takes so long."""
    monkeypatch.setattr(sys, "stderr", stream)
    with at_work("compiling", "robot.mass_matrix"):
        time.sleep(seconds)
    return [text.strip() for text in stream.getvalue().split("\r") if text]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", [Terminal, Cell])
def test_a_line_says_what_is_compiled_and_goes_when_it_is_done(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was said while LLVM worked for twenty seconds."""
    shown = shown_on(monkeypatch, kind())
    assert shown[0] == "kinemorph: 0 s so far, compiling robot.mass_matrix"
    assert shown[-1] == ""


@pytest.mark.usefixtures("impatient")
def test_nothing_is_said_where_it_is_faster_or_nobody_reads_or_it_is_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shown_on(monkeypatch, io.StringIO()) == []
    monkeypatch.setattr(work_clock, "PATIENCE", 60.0)
    assert shown_on(monkeypatch, Terminal()) == []
    monkeypatch.setattr(work_clock, "PATIENCE", 0.05)
    monkeypatch.setenv("KINEMORPH_PROGRESS", "off")
    assert shown_on(monkeypatch, Terminal()) == []


@pytest.mark.usefixtures("impatient")
def test_many_short_works_in_a_row_are_one_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` compiles dozens of functions, each in less than two seconds."""
    monkeypatch.setattr(work_clock, "PAUSE", 5.0)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    for k in range(8):
        with at_work("compiling", f"function {k}"):
            time.sleep(0.03)
    assert "compiling function 7" in stream.getvalue()
    assert stream.getvalue().endswith(" \r")


@pytest.mark.usefixtures("impatient")
def test_a_program_with_a_display_of_its_own_shows_the_line_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar of the command line stood at 0 of 1 s, and a second line would be written across it."""
    texts: list[str] = []
    with reported_by(texts.append):
        assert shown_on(monkeypatch, Terminal()) == []
    assert texts[0].endswith("compiling robot.mass_matrix") and texts[-1] == ""


def test_a_long_name_is_cut_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    work_clock._on_stderr("12 s so far, compiling a robot with a rather long name")
    assert stream.getvalue() == "\rkinemorph: 12 s so far, compiling a ...\r"


def test_the_clock_counts_nested_work_once_and_each_thread_alone() -> None:
    before = seconds_at_work()
    elsewhere: list[float] = []

    def other() -> None:
        with at_work("deriving", "elsewhere"):
            time.sleep(0.05)
        elsewhere.append(seconds_at_work())

    thread = threading.Thread(target=other)
    thread.start()
    began = time.perf_counter()
    with at_work("deriving", "outer"), at_work("compiling", "inner"):
        time.sleep(0.01)
    took = time.perf_counter() - began
    thread.join()
    assert 0.01 <= seconds_at_work() - before <= took
    assert elsewhere[0] >= 0.05


def test_tracing_differentiating_and_compiling_are_work() -> None:
    def slowly(x: Any) -> Any:
        time.sleep(0.02)
        return x * x

    for make in (
        lambda: trace(slowly, {"x": ()}, name="slow"),
        lambda: jacobian(trace(lambda x: [x[0] * x[1]], {"x": (2,)}), "out", "x"),
        lambda: building.build(trace(lambda x: x * x, {"x": ()})),
    ):
        before, began = seconds_at_work(), time.perf_counter()
        make()
        counted, took = seconds_at_work() - before, time.perf_counter() - began
        assert 0.5 * took <= counted <= took


def slow(function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    def slower(*args: Any, **options: Any) -> Any:
        time.sleep(seconds)
        return function(*args, **options)

    return slower


def test_what_a_saved_file_needs_is_compiled_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with `save` was said to have taken 3 s that were spent on compiling energies and forces for the file."""
    monkeypatch.setitem(building.BACKENDS, "llvm", slow(building.BACKENDS["llvm"], 0.1))
    run = simulate(library.build("pendulum"), 0.05, q=[0.3], save=tmp_path / "run.npz", forces=lambda v: [-v[0]])
    assert run.statistics.compile_seconds > 0.3
    assert run.statistics.seconds < 0.5 * run.statistics.compile_seconds


def test_the_code_of_a_batch_is_compiled_and_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code for batches is compiled when the first batch is run, which was counted as the time of the run."""
    robot = library.build("pendulum")
    monkeypatch.setattr(backend, "load_module", slow(backend.load_module, 0.3))
    statistics = simulate_batch(robot, 0.05, q=np.zeros((4, 1)), rtol=1e-7).statistics
    assert statistics.compile_seconds > 0.6
    assert statistics.seconds < 0.25
