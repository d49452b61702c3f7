"""The problems and entries of `kinemorph bench simulate`: a robot is simulated from an initial state.

An entry returns the angles of all hinges at the sample times, shape (samples, hinges), in our order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import (
    STEP,
    TOLERANCE,
    Entry,
    by_mujoco,
    by_ode,
    by_simulate,
    by_stepper,
    exudyn_settings,
    imported,
)
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.plants.robot_plant import plant

if TYPE_CHECKING:
    from kinemorph.bench.peers.pinocchio_twin import Step


@dataclass(frozen=True, eq=False)
class Problem:
    """A robot, its initial state, and the sample times [s]."""

    name: str
    robot: Robot
    q: Array
    v: Array
    times: Array

    @property
    def hinges(self) -> list[int]:
        """The indices of the hinges' angles in q."""
        return [k for k, unit in enumerate(self.robot.q_units) if unit == "rad"]

    def read(self, rows: Array) -> Array:
        """The angles of the hinges, shape (samples, hinges), from states (samples, ...) that begin with q."""
        return rows[:, self.hinges]


TOLERANCES = tuple(10.0**-k for k in np.arange(7.0, 13.6, 0.5).tolist())


def steps_per_second(*rates: int) -> tuple[float, ...]:
    """The step sizes [s] for numbers of steps per second."""
    return tuple(1.0 / rate for rate in rates)


# ── ours ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kinemorph_entries(problem: Problem) -> list[Entry]:
    """Our entries: the whole call `simulate`, and a `Stepper` that is made beforehand."""
    system, hinges, found = plant(problem.robot), problem.hinges, []
    for method in ("dop853", "dormand_prince"):
        given = system, problem.times, problem.q, problem.v, method
        whole, stepped = by_simulate(*given), by_stepper(*given)
        calls = {"simulate()": (whole, lambda run: run.segments[0].q[1:, hinges]), "Stepper": (stepped, problem.read)}
        for name, (run, read) in calls.items():
            found.append(Entry(f"Kinemorph, {name}", method, TOLERANCES, TOLERANCE, run, read))
    return found


# ── Pinocchio and SciPy ───────────────────────────────────────────────────────────────────────────────────────────────


