"""A system at one instant, as its elements see it.

`SystemInstant` has the data that all elements share: the time, the motion of the robot, and all signals. An
`ElementView` is the same instant as one element sees it, with its own states, memory and inputs. Values are computed
when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.groups import act
from kinemorph.algebra.rows import OPEN, Gate, summed_rows
from kinemorph.algebra.scalar import S, absolute, less, maximum, minus, plus, times, where
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.elements.ensemble import Ensemble, Member
from kinemorph.mechanics.elements.law import Effort, Push, Stiff, Wrench
from kinemorph.mechanics.elements.places import Frame, Motions, point_of
from kinemorph.mechanics.recursions.newton_euler import Wrench as Load
from kinemorph.mechanics.recursions.newton_euler import added, moved_wrench, project
from kinemorph.mechanics.steps.point_states import PointState
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.mechanics.trees.tree import WORLD, Tree, over_limbs
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Lookup, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class Hinge(NamedTuple):
    """The state of a joint with one axis: its coordinate q, its velocity v, and the index of its velocity in v."""

    q: S
    v: S
    place: int


class Gathered(NamedTuple):
    """The sum of the efforts of all elements: generalized forces (nv,), loads on links by index (about the link's
    origin and in its axes), rates of all states, power supplied and dissipated [W], stored energy [J].
    """

    torques: list[S]
    loads: dict[int, Load]
    rates: list[S]
    supplied: S
    dissipated: S
    stored: S


class SystemInstant:
    """A system at one instant: time t, state (q, v, x), memory m and inputs u.

    Accelerations, joint reactions and constraint multipliers are given as functions, because forces have to be known
    before them; without such a function, elements cannot read them. `response` is a function, too; see its method.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        tree: Tree,
        t: S,
        q: Sequence[S],
        v: Sequence[S],
        x: Sequence[S],
        m: Sequence[S],
        u: Sequence[S],
        lookup: Lookup,
        accelerations: Callable[[], Sequence[S]] | None = None,
        reactions: Callable[[], Mapping[str, Sequence[S]]] | None = None,
        multipliers: Callable[[], Mapping[str, S]] | None = None,
        *,
        sums: Mapping[int, Callable[[S], S]] | None = None,
        response: Callable[[Mapping[str, S]], Sequence[S]] | None = None,
        given: Mapping[str, S] | None = None,
        tables: bool = False,
    ) -> None:
        self.ensemble, self.t, self.q, self.v = ensemble, t, q, v
        self.x, self.m, self.u, self.lookup = x, m, u, lookup
        self.sums = sums or {}  # by member of a limb that represents several: the sum of a scalar over all of them
        self.motions = Motions(tree, q, v)
        self._accelerations, self._reactions, self._multipliers = accelerations, reactions, multipliers
        self._response = response
        self.tables = tables  # whether laws may compute many points at once, see `algebra.rows`
        self._signals: dict[str, S] = dict(given or {})  # signals whose values are given are not computed
        self._asked: list[str] = []  # names of signals that are being computed, to detect circular dependencies

    @cached_property
    def views(self) -> list[ElementView]:
        """This instant as each element sees it."""
        return [ElementView(self, k) for k in range(len(self.ensemble.members))]

    @property
    def phase(self) -> S:
        """The number of the present phase; 0 where the system has no automaton."""
        automaton = self.ensemble.automaton
        return 0.0 if automaton is None else self.m[automaton.m]

    def in_phases(self, numbers: Sequence[int] | None) -> S:
        """1 if the present phase is one of those with these numbers, else 0; 1 where `numbers` is None."""
        if numbers is None:
            return 1.0
        found: S = 0.0
        for number in numbers:
            found = maximum(found, less(absolute(minus(self.phase, float(number))), 0.5))
        return found

    def activity(self, member: int) -> S:
        """1 if the member with this index acts in the present phase, else 0."""
        return self.in_phases(self.ensemble.acts_in[member])

    @cached_property
    def efforts(self) -> list[Effort]:
        """The effort of each element."""
        found = [_effort(member, self.views[k]) for k, member in enumerate(self.ensemble.members)]
        return [self._awake(k, effort) for k, effort in enumerate(found)]

    def _awake(self, member: int, effort: Effort) -> Effort:
        """The effort of a member, which is zero in the phases in which the member sleeps."""
        if self.ensemble.acts_in[member] is None:
            return effort
        active = self.activity(member)
        power = [where(active, number, 0.0) for number in (effort.supplied, effort.dissipated, effort.stored)]
        return Effort(
            [push._replace(force=_gated(active, push.force)) for push in effort.pushes],
            [Wrench(one.frame, _gated(active, one.force), _gated(active, one.moment)) for one in effort.wrenches],
            {index: where(active, torque, 0.0) for index, torque in effort.torques.items()},
            _gated(active, effort.rates),
            *power,
        )

    @cached_property
    def accelerations(self) -> Sequence[S]:
        """The accelerations a, shape (nv,)."""
        found: Sequence[S] = self._later(self._accelerations, "accelerations")()
        return found

    def response(self, signals: Mapping[str, S]) -> Sequence[S]:
        """The accelerations a, shape (nv,), that would follow if these signals, by full name, had these values.

        A controller finds out by it how its own outputs move the robot, together with all that acts and all that holds.
        """
        found: Sequence[S] = self._later(self._response, "accelerations")(signals)
        return found

    @cached_property
    def reactions(self) -> Mapping[str, Sequence[S]]:
        """The wrench through every joint, by joint name, shape (6,): on the child, in the axes of the joint frame
        there.
        """
        found: Mapping[str, Sequence[S]] = self._later(self._reactions, "joint reactions")()
        return found

    @cached_property
    def multipliers(self) -> Mapping[str, S]:
        """The multiplier of each constraint row of elements, by the full name of the row."""
        found: Mapping[str, S] = self._later(self._multipliers, "constraint forces")()
        return found

    @cached_property
    def finished_q(self) -> Sequence[S]:
        """The configuration q, shape (nq,), with its quaternions scaled to length 1."""
        return charts.finished(self.motions.tree, self.q)

    def _later(self, known: Callable[..., Any] | None, what: str) -> Callable[..., Any]:
        if known is None:
            raise UnsupportedError(
                f"'{self._asked[-1] if self._asked else 'an element'}' reads {what}, which are known only after the "
                "forces of this instant. Read them through a sensor that samples: give the sensor an `every`."
            )
        return known

    def signal(self, name: str) -> S:
        """The value of the signal with this full name; "one|other" is the first of these signals that exists."""
        name = self.ensemble.source(name) if "|" in name else name
        if name not in self._signals:
            self._signals[name] = self._found(name)
        return self._signals[name]

    def _found(self, name: str) -> S:
        robot, (group, _, rest) = self.ensemble.robot, name.partition(".")
        if name == "t":
            return self.t
        if group == "q" and rest in robot.all_q_names:
            return self.q[robot.all_q_names.index(rest)]
        if group == "v" and rest in robot.all_v_names:
            return self.v[robot.all_v_names.index(rest)]
        if name in self._asked:
            circle = " -> ".join([*self._asked[self._asked.index(name) :], name])
            raise ModelError(
                f"signals depend on each other in a circle: {circle}. Break it: let one of these elements sample "
                "its input with `every`."
            )
        index, slot = self.ensemble.signals[name]
        member = self.ensemble.members[index]
        self._asked.append(name)
        published = member.law.publish(member.element, self.views[index])
        self._asked.pop()
        for other in member.law.signals_on(member.element, self.ensemble.robot):
            full = f"{member.element.name}.{other.name}" if other.name else member.element.name
            if other.name not in published:
                raise ModelError(
                    f"element '{member.element.name}': `publish` of {type(member.law).__name__} returns no "
                    f"'{other.name}'; expected a value for each of its `signals`. Return one."
                )
            self._signals[full] = published[other.name]
        return published[slot.name]

    def stiff(self) -> dict[int, Stiff]:
        """The forces that an implicit step evaluates at its end, by the index of the member that exerts them."""
        always = [k for k, phases in enumerate(self.ensemble.acts_in) if phases is None]  # the others use `effort`
        members = {k: self.ensemble.members[k] for k in always}
        found = {k: one.law.stiff(one.element, self.views[k]) for k, one in members.items()}
        return {
            k: stiff._replace(pairs=[pair for pair in stiff.pairs if pair.links[0] != pair.links[1]])
            for k, stiff in found.items()
            if stiff is not None
        }

    def position_rows(self) -> list[S]:
        """The constraint rows phi(t, q) of all elements, in the order of the ensemble's `position_rows`."""
        return self._rows(0)

    def velocity_rows(self) -> list[S]:
        """The constraint rows of all elements on velocities only, in the order of the ensemble's `velocity_rows`."""
        return self._rows(1)

    def _rows(self, which: int) -> list[S]:
        found: list[S] = []
        for k, (element, law, *_) in enumerate(self.ensemble.members):
            count = len(law.row_names(element)[which])
            if not count:
                continue
            rows = (law.position_rows, law.velocity_rows)[which](element, self.views[k])
            if len(rows) != count:
                name = ("position_rows", "velocity_rows")[which]
                raise ModelError(
                    f"element '{element.name}': `{name}` of {type(law).__name__} returns {counted(len(rows), 'row')}; "
                    f"expected {count}, one for each of its `row_names`."
                )
            always = self.ensemble.acts_in[k] is None
            found += rows if always else [times(self.activity(k), row) for row in rows]
        return found

    def gathered(self, without: Collection[int] = ()) -> Gathered:
        """The sum of all efforts; forces and power of the members with indices in `without` are left out."""
        torques: list[S] = [0.0] * self.motions.tree.nv
        loads: dict[int, Load] = {}
        rates: list[S] = []
        kept = [number for number in range(len(self.efforts)) if number not in without]
        supplied = self._total(kept, "supplied")
        dissipated = self._total(kept, "dissipated")
        stored = self._total(range(len(self.efforts)), "stored")
        for number, effort in enumerate(self.efforts):
            rates += effort.rates
            if number in without:
                continue
            for index, torque in effort.torques.items():
                torques[index] = torques[index] + torque
            for push in effort.pushes:
                _load(loads, push.point, push.force, gate=push.gate)
            for wrench in effort.wrenches:
                frame = wrench.frame
                _load(loads, frame.origin, frame.to_link(wrench.force), frame.to_link(wrench.moment))
        powers: list[tuple[int, S]] = []
        for index, names in self.ensemble.driven.items():
            for name in names:
                owner, force = self.ensemble.signals[name][0], self.signal(name)
                if self.ensemble.acts_in[owner] is not None:
                    force = where(self.activity(owner), force, 0.0)
                torques[index] = torques[index] + force
                powers.append((index, force * self.v[index]))
        supplied = plus(supplied, self.motions.tree.total(powers))
        return Gathered(torques, loads, rates, supplied, dissipated, stored)

    def _total(self, members: Iterable[int], what: str) -> S:
        """The sum of a field of the efforts of these members; those of limbs are summed over all limbs."""
        return over_limbs((self.sums.get(k), getattr(self.efforts[k], what)) for k in members)


