"""What would dock at a free port: the assembly with one more module, or with two of its modules docked to each other.

A docking is refused where a type or a side is unknown, where a port is taken, where a module would overlap another one
or close no ring exactly, and where it would stand below the ground on which the organism stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.errors import ModelError, Problem
from kinemorph.model.modules.assembly import Assembly, Docking, Module, joint_module
from kinemorph.model.modules.docked_sides import kind_of
from kinemorph.model.modules.facing_ports import facing
from kinemorph.model.modules.module_types import ModuleType, Side
from kinemorph.model.modules.occupancy import spatial_problems
from kinemorph.words import listed

BELOW = 1e-6  # [m]: a module may reach this far below the ground


class Offer(NamedTuple):
    """A docking that is possible: the assembly with the new module, its name and its pose in the world."""

    assembly: Assembly
    module: str
    pose: Pose


def offered_docking(
    assembly: Assembly,
    types: Mapping[str, ModuleType],
    module: str,
    side: Side,
    kind: str,
    own_side: Side,
    turn: int = 0,
    *,
    name: str = "",
    joint: str | None = None,
    ground: bool = False,
) -> Offer:
    """The assembly with a new module of a kind, whose `own_side` is docked to a side of a module.

    `turn` are quarter turns about the normal; `joint` is the kind of a joint module between the two ports; `ground`
    says whether the modules must stay above z = 0. Raises ModelError, with the reason, where it cannot dock.
    """
    problems: list[Problem] = []
    made = kind_of(kind, types, ("module type", kind), problems)
    if made is None:
        raise ModelError(problems)
    _check_free(assembly, module, side)
    new = name or free_name(assembly)
    poses = assembly.poses()
    docking = Docking(module, side, new, own_side, turn, joint_module(joint))
    grown = replace(assembly, modules=(*assembly.modules, Module(new, made)), dockings=(*assembly.dockings, docking))
    pose = compose(poses[module], grown.dyad_pose(docking.name))
    _check_places(grown, {new: pose}, ground)
    return Offer(grown, new, pose)


def offered_join(
    assembly: Assembly,
    module: str,
    side: Side,
    other: str,
    other_side: Side,
    turn: int = 0,
    *,
    joint: str | None = None,
    ground: bool = False,
) -> Offer:
    """The assembly with a side of a module docked to a side of another one of its modules.

    If the two belong to different organisms, that of `other` moves to where it docks; otherwise they close a ring. The
    other arguments are those of `offered_docking`. Raises ModelError, with the reason, where they cannot dock.
    """
    if module == other:
        what = f"module '{module}' cannot be docked to itself"
        raise ModelError(Problem("", "", what, "Choose another module.", at=(module,)))
    _check_free(assembly, module, side)
    _check_free(assembly, other, other_side)
    moved = moving(assembly, module, other)
    modules = tuple(replace(one, at=None) if one.name in moved else one for one in assembly.modules)
    docking = Docking(module, side, other, other_side, turn, joint_module(joint))
    joined = replace(assembly, modules=modules, dockings=(*assembly.dockings, docking))
    poses = joined.poses()
    _check_places(joined, {name: poses[name] for name in moved}, ground)
    return Offer(joined, other, poses[other])


def moving(assembly: Assembly, module: str, other: str) -> tuple[str, ...]:
    """The modules that move when `other` is docked to a module: its organism, or none where both are in one."""
    organism = next(names for names in assembly.organisms if other in names)
    return () if module in organism else organism


def _check_free(assembly: Assembly, module: str, side: Side) -> None:
    """Raises ModelError where a side of a module is docked already."""
    taken = assembly.docking(module, assembly.module(module).type.port(side).side)
    if taken is not None:
        what = f"side {side} of module '{module}' is already docked to module '{taken.b}'"
        raise ModelError(Problem("", "", what, "Choose a free port.", at=(module,)))


def _check_places(assembly: Assembly, new: Mapping[str, Pose], ground: bool) -> None:
    """Raises ModelError where modules overlap or rings do not close, or modules in new poses are below the ground."""
    corners = [act(pose, corner) for name, pose in new.items() for corner in assembly.module(name).type.corners]
    bottom = min((float(corner[2]) for corner in corners), default=0.0)
    if ground and bottom < -BELOW:
        what = f"the module would reach {-bottom:.3g} m below the ground"
        raise ModelError(Problem("", "", what, "Choose another port or another side, or turn it."))
    problems = spatial_problems(assembly)
    if problems:
        raise ModelError([Problem("", "", one.what, one.remedy, at=one.at) for one in problems])


def neighbors(offer: Offer) -> list[Docking]:
    """The dockings of a new module with all ports that it would face, not only with the port that it was docked to."""
    poses = offer.assembly.poses()
    placed = [replace(module, at=poses[module.name]) for module in offer.assembly.modules]
    return [docking for docking, _ in facing(placed) if offer.module in (docking.a, docking.b)]


def free_name(assembly: Assembly) -> str:
    """The first of m0, m1, ... that no module has."""
    return next(f"m{k}" for k in count() if f"m{k}" not in assembly.names)


def side_of(text: str | int, kind: ModuleType) -> Side:
    """The side of a module type that a text names: "3" is side 3. Raises ModelError if there is none."""
    found = next((side for side in kind.sides if str(side) == str(text)), None)
    if found is None:
        what = f"it has no port on side {text!r}; its ports are {listed(kind.sides)}"
        raise ModelError(Problem("module type", kind.name, what, "Choose one of them."))
    return found
