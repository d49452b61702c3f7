"""`sweep`: runs a model over a space of values, and keeps the measures of every run.

    study = sweep(system, Space({"mass": Range(0.5, 2.0)}, design="sobol", count=256), {"work": "work"},
                  until=5.0, store="masses.study")
    study.best("work", 3)

A sweep that was ended, by Ctrl-C, by a kill or by a power cut, continues where it was when it is called again with the
same store: an item that has a result is not computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kinemorph.errors import StorageError, StudyWarning, UnsupportedError, users_level
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.experiments.aspects import cpu_text
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

OTHER_CPU = 1e-9  # relative difference of results on kinds of CPU that round differently


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
                    "x.NAME", "u.hip"), of masses ("rod.mass") and inertial numbers ("rod.hx"), and
                    "model", "start", "run", "gait", "method", "step", "rtol", "atol", "max_step", "until"
    `measures`      {name: measure}, a list of measures, or one: the name of an Integral, a text with names of signals
                    at the end of a run, a law f(t, q, v, ...), or a function of the run that returns a number
    `store`         the file of the study (.study); without one it is kept in memory
    `until`         the end of the runs [s]; by default as the settings of the model say, otherwise 10 s
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

    Further options are those of `simulate_batch`, and `base` and `package_dirs` of model files as for `load`:
    `base="free"` lets a URDF stand or fall on the ground. Ctrl-C ends the sweep and returns what is done; calling it
    again with the same store continues it. An item that fails has a cause, and the others go on.
    """
    listed = space if isinstance(space, Items) else _items_of(space)
    objects = {} if isinstance(space, Items) else space.objects
    options |= {"store": store, "keep": keep, "resume": resume, "changed": changed, "progress": progress, "name": name}
    options |= {"facts": facts, "until": until, "run": run, "workers": workers, "seconds": seconds, "memory": memory}
    with open_sweep(model, measures, objects, **options) as opened:
        study = opened.study(listed)
    tell_warnings(opened.warnings)
    _tell_failures(study)
    return study


def open_sweep(
    model: Any,
    measures: Any,
    objects: Mapping[str, Mapping[str, Any]],
    *,
    store: str | Path | None = None,
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
) -> OpenSweep:
    """A sweep to which items are given in stages. `objects` are those of the space; for the others see `sweep`."""
    if keep not in KEPT and not isinstance(keep, BestRuns):
        raise UnsupportedError(f"keep is {keep!r}; expected 'all', 'failed', BestRuns(5, \"measure\") or None.")
    experiment = experiment_of(model, measures, objects=objects, **options)
    told = {**(facts or {}), **({"name": name} if name else {})}
    opened = partial(_opened, experiment, store, resume=resume, changed=changed, facts=told)
    return OpenSweep(experiment, opened, partial(open_workers, workers, memory=memory, seconds=seconds), keep, progress)


@contextmanager
def _opened(
    experiment: Experiment,
    path: str | Path | None,
    *,
    resume: bool,
    changed: Literal["refuse", "recompute"],
    facts: Mapping[str, str],
) -> Iterator[Store]:
    """The store of a sweep, whose results belong to the experiment."""
    with open_store(path, mode="write") as store:
        if not resume and store.has_results:
            raise StorageError(
                f"'{path}' has results already, but resume is False. Choose another file, delete it, or leave resume "
                "out to continue the study."
            )
        store.check_aspects(experiment.aspects, changed=changed)
        _tell_cpu(store)
        if facts:
            store.write_facts(facts)
        yield store


def _tell_cpu(store: Store) -> None:
    """Records the kind of CPU; warns where earlier results are from another one."""
    here, there = cpu_text(), store.facts.get("cpu")
    if there is not None and there != here and store.has_results:
        warnings.warn(
            f"'{store.path}' has results from another kind of CPU ({there}; here {here}). They agree with those from "
            f"here to about {OTHER_CPU:g} of their size, not to the last bit, and less where motion is chaotic.",
            StudyWarning,
            stacklevel=users_level(),
        )
    elif there != here:
        store.write_facts({"cpu": here})


