"""The law of contacts with the ground: it acts at each touching point of the element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinemorph.algebra.rows import has_rows, summed_rows
from kinemorph.algebra.scalar import S, less, maximum, plus, sqrt
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.mechanics.elements.checks import known_body
from kinemorph.mechanics.elements.contact import anchors
from kinemorph.mechanics.elements.contact.clearances import clearance
from kinemorph.mechanics.elements.contact.contact_point import Felt, Rub, Seen, Start, Touch, total
from kinemorph.mechanics.elements.contact.friction import (
    SMOOTH,
    AnchorState,
    Rubbed,
    anchored,
    friction_problems,
    regularized,
    tangential,
)
from kinemorph.mechanics.elements.contact.grounds import Meeting, ground_problems, surface
from kinemorph.mechanics.elements.contact.normal_forces import normal_law, normal_strengths
from kinemorph.mechanics.elements.contact.rigid_contacts import RigidContactLaw, is_rigid
from kinemorph.mechanics.elements.contact.touching_points import (
    Spot,
    has_fixed_points,
    in_tables,
    numbered,
    passes_over,
    solid_problems,
    spots,
    touched,
)
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ONCE, Change, Clock, Effort, ElementLaw, Push, Slot, Stiff, register
from kinemorph.mechanics.steps.gates import near_ground, steady
from kinemorph.mechanics.steps.point_states import PointForce, PointState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.elements.contact.contact_laws import Anchor, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.robot import Robot

SIGNALS = (
    Slot("normal", "N"),
    Slot("friction", "N"),
    Slot("depth", "m"),
    *(Slot(f"force_{axis}", "N") for axis in "xyz"),
    Slot("touching"),
)
AT_START = Clock(ONCE)  # ticks once, when a run begins: points that touch then are anchored
TINY = 1e-150  # [N]; below this, a friction force has no direction


class TouchingPoint(NamedTuple):
    """One touching point of a contact, its force law, and its height over the ground."""

    point: PointState
    law: Touch
    meeting: Meeting


class ContactLaw(ElementLaw[Contact]):
    """The contact of a point, a sphere, a capsule or another solid with the ground."""

    contact = steady = True
    least_rows: int | None = None  # of a table; None for the usual number

    def of(self, element: Contact) -> ElementLaw[Any]:
        return RigidContactLaw() if is_rigid(element) else self

    def problems(self, element: Contact, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        found += ground_problems(element.name, element.ground)
        found += friction_problems(element.name, element.friction)
        return found + solid_problems(element)

    def states(self, element: Contact) -> tuple[Slot, ...]:
        if not _rolls(element):
            return ()
        names = numbered(element)
        return tuple(Slot(f"{name}slipped_{axis}", "m") for name in names for axis in "xyz")

    def memory(self, element: Contact) -> tuple[Slot, ...]:
        if not isinstance(element.friction, Anchor):
            return ()
        return tuple(slot._replace(name=name + slot.name) for name in numbered(element) for slot in anchors.SLOTS)

    def signals(self, element: Contact) -> tuple[Slot, ...]:
        return SIGNALS

    def all_of(self, element: Contact) -> Sequence[Contact]:
        """The contacts that this law makes touch."""
        return (element,)

    def touching_points(self, element: Contact, view: ElementView, tables: bool = True) -> list[TouchingPoint]:
        """The touching points with their laws, for `effort` and for implicit steps.

        With `tables`, where the instant allows it, points that are alike are one, whose numbers are columns of a table.
        """
        ground, motions = surface(element.ground, view.value), view.instant.motions
        link, passes = motions.attachment(element.body).link, passes_over(element.ground)
        into = motions.point(link, ZERO3).into
        each: list[tuple[Spot, Sequence[S]]] = []
        for one in self.all_of(element):
            own = (*view.value(normal_strengths(one.normal)), *view.value(_rubbing_numbers(one)))
            pose = motions.attachment(one.body).pose
            each += [(spot.moved(pose), own) for spot in spots(one, view.value)]
        near = None
        if tables and view.instant.tables and not isinstance(element.friction, Anchor):  # each anchor has a memory
            near = clearance([spot for spot, _ in each], element.ground)
            each = in_tables(each, (*motions.q, *motions.v), self.least_rows)
        found, strong = [], len(normal_strengths(element.normal))
        for k, (spot, numbers) in enumerate(each):
            press = normal_law(element.normal, view.value, numbers[:strong])
            place, meeting = touched(spot, ground, lambda r: motions.point(link, r).position, into, passes)
            point = motions.point(link, place)
            rise = motions.speed(link, point.point, point.into(meeting.normal))
            rub, start = _rubbing(element, view, k, numbers[strong:]), Start(-meeting.height, rise)
            law = Touch(ground, press, rub, start, near if any(map(has_rows, place)) else None)
            found.append(TouchingPoint(point, law, meeting))
        return found

    def effort(self, element: Contact, view: ElementView) -> Effort:
        pushes: list[Push] = []
        rates: list[S] = []
        dissipated: S = 0.0
        stored: S = 0.0
        for point, law, meeting in self.touching_points(element, view):
            felt, here = law.feel(point, meeting), steady((ZERO3, ZERO3), 0.0)
            near = [law.clearance.lowest(point.sight, point.link, here)] if law.clearance else []
            gate = near_ground(felt.depth, near)
            pushes.append(Push(point, total(felt), gate))
            for lost in summed_rows(point.point, [felt.pressed.dissipated, felt.rubbed.dissipated], gate):
                dissipated = plus(dissipated, lost)
            for kept in summed_rows(point.point, [felt.pressed.stored, felt.rubbed.stored], gate):
                stored = plus(stored, kept)
            if _rolls(element):  # slip counts only while the point touches
                rates += scale(less(0.0, felt.depth), point.out(felt.slip))
        return Effort(pushes=pushes, rates=rates, dissipated=dissipated, stored=stored)

    def stiff(self, element: Contact, view: ElementView) -> Stiff | None:
        if view.instant.motions.attachment(element.body).link == WORLD:  # it moves nothing
            return None
        return Stiff(
            [PointForce(point.link, point.point, law) for point, law, _ in self.touching_points(element, view)]
        )

    def publish(self, element: Contact, view: ElementView) -> Mapping[str, S]:
        own = self.touching_points(element, view, tables=False)
        return published([(point, law.feel(point, meeting)) for point, law, meeting in own])

    # ── memory of anchors ─────────────────────────────────────────────────────────────────────────────────────────

    def clocks(self, element: Contact) -> tuple[Clock, ...]:
        return (AT_START,) if isinstance(element.friction, Anchor) else ()

    def sample(self, element: Contact, view: ElementView, clock: int) -> Sequence[S]:
        return self.settle(element, view).memory

    def settles(self, element: Contact) -> bool:
        return isinstance(element.friction, Anchor)

    def settle(self, element: Contact, view: ElementView) -> Change:
        changes = [anchors.settled(now) for now in self._now(element, view)]
        return Change([x for change in changes for x in change.memory], sum(change.lost for change in changes))

    def guards(self, element: Contact) -> tuple[str, ...]:
        if not isinstance(element.friction, Anchor):
            return ()
        return tuple(name + guard for name in numbered(element) for guard in anchors.GUARDS)

    def guard_values(self, element: Contact, view: ElementView) -> Sequence[S]:
        if not isinstance(element.friction, Anchor):
            return ()
        return [x for now in self._now(element, view) for x in anchors.values(now)]

    def switch(self, element: Contact, view: ElementView, guard: int) -> Change:
        which, number = divmod(guard, len(anchors.GUARDS))
        change = anchors.switched(self._now(element, view)[which], number)
        first = which * anchors.SIZE
        memory = [*view.m[:first], *change.memory, *view.m[first + anchors.SIZE :]]
        return Change(memory, change.lost)

    def _now(self, element: Contact, view: ElementView) -> list[anchors.Now]:
        found = []
        for k, (point, law, meeting) in enumerate(self.touching_points(element, view)):
            felt = law.feel(point, meeting)
            assert felt.anchor is not None
            found.append(
                anchors.Now(
                    view.m[k * anchors.SIZE : (k + 1) * anchors.SIZE],
                    view.x[3 * k : 3 * k + 3] if _rolls(element) else point.position,
                    point.out(felt.anchor.along),
                    point.out(felt.slip),
                    felt.depth,
                    felt.pressed.force,
                    point.out(felt.rubbed.force),
                    felt.rubbed.stored,
                    view.value(_rubbing_numbers(element)),
                )
            )
        return found


@dataclass(frozen=True)
class JoinedContactLaw(ContactLaw):
    """The law of a contact that acts for `others` of its link, too, which differ from it in numbers only."""

    others: tuple[Contact, ...]
    least_rows = 1

    def all_of(self, element: Contact) -> Sequence[Contact]:
        return (element, *self.others)

    def publish(self, element: Contact, view: ElementView) -> Mapping[str, S]:
        return ContactLaw().publish(element, view)


class SilentContactLaw(ContactLaw):
    """The law of a contact for which another one acts: it publishes its signals, and has no force."""

    def effort(self, element: Contact, view: ElementView) -> Effort:
        return Effort()

    def stiff(self, element: Contact, view: ElementView) -> Stiff | None:
        return Stiff()


def published(touched: Sequence[tuple[PointState, Felt]]) -> dict[str, S]:
    """The signals of a contact from its touching points: the sums of their forces, and the greatest depth."""
    normal: S = 0.0
    friction: S = 0.0
    force: Any = ZERO3
    depth = touched[0][1].depth
    for point, felt in touched:
        normal = plus(normal, felt.pressed.force)
        rubbed = felt.rubbed.force
        size = sqrt(maximum(dot(rubbed, rubbed), TINY * TINY)) - TINY  # 0 at 0, with a finite derivative
        friction = plus(friction, size)
        force = add(force, point.out(total(felt)))
        depth = maximum(depth, felt.depth)
    sides = dict(zip(("force_x", "force_y", "force_z"), force, strict=True))
    return {"normal": normal, "friction": friction, "depth": depth, **sides, "touching": less(0.0, depth)}


def _rolls(element: Contact) -> bool:
    """Whether the distance from an anchor has to be integrated from the slip, because the touching point changes."""
    return isinstance(element.friction, Anchor) and not has_fixed_points(element)


def _rubbing_numbers(element: Contact) -> tuple[Any, ...]:
    """The numbers of the friction law of a contact."""
    match element.friction:
        case Anchor() as friction:
            return (friction.static, friction.kinetic, friction.stiffness, friction.damping, friction.speed)
        case Regularized() as friction:
            return (friction.coefficient, friction.speed)
    return ()


def _rubbing(element: Contact, view: ElementView, k: int, numbers: Sequence[S]) -> Rub:
    """The friction law of touching point k, with its numbers."""
    if element.friction is None:
        return lambda point, force, slip, normal: (SMOOTH, None)
    if not isinstance(element.friction, Anchor):
        mu, speed = numbers
        return lambda point, force, slip, normal: (regularized(mu, speed, force, slip), None)
    memory = view.m[k * anchors.SIZE : (k + 1) * anchors.SIZE]
    slipped = view.x[3 * k : 3 * k + 3] if _rolls(element) else None

    def rub(point: Seen, force: S, slip: Vec3, normal: Vec3) -> tuple[Rubbed, AnchorState]:
        if slipped is None:
            along = way = tangential(point.into(sub(point.position, memory[1:4])), normal)
        else:  # at the end of a step, the distance has grown by the slip during the step
            way = add(point.into(sub(slipped, memory[1:4])), scale(getattr(point, "step", 0.0), slip))
            along = tangential(way, normal)
        anchor = AnchorState(memory[0], way, along, point.into(memory[4:7]))
        return anchored(numbers, force, slip, anchor), anchor

    return rub


register(Contact, ContactLaw())
