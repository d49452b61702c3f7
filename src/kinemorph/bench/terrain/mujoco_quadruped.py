"""The quadruped in MuJoCo: the same masses, gains, gaits and heights, with MuJoCo's contacts and height field.

MuJoCo's height field is made of triangles between the heights, ours is smooth. MuJoCo has no contact of points, so the
corners of the trunk are spheres of 1 mm. The controllers are position and velocity actuators, which follow the gait
step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np
from mujoco import rollout

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.mujoco_twin import MujocoTwin
from kinemorph.bench.terrain import quadruped as problem
from kinemorph.model.elements.contact.grounds import HeightMap, Plane

POINT = 1e-3  # the radius of a corner [m]
BELOW = 0.1  # how deep the height field reaches below its lowest point [m]


class MujocoQuadruped:
    """The MuJoCo model of the quadruped on a height map; on the plane z = 0 where `ground` is None."""

    def __init__(self, ground: HeightMap | None) -> None:
        system = problem.quadruped(Plane())
        twin = MujocoTwin(system.robot, fitted=partial(fitted, ground))
        self.model = twin.model
        self.data = mujoco.MjData(self.model)
        twin.place(np.array(system.settings.q), np.zeros(system.robot.nv))
        self.start = twin.data.qpos.copy()

    def gaits(self, count: int, until: float, h: float) -> Callable[[], Array]:
        """A function that runs `count` gaits for `until` [s] with step size h [s] in one thread.

        It returns the last qpos of each gait, shape (count, model.nq).
        """
        self.model.opt.timestep = h
        steps = round(until / h)
        times = np.arange(steps, dtype=np.float64) * h
        chosen = problem.gaits(count)
        controls = np.stack([problem.references(chosen, k, times) for k in range(count)])
        state = mujoco.mjtState.mjSTATE_FULLPHYSICS
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.start
        first = np.empty(mujoco.mj_stateSize(self.model, state))
        mujoco.mj_getState(self.model, self.data, first, state)
        room = np.empty((1, steps, len(first)))

        def work() -> Array:
            ends = []
            for k in range(count):
                rollout.rollout(self.model, self.data, first[None], controls[k : k + 1], nstep=steps, state=room)
                ends.append(room[0, -1, 1 : 1 + self.model.nq].copy())
            return np.array(ends)

        return work


def fitted(ground: HeightMap | None, spec: mujoco.MjSpec) -> None:
    """Adds the ground, the spheres of the feet that touch it, and the controllers of the hinges to a MuJoCo model.

    Without a height map the ground is a plane.
    """
    friction = [problem.FRICTION, 0.0, 0.0]
    if ground is None:
        floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    else:
        heights = np.asarray(ground.heights)
        half = 0.5 * (np.array(heights.shape) - 1.0) * ground.spacing
        low, high = float(heights.min()), float(heights.max())
        spec.add_hfield(
            name="map",
            nrow=heights.shape[1],
            ncol=heights.shape[0],
            size=[*half, high - low, BELOW],
            userdata=((heights.T - low) / (high - low)).ravel(),
        )
        floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="map")
        floor.pos = [*(np.array(ground.corner) + half), low]
    floor.contype, floor.conaffinity, floor.friction = 1, 0, friction
    for _, body, point, radius in problem.touching():
        ball = spec.body(body).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius or POINT, 0.0, 0.0], pos=point)
        ball.contype, ball.conaffinity, ball.friction = 0, 1, friction
    for k, gain in ((1, problem.STIFFNESS), (2, problem.DAMPING)):
        for name in problem.joints():
            drive = spec.add_actuator(target=f"{name}.0.0", trntype=mujoco.mjtTrn.mjTRN_JOINT)
            drive.gainprm[0], drive.biastype, drive.biasprm[k] = gain, mujoco.mjtBias.mjBIAS_AFFINE, -gain
