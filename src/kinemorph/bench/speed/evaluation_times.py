"""The table of speeds: time per evaluation, here and there, for robots, algorithms and ways of calling.

    scalar       one state after the other in machine code, all different; Pinocchio's C++ does the same
    batched      one call on a batch, on one core; Pinocchio's C++ as above
    all-cores    one call on a large batch, on all cores; Pinocchio's C++ in as many threads
    python-raw   one state per call from Python, without checks; `pin` from Python
    python-call  the same with checks and a fresh result; `pin` from Python

No time is taken before both sides have given the same answers to poisoned outputs.
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
BATCH, BATCH_BYTES = 4096, 1 << 20  # states of a batch, fewer where they would not stay in a core's cache
LARGE, LARGE_BYTES = 1 << 16, 1 << 24  # the same for all cores, where they need not
CALLS = 256  # different states in a sweep of calls from Python


class Arena:
    """Where contests are held: the pace, the states of a robot, and the peers."""

    def __init__(self, pace: Pace, library: Path | None) -> None:
        self.pace, self.library = pace, library

    def peer(self, contest: Contest) -> Peer:
        """Pinocchio in the fastest form there is."""
        if self.library is None:
            return PythonPeer(contest.twin, contest.tip)
        return CppPeer(contest.twin, contest.tip, self.library)


def fastest_library(note: Say) -> Path | None:
    """Pinocchio's C++, built where it can be; None, with a note, where `pin` from Python has to stand in for it."""
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
    """The rows of the table, one after the other as they are measured. Times are in µs per evaluation.

    `file`: stored robots that take precedence over the set. `cpp=False`: `pin` from Python in every row. `say` is told
    what is going on, `note` what the reader of the table should know.
    """
    twins = [(name, bench_twin(name, file)) for name in robots]  # unknown names first
    arena = Arena(pace, fastest_library(note) if cpp and not set(modes) <= {"python-raw", "python-call"} else None)
    for name, twin in twins:
        say(f"{name}: deriving")
        for contest in contests(twin, list(algorithms)):
            say(f"{name}: {contest.algorithm.name}")
            yield from measured_rows(name, contest, modes, arena)


def measured_rows(name: str, contest: Contest, modes: Sequence[str], arena: Arena) -> Iterator[Row]:
    """One row for each mode of one contest; without times where both sides do not agree."""
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
            row |= {"target": "", "verdict": f"differs by {difference:.1e}: no time is worth taking"}
        yield row


def _judged(row: Row, ours_us: dict[str, float]) -> Row:
    """Target and verdict of a row, given the times of the rows before it."""
    mode, ours = row["mode"], row["ours_us"]
    over = ours - ours_us["scalar"] if "scalar" in ours_us else None
    scaling = ours_us["batched"] / (ours * default_threads()) if mode == "all-cores" and "batched" in ours_us else None
    found = judge(row["robot"], row["algorithm"], mode, row["ratio"], over_kernel_us=over, scaling=scaling)
    return found._asdict() | ({} if scaling is None else {"scaling": scaling})


def disagreement(contest: Contest, peer: Peer) -> float:
    """The largest relative difference between our answers, in every way of computing them, and the peer's."""
    states = contest.states(CHECKED, seed=1)
    ins = contest.inputs(states)
    batch, single = contest.outputs(CHECKED), contest.outputs(CHECKED)
    contest.function.raw(batch[0] if len(batch) == 1 else tuple(batch), *ins)
    scalar_loop(contest.function, single, ins, keep=True)()
    differences = [
        contest.difference(ours, peer.results(way, *contest.peer_states(states)))
        for way in contest.algorithm.peer
        for ours in (batch, single)
    ]
    return float(np.max(differences))  # nan where any is


# ── the ways of calling ───────────────────────────────────────────────────────────────────────────────────────────────


def _result(
    contest: Contest,
    n: int,
    ours: Work,
    peers: Sequence[Work],
    label: str,
    pace: Pace,
    clock: Clock = time.process_time,
) -> Row:
    """One row: our time, the time of the faster of the peer's ways, per evaluation [µs]."""
    mine, *theirs = (1e6 * seconds / n for seconds in take_turns([ours, *peers], pace, clock))
    program = contest.function.program
    flops = (
        program.flops if isinstance(program, Program) else None
    )  # of loops, the text does not say how often they run
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
    """Our work on one core against the peer's, on the same states."""
    peer = arena.peer(contest)
    theirs = [peer.work(way, *contest.peer_states(states)) for way in contest.algorithm.peer]
    return _result(contest, len(states["q"]), ours, theirs, peer.label, arena.pace)


def _scalar(contest: Contest, arena: Arena) -> Row:
    """The results have one place, so that only the inputs take room."""
    states = contest.states(_fitting(contest.input_bytes, BATCH, BATCH_BYTES))
    ours = scalar_loop(contest.function, contest.outputs(1), contest.inputs(states), keep=False)
    return _against_peer(contest, arena, states, ours)


def _batched(contest: Contest, arena: Arena) -> Row:
    states = contest.states(_fitting(contest.state_bytes, BATCH, BATCH_BYTES))
    ins, outs = contest.inputs(states), contest.outputs(len(states["q"]))
    ours = partial(contest.function.raw, outs[0] if len(outs) == 1 else tuple(outs), *ins)
    return _against_peer(contest, arena, states, ours)


def _all_cores(contest: Contest, arena: Arena) -> Row:
    """One checked call on a large batch, which shares itself out among threads; the peer gets a slice for each core."""
    states = contest.states(_fitting(contest.state_bytes, LARGE, LARGE_BYTES))
    ins = contest.inputs(states)
    n = len(states["q"])
    cores = default_threads()
    cuts = [n * k // cores for k in range(cores + 1)]
    slices = [{key: values[i:j] for key, values in states.items()} for i, j in pairwise(cuts)]
    theirs = []
    for way in contest.algorithm.peer:
        peers = [arena.peer(contest) for _ in slices]
        parts = [peer.work(way, *contest.peer_states(piece)) for peer, piece in zip(peers, slices, strict=True)]
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
    """One state per call; the loop around the calls is the interpreter's own, here and there."""
    states = contest.states(CALLS)
    ins = [list(array) for array in contest.inputs(states)]
    peer = PythonPeer(contest.twin, contest.tip)
    theirs = [peer.work(way, *contest.peer_states(states)) for way in contest.algorithm.peer]
    return _result(contest, CALLS, lambda: deque(calls(*ins), maxlen=0), theirs, peer.label, arena.pace)


def _fitting(bytes_each: int, most: int, most_bytes: int) -> int:
    """How many states: a multiple of 16 that fits, and at least 32."""
    return max(32, min(most, most_bytes // bytes_each // 16 * 16))


MEASURE: dict[str, Callable[[Contest, Arena], Row]] = {
    "scalar": _scalar,
    "batched": _batched,
    "all-cores": _all_cores,
    "python-raw": _python_raw,
    "python-call": _python_call,
}
