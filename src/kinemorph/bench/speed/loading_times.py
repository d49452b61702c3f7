"""The table of loading: how long it takes from a URDF to a model, and to a function that runs.

read    our reader alone, file to blueprint: XML with lines, and all that moves (links, joints, masses, limits,
        loops), each number checked; the robot as a whole is not yet, and what bodies look like is read later
load    `kinemorph.load` without its warnings: the file, looks and transmissions too, and all checks (names, structure,
        masses, regularity, FD(ID(a)) = a at a random state)
cold    a fresh process, with Kinemorph and NumPy imported: from `load` to the first value of a compiled inverse
        dynamics, by the clock on the wall, with nothing in the cache of compiled code; `warm`: with the code in it
peer    Pinocchio's `buildModelFromUrdf`: its XML parser and its model, in C++; without geometry, nothing checked
"""

from __future__ import annotations

import gc
import importlib.metadata
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kinemorph.bench.peers.robots import pinocchio, robot_file
from kinemorph.bench.targets import judge_loading
from kinemorph.bench.timing import Pace, samples_in_turns
from kinemorph.errors import KinemorphError
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, save, uncollected
from kinemorph.formats.sources import Options, read_file
from kinemorph.formats.urdf.reader import blueprint_of
from kinemorph.model import library
from kinemorph.words import did_you_mean

Row = dict[str, Any]
FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "hexapod36": "",  # of our library, written as URDF
}
QUICK = ("panda", "talos")
REPEATS = 5  # fresh processes for each figure
SCRIPT = """
import sys, time, warnings
import numpy, kinemorph
warnings.simplefilter("ignore")
start = time.perf_counter()
system = kinemorph.load(sys.argv[1])
robot = system.robot
function = kinemorph.derive(system).inverse_dynamics
function(kinemorph.neutral(robot), numpy.zeros(robot.nv), numpy.zeros(robot.nv))
print(time.perf_counter() - start)
"""


def chosen_files(names: Sequence[str] | None, *, quick: bool) -> tuple[str, ...]:
    """The robots asked for; None stands for all, or for the few of a quick run."""
    for name in names or ():
        if name not in FILES:
            hint = did_you_mean(name, FILES)
            raise KinemorphError(f"there is no robot file '{name}'.{hint} Choose from: {', '.join(FILES)}.")
    return tuple(names or (QUICK if quick else FILES))


def loading(names: Sequence[str], pace: Pace, *, quick: bool = False) -> Iterator[Row]:
    """Times of loading [ms], one row for each robot; medians, and minima in the columns `..._min_ms`.

    Pinocchio and our reader take turns on the same file, both warm; `ratio` is of medians, `ratio_min` of minima.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if FILES[name]:
                path = robot_file(FILES[name])
            else:
                (path,) = save(getattr(library, name)(), Path(folder, f"{name}.urdf"))
            yield _row(name, path, pace, 1 if quick else REPEATS)


def _row(name: str, path: Path, pace: Pace, repeats: int) -> Row:
    """One row; `repeats` is how many fresh processes are timed."""
    pin = pinocchio()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system, model = examine(path).system, pin.buildModelFromUrdf(str(path))

    def peer() -> None:
        pin.buildModelFromUrdf(str(path))

    def read() -> None:
        findings = Findings(path.name)
        source = read_file(path, findings)
        assert source is not None
        blueprint_of(source, Options(), findings)

    def load() -> None:
        examine(path)

    with uncollected():  # as `load` does; what it leaves behind is collected between samples
        taken = samples_in_turns([peer, read, load], pace, tidy=gc.collect)
    row: Row = {
        "robot": name,
        "links": 0 if system is None else len(system.robot.bodies),
        "nv": model.nv,
        "kilobytes": path.stat().st_size / 1e3,
        "agreed": system is not None and system.robot.nv == model.nv,
    }
    for key, seconds in zip(("peer", "read", "load"), taken, strict=True):
        row |= {f"{key}_ms": 1e3 * statistics.median(seconds), f"{key}_min_ms": 1e3 * min(seconds)}
    row["ratio"] = row["peer_ms"] / row["read_ms"]
    row["ratio_min"] = row["peer_min_ms"] / row["read_min_ms"]
    cold, warm = _processes(path, repeats)
    row |= {"cold_ms": 1e3 * statistics.median(cold), "cold_min_ms": 1e3 * min(cold)}
    row |= {"warm_ms": 1e3 * statistics.median(warm), "warm_min_ms": 1e3 * min(warm)}
    found = judge_loading(name, row["ratio"], row["cold_ms"], row["warm_ms"])
    return row | {
        "target": found.target,
        "verdict": found.verdict,
        "peer": f"pin {importlib.metadata.version('pin')}",
    }


def _processes(path: Path, repeats: int) -> tuple[list[float], list[float]]:
    """Times of fresh processes [s]: with an empty cache, and with the one that the last of them left behind."""
    with tempfile.TemporaryDirectory() as folder:
        cold = []
        for number in range(repeats):
            cache = Path(folder) / str(number)
            cold.append(_seconds(path, cache))
        return cold, [_seconds(path, cache) for _ in range(repeats)]


def _seconds(path: Path, cache: Path) -> float:
    cache.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "KINEMORPH_CACHE": str(cache)}
    command = [sys.executable, "-c", SCRIPT, str(path)]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if printed.returncode:
        raise KinemorphError(f"loading {path.name} in a process of its own failed: {printed.stderr.strip()[-300:]}")
    return float(printed.stdout)
