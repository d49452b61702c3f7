"""`SweepOptions`: how a sweep is carried out and kept. These options determine no result of any item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.studies.dispatch.tally import Progress
from kinemorph.studies.outcomes import BestRuns, RunsKept
from kinemorph.studies.store.aspects import Changed
from kinemorph.studies.workers.open_workers import Workers

Keep = Literal["all", "failed"] | BestRuns | None
RETURNED: dict[Any, RunsKept] = {None: "none", "failed": "failed", "all": "all"}  # runs that workers return


@dataclass(frozen=True)
class SweepOptions:
    """The options of `sweep`, without the options of its runs; `sweep` explains each of them."""

    store: str | Path | None = None
    keep: Keep = None
    workers: Workers = None
    seconds: float | None = None
    memory: int | None = None
    resume: bool = True
    changed: Changed = "refuse"
    progress: Progress | None = None
    name: str = ""
    facts: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.keep not in RETURNED and not isinstance(self.keep, BestRuns):
            raise UnsupportedError(
                f"keep is {self.keep!r}; expected 'all', 'failed', BestRuns(5, \"measure\") or None."
            )

    @property
    def returned_runs(self) -> RunsKept:
        """Which runs workers return with measures; which runs are best is known only when all items are done."""
        return "none" if isinstance(self.keep, BestRuns) else RETURNED[self.keep]

    @property
    def stored_facts(self) -> dict[str, str]:
        """The facts that the store keeps, with the name of the study where it has one."""
        return {**(self.facts or {}), **({"name": self.name} if self.name else {})}


def divided(options: Mapping[str, Any]) -> tuple[SweepOptions, dict[str, Any]]:
    """The options of a sweep, and the options of its runs, from arguments by name that have both."""
    names = {field.name for field in fields(SweepOptions)}
    own = {name: value for name, value in options.items() if name in names}
    return SweepOptions(**own), {name: value for name, value in options.items() if name not in names}
