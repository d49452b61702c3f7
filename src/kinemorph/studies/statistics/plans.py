"""How a statistical study draws its items and what it makes of them: the options of `monte_carlo` and `sensitivity`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from kinemorph.frozen import dataclass
from kinemorph.model.elements.fields import defaults_of

CONFIDENCE = 0.95
COUNT = 1000  # items of a Monte Carlo study, where neither a count nor an error is given
MOST = 100_000  # items, where an error is given
PILOT = 100
LEVELS = 4
RESAMPLES = 300


def _changed_fields(record: Any) -> dict[str, Any]:
    """The fields of a record that differ from their defaults, by name."""
    values = {name: (getattr(record, name), usual) for name, usual in defaults_of(record).items()}
    return {name: value for name, (value, usual) in values.items() if value != usual}


@dataclass(frozen=True)
class MonteCarloPlan:
    """The options of `monte_carlo`.

    `error`         the error to reach, for all measures or by measure; items are added until it is reached
    `confidence`    the probability with which a confidence interval contains the true value
    `count`         without an error: how many items
    `most`          with an error: how many items at most
    `pilot`         with an error: how many items plan the number of the others
    `seed`          the seed of the draws; that of the space if it is left out
    """

    error: float | Mapping[str, float] | None = field(default=None, metadata={"in_files": False})  # read by hand
    confidence: float = field(default=CONFIDENCE, metadata={"kind": "number"})
    count: int | None = None
    most: int = MOST
    pilot: int = PILOT
    seed: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, as arguments of `monte_carlo`."""
        return _changed_fields(self)


@dataclass(frozen=True)
class SensitivityPlan:
    """The options of `sensitivity`.

    `method`        "sobol" for shares of the variance, "morris" for mean effects
    `count`         rows of the design for "sobol", a power of two; trajectories for "morris"
    `second`        with "sobol": also the interactions of two parts
    `levels`        with "morris": how many values of each part are tried, an even number
    `confidence`    the probability with which a confidence interval contains the true value
    `resamples`     with "morris": of the bootstrap, by which the intervals of sigma are found
    `seed`          the seed of the design; that of the space if it is left out
    """

    method: Literal["sobol", "morris"] = "sobol"
    count: int | None = None
    second: bool = False
    levels: int = LEVELS
    confidence: float = field(default=CONFIDENCE, metadata={"kind": "number"})
    resamples: int = RESAMPLES
    seed: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, as arguments of `sensitivity`."""
        return _changed_fields(self)
