"""Studies: many runs over a space of values, by any number of workers, with a store that loses nothing.

    from kinemorph.studies import Range, Space, sweep

    study = sweep(system, Space({"mass": Range(0.5, 2.0, points=20)}), {"work": "work"}, until=5.0, store="a.study")

items                what one run gets, as columns with a key for each item
outcomes             what travels between a study and its workers
packing              models and functions as bytes for workers
spaces               which values items get: ranges, choices and distributions, combined by designs
experiments          what is done with each item: a model, measures and options of runs
store                the file of a study, which loses nothing
workers              who computes: processes, a Dask cluster, any executor
dispatch             sends chunks of items to workers, and records what they return
sweeps               `sweep`: runs a model for all items of a space; `Study`: items with their results
statistics           `monte_carlo`: estimates with confidence intervals; `sensitivity`: which parts matter
study_files          studies as TOML files
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "sweep": "kinemorph.studies.sweeps.sweep",
    "monte_carlo": "kinemorph.studies.statistics.monte_carlo",
    "sensitivity": "kinemorph.studies.statistics.sensitivity",
    "Study": "kinemorph.studies.sweeps.study",
    "load_study": "kinemorph.studies.sweeps.study",
    "BestRuns": "kinemorph.studies.outcomes",
    "Space": "kinemorph.studies.spaces.space",
    "Range": "kinemorph.studies.spaces.parts",
    "Values": "kinemorph.studies.spaces.parts",
    "Choice": "kinemorph.studies.spaces.parts",
    "Normal": "kinemorph.studies.spaces.distributions",
    "LogNormal": "kinemorph.studies.spaces.distributions",
    "Triangular": "kinemorph.studies.spaces.distributions",
    "Distributed": "kinemorph.studies.spaces.distributions",
    "Uniform": "kinemorph.studies.spaces.parts",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.studies.outcomes import BestRuns as BestRuns
    from kinemorph.studies.spaces.distributions import Distributed as Distributed
    from kinemorph.studies.spaces.distributions import LogNormal as LogNormal
    from kinemorph.studies.spaces.distributions import Normal as Normal
    from kinemorph.studies.spaces.distributions import Triangular as Triangular
    from kinemorph.studies.spaces.parts import Choice as Choice
    from kinemorph.studies.spaces.parts import Range as Range
    from kinemorph.studies.spaces.parts import Uniform as Uniform
    from kinemorph.studies.spaces.parts import Values as Values
    from kinemorph.studies.spaces.space import Space as Space
    from kinemorph.studies.statistics.monte_carlo import monte_carlo as monte_carlo
    from kinemorph.studies.statistics.sensitivity import sensitivity as sensitivity
    from kinemorph.studies.sweeps.study import Study as Study
    from kinemorph.studies.sweeps.study import load_study as load_study
    from kinemorph.studies.sweeps.sweep import sweep as sweep
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
