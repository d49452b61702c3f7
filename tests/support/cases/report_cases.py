"""The models and runs whose reports are tested: a small tree, a closed chain, an arm from URDF, a run, modules."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import kinemorph
from kinemorph import library
from kinemorph.display.reports.subject import Subject, subject_of
from support.cases import program_cases
from support.robots.robot_files import urdf_file


def panda() -> tuple[Any, ...]:
    """Panda of the package example-robot-data."""
    return (kinemorph.load(urdf_file("panda.urdf")),)


def hexapod24() -> tuple[Any, ...]:
    """hexapod24 on the ground, with a sampled PD for each leg, and its run."""
    case = program_cases.hexapod24()
    return case.model, kinemorph.simulate(case.model, 0.3, **case.options)


CASES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "double_pendulum": lambda: (library.double_pendulum(),),
    "four_bar": lambda: (library.four_bar(),),
    "panda": panda,
    "hexapod24": hexapod24,
    "organism9": lambda: (library.organism9(),),
}


@cache
def subject(name: str) -> Subject:
    """The subject of a report, made once."""
    return subject_of(*CASES[name]())
