r"""The equations of a robot's kinematic graph, written out: the matrix equations, and every matrix and vector in them.

They are those of Escalera et al. on branched robots, corrected as in docs/errata.md, which
mechanics.formulations.incidence computes. Twists and wrenches are in world axes about the world's origin. The links are
the vertices 1 ... n, in the order of `Dynamics.link_names`; 0 is the world. An arc goes from a link to its parent and
is called after the joint; arcs that close loops come last. Symbols have the indices of the paper: t_2^(0,1) is the
twist of link 2 relative to link 1 in the axes of the world, w_1^(0,2) the wrench of link 1 on link 2.

    print(graph_equations(robot))                # text
    graph_equations(robot, order="wv").latex     # [angular; linear], as in the paper
    graph_equations(robot, ("Ad", "w_K")).sympy  # the source of a Python module
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from kinemorph.algebra.scalar import is_zero
from kinemorph.codegen.backends.text.latex import latex_rows
from kinemorph.codegen.backends.text.mathml import mathml_rows
from kinemorph.codegen.backends.text.plain import text
from kinemorph.codegen.backends.text.sympy_source import export_sympy
from kinemorph.codegen.backends.text.typst import typst_rows
from kinemorph.codegen.reading.equation_rows import EquationRow, Page, matrix_rows, tree_row
from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.expression_tree import Number, Tree
from kinemorph.codegen.reading.line_breaks import Line
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.graph_programs import QUANTITIES, SQUARE, Order, graph_programs
from kinemorph.display.equations.equations_of_motion import (
    ParameterChoice,
    WrittenEquations,
    symbolic_dynamics,
    write_equations,
)
from kinemorph.display.equations.symbols import CoordinateNames
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import WORLD
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.vocabulary.typography.marks import Matrix, Named

# number in the paper, the equation as text, and in LaTeX
MATRIX_EQUATIONS: tuple[tuple[str, str, str], ...] = (
    ("7", "t_K = Ad S qd", r"t_K = \mathrm{Ad}\, S\, \dot{q}"),
    ("9", "t_K = -B^T t_B", r"t_K = -B^{T} t_B"),
    ("10", "t_B = C t_K,  C = -B^-T", r"t_B = C\, t_K, \quad C = -B^{-T}"),
    ("12", "M = Ad^-T M_b Ad^-1", r"M = \mathrm{Ad}^{-T} M_b\, \mathrm{Ad}^{-1}"),
    ("20", "dM/dt = -ad^T M - M ad", r"\dot{M} = -\mathrm{ad}^{T} M - M\, \mathrm{ad}"),
    (
        "21",
        "w_B = (-ad^T M - M ad) C Ad S qd + M C ad Ad S qd + M C Ad S qdd",
        r"w_B = \left(-\mathrm{ad}^{T} M - M\, \mathrm{ad}\right) C\, \mathrm{Ad}\, S\, \dot{q} "
        r"+ M\, C\, \mathrm{ad}\, \mathrm{Ad}\, S\, \dot{q} + M\, C\, \mathrm{Ad}\, S\, \ddot{q}",
    ),
    ("24", "w_g = M t_g", "w_g = M\\, t_g"),
    ("26", "w_B = -B w_K + w_g + w_E", r"w_B = -B\, w_K + w_g + w_E"),
    ("26", "w_K = C^T (w_B - w_g - w_E)", r"w_K = C^{T} \left(w_B - w_g - w_E\right)"),
    ("26", "tau = S^T Ad^T w_K", r"\tau = S^{T} \mathrm{Ad}^{T} w_K"),
)
# what each quantity is, its symbol for link i with the parent p as text, and in LaTeX
MEANINGS: dict[str, tuple[str, str, str]] = {
    "B": ("incidence matrix: -1 at the child, 1 at the parent of each arc; each entry times the unit matrix", "", ""),
    "C": ("-B^-T: 1 where a link is the other or carried by it; each entry times the unit matrix", "", ""),
    "S": ("axes of the joints, each in the frame of its child", "s_{i}^({i},{p})", r"s_{{{i}}}^{{{i},{p}}}"),
    "Ad": ("changes of frame from the links to the world", "Ad(H_{i}^0)", r"\mathrm{{Ad}}_{{H_{{{i}}}^{{0}}}}"),
    "t_K": ("twists of the joints, of the child relative to the parent", "t_{i}^(0,{p})", r"t_{{{i}}}^{{0,{p}}}"),
    "t_B": ("twists of the links", "t_{i}^(0,0)", r"t_{{{i}}}^{{0,0}}"),
    "M": ("inertias of the links about the world's origin", "M^(0,{i})", r"M^{{0,{i}}}"),
    "ad": ("matrices of the twists of the links", "ad(t_{i}^(0,0))", r"\mathrm{{ad}}_{{t_{{{i}}}^{{0,0}}}}"),
    "M_rate": ("rates of the inertias", "dM^(0,{i})/dt", r"\dot{{M}}^{{0,{i}}}"),
    "w_B": ("wrenches that the links need for their motion", "w^(0,{i})", r"w^{{0,{i}}}"),
    "w_g": ("weights of the links", "w_g^(0,{i})", r"w_{{g}}^{{0,{i}}}"),
    "w_K": ("wrenches through the joints, of the parent on the child", "w_{p}^(0,{i})", r"w_{{{p}}}^{{0,{i}}}"),
    "tau": ("generalized forces", "tau_{i}", r"\tau_{{{i}}}"),
}
ORDER_WORDS = {"vw": ("[linear; angular]", "[force; moment]"), "wv": ("[angular; linear]", "[moment; force]")}
UNITS = {"0": Named("0", "0"), "1": Named("1_6", "1"), "-1": Named("-1_6", "-1")}  # multiples of the unit matrix
INDENT = "    "
WIDEST = 120  # characters of a row of a matrix


@dataclass(frozen=True, eq=False, repr=False)
class GraphEquations:
    """The equations of a kinematic graph: `text`, `latex`, `typst`, `mathml`, and `sympy`, the source of a module.

    `graph["w_K"]` has one quantity alone. `links` are the vertices 1 ... n, `arcs` the joints that leave them, and
    `parents` the numbers of their parents.
    """

    written: WrittenEquations
    quantities: tuple[str, ...]
    order: Order
    links: tuple[str, ...]
    arcs: tuple[str, ...]
    parents: tuple[int, ...]

    @property
    def robot(self) -> Robot:
        """The robot whose equations these are."""
        return self.written.robot

    @property
    def legend(self) -> tuple[str, ...]:
        """One line for each symbol that occurs: coordinates with their units, parameters with their values."""
        return self.written.legend

    def __getitem__(self, quantity: str) -> GraphEquations:
        """The equations of one quantity, such as "Ad"; KeyError where it is not among the quantities."""
        if quantity not in self.quantities:
            raise KeyError(f"there is no quantity '{quantity}'. Choose from: {', '.join(self.quantities)}")
        program = self.written.programs[self.quantities.index(quantity)]
        return replace(self, written=replace(self.written, programs=(program,)), quantities=(quantity,))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        count = f"{len(self.links)} links, {len(self.arcs)} arcs"
        return f"<GraphEquations of '{self.robot.name}': {count}; .text, .latex, .typst, .mathml, .sympy, .legend>"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}$$"

    @cached_property
    def text(self) -> str:
        """The matrix equations with their numbers in the paper, then every quantity, block by block.

        One quantity alone is written without the matrix equations.
        """
        lines = [f"# {line}" for line in self.heading]
        if len(self.quantities) > 1:
            lines += [f"({number})".ljust(6) + equation for number, equation, _ in MATRIX_EQUATIONS]
        for name, written in zip(self.quantities, self.written.written, strict=True):
            lines += ["", f"{name}: {MEANINGS[name][0]}"]
            lines += [f"{INDENT}{symbol.text} = {text(tree)}" for symbol, tree in written.definitions]
            if name in ("B", "C"):
                lines += self._unit_blocks(name, written)
            else:
                for i, rows in self._blocks(name, written):
                    lines += _block_lines(self._label(name, i, 1), [list(map(text, row)) for row in rows])
        return "\n".join(lines) + "\n"

    @cached_property
    def latex(self) -> str:
        """One `aligned` block with the matrix equations, then one for each quantity.

        One quantity alone is written without the matrix equations.
        """
        return "".join(map(latex_rows, self.rows(Page(splits=False, room=math.inf))))

    @cached_property
    def typst(self) -> str:
        """One block equation of typst with the matrix equations, then one for each quantity, between dollar signs."""
        return "".join(map(typst_rows, self.rows()))

    @cached_property
    def mathml(self) -> str:
        """One `math` element of MathML with the matrix equations, then one for each quantity."""
        return "".join(map(mathml_rows, self.rows()))

    def rows(self, page: Page = Page()) -> list[list[EquationRow]]:  # noqa: B008
        """The rows of the matrix equations, if there is more than one quantity, then those of each quantity."""
        parts = [_matrix_equations()] if len(self.quantities) > 1 else []
        for name, written in zip(self.quantities, self.written.written, strict=True):
            rows = [tree_row(Named(symbol.latex, symbol.text), tree, page) for symbol, tree in written.definitions]
            if name in ("B", "C"):
                cells = tuple(tuple(UNITS[text(tree)] for tree in row) for row in self._entries(written))
                rows.append(EquationRow(Named(name, name), (Line(Matrix(cells), 0),)))
            else:
                for i, block in self._blocks(name, written):
                    rows += self._block_rows(name, i, block, page)
            parts.append(rows)
        return parts

    def _block_rows(self, name: str, i: int, block: list[list[Tree]], page: Page) -> list[EquationRow]:
        """The rows of block i of a quantity: one with a matrix, or one for each entry where it is too wide."""
        label = Named(self._label(name, i, 2), self._label(name, i, 1))
        if name == "tau":
            return [tree_row(label, block[0][0], page)]
        columns = len(block[0])
        places = [f"{r + 1}" if columns == 1 else f"{r + 1}{c + 1}" for r in range(len(block)) for c in range(columns)]
        names = [Named(f"{{{label.latex}}}_{{{place}}}", f"{label.text}, {place}") for place in places]
        return matrix_rows(label, names, [tree for row in block for tree in row], columns, page)

    @property
    def sympy(self) -> str:
        """The source of a Python module with a function for each quantity, which returns it as a SymPy Matrix."""
        files = export_sympy(self.written.programs, self.robot.name, symbols=self.written.names)
        return "\n".join(files.values())

    @property
    def heading(self) -> tuple[str, ...]:
        """Lines that tell the order of twists, the vertices and the symbols."""
        twist, wrench = ORDER_WORDS[self.order]
        vertices = ", ".join(["0 world", *(f"{i} {link}" for i, link in enumerate(self.links, 1))])
        lines = [f"kinematic graph of {self.robot.name}: twists {twist}, wrenches {wrench}, in world axes"]
        lines += [f"  vertices: {vertices}", *(f"  {line}" for line in self.legend)]
        if len(self.arcs) > len(self.links):
            lines.append("  w_K and tau are those of the cut tree, without the wrenches of the joints that close loops")
        if any(not is_zero(rotor) for joint in self.robot.joints for rotor in joint.armature):
            lines.append("  tau also accelerates the rotors: S^T Ad^T w_K + armature qdd")
        return tuple(lines)

    # ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _label(self, name: str, i: int, kind: int) -> str:
        """The symbol of block i of a quantity: as text (`kind` 1) or in LaTeX (`kind` 2)."""
        if name == "tau":
            return self.written.names["tau", i][kind - 1]
        symbol = MEANINGS[name][kind].format(i=i + 1, p=self.parents[i])
        return symbol if kind == 2 else f"{symbol}, {self.arcs[i] if name in ('S', 't_K', 'w_K') else self.links[i]}"

    def _blocks(self, name: str, written: Equations) -> Iterator[tuple[int, list[list[Tree]]]]:
        """(i, its rows) of each block of a block diagonal matrix or of a vector; blocks of S without columns are left
        out.
        """
        if name == "tau":
            yield from ((k, [[tree]]) for k, tree in enumerate(written.trees))
            return
        shape = written.program.outputs[0].shape
        width = shape[1] if len(shape) == 2 else 1
        rows = [list(written.trees[k : k + width]) for k in range(0, len(written.trees), width)] if width else []
        for i in range(len(self.links)):
            block = rows[6 * i : 6 * i + 6]
            if name in SQUARE:
                yield i, [row[6 * i : 6 * i + 6] for row in block]
            elif name == "S":
                used = [k for k in range(width) if not all(_is_zero(row[k]) for row in block)]
                if used:
                    yield i, [[row[k] for k in used] for row in block]
            else:
                yield i, block

    def _entries(self, written: Equations) -> list[list[Tree]]:
        """The entries of B or C, each of which stands for a multiple of the unit matrix of size 6."""
        rows, columns = written.program.outputs[0].shape
        return [[written.trees[r * columns + c] for c in range(0, columns, 6)] for r in range(0, rows, 6)]

    def _unit_blocks(self, name: str, written: Equations) -> list[str]:
        heads = self.arcs if name == "B" else self.links
        cells = [
            ["", *heads],
            *([link, *map(text, row)] for link, row in zip(self.links, self._entries(written), strict=True)),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [INDENT + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]


def graph_equations(
    robot: Robot | System | Dynamics,
    quantities: Sequence[str] = QUANTITIES,
    *,
    order: Order = "vw",
    parameters: ParameterChoice = "all",
    gravity: Literal["symbol", "number"] = "symbol",
    names: CoordinateNames = "numbers",
) -> GraphEquations:
    """The equations of the kinematic graph of a small robot, written out as text, LaTeX, typst, MathML and SymPy.

    `quantities`   which of B, C, S, Ad, t_K, t_B, M, ad, M_rate, w_B, w_g, w_K and tau to write; all by default
    `order`        "vw" for twists [linear; angular] as everywhere else, "wv" for [angular; linear] as in the paper

    `parameters`, `gravity` and `names` are those of `equations_of_motion`. The frame of a link is the joint frame on
    the child, turned so that z is the joint axis.
    """
    dynamics = robot if isinstance(robot, Dynamics) else symbolic_dynamics(robot, "incidence", parameters, gravity)
    chosen = (quantities,) if isinstance(quantities, str) else tuple(quantities)
    programs = graph_programs(dynamics.robot, dynamics.parameters, chosen, order)
    tree = resolve(dynamics.robot)
    joints = {joint.child: joint.name for joint in dynamics.robot.joints}
    arcs = [
        joints.get(link.name, link.name) for link in tree.links
    ]  # a link between two axes is called after its joint
    return GraphEquations(
        write_equations(dynamics, programs, names),
        chosen,
        order,
        tuple(link.name for link in tree.links),
        (*arcs, *(closure.name for closure in tree.closures)),
        tuple(0 if link.parent == WORLD else link.parent + 1 for link in tree.links),
    )


def _is_zero(tree: Tree) -> bool:
    return isinstance(tree, Number) and tree.value == 0


def _block_lines(label: str, cells: list[list[str]]) -> list[str]:
    """A block as lines of text: its rows in columns of equal width; if that is too wide, its entries that are not 0."""
    if len(cells) == 1:
        return [f"{INDENT}{label} = {cells[0][0]}"]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + 2 * len(widths) > WIDEST:
        found = [(r, c, cell) for r, row in enumerate(cells, 1) for c, cell in enumerate(row, 1) if cell != "0"]
        lines = [f"[{r}, {c}] = {cell}" if len(widths) > 1 else f"[{r}] = {cell}" for r, c, cell in found]
        return [f"{INDENT}{label}, all entries that are not 0:", *(INDENT + INDENT + line for line in lines)]
    rows = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return [f"{INDENT}{label} =", *(f"{INDENT}{INDENT}[ {row} ]" for row in rows)]


def _matrix_equations() -> list[EquationRow]:
    """The equations between the matrices, with their numbers in the paper."""
    rows = []
    for number, plain, latex in MATRIX_EQUATIONS:
        (left, right), (name, _) = latex.split(" = ", 1), plain.split(" = ", 1)
        rows.append(EquationRow(Named(left, name), (Line(Named(right, plain), 0),), number))
    return rows
