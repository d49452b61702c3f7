"""The table of speeds: time per evaluation, ours and Pinocchio's, for robots, algorithms and modes of calling.

    scalar       one state after the other in machine code, all different; Pinocchio's C++ does the same
    batched      one call on a batch, on one core; Pinocchio's C++ as in `scalar`
    all-cores    one call on a large batch, on all cores; Pinocchio's C++ in as many threads
    python-raw   one state per call from Python, without checks; the package `pin` from Python
    python-call  one state per call from Python, with checks and a new result; the package `pin` from Python

Nothing is timed before both sides have given the same results, in output arrays that were filled with NaN.
"""

from __future__ import annotations

import operator
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.pinocchio_cpp import CppPeer, built_library
from kinemorph.bench.peers.pinocchio_python import PythonPeer
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.bench.speed.contest import AGREE, Contest, Peer, contests
from kinemorph.bench.targets import judge
from kinemorph.bench.timing import Clock, Pace, Row, Say, Work, scalar_loop, take_turns
from kinemorph.codegen.backends.threads import default_threads, in_threads
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import CompileError, MissingExtraError

MODES = ("scalar", "batched", "all-cores", "python-raw", "python-call")

CHECKED = 64  # states on which both sides must agree
BATCH, BATCH_BYTES = 4096, 1 << 20  # states of a batch; fewer if they would not fit into a core's cache
LARGE, LARGE_BYTES = 1 << 16, 1 << 24  # states of a batch for all cores, which need not fit into a cache
CALLS = 256  # different states in a sweep of calls from Python


class Arena:
    """How contests are timed: the pace, and the compiled library of Pinocchio's C++; None to use Python."""

    def __init__(self, pace: Pace, library: Path | None) -> None:
        self.pace, self.library = pace, library

    def peer(self, contest: Contest) -> Peer:
        """Pinocchio for this contest: in C++, or called from Python if there is no compiled library."""
        if self.library is None:
            return PythonPeer(contest.twin, contest.tip)
        return CppPeer(contest.twin, contest.tip, self.library)


def fastest_library(note: Say) -> Path | None:
    """The path of the library of Pinocchio's C++, compiled if necessary.

    It is None, with a note, where Pinocchio has to be called from Python instead.
    """
    try:
        return built_library(note)
    except (MissingExtraError, CompileError) as problem:
        note(f"Pinocchio is called from Python instead of C++: {problem}")
        return None


def compare(
    robots: Sequence[str],
    algorithms: Sequence[str],
    modes: Sequence[str],
    pace: Pace,
    *,
    file: Path | None = None,
    cpp: bool = True,
    say: Say = lambda message: None,
    note: Say = lambda message: None,
) -> Iterator[Row]:
    """Yields the rows of the table as they are measured. Times are in µs per evaluation.

    Robots in `file` replace robots of the same name. With `cpp=False`, Pinocchio is called from Python in every row.
    `say` receives the progress, `note` remarks for the reader of the table.
    """
    twins = [(name, bench_twin(name, file)) for name in robots]  # first, so that unknown names are refused at once
    arena = Arena(pace, fastest_library(note) if cpp and not set(modes) <= {"python-raw", "python-call"} else None)
    for name, twin in twins:
        say(f"{name}: deriving")
        for contest in contests(twin, list(algorithms)):
            say(f"{name}: {contest.algorithm.name}")
            yield from measured_rows(name, contest, modes, arena)


def measured_rows(name: str, contest: Contest, modes: Sequence[str], arena: Arena) -> Iterator[Row]:
    """Yields one row per mode of a contest; the rows have no times where both sides do not agree."""
    facts = {"robot": name, "nv": contest.twin.robot.nv, "algorithm": contest.algorithm.name}
    difference = disagreement(contest, arena.peer(contest))
    ours_us: dict[str, float] = {}
    for mode in modes:
        row: Row = {**facts, "mode": mode, "ours_us": None, "peer_us": None, "ratio": None, "difference": difference}
        if difference <= AGREE:
            measured = MEASURE[mode](contest, arena)
            ours_us[mode] = measured["ours_us"]
            row |= measured
            row |= _judged(row, ours_us)
        else:
            row |= {"target": "", "verdict": f"differs by {difference:.1e}, so it is not timed"}
        yield row


def _judged(row: Row, ours_us: dict[str, float]) -> Row:
    """The target and verdict of a row; `ours_us` are our times of the same contest so far, by mode [µs]."""
    mode, ours = row["mode"], row["ours_us"]
    over = ours - ours_us["scalar"] if "scalar" in ours_us else None
    scaling = ours_us["batched"] / (ours * default_threads()) if mode == "all-cores" and "batched" in ours_us else None
    found = judge(row["robot"], row["algorithm"], mode, row["ratio"], over_kernel_us=over, scaling=scaling)
    return found._asdict() | ({} if scaling is None else {"scaling": scaling})


