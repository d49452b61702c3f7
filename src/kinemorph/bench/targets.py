"""The targets of the tables, and the verdicts whether rows meet them. Rows without a target have an empty verdict.

A ratio is Pinocchio's time divided by ours: the time of its C++ on one core for `scalar` and `batched`, of its Python
package for calls from Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.bench.peers.robots import BENCH_SET

# least ratios of scalar code, by robot and algorithm
SCALAR: dict[str, dict[str, float]] = {
    "panda": {"RNEA": 9.2, "CRBA": 6.7, "ABA": 10.4},
    "hexapod24": {"RNEA": 8.0, "CRBA": 6.3, "ABA": 7.8},
    "hexapod36": {"RNEA": 7.3, "CRBA": 5.3, "ABA": 7.6},
    "talos": {"RNEA": 7.3, "CRBA": 4.8, "ABA": 7.7},
}
DERIVATIVES = ("dRNEA", "dABA")
BATCHED = {"RNEA": 30.0, "ABA": 30.0, "dRNEA": 20.0, "dABA": 20.0}  # least ratios
SCALAR_DERIVATIVES = 5.0
FROM_PYTHON = 3.0
OVER_KERNEL_US = {"python-raw": 0.25, "python-call": 1.0}  # [µs], largest cost of a call besides its kernel
SCALING = 0.9  # share of the cores that a large batch has to use to count as linear
TRACE_MS, COLD_MS, WARM_MS = 100.0, 1000.0, 50.0  # to build a function of a robot with up to 36 degrees of freedom

READING = 1.0  # Pinocchio's time to read a URDF divided by ours
READY_COLD_MS, READY_WARM_MS = 1500.0, 200.0  # from a URDF to a compiled function, in a fresh process

EXPORT_S, OPEN_S, FRAME_MS = 5.0, 2.0, 5.0  # of a replay: 50 bodies, 10 s at 60 pictures per second

MAP_OVER_PLANE, MAP_OVER_FUNCTION = 4.0, 2.0  # largest time on a map, divided by the time on a plane or a function
STANDING = {"one robot": 10.0, "batched": 30.0}  # MuJoCo's time divided by ours, hexapods on the ground at equal error
WALK = 10.0  # MuJoCo's time divided by ours, AMRU5 walking at equal error
COCKROACH = {"one robot": 20.0, "batched": 40.0}  # MuJoCo's time divided by ours, at equal error
FILES = {"one robot": 3.0, "batched": 10.0}  # MuJoCo's time divided by ours, robots from files at equal error
STUDY_US, STUDY_MB, STUDY_SCALING = 50.0, 1000.0, 1.8  # of an item [µs], of a million items [MB], two workers over one
REAL_TIME = 50.0  # simulated time divided by our time, the cockroach at MuJoCo's error

LOOPS = {"scalar": 5.0, "batched": 20.0}  # time of Pinocchio's C++ divided by ours, forward dynamics with loops
GROWTH = 1.25  # largest time of a robot of copies, divided by the time of separate copies, that counts as linear

# the peer's time divided by ours: walks of the compass beside Drake's, impact maps beside those of Pinocchio's C++
HYBRID = {"walk": {"one run": 30.0, "batched": 100.0}, "impact": {"scalar": 10.0, "batched": 30.0}}
BASIN_S = 60.0  # [s], for a basin of attraction of the compass

# least times of a peer divided by ours: PyDy's function under SciPy, `simulate`, PythonFMU around Pinocchio
PROGRAMS = {"double pendulum": 50.0, "hexapod24": 1.0 / 3.0, "panda": 10.0}
TRACK = 50.0  # the time of SeqIKPy divided by ours, on a recorded fly
IDENTIFY = {"regressor": 5.0, "triangle": 4.0}  # the time of Pinocchio's C++ divided by ours, in every mode
IDENTIFY_MB = 300.0  # memory of a process that makes triangles of a million samples

STUDIO_START, STUDIO_KB = 3.0, 500.0  # MuJoCo's time to the first picture divided by ours; size of the studio's page
CLICK_MS = {9: 50.0, 50: 100.0, 200: 300.0}  # from a click to its draw call, for 95 % of clicks, by number of modules
WHILE_COMPUTING, COMPUTING_MS = "computing", 100.0  # the same while a run is computed for another page
LIVE_SCRIPT_MS, LIVE_BYTES, LIVE_PICTURES = 2.0, 0.25, 1.5  # of a live picture; the last two as parts of viser's

NEW_COLD_MS, NEW_SEEN_MS = 1000.0, 50.0  # from a docking to the first step of the new topology, nine modules


class Verdict(NamedTuple):
    """A target in words, and the verdict "met" or "missed"; both are empty if there is no target."""

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
    """The verdict on a row of speeds, whose ratio is the peer's time divided by ours.

    `over_kernel_us` is the time of a call minus that of its kernel [µs]; `scaling` is the speedup on all cores divided
    by their number.
    """
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
    """The verdict on compile times [ms] of a robot with nv degrees of freedom; above 36 there is no target."""
    if nv > 36:
        return Verdict()
    limits = (("trace", trace_ms, TRACE_MS), ("cold", cold_ms, COLD_MS), ("warm", warm_ms, WARM_MS))
    return _all_of([(f"{what} {limit:g}", taken <= limit) for what, taken, limit in limits])


def judge_loading(robot: str, ratio: float, cold_ms: float, warm_ms: float) -> Verdict:
    """The verdict on loading a URDF. `ratio` is the time of Pinocchio's reader divided by ours.

    `cold_ms` and `warm_ms`, the times to a compiled function, have targets for Panda only.
    """
    asked = [(f"read {READING:g}x", ratio >= READING)]
    if robot == "panda":
        asked += [
            (f"cold {READY_COLD_MS:g}", cold_ms <= READY_COLD_MS),
            (f"warm {READY_WARM_MS:g}", warm_ms <= READY_WARM_MS),
        ]
    return _all_of(asked)


def judge_replay(export_s: float, load_s: float | None, frame_ms: float | None) -> Verdict:
    """The verdict on a replay page: times to make and to open it [s], and of its script per picture [ms].

    A time is None where it was not measured.
    """
    asked = [(f"export {EXPORT_S:g} s", export_s <= EXPORT_S)]
    asked += [] if load_s is None else [(f"load {OPEN_S:g} s", load_s <= OPEN_S)]
    asked += [] if frame_ms is None else [(f"frame {FRAME_MS:g} ms", frame_ms <= FRAME_MS)]
    return _all_of(asked)


def judge_standing(mode: str, ratio: float | None, real_time: float | None = None) -> Verdict:
    """The verdict on a hexapod on the ground; `ratio` is None where our error was larger than MuJoCo's."""
    return _at_least(STANDING[mode], ratio)


