"""Driven joints: from the state (q, v) to the coordinates and velocities of all joints, and back to forces.

Formulas theta = f(q, t) give the coordinates of driven joints. All joints together have the coordinates and velocities

    q_all = [q, theta],      v_all = [v, omega],      omega = F v + df/dt,      F = df/dq
    a_all = [a, F a + g],    g = the second derivative of f along the motion at a = 0

which the recursions work on. A force law on all joints, or a mass matrix of all joints, acts on the state through the
principle of virtual power:

    tau = [1, F^T] tau_all,      M = [1, F^T] M_all [1; F]

F and g come from dual numbers, so that formulas have no derivatives written by hand. A joint given by a whole pose has
its body twist as velocities: R^T dp/dt and the vector of R^T dR/dt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import S, is_zero, minus, plus, times
from kinemorph.algebra.vectors import dot, matvec_transposed
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Lookup, Value, coordinates_of, evaluate


class Drive(NamedTuple):
    """The formulas of one elementary joint: its kind, and one Value for each of its coordinates."""

    kind: str
    formulas: tuple[Value, ...]


@dataclass(frozen=True)
class Driving:
    """The driven joints of a tree. `places` gives the index in q and the index in v of coordinates by name."""

    nq: int  # the lengths of q and v, without driven joints
    nv: int
    drives: tuple[Drive, ...]
    places: Mapping[str, tuple[int, int]] = field(repr=False)
    lookup: Lookup = field(repr=False)  # the values of parameters, and of the time "t"

    def at_time(self, t: S) -> Driving:
        """The driven joints at the time t [s]."""
        return replace(self, lookup={**self.lookup, "t": t})

    def positions(self, q: Sequence[S]) -> list[S]:
        """The coordinates of all joints, q first, at q (nq,)."""
        known = self.values(q)
        return [*q, *(evaluate(formula, known) for drive in self.drives for formula in drive.formulas)]

    def velocities(self, q: Sequence[S], v: Sequence[S]) -> list[S]:
        """The velocities of all joints, v first, at (q, v)."""
        along = Direction()
        moving = {name: along.moved(q[i], v[k]) for name, (i, k) in self.places.items()}
        return [*v, *self._rates({**self.lookup, **moving, "t": along.moved(self._time)}, along)]

    def slopes(self, q: Sequence[S]) -> list[dict[int, S]]:
        """The rows of F = df/dq at q, one for each velocity of driven joints: entries by index in v, without zeros."""
        known, along = self.values(q), Direction()
        rows: list[dict[int, S]] = []
        for drive in self.drives:
            columns = {}
            for leaf in coordinates_of(drive.formulas):
                if leaf.name in self.places:
                    i, k = self.places[leaf.name]
                    columns[k] = _rate_of(drive, {**known, leaf.name: along.moved(q[i])}, along)
            for row in range(VELOCITIES.get(drive.kind, 1)):
                rows.append({k: column[row] for k, column in columns.items() if not is_zero(column[row])})
        return rows

    def bias(self, q: Sequence[S], v: Sequence[S]) -> list[S]:
        """The accelerations g of the driven joints at (q, v) where the accelerations of the state are 0."""
        later, along = Direction(), Direction()
        moving = {name: along.moved(later.moved(q[i], v[k]), v[k]) for name, (i, k) in self.places.items()}
        time = along.moved(later.moved(self._time))
        return later.tangents(self._rates({**self.lookup, **moving, "t": time}, along))

    def _rates(self, known: Lookup, along: Direction) -> list[S]:
        return [rate for drive in self.drives for rate in _rate_of(drive, known, along)]

    def values(self, q: Sequence[S]) -> dict[str, Any]:
        """The values at q of all names that formulas may have: coordinates, parameters and the time "t"."""
        return {**self.lookup, **{name: q[i] for name, (i, _) in self.places.items()}, "t": self._time}

    @property
    def _time(self) -> S:
        return self.lookup.get("t", 0.0)


VELOCITIES = {"pose": 6}  # the number of velocities of a driven joint, by kind; all others have one


def _rate_of(drive: Drive, known: Lookup, along: Direction) -> list[S]:
    """The velocities of one driven joint, where the values in `known` are dual numbers along a motion."""
    values = [evaluate(formula, known) for formula in drive.formulas]
    rates = along.tangents(values)
    if drive.kind != "pose":
        return rates
    R, (u, v, w) = [along.values(values[3 * i : 3 * i + 3]) for i in range(3)], rates[9:]
    columns = [[rates[3 * i + j] for i in range(3)] for j in range(3)]  # of dR/dt
    turned = [matvec_transposed(R, column) for column in columns]  # the columns of R^T dR/dt
    return [*matvec_transposed(R, (u, v, w)), turned[1][2], turned[2][0], turned[0][1]]


class AllJoints:
    """The coordinates and velocities of all joints at a state (q, v), and maps between all joints and the state."""

    def __init__(self, driving: Driving, q: Sequence[S], v: Sequence[S] | None = None) -> None:
        self.driving, self._q, self._v = driving, q, v

    @cached_property
    def q(self) -> list[S]:
        """The coordinates of all joints."""
        return self.driving.positions(self._q)

    @cached_property
    def v(self) -> list[S]:
        """The velocities of all joints."""
        return self.driving.velocities(self._q, self._known_v)

    @cached_property
    def F(self) -> list[dict[int, S]]:
        """The rows of F = df/dq, which maps v to the velocities of driven joints; see `Driving.slopes`."""
        return self.driving.slopes(self._q)

    @cached_property
    def g(self) -> list[S]:
        """The accelerations of all joints at a = 0, zero for those that are not driven."""
        return [*[0.0] * self.driving.nv, *self.driving.bias(self._q, self._known_v)]

    @property
    def _known_v(self) -> Sequence[S]:
        return [0.0] * self.driving.nv if self._v is None else self._v

    def accelerations(self, a: Sequence[S]) -> list[S]:
        """The accelerations of all joints at the accelerations `a` (nv,) of the state."""
        n, moved = self.driving.nv, self.moved(a)
        return [*moved[:n], *(plus(x, y) for x, y in zip(moved[n:], self.g[n:], strict=True))]

    def moved(self, x: Sequence[S]) -> list[S]:
        """The product [1; F] x: the velocities of all joints at the velocities x (nv,), where the time moves none."""
        return [*x, *(_sum(row, x) for row in self.F)]

    def forces(self, tau: Sequence[S]) -> list[S]:
        """The generalized forces (nv,) of forces on all joints."""
        n = self.driving.nv
        found = list(tau[:n])
        for row, force in zip(self.F, tau[n:], strict=True):
            for k, share in row.items():
                found[k] = plus(found[k], times(share, force))
        return found

    def columns(self, rows: Sequence[Sequence[S]]) -> list[list[S]]:
        """The product rows [1; F], shape (m, nv): a matrix for v, from `rows`, a matrix for the velocities of all
        joints.
        """
        return [self.forces(row) for row in rows]

    def masses(self, M: Sequence[Sequence[S]]) -> list[list[S]]:
        """The mass matrix (nv, nv) of the state, from the mass matrix of all joints."""
        return self.columns([list(column) for column in zip(*self.columns(M), strict=True)])

    def slope_rates(self) -> list[dict[int, S]]:
        """The rows of dF/dt along the motion, zeros left out."""
        driving, along = self.driving, Direction()
        q = list(self._q)
        for i, k in driving.places.values():
            q[i] = along.moved(q[i], self._known_v[k])
        moving = driving.at_time(along.moved(driving.lookup.get("t", 0.0)))
        rates = [{k: along.tangent(x) for k, x in row.items()} for row in moving.slopes(q)]
        return [{k: x for k, x in row.items() if not is_zero(x)} for row in rates]

    def time_rates(self) -> dict[int, S]:
        """The velocities of all joints that come from the time alone, df/dt at constant q, by index; zeros left out."""
        n = self.driving.nv
        still = self.driving.velocities(self._q, [0.0] * n)
        return {k: rate for k, rate in enumerate(still) if k >= n and not is_zero(rate)}

    def less_bias(self, rows: Sequence[Sequence[S]], wanted: Sequence[S]) -> list[S]:
        """The values wanted - rows g, shape (m,): what the matrix `columns(rows)` times a must be.

        Then `rows` times the accelerations of all joints is `wanted`; g are these accelerations at a = 0.
        """
        return [minus(value, dot(row, self.g)) for row, value in zip(rows, wanted, strict=True)]


def _sum(row: Mapping[int, S], a: Sequence[S]) -> S:
    total: S = 0.0
    for k, share in row.items():
        total = plus(total, times(share, a[k]))
    return total