def pinocchio_entries(problem: Problem) -> list[Entry]:
    """Pinocchio's entries: its ABA, called from Python by SciPy's two implementations of DOP853.

    Quaternions are normalized in every evaluation.
    """
    from kinemorph.bench.peers.robots import pinocchio

    pin = pinocchio()
    from scipy.integrate import solve_ivp

    from kinemorph.bench.peers.pinocchio_twin import twin_of_robot

    twin = twin_of_robot(problem.robot)
    model, data, nq = twin.model, twin.model.createData(), twin.model.nq
    at = angles_there(problem, twin.steps)
    floating = problem.robot.nq != problem.robot.nv
    none = np.zeros(model.nv)
    begun = np.concatenate([twin.configuration(problem.q), twin.velocity(problem.v)])
    times = problem.times

    def rate(t: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        if not floating:
            return np.concatenate((v, pin.aba(model, data, q, v, none)))
        q = q.copy()
        q[3:7] /= np.sqrt(q[3:7] @ q[3:7])
        x, y_, z, w = q[3:7]
        a, b, c = v[3:6]
        turning = (
            0.5 * (w * a + y_ * c - z * b),
            0.5 * (w * b + z * a - x * c),
            0.5 * (w * c + x * b - y_ * a),
            -0.5 * (x * a + y_ * b + z * c),
        )
        moving = pin.Quaternion(w, x, y_, z) * v[:3]
        return np.concatenate((moving, turning, v[6:], pin.aba(model, data, q, v, none)))

    def by_solve_ivp(tolerance: float) -> Array:
        found = solve_ivp(rate, (0.0, times[-1]), begun, "DOP853", times, rtol=tolerance, atol=tolerance)
        states: Array = found.y.T
        return states

    def read(rows: Array) -> Array:
        return rows[:, at]

    name = "Pinocchio + SciPy"
    return [
        Entry(name, "solve_ivp DOP853", TOLERANCES, TOLERANCE, by_solve_ivp, read),
        Entry(name, "ode dop853", TOLERANCES, TOLERANCE, by_ode(rate, times, begun), read),
    ]


def angles_there(problem: Problem, steps: Sequence[Step]) -> list[int]:
    """The indices of the hinges' angles in a peer's configuration, in our order of hinges."""
    places = {step.q: step.peer_q for step in steps}
    return [places[k] for k in problem.hinges]


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def mujoco_entries(problem: Problem) -> list[Entry]:
    """MuJoCo's entry: its RK4 with constant step sizes."""
    mujoco = imported("mujoco", "mujoco")
    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    twin = MujocoTwin(problem.robot)
    twin.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    at = angles_there(problem, twin.steps)
    settings = steps_per_second(100, 200, 300, 400, 500, 700, 1000, 2000, 4000)
    run = by_mujoco(twin, problem.times, problem.q, problem.v)
    return [Entry("MuJoCo", "RK4", settings, STEP, run, lambda rows: rows[:, at])]


# ── Exudyn ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def exudyn_entries(problem: Problem) -> list[Entry]:
    """Exudyn's entries: its kinematic tree in minimal coordinates with explicit solvers; for robots with hinges only.

    Exudyn stores results at its own steps only, so nothing is stored and only the final state is compared.
    """
    exudyn, items = imported("exudyn", "exudyn"), imported("exudyn.utilities", "exudyn")
    robot, n = problem.robot, problem.robot.nv
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=list(problem.q),
            initialCoordinates_t=list(problem.v),
            numberOfODE2Coordinates=n,
        )
    )
    bodies = [robot.body(joint.child) for joint in robot.joints]
    numbers = {joint.child: k for k, joint in enumerate(robot.joints)}
    turns = [_about_z(joint.axis) for joint in robot.joints]  # its hinges turn about z, so link frames are turned
    poses = [evaluate_all(joint.placement) for joint in robot.joints]
    parents = [numbers.get(joint.parent, -1) for joint in robot.joints]
    before = [turns[k] if k >= 0 else np.eye(3) for k in parents]
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exudyn.JointType.RevoluteZ] * n,
            linkParents=parents,
            jointTransformations=exudyn.Matrix3DList(
                [old.T @ np.array(pose.R) @ new for old, pose, new in zip(before, poses, turns, strict=True)]
            ),
            jointOffsets=exudyn.Vector3DList(
                [old.T @ np.array(pose.p) for old, pose in zip(before, poses, strict=True)]
            ),
            linkInertiasCOM=exudyn.Matrix3DList(
                [T.T @ np.array(evaluate_all(body.inertia)) @ T for T, body in zip(turns, bodies, strict=True)]
            ),
            linkCOMs=exudyn.Vector3DList(
                [T.T @ np.array(evaluate_all(body.com)) for T, body in zip(turns, bodies, strict=True)]
            ),
            linkMasses=[evaluate(body.mass) for body in bodies],
            gravity=list(evaluate_all(robot.gravity)),
        )
    )
    system.Assemble()
    end = float(problem.times[-1])

    def by(solver: Any, *, adaptive: bool) -> Callable[[float], Array]:
        settings = exudyn_settings(exudyn, end)
        settings.timeIntegration.automaticStepSize = adaptive
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = False

        def run(setting: float) -> Array:
            own = settings.timeIntegration
            own.numberOfSteps = 10 if adaptive else round(end / setting)
            if adaptive:
                own.relativeTolerance = own.absoluteTolerance = setting
            system.SolveDynamic(settings, solverType=solver, updateInitialValues=False, showHints=False)
            return np.array([system.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)])

        return run

    solvers = exudyn.DynamicSolverType
    sizes = steps_per_second(25, 50, 75, 100, 150, 200, 300, 400)
    return [
        Entry("Exudyn", "DOPRI5", TOLERANCES, TOLERANCE, by(solvers.DOPRI5, adaptive=True), np.asarray, ends_only=True),
        Entry("Exudyn", "RK67", sizes, STEP, by(solvers.RK67, adaptive=False), np.asarray, ends_only=True),
    ]


def _about_z(axis: Any) -> Array:
    """A rotation matrix (3, 3) that turns the z axis to the given axis."""
    z = np.array(evaluate_all(axis), dtype=float)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
