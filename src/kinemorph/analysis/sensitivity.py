"""How a motion, or a pole, changes with parameters, inputs and the initial state: exact derivatives.

The derivative S = ds/dp of a state, in the tangent space at the state itself, obeys the variational equation

    dS/dt = A S + df/dp,    A = d rate/ds + the turning of the tangent space

and is integrated along with the motion, as further states of the plant, by any method and under the same error control.
Where the base of the local coordinates moves along with the motion, a displacement w of a joint with several axes
turns as well: with  rate_w(w, v) = v + Gamma(w, v) + ...  it moves by  dv + Gamma(w, v) - Gamma(v, w).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import is_zero
from kinemorph.analysis.linearization import Model
from kinemorph.analysis.slopes import Array, listed, of_robot, slopes_of
from kinemorph.errors import ModelError, ShapeError, UnsupportedError, did_you_mean
from kinemorph.model.robot import Robot
from kinemorph.plants import Column, Law, Plant
from kinemorph.plants import plant as as_plant
from kinemorph.simulation.methods import DEFAULT
from kinemorph.simulation.run import simulate
from kinemorph.simulation.stepping import Method
from kinemorph.simulation.trajectory import Trajectory

LEVEL = 0  # of the dual numbers here, below those that laws and mechanics open inside
SEVERAL_AXES = ("spherical", "planar", "free")  # joints whose local coordinates turn as they move


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of a motion, at n times by k quantities. Made by `sensitivities`.

    `q` (n, nv, k)    of the configuration, along unit velocities: for joints with one axis dq/dp
    `v` (n, nv, k), `x` (n, nx, k)
    `names`, `units`  of the k quantities

    `found["q.elbow", "l1"]` is one of them as an array (n,), `found.unit("q.elbow", "l1")` its unit.
    """

    trajectory: Trajectory
    t: Array
    q: Array
    v: Array
    x: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def __getitem__(self, key: tuple[str, str]) -> Array:
        column, name = self._columns, self._place(key[1])
        if key[0] not in column:
            raise ShapeError(
                f"sensitivities have no column '{key[0]}'.{did_you_mean(key[0], column)} Known: {listed(list(column))}."
            )
        group, k, _ = column[key[0]]
        found: Array = getattr(self, group)[:, k, name]
        return found

    def unit(self, column: str, name: str) -> str:
        """The unit of a derivative, as "rad/m" or "(rad/s)/(N m)"."""
        self[column, name]
        above, below = self._columns[column][2], self.units[self._place(name)]
        return f"{_grouped(above)}/{_grouped(below)}" if below else above

    @property
    def _columns(self) -> dict[str, tuple[str, int, str]]:
        plant = self.trajectory.segments[0].plant
        found = {f"q.{c.name}": ("q", k, c.unit.removesuffix("/s")) for k, c in enumerate(plant.v)}
        found |= {f"v.{c.name}": ("v", k, c.unit) for k, c in enumerate(plant.v)}
        return found | {c.name: ("x", k, c.unit) for k, c in enumerate(plant.x)}

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ShapeError(
                f"sensitivities by '{name}' were not asked for.{did_you_mean(name, self.names)} "
                f"Known: {listed(self.names)}."
            )
        return self.names.index(name)


def _grouped(unit: str) -> str:
    return f"({unit})" if "/" in unit or " " in unit else unit or "1"


