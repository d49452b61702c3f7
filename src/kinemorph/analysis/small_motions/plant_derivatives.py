"""Exact derivatives of a plant's equations at one state, for equilibrium, linearization and sensitivities.

With the state s = [w, v, x] in local coordinates about q (where w = 0) and z = [a, dx/dt], the equations are
r(s, z, u) = 0 and

    dw/dt = local_rate(w, v),    derivatives of r:  r_w, r_v, r_x, r_z, r_u

For a robot without constraints  r = ID(q, v, a) - tau: the derivatives of inverse dynamics ID are those of Dynamics in
closed form, as loop programs for robots with many joints, and only the forces are differentiated on their graph. For
any other plant, the graph of the whole residual is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import forward, jacobian, sparse_jacobian
from kinemorph.codegen.graphs.program import Port, Program, Runnable
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.frozen import kept_with
from kinemorph.mechanics.constraints.closures import constraint_names
from kinemorph.mechanics.elements.law import ONCE
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import summed_states
from kinemorph.simulation.stepping.initial_state import closed_start, entered_memory, stated
from kinemorph.simulation.stepping.sample_clocks import Clockwork
from kinemorph.simulation.stepping.violations import row_gaps

SINGULAR = 1e-13  # reciprocal condition number below which a mass matrix counts as singular
OPEN = 1e-6  # a constraint whose error is larger than this, relative to the size of its loop, is violated
UNROLLED = 200_000  # operations of the residual times directions, up to which a Jacobian is unrolled
FLAT = 1e-10  # singular values of constraint rows below this, relative to the largest, are zero


@dataclass(frozen=True, eq=False)
class Point:
    """A state (q, v, x) of a plant at time t, with memory m of elements, inputs u and parameters p."""

    t: float
    q: Array
    v: Array
    x: Array
    m: Array
    u: Array
    p: Array

    @property
    def s(self) -> Array:
        """[0, v, x], shape (ns,): the state in local coordinates about q."""
        return np.concatenate([np.zeros(len(self.v)), self.v, self.x])

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs (t, base, s, m, u, p) of `Plant.rate`: base is q and s is [0, v, x]; see `plants.instant`."""
        return (self.t, self.q, self.s, self.m, self.u, self.p)


class Blocks(NamedTuple):
    """Derivatives of the residual r (nv + nx,) of the equations, one matrix for each group of variables.

    The groups are displacements w, velocities v, further states x, rates z = [a, dx/dt] and inputs u; the matrix of a
    group with n variables is (nv + nx, n).
    """

    w: Array
    v: Array
    x: Array
    z: Array
    u: Array


class Directions(NamedTuple):
    """The directions in which a state may change under the constraints: displacements Z y, velocities G y + V r.

    The numbers y (n,) and r (k,) are independent. Z (nv, n) and V (nv, k) have orthonormal columns, G is (nv, n). Where
    there are constraints on velocities alone, as those of wheels, V has fewer columns than Z: a wheel can reach places
    beside it, but cannot move sideways.
    """

    Z: Array
    G: Array
    V: Array


def point_of(
    plant: Plant,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    t: float = 0.0,
    m: Any = None,
) -> Point:
    """The state that the arguments describe.

    Each argument is a sequence, numbers by name, or None for the plant's initial value; t is the time [s]. Contacts
    that touch at (q, v) stick, slide or open as at the start of a run, unless `m` says so: rigid ones are closed, and
    those with anchors are anchored where they are.
    """
    if not np.isfinite(t):
        raise UnsupportedError(f"t is {t} s; expected a finite time [s].")
    groups = {"q": q, "v": v, "x": x, "m": m, "u": u, "p": p}
    values = {group: plant.initial(group, given) for group, given in groups.items()}
    values["v"][list(plant.locked)] = 0.0
    base = values["q"] if not plant.nv else _finished(plant, values["q"])
    anchoring = [tick for tick in plant.ticks if tick.period == ONCE] if m is None else []
    if plant.contact_modes or anchoring:
        s = np.concatenate([np.zeros(plant.nv), values["v"], values["x"]])
        values["m"] = entered_memory(plant, m, (float(t), base, s, values["m"], values["u"], values["p"]))
        for stage in (stage for tick in anchoring for stage in tick.stages):
            inputs = (float(t), base, s, values["m"], values["u"], values["p"])
            values["m"] = Clockwork(plant).sampled(stage, inputs)
    return Point(float(t), base, *(values[group] for group in ("v", "x", "m", "u", "p")))


