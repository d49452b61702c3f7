"""The same bytes, whoever computes: in process, by one, two and seven processes, and by a Dask cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kinemorph.library import double_pendulum
from kinemorph.studies.spaces.parts import Range
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.sweeps.sweep import sweep
from support.studies.killed_studies import contents


@pytest.mark.slow
def test_a_study_of_runs_has_the_same_bytes_with_any_workers() -> None:
    pytest.importorskip("distributed")
    robot, found = double_pendulum(), set()
    space = Space({"q.q1": Range(0.0, 3.0), "v.q2": Range(-5.0, 5.0)}, design="sobol", count=256)
    kinds: tuple[Any, ...] = (0, 1, 2, 7, "dask")
    for workers in kinds:
        study = sweep(robot, space, {"end": "q.q2"}, until=2.0, workers=workers)
        assert not study.failed
        found.add(contents(study.table))
    assert len(found) == 1
