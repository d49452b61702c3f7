"""`sweep`: runs a model over a space of values, and keeps the measures of every run.

    study = sweep(system, Space({"mass": Range(0.5, 2.0)}, design="sobol", count=256), {"work": "work"},
                  until=5.0, store="masses.study")
    study.best("work", 3)

A sweep that was ended, by Ctrl-C, by a kill or by a power cut, continues where it was when it is called again with the
same store: an item that has a result is not computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kinemorph.errors import StorageError, StudyWarning, UnsupportedError, users_level
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.experiments.experiment import Experiment, experiment_of
from kinemorph.studies.items import Indices, Items
from kinemorph.studies.outcomes import BestRuns, Outcome, RunsKept, State
from kinemorph.studies.spaces.item_spaces import ItemSpace
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.sweeps.study import Study, best_numbers
from kinemorph.studies.workers.crew import Crew
from kinemorph.studies.workers.open_workers import Workers, open_workers
from kinemorph.words import counted

Keep = Literal["all", "failed"] | BestRuns | None
KEPT: dict[Any, RunsKept] = {None: "none", "failed": "failed", "all": "all"}  # what workers return


def sweep(
    model: Any,
    space: ItemSpace | Items,
    measures: Any = (),
    *,
    store: str | Path | None = None,
    until: float | None = None,
    run: str | RunPlan | dict[str, Any] | None = None,
    keep: Keep = None,
    workers: Workers = None,
    seconds: float | None = None,
    memory: int | None = None,
    resume: bool = True,
    changed: Literal["refuse", "recompute"] = "refuse",
    progress: Callable[[Tally], None] | None = None,
    name: str = "",
    facts: Mapping[str, str] | None = None,
    **options: Any,
) -> Study:
    """Runs a model for every item of a space, and returns the study with the measures of all runs.

        sweep(system, Space({"mass": Range(0.5, 2.0, points=9), "u.hip": Values([1.0, 2.0])}), {"work": "work"},
              until=2.0, store="masses.study")
        sweep("robot.toml", space, {"speed": "q.x / t"}, run="walk")
        sweep(function, space)

    `model`         a System, Robot or Plant, which is simulated until the time `until` [s]; a model file, whose runs
                    are those of `kinemorph simulate`; or a function of the values by name, which returns a System or
                    its measures: a number, or a dict of numbers
    `space`         a `Space`. Its names are those of Parameters, of initial values and inputs ("q.hip", "v.hip",
                    "x.NAME", "u.hip"), of inertial numbers ("rod.m"), and "model", "start", "run", "gait", "method",
                    "step", "rtol", "atol", "max_step", "until"
    `measures`      {name: measure}, a list of measures, or one: the name of an Integral, a text with names of signals
                    at the end of a run, a law f(t, q, v, ...), or a function of the run that returns a number
    `store`         the file of the study (.study); without one it is kept in memory
    `run`           a run plan, or the name of one in the model file
    `keep`          which runs are kept as files: "all", "failed", or `BestRuns(5, "work")`
    `workers`       a number of processes, by default one for each CPU; 0 for this process; "dask", or the address of a
                    Dask scheduler; or an Executor of concurrent.futures
    `seconds`       the longest time of one item [s], after which it counts as failed
    `memory`        the most memory of a worker process [bytes]
    `resume`        False refuses a store that has results already
    `changed`       if the model, a measure or an option is another one than that of the store: "refuse", or
                    "recompute" all items; a copy of the old store is kept
    `progress`      a function that is called with a `Tally` after results were stored
    `name`          of the study, for titles; by default that of its file
    `facts`         texts by name that the store keeps, such as the study file; they determine no results

    Further options are those of `simulate_batch`. Ctrl-C ends the sweep and returns what is done; calling it again with
    the same store continues it. An item that fails has a cause, and the others go on.
    """
    listed = space if isinstance(space, Items) else _items_of(space)
    objects = {} if isinstance(space, Items) else space.objects
    if keep not in KEPT and not isinstance(keep, BestRuns):
        raise UnsupportedError(f"keep is {keep!r}; expected 'all', 'failed', BestRuns(5, \"measure\") or None.")
    experiment = experiment_of(model, measures, objects=objects, until=until, run=run, **options)
    experiment.check(listed)
    with open_store(store, mode="write") as kept:
        if not resume and kept.has_results:
            raise StorageError(
                f"'{store}' has results already, but resume is False. Choose another file, delete it, or leave resume "
                "out to continue the study."
            )
        kept.check_aspects(experiment.aspects, changed=changed)
        told = {**(facts or {}), **({"name": name} if name else {})}
        if told:
            kept.write_facts(told)
        numbers = kept.declare(listed)
        crew = partial(open_workers, workers, memory=memory, seconds=seconds)
        tally = _computed(experiment, kept, numbers, listed, keep, crew, progress)
        study = Study(kept, kept.table(), experiment, tally)
    _tell(study)
    return study


def _items_of(space: Any) -> Items:
    if not isinstance(space, ItemSpace):
        raise UnsupportedError(
            f"space is {space!r:.80}; expected a Space, such as Space({{'mass': Range(0.5, 2.0)}}, design='sobol', "
            "count=64)."
        )
    return space.items


class _Runs:
    """A recorder that takes only the runs of outcomes: their measures are in the store already."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def record(self, outcomes: Sequence[Outcome]) -> None:
        """Keeps the runs of items that have a result."""
        self.store.attach_runs({number: data for outcome in outcomes for number, data in outcome.runs.items()})


