"""What a page shows of docked modules: mistakes at their cells, ghosts, and tables whose cells know their modules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import library
from kinemorph.display.faces.grid import Grid
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.tables.assembly_tables import assembly_tables
from kinemorph.model.modules import Assembly, standard_types
from kinemorph.modules import assemble
from kinemorph.studio.assembling.assembly_view import assembly_view, grid_data
from kinemorph.studio.assembling.ghosts import ghost
from kinemorph.studio.assembling.linked_tables import KEYS, linked_tables
from kinemorph.studio.assembling.palette import palette
from kinemorph.studio.documents.commands.offered_docking import offered_docking
from support.cases.paper_organism import DTL

TYPES = standard_types()


def text_of(grid: str, more: str = "") -> str:
    return f"kinemorph = 1\n[assembly]\n{more}\ngrid = '''\n{grid}\n'''\n"


def organism() -> Assembly:
    found = library.organism9().assembly
    assert found is not None
    return found


def test_mistakes_stand_at_their_cells() -> None:
    """SEEDS 000-13, 000-27: what the reader finds is shown where it is."""
    cases = {
        ("B>0 X>1", ""): ([[0, 1]], []),
        ("B>0 B>1\n. B>1", ""): ([[1, 1]], ["m1"]),
        ("B>0 . B>2 B>3", ""): ([[0, 0]], ["m0"]),
        ("B>0 B>1\n. #", ""): ([[1, 1]], []),
        ("B>0 K>1", ""): ([[0, 1]], ["m1"]),
        ("B>0 B>1\nB>2 B>3", "planar = true"): ([], []),  # a ring belongs to no single cell
        ("#\nW>0 - B>1\n#", ""): ([[1, 0], [1, 1]], ["m0", "m1"]),
    }
    for (grid, more), (cells, modules) in cases.items():
        data = grid_data(assembly_view(text_of(grid, more)))
        assert len(data["mistakes"]) == 1 and data["mistakes"][0]["cells"] == cells, grid
        assert data["mistakes"][0]["modules"] == modules and data["mistakes"][0]["text"].endswith(".")
    assert grid_data(assembly_view(text_of("B>0 X>1")))["wrong"] == [{"cell": [0, 1], "text": "X>1"}]


def test_modules_that_are_apart_are_shown_all_the_same() -> None:
    view = assembly_view(text_of("B>0 . B>2"))
    assert view.assembly is not None and view.assembly.names == ("m0", "m2")
    assert np.allclose(view.poses["m2"].p, (0.21, 0.0, 0.0525))


def test_the_grid_of_a_page_is_that_of_the_file() -> None:
    data = grid_data(assembly_view(text_of("#   .\nW>0 .\n#   .\nB^1 - S>2 ; end", 'base = "m1"\nroot = ["x", "rz"]')))
    assert [(row["name"], row["kind"], row["front"], row["cell"]) for row in data["modules"]] == [
        ("m0", "W", ">", [1, 0]), ("m1", "B", "^", [3, 0]), ("m2", "S", ">", [3, 1]),
    ]  # fmt: skip
    assert data["modules"][0]["cells"] == [[0, 0], [1, 0], [2, 0]] and data["settings"]["root"] == ["x", "rz"]
    assert [row["base"] for row in data["modules"]] == [False, True, False]
    assert [(row["modules"], row["docked"]) for row in data["links"]] == [(["m0", "m1"], False), (["m1", "m2"], True)]


def test_ghosts_stand_where_the_module_will_be() -> None:
    """The ghost has the pose of the module after docking, for every free port, kind, side and turn of a sample."""
    assembly = assemble("B>0 S>1")
    rng = np.random.default_rng(19)
    seen = refused = 0
    for module in assembly.names:
        for side in assembly.free_sides(module):
            for kind in ("B", "S", "W"):
                own = str(rng.choice(TYPES[kind].sides))
                turn = int(rng.integers(4))
                made = ghost(assembly, TYPES, module, side, kind, own, turn)
                assert made.scene is not None and (made.command is None) == bool(made.sentence)
                if made.command is None:
                    refused += 1
                    assert "overlap" in made.sentence
                    continue
                seen += 1
                own_side = int(own)
                there = assembly.add("m2", TYPES[kind]).dock(module, side, "m2", own_side, turn=turn).poses()["m2"]
                figure = made.scene.figures[0]
                assert np.allclose(figure.positions[0, 0], there.p, atol=1e-12)
                turned = rotated(figure.quaternions[0, 0], np.eye(3))
                assert np.allclose(turned.T, np.array(there.R), atol=1e-12)
    assert seen > 10
    assert "already docked to module 'm1'" in ghost(assembly, TYPES, "m0", 3, "B", 4).sentence
    assert "has no port on side 1" in ghost(assembly, TYPES, "m0", 1, "B", 4).sentence
    assert "unknown" in ghost(assembly, TYPES, "m0", 4, "Q", 4).sentence
    below = ghost(assemble("L>0"), TYPES, "m0", 6, "L", 1, ground=True)
    assert below.scene is not None and "0.1 m below the ground" in below.sentence
    assert ghost(assemble("L>0"), TYPES, "m0", 3, "L", 1, ground=True).sentence == ""  # it stands on the ground


@pytest.mark.parametrize(("turn", "kept"), [(0, {}), (1, {"turn": 1}), (5, {"turn": 1}), (-1, {"turn": 3})])
@pytest.mark.parametrize("joint", ["", "revolute"])
def test_the_command_of_a_ghost_docks_what_it_shows(turn: int, kept: dict[str, int], joint: str) -> None:
    assembly = assemble("L>0 L>1")
    made = ghost(assembly, TYPES, "m1", 3, "L", 6, turn, joint=joint)
    command = {"verb": "dock", "module": "m1", "side": "3", "kind": "L", "own_side": "6", **kept}
    assert made.command == command | ({"joint": joint} if joint else {})
    offer = offered_docking(assembly, TYPES, "m1", 3, "L", 6, turn % 4, joint=joint or None)
    assert made.scene is not None and np.allclose(made.scene.figures[0].positions[0, 0], offer.pose.p, atol=1e-12)
    new = offer.assembly.dockings[-1]
    assert (new.a, new.side_a, new.b, new.side_b, new.turn) == ("m1", 3, "m2", 6, turn % 4)
    assert (new.joint is None) == (not joint)


def test_a_port_that_is_taken_names_the_other_module_from_both_ends() -> None:
    assembly = assemble("L>0 L>1")
    for module, side, other in (("m0", 3, "m1"), ("m1", 4, "m0")):
        sentence = ghost(assembly, TYPES, module, side, "L", 1).sentence
        assert f"'{module}' is already docked to module '{other}'" in sentence


@pytest.mark.parametrize("method", ["dfs", "bfs"])
def test_tables_say_what_their_cells_are_about(method: str) -> None:
    """SEEDS 000-17, 000-19: AIM_SB, DTL and IDTL of the paper, linked to modules, ports and joints."""
    assembly = organism()
    made = {table["key"]: table for table in linked_tables(assembly, method=method)}  # type: ignore[arg-type]
    tables = assembly_tables(assembly, method=method)  # type: ignore[arg-type]
    for key in KEYS:
        grid: Grid = getattr(tables, key)
        assert [[text for text, _ in row] for row in made[key]["rows"]] == [list(row) for row in grid.rows]
        assert [text for text, _ in made[key]["columns"]] == list(grid.columns)
    robot = assembly.robot()
    known = {f"joint {name}" for name in robot.joint_names} | {f"port {frame.name}" for frame in robot.frames}
    known |= {f"module {name}" for name in assembly.names}
    cells = [cell for table in made.values() for row in (*table["rows"], table["columns"]) for cell in row]
    assert {about for _, here in cells for about in here} <= known
    order = [row[0][1][0].removeprefix("module ") for row in made["aim"]["rows"][:-1]]
    if method == "dfs":
        assert order == [f"m{k}" for k in range(9)]
        for (i, j, a, b), row in zip(DTL, made["dtl"]["rows"], strict=True):
            assert row[0][1] == [f"module m{i}"] and row[2][1] == [f"port m{i}_port{a}"]
            assert row[1][1] == [f"module m{j}", f"joint m{i}_{a}_m{j}_{b}", f"joint m{j}_hinge"]
            assert row[3][1] == [f"port m{j}_port{b}"]
    for k, row in enumerate(made["adjacency"]["rows"]):
        for j, (entry, about) in enumerate(row[1:]):
            assert len(about) == int(entry)  # an entry counts the dockings that it is about
            assert all(name in about[0] for name in (f"{order[k]}_", f"{order[j]}_")) if about else True


def test_the_papers_tables_are_the_golden_files() -> None:
    golden = (Path(__file__).parent.parent / "model" / "golden" / "organism.txt").read_text(encoding="utf-8")
    view = assembly_view(
        text_of("B>5 .   .   .\nB>4 B>3 .   .\n.   B>0 Bv1 B<2\nB^7 B>6 .   .\nB>8 .   .   .", "planar = true")
    )
    assert view.assembly is not None
    numbers = [[text for text, _ in row] for table in linked_tables(view.assembly)[:3] for row in table["rows"]]
    lines = [line.replace("|", " ").split() for line in golden.splitlines()]
    assert all([text for text in row if text] in lines for row in numbers)


def test_the_palette_has_the_kinds_of_the_file_first() -> None:
    heavy = "[module_types.H]\nlike = 'backbone'\nmass = 2.0\n"
    view = assembly_view(text_of("B>0 H>1") + heavy)
    assert view.board is not None
    kinds = palette(view.board.types)
    assert [kind["letter"] for kind in kinds] == ["H", "B", "S", "W", "L", "K"] and kinds[0]["own"]
    wheel = next(kind for kind in kinds if kind["letter"] == "W")
    assert wheel["cells"] == [1, 3] and [port["at"][1] for port in wheel["ports"]] == [-1.5, 1.5]
    assert kinds[1]["hinge"]["axis"] == [0.0, 1.0, 0.0]
