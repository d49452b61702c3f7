"""verify() passes right models, says what it skipped and why, and gives the same verdict for the same seed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.verification.sampling import drawn
from kinemorph.analysis.verification.verify import verify
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library import LIBRARY, SYSTEMS, build
from kinemorph.model.modules import Assembly, active_wheel, backbone
from kinemorph.model.parameter import Coordinate
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from support.tools.some_slow import first

KINDS = (
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "point_on_plane",
)


def two_bodies(kind: str) -> Robot:
    """A joint of one kind between a swinging body and another, nothing aligned with anything."""
    builder = RobotBuilder(f"two_{kind}").add(
        Body.box("near", 2.0, (0.2, 0.3, 0.5), (0.1, 0.05, -0.2)),
        Body.box("far", 1.5, (0.1, 0.4, 0.2), (0.0, 0.2, 0.1)),
    )
    builder.root("near", "revolute", axis=(0.6, 0.0, 0.8))
    axes: dict[str, Any] = (
        {} if kind in ("spherical", "planar", "free", "point_on_plane") else {"axis": (0.0, 0.6, 0.8)}
    )
    if kind == "helical":
        axes["pitch"] = 0.1
    return builder.joint("joint", kind, "near", "far", translation=(0.1, 0.2, 0.3), **axes).build()


@pytest.mark.parametrize(
    "name, backend", first([("scara", "llvm"), ("double_pendulum", "interpreter"), ("puma", "interpreter")], 2)
)
def test_library_robots_pass(name: str, backend: Any) -> None:
    verdict = verify(derive(build(name), backend=backend))
    assert verdict.passed, str(verdict)
    without = {"llvm": {"outside wrenches"}, "interpreter": {"outside wrenches", "compiled code"}}
    assert {check.name for check in verdict.skipped} == without[backend]


@pytest.mark.parametrize("kind", first(KINDS, 4))
def test_every_joint_kind_passes_on_the_interpreter(kind: str) -> None:
    verdict = verify(derive(two_bodies(kind), backend="interpreter"), states=5)
    assert verdict.passed, str(verdict)
    assert "interpreter" in verdict["compiled code"].note
    assert verdict["formulation lagrange"].passed and verdict["formulation closed_form"].passed


@pytest.mark.parametrize("name", ["hexapod24", pytest.param("humanoid", marks=pytest.mark.slow)])
def test_large_trees_pass_and_say_what_was_compared(name: str) -> None:
    verdict = verify(derive(build(name), backend="interpreter"), states=3)
    assert verdict.passed, str(verdict)
    assert "up to 12 dof" in verdict["formulation lagrange"].note


@pytest.mark.parametrize("backend", ["interpreter", pytest.param("llvm", marks=pytest.mark.slow)])  # it compiles 5 s
def test_robots_with_loops_pass_and_keep_their_constraints(backend: Any) -> None:
    verdict = verify(derive(build("four_bar"), backend=backend))
    assert verdict.passed, str(verdict)
    assert verdict["forward dynamics"].passed and verdict["derivatives"].passed


def test_parameters_and_wrenches_are_inputs_like_the_others() -> None:
    dynamics = derive(build("double_pendulum"), parameters="all", wrenches=["tip"], backend="interpreter")
    verdict = verify(dynamics)
    assert verdict.passed, str(verdict)
    assert verdict["outside wrenches"].passed


def test_models_by_other_formulations_are_compared_with_newton_and_euler() -> None:
    for way in ("lagrange", "closed_form"):
        verdict = verify(derive(build("crane"), way, backend="interpreter"))
        assert verdict.passed, str(verdict)
        assert verdict["formulation newton_euler"].passed


def test_forces_that_vanish_but_for_rounding_do_not_fail() -> None:
    body = Body.sphere("ball", 10.0, 0.01, (0.6, 0.8, 0.0))  # the center of mass is on the axis: h is dust
    robot = RobotBuilder("dust").add(body).root("ball", "revolute", axis=(0.6, 0.8, 0.0)).build()
    verdict = verify(derive(robot, backend="interpreter"))
    assert verdict.passed, str(verdict)


def test_rates_that_vanish_but_for_rounding_do_not_fail() -> None:
    """A wheel module on a wall: every center of mass is on the axis it turns about, so M is the same everywhere."""
    wall = Assembly("wall").add("m0", active_wheel()).add("m1", backbone()).dock("m0", 5, "m1", 4).robot(root="fixed")
    verdict = verify(derive(wall, backend="interpreter"), formulations=())
    assert verdict.passed, str(verdict)


def test_a_robot_that_cannot_move_has_nothing_to_check() -> None:
    robot = RobotBuilder("stone").add(Body.sphere("stone", 1.0, 0.1)).root("stone", "fixed").build()
    for verdict in (verify(robot), verify(System(robot))):
        assert verdict.passed
        assert all(check.status == "skipped" for check in verdict.checks)


def test_the_verdict_is_reproducible_and_fits_json() -> None:
    robot = build("crane")
    first, second = (verify(derive(robot, backend="interpreter"), seed=7) for _ in range(2))
    assert first == second
    told = json.loads(json.dumps(first.as_dict(), allow_nan=False))
    assert told["passed"] is True
    assert [check["name"] for check in told["checks"]] == [check.name for check in first.checks]
    other = verify(derive(robot, backend="interpreter"), seed=8)
    assert [check.worst for check in other.checks] != [check.worst for check in first.checks]


def test_the_text_has_one_line_per_check_with_its_figure() -> None:
    verdict = verify(derive(System(build("pendulum")), backend="interpreter"))
    text = str(verdict)
    for check in verdict.checks:
        assert check.name in text
    assert "1e-11" in text
    assert "without outside wrenches" in text


def test_bad_input_is_named() -> None:
    with pytest.raises(ModelError, match=r"model is 'puma'; expected a Robot, a System or a Dynamics"):
        verify("puma")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="states is 0"):
        verify(build("pendulum"), states=0)
    with pytest.raises(UnsupportedError, match="'newton' is unknown"):
        verify(build("pendulum"), formulations=["newton"])
    with pytest.raises(UnsupportedError, match="'newton' is unknown"):
        verify(build("pendulum"), formulations="newton")
    with pytest.raises(KeyError, match="no check 'mass'"):
        verify(derive(build("pendulum"), backend="interpreter"), states=1)["mass"]


def test_a_fast_rotor_passes_in_world_axes() -> None:
    """The rotor turns at about 3e4 rad/s: 3e-10 of the world-frame sums would be rounding without more digits."""
    hip = Coordinate("hip", 0.0)
    builder = RobotBuilder("geared").add(
        Body.box("trunk", 10.0, (0.4, 0.3, 0.2)),
        Body.box("leg", 1.0, (0.1, 0.1, 0.4), (0.0, 0.0, -0.2)),
        Body("rotor", 0.3, (0.0, 0.0, 0.0), diagonal(1e-5, 1e-5, 2e-5)),
    )
    builder.joint("base", "free", "world", "trunk")
    builder.joint("hip", "revolute", "trunk", "leg", axis=(0.0, 1.0, 0.0), translation=(0.3, 0.4, 0.1))
    builder.joint("rotor", "revolute", "leg", "rotor", translation=(0.1, 0.1, -0.3), driven=2e4 * hip)
    dynamics = derive(builder.build(), backend="interpreter")
    assert verify(dynamics, formulations="incidence")["formulation incidence"].passed
    sample = drawn(dynamics, 8, 0)
    other = derive(dynamics.robot, "incidence", backend="interpreter").inverse_dynamics
    exact, rounded = sample.extended(other), sample.call(other)
    assert sample.worst(rounded - exact, exact).worst > 1e-11
    assert sample.worst(sample.call(dynamics.inverse_dynamics) - exact, exact).worst < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LIBRARY, *(name for name in SYSTEMS if name not in LIBRARY)])
def test_every_robot_of_the_library_passes(name: str) -> None:
    made: Any = build(name) if name in LIBRARY else getattr(library, name)()
    verdict = verify(made)
    assert verdict.passed, str(verdict)


def test_nearly_singular_loops_are_drawn_again() -> None:
    """Rounding decides on the constraint forces of Bricard's mechanism at one of the first eight configurations."""
    sample = drawn(derive(library.bricard().robot, backend="interpreter"), 8, 0)
    sizes = np.linalg.svd(sample.call(sample.dynamics.constraint_jacobian), compute_uv=False)
    assert (sizes.min(axis=1) > 1e-4 * sizes.max(axis=1)).all()


def test_no_formulation_may_be_asked_for() -> None:
    verdict = verify(derive(build("pendulum"), backend="interpreter"), formulations=[])
    assert not [check for check in verdict.checks if check.name.startswith("formulation")]
    assert np.isfinite([check.worst for check in verdict.checks if check.worst is not None]).all()


@pytest.mark.parametrize("multiplier", [-1.0, 0.5, 2.0])
def test_robots_with_coupled_joints_pass(multiplier: float) -> None:
    builder = RobotBuilder("gripper").add(
        Body.box("left", 0.1, (0.01, 0.02, 0.05)), Body.box("right", 0.1, (0.01, 0.02, 0.05))
    )
    builder.joint("open", "prismatic", "world", "left", axis=(1, 0, 0), lower=0.0, upper=0.04)
    builder.joint("follow", "prismatic", "world", "right", axis=(1, 0, 0))
    verdict = verify(derive(builder.couple("follow", "open", multiplier=multiplier).build(), backend="interpreter"))
    assert verdict.passed, str(verdict)
