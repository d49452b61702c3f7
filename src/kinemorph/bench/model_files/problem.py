"""A model file as a problem: what `kinemorph simulate FILE` runs, from states that all contestants share.

The robot begins at the first start of the file (a keyframe of MJCF), or where `simulate` puts it, with the inputs of
that start. Joint limits, friction and the contacts of its shapes with the ground of the file act. A robot at rest in
balance would be no problem at all, so that it is set in motion:

free robots     are RAISED above their start, fall, and have a horizontal speed of about PUSH
other robots    have speeds of about TURN in hinges and SLIDE in slides

Each robot of a batch has random speeds of its own; the first one is the single robot. Loops and coupled joints keep
them where these are possible, by the nearest velocities that satisfy the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.formats.loading import load
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.stepping.initial_state import closed_start

DURATION, SAMPLE = 5.0, 0.1  # [s]
RAISED = 0.01  # [m]
PUSH, TURN, SLIDE = 0.1, 0.3, 0.03  # [m/s], [rad/s], [m/s]: standard deviations of speeds
SEED = 27


@dataclass(frozen=True, eq=False)
class FileProblem:
    """A model file that is simulated: its system with all that acts, the states that runs begin in, and its inputs."""

    path: Path
    system: System
    start: str  # the name of the start; empty where the file has none
    q: Array  # (count, nq)
    v: Array  # (count, nv)
    given: dict[str, Any]  # further values in which runs begin: x, m and inputs

    @property
    def name(self) -> str:
        """The name of the file with its folder, because many files are called scene.xml."""
        return "/".join(self.path.parts[-2:])

    @property
    def robot(self) -> Robot:
        """The robot of the system."""
        return self.system.robot

    @property
    def contacts(self) -> int:
        """The number of shapes that may touch the ground."""
        return sum(isinstance(element, Contact) for element in self.system.elements)

    @property
    def times(self) -> Array:
        """The sample times [s], shape (n,), without 0."""
        return sample_times()


def sample_times() -> Array:
    """The times [s] at which runs are compared."""
    found: Array = np.round(SAMPLE * np.arange(1, round(DURATION / SAMPLE) + 1), 9)
    return found


def file_problem(path: Path, count: int) -> FileProblem:
    """Reads a model file and makes `count` states of its robot. Raises KinemorphError for a file that is refused."""
    whole = load(path)
    start = next(iter(whole.starts), "")
    prepared = prepared_run(whole, {"time": DURATION, **({"start": start} if start else {})})
    given = prepared.arguments_without_start
    system = replace(prepared.system, source="")  # what of the file does not act was told when it was read
    plant = shared_plant(system, account=True)
    q, v, x, m, u, p = (plant.initial(key, given.get(name)) for key, name in zip("qvxmup", NAMES, strict=True))
    raised = q.copy()
    for joint in free_joints(system.robot):
        raised[system.robot.q_slice(joint).start + 2] += RAISED
    states = [
        closed_start(plant, 0.0, (raised, v + speed, x, m, u, p), ({}, {}, given.get("m")), enters=True)
        for speed in speeds(system.robot, count)
    ]
    further = {"x": given.get("x"), "m": given.get("m"), "inputs": u if len(u) else None}
    kept = {key: value for key, value in further.items() if value is not None}
    return FileProblem(
        path, system, start, np.array([one.q for one in states]), np.array([one.v for one in states]), kept
    )


NAMES = ("q", "v", "x", "m", "inputs", "p")  # of the arguments of `simulate`, in the order of a state


def free_joints(robot: Robot) -> list[str]:
    """The names of the free joints that connect the robot to the world."""
    return [joint.name for joint in robot.joints if joint.kind == "free" and joint.parent == WORLD]


def speeds(robot: Robot, count: int) -> Array:
    """Random velocities of `count` robots, shape (count, nv), the same in each call."""
    sizes = np.zeros(robot.nv)
    free = free_joints(robot)
    for name in free:
        sizes[robot.v_slice(name).start :][:2] = PUSH
    if not free:
        sizes[:] = [TURN if unit == "rad/s" else SLIDE for unit in robot.v_units]
    return np.random.default_rng(SEED).normal(size=(count, robot.nv)) * sizes
