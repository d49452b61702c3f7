"""How long tests take: written after every run; a default test that takes too long fails the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

LONGEST = 5.0  # [s] that the call of a default test may take
BUSY = 1.5  # processes per core that wanted to run during the last minute, above which durations say nothing


class Durations:
    """A plugin of the process that gathers the reports.

    A duration counts where it is fair: the run began with compiled code (`warm`), and the machine was not busy when the
    test ended.
    """

    def __init__(self, path: Path, warm: bool, exempt: Callable[[Path], bool]) -> None:
        self.path, self.warm, self.exempt = path, warm, exempt
        self.taken: list[tuple[float, str, str]] = []
        self.long: list[tuple[str, str]] = []  # tests that took too long, and why this does not count

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.taken.append((report.duration, report.when or "", report.nodeid))
        default = report.when == "call" and "slow" not in report.keywords and not self.exempt(Path(report.fspath))
        if default and report.duration > LONGEST:
            excuse = "" if self.warm else "; nothing was compiled before this run"
            self.long.append((f"{report.nodeid}: {report.duration:.1f} s", excuse or busy()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.taken:
            self.path.parent.mkdir(exist_ok=True)
            lines = [f"{seconds:8.3f} s {when:8} {name}\n" for seconds, when, name in sorted(self.taken, reverse=True)]
            self.path.write_text("".join(lines), encoding="utf-8")
        if session.exitstatus == pytest.ExitCode.OK and any(not excuse for _, excuse in self.long):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.long:
            terminalreporter.section(f"default tests that take longer than {LONGEST:g} s")
        for line, excuse in self.long:
            terminalreporter.write_line(f"{line}{excuse or '; this fails the run. Mark it slow or cut it'}")


def busy() -> str:
    """Why a duration of now says nothing; an empty text on a machine with cores to spare."""
    if not hasattr(os, "getloadavg"):
        return "; the system does not say how busy it is"
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f"; the machine is busy ({load:.1f} processes on {cores} cores)" if load > BUSY * cores else ""
