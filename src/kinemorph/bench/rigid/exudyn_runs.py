"""Exudyn on the problems of `kinemorph bench rigid`: its general contact, of springs, dampers and regularized friction.

Bodies are free in space and stay in the plane. A point is a sphere of 1 mm, whose ground is lowered by its radius. The
stiffness is 1 / step^2 [N/m] for bodies of 1 kg, with critical damping, and friction is proportional to the slip below
`step` [m/s], so that all of them become stiffer with smaller steps. The implicit solver is generalized alpha.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from kinemorph.bench.contestants import exudyn_settings, imported
from kinemorph.bench.rigid.problems import SAMPLES, G, Problem
from kinemorph.bench.rigid.runs import Outcome

SMALL, WIDE = 1e-3, 20.0  # [m]: the radius of points, the half width of the ground


def exudyn_run(problem: Problem, step: float, repeats: int) -> Outcome:
    """A run of one body with a step size [s]."""
    exudyn, items = imported("exudyn", "exudyn"), imported("exudyn.utilities", "exudyn")
    taken = []
    for _ in range(repeats):
        container = exudyn.SystemContainer()
        system = container.AddSystem()
        sensors = _model(problem, step, exudyn, items, system)
        settings = exudyn_settings(exudyn, problem.end)
        settings.solution.sensors.writePeriod = problem.end / SAMPLES
        settings.timeIntegration.numberOfSteps = round(problem.end / step)
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.5
        began = time.process_time()
        try:
            system.SolveDynamic(settings, showHints=False)
        except (exudyn.SolverError, ValueError):  # its Newton iteration did not converge
            return Outcome(np.full((SAMPLES, 3), np.nan), time.process_time() - began)
        taken.append(time.process_time() - began)
    place, turn = (system.GetSensorStoredData(sensor)[-SAMPLES:, 1:] for sensor in sensors)
    pitch = np.arctan2(turn[:, 2], turn[:, 0])
    return Outcome(np.stack([place[:, 0], place[:, 2], pitch], axis=1), min(taken))


def _model(problem: Problem, step: float, exudyn: Any, items: Any, system: Any) -> list[Any]:
    """Adds the bodies and contacts; returns the sensors of position and rotation of the body."""
    ((mass, inertia),) = problem.bodies
    x, z, pitch = problem.q
    stiffness, damping = mass / step**2, 2.0 * mass / step
    contact = system.AddGeneralContact()
    contact.SetFrictionPairings(problem.mu * np.eye(1))
    contact.frictionProportionalZone = step
    c, s = math.cos(pitch), math.sin(pitch)
    turned = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    body = system.CreateRigidBody(
        inertia=items.RigidBodyInertia(mass=mass, inertiaTensor=inertia * np.eye(3)),
        nodeType=exudyn.NodeType.RotationRotationVector,
        referencePosition=[x, 0.0, z],
        referenceRotationMatrix=turned,
        initialVelocity=[problem.v[0], 0.0, problem.v[1]],
        initialAngularVelocity=[0.0, problem.v[2], 0.0],
        gravity=[0.0, 0.0, -G],
    )
    for point in problem.points:
        at = items.MarkerBodyRigid(bodyNumber=body, localPosition=[point.x, 0.0, point.z])
        contact.AddSphereWithMarker(system.AddMarker(at), point.radius or SMALL, stiffness, damping, 0)
    lowered = 0.0 if problem.points[0].radius else -SMALL
    ground = system.AddObject(items.ObjectGround())
    base = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[0.0, 0.0, lowered]))
    corners = [[a * WIDE, b * WIDE, 0.0] for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    contact.AddTrianglesRigidBodyBased(
        base, stiffness, damping, 0, pointList=corners, triangleList=[[0, 1, 2], [0, 2, 3]]
    )
    contact.SetSearchTreeCellSize([2, 2, 2])
    node = system.GetObject(body)["nodeNumber"]
    kinds = exudyn.OutputVariableType
    sensors = [
        system.AddSensor(items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))
        for kind in (kinds.Position, kinds.RotationMatrix)
    ]
    system.Assemble()
    return sensors
