"""A run during which modules dock and undock: pieces of it, each with the plant of what is docked to what.

    march ──► a time, or ports that meet ──► impact ──► the new robot, the same poses and twists ──► march

At a docking the ports lose their relative twist at once (`mechanics.steps.impact`), then the state goes over to the
robot of the new topology (`topologies`) by the poses and twists of bodies (`mechanics.steps.state_transfer`).
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
from kinemorph.mechanics.constraints.constrained import Rows
from kinemorph.mechanics.steps.impact import locked_rows, plastic_impact, relative_pose
from kinemorph.mechanics.steps.state_transfer import transferred
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.instant import Instant
from kinemorph.plants.plant import Plant
from kinemorph.plants.user_laws import Law, of_groups
from kinemorph.simulation.docking.changes import (
    Change,
    Dock,
    Undock,
    approaching,
    check_changes,
    gap_of,
    nearness,
    port_frame,
    told,
)
from kinemorph.simulation.docking.topologies import Plants, Shape, changed_parts, shape_of
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.event import Event, Quantity
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from kinemorph.simulation.running.by_name import Asleep, law_by_name, named_array, names_of, on_top_of
from kinemorph.simulation.running.execution import Ledger, Regular, Run, begun

# on b at a's port, in its axes
IMPULSE = tuple(
    (f"impulse.{axis}", "N s" if axis[0] == "f" else "N m s") for axis in ("fx", "fy", "fz", "mx", "my", "mz")
)
T = TypeVar("T")


class Reconfiguring:
    """Carries out a run in pieces, from one change to the next."""

    def __init__(
        self,
        model: Any,
        asked: Mapping[str, Any],
        changes: Sequence[Change],
        guards: Sequence[Guard],
        after: Trajectory | None = None,
    ) -> None:
        """`asked` is what the plant is made with; `after` a run that is gone on with, docked as it was at its end."""
        system, locked = _docking_system(model, asked), asked["locked"]
        several = (locked,) if isinstance(locked, str) else tuple(locked)
        self.plants = Plants(system, {"locked": several, "loops": asked["loops"], "account": asked["account"]})
        self.shape = Shape(self.plants.first)
        last = shape_of(after.segments[-1]) if after is not None else None
        if last is not None:
            self.shape = replace(last, assembly=replace(self.shape.assembly, dockings=last.assembly.dockings))
        self.plant = self.plants.of(self.shape)
        self.pending = {f"{change.name} {k}": change for k, change in enumerate(changes)}
        self.guards = tuple(guards)
        self.times: Array = np.zeros(0)
        self.state: dict[str, Array] = {}  # q, v, x, m, u now
        self.inputs: dict[str, float] = {}  # by name: the last that each had
        self._resolved: tuple[Shape, Tree] | None = None
        self._laws: dict[tuple[Plant, str], Any] = {}  # of guards by plant and name: the same again where it is again

    def carry_out(
        self,
        ledger: Ledger,
        make: Callable[..., Any],
        first: Mapping[str, Any],
        regular: tuple[Regular | None, Regular | None],
        times: Array,
    ) -> Outcome:
        """Runs through all times; `first` is the state at the start as it was asked for, `make` makes steppers."""
        t, until = float(times[0]), float(times[-1])
        check_changes(self.shape.assembly, [*self.pending.values()], t, until)
        self.times = times
        given = {**first, "p": self.shape.p or None}
        while True:
            try:
                stepper = ledger.timed(partial(self._begun, make, t, given))
            except KinemorphError as error:
                if not ledger.segments:  # wrong from the beginning
                    raise
                return Outcome("failed", t, f"At t = {t:.9g} s the run could not go on: {error}")
            self._stand(stepper)
            due = [float(change.at) for change in self.pending.values() if change.at is not None]
            run = Run(stepper, self._times(t, t if self._ready(t) else min([until, *due])), *regular, named=True)
            outcome = ledger.carry_out(run)
            t = stepper.state.t
            ended = {event.name for event in run.events if event.kind == "stop"}
            ours = [name for name in self.pending if name in ended]
            inner = {*ours, *(f"{name}{PASSES}" for name in self.pending)}
            ledger.events[:] = [event for event in ledger.events if event.name not in inner]
            if outcome.kind != "finished" and not (outcome.kind == "stopped" and ended and ended <= {*ours}):
                return outcome
            self._stand(stepper)
            changed = False
            while ready := ours or self._ready(t):
                name = ready[0]
                ours = [other for other in ours if other != name]
                change = self.pending.pop(name)
                try:
                    ledger.events.append(ledger.timed(partial(self._changed, change, t)))
                except KinemorphError as error:  # an element that needs what is gone
                    return Outcome(
                        "failed", t, f"At t = {t:.9g} s the run could not go on after the {told(change)}: {error}"
                    )
                changed = True
            if not changed and t >= until:
                missed = [outcome.message, *map(self._missed, self.pending.values())]
                return replace(outcome, message=" ".join(missed).strip())
            given = self._given()

    # ── pieces ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begun(self, make: Callable[..., Any], t: float, given: Mapping[str, Any]) -> Any:
        """A stepper for what is docked now."""
        return begun(make, self.plant, (*self._awake_guards(t), *self._awake_changes(t)), t, given)

    def _stand(self, stepper: Any) -> None:
        """Notes where a stepper stands."""
        _, q, v, x = stepper.state
        self.state = {"q": q, "v": v, "x": x, "m": stepper.m.copy(), "u": stepper.u.copy()}
        self.inputs |= dict(zip(names_of(self.plant, "u"), stepper.u.tolist(), strict=True))

    def _given(self) -> dict[str, Any]:
        """The state now as a stepper is given it: memory, states of elements and inputs by name."""
        known = {"q": self.state["q"], "v": self.state["v"], "p": self.shape.p or None}
        known |= {
            group: dict(zip(names_of(self.plant, group), self.state[group].tolist(), strict=True)) for group in "xmu"
        }
        return known

    def _times(self, t: float, stop: float) -> Array:
        """The sample times of a piece, with its two ends."""
        if stop <= t:
            return np.array([t])
        between = self.times[(self.times > t) & (self.times < stop)]
        return np.array([t, *between, stop])

    # ── guards ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _awake_guards(self, t: float) -> list[Guard]:
        """The guards of the user for the plant now, those that it has all coordinates for."""
        found = []
        for guard in self.guards:
            if not isinstance(guard, Guard):
                found.append(guard)  # told by who reads guards
                continue
            kept = self._once(guard.name, partial(self._by_name, guard))
            if self._value(kept.law, t) is not None:
                found.append(kept)
        return found

    def _awake_changes(self, t: float) -> list[Guard]:
        """A guard for every change that waits for a law or for its ports to meet, and may happen as things are."""
        found = []
        for name, change in self.pending.items():
            law = self._waiting(name, change)
            if law is not None and self._value(law, t) is not None:
                found.append(Guard(name, law, direction="rising", stop=True))
                if isinstance(change, Dock) and change.when is None:  # nothing happens there, but the march looks twice
                    passes = self._once(f"{name}{PASSES}", partial(self._approaching, change))
                    found.append(Guard(f"{name}{PASSES}", passes, direction="falling"))
        return found

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What is made for a name and the plant of now, made once: a stepper that was compiled for it serves again."""
        key = (self.plant, name)
        if key not in self._laws:
            self._laws[key] = make()
        found: T = self._laws[key]
        return found

    def _waiting(self, name: str, change: Change) -> Law | None:
        """The law that is above 0 when a change is to happen; None where it waits for a time or for other changes."""
        if change.at is not None:
            return None
        if change.when is not None:
            when = change.when
            return self._once(name, lambda: self._read(when, f"'{change.name}', when"))
        assert isinstance(change, Dock)
        if any(self.shape.assembly.docking(*end) is not None for end in change.ends):
            return None
        dock = change
        return self._once(name, lambda: self._nearness(dock))

    def _nearness(self, dock: Dock) -> Law:
        """The law of ports that meet."""
        robot, names = self._robot, names_of(self.plant, "p")

        def near(q: Any, p: Any) -> Any:
            return nearness(resolve(robot, dict(zip(names, p, strict=True))), q, dock)

        return near

    def _approaching(self, dock: Dock) -> Law:
        """The law of ports that pass each other."""
        robot, names = self._robot, names_of(self.plant, "p")

        def nearer(q: Any, v: Any, p: Any) -> Any:
            return approaching(resolve(robot, dict(zip(names, p, strict=True))), q, v, dock)

        return nearer

    def _read(self, law: Law, what: str) -> Law:
        return law_by_name(law, self.plant, self.shape.assembly.names, what)

    def _by_name(self, guard: Guard) -> Guard:
        return replace(guard, law=self._read(guard.law, f"'{guard.name}'"), reset=self._reset(guard))

    def _reset(self, guard: Guard) -> Law | None:
        """A guard's reset, which reads by name and may answer so."""
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
        """A law's value now, in plain numbers; at the plant's start before there is a state. None where it sleeps."""
        known = self.state if self.state and len(self.state["q"]) == self.plant.nq else self.plant.start
        given = {"t": t, "p": [*self.shape.p.values()], **{group: [*map(float, known[group])] for group in "qvxmu"}}
        try:
            value = of_groups(law, given, "of an event")
        except Asleep:
            return None
        if not isinstance(value, Real):
            raise ModelError(
                f"events: a law gives {value!r}, expected one number. Give one that is above 0 when it is time."
            )
        return float(value)

    # ── changes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _ready(self, t: float) -> list[str]:
        """The changes that are to happen now, in the order in which they were given."""
        return [name for name, change in self.pending.items() if self._is_ready(name, change, t)]

    def _is_ready(self, name: str, change: Change, t: float) -> bool:
        if change.at is not None:
            return change.at <= t
        law = self._waiting(name, change)
        value = None if law is None else self._value(law, t)
        return value is not None and value > 0.0

    def _changed(self, change: Change, t: float) -> Event:
        """Lets a change happen, or refuses it."""
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
        what = told(dock).capitalize()
        for module, side in dock.ends:
            docked = self.shape.assembly.docking(module, side)
            if docked is not None:
                raise Refused(f"{what} is refused: side {side} of '{module}' is docked to '{docked.b}'.")
        tree, q, v = self._tree, self.state["q"].tolist(), self.state["v"].tolist()
        gap = gap_of(tree, q, dock)
        numbers = (Quantity("distance", gap.distance, "m"), Quantity("angle", gap.angle, "rad"))
        if gap.distance > dock.distance * CLEARANCE or gap.angle > dock.angle * CLEARANCE:
            raise Refused(
                f"{what} is refused: its ports are {gap.distance:.3g} m and {gap.angle:.3g} rad from the legal pose, "
                f"where {dock.distance:g} m and {dock.angle:g} rad are allowed.",
                numbers,
            )
        rows = locked_rows(tree, q, *(port_frame(*end) for end in dock.ends))
        hit = plastic_impact(tree, q, v, rows, self._kept_rows(t))
        self.state["v"] = np.array(hit.v, dtype=float)
        self._become(self.shape.docked(dock, gap))
        impulse = (Quantity(name, float(x), unit) for (name, unit), x in zip(IMPULSE, hit.impulse, strict=True))
        note = f"Side {dock.side_a} of module '{dock.a}' holds side {dock.side_b} of module '{dock.b}'"
        turned = f", turned by {gap.turn} quarters." if gap.turn else "."
        loss, turn = Quantity("energy_loss", float(hit.loss), "J"), Quantity("turn", float(gap.turn))
        return note + turned, (*numbers, loss, *impulse, turn)

    def _missed(self, change: Change) -> str:
        """That something did not happen until the end, and how far from it it was."""
        what = f"{told(change).capitalize()} did not happen"
        if isinstance(change, Undock) or change.when is not None:
            return f"{what}: its law did not rise above 0."
        gap = gap_of(self._tree, self.state["q"].tolist(), change)
        return (
            f"{what}: at the end its ports are {gap.distance:.3g} m and {gap.angle:.3g} rad from the legal pose, where "
            f"{change.distance:g} m and {change.angle:g} rad are allowed."
        )

    def _undock(self, undock: Undock) -> tuple[str, str]:
        try:
            shape, gone = self.shape.undocked(undock)
        except ModelError as error:
            raise Refused(f"{told(undock).capitalize()} is refused: {error}") from None
        self._become(shape)
        return gone, f"Side {undock.side} of module '{undock.module}' is free again."

    def _kept_rows(self, t: float) -> Rows:
        """What holds already: loops, elements that bind, joints that are locked."""
        plant, rows = self.plant, Rows([], [], [])
        if plant.laws.constraints is not None:
            q, v, x, m, u = (self.state[group].tolist() for group in "qvxmu")
            found = plant.laws.constraints(Instant(t, q, v, x, m, u, [*self.shape.p.values()]).local)
            J, own = [list(row) for row in found["J"]], len(constraint_names(self._robot))
            weights = constraint_weights(self._tree, J[:own], found["sizes"][:own])
            rows = Rows(J, [0.0] * len(J), [*weights, *[1.0] * (len(J) - own)])
        still = [[float(k == j) for k in range(plant.nv)] for j in plant.locked]
        return Rows([*rows.J, *still], [*rows.wanted, *[0.0] * len(still)], [*rows.weights, *[1.0] * len(still)])

    def _become(self, shape: Shape) -> None:
        """Goes over to another topology; bodies stay where they are and move as they did."""
        shape, plant = self._rings_as_they_are(shape)
        assert plant.robot is not None
        old = {group: dict(zip(names_of(self.plant, group), self.state[group], strict=True)) for group in "xm"}
        q, v = transferred(self._robot, self._tree, plant.robot, self.state["q"], self.state["v"], shape.p)
        state = {"q": q, "v": v}
        for group, known in (*old.items(), ("u", self.inputs)):
            state[group] = plant.initial(group, {name: known[name] for name in names_of(plant, group) if name in known})
        self.shape, self.plant, self.state = shape, plant, state

    def _rings_as_they_are(self, shape: Shape) -> tuple[Shape, Plant]:
        """A shape with its plant, where dockings that close rings, before or after, have the offset that is there now.

        Rings are closed to a tolerance only. A docking that closed one and carries modules from now on would have them
        jump by what it was open.
        """
        plant = self.plants.of(shape)
        assert plant.robot is not None
        before, after = ({joint.name for joint in robot.loops} for robot in (self._robot, plant.robot))
        carrying = (before - after) & {*plant.robot.joint_names}
        asked = [d for d in shape.assembly.dockings if d.name in before | after and d.joint is None]
        asked = [d for d in asked if d.name in carrying or d.name in shape.made]
        if not asked:
            return shape, plant
        tree, q = self._tree, self.state["q"].tolist()
        shape = shape.measured({d.name: relative_pose(tree, q, *(port_frame(*end) for end in d.ends)) for d in asked})
        return shape, self.plants.of(shape)

    @property
    def _robot(self) -> Robot:
        assert self.plant.robot is not None
        return self.plant.robot

    @property
    def _tree(self) -> Tree:
        """The links of the robot now, in plain numbers; made once for what is docked."""
        if self._resolved is None or self._resolved[0] is not self.shape:
            self._resolved = self.shape, resolve(self._robot, self.shape.p)
        return self._resolved[1]

    def _groups(self) -> dict[str, Array]:
        return {group: self.state[group].copy() for group in "qvxm"}


