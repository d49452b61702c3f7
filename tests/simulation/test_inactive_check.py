"""Data of a model file that do not act in a run are reported once, with what switches them on."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from kinemorph import System, load, load_text, simulate
from kinemorph.elements import PD, Contact, EasyDynNormal, Plane, with_joint_forces
from kinemorph.errors import InactiveWarning
from kinemorph.formats.loading import save
from kinemorph.model.elements.inactive import inactive_data
from support.tools.command_line import run

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="rod">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/><dynamics friction="0.2"/>
  </joint>
</robot>"""
QUICK = {"method": "euler", "step": 0.01}


def test_limits_friction_and_shapes_of_a_file_that_do_not_act_are_reported_once(tmp_path: Path) -> None:
    """A file stated limits, friction and collision shapes; in Python the robot moved as if it had none, in silence."""
    (tmp_path / "arm.urdf").write_text(ARM)
    system = load(tmp_path / "arm.urdf")
    with pytest.warns(InactiveWarning) as caught:
        simulate(system, 0.02, **QUICK)
    (warning,) = [str(one.message) for one in caught if one.category is InactiveWarning]
    assert warning.startswith(f"'arm': some data of {tmp_path / 'arm.urdf'} do not act in this run; each is listed")
    assert "with_joint_forces(system)" in warning and "Friction of 1 joint" in warning
    assert "Collision shapes of 1 body" in warning and "ffort" not in warning  # nothing drives the joint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(load(tmp_path / "arm.urdf"), 0.02, **QUICK)  # not again


def test_what_acts_or_was_made_in_python_is_not_reported(tmp_path: Path) -> None:
    system = replace(load_text(ARM, "urdf"), source="another file")
    ball = Contact("ball", "rod", EasyDynNormal(1e4), ground=Plane((0, 0, -1)), radius=0.1)
    whole = with_joint_forces(replace(system, elements=(ball,)))
    assert whole.source == "another file" and inactive_data(whole) == inactive_data(System(whole.robot, whole.elements))
    save(system, tmp_path / "arm.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(whole, 0.02, **QUICK)
        simulate(System(system.robot), 0.02, **QUICK)
        simulate(load(tmp_path / "arm.toml"), 0.02, **QUICK)  # a file of our own, where elements are written


def test_effort_limits_are_named_where_something_exceeds_them() -> None:
    system = load_text(ARM, "urdf")
    assert inactive_data(system).efforts == () and inactive_data(system, driven=True).efforts == ("hinge",)
    for bound, efforts in ((math.inf, ("hinge",)), (6.0, ("hinge",)), (5.0, ())):
        pd = PD("pd", "hinge", 1.0, lower=-bound, upper=bound)
        found = inactive_data(replace(system, elements=(pd,)))
        assert found.efforts == efforts and found.controllers == (("pd",) if efforts else ())


def test_the_command_switches_on_limits_and_friction_and_names_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(ARM)
    common = ("simulate", "arm.urdf", "--time", "0.02", "--method", "euler", "--step", "0.01", "--q", "hinge=0.1")
    said = run(*common).stderr
    assert "the limits of 1 joint" in said and "the friction of 1 joint" in said
    assert "data of arm.urdf that do not act in this run: collision shapes of 1 body: the base is fixed" in said
    assert "--base free" in said
    assert "InactiveWarning" not in said and "with_joint_forces" not in run(*common, "--no-limits").stderr


def test_shapes_over_a_ground_and_over_none_have_different_remedies() -> None:
    """A robot on a fixed base without a ground was told to call a function that makes no contacts there."""
    over_none = inactive_data(load_text(ARM, "urdf"))
    assert "base='free'" in over_none.other_sentences[0] and not over_none.grounded
    heavy = ARM.replace(
        '<link name="base"/>', f'<link name="base">{ARM[ARM.index("<inertial>") : ARM.index("<collision>")]}</link>'
    )
    over_ground = inactive_data(load_text(heavy, "urdf", base="free"))
    assert "elements.contacts(system) makes" in over_ground.other_sentences[0] and over_ground.grounded


def test_analyses_at_rest_stand_on_the_ground_with_contacts(tmp_path: Path) -> None:
    """A robot that stands in `simulate` had no equilibrium in `analyze`, and nothing said why."""
    inertial = ARM[ARM.index("<inertial>") : ARM.index("</link>", ARM.index("<inertial>"))]
    (tmp_path / "ball.urdf").write_text(f'<robot name="ball"><link name="ball">{inertial}</link></robot>')
    common = ("analyze", str(tmp_path / "ball.urdf"), "equilibrium", "--base", "free", "--q", "0,0,0.0999,1,0,0,0")
    falls, stands = run(*common), run(*common, "--contacts")
    assert falls.exit_code == 1 and "collision shapes of 1 body do not act; --contacts lets" in falls.stderr
    assert stands.exit_code == 0 and "do not act" not in stands.stderr, stands.stderr
    assert "--contacts is not used by 'analyze mobility'" in run(*common[:2], "mobility", "--contacts").stderr


def test_a_collision_mesh_that_is_missing_gives_a_warning_line_of_the_command(tmp_path: Path) -> None:
    """It was a Python warning with a line of a library's source."""
    shape, mesh = '<sphere radius="0.1"/>', '<mesh filename="none.stl"/>'
    link = ARM[ARM.index('<link name="rod">') : ARM.index("</link>")] + "</link>"
    (tmp_path / "one.urdf").write_text(f'<robot name="one">{link.replace(shape, mesh)}</robot>')
    said = run("simulate", str(tmp_path / "one.urdf"), "--base", "free", "--time", "0.02").stderr
    assert "warning: mesh 'none.stl': the file was not found" in said


def test_a_planned_run_is_advised_only_where_it_adds_something(tmp_path: Path) -> None:
    """A run by `system.run` named `system.run` as the remedy of what it had left inactive itself."""
    (tmp_path / "arm.urdf").write_text(ARM)
    system = load(tmp_path / "arm.urdf")
    with pytest.warns(InactiveWarning) as caught:
        system.run({"time": 0.02, **QUICK})
    (warning,) = [str(one.message) for one in caught if one.category is InactiveWarning]
    assert "Collision shapes of 1 body: the base is fixed" in warning and "system.run" not in warning
