"""The derivatives of the initial state: how it changes with parameters and with named initial values.

Without constraints, an initial value changes alone. Where there are constraints, the state has to satisfy them after
the change too, as the initial state of every run does: named values are kept, the others follow by the smallest change,

    phi_w dw + phi_p dp = 0,     rate_v dv + rate_w dw + rate_p dp = 0

Points that are held where they are at the start of a run move with the state, unless their memory is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import Point, built, point_of
from kinemorph.analysis.small_motions.variation import Variation, slope_name
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.mechanics.constraints.newton_closing import FLAT
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from kinemorph.simulation.stepping.initial_state import closed_start, entered_memory, kept_values
from kinemorph.words import did_you_mean, quoted

VIOLATED = 1e-7  # an error of a differentiated constraint above this, relative to its terms, means a contradiction


@dataclass(frozen=True, eq=False)
class Start:
    """The initial state of a run, on the constraints, and the values of it that the user gave.

    `q`, `v` and `m` are as the user gave them: a dict of some values by name, a sequence of all, or None.
    """

    plant: Plant
    point: Point
    q: Any = None
    v: Any = None
    m: Any = None

    @property
    def given_memory(self) -> tuple[str, ...]:
        """The names of the memory that the user gave."""
        return self.plant.named("m", self.m)

    def names(self, initial: str | Sequence[str]) -> tuple[str, ...]:
        """The names of initial values; "all" means as many independent ones as the constraints leave.

        Raises ShapeError where the plant does not have a value of that name.
        """
        known = initial_names(self.plant)
        if initial == "all":
            dependent = self._dependent()
            return tuple(name for k, name in enumerate(known) if not dependent[k])
        names = (initial,) if isinstance(initial, str) else tuple(initial)
        for name in names:
            if name not in known:
                raise ShapeError(
                    f"initial '{name}': plant '{self.plant.name}' has no such value.{did_you_mean(name, known)} "
                    f"Known: {quoted(known)}."
                )
        return names

    def slopes(self, parameters: Sequence[str], initial: Sequence[str]) -> Array:
        """The derivatives of the state s = [w, v, x], shape (k, ns): by `parameters` and inputs, then by `initial`.

        Raises UnsupportedError where the constraints do not allow such a change.
        """
        plant = self.plant
        known, nv = initial_names(plant), plant.nv
        S = np.zeros((len(parameters) + len(initial), plant.ns))
        places = [known.index(name) for name in initial]
        S[len(parameters) + np.arange(len(initial)), places] = 1.0
        if plant.laws.constraints is None:
            return S
        C, by_p, by_u, held = self._rows
        left = S @ C.T  # errors of the constraints after each change, which the other values have to remove
        for k, name in enumerate(parameters):
            left[k] += by_u[:, plant.index("u", name[2:])] if name.startswith("u.") else by_p[:, plant.index("p", name)]
        sizes = np.maximum(1.0, np.abs(left).max(axis=1, initial=0.0))
        named = np.zeros(plant.ns, dtype=bool)
        named[places] = True
        for group, first, rows in (("q", 0, slice(0, held)), ("v", nv, slice(held, None))):
            kept = kept_values(plant, group, getattr(self, group))
            kept = kept._replace(still=kept.still | named[first : first + nv])
            columns = C[rows, first : first + nv] @ kept.directions(self.point.q)
            step = -left[:, rows] @ np.linalg.pinv(columns, FLAT).T
            S[:, first : first + nv] += step
            left += step @ C[:, first : first + nv].T
        wrong = np.abs(left).max(axis=1, initial=0.0) > VIOLATED * sizes
        for k in np.flatnonzero(wrong)[:1]:
            what = (
                f"parameter '{parameters[k]}'" if k < len(parameters) else f"initial '{initial[k - len(parameters)]}'"
            )
            raise UnsupportedError(
                f"{what}: robot '{plant.name}' has loops, coupled joints or other constraints, which a change of this "
                f"value violates while the other named values stay the same. {self._remedy(initial)}"
            )
        return S

    def _remedy(self, initial: Sequence[str]) -> str:
        if not initial:
            return "Name fewer values in q and v: the others follow."
        return "Name fewer initial values: initial='all' chooses independent ones."

    @property
    def _rows(self) -> tuple[Array, Array, Array, int]:
        """The derivatives of the constraints by s (n, ns), p and u, and how many rows are errors; the others are rates.

        Each row is divided by the size of its constraint.
        """
        plant, nh = self.plant, self.plant.position_rows
        kept = {plant.index("m", name) for name in self.given_memory}
        key = ("start rows", frozenset(kept))
        if key not in plant.kept:
            enter = plant.laws.jumps.enter if plant.laws.jumps else None

            def rows(at: LocalInstant) -> list[Any]:
                assert plant.laws.constraints is not None
                new = at.m if enter is None else enter(at)
                memory = [at.m[k] if k in kept else one for k, one in enumerate(new)]
                found = plant.laws.constraints(at._replace(m=memory))
                return [*found["phi"], *found["rate"]]

            count = str(nh + len(plant.constraint_names))
            program = plant.traced("start_rows", rows, "t base s m u p", {"out": count})
            plant.kept[key] = built(jacobian(program, "out", ("s", "p", "u")))
        by_s, by_p, by_u = plant.kept[key](*self.point.inputs)
        sizes = plant.compiled("constraints")(*self.point.inputs)[3]
        scale = 1.0 / np.concatenate([sizes[:nh], sizes])[:, None]
        return by_s * scale, by_p * scale, by_u * scale, nh

    def _dependent(self) -> npt.NDArray[np.bool_]:
        """Which entries of s (ns,) follow from the others: those of dependent coordinates and velocities, and locked.

        Values that the user gave by name are independent, where that is possible.
        """
        plant, nv = self.plant, self.plant.nv
        found = np.zeros(plant.ns, dtype=bool)
        found[[nv + k for k in plant.locked]] = True
        if plant.laws.constraints is None:
            return found
        C, _, _, held = self._rows
        for group, first, rows in (("q", 0, slice(0, held)), ("v", nv, slice(held, None))):
            kept = kept_values(plant, group, getattr(self, group))
            columns = C[rows, first : first + nv] @ kept.directions(self.point.q)
            if columns.size:
                found[first : first + nv] |= build(chosen_columns(*columns.shape))(columns) > 0.5
        return found


def start_of(
    plant: Plant,
    *,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    m: Any = None,
    t: float = 0.0,
    nearest: bool = False,
) -> Start:
    """The state from which a run with these arguments of `simulate` starts.

    With `nearest`, q and v may violate constraints, as measured ones do: the nearest state that satisfies them is used.
    """
    point = point_of(plant, q, v, x, u, p, t, m)
    point = replace(point, m=entered_memory(plant, m, point.inputs))
    state = (point.q, point.v, point.x, point.m, point.u, point.p)
    found = closed_start(plant, point.t, state, ({}, {}, m) if nearest else (q, v, m), enters=True)
    return Start(plant, replace(point, q=found.q, v=found.v, m=found.m), q, v, m)


def initial_names(plant: Plant) -> list[str]:
    """The names of all initial values, "q.elbow", "v.elbow" or a further state, in the order of s = [w, v, x]."""
    return [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]


def memory_given(start: Start, whole: Variation) -> dict[str, float] | None:
    """The memory that the user gave, by name, for the larger plant of `varied`: its derivatives are 0."""
    if start.m is None:
        return None
    plant = start.plant
    given = [plant.index("m", name) for name in start.given_memory]
    values = {plant.m[k].name: float(start.point.m[k]) for k in given}
    sloped = [plant.m[k].name for k in given if k in whole.sloped]
    return values | {slope_name(name, label): 0.0 for name in sloped for label in whole.labels}
