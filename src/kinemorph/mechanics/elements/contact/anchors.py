"""The memory of anchored friction: a mode, the anchor, and the direction of sliding, in world axes.

                     touches                      |f| > static F
        free  ──────────────────────►  slides  ◄──────────────────  sticks
              ◄── leaves, from both            ──────────────────►
                                                  comes to a halt

f is the friction force, F the normal force and `static` the coefficient of static friction. A point that touches while
it hardly moves sticks at once. A point that has come to a halt sticks to an anchor whose spring pulls with the force of
sliding, so that the force does not jump; the spring was loaded while the point slid. Its energy was counted as
dissipated, so it is subtracted from the loss again. The energy of a spring that lets go is lost.

The direction in memory follows that of the velocity: an event renews it where both are apart by more than 26 degrees.
Where a method locates no events, `settled` changes the memory after each step. A change of direction by more than a
right angle between two steps of sliding counts as a halt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, div, equal, less, maximum, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot, scale
from kinemorph.mechanics.elements.contact.friction import FREE, SLIP, STICK
from kinemorph.mechanics.elements.law import Change, Slot

GUARDS = ("touches", "leaves", "lets go", "halts")
SLOTS = (
    Slot("mode"),
    *(Slot(f"anchor_{axis}", "m") for axis in "xyz"),
    *(Slot(f"direction_{axis}") for axis in "xyz"),
)
SIZE = len(SLOTS)
STRAIGHT = 0.9  # cosine of the largest angle between the velocity of sliding and its direction in memory, 26 degrees
STILL = 1e-150  # [m/s]; below this, velocity has no direction


class Now(NamedTuple):
    """The state of an anchored contact at this instant; vectors are in world axes."""

    memory: Sequence[S]
    place: Sequence[S]  # position of the touching point [m]; where surfaces roll, the distance it has slipped
    way: Sequence[S]  # from the anchor to the touching point, along the ground [m]
    slip: Sequence[S]  # [m/s]
    depth: S
    normal: S  # force [N]
    friction: Sequence[S]  # [N], by the mode in memory
    stored: S  # [J]
    numbers: Sequence[S]  # static, kinetic, stiffness, damping, speed

    @property
    def fast(self) -> S:
        """The speed of slip [m/s], with a finite derivative at 0."""
        return sqrt(maximum(dot(self.slip, self.slip), STILL * STILL))

    @property
    def onward(self) -> S:
        """The velocity of slip [m/s] along the direction of sliding in memory."""
        return dot(self.slip, self.memory[4:7])

    @property
    def spare(self) -> S:
        """The largest friction force of sticking minus the present friction force [N]; below 0 the point slides."""
        size = sqrt(maximum(dot(self.friction, self.friction), STILL * STILL))
        return times(self.numbers[0], self.normal) - size


def values(now: Now) -> list[S]:
    """The values of the guards, in the order of GUARDS; a guard that does not apply in this mode is 1."""
    mode = now.memory[0]
    free, sticks, slides = (equal(mode, kind) for kind in (FREE, STICK, SLIP))
    return [
        where(free, -now.depth, 1.0),
        where(free, 1.0, now.depth),
        where(sticks, now.spare, 1.0),
        where(slides, now.onward - STRAIGHT * now.fast, 1.0),
    ]


def switched(now: Now, guard: int) -> Change:
    """The change of memory after the guard with this number has fallen through zero."""
    halted = less(now.fast, now.numbers[4])  # a faster point has only turned
    after = (
        lambda: _landed(now),
        lambda: GONE,
        lambda: _loose(now),
        lambda: _chosen(halted, _stuck(now, now.friction), _sliding(now)),
    )[guard]()
    return Change(after[:SIZE], now.stored - after[SIZE])


def settled(now: Now) -> Change:
    """The change of memory after an accepted step."""
    mode = now.memory[0]
    same = [*now.memory, now.stored]
    sticking = _chosen(less(now.spare, 0.0), _loose(now), same)
    turning = _chosen(less(now.numbers[4], now.fast), _sliding(now), same)
    slid = scale(-times(now.numbers[1], now.normal), now.memory[4:7])  # friction before it turned back in this step
    sliding = _chosen(less(now.onward, 0.0), _stuck(now, slid), turning)
    touching = _chosen(equal(mode, FREE), _landed(now), _chosen(equal(mode, STICK), sticking, sliding))
    after = _chosen(less(0.0, now.depth), touching, GONE)
    return Change(after[:SIZE], now.stored - after[SIZE])


# ── new memory, followed by the energy [J] that is then stored in the spring ──────────────────────────────────────────

GONE: list[S] = [FREE, *[0.0] * SIZE]


def _landed(now: Now) -> list[S]:
    return _chosen(less(now.numbers[4], now.fast), _sliding(now), [STICK, *now.place, 0.0, 0.0, 0.0, 0.0])


def _sliding(now: Now) -> list[S]:
    return [SLIP, 0.0, 0.0, 0.0, *scale(div(1.0, now.fast), now.slip), 0.0]


def _loose(now: Now) -> list[S]:
    """The memory of a point that begins to slide, along its velocity, or at rest along the stretch of its spring."""
    length = sqrt(maximum(dot(now.way, now.way), STILL * STILL))
    stretched = [SLIP, 0.0, 0.0, 0.0, *scale(div(1.0, length), now.way), 0.0]
    return _chosen(less(STILL, now.fast), _sliding(now), stretched)


def _stuck(now: Now, friction: Sequence[S]) -> list[S]:
    """The memory of a point that begins to stick; `friction` [N] is the force while it still slid.

    Its anchor is placed so that the spring to it pulls with this force, which does not jump.
    """
    stretch = scale(div(1.0, now.numbers[2]), friction)
    anchor = [plus(one, other) for one, other in zip(now.place, stretch, strict=True)]
    return [STICK, *anchor, 0.0, 0.0, 0.0, 0.5 * dot(friction, stretch)]


def _chosen(condition: S, one: Sequence[S], other: Sequence[S]) -> list[S]:
    return [where(condition, a, b) for a, b in zip(one, other, strict=True)]
