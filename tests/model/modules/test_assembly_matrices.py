"""Matrices and lists of assemblies: the paper's tables, AIMs there and back, laws of walks, mistakes by cell.

`pytest --update-golden` writes the golden files anew.
"""

from __future__ import annotations

import html.parser
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.display.faces.grid import WRITERS, Format, Grid
from kinemorph.display.tables.assembly_tables import assembly_tables, dyad_grid
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.modules import (
    Assembly,
    Docking,
    JointModule,
    Module,
    ModuleType,
    active_wheel,
    assembly_incidence,
    cube,
    dyad_class,
    dyad_classes,
    read_incidence,
    scout,
    side_port,
    traverse,
)
from kinemorph.model.modules.incidence import Form, module_adjacency, module_incidence
from kinemorph.model.topology import Method
from support.cases.paper_organism import DTL, DYADS, IDTL, paper_organism
from support.robots.random_assemblies import TYPES, random_tree
from support.tools.each_case import each_case

GOLDEN = Path(__file__).parents[1] / "golden"
ENDINGS = {"text": "txt", "markdown": "md", "latex": "tex", "html": "html"}
B = TYPES["B"]


def chain(count: int) -> Assembly:
    modules = tuple(Module(f"m{k}", B) for k in range(count))
    return Assembly("chain", modules, tuple(Docking(f"m{k}", 3, f"m{k + 1}", 4) for k in range(count - 1)))


def ring() -> Assembly:
    """Four Backbones in a square, and one that hangs on it."""
    square = Assembly("ring", tuple(Module(f"m{k}", B) for k in range(5)))
    for a, side_a, b, side_b in ((0, 3, 1, 4), (1, 5, 2, 2), (2, 4, 3, 3), (3, 2, 0, 5), (2, 3, 4, 4)):
        square = square.dock(f"m{a}", side_a, f"m{b}", side_b)
    return square


def chen_robot() -> Assembly:
    """A large cube with an arm of two turning joints and one with a sliding and a rigid joint."""
    kinds = {"base": "L", "shoulder": "K", "hand": "K", "rail": "L", "tip": "K"}
    robot = Assembly("cubes", tuple(Module(name, TYPES[letter]) for name, letter in kinds.items()))
    return (
        robot.dock("base", 3, "shoulder", 4, joint="revolute")
        .dock("shoulder", 1, "hand", 6, joint="revolute", turn=1)
        .dock("base", 5, "rail", 2, joint="prismatic")
        .dock("rail", 1, "tip", 6)
    )


def content(assembly: Assembly) -> object:
    """What an AIM knows: kinds by name, the base, and dockings whichever way they are written."""
    dockings = {(frozenset(d.ends), d.turn, d.joint) for d in assembly.dockings}
    return {module.name: module.type for module in assembly.modules}, assembly.base, dockings


# ── what the paper prints ─────────────────────────────────────────────────────────────────────────────────────────────


def test_dtl_and_idtl_are_table_iii() -> None:
    walk = traverse(paper_organism())
    number = walk.numbers
    assert tuple((number[r.i], number[r.j], r.side_from, r.side_to) for r in walk.direct) == DTL
    assert tuple(tuple(number[n] for n in (i, j, i, x, x, j)) for i, j, x in walk.indirect) == IDTL
    assert [[number[name] for name in path] for path in walk.paths] == [[0, 1, 2], [0, 3, 4, 5], [0, 6, 7, 8]]
    assert walk.pendants == ("m2", "m5", "m8")


@pytest.mark.parametrize("kinds", [(B, B), (B, scout()), (scout(), scout())])
def test_dyad_classes_are_table_ii(kinds: tuple[ModuleType, ModuleType]) -> None:
    assert dyad_classes(*kinds) == {pair: name for name, pairs in DYADS.items() for pair in pairs}


@each_case("form", WRITERS)
@each_case("name", ["organism", "organism_from_m2", "ring", "cubes", "dyads"])
def test_tables_are_stable(name: str, form: Format, request: pytest.FixtureRequest) -> None:
    if name == "dyads":
        written = dyad_grid(B, scout()).written(form)
    elif name == "organism_from_m2":
        written = assembly_tables(paper_organism(), "m2", method="bfs").written(form)
    else:
        made = {"organism": paper_organism, "ring": ring, "cubes": chen_robot}[name]()
        written = assembly_tables(made).written(form)
    path = GOLDEN / f"{name}.{ENDINGS[form]}"
    if request.config.getoption("--update-golden"):
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8"), "run this test with --update-golden and read what has changed"


def test_another_base_other_numbers() -> None:
    """Seen from m2 the organism has two paths and 19 indirect pairs; m2 is 0, m1 stays 1, m0 becomes 2."""
    walk = traverse(paper_organism(), "m2")
    assert walk.order[:3] == ("m2", "m1", "m0")
    assert [len(path) for path in walk.paths] == [6, 6]
    assert len(walk.indirect) == 19
    assert walk.direct[0] == ("m2", "m1", "m1_5_m2_3", 3, 5)


