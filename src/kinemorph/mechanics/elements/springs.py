"""The laws of springs and dampers between points."""

from __future__ import annotations

from kinemorph.algebra.scalar import S, div, maximum, sqrt
from kinemorph.algebra.vectors import dot, scale, sub
from kinemorph.mechanics.elements.checks import known_body, not_negative
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, register
from kinemorph.mechanics.elements.scene import Scene
from kinemorph.mechanics.point_states import PointState
from kinemorph.model.elements.springs import Spring
from kinemorph.model.robot import Robot

TINY = 1e-12  # [m]; below this length a spring has no direction, and pulls with nothing


class SpringLaw(ElementLaw[Spring]):
    """Along the line between two points."""

    def problems(self, element: Spring, robot: Robot) -> list[str]:
        found = not_negative(element, "stiffness", "rest", "damping")
        for what in ("body_a", "body_b"):
            found += known_body(element, what, getattr(element, what), robot)
        return found

    def effort(self, element: Spring, scene: Scene) -> Effort:
        a, b = scene.point(element.body_a, element.point_a), scene.point(element.body_b, element.point_b)
        stiffness, rest, damping = scene.value((element.stiffness, element.rest, element.damping))
        direction, length, speed = line(a, b)
        stretch = length - rest
        pull = stiffness * stretch + damping * speed
        return Effort(
            pushes=(Push(a, scale(pull, a.into(direction))), Push(b, scale(-pull, b.into(direction)))),
            dissipated=damping * speed * speed,
            stored=0.5 * stiffness * stretch * stretch,
        )


def line(a: PointState, b: PointState) -> tuple[S, S, S]:
    """(unit vector from a to b in world axes, distance [m], its rate [m/s])."""
    apart = sub(b.position, a.position)
    length = sqrt(maximum(dot(apart, apart), TINY * TINY))
    direction = scale(div(1.0, length), apart)
    return direction, length, dot(direction, sub(b.out(b.velocity), a.out(a.velocity)))


register(Spring, SpringLaw())
