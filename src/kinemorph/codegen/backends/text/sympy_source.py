"""Programs as the source of a Python module that builds them as SymPy matrices, from the readable equations.

    q1 = Symbol("q1", real=True)

    def inverse_dynamics():
        tau = Matrix(1, 1, [m1*l1**2*a1 + m1*l1*g*sin(q1)])
        return tau

SymPy is not needed to write the module. Fractions stay exact; other numbers are decimal, as in the model.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from kinemorph.codegen.backends.identifiers import comment, identifier
from kinemorph.codegen.backends.text.languages import function_name
from kinemorph.codegen.backends.text.plain import text
from kinemorph.codegen.backends.text.sympy_matrices import NEAREST, refuse_searches
from kinemorph.codegen.graphs.program import Port, Program, as_programs
from kinemorph.codegen.reading.block_trees import STEMS
from kinemorph.codegen.reading.equations import equations
from kinemorph.codegen.reading.expression_tree import Array, Call, Number, Symbol, Tree, children, rebuilt
from kinemorph.codegen.reading.names import Symbols, entry_name, port_name
from kinemorph.vocabulary.blocks import Block, Table
from kinemorph.vocabulary.grid_surfaces import Bicubic, NearestPoint

SYMPY = (
    *(
        "Abs",
        "And",
        "Array",
        "Eq",
        "Function",
        "Le",
        "Lt",
        "Matrix",
        "Max",
        "Min",
        "Ne",
        "Piecewise",
        "Rational",
        "Symbol",
        "acos",
    ),
    *("asin", "atan2", "cos", "exp", "floor", "log", "nan", "oo", "sign", "sin", "sqrt", "sympify", "tan"),
)
RENAMED = {"min": "Min", "max": "Max", "abs": "Abs", "lt": "less", "le": "at_most", "eq": "equal"}
# f and its partial derivatives up to an order, by total order: a bicubic polynomial in every cell of a grid
SURFACE = """def surface(x, y, nodes, order, spacing, corner, shape):
    (dx, dy), (x0, y0), (nx, ny) = spacing, corner, shape

    def hermite(t, k):
        values = [1 - 3*t**2 + 2*t**3, t - 2*t**2 + t**3, 3*t**2 - 2*t**3, t**3 - t**2]
        slopes = [6*t**2 - 6*t, 1 - 4*t + 3*t**2, 6*t - 6*t**2, 3*t**2 - 2*t]
        bends = [12*t - 6, 6*t - 4, 6 - 12*t, 6*t - 2]
        return [values, slopes, bends, [12, 6, -12, 6], [0]*4][min(k, 4)]

    def side(u, count):
        inside = Piecewise((1, And(Le(0, u), Le(u, count - 1))), (0, True))
        return Min(Max(u, 0), count - 1), inside

    (u, inside_x), (v, inside_y) = side((x - x0)/dx, nx), side((y - y0)/dy, ny)
    found = []
    for a, b in ((total - k, k) for total in range(order + 1) for k in range(total + 1)):
        pieces = []
        for i in range(nx - 1):
            for j in range(ny - 1):
                h, g = hermite(u - i, a), hermite(v - j, b)
                near, far = nodes[i*ny + j] + nodes[i*ny + j + 1], nodes[(i + 1)*ny + j] + nodes[(i + 1)*ny + j + 1]
                along = [h[0]*near[k] + h[1]*near[k + 1] + h[2]*far[k] + h[3]*far[k + 1] for k in (0, 2, 4, 6)]
                value = sum(one*other for one, other in zip(g, along))
                here = [*([Lt(u, i + 1)] if i < nx - 2 else []), *([Lt(v, j + 1)] if j < ny - 2 else [])]
                pieces.append((value, And(*here)))
        found.append(Piecewise(*pieces)*(inside_x/dx)**a*(inside_y/dy)**b)
    return found"""
HELPERS = {
    "less": "def less(a, b):\n    return Piecewise((1, Lt(a, b)), (0, True))",
    "at_most": "def at_most(a, b):\n    return Piecewise((1, Le(a, b)), (0, True))",
    "equal": "def equal(a, b):\n    return Piecewise((1, Eq(a, b)), (0, True))",
    "where": "def where(c, a, b):\n    return Piecewise((a, Ne(c, 0)), (b, True))",
    "solve": "def solve(A, B):\n    return A.LUsolve(B)",
    "surface": SURFACE,
}
NAMED = [f"{stem}{k}" for stem in STEMS.values() for k in range(100)]
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *SYMPY, *HELPERS, *NAMED})


def export_sympy(programs: Sequence[Program], name: str, *, symbols: Symbols | None = None) -> dict[str, str]:
    """{file name: text} of the module `name_sympy.py`, with one function for each program.

    A function returns its outputs in order: a Matrix (a vector is a column), an expression for a single number, an
    Array for three axes or more. `symbols` gives the names of entries of ports, as for printed equations.
    """
    variables: dict[str, str] = {}
    taken: list[str] = []
    functions = []
    for program in as_programs(programs, "export_sympy"):
        refuse_searches(program)
        names = _safe(program, symbols or {}, variables)
        taken.append(identifier(function_name(program), [*taken, *variables.values()], RESERVED))
        functions.append(_function(taken[-1], program, names, variables.values()))
    lines = [f'{variable} = Symbol("{given}", real=True)' for given, variable in variables.items()]
    body = "\n\n\n".join(["\n".join(lines), *functions])
    helpers = [helper for called, helper in HELPERS.items() if f"{called}(" in body]
    words = set(re.findall(r"\w+", "\n".join([body, *helpers])))
    opening = [
        f'"""{comment(name) or "A model"}: {", ".join(taken)}, as SymPy matrices.',
        "",
        "Emitted by Kinemorph. SI units and radians; every function builds its expressions anew.",
        '"""',
        "",
        f"from sympy import {', '.join(word for word in SYMPY if word in words)}",
        "",
    ]
    return {f"{identifier(name)}_sympy.py": "\n".join(opening) + "\n" + "\n\n\n".join([body, *helpers]) + "\n"}


