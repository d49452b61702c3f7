"""The law of massless spring legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.scalar import S, div, less, maximum, sqrt, where
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.checks import known_body, wrong
from kinemorph.mechanics.elements.contact.grounds import ground_problems, surface
from kinemorph.mechanics.elements.forces.springs import LineForce
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Change, Effort, ElementLaw, Push, Slot, Stiff, plain, register
from kinemorph.mechanics.steps.pair_forces import PairForce
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

TINY = 1e-12  # [m]; below this length a leg has no direction


class SpringLegLaw(ElementLaw[SpringLeg]):
    """A massless spring leg. Its memory is whether it stands, and the position of its foot in the world [m]."""

    switched_by_edges = True

    def problems(self, element: SpringLeg, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        found += ground_problems(element.name, element.ground)
        if not any(evaluate_all(element.direction)):
            problem = "direction is (0, 0, 0); expected a vector that is not zero"
            found.append(wrong(element.name, problem, "Give (0, 0, -1) for a leg that points down.", "direction"))
        return found

    def memory(self, element: SpringLeg) -> tuple[Slot, ...]:
        return (Slot("stance"), *(Slot(f"foot_{axis}", "m") for axis in "xyz"))

    def signals(self, element: SpringLeg) -> tuple[Slot, ...]:
        return (Slot("force", "N"), Slot("length", "m"), Slot("stance"))

    def entered(self, element: SpringLeg, view: ElementView) -> Sequence[S]:
        return [1.0, *_foot(element, view)] if _in_phases(view) else view.m

    def effort(self, element: SpringLeg, view: ElementView) -> Effort:
        hip = _hip(element, view)
        k, rest = view.value((element.stiffness, element.length))
        length, up = _stretched(hip, view)
        short, stands = rest - length, view.m[0]
        force = where(stands, k * short, 0.0)
        return Effort(
            pushes=(Push(hip, scale(force, hip.into(up))),), stored=where(stands, 0.5 * k * short * short, 0.0)
        )

    def stiff(self, element: SpringLeg, view: ElementView) -> Stiff:
        hip, stands = _hip(element, view), view.m[0]
        k, rest = view.value((element.stiffness, element.length))
        length, up = _stretched(hip, view)

        def pull(now: S, rate: S) -> tuple[S, S, S]:
            longer = now - rest
            return where(stands, k * longer, 0.0), 0.0, where(stands, 0.5 * k * longer * longer, 0.0)

        law = LineForce(plain(scale(-1.0, up)), length, pull)
        return Stiff(pairs=(PairForce((hip.link, WORLD), (hip.point, ZERO3), law),))

    def publish(self, element: SpringLeg, view: ElementView) -> Mapping[str, S]:
        k, rest = view.value((element.stiffness, element.length))
        length, _ = _stretched(_hip(element, view), view)
        stands = view.active if _in_phases(view) else view.m[0]
        return {
            "force": where(stands, k * (rest - length), 0.0),
            "length": where(stands, length, rest),
            "stance": stands,
        }

    def settles(self, element: SpringLeg) -> bool:
        return True

    def settle(self, element: SpringLeg, view: ElementView) -> Change:
        down, up = self.guard_values(element, view)
        landing, leaving = self.switch(element, view, 0), self.switch(element, view, 1)
        rise = dot(surface(element.ground, view.value)(_foot(element, view)).normal, _speed(element, view))
        lands = less(down, 0.0) * less(rise, 0.0) * (1.0 - view.m[0])
        leaves = less(up, 0.0) * view.m[0]
        after = [where(lands, a, b) for a, b in zip(landing.memory, view.m, strict=True)]
        return Change(
            [where(leaves, a, b) for a, b in zip(leaving.memory, after, strict=True)],
            where(lands, landing.lost, where(leaves, leaving.lost, 0.0)),
        )

    def guards(self, element: SpringLeg) -> tuple[str, ...]:
        return ("touchdown", "liftoff")

    def guard_values(self, element: SpringLeg, view: ElementView) -> Sequence[S]:
        if _in_phases(view):
            return ()
        height = surface(element.ground, view.value)(_foot(element, view)).height
        short = view.value(element.length) - _stretched(_hip(element, view), view)[0]
        return [where(view.m[0], 1.0, height), where(view.m[0], short, 1.0)]

    def switch(self, element: SpringLeg, view: ElementView, guard: int) -> Change:
        k, rest = view.value((element.stiffness, element.length))
        if guard == 0:
            foot = _foot(element, view)
            return Change([1.0, *foot])
        short = rest - _stretched(_hip(element, view), view)[0]
        return Change([0.0] * 4, 0.5 * k * short * short)


def _in_phases(view: ElementView) -> bool:
    """Whether phases of an automaton name the leg: then it stands in these phases, from the first instant of each."""
    return view.phases is not None


def _hip(element: SpringLeg, view: ElementView) -> PointState:
    return view.point(element.body, element.point)


def _speed(element: SpringLeg, view: ElementView) -> Any:
    hip = _hip(element, view)
    return hip.out(hip.velocity)


def _foot(element: SpringLeg, view: ElementView) -> Any:
    """The position of the foot in the world [m] while the leg is in flight."""
    direction, length = view.value((element.direction, element.length))
    along = scale(length / sqrt(dot(direction, direction)), direction)
    return add(_hip(element, view).position, along)


def _stretched(hip: PointState, view: ElementView) -> tuple[S, Any]:
    """(length [m], unit vector from the foot to the hip in world axes) while the leg stands."""
    apart = sub(hip.position, view.m[1:4])
    length = sqrt(maximum(dot(apart, apart), TINY * TINY))
    return length, scale(div(1.0, length), apart)


register(SpringLeg, SpringLegLaw())
