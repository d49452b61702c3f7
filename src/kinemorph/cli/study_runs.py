"""Carries out study files for the verbs `sweep` and `study`: the progress bar, Ctrl-C, and the report at the end."""

from __future__ import annotations

import contextlib
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinemorph.cli.application import FAILED, INTERRUPTED, WELL, put, reported_warnings, say
from kinemorph.cli.options.study_options import WorkOptions
from kinemorph.errors import ChangedError, KinemorphError
from kinemorph.sheet import hidden
from kinemorph.words import counted

if TYPE_CHECKING:
    from kinemorph.studies.dispatch.tally import Tally
    from kinemorph.studies.study_files.study_plan import StudyPlan

CHANGED = "Give --recompute to compute all results again, the old ones are kept in a copy; or use another store."


def carry_out_plan(plan: StudyPlan, options: dict[str, Any], work: WorkOptions, *, as_json: bool) -> None:
    """Carries out a study plan, prints its results, and exits.

    `options` are further arguments of `sweep`, which replace those of the plan. Exit codes: 0 where items have results,
    1 where all of them failed, 130 after Ctrl-C.
    """
    from kinemorph.studies.statistics.monte_carlo import monte_carlo
    from kinemorph.studies.statistics.sensitivity import sensitivity
    from kinemorph.studies.sweeps.sweep import sweep

    functions: dict[str, Callable[..., Any]] = {"sweep": sweep, "monte_carlo": monte_carlo, "sensitivity": sensitivity}
    arguments = {**plan.arguments, **work.given, **options}
    store = arguments.get("store")
    with reported_warnings(), progress_bar(plan.name or "study", quiet=work.quiet) as progress:
        try:
            found = functions[plan.kind](**arguments, progress=progress)
        except ChangedError as error:
            raise KinemorphError(f"{error.args[0].what}. {CHANGED}") from None
        except KeyboardInterrupt:  # before items were computed, or after
            say(f"interrupted. {_how_to_resume(store)}")
            raise typer.Exit(INTERRUPTED) from None
    study = found if plan.kind == "sweep" else found.study
    put(found.sheet().with_parts(hidden(store=None if store is None else str(store))), as_json)
    status = study.status
    if study.tally is not None and study.tally.is_interrupted:
        missing = "all items so far have results, but runs to be kept or further items may be missing"
        if status.waiting:
            missing = f"{status.waiting:,} of {status.items:,} items have no result yet"
        say(f"interrupted: {missing}. {_how_to_resume(store)}")
        raise typer.Exit(INTERRUPTED)
    if status.items and not status.done:
        say("failed: no item has a result")
        raise typer.Exit(FAILED)
    if store is not None and not work.quiet:
        file = shlex.quote(str(store))
        if status.failed:
            say(f"note: {counted(status.failed, 'item')} failed; `kinemorph study {file} failed` says why")
        say(f"note: the results are in {file}; `kinemorph study {file} show` writes a page of them")
    raise typer.Exit(WELL)


def _how_to_resume(store: Path | str | None) -> str:
    if store is None:
        return "Results were in memory only; give --store to keep them."
    if not Path(store).exists():
        return "There were no results yet."
    return f"Resume with: kinemorph study {shlex.quote(str(store))} resume"


@contextlib.contextmanager
def progress_bar(name: str, *, quiet: bool) -> Iterator[Callable[[Tally], None] | None]:
    """Shows how many items have results, the rate, the failed ones and the time left, if stderr is a terminal.

    Yields the function that updates the bar with a Tally; None if there is no bar.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from kinemorph.codegen.work_clock import reported_by

    shown = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[numbers]}"))

    def report(work: str) -> None:
        bar.update(task, description=f"{name} ({work})" if work else name)

    def update(tally: Tally) -> None:
        bar.update(task, completed=tally.finished, total=tally.total, numbers=progress_text(tally))

    with Progress(*shown, console=Console(stderr=True), transient=True) as bar, reported_by(report):
        task = bar.add_task(name, total=None, numbers="")
        yield update


def progress_text(tally: Tally) -> str:
    """The numbers beside a progress bar: `1,200 of 2,000 items   240 /s   3 failed   4 s left`."""
    parts = [
        f"{tally.finished:,} of {tally.total:,} {tally.what}",
        f"{tally.rate:,.3g} /s" if tally.rate < 100.0 else f"{tally.rate:,.0f} /s",
    ]
    parts += [f"{tally.failed:,} failed"] if tally.failed else []
    parts += [f"{tally.again:,} run again"] if tally.again else []
    if tally.finished < tally.total and math.isfinite(tally.seconds_left):
        parts.append(f"{_time(tally.seconds_left)} left")
    return "   ".join(parts)


def _time(seconds: float) -> str:
    """A time in seconds, minutes or hours: `42 s`, `3:05 min`, `2:10 h`."""
    whole = math.ceil(seconds)
    if whole < 100:
        return f"{whole} s"
    if whole < 6000:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
