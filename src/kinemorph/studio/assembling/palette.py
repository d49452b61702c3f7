"""The kinds of modules to choose from, as data from which a page draws them seen from above.

Lengths are in cells of the grid, x to the right and y upward, with the front (side 3) to the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.groups import compose
from kinemorph.display.charts.draw_plan import COLORS, OTHERS, lighter
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.dyads import hinge_twist
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.parameter import evaluate


def palette(types: Mapping[str, ModuleType]) -> list[dict[str, Any]]:
    """All kinds of modules: those of the file first, then the built-in ones."""
    known = standard_types()
    own = [letter for letter, kind in types.items() if known.get(letter) is not kind]
    return [_kind(letter, types[letter], own) for letter in (*own, *(one for one in types if one not in own))]


def _kind(letter: str, kind: ModuleType, own: list[str]) -> dict[str, Any]:
    color = COLORS.get(letter) if letter not in own else None
    red, green, blue = lighter(color or OTHERS[own.index(letter) % len(OTHERS) if letter in own else 0])[:3]
    return {
        "letter": letter,
        "name": kind.name,
        "own": letter in own,
        "cells": list(kind.cells[:2]),
        "pitch": float(kind.pitch),
        "mass": sum(float(evaluate(body.mass)) for body in kind.bodies),
        "color": f"#{''.join(f'{round(255 * part):02x}' for part in (red, green, blue))}",
        "sides": [str(side) for side in kind.sides],
        "ports": [_port(kind, side) for side in kind.sides],
        "hinge": _hinge(kind),
        "joints": [joint.name for joint in kind.joints],
    }


def _port(kind: ModuleType, side: int | str) -> dict[str, Any]:
    pose = kind.port_pose(side)
    at, out = [float(x) / kind.pitch for x in pose.p], [float(row[2]) for row in pose.R]
    return {"side": str(side), "at": [round(x, 4) for x in at], "out": [round(x, 4) for x in out]}


def _hinge(kind: ModuleType) -> dict[str, Any] | None:
    """The direction of the hinge axis and a point of it; None for a module without a hinge."""
    if not kind.hinge or hinge_twist(kind) is None:
        return None
    joint = kind.joint(kind.hinge)
    frame = compose(kind.part_poses[joint.parent], joint.placement)
    axis = np.array(frame.R, dtype=float) @ np.array(joint.axis, dtype=float)
    at = [round(float(x) / kind.pitch, 4) for x in frame.p]
    return {"name": kind.hinge, "at": at, "axis": [round(float(x), 4) for x in axis]}
