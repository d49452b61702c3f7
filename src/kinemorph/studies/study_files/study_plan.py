"""`StudyPlan`: what a study file says, as data. `sweep`, `monte_carlo` and `sensitivity` take its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Literal

from kinemorph.formats.sources import Base
from kinemorph.frozen import dataclass
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.statistics.plans import MonteCarloPlan, SensitivityPlan


@dataclass(frozen=True)
class StudyPlan:
    """A study as a study file describes it.

    `space`         what is varied
    `model`         the model file; None if the space has a part "model"
    `base`          "fixed" or "free" root bodies of models whose format does not say it, such as URDF
    `package_dirs`  folders in which `package://` names of models are searched
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
    base: Base | None = None
    package_dirs: tuple[Path, ...] = ()
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
        special = self.monte_carlo or self.sensitivity
        names = [field.name for field in fields(self) if field.name not in ("monte_carlo", "sensitivity")]
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return given | {"model": self.model} | (special.options if special is not None else {})
