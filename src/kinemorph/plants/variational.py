"""The balance of a whole step, for variational integrators: discrete Euler-Lagrange equations as programs.

The Lagrangian of a step from `base` to place(base, w) is that of mechanics.steps.discrete_action; reverse-mode
differentiation of its graph gives the derivatives. Forces act half-way, on the steady motion between the ends
(mechanics.trees.charts).
Momentum is dL/dv = M(q) v, shape (nv,), along the axes of the velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.vectors import add, sub
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.evaluation import inlined
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.steps.discrete_action import discrete_action
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.plants.forces import acting, all_forces, extra_rates
from kinemorph.plants.instant import Instant, LocalInstant, at_instant
from kinemorph.plants.laws import DiscreteLaws
from kinemorph.plants.loaded_robot import LoadedRobot


@dataclass(frozen=True, eq=False)
class Discrete:
    """The programs of a whole step; `LocalInstant` explains the letters.

    balance     (t, base, s, z, momentum, h, m, u, p) -> left (nv + nx,), after (nv,): z = [w, x at the end]; `left` is
                the residual, zero at the right z; `momentum` is that at the start of the step, `after` that at its end
    momentum    (base, s, p) -> momentum M(q) v at the state s = [w, v, x] about the configuration `base`
    velocity    (base, s, momentum, p) -> v, the velocities that have this momentum at the configuration of s
    """

    balance: Program
    momentum: Program
    velocity: Program


def discrete_programs(name: str, laws: DiscreteLaws, ports: Mapping[str, Shape], nv: int) -> Discrete:
    """The programs of a whole step of a plant; `ports` are the shapes of t, base, s, m, u and p (`LocalInstant`) by
    name.
    """
    nz = ports["s"][0] - nv
    momentum: dict[str, Shape] = {"momentum": (nv,)}
    action = trace(
        laws.action,
        {"base": ports["base"], "moved": (nv,), "w": (nv,), "h": (), "p": ports["p"]},
        name=f"{name}.action",
        outputs={"out": ()},
    )
    slopes = jacobian(action, "out", ("moved", "w"), mode="reverse")

    def balance(at: LocalInstant, z: Any, momentum: Any, h: Any) -> Any:
        by = inlined(slopes, (at.base, [0.0] * nv, z[:nv], h, at.p))
        return laws.balance(at, z, momentum, h, by[:nv], by[nv:])

    inputs = {"t": (), "base": ports["base"], "s": ports["s"], "z": (nz,), **momentum, "h": ()}
    inputs |= {group: ports[group] for group in ("m", "u", "p")}
    state = {group: ports[group] for group in ("base", "s")}
    return Discrete(
        trace(
            lambda *given: at_instant(balance, dict(zip(inputs, given, strict=True))),
            inputs,
            name=f"{name}.balance",
            outputs={"left": (nz,), "after": (nv,)},
        ),
        trace(laws.momentum, {**state, "p": ports["p"]}, name=f"{name}.momentum", outputs={"out": (nv,)}),
        trace(laws.velocity, {**state, **momentum, "p": ports["p"]}, name=f"{name}.velocity"),
    )


# ── laws of a robot ───────────────────────────────────────────────────────────────────────────────────────────────────


def discrete_laws(loaded: LoadedRobot) -> DiscreteLaws:
    """The laws of a variational step of a robot."""
    return DiscreteLaws(*(partial(law, loaded) for law in (_action, _balance, _momentum, _velocity)))


def _action(loaded: LoadedRobot, base: Any, moved: Any, w: Any, h: Any, p: Any) -> Any:
    """The action of a step; `moved` (nv,) displaces its start, to differentiate with respect to the start."""
    tree, space = loaded.tree(p), loaded.bare
    q = charts.place(space, base, moved, finished=False)
    if tree.driving is None:
        return discrete_action(tree, q, w, h)
    robot = loaded.dynamics.robot
    if robot.is_timed or any(joint.kind == "pose" for joint in robot.driven):
        why = "moves joints along formulas of the time" if robot.is_timed else "has a joint with a matrix of formulas"
        raise UnsupportedError(
            f"method 'variational' cannot simulate robot '{robot.name}', which {why}. Use method='dop853'."
        )
    first, last = tree.driving.positions(q), tree.driving.positions(charts.place(space, q, w, finished=False))
    grown = sub(last[loaded.nq :], first[loaded.nq :])  # driven joints have one coordinate each, whose rate is v
    return discrete_action(tree.of_joints, first, [*w, *grown], h)


def _balance(
    loaded: LoadedRobot, at: LocalInstant, z: Any, momentum: Any, h: Any, by_start: Any, by_end: Any
) -> dict[str, Any]:
    """The residual of the discrete Euler-Lagrange equations with forces half-way, and the momentum at the end.

    `by_start` and `by_end` are the derivatives of the action with respect to the start of the step and to w.
    """
    tree, space, nv = loaded.tree(at.p, at.t + 0.5 * h), loaded.bare, loaded.nv
    w, ends, x = z[:nv], z[nv:], at.s[2 * nv :]
    half, way = charts.halfway(space, w)
    v = [0.0 if k in loaded.locked else entry / h for k, entry in enumerate(way)]
    x_half = [0.5 * (one + other) for one, other in zip(x, ends, strict=True)]
    q_half = charts.place(space, at.base, half, finished=False)
    there = Instant(at.t + 0.5 * h, q_half, v, x_half, at.m, at.u, at.p)
    found = acting(loaded, tree, there)
    impulse = [h * force for force in all_forces(tree, there, found)]

    def half_moved(rates: Any) -> Any:
        """The velocity (nv,) of the configuration half-way through the step, if the displacement w changes at these
        rates.
        """
        along = Direction()
        return charts.velocity(space, half, along.tangents(charts.halfway(space, along.all_moved(w, rates))[0]))

    # both ends displace the middle of the step; the work of the impulse there adds to the derivatives of the action
    by_end = add(by_end, charts.pulled_back(space, half_moved, impulse))
    by_start = add(by_start, charts.pulled_back(space, lambda rates: charts.carried(space, half, rates), impulse))
    after = charts.pulled_back(space, lambda rates: charts.local_rate(space, w, rates), by_end)
    # the end stays where it is while the start moves: w changes by the opposite
    before = sub(charts.pulled_back(space, lambda rates: charts.carried(space, w, rates), after), by_start)
    left = [way[k] if k in loaded.locked else one - momentum[k] for k, one in enumerate(before)]
    rates = extra_rates(loaded, tree, there, found)
    grown = [end - (one + h * rate) for end, one, rate in zip(ends, x, rates, strict=True)]
    return {"left": [*left, *grown], "after": after}


def _weightless(loaded: LoadedRobot, p: Any) -> Tree:
    """The robot's tree at parameters p without gravity, as the recursions take it."""
    return loaded.prepared(replace(loaded.tree(p), gravity=(0.0, 0.0, 0.0)))


def _instant(loaded: LoadedRobot, base: Any, s: Any, p: Any) -> Instant:
    """The instant with the state s = [w, v, x] about `base`, for the momentum: t is 0, m and u are empty."""
    return loaded.instant(LocalInstant(0.0, base, s, [], [], p))


def _momentum(loaded: LoadedRobot, base: Any, s: Any, p: Any) -> Sequence[Any]:
    """The momentum M(q) v, shape (nv,)."""
    now = _instant(loaded, base, s, p)
    return loaded.dynamics.laws.inverse(_weightless(loaded, p), now.q, [0.0] * loaded.nv, now.v)


def _velocity(loaded: LoadedRobot, base: Any, s: Any, momentum: Any, p: Any) -> Sequence[Any]:
    """The velocity v, shape (nv,), at which M(q) v is the given momentum."""
    q, still = _instant(loaded, base, s, p).q, [0.0] * loaded.nv
    return loaded.dynamics.laws.accelerations(_weightless(loaded, p), q, still, momentum, locked=loaded.locked)
