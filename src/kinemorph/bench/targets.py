"""What the figures are held against. A target is a promise for some rows of the table; the others have none.

Ratios are over Pinocchio: its C++ on one core for `scalar` and `batched`, its Python package for calls from Python.
"""

from __future__ import annotations

from typing import NamedTuple

from kinemorph.bench.peers.robots import BENCH_SET

# scalar code, by robot
SCALAR: dict[str, dict[str, float]] = {
    "panda": {"RNEA": 9.2, "CRBA": 6.7, "ABA": 10.4},
    "hexapod24": {"RNEA": 8.0, "CRBA": 6.3, "ABA": 7.8},
    "hexapod36": {"RNEA": 7.3, "CRBA": 5.3, "ABA": 7.6},
    "talos": {"RNEA": 7.3, "CRBA": 4.8, "ABA": 7.7},
}
DERIVATIVES = ("dRNEA", "dABA")
BATCHED = {"RNEA": 30.0, "ABA": 30.0, "dRNEA": 20.0, "dABA": 20.0}
SCALAR_DERIVATIVES = 5.0
FROM_PYTHON = 3.0
OVER_KERNEL_US = {"python-raw": 0.25, "python-call": 1.0}  # what a call may cost besides its kernel
SCALING = 0.9  # share of the cores that a large batch must make use of to count as linear
TRACE_MS, COLD_MS, WARM_MS = 100.0, 1000.0, 50.0  # to build a function of a robot with up to 36 degrees of freedom

READING = 1.0  # how many times Pinocchio's own time it takes to read a URDF
READY_COLD_MS, READY_WARM_MS = 1500.0, 200.0  # from a URDF to a compiled function, in a fresh process

EXPORT_S, OPEN_S, FRAME_MS = 5.0, 2.0, 5.0  # of a replay: 50 bodies, 10 s at 60 pictures per second


STANDING = {"one robot": 10.0, "batched": 30.0}  # hexapods on the ground, over MuJoCo at equal error

LOOPS = {"scalar": 5.0, "batched": 20.0}  # forward dynamics with loops, over Pinocchio's C++
GROWTH = 1.25  # how many times the time of all copies alone a robot of many loops may take to count as linear

NEW_COLD_MS, NEW_SEEN_MS = 1000.0, 50.0  # from a docking to the first step of the new topology, nine modules


class Verdict(NamedTuple):
    """A target in words, and whether it is met; both empty where there is none."""

    target: str = ""
    verdict: str = ""


def judge(
    robot: str,
    algorithm: str,
    mode: str,
    ratio: float,
    *,
    over_kernel_us: float | None = None,
    scaling: float | None = None,
) -> Verdict:
    """How a row does. `over_kernel_us`: time beyond the scalar kernel [µs]; `scaling`: share of the cores in use."""
    asked: list[tuple[str, bool]] = []
    if robot not in BENCH_SET:
        return Verdict()
    if mode == "scalar":
        wanted = SCALAR.get(robot, {}).get(algorithm, SCALAR_DERIVATIVES if algorithm in DERIVATIVES else None)
        if wanted:
            asked.append((f"{wanted:g}x", ratio >= wanted))
    elif mode == "batched" and algorithm in BATCHED:
        asked.append((f"{BATCHED[algorithm]:g}x", ratio >= BATCHED[algorithm]))
    elif mode == "all-cores" and scaling is not None:
        asked.append((f"{SCALING:.0%} of cores", scaling >= SCALING))
    elif mode in OVER_KERNEL_US:
        asked.append((f"{FROM_PYTHON:g}x", ratio >= FROM_PYTHON))
        if over_kernel_us is not None:
            limit = OVER_KERNEL_US[mode]
            asked.append((f"+{limit:g} µs", over_kernel_us <= limit))
    return _all_of(asked)


def judge_building(nv: int, trace_ms: float, cold_ms: float, warm_ms: float) -> Verdict:
    """How the times of building do [ms]; only robots with up to 36 degrees of freedom have a target."""
    if nv > 36:
        return Verdict()
    limits = (("trace", trace_ms, TRACE_MS), ("cold", cold_ms, COLD_MS), ("warm", warm_ms, WARM_MS))
    return _all_of([(f"{what} {limit:g}", taken <= limit) for what, taken, limit in limits])


def judge_loading(robot: str, ratio: float, cold_ms: float, warm_ms: float) -> Verdict:
    """How loading does: reading against Pinocchio's, and Panda's way to a compiled function [ms]."""
    asked = [(f"read {READING:g}x", ratio >= READING)]
    if robot == "panda":
        asked += [
            (f"cold {READY_COLD_MS:g}", cold_ms <= READY_COLD_MS),
            (f"warm {READY_WARM_MS:g}", warm_ms <= READY_WARM_MS),
        ]
    return _all_of(asked)


def judge_replay(export_s: float, load_s: float | None, frame_ms: float | None) -> Verdict:
    """How a replay does: making it, opening it [s], and its script for one picture [ms]; None where it is unknown."""
    asked = [(f"export {EXPORT_S:g} s", export_s <= EXPORT_S)]
    asked += [] if load_s is None else [(f"load {OPEN_S:g} s", load_s <= OPEN_S)]
    asked += [] if frame_ms is None else [(f"frame {FRAME_MS:g} ms", frame_ms <= FRAME_MS)]
    return _all_of(asked)


def judge_standing(mode: str, ratio: float | None) -> Verdict:
    """How a hexapod on the ground does; the ratio is None where MuJoCo's error was not reached."""
    wanted = STANDING[mode]
    return _all_of([(f"{wanted:g}x", ratio is not None and ratio >= wanted)])


def judge_loops(mode: str, ratio: float, growth: float | None) -> Verdict:
    """How a robot with loops does. `growth`: its time over that of its copies alone, where it is made of some."""
    wanted = LOOPS.get(mode, FROM_PYTHON)
    asked = [(f"{wanted:g}x", ratio >= wanted)]
    if growth is not None and mode in LOOPS:
        asked.append((f"growth {GROWTH:g}", growth <= GROWTH))
    return _all_of(asked)


def judge_redocking(cold_ms: float, seen_ms: float) -> Verdict:
    """How the time to a new topology does [ms]: with nothing known, and where it was seen before."""
    limits = (("cold", cold_ms, NEW_COLD_MS), ("seen", seen_ms, NEW_SEEN_MS))
    return _all_of([(f"{what} {limit:g}", taken <= limit) for what, taken, limit in limits])


def _all_of(asked: list[tuple[str, bool]]) -> Verdict:
    if not asked:
        return Verdict()
    missed = [text for text, met in asked if not met]
    verdict = "met" if not missed else "missed" if len(asked) == 1 else f"missed: {', '.join(missed)}"
    return Verdict(", ".join(text for text, _ in asked), verdict)
