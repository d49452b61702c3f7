"""`StudyPlan`: what a study file says, as data. `sweep`, `monte_carlo` and `sensitivity` take its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Literal

from kinemorph.frozen import dataclass
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.spaces.space import Space


def _given(record: Any) -> dict[str, Any]:
    """The fields of a record that are not None, by name."""
    values = {one.name: getattr(record, one.name) for one in fields(record)}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class MonteCarloPlan:
    """The options of `monte_carlo`; those that are None have its defaults.

    `error`         the error to reach, for all measures or by measure; items are added until it is reached
    `confidence`    the probability with which a confidence interval contains the true value
    `count`         without an error: how many items
    `most`          with an error: how many items at most
    `pilot`         with an error: how many items plan the number of the others
    `seed`          the seed of the draws; that of the space if it is left out
    """

    error: float | Mapping[str, float] | None = field(default=None, metadata={"in_files": False})  # read by hand
    confidence: float | None = field(default=None, metadata={"kind": "number"})
    count: int | None = None
    most: int | None = None
    pilot: int | None = None
    seed: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options that are given, as arguments of `monte_carlo`."""
        return _given(self)


@dataclass(frozen=True)
class SensitivityPlan:
    """The options of `sensitivity`; those that are None have its defaults.

    `method`        "sobol" for shares of the variance, "morris" for mean effects
    `count`         rows of the design for "sobol", a power of two; trajectories for "morris"
    `second`        with "sobol": also the interactions of two parts
    `levels`        with "morris": how many values of each part are tried, an even number
    `confidence`    the probability with which a confidence interval contains the true value
    `resamples`     resamples of the bootstrap by which intervals are found
    `seed`          the seed of the design; that of the space if it is left out
    """

    method: Literal["sobol", "morris"] | None = None
    count: int | None = None
    second: bool | None = None
    levels: int | None = None
    confidence: float | None = field(default=None, metadata={"kind": "number"})
    resamples: int | None = None
    seed: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options that are given, as arguments of `sensitivity`."""
        return _given(self)


@dataclass(frozen=True)
class StudyPlan:
    """A study as a study file describes it.

    `space`         what is varied
    `model`         the model file; None if the space has a part "model"
    `name`          the name of the study
    `measures`      texts of measures by name, such as {"distance": "q.x"}
    `run`           the name of a run of the model, or the options of a run
    `until`         the simulated time [s]; None for that of the run
    `keep`          which runs are kept: "failed", "all", the best ones, or none
    `store`         the file of results
    `workers`       how many processes, "here" for none, "dask", or the address of a cluster; None for one per CPU
    `seconds`       the longest time of an item [s]
    `memory`        the largest memory of a worker [bytes]
    `monte_carlo`   the options of a Monte Carlo study, if it is one
    `sensitivity`   the options of a sensitivity study, if it is one
    """

    space: Space
    model: Path | None = None
    name: str = ""
    measures: Mapping[str, str] = field(default_factory=dict)
    run: str | RunPlan | None = None
    until: float | None = None
    keep: Literal["failed", "all"] | BestRuns | None = None
    store: Path | None = None
    workers: int | str | None = None
    seconds: float | None = None
    memory: int | None = None
    monte_carlo: MonteCarloPlan | None = None
    sensitivity: SensitivityPlan | None = None

    @property
    def kind(self) -> Literal["sweep", "monte_carlo", "sensitivity"]:
        """The function that carries the study out."""
        return "monte_carlo" if self.monte_carlo else "sensitivity" if self.sensitivity else "sweep"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function that carries the study out, by name, without those that the file leaves out.

        `model`, `space` and `measures` are always there.
        """
        values = _given(self) | {"model": self.model}
        special = self.monte_carlo or self.sensitivity
        values = {name: value for name, value in values.items() if name not in ("monte_carlo", "sensitivity")}
        return values | (special.options if special is not None else {})
