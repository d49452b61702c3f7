"""Independent coordinates of the states of a plant that satisfy its constraints and further conditions.

A state near the state `home` is s = [w, v, x] in local coordinates about the configuration of `home`. It satisfies rows

    C(s, p) = 0         loops and other constraints, their rates, the section, conserved quantities, pinned coordinates

Some entries of s are independent; they are the coordinates z of the section and keep their names and units. The others
follow from the rows by Newton's method (coordinate partitioning), with slopes

    ds_dep/dz = -C_dep^-1 C_ind,      ds_dep/dp = -C_dep^-1 C_p

A state that arrives at a section may first be relabeled (left and right change names) and shifted along the ground.
All functions take many states at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.local_coordinates import local as local_coordinates
from kinemorph.analysis.small_motions.plant_derivatives import Point, built
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.user_laws import Column, Law, of_groups, one_number, split
from kinemorph.words import did_you_mean, quoted

FLAT = 1e-9  # a row that differs from the rows before it by less than this share of its length is redundant
FOLLOWS = 10.0  # the weight of velocities of pinned coordinates in the choice of dependent ones
MET = 1e-12  # rows that are smaller than this count as satisfied
MOST_STEPS = 30  # Newton steps
LINES = ("revolute", "prismatic", "helical")  # joints whose displacements are added


class Start(NamedTuple):
    """A state on a section, with its slopes in the tangent space of the state itself.

    `q` (nq,), `v` (nv,), `x` (nx,)     the state
    `by_z` (ns, n), `by_p` (ns, np)     derivatives of [displacement, v, x] with respect to z and to all parameters
    `off`                               the largest error of a row that is left
    """

    q: Array
    v: Array
    x: Array
    by_z: Array
    by_p: Array
    off: float


class Arrival(NamedTuple):
    """A state that arrived: its coordinates z (n,) and their derivatives by s (n, ns), t (n,) and p (n, np).

    `off` is the largest error of a row of the section at this state.
    """

    z: Array
    by_s: Array
    by_t: Array
    by_p: Array
    off: float


@dataclass(frozen=True, eq=False)
class Conditions:
    """What the states of a section satisfy besides the constraints, and what happens to a state that arrives.

    `zero`          laws that are zero on the section, by name
    `kept`          laws that keep the value they have at `home`, by name, such as a conserved energy
    `pinned`        names of coordinates q and states x that do not count: they have the value they have at `home`
    `shift`         by name, what is subtracted from a coordinate that arrives, such as 2 pi
    `relabel`       a law that returns the groups of the state that change when it arrives, {"q": [...], "v": [...]}
    """

    zero: Mapping[str, Law]
    kept: Mapping[str, Law]
    pinned: tuple[str, ...] = ()
    shift: Mapping[str, float] | None = None
    relabel: Law | None = None


class Section:
    """The coordinates z of states near `home` that satisfy constraints and `conditions`; see the top of this file."""

    def __init__(self, plant: Plant, home: Point, conditions: Conditions, coordinates: Sequence[str] | None = None):
        self.plant, self.home, self.conditions = plant, home, conditions
        self.entries = _entries(plant)
        self.line = np.repeat(
            [p.kind in LINES for p in plant.manifold], [ELEMENTARY[p.kind].nv for p in plant.manifold]
        )
        places = {column.name: k for k, column in enumerate(plant.q)} | {
            column.name: plant.nq + k for k, column in enumerate(plant.x)
        }
        for name in (*conditions.pinned, *(conditions.shift or {})):
            if name.removeprefix("q.") not in places:
                raise ShapeError(
                    f"'{name}' is not a coordinate of '{plant.name}'.{did_you_mean(name, places)} "
                    f"Known: {quoted(places)}."
                )
        self._places = places
        self.count = self._rows_program.outputs[0].size
        self.target = np.zeros(self.count)
        first = self.count - len(conditions.kept)
        self.target[first:] = self._rows(*home.inputs)[first:] if conditions.kept else 0.0
        self.independent, self.dependent = self._partition(coordinates)
        self.columns = tuple(self.entries[k] for k in self.independent)

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _rows_program(self) -> Program:
        """The program of all rows C, from the inputs of `Plant.rate`; conserved quantities come last, as values."""
        plant, given = self.plant, self.conditions
        nc, nh = plant.sizes["nc"], plant.sizes["nh"]
        locked = sorted(plant.locked)
        size = nc + nh + 2 * len(locked) + len(given.zero) + len(given.pinned) + len(given.kept)

        enter = plant.laws.jumps.enter if plant.automaton and plant.laws.jumps else None

        def rows(at: LocalInstant) -> list[Any]:
            at = at if enter is None else at._replace(m=enter(at))  # points are held where they are
            now = _instant(plant, at)
            found: list[Any] = []
            if plant.laws.constraints is not None:
                held = plant.laws.constraints(at)
                found += [one / size for one, size in zip(held["phi"], held["sizes"], strict=False)]
                found += [one / size for one, size in zip(held["rate"], held["sizes"], strict=True)]
            found += [at.s[k] for k in locked] + [at.s[plant.nv + k] for k in locked]
            found += [one_number(of_groups(law, now._asdict(), f"'{key}'"), key) for key, law in given.zero.items()]
            values = [*now.q, *now.x]
            homes = [*at.base, *self.home.x.tolist()]
            found += [values[k] - homes[k] for k in map(self._place, given.pinned)]
            return found + [
                one_number(of_groups(law, now._asdict(), f"'{key}'"), key) for key, law in given.kept.items()
            ]

        return plant.traced("section", rows, AT, {"out": str(size)})

    def _place(self, name: str) -> int:
        return self._places[name.removeprefix("q.")]

    @cached_property
    def _rows(self) -> CompiledFunction:
        return built(self._rows_program)

    @cached_property
    def _row_slopes(self) -> CompiledFunction:
        return built(jacobian(self._rows_program, "out", ("s", "p"), values=True))

    def _partition(self, wanted: Sequence[str] | None) -> tuple[list[int], list[int]]:
        """(independent, dependent) entries of s: rows are solved for the entries that change them most."""
        C = self._row_slopes(*self.home.inputs)[1] if self.count else np.zeros((0, self.plant.ns))
        names = [column.name for column in self.entries]
        allowed = list(range(self.plant.ns))
        if wanted is not None:
            unknown = [name for name in wanted if name not in names]
            if unknown:
                raise ShapeError(
                    f"coordinate '{unknown[0]}' of the section is unknown.{did_you_mean(unknown[0], names)} "
                    f"Known: {quoted(names)}."
                )
            allowed = [k for k in allowed if names[k] not in wanted]
        weights = np.ones(self.plant.ns)  # velocities of pinned coordinates follow from the others, if they can
        pinned = {name.removeprefix("q.") for name in self.conditions.pinned}
        weights[[self.plant.nv + k for k, c in enumerate(self.plant.v) if c.name in pinned]] = FOLLOWS
        sizes = np.linalg.norm(C, axis=1, keepdims=True)
        rest = C / np.where(sizes > 0.0, sizes, 1.0)
        rank = int((np.linalg.svd(rest, compute_uv=False) > FLAT).sum()) if self.count else 0
        dependent: list[int] = []
        for _ in range(rank):  # columns by pivoting: the longest of what the chosen ones do not explain
            lengths = np.linalg.norm(rest, axis=0)
            left = [k for k in allowed if k not in dependent]
            best = max(left, key=lambda k: round(weights[k] * lengths[k], 9), default=-1)  # the first one if equal
            if best < 0 or lengths[best] < FLAT:
                break
            dependent.append(best)
            direction = rest[:, best] / lengths[best]
            rest = rest - np.outer(direction, direction @ rest)
        independent = [k for k in range(self.plant.ns) if k not in dependent]
        if wanted is not None and (len(dependent) < rank or len(independent) != len(wanted)):
            raise ShapeError(
                f"the section of '{self.plant.name}' has {self.plant.ns - rank} independent coordinates; "
                f"{quoted(wanted)} do not determine the state. Leave `coordinates` out, or name others."
            )
        return independent, sorted(dependent)

    # ── from coordinates to states ────────────────────────────────────────────────────────────────────────────────

    @property
    def start(self) -> Array:
        """The coordinates (n,) of `home`."""
        return self.coordinates(self.home.s)

    @cached_property
    def _offset(self) -> Array:
        """What is added to s to get named values (ns,): the configuration of `home` for joints with one axis."""
        found = np.zeros(self.plant.ns)
        for place in self.plant.manifold:
            if place.kind in LINES:
                found[place.v] = self.home.q[place.q]
        return found

    def states(self, z: Array, p: Array) -> tuple[Array, Array]:
        """(s (B, ns) about `home`, largest error of a row (B,)) at coordinates z (B, n) and parameters p (B, np)."""
        s = np.tile(self.home.s, (len(z), 1))
        s[:, self.independent] = z - self._offset[self.independent]
        if not self.count:
            return s, np.zeros(len(z))
        off = np.full(len(z), np.inf)
        for _ in range(MOST_STEPS):
            rows, by_s, _ = self._at_many(s, p)
            rows = rows - self.target
            new = np.abs(rows).max(axis=1)
            if not (new > MET).any() or not (new < 0.5 * off).any():
                return s, new
            off = new
            steps = np.linalg.pinv(by_s[:, :, self.dependent], rcond=FLAT) @ rows[:, :, None]
            s[:, self.dependent] -= steps[:, :, 0]
        return s, off

    def _at_many(self, s: Array, p: Array) -> tuple[Array, Array, Array]:
        home = self.home
        n = len(s)
        tiled = [np.broadcast_to(part, (n, len(part))) for part in (home.q, home.m, home.u)]
        found: tuple[Array, Array, Array] = self._row_slopes(
            np.full(n, home.t), tiled[0], s, tiled[1], tiled[2], np.broadcast_to(p, (n, len(home.p)))
        )
        return found

    def placed(self, s: Array) -> tuple[Array, Array, Array]:
        """(q, v, x) of states s (B, ns) about `home`, each of shape (B, ...)."""
        nv = self.plant.nv
        base = np.broadcast_to(self.home.q, (len(s), self.plant.nq))
        q = np.atleast_2d(self._placing(base, s)) if nv else np.zeros((len(s), 0))
        return q, s[:, nv : 2 * nv], s[:, 2 * nv :]

    @cached_property
    def _placing(self) -> CompiledFunction:
        return built(self.plant.place)

    def slopes(self, s: Array, p: Array) -> tuple[Array, Array]:
        """The derivatives of states s (B, ns) about `home` on the section by z, (B, ns, n), and by p, (B, ns, np)."""
        by_z = np.zeros((len(s), self.plant.ns, len(self.independent)))
        by_p = np.zeros((len(s), self.plant.ns, len(self.home.p)))
        by_z[:, self.independent] = np.eye(len(self.independent))
        if self.count:
            _, C, C_p = self._at_many(s, p)
            back = np.linalg.pinv(C[:, :, self.dependent], rcond=FLAT)
            by_z[:, self.dependent] = -back @ C[:, :, self.independent]
            by_p[:, self.dependent] = -back @ C_p
        return by_z, by_p

    def coordinates(self, s: Array) -> Array:
        """The coordinates z (..., n) of states s (..., ns) about `home`."""
        found: Array = (self._offset + s)[..., self.independent]
        return found

    def at(self, z: Array, p: Array) -> Start:
        """The state at coordinates z (n,) with its slopes."""
        (s,), (off,) = self.states(np.atleast_2d(z), np.atleast_2d(p))
        (q,), (v,), (x,) = self.placed(s[None])
        (by_z,), (by_p,) = self.slopes(s[None], np.atleast_2d(p))
        if not self.line.all():  # displacements about `home` become displacements about q
            turned = self._moved(self.home.q, s, q)
            by_z, by_p = turned @ by_z, turned @ by_p
        return Start(q, v, x, by_z, by_p, float(off))

    @cached_property
    def _moved(self) -> CompiledFunction:
        """The derivative (ns, ns) of a state in local coordinates about `to` by its coordinates s about `base`."""
        plant = self.plant

        def local(base: Any, s: Any, to: Any) -> list[Any]:
            return [*local_coordinates(plant, to, plant.laws.place(base, s, finished=False)), *s[plant.nv :]]

        program = plant.traced("moved", local, "base s to:nq", {"out": "ns"})
        return built(jacobian(program, "out", "s"))

    # ── from states to coordinates ────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _arrival(self) -> CompiledFunction:
        """All entries of a state that arrived, about `home`, from the inputs of `Plant.rate`, with their slopes."""
        plant, given, home = self.plant, self.conditions, self.home

        def arrived(at: LocalInstant) -> list[Any]:
            now = _instant(plant, at, finished=False)
            groups = {"q": list(now.q), "v": list(now.v), "x": list(now.x)}
            if given.relabel is not None:
                changed = of_groups(given.relabel, now._asdict(), "'relabel'")
                if not isinstance(changed, Mapping) or not set(changed) <= set(groups):
                    raise ShapeError("relabel has to return a dict of new values for q, v or x, as {'q': [...]}.")
                groups |= {group: list(values) for group, values in changed.items()}
            nq = plant.nq
            for name, by in (given.shift or {}).items():
                k = self._place(name)
                groups["q" if k < nq else "x"][k if k < nq else k - nq] -= by
            for k in map(self._place, given.pinned):
                groups["q" if k < nq else "x"][k if k < nq else k - nq] = (*home.q.tolist(), *home.x.tolist())[k]
            return [*local_coordinates(plant, home.q.tolist(), groups["q"]), *groups["v"], *groups["x"]]

        program = plant.traced("arrival", arrived, AT, {"out": "ns"})
        return built(jacobian(program, "out", ("s", "t", "p"), values=True))

    def arrive(self, at: Point) -> Arrival:
        """The coordinates of a state that arrived at the section, and their slopes."""
        out, by_s, by_t, by_p = self._arrival(*at.inputs)
        k = self.independent
        return Arrival(out[k] + self._offset[k], by_s[k], by_t[k], by_p[k], float(self.errors(out[None], at.p)[0]))

    def errors(self, s: Array, p: Array) -> Array:
        """The largest error (B,) of a row at states s (B, ns) about `home`."""
        return np.abs(self._at_many(s, p)[0] - self.target).max(axis=1) if self.count else np.zeros(len(s))

    def arrivals(self, t: Array, q: Array, v: Array, x: Array, p: Array) -> tuple[Array, Array]:
        """(coordinates z (B, n), largest error of a row (B,)) of many states that arrived."""
        n = len(q) if self.plant.nq else len(x)
        s = np.hstack([np.zeros((n, self.plant.nv)), v, x])
        m, u = (np.broadcast_to(part, (n, len(part))) for part in (self.home.m, self.home.u))
        out = self._arrival(np.broadcast_to(t, n), q, s, m, u, np.broadcast_to(p, (n, len(self.home.p))))[0]
        return out[:, self.independent] + self._offset[self.independent], self.errors(out, p)


def _entries(plant: Plant) -> tuple[Column, ...]:
    """The entries of s by name, with units: "q.elbow", "v.elbow", names of further states."""
    return (
        *(Column(f"q.{c.name}", c.unit.removesuffix("/s")) for c in plant.v),
        *(Column(f"v.{c.name}", c.unit) for c in plant.v),
        *plant.x,
    )


def _instant(plant: Plant, at: LocalInstant, *, finished: bool = True) -> Instant:
    _, v, x = split(at.s, plant.nv)
    return Instant(at.t, plant.laws.place(at.base, at.s, finished=finished), v, x, at.m, at.u, at.p)


def check_supported(plant: Plant, *, edges: bool) -> None:
    """Raises UnsupportedError for plants whose state is more than q, v and x, and the phase where cycles have edges."""
    if plant.m and (not edges or plant.ticks or any(plant.settlers)):
        raise UnsupportedError(
            f"'{plant.name}' has memory, such as '{plant.m[0].name}', which is no coordinate of an orbit. Use "
            "continuous elements in place of sampled ones; cycles of an automaton take neither `period` nor `section`."
        )
