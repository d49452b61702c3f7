"""The law of loading, for any bytes: `examine` gives errors with text, or a system whose equations are finite, in time.

`verdict` says "loaded" or "refused", or raises Broken with the reason. `hunt` judges a range of mutants; those that
break the law are kept under `failures/`, with their seed in the name. From `tests/`:

    python -m fuzzing.judging FILE ...                 judges files again
    python -m fuzzing.judging hunt FORMAT FIRST COUNT  judges so many mutants of a format, from this seed on
"""

from __future__ import annotations

import math
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

import numpy as np

from fuzzing.mutations import BESIDE, ENDINGS, SEEDS, corpus, mutant
from kinemorph.formats.loading import examine
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.elements.instant import SystemInstant, generalized
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import random_configuration
from kinemorph.model.system import System

FAILURES = Path(__file__).with_name("failures")
LONGEST = 5.0  # [s] of processor time
PIECE = 1000  # mutants between two lines of a hunt
SMALL = 60  # degrees of freedom up to which M is looked at


class Broken(AssertionError):
    """The law does not hold."""


class Hunt(NamedTuple):
    """What came of a range of mutants."""

    loaded: int
    refused: int
    slowest: float  # [s]
    rules: Counter[str]  # how often each rule refused one
    broken: tuple[str, ...]

    def __str__(self) -> str:
        count = self.loaded + self.refused + len(self.broken)
        told = f"{count} mutants: {self.loaded} loaded, {self.refused} refused, {len(self.broken)} broken"
        return f"{told}, slowest {self.slowest:.2f} s"


class _Hang(BaseException):
    """Not an Exception, so that nothing on the way swallows it."""


@contextmanager
def _limited() -> Iterator[None]:
    """Interrupts what takes longer than LONGEST, in processor time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def verdict(path: Path, rules: Counter[str] | None = None) -> str:
    """Says "loaded" or "refused"; raises Broken where the law does not hold."""
    try:
        with _limited():
            system, found = examine(path)[:2]
            if system is not None:
                _finite(system)
    except _Hang:
        raise Broken(f"it takes more than {LONGEST} s") from None
    except Broken:
        raise
    except Exception as error:
        raise Broken("".join(traceback.format_exception(error)[-6:])) from None
    for finding in found:
        if not (finding.problem.strip() and finding.remedy.strip() and str(finding)):
            raise Broken(f"a finding without text: {finding}")
        if not str(finding).isprintable():
            raise Broken(f"a finding that cannot be printed on one line: {str(finding)!r}")
    if system is None:
        errors = [finding for finding in found if finding.severity == "error"]
        if not errors:
            raise Broken("it is refused without a word")
        if rules is not None:
            rules.update(finding.rule for finding in errors[:1])
        return "refused"
    return "loaded"


def _finite(system: System) -> None:
    """M, bias forces, accelerations and what acts at a random state are numbers; without masses, poses are.

    The configurations of the starts are numbers, too.
    """
    robot, rng = system.robot, np.random.default_rng(3)
    for start in system.starts:
        found = system.start(start)
        if not all(math.isfinite(x) for part in (found.q, found.v) for x in part):
            raise Broken(f"it loads, and the start {start!r} is not finite")
    tree, q = resolve(robot), random_configuration(robot, rng).tolist()
    if robot.is_kinematic:
        poses = forward_kinematics(tree, q, robot.body_names)
        if not all(math.isfinite(x) for pose in poses for x in (*pose.p, *(x for row in pose.R for x in row))):
            raise Broken("it loads, and a pose is not finite at a random configuration")
        return
    v, tau = rng.uniform(-1.0, 1.0, (2, robot.nv)).tolist()
    row = state_formulation(robot)
    M = row.mass_matrix(tree, q) if robot.nv <= SMALL else []
    h, a = row.bias_forces(tree, q, v), row.forward_dynamics(tree, q, v, tau)
    parts = {"M": [x for entries in M for x in entries], "h": h, "a": a}
    if system.elements and not robot.driven:
        parts["forces"] = _forces(system, tree, q, v)
    for name, numbers in parts.items():
        if not all(map(math.isfinite, numbers)):
            raise Broken(f"it loads, and {name} is not finite at a random state")


def _forces(system: System, tree: Tree, q: list[float], v: list[float]) -> list[float]:
    """All that elements do, in the directions of v, with inputs and states of 0.5."""
    every = ensemble(system.robot, system.elements)
    x, u = [0.5] * len(every.states), [0.5] * len(every.inputs)
    instant = SystemInstant(every, tree, 0.0, q, v, x, [slot.start for slot in every.memory], u, {})
    found = instant.gathered()
    return [*found.torques, *generalized(instant.motions, found.loads)]


def hunt(format: str, seeds: range, folder: Path) -> Hunt:
    """Judges the mutants of these numbers, one file after the other in `folder`."""
    base, rules, counts, slowest, broken = corpus(format), Counter[str](), Counter[str](), 0.0, []
    path = model = folder / f"mutant{ENDINGS[format]}"
    if format in BESIDE:  # the mutant stands beside a sound model
        model = folder / "mutant.urdf"
        model.write_bytes((SEEDS / "arm.urdf").read_bytes())
    for seed in seeds:
        data = mutant(base, format, seed)
        path.write_bytes(data)
        start = time.process_time()
        try:
            counts[verdict(model, rules)] += 1
        except Broken as reason:
            FAILURES.mkdir(exist_ok=True)
            kept = FAILURES / f"{format}-{seed}{ENDINGS[format]}"
            kept.write_bytes(data)
            broken.append(f"{format} seed {seed}, kept as {kept.name}: {reason}")
        slowest = max(slowest, time.process_time() - start)
    return Hunt(counts["loaded"], counts["refused"], slowest, rules, tuple(broken))


def main(*given: str) -> None:
    """Judges files, or a range of mutants."""
    if given[0] != "hunt":
        for name in given:
            print(f"{name}: {verdict(Path(name))}")
        return
    format, first, count = given[1], int(given[2]), int(given[3])
    for start in range(first, first + count, PIECE):
        with TemporaryDirectory() as folder:
            found = hunt(format, range(start, min(start + PIECE, first + count)), Path(folder))
        print(f"{format} from {start}: {found}", *found.broken, sep="\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
