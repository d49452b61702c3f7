"""The contestants of `kinemorph bench simulate`: each carries a robot from one state through the sample times.

A contestant offers ways (a method with its settings, loose to tight); each way is a function that gives the angles of
all hinges at the samples, shape (samples, hinges), in our order. Models are made before; a run is what is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import MissingExtraError
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

if TYPE_CHECKING:
    from kinemorph.bench.peers.pinocchio_twin import Step


@dataclass(frozen=True, eq=False)
class Problem:
    """A robot, where it starts, and the times at which it is looked at [s]."""

    name: str
    robot: Robot
    q: Array
    v: Array
    times: Array

    @property
    def hinges(self) -> list[int]:
        """The places of the hinges' angles in q."""
        return [k for k, unit in enumerate(self.robot.q_units) if unit == "rad"]


@dataclass(frozen=True)
class Way:
    """A method of a contestant: `settings` from loose to tight, `run(setting)` gives the angles."""

    contestant: str
    method: str
    settings: tuple[float, ...]
    run: Callable[[float], Array]
    says: str  # what a setting is, as "tolerance {:g}"
    ends_only: bool = False  # gives the last sample only


TOLERANCES = tuple(10.0**-k for k in np.arange(7.0, 13.6, 0.5).tolist())


def steps_per_second(*rates: int) -> tuple[float, ...]:
    """Step sizes [s], large to small."""
    return tuple(1.0 / rate for rate in rates)


# ── ours ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kinemorph_ways(problem: Problem) -> list[Way]:
    """The whole call `simulate`, and a `Stepper` that is made before."""
    system, hinges, times = plant(problem.robot), problem.hinges, problem.times
    ways = []
    for method in ("dop853", "dormand_prince"):

        def whole(tolerance: float, method: str = method) -> Array:
            given = {"method": method, "rtol": tolerance, "atol": tolerance}
            found = simulate(system, float(times[-1]), q=problem.q, v=problem.v, output_step=times, **given)  # type: ignore[arg-type]
            return found.segments[0].q[1:, hinges]

        steppers: dict[float, Stepper] = {}

        def stepped(tolerance: float, method: str = method, steppers: dict[float, Stepper] = steppers) -> Array:
            if tolerance not in steppers:
                steppers[tolerance] = Stepper(system, method=method, rtol=tolerance, atol=tolerance)
            stepper = steppers[tolerance]
            stepper.restart(0.0, problem.q, problem.v)
            return stepper.through(times, float(times[-1])).rows[:, hinges]

        ways.append(Way("Kinemorph, simulate()", method, TOLERANCES, whole, "tolerance {:.0e}"))
        ways.append(Way("Kinemorph, Stepper", method, TOLERANCES, stepped, "tolerance {:.0e}"))
    return ways


# ── Pinocchio and SciPy ───────────────────────────────────────────────────────────────────────────────────────────────


def pinocchio_ways(problem: Problem) -> list[Way]:
    """Pinocchio's ABA in Python, under SciPy's two codes of DOP853; a quaternion is four numbers, scaled where read."""
    from kinemorph.bench.peers.robots import pinocchio

    pin = pinocchio()
    from scipy.integrate import ode, solve_ivp

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
        angles: Array = found.y.T[:, at]
        return angles

    def by_ode(tolerance: float) -> Array:
        code = ode(rate).set_integrator("dop853", rtol=tolerance, atol=tolerance, nsteps=10**6)
        code.set_initial_value(begun, 0.0)
        return np.array([code.integrate(t)[at] for t in times])

    name = "Pinocchio + SciPy"
    return [
        Way(name, "solve_ivp DOP853", TOLERANCES, by_solve_ivp, "tolerance {:.0e}"),
        Way(name, "ode dop853", TOLERANCES, by_ode, "tolerance {:.0e}"),
    ]


def angles_there(problem: Problem, steps: Sequence[Step]) -> list[int]:
    """The places of the hinges' angles in a peer's configuration, in our order."""
    places = {step.q: step.peer_q for step in steps}
    return [places[k] for k in problem.hinges]


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def mujoco_ways(problem: Problem) -> list[Way]:
    """MuJoCo's RK4, which takes steps of one size; all steps between two samples are one call."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "peers") from None
    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    twin = MujocoTwin(problem.robot)
    twin.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    at = angles_there(problem, twin.steps)
    spans = np.diff(problem.times, prepend=0.0)

    def run(step: float) -> Array:
        twin.model.opt.timestep = step
        twin.place(problem.q, problem.v)
        rows = []
        for span in spans:
            mujoco.mj_step(twin.model, twin.data, round(span / step))
            rows.append(twin.data.qpos[at].copy())
        return np.array(rows)

    settings = steps_per_second(100, 200, 300, 400, 500, 700, 1000, 2000, 4000)
    return [Way("MuJoCo", "RK4", settings, run, "step {:g} s")]


# ── Exudyn ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def exudyn_ways(problem: Problem) -> list[Way]:
    """Exudyn's kinematic tree in minimal coordinates, by its explicit solvers; for trees of hinges.

    Its own output is at its own steps, so only the end is compared, and nothing is stored on the way.
    """
    try:
        exudyn, items = import_module("exudyn"), import_module("exudyn.utilities")
    except ImportError:
        raise MissingExtraError("exudyn", "peers") from None
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
    turns = [_about_z(joint.axis) for joint in robot.joints]  # its hinges turn about z: link axes are turned so
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
        settings = exudyn.SimulationSettings()
        settings.solution.file.write = False
        settings.parallel.numberOfThreads = 1
        settings.timeIntegration.endTime = end
        settings.timeIntegration.verboseMode = 0
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
        Way("Exudyn", "DOPRI5", TOLERANCES, by(solvers.DOPRI5, adaptive=True), "tolerance {:.0e}", ends_only=True),
        Way("Exudyn", "RK67", sizes, by(solvers.RK67, adaptive=False), "step {:g} s", ends_only=True),
    ]


def _about_z(axis: Any) -> Array:
    """A rotation that takes z to the axis."""
    z = np.array(evaluate_all(axis), dtype=float)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
