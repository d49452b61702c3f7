"""The table of loading: times from a URDF to a model, and to a compiled function.

read    our reader alone, from the file to a blueprint: XML with line numbers, and everything that moves (links, joints,
        masses, limits, loops), each number checked; without checks of the whole robot and the shapes of bodies
load    `kinemorph.load` without its warnings: also shapes and transmissions, and all checks (names, structure,
        masses, regularity, FD(ID(a)) = a at a random state)
cold    in a new process that has imported Kinemorph and NumPy: from `load` to the first value of a compiled inverse
        dynamics, in wall time, with an empty cache of compiled code; `warm`: with the code in the cache
peer    Pinocchio's `buildModelFromUrdf`: its XML parser and its model, in C++; without geometry and checks
"""

from __future__ import annotations

import gc
import importlib.metadata
import statistics
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from kinemorph.bench.peers.robots import pinocchio, robot_file
from kinemorph.bench.targets import judge_loading
from kinemorph.bench.timing import Pace, Row, in_process, samples_in_turns
from kinemorph.errors import KinemorphError
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, save
from kinemorph.formats.sources import Options, read_file
from kinemorph.formats.urdf.reader import blueprint_of
from kinemorph.lazy import uncollected
from kinemorph.model import library
from kinemorph.words import did_you_mean

FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "hexapod36": "",  # a robot of our library, written as URDF
}
QUICK = ("panda", "talos")
REPEATS = 5  # new processes for each number
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
    """The requested robots, with names checked; None stands for all, or for the few robots of a quick run."""
    for name in names or ():
        if name not in FILES:
            hint = did_you_mean(name, FILES)
            raise KinemorphError(f"there is no robot file '{name}'.{hint} Choose from: {', '.join(FILES)}.")
    return tuple(names or (QUICK if quick else FILES))


def loading(names: Sequence[str], pace: Pace, *, quick: bool = False) -> Iterator[Row]:
    """Yields one row per robot with the times of loading [ms]: medians, and minima in the columns `..._min_ms`.

    Pinocchio and our reader take turns on the same file, after a first call of each. `ratio` is Pinocchio's time
    divided by ours for medians, `ratio_min` for minima.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if FILES[name]:
                path = robot_file(FILES[name])
            else:
                (path,) = save(getattr(library, name)(), Path(folder, f"{name}.urdf"))
            yield _row(name, path, pace, 1 if quick else REPEATS)


def _row(name: str, path: Path, pace: Pace, repeats: int) -> Row:
    """The row of one robot; `repeats` is the number of new processes that are timed."""
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

    with uncollected():  # as in `load`; garbage is collected between samples
        taken = samples_in_turns([peer, read, load], pace, tidy=gc.collect)
    row: Row = {
        "robot": name,
        "links": 0 if system is None else len(system.robot.bodies),
        "nv": model.nv,
        "kilobytes": path.stat().st_size / 1e3,
        "agreed": system is not None and system.robot.nv == model.nv,
    }
    keys = ("peer", "read", "load", "cold", "warm")
    for key, seconds in zip(keys, (*taken, *_processes(path, repeats)), strict=True):
        row |= {f"{key}_ms": 1e3 * statistics.median(seconds), f"{key}_min_ms": 1e3 * min(seconds)}
    row["ratio"] = row["peer_ms"] / row["read_ms"]
    row["ratio_min"] = row["peer_min_ms"] / row["read_min_ms"]
    verdict = judge_loading(name, row["ratio"], row["cold_ms"], row["warm_ms"])._asdict()
    return row | verdict | {"peer": f"pin {importlib.metadata.version('pin')}"}


def _processes(path: Path, repeats: int) -> tuple[list[float], list[float]]:
    """(times with an empty cache, times with a filled cache) [s], each of `repeats` new processes."""

    def seconds(number: int) -> float:
        return float(in_process(SCRIPT, str(path), Path(folder, str(number)), f"loading {path.name}"))

    with tempfile.TemporaryDirectory() as folder:
        return [seconds(number) for number in range(repeats)], [seconds(repeats - 1) for _ in range(repeats)]