def _computed(
    experiment: Experiment,
    store: Store,
    numbers: Indices,
    items: Items,
    keep: Keep,
    crew: Callable[[], AbstractContextManager[Crew]],
    progress: Callable[[Tally], None] | None,
) -> Tally:
    """Computes the items that wait for a result, and the runs that the rule wants and the store does not have."""
    first = dict(zip(numbers[::-1].tolist(), range(len(numbers) - 1, -1, -1), strict=True))  # the row of each number

    def chosen(some: Indices) -> Items:
        return items.taken([first[number] for number in some.tolist()])

    left = store.without_result(numbers)
    tally = Tally(0)
    with ExitStack() as stack:
        if len(left):
            workers = stack.enter_context(crew())
            kept = "none" if isinstance(keep, BestRuns) else KEPT[keep]
            tally = carry_out(experiment, store, left, chosen(left), workers, keep=kept, progress=progress)
        missing = _without_run(store, numbers, keep)
        if len(missing) and not tally.is_interrupted:
            workers = workers if len(left) else stack.enter_context(crew())
            carry_out(experiment, _Runs(store), missing, chosen(missing), workers, keep="all")
    return tally


def _without_run(store: Store, numbers: Indices, keep: Keep) -> Indices:
    """The items whose runs the rule keeps, and that have none: those of earlier sweeps, and the best ones."""
    if keep is None or keep == "failed":  # runs of items that failed are kept when they fail
        return np.empty(0, dtype=np.int64)
    table = store.table()
    wanted = table.numbers[table.states == State.DONE]
    if isinstance(keep, BestRuns):
        wanted = np.array(best_numbers(table, keep.of, keep.best, largest=keep.largest), dtype=np.int64)
    found: Indices = np.array([one for one in wanted.tolist() if one not in table.runs], dtype=np.int64)
    return found[np.isin(found, numbers)]


def _tell(study: Study) -> None:
    """Warns about what the user should know: warnings of runs, and items that failed."""
    said = study.tally.warnings if study.tally is not None else ()
    for sentence in said:
        warnings.warn(sentence, StudyWarning, stacklevel=users_level())
    if study.tally is not None and study.tally.failed:
        number, cause = next(iter(study.table.causes.items()))
        warnings.warn(
            f"study '{study.name}': {study.status.failed} of {counted(len(study), 'item')} failed. Item {number}: "
            f"{cause}",
            StudyWarning,
            stacklevel=users_level(),
        )