def _safe(program: Program, symbols: Symbols, variables: dict[str, str]) -> Symbols:
    """Symbols for the entries of a program's ports that are valid in Python source.

    The variable of each input name is added to `variables`.
    """
    names: dict[tuple[str, int | None], tuple[str, str]] = {}
    for port in program.inputs:
        for index in range(port.size):
            plain, latex = entry_name(port, index, symbols)
            given = plain if plain.isidentifier() else identifier(plain)
            if given not in variables:
                variables[given] = identifier(given, variables.values(), RESERVED)
            names[port.name, index] = (variables[given], latex)
    for port in program.outputs:
        plain, latex = port_name(port, symbols)
        names[port.name, None] = (identifier(plain, (), RESERVED), latex)
    return names


def _function(name: str, program: Program, names: Symbols, variables: Iterable[str]) -> str:
    """The source of the function `name`, which builds the outputs of a program."""
    written = equations(program, names)
    lines = [f"def {name}():", f'    """{comment(program.name)}: {written.ops} operations as written."""']
    for called, block in written.functions:
        lines += _FUNCTIONS[type(block)](called, block)
    lines += [f"    {symbol.text} = {_text(tree)}" for symbol, tree in written.definitions]
    trees = iter(written.trees)
    taken = {*variables, *(symbol.text for symbol, _ in written.definitions)}
    given: list[str] = []
    for port in program.outputs:
        given.append(identifier(names[port.name, None][0], taken.union(given), RESERVED))
        lines += _output(given[-1], port, [_text(next(trees)) for _ in range(port.size)])
    return "\n".join([*lines, f"    return {', '.join(given)}"])


def _output(name: str, port: Port, entries: list[str]) -> Iterator[str]:
    """Lines that build an output from the source text of its entries."""
    if port.shape == ():
        yield f"    {name} = sympify({entries[0]})"
        return
    rows, columns = (*port.shape, 1)[:2]
    yield f"    {name} = Matrix({rows}, {columns}, [" if len(port.shape) < 3 else f"    {name} = Array(["
    yield from (f"        {entry}," for entry in entries)
    yield "    ])" if len(port.shape) < 3 else f"    ], {port.shape})"


def _table(name: str, table: Table) -> list[str]:
    """Lines that define a piecewise polynomial as a local function `name`."""
    lines = [f"    def {name}(x):", "        return Piecewise("]
    limits = [*(f"x < {edge!r}" for edge in table.breaks), "True"]
    for origin, row, limit in zip(table.origins, table.coefficients, limits, strict=True):
        terms = [f"{c!r}*(x - {origin!r})**{p}" for p, c in enumerate(row) if c]
        lines.append(f"            ({' + '.join(terms) or '0'}, {limit}),")
    return [*lines, "        )", ""]


def _surface(name: str, block: Bicubic) -> list[str]:
    """Lines that define the partial derivatives of a surface as a local function `name`."""
    nx, ny, _ = block.grid.nodes.shape
    given = f"{block.order}, {block.grid.spacing!r}, {block.grid.corner!r}, {(nx, ny)!r}"
    rows = [f"            {row!r}," for row in block.grid.nodes.array.reshape(-1, 4).tolist()]
    return [
        f"    def {name}(x, y):",
        "        nodes = [",
        *rows,
        "        ]",
        f"        return surface(x, y, nodes, {given})",
        "",
    ]


def _nearest(name: str, block: NearestPoint) -> list[str]:
    """Lines that define the nearest point of a surface as unknown functions, since there is no closed form."""
    entries = ", ".join(f'Function("{name}_{part}")(x, y, z, r)' for part in NEAREST)
    return [f"    def {name}(x, y, z, r):", f"        return [{entries}]", ""]


_FUNCTIONS: dict[type[Block], Callable[[str, Any], list[str]]] = {
    Table: _table,
    Bicubic: _surface,
    NearestPoint: _nearest,
}


def _text(tree: Tree) -> str:
    """A tree as Python source that uses SymPy's names."""
    return text(_in_sympy(tree))


def _in_sympy(tree: Tree) -> Tree:
    """The tree with SymPy's names for fractions, infinities, arrays and functions."""
    if isinstance(tree, Number):
        return _number(tree)
    fresh = [_in_sympy(child) for child in children(tree)]
    if isinstance(tree, Call):
        return Call(RENAMED.get(tree.name, tree.name), tuple(fresh))
    made = rebuilt(tree, fresh)
    return Call("Matrix", (made,)) if isinstance(made, Array) else made


def _number(tree: Number) -> Tree:
    """A number as SymPy writes it: Rational(p, q), oo or nan where Python's own number would not be exact."""
    value = tree.value
    if isinstance(value, Fraction):
        return tree if value.denominator == 1 else Symbol(f"Rational({value.numerator}, {value.denominator})", "")
    words = {float("inf"): "oo", float("-inf"): "-oo"}
    return Symbol("nan" if value != value else words[value], "") if value != value or value in words else tree
