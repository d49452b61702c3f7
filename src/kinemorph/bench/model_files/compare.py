"""The rows of `kinemorph bench simulate --files`: five seconds of each robot, beside MuJoCo at equal error.

1. Both read the file; a file that one of them refuses is named and left out, and the next one is taken.
2. Each contestant makes its own reference; the shorter horizon of both is that of the comparison (see `accuracy`).
3. Every method of both gets its loosest setting that reaches the error that is asked for: MuJoCo's three integrators
   the largest step, ours the tolerance. Methods that do not reach it drop out.
4. All of these take turns on one core, and the fastest of each contestant counts.
5. With its method and setting each contestant runs a batch of robots on one core: ours by `simulate_batch`, MuJoCo's by
   `rollout`. The time per robot counts; where single runs are faster, their time.

Both also run as they do where nothing is chosen: ours with its defaults, MuJoCo with the integrator and the step of the
file (`by_default`). Models are made, and ours compiled, before anything is timed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import Entry, Tuned, tune
from kinemorph.bench.model_files.accuracy import Reference, longest
from kinemorph.bench.model_files.kinemorph_run import KinemorphFile
from kinemorph.bench.model_files.problem import FileProblem, file_problem
from kinemorph.bench.model_files.result_tables import BY_DEFAULT
from kinemorph.bench.targets import Verdict, judge_file
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.errors import KinemorphError, MissingExtraError
from kinemorph.model.conventions.conversions import to_convention

if TYPE_CHECKING:
    from kinemorph.bench.model_files.mujoco_run import MujocoFile

ENOUGH = 1e-3  # the error that is asked for where none is given
BATCH, ROLLED = 64, 4  # robots in our batch, and in MuJoCo's, which takes one after the other
LONGEST = 10.0  # [s], if a setting takes longer, no tighter one is tried
FURTHER = 3  # tighter tolerances that are tried after the first that suffices
ROUNDS = 5  # at most, of single runs; of batches BATCH_ROUNDS
BATCH_ROUNDS = 3


def compare(
    paths: Sequence[Path],
    pace: Pace,
    *,
    most: int | None,
    error: float | None,
    tunes: bool,
    quick: bool,
    say: Say,
    note: Say,
) -> Iterator[Row]:
    """Yields a row for each file, until `most` files that both read are done. `error` is the one that is asked for.

    Where it `tunes` nothing, files are run by default only.
    """
    try:
        from kinemorph.bench.model_files.mujoco_run import MujocoFile, model_of
    except ImportError:
        raise MissingExtraError("mujoco", "peers") from None
    wanted = ENOUGH if error is None else error
    rounds = Pace(min(pace.rounds, ROUNDS), pace.seconds)
    done = 0
    for path in paths:
        if most is not None and done == most:
            break
        say(f"reading {path}")
        try:
            model = model_of(path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what does not act is the subject of `kinemorph check`
                problem = file_problem(path, 8 if quick else BATCH)
                peer = MujocoFile(problem, model)
        except KinemorphError as refused:
            note(f"{path} is not compared: {refused}")
            continue
        done += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield contested(problem, peer, wanted, rounds, tunes, say, note)


def contested(
    problem: FileProblem, peer: MujocoFile, enough: float, pace: Pace, tunes: bool, say: Say, note: Say
) -> Row:
    """The row of one file."""
    ours = KinemorphFile(problem, enough)
    row: Row = {
        "kind": "file" if tunes else BY_DEFAULT,
        "problem": problem.name,
        "dof": problem.robot.nv,
        "contestant": "Kinemorph",
        "contacts": problem.contacts,
        "start": problem.start,
        "wanted": enough,
        **dict.fromkeys(EMPTY),
        "reached": False,
    }
    try:
        say(f"computing references of {problem.name}")
        fine = longest(ours.fine_runs(), enough), longest(peer.fine_runs(), enough)
        samples = min(one.confirmed for one in fine)
        row |= {"horizon": float(problem.times[samples - 1]) if samples else 0.0, "apart": apart(problem, peer, fine)}
        row |= by_default(ours, peer, fine, samples, pace, say)
        if not tunes:
            row["reached"] = not samples or row["default_error"] <= row["file_error"]
            return row | Verdict()._asdict()
        if not samples:
            unsure = " and ".join(
                name for name, one in zip(("Kinemorph", "MuJoCo"), fine, strict=True) if not one.confirmed
            )
            why = f"two references of {unsure} do not agree at the first sample"
            note(f"{problem.name} is not compared at equal error: {why}")
            return row | judge_file(None, None)._asdict()
        own = [tuned(entry, fine[0], samples, enough, say) for entry in ours.entries(partial(_read, fine[0], samples))]
        theirs = [
            tuned(entry, fine[1], samples, enough, say) for entry in peer.entries(partial(_read, fine[1], samples))
        ]
        say(f"timing {problem.name}")
        timed = fastest(own, theirs, pace)
        row |= _single(timed[0], "") | _single(timed[1], "peer_")
        if None in timed:
            return row | judge_file(None, None)._asdict()
        row["ratio"] = row["peer_ms"] / row["ms"]
        row |= batched(problem, ours, peer, timed, pace, say)
    except KinemorphError as failed:
        note(f"{problem.name} fails: {failed}")
        return row | judge_file(None, None)._asdict()
    row["reached"] = True
    return row | judge_file(row["ratio"], row["batch_ratio"])._asdict()


EMPTY = (
    *("horizon", "apart", "method", "setting", "error", "ms", "peer_method", "peer_setting", "peer_error", "peer_ms"),
    *("ratio", "batch_ms", "peer_batch_ms", "batch_ratio"),
    *("default_method", "default_error", "default_ms", "default_batch_ms", "default_ratio", "default_batch_ratio"),
    *("fixed", "file_step", "file_error", "file_ms", "whole_ms", "file_batch_ms"),
)


def _read(fine: Reference, samples: int, states: Array) -> Array:
    return fine.scaled(states, samples)


def tuned(entry: Entry, fine: Reference, samples: int, enough: float, say: Say) -> Tuned:
    """An entry with the setting that it needs."""
    say(f"tuning {entry.contestant}, {entry.method}")
    further = FURTHER if entry.contestant == "Kinemorph" else 0
    return tune(entry, fine.scaled(fine.states, samples), enough, LONGEST, further)


class Timed(NamedTuple):
    """An entry with its setting, and the time of its run [s]."""

    tuned: Tuned
    seconds: float


def fastest(own: Sequence[Tuned], theirs: Sequence[Tuned], pace: Pace) -> tuple[Timed | None, Timed | None]:
    """The fastest entry of both sides, of those that are accurate; None where there is none. All take turns."""
    able = [one for one in (*own, *theirs) if one.reached]
    taken = take_turns([partial(one.entry.run, one.setting) for one in able], pace)
    times = [Timed(one, seconds) for one, seconds in zip(able, taken, strict=True)]
    ours, peers = (
        min((one for one in times if one.tuned in side), key=lambda one: one.seconds, default=None)
        for side in (own, theirs)
    )
    return ours, peers


def batched(
    problem: FileProblem, ours: KinemorphFile, peer: MujocoFile, timed: tuple[Any, Any], pace: Pace, say: Say
) -> Row:
    """The times of one robot of a batch [ms], and their ratio."""
    say(f"timing batches of {problem.name}")
    count, few = len(problem.q), min(ROLLED, len(problem.q))
    (own, single), (theirs, peer_single) = timed
    works = [
        ours.batch(own.entry.method, own.setting, count),
        peer.batch(theirs.entry.method, theirs.setting, few),
    ]
    each, peer_each = take_turns(works, Pace(min(pace.rounds, BATCH_ROUNDS), pace.seconds))
    ms, peer_ms = 1e3 * min(single, each / count), 1e3 * min(peer_single, peer_each / few)
    return {"batch_ms": ms, "peer_batch_ms": peer_ms, "batch_ratio": peer_ms / ms}


def apart(problem: FileProblem, peer: MujocoFile, fine: tuple[Reference, Reference]) -> float | None:
    """How far the two models move apart: the largest difference of a coordinate before both horizons [rad or m]."""
    robot, samples = problem.robot, min(one.confirmed for one in fine)
    if not samples:
        return None
    rows = fine[0].states[:samples]
    q = to_convention(robot, "mujoco", rows[:, : robot.nq], rows[:, robot.nq :], joints=peer.order or None)[0]
    return float(np.abs(q - fine[1].states[:samples, : robot.nq]).max())


def by_default(
    ours: KinemorphFile, peer: MujocoFile, fine: tuple[Reference, Reference], samples: int, pace: Pace, say: Say
) -> Row:
    """Times [ms] and errors of both as they run where nothing is chosen: ours with its default method and tolerances,
    MuJoCo with the integrator and the step of the file. Times of batches are those of one robot. Errors are those of
    the `samples` that references confirm; None without any.
    """
    problem, (integrator, step) = ours.problem, peer.written
    say(f"timing {problem.name} by default")
    run = ours.by_default()
    states = ours.states(run), peer.as_written()()
    errors = [
        float(np.abs(one.scaled(found, samples) - one.scaled(one.states, samples)).max()) if samples else None
        for one, found in zip(fine, states, strict=True)
    ]
    times = take_turns([ours.by_default, peer.as_written(), peer.as_written(whole=True)], pace)
    count, few = len(problem.q), min(ROLLED, len(problem.q))
    brief = Pace(min(pace.rounds, BATCH_ROUNDS), pace.seconds)
    each = take_turns([ours.batch(None, None, count), peer.batch(integrator, step, few)], brief)
    batches = min(times[0], each[0] / count), min(times[1], each[1] / few)
    return {
        "default_method": run.statistics.method,
        "file_step": step,
        "fixed": not problem.robot.is_free,
        **dict(zip(("default_error", "file_error"), errors, strict=True)),
        **dict(zip(("default_ms", "file_ms", "whole_ms"), (1e3 * one for one in times), strict=True)),
        **dict(zip(("default_batch_ms", "file_batch_ms"), (1e3 * one for one in batches), strict=True)),
        "default_ratio": times[1] / times[0],
        "default_batch_ratio": batches[1] / batches[0],
    }


def _single(timed: Timed | None, prefix: str) -> Row:
    if timed is None:
        return {}
    one = timed.tuned
    found = {
        "method": one.entry.method,
        "setting": one.entry.says.format(one.setting),
        "error": one.error,
        "ms": 1e3 * timed.seconds,
    }
    return {prefix + key: value for key, value in found.items()}
