"""Gaits of the crawler as a study: how much more work several workers do than one."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from kinemorph.model.elements.gaits.gaits import Rhythmic
from kinemorph.model.library.crawlers import crawler
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.studies.spaces.parts import Range
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.sweeps.sweep import sweep

UNTIL, STEP = 1.0, 1e-3  # [s]
SWING = 0.5  # [rad], the largest amplitude


def varied_crawler() -> tuple[System, Space, int]:
    """The crawler with a Parameter for the amplitude and the phase of each hinge, their space, and its dimension."""
    system = crawler()
    (gait,) = (element for element in system.elements if isinstance(element, Rhythmic))
    count = len(gait.joints)
    amplitudes = tuple(Parameter(f"amplitude{k}", 0.3) for k in range(count))
    phases = tuple(Parameter(f"phase{k}", 0.0) for k in range(count))
    varied = replace(gait, amplitude=amplitudes, phases=phases)
    elements = tuple(varied if element is gait else element for element in system.elements)
    parts = {amplitude.name: Range(0.0, SWING) for amplitude in amplitudes}
    parts |= {phase.name: Range(0.0, 2.0 * np.pi) for phase in phases}
    return replace(system, elements=elements), Space(parts, design="random", count=1), 2 * count


def seconds_of(count: int, workers: int) -> float:
    """The wall-clock time [s] of a study of `count` gaits, from the call to the study, processes included."""
    system, space, _ = varied_crawler()
    space = replace(space, count=count)
    began = time.perf_counter()
    study = sweep(system, space, {"x": "q.m0_root.x"}, until=UNTIL, step=STEP, workers=workers)
    assert study.status.done == count
    return time.perf_counter() - began
