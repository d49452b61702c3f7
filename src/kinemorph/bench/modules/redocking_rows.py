"""The rows of `kinemorph bench modules`: growth with size, forward dynamics, and the time to a new topology."""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.modules.forward_dynamics import ROBOTS, forward
from kinemorph.bench.modules.models import QUICK_SIZES, SIZES
from kinemorph.bench.modules.redocking import METHODS, PROCESSES, redocked
from kinemorph.bench.modules.redocking_peers import AGREE, peer_changes
from kinemorph.bench.modules.scale import scale
from kinemorph.bench.speed.evaluation_times import fastest_library
from kinemorph.bench.targets import judge_redocking
from kinemorph.bench.timing import Pace, Row, Say

OURS = "Kinemorph"
CARRIES = {
    OURS: "state of all bodies; plastic impact, momentum conserved, energy loss reported",
    "MuJoCo": "state of joints that stay",
    "Pinocchio": "nothing",
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of all three tables; the rows of the table of scale have the kinds "scale" and "growth"."""
    library = fastest_library(note)
    yield from scale(QUICK_SIZES if quick else SIZES, pace, say=say)
    speeds = {}
    for row in forward(ROBOTS[:2] if quick else ROBOTS, pace, library, say=say):
        speeds[row["robot"]] = row
        yield row
    say("timing dockings in new processes")
    yield from redocking(speeds["organism"], quick=quick, note=note)


def redocking(organism: Row, *, quick: bool, note: Say) -> Iterator[Row]:
    """Yields the rows of the table of new topologies. `organism` is the row of speeds of the organism.

    `caught_up` is the number of evaluations after which our faster code has made up for its compilation.
    """
    ours = [row for method in METHODS[: 1 if quick else None] for row in redocked(method, 1 if quick else PROCESSES)]
    for row in ours:
        verdict = judge_redocking(row["cold_ms"], row["seen_ms"])._asdict()
        facts = {"kind": "redock", "contestant": OURS, **row, "carries": CARRIES[OURS]}
        yield {**facts, "difference": 0.0, "caught_up": None, "agreed": True, **verdict}
    cold = {row["change"]: row["cold_ms"] for row in ours if row["method"] == METHODS[0]}
    peers = peer_changes()
    if "MuJoCo" not in peers:
        note("MuJoCo is not compared: it is not installed. Install it with: pip install 'kinemorph[peers]'")
    for name, changes in peers.items():
        step = organism[f"{name.lower()}_us"]
        for change in changes:
            ahead = None if step is None else step - organism["scalar_us"]
            late = 1e3 * (cold[change.change] - change.ms)
            yield {
                "kind": "redock",
                "contestant": name,
                "change": change.change,
                "method": "",
                **dict.fromkeys(("cold_ms", "disk_ms", "seen_ms"), change.ms),
                "carries": CARRIES[name],
                "difference": change.difference,
                "caught_up": late / ahead if ahead and ahead > 0.0 else None,
                "agreed": change.difference <= AGREE,
                "target": "",
                "verdict": "",
            }
