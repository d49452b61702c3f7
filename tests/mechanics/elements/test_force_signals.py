"""What springs, dampers, ropes, bumpers and bushings publish: forces, lengths and rates as columns of a run."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, simulate
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles


def slide() -> RobotBuilder:
    return RobotBuilder("slide").add(Body.sphere("ball", 1.0, 0.1)).joint("z", "prismatic", "world", "ball")


def test_springs_dampers_ropes_and_bumpers_show_force_length_and_rate() -> None:
    """`run["spring"]` had no column: a spring's force had to be computed again from the positions."""
    top = {"body_a": "world", "body_b": "ball", "point_a": (0.0, 0.0, 1.0)}
    parts = (
        elements.Spring("spring", stiffness=100.0, rest=0.5, damping=3.0, **top),
        elements.Damper("damper", damping=2.0, **top),
        elements.Rope("rope", stiffness=200.0, rest=0.9, **top),
        elements.Bumper("bumper", stiffness=200.0, rest=0.9, **top),
        elements.TorsionSpring("coil", "z", stiffness=7.0, damping=0.5),
    )
    run = simulate(System(slide().build(), parts), 0.5, v=[3.0], method="dop853")
    z, v = run["q.z"], run["v.z"]
    length, rate = 1.0 - z, -v
    for part in parts[:4]:
        np.testing.assert_allclose(run[f"{part.name}.length"], length, atol=1e-13)
        np.testing.assert_allclose(run[f"{part.name}.rate"], rate, atol=1e-13)
    expected = {
        "spring": 100.0 * (length - 0.5) + 3.0 * rate,
        "damper": 2.0 * rate,
        "rope": 200.0 * np.maximum(length - 0.9, 0.0),
        "bumper": -200.0 * np.maximum(0.9 - length, 0.0),  # it pushes
        "coil": -7.0 * z - 0.5 * v,
    }
    for name, force in expected.items():
        np.testing.assert_allclose(run[f"{name}.force"], force, atol=1e-10)
    assert run["rope.force"].max() > 0.0 > run["bumper.force"].min()
    assert [run.columns[f"spring.{what}"].unit for what in ("force", "length", "rate")] == ["N", "m", "m/s"]
    assert run.columns["coil.force"].unit == "N"  # along a prismatic joint


@pytest.mark.parametrize("turning", ["vector", "zyx"])
def test_a_bushing_shows_its_force_moment_and_displacement(turning: str) -> None:
    robot = (
        RobotBuilder("block", gravity=(0.0, 0.0, 0.0))
        .add(Body.box("block", 2.0, (0.2, 0.3, 0.4)))
        .root("block", "free")
    )
    turned = Pose(rotation_of_angles(0.2, -0.1, 0.3), (0.1, 0.2, 0.3))
    bushing = elements.Bushing(
        *("mount", "world", "block"),
        stiffness=(100.0, 200.0, 300.0),
        turning_stiffness=(1.0, 2.0, 3.0),
        preload=(5.0, 0.0, 0.0),
        turning=turning,  # type: ignore[arg-type]
        placement_a=turned,
    )
    q = [0.11, 0.22, 0.33, np.cos(0.05), 0.0, 0.0, np.sin(0.05)]
    run = simulate(System(robot.build(), (bushing,)), 0.01, q=q, output_step=0.01)
    moved = np.array([run[f"mount.displacement_{axis}"][0] for axis in "xyz"])
    np.testing.assert_allclose(np.array(turned.R) @ moved + turned.p, q[:3], atol=1e-14)
    force = np.array([run[f"mount.force_{axis}"][0] for axis in "xyz"])
    np.testing.assert_allclose(force, [5.0, 0.0, 0.0] - np.array([100.0, 200.0, 300.0]) * moved, atol=1e-12)
    angles = np.array([run[f"mount.angle_{k}"][0] for k in (1, 2, 3)])
    moment = np.array([run[f"mount.moment_{axis}"][0] for axis in "xyz"])
    world = np.array(turned.R) @ force
    np.testing.assert_allclose(world / 2.0, run.a[0][:3] @ _turn(q[3:]).T, atol=1e-10)  # m a = F, in world axes
    inertia = 2.0 / 12.0 * np.array([0.25, 0.20, 0.13])
    np.testing.assert_allclose(_turn(q[3:]).T @ np.array(turned.R) @ moment / inertia, run.a[0][3:], atol=1e-10)
    assert angles.any() and run.columns["mount.angle_1"].unit == "rad"


def _turn(quaternion: list[float]) -> np.ndarray:
    """The rotation matrix of a quaternion (w, 0, 0, z) about z."""
    angle = 2.0 * np.arctan2(quaternion[3], quaternion[0])
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def test_friction_and_stops_of_joints_are_columns_by_the_names_of_joints() -> None:
    """Their efforts could be read off the total of a joint only."""
    builder = RobotBuilder("slider").body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("x", "prismatic", "world", "block", axis=(1.0, 0.0, 0.0), lower=-1.0, upper=0.05)
    rub = elements.JointFriction("rub", ("x",), coulomb=2.0)
    system = elements.with_joint_forces(System(builder.build(), (rub,)))
    run = simulate(system, 0.1, v=[1.0], method="radau")
    assert run.columns["rub.x"].unit == run.columns["joint limits.x"].unit == "N"
    np.testing.assert_allclose(run["rub.x"] + run["joint limits.x"], run["tau.x"], atol=1e-12)
    assert run["joint limits.x"].min() < -10.0 and run["rub.x"][0] == pytest.approx(-2.0, rel=1e-5)
