"""Files for gnuplot in EasyDyn's format: the same columns and numbers as those that a run in Python saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.programs import make_job
from support.cases.c_programs import needs_cc
from support.tools.program_languages import ROUGH, c_program, python_program, run_program


@needs_cc
@pytest.mark.parametrize("language", ["c", "python"])
def test_a_res_file_has_the_columns_of_a_saved_run(language: str, tmp_path: Path) -> None:
    """SEEDS 001-12: the .res file of a program, and a script that plots it."""
    robot = kinemorph.library.double_pendulum()
    options = {"q": [0.5, 0.2], "method": "rk4", "step": 0.005}  # sizes of steps do not depend on rounding
    job = make_job(robot, 0.2, **options)
    program = c_program(job, tmp_path, ROUGH) if language == "c" else python_program(job, tmp_path)
    file = tmp_path / "it's.res"
    run_program(program, "--res", str(file))
    kinemorph.simulate(robot, 0.2, **options).save(tmp_path / "saved.res")
    wanted = np.loadtxt(tmp_path / "saved.res")
    found = np.loadtxt(file)
    titles = file.read_text().splitlines()[0].split("  ")
    known = (tmp_path / "saved.res").read_text().splitlines()[1].split("  ")
    assert titles == known[: len(titles)]
    assert np.abs(found - wanted[:, : found.shape[1]]).max() < 1e-9
    script = (tmp_path / "it's.res.gp").read_text()
    assert "it''s.res' using 1:2 with lines title 'q.q1 [rad]', \\\n" in script and "using 1:5" in script


@needs_cc
def test_coordinates_without_rates_of_their_own_are_refused(tmp_path: Path) -> None:
    builder = kinemorph.RobotBuilder("top").add(kinemorph.Body.sphere("top", 1.0, 0.1))
    job = make_job(builder.joint("ball", "spherical", "world", "top").build(), 0.1)
    message = run_program(c_program(job, tmp_path, ROUGH), "--res", "top.res", code=2)[1]
    assert message.startswith("error: --res has q, its rate and its acceleration") and "Use --output." in message
