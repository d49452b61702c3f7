"""`linearize`: the linear equations of a plant about any state, with exact derivatives.

    ds/dt = A s + B u + drift,    y = C s + D u        s, u and y measured from the point of linearization

s = [w, v, x] is the state in local coordinates about q. At an equilibrium the drift is zero. Mechanical plants also
have the second-order form

    M a + C v + K w = F u

from the residual itself: K = dr/dw, C = dr/dv, M = dr/da, F = -dr/du (EasyDyn's .kk, .cc, .mm and .ff).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.named_matrices import named_matrix, state_units
from kinemorph.analysis.small_motions.plant_derivatives import (
    Blocks,
    Point,
    Slopes,
    built,
    closed_point,
    point_of,
    regular_solve,
    slopes_of,
    state_names,
)
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import KinemorphError, MissingExtraError, ShapeError, UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model as Model
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Column, Law
from kinemorph.sheet import Note, Sheet
from kinemorph.shown import Shown
from kinemorph.simulation.stepping.chosen_start import state_at
from kinemorph.words import counted, did_you_mean, listed, quoted

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.poles import Poles


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """The linear equations M a + C v + K w = F u - residual near a state.

    w (nv,) are small displacements from the state, v and a their rates, u (nu,) changes of the inputs.

    M, C and K are (nv, nv), F is (nv, nu), and `residual` (nv,) has the unbalanced forces at the state itself.
    """

    M: Array
    C: Array
    K: Array
    F: Array
    residual: Array
    names: tuple[str, ...]  # of the velocities
    input_names: tuple[str, ...]

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Writes the matrices of M a + C v + K w = F u as text files path.mm, path.cc, path.kk and path.ff; returns
        their paths.
        """
        written = []
        for suffix, matrix in ((".mm", self.M), (".cc", self.C), (".kk", self.K), (".ff", self.F)):
            target = Path(f"{os.fspath(path)}{suffix}")
            lines = (" ".join(f"{entry: .16e}" for entry in row) for row in matrix)
            written.append(write_text(target, "\n".join(lines) + "\n"))
        return tuple(written)


