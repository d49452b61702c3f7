"""Friction f from the normal force F, the slip velocity v, and the memory of anchors.

    None          no friction
    Regularized   f = -mu F v / max(|v|, speed): equation 20 of the EasyDyn paper
    Anchor        sticking   f = -(k s + c v), s from the anchor to the touching point, along the ground
                  sliding    f = -kinetic F w/|w|, w = v + speed e, e the direction in which it began to slide

All vectors are in the axes of one link. `anchors` has the changes of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, div, equal, maximum, sqrt, times, where
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.contact.normal_forces import number
from kinemorph.mechanics.elements.law import plain
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.model.elements.contact.contact_laws import Anchor, Coulomb

FREE, STICK, SLIP = 0.0, 1.0, 2.0  # modes of an anchored contact


class Rubbed(NamedTuple):
    """A friction force, its derivatives by the velocity and the position of the point, its power and stored energy."""

    force: Vec3  # [N], along the ground
    at_rest: Vec3  # [N], the force without its viscous part: force + by_velocity v
    by_velocity: S  # [N s/m], minus its derivative by the velocity: force = -by_velocity v + ..., at least 0
    by_place: S  # [N/m], minus its derivative by the position, at least 0
    dissipated: S  # [W]
    stored: S  # [J]


SMOOTH = Rubbed(ZERO3, ZERO3, 0.0, 0.0, 0.0, 0.0)


def regularized(coefficient: S, speed: S, force: S, slip: Sequence[S]) -> Rubbed:
    """Coulomb friction that is viscous where the slip is below `speed` [m/s]; `force` is the normal force [N]."""
    squared = dot(slip, slip)
    grip = div(times(coefficient, force), sqrt(maximum(squared, speed * speed)))
    return Rubbed(plain(scale(-grip, slip)), ZERO3, grip, 0.0, grip * squared, 0.0)


class AnchorState(NamedTuple):
    """The memory of an anchored contact: its mode, the vector from its anchor, and the direction in which it slides."""

    mode: S
    way: Vec3  # from the anchor to the touching point [m]
    along: Vec3  # `way` without its part along the normal
    direction: Vec3


def anchored(numbers: Sequence[S], force: S, slip: Sequence[S], anchor: AnchorState) -> Rubbed:
    """The friction of an anchored contact with the normal force `force` [N] and the velocity `slip` [m/s].

    `numbers` are static, kinetic, stiffness, damping and speed.
    """
    _, kinetic, k, c, speed = numbers
    sticks, slides = equal(anchor.mode, STICK), equal(anchor.mode, SLIP)
    spring = scale(-k, anchor.along)
    pull = sub(spring, scale(c, slip))
    off = scale(speed, anchor.direction)
    w = add(slip, off)
    grip = div(times(kinetic, force), sqrt(maximum(dot(w, w), 0.25 * speed * speed)))
    drag = scale(-grip, w)
    return Rubbed(
        plain([where(sticks, one, where(slides, other, 0.0)) for one, other in zip(pull, drag, strict=True)]),
        plain([where(sticks, a, where(slides, -grip * b, 0.0)) for a, b in zip(spring, off, strict=True)]),
        where(sticks, c, where(slides, grip, 0.0)),
        where(sticks, k, 0.0),
        where(sticks, c * dot(slip, slip), where(slides, grip * dot(w, slip), 0.0)),
        where(sticks, 0.5 * k * dot(anchor.way, anchor.way), 0.0),
    )


def tangential(vector: Sequence[S], normal: Sequence[S]) -> Any:
    """A vector without its component along a unit normal."""
    return sub(vector, scale(dot(vector, normal), normal))


def friction_problems(name: str, friction: Any) -> list[str]:
    """Problems of the friction of the element with this name, one sentence each."""
    if friction is None:
        return []
    if isinstance(friction, Coulomb):
        problem = "friction is Coulomb and the normal force is soft; expected None, Regularized or Anchor"
        return [wrong(name, problem, "Use Coulomb with normal=Rigid(...), or Regularized.", "friction")]
    if isinstance(friction, Anchor) and number(friction.static) < number(friction.kinetic):
        problem = (
            f"friction: static is {number(friction.static):g} and kinetic {number(friction.kinetic):g}; "
            "expected static to be at least kinetic"
        )
        return [wrong(name, problem, "Swap them, or make them equal.", "friction")]
    return []
