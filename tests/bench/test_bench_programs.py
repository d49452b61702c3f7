"""`kinemorph bench programs`: rows of programs in C beside others, equal errors, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.programs import compare
from kinemorph.bench.programs.pydy_pendulum import ode_function, solvers
from kinemorph.bench.report import COMPARISONS
from kinemorph.bench.result_tables import fmus_grid, programs_grid
from kinemorph.bench.targets import judge_programs
from kinemorph.bench.timing import QUICK
from kinemorph.errors import CompileError, MissingExtraError
from kinemorph.model.library.textbook import double_pendulum
from kinemorph.simulation.simulate import simulate
from support.cases.c_programs import needs_cc


def test_each_side_takes_its_loosest_accurate_tolerance() -> None:
    wanted = np.zeros((3, 2))
    tolerance, error = compare.loosest(lambda tolerance: wanted + 20.0 * tolerance, wanted)
    assert (
        tolerance == pytest.approx(10.0**-9.5) and error == pytest.approx(20.0 * tolerance) and error <= compare.ERROR
    )
    with pytest.raises(CompileError, match="no tolerance down to 1e-13 gives errors below 1e-08"):
        compare.loosest(lambda tolerance: wanted + 1.0, wanted)


def test_verdicts_and_tables() -> None:
    """The peer's time divided by ours: at least 50 for PyDy, 10 for PythonFMU, a third for `simulate`."""
    assert judge_programs("double pendulum", 60.0).verdict == "met"
    assert judge_programs("panda, FMI 2.0", 9.0) == ("10x", "missed")
    assert judge_programs("hexapod24, implicit contact", 0.3).verdict == "missed"
    rows = [compare._row("program", "double pendulum", "Kinemorph, C", 0.002, 1e-9, 0.2)]
    rows.append(compare._row("fmu", "panda, FMI 2.0", "Kinemorph", 2e-6, 1e-12, 4e-5))
    assert "100x" in programs_grid(rows).markdown() and "20.0x" in fmus_grid(rows).markdown()
    agreed = COMPARISONS["programs"].agreed
    assert all(map(agreed, rows)) and not agreed({"error": 1e-3})


def test_without_its_peers_there_are_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Any:
        raise MissingExtraError("pydy")

    def quick(folder: Path, *_: Any) -> Path:
        return folder

    monkeypatch.setattr(compare, "ode_function", missing)
    monkeypatch.setattr(compare, "built_master", missing)
    monkeypatch.setattr(compare, "_hexapod", lambda *_: iter(()))
    monkeypatch.setattr(compare, "built", quick)
    monkeypatch.setattr(compare, "cpu_time", lambda *_, samples: 1e-3)
    monkeypatch.setattr(compare, "loosest", lambda run, wanted: (1e-9, 1e-9))
    notes: list[str] = []
    (row,) = compare.compare(QUICK, quick=True, say=lambda text: None, note=notes.append)
    assert row["ratio"] is None and row["verdict"] == "" and len(notes) == 2


@pytest.mark.slow
def test_the_equations_of_pydy_are_those_of_the_robot() -> None:
    pytest.importorskip("pydy", reason="PyDy is not installed")
    rate, constants = ode_function(compare.MASSES, compare.LENGTHS, compare.GRAVITY)
    exact = simulate(double_pendulum(compare.MASSES, compare.LENGTHS), 2.0, q=compare.START, rtol=1e-12, atol=1e-12)
    for solve in solvers().values():
        found = solve(rate, constants, np.array([*compare.START, 0.0, 0.0]), exact.t, 1e-12)
        assert np.abs(found - np.column_stack([exact.q, exact.v])).max() < 1e-9


@needs_cc
@pytest.mark.slow
def test_programs_and_fmus_agree_with_their_peers() -> None:
    pytest.importorskip("pythonfmu", reason="PythonFMU is not installed")
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    rows = list(compare.compare(QUICK, quick=True, say=lambda text: None, note=lambda text: None))
    assert [row["contestant"] for row in rows].count("Kinemorph, C") == 3 and rows[-1]["kind"] == "fmu"
    assert all(row["error"] is None or row["error"] < 1e-8 for row in rows)
