"""Loops that disagree by the rounding of a file: the message names what runs them, and that works."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kinemorph import load_text, simulate
from kinemorph.errors import ShapeError
from kinemorph.loops import Projection, close_loops
from kinemorph.model.system import System

MODEL = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="left" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <body name="bar" pos="0 0 -1"><joint name="middle" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/>
    <site name="a1" pos=".5 .01 0"/><site name="a2" pos=".500000012 -.01 0"/></body></body>
<body name="c" pos=".5 0 0"><joint name="right" axis="{tilt} 1 {tilt}"/>
  <geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <site name="c1" pos="0 .01 -1"/><site name="c2" pos="0 -.01 -1"/></body></worldbody>
<equality><connect site1="a1" site2="c1"/><connect site1="a2" site2="c2"/></equality></mujoco>"""


def parallelogram(tilt: float = 0.0) -> System:
    """A bar on two arms, joined to the second by two points side by side that disagree by 1.2e-8 m."""
    return load_text(MODEL.format(tilt=tilt), "mjcf")


@pytest.mark.parametrize("tilt", [0.0, 1e-7])
@pytest.mark.parametrize("q", [None, {"left": 0.3}])
def test_the_message_names_a_tolerance_with_which_the_run_works(tilt: float, q: dict[str, float] | None) -> None:
    """It advised `close_loops`, whose result was refused again, and not the constraint methods that run."""
    system = parallelogram(tilt)
    with pytest.raises(ShapeError, match=r"stay slightly open, .* by \S+e-0\d m.*loops='baumgarte'") as caught:
        simulate(system, 0.2, q=q)
    tolerance = float(re.search(r"Projection\(tolerance=(\S+)\)", str(caught.value))[1])  # type: ignore[index]
    run = simulate(system, 0.2, q=q or {"left": 0.1}, loops=Projection(tolerance=tolerance))
    assert run.outcome.ok and run.loop_error.max() < 5e-8
    other = simulate(system, 0.2, q=run.q[0], loops="baumgarte")
    assert other.outcome.ok
    np.testing.assert_allclose(other["q.left"], run["q.left"], atol=1e-6)


def test_close_loops_names_the_tolerance_that_accepts_the_gap() -> None:
    found = close_loops(parallelogram(), {"left": 0.3})
    assert not found
    tolerance = float(re.search(r"tolerance=(\S+) to accept this gap", found.message)[1])  # type: ignore[index]
    assert close_loops(parallelogram(), {"left": 0.3}, tolerance=tolerance)
