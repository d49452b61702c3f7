"""Options of the test run, its compiled code, the order of its tests, their durations, and the values they measured.

Compiled code is kept between runs, in .cache/tests: its names cover the sources and the CPU, so that nothing out of
date is ever found. A first run is cold, as every run on a fresh clone. Tests of the cache have folders of their own.

Two fifths of a cold run would go into machine code, most of it called a few times: it is made with the least effort of
LLVM, and has the same bits as code for speed. Tests in FULL look at machine code, or at numbers that other processes or
pages have from it: these, slow tests and child processes have the code that ships.

Durations of all tests are written to out/durations.txt; `support.tools.durations` says which are too long.

A test reports a value by `record_property("figure", (family, name, value))`; the largest of each name is shown, from
all worker processes together.
"""

from __future__ import annotations

import gc
import math
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import pytest

from kinemorph.codegen.backends.llvm import engine
from kinemorph.codegen.building import function
from kinemorph.plants import robot_plant
from support.tools.browsing import Browser, started_browser
from support.tools.durations import Durations

ROOT = Path(__file__).resolve().parent.parent
CODE = ROOT / ".cache" / "tests"
DURATIONS = ROOT / "out" / "durations.txt"
EFFORT, LEAST = engine.SPEED, 0
SELDOM = (20_000, 20, 50)  # how seldom garbage is looked for: graphs are many small objects that are all in use
FULL = (
    "bench/*",
    "codegen/*",
    "codegen/*/*",
    "*abreast*",
    "*batch*",
    "*in_loops*",
    "*limbs*",
    "test_march.py",
    "test_conservation.py",  # long runs of one program
    # compared with child processes, or with what users see
    "test_docs.py",
    "test_examples.py",
    "test_plant_recipes.py",
    "test_processes.py",
    "test_public_names.py",
    "test_storage.py",
    # laws within a few roundings of their bounds
    "test_differential_algebraic.py",
    "test_loop_methods.py",
    "test_core.py",
    "test_gaits.py",
    "test_modes.py",
)
PAGES = (
    "test_docs.py",
    "test_public_names.py",
    "test_notebook_run.py",
    "test_replay*.py",
    "test_viewer*.py",
)  # documents and browsers
FIRST = (*PAGES, "test_examples.py", "test_conservation.py", "cli/test_*.py")  # long ones: none is left for the end


def among(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a test file matches one of the patterns."""
    return any(path.match(pattern) for pattern in patterns)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process that want one. Without a browser they are skipped."""
    started = started_browser()
    yield started
    started.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files again instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    function.WORTH = math.inf  # no test compiles in the background what another one has run
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: tests interrupt themselves
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # workers inherit the environment
        config.pluginmanager.register(Durations(DURATIONS, CODE.is_dir(), lambda path: among(path, PAGES)))
        os.environ["KINEMORPH_CACHE"] = str(CODE)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests take long come first: near the end there is something left for every worker."""
    paths = {item.path for item in items}
    first = {path: [path.match(pattern) for pattern in FIRST] for path in paths}
    items.sort(key=lambda item: first[item.path], reverse=True)  # stable: within a file the order stays


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and thousands of collected tests stay to the end: the garbage collector need not walk them each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """How hard LLVM tries for the code of this test, and of the fixtures that are made for it."""
    full = among(item.path, FULL) or item.get_closest_marker("slow") is not None
    effort = EFFORT if full else LEAST
    if effort != engine.SPEED:
        engine.SPEED = effort
        robot_plant.forget_plants()  # those of earlier tests have code of another effort


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Values of NumPy become plain floats: worker processes cannot send others."""
    report = yield
    report.user_properties = [
        (key, (*value[:2], float(value[2])) if key == "figure" else value) for key, value in report.user_properties
    ]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    values: dict[tuple[str, str], list[float]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, value in getattr(report, "user_properties", ()):
                if key == "figure" and report.when == "call":
                    family, name, number = value
                    values.setdefault((family, name), []).append(float(number))
    if values:
        terminalreporter.section("values measured, the largest of each")
    for (family, name), measured in sorted(values.items()):
        terminalreporter.write_line(f"{family}: {name} {shown(max(measured))} ({len(measured)} measured)")


def shown(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1.0 else f"{number:.8g}"
