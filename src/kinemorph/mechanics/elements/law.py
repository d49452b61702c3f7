"""The interface of element laws, and the table that joins laws to data.

An element is frozen data; its law is a stateless object registered for the type of that data. A method that a law does
not define has no effect. Laws are written for any scalar: they use `where`, never `if` on a number.

    armature    inertia along joints
    effort      forces on points, frames and joints; rates of the element's states; power and stored energy
    stiff       the forces as laws of points, joints and pairs, for implicit steps (see implicit_forces)
    publish     signals that others may read, and that a run shows as columns
    sample      new memory at a tick of one of its clocks
    decide      new memory at a tick, in plain numbers, where `runs` is not "compiled"
    settle      new memory after an accepted step
    entered     new memory where a phase of a hybrid motion begins
    guards      numbers whose change of sign is an event, and `switch`: new memory then
    jumps, begins_with    what derivatives of motions leave out, and numbers of which initial values take nominal values
    position_rows, velocity_rows    constraint rows: numbers that are 0 in every motion of the robot
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from kinemorph.algebra.rows import OPEN, Gate
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
Runs = Literal["compiled", "python", "c"]  # compiled law, Python function, function in C
DATA, LAWS = "kinemorph.model.elements.", "kinemorph.mechanics.elements."  # modules of built-in data and laws


class Slot(NamedTuple):
    """A number that an element owns: a state, a piece of memory, an input or a signal.

    The `unit` may be the name of another signal, such as "q.hip" or "v.hip", or of the force along a velocity,
    "tau.hip": it then has the unit of that signal. A signal without a unit has the unit of the target that it
    drives. `start` is the initial value of a state or of memory.
    """

    name: str
    unit: str = ""
    start: float = 0.0


class Clock(NamedTuple):
    """A clock that ticks at the instants phase + k period [s], k = 0, 1, ..."""

    period: float
    phase: float = 0.0


ONCE = 1e300  # [s] the period of a clock that ticks once, when a run begins


class Push(NamedTuple):
    """A force [N] on a point, in the axes of the link that carries it; of many points, where their `gate` is open."""

    point: PointState
    force: Sequence[S]
    gate: Gate = OPEN


class Wrench(NamedTuple):
    """A force [N] at a frame's origin and a moment [N m], in the frame's own axes."""

    frame: Frame
    force: Sequence[S]
    moment: Sequence[S]


class Effort(NamedTuple):
    """The effect of an element at one instant.

    `torques` are generalized forces by index in v, `rates` those of the element's states. `supplied` [W] is power that
    comes from outside the system, `dissipated` [W] is lost power, and `stored` [J] is the element's stored energy:

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
    """Forces that an implicit step evaluates at the end of the step (see `mechanics.steps.implicit_forces`).

    They act at points of links, along velocities, and between two links.
    """

    points: Sequence[PointForce] = ()
    joints: Sequence[JointForce] = ()
    pairs: Sequence[PairForce] = ()


class Change(NamedTuple):
    """The new memory of an element, and the energy [J] that is lost when the memory changes."""

    memory: Sequence[S]
    lost: S = 0.0


class Jump(NamedTuple):
    """A jump at an instant that moves with the motion or with numbers, so that derivatives of motions leave it out.

    `what` says what jumps, `remedy` what does not. The instant moves with the Values `by`; None stands for the state.
    """

    what: str
    remedy: str
    by: Any = None
    acceleration: bool = False  # whether only the acceleration of a reference jumps, which few elements follow
    signal: bool = False  # whether only signals jump, which do nothing where no element reads them


