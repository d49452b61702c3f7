"""The force law of one touching point of a contact with the ground.

The touching point is a deepest point of its solid (`touching_points`) and is fixed to the body: its velocity gives slip
and the rate of penetration, and the force acts there, so that its power equals the stored and the dissipated power up
to rounding. EasyDyn puts the force half-way up the penetration instead, which is equally good; here, with the
undeformed radius, balls roll like rigid balls.

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

from kinemorph.algebra.scalar import S, div, less, maximum, minus, plus, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.contact.clearances import Clearance
from kinemorph.mechanics.elements.contact.friction import AnchorState, Rubbed, tangential
from kinemorph.mechanics.elements.contact.grounds import Meeting, Surface
from kinemorph.mechanics.elements.contact.normal_forces import NormalLaw, Pressed

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
    """The law of one touching point. `rub` gives friction from the point, the normal force, the slip and the normal.

    `clearance` is that of all points of a table with this law, if there is one.
    """

    surface: Surface
    press: NormalLaw
    rub: Rub
    start: Start
    clearance: Clearance | None = None

    def depth(self, point: Seen) -> S:
        """The depth of the point in the ground [m], below 0 above it."""
        return -self.surface(point.position).height

    def reached(self, point: Seen, h: S) -> S:
        """The depth [m] at which `linear` and `line` take the force; both are 0 where it is below 0."""
        height, n_W = self.surface(point.position)
        return self.start.within(-height, dot(point.into(n_W), point.velocity), h)[0]

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

    def pressing(self, point: Seen, f: Vec3) -> tuple[S, S]:
        """The normal part [N] of the force f at the end of a step, and what it lacks there; see `Start.missing`."""
        height, n_W = self.surface(point.position)
        normal = dot(point.into(n_W), f)
        return normal, self.start.missing(self.press, -height, normal)

    def linear(self, point: Seen, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of h [s], with the point at its end; D is the inertia that the force adds there."""
        height, n_W = self.surface(point.position)
        n = point.into(n_W)
        rise = dot(n, point.velocity)
        tangent = self.start.tangent(self.press, -height, rise, h)
        rubbed, _ = self.rub(point, tangent.pressed.force, tangential(point.velocity, n), n)
        return contact_tangent(tangent, rise, n, rubbed, h)

    def line(self, point: Seen, free: Vec3, h: S) -> tuple[Vec3, Sym3]:
        """(force at the velocity `free` [m/s] on the line of `linear`, D): `linear` with fewer operations.

        With the velocity w of the point along the normal n, and g and d as in the docstring of this file,

            D / h = g (I - n n^T) + d n n^T
            force = n (F + d (w - w_free) + g w_free) + (f + g slip) - g free
        """
        height, n_W = self.surface(point.position)
        n = point.into(n_W)
        rise, slip = dot(n, point.velocity), tangential(point.velocity, n)
        tangent = self.start.tangent(self.press, -height, rise, h)
        rubbed, _ = self.rub(point, tangent.pressed.force, slip, n)
        g, out = plus(rubbed.by_velocity, times(h, rubbed.by_place)), dot(n, free)
        at_rest = add(rubbed.at_rest, scale(times(h, rubbed.by_place), slip))
        x, y, z = sub(add(scale(plus(tangent.at(out), times(g, out)), n), at_rest), scale(g, free))
        return (x, y, z), _slopes(times(h, g), times(h, tangent.slope), n)


class Tangent(NamedTuple):
    """The normal force of a contact over a step, as a linear function of the velocity."""

    pressed: Pressed  # the force where the line meets it
    rise: S  # [m/s], the velocity out of the other body there
    slope: S  # [N s/m], minus the derivative of the force by this velocity

    def at(self, rise: S) -> S:
        """The force [N] on the line at another velocity [m/s]."""
        return plus(self.pressed.force, times(self.slope, minus(self.rise, rise)))


class Start(NamedTuple):
    """The state of a contact at the start of a step; it limits the velocity at which `tangent` linearizes the force."""

    depth: S  # [m], below 0 where nothing touches
    rise: S  # [m/s], the velocity out of the other body

    def missing(self, press: NormalLaw, depth: S, force: S) -> S:
        """By how much [N] the normal `force` [N] of a contact that ends a step at this depth [m] makes energy.

        Where the surfaces approach, it may lack force: the energy that its spring stores is at most the mean of the
        spring's forces at both ends times the way, as the spring's force is convex. So a force of at least this mean
        takes more energy than is stored, and one that pulls gives energy. Where the surfaces part, a force above that
        of the spring at the start, the largest on the way, returns energy that was not stored.
        """
        first = press.at_rest(maximum(self.depth, 0.0))
        needed = times(0.5, plus(first, press.at_rest(maximum(depth, 0.0))))
        excess = minus(force, times(1.0 + NEARLY, first))
        return maximum(where(less(self.depth, depth), minus(needed, force), excess), 0.0)

    def within(self, depth: S, rise: S, h: S) -> tuple[S, S]:
        """(depth [m], velocity out of the other body [m/s]) at which `tangent` takes the force; it says why."""
        least = where(less(maximum(self.rise, 0.0), rise), self.rise, rise)
        return depth + h * minus(rise, least), least

    def tangent(self, press: NormalLaw, depth: S, rise: S, h: S) -> Tangent:
        """The normal force, linear in the velocity, at the depth [m] and velocity `rise` [m/s] of a pass; h [s].

        The velocity comes from the accelerations of the step before. Just after an impact these may say that a body
        leaves, although it still moves in: linearized there, the contact would have no force, and the body would sink
        in so deep that the contact adds energy when it pushes the body out. So where the velocity is above that at the
        start, or above 0 where the body moves in, that of the start is taken.

        Where a step goes deeper, the force grows faster than its derivative says. There the line is the secant to the
        force at the depth of the start: with the derivative, the body would again sink in too deep.
        """
        within, least = self.within(depth, rise, h)
        pressed = press(within, -least)
        begun = maximum(self.depth, 0.0)  # the depth at the start, or 0 where it begins to touch within the step
        grown = minus(within, begun)
        deeper = less(times(NEARLY, within), grown)  # never where `within` is 0 or less
        secant = div(h * (pressed.force - press.at_rest(begun)), where(deeper, grown, 1.0))
        slope = where(deeper, secant, pressed.by_rate + h * pressed.by_depth)
        return Tangent(pressed, least, where(pressed.pushing, slope, 0.0))


def contact_tangent(tangent: Tangent, rise: S, n: Vec3, rubbed: Rubbed, h: S) -> tuple[Vec3, Sym3]:
    """(force, D) of a contact with the normal n at the velocity `rise` [m/s] along n, for a step of h [s].

    D is the inertia that the force adds at the end of the step, see `point_states.PointLaw.linear`.
    """
    fx, fy, fz = add(scale(tangent.at(rise), n), rubbed.force)
    return (fx, fy, fz), _slopes(h * (rubbed.by_velocity + h * rubbed.by_place), h * tangent.slope, n)


def _slopes(g: S, d: S, n: Vec3) -> Sym3:
    """The matrix g (I - n n^T) + d n n^T, (3, 3) symmetric: g along the ground, d along the normal n."""
    x, y, z = n
    a, b, c = scale(minus(d, g), n)
    return (g + a * x, a * y, a * z, g + b * y, b * z, g + c * z)


def total(felt: Felt) -> Vec3:
    """The whole contact force F n + f [N]: normal force and friction."""
    x, y, z = add(scale(felt.pressed.force, felt.normal), felt.rubbed.force)
    return (x, y, z)
