"""`kinemorph bench cockroach`: the animal in MuJoCo is the same animal, and rows become tables. No time is judged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.bench import report
from kinemorph.bench.cockroach import compare
from kinemorph.bench.cockroach.compare import SIZES, STEPS, gait_of, problem
from kinemorph.bench.peers.mujoco_twin import MujocoTwin
from kinemorph.bench.standing import kinemorph_run
from kinemorph.bench.standing.kinemorph_run import OursStanding
from kinemorph.bench.standing.mujoco_run import MujocoStanding, fitted
from kinemorph.bench.standing.problem import BASE, Push, rms_errors
from kinemorph.bench.targets import judge_cockroach
from kinemorph.bench.timing import Pace
from kinemorph.deriving.dynamics import derive
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.library.animals.cockroach import LEGS, cockroach
from kinemorph.model.library.animals.cockroach_gait import running_cockroach
from kinemorph.model.parameter import evaluate_all
from kinemorph.simulation.simulate import simulate
from support.tools.command_line import run


def test_mujoco_has_the_same_animal() -> None:
    """The same mass matrix with hinges in place of gimbals, 30 drives, and feet at the same places."""
    animal = problem("dropped")
    twin = MujocoTwin(animal.robot, lambda spec: fitted(animal, spec))
    M = derive(animal.robot, backend="interpreter").mass_matrix(animal.q)
    assert np.abs(twin.mass_matrix(animal.q) - M).max() < 1e-12 * np.abs(M).max()
    assert (twin.model.nv, twin.model.nu, twin.model.ngeom) == (36, 30, 7)
    heights = twin.data.geom_xpos[1:, 2]
    assert heights.min() == pytest.approx(5e-4, abs=1e-12) and len(heights) == len(LEGS)
    drives = (twin.model.actuator_gainprm[:, 0], -twin.model.actuator_biasprm[:, 1], twin.model.dof_damping[6:])
    (gains,) = (element for element in cockroach().elements if isinstance(element, PD))
    assert {*drives[0], *drives[1]} == set(evaluate_all(gains.kp)) and {*drives[2]} == set(evaluate_all(gains.kd))


@pytest.mark.slow
def test_legs_swing_alike_in_the_air() -> None:
    """MuJoCo's method is of first order: the gap between the simulators is gone with its step."""
    animal = problem("dropped")
    q = animal.q + 0.0
    q[2] += 0.05
    q[BASE:] += 0.1 * np.sin(np.arange(30))
    animal = replace(animal, q=q, push=Push(0.004, 0.008, (0.02, 0.03, 0.01)), duration=0.02, sample=0.001)
    exact, theirs = OursStanding(animal, "extrapolated_contact").run(STEPS[7]), MujocoStanding(animal)
    assert np.abs(exact[:, BASE:] - animal.posture).max() > 0.02  # the legs swing
    gaps = [rms_errors(theirs.run(h), exact) for h in (STEPS[5], STEPS[7])]
    for name, gap in gaps[1].items():
        assert gap < 1e-3 and gap == pytest.approx(0.25 * gaps[0][name], rel=0.1), (name, gaps)


@pytest.mark.slow
def test_the_gait_is_that_of_the_animal() -> None:
    """Angles and rates for MuJoCo's controls, beside what the reference of our PD gives in a run."""
    system = running_cockroach()
    run = simulate(system, 0.2, method="centered_contact", step=1e-4, output_step=0.01)
    angles, rates = gait_of(system)(run.t)
    (path,) = (element for element in system.elements if isinstance(element, SplinePath))
    for k in (0, 7, 29):
        assert np.abs(angles[:, k] - run[f"gait.{path.joints[k]}"]).max() < 1e-12
        assert np.abs(rates[:, k] - run[f"gait.{path.joints[k]}.velocity"]).max() < 1e-9


def test_a_verdict_counts_real_time() -> None:
    assert judge_cockroach("one robot", 25.0, 60.0).verdict == "met"
    assert judge_cockroach("batched", 25.0, 60.0).verdict == "missed: 40x"
    assert judge_cockroach("one robot", 25.0, 40.0).verdict == "missed: 50 times real time"
    assert judge_cockroach("one robot", None, None).verdict.startswith("missed")


@pytest.mark.slow
def test_rows_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr(kinemorph_run, "BATCH_STEPS", 8)
    monkeypatch.setattr(compare, "METHODS", ("centered_contact",))
    monkeypatch.setattr(compare, "SIZES", {"pushed": SIZES["pushed"]._replace(ours=STEPS[2:4])})
    short = replace(problem("pushed"), duration=0.16)
    monkeypatch.setattr(compare, "problem", lambda scenario: short)
    found: Any = run("bench", "cockroach", "--quick", "--json")
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)
    assert [row["kind"] for row in rows] == ["point"] * 6 + ["cockroach"] * 12
    page = report.Report("cockroach", rows, {"peak_gflops": 1.0}).as_page()
    assert "| cockroach pushed | joint angles | 0.5 |" in page and "| MuJoCo | Euler | 0.25 |" in page
    assert "real time" in page