class ElementLaw(Generic[E]):
    """The abstract base of laws, each for one kind of element."""

    contact = False  # whether it is a stiff contact
    steady = False  # whether the state and held inputs determine what it does, so that long steps miss nothing of it
    runs: Runs = "compiled"  # what samples it at its first clock; else `decide` takes the place of `sample` there
    sums = (
        False  # whether its states only sum up what others do, so that no motion depends on them unless they are read
    )
    switched_by_edges = False  # whether the edges of an automaton whose phases name it take the place of its events
    set_by_hand = False  # whether its inputs are set during a run; they leave the inputs of joints as they are
    accelerations = False  # whether it follows the accelerations of references
    timed = False  # whether its signals depend on the time alone, so that constraints may read them

    def of(self, element: E) -> ElementLaw[Any]:
        """The law of this element, where elements of one kind have several laws; by default this one."""
        return self

    def problems(self, element: E, robot: Robot) -> list[str]:
        """Problems of the element on this robot, one sentence each."""
        return []

    def problems_among(self, element: E, ensemble: Ensemble) -> list[str]:
        """Problems of the element among the other elements, one sentence each; signals are connected by then."""
        return []

    def armature(self, element: E) -> Mapping[str, Value]:
        """The inertia [kg m^2 or kg] that it adds to joints with one axis, by name: part of the mass matrix."""
        return {}

    def is_stiff(self, element: E, robot: Robot) -> bool:
        """Whether runs take implicit steps by default because of this element."""
        return self.contact

    def is_steady(self, element: E) -> bool:
        """Whether the state and held inputs determine what this element does."""
        return self.steady

    def acts_on(self, element: E, robot: Robot) -> Sequence[str]:
        """The names of the joints, bodies and frames that the element acts on, to be shown in tables.

        By default these are all names of such parts in its data.
        """
        joints = (joint.name for joint in (*robot.joints, *robot.loops))
        known = {"world", *robot.body_names, *joints, *(frame.name for frame in robot.frames)}
        found = []
        for value in vars(element).values():
            found += [name for name in (value if isinstance(value, tuple) else (value,)) if isinstance(name, str)]
        return [name for name in dict.fromkeys(found) if name in known and name != vars(element)["name"]]

    def limb_by_limb(self, element: E) -> bool:
        """Whether its effect on each limb depends only on that limb's own joints, not on bodies or on the whole robot.

        Then alike limbs may be computed in a loop.
        """
        return False

    def per_joint(self, element: E) -> Mapping[str, int]:
        """The fields with an entry for each of the element's `joints`, or for each 2, 3, ... of them: field -> number.

        An element with such fields treats every joint on its own, so that it can be divided into one for each limb. All
        numbers in these fields are read with `view.value`. Without such fields, an element cannot be divided.
        """
        return {}

    def states(self, element: E) -> tuple[Slot, ...]:
        """The names, units and initial values of the element's continuous states."""
        return ()

    def memory(self, element: E) -> tuple[Slot, ...]:
        """The names, units and initial values of its memory: numbers that change only at ticks, steps and events."""
        return ()

    def begins_with(self, element: E) -> Any:
        """The Values from which its initial states, memory or inputs are computed: these take nominal values only."""
        return ()

    def jumps(self, element: E) -> Sequence[Jump]:
        """What jumps in its forces, rates or signals, other than by its guards and at its clocks."""
        return ()

    def inputs(self, element: E) -> tuple[Slot, ...]:
        """The names and units of the element's inputs; inputs that no signal drives are inputs u of the plant."""
        return ()

    def foreign_inputs(self, element: E) -> Mapping[str, int]:
        """The foreign functions that give its inputs in a program, in the order of `inputs`: name -> how many inputs.

        A run in Python does not call them. See `simulation.integrators.asked_inputs`.
        """
        return {}

    def signals(self, element: E) -> tuple[Slot, ...]:
        """The names and units of the signals that `publish` returns.

        A signal with the name "" gets the name of the element. A signal with the name of a state is that state.
        """
        return ()

    def signals_on(self, element: E, robot: Robot) -> tuple[Slot, ...]:
        """The names and units of the signals of an element on a robot; by default those of `signals`.

        It is for laws whose signals depend on the robot, as where an element acts on all of its joints.
        """
        return self.signals(element)

    def drives(self, element: E) -> Mapping[str, str]:
        """The targets that its signals drive: target -> signal. A target is a joint, an element, or "element.input"."""
        return {}

    def reads(self, element: E) -> tuple[str, ...]:
        """The names of the signals of other elements that it reads, so that they can be checked."""
        return ()

    def effort(self, element: E, view: ElementView) -> Effort:
        return Effort()

    def stiff(self, element: E, view: ElementView) -> Stiff | None:
        """The forces of `effort` as laws of points, joints and pairs; None where steps use `effort` at their start."""
        return None

    def late_rates(self, element: E, view: ElementView, velocities: Sequence[S], h: S) -> Sequence[S] | None:
        """The rates of the element's states over a step of size h [s], at the end of which the robot has `velocities`.

        The view is that of the start of the step. None where a step uses the rates of `effort`.
        """
        return None

    def field(self, element: E, view: ElementView, body: str) -> Vec3 | None:
        """The acceleration [m/s^2], in world axes, that the element gives to all parts of a body, as gravity does.

        None where it does not act like gravity. An accelerometer that falls freely in such a field reads 0.
        """
        return None

    def publish(self, element: E, view: ElementView) -> Mapping[str, S]:
        return {}

    def clocks(self, element: E) -> tuple[Clock, ...]:
        """The clocks at whose ticks `sample` runs."""
        return ()

    def sample(self, element: E, view: ElementView, clock: int) -> Sequence[S]:
        """The element's new memory at a tick of its clock with this number."""
        raise AssertionError(f"{type(self).__name__} has clocks, but does not define `sample`. Define it.")

    def decide(
        self,
        element: E,
        function: Callable[..., Any],
        t: float,
        values: Sequence[float],
        memory: Sequence[float],
    ) -> Sequence[float]:
        """The new memory at a tick of its first clock, in plain numbers.

        `function` is the user function as this run calls it, `values` are those of the signals that the element
        `reads`, `memory` is its memory before. Raises ControllerError where it fails.
        """
        raise AssertionError(f"{type(self).__name__} is not compiled, but does not define `decide`. Define it.")

    def settles(self, element: E) -> bool:
        """Whether its memory changes after accepted steps."""
        return False

    def settle(self, element: E, view: ElementView) -> Change:
        """The element's new memory after an accepted step."""
        raise AssertionError(f"{type(self).__name__} settles, but does not define `settle`. Define it.")

    def entered(self, element: E, view: ElementView) -> Sequence[S] | None:
        """The element's new memory at the start of a run, and where a phase begins in which it has not acted before.

        None where the memory stays the same.
        """
        return None

    def guards(self, element: E) -> tuple[str, ...]:
        """The names of its guards. Where a method locates events, guards and `switch` are used in place of `settle`."""
        return ()

    def guard_values(self, element: E, view: ElementView) -> Sequence[S]:
        """One number per guard; an event is where it falls through zero (from above to below)."""
        return ()

    def switch(self, element: E, view: ElementView, guard: int) -> Change:
        """The element's new memory after the guard with this number has fallen through zero."""
        raise AssertionError(f"{type(self).__name__} has guards, but does not define `switch`. Define it.")

    def row_names(self, element: E) -> tuple[Sequence[str], Sequence[str]]:
        """The names of its constraint rows: (names of `position_rows`, names of `velocity_rows`).

        A row with the name "" gets the name of the element.
        """
        return (), ()

    def position_rows(self, element: E, view: ElementView) -> Sequence[S]:
        """The values of phi(t, q) in its constraints phi(t, q) = 0, one number per row.

        They depend on the time, the coordinates and parameters only. Their first and second derivatives along the
        motion follow by dual numbers.
        """
        return ()

    def velocity_rows(self, element: E, view: ElementView) -> Sequence[S]:
        """The values of A(t, q) v + b(t, q) in its constraints A v + b = 0, one number per row.

        They are linear in the velocities and not the rate of a position constraint, as for a rolling wheel. Constraints
        on positions belong to `position_rows`.
        """
        return ()


