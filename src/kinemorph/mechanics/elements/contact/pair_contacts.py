"""The law of contacts between two bodies.

The axes of two capsules, p_a(s) and p_b(t) with s and t between 0 and 1, are nearest where

    phi(s, t) = |p_a(s) - p_b(t)|^2 + eps ((s - 1/2)^2 + (t - 1/2)^2)

is least. Without the last term the nearest points of parallel capsules would not be unique, and a small rotation would
move them from one end to the other; with it the function is strictly convex, and the points move continuously, to the
middle of the overlap. The distance is defined as the square root of the least phi. Its gradient by the bodies' motion
is (p_a - p_b)/sqrt(phi), so that the spring between the bodies conserves energy to rounding; eps is so small that it is
a distance for all other purposes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, div, maximum, minimum, sqrt
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, matvec_transposed, neg, scale, sub
from kinemorph.mechanics.elements.checks import known_body, not_negative, wrong
from kinemorph.mechanics.elements.contact.contact_point import Felt
from kinemorph.mechanics.elements.contact.contacts import SIGNALS, axis_problems, published
from kinemorph.mechanics.elements.contact.friction import SMOOTH, friction_problems, regularized, tangential
from kinemorph.mechanics.elements.contact.normal_forces import normal_law, normal_problems, number
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, Slot, plain, register
from kinemorph.mechanics.elements.places import Motions
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.model.elements.contact.contact_laws import Regularized
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.robot import Robot

EVEN = 1e-6  # eps relative to the squared lengths of the axes: axes within 1e-3 rad of each other count as parallel
TINY = 1e-12  # [m]; between centers that are nearer, no direction is defined


class Nearest(NamedTuple):
    """The nearest points of the axes of two capsules a and b, in the world."""

    a: Any  # on the axis of a [m]
    b: Any  # on the axis of b [m]
    extra: S  # phi minus the square of their distance [m^2]


class PairContactLaw(ElementLaw[PairContact]):
    """The contact between spheres or capsules of two bodies."""

    def problems(self, element: PairContact, robot: Robot) -> list[str]:
        found = not_negative(element, "radius_a", "radius_b")
        for what in ("body_a", "body_b"):
            found += known_body(element, what, getattr(element, what), robot)
        found += normal_problems(element.name, element.normal)
        if element.friction is not None and not isinstance(element.friction, Regularized):
            problem = f"friction is {element.friction!r}; expected None or Regularized between two bodies"
            found.append(wrong(element.name, problem, "Use Regularized: anchors are for the ground only.", "friction"))
        else:
            found += friction_problems(element.name, element.friction)
        for what in ("a", "b"):
            found += axis_problems(element.name, getattr(element, f"point_{what}"), getattr(element, f"end_{what}"))
        if not found and number(element.radius_a) + number(element.radius_b) == 0.0:
            found.append(wrong(element.name, "both radii are 0; expected at least one above 0", "Correct one of them."))
        return found

    def signals(self, element: PairContact) -> tuple[Slot, ...]:
        return SIGNALS

    def effort(self, element: PairContact, view: ElementView) -> Effort:
        a, b, felt = self._felt(element, view)
        force = _total(felt)
        return Effort(
            pushes=(Push(a, a.into(force)), Push(b, b.into(neg(force)))),
            dissipated=felt.pressed.dissipated + felt.rubbed.dissipated,
            stored=felt.pressed.stored,
        )

    def publish(self, element: PairContact, view: ElementView) -> Mapping[str, S]:
        """The signals of the contact; forces are those on body a."""
        a, _, felt = self._felt(element, view)
        in_link = felt._replace(
            normal=a.into(felt.normal), rubbed=felt.rubbed._replace(force=a.into(felt.rubbed.force))
        )
        return published([(a, in_link)])

    def _felt(self, element: PairContact, view: ElementView) -> tuple[PointState, PointState, Felt]:
        """(touching point of a, touching point of b, forces on a), vectors in world axes; the normal is from b to a."""
        ends_a = _ends(view, element.body_a, element.point_a, element.end_a)
        ends_b = _ends(view, element.body_b, element.point_b, element.end_b)
        radius_a, radius_b = view.value((element.radius_a, element.radius_b))
        spot_a, spot_b, extra = nearest(*([end.position for end in ends] for ends in (ends_a, ends_b)))
        apart = sub(spot_a, spot_b)
        distance = sqrt(maximum(dot(apart, apart) + extra, TINY * TINY))
        n = scale(div(1.0, distance), apart)
        depth = radius_a + radius_b - distance
        touch = sub(add(spot_a, spot_b), scale(radius_a - radius_b, n))  # half-way between the two surfaces
        middle = scale(0.5, touch)
        a, b = (_fixed(view.instant.motions, ends[0].link, middle) for ends in (ends_a, ends_b))
        velocity = sub(a.out(a.velocity), b.out(b.velocity))
        pressed = normal_law(element.normal, view.value)(depth, -dot(n, velocity))
        across = scale(div(1.0, sqrt(maximum(dot(apart, apart), TINY * TINY))), apart)  # n is a little shorter than 1
        slip, rubbed = tangential(velocity, across), SMOOTH
        if element.friction is not None:
            mu, speed = view.value((element.friction.coefficient, element.friction.speed))
            rubbed = regularized(mu, speed, pressed.force, slip)
        return a, b, Felt(depth, plain(n), plain(slip), pressed, rubbed, None)


def nearest(a: Sequence[Any], b: Sequence[Any]) -> Nearest:
    """The nearest points of two axes, each given by one end (a sphere) or two ends [m], in closed form."""
    if len(a) == len(b) == 1:
        return Nearest(a[0], b[0], 0.0)
    if len(a) == 1:
        spot, extra = _on(b, a[0])
        return Nearest(a[0], spot, extra)
    if len(b) == 1:
        spot, extra = _on(a, b[0])
        return Nearest(spot, b[0], extra)
    u, w, apart = sub(a[1], a[0]), sub(b[1], b[0]), sub(a[0], b[0])
    eps = EVEN * (dot(u, u) + dot(w, w))
    uu, ww, uw = dot(u, u) + eps, dot(w, w) + eps, dot(u, w)
    p, r = dot(u, apart) - 0.5 * eps, -dot(w, apart) - 0.5 * eps  # half the derivatives of phi at s = t = 0
    # the best s for unbounded t, then the best t in [0, 1] for this s, then the best s for this t
    s = _in_unit(div(uw * -r - ww * p, uu * ww - uw * uw))
    t = _in_unit(div(uw * s - r, ww))
    s = _in_unit(div(uw * t - p, uu))
    off = (s - 0.5) * (s - 0.5) + (t - 0.5) * (t - 0.5)
    return Nearest(add(a[0], scale(s, u)), add(b[0], scale(t, w)), eps * off)


def _on(axis: Sequence[Any], point: Any) -> tuple[Any, S]:
    """(the point of an axis that is nearest to another point, 0.0): here nothing is added to the distance."""
    u = sub(axis[1], axis[0])
    s = _in_unit(div(dot(u, sub(point, axis[0])), dot(u, u)))
    return add(axis[0], scale(s, u)), 0.0


def _in_unit(x: S) -> S:
    return minimum(maximum(x, 0.0), 1.0)


def _ends(view: ElementView, body: str, point: Any, end: Any) -> list[PointState]:
    return [view.point(body, offset) for offset in ((point,) if end is None else (point, end))]


def _fixed(motions: Motions, link: int, position: Any) -> PointState:
    """The state of the point of a link that is now at a given position in the world [m]."""
    pose = motions.pose(link)
    return motions.point(link, matvec_transposed(pose.R, sub(position, pose.p)))


def _total(felt: Felt) -> Vec3:
    return plain(add(scale(felt.pressed.force, felt.normal), felt.rubbed.force))


register(PairContact, PairContactLaw())
