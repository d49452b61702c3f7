"""The tables of compile times: from a robot to machine code, and how times grow with the number of links.

trace   tracing: the mechanics run on graph nodes, in Python
cold    LLVM compiles the code for one state; `lanes`: the code for batches, which is compiled for the first batch
warm    both are read from the cache on disk
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from kinemorph.bench.peers.robots import bench_twin, general_chain
from kinemorph.bench.speed.contest import ALGORITHMS, farthest_body, random_states
from kinemorph.bench.targets import judge_building
from kinemorph.bench.timing import Pace, Row, Work, scalar_loop, take_turns, timed
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.building.self_test import self_test
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.disk_cache import switched_off
from kinemorph.model.robot import Robot

LENGTHS = (50, 100, 200, 500, 1000)
QUICK_LENGTHS = (50, 100, 200)
GROWING = ("RNEA", "ABA")
STATES = 64  # states in a measurement of growth
FEW = 16  # states, enough for the code for batches to be compiled


def building(robots: Sequence[str], algorithms: Sequence[str], *, file: Path | None = None) -> Iterator[Row]:
    """Yields one row per robot and algorithm, with the times from a robot to a compiled function [ms].

    Robots in `file` replace robots of the same name.
    """
    self_test()  # loads LLVM
    for name in robots:
        robot = bench_twin(name, file).robot
        for algorithm in algorithms:
            with switched_off():
                cold = _built(robot, algorithm)
            _built(robot, algorithm)  # fills the cache
            warm = _built(robot, algorithm)
            slower = [max(made["compile_ms"], made["lanes_ms"]) for made in (cold, warm)]
            yield {
                "robot": name,
                "nv": robot.nv,
                "algorithm": algorithm,
                "ops": cold["function"].ops,
                "trace_ms": cold["trace_ms"],
                "cold_ms": cold["compile_ms"],
                "cold_lanes_ms": cold["lanes_ms"],
                "warm_ms": warm["compile_ms"],
                "warm_lanes_ms": warm["lanes_ms"],
                **judge_building(robot.nv, cold["trace_ms"], *slower)._asdict(),
            }


def _built(robot: Robot, algorithm: str) -> Row:
    """A newly compiled function, and the times to trace it, to compile it, and to compile its code for batches [ms]."""
    row = ALGORITHMS[algorithm]
    dynamics: Dynamics = derive(robot)
    tip = farthest_body(robot)

    def make() -> CompiledFunction:
        made = getattr(dynamics, row.function)
        return cast(CompiledFunction, made(tip) if row.of_tip else made)

    total, function = timed(make, time.perf_counter)
    states = random_states(robot, FEW)
    outs = [np.empty((FEW, *port.shape)) for port in function.program.outputs]
    ins = [states[port.name] for port in function.program.inputs]
    call = partial(function.raw, outs[0] if len(outs) == 1 else tuple(outs), *ins)
    (first, _), (second, _) = timed(call, time.perf_counter), timed(call, time.perf_counter)
    return {
        "function": function,
        "trace_ms": 1e3 * (total - function.compile_seconds),
        "compile_ms": 1e3 * function.compile_seconds,
        "lanes_ms": 1e3 * (first - second),
    }


def growth(lengths: Sequence[int], pace: Pace) -> Iterator[Row]:
    """Yields one row per number of links and algorithm, with the times to build and evaluate functions of a chain.

    `memory_mb` is the peak memory of this process so far; rows are in the order of the lengths.
    """
    self_test()
    for n in lengths:
        robot = general_chain(n)
        states = random_states(robot, STATES)
        for algorithm in GROWING:
            with switched_off():
                built = _built(robot, algorithm)
            function: CompiledFunction = built["function"]
            ins = [states[port.name] for port in function.program.inputs]
            out = np.empty((STATES, n))
            works: list[Work] = [scalar_loop(function, [out], ins, keep=False), partial(function.raw, out, *ins)]
            scalar, batched = (1e6 * seconds / STATES for seconds in take_turns(works, pace))
            yield {
                "links": n,
                "algorithm": algorithm,
                "ops": function.ops,
                "trace_ms": built["trace_ms"],
                "compile_ms": built["compile_ms"],
                "lanes_ms": built["lanes_ms"],
                "scalar_us": scalar,
                "batched_us": batched,
                "ns_per_link": 1e3 * scalar / n,
                "memory_mb": peak_memory(),
            }


def peak_memory() -> float | None:
    """The peak memory of this process [MB]; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1e6 if sys.platform == "darwin" else 1e3  # macOS counts bytes, others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
