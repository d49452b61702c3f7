"""The matrices and vectors of the kinematic graph of a robot, each as a program of (q, v, a) to print.

They are those of mechanics.formulations.incidence: B, C, S, Ad, M, M_rate and ad, t_K, t_B, w_B, w_g, w_K and tau. The
order of the six numbers of a twist is "vw", [linear; angular] as everywhere else, or "wv", [angular; linear] as in the
paper; wrenches are [force; moment] or [moment; force].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from kinemorph.codegen.graphs.program import Program
from kinemorph.deriving.making import Maker
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.formulations import incidence
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed

Order = Literal["vw", "wv"]
ORDERS: dict[str, tuple[int, ...]] = {"vw": (0, 1, 2, 3, 4, 5), "wv": (3, 4, 5, 0, 1, 2)}
SQUARE = ("B", "C", "Ad", "M", "M_rate", "ad")  # matrices whose columns come in blocks of six too
QUANTITIES = ("B", "C", "S", "Ad", "t_K", "t_B", "M", "ad", "M_rate", "w_B", "w_g", "w_K", "tau")


def graph_programs(
    robot: Robot, parameters: tuple[Parameter, ...], quantities: Sequence[str] = QUANTITIES, order: Order = "vw"
) -> tuple[Program, ...]:
    """One program for each of the quantities, called after it; `parameters` become the input `p`."""
    if order not in get_args(Order):
        raise UnsupportedError(
            f"order is {order!r:.40}; expected 'vw' for [linear; angular], or 'wv' for [angular; linear] as in the "
            "paper. Choose one of these."
        )
    for name in quantities:
        if name not in QUANTITIES:
            known = listed(QUANTITIES, len(QUANTITIES))
            raise UnsupportedError(
                f"'{name!s:.40}' is no quantity of the kinematic graph; expected some of {known}."
                f"{did_you_mean(str(name), QUANTITIES)}"
            )
    maker = Maker(robot, "incidence", parameters, backend="interpreter")
    return tuple(_program(maker, name, order) for name in quantities)


def _program(maker: Maker, name: str, order: Order) -> Program:
    links, nv = 6 * len(maker.tree.links), maker.robot.nv
    usual = (links, links) if name in SQUARE else (links,)
    shape = {"B": (links, links + 6 * len(maker.tree.closures)), "S": (links, nv), "tau": (nv,)}.get(name, usual)

    def law(tree: Tree, q: Any, v: Any, a: Any) -> dict[str, Any]:
        every = tree.all_joints(q, v)
        found = incidence.complete_model(tree, every.q, every.v, every.accelerations(a))[name]
        if name == "tau":
            return {name: every.forces(found)}
        return {name: in_order(every.columns(found) if name == "S" else found, order, square=name in SQUARE)}

    return maker.program(name, ("q", "v", "a"), law, {name: shape}, written=True)


def in_order(rows: Sequence[Any], order: Order, *, square: bool) -> list[Any]:
    """The rows of a matrix or vector, in blocks of six, in this order; with `square` the columns too."""
    places = [6 * block + k for block in range(len(rows) // 6) for k in ORDERS[order]]
    chosen = [rows[place] for place in places]
    return [in_order(row, order, square=False) for row in chosen] if square else chosen
