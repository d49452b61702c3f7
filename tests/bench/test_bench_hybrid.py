"""`kinemorph bench hybrid`: both sides walk and strike alike. No time is judged."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.bench import report
from kinemorph.bench.hybrid import compass_walks
from kinemorph.bench.targets import judge_basin, judge_hybrid
from kinemorph.simulation.simulate import simulate


def test_ten_steps_of_the_compass_are_those_of_drake() -> None:
    """Drake's equations were derived by hand, for two coordinates; ours are those of a floating robot that is held."""
    pytest.importorskip("pydrake")
    (entry, _) = compass_walks.drake_entries()
    assert np.abs(entry.read(entry.run(1e-12)) - compass_walks.reference()).max() < 1e-10


def test_the_walk_that_is_timed_has_ten_strikes() -> None:
    run = simulate(compass_walks.compass_walker(), compass_walks.END, output_step=compass_walks.END)
    assert len(run.events) == compass_walks.STEPS and run.outcome.ok
    back = compass_walks._turned(compass_walks._turned(compass_walks.reference()))
    assert back == pytest.approx(compass_walks.reference(), abs=1e-15)


def test_impacts_of_rabbit_are_those_of_pinocchio() -> None:
    pytest.importorskip("pinocchio")
    from kinemorph.bench.hybrid.impact_maps import ImpactContest
    from kinemorph.bench.loops.pinocchio_loops import settled
    from kinemorph.bench.peers.pinocchio_python import PythonPeer
    from kinemorph.bench.speed.contest import AGREE
    from kinemorph.bench.speed.evaluation_times import disagreement

    for name in ("rabbit", "rabbit, both feet"):
        contest = settled(ImpactContest(name), lambda contest: PythonPeer(contest.twin, contest.tip), n=8)
        assert disagreement(contest, PythonPeer(contest.twin, contest.tip)) < AGREE


def test_rows_become_tables() -> None:
    walk = {
        **{"kind": "walk", "contestant": "Kinemorph, Stepper", "method": "dop853", "setting": "tolerance 1e-09"},
        **{"error": 5e-10, "reached": True, "us_per_step": 36.2, "ratio": 34.0},
        **judge_hybrid("walk", "one run", 34.0)._asdict(),
    }
    basin = {
        **{"kind": "basin", "robot": "compass_walker", "starts": 262144, "cycles": 30, "cores": 2, "walk": 0.4},
        **{"fell": 0.6, "seconds": 61.0, "cpu_s": 110.0, **judge_basin(61.0)._asdict()},
    }
    page = report.Report("hybrid", [walk, basin], {"peak_gflops": 1.0}).as_page()
    assert "34.0x" in page and "30x | met" in page and "262,144" in page and "60 s | missed" in page
    assert judge_hybrid("impact", "batched", 29.9).verdict == "missed" and judge_hybrid("walk", "one run", None) == (
        "",
        "",
    )
