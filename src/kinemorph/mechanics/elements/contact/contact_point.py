"""The force law of one touching point: the contact of one sphere with the ground.

The touching point is the deepest point of its sphere and is fixed to the body: its velocity gives slip and the rate of
penetration, and the force acts there, so that its power equals the stored and the dissipated power, to rounding.
EasyDyn puts the force half-way up the penetration instead, which is equally good; here, with the undeformed radius,
balls roll like rigid balls.

A law gets its point in the axes of the link that carries it, at the state itself or at the end of a step
(`steps.point_states`), and gives

    force       F n + f                                                     in link axes [N]
    linear      this force, and D = h (g (I - n n^T) + d n n^T)             for forces at the end of a step of size h:
                g = -(df/dv + h df/dx) along the ground, d likewise along n, neither of them below 0

with the normal force F along the normal n, and the friction f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinemorph.algebra.scalar import S, div, less, plus, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.contact.friction import AnchorState, Rubbed, tangential
from kinemorph.mechanics.elements.contact.grounds import Meeting, Surface
from kinemorph.mechanics.elements.contact.normal_forces import NormalLaw, Pressed
from kinemorph.mechanics.steps.point_states import at_most_stopped

NEARLY = 1e-3  # share of the depth: a smaller change in a step counts as no change


class Seen(Protocol):
    """The state of a point of a link, as far as a contact law needs it."""

    @property
    def position(self) -> Any: ...

    @property
    def velocity(self) -> Any: ...

    def into(self, vector: Sequence[S]) -> Any: ...


Rub = Callable[[Seen, S, Vec3, Vec3], tuple[Rubbed, AnchorState | None]]  # (point, normal force, slip, normal)


class Felt(NamedTuple):
    """The depth, slip and forces at a touching point; vectors are in link axes."""

    depth: S  # [m], below 0 where it does not touch
    normal: Vec3
    slip: Vec3  # [m/s]
    pressed: Pressed
    rubbed: Rubbed
    anchor: AnchorState | None  # None without an anchor


@dataclass(frozen=True, eq=False)
class Touch:
    """The law of one touching point. `rub` gives friction from the point, the normal force, the slip and the normal."""

    surface: Surface
    press: NormalLaw
    rub: Rub
    upward: Vec3  # the ground's normal under the point at the start of a step, in link axes
    depth: S  # [m] at the start of a step, below 0 where the point does not touch

    def ahead(self, guessed: Vec3, start: Vec3) -> Vec3:
        """The guessed velocity, changed so that it does not leave the ground while the point moves into it, in link
        axes.
        """
        return at_most_stopped(guessed, start, self.upward)

    def feel(self, point: Seen, meeting: Meeting | None = None) -> Felt:
        """The depth and forces at the point; `meeting` is its height over the ground, where that is known already."""
        height, n_W = meeting or self.surface(point.position)
        n = point.into(n_W)
        rise = dot(n, point.velocity)
        slip = tangential(point.velocity, n)
        pressed = self.press(-height, -rise)
        return Felt(-height, n, slip, pressed, *self.rub(point, pressed.force, slip, n))

    def force(self, point: Seen) -> Vec3:
        """The contact force [N] on the point, in link axes."""
        return total(self.feel(point))

    def stored(self, point: Seen) -> S:
        """The energy [J] stored in the contact."""
        felt = self.feel(point)
        return plus(felt.pressed.stored, felt.rubbed.stored)

    def linear(self, point: Seen, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of size h [s], with the point at the end of the step."""
        felt = self.feel(point)
        return total(felt), contact_slope(felt, h, -dot(felt.normal, point.velocity), self.press(self.depth, 0.0).force)


def contact_slope(felt: Felt, h: S, rate: S, before: S) -> Sym3:
    """The matrix D = h (g (I - n n^T) + d n n^T) for a step of size h [s], in the axes of the forces.

    Along the normal, d is the derivative of the force where the depth hardly changes. Where a step goes deeper, at the
    `rate` [m/s], the force grows faster than its derivative at the start: there d is the secant between the force and
    `before` [N], the force at the depth of the start. With the derivative, the body would sink in farther than its
    energy allows, and the contact would push it out with more energy.
    """
    grip = h * (felt.rubbed.by_velocity + h * felt.rubbed.by_place)
    slope = felt.pressed.by_rate + h * felt.pressed.by_depth
    deeper = less(times(NEARLY, felt.depth), h * rate)
    secant = div(felt.pressed.force - before, where(deeper, rate, 1.0))
    slope = where(times(deeper, less(0.0, felt.depth)), secant, slope)
    x, y, z = felt.normal
    a, b, c = scale(h * slope - grip, felt.normal)
    return (grip + a * x, a * y, a * z, grip + b * y, b * z, grip + c * z)


def total(felt: Felt) -> Vec3:
    """The whole contact force F n + f [N]: normal force and friction."""
    x, y, z = add(scale(felt.pressed.force, felt.normal), felt.rubbed.force)
    return (x, y, z)


def lowered(center: Sequence[S], radius: S, normal: Sequence[S]) -> Any:
    """The deepest point [m] of a sphere in the ground, where `normal` is the normal of the ground."""
    return sub(center, scale(radius, normal))
