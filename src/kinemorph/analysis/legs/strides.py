"""Figures of whole strides: speed, energies of the center of mass and of the limbs, rotations, ground forces.

An energy per stride is the sum of its increases over the samples of a stride, as in measurements of animals, which
count what muscles at least have to supply. With the velocity v and the height z of the center of mass of the mass M,

    external    M |v|^2/2 + M g z
    limbs       kinetic energy relative to the center of mass of all bodies but the trunk
    rotations   I w^2/2 of the trunk about its forward (roll), lateral (pitch) and vertical axis (yaw)

where w are the components of the angular velocity along the axes of the trunk, and I the moments of inertia about its
center of mass. By König's theorem the first two, and the kinetic energy of the trunk relative to the center of mass,
sum up to the energy of the robot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.limbs import Feet, finite_number, limbs, plant_of_run, trunk
from kinemorph.analysis.legs.stances import contact_force
from kinemorph.errors import ModelError
from kinemorph.model.parameter import evaluate_all
from kinemorph.simulation.results.trajectory import Trajectory

Three = tuple[float, float, float]
FEWEST = 4  # samples in a stride


@dataclass(frozen=True)
class StrideFigures:
    """Means over the whole strides of a run.

    `strides`       the number of strides, and `frequency` [Hz] their number per second
    `speed`         of the center of mass along `x` [m/s]
    `mass`          of all bodies [kg], and `weight` [N]
    `external`      energy of the center of mass per stride [J], `limbs` that of the limbs relative to it [J]
    `rotational`    energies per stride about the axes of roll, pitch and yaw [J]
    `rotations`     largest angles of roll, pitch and yaw, from level and straight ahead [rad]
    `fluctuation`   peak-to-peak ground force along x, y and z [N]
    `lateral_rms`   standard deviation of the lateral ground force, divided by that of the vertical one; NaN where no
                    foot touches the ground
    `acceleration`  peak-to-peak vertical acceleration of the center of mass [m/s^2]
    """

    strides: int
    frequency: float
    speed: float
    mass: float
    weight: float
    external: float
    limbs: float
    rotational: Three
    rotations: Three
    fluctuation: Three
    lateral_rms: float
    acceleration: float

    @property
    def cost_of_transport(self) -> float:
        """The external energy per mass and distance [J/(kg m)]."""
        return self.external * self.frequency / (self.mass * self.speed)

    @property
    def limb_power(self) -> float:
        """The power of the limbs per mass [W/kg]."""
        return self.limbs * self.frequency / self.mass


def stride_figures(run: Trajectory, frequency: float, feet: Feet = None, *, after: float = 0.0) -> StrideFigures:
    """The figures of the whole strides of a run from the time `after` [s] on; x is forward and z up.

    `frequency` [Hz] is the number of strides per second, and `feet` names the contacts of the feet as in `stances`.
    """
    plant, robot = plant_of_run(run, "stride_figures", after)
    finite_number("stride_figures", "frequency", frequency, "a finite number above 0 [Hz]", above=0.0)
    assert plant.dynamics is not None
    after = max(after, float(run.t[0]))
    count = math.floor((run.t[-1] - after) * frequency + 1e-6)
    if count < 1:
        raise ModelError(f"stride_figures: no whole stride of {1 / frequency:g} s fits into the run after {after:g} s.")
    samples = np.count_nonzero(run.t >= after) / count
    if samples < FEWEST:
        raise ModelError(
            f"stride_figures: a stride of {1 / frequency:g} s has {samples:.3g} samples; expected at least {FEWEST}. "
            "Give a frequency in Hz, or a smaller output_step to simulate."
        )
    ends = np.searchsorted(run.t, after + np.arange(count + 1) / frequency - 1e-9)
    ends = np.minimum(ends, len(run.t) - 1)
    chosen = slice(int(ends[0]), int(ends[-1]) + 1)
    legs = limbs(robot, plant.elements, feet)
    base = trunk(robot, [leg.contacts[0].body for leg in legs])
    mass, gravity = float(robot.total_mass), float(np.linalg.norm(evaluate_all(robot.gravity)))

    center = np.asarray(plant.dynamics.center_of_mass(run.q), dtype=float)
    velocity = run.momentum[:, :3] / mass
    twist = np.einsum("nij,nj->ni", plant.dynamics.jacobian(base)(run.q), run.v)  # of the trunk, in its axes
    R = run.body_poses(names=[base])[:, 0, :3, :3]
    body = robot.body(base)
    com, inertia = (np.array(evaluate_all(value), dtype=float) for value in (body.com, body.inertia))
    own_mass = float(np.asarray(evaluate_all((body.mass,)))[0])
    apart = twist[:, :3] + np.cross(twist[:, 3:], com) - np.einsum("nji,nj->ni", R, velocity)
    of_center = 0.5 * mass * np.sum(velocity**2, axis=1)
    of_trunk = 0.5 * own_mass * np.sum(apart**2, axis=1)
    of_trunk += 0.5 * np.einsum("ni,ij,nj->n", twist[:, 3:], inertia, twist[:, 3:])
    turning = 0.5 * np.diag(inertia) * twist[:, 3:] ** 2
    force = np.sum([contact_force(run, contact) for leg in legs for contact in leg.contacts], axis=0)[chosen]

    def per_stride(energy: Array) -> float:
        return float(np.sum(np.maximum(np.diff(energy[chosen]), 0.0)) / count)

    roll, pitch, yaw = (float(np.abs(angle[chosen]).max()) for angle in _angles(R))
    x, y, z = np.ptp(force, axis=0).tolist()
    return StrideFigures(
        count,
        frequency,
        float((center[ends[-1], 0] - center[ends[0], 0]) / (run.t[ends[-1]] - run.t[ends[0]])),
        mass,
        mass * gravity,
        per_stride(of_center + mass * gravity * center[:, 2]),
        per_stride(run.energy.kinetic - of_center - of_trunk),
        (per_stride(turning[:, 0]), per_stride(turning[:, 1]), per_stride(turning[:, 2])),
        (roll, pitch, yaw),
        (x, y, z),
        float(np.std(force[:, 1]) / np.std(force[:, 2])) if z else math.nan,
        z / mass,
    )


def _angles(R: Array) -> tuple[Array, Array, Array]:
    """Roll, pitch and yaw [rad] of rotations R = Rz(yaw) Ry(pitch) Rx(roll), shape (n, 3, 3); each has shape (n,)."""
    roll = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    pitch = np.arctan2(-R[:, 2, 0], np.hypot(R[:, 2, 1], R[:, 2, 2]))
    return roll, pitch, np.arctan2(R[:, 1, 0], R[:, 0, 0])
