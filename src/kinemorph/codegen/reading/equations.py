"""Readable equations: the outputs of a program as expression trees.

    program ──normal_form──► harmonic polynomials ──sum_to_product, collect──► trees ──► backends.text, backends.latex

A program whose normal forms have more than `limit` terms is written as a list of named subexpressions instead
(`straight_line`). Block ops (solve, least squares, tables) are calls on arrays, and their results have names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kinemorph.codegen.graphs.program import Program, as_program
from kinemorph.codegen.reading.block_trees import BlockResults, Definition
from kinemorph.codegen.reading.collect import collected
from kinemorph.codegen.reading.expression_tree import (
    Call,
    Sum,
    Symbol,
    Tree,
    children,
    expression_ops,
    parts,
    product,
    rebuilt,
    total,
)
from kinemorph.codegen.reading.harmonics import Angle, Form, Harmonic, Monomial
from kinemorph.codegen.reading.names import Symbols, entry_name, fresh_stem, input_symbols
from kinemorph.codegen.reading.normal_form import Atoms, FormTooLong, normal_forms
from kinemorph.codegen.reading.straight_line import straight_line
from kinemorph.codegen.reading.sum_to_product import Term, as_terms, joined
from kinemorph.codegen.work_clock import at_work
from kinemorph.errors import UnsupportedError
from kinemorph.vocabulary.blocks import Block, Item

Rows = Tree | tuple["Rows", ...]

LIMIT = 2000  # the largest number of terms in a normal form
JOIN_UP_TO = 200  # terms; in a longer sum, sines and cosines are not combined into products
SHARED_OPS = 10  # a subexpression gets a name if it has at least this many operations ...
SHARED_SAVING = 16  # ... and the name saves at least this many


@dataclass(frozen=True)
class Equations:
    """A program as readable equations: named subexpressions in order, and one tree for every entry of every output."""

    program: Program
    definitions: tuple[tuple[Symbol, Tree], ...]
    trees: tuple[Tree, ...]
    functions: tuple[tuple[str, Block], ...] = ()  # names and blocks of the functions table1, surface1, ...

    @property
    def ops(self) -> int:
        """The number of operations in all equations, as they are written."""
        return sum(map(expression_ops, self.trees)) + sum(expression_ops(tree) for _, tree in self.definitions)


def readable(
    program: Program, symbols: Symbols | None = None, *, limit: int = LIMIT, parameters: Collection[str] = ("p",)
) -> dict[str, Rows]:
    """The trees of every output by name, nested in its shape: a tree, a tuple of trees, or a tuple of rows.

    Raises UnsupportedError if a normal form exceeds `limit` terms or there are block ops, whose results need names;
    `equations` supports every program.
    """
    program = as_program(program, "readable")
    if program.blocks:
        raise UnsupportedError(
            f"program '{program.name}' contains {program.blocks[0].label}, whose result needs a name, which `readable` "
            "cannot give. Use `equations`."
        )
    inputs = input_symbols(program, symbols or {}, parameters)
    trees = iter(_normal_trees(program, inputs, limit, BlockResults("")))
    return {port.name: _nested([next(trees) for _ in range(port.size)], port.shape) for port in program.outputs}


def equations(
    program: Program,
    symbols: Symbols | None = None,
    *,
    limit: int = LIMIT,
    parameters: Collection[str] = ("p",),
    shared: int = SHARED_OPS,
) -> Equations:
    """The equations of a program, with names for long subexpressions that occur several times.

    If a normal form exceeds `limit` terms, the program is written as a list of named subexpressions. `parameters` are
    the inputs that are written first in a product; `shared` is the least number of operations of what gets a name.
    """
    program = as_program(program, "equations")
    inputs = input_symbols(program, symbols or {}, parameters)
    outputs = [entry_name(port, index, symbols or {})[0] for port in program.outputs for index in range(port.size)]
    taken = [*(symbol.text for symbol in inputs), *outputs]
    stem, results = fresh_stem(taken), BlockResults(fresh_stem(taken, "s"))
    with at_work("simplifying the equations of", program.name):
        try:
            trees = _normal_trees(program, inputs, limit, results)
        except FormTooLong:
            results = BlockResults(results.stem)
            return Equations(program, *straight_line(program, inputs, stem, results), _functions(results))
        return Equations(program, *name_shared(trees, stem, results.definitions, shared), _functions(results))


def _functions(results: BlockResults) -> tuple[tuple[str, Block], ...]:
    """The names and blocks of the functions in block results."""
    return tuple((name, block) for block, name in results.functions.items())


def _nested(trees: list[Tree], shape: tuple[int, ...]) -> Rows:
    """A flat list of trees as nested tuples of the given shape; for shape () the single tree."""
    if not shape:
        return trees[0]
    step = len(trees) // shape[0] if shape[0] else 0
    cuts = pairwise(range(0, len(trees) + 1, step)) if step else ()
    return tuple(_nested(trees[a:b], shape[1:]) for a, b in cuts)


# ── normal forms as trees ─────────────────────────────────────────────────────────────────────────────────────────────


def _normal_trees(program: Program, inputs: list[Symbol], limit: int, results: BlockResults) -> list[Tree]:
    """One tree for every output entry, from its normal form; `results` collects the results of blocks."""
    atoms, forms = normal_forms(program, limit)
    writer = _Writer(atoms, inputs, results)
    return [writer.form(form) for form in forms]


class _Writer:
    """Converts normal forms, which contain atoms, to trees, which contain symbols."""

    def __init__(self, atoms: Atoms, inputs: list[Symbol], results: BlockResults) -> None:
        self.atoms = atoms
        self.inputs = inputs
        self.results = results
        self.done: dict[int, Tree] = {}

    def form(self, form: Form) -> Tree:
        """The tree of a normal form: as a sum of sines and cosines or with products of them, whichever is shorter."""
        terms = as_terms(form)
        plain = self.collected(terms)
        if len(terms) > JOIN_UP_TO:
            return plain
        woven = joined(terms)
        return plain if len(woven) == len(terms) else min(self.collected(woven), plain, key=expression_ops)

    def collected(self, terms: list[Term]) -> Tree:
        listed = []
        for value, monomial, waves in terms:
            powers = {self.harmonic(wave): power for wave, power in waves}
            for atom, power in monomial:
                factor, bases = parts(self.atom(atom))  # a divisor may contain brackets itself
                value *= factor**power
                for base, exponent in bases.items():
                    powers[base] = powers.get(base, 0) + exponent * power
            listed.append((value, powers))
        return collected(listed)

    def harmonic(self, harmonic: Harmonic) -> Tree:
        kind, angle = harmonic
        return Call(kind, (self.angle(angle),))

    def angle(self, angle: Angle) -> Tree:
        return total(product(multiple, self.monomial(monomial)) for monomial, multiple in angle)

    def monomial(self, monomial: Monomial) -> list[tuple[Tree, int]]:
        return [(self.atom(atom), power) for atom, power in monomial]

    def atom(self, atom: int) -> Tree:
        """The tree of an atom: an input's symbol, a call, an entry of a block's result, or the sum in a divisor."""
        if atom not in self.done:
            kind, *rest = self.atoms.entries[atom]
            if kind == "input":
                self.done[atom] = self.inputs[rest[0]]  # type: ignore[call-overload]
            else:
                args = tuple(self.form(dict(arg)) for arg in rest)  # type: ignore[call-overload]
                self.done[atom] = self.opaque(kind, args)
        return self.done[atom]

    def opaque(self, kind: object, args: tuple[Tree, ...]) -> Tree:
        """The tree of an atom that is not an input; `kind` is its op or block, or "group" or "wave"."""
        if isinstance(kind, Block):
            return self.results.name(kind, args)
        if isinstance(kind, Item):
            assert isinstance(args[0], Symbol)
            return self.results.entry(args[0], kind.index)
        return args[0] if kind in ("group", "wave") else Call(str(kind), args)


# ── shared subexpressions ─────────────────────────────────────────────────────────────────────────────────────────────


def name_shared(
    trees: list[Tree], stem: str, results: Sequence[Definition] = (), least: int = SHARED_OPS
) -> tuple[tuple[Definition, ...], tuple[Tree, ...]]:
    """(definitions, trees), where long sums and calls that occur several times in the trees have names x_1, x_2, ...

    `stem` is the letter of these names; `results` are existing definitions, each before its use; `least` is the number
    of operations from which on a subexpression gets a name.
    """
    whole = [*(tree for _, tree in results), *trees]
    uses = Counter(part for tree in dict.fromkeys(whole) for part in _inside(tree))
    names: dict[Tree, Symbol] = {}
    definitions: list[Definition] = []

    def named(tree: Tree, top: bool = False) -> Tree:
        if tree in names and not top:
            return names[tree]
        ops = expression_ops(tree)
        fresh = rebuilt(tree, [named(child) for child in children(tree)])
        if top or ops < least or ops * (uses[tree] - 1) < SHARED_SAVING:
            return fresh
        k = len(names) + 1
        names[tree] = Symbol(f"{stem}{k}", f"{stem}_{{{k}}}", (0, 0, k))
        definitions.append((names[tree], fresh))
        return names[tree]

    for symbol, tree in results:
        fresh = named(tree, top=True)
        definitions.append((symbol, fresh))
    renamed = tuple(named(tree, top=True) for tree in trees)
    return tuple(definitions), renamed


def _inside(tree: Tree) -> Iterator[Tree]:
    """The sums and calls inside a tree, without the tree itself; each is given as often as it occurs."""
    for child in children(tree):
        if isinstance(child, (Sum, Call)):
            yield child
        yield from _inside(child)
