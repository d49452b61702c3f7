"""A program in any language takes the same steps as `simulate`, and agrees with it to 1e-9.

SEEDS 001-02, 001-03: the model leaves as running code.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinemorph
from support.cases.program_cases import CASES, table
from support.tools.program_languages import WRITERS, has_language, job_of, run_program

QUICK = {("c", "dc_motor"), ("python", "bouncing_ball")}


@pytest.mark.parametrize(
    "language, name",
    [
        (language, name) if (language, name) in QUICK else pytest.param(language, name, marks=pytest.mark.slow)
        for language in WRITERS
        for name in CASES
    ],
)
def test_a_program_takes_the_steps_of_simulate(language: str, name: str, tmp_path: Path) -> None:
    if missing := has_language(language):
        pytest.skip(missing)
    case = CASES[name]()
    found, message = run_program(WRITERS[language](job_of(case), tmp_path))
    wanted = kinemorph.simulate(case.model, case.until, **case.options)
    rows = table(wanted)
    assert found.shape == rows.shape
    assert np.abs(found - rows).max() < 1e-9 * max(1.0, np.abs(rows).max())
    kind, counts = wanted.outcome.kind, wanted.statistics
    assert message.startswith(f"{kind} at t = {wanted.outcome.t:.9g} s: ") and wanted.outcome.message in message
    assert f" {len(wanted.events)} events, " in message
    if kind == "finished":  # a run that comes to rest counts steps that its last call took beyond the end
        assert f": {counts.accepted} steps accepted, {counts.rejected} rejected, " in message
