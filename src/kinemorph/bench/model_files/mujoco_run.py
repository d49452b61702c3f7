"""A model file in MuJoCo: its runs with three integrators, and batches of them by `rollout`.

Shapes of ours touch the ground of the file and not each other. So in MuJoCo, too, contacts of bodies with each other
are switched off: it does the same work, and takes less time than with them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import STEP, Entry, by_mujoco
from kinemorph.bench.model_files.problem import DURATION, SAMPLE, FileProblem
from kinemorph.errors import KinemorphError
from kinemorph.model.conventions.conversions import to_convention

INTEGRATORS = {
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
}
STEPS = (2e-2, 1e-2, 5e-3, 4e-3, 2.5e-3, 2e-3, 1.25e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 5e-5, 2.5e-5)  # [s]
FINE = (  # integrators of references, and their two steps [s]; the last is for impacts, where all have first order
    ("RK4", 2.5e-4, 1.25e-4),
    ("implicitfast", 5e-5, 2.5e-5),
    ("RK4", 2e-5, 1e-5),
)
GROUNDS = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
NEVER = -1e3  # [m], a margin at which nothing touches
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


mujoco.set_mju_user_warning(lambda message: None)  # steps that are too large are tried; it would write a file


def model_of(path: Path) -> mujoco.MjModel:
    """MuJoCo's model of a file. Raises KinemorphError with MuJoCo's reason where it refuses the file."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise KinemorphError(f"MuJoCo cannot read '{path}': {reason}. Name files that MuJoCo reads, too.") from None


def on_ground_only(model: mujoco.MjModel) -> None:
    """Switches off contacts of bodies with each other; those with planes and height fields stay."""
    grounds = np.isin(model.geom_type, [int(kind) for kind in GROUNDS])
    types, affinities = model.geom_contype.copy(), model.geom_conaffinity.copy()
    meets = [
        bool(((types[k] & affinities[grounds]) | (types[grounds] & affinities[k])).any()) for k in range(model.ngeom)
    ]
    model.geom_contype[:] = grounds
    model.geom_conaffinity[:] = np.where(grounds, 0, meets)
    if model.npair:
        met = grounds[model.pair_geom1] | grounds[model.pair_geom2]
        model.pair_margin[~met] = NEVER


class MujocoFile:
    """The problem in MuJoCo: the same start, inputs and states."""

    def __init__(self, problem: FileProblem, model: mujoco.MjModel) -> None:
        robot, count = problem.robot, (model.nq, model.nv)
        if (robot.nq, robot.nv) != count:
            raise KinemorphError(
                f"'{problem.path}' has {count[0]} coordinates and {count[1]} velocities in MuJoCo, but "
                f"{robot.nq} and {robot.nv} here. Name files that both read in the same way."
            )
        if not model.nv:
            raise KinemorphError(f"'{problem.path}' has no joint that moves. Name files of robots that move.")
        _check_drives(problem.path, model)
        self.written = int(model.opt.integrator), SAMPLE / max(round(SAMPLE / model.opt.timestep), 1)
        self.whole = copy.copy(model)  # with contacts of bodies with each other
        self.problem, self.model, self.data = problem, model, mujoco.MjData(model)
        on_ground_only(model)
        self.order = [model.joint(k).name for k in range(model.njnt)]
        if len(set(self.order)) < model.njnt or "" in self.order:
            self.order = []

    def place(self, q: Array, v: Array) -> None:
        """Sets the state to q (nq,) and v (nv,), given in our convention; controls and activations are the start's."""
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        self.data.time = 0.0
        robot = self.problem.robot
        self.data.qpos[:], self.data.qvel[:] = to_convention(robot, "mujoco", q, v, joints=self.order or None)

    def run(self, integrator: str) -> Callable[[float], Array]:
        """A function of a step size [s] that gives the states at the samples, shape (n, nq + nv), in MuJoCo's order."""

        def prepare(step: float) -> None:
            self.model.opt.integrator = INTEGRATORS[integrator]

        problem = self.problem
        return by_mujoco(self, problem.times, problem.q[0], problem.v[0], prepare, state)

    def as_written(self, *, whole: bool = False) -> Callable[[], Array]:
        """A function that gives the states as `run`, with the integrator of the file and its step, or the nearest one
        that divides the time between samples; if `whole`, with contacts of bodies with each other, too.
        """
        integrator, step = self.written
        twin = copy.copy(self)
        if whole:
            twin.model, twin.data = self.whole, mujoco.MjData(self.whole)

        def prepare(step: float) -> None:
            twin.model.opt.integrator = integrator

        problem = self.problem
        return partial(by_mujoco(twin, problem.times, problem.q[0], problem.v[0], prepare, state), step)

    def fine_runs(self) -> list[Callable[[], tuple[Array, Array]]]:
        """Functions that give pairs of runs for a reference, the second of smaller steps."""

        def pair(integrator: str, *steps: float) -> tuple[Array, Array]:
            fine, finer = (self.run(integrator)(step) for step in steps)
            return fine, finer

        return [partial(pair, *row) for row in FINE]

    def entries(self, read: Callable[[Array], Array]) -> list[Entry]:
        """One entry for each integrator."""
        return [Entry("MuJoCo", name, STEPS, STEP, self.run(name), read) for name in INTEGRATORS]

    def batch(self, integrator: str | int, step: float, count: int) -> Callable[[], None]:
        """A function that runs the first `count` robots of the problem with `rollout`, one after the other."""
        from mujoco import rollout

        first = np.empty((count, mujoco.mj_stateSize(self.model, STATE)))
        for k in range(count):
            self.place(self.problem.q[k], self.problem.v[k])
            mujoco.mj_getState(self.model, self.data, first[k], STATE)
        control = np.tile(self.data.ctrl, (count, 1, 1))
        steps = round(DURATION / step)
        room = np.empty((count, steps, first.shape[1]))

        def work() -> None:
            chosen = INTEGRATORS[integrator] if isinstance(integrator, str) else integrator
            self.model.opt.timestep, self.model.opt.integrator = step, chosen
            rollout.rollout(self.model, self.data, first, control, nstep=steps, state=room)

        return work


def _check_drives(path: Path, model: mujoco.MjModel) -> None:
    """Raises KinemorphError where drives of the file do not act here: the motions would have little in common."""
    spatial = int((model.wrap_type != int(mujoco.mjtWrap.mjWRAP_JOINT)).any())
    muscles = int((model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_MUSCLE)).any())
    if spatial or muscles:
        what = "spatial tendons" if spatial else "muscles"
        raise KinemorphError(f"'{path}' has {what}, which do not act here. Name files without them.")


def state(data: mujoco.MjData) -> Array:
    """The configuration and the velocities of MuJoCo, shape (nq + nv,)."""
    found: Array = np.concatenate([data.qpos, data.qvel])
    return found
