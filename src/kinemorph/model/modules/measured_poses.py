"""Assemblies from measured relative poses of modules; each pose is replaced by the nearest possible docking.

Sensors measure H_ij, the pose of module j in the frame of module i, with noise. Of all pairs of ports and all numbers k
of quarter turns, the docking nearest to the measured pose is taken. With the port poses P_a and P_b in their modules,

    P_a^-1 H_ij P_b = turned(k) E,      E = (R, p),

the residual is |p| [m] and the angle of R [rad]. Dockings are compared by sqrt(|p|^2 + (pitch/2)^2 angle^2). A pose is
refused, with its residual, if it is too far from every possible docking, almost equally near to two of them, or needs a
port that is already docked. The message also says if a pose would fit with a bent hinge, because modules dock only in
their initial configuration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, Literal, NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose, compose, exp_screw, extent, inverse, screw
from kinemorph.algebra.rotations import log_so3
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.input_reader import short
from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.catalog import Types, known_types
from kinemorph.model.modules.docked_sides import Kinds, Places, measured_pose, module_name, placed_modules, settled
from kinemorph.model.modules.module_types import TURNED, ModuleType, Side

Keep = Literal["measured", "legal"]
TOLERANCE = (0.25, math.radians(20.0))  # largest residual of a measured pose: relative to the pitch; [rad]
ALIKE = 0.8  # a pose is ambiguous if the nearest docking is more than 0.8 times as far as the second nearest


class Residual(NamedTuple):
    """The difference between a measured pose and its docking: distance `apart` [m] and angle `turned` [rad].

    `next_best` is the distance of the second nearest docking divided by that of the nearest; infinite if there is none.
    """

    docking: str
    apart: float
    turned: float
    next_best: float


@dataclass(frozen=True)
class Snapped:
    """An assembly from measured poses, and the residual of each docking."""

    assembly: Assembly
    residuals: tuple[Residual, ...]

    def __str__(self) -> str:
        rows = [("docking", "apart [mm]", "turned [deg]", "second is")]
        rows += [
            (r.docking, f"{1e3 * r.apart:.3f}", f"{math.degrees(r.turned):.3f}", f"{r.next_best:.3g} times as far")
            for r in self.residuals
        ]
        wide = [max(len(row[k]) for row in rows) for k in range(4)]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)) for row in rows)


class Candidate(NamedTuple):
    """A possible docking and the residual of the measured pose: `apart` [m], `turned` [rad], combined in `far` [m]."""

    docking: Docking
    apart: float
    turned: float
    far: float


def snap(
    poses: Mapping[tuple[Any, Any], Any],
    modules: Kinds = "B",
    *,
    types: Types = None,
    name: str | None = None,
    base: str | int | None = None,
    at: Places | None = None,
    keep: Keep = "measured",
    tolerance: tuple[float, float] | None = None,
    planar: bool = False,
    several: bool = False,
) -> Snapped:
    """The assembly for measured poses, with the residual of each; see `assemble` for the other arguments.

    `poses`         {(i, j): H_ij}, the pose of module j in the frame of module i: a Pose, or a 4x4 matrix
    `keep`          "measured": the residual becomes the docking's offset, so that modules are where they were
                    measured; "legal": the modules are docked exactly, without offset
    `tolerance`     the largest residual, [m] and [rad]; by default a quarter of the pitch and 20 degrees
    """
    if keep not in ("measured", "legal"):
        raise ModelError(f"snap: keep is {keep!r}; expected 'measured' or 'legal'.")
    if tolerance is not None and not _is_tolerance(tolerance):
        raise ModelError(f"snap: tolerance is {short(tolerance)}; expected two numbers above 0, [m] and [rad].")
    problems: list[Problem] = []
    measured = _measured(poses, problems)
    if problems:
        raise ModelError(problems)
    called = None if base is None else module_name(base)
    ends = [name for pair in measured for name in pair]
    found = placed_modules(ends, modules, known_types(types), at or {}, called)
    by_name = {module.name: module for module in found}
    dockings: dict[tuple[str, str], Docking] = {}
    residuals = []
    for (a, b), H_ab in measured.items():
        nearest = _nearest(by_name[a], by_name[b], H_ab, tolerance, planar, problems)
        if nearest is not None:
            best, ratio = nearest
            dockings[a, b] = best.docking
            residuals.append(Residual(best.docking.name, best.apart, best.turned, ratio))
    problems += _contended(dockings, residuals)
    if problems:
        raise ModelError(problems)
    made = [d if keep == "measured" else replace(d, offset=IDENTITY) for d in dockings.values()]
    assembly = Assembly(name or "organism", found, tuple(made), called or "")
    if keep == "measured":
        assembly = _closed(assembly)
    return Snapped(settled(assembly, planar=planar, several=several), tuple(residuals))


def _is_tolerance(given: Any) -> bool:
    try:
        gap, bend = map(float, given)
    except (TypeError, ValueError):
        return False
    return gap > 0.0 and bend > 0.0


def _measured(poses: Mapping[tuple[Any, Any], Any], problems: list[Problem]) -> dict[tuple[str, str], Pose]:
    """The measured poses by pairs of module names; problems with them are added to `problems`."""
    if not isinstance(poses, Mapping) or not poses:
        what = f"{short(poses)} is given as measured poses; expected {{(i, j): H_ij}}"
        problems.append(
            Problem("", "", what, "Write {(0, 1): H}, with the 4x4 pose H of module 1 in the frame of module 0.")
        )
        return {}
    found: dict[tuple[str, str], Pose] = {}
    for pair, raw in poses.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            what = f"pose {short(pair)}: expected a pair of modules as its key, such as (0, 1)"
            problems.append(Problem("", "", what, "Use such a pair as the key."))
            continue
        a, b = map(module_name, pair)
        if (a, b) in found or (b, a) in found:
            what = f"the pose of modules '{a}' and '{b}' is given twice, expected once"
            problems.append(Problem("", "", what, "Leave one out."))
            continue
        pose = measured_pose(raw, f"the pose of '{b}' in the frame of '{a}'", problems)
        if pose is not None:
            found[a, b] = pose
    return found


def _nearest(
    a: Module,
    b: Module,
    H_ab: Pose,
    tolerance: tuple[float, float] | None,
    planar: bool,
    problems: list[Problem],
) -> tuple[Candidate, float] | None:
    """The docking nearest to H_ab and the distance of the second nearest divided by its own.

    Returns None, with a problem, if no docking is near enough or two are almost equally near.
    """
    ranked = sorted(_candidates(a, b, H_ab, planar), key=lambda c: c.far)
    told = f"the pose of module '{b.name}' in the frame of '{a.name}'"
    if not ranked:
        problems.append(Problem("", "", f"{told}: one of the two modules has no ports", "Leave the pose out."))
        return None
    best = ranked[0]
    gap, bend = tolerance or (TOLERANCE[0] * min(a.type.pitch, b.type.pitch), TOLERANCE[1])
    if best.apart > gap or best.turned > bend:
        why = f"expected less than {gap:.3g} m and {bend:.3g} rad"
        why, remedy = _bent(a, b, H_ab, ranked, gap, bend) or (why, "Measure it again, or pass a tolerance.")
        what = f"{told} is {best.apart:.3g} m and {best.turned:.3g} rad from the nearest possible docking, "
        problems.append(Problem("", "", f"{what}{_sides(best.docking)}; {why}", remedy))
        return None
    ratio = ranked[1].far / best.far if len(ranked) > 1 and best.far > 0.0 else math.inf
    if ratio < 1.0 / ALIKE:
        near = [f"{c.apart:.3g} m and {c.turned:.3g} rad from {_sides(c.docking)}" for c in ranked[:2]]
        remedy = "Measure it again, or give a list of docked sides instead."
        problems.append(Problem("", "", f"{told} is ambiguous, two dockings fit: it is {', and '.join(near)}", remedy))
        return None
    return best, ratio


def _candidates(a: Module, b: Module, H_ab: Pose, planar: bool) -> Iterator[Candidate]:
    """All dockings of two modules: every pair of ports with every number of quarter turns."""
    sides = [_ports(module.type, planar) for module in (a, b)]
    arm = 0.5 * min(a.type.pitch, b.type.pitch)
    for (side_a, P_a), (side_b, P_b) in product(sides[0].items(), sides[1].items()):
        between = compose(inverse(P_a), H_ab, P_b)
        for k in range(1 if planar else 4):
            offset = compose(inverse(TURNED[k]), between)
            apart, turned = extent(offset)
            docking = Docking(a.name, side_a, b.name, side_b, k, offset=offset)
            yield Candidate(docking, apart, turned, math.hypot(apart, arm * turned))


def _ports(kind: ModuleType, planar: bool) -> dict[Side, Pose]:
    return {side: kind.port_pose(side) for side in kind.sides if not planar or side in (2, 3, 4, 5)}


def _bent(a: Module, b: Module, H_ab: Pose, ranked: list[Candidate], gap: float, bend: float) -> tuple[str, str] | None:
    """The message and the remedy if the pose fits a docking with one hinge bent; None if it does not.

    `gap` [m] and `bend` [rad] are the largest residuals.
    """
    for module, first in ((a, True), (b, False)):
        kind = module.type
        if not kind.hinge:
            continue
        joint = kind.joint(kind.hinge)
        if joint.kind != "revolute":
            continue
        frame = compose(kind.part_poses[joint.parent], joint.placement)
        axis = [float(sum(frame.R[r][c] * joint.axis[c] for c in range(3))) for r in range(3)]
        s = screw(axis, frame.p)
        for candidate in ranked[:8]:
            docking = candidate.docking
            legal = compose(
                a.type.port_pose(docking.side_a), TURNED[docking.turn], inverse(b.type.port_pose(docking.side_b))
            )
            # bent at a: H = exp(s q) H(0), at b: H = H(0) exp(-s q)
            error = compose(H_ab, inverse(legal)) if first else compose(inverse(H_ab), legal)
            q = float(sum(w * n for w, n in zip(log_so3(error.R), axis, strict=True)))
            left = compose(inverse(exp_screw(s, q)), error)
            apart, turned = extent(left)
            if apart <= gap and turned <= bend and abs(q) > bend:
                why = f"it would fit if '{module.name}' were bent by {math.degrees(q):.3g} deg, but modules dock in "
                return f"{why}their initial configuration", "Straighten the module and measure again."
    return None


def _contended(dockings: Mapping[tuple[str, str], Docking], residuals: list[Residual]) -> list[Problem]:
    """Problems with ports that two dockings need."""
    found = []
    left = {row.docking: row for row in residuals}
    wanted: dict[tuple[str, Side], Docking] = {}
    for docking in dockings.values():
        for end in docking.ends:
            if end in wanted:
                first, second = (left[d.name] for d in (wanted[end], docking))
                others = [d.b if d.a == end[0] else d.a for d in (wanted[end], docking)]
                off = [f"(off by {row.apart:.3g} m, {row.turned:.3g} rad)" for row in (first, second)]
                what = f"side {end[1]} of module '{end[0]}' is nearest to module '{others[0]}' {off[0]} and to module "
                remedy = "Leave out one of the two poses."
                found.append(Problem("", "", f"{what}'{others[1]}' {off[1]}, expected only one", remedy))
            wanted.setdefault(end, docking)
    return found


def _closed(assembly: Assembly) -> Assembly:
    """The assembly with exactly closed rings: the offset of each docking that closes a ring follows from the others.

    Because of measurement noise, the measured offsets along a ring do not close it.
    """
    if assembly.is_tree:
        return assembly
    poses = assembly.poses()
    chords = {chord.name for organism in assembly.organisms for chord in assembly.tree(organism[0]).chords}
    made = []
    for docking in assembly.dockings:
        if docking.name in chords:
            P_a, P_b = (assembly.module(name).type.port_pose(side) for name, side in docking.ends)
            H_ab = compose(inverse(poses[docking.a]), poses[docking.b])
            offset = compose(inverse(TURNED[docking.turn]), inverse(P_a), H_ab, P_b)
            docking = replace(docking, offset=offset)
        made.append(docking)
    return replace(assembly, dockings=tuple(made))


def _sides(docking: Docking) -> str:
    turned = f" with {docking.turn} quarter turns" if docking.turn else ""
    return f"side {docking.side_a} to side {docking.side_b}{turned}"