class OpenSweep(ExitStack):
    """A sweep as a context: items are given in stages, and experiment, store and workers stay between them."""

    def __init__(
        self,
        experiment: Experiment,
        open_store: Callable[[], AbstractContextManager[Store]],
        open_crew: Callable[[], AbstractContextManager[Crew]],
        keep: Keep,
        progress: Callable[[Tally], None] | None,
    ) -> None:
        super().__init__()
        self.experiment, self.keep, self.progress = experiment, keep, progress
        self._open_store, self._open_crew = open_store, open_crew
        self.warnings: dict[str, None] = {}  # what runs of all stages warned of, each sentence once

    def study(self, items: Items) -> Study:
        """Computes items that have no result yet; returns the study with them and all earlier items of the store."""
        self.experiment.check(items)
        numbers = self._store.declare(items)
        tally = self._computed(numbers, items)
        self.warnings |= dict.fromkeys(tally.warnings)
        return Study(self._store, self._store.table(), self.experiment, tally)

    @cached_property
    def _store(self) -> Store:
        """The store, which is opened after the first items were checked: bad ones leave no file."""
        return self.enter_context(self._open_store())

    @cached_property
    def _crew(self) -> Crew:
        return self.enter_context(self._open_crew())

    def _computed(self, numbers: Indices, items: Items) -> Tally:
        """Computes the items that wait for a result, and the runs that the rule wants and the store does not have."""
        rows = dict(zip(numbers[::-1].tolist(), range(len(numbers) - 1, -1, -1), strict=True))  # by number, the first

        def chosen(some: Indices) -> Items:
            return items.taken([rows[number] for number in some.tolist()])

        left = self._store.without_result(numbers)
        tally = Tally(0)
        if len(left):
            kept = "none" if isinstance(self.keep, BestRuns) else KEPT[self.keep]
            some = chosen(left)
            tally = carry_out(self.experiment, self._store, left, some, self._crew, keep=kept, progress=self.progress)
        missing = _without_run(self._store, numbers, self.keep)
        if len(missing) and not tally.is_interrupted:
            runs, what = _Runs(self._store), "runs to be kept"
            options: dict[str, Any] = {"keep": "all", "progress": self.progress, "what": what}
            again = carry_out(self.experiment, runs, missing, chosen(missing), self._crew, **options)
            tally = tally._replace(is_interrupted=again.is_interrupted)
        return tally


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


def _without_run(store: Store, numbers: Indices, keep: Keep) -> Indices:
    """The items whose runs the rule keeps, and that have none: those of earlier sweeps, and the best ones."""
    if keep is None or keep == "failed":  # runs of items that failed are kept when they fail
        return np.empty(0, dtype=np.int64)
    table = store.table()
    wanted = table.numbers[table.states == State.DONE]
    if isinstance(keep, BestRuns) and len(wanted):
        wanted = np.array(best_numbers(table, keep.of, keep.best, largest=keep.largest), dtype=np.int64)
    there = table.runs.keys() - store.lost_runs(table)
    found: Indices = np.array([one for one in wanted.tolist() if one not in there], dtype=np.int64)
    return found[np.isin(found, numbers)]


def tell_warnings(said: Iterable[str]) -> None:
    """Repeats the warnings of runs, which workers collect, as warnings of the caller."""
    for sentence in said:
        warnings.warn(sentence, StudyWarning, stacklevel=users_level())


def _tell_failures(study: Study) -> None:
    if study.tally is not None and study.tally.failed:
        number, cause = next(iter(study.table.causes.items()))
        warnings.warn(
            f"study '{study.name}': {study.status.failed} of {counted(len(study), 'item')} failed. Item {number}: "
            f"{cause}",
            StudyWarning,
            stacklevel=users_level(),
        )
