"""The interface of element laws, and the table that joins laws to data.

An element is frozen data; its law is a stateless object registered for the type of that data. A method that a law does
not define has no effect. All of it is written over any scalar: no `if` on a number, only `where`.

    armature    inertia along joints
    effort      forces on points, frames and joints; rates of own states; power and stored energy
    stiff       the forces as laws of points, joints and pairs, which a step may take at its end (see implicit_forces)
    publish     signals that others may read, and that a run shows as columns
    sample      new memory at a tick of one of its clocks
    decide      new memory at a tick by plain Python, where `python` is set
    settle      new memory after an accepted step
    guards      numbers whose change of sign is an event, and `switch`: new memory then
    position_rows, velocity_rows    constraints: numbers that the motion of the robot keeps at 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.elements.places import Frame
from kinemorph.mechanics.steps.pair_forces import PairForce
from kinemorph.mechanics.steps.point_states import JointForce, PointForce, PointState
from kinemorph.model.parameter import Value
from kinemorph.model.robot import Robot

if TYPE_CHECKING:
    from kinemorph.mechanics.elements.ensemble import Ensemble
    from kinemorph.mechanics.elements.instant import ElementView

E = TypeVar("E")
DATA, LAWS = "kinemorph.model.elements.", "kinemorph.mechanics.elements."  # modules of built-in data and laws


class Slot(NamedTuple):
    """A number that an element owns: a state, a piece of memory, an input or a signal.

    The `unit` of a signal may be the name of another, such as "q.hip" or "v.hip", or of the force along a velocity,
    "tau.hip": it has that signal's unit. A signal without a unit has that of the target it drives.
    """

    name: str
    unit: str = ""
    start: float = 0.0


class Clock(NamedTuple):
    """Sample instants phase + k period [s], k = 0, 1, ..."""

    period: float
    phase: float = 0.0


ONCE = 1e300  # [s] the period of a clock that ticks once, when a run begins


class Push(NamedTuple):
    """A force [N] on a point, in the axes of the link that carries it."""

    point: PointState
    force: Sequence[S]


class Wrench(NamedTuple):
    """A force [N] at a frame's origin and a moment [N m], in the frame's own axes."""

    frame: Frame
    force: Sequence[S]
    moment: Sequence[S]


class Effort(NamedTuple):
    """The effect of an element at one instant.

    `torques` are generalized forces by index of velocity. Of the power that it gives to the robot, `supplied` [W] comes
    from outside; `dissipated` [W] is lost, and `stored` [J] is its stored energy:

        power on the robot = supplied - dissipated - d(stored)/dt
    """

    pushes: Sequence[Push] = ()
    wrenches: Sequence[Wrench] = ()
    torques: Mapping[int, S] = {}
    rates: Sequence[S] = ()
    supplied: S = 0.0
    dissipated: S = 0.0
    stored: S = 0.0


class Stiff(NamedTuple):
    """Forces that a step may take at its end: laws at points of links, along velocities, and between two links."""

    points: Sequence[PointForce] = ()
    joints: Sequence[JointForce] = ()
    pairs: Sequence[PairForce] = ()


class Change(NamedTuple):
    """New memory of an element, and the energy [J] that is lost when it changes."""

    memory: Sequence[S]
    lost: S = 0.0


class ElementLaw(Generic[E]):
    """Abstract: the law of one kind of element."""

    contact = False  # whether it is a stiff contact: runs take implicit steps by default
    python = False  # whether `decide` takes the place of `sample`
    timed = False  # whether its signals depend on the time alone, so that constraints may read them

    def problems(self, element: E, robot: Robot) -> list[str]:
        """Problems of the element on this robot, one sentence each."""
        return []

    def problems_among(self, element: E, ensemble: Ensemble) -> list[str]:
        """Problems of the element among the other elements, one sentence each; all of these are wired by then."""
        return []

    def armature(self, element: E) -> Mapping[str, Value]:
        """Inertia [kg m^2 or kg] that turns or moves with joints of one axis, by name: part of the mass matrix."""
        return {}

    def acts_on(self, element: E, robot: Robot) -> Sequence[str]:
        """The joints, bodies and frames that it acts on, for tables: by default those that its data name."""
        joints = (joint.name for joint in (*robot.joints, *robot.loops))
        known = {"world", *robot.body_names, *joints, *(frame.name for frame in robot.frames)}
        found = []
        for value in vars(element).values():
            found += [name for name in (value if isinstance(value, tuple) else (value,)) if isinstance(name, str)]
        return [name for name in dict.fromkeys(found) if name in known and name != vars(element)["name"]]

    def limb_by_limb(self, element: E) -> bool:
        """Whether its effect on each limb depends on that limb's own joints alone, not on bodies and not on the whole
        robot. Then limbs that are alike may be computed side by side.
        """
        return False

    def states(self, element: E) -> tuple[Slot, ...]:
        """Own continuous states."""
        return ()

    def memory(self, element: E) -> tuple[Slot, ...]:
        """Own discrete memory."""
        return ()

    def inputs(self, element: E) -> tuple[Slot, ...]:
        """Inputs of the element; undriven ones are inputs u of the plant."""
        return ()

    def signals(self, element: E) -> tuple[Slot, ...]:
        """Names and units of what `publish` gives; a signal with the name "" has the name of the element. A signal with
        the name of a state is that state.
        """
        return ()

    def drives(self, element: E) -> Mapping[str, str]:
        """The targets of its signals: target -> signal. A target is a joint, an element, or "element.input"."""
        return {}

    def reads(self, element: E) -> tuple[str, ...]:
        """The signals of other elements that it reads, for checks."""
        return ()

    def effort(self, element: E, view: ElementView) -> Effort:
        return Effort()

    def stiff(self, element: E, view: ElementView) -> Stiff | None:
        """The forces of `effort` as laws of points, joints and pairs; None where a step takes them at its start."""
        return None

    def late_rates(self, element: E, view: ElementView, velocities: Sequence[S], h: S) -> Sequence[S] | None:
        """Rates of own states over a step of h [s] at the end of which the robot has these velocities; the view is that
        of its start. None where a step takes the rates of `effort`.
        """
        return None

    def field(self, element: E, view: ElementView, body: str) -> Vec3 | None:
        """The acceleration [m/s^2], in the world, that it gives to all parts of a body, as gravity does; None where it
        gives none. An accelerometer that falls freely in such a field reads 0.
        """
        return None

    def publish(self, element: E, view: ElementView) -> Mapping[str, S]:
        return {}

    def clocks(self, element: E) -> tuple[Clock, ...]:
        """The clocks at whose ticks `sample` runs."""
        return ()

    def sample(self, element: E, view: ElementView, clock: int) -> Sequence[S]:
        """New memory at a tick of the clock with this number."""
        raise AssertionError(f"{type(self).__name__} has clocks and no `sample`")

    def decide(
        self, element: E, t: float, values: Sequence[float], memory: Sequence[float], clock: int
    ) -> Sequence[float]:
        """New memory at a tick, in plain numbers, from the values that it `reads` and its memory. Raises
        ControllerError where it fails.
        """
        raise AssertionError(f"{type(self).__name__} is Python and has no `decide`")

    def settles(self, element: E) -> bool:
        """Whether memory changes after accepted steps."""
        return False

    def settle(self, element: E, view: ElementView) -> Change:
        """New memory after an accepted step."""
        raise AssertionError(f"{type(self).__name__} settles and has no `settle`")

    def guards(self, element: E) -> tuple[str, ...]:
        """Names of its guards: where a method locates events, they take the place of `settle`."""
        return ()

    def guard_values(self, element: E, view: ElementView) -> Sequence[S]:
        """One number per guard; an event is where it falls through zero."""
        return ()

    def switch(self, element: E, view: ElementView, guard: int) -> Change:
        """New memory where the guard with this number has fallen through zero."""
        raise AssertionError(f"{type(self).__name__} has guards and no `switch`")

    def row_names(self, element: E) -> tuple[Sequence[str], Sequence[str]]:
        """Names of its constraint rows: those of `position_rows`, those of `velocity_rows`. A row with the name "" has
        the name of the element.
        """
        return (), ()

    def position_rows(self, element: E, view: ElementView) -> Sequence[S]:
        """Constraints phi(t, q) = 0, one number per row, which depend on the time, the coordinates and parameters
        alone. Their first and second derivatives along the motion follow by dual numbers.
        """
        return ()

    def velocity_rows(self, element: E, view: ElementView) -> Sequence[S]:
        """Constraints A(t, q) v + b(t, q) = 0, one number per row, which are linear in the velocities and not the rate
        of a position constraint, such as those of a rolling wheel. Constraints on positions belong to `position_rows`.
        """
        return ()


_LAWS: dict[type[Any], ElementLaw[Any]] = {}


def register(kind: type[E], law: ElementLaw[E]) -> None:
    """Joins a law to a kind of element."""
    if not isinstance(law, ElementLaw):
        raise ModelError(f"register: {law!r} is given as law of {kind.__name__}; expected an object of an ElementLaw.")
    _LAWS[kind] = law


def law_of(element: Any) -> ElementLaw[Any]:
    """The law of an element. Laws of built-in kinds are imported when they are first needed."""
    kind = type(element)
    if kind not in _LAWS and kind.__module__.startswith(DATA):
        import_module(LAWS + kind.__module__.removeprefix(DATA))
    if kind not in _LAWS:
        remedy = f"Write an ElementLaw and call kinemorph.elements.register({kind.__name__}, law)."
        what = f"no law is registered for its kind, {kind.__name__}"
        raise ModelError(Problem("element", element.name, what, remedy, rule="element"))
    return _LAWS[kind]


def plain(v: Sequence[S]) -> Vec3:
    """A vector of three as a tuple."""
    return (v[0], v[1], v[2])
