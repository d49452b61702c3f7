"""The laws of pulls: springs from a point of a body to a target in the world, which is an input.

A pull on any body selects the pose and the velocity of its body among those of all bodies, computes one force, and
hands it to that body: all other bodies get zero. The body is chosen by an input, so one compiled plant can pull any
body. Its cost grows with the number of bodies: it needs their poses in the world, and 24 selections for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, absolute, less, minus, times, where
from kinemorph.algebra.vectors import Mat, add, cross, identity, matvec, matvec_transposed, sub
from kinemorph.mechanics.elements.checks import known_body
from kinemorph.mechanics.elements.forces.bushings import Springs, springs
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, Slot, Stiff, Wrench, register
from kinemorph.mechanics.steps.pair_forces import PairForce
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.elements.forces.pulls import Pull
from kinemorph.model.robot import Robot

TARGET = (Slot("x", "m"), Slot("y", "m"), Slot("z", "m"), Slot("share"))
GRIP = (Slot("body"), Slot("point_x", "m"), Slot("point_y", "m"), Slot("point_z", "m"))


class Stretched(NamedTuple):
    """A pull at one instant, in world axes: stiffness and damping times the share, three equal numbers each.

    `apart` [m] is the displacement from the target to the point; `force` [N] acts on the point. Dissipated power is in
    [W], stored energy in [J].
    """

    stiffness: Sequence[S]
    damping: Sequence[S]
    apart: Any
    force: Any
    dissipated: S
    stored: S


class PullLaw(ElementLaw[Pull]):
    """A pull at a given point of a given body."""

    set_by_hand = True

    def of(self, element: Pull) -> ElementLaw[Any]:
        return self if element.body else ANY_BODY

    def problems(self, element: Pull, robot: Robot) -> list[str]:
        return known_body(element, "body", element.body, robot) if element.body else []

    def inputs(self, element: Pull) -> tuple[Slot, ...]:
        return TARGET

    def signals(self, element: Pull) -> tuple[Slot, ...]:
        return (*(Slot(f"force_{axis}", "N") for axis in "xyz"), *(Slot(f"point_{axis}", "m") for axis in "xyz"))

    def publish(self, element: Pull, view: ElementView) -> Mapping[str, S]:
        """The force on the point and the position of the point, in world axes."""
        pulled = self.stretched(element, view)
        values = (*pulled.force, *add(pulled.apart, target(view)))
        return {slot.name: value for slot, value in zip(self.signals(element), values, strict=True)}

    def stretched(self, element: Pull, view: ElementView) -> Stretched:
        """The pull at this instant."""
        point = view.point(element.body, element.point)
        return stretched(element, view, point.position, point.out(point.velocity))

    def effort(self, element: Pull, view: ElementView) -> Effort:
        pulled, point = self.stretched(element, view), view.point(element.body, element.point)
        push = Push(point, point.into(pulled.force))
        return Effort(pushes=(push,), dissipated=pulled.dissipated, stored=pulled.stored)

    def stiff(self, element: Pull, view: ElementView) -> Stiff | None:
        point: PointState = view.point(element.body, element.point)
        pulled = self.stretched(element, view)
        law = Springs(identity(3), pulled.apart, pulled.stiffness, pulled.damping, ZERO3)
        return Stiff(pairs=(PairForce((point.link, WORLD), (point.point, ZERO3), law),))


class Held(NamedTuple):
    """The body that is pulled: its axes R (3, 3) in the world, and the point `r` [m] on it, in its axes.

    `position` [m] and `velocity` [m/s] of the point are in world axes. `chosen` has a number for each body: 1 for the
    body that is pulled, else 0.
    """

    R: Mat
    r: Any
    position: Any
    velocity: Any
    chosen: list[S]


class AnyBodyPullLaw(PullLaw):
    """A pull at any point of any body, which inputs choose. Implicit steps use its force at their start."""

    def inputs(self, element: Pull) -> tuple[Slot, ...]:
        return (*TARGET, *GRIP)

    def acts_on(self, element: Pull, robot: Robot) -> Sequence[str]:
        return robot.body_names

    def stretched(self, element: Pull, view: ElementView) -> Stretched:
        held = self._held(element, view)
        return stretched(element, view, held.position, held.velocity)

    def effort(self, element: Pull, view: ElementView) -> Effort:
        held = self._held(element, view)
        pulled = stretched(element, view, held.position, held.velocity)
        force = matvec_transposed(held.R, pulled.force)
        moment = cross(held.r, force)
        wrenches = [
            Wrench(view.frame(name), _where(one, force, ZERO3), _where(one, moment, ZERO3))
            for name, one in zip(view.robot.body_names, held.chosen, strict=True)
        ]
        return Effort(wrenches=wrenches, dissipated=pulled.dissipated, stored=pulled.stored)

    def stiff(self, element: Pull, view: ElementView) -> Stiff | None:
        return None

    def _held(self, element: Pull, view: ElementView) -> Held:
        r = add(view.value(element.point), [view.input(slot.name) for slot in GRIP[1:]])
        number = view.input("body")
        chosen = [less(absolute(minus(number, float(k))), 0.5) for k in range(len(view.robot.body_names))]
        R: Any = identity(3)
        p, u, w = ZERO3, ZERO3, ZERO3
        for name, one in zip(view.robot.body_names, chosen, strict=True):
            frame = view.frame(name)
            R = [_where(one, row, other) for row, other in zip(frame.pose.R, R, strict=True)]
            p, u, w = (
                _where(one, found, other)
                for found, other in ((frame.pose.p, p), (frame.velocity, u), (frame.turning, w))
            )
        return Held(R, r, add(p, matvec(R, r)), matvec(R, add(u, cross(w, r))), chosen)


def stretched(element: Pull, view: ElementView, position: Any, velocity: Any) -> Stretched:
    """The pull at a point with this position [m] and velocity [m/s], in world axes."""
    share = view.input("share")
    stiffness, damping = ((times(share, value),) * 3 for value in view.value((element.stiffness, element.damping)))
    apart = sub(position, target(view))
    return Stretched(stiffness, damping, apart, *springs(apart, velocity, stiffness, damping, ZERO3))


def target(view: ElementView) -> list[S]:
    """The target of a pull [m], in world axes."""
    return [view.input(slot.name) for slot in TARGET[:3]]


def _where(condition: S, these: Sequence[S], others: Sequence[S]) -> tuple[S, ...]:
    """The vector `these` where a condition is not 0, else the vector `others`."""
    return tuple(where(condition, one, other) for one, other in zip(these, others, strict=True))


ANY_BODY = AnyBodyPullLaw()
register(Pull, PullLaw())
