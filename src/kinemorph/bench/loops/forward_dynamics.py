"""The speed of forward dynamics with closed loops: our function, and Pinocchio's `constraintDynamics` and `lcaba`.

Before anything is timed, both sides have to give the same accelerations at the same closed states, to 1e-9 relative.
The faster of Pinocchio's algorithms counts, each with the cheapest setting that is accurate enough (see
`pinocchio_loops`). There is one row per mode of calling. A robot made of several copies is compared with one copy: its
time should be proportional to the number of copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kinemorph.bench.loops.models import LOOPED, QUICK_LOOPED, LoopContest
from kinemorph.bench.loops.pinocchio_loops import settled
from kinemorph.bench.speed.evaluation_times import Arena, measured_rows
from kinemorph.bench.targets import judge_loops
from kinemorph.bench.timing import Pace, Row, Say

MODES = ("scalar", "batched", "python-raw", "python-call")


def compare_loops(pace: Pace, library: Path | None, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields the rows of the table. Times are in µs per evaluation.

    `growth` is the time of a robot of copies divided by the time of as many separate robots.
    """
    arena = Arena(pace, library)
    alone: dict[tuple[object, str], float] = {}
    for name in QUICK_LOOPED if quick else LOOPED:
        say(f"{name}: deriving")
        contest = LoopContest(name)
        robot, copies = contest.twin.robot, contest.row.copies
        settled(contest, arena.peer)
        settings = ", ".join(f"{variant}: mu {p.mu:g}, {p.iterations} it." for variant, p in contest.twin.prox.items())
        for row in measured_rows(name, contest, MODES, arena):
            key, ours = (contest.row.make, row["mode"]), row["ours_us"]
            growth = None
            if ours is not None and copies == 1:
                alone[key] = ours
            elif ours is not None and key in alone:
                growth = ours / (copies * alone[key])
            facts = {"kind": "speed", **row, "loops": len(robot.loops), "growth": growth, "settings": settings}
            if ours is not None:
                facts |= judge_loops(row["mode"], row["ratio"], growth)._asdict()
            yield facts
