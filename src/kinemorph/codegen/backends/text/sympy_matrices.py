"""The SymPy backend: programs as symbolic matrices, to simplify, differentiate and print with SymPy.

A program is evaluated op by op on SymPy's expressions. A solve becomes an exact elimination, and a table or a surface
over a grid a `Piecewise`. The nearest point of a surface has no closed form: its coordinates are unknown functions.
Least squares and complementarity problems are not supported: they have no closed form, since the rank and the active
set depend on numbers. (`sympy_source` writes a Python module that builds the same matrices.)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from kinemorph.codegen.graphs.evaluation import carry_out
from kinemorph.codegen.graphs.program import Port, Program, as_program
from kinemorph.codegen.reading.expression_tree import number
from kinemorph.codegen.reading.names import Symbols, input_symbols
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.vocabulary.blocks import Block, LeastSquares, Solve, Table
from kinemorph.vocabulary.complementarity import Complementarity
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from kinemorph.vocabulary.grid_surfaces import Bicubic, NearestPoint, cell_partials

Constants = Literal["float", "exact"]
NEAREST = ("x", "y", "searched", "z", "slope_x", "slope_y")  # the results of a search for the nearest point, as words


def to_sympy(program: Program, symbols: Symbols | None = None, *, constants: Constants = "float") -> dict[str, Any]:
    """The outputs of a program by name: a Matrix (a vector is a column), an expression for shape (), else an Array.

    Inputs are real symbols; `symbols` gives their names, else they are q1, q2, ... after their port. With `constants`
    "exact", numbers become the rationals that they are equal to within rounding: 9.81 becomes 981/100.
    """
    program = as_program(program, "to_sympy")
    if constants not in get_args(Constants):
        raise UnsupportedError(f"to_sympy: constants is '{constants}'; expected 'float' or 'exact'.")
    refuse_searches(program)
    sympy = _sympy()
    named = input_symbols(program, symbols or {}, ())
    inputs = [sympy.Symbol(symbol.text, real=True) for symbol in named]
    meanings = _meanings(sympy)

    def exact(value: float) -> Any:
        short = number(value).value
        if isinstance(short, Fraction):
            return sympy.Rational(short.numerator, short.denominator)
        return sympy.Rational(repr(short)) if abs(short) < float("inf") else sympy.Float(short)

    def meaning(op: str | Block) -> Callable[..., Any]:
        return _of_block(sympy, op) if isinstance(op, Block) else meanings[op]

    constant = exact if constants == "exact" else sympy.Float
    entries = iter(carry_out(program, inputs, meaning, constant))
    return {port.name: _shaped(sympy, port, [next(entries) for _ in range(port.size)]) for port in program.outputs}


def _sympy() -> Any:
    """The module `sympy`; MissingExtraError if it is not installed."""
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("sympy", "sympy") from None
    return sympy


def _meanings(sympy: Any) -> dict[str, Callable[..., Any]]:
    """The functions that evaluate ops on SymPy expressions, by op."""

    def truth(relation: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: sympy.Piecewise((1, relation(a, b)), (0, True))

    same = ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan2", "sign", "floor")
    return {
        **{name: getattr(sympy, name) for name in same},
        **{name: getattr(operator, name) for name in ("add", "sub", "mul", "neg", "pow", "abs")},
        "div": operator.truediv,
        "min": sympy.Min,
        "max": sympy.Max,
        "lt": truth(sympy.Lt),
        "le": truth(sympy.Le),
        "eq": truth(sympy.Eq),
        "where": lambda c, a, b: sympy.Piecewise((a, sympy.Ne(c, 0)), (b, True)),
    }


def _of_block(sympy: Any, block: Block) -> Callable[..., tuple[Any, ...]]:
    """The function that evaluates a block on SymPy expressions."""

    def solved(*args: Any) -> tuple[Any, ...]:
        assert isinstance(block, Solve)
        n, split = block.n, block.n * (block.n + 1) // 2
        A = sympy.Matrix(n, n, lambda i, j: args[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)])
        return tuple(A.LUsolve(sympy.Matrix(n, block.k, args[split:])))

    def looked_up(x: Any) -> tuple[Any, ...]:
        assert isinstance(block, Table)
        limits = [*(x < edge for edge in block.breaks), True]
        rows = zip(block.origins, block.coefficients, limits, strict=True)
        return (sympy.Piecewise(*((_polynomial(row, x - origin), limit) for origin, row, limit in rows)),)

    def surface(x: Any, y: Any) -> tuple[Any, ...]:
        assert isinstance(block, Bicubic)
        return _partials(sympy, block, x, y)

    def nearest(*args: Any) -> tuple[Any, ...]:
        return tuple(sympy.Function(f"nearest_{part}")(*args) for part in NEAREST)

    meanings: dict[type[Block], Callable[..., tuple[Any, ...]]] = {Table: looked_up, Bicubic: surface}
    return meanings.get(type(block), nearest if isinstance(block, NearestPoint) else solved)


def _partials(sympy: Any, block: Bicubic, x: Any, y: Any) -> tuple[Any, ...]:
    """The partial derivatives of a surface, each a polynomial in every cell of its grid."""
    grid = block.grid
    nodes, (nx, ny, _) = grid.nodes.array, grid.nodes.shape
    u, v = ((at - first) / step for at, first, step in zip((x, y), grid.corner, grid.spacing, strict=True))
    rates = [
        sympy.Piecewise((1 / step, sympy.And(sympy.Le(0, w), sympy.Le(w, count - 1))), (0, True))
        for w, count, step in zip((u, v), (nx, ny), grid.spacing, strict=True)
    ]
    u, v = (sympy.Min(sympy.Max(w, 0), count - 1) for w, count in ((u, nx), (v, ny)))
    pieces = []
    for i in range(nx - 1):
        for j in range(ny - 1):
            near, far = (nodes[k, j : j + 2].ravel().tolist() for k in (i, i + 1))
            here = [*([u < i + 1] if i < nx - 2 else []), *([v < j + 1] if j < ny - 2 else [])]
            pieces.append((cell_partials(near, far, u - i, v - j, rates, block.order), sympy.And(*here)))
    return tuple(sympy.Piecewise(*((values[k], here) for values, here in pieces)) for k in range(block.n_out))


def _polynomial(coefficients: Sequence[float], r: Any) -> Any:
    """The polynomial in r with the given coefficients, constant term first."""
    return sum((c * r**p for p, c in enumerate(coefficients) if c), start=0.0)


def _shaped(sympy: Any, port: Port, entries: list[Any]) -> Any:
    """The entries of an output as a SymPy expression, Matrix or Array, by the shape of its port."""
    if port.shape == ():
        return sympy.sympify(entries[0])
    if len(port.shape) > 2:
        return sympy.Array(entries, port.shape)
    return sympy.Matrix(port.shape[0], port.shape[1] if len(port.shape) == 2 else 1, entries)


def refuse_searches(program: Program) -> None:
    """Raises UnsupportedError if a program contains a least-squares or a complementarity problem."""
    for block in program.blocks:
        if isinstance(block, LeastSquares):
            raise UnsupportedError(
                f"program '{program.name}' contains {block.label}, whose rank depends on numbers, so there is no "
                "closed form for SymPy. Export C, Python or MATLAB instead, or another function."
            )
        if isinstance(block, (Complementarity, CoulombCone)):
            raise UnsupportedError(
                f"program '{program.name}' contains {block.label}, whose active set depends on numbers, so there is "
                "no closed form for SymPy. Export C, Python or MATLAB instead, or another function."
            )
