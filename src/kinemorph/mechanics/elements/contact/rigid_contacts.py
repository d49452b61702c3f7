"""Rigid contacts: surfaces that touch and never overlap, with Coulomb friction.

Each touching point of the element is one point of contact, with a mode in its memory:

    OPEN     no force
    STICK    a normal row  gap = 0  and two tangent rows  slip = 0  hold
    SLIP     the normal row holds; friction is mu times the normal force, against the direction of sliding
    IDLE     no force, though it touches: it is just lifting, other points carry the load, or no force is possible

The modes of all points of a system are decided together, at their events (`plants.jumps.contact_jumps`), and so are the
forces of points that are closed (`plants.contacts`). Directions are in world axes, so that they stay where bodies turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minus, plus, sqrt, times, where
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec, scale, sub
from kinemorph.mechanics.elements.checks import known_body, known_ends, wrong
from kinemorph.mechanics.elements.contact.grounds import Meeting, Surface, ground_problems, surface
from kinemorph.mechanics.elements.contact.normal_forces import number
from kinemorph.mechanics.elements.contact.spheres import axis_problems, fixed_point, nearest
from kinemorph.mechanics.elements.contact.touching_points import numbered, passes_over, solid_problems, spots, touched
from kinemorph.mechanics.elements.law import ElementLaw, Slot, plain
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.model.elements.contact.contact_laws import Coulomb, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot

if TYPE_CHECKING:
    from kinemorph.mechanics.elements.ensemble import Ensemble
    from kinemorph.mechanics.elements.instant import ElementView, SystemInstant

OPEN, STICK, SLIP, IDLE = 0.0, 1.0, 2.0, 3.0
MEMORY = (
    *(Slot("mode"), *(Slot(f"direction_{axis}") for axis in "xyz"), Slot("rest", "s")),
    *(Slot(f"push_{axis}", "N") for axis in "xyz"),  # the mean force over a time step, where no event is located
)
REST, PUSH = 4, 5  # the indices of `rest` and of the first component of the push in this memory
GUARDS = ("touches", "lifts", "slips", "halts", "jams", "nears")
SILENT = "nears"  # a guard that only helps to find the others: nothing happens where it alone changes its sign
ROWS = ("normal", "tangent_1", "tangent_2")
SIGNALS = (
    Slot("normal", "N"),
    Slot("friction", "N"),
    Slot("gap", "m"),
    *(Slot(f"force_{axis}", "N") for axis in "xyz"),
    Slot("touching"),
    Slot("mode"),
)
STEEP = 0.9  # the component along y of a normal above which its tangents are made from x and not from y
TINY = 1e-150  # [N]; below this, a friction force has no direction


class RigidPoint(NamedTuple):
    """One point of contact: its geometry, the velocity along its tangents, and its memory. Vectors are in the world."""

    gap: S  # [m], below 0 where surfaces overlap
    normal: Vec3  # to the body that is pushed away
    tangents: tuple[Vec3, Vec3]
    slip: list[S]  # velocity [m/s] along the tangents, relative to the ground or the other body
    mode: S
    direction: list[S]  # of sliding when the point began to slide, along the tangents
    mu: S
    restitution: S
    shortest: S  # [s]
    active: S  # 1 where the contact acts in the present phase, else 0

    def is_near(self, distance: float) -> S:
        """1 where the point is closed, or acts and its gap is below a distance [m]; else 0."""
        return maximum(self.closed, times(self.active, less(self.gap, distance)))

    @property
    def closed(self) -> S:
        """1 where the point sticks or slides, else 0."""
        return times(less(0.5, self.mode), less(self.mode, 2.5))

    @property
    def sticks(self) -> S:
        """1 where the point sticks, else 0."""
        return times(less(0.5, self.mode), less(self.mode, 1.5))

    @property
    def slides(self) -> S:
        """1 where the point slides, else 0."""
        return times(less(1.5, self.mode), less(self.mode, 2.5))

    def in_world(self, along: Sequence[S]) -> list[S]:
        """A vector in the tangent plane, given along the tangents, in world axes."""
        return [plus(times(along[0], a), times(along[1], b)) for a, b in zip(*self.tangents, strict=True)]


class RigidContactLaw(ElementLaw[Any]):
    """The law of rigid contacts with the ground, with planes on bodies, and between two bodies."""

    def problems(self, element: Contact | PairContact, robot: Robot) -> list[str]:
        found = rigid_problems(element)
        if isinstance(element, Contact):
            found += known_body(element, "body", element.body, robot)
            found += ground_problems(element.name, element.ground, carried=True)
            found += solid_problems(element)
            if isinstance(element.ground, Plane):
                found += known_body(element, "ground: on", element.ground.on, robot)
            return found
        found += known_ends(element, robot)
        for what in ("a", "b"):
            found += axis_problems(element.name, getattr(element, f"point_{what}"), getattr(element, f"end_{what}"))
        if not found and number(element.radius_a) + number(element.radius_b) == 0.0:
            found.append(wrong(element.name, "both radii are 0; expected at least one above 0", "Give one a radius."))
        return found

    def problems_among(self, element: Contact | PairContact, ensemble: Ensemble) -> list[str]:
        """Contacts of one system are all rigid, with one law of impacts, or all of them are soft."""
        found, own = [], _kind(element.normal)
        for other, law, *_ in ensemble.members:
            if isinstance(other, (Contact, PairContact)) and not isinstance(law, RigidContactLaw):
                problem = f"it is rigid, and contact '{other.name}' is {type(other.normal).__name__}"
                remedy = "Give all contacts of a system Rigid normals, or none of them."
                found.append(wrong(element.name, problem, remedy, "normal"))
            elif isinstance(law, RigidContactLaw) and _kind(other.normal) != own:
                problem = f"its law of impacts is {own}, that of '{other.name}' {_kind(other.normal)}"
                remedy = "Contacts act together in an impact: give them the same law, each with its own restitution."
                found.append(wrong(element.name, problem, remedy, "normal"))
        return found[:1]

    def memory(self, element: Contact | PairContact) -> tuple[Slot, ...]:
        return tuple(slot._replace(name=name + slot.name) for name in _numbered(element) for slot in MEMORY)

    def signals(self, element: Contact | PairContact) -> tuple[Slot, ...]:
        return SIGNALS

    def guards(self, element: Contact | PairContact) -> tuple[str, ...]:
        return tuple(name + guard for name in _numbered(element) for guard in GUARDS)

    def row_names(self, element: Contact | PairContact) -> tuple[Sequence[str], Sequence[str]]:
        names = _numbered(element)
        return [name + ROWS[0] for name in names], [name + row for name in names for row in ROWS[1:]]

    def position_rows(self, element: Contact | PairContact, view: ElementView) -> Sequence[S]:
        return [where(point.closed, point.gap, 0.0) for point in self.points(element, view)]

    def velocity_rows(self, element: Contact | PairContact, view: ElementView) -> Sequence[S]:
        return [where(point.sticks, speed, 0.0) for point in self.points(element, view) for speed in point.slip]

    def points(self, element: Contact | PairContact, view: ElementView) -> list[RigidPoint]:
        """All points of contact of the element."""
        places = _on_ground(element, view) if isinstance(element, Contact) else [_of_pair(element, view)]
        normal = element.normal
        assert isinstance(normal, Rigid)
        e, shortest = view.value((normal.restitution, normal.shortest))
        e = 0.0 if normal.law == "plastic" else e
        mu = view.value(element.friction.coefficient) if isinstance(element.friction, Coulomb) else 0.0
        found = []
        for k, (gap, n, a, b) in enumerate(places):
            tangents = tangents_of(n)
            apart = sub(a.out(a.velocity), b.out(b.velocity) if b is not None else ZERO3)
            mode, *direction = view.m[k * len(MEMORY) : k * len(MEMORY) + REST]
            mode = where(view.activity, mode, OPEN)
            slip, along = ([dot(t, vector) for t in tangents] for vector in (apart, direction))
            found.append(RigidPoint(gap, n, tangents, slip, mode, along, mu, e, shortest, view.activity))
        return found

    def publish(self, element: Contact | PairContact, view: ElementView) -> Mapping[str, S]:
        """The signals of the contact; forces are those on the body, or on body a."""
        points, forces = self.points(element, view), view.instant.multipliers
        normal: S = 0.0
        friction: S = 0.0
        force: Any = ZERO3
        for k, (name, point) in enumerate(zip(_numbered(element), points, strict=True)):
            push = view.m[k * len(MEMORY) + PUSH : (k + 1) * len(MEMORY)]
            row_forces = [forces[f"{element.name}.{name}{row}"] for row in ROWS]
            N, *T = (
                plus(f, dot(axis, push)) for f, axis in zip(row_forces, (point.normal, *point.tangents), strict=True)
            )
            normal = plus(normal, N)
            friction = plus(friction, sqrt(maximum(dot(T, T), TINY * TINY)) - TINY)
            force = add(add(force, scale(N, point.normal)), point.in_world(T))
        gap, mode, touching = points[0].gap, points[0].mode, points[0].closed
        for point in points[1:]:
            touching = maximum(touching, point.closed)
            nearer = less(point.gap, gap)
            gap, mode = where(nearer, point.gap, gap), where(nearer, point.mode, mode)
        touching = maximum(touching, less(0.0, normal))  # time steps do not use modes
        sides = dict(zip(("force_x", "force_y", "force_z"), force, strict=True))
        return {"normal": normal, "friction": friction, "gap": gap, **sides, "touching": touching, "mode": mode}


def is_rigid(element: Any) -> bool:
    """Whether an element is a rigid contact."""
    return isinstance(element, (Contact, PairContact)) and isinstance(getattr(element, "normal", None), Rigid)


def rigid_points(instant: SystemInstant) -> list[RigidPoint]:
    """The points of all rigid contacts of a system, in the order of its elements."""
    return [
        point
        for k, (element, law, *_) in enumerate(instant.ensemble.members)
        if isinstance(law, RigidContactLaw)
        for point in law.points(element, instant.views[k])
    ]


def with_numbers_as_data(element: Contact | PairContact) -> tuple[Contact | PairContact, tuple[Parameter, ...]]:
    """A rigid contact with parameters, `NAME.mu` and `NAME.restitution`, in place of plain numbers above 0.

    The compiled programs of a system then serve all values of them. A number that is 0 stays: without friction, or
    without restitution, there is less to compute.
    """
    made: list[Parameter] = []

    def named(value: Any, what: str) -> Any:
        if type(value) not in (int, float) or value == 0.0:
            return value
        made.append(Parameter(f"{element.name}.{what}", float(value)))
        return made[-1]

    assert isinstance(element.normal, Rigid)
    element = replace(
        element, normal=replace(element.normal, restitution=named(element.normal.restitution, "restitution"))
    )
    if isinstance(element.friction, Coulomb):
        element = replace(
            element, friction=replace(element.friction, coefficient=named(element.friction.coefficient, "mu"))
        )
    return element, tuple(made)


class RigidPlace(NamedTuple):
    """Where a point of contact is in the arrays of a system."""

    name: str  # "foot", or "foot.2" for the second point of a contact
    rows: tuple[int, int, int]  # indices of its normal row and its tangent rows among all constraint rows
    memory: int  # index of its memory in m
    normal: Rigid


def rigid_places(ensemble: Ensemble, rows: Sequence[str]) -> tuple[RigidPlace, ...]:
    """The places of all points of rigid contacts, in the order of `rigid_points`; `rows` are the names of all rows."""
    found = []
    for element, law, _, m in ensemble.members:
        if isinstance(law, RigidContactLaw):
            for k, name in enumerate(_numbered(element)):
                a, b, c = (rows.index(f"{element.name}.{name}{row}") for row in ROWS)
                full = f"{element.name}.{name}".rstrip(".")
                found.append(RigidPlace(full, (a, b, c), m + k * len(MEMORY), element.normal))
    return tuple(found)


def rigid_problems(element: Contact | PairContact) -> list[str]:
    """Problems of the normal law and the friction of a rigid contact, one sentence each."""
    name, normal, found = element.name, element.normal, []
    assert isinstance(normal, Rigid)
    if normal.law == "plastic" and (e := number(normal.restitution)) != 0.0:
        problem = f"normal: the law is plastic and restitution is {e:g}; expected 0"
        found.append(wrong(name, problem, "Leave the restitution out, or choose another law.", "normal"))
    if element.friction is not None and not isinstance(element.friction, Coulomb):
        problem = f"friction is {element.friction!r} and normal is Rigid; expected None or Coulomb"
        found.append(wrong(name, problem, "Use Coulomb(coefficient).", "friction"))
    return found


def _kind(normal: Any) -> str:
    return f"{normal.law}{', in sequence' if normal.in_sequence else ''}"


def _numbered(element: Contact | PairContact) -> list[str]:
    return numbered(element) if isinstance(element, Contact) else [""]


Place = tuple[S, Vec3, PointState, PointState | None]  # gap [m], normal, touching points of a and b (None: at rest)


def _on_ground(element: Contact, view: ElementView) -> list[Place]:
    ground = element.ground
    motions, found = view.instant.motions, []
    carrier = view.frame(ground.on) if isinstance(ground, Plane) and ground.on != "world" else None
    under = surface(ground, view.value) if carrier is None else _carried(element, view)
    at = motions.attachment(element.body)
    into = motions.point(at.link, at.pose.p).into
    for spot in spots(element, view.value):
        place, (height, n) = touched(
            spot.moved(at.pose), under, lambda r: motions.point(at.link, r).position, into, passes_over(ground)
        )
        point = motions.point(at.link, place)
        other = None if carrier is None else fixed_point(motions, carrier.at.link, point.position)
        found.append((height, n, point, other))
    return found


def _carried(element: Contact, view: ElementView) -> Surface:
    """The height over a plane that is a surface of a body."""
    plane = element.ground
    assert isinstance(plane, Plane)
    spot, normal = view.value((plane.point, plane.normal))
    normal = scale(div(1.0, sqrt(dot(normal, normal))), normal)
    pose = view.frame(plane.on).pose
    n = plain(matvec(pose.R, normal))
    return lambda position, radius=0.0: Meeting(minus(dot(n, sub(position, pose.p)), dot(normal, spot)), n)


def _of_pair(element: PairContact, view: ElementView) -> Place:
    ends_a, ends_b = (
        [view.point(body, offset) for offset in ((point,) if end is None else (point, end))]
        for body, point, end in (
            (element.body_a, element.point_a, element.end_a),
            (element.body_b, element.point_b, element.end_b),
        )
    )
    radius_a, radius_b = view.value((element.radius_a, element.radius_b))
    spot_a, spot_b, extra = nearest(*([end.position for end in ends] for ends in (ends_a, ends_b)))
    apart = sub(spot_a, spot_b)
    distance = sqrt(plus(dot(apart, apart), extra))
    n = plain(scale(div(1.0, distance), apart))
    middle = scale(0.5, sub(add(spot_a, spot_b), scale(minus(radius_a, radius_b), n)))
    a, b = (fixed_point(view.instant.motions, ends[0].link, middle) for ends in (ends_a, ends_b))
    return minus(distance, plus(radius_a, radius_b)), n, a, b


def tangents_of(n: Sequence[S]) -> tuple[Vec3, Vec3]:
    """Two unit vectors across a unit normal and across each other.

    Where the normal is in a coordinate plane, one of them is across that plane: robots that move in it do not move
    along this tangent, and no row is needed for it.
    """
    steep = less(STEEP, absolute(n[1]))
    x, y = where(steep, 1.0, 0.0), where(steep, 0.0, 1.0)
    t = (times(y, n[2]), -times(x, n[2]), minus(times(x, n[1]), times(y, n[0])))
    first = plain(scale(div(1.0, sqrt(dot(t, t))), t))
    return first, plain(cross(n, first))
