"""The cockroach on its feet, as a problem that Kinemorph and MuJoCo solve: held and pushed, or dropped.

pushed     the animal starts at rest in its equilibrium. A force of a fifth of its weight pushes the trunk forward and
           to the left for 40 ms; the animal sways on feet that stick, and comes to rest
dropped    the animal starts with its feet half a millimeter above the ground, falls, slides and comes to rest

Both simulators have the same bodies, joints (a gimbal is three hinges in MuJoCo), gains and reference angles of the PD,
and the same coefficient of static friction. Our ground is that of `library.cockroach`: springs, and anchored feet that
let go and slide with less friction. MuJoCo's is its soft contact with one coefficient of friction; its time constant is
such that feet sink in as deep as ours, about 0.1 mm. With MuJoCo's default of 20 ms they sink in by 3 mm of the 7.5 mm
to the ground, since the legs are so light.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.bench.standing.problem import BASE, PUSHED, SCENARIOS, Ground, Push, Scenario, Standing
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.library.animals.cockroach import DAMPING, LEGS, STIFFNESS, cockroach
from kinemorph.model.library.animals.cockroach_data import number
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Frame

__all__ = ["METHODS", "MUJOCO_STEPS", "SCENARIOS", "problem"]

STEPS = tuple(0.004 / 2**k for k in range(8))  # [s], 4 ms to 31 microseconds
MUJOCO_STEPS = STEPS[2:6]  # 1 to 0.125 ms: at 2 ms its animal jumps
COMPARED = STEPS[3:5]  # 0.5 and 0.25 ms
METHODS: dict[str, tuple[float, ...]] = {  # the step sizes [s] of each method
    "implicit_contact": STEPS[:5],
    "centered_contact": STEPS[:5],
    "extrapolated_contact": STEPS[:5],
}
DURATION, SAMPLE = 0.96, 0.008  # [s]; all times are whole multiples of all step sizes
PUSH = Push(0.08, 0.12, (4e-3, 3e-3, 0.0))  # [N]
LIFT = 5e-4  # [m]
RADIUS, CONTACT_TIME = 1e-4, 2.4e-3  # of a foot [m], and of its contact [s], in MuJoCo
SHOVE = 2e-3  # [m/s]


@cache
def problem(scenario: Scenario) -> Standing:
    """The cockroach on the ground."""
    system = cockroach()
    trunk = system.robot.body("body")
    robot = replace(
        system.robot, frames=(*system.robot.frames, Frame(PUSHED, "body", Pose(IDENTITY.R, evaluate_all(trunk.com))))
    )
    feet = tuple(f"{leg}_foot" for leg in LEGS)
    stance = np.array(system.settings.q)
    if scenario == "pushed":
        q = np.array(equilibrium(system, q=stance).q)
    else:
        q = stance.copy()
        q[2] += LIFT - min(pose.p[2] for pose in forward_kinematics(resolve(robot), q.tolist(), feet))
    return Standing(
        "cockroach",
        scenario,
        robot,
        feet,
        q,
        PUSH if scenario == "pushed" else None,
        STIFFNESS,
        DAMPING,
        Ground(friction=number("static_friction")),
        DURATION,
        SAMPLE,
        rest=stance[BASE:],
        elements=system.elements,
        radius=RADIUS,
        contact_time=CONTACT_TIME,
        shove=SHOVE,
    )
