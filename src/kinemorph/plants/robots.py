"""The plant of a robot:

    M(q) a + h(q, v) = tau + J(q)^T lambda,     tau = u + forces(t, q, v, x, m, u, p) - damping v

with whatever further states the user adds, joints that are locked, and an account of the energy exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import is_zero
from kinemorph.algebra.vectors import add, sub
from kinemorph.deriving import Dynamics, derive
from kinemorph.errors import ModelError, did_you_mean
from kinemorph.mechanics import charts
from kinemorph.mechanics.discrete_action import discrete_action
from kinemorph.mechanics.kinematics import tangent_of
from kinemorph.mechanics.point_states import JointForce
from kinemorph.mechanics.resolving import resolve
from kinemorph.mechanics.tree import Tree
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.implicit import Acting, Damping, implicit_step
from kinemorph.plants.laws import LEVEL, Column, Law, checked_length, columns, of_groups, split
from kinemorph.plants.programs import Laws, Place, Plant
from kinemorph.plants.variational import DiscreteLaws

FORCE_UNITS = {"rad/s": "N m", "m/s": "N"}  # of the generalized force along a velocity
SUPPLIED, DISSIPATED = "supplied energy", "dissipated energy"


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
    extra = columns(states)
    if extra and state_rates is None:
        raise ModelError(f"states {', '.join(c.name for c in extra)} are named without a law. Give `state_rates`.")
    if inputs is not None and forces is None:
        raise ModelError(f"inputs {', '.join(inputs)} act through `forces`, which is missing. Give it.")
    velocities = _columns(robot, "v")
    pushes = tuple(Column(column.name, FORCE_UNITS[column.unit]) for column in velocities)
    still = _locked(robot, (locked,) if isinstance(locked, str) else locked)
    motion = Motion(dynamics, forces, len(extra), state_rates, inputs is None, still, account)
    x = extra + ((Column(SUPPLIED, "J"), Column(DISSIPATED, "J")) if account else ())
    u = pushes if inputs is None else columns(inputs)
    settings = model.settings if isinstance(model, System) else None
    return Plant(
        name=robot.name,
        q=_columns(robot, "q"),
        v=velocities,
        x=x,
        m=(),
        u=u,
        p=tuple(Column(parameter.name) for parameter in dynamics.parameters),
        laws=motion.laws,
        start={
            "q": settings.q if settings and settings.q else tuple(map(float, neutral(robot))),
            "v": settings.v if settings and settings.v else (0.0,) * robot.nv,
            "x": (0.0,) * len(x),
            "m": (),
            "u": (0.0,) * len(u),
            "p": tuple(map(float, dynamics.nominal_parameters)),
        },
        dynamics=dynamics,
        locked=still,
        outputs=outputs or {},
        output_units=output_units or {},
        manifold=tuple(Place(link.kind, link.q, link.v) for link in motion.bare.links),
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
    joints = [joint.name for joint in robot.joints]
    if not isinstance(names, Iterable):
        raise ModelError(f"locked is {names!r}; expected names of joints: {', '.join(joints)}.")
    for name in names:
        if name in joints:
            part = robot.v_slice(name)
            still.update(range(part.start, part.stop))
        elif name in robot.v_names:
            still.add(robot.v_names.index(name))
        else:
            known = [*joints, *robot.v_names]
            raise ModelError(
                f"locked '{name}': robot '{robot.name}' has no such joint.{did_you_mean(name, known)} "
                f"Known: {', '.join(joints)}."
            )
    return tuple(sorted(still))


# ── the laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Motion:
    """The laws of a robot's plant, over any scalar."""

    dynamics: Dynamics
    forces: Law | None
    extra: int  # how many states the user has added
    state_rates: Law | None
    pushed: bool  # whether the inputs are generalized forces
    still: tuple[int, ...]
    account: bool

    @property
    def laws(self) -> Laws:
        """All of them."""
        discrete = DiscreteLaws(self.action, self.balance, self.momentum, self.velocity)
        implicit = self.implicit if self.dynamics.robot.is_open else None
        return Laws(self.rate, self.residual, self.place, self.drift, self.acting, discrete, implicit)

    @property
    def nv(self) -> int:
        return self.dynamics.robot.nv

    @cached_property
    def bare(self) -> Tree:
        """The links at nominal parameters, which say how configurations move."""
        return resolve(self.dynamics.robot)

    def tree(self, p: Any) -> Tree:
        """The links at parameters p."""
        return resolve(self.dynamics.robot, self._lookup(p))

    def _lookup(self, p: Any) -> dict[str, Any]:
        return {parameter.name: value for parameter, value in zip(self.dynamics.parameters, p, strict=True)}

    def _state(self, tree: Tree, base: Any, s: Any) -> tuple[Any, list[Any], Any]:
        """(q, v, x); quaternions of any length, locked velocities zero."""
        w, v, x = split(s, self.nv)
        v = [0.0 if k in self.still else rate for k, rate in enumerate(v)]
        return charts.place(tree, base, w, finished=False), v, x

    def _given(self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
        """What laws of the user may read; quaternions of length 1."""
        return {"t": t, "q": charts.finished(self.bare, q), "v": v, "x": x[: self.extra], "m": m, "u": u, "p": p}

    # ── forces ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _efforts(self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> tuple[list[Any], list[Any]]:
        """(supplied, damping) generalized forces."""
        supplied: list[Any] = list(u) if self.pushed else [0.0] * self.nv
        if self.forces is not None:
            given = self._given(t, q, v, x, m, u, p)
            law = checked_length(of_groups(self.forces, given, "forces"), self.nv, "the law of forces")
            supplied = _sum(supplied, law)
        damping = [evaluate(d, self._lookup(p)) for joint in self.dynamics.robot.joints for d in joint.damping]
        return supplied, [-d * rate for d, rate in zip(damping, v, strict=True)]

    def acting(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> dict[str, list[Any]]:
        """The generalized forces, by name."""
        q, v, x = self._state(self.tree(p), base, s)
        return dict(zip(("supplied", "damping"), self._efforts(t, q, v, x, m, u, p), strict=True))

    def _extra_rates(
        self, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, pushed: Any, damped: Any
    ) -> list[Any]:
        rates: list[Any] = []
        if self.state_rates is not None:
            given = self._given(t, q, v, x, m, u, p)
            law = of_groups(self.state_rates, given, "state_rates")
            rates = checked_length(law, self.extra, "the law of state rates")
        if self.account:
            rates += [_power(pushed, v), -_power(damped, v)]
        return rates

    # ── motion ────────────────────────────────────────────────────────────────────────────────────────────────────

    def rate(self, t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """ds/dt, by forward dynamics."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, s)
        pushed, damped = self._efforts(t, q, v, x, m, u, p)
        ready = self.dynamics.prepared(tree)
        a = self.dynamics.accelerations(ready, q, v, _sum(pushed, damped), locked=self.still)
        rates = self._extra_rates(t, q, v, x, m, u, p, pushed, damped)
        return [*charts.local_rate(tree, s[: self.nv], v), *a, *rates]

    def residual(self, t: Any, base: Any, s: Any, z: Any, m: Any, u: Any, p: Any) -> list[Any]:
        """What is left over at z = [a, dx/dt], by inverse dynamics; where loops close, against forward dynamics."""
        tree, nv = self.tree(p), self.nv
        ready = self.dynamics.prepared(tree)
        q, v, x = self._state(tree, base, s)
        a = [0.0 if k in self.still else entry for k, entry in enumerate(z[:nv])]
        pushed, damped = self._efforts(t, q, v, x, m, u, p)
        tau = _sum(pushed, damped)
        if self.dynamics.robot.is_open:
            unmet = sub(self.dynamics.inverse(ready, q, v, a), tau)
        else:
            unmet = sub(a, self.dynamics.accelerations(ready, q, v, tau))
        left = [z[k] if k in self.still else entry for k, entry in enumerate(unmet)]
        return [*left, *sub(z[nv:], self._extra_rates(t, q, v, x, m, u, p, pushed, damped))]

    def place(self, base: Any, s: Any, *, finished: bool = True) -> list[Any]:
        """The configuration that s means."""
        return charts.place(self.bare, base, s[: self.nv], finished=finished)

    def drift(self, s: Any, h: Any) -> list[Any]:
        """w after the time h at constant velocity."""
        w, v, _ = split(s, self.nv)
        return charts.chained(self.bare, w, charts.steady(self.bare, [h * rate for rate in v]))

    def implicit(
        self, t: Any, base: Any, s: Any, h: Any, guess: Any, m: Any, u: Any, p: Any, passes: int
    ) -> tuple[list[Any], list[Any]]:
        """s after a step with the damping of joints at its end, and all other forces at its start; see `implicit`."""
        tree = self.tree(p)
        q, v, x = self._state(tree, base, [*[0.0] * self.nv, *s[self.nv :]])
        pushed, damped = self._efforts(t, q, v, x, m, u, p)
        numbers = [evaluate(d, self._lookup(p)) for joint in self.dynamics.robot.joints for d in joint.damping]
        held = [JointForce(j, Damping(d)) for j, d in enumerate(numbers) if not is_zero(d)]
        rates = self._extra_rates(t, q, v, x, m, u, p, pushed, damped)
        acting, ready = Acting(pushed, joints=held, rates=rates), self.dynamics.prepared(tree)
        after, ends = implicit_step(ready, base, s, h, acting, passes, guess, self.still)
        return after, ends.a

    # ── whole steps: see `variational` ────────────────────────────────────────────────────────────────────────────

    def action(self, base: Any, moved: Any, w: Any, h: Any, p: Any) -> Any:
        """The action of a step; `moved` are local coordinates of its start, for derivatives by it."""
        tree = self.tree(p)
        return discrete_action(tree, charts.place(tree, base, moved, finished=False), w, h)

    def balance(
        self, t: Any, base: Any, s: Any, z: Any, begun: Any, h: Any, m: Any, u: Any, p: Any, by_start: Any, by_end: Any
    ) -> dict[str, Any]:
        """The discrete Euler-Lagrange equations with forces half-way, and the momentum at the end."""
        tree, nv = self.tree(p), self.nv
        w, ends, x = z[:nv], z[nv:], s[2 * nv :]
        half, way = charts.halfway(tree, w)
        v = [0.0 if k in self.still else entry / h for k, entry in enumerate(way)]
        x_half = [0.5 * (one + other) for one, other in zip(x, ends, strict=True)]
        there = (t + 0.5 * h, charts.place(tree, base, half, finished=False), v, x_half, m, u, p)
        pushed, damped = self._efforts(*there)
        impulse = [h * force for force in _sum(pushed, damped)]

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
        left = [way[k] if k in self.still else one - begun[k] for k, one in enumerate(before)]
        rates = self._extra_rates(*there, pushed, damped)
        grown = [end - (one + h * rate) for end, one, rate in zip(ends, x, rates, strict=True)]
        return {"left": [*left, *grown], "after": after}

    def _weightless(self, p: Any) -> Tree:
        return self.dynamics.prepared(replace(self.tree(p), gravity=(0.0, 0.0, 0.0)))

    def momentum(self, base: Any, s: Any, p: Any) -> Sequence[Any]:
        """M(q) v."""
        q, v, _ = self._state(self.tree(p), base, s)
        return self.dynamics.inverse(self._weightless(p), q, [0.0] * self.nv, v)

    def velocity(self, base: Any, s: Any, begun: Any, p: Any) -> Sequence[Any]:
        """v with M(q) v equal to a given momentum."""
        q, _, _ = self._state(self.tree(p), base, s)
        return self.dynamics.accelerations(self._weightless(p), q, [0.0] * self.nv, begun, locked=self.still)


def _sum(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(a, b, strict=True)]


def _power(forces: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum((force * rate for force, rate in zip(forces, v, strict=True)), 0.0)
