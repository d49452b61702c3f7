"""The table of all work that workers can do, and how such work reports its progress.

A row of `WORK` names a function as "module:name". Workers import it when it is first asked for, so that a row costs
nothing until then. The function takes data as JSON gives them and a `Report`, and returns data that JSON can express:

    def count(data: dict[str, Any], report: Report) -> Any:
        for k in range(data["n"]):
            report("counting", fraction=k / data["n"])
        return {"counted": data["n"]}
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean

WORK: dict[str, str] = {
    "run": "kinemorph.studio.tasks.run_tasks:run",
    "run_picture": "kinemorph.studio.tasks.run_result_tasks:picture",
    "run_details": "kinemorph.studio.tasks.run_result_tasks:details",
    "run_audit": "kinemorph.studio.tasks.run_result_tasks:audited",
    "run_comparison": "kinemorph.studio.tasks.run_result_tasks:compared",
    "run_export": "kinemorph.studio.tasks.run_result_tasks:exported",
    "live": "kinemorph.studio.tasks.live_tasks:live",
    "write_equations": "kinemorph.studio.tasks.equation_tasks:write_equations",
    "verify_model": "kinemorph.studio.tasks.analysis_tasks:verify_model",
    "count_freedoms": "kinemorph.studio.tasks.analysis_tasks:count_freedoms",
    "find_equilibrium": "kinemorph.studio.tasks.analysis_tasks:find_equilibrium",
    "find_poles": "kinemorph.studio.tasks.analysis_tasks:find_poles",
    "plot_clusters": "kinemorph.studio.tasks.analysis_tasks:plot_clusters",
    "choose_crawl": "kinemorph.studio.tasks.gait_tasks:choose_crawl",
    "export_model": "kinemorph.studio.tasks.export_tasks:export_model",
    "write_report": "kinemorph.studio.tasks.report_tasks:write_report",
}
KEEPING = "keep"  # the phase of work that has computed its results and saves them; a cancel does not end it
PHASES = {"deriving": "derive", "compiling": "compile"}  # phases by what `codegen.work_clock` reports

Send = Callable[[Mapping[str, Any], bytes], None]  # sends a header and bytes to the server


class Cancelled(BaseException):
    """Ends work that is no longer wanted; raised by `Report`. Work that keeps its results so far may catch it."""


def check_kind(kind: str, table: Mapping[str, str]) -> None:
    """Raises UnsupportedError for work that has no row in the table."""
    if kind not in table:
        raise UnsupportedError(
            f"work '{kind}' is not known; expected one of {', '.join(table)}.{did_you_mean(kind, table)}"
        )


def work_named(kind: str, table: Mapping[str, str]) -> Callable[[dict[str, Any], Report], Any]:
    """The function that does a kind of work."""
    check_kind(kind, table)
    module, name = table[kind].split(":")
    found: Callable[[dict[str, Any], Report], Any] = getattr(import_module(module), name)
    return found


class Report:
    """What a job tells while it works: its phase, what it does, and how far it is.

    Call it as often as you like: the latest values are sent five times a second. Each call raises `Cancelled` where the
    job was cancelled, so that work which reports several times a second ends within a second.
    """

    def __init__(self, job: int, send: Send) -> None:
        """`job` is the number of the job, which every frame names; `send` sends a frame to the server."""
        self.job, self._send = job, send
        self.cancelled = False
        self.phase = "work"  # of the function itself; deriving and compiling within it are phases of their own
        self.spent: dict[str, float] = {}  # [s] by phase, in the order in which phases began
        self._latest: dict[str, Any] = {}
        self._making: tuple[str, str] | None = None  # what is derived or compiled now, as (doing, name)
        self._since = self._began = time.perf_counter()
        self._hearing, self._messages = threading.Condition(), list[dict[str, Any]]()
        self._crediting = threading.Lock()  # the thread that reports and the one that works count times

    def __call__(self, doing: str, *, fraction: float | None = None, **more: Any) -> None:
        """Reports what is being done, the fraction that is done (0 to 1, None where unknown), and further data."""
        self.check()
        self._latest = {"doing": doing, "fraction": fraction, **more}

    def check(self) -> None:
        """Raises `Cancelled` where the job was cancelled, unless it saves its results."""
        if self.cancelled and self.phase != KEEPING:
            raise Cancelled

    def hear(self, message: dict[str, Any]) -> None:
        """Takes in a message of the server; called in the thread that listens."""
        with self._hearing:
            self._messages.append(message)
            self._hearing.notify()

    def heard(self, seconds: float = 0.0) -> list[dict[str, Any]]:
        """The messages that have come in since the last call; waits for the first one for `seconds` at most.

        Raises `Cancelled` where the job was cancelled.
        """
        with self._hearing:
            if not self._messages and seconds > 0.0:
                self._hearing.wait(seconds)
            found, self._messages = self._messages, []
        self.check()
        return found

    def enter(self, phase: str) -> None:
        """Begins another phase of the function, such as "run"."""
        self._credit()
        self.phase = phase
        self.check()

    def part(self, header: Mapping[str, Any], payload: bytes = b"", *, anyway: bool = False) -> None:
        """Sends a part of the result at once, such as the samples of a run so far.

        With `anyway` it is sent also where the job was cancelled.
        """
        if not anyway:
            self.check()
        self._send({"job": self.job, "part": dict(header)}, payload)

    def making(self, doing: str, name: str) -> None:
        """Notes what is derived or compiled now; both texts are empty where nothing is. See `work_clock.watched_by`."""
        self._credit()
        self._making = (doing, name) if doing else None

    def now(self) -> dict[str, Any]:
        """The progress at this moment, as the server gets it: phase, times [s] by phase, what is done, the fraction."""
        self._credit()
        making, latest = self._making, self._latest
        shown = {**latest, "doing": " ".join(making)} if making else {"doing": "", "fraction": None, **latest}
        return {
            **shown,
            "phase": self._phase(making),
            "spent": {phase: round(seconds, 3) for phase, seconds in list(self.spent.items())},
            "elapsed": round(time.perf_counter() - self._began, 3),
        }

    def _phase(self, making: tuple[str, str] | None) -> str:
        return PHASES.get(making[0], "derive") if making else self.phase

    def _credit(self) -> None:
        """Counts the time since the last call for the present phase."""
        with self._crediting:
            now, phase = time.perf_counter(), self._phase(self._making)
            self.spent[phase] = self.spent.get(phase, 0.0) + now - self._since
            self._since = now
