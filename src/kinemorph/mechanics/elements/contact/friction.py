"""Friction from the normal force, the slip, and the memory of anchors.

    None          no friction
    Regularized   f = -mu F v / max(|v|, speed): the paper's equation 20
    Anchor        sticking   f = -(k s + c v), s from the anchor to the touching point, along the ground
                  sliding    f = -kinetic F w/|w|, w = v + speed e, e the direction in which it began to slide

Vectors are those of the law's caller: all in the axes of one link. `anchors` says how memory changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, div, equal, maximum, sqrt, times, where
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.contact.normal_forces import number
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.model.elements.contact.contact_laws import Anchor, Regularized

FREE, STICK, SLIP = 0.0, 1.0, 2.0  # modes of an anchored contact


class Rubbed(NamedTuple):
    """A friction force."""

    force: Vec3  # [N], along the ground
    by_velocity: S  # [N s/m]: force = -by_velocity v + ..., 0 or more
    by_place: S  # [N/m], 0 or more
    dissipated: S  # [W]
    stored: S  # [J]


SMOOTH = Rubbed(ZERO3, 0.0, 0.0, 0.0, 0.0)


def regularized(coefficient: S, speed: S, force: S, slip: Sequence[S]) -> Rubbed:
    """Coulomb's law, viscous below `speed`."""
    squared = dot(slip, slip)
    grip = div(times(coefficient, force), sqrt(maximum(squared, speed * speed)))
    return Rubbed(_three(scale(-grip, slip)), grip, 0.0, grip * squared, 0.0)


class AnchorState(NamedTuple):
    """The memory of an anchored contact, in the axes of its law: mode, vector from the anchor, direction of sliding."""

    mode: S
    way: Vec3  # [m]
    along: Vec3  # `way` without its part along the normal
    direction: Vec3


def anchored(numbers: Sequence[S], force: S, slip: Sequence[S], anchor: AnchorState) -> Rubbed:
    """The friction of an anchored contact; `numbers` are static, kinetic, stiffness, damping and speed."""
    _, kinetic, k, c, speed = numbers
    sticks, slides = equal(anchor.mode, STICK), equal(anchor.mode, SLIP)
    pull = scale(-1.0, add(scale(k, anchor.along), scale(c, slip)))
    w = add(slip, scale(speed, anchor.direction))
    grip = div(times(kinetic, force), sqrt(maximum(dot(w, w), 0.25 * speed * speed)))
    drag = scale(-grip, w)
    return Rubbed(
        _three([where(sticks, one, where(slides, other, 0.0)) for one, other in zip(pull, drag, strict=True)]),
        where(sticks, c, where(slides, grip, 0.0)),
        where(sticks, k, 0.0),
        where(sticks, c * dot(slip, slip), where(slides, grip * dot(w, slip), 0.0)),
        where(sticks, 0.5 * k * dot(anchor.way, anchor.way), 0.0),
    )


def _three(v: Sequence[S]) -> Vec3:
    return (v[0], v[1], v[2])


def tangential(vector: Sequence[S], normal: Sequence[S]) -> Any:
    """A vector without its part along a normal of length 1."""
    return sub(vector, scale(dot(vector, normal), normal))


def friction_problems(name: str, friction: Any) -> list[str]:
    """Problems of the friction of an element, one sentence each."""
    if friction is None:
        return []
    if type(friction) not in _FIELDS:
        known = ", ".join(kind.__name__ for kind in _FIELDS)
        return [wrong(name, f"friction is {friction!r}; expected None or one of {known}", "Correct it.", "friction")]
    found = []
    for field, least in _FIELDS[type(friction)].items():
        x = number(getattr(friction, field))
        if not (x > 0.0 if least else x >= 0.0) or not x < math.inf:
            expected = "a finite number above 0" if least else "a finite number of at least 0"
            found.append(wrong(name, f"friction: {field} is {x:g}; expected {expected}", "Mend it.", "friction"))
    if isinstance(friction, Anchor) and not found and number(friction.static) < number(friction.kinetic):
        problem = (
            f"friction: static is {number(friction.static):g} and kinetic {number(friction.kinetic):g}; "
            "expected static not below kinetic"
        )
        found.append(wrong(name, problem, "Swap them, or make them equal.", "friction"))
    return found


_FIELDS: dict[type, dict[str, bool]] = {  # fields, and whether they have to be above 0
    Regularized: {"coefficient": False, "speed": True},
    Anchor: {"static": False, "kinetic": False, "stiffness": True, "damping": False, "speed": True},
}
