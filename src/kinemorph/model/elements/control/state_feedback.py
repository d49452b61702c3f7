"""State feedback with constant gains or with gains along a motion, and an observer that estimates the state.

`lqr` and `kalman` (kinemorph.analysis.feedback) compute the numbers; `Regulator.element` makes the element.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kinemorph.model.elements.control.references import as_rows
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.declared import declaration, declared


@dataclass(frozen=True)
class Observer:
    """A linear observer: an estimate s of the deviation of the state from a point, from the outputs y of sensors.

        ds/dt = A s + B (u - u0) + L (y - y0 - C s - D (u - u0))

    Where the feedback is sampled, the right side is s at the next sample, and A, B and L are those of a period.

    `reads`       the signals y; `measured` are their values y0 at the point
    `estimates`   the names of the entries of s, such as "w.hip" (displacement), "v.hip" and "motor.current"
    `A` (n, n), `B` (n, nu), `L` (n, ny), `C` (ny, n), `D` (ny, nu)    the matrices, as rows
    """

    reads: Names
    estimates: Names
    A: tuple[Numbers, ...] = field(metadata=declaration("number"))
    B: tuple[Numbers, ...] = field(metadata=declaration("number"))
    L: tuple[Numbers, ...] = field(metadata=declaration("number"))
    C: tuple[Numbers, ...] = field(metadata=declaration("number"))
    D: tuple[Numbers, ...] = field(metadata=declaration("number"))
    measured: Numbers = field(metadata=declaration("number"))

    name = "observer"  # in messages about its rows; an observer is part of an element and has no name of its own

    def __post_init__(self) -> None:
        as_names(self, "reads", "estimates")
        as_numbers(self, "measured")
        for matrix in ("A", "B", "L", "C", "D"):
            as_rows(self, matrix)


@dataclass(frozen=True)
class StateFeedback:
    """Feedback of the whole state: u = u0 - K s, with the deviation s = [w, v - v0, x - x0] from a point or a motion.

    w (nv,) are the local coordinates of the configuration about `q`: for joints with one axis q - q0, for ball joints
    and free bases a displacement and a rotation in the axes of the point. The error may be up to half a turn.

    `drives`    the joints, actuators or motors that the outputs u drive
    `gains`     K as rows, one for each target, with the columns w, v and the further states in `states`
    `q`, `v`, `x`, `inputs`    the point q0 (nq,), v0 (nv,), x0 (one for each of `states`) and u0, one row each
    `states`    names of further states, such as "motor.current"
    `times`     times [s] of a motion: q, v, x and inputs then have a row for each time, and `gains` the rows of all
                targets for each time, one time after the other. Gains are linear in between, inputs monotone, q,
                v and x cubic; all are constant before the first and after the last time
    `observer`  estimates s; q, v, x, states and times are then left out, and the columns of K are its `estimates`

    `lower`, `upper`, `every`, `phase`, `delay` and `quantum` are those of every controller (see `controllers`). The
    observer sees the outputs within their limits.
    """

    name: str
    drives: Names
    gains: tuple[Numbers, ...] = field(metadata=declaration("number"))
    q: tuple[Numbers, ...] = declared((), "joint coordinate")
    v: tuple[Numbers, ...] = declared((), "number")
    states: Names = ()
    x: tuple[Numbers, ...] = declared((), "number")
    inputs: tuple[Numbers, ...] = declared((), unit="{out}")
    times: Numbers = declared((), "time")
    observer: Observer | None = None
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "drives", "states")
        as_numbers(self, "times", "lower", "upper")
        for rows in ("gains", "q", "v", "x", "inputs"):
            as_rows(self, rows)
