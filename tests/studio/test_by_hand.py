"""The studio as a user does it, in Chromium: the paper's nine modules from an empty grid to a report, by clicks and by
keys alone (000-17 to 000-19, 000-24, 000-25, 000-27 to 000-32); the benchmarks of MODUROB from the library (000-31).

Every control is found by its role and its accessible name alone. The parts of the long test are timed: `-s` prints the
wall time of each, and the processor time of the studio with its workers and of the browser.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studio.open_studio import Studio, open_studio
from support.studio.hands import WORDS, Clicks, Hand, Keys
from support.studio.modurob import CRANE, PENDULUM
from support.studio.stopwatch import Stopwatch
from support.tools.browsing import Browser
from support.tools.command_line import run

pytestmark = pytest.mark.slow
CELLS = [(4, 4), (4, 5), (4, 6), (3, 4), (3, 3), (2, 3), (5, 4), (5, 3), (6, 3)]  # of m0 ... m8 on the empty board
FRONTS = ">v<>>>>^>"
GOLDEN = Path(__file__).parent.parent / "model" / "golden" / "organism.txt"
LIMIT = 60.0  # of the whole way, from an empty folder to the report, on a machine with nothing else to do [s]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    (tmp_path / "project").mkdir()
    with open_studio(tmp_path / "project", open=False) as opened:
        yield opened


# ── the paper's organism, from an empty grid to a report ────────────────────────────────────────────────────────────


def create(hand: Hand, name: str) -> None:
    """A new file with an empty grid, from the panel Files."""
    hand.write("Name", name)
    hand.choose("Template", "grid:")
    hand.press("button", "Create model")
    hand.cell(4, 4).wait_for()


def assemble(hand: Hand) -> None:
    """The nine modules of the paper."""
    for number, (place, front) in enumerate(zip(CELLS, FRONTS, strict=True)):
        hand.place(place, front)
        hand.cell(*place).and_(hand.page.get_by_label(f"Backbone m{number}, front {WORDS[front]}")).wait_for()
    hand.saved()


def check_tables(hand: Hand) -> None:
    """The tables of the panel are those of Table III."""
    hand.press("tab", "Tables")
    lines_of = GOLDEN.read_text(encoding="utf-8").splitlines()
    golden = [line.split() for line in lines_of if line and not line.startswith("---")]
    for table, rows in (("AIM_SB of organism9", 10), ("DTL", 8), ("IDTL", 7)):
        region = hand.page.get_by_role("region", name=table, exact=True)
        region.wait_for()
        lines = [line.split() for line in region.get_by_role("row").all_inner_texts()[-rows:]]
        first = next(k for k, line in enumerate(golden) if line == lines[0])  # rows follow each other as in the file
        assert lines == golden[first : first + rows], table


def add_gait(hand: Hand) -> None:
    """A wave along all hinges, and drives that follow it: two elements of the panel Model."""
    hand.press("tab", "Model")
    for name, kind in (("wave", "rhythmic"), ("drive", "pd")):
        hand.press("button", "Add part")
        hand.choose("Part", "element")
        hand.choose("Kind", kind)
        hand.write("Name", name)
        if hand.page.get_by_role("dialog").count():  # Enter has confirmed it already
            hand.press("button", "Add")
        hand.page.get_by_role("heading", name=f"elements.{name}", exact=True).wait_for()
        hand.press("button", re.compile("^More keys"))
        hand.press("button", "Choose joints")
        hand.press("button", "Choose all")
        hand.press("button", "OK")
        hand.entry("joints 1").wait_for()
    for key, text in (("kp", "40"), ("kd", "1"), ("reference", "wave")):
        hand.write(key, text)
        hand.control("button", f"Remove {key}" if key != "kp" else "Choose joints").wait_for()
    hand.saved()


def run_and_plot(hand: Hand) -> None:
    """The default run, played, with the way of the base plotted."""
    hand.press("tab", "Runs")
    hand.press("button", "Start run")
    hand.press("button", "Play default run #1")
    hand.tick("q.m0_root.x")
    hand.page.get_by_role("region", name="Plots over time").get_by_text("q.m0_root.x").first.wait_for()


def report(hand: Hand, form: str) -> None:
    """A report with the run."""
    hand.press("tab", "Report")
    hand.choose("Format", form)
    box = hand.control("checkbox", "default run #1")
    if not box.is_checked():
        hand.tick("default run #1")
    hand.press("button", "Write report")
    hand.page.get_by_role("link", name=re.compile(rf"^organism9.*\.{form.lower()}")).wait_for()


@pytest.mark.parametrize("way", [Clicks, Keys])
def test_the_papers_organism_from_an_empty_grid_to_the_report(
    way: type[Clicks | Keys], browser: Browser, studio: Studio, tmp_path: Path
) -> None:
    watch, file = Stopwatch(), studio.folder / "organism9.toml"
    with browser.page(1400, 860) as page:
        with watch.part("open"):
            page.goto(studio.url)
            page.get_by_role("heading", name="New model").wait_for()
        hand = way(page)
        with watch.part("create"):
            create(hand, "organism9")
        with watch.part("assemble"):
            assemble(hand)
        assert run("assemble", "organism9", "--model", str(tmp_path / "written.toml")).exit_code == 0
        assert file.read_bytes() == (tmp_path / "written.toml").read_bytes()
        with watch.part("tables"):
            check_tables(hand)
        with watch.part("equations"):
            hand.press("tab", "Equations")
            hand.press("button", "Write equations")
            page.get_by_role("region", name="Mass matrix M(q)").wait_for()
        with watch.part("verify"):
            hand.press("tab", "Analysis")
            hand.press("button", "Verify the equations")
            page.get_by_text(re.compile(" passed, 0 failed, ")).wait_for()
        with watch.part("ground, gait"):
            hand.press("tab", "Assemble")
            hand.tick("On the ground")
            add_gait(hand)
        with watch.part("run, plot"):
            run_and_plot(hand)
        with watch.part("html report"):
            report(hand, "HTML")
        whole = watch.wall
        with watch.part("pdf report"):
            report(hand, "PDF")
        events = hand.events()
        assert page.complaints == []
    print(f"\n{way.__name__}: {events['pointer']} clicks, {events['keys']} keys; {whole:.1f} s with the HTML report")
    print(watch.text())
    assert events["pointer"] == 0 if way is Keys else events["pointer"] > 40
    elements = tomllib.loads(file.read_text())["elements"]
    hinges = [f"m{k}_hinge" for k in range(9)]
    assert elements["wave"] == {"kind": "rhythmic", "joints": hinges}
    assert elements["drive"] == {"kind": "pd", "joints": hinges, "kp": 40, "kd": 1, "reference": "wave"}
    saved = saved_run(studio, 1)
    assert saved.outcome.ok and saved.t[-1] == 1.0
    computed = kinemorph.load(file)  # the same run from Python, to the last bit
    assert isinstance(computed, kinemorph.System)
    assert np.array_equal(saved.q, computed.run().q)
    if os.getloadavg()[0] < 2.5:
        assert whole < LIMIT


def saved_run(studio: Studio, number: int) -> Trajectory:
    """A run as the studio has saved it."""
    return kinemorph.load_trajectory(studio.session.results.run(number).path)


# ── MODUROB's benchmarks, section 3.2 of the requirements ───────────────────────────────────────────────────────────

RELATIVE = np.array([[1.0, 0.0], [1.0, 1.0]])  # from the angles of the joints to those against the vertical


@pytest.mark.parametrize(
    ("robot", "data", "start", "angles", "published"),
    [
        ("double_pendulum", "masses=1;1, lengths=1;1, point=yes", {"q1": "45 deg", "q2": "45 deg"}, RELATIVE, PENDULUM),
        ("crane", "cart=2, load=1, length=1", {"theta": "60 deg"}, np.eye(2), CRANE),
    ],
)
@pytest.mark.parametrize("way", [Clicks, Keys])
def test_benchmarks_of_modurob_from_the_library(
    way: type[Clicks | Keys], robot: str, data: str, start: dict[str, str], angles: Any, published: Any,
    browser: Browser, studio: Studio,
) -> None:  # fmt: skip
    with browser.page(1400, 860) as page:
        page.goto(studio.url)
        page.get_by_role("heading", name="New model").wait_for()
        hand = way(page)
        hand.write(f"Arguments of {robot}", data)
        hand.press("button", f"Open {robot}")
        hand.saved()
        hand.press("tab", "Start")
        for joint, value in start.items():
            hand.write(joint, value)
        hand.press("button", "Store as start")
        page.get_by_role("status").filter(has_text="The start is stored.").wait_for()
        hand.press("tab", "Runs")
        hand.press("button", "Add run")
        hand.write("Name", "fall")
        if page.get_by_role("dialog").count():
            hand.press("button", "Add")
        page.get_by_role("heading", name="runs.fall", exact=True).wait_for()
        for key, text in (("time", "5 s"), ("output step", "1 s"), ("rtol", "1e-12"), ("atol", "1e-13")):
            hand.write(key, text)
            hand.control("button", f"Remove {key}").wait_for()
        hand.press("button", "Start run")
        hand.press("button", "Play fall #1")
        assert page.complaints == []
        assert hand.events()["pointer"] == 0 or way is Clicks
    saved = saved_run(studio, 1)
    for t, expected in published.items():
        row = int(np.argmin(abs(saved.t - t)))
        found = np.array([*angles @ saved.q[row], *angles @ saved.v[row]])
        assert saved.t[row] == t and abs(found - expected).max() < 1e-8
