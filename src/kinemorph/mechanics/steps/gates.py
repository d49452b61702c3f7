"""Gates of forces at many points of a link (`algebra.rows.Gate`): which of them may act in a step.

The force of a contact is 0 in a step where its point is above the ground in all states that its law looks at:

    late     the end of the step, with the accelerations of the pass before
    steady   the same with the velocities of the start, to which the law may go back
    end      the end of the step, with the accelerations that were found, for the account of its energy

Each of them moves a link as a rigid body does, linearly in the place on the link: so a box around all points that is
above the ground in these states has no force.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from kinemorph.algebra.rows import OPEN, Gate, has_rows
from kinemorph.algebra.scalar import S, maximum, minimum, minus, plus, times
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.algebra.vectors import add, dot, scale
from kinemorph.mechanics.steps.point_states import PointForce, PointState, Sight

MARGIN = 1e-6  # [m]: points that are closer to the ground are computed, whatever rounding does, in float32 too


class Moved(NamedTuple):
    """A motion of a link for a time: the place p moves at the velocity u + U p, all in its axes."""

    u: Vec3  # [m/s]
    U: Mat3  # [1/s], by rows
    h: S  # [s]

    def height(self, sight: Sight, link: int, normal: Sequence[S]) -> tuple[S, Vec3]:
        """The height [m] along a normal in world axes afterwards: at the origin of the link, and its gradient."""
        n, level = sight.into(link, normal), sum((times(x, sight.row(link, k)[1]) for k, x in enumerate(normal)), 0.0)
        (x, y, z), U = n, self.U
        a, b, c = (
            plus(n[k], times(self.h, plus(plus(times(x, U[k]), times(y, U[k + 3])), times(z, U[k + 6]))))
            for k in range(3)
        )
        return plus(level, times(self.h, dot(n, self.u))), (a, b, c)


def steady(twist: tuple[Vec3, Vec3], h: S) -> Moved:
    """The motion of a link that keeps its twist, the velocity of its origin and its angular velocity, for h [s]."""
    return Moved(twist[0], _turning(twist[1]), h)


def late_motion(free: tuple[Vec3, Mat3], more: tuple[Vec3, Vec3] | None, h: S, left: S) -> Moved:
    """The motion for the time `left` [s] at the velocity of the end of a step of h [s]: `free` is this velocity (u, U)
    without joint accelerations, and `more` the acceleration of the link, linear and angular, that these add.
    """
    u, U = free
    if more is None:
        return Moved(u, U, left)
    x, y, z = add(u, scale(h, more[0]))
    return Moved((x, y, z), tuple(plus(one, times(h, w)) for one, w in zip(U, _turning(more[1]), strict=True)), left)


def grounded(force: PointForce) -> bool:
    """Whether a force stands for contacts at many points, which may have a gate."""
    return hasattr(force.law, "reached") and any(map(has_rows, force.point))


def gate(force: PointForce, sight: Sight, depth: S, motions: Sequence[Moved]) -> Gate:
    """The gate of a grounded force that is 0 where its point is above the ground after these motions, `depth` [m] below
    0.
    """
    clearance = force.law.clearance  # type: ignore[attr-defined]
    return near_ground(depth, [clearance.lowest(sight, force.link, one) for one in motions] if clearance else [])


def line_gate(
    force: PointForce,
    late: PointState,
    free: tuple[Vec3, Mat3],
    more: tuple[Vec3, Vec3] | None,
    twist: tuple[Vec3, Vec3],
    h: S,
) -> Gate:
    """The gate of a force over a step of h [s], with the state of its point at the end, and the `twist` of its link at
    the start; `free` and `more` are those of `late_motion`.
    """
    if not grounded(force):
        return OPEN
    law: Any = force.law
    motions = [late_motion(free, more, h, late.step), steady(twist, late.step)]
    return gate(force, late.sight, law.reached(late, late.step), motions)


def _turning(w: Vec3) -> Mat3:
    """The matrix [w x] by rows."""
    x, y, z = w
    return (0.0, minus(0.0, z), y, z, 0.0, minus(0.0, x), minus(0.0, y), x, 0.0)


def near_ground(depth: S, lowest: Sequence[S]) -> Gate:
    """The gate that is open where the depth [m] of a point may be above 0; `lowest` are lower bounds [m] of the heights
    of all points, if they are known.
    """
    return Gate(minus(MARGIN, reduce(minimum, lowest)) if lowest else None, plus(depth, MARGIN))


def either(one: Gate, other: Gate) -> Gate:
    """The gate that is open where one of two gates is."""
    x, y = (None if None in pair else maximum(*pair) for pair in zip(one, other, strict=True))
    return Gate(x, y)
