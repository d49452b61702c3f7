"""audit() holds a run against the laws of motion: what holds passes, what is broken fails, the rest is skipped."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from kinemorph.analysis.audit import audit
from kinemorph.analysis.conserved_momenta import Ledger, conserved
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

FLOATING = ("linear momentum", "angular momentum", "angular momentum, origin")


def acrobat(gravity: tuple[float, float, float]) -> Robot:
    builder = RobotBuilder("acrobat", gravity=gravity).add(
        Body("a", 2.0, (0.1, 0.0, 0.0), diagonal(0.2, 0.3, 0.4)),
        Body("b", 1.0, (0.0, 0.0, 0.3), diagonal(0.1, 0.1, 0.1)),
    )
    builder.joint("base", "free", "world", "a")
    return builder.joint("hip", "spherical", "a", "b", translation=(0.3, 0.0, 0.0)).build()


@pytest.fixture(scope="module")
def swing() -> Trajectory:
    return simulate(library.crane(), 3.0, q=[0.4, 1.0])


def test_a_good_run_passes(swing: Trajectory) -> None:
    found = audit(swing)
    assert found
    assert found["energy balance"].worst is not None
    assert found["energy balance"].worst < 1e-7
    assert found["momentum of 'x'"].passed  # no force along the rail
    assert found["quaternions"].status == "skipped"
    assert found["loops"].status == "skipped"
    assert "steps" in found["ending"].note
    assert "4 passed, 0 failed, 2 skipped, of 6 checks." in str(found)
    assert json.loads(json.dumps(found.as_dict()))["passed"] is True


def spoiled(run: Trajectory, **arrays: np.ndarray) -> Trajectory:
    (segment,) = run.segments
    return replace(run, segments=(replace(segment, **arrays),))


def test_energies_that_are_no_numbers_break_their_balance() -> None:
    run = simulate(library.chain(4), 20.0, q=[2.0, 1.0, 1.0, 1.0], method="euler", step=0.2, output_step=0.2)
    assert not run.outcome.ok and audit(run)["energy balance"].status == "failed"


def test_broken_runs_fail(swing: Trajectory) -> None:
    (segment,) = swing.segments
    faster = segment.v.copy()
    faster[-1] += 0.001
    found = audit(spoiled(swing, v=faster))
    assert {check.name for check in found.failures} == {"energy balance", "momentum of 'x'"}
    assert "2 passed, 2 failed, 2 skipped, of 6 checks." in str(found)
    missing = segment.q.copy()
    missing[7, 1] = np.nan
    found = audit(spoiled(swing, q=missing))
    assert found.failures[0].name == "finite"
    assert found.failures[0].note == f"'q.theta' is nan at t = {segment.t[7]:.9g} s"
    coarse = audit(simulate(library.double_pendulum(), 3.0, q=[0.4, 1.0], method="euler", step=0.05))
    assert not coarse["energy balance"].passed
    assert audit(simulate(library.double_pendulum(), 3.0, q=[0.4, 1.0], method="rk4", step=0.05), tolerance=0.1)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, 1.0, -3.0)])
def test_a_floating_robot_keeps_its_momenta(gravity: tuple[float, float, float]) -> None:
    v = np.random.default_rng(1).normal(size=9)
    run = simulate(
        acrobat(gravity), 2.0, v=v, output_step=0.1, inputs=[*[0.0] * 6, 0.3, -0.2, 0.1]
    )  # forces of the hip are inner
    found = audit(run)
    assert found, str(found)
    for name in FLOATING:
        assert found[name].passed
        assert found[name].worst is not None
        assert found[name].worst < 1e-7
    (segment,) = run.segments
    turned = segment.v.copy()
    turned[-1, 4] += 1e-3
    assert {check.name for check in audit(spoiled(run, v=turned)).failures} >= {"angular momentum"}
    long = segment.q.copy()
    long[-1, 3:7] *= 1.0 + 1e-9
    assert not audit(spoiled(run, q=long))["quaternions"].passed


def test_a_push_from_outside_is_no_law_broken() -> None:
    found = audit(simulate(acrobat((0.0, 0.0, 0.0)), 1.0, output_step=0.1, inputs=[1.0, *[0.0] * 8]))
    assert found["momentum"].status == "skipped"
    assert "from outside along 'base.vx'" in found["momentum"].note
    assert found["energy balance"].passed  # simulate adds up what inputs supply


def test_a_top_keeps_its_momentum_about_the_vertical() -> None:
    builder = RobotBuilder("top").add(Body("top", 2.0, (0.0, 0.0, 0.5), diagonal(0.1, 0.1, 0.05)))
    robot = builder.joint("tip", "spherical", "world", "top", translation=(1.0, 2.0, 0.0)).build()
    found = audit(simulate(robot, 1.0, q=[0.8, 0.6, 0.0, 0.0], v=[0.0, 0.0, 20.0]))
    assert found, str(found)
    assert found["momentum about 'tip'"].passed
    assert found["quaternions"].passed


@pytest.mark.parametrize(
    ("gravity", "share"), [((0.0, 0.0, 0.0), 1.0), ((0.0, -3.0, -4.0), 0.8), ((0.0, 0.3, 0.0), 0.0)]
)
def test_momentum_about_a_point_is_that_along_gravity_if_there_is_any(
    gravity: tuple[float, float, float], share: float
) -> None:
    """A ball that hangs by its center has 2 N m s about z, and 2.3 at the end; `share` of both is along gravity."""
    builder = RobotBuilder("hung", gravity=gravity).add(Body("ball", 2.0, (0.0, 0.0, 0.0), diagonal(0.1, 0.1, 0.1)))
    robot = builder.joint("pin", "spherical", "world", "ball").build()
    run = simulate(robot, 0.1, v=[0.0, 0.0, 20.0], output_step=0.05)
    turned = run.segments[0].v.copy()
    turned[-1, 2] += 3.0
    ledger = Ledger.of(*spoiled(run, v=turned).segments)
    kept, _ = conserved([ledger])
    assert kept["momentum about 'pin'"].drift(ledger).drift == pytest.approx(0.3 * share, abs=1e-12)


def test_a_gimbal_keeps_the_momentum_of_its_first_turn_only() -> None:
    """Its first axis is fixed in the world, and gravity is along it; the other two axes turn."""
    builder = RobotBuilder("top").add(Body("top", 2.0, (0.0, 0.0, 0.5), diagonal(0.1, 0.1, 0.05)))
    robot = builder.joint("tip", "gimbal", "world", "top", order="zxz").build()
    found = audit(simulate(robot, 0.5, q=[0.0, 0.9, 0.0], v=[0.3, 0.0, 20.0]))
    assert found, str(found)
    assert [check.name for check in found.checks if check.name.startswith("momentum")] == ["momentum of 'tip.first'"]


def test_damping_and_forces_are_accounted_for() -> None:
    run = simulate(library.double_pendulum(), 2.0, q=[0.4, 1.0], forces=lambda t, v: [t - v[0], -0.1 * v[1]])
    assert audit(run)["energy balance"].passed
    bare = plant(library.double_pendulum(), forces=lambda v: [-v[0], -v[1]])
    found = audit(simulate(bare, 1.0, q=[0.4, 1.0]))
    assert found["energy balance"].status == "skipped"
    assert "account=True" in found["energy balance"].note


def test_impacts_part_a_run() -> None:
    robot = RobotBuilder("ball").add(Body.point("ball", 1.0)).joint("z", "prismatic", "world", "ball").build()
    ground = Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-0.5 * v[0]]})
    run = simulate(robot, 1.0, q=[1.0], events=[ground], output_step=0.05)
    assert len(run.segments) > 1
    assert audit(run)["energy balance"].passed


def test_loops_are_watched() -> None:
    run = simulate(library.four_bar(), 1.0, q=[0.6, 0.02989836, 1.6066907])
    found = audit(run)
    assert found["loops"].passed
    assert found["momentum"].status == "skipped"
    (segment,) = run.segments
    assert not audit(spoiled(run, q=segment.q + np.array([1e-4, 0.0, 0.0])))["loops"].passed


def test_equations_have_no_energy() -> None:
    found = audit(simulate(first_order(lambda x: [-x[0]], {"x": ""}, start=[1.0]), 1.0))
    assert found
    assert found["energy balance"].status == "skipped"


def test_a_failed_run_is_said_to_have_failed() -> None:
    blown = simulate(first_order(lambda x: [x[0] * x[0]], {"x": ""}, start=[1.0]), 2.0)
    found = audit(blown)
    assert not found
    assert found.failures[0].name == "ending"
    assert blown.outcome.message in found.failures[0].note


def test_bad_input_is_told_in_a_sentence(swing: Trajectory) -> None:
    with pytest.raises(ShapeError, match="audit was given a list; expected a Trajectory"):
        audit([1.0])  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="tolerance is 0; expected a finite number above 0"):
        audit(swing, tolerance=0)
    with pytest.raises(KeyError, match="there is no check 'heat'"):
        audit(swing)["heat"]


def test_energy_that_damping_takes_is_in_the_balance() -> None:
    builder = RobotBuilder("damped").add(Body.box("bar", 1.0, (0.1, 0.1, 1.0)))
    bar = builder.joint("pin", "revolute", "world", "bar", translation=(0, 0, 1), axis=(0, 1, 0), damping=0.3).build()
    run = simulate(bar, 3.0, q=[1.0], v=[4.0], forces=lambda t, v: [0.1 + 0.05 * t - 0.02 * v[0]])
    assert run["energy.dissipated"][-1] > 0.1 * run["energy.kinetic"][0]
    check = audit(run)["energy balance"]
    assert check.passed and check.worst < 1e-7