PASSES = " passes"  # how names of guards go on that see ports pass
CLEARANCE = 1.0 + 1e-9  # ports that have just come within tolerance are


class Refused(Exception):
    """A change that cannot happen now, in a sentence and numbers."""

    def __init__(self, sentence: str, numbers: tuple[Quantity, ...] = ()) -> None:
        super().__init__(sentence)
        self.numbers = numbers


def _docking_system(model: Any, asked: Mapping[str, Any]) -> System:
    """The system that is to dock; says why where it cannot."""
    if not isinstance(model, System) or model.assembly is None:
        name = getattr(model, "name", "the model")
        raise ModelError(
            f"events: '{name}' is to dock or undock, and is not made of modules. Simulate assembly.system(...)."
        )
    if asked["forces"] is not None:
        raise ModelError(
            "forces: a law of all velocities cannot outlive a docking, which changes them. Use elements, or inputs "
            "by name."
        )
    if any(module.name in model.robot.body_names for module in model.assembly.modules):
        raise ModelError(
            f"events: '{model.name}' is made of adapted dyads, in which hinges change place with what is docked. "
            "Simulate assembly.system(..., dyads='halves') to dock during a run."
        )
    changed = changed_parts(model.robot, model.assembly)
    if changed:
        raise ModelError(
            f"events: {changed[0]} of '{model.name}' is not as its module has it, and a docking makes the robot anew "
            "of its modules. Change the ModuleType, and assemble that."
        )
    return model