def _gated(active: S, values: Sequence[S]) -> list[S]:
    """The values where `active` is 1, zeros where it is 0."""
    return [where(active, value, 0.0) for value in values]


def _effort(member: Member, view: ElementView) -> Effort:
    """The effort of a member; raises ModelError where its law returns something else."""
    element, law = member[:2]
    effort, count = law.effort(element, view), len(law.states(element))
    if not isinstance(effort, Effort):
        problem = f"returns {short(effort)}; expected an Effort"
    elif len(effort.rates) != count:
        problem = f"returns {counted(len(effort.rates), 'rate')}; expected {count}, one for each of its `states`"
    elif not all(isinstance(push, Push) for push in effort.pushes):
        problem = "returns pushes of another type; expected Push(point, force) of kinemorph.mechanics.elements.law"
    elif not all(isinstance(wrench, Wrench) for wrench in effort.wrenches):
        problem = (
            "returns wrenches of another type; expected Wrench(frame, force, moment) of "
            "kinemorph.mechanics.elements.law"
        )
    else:
        return effort
    raise ModelError(f"element '{element.name}': `effort` of {type(law).__name__} {problem}.")


class ElementView:
    """A system at one instant, as one element sees it."""

    def __init__(self, instant: SystemInstant, index: int) -> None:
        self.instant = instant
        self._index, (element, law, x, m) = index, instant.ensemble.members[index]
        self._element = element
        self.x: Sequence[S] = instant.x[x : x + len(law.states(element))]
        self.m: Sequence[S] = instant.m[m : m + len(law.memory(element))]

    @property
    def activity(self) -> S:
        """1 if the element acts in the present phase, else 0."""
        return self.instant.activity(self._index)

    @property
    def t(self) -> S:
        """Time [s]."""
        return self.instant.t

    @property
    def robot(self) -> Robot:
        """The robot of the system."""
        return self.instant.ensemble.robot

    @property
    def gravity(self) -> Sequence[S]:
        """Gravity in world axes [m/s^2]."""
        return self.instant.motions.tree.gravity

    @property
    def phases(self) -> tuple[int, ...] | None:
        """The numbers of the phases of the automaton in which the element acts; None where it acts in all phases."""
        return self.instant.ensemble.acts_in[self._index]

    @property
    def active(self) -> S:
        """1 if the element acts in the present phase, else 0."""
        return self.instant.activity(self._index)

    def value(self, value: Any) -> Any:
        """The value of a number in the element's data, or of nested tuples of numbers: parameters are replaced by
        values.
        """
        return evaluate_all(value, self.instant.lookup)

    def point(self, body: str, offset: Sequence[Any] = (0.0, 0.0, 0.0)) -> PointState:
        """The state of the point at `offset` [m] in the axes of a body or frame (or "world")."""
        return point_of(self.instant.motions, body, self.value(tuple(offset)))

    def place(self, body: str, offset: Sequence[Any] = (0.0, 0.0, 0.0)) -> PointState:
        """The point at `offset` [m] of a body or frame, for laws that need its position only: its velocity is 0."""
        at = self.instant.motions.attachment(body)
        r = act(at.pose, self.value(tuple(offset)))
        return PointState(at.link, (r[0], r[1], r[2]), ZERO3, 0.0, self.instant.motions.sight)

    def frame(self, name: str) -> Frame:
        """The motion of the body or frame with this name (or "world")."""
        return Frame(self.instant.motions, self.instant.motions.attachment(name))

    def hinge(self, joint: str) -> Hinge:
        """The state of the joint with one axis, or of the axis of a joint, with this name; see `Robot.axis_places`."""
        place = self.robot.axis_places[joint]
        return Hinge(self.instant.q[place.q], self.instant.v[place.v], place.v)

    def input(self, name: str) -> S:
        """The value of an input of the element: that of the signal that drives it, or else of an input of the plant."""
        ensemble, key = self.instant.ensemble, (self._index, name)
        if key in ensemble.wired:
            return self.instant.signal(ensemble.wired[key])
        return self.instant.u[ensemble.open_inputs.index(key)]

    def signal(self, name: str) -> S:
        """The value of a signal of another element, or of the robot: "q.hip", "v.hip", "t"."""
        return self.instant.signal(name)


