"""Elements between two points, as marks: springs, dampers, ropes, rods, legs.

Each kind of element that is drawn has a row in SPANS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.scenes.figures import fixed, joint_end, positions_of, turned
from kinemorph.display.scenes.sampled_columns import held
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Color, Figure, Look, Mark
from kinemorph.model.elements.constraints.guides import DistanceConstraint
from kinemorph.model.elements.forces.bushings import Bushing
from kinemorph.model.elements.forces.joint_forces import TorsionSpring
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.elements.forces.pulls import Pull
from kinemorph.model.elements.forces.springs import Bumper, Damper, Rope, Spring
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.system import Element
from kinemorph.simulation.results.trajectory import Trajectory

# radii as fractions of the robot's extent
COIL, PISTON, CORD = 0.022, 0.016, 0.012
BOLT = 0.01
SHORTEST = 0.08  # shortest drawn spring along a prismatic joint, as a fraction of the robot's extent
SPRING_COLOR: Color = (0.35, 0.45, 0.55, 1.0)
LEG_COLOR: Color = (0.80, 0.42, 0.10, 1.0)
DAMPER_COLOR: Color = (0.25, 0.28, 0.33, 1.0)
ROPE_COLOR: Color = (0.72, 0.56, 0.34, 1.0)
RUBBER_COLOR: Color = (0.20, 0.20, 0.22, 1.0)


class Showing(NamedTuple):
    """The figure on which elements are drawn, and the run and times [s] that it shows, if any."""

    figure: Figure
    run: Trajectory | None = None
    times: Array | None = None


def marks_of(
    figure: Figure, elements: Sequence[Element], run: Trajectory | None = None, times: Array | None = None
) -> list[Mark]:
    """The marks of elements on a figure; with a run and the times [s] of the scene, spring legs show their stance."""
    showing = Showing(figure, run, times)
    rows = [(element, SPANS[type(element)]) for element in elements if type(element) in SPANS]
    spans = [mark for element, row in rows for mark in row(element, showing)]
    return spans + [_bolt(mark.name, end, figure.size) for mark in spans for end in _on_ground(mark)]


def _on_ground(mark: Mark) -> list[Attachment]:
    ends = [mark.start] if mark.end is None or mark.end == mark.start else [mark.start, mark.end]
    return [end for end in ends if end.owner == WORLD_OWNER]


def _bolt(name: str, at: Attachment, size: float) -> Mark:
    """A ball that shows where an element is fixed to the ground."""
    return Mark(f"{name} bolt", "ball", DAMPER_COLOR, BOLT * size, at, at)


def _between(look: Look, color: Color, width: float) -> Callable[[Any, Showing], Iterator[Mark]]:
    """A function for SPANS that makes the mark of an element between a point of one body and a point of another.

    `width` is the radius of the mark as a fraction of the robot's extent.
    """

    def marks(element: Any, showing: Showing) -> Iterator[Mark]:
        robot, size = showing.figure.robot, showing.figure.size
        start = fixed(robot, element.body_a, element.point_a)
        yield Mark(element.name, look, color, width * size, start, fixed(robot, element.body_b, element.point_b))

    return marks


def _spring(spring: Spring, showing: Showing) -> Iterator[Mark]:
    """A coil spring, with a damper inside it where the spring has damping."""
    yield from _between("spring", SPRING_COLOR, COIL)(spring, showing)
    if float(evaluate(spring.damping)) > 0.0:
        yield from _between("damper", DAMPER_COLOR, 0.45 * COIL)(spring, showing)


def _bushing(bushing: Bushing, showing: Showing) -> Iterator[Mark]:
    """A rubber block between the origins of a bushing's two frames, with a ball at the end, as the origins coincide
    at rest.
    """
    robot, size = showing.figure.robot, showing.figure.size
    start = fixed(robot, bushing.body_a, evaluate_all(bushing.placement_a).p)
    end = fixed(robot, bushing.body_b, evaluate_all(bushing.placement_b).p)
    yield Mark(bushing.name, "rod", RUBBER_COLOR, COIL * size, start, end)
    yield Mark(bushing.name, "ball", RUBBER_COLOR, COIL * size, end, end)


def _leg(leg: SpringLeg, showing: Showing) -> Iterator[Mark]:
    """A coil spring from hip to foot: in flight along the leg's direction, in stance to the foot's position on the
    ground.
    """
    figure, run, times = showing
    hip = fixed(figure.robot, leg.body, leg.point)
    direction = np.array(evaluate_all(leg.direction), dtype=float)
    flight = float(evaluate(leg.length)) * direction / np.linalg.norm(direction)
    vectors = np.repeat(flight[None], len(figure.positions), axis=0)
    names = [f"m.{leg.name}.{part}" for part in ("stance", "foot_x", "foot_y", "foot_z")]
    if run is not None and times is not None and all(name in run.columns for name in names):
        stands, *foot = (held(run, name, times) for name in names)
        vectors = np.where(stands[:, None] > 0.5, np.stack(foot, axis=-1) - positions_of(figure, hip), vectors)
    yield Mark(leg.name, "spring", LEG_COLOR, COIL * figure.size, hip, vectors=vectors)


def _pull(pull: Pull, showing: Showing) -> Iterator[Mark]:
    """A cord from the point that is pulled to the target, at the times of a run at which the share is above 0.

    A pull that can act on any body has a cord for each body that it acts on during the run.
    """
    figure, run, times = showing
    needed = [f"u.{pull.name}.{part}" for part in ("x", "y", "z", "share")]
    if run is None or times is None or any(name not in run.columns for name in needed):
        return
    *target, share = (held(run, name, times) for name in needed)
    grip = [f"u.{pull.name}.{part}" for part in ("body", "point_x", "point_y", "point_z")]
    pulls, moved = share > 0.0, np.zeros((len(times), 3))
    bodies = [(pull.body, pulls)]
    if not pull.body:
        number, *point = (held(run, name, times) for name in grip)
        moved, names = np.stack(point, axis=-1), figure.robot.body_names
        bodies = [(name, pulls & (np.abs(number - k) < 0.5)) for k, name in enumerate(names)]
    for body, here in bodies:
        if not here.any():
            continue
        start = fixed(figure.robot, body, pull.point)
        shifts = turned(figure, start.owner, moved)
        vectors = np.where(here[:, None], np.stack(target, axis=-1) - positions_of(figure, start) - shifts, 0.0)
        yield Mark(pull.name, "rope", LEG_COLOR, CORD * figure.size, start, vectors=vectors, shifts=shifts)


def _slide_spring(spring: TorsionSpring, showing: Showing) -> Iterator[Mark]:
    """For a spring in a prismatic joint, a coil along the joint axis to the child body; else nothing.

    It starts so far behind the lowest joint position that its length never becomes zero or negative.
    """
    figure = showing.figure
    joint = figure.robot.axis_places[spring.joint].joint
    if joint.kind != "prismatic":
        return
    lowest = float(figure.q[:, figure.robot.q_slice(joint.name)].min())
    T = evaluate_all(joint.placement)
    along = np.array(T.R, dtype=float) @ np.array(joint.axis, dtype=float)
    behind = np.array(T.p, dtype=float) + (min(lowest, 0.0) - SHORTEST * figure.size) * along
    x, y, z = (float(value) for value in behind)
    parent = fixed(figure.robot, joint.parent)
    start = Attachment(parent.owner, (x, y, z))
    yield Mark(spring.name, "spring", SPRING_COLOR, COIL * figure.size, start, joint_end(figure.robot, joint))


SPANS: dict[type[Any], Callable[[Any, Showing], Iterator[Mark]]] = {
    Spring: _spring,
    Damper: _between("damper", DAMPER_COLOR, PISTON),
    Rope: _between("rope", ROPE_COLOR, CORD),
    Bumper: _between("spring", RUBBER_COLOR, COIL),
    Bushing: _bushing,
    DistanceConstraint: _between("rod", DAMPER_COLOR, BOLT),
    SpringLeg: _leg,
    Pull: _pull,
    TorsionSpring: _slide_spring,
}