_LAWS: dict[type[Any], ElementLaw[Any]] = {}


def register(kind: type[E], law: ElementLaw[E]) -> None:
    """Registers the law of a kind of element, by the type of its data."""
    if not isinstance(law, ElementLaw):
        raise ModelError(
            f"register: {law!r} is given as the law of {kind.__name__}; expected an instance of a subclass "
            f"of ElementLaw. Write register({kind.__name__}, TheLaw())."
        )
    _LAWS[kind] = law


def law_of(element: Any) -> ElementLaw[Any]:
    """The law of an element. Laws of built-in kinds are imported when they are first needed."""
    kind = type(element)
    if kind not in _LAWS and kind.__module__.startswith(DATA):
        import_module(LAWS + kind.__module__.removeprefix(DATA))
    if kind not in _LAWS:
        remedy = f"Write a subclass of ElementLaw and call kinemorph.elements.register({kind.__name__}, law)."
        what = f"no law is registered for its kind, {kind.__name__}"
        raise ModelError(Problem("element", element.name, what, remedy, rule="element"))
    return _LAWS[kind].of(element)


def registered_law(kind: type[Any]) -> ElementLaw[Any] | None:
    """The law that is registered for a kind of element; None where none is, or where it was not needed yet."""
    return _LAWS.get(kind)


def constrains(element: Any) -> bool:
    """Whether an element has constraint rows; False for a kind without a law."""
    try:
        return any(law_of(element).row_names(element))
    except ModelError:
        return False


def plain(v: Sequence[S]) -> Vec3:
    """The first three entries of a vector as a tuple."""
    return (v[0], v[1], v[2])
