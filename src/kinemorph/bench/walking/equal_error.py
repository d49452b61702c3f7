"""The rows of `kinemorph bench walk`: AMRU5 beside MuJoCo and SymPy, and the time to its first step.

walk    ten seconds of the walk after settling. The error of a run is the RMS error of the central body's position
        against a run of the same simulator with a much smaller step size: the simulators have different contacts. In
        MuJoCo, loops close with a time constant of two steps, the shortest that its manual recommends, so that they
        are closed better with smaller steps; its finest run has loops that are nearly closed. Each run of MuJoCo is
        compared with our fastest run that has no larger error.
leg     one leg: the time to derive and compile its equations, and the time per evaluation from Python
first   the time from nothing to the first step, in a new process with an empty cache, and with a full one: of the walk,
        and of a robot with many contacts (`many_contacts`)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.notation import Tdisp
from kinemorph.bench.equal_error import Contest, Contestant, comparisons, errors_by_step, timed_curves
from kinemorph.bench.targets import judge_walk
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import KinemorphError, MissingExtraError
from kinemorph.model.library import amru
from kinemorph.model.library.amru_walk import SAMPLE, amru5_walk
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.robot import Robot
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

END = 11.0  # [s]: 1 s to settle, then 10 s of walking
OURS = {
    "implicit_contact": (0.01, 0.005, 0.002),
    "centered_contact": (0.01, 0.005, 0.002),
    "extrapolated_contact": (0.01, 0.005, 0.002, 0.001),
}  # methods and step sizes [s]
MUJOCO = (0.002, 0.001, 0.0005, 0.00025)  # step sizes [s]
FINE, MUJOCO_FINE = 5e-5, 6.25e-5  # step sizes of the references [s]
QUICK_ROUNDS = 2
TARGETS = {"derive": 100.0, "evaluate": 500.0}  # ratios
FIRST = """
import time
begin = time.process_time()
import kinemorph
from {file} import {function}
kinemorph.Stepper({function}(), method="{method}", step=0.001).step()
print(time.process_time() - begin)
"""
# problems of the first step: the function that makes the system, its file, the methods, and the most seconds
STARTS = {
    "AMRU5, from its library to the first step": (
        "amru5_walk",
        "kinemorph.model.library.amru_walk",
        ("extrapolated_contact", "centered_contact"),  # the first is the default
        3.0,
    ),
    "humanoid with a mesh at each body": (
        "many_contacts",
        "kinemorph.bench.walking.many_contacts",
        ("extrapolated_contact",),
        5.0,
    ),
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of walks, of the leg and of the first step."""
    yield from compare_walks(pace, quick=quick, say=say, note=note)
    yield from compare_leg(pace, quick=quick, say=say, note=note)
    say("timing the first step in new processes")
    for problem, (_, _, methods, _) in STARTS.items():
        for method in methods:
            yield first_step(problem, method)


# ── walks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class OurWalk:
    """The walk in Kinemorph with one method."""

    def __init__(self, method: str) -> None:
        self.system = amru5_walk()
        self.stepper = Stepper(self.system, method=method, step=SAMPLE)
        self.times = SAMPLE * np.arange(1, round(END / SAMPLE) + 1, dtype=np.float64)

    def run(self, h: float) -> Array:
        """The positions of the central body [m] every 10 ms, shape (n, 3), for steps of h [s]."""
        self.stepper.restart(0.0, np.array(self.system.settings.q))
        self.stepper.h = h
        rows: list[Array] = []
        times: Any = self.times
        while len(times):
            marched = self.stepper.through(times, END)
            if marched.status not in (Status.GOING, Status.BUDGET):
                raise KinemorphError(f"the walk of AMRU5 failed with steps of {h:g} s. Take smaller steps.")
            rows.append(marched.rows[:, :3])
            times = times[len(marched.times) :]
        return np.concatenate(rows)


