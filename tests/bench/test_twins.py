"""A robot and its twin in Pinocchio are the same robot: made from either side, they give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin, twin_of_model, twin_of_robot
from kinemorph.bench.peers.robots import ROBOTS, STORED, bench_twin, general_chain, stored_robot
from kinemorph.bench.speed.contest import farthest_body, random_states
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, UnsupportedError
from support.robots.random_robots import robot_of_kind

AXIS = np.array([0.36, 0.48, 0.8])
URDF_HINGE = """<robot name="fan"><link name="base"/>
<link name="blade"><inertial><mass value="1.5"/><origin xyz="0.1 0.2 -0.1" rpy="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial></link>
<joint name="spin" type="continuous"><parent link="base"/><child link="blade"/>
<origin xyz="1 2 3" rpy="0.4 0.5 0.6"/><axis xyz="{axis}"/></joint></robot>"""


def error(twin: PinocchioTwin, n: int = 5) -> float:
    """The largest relative difference of the generalized forces over random states."""
    states = random_states(twin.robot, n, seed=3)
    q, v, a = states["q"], states["v"], states["a"]
    ours = derive(twin.robot, backend="interpreter").inverse_dynamics(q, v, a)
    data = twin.model.createData()
    there = zip(twin.configuration(q), twin.velocity(v), twin.velocity(a), strict=True)
    theirs = np.array([twin.ours(pin.rnea(twin.model, data, *state)) for state in there])
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


@pytest.mark.parametrize(("name", "nv"), [("panda", 7), ("anymal", 18), ("talos", 38)])
def test_robots_read_by_pinocchio_are_the_same_robots_here(name: str, nv: int) -> None:
    twin = bench_twin(name)
    assert twin.robot.nv == twin.model.nv == nv
    assert error(twin) < 1e-10


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_the_tables_are_the_same_robots_there(name: str) -> None:
    assert error(twin_of_robot(ROBOTS[name]()), n=2) < 1e-10


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "planar", "spherical", "free"])
def test_there_and_back_is_the_same_robot(kind: str) -> None:
    """Our robot, its model there, and a robot made from that model: the same forces in the same order of joints."""
    robot = robot_of_kind(kind, chained=True)
    there = twin_of_robot(robot)
    back = twin_of_model(there.model, "back")
    assert error(there) < 1e-10
    assert error(back) < 1e-10
    states = random_states(robot, 3)
    forces = [derive(r, backend="interpreter").inverse_dynamics for r in (robot, back.robot)]
    first, second = (force(states["q"], states["v"], states["a"]) for force in forces)
    np.testing.assert_allclose(second, first, rtol=0.0, atol=1e-10 * np.abs(first).max())


@pytest.mark.parametrize("axis", ["1 0 0", "0 1 0", "0 0 1", "0.36 0.48 0.8"])
def test_an_unbounded_hinge_is_an_angle_here(axis: str) -> None:
    twin = twin_of_model(pin.buildModelFromXML(URDF_HINGE.format(axis=axis)), "fan")
    assert (twin.robot.nq, twin.model.nq) == (1, 2)
    assert error(twin) < 1e-12


def test_frames_come_along() -> None:
    twin = bench_twin("panda")
    q = random_states(twin.robot, 1)["q"][0]
    data = twin.model.createData()
    pin.framesForwardKinematics(twin.model, data, twin.configuration(q))
    there = data.oMf[twin.model.getFrameId("panda_hand")].homogeneous
    here = derive(twin.robot, backend="interpreter").pose("panda_hand")(q)
    np.testing.assert_allclose(here, there, atol=1e-13)


def test_a_joint_without_a_counterpart_is_refused_by_name() -> None:
    model = pin.Model()
    index = model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "wrist")
    model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(UnsupportedError, match=r"SphericalZYX.*RevoluteUnaligned"):
        twin_of_model(model, "odd")


def test_an_unknown_robot_and_a_closed_one_are_refused_with_a_remedy() -> None:
    with pytest.raises(ModelError, match="Did you mean 'talos'"):
        bench_twin("talus")
    with pytest.raises(UnsupportedError, match="open trees"):
        bench_twin("four_bar")


def test_a_file_of_robots_takes_precedence(tmp_path: Any) -> None:
    file = tmp_path / "robots.json"
    file.write_text(STORED.read_text(encoding="utf-8").replace('"hexapod24"', '"panda"'), encoding="utf-8")
    assert bench_twin("panda", file).robot.nv == 24
    assert bench_twin("hexapod24", file).robot.nv == 24  # not in the file: the set's own
    other = tmp_path / "list.json"
    other.write_text("[1, 2]")
    with pytest.raises(ModelError, match="an object under the key 'robots'"):
        stored_robot("panda", other)
    with pytest.raises(ModelError, match=r"none\.json' cannot be read: No such file"):
        stored_robot("panda", tmp_path / "none.json")


def test_a_chain_of_any_length_is_the_same_each_time() -> None:
    assert general_chain(7) == general_chain(7)
    assert farthest_body(general_chain(7)) == "b6"