@dataclass(frozen=True, eq=False, repr=False)
class Linearization(Shown):
    """The linear equations  ds/dt = A s + B u + drift,  y = C s + D u  about a state. Made by `linearize`.

    s = [w, v, x] is the change of the state: displacements (nv,), velocities (nv,), further states (nx,); u (nu,) and
    y (ny,) are the changes of inputs and outputs.

    A (ns, ns), B (ns, nu), C (ny, ns), D (ny, nu). `drift` (ns,) is ds/dt at the state itself. `basis` (ns, n) spans
    the changes of state that locked joints, loops and coupled joints allow; `dual` (n, ns) gives the coordinates of a
    change along this basis. `second_order` is the form with a mass matrix; None where the plant has extra states or no
    velocities.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    plant: Plant
    point: Point
    drift: Array
    basis: Array
    dual: Array
    second_order: SecondOrder | None

    def __repr__(self) -> str:
        sizes = f"{len(self.A)} states, {self.B.shape[1]} inputs, {len(self.C)} outputs"
        return f"<Linearization of '{self.plant.name}': {sizes}>"

    def sheet(self) -> Sheet:
        """The matrices with the names and units of states, inputs and outputs."""
        states, inputs = tuple(map(Column, self.state_names, state_units(self.plant))), self.plant.u
        counts = (counted(len(self.A), "state"), counted(len(inputs), "input"), counted(len(self.C), "output"))
        rest = "At an equilibrium" if self.at_rest else "At a state that is not an equilibrium"
        sides = {"A": (states, states), "B": (states, inputs)}
        sides |= {"C": (self.output_columns, states), "D": (self.output_columns, inputs)}
        return Sheet(
            "Linearization of",
            self.plant.name,
            (
                Note(f"{rest}: {listed(counts)}."),
                Note("ds/dt = A s + B u + drift, y = C s + D u"),
                *(named_matrix(name, getattr(self, name), *both) for name, both in sides.items()),
            ),
        )

    @property
    def output_columns(self) -> tuple[Column, ...]:
        """The names and units of the outputs."""
        known = dict(self.plant.output_units) | dict(zip(self.state_names, state_units(self.plant), strict=True))
        return tuple(Column(name, known.get(name, "")) for name in self.output_names)

    @property
    def q(self) -> Array:
        """The configuration of the state of linearization, shape (nq,)."""
        return self.point.q

    @property
    def v(self) -> Array:
        """The velocity of the state of linearization, shape (nv,)."""
        return self.point.v

    @property
    def x(self) -> Array:
        """The extra states of the state of linearization, shape (nx,)."""
        return self.point.x

    @property
    def at_rest(self) -> bool:
        """Whether the state of linearization is an equilibrium: the drift is zero within rounding.

        Extra states on which nothing depends, such as an Integral of the effort of a controller, may grow.
        """
        return self._is_still(self.drift, 0)

    @property
    def is_steady(self) -> bool:
        """Whether the motion goes on as it is: nothing accelerates, within rounding, nor begins to. So at rest, too."""
        nv = self.plant.nv
        return self._is_still(self.drift, nv) and self._is_still(self.A @ self.drift, nv)

    def _is_still(self, rates: Array, first: int) -> bool:
        """Whether the rates (ns,) are zero within rounding, from the one of index `first` on."""
        index = np.arange(len(rates))
        counts = (index >= first) & ((index < 2 * self.plant.nv) | self.A.any(axis=0))
        return bool(np.abs(rates[counts]).max(initial=0.0) <= 1e-7 * max(1.0, np.abs(self.A).max(initial=0.0)))

    @property
    def directions(self) -> tuple[Array, Array]:
        """(Z, V): bases of the possible displacements, (nv, n), and of the possible velocities, (nv, k).

        Locked joints, loops and coupled joints make these smaller than nv.
        """
        nv = self.plant.nv
        placed = self.basis[:nv].any(axis=0)
        moving = self.basis[nv : 2 * nv].any(axis=0) & ~placed
        return self.basis[:nv, placed], self.basis[nv : 2 * nv, moving]

    def minimal(self) -> tuple[Array, Array, Array, Array]:
        """(A, B, C, D) in independent coordinates along `basis`, without locked joints and dependent directions."""
        return self.dual @ self.A @ self.basis, self.dual @ self.B, self.C @ self.basis, self.D

    def poles(self, *, window: tuple[float, float] | None = None) -> Poles:
        """The poles of these linear equations; see `kinemorph.poles`."""
        from kinemorph.analysis.small_motions.poles import poles

        return poles(self, window=window)

    @property
    def minimal_names(self) -> tuple[str, ...]:
        """The names of the independent coordinates of `minimal`: names of states, or "y1", "y2", ... along `basis`."""
        places = [np.flatnonzero(column) for column in self.basis.T]
        one = [len(rows) == 1 and self.basis[rows[0], k] == 1.0 for k, rows in enumerate(places)]
        return tuple(self.state_names[places[k][0]] if single else f"y{k + 1}" for k, single in enumerate(one))

    def to_scipy(self) -> Any:
        """The minimal form as a `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(*self.minimal())

    def to_control(self) -> Any:
        """The minimal form as a `control.StateSpace` of python-control, with the names of states, inputs and outputs.

        Points in names become underscores, because python-control joins names of systems and signals by points.
        """
        try:
            import control
        except ImportError:
            raise MissingExtraError("control") from None
        names = {"states": self.minimal_names, "inputs": self.input_names, "outputs": self.output_names}
        plain = {key: [name.replace(".", "_") for name in values] for key, values in names.items()}
        return control.ss(*self.minimal(), **plain, name=self.plant.name)


def linearize(
    model: Model,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    *,
    t: float = 0.0,
    p: Any = None,
    m: Any = None,
    outputs: Mapping[str, Law] | Sequence[str] | None = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
) -> Linearization:
    """The linear equations of a plant near a state, with exact derivatives.

    `q`, `v`, `x`, `u`, `p`   the state, inputs and parameters, each a sequence or numbers by name; by default
                              those of the initial state. Where some of q or v are named and the robot has constraints,
                              the others follow from the constraints. As a text, q is the name of a start of the
                              system, whose states and inputs are taken where none are given
    `t`                       the time [s]
    `m`                       the memory of elements, constant; `run.segments[-1].m[-1]` is the memory at a run's end
    `outputs`                 user laws that return one number each, by name; or names of states ("w.elbow", "v.elbow",
                              "current") and of the plant's outputs. By default its outputs, or all states if it has
                              none
    `forces`, `locked`        as for `simulate`

    Any state is allowed; where it is not an equilibrium, `drift` is its rate of change.
    """
    plant = as_plant(model, forces=forces, locked=locked, parameters=named_parameters(model, p))
    given = state_at(model, plant, t, q=q, v=v, x=x, u=u, p=p, m=m)
    slopes, point = slopes_of(plant), closed_point(plant, **given, t=t)
    slopes.check_closed(point)
    drift = slopes.rate(point)
    blocks = slopes.blocks(point, drift[plant.nv :])
    A, B = _first_order(slopes, point, blocks)
    C, D, names = _outputs(plant, point, outputs)
    basis, dual = independent(slopes, point)
    second = _second_order(slopes, point, blocks, drift[plant.nv :]) if plant.nv and not plant.nx else None
    inputs = tuple(column.name for column in plant.u)
    return Linearization(A, B, C, D, state_names(plant), inputs, names, plant, point, drift, basis, dual, second)


def second_order_matrices(
    model: Model,
    q: Any = None,
    v: Any = None,
    u: Any = None,
    *,
    a: Any = None,
    t: float = 0.0,
    p: Any = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
) -> SecondOrder:
    """M, C, K and F of a mechanical plant about a state: M a + C v + K w = F u.

    `a` (nv,) are the accelerations at which the derivatives are taken; by default those of the equations of motion
    where M is regular, else 0. Where joints of several axes move (v is not 0), w is measured in their own local
    coordinates. Equations without accelerations are allowed: M may be singular. The other arguments are those of
    `linearize`.
    """
    plant = as_plant(model, forces=forces, locked=locked, parameters=named_parameters(model, p))
    if not plant.nv or plant.nx:
        what = "no velocities" if not plant.nv else f"the extra states {quoted(c.name for c in plant.x)}"
        raise UnsupportedError(f"plant '{plant.name}' has {what}, so it has no second-order form. Use linearize.")
    if plant.constraint_names:
        raise UnsupportedError(
            f"robot '{plant.name}' has loops, coupled joints or other constraints: its velocities depend on each "
            "other. Use linearize(...).minimal()."
        )
    slopes, point = slopes_of(plant), point_of(plant, q, v, None, u, p, t)
    z = np.zeros(plant.nv)
    if a is not None:
        z = plant.initial("v", a)
    elif point.v.any() or slopes.residual(point).any():
        z = _accelerations(slopes, point)
    return _second_order(slopes, point, slopes.blocks(point, z), z)


def _accelerations(slopes: Slopes, point: Point) -> Array:
    try:
        return slopes.rate(point)[slopes.plant.nv :]
    except UnsupportedError:  # no accelerations where M is singular
        return np.zeros(slopes.n)


def _second_order(slopes: Slopes, point: Point, blocks: Blocks, z: Array) -> SecondOrder:
    """The second-order form; for a robot with constraints, M is the mass matrix of its tree."""
    plant = slopes.plant
    names, inputs = (tuple(column.name for column in columns) for columns in (plant.v, plant.u))
    if not slopes.constrained:
        return SecondOrder(blocks.z, blocks.v, blocks.w, -blocks.u, slopes.residual(point, z), names, inputs)
    M = slopes.mass(point, blocks)
    return SecondOrder(M, M @ blocks.v, M @ blocks.w, -M @ blocks.u, np.zeros(plant.nv), names, inputs)


def _first_order(slopes: Slopes, point: Point, blocks: Blocks) -> tuple[Array, Array]:
    """The matrices A (ns, ns) and B (ns, nu), from the derivatives of the residual."""
    plant = slopes.plant
    nv, ns = plant.nv, plant.ns
    A, B = np.zeros((ns, ns)), np.zeros((ns, plant.nu))
    A[:nv, :nv], A[:nv, nv : 2 * nv] = slopes.chart(point)
    solved = -regular_solve(plant, blocks.z, np.hstack([blocks.w, blocks.v, blocks.x, blocks.u]))
    A[nv:], B[nv:] = solved[:, :ns] + 0.0, solved[:, ns:] + 0.0  # no negative zeros
    return A, B


def independent(slopes: Slopes, point: Point) -> tuple[Array, Array]:
    """(basis (ns, n), dual (n, ns)) of the possible changes of the state, without integrated energies.

    The product of dual and basis is the unit matrix.
    """
    Z, G, V = slopes.directions(point)
    X = np.eye(slopes.plant.nx)[:, slopes.counted]
    (nv, n), (nx, k) = Z.shape, X.shape
    both = n + V.shape[1]
    basis, dual = np.zeros((2 * nv + nx, both + k)), np.zeros((both + k, 2 * nv + nx))
    basis[:nv, :n], basis[nv : 2 * nv, :n], basis[nv : 2 * nv, n:both], basis[2 * nv :, both:] = Z, G, V, X
    dual[:n, :nv], dual[n:both, nv : 2 * nv], dual[both:, 2 * nv :] = Z.T, V.T, X.T
    return basis, dual


def _outputs(
    plant: Plant, point: Point, outputs: Mapping[str, Law] | Sequence[str] | None
) -> tuple[Array, Array, tuple[str, ...]]:
    """(C, D, names): the output matrices (ny, ns) and (ny, nu), and the names of the ny outputs."""
    states = state_names(plant)
    wanted: Mapping[str, Law] | Sequence[str] = (list(plant.outputs) or states) if outputs is None else outputs
    if isinstance(wanted, str):
        wanted = (wanted,)
    if isinstance(wanted, Mapping):
        laws, names = dict(wanted), tuple(wanted)
    else:
        names = tuple(wanted)
        known = (*states, *plant.outputs)
        for name in names:
            if name not in known:
                raise ShapeError(
                    f"plant '{plant.name}' has no state or output '{name}'.{did_you_mean(name, known)} "
                    f"Known: {quoted(known)}."
                )
        laws = {name: plant.outputs[name] for name in names if name in plant.outputs}
    C, D = np.zeros((len(names), plant.ns)), np.zeros((len(names), plant.nu))
    rows = [k for k, name in enumerate(names) if name in laws]
    if laws:
        C[rows], D[rows] = _output_slopes(plant, laws, own=not isinstance(wanted, Mapping))(*point.inputs)
    for k, name in enumerate(names):
        if name not in laws:
            C[k, states.index(name)] = 1.0
    return C, D, names


def _output_slopes(plant: Plant, laws: Mapping[str, Law], *, own: bool) -> CompiledFunction:
    """The function of the derivatives of outputs with respect to s and u.

    For the plant's `own` outputs it is made once and kept; equal plants of other calls recall it.
    """
    key = ("slopes of outputs", *laws)

    def make() -> Program:
        return jacobian(plant.observed(laws, "outputs"), "out", ("s", "u"))

    if not own:
        return built(make())
    if key not in plant.kept:
        plant.kept[key] = built(plant.recalled(key, make))
    kept: CompiledFunction = plant.kept[key]
    return kept


def write_text(path: Path, text: str) -> Path:
    """Writes a text file and returns its path; raises KinemorphError with the reason where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KinemorphError(f"'{path}' cannot be written: {error.strerror}. Choose another folder or name.") from None
    return path
