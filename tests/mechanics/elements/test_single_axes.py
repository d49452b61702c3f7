"""Elements on one axis of a joint with several, by the name of its coordinate.

A joint with several axes is the same as a chain of joints with one axis each, with massless bodies between them: the
same elements on either give the same rates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System
from kinemorph.codegen.building.compile import build
from kinemorph.elements import PD, Actuator, AppliedEffort, ComputedTorque, DCMotor, Encoder, Setpoint, TorsionSpring
from kinemorph.errors import ModelError
from kinemorph.plants.robot_plant import plant

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
BODY = Body.box("arm", 1.0, (0.1, 0.2, 0.5), (0.1, 0.05, 0.2))
NAMES = ("hip.first", "hip.second", "hip.third")


def gimbal() -> Any:
    return RobotBuilder("whole").add(BODY).joint("hip", "gimbal", "world", "arm", order="zyx", effort=3.0).build()


def chain() -> Any:
    """Three hinges with the names of the axes of the gimbal."""
    builder, before = RobotBuilder("chain"), "world"
    for name, letter, child in zip(NAMES, "zyx", ("one", "two", "arm"), strict=True):
        builder.add(BODY if child == "arm" else Body.massless(child))
        builder.joint(name, "revolute", before, child, axis=AXES[letter], effort=3.0)
        before = child
    return builder.build()


ELEMENTS: dict[str, list[Any]] = {
    "pd": [PD("pd", NAMES, (10.0, 20.0, 30.0), 0.5, (0.1, "target", 0.3)), Setpoint("target", (0.2,), "hip.second")],
    "springs": [TorsionSpring(f"s{k}", name, 5.0 + k, 0.1, 0.2) for k, name in enumerate(NAMES)],
    "motor": [DCMotor("motor", "hip.second", resistance=1.0, torque_constant=0.05, inertia=1e-4, ratio=30.0)],
    "actuators": [Actuator("drive", "hip.third", control="position", gain=50.0, damping=0.5)],
    "effort": [AppliedEffort("e", "hip.first", 2.0)],
    "computed torque": [ComputedTorque("c", NAMES, 100.0, 20.0, (0.1, 0.2, 0.3))],
    "encoder": [Encoder("n", "hip.third"), TorsionSpring("s", "hip.first", 1.0)],
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_axes_of_a_gimbal_are_those_of_three_hinges(name: str) -> None:
    whole, hinges = (plant(System(robot, tuple(ELEMENTS[name]))) for robot in (gimbal(), chain()))
    assert [column.name for column in whole.q] == [column.name for column in hinges.q]
    rng = np.random.default_rng(3)
    given = {port: rng.uniform(-1.0, 1.0, size=shape) for port, shape in whole.ports.items()}
    inputs = list(given.values())
    rates = [build(one.rate, "interpreter")(*inputs) for one in (whole, hinges)]
    assert np.abs(rates[0]).max() > 0.1
    assert rates[0] == pytest.approx(rates[1], rel=1e-11, abs=1e-12)


def test_a_joint_with_several_axes_is_refused_by_its_own_name() -> None:
    with pytest.raises(ModelError, match=r"'hip' is gimbal with 3 velocities.*Name one of its axes: 'hip.first'"):
        plant(System(gimbal(), (TorsionSpring("s", "hip", 1.0),)))
    with pytest.raises(ModelError, match=r"'hip.fourth', and robot 'whole' has no such joint"):
        plant(System(gimbal(), (TorsionSpring("s", "hip.fourth", 1.0),)))


def test_axes_of_all_kinds_of_joints() -> None:
    builder = RobotBuilder("kinds")
    kinds = ("revolute", "universal", "cylindrical", "spherical", "point_on_plane", "free")
    before = "world"
    for kind in kinds:
        builder.add(Body.box(kind, 1.0, (0.1, 0.1, 0.1)))
        builder.joint(f"to_{kind}", kind, before, kind)
        before = kind
    robot = builder.build()
    assert list(robot.axis_places) == [
        "to_revolute", "to_universal.first", "to_universal.second", "to_cylindrical.angle", "to_cylindrical.travel",
        "to_point_on_plane.x", "to_point_on_plane.y",
    ]  # fmt: skip
    for name, place in robot.axis_places.items():
        assert robot.q_names[place.q] == robot.v_names[place.v] == name
        assert place.kind == ("prismatic" if name.endswith((".travel", ".x", ".y")) else "revolute")
