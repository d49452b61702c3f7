"""A plant: what a run advances, as programs of its state.

    state      q (nq) on its manifold, v (nv), x (nx) continuous extra states, m (nm) discrete memory
    inputs     t, u (nu) held between calls, p (np) parameters

A step is taken in local coordinates about the configuration `base` where it begins (mechanics.charts): integrators see
one vector s = [w, v, x], shape (2 nv + nx,), and never a manifold.

    rate       (t, base, s, m, u, p) -> rate            ds/dt
    residual   (t, base, s, z, m, u, p) -> residual     zero where z = [a, dx/dt], shape (nv + nx,), is right
    place      (base, s) -> q                           the configuration that s means; quaternions of length 1
    efforts    (t, base, s, m, u, p) -> supplied, damping       generalized forces that act on a robot, (nv,) each
    flow       (t, y, m, u, p) -> dy/dt                 y = [q, v, x], for methods that know of no manifold
    drift      (s, h) -> w                              where w is after the time h when v is held
    discrete   see `Discrete`                           the balance of a whole step, for variational integrators

Every program has all of these inputs, of length 0 where there is nothing. `plant` makes one of a robot,

    M(q) a + h(q, v) = tau + J(q)^T lambda,     tau = u + forces(t, q, v, x, m, u, p) - damping v,

`first_order` and `second_order` make one of any equations. Laws are functions over any scalar whose arguments are named
after what they read: `forces=lambda t, q: [...]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.linear import least_squares
from kinemorph.algebra.scalar import less
from kinemorph.algebra.vectors import add, sub
from kinemorph.codegen.differentiate import jacobian
from kinemorph.codegen.inlining import inlined
from kinemorph.codegen.program import Program
from kinemorph.codegen.tracing import Shape, trace
from kinemorph.deriving import Dynamics, derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError, did_you_mean
from kinemorph.mechanics import charts
from kinemorph.mechanics.discrete_action import discrete_action
from kinemorph.mechanics.kinematics import tangent_of
from kinemorph.mechanics.resolving import resolve
from kinemorph.mechanics.tree import Tree
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

Array = npt.NDArray[np.float64]
Law = Callable[..., Any]

GROUPS = ("t", "q", "v", "x", "m", "u", "p")  # what a law may read, by the name of its argument
FORCE_UNITS = {"rad/s": "N m", "m/s": "N"}  # of the generalized force along a velocity
SUPPLIED, DISSIPATED = "supplied energy", "dissipated energy"
LEVEL = 7  # of the dual numbers here, above those that laws may use


@dataclass(frozen=True)
class Column:
    """A named number with its unit ("" for none)."""

    name: str
    unit: str = ""


class Place(NamedTuple):
    """An elementary joint: a row of mechanics.charts.CHARTS, and where it stands in q and v."""

    kind: str
    q: int
    v: int


@dataclass(frozen=True, eq=False)
class Discrete:
    """A step from `base` to place(base, w) as the Euler-Lagrange equations of a discrete Lagrangian have it.

    The Lagrangian of a step is that of mechanics.discrete_action; forces act half-way on the steady motion between its
    ends (mechanics.charts). Momentum is  dL/dv = M(q) v, shape (nv,), along the axes of the velocities.

    balance     (t, base, s, z, momentum, h, m, u, p) -> left (nv + nx,), after (nv,): z = [w, x at the end]; `left` is
                zero at the right z, where the momentum at the start is `momentum`; `after` is that at the end
    momentum    (base, s, p) -> momentum at s
    velocity    (base, s, momentum, p) -> v at the configuration of s
    """

    balance: Program
    momentum: Program
    velocity: Program


@dataclass(frozen=True, eq=False, repr=False)
class Plant:
    """Programs of a state, and the names of its numbers. See this module's text for the programs' inputs."""

    name: str
    q: tuple[Column, ...]
    v: tuple[Column, ...]
    x: tuple[Column, ...]
    m: tuple[Column, ...]
    u: tuple[Column, ...]
    p: tuple[Column, ...]
    start: Mapping[str, tuple[float, ...]]  # the values of q, v, x, m, u, p where nothing else is said
    dynamics: Dynamics | None = None
    locked: tuple[int, ...] = ()  # velocity indices that do not move
    outputs: Mapping[str, Law] = field(default_factory=dict)  # further columns, each a law that gives one number
    output_units: Mapping[str, str] = field(default_factory=dict)
    _rate: Law = field(default=lambda: None)  # (t, base, s, m, u, p)
    _residual: Law = field(default=lambda: None)  # (t, base, s, z, m, u, p)
    _place: Law = field(default=lambda: None)  # (base, s), finished=
    _efforts: Law | None = None  # (t, base, s, m, u, p); none where forces have no name
    manifold: tuple[Place, ...] = ()  # the elementary joints that make up q
    _drift: Law = field(default=lambda: None)  # (s, h)
    _discrete: Mapping[str, Law] = field(default_factory=dict)  # action, balance, momentum, velocity

    def __repr__(self) -> str:
        sizes = f"{self.nv} dof, {self.nx} states, {self.nu} inputs"
        return f"<Plant '{self.name}': {sizes}>"

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v)

    @property
    def nx(self) -> int:
        """Number of continuous extra states."""
        return len(self.x)

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return len(self.u)

    @property
    def ns(self) -> int:
        """Length of s = [w, v, x]."""
        return 2 * self.nv + self.nx

    @property
    def robot(self) -> Robot | None:
        """The robot, where it is one."""
        return self.dynamics.robot if self.dynamics else None

    @cached_property
    def rate(self) -> Program:
        """ds/dt from (t, base, s, m, u, p)."""
        return trace(self._rate, self.ports, name=f"{self.name}.rate", outputs={"out": (self.ns,)})

    @cached_property
    def residual(self) -> Program:
        """What is left over at z = [a, dx/dt], from (t, base, s, z, m, u, p); zero at the right z."""
        ports = self.ports
        names = ("t", "base", "s", "z", "m", "u", "p")
        shapes = {name: (self.nv + self.nx,) if name == "z" else ports[name] for name in names}
        return trace(self._residual, shapes, name=f"{self.name}.residual", outputs={"out": shapes["z"]})

    @cached_property
    def place(self) -> Program:
        """q, shape (nq,), from (base, s)."""
        shapes = {name: self.ports[name] for name in ("base", "s")}
        return trace(self._place, shapes, name=f"{self.name}.place", outputs={"out": (self.nq,)})

    @cached_property
    def efforts(self) -> Program | None:
        """(supplied, damping) generalized forces, (nv,) each, from the inputs of `rate`; None where it is no robot."""
        if self._efforts is None:
            return None
        shapes = {"supplied": (self.nv,), "damping": (self.nv,)}
        return trace(self._efforts, self.ports, name=f"{self.name}.efforts", outputs=shapes)

    @cached_property
    def flow(self) -> Program:
        """dy/dt from (t, y, m, u, p) with y = [q, v, x], shape (nq + nv + nx,). Quaternions may be of any length."""
        nq, nv = self.nq, self.nv

        def law(t: Any, y: Any, m: Any, u: Any, p: Any) -> list[Any]:
            q, v, x = y[:nq], y[nq : nq + nv], y[nq + nv :]
            rates = self._rate(t, q, [*[0.0] * nv, *v, *x], m, u, p)
            moving = [Dual(0.0, rate, level=LEVEL) for rate in rates[:nv]]
            placed = self._place(q, [*moving, *v, *x], finished=False)
            return [*(tangent_of(entry, LEVEL) for entry in placed), *rates[nv:]]

        size = (nq + nv + self.nx,)
        shapes = {"t": (), "y": size, **{name: self.ports[name] for name in ("m", "u", "p")}}
        return trace(law, shapes, name=f"{self.name}.flow", outputs={"out": size})

    @cached_property
    def drift(self) -> Program:
        """w, shape (nv,), after the time h at the velocity v of s, from (s, h)."""
        shapes = {"s": self.ports["s"], "h": ()}
        return trace(self._drift, shapes, name=f"{self.name}.drift", outputs={"out": (self.nv,)})

    @cached_property
    def discrete(self) -> Discrete:
        """The programs of a variational step. Raises UnsupportedError where there is no Lagrangian to begin with."""
        if self.robot is None:
            raise UnsupportedError(
                f"plant '{self.name}' is made of equations, and a variational method starts from kinetic and potential "
                "energy. Use method='leapfrog', or make the plant of a robot."
            )
        if not self.robot.is_open:
            raise UnsupportedError(
                f"robot '{self.robot.name}' has loops or coupled joints, and the variational method is for open trees. "
                "Use method='dop853', or 'leapfrog' with a step."
            )
        ports, nv, laws = self.ports, self.nv, self._discrete
        momentum = {"momentum": (nv,)}
        action = trace(
            laws["action"],
            {"base": ports["base"], "moved": (nv,), "w": (nv,), "h": (), "p": ports["p"]},
            name=f"{self.name}.action",
            outputs={"out": ()},
        )
        slopes = jacobian(action, "out", ("moved", "w"), mode="reverse")

        def balance(t: Any, base: Any, s: Any, z: Any, momentum: Any, h: Any, m: Any, u: Any, p: Any) -> Any:
            by = inlined(slopes, (base, [0.0] * nv, z[:nv], h, p))
            return laws["balance"](t, base, s, z, momentum, h, m, u, p, by[:nv], by[nv:])

        inputs = {"t": (), "base": ports["base"], "s": ports["s"], "z": (nv + self.nx,), **momentum, "h": ()}
        inputs |= {name: ports[name] for name in ("m", "u", "p")}
        state = {name: ports[name] for name in ("base", "s")}
        return Discrete(
            trace(balance, inputs, name=f"{self.name}.balance", outputs={"left": (nv + self.nx,), "after": (nv,)}),
            trace(laws["momentum"], {**state, "p": ports["p"]}, name=f"{self.name}.momentum", outputs={"out": (nv,)}),
            trace(laws["velocity"], {**state, **momentum, "p": ports["p"]}, name=f"{self.name}.velocity"),
        )

    @property
    def ports(self) -> dict[str, Shape]:
        """Shapes of the inputs of `rate`."""
        sizes = {"base": self.nq, "s": self.ns, "m": len(self.m), "u": self.nu, "p": len(self.p)}
        return {"t": (), **{name: (size,) for name, size in sizes.items()}}

    def observed(self, laws: Mapping[str, Law], name: str = "observed") -> Program:
        """Numbers that are read off: a program of the inputs of `rate` with one output "out", a number for each law."""

        def values(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
            _, v, x = split(s, self.nv)
            q = self._place(base, s)
            given = {"t": t, "q": q, "v": v, "x": x, "m": m, "u": u, "p": p}
            return [one_number(of_groups(law, given, f"'{key}'"), key) for key, law in laws.items()]

        return trace(values, self.ports, name=f"{self.name}.{name}", outputs={"out": (len(laws),)})

    def initial(self, group: str, given: Any = None) -> Array:
        """The values of a group ("q", "v", "x", "m", "u", "p"): those given, in order or by name, else the start's.

        Raises ShapeError with a sentence for a wrong length, an unknown name or a number that is not finite.
        """
        columns: tuple[Column, ...] = getattr(self, group)
        values = np.array(self.start[group], dtype=float)
        if given is None:
            return values
        if isinstance(given, Mapping):
            for name, value in given.items():
                values[self.index(group, name)] = value
        else:
            try:
                values = np.array(given, dtype=float)
            except (TypeError, ValueError):
                raise ShapeError(f"{group}: {given!r} is given; expected {len(columns)} numbers.") from None
        if values.shape != (len(columns),):
            listed = ", ".join(column.name for column in columns) or "none"
            raise ShapeError(f"{group} has shape {values.shape}; expected ({len(columns)},), in this order: {listed}.")
        for column, value in zip(columns, values, strict=True):
            if not np.isfinite(value):
                raise ShapeError(f"{group} '{column.name}' is {value}; expected a finite number. See where it is from.")
        return values

    def index(self, group: str, name: str) -> int:
        """The place of a name in a group."""
        names = [column.name for column in getattr(self, group)]
        if name not in names:
            listed = ", ".join(f"'{one}'" for one in names) or "there are none"
            raise ShapeError(
                f"plant '{self.name}' has no {group} '{name}'.{did_you_mean(name, names)} Known: {listed}."
            )
        return names.index(name)


def split(s: Sequence[Any], nv: int) -> tuple[Any, Any, Any]:
    """(w, v, x) of s."""
    return s[:nv], s[nv : 2 * nv], s[2 * nv :]


def of_groups(law: Law, given: Mapping[str, Any], what: str) -> Any:
    """A law's value, its arguments chosen by their names."""
    try:
        names = list(inspect.signature(law).parameters)
    except (TypeError, ValueError):
        raise ModelError(f"law {what}: {law!r} is given; expected a function of some of {', '.join(GROUPS)}.") from None
    for name in names:
        if name not in given:
            listed = ", ".join(given)
            raise ModelError(
                f"law {what} has an argument '{name}'; expected some of {listed}. Name each after what it reads."
            )
    return law(*(given[name] for name in names))


