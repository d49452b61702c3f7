"""Elements that act on the limbs of a whole robot: side by side they are the same, or they are written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import compose, translation
from kinemorph.codegen.building.compile import build
from kinemorph.elements import Effort, ElementLaw, register
from kinemorph.model.elements import Bushing, CentralGravity, Gravity, JointFriction, JointLimits, Spring
from kinemorph.model.library.choosing import choose
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant

LEGS = range(1, 7)


@dataclass(frozen=True)
class Drag:
    """A brake in every joint, whatever robot it is."""

    name: str


class DragLaw(ElementLaw[Drag]):
    def effort(self, element: Drag, view: Any) -> Effort:
        v = view.instant.v
        return Effort(torques={k: -0.1 * len(v) * rate for k, rate in enumerate(v)})


register(Drag, DragLaw())


def hexapod() -> Robot:
    """Legs of different masses with feet at different places, whose joints have friction and narrow limits."""
    robot = choose("hexapod24").robot
    lossy = {"lower": (-0.1,), "upper": (0.1,), "friction": (0.1,)}
    joints = tuple(replace(joint, **lossy) if joint.kind == "revolute" else joint for joint in robot.joints)
    bodies = tuple(replace(body, mass=body.mass * (1.0 + 0.03 * k)) for k, body in enumerate(robot.bodies))
    moved = [
        compose(translation((0.003 * k, -0.002 * k, 0.0)), frame.placement) for k, frame in enumerate(robot.frames)
    ]
    frames = tuple(replace(frame, placement=pose) for frame, pose in zip(robot.frames, moved, strict=True))
    return replace(robot, joints=joints, bodies=bodies, frames=frames)


def differs(elements: Sequence[Any]) -> float | None:
    """By how much the rate with limbs side by side is another; None where there is none."""
    model = plant(System(hexapod(), tuple(elements)))
    program, rng = model.rate, np.random.default_rng(2)
    if program.for_one is None:
        return None
    given = {name: 0.3 * rng.normal(size=shape) for name, shape in model.ports.items()}
    inputs = [*(given | {"base": np.array(model.start["q"])}).values()]
    exact = build(program, "interpreter")(*inputs)
    return float(np.abs(build(program)(*inputs) - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize(
    "elements",
    [
        [JointFriction("friction")],
        [JointLimits("stops", stiffness=50.0, damping=2.0)],
        [Spring(f"string{k}", f"foot{k}", "world", 100.0) for k in LEGS],
        [Bushing(f"mount{k}", f"foot{k}", "world", (10.0 * k, 20.0, 30.0)) for k in LEGS],
    ],
)
def test_elements_that_do_the_same_to_every_limb(elements: Sequence[Any]) -> None:
    found = differs(elements)
    assert found is not None and found < 1e-12


@pytest.mark.parametrize(
    "elements",
    [
        [Gravity("field", (1.0, 0.0, -1.0))],  # each leg has masses of its own
        [CentralGravity("sun", 5.0, point=(0.0, 0.0, -3.0))],
        [JointLimits("stops")],  # as stiff as suits a robot with all of its legs
        [JointLimits("stops", stiffness=50.0)],
        [Drag("drag")],  # who knows what it does
    ],
)
def test_elements_that_look_at_the_whole_robot_are_written_out(elements: Sequence[Any]) -> None:
    assert differs(elements) is None
