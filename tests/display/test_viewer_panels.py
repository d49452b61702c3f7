"""What the viewer's panels say: ranges of sliders in degrees, values at the present time, loops closed at first."""

from dataclasses import replace

import numpy as np
import pytest

import kinemorph as km
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.viewer.clock import Clock
from kinemorph.display.viewer.joint_sliders import knobs_of
from kinemorph.display.viewer.run_panel import Player

pytest.importorskip("viser")


def test_sliders_have_the_limits_of_their_joints() -> None:
    robot = km.library.scara()
    joints = [replace(joint, lower=(-0.5,), upper=(1.0,)) if joint.nq else joint for joint in robot.joints]
    limited = replace(robot, joints=tuple(joints))
    knobs = knobs_of(limited, np.zeros(limited.nq), 2.0)
    assert len(knobs) == limited.nq == 4
    for knob in knobs:
        turn = limited.joint(knob.joint).kind != "prismatic"
        assert knob.unit == ("deg" if turn else "m")
        # as multiples of the step, inward
        assert -28.7 < knob.lower < -28.5 if turn else knob.lower == -0.5
        assert 57.2 <= knob.upper < 57.3 if turn else knob.upper == 1.0


def test_values_are_those_of_the_present_time() -> None:
    run = km.simulate(km.library.pendulum(), 1.0, q=[0.7], output_step=0.01)
    scene = scene_of(run)
    clock = Clock(0.0, 1.0, lambda: None, lambda: None, lambda error: None)
    player = Player(scene, clock, lambda: None)
    for t in (0.0, 0.37, 1.0):
        clock.set(t)
        told = dict(line.strip("| ").split(" | ") for line in player._table().splitlines()[2:])
        for name in ("kinetic", "potential"):
            expected = np.interp(t, run.t, run[f"energy.{name}"])
            assert float(told[f"{name} [J]"]) == pytest.approx(expected, rel=1e-3, abs=1e-2)


def test_an_open_loop_is_closed_at_first() -> None:
    robot = km.library.four_bar()
    with km.view(robot, q=[0.6, 0.2, 1.4]) as viewer:
        error = km.derive(robot, backend="interpreter").constraint_error(viewer.q)
        assert np.abs(error).max() < 1e-9
        assert viewer.q == pytest.approx([0.6, 0.2, 1.4], abs=0.3)
