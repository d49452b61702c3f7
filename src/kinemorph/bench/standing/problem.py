"""The problem of hexapods on the ground, dropped or pushed, as data; and the error of a run.

The hexapods of 24 and 36 dof stand on six feet at the ends of their legs, with a spring and a damper at every leg
joint. They are dropped from a small height, or set down and pushed, and come to rest. Every simulator has the same
masses, gains and push, but its own model of the ground; so the error of a run is measured against a run of the same
simulator with a sixteenth of the step size.

All times are whole multiples of every step size in STEPS, so that no step is cut short.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Frame, Robot

Scenario = Literal["dropped", "pushed", "running"]

SCENARIOS: tuple[Scenario, ...] = ("dropped", "pushed")  # of hexapods
STEPS = tuple(0.016 / 2**k for k in range(13))  # [s], 16 ms to 4 microseconds
DURATION = 10.0  # [s]
COMPONENTS = {"base position": "m", "base orientation": "rad", "joint angles": "rad"}
BASE, PUSHED = 7, "pushed"  # number of coordinates of the base in q; name of the frame at its center of mass


class Ground(NamedTuple):
    """The parameters of our contact law for the plane z = 0. With e the depth of a foot,

        normal force    max(e, 0) max(stiffness + damping de/dt, 0)
        friction        `friction` times the normal force against the sliding velocity, reduced linearly below `creep`

    A standing foot sinks in by half a millimeter, is about critically damped, and creeps as in MuJoCo's default.
    """

    stiffness: float = 5e4  # [N/m]
    damping: float = 5e5  # [N s/m^2]
    friction: float = 1.0
    creep: float = 0.025  # [m/s]


GROUND = Ground()


class Push(NamedTuple):
    """A constant force at the center of mass of the base, in world axes, from `start` to `end`."""

    start: float = 4.0  # [s]
    end: float = 4.24  # [s]
    force: tuple[float, float, float] = (35.0, 65.0, 0.0)  # [N]


class Legs(NamedTuple):
    """The joint angles of each leg, from root to tip, and the position of its foot."""

    posture: tuple[float, ...]  # [rad]
    foot: tuple[float, float, float]  # in the last link [m]; links are along x


LEGS = {
    "hexapod24": Legs((0.0, 0.1, 1.2), (0.20, 0.0, 0.0)),
    "hexapod36": Legs((0.0, 0.1, 1.0, 0.0, 0.2), (0.08, 0.0, 0.0)),
}
LIMBS = 6


@dataclass(frozen=True, eq=False)
class Standing:
    """A robot with legs: its feet (names of frames), its initial configuration q = [base (7), leg joints], the push."""

    name: str
    scenario: Scenario
    robot: Robot
    feet: tuple[str, ...]
    q: Array
    push: Push | None
    stiffness: float = 200.0  # at every leg joint [N m/rad]
    damping: float = 5.0  # [N m s/rad]
    ground: Ground = GROUND
    duration: float = DURATION
    sample: float = 0.08  # [s] between samples
    v: Array | None = None  # initial velocities (nv,), where they are not 0
    rest: Array | None = None  # rest angles of the springs (nv - 6,) [rad], where they are not those of q
    gait: Callable[[Array], tuple[Array, Array]] | None = None  # times (n,) -> angles and rates (n, nv - 6) to follow
    elements: tuple[Any, ...] | None = None  # contacts and controllers of our model, where they are not the hexapods'
    radius: float = 1e-3  # of a foot in MuJoCo [m]
    contact_time: float | None = None  # [s], the time constant of MuJoCo's contacts, where it is not the default
    shove: float = 0.1  # [m/s], the initial speed of robots in a batch

    @property
    def posture(self) -> Array:
        """The rest angles of the springs at the leg joints, shape (nv - 6,)."""
        return self.q[BASE:] if self.rest is None else self.rest

    @property
    def start(self) -> tuple[Array, Array]:
        """The initial configuration (nq,) and velocities (nv,)."""
        return self.q, np.zeros(self.robot.nv) if self.v is None else self.v

    @property
    def times(self) -> Array:
        """The sample times, shape (n,) [s]."""
        return np.arange(1.0, round(self.duration / self.sample) + 1.0) * self.sample

    @property
    def phases(self) -> list[tuple[Array, tuple[float, float, float]]]:
        """The sample times before, during and after the push, each part with its constant force on the base [N]."""
        if self.push is None:
            return [(self.times, (0.0, 0.0, 0.0))]
        first, last = (round(t / self.sample) for t in (self.push.start, self.push.end))
        before, during, after = np.split(self.times, [first, last])
        return [(before, (0.0, 0.0, 0.0)), (during, self.push.force), (after, (0.0, 0.0, 0.0))]


@cache
def standing(name: str, scenario: Scenario) -> Standing:
    """A hexapod of the tables, with feet: dropped from 1 cm, or set down on the ground and pushed at 4 s."""
    legs, robot = LEGS[name], stored_robot(name)
    n = len(legs.posture)
    base = robot.bodies[0]
    feet = tuple(Frame(f"foot{k + 1}", f"b{n * (k + 1)}", Pose(IDENTITY.R, legs.foot)) for k in range(LIMBS))
    pushed = Frame(PUSHED, base.name, Pose(IDENTITY.R, evaluate_all(base.com)))
    robot = replace(robot, frames=(*feet, pushed))
    q = np.array(neutral(robot))
    q[BASE:] = legs.posture * LIMBS
    names = tuple(foot.name for foot in feet)
    lowest = min(pose.p[2] for pose in forward_kinematics(resolve(robot), q.tolist(), names))
    q[2] = (0.01 if scenario == "dropped" else 0.0) - lowest
    return Standing(name, scenario, robot, names, q, Push() if scenario == "pushed" else None)


def rms_errors(found: Array, wanted: Array) -> dict[str, float]:
    """The RMS errors over all samples: of the base position [m], the base orientation and the joint angles [rad].

    `found` and `wanted` are configurations (n, nq) in our order. Errors of a failed run are infinite.
    """
    if not np.all(np.isfinite(found)):
        return dict.fromkeys(COMPONENTS, math.inf)
    gap = found - wanted
    one, other = found[:, 3:BASE], wanted[:, 3:BASE]
    side = np.sign(np.sum(one * other, axis=1, keepdims=True))  # q and -q are the same rotation
    chord = np.linalg.norm(one / np.linalg.norm(one, axis=1, keepdims=True) - side * other, axis=1)
    angle = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
    values = (np.linalg.norm(gap[:, :3], axis=1), angle, gap[:, BASE:])
    return {name: float(np.sqrt(np.mean(value**2))) for name, value in zip(COMPONENTS, values, strict=True)}
