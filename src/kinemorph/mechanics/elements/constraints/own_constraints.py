"""The laws of constraints that the user writes: text, or a function that is traced.

Rows on velocities must be linear in them (and may have a part without them). Each row is tried at some instants: it is
linear where second differences along straight lines in v are 0.
"""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.scalar import S
from kinemorph.errors import KinemorphError, ModelError, TracingError, told
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.constraints.constraint_texts import (
    read_now,
    reads_time_or_place,
    text_at,
    text_problems,
    text_value,
)
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import register
from kinemorph.model.configuration import neutral
from kinemorph.model.elements.constraints.own_constraints import Constraint, VelocityConstraint
from kinemorph.model.expressions import names_in
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot
from kinemorph.words import counted

TRIALS = 5  # instants at which a row is tried
CURVED = 1e-9  # a second difference above this share of the row's numbers is not linear


def names_of_rows(rows: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Names of rows: as given; else the element's name for one row, numbers for several."""
    if names:
        return tuple(names)
    count = 1 if callable(rows) else len(rows)
    return ("",) if count == 1 else tuple(str(k + 1) for k in range(count))


class RowsLaw(RowForces):
    """Abstract: rows as text or as a function."""

    moving = False  # whether rows are on velocities

    def problems(self, element: Any, robot: Robot) -> list[str]:
        if callable(element.rows):
            return _arguments(element, self._given(element))
        found = []
        if element.reads:
            problem = f"reads is {short(element.reads)} and its rows are text; expected it of a function alone"
            found.append(wrong(element.name, problem, "Leave it out: text names what it reads.", "reads"))
        if not element.rows:
            found.append(wrong(element.name, "rows is (); expected one expression at least", "Give one.", "rows"))
        if element.names and len(element.names) != len(element.rows):
            problem = f"it has {len(element.rows)} rows and {len(element.names)} names; expected as many of both"
            found.append(wrong(element.name, problem, "Name every row, or none."))
        return found

    def acts_on(self, element: Any, robot: Robot) -> Sequence[str]:
        """The joints whose coordinates or velocities are named; all joints where all are read."""
        names = element.reads if callable(element.rows) else [name for text in element.rows for name in names_in(text)]
        if callable(element.rows) and not names:
            return robot.joint_names
        read = {name.partition(".")[2] for name in names}
        return [joint.name for joint in robot.joints if not read.isdisjoint((*joint.q_names, *joint.v_names))]

    def unit(self, element: Any) -> str:
        return ""  # the unit of a row is not known

    def _given(self, element: Any) -> list[str]:
        """The arguments of its function."""
        return ["t", *(element.reads or (["q", "v"] if self.moving else ["q"]))]

    def reads(self, element: Any) -> tuple[str, ...]:
        names: tuple[str, ...] = element.reads
        return names

    def problems_among(self, element: Any, ensemble: Ensemble) -> list[str]:
        if callable(element.rows):
            if not all(any(one in ensemble.sources for one in name.split("|")) for name in element.reads):
                return []  # reported already
            return self._reading_problems(element, ensemble) or self._linearity(element, ensemble)
        found = [problem for text in element.rows for problem in text_problems(element, text, ensemble, v=self.moving)]
        return found or self._linearity(element, ensemble)

    def _reading_problems(self, element: Any, ensemble: Ensemble) -> list[str]:
        known = [ensemble.source(name) for name in element.reads]
        timeless = "which is no function of time alone; expected coordinates or signals of references"
        found = [
            wrong(element.name, f"it reads '{name}', {timeless}", "Let it read these.", "reads")
            for name in known
            if not reads_time_or_place(name, ensemble)
        ]
        if not self.moving:
            places = "expected coordinates, as constraints on positions have"
            found += [
                wrong(element.name, f"it reads the velocity '{name}'; {places}", "Use a VelocityConstraint.", "reads")
                for name in known
                if name.startswith("v.")
            ]
        return found

    def _linearity(self, element: Any, ensemble: Ensemble) -> list[str]:
        """Problems of rows that are not of the right degree in v, where they can be tried."""
        for row in range(len(self.row_names(element)[self.moving])):
            curved, flat = _tried(self._plainly(element, ensemble, row), ensemble.robot, moving=self.moving)
            said = _row_said(element, row)
            if curved:
                what = f"{said} is not linear in the velocities; expected sums of them times what has none"
                return [wrong(element.name, what, "Mend it.", "rows")]
            if flat:
                what = f"{said} depends on no {'velocity' if self.moving else 'coordinate'}; expected one that can move"
                return [wrong(element.name, what, "Name what it constrains.", "rows")]
        return []

    def _plainly(self, element: Any, ensemble: Ensemble, row: int) -> Callable[..., float]:
        """A row as a function of plain t, q, v; signals of references count as t."""
        robot = ensemble.robot

        def value(t: float, q: Sequence[float], v: Sequence[float]) -> float:
            given = {"t": t, **dict.fromkeys(ensemble.signals, t)}
            given |= {f"q.{name}": x for name, x in zip(robot.q_names, q, strict=True)}
            given |= {f"v.{name}": x for name, x in zip(robot.v_names, v, strict=True)}
            if not callable(element.rows):
                return text_at(element, element.rows[row], ensemble, given)
            everything: list[Any] = [list(q), list(v)] if self.moving else [list(q)]
            read = [given[ensemble.source(name)] for name in element.reads] or everything
            return float(self._asked(element, t, read)[row])

        return value

    def values(self, element: Any, view: ElementView) -> list[S]:
        """The values of all rows at this instant."""
        if not callable(element.rows):
            return [text_value(element, text, view) for text in element.rows]
        instant = view.instant
        q = list(instant.finished_q)
        everything = [q, list(instant.v)] if self.moving else [q]
        read = [read_now(instant.ensemble.source(name), view) for name in element.reads]
        return self._asked(element, view.t, read or everything)

    def _asked(self, element: Any, t: S, read: Sequence[Any]) -> list[S]:
        try:
            found = element.rows(t, *read)
        except TracingError as error:
            raise TracingError(f"element '{element.name}': {error}") from error
        except KinemorphError:
            raise
        except Exception as error:
            raise ModelError(
                f"element '{element.name}': its rows raised {told(error)}; expected a function over any scalar, with "
                "the functions of kinemorph.algebra.scalar in place of those of math."
            ) from error
        rows = list(found) if isinstance(found, (list, tuple, np.ndarray)) else [found]
        count = len(names_of_rows(element.rows, element.names))
        if any(row is None or isinstance(row, str) for row in rows):
            raise ModelError(
                f"element '{element.name}': its function gives {short(found)}; expected numbers. Look at what it "
                "returns."
            )
        if len(rows) != count:
            raise ModelError(
                f"element '{element.name}': its function gives {len(rows)} numbers; expected {count}. Give `names`, "
                "one for each of its rows."
            )
        return rows


class ConstraintLaw(RowsLaw):
    """phi(q, t) = 0."""

    def row_names(self, element: Constraint) -> tuple[Sequence[str], Sequence[str]]:
        return names_of_rows(element.rows, element.names), ()

    def position_rows(self, element: Constraint, view: ElementView) -> Sequence[S]:
        return self.values(element, view)


class VelocityConstraintLaw(RowsLaw):
    """A(q, t) v + b(q, t) = 0."""

    moving = True

    def row_names(self, element: VelocityConstraint) -> tuple[Sequence[str], Sequence[str]]:
        return (), names_of_rows(element.rows, element.names)

    def velocity_rows(self, element: VelocityConstraint, view: ElementView) -> Sequence[S]:
        return self.values(element, view)


# ── trials ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tried(row: Callable[..., float], robot: Robot, *, moving: bool) -> tuple[bool, bool]:
    """(whether a row is not linear in v, whether no motion changes it), tried near the neutral configuration.

    A function that fails at plain numbers is reported where it is traced; a row that is not a number is not tried.
    """
    dice, rest = random.Random(7), neutral(robot).tolist()
    curved, flat, tried = False, True, 0
    for _ in range(TRIALS):
        t = dice.random()
        q = [x + dice.uniform(-0.4, 0.4) for x in rest]
        a, b = ([dice.uniform(-2.0, 2.0) for _ in range(robot.nv)] for _ in range(2))
        try:
            ends = [row(t, q, a), row(t, q, [2.0 * y - x for x, y in zip(a, b, strict=True)])]
            middle, elsewhere = row(t, q, b), row(t, [x + dice.uniform(-0.4, 0.4) for x in q], a)
        except (KinemorphError, ArithmeticError, TypeError, ValueError):
            continue
        numbers = [*ends, middle, elsewhere]
        if not all(map(math.isfinite, numbers)):
            continue
        tried += 1
        size = max(map(abs, numbers))
        curved |= abs(ends[0] - 2.0 * middle + ends[1]) > CURVED * size
        flat &= abs((middle if moving else elsewhere) - ends[0]) <= 1e-12 * size
    return curved, flat and tried > 0


def _arguments(element: Any, given: Sequence[str]) -> list[str]:
    """Whether the function takes what it is called with."""
    try:
        inspect.signature(element.rows).bind(*given)
    except TypeError:
        expected = f"{counted(len(given), 'argument')}: {', '.join(given)}"
        problem = f"its function takes {inspect.signature(element.rows)}; expected {expected}"
        return [wrong(element.name, problem, "Write it with these arguments.")]
    except ValueError:  # a function written in C has no signature
        return []
    return []


def _row_said(element: Any, row: int) -> str:
    if not callable(element.rows):
        return f"'{element.rows[row]}'"
    return f"row '{element.names[row]}'" if element.names else "its row"


register(Constraint, ConstraintLaw())
register(VelocityConstraint, VelocityConstraintLaw())
