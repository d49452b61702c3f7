"""A run that is advanced in step with the clock, in short slices, while its user acts on it.

    live = LiveRun(system)
    live.resume()
    while ...:
        live.catch_up()             # computes the slices that the clock asks for
        show(*live.poses())
        live.pull("tool", (0, 0, 0.1), target)
    run = live.trajectory()         # an ordinary Trajectory: saved, replayed, audited

Slices have one length, and commands act between them: the motion depends on the commands alone, not on the clock (see
`commands`). Within a slice the march of every run computes, and modules dock by the same steps as in
`simulate(..., events=[Dock(...)])`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.changes.live_system import hand_of, live_system, set_points, usual_strength
from kinemorph.model.modules.module_types import Side
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.run_plans import RunPlan
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.docking.changes import ANGLE, DISTANCE, Change, Dock, Undock, check_changes, port_frame
from kinemorph.simulation.files.run_record import LIVE
from kinemorph.simulation.live.commands import check_command, record_text
from kinemorph.simulation.live.pacing import Clock, Pacer
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.prepared import StartOptions, lists_options, plant_options, prepared
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from kinemorph.simulation.running.docked_run import DockedRun
from kinemorph.simulation.running.execution import Run
from kinemorph.simulation.running.ledger import Ledger
from kinemorph.simulation.stepping.step_options import check_positive
from kinemorph.words import did_you_mean

SLICE = 0.01  # [s] of the run that are computed at once, at full speed or faster
PICTURE = 1.0 / 60.0  # [s] of the clock for which slices are computed before commands are heard and a picture is shown
SHORTEST, MOST_SLICE = 1e-5, 1.0  # [s] limits of the length of slices
LONGEST = 3600.0  # [s] of the run: what a live run keeps at most
PLANNED = {*StartOptions.__annotations__, "inputs"} - {"p"}  # of a plan
END = 1e9  # [s] a time that no live run reaches


class LiveStatus(NamedTuple):
    """A live run at one instant.

    `t` [s] is the time of the run, `clock` [s] for how long it was on by the clock, `lag` [s] by how much it is late,
    `lost` [s] the time that it has given up in all, `factor` its pace as a share of `speed`. `sentence` says what a
    user has to know: that it is slower than real time, has ended or failed; else it is empty.
    """

    t: float
    clock: float
    lag: float
    lost: float
    factor: float
    speed: float
    paused: bool
    ended: bool
    sentence: str


class LiveRun:
    """A system that is advanced in real time; see this file's docstring. It is paused until `resume` is called."""

    @lists_options(StartOptions)
    def __init__(
        self,
        model: Robot | System,
        *,
        inputs: Mapping[str, float] | None = None,
        slice_length: float = SLICE,
        speed: float = 1.0,
        clock: Clock = time.monotonic,
        **options: Unpack[StartOptions],
    ) -> None:
        """The options are those of `simulate`; `inputs` are initial values by name.

        `slice_length` [s] is the time between samples, `speed` the time of the run [s] in 1 s of the clock, `clock` a
        function that returns the time [s].
        """
        _check_slice("slice_length", slice_length)
        self.system = live_system(model)
        self.hand = hand_of(self.system)
        self.set_points = set_points(self.system)
        self._options: dict[str, Any] = {name: _plain(one) for name, one in {**options, "inputs": inputs}.items()}
        self._slice = float(slice_length)
        self.pacer = Pacer(clock, speed)
        self.reset()
        self.bodies = self.robot.body_names  # in the order of `poses`, which does not change where modules dock

    @classmethod
    def planned(cls, model: Robot | System, plan: RunPlan | str | None = None, **options: Any) -> LiveRun:
        """A live run that begins as a planned run does: one of the system's `runs` by name, a RunPlan, or the default.

        Joints stop at their limits, their friction acts, and a robot without an initial state starts where it does not
        stay at rest. Method, tolerances, initial state and inputs are those of the plan; its dockings are left out.
        `options` are further options of a live run. `live.system` is the system with everything that acts.
        """
        prepared = prepared_run(model, plan)
        asked = prepared.arguments_without_start
        given = {name: value for name, value in asked.items() if name in PLANNED and value is not None}
        if isinstance(given.get("inputs"), list | tuple):  # in the order of the plant, which a live run has more of
            names = (column.name for column in as_plant(prepared.system).u)
            given["inputs"] = dict(zip(names, given["inputs"], strict=False))
        return cls(prepared.system, **{**given, **options})

    # ── the run ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reset(self) -> None:
        """Begins again at the initial state, paused, and forgets what was recorded."""
        self.pacer.stop()
        self.pacer = Pacer(self.pacer.clock, self.pacer.speed)
        self.commands: list[dict[str, Any]] = []
        self.outcome: Outcome | None = None  # how the run ended; None as long as it can go on
        self._pulled: dict[str, Any] | None = None  # the last pull, until it is released
        self._is_taken = False  # whether the ledger has the results of `run`: where a docking has ended it
        self._docks = self._docking()
        plant = self._docks.plant if self._docks else shared_plant(self.system, **self._asked)
        made = prepared(self.system, END, plant, output_step=END, **self._options)
        options = made.options
        if isinstance(options.method, str) and ":" in options.method:
            raise UnsupportedError(
                f"method is '{options.method}'; a live run needs a method that starts quickly after every input. Leave "
                "method= out, or use one without a colon in its name, such as 'dop853'."
            )
        self._ledger = Ledger({name: getattr(options, name) for name in ("step", "rtol", "atol")})
        if self._docks:
            begun = self._docks.start(options, made.first, made.regular, made.times).first(self._ledger)
            assert isinstance(begun, Run)
            self.run = begun
        else:
            self.run = Run(made.stepper(), made.times, None, None)
        self._grid = (0.0, self._slice, 0)  # (a time [s], the length of slices [s] since then, how many of them)
        self._begin_piece()
        self._fit_slices()
        self._ledger.times.enter("outside")

    @property
    def _asked(self) -> dict[str, Any]:
        """What the plant is made with: it always records the energy that is supplied."""
        return plant_options(self.system, self._options) | {"account": True}

    def _docking(self) -> DockedRun | None:
        """The pieces of a run in which modules may dock and undock; None for a system where they cannot."""
        if self.system.assembly is None:
            return None
        try:
            return DockedRun(self.system, self._asked, (), ())
        except ModelError:  # a system of modules that is changed, or of adapted dyads
            return None

    def _begin_piece(self) -> None:
        """Stores the first sample of a new piece of the run, and compiles all that it needs before the clock counts."""
        for name in ("bodies", "stored"):
            self.run.stepper.plant.compiled(name)
        self.run.proceed(self.t)

    @property
    def robot(self) -> Robot:
        """The robot in its present topology."""
        assert self.run.stepper.plant.robot is not None
        return self.run.stepper.plant.robot

    @property
    def t(self) -> float:
        """The time of the run [s]."""
        return self.run.stepper.t

    @property
    def paused(self) -> bool:
        """Whether the run waits for `resume`."""
        return not self.pacer.runs

    def resume(self) -> None:
        """Lets the run go on in step with the clock."""
        self._check_going()
        if self.paused:
            self.pacer.begin(self.t)

    def pause(self) -> None:
        """Stops the run where it is; single steps and commands are still possible."""
        if not self.paused:
            self.pacer.stop()

    def set_speed(self, speed: float) -> None:
        """Sets the time of the run [s] that passes in 1 s of the clock.

        In slow motion, slices become shorter by as much, so that pictures move on as often as before.
        """
        self.pacer.set_speed(speed, self.t)
        self._fit_slices()

    def _fit_slices(self) -> None:
        """Gives slices the length that suits the speed."""
        length = max(self._slice * min(1.0, self.pacer.speed), SHORTEST)
        if length != self._grid[1] and self.outcome is None:
            self.give("set_slice", length=length)

    def step(self, count: int = 1) -> None:
        """Advances by single slices; the run is paused then."""
        self.pause()
        for _ in range(count):
            self._check_going()
            self._advance()

    def catch_up(self, most: float = PICTURE) -> int:
        """Computes the slices that the clock asks for, for at most `most` seconds of the clock; returns their number.

        Where this does not suffice, the run is slower than real time: `status` says so.
        """
        began, count = self.pacer.clock(), 0
        while self.outcome is None and self._next() <= self.pacer.due():
            self._advance()
            count += 1
            if self.pacer.clock() - began >= most:
                break
        self.pacer.look(self.t)
        return count

    @property
    def wait(self) -> float:
        """The time [s] of the clock until the next slice is due; infinite where the run is paused or has ended."""
        if self.outcome is not None or self.paused:
            return float("inf")
        return max((self._next() - self.pacer.due()) / self.pacer.speed, 0.0)

    def advance_to(self, t: float) -> None:
        """Advances to a time [s] of the run, at the end of a slice, without regard to the clock."""
        while self.t < t:
            self._check_going()
            self._advance()

    def _next(self) -> float:
        """The end [s] of the next slice."""
        start, length, count = self._grid
        return start + (count + 1) * length

    def _advance(self) -> None:
        """Computes one slice."""
        with self._ledger.times.within("run"):
            outcome = self.run.proceed(self._next())
        start, length, count = self._grid
        self._grid = (start, length, count + 1)
        if outcome is None and self.t >= LONGEST:
            words = f"The live run has reached {LONGEST:g} s, which is as much as it keeps. Keep it as a run, or reset."
            outcome = Outcome("stopped", self.t, words)
        if outcome is not None:
            self.outcome = outcome
            self.pacer.stop()

    def _check_going(self) -> None:
        """Raises UnsupportedError where the run has ended."""
        if self.outcome is not None:
            why = self.outcome.message or f"{self.outcome.kind}."
            raise UnsupportedError(f"The live run has ended: {why} Reset it.")

    # ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────

    def give(self, do: str, **given: Any) -> Any:
        """Carries out a command, a row of `commands.COMMANDS`, at the present time of the run, and records it."""
        check_command(do, given)
        self._check_going()
        found = getattr(self, f"_{do}")(**given)
        self.commands.append({"t": self.t, "do": do, **{name: _plain(value) for name, value in given.items()}})
        return found

    @property
    def inputs(self) -> dict[str, float]:
        """The present values of all inputs by name, set points included."""
        plant = self.run.stepper.plant
        return dict(zip((column.name for column in plant.u), self.run.stepper.u.tolist(), strict=True))

    def set_inputs(self, values: Mapping[str, float]) -> None:
        """Sets inputs by name from now on, those of set points included; the others stay as they are."""
        self.give("set_inputs", values=dict(values))

    def pull(self, body: str, point: Sequence[float], target: Sequence[float], strength: float | None = None) -> None:
        """Pulls a body from now on: a spring with a damper from a point of it to a target.

        `point` [m] is in the axes of the body, `target` [m] in those of the world. A `strength` of 1 could swing the
        whole mass of the robot; by default it suits the mass that the body carries.
        """
        self.give("pull", body=body, point=point, target=target, strength=strength)

    def release(self) -> None:
        """Lets go of the body that is pulled."""
        self.give("release")

    def dock(
        self,
        a: str,
        side_a: Side,
        b: str,
        side_b: Side,
        *,
        turn: int | None = None,
        distance: float = DISTANCE,
        angle: float = ANGLE,
    ) -> Event:
        """Docks two modules now, with a plastic impact, as `Dock` describes; returns the event.

        Its kind is "refused" where the ports are too far apart; then its note says by how much.
        """
        given = {"turn": turn, "distance": distance, "angle": angle}
        event: Event = self.give("dock", a=a, side_a=side_a, b=b, side_b=side_b, **given)
        return event

    def undock(self, module: str, side: Side) -> Event:
        """Opens the docking at a side of a module now; returns the event."""
        event: Event = self.give("undock", module=module, side=side)
        return event

    def _set_inputs(self, values: Mapping[str, float]) -> None:
        if not isinstance(values, Mapping):
            raise UnsupportedError(f"values of inputs are {values!r:.80}; expected numbers by name.")
        self.run.stepper.push(self.inputs | {name: float(value) for name, value in values.items()})
        self.run.keep_inputs()

    def _set_slice(self, length: float) -> None:
        _check_slice("length", length)
        self._grid = (self.t, float(length), 0)

    def _pull(self, body: str, point: Sequence[float], target: Sequence[float], strength: float | None = None) -> None:
        share = self.strength_for(body) if strength is None else float(strength)
        check_positive(strength=share)
        self._set_inputs(self._grip(body, point, target) | {f"{self.hand}.share": share})
        self._pulled = {"body": body, "point": point, "target": target}

    def _release(self) -> None:
        self._set_inputs({f"{self.hand}.share": 0.0})
        self._pulled = None

    def _grip(self, body: str, point: Sequence[float], target: Sequence[float]) -> dict[str, float]:
        """The inputs of a pull, without its share."""
        names = list(self.robot.body_names)
        if body not in names:
            hint = did_you_mean(str(body), names) or " Name one of its bodies."
            raise ModelError(f"pull: '{self.robot.name}' has no body '{body}'.{hint}")
        for what, vector in (("point", point), ("target", target)):
            if len(vector) != 3:
                raise ModelError(f"pull: {what} has {len(vector)} numbers; expected 3 [m].")
        found = {f"{self.hand}.body": float(names.index(body))}
        for axis, there, here in zip("xyz", target, point, strict=True):
            found |= {f"{self.hand}.{axis}": float(there), f"{self.hand}.point_{axis}": float(here)}
        return found

    def strength_for(self, body: str) -> float:
        """The usual strength of a pull on a body, see `usual_strength`."""
        return usual_strength(self.robot, body)

    # ── docking ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _dock(self, **given: Any) -> Event:
        return self._change(Dock(**given, at=self.t))

    def _undock(self, module: str, side: Side) -> Event:
        return self._change(Undock(module, side, at=self.t))

    def _change(self, change: Change) -> Event:
        """Carries out a docking or undocking at the present time, by the steps of any run with docking events."""
        docks, t = self._docks, self.t
        if docks is None:
            raise ModelError(
                f"'{self.system.name}' cannot dock or undock: it is not made of modules as they are. Run "
                "assembly.system(...), with dyads='halves' where hinges are shared."
            )
        check_changes(docks.docked.assembly, [change], t, t)
        self._ledger.take(self.run)
        self.run.stepper.clockwork.end()
        docks.pending["live"] = change
        following = docks.after(self._ledger, self.run, Outcome("finished", t))
        if isinstance(following, Outcome):
            self.outcome, self._is_taken = following, True
            self.pacer.stop()
            raise UnsupportedError(following.message)
        self.run = following
        self._keep_grip()
        self._begin_piece()
        if not self.paused:
            self.pacer.begin(t)  # the time that the new equations took does not count as being late
        return self._ledger.events[-1]

    def _keep_grip(self) -> None:
        """The hand holds the body that it held before: bodies have other numbers in another topology."""
        if self._pulled is None:
            return
        stepper = self.run.stepper
        stepper.u = stepper.plant.initial("u", self.inputs | self._grip(**self._pulled))
        stepper.refresh()

    def ports(self) -> list[dict[str, Any]]:
        """The ports of all modules: module, side, the body that carries each, its point [m] and normal on that body.

        `docked` is the name of the docking at the port, which both its ports have, or None where it is free.
        """
        if self._docks is None:
            return []
        assembly, found = self._docks.docked.assembly, []
        names = {end: one.name for one in assembly.dockings for end in ((one.a, one.side_a), (one.b, one.side_b))}
        for module in assembly.modules:
            for side in module.type.sides:
                frame = self.robot.frame(port_frame(module.name, side))
                pose = evaluate_all(frame.placement)
                found.append(
                    {
                        **{"module": module.name, "side": side, "body": frame.body},
                        **{"point": _plain(pose.p), "normal": [float(row[2]) for row in pose.R]},
                        "docked": names.get((module.name, side)),
                    }
                )
        return found

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def poses(self) -> tuple[Array, Array]:
        """Positions (nb, 3) [m] and quaternions (nb, 4), w first, of all `bodies` in the world, now."""
        stepper = self.run.stepper
        _, position, rotation, *_ = stepper.plant.compiled("bodies")(*stepper.inputs)
        order = self._order()
        columns = rotation[order].T.reshape(3, 3, len(order))
        return position[order], np.stack(np.broadcast_arrays(*rotation_to_quat(columns)), axis=-1)

    def _order(self) -> list[int]:
        """Where each of `bodies` is among those of the present robot."""
        place = {name: k for k, name in enumerate(self.robot.body_names)}
        return [place[name] for name in self.bodies]

    def status(self) -> LiveStatus:
        """Where the run stands, by its own time and by the clock."""
        pacer, ended, sentence = self.pacer, self.outcome is not None, ""
        if self.outcome is not None:
            sentence = self.outcome.message or f"The run is {self.outcome.kind}."
        elif pacer.late:
            sentence = f"Slower than real time: the run moves at {pacer.factor:.2g} of its speed."
        clock = pacer.running_time()
        return LiveStatus(self.t, clock, pacer.lag, pacer.lost, pacer.factor, pacer.speed, self.paused, ended, sentence)

    def energy(self) -> dict[str, float]:
        """Kinetic, potential, supplied and dissipated energy [J] now."""
        stepper = self.run.stepper
        t, q, v, x = stepper.state
        numbers = (np.array([t]), q[None], v[None], x[None], stepper.m[None], stepper.u[None])
        now = Segment(stepper.plant, *numbers, stepper.p)
        names = ("kinetic", "potential", "supplied", "dissipated")
        return dict(zip(names, (*now.energy[0].tolist(), *now.account[0].tolist()), strict=True))

    def trajectory(self) -> Trajectory:
        """Everything until now as a Trajectory, with the record of the commands in its settings.

        `reproduced(model, trajectory)` computes it again from that record. A Trajectory that was saved is loaded with
        the model of the live run.
        """
        options = {name: value for name, value in self._options.items() if value is not None}
        record = record_text({**options, "slice_length": self._slice}, self.commands)
        self._ledger.settings = {**self._ledger.settings, "until": self.t, LIVE: record}
        pieces, outcome = self._ledger, self.outcome or Outcome("finished", self.t)
        return pieces.finished(outcome) if self._is_taken else pieces.until_now(self.run, outcome)


def _check_slice(name: str, length: float) -> None:
    """Raises UnsupportedError for a length of slices [s] that is not a number in the range of live runs."""
    check_positive(**{name: length})
    if not SHORTEST <= length <= MOST_SLICE:
        raise UnsupportedError(f"{name} is {length:g} s; expected {SHORTEST:g} to {MOST_SLICE:g} s for a slice.")


def _plain(value: Any) -> Any:
    """A value of an option or a command as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