def sensitivities(
    model: Model,
    until: float,
    parameters: str | Sequence[str] = (),
    *,
    initial: str | Sequence[str] = (),
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    method: str | Method = DEFAULT,
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    sample: float | Sequence[float] | None = None,
    start: float = 0.0,
) -> Sensitivities:
    """A motion from `start` to `until` [s] together with its derivatives.

    `parameters`    names of the robot's parameters ("all" for every one), and "u.elbow" for an input that is held
    `initial`       names of initial values: "q.elbow" (along that unit velocity), "v.elbow", a further state by its
                    own name; "all" for every one

    The other arguments are those of `simulate`; tolerances hold for the derivatives, too. What a parameter changes is
    the motion from the same initial state.
    """
    plant, names = with_parameters(model, parameters, forces, locked)
    first = _initial_names(plant, initial)
    if not names and not first:
        raise UnsupportedError("sensitivities: name at least one of `parameters` or `initial`.")
    _check_loops(plant, names, first, q, p)
    seeds = _seeds(plant, first)
    wide = _varied(plant, names, len(first))
    x0 = plant.initial("x", x)
    S0 = np.zeros((len(names) + len(first), plant.ns))
    S0[len(names) :] = seeds
    run = simulate(
        wide,
        until,
        q=q,
        v=v,
        x=np.concatenate([x0, S0.ravel()]),
        p=p,
        inputs=plant.initial("u", u) if plant.nu else None,
        method=method,
        step=step,
        rtol=rtol,
        atol=atol,
        sample=sample,
        start=start,
    )
    return _result(plant, run, (*names, *first))


def with_parameters(
    model: Model, wanted: str | Sequence[str], forces: Law | None, locked: str | Sequence[str]
) -> tuple[Plant, tuple[str, ...]]:
    """The plant with the named parameters as inputs, and the names."""
    if isinstance(model, Plant):
        known = [column.name for column in model.p]
        names = tuple(known) if wanted == "all" else (wanted,) if isinstance(wanted, str) else tuple(wanted)
        for name in (name for name in names if not name.startswith("u.") and name not in known):
            raise ModelError(
                f"parameter '{name}': plant '{model.name}' keeps {listed(known)} as inputs.{did_you_mean(name, known)} "
                "Name it in `parameters` where the plant is made."
            )
        plant = as_plant(model, forces=forces, locked=locked)
    else:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        own = [name for name in names if not name.startswith("u.")]
        plant = as_plant(model, forces=forces, locked=locked, parameters="all" if wanted == "all" else own or None)
        names = tuple(column.name for column in plant.p) if wanted == "all" else names
    for name in names:
        if name.startswith("u."):
            plant.index("u", name[2:])
        if names.count(name) > 1:
            raise ModelError(f"sensitivities: '{name}' is named {names.count(name)} times. Name it once.")
    return plant, names


def _initial_names(plant: Plant, initial: str | Sequence[str]) -> tuple[str, ...]:
    known = _initial_known(plant)
    names = tuple(known) if initial == "all" else (initial,) if isinstance(initial, str) else tuple(initial)
    for name in names:
        if name not in known:
            raise ShapeError(
                f"initial '{name}': plant '{plant.name}' has no such value.{did_you_mean(name, known)} "
                f"Known: {listed(list(known))}."
            )
    return names


