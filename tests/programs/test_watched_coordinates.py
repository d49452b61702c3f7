"""Programs end where coordinates end: at the singular angle of a gimbal, and where a formula leaves its domain."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, RobotBuilder
from kinemorph.errors import UnsupportedError
from kinemorph.notation import Coordinate, acos
from kinemorph.programs import make_job
from support.cases.program_cases import Case, table
from support.tools.program_languages import ROUGH, WRITERS, c_program, has_language, job_of, run_program

OTHERS = [language for language in WRITERS if language != "c"]


def gimbal(spin: float = 0.0) -> Case:
    """A leg on a gimbal whose second angle turns through 90 degrees."""
    builder = RobotBuilder("leg", gravity=(0.0, 0.0, 0.0)).add(Body.box("coxa", 1.0, (0.1, 0.2, 0.3)))
    robot = builder.joint("hip", "gimbal", "world", "coxa").build()
    return Case(robot, 1.0, {"v": [spin, 4.0, 0.0], "output_step": 0.01, "method": "rk4", "step": 0.001})


def damped() -> Case:
    """A gimbal whose damping becomes infinitely stiff at its singular angle, so that steps dwindle."""
    builder = RobotBuilder("damped").add(Body.box("b", 1.0, (0.1, 0.2, 0.3), (0.0, 0.0, -0.3)))
    robot = builder.joint("hip", "gimbal", "world", "b", order="zxz", damping=0.02).build()
    return Case(robot, 3.0, {"q": [0.1, 1.0, 0.3], "v": [0.3, 0.0, 0.0]})


def crank(**options: object) -> Case:
    """A driven joint whose formula is the acos of a coordinate that grows beyond 1."""
    builder = RobotBuilder("crank", gravity=(0.0, 0.0, 0.0)).add(Body.box("slider", 1.0, (0.1, 0.1, 0.1)))
    builder.add(Body.box("rod", 0.1, (0.1, 0.1, 0.1)))
    builder.joint("x", "prismatic", "world", "slider", axis=(1.0, 0.0, 0.0))
    builder.joint("gamma", "revolute", "slider", "rod", axis=(0.0, 1.0, 0.0), driven=acos(Coordinate("x")))
    return Case(builder.build(), 1.0, {"q": [0.2], "v": [2.0], "output_step": 0.01, **options})


@pytest.mark.parametrize("case", [gimbal, crank, pytest.param(damped, marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", ["c", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_run_ends_where_its_coordinates_end(case: Callable[[], Case], language: str, tmp_path: Path) -> None:
    given = case()
    wanted = kinemorph.simulate(given.model, given.until, **given.options)
    job = job_of(given)
    if missing := has_language(language):
        pytest.skip(missing)
    program = c_program(job, tmp_path, ROUGH) if language == "c" else WRITERS[language](job, tmp_path)
    found, message = run_program(program, code=1)
    assert wanted.outcome.kind == "failed"
    assert message == f"failed: {re.sub(r' .cond M = [^)]*[)]', '', wanted.outcome.message)}\n"
    assert np.abs(found - table(wanted)).max() < 1e-9


def test_newmark_is_refused_where_it_could_step_over_the_end_of_a_domain() -> None:
    case = crank(method="newmark")
    with pytest.raises(UnsupportedError, match="the acos of joint 'gamma' has a domain, and method 'newmark' may step"):
        make_job(case.model, case.until, **case.options)
