"""Loops that disagree by the rounding of a file run, with a note. Those that disagree by more are refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from kinemorph import load_text, simulate, simulate_batch
from kinemorph.errors import ModelWarning, ShapeError
from kinemorph.loops import Projection, close_loops
from kinemorph.model.system import System

MODEL = """<mujoco><compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="a"><joint name="left" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <body name="bar" pos="0 0 -1"><joint name="middle" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/>
    <site name="a1" pos=".5 .01 0"/><site name="a2" pos="{x} -.01 0"/></body></body>
<body name="c" pos=".5 0 0"><joint name="right" axis="{tilt} 1 {tilt}"/>
  <geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <site name="c1" pos="0 .01 -1"/><site name="c2" pos="0 -.01 -1"/></body></worldbody>
<equality><connect site1="a1" site2="c1"/><connect site1="a2" site2="c2"/></equality></mujoco>"""


def parallelogram(tilt: float = 0.0, gap: float = 1.2e-8) -> System:
    """A bar on two arms, joined to the second by two points side by side that disagree by `gap` [m]."""
    return load_text(MODEL.format(tilt=tilt, x=0.5 + gap), "mjcf")


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
@pytest.mark.parametrize("tilt", [pytest.param(0.0, marks=pytest.mark.slow), 1e-7])
@pytest.mark.parametrize("q", [None, {"left": 0.3}])
def test_loops_that_disagree_by_the_rounding_of_a_file_run_by_default(tilt: float, q: dict[str, float] | None) -> None:
    """They were refused; the remedy was a tolerance that the message named, though the run itself needs none."""
    with pytest.warns(ModelWarning, match=r"'equality1' by \S+e-08 m.*redundant constraints.*more digits"):
        run = simulate(parallelogram(tilt), 0.5, q=q)
    assert run.outcome.ok and run.loop_error.max() < 5e-8
    same = simulate(parallelogram(gap=0.0), 0.5, q=q)
    np.testing.assert_allclose(run["q.left"], same["q.left"], atol=1e-7)
    assert abs(run.energy.balance).max() < 1e-6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning", "ignore::kinemorph.errors.InactiveWarning")
def test_velocities_start_where_rounded_axes_lock_the_linkage_by_a_millionth() -> None:
    """The velocities of an own run were refused as an initial state; given in full, they were set to zero."""
    run = simulate(parallelogram(1e-6), 0.3, q={"left": 0.3}, v={"left": 1.0})
    assert simulate(parallelogram(1e-6), 0.6, start=run).outcome.ok
    np.testing.assert_allclose(simulate(parallelogram(1e-6, 0.0), 0.1, v=[1.0, -1.0, 1.0]).v[0], [1.0, -1.0, 1.0])
    with pytest.raises(ShapeError, match=r"named velocities .* open its loops"):
        simulate(parallelogram(1e-6), 0.1, v={"left": 1.0, "right": 1.000001})


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
def test_a_batch_of_rounded_loops_runs_with_one_note() -> None:
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", ModelWarning)
        batch = simulate_batch(parallelogram(1e-7), 0.1, q={"left": np.linspace(0.1, 0.5, 4)})
    assert batch.ok.all()
    assert len([note for note in notes if issubclass(note.category, ModelWarning)]) == 1


def test_consistent_loops_are_closed_as_tightly_as_before() -> None:
    """Named coordinates that open a loop by less than rounded data do are still a mistake of the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        run = simulate(parallelogram(gap=0.0), 0.2, q={"left": 0.3})
    assert run.loop_error.max() < 1e-12
    with pytest.raises(ShapeError, match="named coordinates kept"):
        simulate(parallelogram(gap=0.0), 0.2, q={"left": 0.3, "right": 0.300001})


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
@pytest.mark.parametrize("q", [None, {"left": 0.3}])
def test_loops_that_disagree_by_more_are_refused_with_a_tolerance_with_which_they_run(
    q: dict[str, float] | None,
) -> None:
    """A tenth of a millimeter may be a mistake in the data: the user decides."""
    system = parallelogram(gap=1e-4)
    with pytest.raises(ShapeError, match=r"stay slightly open, .* by \S+e-0\d m.*loops='baumgarte'") as caught:
        simulate(system, 0.2, q=q)
    assert str(caught.value).endswith("with more digits.")  # these loops are spherical already
    tolerance = float(re.search(r"Projection\(tolerance=(\S+)\)", str(caught.value))[1])  # type: ignore[index]
    run = simulate(system, 0.2, q=q or {"left": 0.1}, loops=Projection(tolerance=tolerance))
    assert run.outcome.ok and run.loop_error.max() < 5e-4
    other = simulate(system, 0.2, q=run.q[0], loops="baumgarte")
    assert other.outcome.ok
    np.testing.assert_allclose(other["q.left"], run["q.left"], atol=1e-3)


def test_close_loops_names_the_tolerance_that_accepts_the_gap() -> None:
    found = close_loops(parallelogram(), {"left": 0.3})
    assert not found
    tolerance = float(re.search(r"tolerance=(\S+) to accept this gap", found.message)[1])  # type: ignore[index]
    assert close_loops(parallelogram(), {"left": 0.3}, tolerance=tolerance)