def closed_point(plant: Plant, q: Any, v: Any, **others: Any) -> Point:
    """The state that the arguments describe, as `point_of` gives it, on the constraints of the plant.

    Where q or v is given by name, here or by the model, the other values follow from the constraints.
    """
    found = point_of(plant, q, v, **others)
    q, v = stated(plant, "q", q), stated(plant, "v", v)
    if plant.constraints is None or not (isinstance(q, Mapping) or isinstance(v, Mapping)):
        return found
    state = (found.q, found.v, found.x, found.m, found.u, found.p)
    at, moving, *_ = closed_start(plant, found.t, state, (q, v, None))
    return replace(found, q=at, v=moving if isinstance(v, Mapping) or found.v.any() else found.v)


def _finished(plant: Plant, q: Array) -> Array:
    """The configuration q (nq,) with its quaternions scaled to length 1."""
    found: Array = slopes_of(plant).place(q, np.zeros(plant.ns))
    return found


def built(program: Runnable) -> CompiledFunction:
    """The function of a program, made for a few tens of calls: compiling it fully would take longer than the calls."""
    return build(program, few_calls=True)


@kept_with
def slopes_of(plant: Plant) -> Slopes:
    """The derivatives of a plant, compiled once and cached as long as the plant exists."""
    return Slopes(plant)


class Slope:
    """The derivative of an output (m,) of a program with respect to an input (n,), shape (m, n).

    Only entries that can be nonzero are compiled.
    """

    def __init__(self, program: Program, of: str, by: str) -> None:
        sparse = sparse_jacobian(program, of, by)
        sizes = {port.name: port.size for port in (*program.inputs, *program.outputs)}
        self.shape = (sizes[of], sizes[by])
        self.rows, self.columns = sparse.rows, sparse.cols
        self.entries = built(sparse.program) if len(sparse.rows) else None

    def __call__(self, *inputs: Any) -> Array:
        matrix = np.zeros(self.shape)
        if self.entries is not None:
            matrix[self.rows, self.columns] = self.entries(*inputs)
        return matrix