def one_number(value: Any, key: str) -> Any:
    """A law's value where it is one number."""
    if isinstance(value, (list, tuple, np.ndarray)):
        raise ShapeError(f"'{key}' gives {len(value)} numbers; expected one. Name a law for each.")
    return value


def _checked_length(values: Any, length: int, what: str) -> list[Any]:
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != length:
        found = f"{len(values)} numbers" if isinstance(values, (list, tuple, np.ndarray)) else f"{values!r}"
        raise ShapeError(f"{what} gives {found}; expected a list of {length}.")
    return list(values)


# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def plant(
    model: Robot | System | Dynamics | Plant,
    *,
    forces: Law | None = None,
    states: Mapping[str, str] | None = None,
    state_rates: Law | None = None,
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    parameters: str | Sequence[str] | None = None,
    locked: str | Sequence[str] = (),
    account: bool = False,
) -> Plant:
    """The plant of a robot: its equations of motion, with forces and further states of your own.

    `forces`        a law that gives generalized forces, shape (nv,), [N m] or [N]
    `states`        names and units of further continuous states x; `state_rates` is the law of their rates
    `inputs`        names and units of the inputs u. Where none are named, u is one generalized force per velocity
    `outputs`       laws of one number each, by name: further columns of a run, the y of a linearization
    `parameters`    as for `derive`: names kept as the input p
    `locked`        joints, or single velocities by name, that do not move
    `account`       adds two states: the energy that inputs and forces supply, and that damping dissipates [J]

    Viscous damping of joints acts; their Coulomb friction does not.
    """
    if isinstance(model, Plant):
        given = {"forces": forces, "states": states, "state_rates": state_rates, "inputs": inputs, "outputs": outputs}
        _refuse(model, {**given, "output_units": output_units, "parameters": parameters, "locked": locked})
        return model
    if isinstance(model, Dynamics):
        dynamics = derive(model.robot, model.formulation, parameters=parameters) if parameters else model  # type: ignore[arg-type]
    else:
        dynamics = derive(model, parameters=parameters)
    robot = dynamics.robot
    still = _locked(robot, (locked,) if isinstance(locked, str) else locked)
    named = None if inputs is None else tuple(Column(*item) for item in inputs.items())
    extra = tuple(Column(*item) for item in (states or {}).items())
    if extra and state_rates is None:
        raise ModelError(f"states {', '.join(c.name for c in extra)} are named without a law. Give `state_rates`.")
    if named is not None and forces is None:
        raise ModelError(f"inputs {', '.join(c.name for c in named)} act through `forces`, which is missing. Give it.")
    velocities = tuple(
        Column(name, unit)
        for joint in robot.joints
        for name, unit in zip(joint.v_names, joint.table.v_units, strict=True)
    )
    pushes = tuple(Column(column.name, FORCE_UNITS[column.unit]) for column in velocities)
    nv = robot.nv

    def efforts(tree: Tree, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> tuple[list[Any], list[Any]]:
        """(supplied, damping) generalized forces."""
        supplied: list[Any] = list(u) if named is None else [0.0] * nv
        if forces is not None:
            unit = charts.finished(bare, q)
            given = {"t": t, "q": unit, "v": v, "x": x[: len(extra)], "m": m, "u": u, "p": p}
            law = _checked_length(of_groups(forces, given, "forces"), nv, "the law of forces")
            supplied = [one + other for one, other in zip(supplied, law, strict=True)]
        lookup = {parameter.name: value for parameter, value in zip(dynamics.parameters, p, strict=True)}
        damping = [evaluate(d, lookup) for joint in robot.joints for d in joint.damping]
        return supplied, [-d * rate for d, rate in zip(damping, v, strict=True)]

    def extra_rates(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, pushed: Any, damped: Any) -> list[Any]:
        own = x[: len(extra)]
        given = {"t": t, "q": charts.finished(bare, q), "v": v, "x": own, "m": m, "u": u, "p": p}
        rates = (
            _checked_length(of_groups(state_rates, given, "state_rates"), len(extra), "the law of state rates")
            if state_rates is not None
            else []
        )
        if account:
            powers = [sum((f * rate for f, rate in zip(f_, v, strict=True)), 0.0) for f_ in (pushed, damped)]
            rates += [powers[0], -powers[1]]
        return rates

    def trees(p: Any) -> tuple[Tree, Tree]:
        lookup = {parameter.name: value for parameter, value in zip(dynamics.parameters, p, strict=True)}
        tree = resolve(robot, lookup)
        return tree, dynamics.prepared(tree)

    def unfolded(base: Any, s: Any, p: Any) -> tuple[Tree, Tree, Any, Any, Any, Any]:
        tree, ready = trees(p)
        w, v, x = split(s, nv)
        v = [0.0 if k in still else rate for k, rate in enumerate(v)]
        return tree, ready, w, charts.place(tree, base, w, finished=False), v, x

    def rate(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        tree, ready, w, q, v, x = unfolded(base, s, p)
        pushed, damped = efforts(tree, t, q, v, x, m, u, p)
        tau = [one + other for one, other in zip(pushed, damped, strict=True)]
        a = dynamics.accelerations(ready, q, v, tau, locked=still)
        return [*charts.local_rate(tree, w, v), *a, *extra_rates(t, q, v, x, m, u, p, pushed, damped)]

    def residual(t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        tree, ready, _, q, v, x = unfolded(base, s, p)
        a = [0.0 if k in still else entry for k, entry in enumerate(z[:nv])]
        pushed, damped = efforts(tree, t, q, v, x, m, u, p)
        tau = [one + other for one, other in zip(pushed, damped, strict=True)]
        if robot.is_open:
            needed = dynamics.inverse(ready, q, v, a)
            left = [one - other for one, other in zip(needed, tau, strict=True)]
        else:
            left = [one - other for one, other in zip(a, dynamics.accelerations(ready, q, v, tau), strict=True)]
        left = [z[k] if k in still else entry for k, entry in enumerate(left)]
        rates = extra_rates(t, q, v, x, m, u, p, pushed, damped)
        return [*left, *(one - other for one, other in zip(z[nv:], rates, strict=True))]

    def acting(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, list[Any]]:
        tree, _, _, q, v, x = unfolded(base, s, p)
        return dict(zip(("supplied", "damping"), efforts(tree, t, q, v, x, m, u, p), strict=True))

    bare = resolve(robot)

    def place(base: Any, s: Any, *, finished: bool = True) -> list[Any]:
        return charts.place(bare, base, s[:nv], finished=finished)

    def drift(s: Any, h: Any) -> list[Any]:
        w, v, _ = split(s, nv)
        return charts.chained(bare, w, charts.steady(bare, [h * rate for rate in v]))

    def action(base: Any, moved: Any, w: Any, h: Any, p: Any) -> Any:
        """`moved` are local coordinates of the start about itself, for derivatives by it."""
        tree, _ = trees(p)
        return discrete_action(tree, charts.place(tree, base, moved, finished=False), w, h)

    def balance(
        t: Any, base: Any, s: Any, z: Any, begun: Any, h: Any, m: Any, u: Any, p: Any, by_start: Any, by_end: Any
    ) -> dict[str, Any]:
        tree, _ = trees(p)
        w, ends, x = z[:nv], z[nv:], s[2 * nv :]
        half, way = charts.halfway(tree, w)
        q = charts.place(tree, base, half, finished=False)
        v = [0.0 if k in still else entry / h for k, entry in enumerate(way)]
        x_half = [0.5 * (one + other) for one, other in zip(x, ends, strict=True)]
        there = (t + 0.5 * h, q, v, x_half, m, u, p)
        pushed, damped = efforts(tree, *there)
        impulse = [h * (one + other) for one, other in zip(pushed, damped, strict=True)]

        def half_moved(rates: Any) -> Any:
            """The velocity half-way as w changes at these rates."""
            dual = [Dual(one, rate, level=LEVEL) for one, rate in zip(w, rates, strict=True)]
            return charts.velocity(tree, half, [tangent_of(entry, LEVEL) for entry in charts.halfway(tree, dual)[0]])

        # the work of the impulse over the ways that start and end make half-way adds to the slopes of the action
        by_end = add(by_end, charts.pulled_back(tree, half_moved, impulse))
        by_start = add(by_start, charts.pulled_back(tree, lambda rates: charts.carried(tree, half, rates), impulse))
        after = charts.pulled_back(tree, lambda rates: charts.local_rate(tree, w, rates), by_end)
        # the end stays where it is while the start moves: w makes up for it
        before = sub(charts.pulled_back(tree, lambda rates: charts.carried(tree, w, rates), after), by_start)
        left = [w[k] if k in still else one - begun[k] for k, one in enumerate(before)]
        rates = extra_rates(*there, pushed, damped)
        grown = [end - (one + h * rate) for end, one, rate in zip(ends, x, rates, strict=True)]
        return {"left": [*left, *grown], "after": after}

    def weightless(p: Any) -> Tree:
        return dynamics.prepared(replace(trees(p)[0], gravity=(0.0, 0.0, 0.0)))

    def momenta(base: Any, s: Any, p: Any) -> Sequence[Any]:
        return dynamics.inverse(weightless(p), unfolded(base, s, p)[3], [0.0] * nv, unfolded(base, s, p)[4])

    def velocity(base: Any, s: Any, begun: Any, p: Any) -> Sequence[Any]:
        return dynamics.accelerations(weightless(p), unfolded(base, s, p)[3], [0.0] * nv, begun, locked=still)

    settings = model.settings if isinstance(model, System) else None
    x_columns = extra + ((Column(SUPPLIED, "J"), Column(DISSIPATED, "J")) if account else ())
    start = {
        "q": settings.q if settings and settings.q else tuple(map(float, neutral(robot))),
        "v": settings.v if settings and settings.v else (0.0,) * nv,
        "x": (0.0,) * len(x_columns),
        "m": (),
        "u": (0.0,) * len(pushes if named is None else named),
        "p": tuple(map(float, dynamics.nominal_parameters)),
    }
    return Plant(
        robot.name,
        tuple(
            Column(n, unit)
            for joint in robot.joints
            for n, unit in zip(joint.q_names, joint.table.q_units, strict=True)
        ),
        velocities,
        x_columns,
        (),
        pushes if named is None else named,
        tuple(Column(parameter.name) for parameter in dynamics.parameters),
        start,
        dynamics,
        still,
        outputs or {},
        output_units or {},
        rate,
        residual,
        place,
        acting,
        tuple(Place(link.kind, link.q, link.v) for link in bare.links),
        drift,
        {"action": action, "balance": balance, "momentum": momenta, "velocity": velocity},
    )


def _columns(robot: Robot, group: str) -> tuple[Column, ...]:
    """The coordinates or velocities of all joints."""
    units = [unit for joint in robot.joints for unit in getattr(joint.table, f"{group}_units")]
    return tuple(map(Column, getattr(robot, f"{group}_names"), units))


def _refuse(model: Plant, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value is not None and value != ():
            raise ModelError(f"{name}: '{model.name}' is a plant already. Give {name} where it is made.")


def _locked(robot: Robot, names: Sequence[str]) -> tuple[int, ...]:
    """Velocity indices of joints, or of single velocities, by name."""
    still: set[int] = set()
    joints = {joint.name for joint in robot.joints}
    for name in names:
        if name in joints:
            part = robot.v_slice(name)
            still.update(range(part.start, part.stop))
        elif name in robot.v_names:
            still.add(robot.v_names.index(name))
        else:
            known = [*joints, *robot.v_names]
            raise ModelError(f"locked '{name}': robot '{robot.name}' has no such joint.{did_you_mean(name, known)}")
    return tuple(sorted(still))


# ── equations of your own ─────────────────────────────────────────────────────────────────────────────────────────────


def first_order(
    rates: Law,
    states: Mapping[str, str],
    *,
    start: Sequence[float] | None = None,
    inputs: Mapping[str, str] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    name: str = "equations",
) -> Plant:
    """The plant  dx/dt = rates(t, x, u, p). `states` and `inputs` map names to units, `parameters` names to values."""
    x = tuple(Column(*item) for item in states.items())

    def rate(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        value = of_groups(rates, {"t": t, "x": s, "u": u, "p": p}, "rates")
        return _checked_length(value, len(x), "the law of rates")

    def residual(t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        return [one - other for one, other in zip(z, rate(t, base, s, m, u, p), strict=True)]

    return _of_equations(name, (), x, start, inputs, parameters, outputs, output_units, rate, residual)


def second_order(
    residual: Law,
    coordinates: Mapping[str, str],
    *,
    start: Sequence[float] | None = None,
    inputs: Mapping[str, str] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    name: str = "equations",
) -> Plant:
    """The plant  residual(t, q, v, a, u, p) = 0. `coordinates` maps the names of q to units, each a plain number.

    Rows without accelerations (a pressure, a current) are welcome to implicit methods; explicit ones solve for a, which
    must then enter linearly and with a regular matrix.
    """
    q = tuple(Column(*item) for item in coordinates.items())
    n = len(q)

    def left(t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        at = [one + other for one, other in zip(base, s[:n], strict=True)]
        value = of_groups(residual, {"t": t, "q": at, "v": s[n:], "a": z, "u": u, "p": p}, "residual")
        return _checked_length(value, n, "the residual")

    def rate(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        rest = left(t, base, s, [0.0] * n, m, u, p)
        columns = []
        for k in range(n):
            z = [Dual(0.0, 1.0, level=LEVEL) if j == k else 0.0 for j in range(n)]
            columns.append([tangent_of(entry, LEVEL) for entry in left(t, base, s, z, m, u, p)])
        found, rank = least_squares(list(zip(*columns, strict=True)), [[-entry] for entry in rest])
        regular = less(n - 0.5, rank)  # accelerations that are not determined are not a number
        return [*s[n:], *(row[0] / regular for row in found)]

    return _of_equations(name, q, (), start, inputs, parameters, outputs, output_units, rate, left)


def _of_equations(
    name: str,
    q: tuple[Column, ...],
    x: tuple[Column, ...],
    start: Sequence[float] | None,
    inputs: Mapping[str, str] | None,
    parameters: Mapping[str, float] | None,
    outputs: Mapping[str, Law] | None,
    output_units: Mapping[str, str] | None,
    rate: Law,
    residual: Law,
) -> Plant:
    if not q and not x:
        raise ModelError(f"plant '{name}' has no states. Name at least one, with its unit: {{'x': 'm'}}.")
    u = tuple(Column(*item) for item in (inputs or {}).items())
    first = q or x
    values = tuple(map(float, start)) if start is not None else (0.0,) * len(first)
    if len(values) != len(first):
        raise ShapeError(f"plant '{name}': start has {len(values)} numbers; expected {len(first)}, one for each name.")

    def place(base: Any, s: Any, *, finished: bool = True) -> list[Any]:
        return [one + other for one, other in zip(base, s[: len(q)], strict=True)]

    def drift(s: Any, h: Any) -> list[Any]:
        w, v, _ = split(s, len(q))
        return [one + h * rate for one, rate in zip(w, v, strict=True)]

    return Plant(
        name,
        q,
        tuple(Column(column.name, f"{column.unit}/s" if column.unit else "1/s") for column in q),
        x,
        (),
        u,
        tuple(Column(key) for key in (parameters or {})),
        {
            "q": values if q else (),
            "v": (0.0,) * len(q),
            "x": () if q else values,
            "m": (),
            "u": (0.0,) * len(u),
            "p": tuple(map(float, (parameters or {}).values())),
        },
        None,
        (),
        outputs or {},
        output_units or {},
        rate,
        residual,
        place,
        None,
        tuple(Place("prismatic", k, k) for k in range(len(q))),
        drift,
    )
