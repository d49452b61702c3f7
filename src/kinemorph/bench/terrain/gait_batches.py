"""Times of gaits, one or a batch, on a plane, a smooth height function and a height map, compared with MuJoCo's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from kinemorph.bench.targets import judge_terrain
from kinemorph.bench.terrain.quadruped import gaits, grounds, quadruped
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.errors import MissingExtraError
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch

METHODS: tuple[str | None, ...] = (None, "implicit_contact")  # None: what `simulate` chooses
COUNT, DURATION = 200, 5.0  # gaits, and their time [s]
PEER_STEP = 1e-3  # MuJoCo's step size [s]
PEER_SHARE = 10  # MuJoCo runs one gait in ten; its time is proportional to their number


def compare_terrain(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields one row per ground and method: times of one gait and of a batch, and their ratios to those on a plane."""
    count, until = (16, 0.5) if quick else (COUNT, DURATION)
    plants = {name: plant(quadruped(ground), parameters=("swing", "frequency")) for name, ground in grounds().items()}
    given: dict[str, Any] = {"output_step": until}
    works: dict[tuple[str, str, str], Callable[[], Any]] = {}
    fine: dict[tuple[str, str], bool] = {}
    for method in METHODS:
        says = method or "default"
        for name, one in plants.items():
            say(f"compiling a quadruped on a {name}, {says}")
            run = partial(simulate, one, until, method=method, **given)
            many = partial(simulate_batch, one, until, p=gaits(count), method=method, threads=1, **given)
            fine[name, says] = bool(many().ok.all()) and run().outcome.ok
            works[name, says, "one"], works[name, says, "batch"] = run, many
    works |= _peers(count, until, note)
    say("timing quadrupeds on terrain")
    taken = dict(zip(works, take_turns(list(works.values()), pace), strict=True))
    share = count / _share(count)
    theirs = {key[0]: share * seconds for key, seconds in taken.items() if key[1] == "MuJoCo"}
    for name, says in fine:
        over = {mode: taken[name, says, mode] / taken["plane", says, mode] for mode in ("one", "batch")}
        beside = {mode: taken[name, says, mode] / taken["function", says, mode] for mode in ("one", "batch")}
        yield {
            "kind": "terrain",
            "problem": f"quadruped on a {name}",
            "dof": plants[name].nv,
            "contestant": "Kinemorph",
            "method": says,
            "setting": f"{count} x {until:g} s",
            "reached": fine[name, says],
            "ms": 1e3 * taken[name, says, "one"],
            "batch_ms": 1e3 * taken[name, says, "batch"],
            "over_plane": over["one"],
            "batch_over_plane": over["batch"],
            "peer_ms": 1e3 * theirs[name] if name in theirs else None,
            "ratio": theirs[name] / taken[name, says, "batch"] if name in theirs else None,
            **judge_terrain(name, list(over.values()), list(beside.values()))._asdict(),
        }


def _share(count: int) -> int:
    """The number of gaits, out of `count`, that MuJoCo runs; its time is scaled up to all of them."""
    return max(count // PEER_SHARE, 1)


def _peers(count: int, until: float, note: Say) -> dict[tuple[str, str, str], Callable[[], Any]]:
    """Functions that run some of the gaits in MuJoCo, on the plane and on the height map.

    The keys are (ground, "MuJoCo", "batch"); the dict is empty, with a note, if MuJoCo is not installed.
    """
    try:
        from kinemorph.bench.terrain.mujoco_quadruped import MujocoQuadruped
    except ImportError:
        note(f"quadrupeds on terrain are not compared: {MissingExtraError('mujoco', 'peers')}")
        return {}
    found: dict[tuple[str, str, str], Callable[[], Any]] = {}
    for name, ground in (("plane", None), ("map", grounds()["map"])):
        work = MujocoQuadruped(ground).gaits(_share(count), until, PEER_STEP)  # type: ignore[arg-type]
        if not np.isfinite(work()).all():
            note(f"MuJoCo's run of a quadruped on a {name} fails: its result is not finite")
        found[name, "MuJoCo", "batch"] = work
    note(f"MuJoCo runs the gaits one after the other, with steps of {PEER_STEP * 1e3:g} ms")
    return found
