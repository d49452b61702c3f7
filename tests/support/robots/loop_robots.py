"""Small robots with loops, for tests of what is read off them."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.groups import translation
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.robot import Robot
from support.robots.random_robots import joint_data, random_body, random_pose

CLOSED = np.array([0.6, 0.02989836, 1.6066907])  # of the library's four-bar, to eight digits
SWING = (0.0, -1.0, 0.0)  # angles from +x toward +z


def looped(kind: str, seed: int, *, couple: bool = False, free: bool = False, long: bool = False) -> Robot:
    """Two limbs of two bodies (three if `long`), askew, on a body that slides or is free; a `kind` closes them."""
    rng = np.random.default_rng(seed)
    builder = RobotBuilder(f"looped_{kind}")
    builder.add(random_body(rng, "base"), random_body(rng, "plate"))
    rail = joint_data(rng, "prismatic")
    builder.joint("rail", "free", "world", "base") if free else builder.joint(
        "rail", "prismatic", "world", "base", **rail
    )
    builder.joint("weld", "fixed", "base", "plate", placement=random_pose(rng))
    ends = []
    for side in "ab":
        parent = "plate"
        for k, of in enumerate(("revolute", "universal", "revolute")[: 2 + long]):
            name = f"{side}{k}"
            builder.add(random_body(rng, name))
            data = joint_data(rng, of) | {"placement": random_pose(rng), "child_placement": random_pose(rng)}
            builder.joint(f"j{name}", of, parent, name, **data)
            parent = name
        ends.append(parent)
    data = joint_data(rng, kind) | {"placement": random_pose(rng), "child_placement": random_pose(rng)}
    data.pop("armature", None)
    builder.joint("closure", kind, *ends, **data)
    if couple:
        builder.couple("jb0", "ja0", multiplier=-1.7, offset=0.2)
    return builder.build()


def five_bar() -> Robot:
    """Two cranks 0.4 m apart and two rods that meet in the middle, in the x-z plane: two degrees of freedom."""
    builder = RobotBuilder("five_bar")
    for name, length in (("left", 0.3), ("upper_left", 0.5), ("right", 0.3), ("upper_right", 0.5)):
        builder.add(Body.rod(name, 1.0 + length, length, (0.5 * length, 0.0, 0.0), axis="x", radius=0.01))
    builder.joint("l1", "revolute", "world", "left", axis=SWING)
    builder.joint("l2", "revolute", "left", "upper_left", translation=(0.3, 0.0, 0.0), axis=SWING)
    builder.joint("r1", "revolute", "world", "right", translation=(0.4, 0.0, 0.0), axis=SWING)
    builder.joint("r2", "revolute", "right", "upper_right", translation=(0.3, 0.0, 0.0), axis=SWING)
    end = translation((0.5, 0.0, 0.0))
    builder.joint("tip", "revolute", "upper_left", "upper_right", placement=end, child_placement=end, axis=SWING)
    return builder.build()


FIVE_BAR_START = (2.0, -1.2, 1.1, 1.3)  # near a closed configuration, rods up


def closed_state(robot: Robot, seed: int, start: tuple[float, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with loops closed and velocities that keep them so."""
    rng = np.random.default_rng(seed)
    d = derive(robot, backend="interpreter")
    found = close_loops(d, 0.3 * random_configuration(robot, rng) if start is None else start)
    assert found, found.message
    J = d.constraint_jacobian(found.q)
    v = rng.normal(size=robot.nv)
    return found.q, v - np.linalg.pinv(J, 1e-10) @ (J @ v)
