"""Options of the test run, its cache of compiled code, and the figures that tests measured, printed at its end.

All worker processes share one new folder for compiled code; it is gone afterwards. Two fifths of a run would go into
machine code, most of it called a few times. Files in LAWS look at laws, not at code: theirs is made with the least
effort of LLVM. The emitted text and the passes behind it are the same; what differs is how instructions and registers
are chosen, and which products are fused into sums. All others, slow tests and child processes have the code that ships.

A test reports a figure by `record_property("figure", (family, name, value))`, a plain float; the largest of each name
is shown, from all worker processes together.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from kinemorph.codegen.backends.llvm import engine

EFFORT, LEAST = engine.SPEED, 0
LAWS = frozenset(
    Path(__file__).parent / name
    for name in (
        "analysis/test_sensitivity.py",
        "mechanics/elements/test_controllers.py",
        "mechanics/elements/test_forces.py",
        "mechanics/elements/test_motors.py",
        "mechanics/elements/test_sensors.py",
        "simulation/test_events.py",
        "simulation/test_implicit.py",
        "simulation/test_implicit_contact.py",
        "simulation/test_newmark.py",
        "simulation/test_orders.py",
        "simulation/test_sampling.py",
        "simulation/test_symplectic.py",
    )
)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # workers inherit it
        os.environ["KINEMORPH_CACHE"] = tempfile.mkdtemp(prefix="kinemorph-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop("KINEMORPH_CACHE"), ignore_errors=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and thousands of collected tests stay to the end: the garbage collector need not walk them each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """How hard LLVM tries for the code of this test, and of the fixtures that are made for it."""
    quick = item.path in LAWS and item.get_closest_marker("slow") is None
    engine.SPEED = LEAST if quick else EFFORT


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew instead of comparing")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures: dict[tuple[str, str], list[float]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, value in getattr(report, "user_properties", ()):
                if key == "figure" and report.when == "call":
                    family, name, number = value
                    figures.setdefault((family, name), []).append(float(number))
    if figures:
        terminalreporter.section("figures measured, the largest of each")
    for (family, name), values in sorted(figures.items()):
        terminalreporter.write_line(f"{family}: {name} {shown(max(values))} ({len(values)} measured)")


def shown(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1.0 else f"{number:.8g}"
