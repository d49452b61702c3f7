"""A touching point as a force law: the contact at one of its spheres.

The point is the deepest one of its sphere, a point of the body: its velocity gives slip and the rate of penetration,
and the force acts there, so that its power equals what is stored and dissipated, to rounding. EasyDyn puts the force
half-way up the penetration instead, which is as good; with the undeformed radius, balls roll by the formulas of rigid
ones.

A law sees its point in the axes of the link that carries it, at the state itself or at the end of a step
(`steps.point_states`), and gives

    force       F n + f                                                     in link axes [N]
    linear      the same, and D = h (g (I - n n^T) + d n n^T)               for forces at the end of a step of h:
                g = -(df/dv + h df/dx) along the ground, d likewise along n, none of them below 0
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

NEARLY = 1e-3  # a step that changes the depth by less than this share of it keeps it


class Seen(Protocol):
    """A point of a link, as a law of contact sees it."""

    @property
    def position(self) -> Any: ...

    @property
    def velocity(self) -> Any: ...

    def into(self, vector: Sequence[S]) -> Any: ...


Rub = Callable[[Seen, S, Vec3, Vec3], tuple[Rubbed, AnchorState | None]]  # (point, normal force, slip, normal)


class Felt(NamedTuple):
    """Depth, velocities and forces at a touching point; vectors in link axes."""

    depth: S  # [m], below 0 where it does not touch
    normal: Vec3
    slip: Vec3  # [m/s]
    pressed: Pressed
    rubbed: Rubbed
    anchor: AnchorState | None  # None without an anchor


@dataclass(frozen=True, eq=False)
class Touch:
    """The law of one touching point. `rub` gives friction from the normal force, slip, place and normal."""

    surface: Surface
    press: NormalLaw
    rub: Rub
    upward: Vec3  # the ground's normal under the point at the start of a step, in link axes
    depth: S  # [m] at the start of a step, below 0 where the point does not touch

    def ahead(self, guessed: Vec3, start: Vec3) -> Vec3:
        """A guessed velocity that does not leave the ground while the point moves into it, in link axes."""
        return at_most_stopped(guessed, start, self.upward)

    def feel(self, point: Seen, meeting: Meeting | None = None) -> Felt:
        """Depth and forces at the point; `meeting` is its height over the ground where that is known."""
        height, n_W = meeting or self.surface(point.position)
        n = point.into(n_W)
        rise = dot(n, point.velocity)
        slip = tangential(point.velocity, n)
        pressed = self.press(-height, -rise)
        return Felt(-height, n, slip, pressed, *self.rub(point, pressed.force, slip, n))

    def force(self, point: Seen) -> Vec3:
        """The force [N], in link axes."""
        return total(self.feel(point))

    def stored(self, point: Seen) -> S:
        """The stored energy [J]."""
        felt = self.feel(point)
        return plus(felt.pressed.stored, felt.rubbed.stored)

    def linear(self, point: Seen, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of h [s], with the point at its end."""
        felt = self.feel(point)
        return total(felt), contact_slope(felt, h, -dot(felt.normal, point.velocity), self.press(self.depth, 0.0).force)


def contact_slope(felt: Felt, h: S, rate: S, before: S) -> Sym3:
    """D = h (g (I - n n^T) + d n n^T) of a step of h [s], in the axes of the forces.

    Along the normal, d is the slope where the depth stays nearly as it is. Where a step would go in deeper, at the
    `rate` [m/s], the force grows faster than its slope at the start: d is the secant between the force there and
    `before` [N], the force of the depth at the start. A tangent would let the body sink in farther than its energy
    allows, and the contact would throw it out with more.
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
    """F n + f."""
    x, y, z = add(scale(felt.pressed.force, felt.normal), felt.rubbed.force)
    return (x, y, z)


def lowered(center: Sequence[S], radius: S, normal: Sequence[S]) -> Any:
    """The deepest point of a sphere, where the ground's normal is `normal`."""
    return sub(center, scale(radius, normal))