class Slopes:
    """Compiled derivatives of one plant; each is compiled when it is first used."""

    def __init__(self, plant: Plant) -> None:
        self._plant = ref(plant)  # a weak reference: this object does not keep its plant alive
        self.n = plant.nv + plant.nx

    @property
    def plant(self) -> Plant:
        """The plant whose derivatives these are."""
        plant = self._plant()
        assert plant is not None
        return plant

    def check_laws(self) -> None:
        """Traces the plant's equations, so that an error in a user law is raised here."""
        assert self.plant.residual.outputs

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def place(self) -> CompiledFunction:
        """The function from a base configuration and a state s = [w, v, x] to the configuration q that w leads to."""
        return built(self.plant.place)

    @cached_property
    def _residual(self) -> CompiledFunction:
        return built(self.plant.residual)

    def rate(self, at: Point) -> Array:
        """ds/dt, shape (ns,), from the residual, which is linear in z = [a, dx/dt]; raises where z is not unique."""
        rest = self.residual(at)
        if not rest.any():
            return np.concatenate([at.v, rest])
        return np.concatenate([at.v, -regular_solve(self.plant, self.blocks(at, np.zeros(self.n)).z, rest)])

    def residual(self, at: Point, z: Array | None = None) -> Array:
        """The residual r of the equations, shape (nv + nx,), at z = [a, dx/dt] (nv + nx,); by default z is 0."""
        t, base, s, m, u, p = at.inputs
        found: Array = self._residual(t, base, s, np.zeros(self.n) if z is None else z, m, u, p)
        return found

    # ── derivatives ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def dynamics(self) -> Dynamics | None:
        """The robot's equations, the same as `robot`; None where the plant has constraints."""
        return None if self.constrained else self.robot

    @property
    def constrained(self) -> bool:
        """Whether loops, coupled joints or elements constrain the motion; then the residual is an acceleration."""
        return bool(self.plant.constraint_names)

    @cached_property
    def robot(self) -> Dynamics | None:
        """The robot's equations in float64 and without outside wrenches; None where the plant has no robot."""
        given = self.plant.dynamics
        if given is None or (given.precision == "float64" and not given.wrenches):
            return given
        names = [parameter.name for parameter in given.parameters]
        return derive(given.robot, given.formulation, parameters=names or None)  # type: ignore[arg-type]

    @cached_property
    def _efforts(self) -> dict[str, tuple[Slope, Slope]]:
        """The derivatives of supplied and of damping forces with respect to s = [w, v, x] and to the inputs u."""
        program = self.plant.efforts
        assert program is not None
        return {by: (Slope(program, "supplied", by), Slope(program, "damping", by)) for by in ("s", "u")}

    @cached_property
    def _extra(self) -> CompiledFunction:
        """The derivatives of the rates dx/dt of further states with respect to s = [w, v, x] and to the inputs u."""
        return built(jacobian(_rows(self.plant.residual, self.plant.nv, self.n), "out", ("s", "u")))

    @cached_property
    def _whole(self) -> Callable[..., tuple[Array, ...]]:
        """The derivatives of the residual with respect to the state s, the rates z and the inputs u.

        It is a function of the inputs of the residual. For small plants they are unrolled. Under constraints every
        acceleration depends on every number: for large plants, hundreds of thousands of operations would have to be
        compiled, so that their derivatives are computed one direction at a time.
        """
        residual, by = self.plant.residual, ("s", "z", "u")
        sizes = [port.size for port in residual.inputs if port.name in by]
        if sum(residual.op_counts.values()) * sum(sizes) <= UNROLLED:
            return built(jacobian(residual, "out", by))
        along, parts = built(forward(residual, by)), np.cumsum(sizes)
        units = [np.split(unit, parts[:-1]) for unit in np.eye(int(parts[-1]))]

        def columns(*inputs: Any) -> tuple[Array, ...]:
            found = np.array([along(*inputs, *unit) for unit in units]).T
            return tuple(np.split(found, parts[:-1], axis=1))

        return columns

    @cached_property
    def _chart(self) -> CompiledFunction:
        return built(jacobian(_rows(self.plant.rate, 0, self.plant.nv), "out", "s"))

    def chart(self, at: Point) -> tuple[Array, Array]:
        """The derivatives of dw/dt with respect to w and to v, at w = 0, shape (nv, nv) each.

        They are the zero and the unit matrix at rest, and where every joint has one axis. A plant that projects its
        motion onto the constraints also projects its velocities, which changes both matrices.
        """
        nv = self.plant.nv
        if at.v.any():
            by_s = self._chart(*at.inputs)
            return by_s[:, :nv], by_s[:, nv : 2 * nv]
        return np.zeros((nv, nv)), np.diag([0.0 if k in self.plant.locked else 1.0 for k in range(nv)])

    def blocks(self, at: Point, z: Array) -> Blocks:
        """The derivatives of the residual at a state and z = [a, dx/dt] (nv + nx,)."""
        nv, ns = self.plant.nv, self.plant.ns
        if self.dynamics is None or self.plant.efforts is None:
            t, base, s, m, u, p = at.inputs
            r_s, r_z, r_u = self._whole(t, base, s, z, m, u, p)
        else:
            r_s, r_z, r_u = self._of_robot(at, z, self.dynamics)
        return Blocks(r_s[:, :nv], r_s[:, nv : 2 * nv], r_s[:, 2 * nv : ns], r_z, r_u)

    def _of_robot(self, at: Point, z: Array, dynamics: Dynamics) -> tuple[Array, Array, Array]:
        nv, n = self.plant.nv, self.n
        still = list(self.plant.locked)
        a = z[:nv].copy()
        a[still] = 0.0
        t = (np.asarray(at.inputs[0], dtype=float),) if dynamics.robot.is_timed else ()
        state = (*t, at.q, at.v, a)
        by_q, by_v, by_a = of_robot(dynamics.inverse_dynamics_derivatives, dynamics, at.p, *state)
        tau_s, tau_u = (sum(part(*at.inputs) for part in self._efforts[by]) for by in ("s", "u"))
        r_s, r_z, r_u = np.zeros((n, self.plant.ns)), np.eye(n), np.zeros((n, self.plant.nu))
        r_s[:nv] = np.hstack([by_q, by_v, np.zeros((nv, self.plant.nx))]) - tau_s
        r_u[:nv] = -tau_u
        r_z[:nv, :nv] = by_a
        if n > nv:
            t, base, s, m, u, p = at.inputs
            r_s[nv:], r_u[nv:] = self._extra(t, base, s, z, m, u, p)
        for k in still:  # the row of a locked joint is z_k = 0; its given velocity and acceleration have no effect
            r_s[k], r_u[k], r_s[:, nv + k], r_z[k], r_z[:, k] = 0.0, 0.0, 0.0, 0.0, 0.0
            r_z[k, k] = 1.0
        return r_s, r_z, r_u

    @cached_property
    def _by_data(self) -> CompiledFunction:
        return built(jacobian(self.plant.residual, "out", ("p", "u")))

    def by_data(self, at: Point, z: Array) -> Array:
        """The derivatives of the residual by [p, u], parameters and inputs, shape (nv + nx, np + nu)."""
        t, base, s, m, u, p = at.inputs
        return np.hstack(self._by_data(t, base, s, z, m, u, p))

    # ── allowed motions ───────────────────────────────────────────────────────────────────────────────────────────

    def directions(self, at: Point) -> Directions:
        """The independent directions in which a state may change: those that locked joints and constraints allow."""
        nv, still = self.plant.nv, list(self.plant.locked)
        if not self.constrained:
            Z = np.eye(nv)[:, [k for k in range(nv) if k not in still]]
            return Directions(Z, np.zeros_like(Z), Z)
        assert self.plant.robot is not None
        phi, rate, J, sizes = self._constraints(*at.inputs)
        J = J / sizes[:, None]
        holds = np.eye(nv)[still]
        Z, V = (null_space(np.vstack([rows, holds])) for rows in (J[: len(phi)], J))
        if not at.v.any() and len(rate) == len(constraint_names(self.plant.robot)):  # loops alone, at rest
            return Directions(Z, np.zeros_like(Z), V)
        turned = self._rate_slope(*at.inputs)[:, :nv] / sizes[:, None]
        G = -np.linalg.pinv(np.vstack([J, holds]), FLAT) @ np.vstack([turned, 0.0 * holds]) @ Z
        return Directions(Z, G, V)

    def free_directions(self, at: Point) -> Array:
        """A basis (nv + nx, n) of the possible changes of [w, x], displacements and further states.

        The columns for displacements come first, then one for each further state in `counted`.
        """
        nv, V, X = self.plant.nv, self.directions(at).V, np.eye(self.plant.nx)[:, self.counted]
        found = np.zeros((self.n, V.shape[1] + X.shape[1]))
        found[:nv, : V.shape[1]], found[nv:, V.shape[1] :] = V, X
        return found

    def closure(self, at: Point) -> tuple[Array, Array]:
        """(phi, J): errors of constraints on positions, (nh,), and their derivative by displacements w, (nh, nv)."""
        if not self.constrained:
            return np.zeros(0), np.zeros((0, self.plant.nv))
        phi, _, J, _ = self._constraints(*at.inputs)
        return phi, J[: len(phi)]

    @cached_property
    def closure_by_parameters(self) -> CompiledFunction:
        """The derivative (nh, np) of the errors of constraints on positions by parameters."""
        assert self.plant.constraints is not None
        return built(jacobian(self.plant.constraints, "phi", "p"))

    def moving_constraint(self, at: Point) -> str:
        """The name of the constraint that changes fastest with time at a state at rest; "" where none changes."""
        if not self.constrained:
            return ""
        _, rate, _, sizes = self._constraints(*at.inputs)
        fast = np.abs(rate / sizes)
        return self.plant.constraint_names[int(np.argmax(fast))] if fast.max(initial=0.0) > OPEN else ""

    def check_closed(self, at: Point) -> None:
        """Raises ShapeError for a state that violates constraints, as linear equations are not defined there.

        At rest, the constraints are taken at a fixed time.
        """
        if not self.constrained:
            return
        phi, rate, _, sizes = self._constraints(*at.inputs)
        rate = rate if at.v.any() else np.zeros_like(rate)
        for group, errors, per in (("q", phi, ""), ("v", rate, "/s")):
            off = errors / sizes[: len(errors)]
            if np.abs(off).max(initial=0.0) > OPEN:
                raise ShapeError(
                    f"{group}: loops or constraints of '{self.plant.name}' are violated, "
                    f"{row_gaps(self.plant, off, sizes, per)}; expected a state that satisfies them. Take a state of a "
                    f"run or an equilibrium, or give only the values you know by name, as {group}={{...}}: the others "
                    "follow from the constraints."
                )

    @cached_property
    def _constraints(self) -> CompiledFunction:
        assert self.plant.constraints is not None
        return built(self.plant.constraints)

    @cached_property
    def _rate_slope(self) -> CompiledFunction:
        """The derivative of the rates of change of all constraint rows with respect to s = [w, v, x], (nc, ns)."""
        assert self.plant.constraints is not None
        return built(jacobian(self.plant.constraints, "rate", "s"))

    def mass(self, at: Point, blocks: Blocks) -> Array:
        """The mass matrix, shape (nv, nv); of a robot with constraints, the mass matrix of its tree."""
        nv = self.plant.nv
        if self.constrained and self.robot is not None:
            found: Array = of_robot(self.robot.mass_matrix, self.robot, at.p, at.q)
            return found
        return blocks.z[:nv, :nv]

    @property
    def counted(self) -> list[int]:
        """Indices of the extra states that the motion may depend on: all but sums of energy and of signals."""
        sums = summed_states(self.plant)
        return [k for k, column in enumerate(self.plant.x) if column.name not in sums]


