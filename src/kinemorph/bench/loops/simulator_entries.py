"""The entries of MuJoCo, Drake and Exudyn for the four-bar, with its loop modeled as their manuals advise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import STEP, Entry, by_mujoco, exudyn_settings, imported
from kinemorph.bench.loops.entries import of_tree, start_angles
from kinemorph.bench.loops.four_bar_motion import (
    DURATION,
    L0,
    L1,
    L2,
    L3,
    M1,
    M2,
    M3,
    SAMPLES,
    START,
    TIMES,
    WEIGHT,
    Motion,
    assembled,
)
from kinemorph.model.library.linkages import four_bar

STIFF = 0.99999  # the largest impedance (solimp) of MuJoCo's loop constraint that is used


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def mujoco_entries() -> list[Entry]:
    """MuJoCo's entries: the loop is a `connect` constraint between two sites.

    It has default values, or is as stiff as MuJoCo allows (solref of two steps).
    """
    mujoco = imported("mujoco", "mujoco")
    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    def fitted(spec: Any) -> None:
        for body, name, length in (("coupler", "a", L2), ("rocker", "b", L3)):
            spec.body(body).add_site(name=name, pos=[length, 0.0, 0.0])
        site = mujoco.mjtObj.mjOBJ_SITE
        spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=site, name1="a", name2="b")

    def entry(name: str, stiff: bool) -> Entry:
        twin = MujocoTwin(four_bar(), fitted)
        twin.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{name.upper()}")

        def prepare(step: float) -> None:
            if stiff:
                twin.model.eq_solref[0] = 2.0 * step, 1.0
                twin.model.eq_solimp[0, :2] = STIFF

        run = by_mujoco(twin, TIMES, start_angles(), np.zeros(3), prepare)
        method = f"{name}, {'stiff' if stiff else 'default'}"
        return Entry("MuJoCo", method, (0.002, 0.001, 0.0005), STEP, run, of_tree)

    return [entry(name, stiff) for stiff in (False, True) for name in ("Euler", "RK4")]


# ── Drake ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def drake_entries() -> list[Entry]:
    """Drake's entry: the loop is a ball constraint in a discrete plant with SAP, the only plants that allow loops."""
    plants, trees = imported("pydrake.multibody.plant", "drake"), imported("pydrake.multibody.tree", "drake")
    analysis, math = imported("pydrake.systems.analysis", "drake"), imported("pydrake.math", "drake")
    made: dict[float, tuple[Any, Any]] = {}

    def simulator(step: float) -> tuple[Any, Any]:
        system = plants.MultibodyPlant(step)
        system.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
        bodies = []
        for name, mass, length in (("crank", M1, L1), ("coupler", M2, L2), ("rocker", M3, L3)):
            about_end = trees.UnitInertia(1e-9, length**2 / 3.0, length**2 / 3.0)
            inertia = trees.SpatialInertia(mass, [0.5 * length, 0.0, 0.0], about_end)
            bodies.append(system.AddRigidBody(name, inertia))
        crank, coupler, rocker = bodies
        world = system.world_body()
        for parent, x, child in ((world, 0.0, crank), (crank, L1, coupler), (world, L0, rocker)):
            at = trees.FixedOffsetFrame(
                f"{child.name()}_pivot", parent.body_frame(), math.RigidTransform([x, 0.0, 0.0])
            )
            frame = system.AddFrame(at)
            system.AddJoint(trees.RevoluteJoint(f"{child.name()}_q", frame, child.body_frame(), [0.0, -1.0, 0.0]))
        system.AddBallConstraint(coupler, [L2, 0.0, 0.0], rocker, [L3, 0.0, 0.0])
        system.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -WEIGHT])
        system.Finalize()
        return system, analysis.Simulator(system)

    def run(step: float) -> Array:
        if step not in made:
            made[step] = simulator(step)
        system, running = made[step]
        context = running.get_mutable_context()
        context.SetTime(0.0)
        system.SetPositions(context, start_angles())
        system.SetVelocities(context, np.zeros(3))
        running.Initialize()
        rows = []
        for t in TIMES:
            running.AdvanceTo(t)
            rows.append(system.GetPositions(context).copy())
        return np.array(rows)

    return [Entry("Drake", "SAP, ball constraint", (0.002, 0.001), STEP, run, of_tree)]


