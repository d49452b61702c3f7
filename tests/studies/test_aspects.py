"""What determines the results of a study, as text: two texts differ where results may differ."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import library
from kinemorph.model.system import System
from kinemorph.studies.experiments.experiment import Experiment, experiment_of
from support.studies.experiments import span


def changed(one: Experiment, other: Experiment) -> list[tuple[str, str, str]]:
    """(aspect, old line, new line) of all differences."""
    assert one.aspects.keys() == other.aspects.keys()
    pairs = ((name, one.aspects[name].splitlines(), other.aspects[name].splitlines()) for name in one.aspects)
    return [(name, *lines) for name, old, new in pairs for lines in zip(old, new, strict=True) if lines[0] != lines[1]]


def scaled(factor: float) -> Any:
    return lambda run: factor * span(run)


def test_aspects_name_what_changed() -> None:
    robot = library.double_pendulum()
    plain = experiment_of(System(robot), {"span": scaled(1.0)}, until=1.0)
    assert not changed(plain, experiment_of(System(library.double_pendulum()), {"span": scaled(1.0)}, until=1.0))
    joints = (replace(robot.joints[0], axis=(1.0, 0.0, 0.0)), *robot.joints[1:])
    turned = experiment_of(System(replace(robot, joints=joints)), {"span": scaled(1.0)}, until=1.0)
    assert changed(plain, turned) == [
        ("model", "joints.q1.axis = (0.0, -1.0, 0.0)", "joints.q1.axis = (1.0, 0.0, 0.0)")
    ]
    body = replace(robot.bodies[0], mass=1.2)
    heavier = experiment_of(System(replace(robot, bodies=(body, *robot.bodies[1:]))), {"span": scaled(1.0)}, until=1.0)
    ((_, old, new),) = changed(plain, heavier)
    assert old.startswith("bodies.link1.mass = parameter m1 = 1.1") and new == "bodies.link1.mass = 1.2"
    other = experiment_of(System(robot), {"span": scaled(2.0)}, until=1.0)
    assert changed(plain, other) == [("measure span", "enclosed factor = 1.0", "enclosed factor = 2.0")]
    longer = experiment_of(System(robot), {"span": scaled(1.0)}, until=2.0)
    assert changed(plain, longer) == [("run", "until = 1.0", "until = 2.0")]
    assert "kinemorph" in plain.aspects
    shaped = [
        experiment_of(System(robot), {"s": scaled(1.0)}, objects={"a": {"b": Shape(k * ONES)}}) for k in (1, 1, 2)
    ]
    assert not changed(*shaped[:2])
    assert changed(*shaped[1:]) == [("choice a b", "corners = array [1.0, 1.0]", "corners = array [2.0, 2.0]")]
    callers = [experiment_of(make(k)) for make, k in ((halves, 1.0), (halves, 1.0), (halves, 2.0), (thirds, 1.0))]
    assert not changed(*callers[:2])
    assert changed(*callers[1:3]) == [("model", "scale = 1.0", "scale = 2.0")]
    assert ("/ 2.0" in callers[0].aspects["model"]) and changed(callers[0], callers[3])  # the class has another method
    assert "span" in plain.aspects["measure span"] and "np.ptp(run['q.q1'])" in plain.aspects["measure span"]


def halves(scale: float) -> Any:
    @dataclass(frozen=True)
    class Caller:
        scale: float

        def __call__(self, x: float) -> float:
            return self.scale * x / 2.0

    return Caller(scale)


def thirds(scale: float) -> Any:
    @dataclass(frozen=True)
    class Caller:
        scale: float

        def __call__(self, x: float) -> float:
            return self.scale * x / 3.0

    return Caller(scale)


ONES = np.ones(2)


@dataclass
class Shape:
    """A thing of a user that has an array."""

    corners: np.ndarray


TWICE = """
import sys
sys.path.insert(0, {folder!r})
from kinemorph import Parameter, elements
from kinemorph.simulation.march.guards import Guard
from kinemorph.studies.experiments.experiment import experiment_of
from support.studies.experiments import double_pendulum, span
soft = elements.TorsionSpring("spring", "q1", Parameter("k", 1.0))
objects = {{"spring": {{"soft": soft}}, "set": {{"a": {{"x", "y", "z"}}}}}}
low = Guard("low", lambda q: q[0])
one = experiment_of(double_pendulum(), {{"s": span, "t": lambda run: run.t[-1]}}, objects=objects, events=low)
print(one.aspects)
"""


@pytest.mark.slow
def test_two_processes_write_the_same_aspects() -> None:
    script = TWICE.format(folder=str(Path(__file__).parents[1]))
    texts = []
    for seed in ("1", "2"):
        around = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=around)
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    text = texts[0]
    assert " at 0x" not in text and len(text) > 1000