def compare_walks(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields a row for each step size of MuJoCo, with our fastest run that has no larger error."""
    try:
        from kinemorph.bench.walking.mujoco_amru5 import MujocoWalk
    except ImportError:
        note(f"walks are not compared: {MissingExtraError('mujoco', 'peers')}")
        return
    steps = MUJOCO[:2] if quick else MUJOCO
    reference = simulate(amru5_walk(), END, output_step=SAMPLE)
    wanted = np.stack([reference[f"gait.q{k}"] for k in range(6, 24)], axis=1)[:-1]
    say("measuring errors of MuJoCo")
    fine = MujocoWalk(wanted, loop_time=2.0 * MUJOCO_FINE).run(MUJOCO_FINE)
    peers = {h: MujocoWalk(wanted, loop_time=2.0 * h) for h in steps}
    found = {h: peer.walked(h) for h, peer in peers.items()}
    errors = errors_by_step(lambda h: found[h][0], steps, position_error, fine)
    contestants = [Contestant("MuJoCo", "implicitfast", lambda h: peers[h].run(h), errors)]
    say("measuring our errors")
    ours = {method: OurWalk(method) for method in OURS}
    exact = ours["extrapolated_contact"].run(FINE)
    for method, walk in ours.items():
        errors = errors_by_step(walk.run, OURS[method], position_error, exact)
        contestants.append(Contestant("Kinemorph", method, walk.run, errors))
    say("timing walks")
    rounds = Pace(rounds=QUICK_ROUNDS if quick else max(pace.rounds // 2, QUICK_ROUNDS), seconds=pace.seconds)
    peer, *curves = timed_curves(contestants, rounds)
    label = "10 s of AMRU5 walking"
    contest = Contest("walk", label, 24, END, {"position": "m"}, steps, judge_walk, ("one robot",), whole=True)
    apart = float(abs(fine[-1, 1] - exact[-1, 1]))
    for row in comparisons(contest, peer, curves):
        yield row | {"peer_gap": found[row["peer_step"]][1], "apart": apart}


def position_error(rows: Array, reference: Array) -> dict[str, float]:
    """The RMS distance [m] between positions, the first three columns of both."""
    return {"position": float(np.sqrt(((rows - reference)[:, :3] ** 2).sum(axis=1).mean()))}


def _judged(what: str, ratio: float | None) -> dict[str, str]:
    met = ratio is not None and ratio >= TARGETS[what]
    return {"target": f"{TARGETS[what]:g}x", "verdict": "met" if met else "missed"}


# ── one leg ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def leg() -> Robot:
    """Leg 1 of AMRU5, fixed to the world at its hip: three coordinates."""
    builder = PositionBuilder("amru5_leg")
    amru.add_leg(builder, 1, Tdisp(0.0, 0.0, 0.0))
    return builder.build()


def compare_leg(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the row of the leg in SymPy: deriving, and evaluating its forward dynamics from Python."""
    if quick:
        note("SymPy takes a minute for the equations of one leg and is left out of quick runs")
        return
    try:
        from kinemorph.bench.walking.sympy_leg import sympy_leg
    except ImportError:
        note(f"the leg is not compared: {MissingExtraError('sympy', 'peers')}")
        return
    state = np.array([0.2, 0.08, 0.1]), np.array([0.3, 0.02, -0.03]), np.array([1.0, 10.0, -5.0])
    say("deriving a leg")
    with tempfile.TemporaryDirectory() as folder:
        mine, ours = _derived(folder)
        say("deriving the same leg with SymPy")
        begin = time.process_time()
        theirs = sympy_leg()
        their_seconds = time.process_time() - begin
        difference = float(np.abs(theirs(*state) - mine.forward_dynamics(*state)).max())
        evaluations = take_turns([partial(theirs, *state), partial(mine.forward_dynamics, *state)], pace)
    ratios = their_seconds / ours, evaluations[0] / evaluations[1]
    for what, ratio, theirs_s, ours_s in (
        ("derive", ratios[0], their_seconds, ours),
        ("evaluate", ratios[1], evaluations[0], evaluations[1]),
    ):
        yield {
            "kind": "leg",
            "problem": "one leg of AMRU5",
            "what": what,
            "peer": "SymPy",
            "peer_ms": 1e3 * theirs_s,
            "ms": 1e3 * ours_s,
            "ratio": ratio,
            "difference": difference,
            **_judged(what, ratio),
        }


def _derived(folder: str) -> tuple[Any, float]:
    """The functions of the leg, and the time [s] to build, derive and compile its forward dynamics without a cache."""
    before = os.environ.get("KINEMORPH_CACHE")
    os.environ["KINEMORPH_CACHE"] = folder
    try:
        begin = time.process_time()
        functions = derive(leg())
        functions.forward_dynamics(np.array([0.2, 0.08, 0.1]), np.zeros(3), np.zeros(3))
        return functions, time.process_time() - begin
    finally:
        os.environ.pop("KINEMORPH_CACHE")
        if before is not None:
            os.environ["KINEMORPH_CACHE"] = before


# ── the first step ────────────────────────────────────────────────────────────────────────────────────────────────────


def first_step(problem: str, method: str) -> Row:
    """The row of the CPU time from nothing to the first step: with an empty cache, then with a full one.

    `problem` is a key of STARTS.
    """
    function, file, _, most = STARTS[problem]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "KINEMORPH_CACHE": folder}
        command = [sys.executable, "-c", FIRST.format(function=function, file=file, method=method)]
        cold, warm = (
            float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
            for _ in range(2)
        )
    return {
        "kind": "first",
        "problem": problem,
        "method": method,
        "cold_s": cold,
        "warm_s": warm,
        "target": f"{most:g} s",
        "verdict": "met" if cold <= most else "missed",
    }
