"""Programs for MATLAB: their march runs as text, translated to Python (`test_same_steps` runs whole programs)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinemorph
from kinemorph.programs.targets.matlab import quoted, write_matlab
from support.cases.program_cases import CASES, table
from support.tools import matlab_in_python
from support.tools.program_languages import job_of


@pytest.mark.slow
def test_the_march_in_matlab_is_that_of_simulate() -> None:
    """One call of the march from the start of a job, by the text of its function files."""
    case = CASES["dc_motor"]()
    job = job_of(case)
    first, count = job.first, 6
    kept = np.zeros((2, job.plant.nv))
    memory, status = matlab_in_python.loaded(job.start)(first.memory, 0.0, kept, first.u, first.p)
    assert status == 0.0
    wanted = kinemorph.simulate(case.model, 0.01 * (count - 1), **case.options)
    times = np.zeros(256)
    times[: count - 1] = wanted.t[1:]
    inputs = (memory, times, count - 1.0, wanted.t[-1], first.limits, first.u, first.p)
    _, rows, done, status, *_ = matlab_in_python.loaded(job.march)(*inputs)
    assert done == count - 1 and status == 0.0
    assert np.abs(rows[: count - 1] - table(wanted)[1:, 1:]).max() < 1e-9


def test_texts_of_a_model_stay_texts() -> None:
    assert quoted("it's") == "'it''s'" and quoted("") == "''"
    assert quoted("a\1b'") == "['a', char(1), 'b''']"


def test_the_driver_calls_only_functions_that_exist() -> None:
    """Each function that the driver calls is its own, one of the program's files, or known to MATLAB and Octave."""
    texts = write_matlab(job_of(CASES["bouncing_ball"]()))
    driver = re.sub(r"'(?:[^'\n]|'')*'|%.*", "", texts["bouncing_ball.m"])
    own = set(re.findall(r"^function (?:\[?[\w, ]+\]? = )?(\w+)", driver, re.MULTILINE))
    assigned = set(re.findall(r"(\w+) = ", driver)) | {"varargin"}
    assigned |= {name for names in re.findall(r"\[([\w., ]+)\] = ", driver) for name in re.findall(r"\w+", names)}
    assigned |= {
        name for names in re.findall(r"^function .*\((.*)\)", driver, re.MULTILINE) for name in names.split(", ")
    }
    assigned |= set(re.findall(r"for (\w+) = ", driver))
    known = {
        *("abs", "all", "any", "cell", "cellfun", "char", "double", "error", "fclose", "find", "floor", "fopen"),
        *("fprintf", "if", "elseif", "while", "isempty", "isfield", "isfinite", "isnan", "ischar", "lcm", "max"),
        *("min", "numel", "repmat", "round", "size", "sprintf", "strcmp", "strrep", "struct", "zeros", "NaN"),
    }
    files = {name.removesuffix(".m") for name in texts}
    files |= {"bouncing_ball_arguments", "bouncing_ball_trouble"}  # where formulas have domains; with user code
    called = set(re.findall(r"(?<![.\w])([A-Za-z_]\w*)\(", driver))
    assert called - own - assigned - known - files == set()
