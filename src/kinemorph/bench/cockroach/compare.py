"""The rows of `kinemorph bench cockroach`: the animal beside MuJoCo, at equal error, one robot and batched.

The problem is the cockroach on its feet, held and pushed, or dropped, or running:

pushed     the animal starts at rest in its equilibrium. A force of a fifth of its weight pushes the trunk forward and
           to the left for 40 ms; the animal sways on feet that stick, and comes to rest
dropped    the animal starts with its feet half a millimeter above the ground, at 10 cm/s forward and 3 cm/s to the left
           side; it falls, slides and comes to rest
running    `library.running_cockroach`: the PD follows the angles of a gait by tripods at 21 cm/s, for 6.5 strides

Both simulators have the same bodies, joints (a gimbal is three hinges in MuJoCo), gains and reference angles of the PD,
and the same coefficient of static friction. Our ground is that of `library.cockroach`: springs, and anchored feet that
let go and slide with less friction. MuJoCo's is its soft contact with one coefficient of friction; its time constant is
such that feet sink in as deep as ours, about 0.1 mm. With MuJoCo's default of 20 ms they sink in by 3 mm of the 7.5 mm
to the ground, since the legs are so light.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.bench.standing.equal_error import contest_of, contested
from kinemorph.bench.standing.problem import BASE, PUSHED, Ground, Push, Scenario, Standing
from kinemorph.bench.targets import judge_cockroach
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import MissingExtraError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.references import SplinePath
from kinemorph.model.library.animals.cockroach import LEGS, cockroach
from kinemorph.model.library.animals.cockroach_data import number
from kinemorph.model.library.animals.cockroach_gait import running_cockroach
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Frame
from kinemorph.model.system import System

STEPS = tuple(0.004 / 2**k for k in range(8))  # [s], 4 ms to 31 microseconds
METHODS = ("implicit_contact", "centered_contact", "extrapolated_contact")


class Sizes(NamedTuple):
    """The step sizes [s] of MuJoCo, those of them whose errors are compared, and those of our methods."""

    peer: tuple[float, ...]
    compared: tuple[float, ...]
    ours: tuple[float, ...]


# at 2 ms MuJoCo's animal jumps off the ground; running, it is centimeters off with steps of 0.5 ms and more
SIZES: dict[Scenario, Sizes] = {
    "pushed": Sizes(STEPS[2:6], STEPS[3:5], STEPS[:5]),
    "dropped": Sizes(STEPS[2:6], STEPS[3:5], STEPS[:5]),
    "running": Sizes(STEPS[3:6], STEPS[4:6], STEPS[1:5]),
}
DURATION, SAMPLE = 0.96, 0.008  # [s]; all times are whole multiples of all step sizes
PUSH = Push(0.08, 0.12, (4e-3, 3e-3, 0.0))  # [N]
LIFT, TOSS = 5e-4, (0.1, 0.03)  # [m] and [m/s]; without a velocity, sticking or sliding at the touch is ill-posed
RADIUS, CONTACT_TIME = 1e-4, 2.4e-3  # of a foot [m], and of its contact [s], in MuJoCo
SHOVE = 2e-3  # [m/s]


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields points of curves, and comparisons at equal error; a quick run has the animal that is pushed only."""
    try:
        from kinemorph.bench.standing.mujoco_run import MujocoStanding
    except ImportError:
        note(f"the cockroach is not compared: {MissingExtraError('mujoco', 'peers')}")
        return
    for scenario, sizes in SIZES.items():
        if quick and scenario != "pushed":
            continue
        animal = problem(scenario)
        contest = contest_of(animal, "cockroach", sizes.compared, judge_cockroach)
        steps = sizes.peer, dict.fromkeys(METHODS, sizes.ours)
        yield from contested(contest, animal, MujocoStanding(animal), steps, pace, say, note)


@cache
def problem(scenario: Scenario) -> Standing:
    """The cockroach on the ground."""
    system = running_cockroach() if scenario == "running" else cockroach()
    trunk = system.robot.body("body")
    robot = replace(
        system.robot, frames=(*system.robot.frames, Frame(PUSHED, "body", Pose(IDENTITY.R, evaluate_all(trunk.com))))
    )
    feet = tuple(f"{leg}_foot" for leg in LEGS)
    stance = np.array(system.settings.q)
    (hold,) = (element for element in system.elements if isinstance(element, PD))
    stiffness, damping = (float(np.ravel(evaluate_all(value))[0]) for value in (hold.kp, hold.kd))  # of all joints
    q = stance.copy()
    if scenario == "pushed":
        q = np.array(equilibrium(system, q=stance).q)
    v = np.array(system.settings.v) if scenario == "running" else np.zeros(robot.nv)
    if scenario == "dropped":
        v[:2] = TOSS
        q[2] += LIFT - min(pose.p[2] for pose in forward_kinematics(resolve(robot), q.tolist(), feet))
    return Standing(
        "cockroach",
        scenario,
        robot,
        feet,
        q,
        PUSH if scenario == "pushed" else None,
        stiffness,
        damping,
        Ground(friction=number("static_friction")),
        DURATION,
        SAMPLE,
        v=v,
        rest=stance[BASE:],
        gait=gait_of(system) if scenario == "running" else None,
        elements=system.elements,
        radius=RADIUS,
        contact_time=CONTACT_TIME,
        shove=SHOVE,
    )


def gait_of(system: System) -> Callable[[Array], tuple[Array, Array]]:
    """A function of times (n,) [s] that returns the reference angles [rad] and rates [rad/s] of the gait, (n, 30)."""
    from scipy.interpolate import CubicSpline

    (path,) = (element for element in system.elements if isinstance(element, SplinePath))
    curve = CubicSpline(path.times, np.array(path.points, dtype=float), bc_type="periodic")
    period = float(evaluate(path.period))
    return lambda t: (curve(t % period), curve(t % period, 1))
