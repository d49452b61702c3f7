"""The law of contacts between two bodies. Where they touch is found in `spheres`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinemorph.algebra.scalar import S, div, maximum, minus, sqrt
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, dot, neg, scale, sub
from kinemorph.mechanics.elements.checks import known_ends, wrong
from kinemorph.mechanics.elements.contact.contact_point import Felt, Start, contact_tangent, total
from kinemorph.mechanics.elements.contact.contacts import SIGNALS, published
from kinemorph.mechanics.elements.contact.friction import SMOOTH, Rubbed, friction_problems, regularized, tangential
from kinemorph.mechanics.elements.contact.normal_forces import NormalLaw, normal_law, number
from kinemorph.mechanics.elements.contact.rigid_contacts import RigidContactLaw, is_rigid
from kinemorph.mechanics.elements.contact.spheres import axis_problems, fixed_point, nearest
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, Slot, Stiff, plain, register
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.model.elements.contact.contact_laws import Regularized
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.robot import Robot

TINY = 1e-12  # [m]; between centers that are nearer, no direction is defined


class PairContactLaw(ElementLaw[PairContact]):
    """The contact between spheres or capsules of two bodies."""

    contact = True

    def of(self, element: PairContact) -> ElementLaw[Any]:
        return RigidContactLaw() if is_rigid(element) else self

    def problems(self, element: PairContact, robot: Robot) -> list[str]:
        found = known_ends(element, robot) + friction_problems(element.name, element.friction)
        for what in ("a", "b"):
            found += axis_problems(element.name, getattr(element, f"point_{what}"), getattr(element, f"end_{what}"))
        if not found and number(element.radius_a) + number(element.radius_b) == 0.0:
            found.append(wrong(element.name, "both radii are 0; expected at least one above 0", "Give one a radius."))
        return found

    def signals(self, element: PairContact) -> tuple[Slot, ...]:
        return SIGNALS

    def effort(self, element: PairContact, view: ElementView) -> Effort:
        a, b, touch = self._touching(element, view)
        felt = touch.feel(_now(a, b))
        force = total(felt)
        return Effort(
            pushes=(Push(a, a.into(force)), Push(b, b.into(neg(force)))),
            dissipated=felt.pressed.dissipated + felt.rubbed.dissipated,
            stored=felt.pressed.stored,
        )

    def stiff(self, element: PairContact, view: ElementView) -> Stiff:
        a, b, touch = self._touching(element, view)
        return Stiff(pairs=(PairForce((a.link, b.link), (a.point, b.point), touch),))

    def publish(self, element: PairContact, view: ElementView) -> Mapping[str, S]:
        """The signals of the contact; forces are those on body a."""
        a, b, touch = self._touching(element, view)
        felt = touch.feel(_now(a, b))
        in_link = felt._replace(
            normal=a.into(felt.normal), rubbed=felt.rubbed._replace(force=a.into(felt.rubbed.force))
        )
        return published([(a, in_link)])

    def _touching(self, element: PairContact, view: ElementView) -> tuple[PointState, PointState, PairTouch]:
        """(touching point of a, touching point of b, the force law between them)."""
        ends_a = _ends(view, element.body_a, element.point_a, element.end_a)
        ends_b = _ends(view, element.body_b, element.point_b, element.end_b)
        radius_a, radius_b = view.value((element.radius_a, element.radius_b))
        spot_a, spot_b, extra = nearest(*([end.position for end in ends] for ends in (ends_a, ends_b)))
        apart = sub(spot_a, spot_b)
        distance = sqrt(maximum(dot(apart, apart) + extra, TINY * TINY))
        n = scale(div(1.0, distance), apart)
        touch = sub(add(spot_a, spot_b), scale(radius_a - radius_b, n))  # half-way between the two surfaces
        middle = scale(0.5, touch)
        a, b = (fixed_point(view.instant.motions, ends[0].link, middle) for ends in (ends_a, ends_b))
        across = scale(div(1.0, sqrt(maximum(dot(apart, apart), TINY * TINY))), apart)  # n is a little shorter than 1
        friction = None
        if element.friction is not None:
            assert isinstance(element.friction, Regularized)
            friction = view.value((element.friction.coefficient, element.friction.speed))
        start = Start(radius_a + radius_b - distance, dot(n, _now(a, b).velocity))
        law = PairTouch(plain(n), plain(across), start, normal_law(element.normal, view.value), friction)
        return a, b, law


@dataclass(frozen=True, eq=False)
class PairTouch:
    """The force law of two touching bodies a and b: vectors are in world axes, forces are those on body a.

    Within a step the normal stays as it is at the start of the step, and the depth changes with the relative velocity.
    """

    normal: Vec3  # from b to a; the gradient of the distance, a little shorter than 1
    across: Vec3  # the normal, scaled to length 1
    start: Start
    press: NormalLaw
    friction: tuple[S, S] | None  # coefficient, speed [m/s]

    def feel(self, pair: PairState) -> Felt:
        """The depth and the forces on body a, where `pair` is its motion relative to b."""
        depth = minus(self.start.depth, dot(self.normal, pair.moved))
        pressed = self.press(depth, -dot(self.normal, pair.velocity))
        slip = tangential(pair.velocity, self.across)
        return Felt(depth, self.normal, plain(slip), pressed, self._rubbed(pressed.force, slip), None)

    def force(self, pair: PairState) -> Vec3:
        """The force [N] on body a."""
        return total(self.feel(pair))

    def stored(self, pair: PairState) -> S:
        """The energy [J] stored in the contact."""
        return self.feel(pair).pressed.stored

    def pressing(self, pair: PairState, f: Vec3) -> tuple[S, S]:
        """The normal part [N] of the force f at the end of a step, and what it lacks there; see `Start.missing`."""
        depth = minus(self.start.depth, dot(self.normal, pair.moved))
        normal = dot(self.normal, f)
        return normal, self.start.missing(self.press, depth, normal)

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force on body a, D) for a step of size h [s]; D is the inertia that the force adds at its end."""
        depth = minus(self.start.depth, dot(self.normal, pair.moved))
        rise = dot(self.normal, pair.velocity)
        tangent = self.start.tangent(self.press, depth, rise, h)
        rubbed = self._rubbed(tangent.pressed.force, tangential(pair.velocity, self.across))
        return contact_tangent(tangent, rise, self.normal, rubbed, h)

    def _rubbed(self, pressed: S, slip: Any) -> Rubbed:
        """The friction for a normal force [N] and a slip [m/s]."""
        return SMOOTH if self.friction is None else regularized(*self.friction, pressed, slip)


def _now(a: PointState, b: PointState) -> PairState:
    """The present velocity of point a relative to point b."""
    return PairState(plain(sub(a.out(a.velocity), b.out(b.velocity))), 0.0)


def _ends(view: ElementView, body: str, point: Any, end: Any) -> list[PointState]:
    return [view.point(body, offset) for offset in ((point,) if end is None else (point, end))]


register(PairContact, PairContactLaw())
