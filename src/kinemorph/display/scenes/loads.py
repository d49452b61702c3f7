"""Forces and torques on a figure over time, and the arrows that show them.

Contact forces start at the contact point; torques of drives lie along the axes of their joints. All figures of a scene
share one scale for forces and one for torques, so that arrows can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.scenes.driven_joints import efforts_of
from kinemorph.display.scenes.figures import axis_of, fixed, joint_end, positions_of, turned
from kinemorph.display.scenes.marks import Showing
from kinemorph.display.scenes.sampled_columns import between_samples, course, nearest_sample
from kinemorph.display.scenes.scene import Attachment, Color, Figure, Layer, Mark
from kinemorph.mechanics.elements.contact.rim_grounds import rim_meeting
from kinemorph.mechanics.elements.contact.spheres import nearest
from kinemorph.mechanics.elements.contact.touching_points import touched_along
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.elements.forces.applied import AppliedWrench
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import Element
from kinemorph.simulation.results.trajectory import Trajectory

Kind = Literal["force", "torque"]
TYPICAL = 95.0  # percentile of the nonzero loads that sets the scale
LONGEST = 0.8  # longest arrow, as a fraction of the robot's extent
TINY = 1e-12  # a smaller load counts as zero [N or N m]


class KindRow(NamedTuple):
    """The layer, unit and color of a kind of loads; radius and typical length of its arrows as fractions of the robot's
    extent.
    """

    layer: Layer
    unit: str
    color: Color
    width: float
    length: float


KINDS: dict[Kind, KindRow] = {
    "force": KindRow("forces", "N", (0.85, 0.22, 0.18, 1.0), 0.012, 0.22),
    "torque": KindRow("torques", "N m", (0.16, 0.47, 0.72, 1.0), 0.008, 0.15),
}


@dataclass(frozen=True, eq=False)
class Load:
    """A force [N] or torque [N m] on a figure: `values` (n, 3) in world axes at all times of the scene.

    It acts at the point `start`, moved by `shifts` (n, 3) [m] in world axes, if given.
    """

    name: str
    kind: Kind
    start: Attachment
    values: Array
    shifts: Array | None = None


def loads_of(
    figure: Figure, elements: Sequence[Element], run: Trajectory | None = None, times: Array | None = None
) -> list[Load]:
    """The loads on a figure: loads of elements that have a row in LOADS, and the efforts of the drives of joints.

    `times` are those of the scene [s]. Without a run there are only applied wrenches, at time 0. Loads that are 0 at
    all times are left out.
    """
    showing = Showing(figure, run, np.zeros(len(figure.positions)) if times is None else times)
    rows = [(element, LOADS[type(element)]) for element in elements if type(element) in LOADS]
    found = [load for element, row in rows for load in row(element, showing)]
    if run is not None:
        found += _along_joints(figure, elements, run, showing.times)
    return [load for load in found if np.abs(load.values).max(initial=0.0) > TINY]


def arrows(figures: Sequence[Figure], loads: Sequence[Sequence[Load]]) -> tuple[list[list[Mark]], list[str]]:
    """(the arrows of each figure's loads, a sentence about the scale of each kind of loads).

    The size of the largest figure sets the scales.
    """
    size = max(figure.size for figure in figures)
    scales = {kind: _scale(kind, [one for some in loads for one in some if one.kind == kind], size) for kind in KINDS}
    marks = [[_arrow(load, scales[load.kind][0], size) for load in some] for some in loads]
    return marks, [note for _, note in scales.values() if note]


def _scale(kind: Kind, loads: Sequence[Load], size: float) -> tuple[float, str]:
    """(arrow length per unit of load [m], a sentence that states this scale); the scale is a round number.

    `size` [m] is the extent of the largest figure. Without loads it is (0, "").
    """
    sizes = np.concatenate([np.zeros(0), *(np.linalg.norm(load.values, axis=1) for load in loads)])
    sizes = sizes[np.isfinite(sizes) & (sizes > TINY)]
    if not len(sizes):
        return 0.0, ""
    row = KINDS[kind]
    typical = float(np.percentile(sizes, TYPICAL))
    length = 10.0 ** np.floor(np.log10(row.length * size))
    amount = round_number(typical * length / (row.length * size))
    per_unit = length / amount
    cut = f", cut at {LONGEST * size:.2g} m" if sizes.max() * per_unit > LONGEST * size else ""
    return per_unit, f"{kind} arrows: {length:g} m is {amount:g} {row.unit}{cut}"


def without_torques(notes: Sequence[str]) -> list[str]:
    """The notes without the one about torque arrows, for pictures: there these arrows are hidden."""
    return [note for note in notes if not note.startswith("torque arrows: ")]


def round_number(x: float) -> float:
    """The number nearest to x > 0 among 1, 2, 2.5 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(x))
    steps = power * np.array([1.0, 2.0, 2.5, 5.0, 10.0])
    return float(steps[np.argmin(np.abs(np.log(steps / x)))])


