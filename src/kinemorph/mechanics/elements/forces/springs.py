"""The laws of springs, dampers, ropes and bumpers between points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from kinemorph.algebra.scalar import S, div, maximum, minimum, minus, sqrt
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import dot, scale, sub
from kinemorph.mechanics.elements.checks import known_ends, wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, Slot, Stiff, plain, register
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.steps.point_states import JointState, PointState, joint_slope
from kinemorph.model.elements.forces.springs import Bumper, Damper, Rope, Spring
from kinemorph.model.robot import Robot

E = TypeVar("E")
TINY = 1e-12  # [m]; below this length a spring has no direction and no force


class LineLaw(ElementLaw[E]):
    """The abstract base of laws with a pull along the line between two points."""

    def problems(self, element: Any, robot: Robot) -> list[str]:
        found = known_ends(element, robot)
        if (element.body_a, element.point_a) == (element.body_b, element.point_b):
            problem = f"both ends are at {element.point_a} of '{element.body_a}'; expected two different points"
            found.append(wrong(element.name, problem, "Name another body or point."))
        return found

    def pull(self, element: E, view: ElementView, length: S, speed: S) -> tuple[S, S, S]:
        """(pull [N], dissipated power [W], stored energy [J]) at a length [m] and its rate [m/s]."""
        raise AssertionError(f"{type(self).__name__} does not define its method `pull`. Define it.")

    def effort(self, element: Any, view: ElementView) -> Effort:
        a, b = view.point(element.body_a, element.point_a), view.point(element.body_b, element.point_b)
        direction, length, speed = line(a, b)
        pull, dissipated, stored = self.pull(element, view, length, speed)
        pushes = (Push(a, scale(pull, a.into(direction))), Push(b, scale(-pull, b.into(direction))))
        return Effort(pushes=pushes, dissipated=dissipated, stored=stored)

    def signals(self, element: E) -> tuple[Slot, ...]:
        return Slot("force", "N"), Slot("length", "m"), Slot("rate", "m/s")

    def publish(self, element: Any, view: ElementView) -> Mapping[str, S]:
        """The pull [N], below 0 where it pushes the points apart, their distance [m] and its rate [m/s]."""
        a, b = view.point(element.body_a, element.point_a), view.point(element.body_b, element.point_b)
        _, length, speed = line(a, b)
        return {"force": self.pull(element, view, length, speed)[0], "length": length, "rate": speed}

    def stiff(self, element: Any, view: ElementView) -> Stiff:
        a, b = view.point(element.body_a, element.point_a), view.point(element.body_b, element.point_b)
        direction, length, _ = line(a, b)
        law = LineForce(plain(direction), length, partial(self.pull, element, view))
        return Stiff(pairs=(PairForce((a.link, b.link), (a.point, b.point), law),))


@dataclass(frozen=True, eq=False)
class LineForce:
    """A pull along the line between two points: the force on the first one.

    An implicit step evaluates it at the end of the step (see `mechanics.steps.implicit_forces`).
    Within a step the direction stays as it is at the start of the step, and the length changes with the velocity.
    """

    direction: Vec3  # from the first to the second, of length 1, in world axes
    length: S  # [m] at the start of the step
    pull: Callable[[S, S], tuple[S, S, S]]  # (pull [N], ..., stored energy [J]) at a length [m] and its rate [m/s]

    def force(self, pair: PairState) -> Vec3:
        """The force [N] on the first point, in world axes."""
        return plain(scale(self._push(self._stretch(pair)), scale(-1.0, self.direction)))

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) for a step of h [s]; D is the inertia that the force adds along the line, see `pair_forces`."""
        push, pivot = joint_slope(self._push, self._stretch(pair), h)
        x, y, z = self.direction
        a, b, c = scale(pivot, self.direction)
        return plain(scale(push, scale(-1.0, self.direction))), (a * x, a * y, a * z, b * y, b * z, c * z)

    def stored(self, pair: PairState) -> S:
        """The energy [J] stored at this state of the line."""
        at = self._stretch(pair)
        return self.pull(at.position, at.velocity)[2]

    def _push(self, at: JointState) -> S:
        return -self.pull(at.position, at.velocity)[0]

    def _stretch(self, pair: PairState) -> JointState:
        """The length [m] of the line and its rate [m/s], as position and velocity."""
        return JointState(
            minus(self.length, dot(self.direction, pair.moved)), minus(0.0, dot(self.direction, pair.velocity))
        )


class SpringLaw(LineLaw[Spring]):
    """The pull k (L - L0) + c dL/dt of a spring of length L with stiffness k, rest length L0 and damping c."""

    steady = True

    def pull(self, element: Spring, view: ElementView, length: S, speed: S) -> tuple[S, S, S]:
        stiffness, rest, damping = view.value((element.stiffness, element.rest, element.damping))
        stretch = length - rest
        dissipated = damping * speed * speed
        return stiffness * stretch + damping * speed, dissipated, 0.5 * stiffness * stretch * stretch


class DamperLaw(LineLaw[Damper]):
    """The pull c dL/dt of a damper of length L with damping c."""

    steady = True

    def pull(self, element: Damper, view: ElementView, length: S, speed: S) -> tuple[S, S, S]:
        damping = view.value(element.damping)
        return damping * speed, damping * speed * speed, 0.0


class RopeLaw(LineLaw[Rope]):
    """A rope: it pulls beyond its rest length, and never pushes."""

    def pull(self, element: Rope, view: ElementView, length: S, speed: S) -> tuple[S, S, S]:
        k, c, onset, rest = view.value((element.stiffness, element.damping, element.onset, element.rest))
        return one_sided(length - rest, speed, k, c, onset)


class BumperLaw(LineLaw[Bumper]):
    """A bumper: it pushes below its rest length, and never pulls."""

    def pull(self, element: Bumper, view: ElementView, length: S, speed: S) -> tuple[S, S, S]:
        k, c, onset, rest = view.value((element.stiffness, element.damping, element.onset, element.rest))
        push, dissipated, stored = one_sided(rest - length, -speed, k, c, onset)
        return -push, dissipated, stored


def one_sided(s: S, rate: S, stiffness: S, damping: S, onset: S) -> tuple[S, S, S]:
    """(force against s, dissipated power, stored energy) of a spring with damper that acts only for s > 0, and only
    against s.

    The force is  max(0, stiffness s + damping r ds/dt),  where r rises from 0 to 1 as s goes from 0 to `onset`. The
    difference to the spring's force is dissipated, also where the sum is clamped to 0: then ds/dt < 0, and the loss is
    not below 0.
    """
    beyond = maximum(s, 0.0)
    elastic = stiffness * beyond
    force = maximum(elastic + damping * minimum(div(beyond, onset), 1.0) * rate, 0.0)
    return force, (force - elastic) * rate, 0.5 * elastic * beyond


def line(a: PointState, b: PointState) -> tuple[S, S, S]:
    """(unit vector from a to b in world axes, distance [m], its rate [m/s])."""
    apart = sub(b.position, a.position)
    length = sqrt(maximum(dot(apart, apart), TINY * TINY))
    direction = scale(div(1.0, length), apart)
    return direction, length, dot(direction, sub(b.out(b.velocity), a.out(a.velocity)))


register(Spring, SpringLaw())
register(Damper, DamperLaw())
register(Rope, RopeLaw())
register(Bumper, BumperLaw())
