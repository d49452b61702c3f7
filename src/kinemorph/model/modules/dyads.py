"""Dyads: the relative position of the hinge axes of two docked modules in the initial configuration.

    DS      serial: both axes are the same line
    DP      parallel: the axes are parallel, but not the same line
    DO      orthogonal: the axes are at right angles
    DX      the axes are at some other angle
    F       no dyad: at least one of the modules has no hinge

The class is computed from the geometry of the two axes, for any two ports of any two module types; the sign of an axis
does not matter. For Backbones and Scouts the result is Table II of Meister and Gutenkunst.
"""

from __future__ import annotations

from typing import Literal

from kinemorph.algebra.groups import Pose, compose, inverse, move_twist
from kinemorph.algebra.vectors import Vec, cross, dot, sub, zeros
from kinemorph.errors import ModelError
from kinemorph.model.modules.module_types import TURNED, ModuleType, Side

DyadClass = Literal["DS", "DP", "DO", "DX", "F"]
MEANINGS: dict[DyadClass, str] = {
    "DS": "serial axes",
    "DP": "parallel axes",
    "DO": "orthogonal axes",
    "DX": "axes at another angle",
    "F": "no two hinges",
}
STRAIGHT = 1e-9  # axes are parallel if the sine, orthogonal if the cosine, of their angle is smaller
NEAR = 1e-6  # relative to the pitch: axes with a smaller distance count as the same line


def hinge_twist(kind: ModuleType) -> Vec | None:
    """The twist [v; w] (6,) of a module's hinge at unit velocity, in the module's frame; None if it has no hinge."""
    if not kind.hinge:
        return None
    hinge = kind.joint(kind.hinge)
    if hinge.kind not in ("revolute", "prismatic"):
        raise ModelError(
            f"module type '{kind.name}': hinge '{hinge.name}' is a {hinge.kind} joint, expected revolute or prismatic. "
            "Name another joint as its hinge."
        )
    local = (0.0, 0.0, 0.0, *hinge.axis) if hinge.kind == "revolute" else (*hinge.axis, 0.0, 0.0, 0.0)
    return move_twist(compose(kind.part_poses[hinge.parent], hinge.placement), local)


def docked_pose(a: ModuleType, side_a: Side, b: ModuleType, side_b: Side, turn: int = 0) -> Pose:
    """H_ab(0), the pose of module b in the frame of module a, docked to it in the initial configuration."""
    return compose(a.port_pose(side_a), TURNED[turn], inverse(b.port_pose(side_b)))


def dyad_class(a: ModuleType, side_a: Side, b: ModuleType, side_b: Side, turn: int = 0) -> DyadClass:
    """The dyad class of modules of types `a` and `b`, docked at these sides with `turn` quarter turns."""
    first, second = hinge_twist(a), hinge_twist(b)
    if first is None or second is None:
        return "F"
    T_ab = docked_pose(a, side_a, b, side_b, turn)
    (n_a, p_a), (n_b, p_b) = _line(first, zeros(3)), _line(move_twist(T_ab, second), T_ab.p)
    if abs(dot(n_a, n_b)) < STRAIGHT:
        return "DO"
    across = cross(n_a, n_b)
    if dot(across, across) > STRAIGHT * STRAIGHT:
        return "DX"
    apart = cross(sub(p_b, p_a), n_a)
    return "DS" if dot(apart, apart) < (NEAR * a.pitch) ** 2 else "DP"


def dyad_classes(a: ModuleType, b: ModuleType) -> dict[tuple[Side, Side], DyadClass]:
    """The dyad class for every pair of sides of two module types: the paper's Table II, for a = b = backbone()."""
    return {(i, j): dyad_class(a, i, b, j) for i in a.sides for j in b.sides}


def _line(twist: Vec, middle: Vec) -> tuple[Vec, Vec]:
    """The direction and a point of the axis of a twist; for a sliding hinge the point is `middle`."""
    v, w = twist[:3], twist[3:]
    return (w, cross(w, v)) if dot(w, w) else (v, middle)
