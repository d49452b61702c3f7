"""`Optimized`: the result of `optimize`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinemorph.analysis.optimizing.design_problem import History
from kinemorph.analysis.optimizing.unknowns import Unknowns
from kinemorph.sheet import QUANTITIES, Facts, Field, Sheet, Table, Verdict, fields, hidden
from kinemorph.shown import ShownOptimized

DESIGNS = Field("designs", "designs that were measured")
CHOSEN = (*fields("name value", name="name"), Field("lower", "lower", form="g"), Field("upper", "upper", form="g"))
CONDITION = (QUANTITIES["condition"]._replace(key="name"), *fields("value margin"))


@dataclass(frozen=True, eq=False, repr=False)
class Optimized(ShownOptimized):
    """The design that costs least. Made by `optimize`; as a bool it is True where one was found that meets all
    conditions.

    `name`                  of the system
    `at`, `search`          where designs were measured, and how they were searched
    `values`                what was chosen, by name
    `cost`                  its cost
    `conditions`            by condition, its value; `margins`, the distance to its limits, negative where it is broken
    `history`               all designs that were measured, in order
    `found`, `message`      the outcome, and as a sentence
    `iterations`, `seconds` of the search: steps or generations, and time [s]
    `result`                the Equilibrium, the Trajectory or the Gait of the design, computed when it is first read
    """

    name: str
    at: str
    search: str
    values: Mapping[str, float]
    cost: float
    conditions: Mapping[str, float]
    margins: Mapping[str, float]
    history: History
    found: bool
    iterations: int
    seconds: float
    message: str
    unknowns: Unknowns
    make_result: Callable[[], Any]

    @cached_property
    def result(self) -> Any:
        """The Equilibrium, the Trajectory or the Gait of the design."""
        return self.make_result()

    def __bool__(self) -> bool:
        return self.found

    def __repr__(self) -> str:
        if not self.found:
            return f"<Optimized '{self.name}': not found>"
        return f"<Optimized '{self.name}': cost {self.cost:.6g} at {self.at}>"

    def sheet(self) -> Sheet:
        """What was chosen, its cost, and its conditions."""
        chosen = [(one.name, self.values[one.name], one.lower, one.upper) for one in self.unknowns.each]
        held = [(name, _finite(value), _finite(self.margins[name])) for name, value in self.conditions.items()]
        cost, iterations = fields("cost iterations")
        facts = [(cost, _finite(self.cost)), (iterations, self.iterations), (DESIGNS, len(self.history.costs))]
        return Sheet(
            "Least cost of",
            self.name,
            (
                Verdict(self.found, self.message, "found"),
                hidden(message=self.message, at=self.at, search=self.search),
                Facts(facts),
                Table("values", CHOSEN, chosen, "Chosen"),
                Table("conditions", CONDITION, held, "Conditions"),
            ),
        )


def _finite(value: float) -> float | None:
    """None for a number that was not measured."""
    return value if math.isfinite(value) else None
