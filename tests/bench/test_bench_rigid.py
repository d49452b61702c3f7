"""`kinemorph bench rigid`: all contestants simulate the same problems. No time is judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from kinemorph.bench import report
from kinemorph.bench.rigid import compare
from kinemorph.bench.rigid.picture import draw_rigid
from kinemorph.bench.rigid.problems import G, Problem, problems
from kinemorph.bench.rigid.runs import kinemorph_run
from kinemorph.errors import MissingExtraError
from kinemorph.simulation.simulate import simulate


@pytest.fixture(scope="module")
def stated() -> dict[str, Problem]:
    return {problem.name: problem for problem in problems()}


@pytest.mark.slow
def test_the_ball_in_closed_form_obeys_its_equations(stated: dict[str, Problem]) -> None:
    """Friction mu g slows the ball down and turns it until it rolls; then neither changes any more."""
    ball = stated["ball"]
    exact = ball.exact()
    run = simulate(ball.system(), ball.end, output_step=ball.times.tolist(), rtol=1e-10, atol=1e-12)
    assert run.q[np.isin(run.t, ball.times)] == pytest.approx(exact, abs=1e-11)
    (event,) = run.events
    assert event.t == pytest.approx(3.0 / (3.5 * ball.mu * G), abs=1e-9)
    v = (exact[-1] - exact[-2]) / (ball.times[-1] - ball.times[-2])
    assert v[0] == pytest.approx(0.1 * v[2], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("block", marks=pytest.mark.slow), "rod"])
def test_time_steps_converge_to_the_exact_motion(stated: dict[str, Problem], name: str) -> None:
    problem = stated[name]
    exact = problem.exact()
    errors = [np.abs(kinemorph_run(problem, 1, method="moreau", step=step).rows - exact).max() for step in (1e-3, 1e-4)]
    assert errors[1] < 0.15 * errors[0] < 1e-3


@pytest.mark.slow
def test_peers_state_the_same_problems(stated: dict[str, Problem]) -> None:
    """Each peer that is installed is near the exact motion of the rod, and of the stack where it has one."""
    for name, run in compare.PEERS.items():
        for problem in (stated["rod"], stated["stack"]):
            if (name, problem.name) in compare.NOT_STATED:
                continue
            try:
                found = run(problem, 1e-3, 1)
            except MissingExtraError:
                continue
            assert np.abs(found.rows - problem.exact()).max() < 2e-3, (name, problem.name)


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/usr/lib/python3/dist-packages/siconos").exists() or not shutil.which("cc"), reason="no Siconos"
)
def test_siconos_converges_to_the_exact_motions(stated: dict[str, Problem]) -> None:
    from kinemorph.bench.rigid.siconos_runs import siconos_runs

    for name, limit in (("ball", 2e-5), ("block", 3e-3), ("stack", 3e-5), ("rod", 5e-4)):
        (found,) = siconos_runs(stated[name], (1e-3,), 1).values()
        assert np.abs(found.rows - stated[name].exact()).max() < limit, name


def test_rows_become_a_table_and_a_picture(tmp_path: Path) -> None:
    rows = [
        {"kind": "rigid", "problem": "rod", "contestant": name, "setting": "step 0.001 s", "error": error, "ms": ms}
        for name, error, ms in (("Kinemorph, moreau", 1e-4, 0.2), ("MuJoCo", 1e-3, 0.8), ("Exudyn", None, 3.0))
    ]
    judged = compare.judged(rows)
    page = report.Report("rigid", judged, {"peak_gflops": 1.0}).as_page()
    assert "moreau, step 0.001 s" in page and "4.0x" in page and "fails" in page
    draw_rigid(judged, tmp_path / "rigid.png")
    assert (tmp_path / "rigid.png").stat().st_size > 5000
