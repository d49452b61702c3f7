"""The ghost of a module that would dock at a free port: its picture, and the command that docks it.

A page shows the ghost before the module is docked; where it cannot dock, it shows the module in its place all the same,
if its place is known, and the sentence why not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.display.scenes.module_scene import module_figure
from kinemorph.display.scenes.scene import Scene
from kinemorph.errors import ModelError
from kinemorph.model.modules.assembly import Assembly, Module
from kinemorph.model.modules.module_types import TURNED, ModuleType, Side
from kinemorph.studio.documents.commands.offered_docking import (
    free_name,
    moving,
    offered_docking,
    offered_join,
    side_of,
)


class Ghost(NamedTuple):
    """A module that would dock: its picture, or None; why it cannot dock, or ""; and the command that docks it."""

    scene: Scene | None
    sentence: str
    command: dict[str, Any] | None


def ghost(
    assembly: Assembly,
    types: Mapping[str, ModuleType],
    module: str,
    side: Side | str,
    kind: str,
    own_side: Side | str,
    turn: int = 0,
    *,
    joint: str = "",
    ground: bool = False,
    poses: Mapping[str, Pose] | None = None,
) -> Ghost:
    """The ghost of a module of a kind at a side of a module; see `offered_docking` for the arguments."""
    try:
        there, here = side_of(side, assembly.module(module).type), side_of(own_side, types[kind])
    except ModelError as error:
        return Ghost(None, str(error), None)
    except KeyError:
        return Ghost(None, f"The kind '{kind}' is unknown. Choose another one.", None)
    poses = assembly.poses() if poses is None else poses
    across = TURNED[turn % 4]
    kinds = assembly.module(module).type, types[kind]
    pose = compose(poses[module], kinds[0].port_pose(there), across, inverse(kinds[1].port_pose(here)))
    name = free_name(assembly)
    figure, box = module_figure(name, (Module(name, types[kind]),), {name: pose})
    scene = Scene(name, np.zeros(1), (figure,), box, floor=float(box[0, 2]), loose=True)
    try:
        offered_docking(
            assembly, types, module, there, kind, here, turn % 4, name=name, joint=joint or None, ground=ground
        )
    except ModelError as error:
        return Ghost(scene, str(error), None)
    command: dict[str, Any] = {
        "verb": "dock",
        "module": module,
        "side": str(there),
        "kind": kind,
        "own_side": str(here),
    }
    command |= {"turn": turn % 4} if turn % 4 else {}
    return Ghost(scene, "", command | ({"joint": joint} if joint else {}))


def join_ghost(
    assembly: Assembly,
    module: str,
    side: Side | str,
    other: str,
    other_side: Side | str,
    turn: int = 0,
    *,
    joint: str = "",
    ground: bool = False,
) -> Ghost:
    """The ghost of a module of the assembly that would dock to another one, with all modules that move with it."""
    try:
        there, here = (side_of(one, assembly.module(name).type) for name, one in ((module, side), (other, other_side)))
        found = offered_join(assembly, module, there, other, here, turn % 4, joint=joint or None, ground=ground)
    except ModelError as error:
        return Ghost(None, str(error), None)
    shown = [assembly.module(name) for name in moving(assembly, module, other) or (other,)]
    figure, box = module_figure(other, shown, found.assembly.poses())
    scene = Scene(other, np.zeros(1), (figure,), box, floor=float(box[0, 2]), loose=True)
    command = {"verb": "join", "module": module, "side": str(there), "other": other, "other_side": str(here)}
    return Ghost(scene, "", command | ({"turn": turn % 4} if turn % 4 else {}) | ({"joint": joint} if joint else {}))