# ── dyads by geometry ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_classes_of_other_modules() -> None:
    """Rigid cubes make no dyad; a Wheel's axis is along its ports; a quarter turn makes parallel axes orthogonal."""
    assert {*dyad_classes(cube(), B).values()} == {"F"}
    assert dyad_class(active_wheel(), 5, B, 2) == "DS"
    assert dyad_class(active_wheel(), 5, B, 3) == "DO"
    assert [dyad_class(B, 3, B, 4, turn) for turn in range(4)] == ["DP", "DO", "DP", "DO"]
    assert [dyad_class(B, 5, B, 2, turn) for turn in range(4)] == ["DS"] * 4


def hinged(axis: tuple[float, float, float], kind: str = "revolute") -> ModuleType:
    joint = Joint("h", kind, "one", "two", axis=axis)
    parts = (Body.box("one", 1.0, (0.1, 0.1, 0.1)), Body.box("two", 1.0, (0.1, 0.1, 0.1)))
    return ModuleType("own", "Q", parts, (joint,), (side_port(3, "two", 0.05), side_port(4, "one", 0.05)), hinge="h")


def test_classes_of_own_modules() -> None:
    oblique = hinged((math.sin(0.3), math.cos(0.3), 0.0))
    assert dyad_class(oblique, 3, B, 4) == dyad_class(B, 3, oblique, 4) == "DX"
    slider = hinged((1.0, 0.0, 0.0), "prismatic")
    assert dyad_class(slider, 3, slider, 4) == "DS"
    assert dyad_class(slider, 3, B, 4) == "DO"
    with pytest.raises(ModelError, match="hinge 'h' is a spherical joint, expected revolute or prismatic"):
        dyad_class(hinged((1.0, 0.0, 0.0), "spherical"), 3, B, 4)


# ── there and back ────────────────────────────────────────────────────────────────────────────────────────────────────


FORMS: tuple[tuple[Form, Method], ...] = (("adapted", "dfs"), ("adapted", "bfs"), ("chen", "dfs"), ("chen", "bfs"))


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 200), marks=pytest.mark.slow)], ids=["few", "many"])
def test_an_assembly_survives_its_aim(seeds: range) -> None:
    for seed in seeds:
        tree = random_tree(1 + seed % 14, seed)
        for form, method in FORMS:
            aim = assembly_incidence(tree, form=form, method=method)
            assert content(read_incidence(aim, types=TYPES)) == content(tree)


@pytest.mark.parametrize("assembly", [paper_organism(), ring(), chen_robot(), chain(1)], ids=lambda a: a.name)
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_tables_are_read_back(assembly: Assembly, form: Format) -> None:
    tables = assembly_tables(assembly)
    for grid in (tables.aim, tables.chen_aim):
        assert content(read_incidence(grid.written(form), types=TYPES)) == content(assembly)
        if len(assembly.dockings):
            assert content(read_incidence(grid.rows, types=TYPES)) == content(assembly)


def test_rows_of_cells_need_no_labels() -> None:
    found = read_incidence([[3, 0, "B"], [4, 5, "B"], [0, 2, "S"], ["DP", "DS"]], name="snake")
    assert found.name == "snake"
    assert found.names == ("m0", "m1", "m2")
    assert found.dockings == (Docking("m0", 3, "m1", 4), Docking("m1", 5, "m2", 2))
    assert read_incidence(np.array([[3, "B"], [4, "B"], ["DP", 0]], dtype=object)).dockings == found.dockings[:1]


def test_own_types_and_joints_are_read_by_their_letters() -> None:
    own, slow = hinged((0.0, 1.0, 0.0)), JointModule("revolute", "T", velocity=0.1)
    pair = Assembly("own", (Module("m0", own), Module("m1", own))).dock("m0", 3, "m1", 4, joint=slow)
    aim = assembly_incidence(pair)
    assert content(read_incidence(aim, types={"Q": own}, joints={"T": slow})) == content(pair)


def test_several_organisms_and_rings_are_told_apart() -> None:
    both = ring().add("x", scout()).add("y", cube()).dock("x", 5, "y", 2)
    aim = assembly_incidence(both)
    assert [name for name, _ in aim.paths] == ["Path 1", "Path 2", "Path 3", "Rings"]
    assert [column.name for column in aim.columns] == ["e1", "e2", "e3", "e4", "e6", "c1"]
    assert content(read_incidence(aim)) == content(both)


