"""Block ops in readable equations: a named result, and symbols for its entries.

    s1 = solve([[m1 + m2, c], [c, m2]], [tau1, tau2])          a1 = s1[0]          a2 = s1[1]

A block's result always gets a name; its entries are symbols, which sums and products can contain like any other symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.codegen.reading.expression_tree import FUNCTION, Array, Call, Symbol, Tree
from kinemorph.vocabulary.blocks import Block, LeastSquares, Solve, Table
from kinemorph.vocabulary.complementarity import Complementarity
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from kinemorph.vocabulary.grid_surfaces import Bicubic, NearestPoint

Definition = tuple[Symbol, Tree]

# blocks with data of their own are functions: table1(x); surface1(x, y), all its derivatives; nearest1(x, y, z, r)
STEMS: dict[type[Block], str] = {Table: "table", Bicubic: "surface", NearestPoint: "nearest"}


class BlockResults:
    """The named results of blocks, in the order in which they are added; their names start with `stem`."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.definitions: list[Definition] = []
        self._blocks: dict[Symbol, Block] = {}
        self.functions: dict[Block, str] = {}  # block with data of its own -> the name of its function

    def name(self, block: Block, args: Sequence[Tree]) -> Symbol:
        """Adds the definition of a block's result; returns the symbol of the result."""
        k = len(self.definitions) + 1
        symbol = Symbol(f"{self.stem}{k}", f"{self.stem}_{{{k}}}", (FUNCTION, 0, 1000 * k))
        if type(block) in STEMS:
            if block not in self.functions:
                number = 1 + sum(type(one) is type(block) for one in self.functions)
                self.functions[block] = f"{STEMS[type(block)]}{number}"
            call = Call(self.functions[block], tuple(args))
        else:
            call = _CALLS[type(block)](block, args)
        self.definitions.append((symbol, call))
        self._blocks[symbol] = block
        return symbol

    def entry(self, result: Symbol, index: int) -> Symbol:
        """The symbol of one entry of a result."""
        block = self._blocks[result]
        if isinstance(block, Table):
            return result
        rank, family, place = result.order
        order = (rank, family, place + index + 1)
        stem, number = result.latex[:-1].split("_{")
        if isinstance(block, LeastSquares) and index == block.n * block.k:
            return Symbol(f"{result.text}.rank", rf"\mathrm{{rank}}\,{result.latex}", order)
        if isinstance(block, Complementarity) and index == block.n:
            return Symbol(f"{result.text}.solved", rf"\mathrm{{solved}}\,{result.latex}", order)
        if isinstance(block, CoulombCone) and index == 3 * block.n:
            return Symbol(f"{result.text}.error", rf"\mathrm{{error}}\,{result.latex}", order)
        columns: int = getattr(block, "k", 1)
        places = [index] if columns == 1 else list(divmod(index, columns))
        text = ", ".join(map(str, places))
        return Symbol(f"{result.text}[{text}]", f"{stem}_{{{number},{','.join(str(p + 1) for p in places)}}}", order)


def _solve(block: Solve, args: Sequence[Tree]) -> Call:
    """solve(A, B), with the full symmetric matrix A from the lower triangle in `args`."""
    n = block.n
    split = n * (n + 1) // 2
    lower = [args[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] for i in range(n)]
    A = tuple(tuple(lower[max(i, j)][min(i, j)] for j in range(n)) for i in range(n))
    return Call("solve", (Array(A), _rows(args[split:], block.k)))


def _least_squares(block: LeastSquares, args: Sequence[Tree]) -> Call:
    """The call least_squares(A, B) as an expression tree, from the entries of A and B."""
    split = block.m * block.n
    return Call("least_squares", (_rows(args[:split], block.n), _rows(args[split:], block.k)))


def _complementarity(block: Complementarity, args: Sequence[Tree]) -> Call:
    """The call complementarity(A, b) as an expression tree, from the entries of A and b."""
    split = block.n * block.n
    return Call("complementarity", (_rows(args[:split], block.n), _rows(args[split:], 1)))


def _coulomb_cone(block: CoulombCone, args: Sequence[Tree]) -> Call:
    """The call coulomb_cone(W, b, mu, floor) as an expression tree, from the entries of the matrix and the vectors."""
    m, n = 3 * block.n, block.n
    ends = (m * m, m * m + m, m * m + m + n)
    vectors = (args[ends[0] : ends[1]], args[ends[1] : ends[2]], args[ends[2] :])
    return Call("coulomb_cone", (_rows(args[: ends[0]], m), *(_rows(part, 1) for part in vectors)))


def _rows(entries: Sequence[Tree], columns: int) -> Array:
    """Entries, row by row, as an Array with the given number of columns."""
    return Array(tuple(tuple(entries[i : i + columns]) for i in range(0, len(entries), columns)))


_CALLS: dict[type[Block], Callable[[Any, Sequence[Tree]], Call]] = {
    Solve: _solve,
    LeastSquares: _least_squares,
    Complementarity: _complementarity,
    CoulombCone: _coulomb_cone,
}
