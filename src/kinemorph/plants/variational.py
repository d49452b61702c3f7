"""The balance of a whole step, for variational integrators: discrete Euler-Lagrange equations as programs.

The Lagrangian of a step from `base` to place(base, w) is that of mechanics.steps.discrete_action; its slopes come from
a reverse sweep over the graph. Forces act half-way, on the steady motion between the ends (mechanics.trees.charts).
Momentum is dL/dv = M(q) v, shape (nv,), along the axes of the velocities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.evaluation import inlined
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.plants.user_laws import Law


@dataclass(frozen=True)
class DiscreteLaws:
    """What the programs are made of, over any scalar.

    action      (base, moved, w, h, p) -> the action of a step whose start is at `moved` about `base`
    balance     (t, base, s, z, momentum, h, m, u, p, slopes of the action by the start, by w) -> left, after
    momentum    (base, s, p) -> momentum
    velocity    (base, s, momentum, p) -> v
    """

    action: Law
    balance: Law
    momentum: Law
    velocity: Law


@dataclass(frozen=True, eq=False)
class Discrete:
    """The programs.

    balance     (t, base, s, z, momentum, h, m, u, p) -> left (nv + nx,), after (nv,): z = [w, x at the end]; `left` is
                zero at the right z, where the momentum at the start is `momentum`; `after` is that at the end
    momentum    (base, s, p) -> momentum at s
    velocity    (base, s, momentum, p) -> v at the configuration of s
    """

    balance: Program
    momentum: Program
    velocity: Program


def discrete_programs(name: str, laws: DiscreteLaws, ports: Mapping[str, Shape], nv: int) -> Discrete:
    """The programs of a plant by its name, its laws, and the shapes of the inputs of its `rate`."""
    nz = ports["s"][0] - nv
    momentum: dict[str, Shape] = {"momentum": (nv,)}
    action = trace(
        laws.action,
        {"base": ports["base"], "moved": (nv,), "w": (nv,), "h": (), "p": ports["p"]},
        name=f"{name}.action",
        outputs={"out": ()},
    )
    slopes = jacobian(action, "out", ("moved", "w"), mode="reverse")

    def balance(t: Any, base: Any, s: Any, z: Any, momentum: Any, h: Any, m: Any, u: Any, p: Any) -> Any:
        by = inlined(slopes, (base, [0.0] * nv, z[:nv], h, p))
        return laws.balance(t, base, s, z, momentum, h, m, u, p, by[:nv], by[nv:])

    inputs = {"t": (), "base": ports["base"], "s": ports["s"], "z": (nz,), **momentum, "h": ()}
    inputs |= {group: ports[group] for group in ("m", "u", "p")}
    state = {group: ports[group] for group in ("base", "s")}
    return Discrete(
        trace(balance, inputs, name=f"{name}.balance", outputs={"left": (nz,), "after": (nv,)}),
        trace(laws.momentum, {**state, "p": ports["p"]}, name=f"{name}.momentum", outputs={"out": (nv,)}),
        trace(laws.velocity, {**state, **momentum, "p": ports["p"]}, name=f"{name}.velocity"),
    )
