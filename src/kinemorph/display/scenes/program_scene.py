"""Scenes for programs: the shapes of a robot go into its program, which writes files for EasyDyn's viewer itself.

    job = with_scene(make_job(robot, 5.0, q=[0.5, 0.2]))

Nodes, edges and sides are those of `animate(run, "x.van")`. No motion is known when a program is written: slopes and
terrains, which are drawn around the motion of a run, are drawn around the initial state here, and a spring in a slide
begins behind the initial position instead of the lowest one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.easyanim import EDGE_COLOR, Geometry, checked_geometry
from kinemorph.display.scenes.scene import Attachment, Mark
from kinemorph.errors import UnsupportedError
from kinemorph.model.system import System
from kinemorph.programs.drawing import WORLD_CARRIER, Drawing, FixedPoint, Span
from kinemorph.programs.job import Job
from kinemorph.simulation.results.segment import robot_with


def with_scene(job: Job, *, meshes: bool = False) -> Job:
    """The job with the shapes of its robot, so that its program has the option --van, which writes scenes.

    Shapes are boxes around them; with `meshes` they have all their corners, and the files are often 20 times as large.

    Raises UnsupportedError for equations of one's own, which have no shapes, and for robots without shapes.
    Warns of meshes that cannot be shown.
    """
    robot = robot_with(job.plant, job.first.p)
    if robot is None:
        raise UnsupportedError(
            f"scene: '{job.plant.name}' has no robot, and so no shapes to draw. Leave the scene out, or give a model "
            "with a robot."
        )
    system, q = System(robot, job.plant.elements), np.array(job.first.state.q, dtype=float)
    scene = scene_of(system, q=q[None], times=[job.times[0]], columns=(), z_up=True)
    return replace(job, drawing=_drawing(checked_geometry(scene, 1, meshes), job))


def _drawing(geometry: Geometry, job: Job) -> Drawing:
    """The drawing of a scene of one robot."""
    (moving,) = geometry.figures
    bodies = moving.figure.bodies
    carriers = [WORLD_CARRIER for _ in geometry.grounds] + [part.owner for part in moving.parts]
    carriers += [len(bodies) + k for k in range(len(moving.marks))]
    pairs = zip(carriers, geometry.solids, strict=True)
    return Drawing(
        title=geometry.title,
        bodies=bodies,
        spans=tuple(_span(mark, job) for mark in moving.marks),
        nodes=tuple((carrier, *row) for carrier, solid in pairs for row in solid.points.tolist()),
        edges=tuple((a, b, EDGE_COLOR) for a, b in geometry.edges),
        sides=geometry.sides,
    )


def _span(mark: Mark, job: Job) -> Span:
    """The span of a mark. A mark without an end is a leg, whose memory says where it stands."""
    end = None if mark.end is None else _point(mark.end)
    standing = mark.name if f"{mark.name}.stance" in {column.name for column in job.plant.m} else ""
    x, y, z = (0.0, 0.0, 0.0) if mark.vectors is None else mark.vectors[0].tolist()
    return Span(_point(mark.start), end, mark.width, mark.look == "ball", (x, y, z), standing if end is None else "")


def _point(at: Attachment) -> FixedPoint:
    return FixedPoint(at.owner, at.point)  # WORLD_OWNER and WORLD_CARRIER are the same number