def disagreement(contest: Contest, peer: Peer) -> float:
    """The largest relative difference of our results, scalar and batched, from the peer's."""
    states = contest.states(CHECKED, seed=1)
    ins = contest.inputs(states)
    batch, single = contest.outputs(CHECKED), contest.outputs(CHECKED)
    contest.function.raw(batch[0] if len(batch) == 1 else tuple(batch), *ins)
    scalar_loop(contest.function, single, ins, keep=True)()
    differences = [
        contest.difference(ours, peer.results(variant, *contest.peer_states(states)))
        for variant in contest.algorithm.peer
        for ours in (batch, single)
    ]
    return float(np.max(differences))  # NaN if any is NaN


# ── the modes of calling ──────────────────────────────────────────────────────────────────────────────────────────────


def _result(
    contest: Contest,
    n: int,
    ours: Work,
    peers: Sequence[Work],
    label: str,
    pace: Pace,
    clock: Clock = time.process_time,
) -> Row:
    """The times of a row: our time per evaluation [µs], and the time of the fastest of the peer's algorithms.

    `ours` and `peers` are functions that evaluate n states; `label` names the peer.
    """
    mine, *theirs = (1e6 * seconds / n for seconds in take_turns([ours, *peers], pace, clock))
    program = contest.function.program
    flops = program.flops if isinstance(program, Program) else None  # unknown for loop programs
    return {
        "ours_us": mine,
        "peer_us": min(theirs),
        "ratio": min(theirs) / mine,
        "peer": label,
        "peer_ways_us": dict(zip(contest.algorithm.peer, theirs, strict=True)),
        "states": n,
        "flops": flops,
        "gflops": None if flops is None else flops / mine / 1e3,
    }


def _against_peer(contest: Contest, arena: Arena, states: dict[str, Array], ours: Work) -> Row:
    """The times of our function `ours` and of the peer's algorithms on one core, on the same states."""
    peer = arena.peer(contest)
    theirs = [peer.work(variant, *contest.peer_states(states)) for variant in contest.algorithm.peer]
    return _result(contest, len(states["q"]), ours, theirs, peer.label, arena.pace)


def _scalar(contest: Contest, arena: Arena) -> Row:
    """The times for one state after the other; all results are written to one place, so only inputs need memory."""
    states = contest.states(_fitting(contest.input_bytes, BATCH, BATCH_BYTES))
    ours = scalar_loop(contest.function, contest.outputs(1), contest.inputs(states), keep=False)
    return _against_peer(contest, arena, states, ours)


def _batched(contest: Contest, arena: Arena) -> Row:
    states = contest.states(_fitting(contest.state_bytes, BATCH, BATCH_BYTES))
    ins, outs = contest.inputs(states), contest.outputs(len(states["q"]))
    ours = partial(contest.function.raw, outs[0] if len(outs) == 1 else tuple(outs), *ins)
    return _against_peer(contest, arena, states, ours)


def _all_cores(contest: Contest, arena: Arena) -> Row:
    """The times for one checked call on a large batch in several threads; the peer gets a part of it for each core."""
    states = contest.states(_fitting(contest.state_bytes, LARGE, LARGE_BYTES))
    ins = contest.inputs(states)
    n = len(states["q"])
    cores = default_threads()
    cuts = [n * k // cores for k in range(cores + 1)]
    slices = [{key: values[i:j] for key, values in states.items()} for i, j in pairwise(cuts)]
    theirs = []
    for variant in contest.algorithm.peer:
        peers = [arena.peer(contest) for _ in slices]
        parts = [peer.work(variant, *contest.peer_states(piece)) for peer, piece in zip(peers, slices, strict=True)]
        theirs.append(partial(in_threads, operator.call, parts, cores))
    ours = partial(contest.function, *ins)
    return _result(contest, n, ours, theirs, peers[0].label, arena.pace, time.perf_counter)


def _python_raw(contest: Contest, arena: Arena) -> Row:
    out = contest.outputs(1)
    place = out[0][0] if len(out) == 1 else tuple(array[0] for array in out)
    return _from_python(contest, arena, lambda *ins: map(contest.function.raw, repeat(place), *ins))


def _python_call(contest: Contest, arena: Arena) -> Row:
    return _from_python(contest, arena, lambda *ins: map(contest.function, *ins))


def _from_python(contest: Contest, arena: Arena, calls: Callable[..., Iterator[Any]]) -> Row:
    """The times for one state per call from Python; on both sides, the loop runs inside the interpreter, in C."""
    states = contest.states(CALLS)
    ins = [list(array) for array in contest.inputs(states)]
    peer = PythonPeer(contest.twin, contest.tip)
    theirs = [peer.work(variant, *contest.peer_states(states)) for variant in contest.algorithm.peer]
    return _result(contest, CALLS, lambda: deque(calls(*ins), maxlen=0), theirs, peer.label, arena.pace)


def _fitting(bytes_each: int, most: int, most_bytes: int) -> int:
    """The number of states whose data fit into `most_bytes`: a multiple of 16, at most `most` and at least 32."""
    return max(32, min(most, most_bytes // bytes_each // 16 * 16))


MEASURE: dict[str, Callable[[Contest, Arena], Row]] = {
    "scalar": _scalar,
    "batched": _batched,
    "all-cores": _all_cores,
    "python-raw": _python_raw,
    "python-call": _python_call,
}
