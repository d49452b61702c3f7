"""Texts of SDF from short calls, and what they are as robots."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.groups import matrix_of
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import Examination
from kinemorph.formats.sdf.reader import read
from kinemorph.formats.sources import Options, Source
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.robot import Robot

INERTIAL = (
    "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy><ixz>-0.02</ixz>"
    "<iyz>0.03</iyz></inertia></inertial>"
)


def examined(text: str, *, base: str | None = None) -> Examination:
    findings = Findings("x.sdf")
    system = read(Source("x.sdf", text.encode()), Options(base), findings)
    return Examination(system, tuple(findings.found), findings.unlisted)


def robot_of(text: str, **options: str) -> Robot:
    found = examined(text, **options)
    assert found.system is not None, [str(finding) for finding in found.findings]
    return found.system.robot


def model(body: str, *, name: str = "m", version: str = "1.9", data: str = "") -> str:
    return f'<sdf version="{version}"><model name="{name}"{data}>{body}</model></sdf>'


def link(name: str, inside: str = "") -> str:
    return f'<link name="{name}">{INERTIAL}{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "<axis><xyz>0 0 1</xyz></axis>") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def pose_of(robot: Robot, body: str, q: np.ndarray | None = None) -> np.ndarray:
    at = neutral(robot) if q is None else q
    return np.array(matrix_of(body_motion(robot, body, at, np.zeros(robot.nv))[0]))


def assert_same(ours: Robot, other: Robot, *, tolerance: float = 1e-12, count: int = 2) -> None:
    """Equal poses of all bodies and frames, and equal inverse dynamics, at random states."""
    rng = np.random.default_rng(5)
    assert set(ours.body_names) == set(other.body_names)
    order = [k for name in ours.joint_names for k in range(other.q_slice(name).start, other.q_slice(name).stop)]
    order_v = [k for name in ours.joint_names for k in range(other.v_slice(name).start, other.v_slice(name).stop)]
    for _ in range(count):
        q = random_configuration(other, rng)
        v, a = rng.normal(size=(2, other.nv))
        for body in ours.body_names:
            np.testing.assert_allclose(pose_of(ours, body, q[order]), pose_of(other, body, q), atol=tolerance * 10)
        expected = np.array(inverse_dynamics(resolve(other), q.tolist(), v.tolist(), a.tolist()))[order_v]
        found = inverse_dynamics(resolve(ours), q[order].tolist(), v[order_v].tolist(), a[order_v].tolist())
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))
    for frame in other.frames:
        mine = ours.frame(frame.name)
        assert mine.body == frame.body
        np.testing.assert_allclose(
            np.array(matrix_of(mine.placement)), np.array(matrix_of(frame.placement)), atol=1e-12
        )


A = link("a")
GRIPPER = f"""<sdf version="1.9"><model name="gripper">
<link name="palm">{INERTIAL}</link><link name="finger">{INERTIAL}<pose>0 0 1 0 0 0</pose></link>
<joint name="grip" type="revolute"><parent>palm</parent><child>finger</child><axis><xyz>1 0 0</xyz></axis></joint>
<frame name="mount"><pose>0 0 -1 0 0 0</pose></frame></model></sdf>"""
