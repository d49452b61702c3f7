"""Derivatives of forward dynamics of robots with many joints: straight-line code for the columns, loops to solve.

The results are dense matrices, n^2 entries each, and M is sparse: it couples only axes of which one carries the other.
Unrolled, the solution of M X = B would be two thirds of all operations at 24 joints, and more beyond. As loops along
rows it is short to compile, and uses SIMD registers on one state too. The columns B depend on the acceleration a, which
is computed with the same factorization of M:

    first ──► M, tau - h ──► factorization, a ──► second ──► columns B ──► M X = B

Similar limbs share their code: the operations of one limb run in a loop (`codegen.loops.splitting`), with the numbers
in which the limbs differ in an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.branch_matrix import Forest, factor
from kinemorph.codegen.loops.branch_matrix_rows import solve_rows
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.codegen.loops.splitting import COMMON, EARLY, LATE, SUM, SUMMAND, Spot, Sums, staged
from kinemorph.deriving.limb_lanes import TABLE, as_q, as_v, each
from kinemorph.mechanics.derivatives.forward_derivatives import answering_bases, forward_system
from kinemorph.mechanics.trees.limbs import SUMS, Limbs, kept_places, one_of_each
from kinemorph.mechanics.trees.tree import Tree

MATRICES = {"by_q": "dq", "by_v": "dv", "by_tau": "dtau"}  # output of the system -> output of the loop program


def system_inputs(tree: Tree, limbs: Sequence[Limbs]) -> dict[str, tuple[int, ...]]:
    """The shapes, by name, of the inputs of the function that `system_of` returns."""
    _, q, v = kept_places(tree, limbs)
    shapes: dict[str, tuple[int, ...]] = {"q": (len(q),), **dict.fromkeys(("v", "tau", "a"), (len(v),))}
    shapes |= {TABLE.format(k): (len(kind.own),) for k, kind in enumerate(limbs)}
    return shapes | {SUM.format(k): (SUMS,) for k in range(len(limbs))}


def system_of(limbs: Sequence[Limbs]) -> Callable[..., dict[str, Any]]:
    """The function system(tree, *inputs, *loads) of the linear system for the derivatives of forward dynamics.

    It applies `forward_system` to the tree with one limb of each kind. `tree` is the whole tree, `inputs` are those of
    `system_inputs` in their order, and `loads` are dicts from a link of the whole tree to the wrench on it. Besides the
    outputs of `forward_system`, it returns for each kind of limb the scalars of one limb that have to be summed over
    all limbs of that kind.
    """

    def system(tree: Tree, q: Any, v: Any, tau: Any, a: Any, *others: Any) -> dict[str, Any]:
        rows, given = others[: len(limbs)], others[len(limbs) : 2 * len(limbs)]
        sums = [Sums(totals, kind.count) for totals, kind in zip(given, limbs, strict=True)]
        links = kept_places(tree, limbs)[0]
        loads = {links.index(link): load for loads in others[2 * len(limbs) :] for link, load in loads.items()}
        found = forward_system(one_of_each(tree, limbs, rows, sums), q, v, tau, a, loads)
        return {**found, **{SUMMAND.format(k): total.summands for k, total in enumerate(sums)}}

    return system


def forward_dynamics_derivatives(
    system: Program, forest: Forest, tree: Tree, limbs: Sequence[Limbs], name: str
) -> LoopProgram:
    """The loop program of the derivatives of forward dynamics with respect to q, v and tau, shape (n, n) each.

    `system` is the program that `system_of` makes.
    """
    n, bases = forest.size, answering_bases(tree)
    parts = staged(system, ("M", "force"), [kind.count for kind in limbs], _spots(tree, limbs))
    own = {"a", *(form.format(k) for k in range(len(limbs)) for form in (TABLE, SUM))}
    inputs = {port.name: port.shape for port in system.inputs if port.name not in own}
    inputs |= {"q": (tree.nq,), "v": (n,), "tau": (n,)}
    loop = LoopBuilder(name, inputs, dict.fromkeys(MATRICES.values(), (n, n)))
    M, a, answered = loop.buffer("M", (n, n)), loop.buffer("a", (n, 1)), loop.buffer("answered", (6 * len(bases), 6))
    X = [loop[out] for out in MATRICES.values()]
    arrays = {port: loop[port] for port in inputs} | dict(zip(MATRICES, X, strict=True))
    arrays |= {"M": M, "force": a, "a": a, "answered": answered}
    arrays |= {port.name: loop.buffer(port.name, port.shape) for port in parts.carried}
    for k, kind in enumerate(limbs):
        arrays[TABLE.format(k)] = loop.constant(TABLE.format(k), [x for row in kind.table for x in row])

    if limbs:  # M is zero at the start
        for matrix in X:
            with loop.repeat(n) as i, loop.repeat(n) as c:
                loop.let(matrix[i, c], lambda: 0.0)
    parts.write(loop, EARLY, arrays)
    factor(loop, forest, M)
    solve_rows(loop, forest, M, a)
    parts.write(loop, LATE, arrays)
    solve_rows(loop, forest, M, *X)
    _take_answered(loop, X, answered, bases)
    return loop.program()


def _spots(tree: Tree, limbs: Sequence[Limbs]) -> dict[str, Sequence[Spot]]:
    """For each input and output of the system with one limb of each kind, where its entries are in the arrays of the
    robot.

    A Spot is the index of an entry of the first limb, with the stride to the same entry of the next limb.
    """
    coordinates, velocities = as_q(tree, limbs).spots, as_v(tree, limbs).spots
    pairs = [_pair(row, column, tree.nv) for row in velocities for column in velocities]
    spots: dict[str, Sequence[Spot]] = {"q": coordinates, **dict.fromkeys(("v", "tau", "a", "force"), velocities)}
    spots |= dict.fromkeys(("M", *MATRICES), pairs)
    for k, kind in enumerate(limbs):
        spots[TABLE.format(k)] = each(limbs, k, len(kind.own)).spots
    return spots


def _pair(row: Spot, column: Spot, n: int) -> Spot:
    """The Spot (index and stride from limb to limb) of an entry of a matrix with n columns, from those of row and
    column.

    Entries between limbs of two kinds are zero, so that no kind has to be chosen for them.
    """
    repeat = max(row.repeat, column.repeat, COMMON)
    return Spot(row.place * n + column.place, repeat, row.stride * n + column.stride)


def _take_answered(loop: LoopBuilder, X: Sequence[View], answered: View, bases: Sequence[int]) -> None:
    """Adds to the loop program: subtract `answered` from the results dq and dv, X[0] and X[1].

    `answered` is the part of the results that is known without a solution; see `forward_system`. Only the rows of
    translation and the six columns of each free base change; `bases` are their first indices in v.
    """
    for number, base in enumerate(bases):
        for part in range(2):
            with loop.repeat(3) as k, loop.repeat(6) as c:
                place = X[part][k + base, c + base]
                loop.let(place, lambda x, y: x - y, place, answered[k + 6 * number + 3 * part, c])
