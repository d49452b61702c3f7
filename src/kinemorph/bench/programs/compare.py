"""The rows of `kinemorph bench programs`.

The double pendulum swings for 200 s. Both sides take the loosest tolerance with which all samples are within ERROR of
a run at 1e-13; PyDy's function gets the faster of SciPy's two solvers. A program's time is that of its whole process,
with its start and its file of samples. hexapod24 stands on the ground, as program and in `simulate`, in turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.programs.panda_fmus import built_master, our_fmu, python_fmu, stepped
from kinemorph.bench.programs.processes import built, cpu_time, samples_of
from kinemorph.bench.programs.pydy_pendulum import generator, ode_function, solvers
from kinemorph.bench.standing.kinemorph_run import elements as standing_elements
from kinemorph.bench.standing.problem import standing
from kinemorph.bench.targets import judge_programs
from kinemorph.bench.timing import Pace, Row, Say, timed
from kinemorph.errors import CompileError, MissingExtraError
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.library.textbook import double_pendulum
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import System
from kinemorph.programs.job import make_job
from kinemorph.simulation.simulate import simulate

ERROR = 1e-8  # [rad, rad/s] largest error of a sample
TOLERANCES = 10.0 ** -np.arange(6.0, 13.5, 0.5)
UNTIL, SPACING = 200.0, 0.1  # [s]
START = (0.5, 0.2)  # [rad]
MASSES, LENGTHS, GRAVITY = (1.1, 0.9), (1.2, 1.1), 9.81
STANDING = {"implicit contact": "implicit_contact", "extrapolated contact": "extrapolated_contact"}
STANDING_S, STANDING_STEP, SAMPLED = 20.0, 0.001, 0.002  # [s]


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows: the double pendulum, hexapod24, and Panda's FMUs."""
    rounds = max(2, pace.rounds // 2) if quick else 2 * pace.rounds
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        say("the double pendulum")
        yield from _pendulum(folder, rounds, note)
        say("hexapod24 on the ground")
        yield from _hexapod(folder, rounds)
        say("Panda as FMUs")
        try:
            yield from _fmus(folder, 200 if quick else 2000, rounds)
        except (MissingExtraError, CompileError) as error:
            note(f"without PythonFMU: {error}")


def _row(kind: str, problem: str, contestant: str, seconds: float, error: float | None, peer: float | None) -> Row:
    ratio = None if peer is None else peer / seconds
    unit = {"us": 1e6 * seconds} if kind == "fmu" else {"ms": 1e3 * seconds}
    named = {"kind": kind, "problem": problem, "contestant": contestant, **unit, "error": error, "ratio": ratio}
    return {**named, **judge_programs(problem, ratio)._asdict()}


# ── the double pendulum ───────────────────────────────────────────────────────────────────────────────────────────────


def _pendulum(folder: Path, rounds: int, note: Say) -> Iterator[Row]:
    robot = double_pendulum(MASSES, LENGTHS)
    assert abs(float(evaluate(robot.gravity[2])) + GRAVITY) < 1e-12
    exact = simulate(robot, UNTIL, q=START, rtol=1e-13, atol=1e-13, output_step=SPACING)
    wanted = np.column_stack([exact.q, exact.v])
    program = built(make_job(robot, UNTIL, q=START, output_step=SPACING), folder / "pendulum")
    file = folder / "pendulum.csv"

    def in_c(tolerance: float) -> Array:
        cpu_time(program, "--rtol", repr(tolerance), "--atol", repr(tolerance), samples=file)
        return samples_of(file)[:, 1:5]

    tolerance, error = loosest(in_c, wanted)
    options = ("--rtol", repr(tolerance), "--atol", repr(tolerance))
    ours = partial(cpu_time, program, *options, samples=file)
    peers: dict[str, tuple[Callable[[], Any], float]] = {}
    try:
        rate, constants = ode_function(MASSES, LENGTHS, GRAVITY)
        start = np.array([*START, 0.0, 0.0])
        for name, solve in solvers().items():
            run = partial(solve, rate, constants, start, exact.t)
            own, off = loosest(run, wanted)
            peers[f"PyDy ({generator()}), {name}"] = partial(run, own), off
    except MissingExtraError as missing:
        note(f"without PyDy: {missing}")
    times: dict[str, float] = dict.fromkeys(peers, np.inf)
    least = np.inf
    for _ in range(rounds):
        least = min(least, ours())
        for name, (work, _) in peers.items():
            times[name] = min(times[name], timed(work, time.process_time)[0])
    for name, seconds in times.items():
        yield _row("program", "double pendulum", name, seconds, peers[name][1], None)
    yield _row("program", "double pendulum", "Kinemorph, C", least, error, min(times.values(), default=None))


def loosest(run: Callable[[float], Array], wanted: Array) -> tuple[float, float]:
    """(the loosest of TOLERANCES with which a run is within ERROR of `wanted` (n, k), its error)."""
    for tolerance in TOLERANCES.tolist():
        error = float(np.abs(run(tolerance) - wanted).max())
        if error <= ERROR:
            return tolerance, error
    raise CompileError(f"no tolerance down to {TOLERANCES[-1]:g} gives errors below {ERROR:g}.")


# ── hexapod24 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _hexapod(folder: Path, rounds: int) -> Iterator[Row]:
    problem = standing("hexapod24", "dropped")
    held = [
        PD(e.name, joints=e.joints, reference=e.reference, kp=e.kp, kd=e.kd, every=SAMPLED) if isinstance(e, PD) else e
        for e in standing_elements(problem)
    ]
    system = System(problem.robot, tuple(held))
    for name, method in STANDING.items():
        options: dict[str, Any] = {"q": problem.q, "step": STANDING_STEP, "method": method, "output_step": 1.0}
        program = built(make_job(system, STANDING_S, **options), folder / method)
        file = folder / f"{method}.csv"
        here = partial(simulate, system, STANDING_S, **options)
        wanted = here()  # compiled code is in memory after this
        theirs = ours = np.inf
        for _ in range(rounds):
            theirs = min(theirs, timed(here, time.process_time)[0])
            ours = min(ours, cpu_time(program, samples=file))
        error = float(np.abs(samples_of(file)[:, 1 : 1 + wanted.q.shape[1]] - wanted.q).max())
        label = f"hexapod24, {name}"
        yield _row("program", label, "simulate", theirs, None, None)
        yield _row("program", label, "Kinemorph, C", ours, error, theirs)


# ── FMUs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fmus(folder: Path, steps: int, rounds: int) -> Iterator[Row]:
    master, ours, theirs = built_master(folder), our_fmu(folder), python_fmu(folder)
    least = {"ours": np.inf, "theirs": np.inf}
    ends: dict[str, Array] = {}
    for _ in range(min(rounds, 5)):
        for name, fmu in (("ours", ours), ("theirs", theirs)):
            seconds, ends[name] = stepped(master, fmu, steps)
            least[name] = min(least[name], seconds)
    off = float(np.abs(ends["ours"] - ends["theirs"]).max())
    yield _row("fmu", "panda, FMI 2.0", "PythonFMU around Pinocchio's ABA", least["theirs"], None, None)
    yield _row("fmu", "panda, FMI 2.0", "Kinemorph", least["ours"], off, least["theirs"])
