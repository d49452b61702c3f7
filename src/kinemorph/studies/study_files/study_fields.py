"""The keys of a study file, one row per key. Reader, writer and schema are all based on these tables.

    kinemorph_study = 1
    name     = "gaits"
    model    = "organism.toml"
    run      = "crawl"
    store    = "gaits.study"
    keep     = { best = 5, of = "distance", largest = true }

    [space]
    design   = "sobol"
    count    = 1024

    [space.parts.mass]
    range    = [0.5, 2.0]

    [measures]
    distance = "q.x"

Paths are relative to the folder of the study file. Numbers are in SI with radians; texts may have units: "5 deg".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from kinemorph.formats.sources import Base
from kinemorph.model.elements.fields import Field, part_fields
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.spaces.designs import DESIGNS
from kinemorph.studies.spaces.distributions import LogNormal, Normal, Triangular
from kinemorph.studies.spaces.parts import Choice, Range, Values
from kinemorph.studies.statistics.plans import MonteCarloPlan, SensitivityPlan

MARK = "kinemorph_study"  # the key that opens every study file
VERSION = 1
KEPT = ("failed", "all")  # runs that are kept, by a word
WORKERS = ("here", "dask")  # words for workers; other texts are addresses

BASES = get_args(Base)
_NUMBERS = (Field("", "literal"), None)  # the items of a list of numbers
_TEXTS = (Field("", "text"), None)

# keys with one plain value
TOP = (
    Field(MARK, "whole", "", f"Version of the format: {VERSION}.", required=True),
    Field("name", "text", "", "Name of the study; that of the file if it is left out."),
    Field("model", "text", "", "Model file, relative to the folder of the study file."),
    Field("base", "choice", "", "Root body of a model of URDF or xacro: fixed to the world, or free.", inner=BASES),
    Field("package_dirs", "list", "", "Folders in which package:// names of models are searched.", inner=_TEXTS),
    Field("until", "literal", "time", "Simulated time [s]; if it is left out, that of the run or the model."),
    Field("store", "text", "", "File of results, relative to the folder of the study file; NAME.study if left out."),
    Field("seconds", "literal", "time", "Longest time that an item may take [s]."),
    Field("memory", "literal", "number", "Largest memory of a worker [bytes]."),
)
# keys with several forms
RUN = Field("run", "run", "", "Name of a run of the model, or a table with the options of a run.")
WORKER = Field("workers", "workers", "", 'Number of processes, "here", "dask" or an address; one per CPU if left out.')
KEEP = Field("keep", "keep", "", 'Runs that are kept: "failed", "all", or { best = 5, of = "distance" }.')
MEASURES = Field("measures", "texts", "", 'Measures by name: distance = "q.x".')
ERROR = Field("error", "error", "", "Error to reach, for all measures or by measure; items are added until then.")

SPACE = (
    Field("design", "choice", "", "How values are combined: grid if it is left out.", inner=DESIGNS, default="grid"),
    Field("count", "whole", "", "Number of items of other designs than a grid."),
    Field("seed", "whole", "", "Seed of the random numbers of a design; 0 if it is left out.", default=0),
)
PART = (
    Field("range", "numbers", "", "Lowest and highest value.", inner=2),
    Field("log", "flag", "", "The range is uniform in the logarithm.", default=False),
    Field("points", "whole", "", "Number of values of the range in a grid."),
    Field("values", "list", "", "Numbers.", inner=_NUMBERS),
    Field("choices", "choices", "", "Texts or numbers, or a table of values or elements by label."),
    Field("normal", "numbers", "", "Mean and standard deviation of a normal distribution.", inner=2),
    Field("lognormal", "numbers", "", "Mean and standard deviation of a lognormal distribution.", inner=2),
    Field("triangular", "numbers", "", "Least value, mode and greatest value of a triangular distribution.", inner=3),
    Field("low", "literal", "", "Lowest value of a truncated distribution."),
    Field("high", "literal", "", "Highest value of a truncated distribution."),
    Field("when", "when", "", 'The part applies only to items with these values: { gait = "wave" }.'),
)


class PartForm(NamedTuple):
    """How a part is written: the function that makes it of the numbers under its key, and its further keys."""

    make: Callable[..., Any]
    type: type[Any]
    more: tuple[str, ...] = ()


PART_FORMS: dict[str, PartForm] = {
    "range": PartForm(lambda numbers, **more: Range(*numbers, **more), Range, ("log", "points")),
    "values": PartForm(Values, Values),
    "choices": PartForm(lambda choices: choices, Choice),
    "normal": PartForm(lambda numbers, **more: Normal(*numbers, **more), Normal, ("low", "high")),
    "lognormal": PartForm(lambda numbers, **more: LogNormal(*numbers, **more), LogNormal, ("low", "high")),
    "triangular": PartForm(lambda numbers, **more: Triangular(*numbers, **more), Triangular, ("low", "high")),
}

BEST = part_fields(BestRuns)
KINDS = {"monte_carlo": MonteCarloPlan, "sensitivity": SensitivityPlan}  # tables of statistical studies
