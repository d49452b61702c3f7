"""The laws of constraints that the user writes, as text or as a function that is traced.

Rows on velocities have to be linear in the velocities, plus any function of coordinates and time. To check this, each
row is evaluated at some random states: it is linear if second differences along straight lines in v are 0.
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
from kinemorph.words import counted, listed

TRIALS = 5  # random states at which a row is evaluated
CURVED = 1e-9  # a row is not linear where its second difference, relative to its largest value, is above this


def names_of_rows(rows: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The names of an element's rows: `names` where given; else "" (the element's name) for one row, "1", "2", ... for
    several.
    """
    if names:
        return tuple(names)
    count = 1 if callable(rows) else len(rows)
    return ("",) if count == 1 else tuple(str(k + 1) for k in range(count))


class RowsLaw(RowForces):
    """The abstract base of laws whose rows are text or a user function."""

    accelerations = True

    moving = False  # whether its rows are constraints on velocities

    def problems(self, element: Any, robot: Robot) -> list[str]:
        if callable(element.rows):
            return _arguments(element, self._given(element))
        found = []
        if element.reads:
            problem = f"reads is {short(element.reads)} and its rows are text; expected reads only for a function"
            found.append(wrong(element.name, problem, "Leave it out: the text itself names its signals.", "reads"))
        if not element.rows:
            found.append(wrong(element.name, "rows is (); expected at least one expression", "Give one.", "rows"))
        if element.names and len(element.names) != len(element.rows):
            both = f"{counted(len(element.rows), 'row')} and {counted(len(element.names), 'name')}"
            problem = f"it has {both}; expected one name for each row, or no names"
            found.append(wrong(element.name, problem, "Name every row, or none."))
        return found

    def acts_on(self, element: Any, robot: Robot) -> Sequence[str]:
        """The joints whose coordinates or velocities its rows name; all joints for a function that gets all of q."""
        names = element.reads if callable(element.rows) else [name for text in element.rows for name in names_in(text)]
        if callable(element.rows) and not names:
            return robot.joint_names
        read = {name.partition(".")[2] for name in names}
        return [joint.name for joint in robot.joints if not read.isdisjoint((*joint.q_names, *joint.v_names))]

    def unit(self, element: Any) -> str:
        return ""  # the unit of a row is not known

    def _given(self, element: Any) -> list[str]:
        """The names of the arguments with which its function is called."""
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
        timeless = "a signal that depends on more than time; expected coordinates or signals of references"
        found = [
            wrong(element.name, f"it reads '{name}', {timeless}", "Let it read only these.", "reads")
            for name in known
            if not reads_time_or_place(name, ensemble)
        ]
        if not self.moving:
            places = "a constraint on positions can only read coordinates"
            found += [
                wrong(element.name, f"it reads the velocity '{name}'; {places}", "Use a VelocityConstraint.", "reads")
                for name in known
                if name.startswith("v.")
            ]
        return found

    def _linearity(self, element: Any, ensemble: Ensemble) -> list[str]:
        """A problem for the first row that is not linear in v, or that no velocity or coordinate changes; else none."""
        for row in range(len(self.row_names(element)[self.moving])):
            curved, flat = _tried(self._plainly(element, ensemble, row), ensemble.robot, moving=self.moving)
            said = _row_said(element, row)
            if curved:
                expected = "expected a sum of velocities times functions of t and q"
                what = f"{said} is not linear in the velocities; {expected}"
                remedy = "Multiply no velocity by another one, and take no function of a velocity."
                return [wrong(element.name, what, remedy, "rows")]
            if flat:
                kind = "velocity" if self.moving else "coordinate"
                what = f"{said} depends on no {kind}; expected a row that depends on at least one {kind}"
                return [wrong(element.name, what, f"Name the {kind} that it constrains.", "rows")]
        return []

    def _plainly(self, element: Any, ensemble: Ensemble, row: int) -> Callable[..., float]:
        """The row with this number as a function of plain numbers t, q, v; signals of references have the value t."""
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
                f"element '{element.name}': the function given as rows raised {told(error)}; expected a function that "
                "works for any scalar. Use the functions of kinemorph.algebra.scalar in place of those of math."
            ) from error
        rows = list(found) if isinstance(found, (list, tuple, np.ndarray)) else [found]
        count = len(names_of_rows(element.rows, element.names))
        if any(row is None or isinstance(row, str) for row in rows):
            raise ModelError(
                f"element '{element.name}': the function given as rows returns {short(found)}; expected numbers. "
                "Correct the function."
            )
        if len(rows) != count:
            raise ModelError(
                f"element '{element.name}': the function given as rows returns {counted(len(rows), 'number')}; "
                f"expected {count}. Give `names`, one for each of its rows."
            )
        return rows


class ConstraintLaw(RowsLaw):
    """Constraints phi(q, t) = 0 that the user writes."""

    def row_names(self, element: Constraint) -> tuple[Sequence[str], Sequence[str]]:
        return names_of_rows(element.rows, element.names), ()

    def position_rows(self, element: Constraint, view: ElementView) -> Sequence[S]:
        return self.values(element, view)

    def is_steady(self, element: Constraint) -> bool:
        """Whether its text names coordinates only."""
        if callable(element.rows):
            return False
        named = {name for text in element.rows for name in names_in(text)} - {name for name, _ in element.known}
        return all(name.startswith("q.") for name in named)


class VelocityConstraintLaw(RowsLaw):
    """Constraints A(q, t) v + b(q, t) = 0 that the user writes."""

    moving = True

    def row_names(self, element: VelocityConstraint) -> tuple[Sequence[str], Sequence[str]]:
        return (), names_of_rows(element.rows, element.names)

    def velocity_rows(self, element: VelocityConstraint, view: ElementView) -> Sequence[S]:
        return self.values(element, view)


# ── trials ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tried(row: Callable[..., float], robot: Robot, *, moving: bool) -> tuple[bool, bool]:
    """(whether a row is not linear in v, whether no motion changes it), at random states near the neutral
    configuration.

    States at which the row fails or is not finite are skipped; a function that fails is reported where it is traced.
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
    """A problem where the element's function cannot be called with the arguments `given` (names); else none."""
    try:
        inspect.signature(element.rows).bind(*given)
    except TypeError:
        expected = f"{counted(len(given), 'argument')}: {listed(given)}"
        problem = f"its function has the arguments {inspect.signature(element.rows)}; expected {expected}"
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
