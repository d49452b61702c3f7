"""Drake on the problems of `kinemorph bench rigid`: a discrete plant with its solver SAP, and point contact.

Bodies have two prismatic joints and a hinge. A point is a sphere of 10 µm, whose ground is lowered by its radius; the
top of a block is a box that is twice as wide. SAP rounds its contacts off: they are given a stiffness of 1e9 N/m and a
relaxation time of one step, and its near-rigid regime bounds the stiffness by the step size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import imported
from kinemorph.bench.rigid.problems import G, Problem
from kinemorph.bench.rigid.runs import Outcome, least

TINY, STIFFNESS = 1e-5, 1e9  # [m], [N/m]


def drake_run(problem: Problem, step: float, repeats: int) -> Outcome:
    """A run with a step size [s]."""
    analysis, framework = imported("pydrake.systems.analysis", "drake"), imported("pydrake.systems.framework", "drake")
    builder = framework.DiagramBuilder()
    plant = _plant(problem, step, builder)
    diagram = builder.Build()
    simulator = analysis.Simulator(diagram)
    context = simulator.get_mutable_context()
    own = plant.GetMyMutableContextFromRoot(context)

    def run() -> Array:
        context.SetTime(0.0)
        plant.SetPositions(own, problem.q)
        plant.SetVelocities(own, problem.v)
        simulator.Initialize()
        rows = []
        for t in problem.times:
            simulator.AdvanceTo(t)
            rows.append(plant.GetPositions(own).copy())
        return np.array(rows)

    return least(run, repeats)


def _plant(problem: Problem, step: float, builder: Any) -> Any:
    math, trees = imported("pydrake.math", "drake"), imported("pydrake.multibody.tree", "drake")
    plants, geometry = imported("pydrake.multibody.plant", "drake"), imported("pydrake.geometry", "drake")
    plant, scene = plants.AddMultibodyPlantSceneGraph(builder, step)
    plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
    plant.set_contact_model(plants.ContactModel.kPoint)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G])
    properties = geometry.ProximityProperties()
    friction = plants.CoulombFriction(problem.mu, problem.mu)
    geometry.AddContactMaterial(None, STIFFNESS, friction, properties)
    properties.AddProperty("material", "relaxation_time", step)
    pose = math.RigidTransform
    lowered = 0.0 if problem.points[0].radius else -TINY
    plant.RegisterCollisionGeometry(
        plant.world_body(), pose([0.0, 0.0, lowered]), geometry.HalfSpace(), "ground", properties
    )
    sets = {}
    for k, (mass, inertia) in enumerate(problem.bodies):
        hub = plant.AddRigidBody(f"x{k}", _nothing(trees))
        lift = plant.AddRigidBody(f"z{k}", _nothing(trees))
        moments = trees.UnitInertia(inertia / mass, inertia / mass, inertia / mass)
        body = plant.AddRigidBody(f"b{k}", trees.SpatialInertia(mass, [0.0, 0.0, 0.0], moments))
        world = plant.world_frame()
        plant.AddJoint(trees.PrismaticJoint(f"qx{k}", world, hub.body_frame(), [1.0, 0.0, 0.0]))
        plant.AddJoint(trees.PrismaticJoint(f"qz{k}", hub.body_frame(), lift.body_frame(), [0.0, 0.0, 1.0]))
        plant.AddJoint(trees.RevoluteJoint(f"qr{k}", lift.body_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
        points: list[Any] = []
        tops: list[Any] = []
        for n, point in enumerate(problem.points):
            if point.body == k:
                ball, at = geometry.Sphere(point.radius or TINY), pose([point.x, 0.0, point.z])
                points.append(plant.RegisterCollisionGeometry(body, at, ball, f"p{n}", properties))
            if point.on == k and not tops:
                box, at = geometry.Box(4.0 * point.top, 4.0 * point.top, point.top), 0.5 * point.top - TINY
                tops.append(plant.RegisterCollisionGeometry(body, pose([0.0, 0.0, at]), box, f"top{k}", properties))
        sets[k] = points, tops
    _apart(plant, scene, geometry, sets)
    plant.Finalize()
    return plant


def _nothing(trees: Any) -> Any:
    """The inertia of a body between two joints, which has hardly any mass."""
    return trees.SpatialInertia(1e-12, [0.0, 0.0, 0.0], trees.UnitInertia(1e-12, 1e-12, 1e-12))


def _apart(plant: Any, scene: Any, geometry: Any, sets: dict[int, tuple[list[Any], list[Any]]]) -> None:
    """Leaves only the contacts of the problem: points with the ground or with the top of the body below."""
    ground = plant.GetCollisionGeometriesForBody(plant.world_body())
    manager = scene.collision_filter_manager()
    declare = geometry.CollisionFilterDeclaration
    for k, (points, tops) in sets.items():
        for other, (foreign, _) in sets.items():
            if other != k:
                manager.Apply(declare().ExcludeBetween(_set(geometry, points), _set(geometry, foreign)))
            if tops and other != k + 1 and foreign:
                manager.Apply(declare().ExcludeBetween(_set(geometry, tops), _set(geometry, foreign)))
        for _, above in sets.values():
            if tops and above and above != tops:
                manager.Apply(declare().ExcludeBetween(_set(geometry, tops), _set(geometry, above)))
        barred = [*tops, *(points if k else [])]
        if barred:
            manager.Apply(declare().ExcludeBetween(_set(geometry, barred), _set(geometry, ground)))


def _set(geometry: Any, ids: list[Any]) -> Any:
    return geometry.GeometrySet(list(ids))