def judge_file(single: float | None, batched: float | None) -> Verdict:
    """The verdict on a robot from a file, from MuJoCo's time divided by ours; None where one of both was not able."""
    given = {"one robot": single, "batched": batched}
    return _all_of(
        [(f"{mode} {FILES[mode]:g}x", ratio is not None and ratio >= FILES[mode]) for mode, ratio in given.items()]
    )


def judge_walk(mode: str, ratio: float | None, real_time: float | None = None) -> Verdict:
    """The verdict on AMRU5 walking; `ratio` is None where our error was larger than MuJoCo's."""
    return _at_least(WALK, ratio)


def judge_cockroach(mode: str, ratio: float | None, real_time: float | None) -> Verdict:
    """The verdict on the cockroach, from MuJoCo's time divided by ours, and simulated time divided by our time.

    Both are None where our error was larger than MuJoCo's.
    """
    wanted = COCKROACH[mode]
    paced = real_time is not None and real_time >= REAL_TIME
    return _all_of([(f"{wanted:g}x", ratio is not None and ratio >= wanted), (f"{REAL_TIME:g} times real time", paced)])


def _at_least(wanted: float, ratio: float | None) -> Verdict:
    return _all_of([(f"{wanted:g}x", ratio is not None and ratio >= wanted)])


def judge_terrain(ground: str, over_plane: Sequence[float], over_function: Sequence[float]) -> Verdict:
    """The verdict on a ground, from ratios of its times to those on a plane and on a smooth function.

    Only a height map has targets.
    """
    if ground != "map":
        return Verdict()
    asked = (("plane", over_plane, MAP_OVER_PLANE), ("function", over_function, MAP_OVER_FUNCTION))
    return _all_of([(f"{limit:g}x {what}", max(found) <= limit) for what, found, limit in asked])


def judge_loops(mode: str, ratio: float, growth: float | None) -> Verdict:
    """The verdict on a robot with loops; `ratio` is the peer's time divided by ours.

    `growth` is the time of a robot of copies divided by the time of separate copies; None for a robot without copies.
    """
    wanted = LOOPS.get(mode, FROM_PYTHON)
    asked = [(f"{wanted:g}x", ratio >= wanted)]
    if growth is not None and mode in LOOPS:
        asked.append((f"growth {GROWTH:g}", growth <= GROWTH))
    return _all_of(asked)


