"""Whipple's bicycle, by joints and by position matrices, against the benchmark of Meijaard and others (2007)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import kinemorph
from kinemorph import audit, library, linearize, simulate
from kinemorph.errors import ModelError
from kinemorph.plants import plant
from support.robots.reference_robots import reference

DATA = reference("whipple_bicycle")["reference"]
MANOEUVRES = DATA["iftomm_manoeuvres"]
FORMS = ["joints", pytest.param("matrices", marks=pytest.mark.slow)]


@cache
def rolling(form: str) -> Any:
    return plant(library.whipple_bicycle(form=form))


def lean_and_steer(form: str, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """(A, B): the rates of lean, steer and their velocities, and the accelerations due to a torque about each.

    The other coordinates depend on these four, or have no influence on them.
    """
    model, names = rolling(form), [column.name for column in rolling(form).v]
    two = [names.index("root.wx" if form == "joints" else "lean"), names.index("steer")]
    linear = linearize(model, v=library.whipple_bicycle(speed, form=form).settings.v, outputs=())
    rows = [*two, *(model.nv + k for k in two)]
    chosen, free = linear.basis[rows], linear.A[rows] @ linear.basis
    A = free @ np.linalg.pinv(chosen)
    assert np.abs(free - A @ chosen).max() < 1e-10  # nothing else has an influence
    return A, linear.B[np.ix_(rows[2:], two)]


@pytest.mark.parametrize("form", FORMS)
def test_matrices_and_eigenvalues_are_the_published_ones(form: str) -> None:
    """M, v C1 and g K0 + v^2 K2 to 1e-10, eigenvalues at ten speeds to 1e-9, both critical speeds to 1e-9."""
    M0, C1, K0, K2 = (np.array(DATA["published"][name]) for name in ("M", "C1", "K0", "K2"))
    for text, values in DATA["eigenvalues"].items():
        speed = float(text)
        A, B = lean_and_steer(form, speed)
        M = np.linalg.inv(B)
        assert np.abs(M - M0).max() < 1e-10
        assert np.abs(-M @ A[2:, 2:] - speed * C1).max() < 1e-10
        assert np.abs(-M @ A[2:, :2] - 9.81 * K0 - speed**2 * K2).max() < 1e-10
        expected = np.sort_complex([complex(*value) for value in values])
        assert np.abs(np.sort_complex(np.linalg.eigvals(A)) - expected).max() < 1e-9

    def weaving(speed: float) -> float:
        values = np.linalg.eigvals(lean_and_steer(form, speed)[0])
        return float(values[np.abs(values.imag) > 1.0].real.max())

    def toppling(speed: float) -> float:
        return float(np.linalg.det(lean_and_steer(form, speed)[0]))  # zero where an eigenvalue is

    assert brentq(weaving, 4.0, 4.6, xtol=1e-13) == pytest.approx(DATA["weave_speed"], abs=1e-9)
    assert brentq(toppling, 5.5, 6.5, xtol=1e-13) == pytest.approx(DATA["capsize_speed"], abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_three_manoeuvres_keep_energy_and_roll(form: str) -> None:
    """Weaving, stable and toppling, after a push: energy to 1e-9, the rows of rolling to 1e-10."""
    for manoeuvre in MANOEUVRES.values():
        system = library.whipple_bicycle(manoeuvre["v"], manoeuvre["roll_rate"], form=form)
        run = simulate(rolling(form), 5.0, q=system.settings.q, v=system.settings.v, rtol=1e-11, atol=1e-12)
        assert run.outcome.ok and audit(run, tolerance=1e-9).passed
        energy = run["energy.kinetic"] + run["energy.potential"]
        assert np.abs(energy - energy[0]).max() < 1e-9 * abs(energy[0])
        assert run.loop_error.max() < 1e-10 and np.abs(run.loop_rate).max() < 1e-10


@pytest.mark.slow
def test_both_forms_move_alike() -> None:
    for manoeuvre in MANOEUVRES.values():
        runs = []
        for form in ("joints", "matrices"):
            settings = library.whipple_bicycle(manoeuvre["v"], manoeuvre["roll_rate"], form=form).settings
            runs.append(simulate(rolling(form), 5.0, q=settings.q, v=settings.v, rtol=1e-12, atol=1e-13))
        for name in ("steer", "rear", "front"):
            assert np.abs(runs[0][f"q.{name}"] - runs[1][f"q.{name}"]).max() < 1e-9
        assert np.abs(runs[0]["q.root.y"] - runs[1]["q.y"]).max() < 1e-9


def test_a_form_that_is_none_is_named() -> None:
    with pytest.raises(ModelError, match=r"form is 'joint' and wheels is 'discs', expected one of 'joints'"):
        library.whipple_bicycle(form="joint")


@pytest.mark.slow
def test_beside_the_bicycle_of_sympy(record_property: Any) -> None:
    """Ready sooner than SymPy's own model and a hundred times faster per evaluation, with like many operations."""
    pytest.importorskip("sympy")
    script = Path(__file__).resolve().parent.parent / "tables" / "bicycle_beside_sympy.py"
    environment = {**os.environ, "KINEMORPH_CACHE": "off", "PYTHONPATH": str(Path(kinemorph.__file__).parent.parent)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    rows = json.loads(done.stdout.splitlines()[-1])
    for name, row in rows.items():
        for what, value in row.items():
            record_property("figure", ("bicycle", f"{name} {what}", value))
    for form in ("joints", "matrices"):
        assert rows[form]["ready"] < rows["SymPy"]["ready"]
        assert rows[form]["evaluation"] < 0.01 * rows["SymPy"]["evaluation"]
        assert rows[form]["operations"] < 2.0 * rows["SymPy"]["operations"]
