"""How times are measured: contestants take turns in one run, and medians are compared.

Other processes always disturb a machine. So times of two programs can be compared only if both take turns in one run.
Work on one core is measured in CPU time, which other processes influence less; work on all cores is measured in wall
time. Every sample is so long that the clock and the foreign call around it do not matter.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.backends.llvm.engine import Engine, load_module, vector_bits
from kinemorph.codegen.building.compile import best_code
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import KinemorphError

T = TypeVar("T")
Row = dict[str, Any]  # a row of a table, by column
Say = Callable[[str], Any]  # receives a message
Work = Callable[[], Any]  # one sweep over all states
Clock = Callable[[], float]  # [s]


@dataclass(frozen=True)
class Pace:
    """How long to measure: each contestant has `rounds` turns of at least `seconds`."""

    rounds: int
    seconds: float


THOROUGH = Pace(rounds=9, seconds=0.02)
QUICK = Pace(rounds=5, seconds=0.004)


def take_turns(contestants: Sequence[Work], pace: Pace, clock: Clock = time.process_time) -> list[float]:
    """The median time [s] of one call of each contestant, which evaluates all states."""
    return [statistics.median(taken) for taken in samples_in_turns(contestants, pace, clock)]


def samples_in_turns(
    contestants: Sequence[Work], pace: Pace, clock: Clock = time.process_time, *, tidy: Work = lambda: None
) -> list[list[float]]:
    """The times [s] of one call of each contestant, one time per round.

    `tidy` is called before each sample and is not timed. Programs that run have been compiled for speed before.
    """
    counts = [_sweeps(work, pace.seconds, clock) for work in contestants]
    if best_code():
        counts = [_sweeps(work, pace.seconds, clock) for work in contestants]
    samples: list[list[float]] = [[] for _ in contestants]
    for _ in range(pace.rounds):
        for work, count, taken in zip(contestants, counts, samples, strict=True):
            tidy()
            start = clock()
            for _ in range(count):
                work()
            taken.append((clock() - start) / count)
    return samples


def timed(work: Callable[[], T], clock: Clock = time.process_time) -> tuple[float, T]:
    """(time of a single call [s], its result)."""
    start = clock()
    result = work()
    return clock() - start, result


def in_process(script: str, argument: str, cache: Path, doing: str) -> str:
    """The text that a script prints in a new Python process, with a folder as its cache of compiled code.

    `argument` is passed to the script; `doing` names its work in an error message.
    """
    cache.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "KINEMORPH_CACHE": str(cache)}
    command = [sys.executable, "-c", script, argument]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise KinemorphError(
            f"{doing} in a new Python process failed: {done.stderr.strip()[-300:]}. "
            "Run `kinemorph doctor` to check the installation."
        )
    return done.stdout


def _sweeps(work: Work, seconds: float, clock: Clock) -> int:
    """How many calls of `work` fill a sample of this many seconds; counting them also warms up the code."""
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            work()
        taken = clock() - start
        if taken >= 0.5 * seconds:
            return max(1, round(count * seconds / taken))
        count *= 2


# ── loops in machine code around kernels ──────────────────────────────────────────────────────────────────────────────


def scalar_loop(function: CompiledFunction, outs: Sequence[Array], ins: Sequence[Array], *, keep: bool) -> Work:
    """A function that calls the kernel for one state on all states of `ins`, one after the other, in machine code.

    `keep`: the result of every state is stored in its own row of `outs`; otherwise all results are written to the first
    row, as in a control loop.
    """
    n = len(ins[0])
    ports = [*function.program.outputs, *function.program.inputs]
    strides = [port.size if keep or k >= len(outs) else 0 for k, port in enumerate(ports)]
    engine = _loop(len(ports))
    repeat = engine.function("repeat", "void", ["pointer", "int64"] + ["pointer", "int64"] * len(ports))
    arguments: list[Any] = []
    for array, stride in zip([*outs, *ins], strides, strict=True):
        arguments += [array.ctypes.data_as(ctypes.c_void_p), stride]  # such a pointer keeps its array alive

    def work() -> None:
        repeat(function.kernel_address, n, *arguments)

    return work


@cache
def _loop(count: int) -> Engine:
    """Machine code of `repeat(kernel, n, pointer, stride, ...)`, which calls a kernel with `count` pointers n times."""
    arguments = ", ".join(f"ptr %p{k}, i64 %s{k}" for k in range(count))
    lines = [
        f"define void @repeat(ptr %kernel, i64 %n, {arguments}) nounwind {{",
        "start:",
        "  br label %loop",
        "loop:",
    ]
    lines.append("  %k = phi i64 [ 0, %start ], [ %next, %loop ]")
    for k in range(count):
        lines.append(f"  %o{k} = mul i64 %k, %s{k}")
        lines.append(f"  %q{k} = getelementptr inbounds double, ptr %p{k}, i64 %o{k}")
    lines.append(f"  call void %kernel({', '.join(f'ptr %q{k}' for k in range(count))})")
    lines += ["  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %n"]
    lines += ["  br i1 %more, label %loop, label %done", "done:", "  ret void", "}"]
    text = "\n".join(lines)
    return load_module(text, "repeat", lambda: text)


CHAINS = 16  # independent sums, enough to hide the latency of a fused multiply-add
STEPS = 20_000


def peak_flops(pace: Pace) -> float:
    """The peak speed of one core [flop/s], measured with fused multiply-adds in full SIMD registers alone."""
    lanes = vector_bits() // 64
    real = f"<{lanes} x double>"
    name = f"@llvm.fma.v{lanes}f64"
    factor, term = (f"splat (double {value})" for value in ("0.5", "1.0"))
    lines = [f"declare {real} {name}({real}, {real}, {real})", "define void @peak(i64 %n, ptr %out) nounwind {"]
    lines += ["start:", "  br label %loop", "loop:", "  %k = phi i64 [ 0, %start ], [ %next, %loop ]"]
    for c in range(CHAINS):
        lines.append(f"  %a{c} = phi {real} [ splat (double {float(c)}), %start ], [ %b{c}, %loop ]")
    for c in range(CHAINS):
        lines.append(f"  %b{c} = call {real} {name}({real} %a{c}, {real} {factor}, {real} {term})")
    lines += ["  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %n"]
    lines += ["  br i1 %more, label %loop, label %done", "done:"]
    for c in range(CHAINS):
        lines.append(f"  %p{c} = getelementptr {real}, ptr %out, i64 {c}")
        lines.append(f"  store {real} %b{c}, ptr %p{c}, align 8")
    text = "\n".join([*lines, "  ret void", "}"])
    engine = load_module(text, "peak", lambda: text)
    peak = engine.function("peak", "void", ["int64", "pointer"])
    out = np.empty(CHAINS * lanes)
    (seconds,) = take_turns([lambda: peak(STEPS, out.ctypes.data)], pace)
    return 2.0 * lanes * CHAINS * STEPS / seconds
