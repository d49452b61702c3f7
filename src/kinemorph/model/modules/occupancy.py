"""Modules in space: which of them overlap, and which rings do not close.

A module fills a box about its middle, in the initial configuration; one whose ports are not square on the faces of that
box, as those of a tetrahedron, the ball that touches the plane of its nearest port. Two boxes overlap where no axis
parts them: one of the three edges of either, or one across an edge of both (separating axes). Neighbors are looked for
in cells as large as the largest box, so that many modules cost little more each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, extent, inverse

if TYPE_CHECKING:
    from kinemorph.model.modules.assembly import Assembly
    from kinemorph.model.modules.module_types import ModuleType

Poses = Mapping[str, Pose]
CLOSE = 1e-6  # [m] and [rad]: how well a ring has to close that nobody measured
MISPLACED = 0.01  # of the pitch, and [rad]: how far places of docked modules may be from each other's
TOUCH, LOOSE = 1e-3, 0.2  # of the smaller box: what is less deep counts as touching; where poses were measured


def spatial_problems(assembly: Assembly) -> list[str]:
    """What is wrong with an assembly in space, one sentence each."""
    poses = assembly.poses()
    return _ring_problems(assembly, poses) or _place_problems(assembly, poses) or _overlap_problems(assembly, poses)


def _ring_problems(assembly: Assembly, poses: Poses) -> list[str]:
    """Rings of modules whose last docking does not fit."""
    if assembly.is_tree:
        return []
    found = []
    for organism in assembly.organisms:
        for chord in assembly.tree(organism[0]).chords:
            H_ab = compose(inverse(poses[chord.parent]), poses[chord.child])
            apart, turned = extent(compose(inverse(assembly.dyad_pose(chord.name)), H_ab))
            if max(apart, turned) > CLOSE:
                found.append(
                    f"assembly '{assembly.name}': the docking of '{chord.parent}' with '{chord.child}' "
                    f"({chord.name}) closes a ring that is open by {apart:.3g} m and {turned:.3g} rad. "
                    "Choose other sides, or leave it out."
                )
    return found


def _place_problems(assembly: Assembly, poses: Poses) -> list[str]:
    """Modules that are said to stand where those that they are docked to do not let them."""
    found = []
    for module in assembly.modules:
        if module.at is None:
            continue
        apart, turned = extent(compose(inverse(poses[module.name]), module.at))
        if apart > MISPLACED * float(module.type.pitch) or turned > MISPLACED:
            said, there = (", ".join(f"{float(x):.4g}" for x in pose.p) for pose in (module.at, poses[module.name]))
            found.append(
                f"assembly '{assembly.name}': module '{module.name}' is placed at ({said}) m, and what it is docked to "
                f"puts it at ({there}) m, {apart:.3g} m and {turned:.3g} rad from there. Place one module of an "
                "organism, or undock it."
            )
    return found


def _overlap_problems(assembly: Assembly, poses: Poses) -> list[str]:
    """Pairs of modules that would be in the same place."""
    touch = TOUCH if all(docking.offset == IDENTITY for docking in assembly.dockings) else LOOSE
    largest = max((max(float(x) for x in module.type.size) for module in assembly.modules), default=1.0)
    cells: dict[tuple[int, ...], list[str]] = defaultdict(list)
    found = []
    whose = {name: organism for organism in assembly.organisms for name in organism}
    sizes = {module.name: tuple(float(x) for x in module.type.size) for module in assembly.modules}
    kinds = {id(module.type): module.type for module in assembly.modules}
    balls = {key: _ball(kind) for key, kind in kinds.items()}
    radii = {module.name: balls[id(module.type)] for module in assembly.modules}

    def overlap(a: str, b: str) -> bool:
        if radii[a] is None and radii[b] is None:
            return boxes_overlap(poses[a], sizes[a], poses[b], sizes[b], touch)
        r_a, r_b = (0.5 * min(sizes[name]) if (r := radii[name]) is None else r for name in (a, b))
        return _apart(poses[a], poses[b]) < r_a + r_b - 2.0 * touch * min(r_a, r_b)

    for module in assembly.modules:
        pose = poses[module.name]
        cell = tuple(int(np.floor(float(x) / largest)) for x in pose.p)
        for step in product((-1, 0, 1), repeat=3):
            for other in cells.get(tuple(a + b for a, b in zip(cell, step, strict=True)), ()):
                if overlap(module.name, other):
                    one = whose[other] == whose[module.name]
                    remedy = "Dock one of them elsewhere." if one else "Place their organisms apart, by at."
                    found.append(
                        f"assembly '{assembly.name}': modules '{other}' and '{module.name}' overlap, "
                        f"{_apart(poses[other], pose):.3g} m from middle to middle. {remedy}"
                    )
        cells[cell].append(module.name)
    return found


def _ball(kind: ModuleType) -> float | None:
    """The radius [m] of the ball that stands for a kind of module; None for one that is a box."""
    half = [0.5 * float(edge) for edge in kind.size]
    reaches, square = [], True
    for side in kind.sides:
        P = kind.port_pose(side)
        normal, place = [float(row[2]) for row in P.R], [float(x) for x in P.p]
        reaches.append(float(np.dot(normal, place)))
        axis = int(np.argmax(np.abs(normal)))
        square &= abs(abs(normal[axis]) - 1.0) < 1e-9 and abs(reaches[-1] - half[axis]) < 1e-6 * half[axis]
    return None if square else max(min(reaches), 0.0)


def _apart(a: Pose, b: Pose) -> float:
    return float(np.linalg.norm(np.subtract(np.asarray(a.p, dtype=float), np.asarray(b.p, dtype=float))))


def boxes_overlap(
    T_a: Pose, size_a: tuple[float, ...], T_b: Pose, size_b: tuple[float, ...], touch: float = TOUCH
) -> bool:
    """Whether two boxes, by the poses of their middles and their edges [m], have more than a touch in common."""
    A, B = np.asarray(T_a.R, dtype=float), np.asarray(T_b.R, dtype=float)
    between = A.T @ (np.asarray(T_b.p, dtype=float) - np.asarray(T_a.p, dtype=float))
    half_a, half_b = 0.5 * np.asarray(size_a), 0.5 * np.asarray(size_b)
    C = A.T @ B
    shallow = touch * min(*size_a, *size_b)

    def part(axes: Array) -> bool:
        """Whether one of some unit axes, in a's frame, parts the boxes."""
        depth = np.abs(axes) @ half_a + np.abs(axes @ C) @ half_b - np.abs(axes @ between)
        return bool(np.any(depth <= shallow))

    if part(np.eye(3)) or part(C.T):  # the edges of either: this parts what is docked
        return False
    crossed = np.cross(np.repeat(np.eye(3), 3, axis=0), np.tile(C.T, (3, 1)))
    length = np.linalg.norm(crossed, axis=1)
    return not part(crossed[length > 1e-9] / length[length > 1e-9, None])
