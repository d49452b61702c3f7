"""One run: from a system and its options to a Trajectory.

`simulate` prepares the run (`prepared`), and carries it out (`running.execution`); a run in which modules dock or
undock is carried out in pieces (`running.docked_run`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, Protocol, Unpack

import numpy as np

from kinemorph.plants.robot_plant import Model
from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.prepared import Prepared, RunOptions, lists_options, prepared
from kinemorph.simulation.results.kept import Kept, kept_key
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from kinemorph.simulation.running.checks import warn_after
from kinemorph.simulation.running.execution import Run
from kinemorph.simulation.running.ledger import Ledger
from kinemorph.simulation.running.phase_times import PhaseTimes
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.stepper import Stepper


@lists_options(RunOptions)
def simulate(model: Model, until: float | None = None, **options: Unpack[RunOptions]) -> Trajectory:
    """Simulates a robot, a system or a plant from the time `start` to the time `until` [s].

        run = simulate(robot, 5.0, q={"elbow": 0.5}, output_step=0.01)
        run.t, run.q, run["v.elbow"], run.energy, run.events, run.outcome

    `until` is a time on the clock; `time` in its place says how long the run lasts [s], also one that goes on from
    `start`. Without both, the run lasts as long as the settings of the system say.

    Initial state. Each group is a sequence in the order of the plant, or a dict of some values by name. Values that are
    not given are the defaults of the system. A value may be a text with a unit, such as "30 deg". Where there are
    constraints, named values of q and v are kept and the others follow.

    `q`, `v`        configuration [rad or m] and velocity [rad/s or m/s]
    `x`             further continuous states, such as currents
    `m`             memory of elements; those whose memory is given do not sample at the initial time again
    `p`             values of parameters: by name, or in order those that the plant keeps as inputs
    `start`         the initial time [s]; or the name of a start of the system, such as "home", whose values and inputs
                    are taken where none are given here; or a finished run to continue: values that are not given here
                    are those at its end, and modules are docked as they are there. Where model, method, options,
                    inputs and parameters are the same, it goes on with the steps of one long run: see `results.kept`

    Steps. Without a method, "dop853" is used with `rtol` and `atol`; for a system with contacts and no given tolerance
    it is "extrapolated_contact", which chooses steps by tolerances of 1e-3 and 1e-5. They are at most 2 ms long, or
    100 ms where nothing but planes is touched and no element depends on time.

    `method`        the name of a method; `kinemorph simulate --methods` lists all of them
    `step`          makes all steps this long [s]
    `rtol`, `atol`  the relative and absolute tolerance of steps that the method chooses; 1e-8 and 1e-10
    `max_step`      the longest step that the method may choose [s]; by default that of the model's settings

    What acts on the system.

    `inputs`        the inputs u: numbers in order or by name, constant for the whole run; or a Python function of some
                    of t, q, v and x, which is called at every stored sample and held in between. For another rate,
                    give `HeldInputs(function, every=0.01)`
    `forces`        a law of generalized forces [N m or N], `lambda t, q, v: [...]`, which is compiled into the step
    `locked`        names of joints that do not move
    `loops`         how closed chains and other constraints are kept: "projection" (nothing drifts), "partitioning",
                    "perturbation", "baumgarte" or "multipliers", or an object of `kinemorph.loops`. By default the
                    settings of the system decide, else "projection"
    `events`        guards whose change of sign is an event (see `Guard`), and for a system of modules what docks and
                    undocks (see `kinemorph.modules.Dock`)
    `most_events`   ends the run after this many events: changes of sign of guards, edges of an automaton, switches of
                    elements

    Results.

    `output_step`   the time between stored samples [s], or a sequence of all sample times. By default the settings of
                    the system decide, else 0.01 s
    `callback`      a function of some of t, q, v and x that is called every `every` seconds (by default at every
                    stored sample); the run stops when it returns True
    `progress`      a function progress(t, h, events) that is called at least five times a second, with the simulated
                    time [s], the size of the next step [s] and the number of events so far
    `watch`         a function watch(part) that is called several times a second with a Trajectory of the samples and
                    events since its last call, for pictures and plots that grow while the run is computed. All parts
                    together are the samples of the run
    `save`          a file (.npz, .h5, .csv or .res) that is written at the start, every few seconds and at the end, so
                    that a run that is killed leaves its results. A file that cannot be written is an error at the
                    start, and a warning later

    A wrong model or a wrong option raises an exception. A run that fails returns a Trajectory of everything computed
    before the failure; its `outcome` says when, where and why it failed. This includes failures of your functions
    (`inputs`, `callback`, a controller, the reset of a guard) that raise or return a value that cannot be used.
    """
    phases = PhaseTimes()
    run = prepared(model, until, **options)
    save = options.get("save")
    checkpoints = None if save is None else Checkpoints(save)
    settings = {name: getattr(run.options, name) for name in ("step", "rtol", "atol")} | {"until": float(run.times[-1])}
    ledger = Ledger(settings, options.get("progress"), checkpoints, options.get("watch"), phases)
    pieces = _pieces(run, phases)
    outcome = _carried_out(pieces, ledger)
    trajectory = ledger.finished(outcome, _kept(pieces, outcome))
    if checkpoints:
        checkpoints.finish(trajectory)
    with phases.within("check"):
        warn_after([trajectory], run.options, ledger.method)
    return replace(trajectory, statistics=ledger.statistics)


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Pieces(Protocol):
    """The pieces of a run, one after the other: coordinates change between them, and within one they do not."""

    def first(self, ledger: Ledger) -> Run | Outcome:
        """The first piece; an outcome where there is none."""

    def after(self, ledger: Ledger, run: Run, outcome: Outcome) -> Run | Outcome:
        """The piece that follows a finished one, which ended with `outcome`; or the outcome of the whole run."""


class OnePiece(NamedTuple):
    """A run whose coordinates do not change; phases of an automaton and their edges are part of its march."""

    run: Run

    def first(self, ledger: Ledger) -> Run | Outcome:
        """The only piece."""
        return self.run

    def after(self, ledger: Ledger, run: Run, outcome: Outcome) -> Run | Outcome:
        """Its outcome is that of the run."""
        return outcome


def _pieces(run: Prepared, phases: PhaseTimes) -> Pieces:
    """The pieces of a prepared run, which is checked here."""
    if run.docked:
        with phases.within("check"):
            run.check(None)
        return run.docked.start(run.options, run.first, run.regular, run.times)
    stepper = run.stepper()
    with phases.within("check"):
        run.check(stepper.state.q[None], stepper)
    begun = any(run.given[group] is not None for group in "qvxm")
    goes_on = run.before is not None and not begun and not any(run.regular) and _goes_on(run.before, stepper)
    if not any(run.regular):
        stepper.end = float(run.times[-1])
    most = math.inf if run.most_events is None else run.most_events
    return OnePiece(Run(stepper, run.times, *run.regular, most_events=most, taken_up=goes_on))


def _carried_out(pieces: Pieces, ledger: Ledger) -> Outcome:
    """Carries out all pieces of a run; their results are in the ledger."""
    following = pieces.first(ledger)
    while isinstance(following, Run):
        outcome = ledger.carry_out(following)
        following.stepper.clockwork.end()
        following = pieces.after(ledger, following, outcome)
    return following


def _goes_on(run: Trajectory, stepper: PlantStepper) -> bool:
    """Lets a stepper go on with what a run has kept, where nothing has changed; returns whether it does."""
    kept, last = run.kept, run.segments[-1]
    if kept is None or not isinstance(stepper, Stepper) or kept.key != kept_key(stepper.plant, stepper.options):
        return False
    same = kept.end == last.t[-1] and np.array_equal(last.u[-1], stepper.u) and np.array_equal(last.p, stepper.p)
    return same and (kept.plain or last.plant is stepper.plant) and stepper.take_up(kept)


def _kept(pieces: Pieces, outcome: Outcome) -> Kept | None:
    """What a run that continues this one goes on with; None where it begins anew."""
    stepper = pieces.run.stepper if isinstance(pieces, OnePiece) and outcome.kind == "finished" else None
    return stepper.kept if isinstance(stepper, Stepper) and stepper.end < math.inf else None
