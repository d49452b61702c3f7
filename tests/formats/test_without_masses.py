"""Robots without masses: kinematics work as those of the same robot with masses; dynamics say why they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ModelError, ModelWarning, ParseError
from kinemorph.programs import make_job
from support.tools.command_line import run
from support.tools.each_case import each_case

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = (
    '<joint name="{0}{1}" type="revolute"><parent link="{0}"/><child link="{1}"/>'
    '<origin xyz="0.1 0 0.5" rpy="0.3 0 0"/><axis xyz="0 1 0"/>'
    '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
)


def arm(inertial: str, base: str = INERTIAL) -> str:
    """An arm of three hinges; the base, which does not move, may have a mass."""
    links = "".join(f'<link name="{name}">{inertial if name != "a" else base}</link>' for name in "abcd")
    return f'<robot name="arm">{links}{JOINT.format("a", "b")}{JOINT.format("b", "c")}{JOINT.format("c", "d")}</robot>'


@pytest.fixture
def bare() -> Any:
    with pytest.warns(ModelWarning, match=r"robot 'arm': nothing that moves has mass.* \[massless\]"):
        return kinemorph.load_text(arm(""), "urdf")


def test_kinematics_are_those_of_the_robot_with_masses(bare: Any) -> None:
    """150 public files without masses, such as all of ROS-Industrial, could not be loaded."""
    one, other = kinemorph.derive(bare), kinemorph.derive(kinemorph.load_text(arm(INERTIAL), "urdf"))
    q, v = np.array([0.3, -0.4, 0.5]), np.array([1.0, 2.0, 3.0])
    for made in (
        lambda d: d.pose("d")(q),
        lambda d: d.jacobian("d")(q),
        lambda d: d.jacobian_rate("d")(q, v),
        lambda d: d.forward_kinematics(q),
        lambda d: d.regressor(q, v, v)[:, 10:],
    ):
        np.testing.assert_array_equal(made(one), made(other))
    found = kinemorph.inverse_kinematics(bare, {"d": one.pose("d")(q)})
    np.testing.assert_allclose(one.pose("d")(found.q), one.pose("d")(q), atol=1e-9)


def test_the_command_shows_a_robot_without_masses(tmp_path: Path) -> None:
    """`show --png` made a plant of it first, and so asked for masses."""
    (tmp_path / "arm.urdf").write_text(arm(""))
    page = ("--html", str(tmp_path / "arm.html"))
    run("show", str(tmp_path / "arm.urdf"), "--q", "ab=0.3", *page)
    assert (tmp_path / "arm.html").exists()
    wrong = run("show", str(tmp_path / "arm.urdf"), "--q", "aa=0.3", *page)
    assert wrong.exit_code == 2 and "robot 'arm' has no coordinate 'aa'" in wrong.stderr


DYNAMICS: dict[str, Callable[[Any], Any]] = {
    "mass_matrix": lambda s: kinemorph.derive(s).mass_matrix,
    "forward_dynamics": lambda s: kinemorph.derive(s).forward_dynamics,
    "inverse_dynamics": lambda s: kinemorph.derive(s, "lagrange").inverse_dynamics,
    "energy": lambda s: kinemorph.derive(s, backend="interpreter").energy,
    "center_of_mass": lambda s: kinemorph.derive(s).center_of_mass,
    "joint_wrenches": lambda s: kinemorph.derive(s).joint_wrenches(),
    "impact": lambda s: kinemorph.derive(s).impact("d"),
    "a run": lambda s: kinemorph.simulate(s, 0.1),
    "verify": kinemorph.verify,
    "a run ": kinemorph.linearize,
    " a run": kinemorph.equilibrium,
    " a run ": make_job,
}


@each_case("wanted", DYNAMICS)
def test_dynamics_say_in_one_sentence_why_they_do_not_work(bare: Any, wanted: str) -> None:
    with pytest.raises(ModelError, match=f"no dynamics, which {wanted.strip()}.* needs; .* Give its bodies mass"):
        DYNAMICS[wanted](bare)


def test_strict_and_mixed_robots_are_refused() -> None:
    with pytest.raises(ParseError, match="massless"):
        kinemorph.load_text(arm(""), "urdf", strict=True)
    mixed = arm(INERTIAL).replace(f'<link name="d">{INERTIAL}', '<link name="d">')
    with pytest.raises(ParseError, match=r"body 'd' and all bodies below it have mass 0.*\[singular\]"):
        kinemorph.load_text(mixed, "urdf")


def test_the_builder_and_toml_say_it_too(bare: Any, tmp_path: Path) -> None:
    builder = kinemorph.RobotBuilder("arm").body("a").root("a", "free")
    with pytest.warns(ModelWarning, match="nothing that moves has mass"):
        assert builder.build().is_kinematic
    kinemorph.save(bare, tmp_path / "arm.toml")
    with pytest.warns(ModelWarning, match="nothing that moves has mass"):
        assert kinemorph.load(tmp_path / "arm.toml").robot == bare.robot


def test_armatures_of_all_joints_are_enough_and_of_one_are_not() -> None:
    builder = kinemorph.RobotBuilder("arm").body("a").body("b")
    builder.joint("i", "revolute", "world", "a", armature=1.0).joint("j", "prismatic", "a", "b", armature=2.0)
    robot = builder.build()
    assert not robot.is_kinematic
    np.testing.assert_array_equal(kinemorph.derive(robot).mass_matrix([0.0, 0.0]), np.diag([1.0, 2.0]))
    builder.without("j").joint("j", "prismatic", "a", "b")
    with pytest.warns(ModelWarning, match="nothing that moves has mass"):
        assert builder.build().is_kinematic


def test_the_builder_takes_inertias_of_planar_models_with_a_warning() -> None:
    """(0, 0, Izz) is common in planar models; files could have it, Python could not."""
    builder = kinemorph.RobotBuilder("bar").body("a", 2.0, com=(0.5, 0.0, 0.0), inertia=(0.0, 0.0, 0.1))
    with pytest.warns(ModelWarning, match="body 'a': .*triangle inequality"):
        robot = builder.joint("j", "revolute", "world", "a").build()
    assert kinemorph.derive(robot).mass_matrix([0.0])[0, 0] == pytest.approx(0.6)
