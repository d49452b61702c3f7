"""`kinemorph bench identify`: both sides give the same regressors and triangles. No time is judged."""

from __future__ import annotations

import pytest

from kinemorph.bench import report
from kinemorph.bench.identify.regressors import RegressorContest
from kinemorph.bench.identify.triangles import difference, one_thread
from kinemorph.bench.peers.pinocchio_python import PythonPeer
from kinemorph.bench.speed.evaluation_times import disagreement
from kinemorph.bench.targets import judge_identify


@pytest.mark.parametrize("form", ["matrix", "entries"])
@pytest.mark.slow
def test_regressors_of_panda_are_those_of_pinocchio(form: str) -> None:
    contest = RegressorContest("panda", form)
    assert disagreement(contest, PythonPeer(contest.twin, contest.tip)) < 1e-12


@pytest.mark.slow
def test_triangles_of_panda_are_those_of_all_columns() -> None:
    contest = RegressorContest("panda", "matrix")
    assert difference(contest, one_thread(contest), PythonPeer(contest.twin, contest.tip)) < 1e-10
    assert judge_identify("triangle", 4.1, 299.0).verdict == "met"
    assert judge_identify("triangle", 4.1, 301.0).verdict == "missed: 300 MB"


def test_the_page_shows_forms_and_verdicts() -> None:
    row = {
        "kind": "regressor",
        "robot": "panda",
        "nv": 7,
        "algorithm": "entries",
        "mode": "scalar",
        "difference": 1e-15,
    }
    row |= {"ours_us": 0.2, "peer_us": 1.6, "ratio": 8.0, "peer": "Pinocchio C++"}
    page = report.Report("identify", [row | judge_identify("regressor", 8.0)._asdict()], {"peak_gflops": 1.0}).as_page()
    assert "8.0x" in page and "entries" in page and "met" in page
    assert judge_identify("regressor", 4.9).verdict == "missed"