MISTAKES = {
    "column e1: it has 3 entries (v0: 3, v1: 4, v2: 3), expected 2": [
        [3, 0, "B"],
        [4, 5, "B"],
        [3, 2, "B"],
        ["DP", "DS"],
    ],
    "column e2: it has 1 entry (v1: 5), expected 2": [[3, 0, "B"], [4, 5, "B"], [0, 0, "B"], ["DP", "DS"]],
    "row v1, last column: module type 'b' is unknown; expected one of: B, S, W, L, K. Did you mean 'B'?": [
        [3, "B"],
        [4, "b"],
        ["DP"],
    ],
    "column e1: side 3 of v0 docked to side 4 of v1 is a DP dyad, but the last row says DO; a DO dyad needs one of the "
    "sides 2, 5 of v1.": [[3, "B"], [4, "B"], ["DO"]],
    "column e1, last row: 'DT' is neither a dyad class nor a joint module": [[3, "B"], [4, "B"], ["DT"]],
    "column e1, row v1: a Backbone has no port on side '1'; its ports are 2, 3, 4, 5": [[3, "B"], [1, "B"], ["DP"]],
    "column e1, row v1: turn is '7', expected 0, 1, 2 or 3 quarter turns": [[3, "B"], ["4:7", "B"], ["DP"]],
    "row v1: it has 3 cells, expected 2": [[3, "B"], [4, 0, "B"], ["DP"]],
    "last row: it has 2 cells, expected 1": [[3, "B"], [4, "B"], ["DP", "DP"]],
    "the AIM has 0 rows; expected one row for each module": [],
    "side 3 of module 'm0' is already docked to module 'm1'": [[3, 3, "B"], [4, 0, "B"], [0, 4, "B"], ["DP", "DP"]],
}


@each_case("told", MISTAKES)
def test_mistakes_are_told_by_cell(told: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_incidence(MISTAKES[told], types=TYPES)
    (problem,) = caught.value.problems
    assert told in problem


@pytest.mark.parametrize("wrong", [5, None, [1, 2]])
def test_what_is_no_table_is_told(wrong: Any) -> None:
    with pytest.raises(ModelError, match="given as an AIM; expected an IncidenceMatrix, a text, or rows of cells"):
        read_incidence(wrong)


def test_unknown_choices_are_sentences() -> None:
    for wrong in (
        lambda: traverse(chain(2), method="best"),  # type: ignore[arg-type]
        lambda: assembly_incidence(chain(2), form="mine"),  # type: ignore[arg-type]
        lambda: assembly_tables(chain(2)).written("pdf"),  # type: ignore[arg-type]
    ):
        with pytest.raises(KinemorphError, match=r"expected one of: \w+, \w+"):
            wrong()
    with pytest.raises(ModelError, match="has no modules"):
        assembly_tables(Assembly("nothing"))


# ── laws of walks ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_idtl_is_all_pairs_above_and_below() -> None:
    for seed in range(4):
        tree = random_tree(9, 100 + seed)
        deep, broad = traverse(tree), traverse(tree, method="bfs")
        below = {(path[i], path[j]) for path in deep.paths for j in range(len(path)) for i in range(j - 1)}
        assert {(i, j) for i, j, _ in deep.indirect} == below
        assert {*deep.indirect} == {*broad.indirect}
        assert {*deep.direct} == {*broad.direct}
        assert len(deep.indirect) == len(below)
        known = {row[:2] for row in deep.direct}
        for i, j, x in broad.indirect:  # products of lines above only
            assert {(i, x), (x, j)} <= known
            known.add((i, j))


@pytest.mark.parametrize("count", [1, 2, 3, 20, 200])
def test_a_chain_has_quadratically_many_indirect_lines(count: int) -> None:
    assert len(traverse(chain(count)).indirect) == count * (count - 1) // 2 - (count - 1)


def test_rings_have_chords_and_breadth_first_takes_the_short_way() -> None:
    deep, broad = traverse(ring()), traverse(ring(), method="bfs")
    assert [max(map(len, walk.paths)) for walk in (deep, broad)] == [4, 4]
    assert [row.edge for row in deep.chords] == ["m3_2_m0_5"]
    assert [row.edge for row in broad.chords] == ["m2_4_m3_3"]
    assert not ring().is_tree


def test_adjacency_and_incidence() -> None:
    """A = |B| |B|^T off the diagonal, and each column of B sums to zero, with rings and from any base."""
    for assembly in (paper_organism(), ring(), random_tree(9, 5)):
        walk = traverse(assembly)
        A, M = module_adjacency(walk), module_incidence(walk)
        assert (M.sum(axis=0) == 0).all()
        assert (abs(M) @ abs(M).T * (1 - np.eye(len(A), dtype=int)) == A).all()


# ── the table renderer ────────────────────────────────────────────────────────────────────────────────────────────────


def test_signs_of_each_language_are_escaped() -> None:
    grid = Grid("t", ("a|b", "c_d"), [["50 %", "<i>&"]], note="x_1")
    assert r"a\|b" in grid.markdown()
    assert r"50 \% & <i>\& \\" in grid.latex()
    assert "&lt;i&gt;&amp;" in grid.html()
    assert "<p>x<sub>1</sub></p>" in grid.html()


def test_html_is_well_formed() -> None:
    class Reader(html.parser.HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    reader = Reader()
    reader.feed(assembly_tables(ring()).written("html"))
    assert not reader.open


def test_groups_stand_above_their_columns() -> None:
    grid = Grid("t", ("a", "b", "c"), [["1", "2", "3"]], groups=(("a long name", 2), ("s", 1)))
    assert grid.text().splitlines()[1:3] == ["a long name  s", "a  b         c"]
