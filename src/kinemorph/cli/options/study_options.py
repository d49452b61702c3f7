"""Options of the verbs that carry out studies: workers, limits of an item, and what happens to earlier results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from kinemorph.cli.application import flag, option
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError

MEGABYTE = 1_000_000
WORDS = ("here", "dask")  # workers by a word; other texts are addresses


@dataclass(frozen=True)
class WorkOptions:
    """The options of the command line that say who computes the items of a study, and how long one may take."""

    workers: Annotated[
        str | None,
        option(
            "Number of processes; here: none, in this process; dask: a cluster on this machine; tcp://HOST:PORT: a "
            "cluster of Dask that runs already.",
            "N|here|dask|ADDRESS",
            default="the study file's, or one per CPU",
        ),
    ] = None
    limit_seconds: Annotated[float | None, option("Longest time of an item in seconds.", default="no limit")] = None
    limit_memory: Annotated[float | None, option("Largest memory of a worker in MB.", default="no limit")] = None
    recompute: Annotated[
        bool,
        flag(
            "--recompute",
            "Where the model, a measure or the version changed since: forget all results, and keep the old file as a "
            "copy. Without it, such a study is refused.",
        ),
    ] = False
    quiet: Annotated[bool, flag("--quiet", "Show no progress bar, no notes and no warnings.")] = False

    def __post_init__(self) -> None:
        option_values.above_zero(self.limit_seconds, "--limit-seconds", "s")
        option_values.above_zero(self.limit_memory, "--limit-memory", "MB")
        chosen_workers(self.workers)

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, as arguments of `studies.sweep`."""
        given: dict[str, Any] = {"workers": chosen_workers(self.workers), "seconds": self.limit_seconds}
        given["memory"] = None if self.limit_memory is None else int(self.limit_memory * MEGABYTE)
        given["changed"] = "recompute" if self.recompute else None
        return {name: value for name, value in given.items() if value is not None}


def chosen_workers(text: str | None) -> int | str | None:
    """The workers that a text names: a number, a word, or an address. None stays None."""
    if text is None or text in WORDS or "://" in text:
        return text
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise KinemorphError(
            f"--workers is '{text}'; expected a number of processes, here, dask, or the address of a cluster, such as "
            "tcp://127.0.0.1:8786."
        )
    return count
