"""Ten steps of the compass walker: ours, and Drake's example `CompassGait`, at equal error.

Drake's example has two coordinates and equations that were derived for it by hand; ours is the floating robot of the
library, with four coordinates, whose stance foot is held. Both begin on the gait, after a strike. The numbers that are
compared are the angles [rad] and rates [rad/s] of both legs during the eleventh step.

Drake has no batches, so its time for one walk is compared with our time for one walk of a batch on one core. The walks
of the batch begin with rates that differ by up to 0.1 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import TOLERANCE, Entry, gathered, imported, tune
from kinemorph.bench.targets import judge_hybrid
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.model.library.walkers.straight_legs import COMPASS_START, compass_walker
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch
from kinemorph.simulation.stepping.stepper import Stepper

END = 7.7  # [s], during the eleventh step
STEPS = 10
ENOUGH = 1e-9  # [rad or rad/s], the largest error
SLOPE = np.radians(3.0)
WALKS = 1024  # of a batch
SPREAD = 1e-3  # relative, of the rates at the beginning of a batch
TOLERANCES = tuple(10.0**-k for k in np.arange(7.0, 13.1, 0.25).tolist())
LONGEST = 10.0  # [s]: if a setting takes longer, no tighter one is tried
LEGS = ([2, 3], [2, 3])  # the legs in q and in v


def compare_walks(pace: Pace, *, say: Say, note: Say) -> Iterator[Row]:
    """Yields a row for each contestant, with the loosest setting that is accurate enough."""
    wanted = reference()
    entries = [*kinemorph_entries(), *gathered({"Drake": drake_entries}, note)]
    tuned = []
    for entry in entries:
        say(f"tuning {entry.contestant}, {entry.method}")
        tuned.append(tune(entry, wanted, ENOUGH, LONGEST))
    say("timing walks of the compass")
    seconds = take_turns([partial(one.entry.run, one.setting) for one in tuned], pace)
    walks = [WALKS if one.entry.contestant.endswith("batch") else 1 for one in tuned]
    times = [took / count for took, count in zip(seconds, walks, strict=True)]
    theirs = [took for took, one in zip(times, tuned, strict=True) if one.entry.contestant == "Drake" and one.reached]
    for took, one in zip(times, tuned, strict=True):
        ours = one.entry.contestant != "Drake"
        ratio = min(theirs) / took if theirs and ours else None
        mode = "batched" if one.entry.contestant.endswith("batch") else "one run"
        yield {
            "kind": "walk",
            "contestant": one.entry.contestant,
            "method": one.entry.method,
            "setting": one.entry.says.format(one.setting),
            "error": one.error,
            "reached": one.reached or not ours,
            "us_per_step": 1e6 * took / STEPS,
            "ratio": ratio,
            **judge_hybrid("walk", mode, ratio)._asdict(),
        }


def reference() -> Array:
    """Angles and rates of both legs at the end, shape (1, 4), by a run at a tolerance of 1e-13."""
    return _ours(simulate(compass_walker(), END, output_step=END, rtol=1e-13, atol=1e-13))


def _ours(run: Any) -> Array:
    return np.concatenate([run.q[-1, LEGS[0]], run.v[-1, LEGS[1]]])[None]


# ── ours ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kinemorph_entries() -> list[Entry]:
    """Our entries: a `Stepper` that is made beforehand, the whole call `simulate`, and a batch on one core."""
    walker = compass_walker()
    steppers: dict[float, Stepper] = {}

    def stepped(tolerance: float) -> Any:
        if tolerance not in steppers:
            steppers[tolerance] = Stepper(walker, rtol=tolerance, atol=tolerance)
        steppers[tolerance].restart(0.0)
        return steppers[tolerance].advance(END)

    def whole(tolerance: float) -> Any:
        return simulate(walker, END, output_step=END, rtol=tolerance, atol=tolerance)

    rates = np.outer(1.0 + SPREAD * np.linspace(-1.0, 1.0, WALKS), walker.settings.v)

    def batch(tolerance: float) -> Any:
        options: dict[str, Any] = {"output_step": END, "threads": 1, "keep_events": False}
        return simulate_batch(walker, END, v=rates, rtol=tolerance, atol=tolerance, **options).final

    exact = _final(batch(1e-13))

    def read_batch(final: Any) -> Array:
        """The reference with the largest errors of the batch, which have an exact run of their own, added to it."""
        found: Array = reference() + np.abs(_final(final) - exact).max(axis=0)
        return found

    return [
        Entry("Kinemorph, Stepper", "dop853", TOLERANCES, TOLERANCE, stepped, _state),
        Entry("Kinemorph, simulate()", "dop853", TOLERANCES, TOLERANCE, whole, _ours),
        Entry("Kinemorph, batch", "dop853", TOLERANCES, TOLERANCE, batch, read_batch),
    ]


def _state(state: Any) -> Array:
    return np.concatenate([state.q[LEGS[0]], state.v[LEGS[1]]])[None]


def _final(final: Any) -> Array:
    return np.concatenate([final.q[:, LEGS[0]], final.v[:, LEGS[1]]], axis=1)


# ── Drake ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def drake_entries() -> list[Entry]:
    """Drake's entries: its example with its adaptive explicit methods, the same tolerance for the times of strikes.

    Its angles are measured from the vertical, and forward.
    """
    examples, analysis = imported("pydrake.examples", "drake"), imported("pydrake.systems.analysis", "drake")
    begun = _turned(np.array([COMPASS_START]))[0]

    def by(scheme: str) -> Any:
        made: dict[float, Any] = {}

        def simulator(tolerance: float) -> Any:
            walker = examples.CompassGait()
            running = analysis.Simulator(walker)
            analysis.ResetIntegratorFromFlags(running, scheme, 1.0)
            context = running.get_mutable_context()
            context.get_mutable_numeric_parameter(0).SetAtIndex(5, SLOPE)
            walker.get_input_port(0).FixValue(context, 0.0)
            running.get_mutable_integrator().set_target_accuracy(tolerance)
            context.SetAccuracy(tolerance)
            return running

        def run(tolerance: float) -> Array:
            if tolerance not in made:
                made[tolerance] = simulator(tolerance)
            running = made[tolerance]
            context = running.get_mutable_context()
            context.SetTime(0.0)
            context.SetContinuousState(begun)
            running.Initialize()
            running.AdvanceTo(END)
            found: Array = context.get_continuous_state_vector().CopyToVector()
            return found

        return run

    schemes = ("runge_kutta5", "runge_kutta3")
    return [
        Entry("Drake", scheme, TOLERANCES, TOLERANCE, by(scheme), lambda row: _turned(row[None])) for scheme in schemes
    ]


def _turned(rows: Array) -> Array:
    """Angles and rates of both legs, shape (n, 4), from our convention to Drake's, or back."""
    return np.concatenate([SLOPE - rows[:, :2], -rows[:, 2:]], axis=1)