def _arrow(load: Load, scale: float, size: float) -> Mark:
    row = KINDS[load.kind]
    vectors = scale * np.nan_to_num(load.values)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors * np.minimum(1.0, LONGEST * size / np.maximum(lengths, TINY))
    return Mark(
        load.name,
        "arrow",
        row.color,
        row.width * size,
        load.start,
        vectors=vectors,
        layer=row.layer,
        shifts=load.shifts,
    )


# ── at points ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _touching_force(element: Element, run: Trajectory, times: Array) -> Array | None:
    """The force of a contact [N] at times [s], shape (n, 3), from the run's columns; None where it has none.

    It is 0 where the nearest sample has no contact.
    """
    names = [f"{element.name}.force_{axis}" for axis in "xyz"]
    touching = f"{element.name}.touching"
    if any(name not in run.columns for name in (*names, touching)):
        return None
    force = np.nan_to_num(np.stack([between_samples(run, name, times) for name in names], axis=-1))
    return np.where(nearest_sample(run, touching, times)[:, None] > 0.5, force, 0.0)


def _contact(contact: Contact, showing: Showing) -> Iterator[Load]:
    """The force of a contact at its touching point; where it has several, at their mean, weighted by the depths."""
    figure, run, times = showing
    force = None if run is None or times is None else _touching_force(contact, run, times)
    if force is None:
        return
    start = fixed(figure.robot, contact.body, contact.point)
    poses = _poses(figure, contact.body)
    carried = getattr(contact.ground, "on", "world") != "world"  # the normal turns with the body that carries it
    still = replace(contact, ground=Plane(), radius=0.0) if carried else contact
    places, depths = [], []
    for points, heights, _ in touched_along(still, poses):
        places.append(np.einsum("nij,nj->ni", poses[:, :3, :3], points) + poses[:, :3, 3])
        depths.append(np.maximum(-heights, 0.0) + TINY)
    weights = np.stack(depths) / np.sum(depths, axis=0)
    shifts = np.einsum("kn,knj->nj", weights, np.stack(places)) - positions_of(figure, start)
    yield Load(contact.name, "force", start, force, shifts if len(places) > 1 or np.abs(shifts).max() > TINY else None)


def _poses(figure: Figure, name: str) -> Array:
    """The poses (n, 4, 4) of a body or frame in the world, at all times of the scene."""
    origin = fixed(figure.robot, name)
    corner = positions_of(figure, origin)
    found = np.broadcast_to(np.eye(4), (len(corner), 4, 4)).copy()
    found[:, :3, 3] = corner
    for k, axis in enumerate(np.eye(3)):
        found[:, :3, k] = positions_of(figure, fixed(figure.robot, name, axis)) - corner
    return found


