"""For tests of the pages: a robot, its run, viewers that are stopped, and the modules of a page by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kinemorph as km
from kinemorph.display.stage.bundle import bundle
from kinemorph.display.viewer.view import Viewer
from support.tools.browsing import Browser

NAMES = """unpack, posesAt, jointPoses, markEnds, tracePoints, centerOfMass, turnFromAngles, anglesFromTurn,
  gatherPieces, makeSlots, writeSlots, makeCamera, lookFrom, updateCamera, projectPoint"""


@pytest.fixture
def pendulum() -> km.Robot:
    return km.library.double_pendulum()


@pytest.fixture(scope="module")
def swing() -> km.Trajectory:
    return km.simulate(km.library.double_pendulum(), 1.0, q=[1.2, 0.4])


@pytest.fixture
def kept() -> Iterator[list[Viewer]]:
    """Viewers to be stopped at the end of a test."""
    viewers: list[Viewer] = []
    yield viewers
    for viewer in viewers:
        viewer.stop()


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Any]:
    """A page with the modules in `km`, and nothing else."""
    script = bundle("stage/stage.js")
    with browser.page() as page:
        page.set_content(
            f"<script>window.km = (() => {{ 'use strict'; {script}\n return {{ {NAMES} }}; }})();</script>"
        )
        yield page