def judge_redocking(cold_ms: float, seen_ms: float) -> Verdict:
    """The verdict on times to a new topology [ms]: with an empty cache, and where the process has built it before."""
    limits = (("cold", cold_ms, NEW_COLD_MS), ("seen", seen_ms, NEW_SEEN_MS))
    return _all_of([(f"{what} {limit:g}", taken <= limit) for what, taken, limit in limits])


def judge_hybrid(what: str, mode: str, ratio: float | None) -> Verdict:
    """The verdict on a walk or an impact map; `ratio` is None where there is nothing to compare with."""
    wanted = HYBRID[what][mode]
    return Verdict() if ratio is None else _all_of([(f"{wanted:g}x", ratio >= wanted)])


def judge_basin(seconds: float) -> Verdict:
    """The verdict on the time [s] for a basin of attraction of the compass."""
    return _all_of([(f"{BASIN_S:g} s", seconds <= BASIN_S)])


def judge_identify(what: str, ratio: float, memory_mb: float | None = None) -> Verdict:
    """The verdict on a row of identification; `ratio` is the peer's time divided by ours.

    `memory_mb` is the peak memory of our process, where it has a target.
    """
    wanted = IDENTIFY[what]
    asked = [(f"{wanted:g}x", ratio >= wanted)]
    if memory_mb is not None:
        asked.append((f"{IDENTIFY_MB:g} MB", memory_mb <= IDENTIFY_MB))
    return _all_of(asked)


def judge_track(ratio: float | None) -> Verdict:
    """The verdict on a row of tracking; `ratio` is the time of SeqIKPy divided by ours, None where it was not run."""
    return _all_of([] if ratio is None else [(f"{TRACK:g}x", ratio >= TRACK)])


def judge_programs(problem: str, ratio: float | None) -> Verdict:
    """The verdict on a row of programs; `ratio` is the time of the peer divided by ours, None where it was not run."""
    least = next((least for name, least in PROGRAMS.items() if problem.startswith(name)), None)
    return _all_of([] if ratio is None or least is None else [(f"{least:.2g}x", ratio >= least)])


def judge_studio_start(ours_s: float, peer_s: float | None, kilobytes: float) -> Verdict:
    """The verdict on the start of the studio; `peer_s` is MuJoCo's time [s], None where it was not run."""
    asked = [] if peer_s is None else [(f"{STUDIO_START:g}x sooner", peer_s >= STUDIO_START * ours_s)]
    return _all_of([*asked, (f"{STUDIO_KB:g} kB", kilobytes <= STUDIO_KB)])


def judge_click(modules: int | str, slowest_ms: float) -> Verdict:
    """The verdict on clicks: the time within which 95 % of them reach the draw call [ms]."""
    limit = COMPUTING_MS if isinstance(modules, str) else CLICK_MS[modules]
    return _all_of([(f"{limit:g} ms", slowest_ms <= limit)])


def judge_live(script_ms: float, size: float | None, pictures: float | None) -> Verdict:
    """The verdict on live motion: script time per picture [ms], and our bytes and pictures per second over viser's.

    The last two are None where viser was not run.
    """
    asked = [(f"script {LIVE_SCRIPT_MS:g} ms", script_ms <= LIVE_SCRIPT_MS)]
    asked += [] if size is None else [(f"{LIVE_BYTES:g} of the bytes", size <= LIVE_BYTES)]
    asked += [] if pictures is None else [(f"{LIVE_PICTURES:g}x the pictures", pictures >= LIVE_PICTURES)]
    return _all_of(asked)


def _all_of(asked: list[tuple[str, bool]]) -> Verdict:
    if not asked:
        return Verdict()
    missed = [text for text, met in asked if not met]
    verdict = "met" if not missed else "missed" if len(asked) == 1 else f"missed: {', '.join(missed)}"
    return Verdict(", ".join(text for text, _ in asked), verdict)


def judge_study(us: float | None = None, mb: float | None = None, scaling: float | None = None) -> Verdict:
    """The verdict on a study: the time of an item [µs], the memory of all [MB], the work of two workers over one's."""
    asked = [] if us is None else [(f"{STUDY_US:g} us", us <= STUDY_US)]
    asked += [] if mb is None else [(f"{STUDY_MB:g} MB", mb <= STUDY_MB)]
    asked += [] if scaling is None else [(f"{STUDY_SCALING:g}x", scaling >= STUDY_SCALING)]
    return _all_of(asked) if asked else Verdict()