def null_space(rows: Array) -> Array:
    """An orthonormal basis (nv, n) of the null space of rows (m, nv); singular values below FLAT count as zero."""
    _, sizes, basis = np.linalg.svd(rows)
    rank = int((sizes > FLAT * max(1.0, sizes.max(initial=0.0))).sum())
    found: Array = basis[rank:].T
    return found


def is_singular(matrix: Array) -> bool:
    """Whether a matrix is singular within rounding; each row is scaled by its own size, as rows may differ in unit."""
    sizes = np.abs(matrix).max(axis=1, initial=0.0)
    if len(matrix) == 0:
        return False
    return bool((sizes == 0.0).any() or 1.0 / np.linalg.cond(matrix / sizes[:, None]) < SINGULAR)


def regular_solve(plant: Plant, matrix: Array, right: Array) -> Array:
    """The solution X of  matrix X = right; raises UnsupportedError where the matrix is singular."""
    if is_singular(matrix):
        raise UnsupportedError(
            f"plant '{plant.name}': its accelerations are not determined, because the mass matrix is singular at this "
            "state. Give every moving body inertia; `poles` and `second_order_matrices` accept equations without it."
        )
    return np.asarray(np.linalg.solve(matrix, right), dtype=float)


def _rows(program: Program, first: int, last: int) -> Program:
    """The program that computes entries `first` to `last - 1` of the output of another program."""
    refs = program.refs[first:last]
    return Program(f"{program.name}_rows", program.inputs, (Port("out", (last - first,)),), program.graph, refs)


def of_robot(function: CompiledFunction, dynamics: Dynamics, p: Array, *state: Array) -> Any:
    """The value of a function of a Dynamics at a state; the robot's parameters are the first entries of p."""
    return function(*state, p[: len(dynamics.parameters)]) if dynamics.parameters else function(*state)


def state_names(plant: Plant) -> tuple[str, ...]:
    """The names of the entries of s = [w, v, x]: "w.elbow" (displacement), "v.elbow", names of further states."""
    return (*(f"w.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x))
