"""MuJoCo on the problems of `kinemorph bench rigid`: elliptic cones, and contacts as stiff as the step size allows.

Bodies have two slides and a hinge. A point is a sphere of 10 µm, whose ground is lowered by its radius; the top of a
block is a box that is twice as wide. `solref` has a time constant of two steps, the shortest that its manual
recommends, and `impratio` 100 keeps slip in sticking contacts small.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import imported
from kinemorph.bench.rigid.problems import G, Problem
from kinemorph.bench.rigid.runs import Outcome, least

TINY = 1e-5  # [m], the radius of points


def mujoco_run(problem: Problem, step: float, repeats: int) -> Outcome:
    """A run with a step size [s]."""
    mujoco = imported("mujoco", "mujoco")
    model = mujoco.MjModel.from_xml_string(_model(problem, step))
    data = mujoco.MjData(model)
    count = round(problem.times[0] / step)

    def run() -> Array:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = problem.q, problem.v
        rows = []
        for _ in problem.times:
            mujoco.mj_step(model, data, count)
            rows.append(data.qpos.copy())
        return np.array(rows)

    return least(run, repeats)


def _model(problem: Problem, step: float) -> str:
    bodies = []
    for k, (mass, inertia) in enumerate(problem.bodies):
        shapes = []
        for point in problem.points:
            if point.body == k:
                size = point.radius or TINY
                shapes.append(f'<geom type="sphere" size="{size}" pos="{point.x} 0 {point.z}" {_meets(k)}/>')
        tops = [point.top for point in problem.points if point.on == k]
        if tops:
            half = 0.5 * tops[0]
            at = tops[0] - half - TINY
            shapes.append(f'<geom type="box" size="{4.0 * half} {4.0 * half} {half}" pos="0 0 {at}" {_carries(k)}/>')
        bodies.append(
            f'<body><inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
            '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'
            + "".join(shapes)
            + "</body>"
        )
    lowered = 0.0 if problem.points[0].radius else -TINY
    return f"""
<mujoco>
  <option timestep="{step}" gravity="0 0 {-G}" cone="elliptic" impratio="100" iterations="100" tolerance="1e-14"/>
  <default><geom friction="{problem.mu} 0 0" condim="3" solref="{2.0 * step} 1" solimp="0.99 0.9999 1e-6"/></default>
  <worldbody>
    <geom type="plane" size="10 10 1" pos="0 0 {lowered}" contype="1" conaffinity="0"/>
    {"".join(bodies)}
  </worldbody>
</mujoco>"""


def _meets(k: int) -> str:
    """The bits of points of body k: they meet the ground if k is 0, else the top of the body below."""
    return f'contype="0" conaffinity="{1 << k}"'


def _carries(k: int) -> str:
    return f'contype="{1 << (k + 1)}" conaffinity="0"'