def _pair(pair: PairContact, showing: Showing) -> Iterator[Load]:
    """The forces of a pair contact on its two bodies, half-way between their surfaces."""
    figure, run, times = showing
    force = None if run is None or times is None else _touching_force(pair, run, times)
    if force is None:
        return
    axes = []
    for body, point, end in ((pair.body_a, pair.point_a, pair.end_a), (pair.body_b, pair.point_b, pair.end_b)):
        held_at = [fixed(figure.robot, body, one) for one in (point, end) if one is not None]
        axes.append([positions_of(figure, one).T for one in held_at])
    on_a, on_b = (np.stack(list(spot), axis=-1) for spot in nearest(*axes)[:2])
    apart = on_a - on_b
    out = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), TINY)
    radius_a, radius_b = float(evaluate(pair.radius_a)), float(evaluate(pair.radius_b))
    touch = 0.5 * (on_a + on_b - (radius_a - radius_b) * out)
    for body, point, sign in ((pair.body_a, pair.point_a, 1.0), (pair.body_b, pair.point_b, -1.0)):
        if body != "world":
            start = fixed(figure.robot, body, point)
            shifts = touch - positions_of(figure, start)
            yield Load(f"{pair.name} on {body}", "force", start, sign * force, shifts)


def _tire(tire: Tire, showing: Showing) -> Iterator[Load]:
    """The force of a tire at its deepest point: the load along the ground's normal, the others forward and left."""
    figure, run, times = showing
    names = [f"{tire.name}.{part}" for part in ("longitudinal", "lateral", "load")]
    if run is None or times is None or any(name not in run.columns for name in names):
        return
    x_force, y_force, z_force = (np.nan_to_num(between_samples(run, name, times))[:, None] for name in names)
    start, origin = fixed(figure.robot, tire.body, tire.center), fixed(figure.robot, tire.body)
    tip = fixed(figure.robot, tire.body, tire.axis)
    along = np.array(tip.point) - np.array(origin.point)
    axis = turned(figure, origin.owner, along / np.linalg.norm(along))
    radius, crown = float(evaluate(tire.radius)), float(evaluate(tire.crown))
    place = [*positions_of(figure, start).T]
    meeting = rim_meeting(tire.ground, place, [*np.broadcast_to(axis, (len(times), 3)).T], radius - crown)
    deepest, up = (
        np.stack(np.broadcast_arrays(*parts, place[0])[:3], axis=-1) for parts in (meeting.way, meeting.normal)
    )
    across = np.cross(axis, up)
    x = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), TINY)
    force = x_force * x + y_force * np.cross(up, x) + z_force * up
    yield Load(tire.name, "force", start, force, (radius - crown) * deepest - crown * up)


def _wrench(wrench: AppliedWrench, showing: Showing) -> Iterator[Load]:
    figure, _, times = showing
    assert times is not None
    start, origin = fixed(figure.robot, wrench.body, wrench.point), fixed(figure.robot, wrench.body)
    columns = np.array([fixed(figure.robot, wrench.body, e).point for e in np.eye(3)]) - np.array(origin.point)
    kinds: tuple[tuple[str, Kind], ...] = (("force", "force"), ("moment", "torque"))
    for what, kind in kinds:
        values = course(wrench, what, 3, times)
        if wrench.axes == "body":  # from frame axes to body axes, then to world axes
            values = turned(figure, origin.owner, values @ columns)
        yield Load(f"{wrench.name} {what}", kind, start, values)


LOADS: dict[type[Any], Callable[[Any, Showing], Iterator[Load]]] = {
    Contact: _contact,
    PairContact: _pair,
    Tire: _tire,
    AppliedWrench: _wrench,
}


# ── along joints ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _along_joints(figure: Figure, elements: Sequence[Element], run: Trajectory, times: Any) -> Iterator[Load]:
    """The total effort of the drives of each joint: a torque about its axis, or a force along a prismatic axis."""
    for name, effort in efforts_of(figure.robot, elements, run, times).items():
        if not np.nan_to_num(effort).any():
            continue
        joint = figure.robot.joint(name)
        kind: Kind = "force" if joint.kind == "prismatic" else "torque"
        values = np.nan_to_num(effort)[:, None] * axis_of(figure, joint)
        yield Load(f"{name} drive", kind, joint_end(figure.robot, joint), values)