def _initial_known(plant: Plant) -> dict[str, int]:
    """Names of initial values and their place in s."""
    names = [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
    return {name: k for k, name in enumerate(names)}


def _seeds(plant: Plant, names: Sequence[str]) -> Array:
    known = _initial_known(plant)
    return np.eye(plant.ns)[[known[name] for name in names]].reshape(len(names), plant.ns)


def _check_loops(plant: Plant, names: Sequence[str], initial: Sequence[str], q: Any, p: Any) -> None:
    """Loops stay closed only where neither parameters nor the initial state open them."""
    robot = slopes_of(plant).robot
    if robot is None or robot.robot.is_open:
        return
    if initial:
        raise UnsupportedError(
            f"initial {listed(initial)}: robot '{plant.name}' has loops or coupled joints, which a single coordinate "
            "would open. Ask for parameters."
        )
    if plant.p:
        at, values = plant.initial("q", q), plant.initial("p", p)
        moved = np.abs(of_robot(robot.derivative("constraint_error", "p"), robot, values, at)).max(axis=0, initial=0.0)
        for column, size in zip(plant.p, moved, strict=True):
            if column.name in names and size > 1e-12:
                raise UnsupportedError(
                    f"parameter '{column.name}' opens a loop of robot '{plant.name}': the initial state would have to "
                    "change with it. Ask for masses and other parameters that leave loops closed."
                )


# ── the wider plant ───────────────────────────────────────────────────────────────────────────────────────────────────


def _varied(plant: Plant, names: Sequence[str], initial: int) -> Plant:
    """The plant with the derivatives of its state as further states, those by one quantity after the other."""
    nv, nx, ns = plant.nv, plant.nx, plant.ns
    count = len(names) + initial
    p_names = [column.name for column in plant.p]
    turns = any(place.kind in SEVERAL_AXES for place in plant.manifold)

    def direction(k: int, group: str, size: int) -> list[float]:
        """How quantity k changes a group of inputs."""
        unit = [0.0] * size
        if k < len(names):
            if group == "u" and names[k].startswith("u."):
                unit[plant.index("u", names[k][2:])] = 1.0
            elif group == "p" and names[k] in p_names:
                unit[p_names.index(names[k])] = 1.0
        return unit

    def variations(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        own, rest = s[:ns], s[ns:]
        q = plant._place(base, own, finished=False)
        still, v = [0.0] * nv, own[nv : 2 * nv]
        rates: list[Any] = []
        for k in range(count):
            S = rest[k * ns : (k + 1) * ns]
            moved = _dual([*still, *own[nv:]], S)
            inputs = (_dual(values, direction(k, group, len(values))) for group, values in (("u", u), ("p", p)))
            found = [_tangent(entry) for entry in plant._rate(t, q, moved, m, *inputs)]
            if turns:
                along = [*_dual(still, v), *S[:nv], *own[2 * nv :]]
                turned = plant._rate(t, q, along, m, u, p)[:nv]
                found[:nv] = [one - _tangent(entry) for one, entry in zip(found[:nv], turned, strict=True)]
            rates += found
        return rates

    def rate(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        return [*plant._rate(t, base, s[:ns], m, u, p), *variations(t, base, s, m, u, p)]

    def residual(t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        n = nv + nx
        left = plant._residual(t, base, s[:ns], z[:n], m, u, p)
        return [*left, *(one - other for one, other in zip(z[n:], variations(t, base, s, m, u, p), strict=True))]

    def place(base: Any, s: Any, *, finished: bool = True) -> Any:
        return plant._place(base, s[:ns], finished=finished)

    labels = [*names, *(f"initial {k}" for k in range(initial))]
    entries = [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
    columns = tuple(Column(f"d {entry} / d {label}") for label in labels for entry in entries)
    begun = {**plant.start, "x": (*plant.start["x"], *(0.0,) * len(columns))}
    return replace(
        plant,
        name=f"{plant.name} with sensitivities",
        x=(*plant.x, *columns),
        start=begun,
        outputs={},
        output_units={},
        _rate=rate,
        _residual=residual,
        _place=place,
        _efforts=None,
    )


def _dual(values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    return [x if is_zero(dx) else Dual(x, dx, level=LEVEL) for x, dx in zip(values, tangents, strict=True)]


def _tangent(x: Any) -> Any:
    return x.tangent if isinstance(x, Dual) and x.level == LEVEL else 0.0


def _result(plant: Plant, run: Trajectory, names: tuple[str, ...]) -> Sensitivities:
    """The motion by itself, and the derivatives by quantity."""
    nv, nx, ns = plant.nv, plant.nx, plant.ns
    segments = tuple(replace(part, plant=plant, x=part.x[:, :nx]) for part in run.segments)
    wide = np.concatenate([part.x for part in run.segments])[:, nx:]
    S = wide.reshape(len(wide), len(names), ns).transpose(0, 2, 1)
    units = named_units(plant)
    return Sensitivities(
        replace(run, segments=segments),
        np.concatenate([part.t for part in segments]),
        S[:, :nv],
        S[:, nv : 2 * nv],
        S[:, 2 * nv :],
        names,
        tuple(units[name] for name in names),
    )


def named_units(plant: Plant) -> Mapping[str, str]:
    """Units of everything that can be asked for."""
    units = {f"q.{c.name}": c.unit.removesuffix("/s") for c in plant.v}
    units |= {f"v.{c.name}": c.unit for c in plant.v} | {f"u.{c.name}": c.unit for c in plant.u}
    units |= {c.name: c.unit for c in plant.x} | {c.name: c.unit for c in plant.p}
    robot = plant.robot
    if isinstance(robot, Robot):
        units |= {parameter.name: parameter.unit for parameter in robot.parameters}
    return units