def _load(
    loads: dict[int, Load],
    point: PointState,
    force: Sequence[S],
    moment: Sequence[S] | None = None,
    gate: Gate = OPEN,
) -> None:
    """Adds a force [N] on a point, and a moment [N m], both in the axes of its link, to the load on that link."""
    if point.link == WORLD:
        return
    (x, y, z), (a, b, c) = point.point, force
    n = (y * c - z * b, z * a - x * c, x * b - y * a)
    if moment is not None:
        n = (n[0] + moment[0], n[1] + moment[1], n[2] + moment[2])
    a, b, c, *turning = summed_rows(point.point, (a, b, c, *n), gate)
    load: Load = ((a, b, c), (turning[0], turning[1], turning[2]))
    loads[point.link] = added(loads[point.link], load) if point.link in loads else load


def generalized(motions: Motions, loads: Mapping[int, Load]) -> list[S]:
    """The generalized forces (nv,) of loads F on links: the sum of J^T F, with the Jacobians J of the links."""
    tree = motions.tree
    torques: list[S] = [0.0] * tree.nv
    carried = dict(loads)
    for index in range(len(tree.links) - 1, -1, -1):
        if index not in carried:
            continue
        link, load = tree.links[index], carried[index]
        for k, axis in enumerate(link.axes):
            torques[link.v + k] = project(axis, load)
        if link.parent != WORLD:
            up = moved_wrench(motions.moves[index], load)
            carried[link.parent] = added(carried[link.parent], up) if link.parent in carried else up
    return torques
