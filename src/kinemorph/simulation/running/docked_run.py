"""A run during which modules dock and undock: a source of pieces, each of which has the plant of one topology.

A topology is to such a run what a phase is to a system with an automaton, and a docking is what an edge is; but since
coordinates change there, each topology has a plant of its own. `simulate` carries out the pieces, as of any run.

    march ──► a time, or ports that meet ──► impact ──► the new robot, the same poses and twists ──► march

At a docking the ports lose their relative twist at once (`mechanics.impacts.plastic_impact`). Then the state is
transferred to the robot of the new topology (`topologies`) by the poses and twists of bodies
(`mechanics.steps.state_transfer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.mechanics.constraints.closures import constraint_names, constraint_weights
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.impacts.plastic_impact import locked_rows, plastic_impact, relative_pose
from kinemorph.mechanics.steps.state_transfer import transferred
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.instant import Instant
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law, of_groups
from kinemorph.simulation.docking.changes import (
    Change,
    Dock,
    Undock,
    approaching,
    check_changes,
    gap_of,
    in_words,
    nearness,
    port_frame,
)
from kinemorph.simulation.docking.topologies import DockedAssembly, Plants, changed_parts, docked_in
from kinemorph.simulation.foreign.stepper import stepper_at
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.event import Event, Quantity
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from kinemorph.simulation.running.by_name import Asleep, law_by_name, named_array, names_of, on_top_of
from kinemorph.simulation.running.execution import Run
from kinemorph.simulation.running.ledger import Ledger
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.regular_functions import Regular
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.words import as_sentence

# the impulse on b at a's port, in the axes of that port
IMPULSE = tuple(
    (f"impulse.{axis}", "N s" if axis[0] == "f" else "N m s") for axis in ("fx", "fy", "fz", "mx", "my", "mz")
)
T = TypeVar("T")


class DockedRun:
    """The pieces of a run, from one docking or undocking to the next; see `simulate.Pieces`."""

    def __init__(
        self,
        model: Any,
        asked: Mapping[str, Any],
        changes: Sequence[Change],
        guards: Sequence[Guard],
        after: Trajectory | None = None,
    ) -> None:
        """`asked` holds the options of the plants by name; `after` is a finished run to continue, with its dockings."""
        system, locked = _docking_system(model, asked), asked["locked"]
        several = (locked,) if isinstance(locked, str) else tuple(locked)
        self.plants = Plants(system, {"locked": several, "loops": asked["loops"], "account": asked["account"]})
        self.docked = DockedAssembly(self.plants.first)
        last = docked_in(after.segments[-1]) if after is not None else None
        if last is not None:
            self.docked = replace(last, assembly=replace(self.docked.assembly, dockings=last.assembly.dockings))
        self.plant = self.plants.of(self.docked)
        self.pending = {f"{change.name} {k}": change for k, change in enumerate(changes)}
        self.guards = tuple(guards)
        self.times: Array = np.zeros(0)
        self.state: dict[str, Array] = {}  # q, v, x, m, u now
        self.inputs: dict[str, float] = {}  # the last value of each input, by name
        self._resolved: tuple[DockedAssembly, Tree] | None = None
        self._laws: dict[tuple[Plant, str], Any] = {}  # laws of guards, for topologies that occur again

    def start(
        self,
        options: StepOptions,
        first: Mapping[str, Any],
        regular: tuple[Regular | None, Regular | None],
        times: Array,
    ) -> DockedRun:
        """Sets where the run starts, and that it runs through all sample `times` [s]; returns itself.

        `first` is the initial state as the user gave it, `regular` are the functions of held inputs and callback.
        """
        check_changes(self.docked.assembly, [*self.pending.values()], float(times[0]), float(times[-1]))
        self.times, self.options, self.regular = times, options, regular
        self.given: Mapping[str, Any] = {**first, "p": self.docked.p or None}
        return self

    def first(self, ledger: Ledger) -> Run | Outcome:
        """The first piece of the run."""
        ledger.inner = {each for name in self.pending for each in (name, f"{name}{PASSES}")}
        return self._piece(ledger, float(self.times[0]))

    def after(self, ledger: Ledger, run: Run, outcome: Outcome) -> Run | Outcome:
        """The piece that follows a finished one, after the dockings and undockings at its end, or the run's outcome."""
        t, until = run.stepper.t, float(self.times[-1])
        ended = {event.name for event in run.events if event.kind == "stop"}
        ours = [name for name in self.pending if name in ended]
        inner = {*ours, *(f"{name}{PASSES}" for name in self.pending)}
        ledger.events[:] = [event for event in ledger.events if event.name not in inner]
        if outcome.kind != "finished" and not (outcome.kind == "stopped" and ended and ended <= {*ours}):
            return outcome
        self._stand(run.stepper)
        changed = False
        while ready := ours or self._ready(t):
            name = ready[0]
            ours = [other for other in ours if other != name]
            change = self.pending.pop(name)
            try:
                ledger.events.append(self._changed(change, t))
            except KinemorphError as error:  # an element refers to a part that is no longer there
                words = f"At t = {t:.9g} s the run could not continue after the {in_words(change)}: {error}"
                return Outcome("failed", t, words)
            changed = True
        if not changed and t >= until:
            missed = [outcome.message, *map(self._missed, self.pending.values())]
            return replace(outcome, message=" ".join(missed).strip())
        self.given = self._given()
        return self._piece(ledger, t)

    # ── pieces ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _piece(self, ledger: Ledger, t: float) -> Run | Outcome:
        """The piece of the run in the present topology, from the time t [s] to the next docking or undocking."""
        due = [float(change.at) for change in self.pending.values() if change.at is not None]
        try:
            stepper = self._stepper(t)
            self._stand(stepper)
            stop = t if self._ready(t) else min([float(self.times[-1]), *due])
        except KinemorphError as error:
            if not ledger.segments:  # the model or an option is wrong
                raise
            return Outcome("failed", t, f"At t = {t:.9g} s the run could not continue: {error}")
        return Run(stepper, self._times(t, stop), *self.regular, named=True)

    def _stepper(self, t: float) -> PlantStepper:
        """A stepper for the present topology, at the time t [s]."""
        return stepper_at(self.plant, self.options, (*self._awake_guards(t), *self._awake_changes(t)), t, self.given)

    def _stand(self, stepper: PlantStepper) -> None:
        """Makes the state of a stepper the present state of the run."""
        _, q, v, x = stepper.state
        self.state = {"q": q, "v": v, "x": x, "m": stepper.m.copy(), "u": stepper.u.copy()}
        self.inputs |= dict(zip(names_of(self.plant, "u"), stepper.u.tolist(), strict=True))

    def _given(self) -> dict[str, Any]:
        """The present state as the initial state of a stepper: memory, states of elements and inputs by name."""
        known = {"q": self.state["q"], "v": self.state["v"], "p": self.docked.p or None}
        known |= {
            group: dict(zip(names_of(self.plant, group), self.state[group].tolist(), strict=True)) for group in "xmu"
        }
        return known

    def _times(self, t: float, stop: float) -> Array:
        """The sample times of a piece from t to `stop` [s], with both ends."""
        if stop <= t:
            return np.array([t])
        between = self.times[(self.times > t) & (self.times < stop)]
        return np.array([t, *between, stop])

    # ── guards ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _awake_guards(self, t: float) -> list[Guard]:
        """The user's guards whose coordinates all exist in the present plant; their laws read its state by name."""
        found = []
        for guard in self.guards:
            if not isinstance(guard, Guard):
                found.append(guard)  # `Watch` refuses it with a message
                continue
            kept = self._once(guard.name, partial(self._by_name, guard))
            if self._value(kept.law, t) is not None:
                found.append(kept)
        return found

    def _awake_changes(self, t: float) -> list[Guard]:
        """Guards for the changes that wait for a law, or for their ports to meet, and can happen in this topology."""
        found = []
        for name, change in self.pending.items():
            law = self._waiting(name, change)
            if law is not None and self._value(law, t) is not None:
                found.append(Guard(name, law, direction="rising", stop=True))
                if isinstance(change, Dock) and change.when is None:  # the march also stops where ports pass each other
                    passes = self._once(f"{name}{PASSES}", partial(self._approaching, change))
                    found.append(Guard(f"{name}{PASSES}", passes, direction="falling"))
        return found

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """The object that `make` returns, made once per name and plant, so that compiled steppers can be used again."""
        key = (self.plant, name)
        if key not in self._laws:
            self._laws[key] = make()
        found: T = self._laws[key]
        return found

    def _waiting(self, name: str, change: Change) -> Law | None:
        """The law that is above 0 when a change has to happen; None where it waits for a time or for a free port."""
        if change.at is not None:
            return None
        if change.when is not None:
            when = change.when
            return self._once(name, lambda: self._read(when, f"'{change.name}', when"))
        assert isinstance(change, Dock)
        if any(self.docked.assembly.docking(*end) is not None for end in change.ends):
            return None
        dock = change
        return self._once(name, lambda: self._nearness(dock))

    def _nearness(self, dock: Dock) -> Law:
        """A law that is above 0 where the ports of a docking are within its tolerances."""
        robot, names = self._robot, names_of(self.plant, "p")

        def near(q: Any, p: Any) -> Any:
            return nearness(resolve(robot, dict(zip(names, p, strict=True))), q, dock)

        return near

    def _approaching(self, dock: Dock) -> Law:
        """A law that falls through 0 where the ports of a docking are nearest to each other and start to separate."""
        robot, names = self._robot, names_of(self.plant, "p")

        def nearer(q: Any, v: Any, p: Any) -> Any:
            return approaching(resolve(robot, dict(zip(names, p, strict=True))), q, v, dock)

        return nearer

    def _read(self, law: Law, what: str) -> Law:
        return law_by_name(law, self.plant, self.docked.assembly.names, what)

    def _by_name(self, guard: Guard) -> Guard:
        return replace(guard, law=self._read(guard.law, f"'{guard.name}'"), reset=self._reset(guard))

    def _reset(self, guard: Guard) -> Law | None:
        """The reset of a guard, wrapped so that it can read the state by name and may return values by name."""
        if guard.reset is None:
            return None
        plant, reset = self.plant, guard.reset

        def after(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
            now = {"q": q, "v": v, "x": x, "m": m, "u": u, "p": p}
            known = {group: named_array(values, names_of(plant, group)) for group, values in now.items()}
            changed = of_groups(reset, {"t": t, **known}, f"'{guard.name}', reset")
            if not isinstance(changed, Mapping):
                return changed
            return {
                group: on_top_of(plant, group, values, now[group]) if group in now else values
                for group, values in changed.items()
            }

        return after

    def _value(self, law: Law, t: float) -> float | None:
        """The value of a law at the present state; before the run has a state, at the plant's default initial state.

        None where the law reads a coordinate that this topology does not have.
        """
        known = self.state if self.state and len(self.state["q"]) == self.plant.nq else self.plant.start
        given = {"t": t, "p": [*self.docked.p.values()], **{group: [*map(float, known[group])] for group in "qvxmu"}}
        try:
            value = of_groups(law, given, "of an event")
        except Asleep:
            return None
        if not isinstance(value, Real):
            raise ModelError(
                f"events: a law returns {value!r}; expected one number, which is above 0 when the event has to happen."
            )
        return float(value)

    # ── changes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _ready(self, t: float) -> list[str]:
        """The names of the changes that have to happen now, in the order in which the user gave them."""
        return [name for name, change in self.pending.items() if self._is_ready(name, change, t)]

    def _is_ready(self, name: str, change: Change, t: float) -> bool:
        if change.at is not None:
            return change.at <= t
        law = self._waiting(name, change)
        value = None if law is None else self._value(law, t)
        return value is not None and value > 0.0

    def _changed(self, change: Change, t: float) -> Event:
        """Carries out a change, or refuses it; returns the event that reports this."""
        before = self._groups()
        try:
            if isinstance(change, Undock):
                name, note = self._undock(change)
                return Event(t, name, "undock", before, self._groups(), note)
            note, numbers = self._dock(change, t)
            return Event(t, change.name, "dock", before, self._groups(), note, numbers)
        except Refused as refusal:
            return Event(t, change.name, "refused", before, before, str(refusal), refusal.numbers)

    def _dock(self, dock: Dock, t: float) -> tuple[str, tuple[Quantity, ...]]:
        what = as_sentence(in_words(dock))
        for module, side in dock.ends:
            there = self.docked.assembly.docking(module, side)
            if there is not None:
                raise Refused(
                    f"{what} is refused: side {side} of '{module}' is docked to '{there.b}'. Undock it first."
                )
        tree, q, v = self._tree, self.state["q"].tolist(), self.state["v"].tolist()
        gap = gap_of(tree, q, dock)
        numbers = (Quantity("distance", gap.distance, "m"), Quantity("angle", gap.angle, "rad"))
        if gap.distance > dock.distance * CLEARANCE or gap.angle > dock.angle * CLEARANCE:
            raise Refused(
                f"{what} is refused: its ports are {gap.distance:.3g} m and {gap.angle:.3g} rad from the pose in which "
                f"they dock, and {dock.distance:g} m and {dock.angle:g} rad are allowed. Bring them closer before, or "
                "enlarge `distance` and `angle` of the Dock.",
                numbers,
            )
        rows = locked_rows(tree, q, *(port_frame(*end) for end in dock.ends))
        hit = plastic_impact(tree, q, v, rows, self._kept_rows(t))
        self.state["v"] = np.array(hit.v, dtype=float)
        self._become(self.docked.with_docking(dock, gap))
        impulse = (Quantity(name, float(x), unit) for (name, unit), x in zip(IMPULSE, hit.impulse, strict=True))
        note = f"Side {dock.side_a} of module '{dock.a}' is docked to side {dock.side_b} of module '{dock.b}'"
        turned = f", turned by {gap.turn} quarter turns." if gap.turn else "."
        loss, turn = Quantity("energy_loss", float(hit.loss), "J"), Quantity("turn", float(gap.turn))
        return note + turned, (*numbers, loss, *impulse, turn)

    def _missed(self, change: Change) -> str:
        """A message that says that a change did not happen in the run, and how far its ports were apart."""
        what = f"{as_sentence(in_words(change))} did not happen"
        if isinstance(change, Undock) or change.when is not None:
            return f"{what}: its law did not rise above 0."
        gap = gap_of(self._tree, self.state["q"].tolist(), change)
        return (
            f"{what}: at the end its ports are {gap.distance:.3g} m and {gap.angle:.3g} rad from the legal pose, where "
            f"{change.distance:g} m and {change.angle:g} rad are allowed."
        )

    def _undock(self, undock: Undock) -> tuple[str, str]:
        try:
            docked, gone = self.docked.without(undock)
        except ModelError as error:
            raise Refused(f"{as_sentence(in_words(undock))} is refused: {error}") from None
        self._become(docked)
        return gone, f"Side {undock.side} of module '{undock.module}' is free again."

    def _kept_rows(self, t: float) -> ConstraintRows:
        """The constraint rows that apply during the impact: loops, constraint elements and locked joints."""
        plant, rows = self.plant, ConstraintRows([], [], [])
        if plant.laws.constraints is not None:
            q, v, x, m, u = (self.state[group].tolist() for group in "qvxmu")
            found = plant.laws.constraints(Instant(t, q, v, x, m, u, [*self.docked.p.values()]).local)
            J, own = [list(row) for row in found["J"]], len(constraint_names(self._robot))
            weights = constraint_weights(self._tree, J[:own], found["sizes"][:own])
            rows = ConstraintRows(J, [0.0] * len(J), [*weights, *[1.0] * (len(J) - own)])
        still = [[float(k == j) for k in range(plant.nv)] for j in plant.locked]
        return ConstraintRows(
            [*rows.J, *still], [*rows.wanted, *[0.0] * len(still)], [*rows.weights, *[1.0] * len(still)]
        )

    def _become(self, docked: DockedAssembly) -> None:
        """Changes to another topology; poses and twists of bodies stay the same."""
        docked, plant = self._rings_as_they_are(docked)
        assert plant.robot is not None
        old = {group: dict(zip(names_of(self.plant, group), self.state[group], strict=True)) for group in "xm"}
        q, v = transferred(self._robot, self._tree, plant.robot, self.state["q"], self.state["v"], docked.p)
        state = {"q": q, "v": v}
        for group, known in (*old.items(), ("u", self.inputs)):
            state[group] = plant.initial(group, {name: known[name] for name in names_of(plant, group) if name in known})
        self.docked, self.plant, self.state = docked, plant, state

    def _rings_as_they_are(self, docked: DockedAssembly) -> tuple[DockedAssembly, Plant]:
        """A topology with the present offsets of all dockings that close rings, before or after the change; its plant.

        Rings are closed only up to a tolerance. A docking that closed a ring before the change may carry modules after
        it. With its old offset these modules would jump by the error of the closed ring.
        """
        plant = self.plants.of(docked)
        assert plant.robot is not None
        before, after = ({joint.name for joint in robot.loops} for robot in (self._robot, plant.robot))
        carrying = (before - after) & {*plant.robot.joint_names}
        asked = [d for d in docked.assembly.dockings if d.name in before | after and d.joint is None]
        asked = [d for d in asked if d.name in carrying or d.name in docked.made]
        if not asked:
            return docked, plant
        tree, q = self._tree, self.state["q"].tolist()
        docked = docked.measured({d.name: relative_pose(tree, q, *(port_frame(*end) for end in d.ends)) for d in asked})
        return docked, self.plants.of(docked)

    @property
    def _robot(self) -> Robot:
        assert self.plant.robot is not None
        return self.plant.robot

    @property
    def _tree(self) -> Tree:
        """The tree of the present robot in plain numbers, made once for each topology."""
        if self._resolved is None or self._resolved[0] is not self.docked:
            self._resolved = self.docked, resolve(self._robot, self.docked.p)
        return self._resolved[1]

    def _groups(self) -> dict[str, Array]:
        return {group: self.state[group].copy() for group in "qvxm"}


PASSES = " passes"  # the end of the names of guards that detect ports which pass each other
CLEARANCE = 1.0 + 1e-9  # times the tolerance: ports that have just reached the tolerance count as within it


class Refused(Exception):
    """Raised where a change cannot happen now: the message says why, `numbers` how far the ports are apart."""

    def __init__(self, sentence: str, numbers: tuple[Quantity, ...] = ()) -> None:
        super().__init__(sentence)
        self.numbers = numbers


def _docking_system(model: Any, asked: Mapping[str, Any]) -> System:
    """The model as a system whose modules can dock; raises ModelError where they cannot."""
    if not isinstance(model, System) or model.assembly is None:
        name = getattr(model, "name", "the model")
        raise ModelError(
            f"events: '{name}' has to dock or undock, but is not made of modules. Simulate assembly.system(...)."
        )
    if asked["forces"] is not None:
        raise ModelError(
            "forces: a law that returns one force for each velocity cannot be used in a run with docking, because the "
            "number and the order of the velocities change at every docking. Leave forces out: let elements act on the "
            "joints, or give inputs by name."
        )
    if any(module.name in model.robot.body_names for module in model.assembly.modules):
        raise ModelError(
            f"events: '{model.name}' is made of adapted dyads, whose hinges change their place with every docking. "
            "Simulate assembly.system(..., dyads='halves') to dock during a run."
        )
    changed = changed_parts(model.robot, model.assembly)
    if changed:
        raise ModelError(
            f"events: {changed[0]} of '{model.name}' differs from its module, and a docking builds the robot again "
            "from its modules. Make this change in the ModuleType, and assemble the robot again."
        )
    return model
