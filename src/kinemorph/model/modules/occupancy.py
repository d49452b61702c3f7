"""Checks of modules in space: which are not docked, which overlap, and which rings do not close.

A module fills a box around its middle, in the initial configuration. A module with ports that are not flush with the
faces of that box, such as a tetrahedron, is replaced by the ball that touches the plane of its nearest port. Two boxes
overlap if no axis separates them (separating axis theorem): neither an edge of one of them, nor the cross product of an
edge of each. Neighbors are found in a hash table of cells as large as the largest box, so the time is proportional to
the number of modules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, extent, inverse
from kinemorph.errors import Problem
from kinemorph.words import counted, quoted

if TYPE_CHECKING:
    from kinemorph.model.modules.assembly import Assembly
    from kinemorph.model.modules.module_types import ModuleType

Poses = Mapping[str, Pose]
CLOSE = 1e-6  # [m] and [rad]: largest error of a ring
MISPLACED = 0.01  # relative to the pitch, and [rad]: largest error of the given place of a docked module
TOUCH, LOOSE = 1e-3, 0.2  # allowed depth of overlap, relative to the smaller box: exact poses, measured poses


def organism_problems(assembly: Assembly, *, planar: bool = False, several: bool = False) -> list[Problem]:
    """The problems of an assembly that has to be one organism without overlapping modules.

    `planar` requires a tree of upright modules docked at sides 2 to 5, as in the paper of Meister and Gutenkunst;
    `several` allows more than one organism.
    """
    return shape_problems(assembly, planar=planar, several=several) or spatial_problems(assembly)


def shape_problems(assembly: Assembly, *, planar: bool = False, several: bool = False) -> list[Problem]:
    """The problems of `organism_problems` that follow from the dockings alone, whatever the places of the modules."""
    found = [] if several else _apart(assembly)
    return found + _planar(assembly) if planar else found


def _apart(assembly: Assembly) -> list[Problem]:
    """A problem that names the modules that do not belong to the largest organism, if there are any."""
    if len(assembly.organisms) < 2:
        return []
    main = max(assembly.organisms, key=len)
    lone = [name for organism in assembly.organisms if organism is not main for name in organism]
    modules = f"module {quoted(lone)} is" if len(lone) == 1 else f"modules {quoted(lone)} are"
    others = f" or the {counted(len(main) - 1, 'module')} docked to it" if len(main) > 1 else ""
    what = f"{modules} not docked to '{main[0]}'{others}; expected one organism"
    remedy = "Dock these modules, or set several to true for several organisms in one world."
    return [Problem("assembly", assembly.name, what, remedy, "several", at=tuple(lone))]


def _planar(assembly: Assembly) -> list[Problem]:
    """Problems with rings, dockings at the top or bottom, and quarter turns, which planar organisms do not have."""
    about = partial(Problem, "assembly", assembly.name)
    found = []
    if not assembly.is_tree:
        what = "modules are docked in a ring, expected a tree because planar is set"
        found.append(about(what, "Undock one of them.", "planar"))
    for docking in assembly.dockings:
        if any(side not in (2, 3, 4, 5) for _, side in docking.ends):
            what = f"{docking} is not in the plane, expected sides 2, 3, 4 and 5 because planar is set"
            found.append(about(what, "Choose two of these sides.", docking.name, at=(docking.a, docking.b)))
        elif docking.turn:
            what = f"{docking} has {counted(docking.turn, 'quarter turn')}, expected none because planar is set"
            found.append(about(what, "Leave turn out.", docking.name, at=(docking.a, docking.b)))
    return found


def spatial_problems(assembly: Assembly) -> list[Problem]:
    """Problems with open rings; if there are none, with contradicting places; if there are none, with overlaps."""
    poses = assembly.poses()
    return _ring_problems(assembly, poses) or _place_problems(assembly, poses) or _overlap_problems(assembly, poses)


def _ring_problems(assembly: Assembly, poses: Poses) -> list[Problem]:
    """Problems with rings of modules that do not close."""
    if assembly.is_tree:
        return []
    found = []
    chords = [chord for organism in assembly.organisms for chord in assembly.tree(organism[0]).chords]
    there = [compose(poses[chord.parent], assembly.dyad_pose(chord.name)) for chord in chords]
    for chord, reached, near in zip(chords, there, _alike(there, [poses[c.child] for c in chords]), strict=True):
        apart, turned = (0.0, 0.0) if near else extent(compose(inverse(reached), poses[chord.child]))
        if max(apart, turned) > CLOSE:
            what = f"the docking of '{chord.parent}' with '{chord.child}' ({chord.name}) does not close its ring: "
            what += f"the ports are {apart:.3g} m and {turned:.3g} rad apart"
            remedy = "Choose other sides for the dockings in this ring, or leave this docking out."
            found.append(Problem("assembly", assembly.name, what, remedy, chord.name, at=(chord.parent, chord.child)))
    return found


def _place_problems(assembly: Assembly, poses: Poses) -> list[Problem]:
    """Problems with modules whose given place differs from the place that follows from their dockings."""
    found = []
    placed = [(module, module.at) for module in assembly.modules if module.at is not None]
    alike = _alike([poses[module.name] for module, _ in placed], [at for _, at in placed])
    for (module, at), near in zip(placed, alike, strict=True):
        apart, turned = (0.0, 0.0) if near else extent(compose(inverse(poses[module.name]), at))
        if apart > MISPLACED * float(module.type.pitch) or turned > MISPLACED:
            said, there = (", ".join(f"{float(x):.4g}" for x in pose.p) for pose in (at, poses[module.name]))
            what = f"module '{module.name}' is placed at ({said}) m, but its dockings put it at ({there}) m: the poses "
            what += f"differ by {apart:.3g} m and {turned:.3g} rad"
            remedy = "Give the place of only one module of each organism, or undock this module."
            found.append(Problem("assembly", assembly.name, what, remedy, at=(module.name,)))
    return found


def _alike(some: Sequence[Pose], others: Sequence[Pose]) -> list[bool]:
    """For two lists of n poses, whether the entries of each two differ by less than the smallest error that counts."""
    if not some:
        return []
    (R_a, p_a), (R_b, p_b) = _stacked(some), _stacked(others)
    off = np.maximum(np.abs(R_a - R_b).max(axis=(1, 2)), np.abs(p_a - p_b).max(axis=1))
    near: list[bool] = (off < 0.1 * CLOSE).tolist()
    return near


def _stacked(poses: Sequence[Pose]) -> tuple[Array, Array]:
    """The axes (n, 3, 3) and the origins (n, 3) [m] of n poses."""
    return np.array([pose.R for pose in poses], dtype=float), np.array([pose.p for pose in poses], dtype=float)


def _overlap_problems(assembly: Assembly, poses: Poses) -> list[Problem]:
    """Problems with pairs of modules that overlap."""
    touch = TOUCH if all(docking.offset == IDENTITY for docking in assembly.dockings) else LOOSE
    kinds = {id(module.type): module.type for module in assembly.modules}
    boxes = {key: np.array(kind.size, dtype=float) for key, kind in kinds.items()}
    balls = {key: _ball(kind) for key, kind in kinds.items()}
    sizes = np.array([boxes[id(module.type)] for module in assembly.modules]).reshape(-1, 3)
    radii = [balls[id(module.type)] for module in assembly.modules]
    R, p = _stacked([poses[name] for name in assembly.names])
    pairs = _near_pairs(p, float(sizes.max(initial=1e-9)))
    if not len(pairs):
        return []
    boxed = np.array([radii[i] is None and radii[j] is None for i, j in pairs.tolist()])
    apart = boxed & _parted_by_faces(R, p, sizes, pairs, touch)
    whose = {name: number for number, organism in enumerate(assembly.organisms) for name in organism}
    found = []
    for (i, j), as_boxes in zip(pairs[~apart].tolist(), boxed[~apart].tolist(), strict=True):
        other, name = assembly.names[i], assembly.names[j]
        far = _distance(poses[other], poses[name])
        if as_boxes:
            overlap = boxes_overlap(poses[name], tuple(sizes[j]), poses[other], tuple(sizes[i]), touch)
        else:
            r_a, r_b = (0.5 * float(sizes[k].min()) if (r := radii[k]) is None else r for k in (i, j))
            overlap = far < r_a + r_b - 2.0 * touch * min(r_a, r_b)
        if overlap:
            one = whose[other] == whose[name]
            remedy = "Dock one of them elsewhere." if one else "Move one of their organisms with `at`."
            what = f"modules '{other}' and '{name}' overlap, {far:.3g} m from middle to middle"
            found.append(Problem("assembly", assembly.name, what, remedy, at=(other, name)))
    return found


def _near_pairs(p: Array, largest: float) -> npt.NDArray[np.int64]:
    """The pairs (m, 2) of indices i < j of points (n, 3) [m] in the same or in adjacent cells of edge `largest` [m]."""
    where = np.floor(p / largest).astype(np.int64).tolist()
    cells: dict[tuple[int, ...], list[int]] = defaultdict(list)
    steps = list(product((-1, 0, 1), repeat=3))
    pairs = []
    for j, (x, y, z) in enumerate(where):
        pairs += [(i, j) for a, b, c in steps for i in cells.get((x + a, y + b, z + c), ())]
        cells[x, y, z].append(j)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _parted_by_faces(R: Array, p: Array, sizes: Array, pairs: npt.NDArray[np.int64], touch: float) -> npt.NDArray[Any]:
    """For each pair of boxes, whether the direction of an edge of one of them separates them; docked modules are.

    `R` (n, 3, 3) and `p` (n, 3) [m] are the poses of all boxes, `sizes` (n, 3) [m] their edges; `touch` as in
    `boxes_overlap`.
    """
    i, j = pairs.T
    C = np.swapaxes(R[i], 1, 2) @ R[j]
    between = np.einsum("nba,nb->na", R[i], p[j] - p[i])  # in the frame of the first box
    half_i, half_j = 0.5 * sizes[i], 0.5 * sizes[j]
    depth_i = half_i + np.einsum("nab,nb->na", np.abs(C), half_j) - np.abs(between)
    depth_j = np.einsum("nab,na->nb", np.abs(C), half_i) + half_j - np.abs(np.einsum("nab,na->nb", C, between))
    shallow = touch * np.minimum(sizes[i].min(axis=1), sizes[j].min(axis=1))
    return np.asarray(np.minimum(depth_i.min(axis=1), depth_j.min(axis=1)) <= shallow)


def _ball(kind: ModuleType) -> float | None:
    """The radius [m] of the ball that replaces a module of this type; None if it is treated as a box."""
    half = [0.5 * float(edge) for edge in kind.size]
    reaches, square = [], True
    for side in kind.sides:
        P = kind.port_pose(side)
        normal, place = [float(row[2]) for row in P.R], [float(x) for x in P.p]
        reaches.append(float(np.dot(normal, place)))
        axis = int(np.argmax(np.abs(normal)))
        square &= abs(abs(normal[axis]) - 1.0) < 1e-9 and abs(reaches[-1] - half[axis]) < 1e-6 * half[axis]
    return None if square else max(min(reaches), 0.0)


def _distance(a: Pose, b: Pose) -> float:
    return float(np.linalg.norm(np.subtract(np.asarray(a.p, dtype=float), np.asarray(b.p, dtype=float))))


def boxes_overlap(
    T_a: Pose, size_a: tuple[float, ...], T_b: Pose, size_b: tuple[float, ...], touch: float = TOUCH
) -> bool:
    """Whether two boxes overlap, given the poses of their middles and their edge lengths [m].

    An overlap less deep than `touch` times the smallest edge is ignored.
    """
    A, B = np.asarray(T_a.R, dtype=float), np.asarray(T_b.R, dtype=float)
    between = A.T @ (np.asarray(T_b.p, dtype=float) - np.asarray(T_a.p, dtype=float))
    half_a, half_b = 0.5 * np.asarray(size_a), 0.5 * np.asarray(size_b)
    C = A.T @ B
    shallow = touch * min(*size_a, *size_b)

    def part(axes: Array) -> bool:
        """Whether at least one of these unit axes, in the frame of box a, separates the boxes."""
        depth = np.abs(axes) @ half_a + np.abs(axes @ C) @ half_b - np.abs(axes @ between)
        return bool(np.any(depth <= shallow))

    if part(np.eye(3)) or part(C.T):  # the edges of the boxes come first: they separate docked modules
        return False
    crossed = np.cross(np.repeat(np.eye(3), 3, axis=0), np.tile(C.T, (3, 1)))
    length = np.linalg.norm(crossed, axis=1)
    return not part(crossed[length > 1e-9] / length[length > 1e-9, None])