# ── Exudyn ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def exudyn_entries() -> list[Entry]:
    """Exudyn's entries: three rigid bodies and four hinges in the plane, with implicit solvers.

    Its explicit solvers do not accept hinges. The gap is the largest gap of the four hinges, as all are constraints.
    """
    exudyn, items = imported("exudyn", "exudyn"), imported("exudyn.utilities", "exudyn")
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    coupler, rocker = assembled(START)
    ends = ((0.0, 0.0, START), (L1 * np.cos(START), L1 * np.sin(START), coupler), (L0, 0.0, rocker))
    lengths, masses = (L1, L2, L3), (M1, M2, M3)
    middles = [
        (x + 0.5 * l * np.cos(a), y + 0.5 * l * np.sin(a), a) for (x, y, a), l in zip(ends, lengths, strict=True)
    ]
    bodies, sensors = [system.AddObject(items.ObjectGround())], []
    for middle, mass, length in zip(middles, masses, lengths, strict=True):
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(middle)))
        body = items.ObjectRigidBody2D(mass=mass, inertia=mass * length**2 / 12.0, nodeNumber=node)
        bodies.append(system.AddObject(body))
        heavy = system.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[-1]))
        system.AddLoad(items.LoadMassProportional(markerNumber=heavy, loadVector=[0.0, -WEIGHT, 0.0]))
        kind = exudyn.OutputVariableType.Coordinates
        sensors.append(system.AddSensor(items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind)))

    def marker(body: int, x: float) -> Any:
        return system.AddMarker(items.MarkerBodyRigid(bodyNumber=bodies[body], localPosition=[x, 0.0, 0.0]))

    for first, x1, second, x2 in HINGES:
        pair = [marker(first, x1), marker(second, x2)]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=pair))
    system.Assemble()

    def by(*, second_index: bool) -> Callable[[float], list[Array]]:
        settings = exudyn_settings(exudyn, DURATION)
        settings.solution.sensors.writePeriod = DURATION / SAMPLES
        own = settings.timeIntegration
        own.newton.useModifiedNewton = True
        own.newton.relativeTolerance = 1e-10
        own.generalizedAlpha.useIndex2Constraints = own.generalizedAlpha.useNewmark = second_index
        own.generalizedAlpha.spectralRadius = 0.9

        def run(step: float) -> list[Array]:
            own.numberOfSteps = round(DURATION / step)
            system.SolveDynamic(settings, updateInitialValues=False, showHints=False)
            return [system.GetSensorStoredData(sensor)[1:, 1:] for sensor in sensors]

        return run

    def read(moved: list[Array]) -> Motion:
        poses = [np.zeros((len(TIMES), 3))] + [m + np.array(c) for m, c in zip(moved, middles, strict=True)]

        def at(body: int, x: float) -> Array:
            place, angle = poses[body][:, :2], poses[body][:, 2]
            point: Array = place + x * np.column_stack([np.cos(angle), np.sin(angle)])
            return point

        gaps = [np.linalg.norm(at(a, x) - at(b, y), axis=1) for a, x, b, y in HINGES]
        return Motion(poses[1][:, 2], np.max(gaps, axis=0))

    steps = (0.005, 0.002, 0.001, 0.0005)
    return [
        Entry("Exudyn", "generalized alpha, index 3", steps, STEP, by(second_index=False), read),
        Entry("Exudyn", "Newmark, index 2", steps, STEP, by(second_index=True), read),
    ]


# bodies (0 is the ground) and positions of the hinge on them [m], from their middles
HINGES = (
    (0, 0.0, 1, -0.5 * L1),
    (1, 0.5 * L1, 2, -0.5 * L2),
    (0, L0, 3, -0.5 * L3),
    (2, 0.5 * L2, 3, 0.5 * L3),
)
