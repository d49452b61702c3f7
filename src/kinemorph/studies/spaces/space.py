"""`Space`: what a study varies, and the design by which its items are chosen.

space = Space({"mass": Range(0.5, 2.0), "gait": Choice("trot", "wave")}, design="sobol", count=1024)
space.items         1024 items as columns
space.items[0]      {"mass": 1.37, "gait": "wave"}
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, cast

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import OptionWarning, ShapeError, UnsupportedError, users_level
from kinemorph.frozen import Fixed, dataclass
from kinemorph.studies.items import Items, Value, items_of
from kinemorph.studies.spaces.conditions import Conditions, known_conditions, where_applicable
from kinemorph.studies.spaces.designs import Design, unit_points
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.spaces.distributions import Distributed, is_distribution
from kinemorph.studies.spaces.grids import grid_count, grid_values
from kinemorph.studies.spaces.item_spaces import ItemSpace, ListedSpace, listed_space
from kinemorph.studies.spaces.parts import Choice, Part
from kinemorph.studies.spaces.space_checks import option_remarks, space_problems
from kinemorph.words import counted, listed


@dataclass(frozen=True)
class Space(ItemSpace, Fixed):
    """Parts that vary, by name, with a design that says which of their values are combined.

    `parts`     {name: Range, Values, Choice or a distribution}; frozen distributions of scipy.stats are parts too
    `design`    "grid", "sobol", "latin" or "random": see `designs`
    `count`     how many items other designs than a grid have; equal ones are merged
    `seed`      of the random numbers of a design: the same seed gives the same items
    `when`      {part: {other part: value or list of values}}: the part applies only to items with these values
    """

    parts: Mapping[str, Part]
    design: Design = "grid"
    count: int | None = None
    seed: int = 0
    when: Mapping[str, Mapping[str, Value | Sequence[Value]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given: Any = self.parts
        pairs = [*given.items()] if isinstance(given, Mapping) else given
        if not isinstance(pairs, (list, tuple)) or not all(isinstance(one, tuple) and len(one) == 2 for one in pairs):
            raise UnsupportedError(
                f"space: its parts are {type(given).__name__}, expected a mapping of names to parts. "
                'Write Space({"mass": Range(0.5, 2.0)}, design="sobol", count=1024).'
            )
        pairs = [(name, Distributed(part) if is_distribution(part) else part) for name, part in pairs]
        problems = space_problems(pairs, self.design, self.count, self.seed, self.when)
        if problems:
            raise UnsupportedError("\n".join(problems))
        vars(self).update(parts=dict(pairs), when=known_conditions(self.when))
        for sentence in option_remarks(self.parts, self.design, self.count, self.seed):
            warnings.warn(sentence, OptionWarning, stacklevel=users_level())

    @staticmethod
    def of(items: Sequence[Mapping[str, Any]]) -> ListedSpace:
        """A space with exactly these items, each a mapping of names to values."""
        return listed_space(items)

    @cached_property
    def items(self) -> Items:
        """The items, each once, in the order of the design. Those of a grid vary in the last part first."""
        if self.design == "grid":
            values = grid_values(self.parts, self.conditions)
            return items_of([part.column(name, values[name]) for name, part in self.parts.items()])
        assert self.count is not None
        return distinct(self.at(unit_points(self.design, self.dimensions, self.count, self.seed)))

    @property
    def size(self) -> int:
        """How many items there are; those of a grid are counted, not made."""
        return grid_count(self.parts, self.conditions) if self.design == "grid" else len(self.items)

    @property
    def objects(self) -> dict[str, dict[str, Any]]:
        """For every part with labels, the objects behind them: {part: {label: object}}."""
        return {name: part.objects for name, part in self.parts.items() if isinstance(part, Choice) and part.labels}

    @property
    def conditions(self) -> Conditions:
        """`when`, with a tuple of values for each part of a condition."""
        return cast(Conditions, self.when)  # made so when the space was made

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the parts that have more than one value, sorted: the dimensions of the unit cube of `at`."""
        return tuple(sorted(name for name, part in self.parts.items() if not part.listed or part.size != 1))

    def at(self, unit: Array) -> Items:
        """The items at points of the unit cube, shape (n, d), one for each point: equal ones are not merged.

        The d columns belong to the parts `dimensions`. Uniform points give the distributions of the parts.
        """
        points = np.asarray(unit, dtype=float)
        names = self.dimensions
        if points.ndim != 2 or points.shape[1] != len(names):
            raise ShapeError(
                f"space: the points have shape {points.shape}, expected (n, {len(names)}) for "
                f"{counted(len(names), 'part')} that vary: {listed(names)}."
            )
        if not ((points >= 0.0) & (points <= 1.0)).all():
            raise ShapeError("space: the points of its unit cube have a number outside 0 to 1. Scale them.")
        fixed = np.zeros(len(points))
        values = {
            name: part.at(points[:, names.index(name)] if name in names else fixed) for name, part in self.parts.items()
        }
        values = where_applicable(self.parts, self.conditions, values)
        return items_of([self.parts[name].column(name, values[name]) for name in self.parts])
