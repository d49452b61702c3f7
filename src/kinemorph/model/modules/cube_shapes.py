"""The shapes of a cubic module: a body with docking plates, with dots on its sides as on a dice cube.

The sides are numbered as in modular robots of the SYMBRION and REPLICATOR projects: 3 is +x, 4 is -x, 5 is +y, 2 is -y,
1 is +z and 6 is -z, so that opposite sides add up to 7. Sides 2, 3, 4 and 5 have docking plates by default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from kinemorph.algebra.groups import IDENTITY, Pose, compose
from kinemorph.errors import ModelError
from kinemorph.model.parameter import Value
from kinemorph.model.shapes import GRAPHITE, ORANGE, STEEL, Box, Color, Cylinder, Shape

Rotation = tuple[tuple[float, float, float], ...]

# rotations that turn z to the normal of a side, and y upward for sides 2 to 5
SIDES: dict[int, Rotation] = {
    1: IDENTITY.R,
    2: ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
    3: ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    4: ((0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    5: ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    6: ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)),
}
_DIAGONAL, _OTHER = ((-1, 1), (1, -1)), ((-1, -1), (1, 1))
PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: _DIAGONAL,
    3: (*_DIAGONAL, (0, 0)),
    4: (*_DIAGONAL, *_OTHER),
    5: (*_DIAGONAL, *_OTHER, (0, 0)),
    6: (*_DIAGONAL, *_OTHER, (-1, 0), (1, 0)),
}
# sizes relative to the edge: half the body, and the distances of the outer faces of plates and dots from the middle
BODY, PLATE, TOP = 0.46, 0.49, 0.5
PLATE_RADIUS, PIP_RADIUS, PIP_SPACING = 0.33, 0.045, 0.15
# the halves of a bending module, also relative to the edge: inner face of the block, radius of the hinge drum
INNER, DRUM_RADIUS = 0.12, 0.34
FRONT = 3  # the side whose plate is orange
SILVER: Color = (0.80, 0.83, 0.87)
IVORY: Color = (0.96, 0.95, 0.91)
MARKS = (GRAPHITE, ORANGE, IVORY)  # of plates, drums and dots: the same on all modules
TINTS: tuple[Color, ...] = ((1.0, 1.0, 1.0), (0.72, 0.93, 0.80), (1.0, 0.80, 0.84), (0.74, 0.86, 1.0))


def tinted(color: Color, tint: Color) -> Color:
    """The color of a shape on a module with a tint; marks, and shapes without a color of their own, have no tint."""
    if color[:3] in (*(mark[:3] for mark in MARKS), STEEL):
        return color
    return (*(x * share for x, share in zip(color, tint, strict=False)), *color[3:])


def module_cube(
    edge: Value,
    *,
    color: Color = SILVER,
    ports: Collection[int] = (2, 3, 4, 5),
    front: int | None = FRONT,
    pips: bool = True,
) -> tuple[Shape, ...]:
    """The shapes of a cubic module with edge length `edge` [m], in the frame at its middle.

    The sides in `ports` have docking plates, which touch those of a module beside it; the plate of side `front` is
    orange. `pips` draws the number of each side as dots.
    """
    unknown = [side for side in (*ports, *(() if front is None else (front,))) if side not in SIDES]
    if unknown:
        raise ModelError(f"a module cube has no side {unknown[0]!r}; expected numbers from 1 to 6.")
    body = 2.0 * BODY * edge
    shapes: list[Shape] = [Box((body, body, body), color=color)]
    for side in SIDES:
        docks = side in ports
        if docks:
            shapes.append(_disk(side, PLATE_RADIUS, (BODY, PLATE), edge, ORANGE if side == front else GRAPHITE))
        if pips:
            shapes += _pips(side, edge, docks, IVORY if docks else GRAPHITE)
    return tuple(shapes)


def half_cube(edge: Value, toward: float, ports: Collection[int], *, color: Color = SILVER) -> tuple[Shape, ...]:
    """The shapes of one half of a module that bends about y, with the docking plates of its `ports`.

    `toward` is 1.0 for the half at +x and -1.0 for the half at -x, which includes the drum of the hinge. Between drum
    and block there is room to bend.
    """
    length, width = BODY - INNER, 2.0 * BODY
    middle = toward * (INNER + 0.5 * length) * edge
    block = Box((length * edge, width * edge, width * edge), Pose(IDENTITY.R, (middle, 0.0, 0.0)), color)
    shapes: list[Shape] = [block]
    if toward < 0.0:
        shapes.append(Cylinder(DRUM_RADIUS * edge, width * edge, Pose(SIDES[5], (0.0, 0.0, 0.0)), GRAPHITE))
    for side in ports:
        shapes += plate_of(side, edge, color=ORANGE if side == FRONT else GRAPHITE)
    return tuple(shapes)


def plate_of(side: int, edge: Value, reach: Value | None = None, *, color: Color = ORANGE) -> tuple[Shape, ...]:
    """The docking plate of a side, with dots; its face is `reach` [m] (by default half the edge) from the middle."""
    plate = (_disk(side, PLATE_RADIUS, (BODY, PLATE), edge, color), *_pips(side, edge, True, IVORY))
    if reach is None:
        return plate
    R, out = SIDES[side], reach - TOP * edge
    shift = Pose(IDENTITY.R, (R[0][2] * out, R[1][2] * out, R[2][2] * out))
    return tuple(replace(shape, placement=compose(shift, shape.placement)) for shape in plate)


def _pips(side: int, edge: Value, docks: bool, color: Color) -> Iterator[Shape]:
    heights = (PLATE, TOP) if docks else (BODY, BODY + TOP - PLATE)
    for x, y in PIPS[side]:
        yield _disk(side, PIP_RADIUS, heights, edge, color, (PIP_SPACING * x, PIP_SPACING * y))


def _disk(
    side: int,
    radius: float,
    heights: tuple[float, float],
    edge: Value,
    color: Color,
    at: tuple[float, float] = (0.0, 0.0),
) -> Shape:
    """A disk parallel to a side of a cube; all numbers except `edge` [m] are in units of the edge length.

    `heights` are the distances of its two faces from the middle of the cube, `at` is its center (x, y) on the side.
    """
    R, (low, high) = SIDES[side], heights
    local = (*at, 0.5 * (low + high))
    x, y, z = (sum(a * b for a, b in zip(row, local, strict=True)) * edge for row in R)
    return Cylinder(radius * edge, (high - low) * edge, Pose(R, (x, y, z)), color)
