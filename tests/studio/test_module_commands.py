"""Commands on docked modules: the file that they leave is what `assemble` reads and writes (000-13, 000-27)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit

import kinemorph
from kinemorph import library
from kinemorph.model.modules import Assembly
from kinemorph.model.modules.grid_text import grid_of
from kinemorph.modules import assemble
from kinemorph.studio.assembling.assembly_view import assembly_view, grid_data
from kinemorph.studio.documents.commands import command_of
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.document import Document

START = """# a comment of the file
kinemorph = 1
name = "organism9"   # its name

[settings]
time = "1 s"
"""
FOLDED = '''kinemorph = 1

[assembly]
base = "m2"  # the middle
grid = """
B>0 - Bv1
       |
Bv3 - B>2   ; the middle
"""

[elements.drive]
kind = "torsion spring"
joint = "m3_hinge"
stiffness = 0.1

[settings]
q = { m3_hinge = "10 deg" }
'''
TOWER = """kinemorph = 1

[assembly]
docked = [[0, 1, 1, 6], [1, 2, 3, 4]]
type = "L"
"""
FLAT = """kinemorph = 1

[assembly]
docked = [[0, 1, 3, 2], [1, 2, 5, 3]]
"""


def done(text: str, verb: str, /, **fields: Any) -> str:
    """The text of a file after a command."""
    row, checked = command_of({"verb": verb, **fields})
    document = tomlkit.parse(text)
    new = row.patch(document, **checked)
    return tomlkit.dumps(document) if new is None else new


def read(text: str) -> Assembly:
    return assemble(text)


def pairs(assembly: Assembly) -> set[frozenset[tuple[str, int | str]]]:
    return {frozenset(docking.ends) for docking in assembly.dockings}


def papers_nine(text: str = START) -> str:
    """The paper's nine modules, placed one by one, as clicks on a grid that grows do it."""
    cells = [(2, 1), (2, 2), (2, 3), (1, 1), (1, 0), (0, 0), (3, 1), (3, 0), (4, 0)]
    for k, (cell, front) in enumerate(zip(cells, ">v<>>>>^>", strict=True)):
        before = cells[:k] or [cell]
        shift = min(c[0] for c in before), min(c[1] for c in before)
        text = done(text, "place", cell=[cell[0] - shift[0], cell[1] - shift[1]], kind="B", front=front)
    return text


def test_the_papers_organism_is_the_file_of_assemble(tmp_path: Path) -> None:
    text = papers_nine()
    papers = library.organism9()
    kinemorph.save(papers, tmp_path / "written.toml")
    written = (tmp_path / "written.toml").read_text()
    grid = written[written.index("grid = ") : written.index("'''", written.index("'''") + 3) + 3]
    assert grid in text and text.startswith("# a comment of the file\n") and "# its name" in text
    (tmp_path / "organism9.toml").write_text(text)
    made = kinemorph.load(tmp_path / "organism9.toml")
    assert made.robot == papers.robot and made.assembly == papers.assembly


def test_edits_of_cells_keep_the_rest_of_the_file() -> None:
    text = done(FOLDED, "place", cell=[2, 1], kind="S", front="^")
    assert "# the middle" in text and "; the middle" in text and pairs(read(text)) > pairs(read(FOLDED))
    text = done(text, "turn", cells=[[2, 1]], quarters=2)
    assert "Sv4" in text
    text = done(text, "move", cells=[[2, 1]], by=[0, -1])
    assert read(text).docking("m3", 3).b == "m4"  # type: ignore[union-attr]
    text = done(text, "duplicate", cells=[[2, 0]], by=[1, 0])
    assert "Sv5" in text and done(text, "erase", cells=[[3, 0]]).count("Sv") == 1
    assert done(text, "mirror", cells=[[0, 0], [0, 1]], axis="x").splitlines()[4:8] != text.splitlines()[4:8]
    again = done(done(FOLDED, "disconnect", a=[0, 0], b=[0, 1]), "connect", a=[0, 0], b=[0, 1])
    assert pairs(read(again)) == pairs(read(FOLDED))
    assert done(done(FOLDED, "erase", cells=[[1, 1]]), "several", on=True).count("base") == 0  # the base is gone


def test_a_new_name_reaches_every_reference(tmp_path: Path) -> None:
    text = done(FOLDED, "rename_module", module="m3", name="tail")
    (tmp_path / "folded.toml").write_text(text)
    system = kinemorph.load(tmp_path / "folded.toml")
    assert "tail" in read(text).names and "m3" not in text
    assert system.element("drive").joint == "tail_hinge"  # type: ignore[attr-defined]
    assert np.isclose(system.settings.q[system.robot.q_slice("tail_hinge").start], np.radians(10.0))
    assert read(done(FOLDED, "rename_module", module="m2", name="7")).base == "m7"
    plain = done(START, "paint", cells=[[0, 0], [0, 1]], kind="B")
    assert read(done(plain, "rename_module", module="m0", name="head")).base == "head"  # not m1, the first number
    gone = done(done(plain, "place", cell=[0, 2], kind="B"), "erase", cells=[[0, 0]])
    assert read(gone).base == "m1" == read(done(gone, "place", cell=[1, 0], kind="B")).base  # the new one is m0
    listed = done(
        done(FLAT, "joint", module="m0", side="3", joint="revolute"), "rename_module", module="m1", name="mid"
    )
    assert read(listed).names == ("m0", "m2", "mid") and len(read(listed).dockings) == 2


def test_settings_of_the_assembly() -> None:
    text = done(done(done(FOLDED, "root", joints=["x", "rz"]), "dyads", form="adapted"), "ground", on=True)
    assert 'root = ["x", "rz"]' in text and 'dyads = "adapted"' in text and "ground = true" in text
    assert done(done(done(text, "root", joints=["free"]), "dyads", form="halves"), "ground", on=False) == FOLDED
    assert done(FOLDED, "base", module="m0").count('base = "m0"  # the middle') == 1
    assert done(FOLDED, "planar", on=True).count("planar = true") == 1


def test_files_without_a_grid_get_one_where_a_grid_can_say_it() -> None:
    text = done(FLAT, "place", cell=[0, 0], kind="S", front=">")  # replaces the module there
    assert "docked" not in text and "grid = '''" in text
    assert [module.type.letter for module in read(text).modules].count("S") == 1
    assert pairs(read(done(FLAT, "turn", cells=[[0, 0]], quarters=4))) == pairs(read(FLAT))
    with pytest.raises(CommandError, match=r"a grid cannot show .*: its modules are not all upright"):
        done(TOWER, "place", cell=[0, 0], kind="L")
    with pytest.raises(CommandError, match="describes a robot without modules"):
        done("kinemorph = 1\n[bodies.arm]\nmass = 1\n", "place", cell=[0, 0], kind="B")


def test_docking_one_side_to_another() -> None:
    text = done(START, "place", cell=[0, 0], kind="B")
    text = done(text, "dock", module="m0", side="3", kind="S", own_side="4")
    assert "B>0 S>1" in text  # a cell of the grid
    text = done(text, "dock", module="m1", side="5", kind="W", own_side="2")
    assert "grid" in text and read(text).docking("m1", 5).b == "m2"  # type: ignore[union-attr]
    upright = done(text, "dock", module="m2", side="5", kind="B", own_side="3", turn=1)  # on edge: no cell shows this
    assert "grid" not in upright and "[[dockings]]" in upright
    made = read(upright)
    assert made.docking("m2", 5).turn == 1 and len(made.dockings) == 3  # type: ignore[union-attr]
    before, after = read(text).poses(), made.poses()
    assert all(np.allclose(before[name].p, after[name].p) for name in before)
    apart = done(done(upright, "undock", module="m1", side="5"), "several", on=True)
    gone = assemble(apart, several=True)
    assert len(gone.organisms) == 2 and all(np.allclose(gone.poses()[n].p, after[n].p) for n in after)
    with pytest.raises(CommandError, match="side 3 of module 'm0' is already docked to module 'm1'"):
        done(text, "dock", module="m0", side="3", kind="B", own_side="4")
    with pytest.raises(CommandError, match="overlap"):
        done(done(text, "disconnect", a=[3, 0], b=[3, 1]), "dock", module="m0", side="3", kind="B", own_side="4")


def test_two_modules_of_a_file_dock_to_each_other() -> None:
    """An organism moves to where it docks; modules of one organism close a ring, or are refused."""
    whole = read(TOWER)
    apart = done(done(TOWER, "undock", module="m1", side="3"), "several", on=True)
    assert len(assemble(apart, several=True).organisms) == 2
    again = done(apart, "join", module="m1", side="3", other="m2", other_side="4")
    assert pairs(read(again)) == pairs(whole) and again.count("translation") == 1  # of the base
    assert all(np.allclose(pose.p, whole.poses()[name].p) for name, pose in read(again).poses().items())
    turned = read(done(apart, "join", module="m1", side="5", other="m2", other_side="2", turn=1, joint="revolute"))
    docking = turned.docking("m1", 5)
    assert docking is not None and (docking.b, docking.turn) == ("m2", 1) and docking.joint.kind == "revolute"  # type: ignore[union-attr]
    for fields, words in (
        ({"module": "m0", "side": "1", "other": "m2", "other_side": "4"}, "side 1 of module 'm0' is already docked"),
        ({"module": "m1", "side": "3", "other": "m0", "other_side": "4"}, "does not close its ring"),
        ({"module": "m1", "side": "3", "other": "m1", "other_side": "4"}, "cannot be docked to itself"),
        ({"module": "m1", "side": "3", "other": "m9", "other_side": "4"}, "there is no module 'm9'"),
    ):
        with pytest.raises(CommandError, match=words):
            done(apart, "join", **fields)


def test_neighbors_in_a_grid_dock_by_a_connector() -> None:
    beside = done(FOLDED, "disconnect", a=[0, 1], b=[1, 1])
    joined = done(done(beside, "several", on=True), "join", module="m1", side="3", other="m2", other_side="5")
    assert pairs(read(joined)) == pairs(read(FOLDED)) and "[[dockings]]" not in joined


def test_joint_modules_and_kinds() -> None:
    text = done(TOWER, "joint", module="m0", side="1", joint="revolute")
    made = read(text)
    assert made.docking("m1", 6).joint.kind == "revolute"  # type: ignore[union-attr]
    assert [module.type.letter for module in made.modules] == ["L"] * 3 and "docked" not in text
    assert read(done(text, "joint", module="m1", side="6", joint="")).docking("m1", 6).joint is None  # type: ignore[union-attr]
    text = done(START, "kind", letter="H", like="backbone", name="heavy", data={"mass": "1.5 kg"})
    text = done(done(text, "place", cell=[0, 0], kind="H"), "place", cell=[0, 1], kind="B")
    assert [module.type.name for module in read(text).modules] == ["heavy", "Backbone"]
    with pytest.raises(CommandError, match="there is a kind 'H' already"):
        done(text, "kind", letter="H", like="scout")


def test_measured_poses_are_snapped() -> None:
    """SEEDS 000-13: docked in the initial configuration; the noise of a sensor is removed or kept."""
    rows = "a, b, x, y, z, qw, qx, qy, qz\n0, 1, 0.107, 0.001, -0.001, 0.7071, 0.004, 0.0, -0.7071\n"
    rows += "1,2, 0.002, 0.104, 0, 0.7071, 0, 0, 0.7071\n"
    exact = done(START, "snap", text=rows)
    assert "grid = '''\n" in exact and pairs(read(exact)) == {
        frozenset((("m0", 3), ("m1", 2))), frozenset((("m1", 5), ("m2", 4)))
    }  # fmt: skip
    measured = read(done(START, "snap", text=rows, keep="measured"))
    assert pairs(measured) == pairs(read(exact)) and measured.docking("m0", 3).offset.p != (0.0, 0.0, 0.0)  # type: ignore[union-attr]
    for text, words in (
        ("", "has no measured poses"),
        ("0, 1, 2", "it has 3 entries"),
        ("0, 1, 0, 0, x, 1, 0, 0, 0", "'x' is not a finite number"),
        ("0, 1, 0.1, 0, 0, 2, 0, 0, 0", "the quaternion has the length 2"),
        ("0, 1, 0.05, 0, 0, 1, 0, 0, 0", "from the nearest possible docking"),
    ):
        with pytest.raises(CommandError, match=words):
            done(START, "snap", text=text)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"verb": "place", "cell": [0], "kind": "B"}, "expected \\[row, column\\]"),
        ({"verb": "place", "cell": [0, 0], "kind": "Q"}, "kind is 'Q'; expected one of"),
        ({"verb": "place", "cell": [0, 0], "kind": "B", "front": "x"}, "expected one of"),
        ({"verb": "erase", "cells": [[9, 9]]}, "the chosen cells are empty"),
        ({"verb": "base", "module": "m9"}, "there is no module 'm9'"),
        ({"verb": "root", "joints": ["w"]}, "expected free, fixed, or 1 to 6 virtual joints"),
        ({"verb": "undock", "module": "m0", "side": "9"}, "has no port on side '9'"),
        ({"verb": "undock", "module": "m0", "side": "4"}, "nothing is docked to side 4"),
    ],
)
def test_commands_that_are_refused_say_why(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        done(FOLDED, fields.pop("verb"), **fields)


def random_module_command(text: str, rng: np.random.Generator) -> dict[str, Any]:
    """A command on docked modules, which may be impossible for this text."""
    data = grid_data(assembly_view(text))
    names = [row["name"] for row in data["modules"]] or ["m0"]
    rows, columns = data["size"]
    cells = [[int(rng.integers(-1, rows + 1)), int(rng.integers(-1, columns + 1))] for _ in range(rng.integers(1, 4))]
    some = str(rng.choice(names))
    pair = data["links"][int(rng.integers(len(data["links"])))] if data["links"] else {"a": [0, 0], "b": [0, 1]}
    by = [int(rng.integers(-2, 3)), int(rng.integers(-2, 3))]
    made: list[dict[str, Any]] = [
        {"verb": "place", "cell": cells[0], "kind": str(rng.choice([*"BSBSW"])), "front": str(rng.choice([*"><^v"]))},
        {"verb": "paint", "cells": cells, "kind": "B"},
        {"verb": "erase", "cells": cells[:1]},
        {"verb": "turn", "cells": cells, "quarters": int(rng.integers(1, 4))},
        {"verb": "move", "cells": cells, "by": by},
        {"verb": "duplicate", "cells": cells[:2], "by": by},
        {"verb": "mirror", "cells": cells, "axis": str(rng.choice(["x", "y"]))},
        {"verb": "rename_module", "module": some, "name": f"n{rng.integers(50)}"},
        {"verb": "base", "module": some},
        {"verb": "connect", "a": pair["a"], "b": pair["b"]},
        {"verb": "disconnect", "a": pair["a"], "b": pair["b"]},
        {
            "verb": "dock",
            "module": some,
            "side": str(rng.integers(2, 6)),
            "kind": "B",
            "own_side": str(rng.integers(2, 6)),
        },
        {"verb": "several", "on": bool(rng.integers(2))},
        {"verb": "root", "joints": [["free"], ["fixed"], ["x", "rz"]][int(rng.integers(3))]},
    ]
    return made[int(rng.integers(len(made)))]


def check_sequences(folder: Path, count: int, seed: int) -> tuple[int, int]:
    """Random sequences of commands; how many commands were carried out, and how many left a good assembly."""
    rng = np.random.default_rng(seed)
    carried = good = 0
    for number in range(count):
        path = folder / f"random{number}.toml"
        path.write_text(done(START, "paint", cells=[[0, 0], [0, 1], [1, 0]], kind="B"))
        document = Document(path)
        texts = [document.text]
        for _ in range(15):
            try:
                change = document.apply(random_module_command(document.text, rng))
            except CommandError as error:
                assert document.text == texts[-1] and str(error).rstrip().endswith((".", "?")), error
                continue
            if not change.changed:
                continue
            carried += 1
            texts.append(document.text)
            assert document.text.startswith("# a comment of the file\n") and "# its name" in document.text
            view = assembly_view(document.text)
            if view.assembly is None or view.docked is None or view.docked.problems:
                continue
            good += 1
            assert view.assembly == replace(assemble(path), name=view.assembly.name)  # page = file = Python
            if view.board is not None:
                again = grid_of(view.assembly, view.board.types, exact=False)
                assert again is not None  # what the grid shows is what the reader has read
        for text in reversed(texts[:-1]):
            document.undo()
            assert document.text == text
        for text in texts[1:]:
            document.redo()
            assert path.read_bytes() == text.encode()
        document.close()
    return carried, good


def test_random_sequences_of_module_commands(tmp_path: Path) -> None:
    """Page, file and Python agree after every command; undo to the start and redo give the same bytes."""
    carried, good = check_sequences(tmp_path, 1, seed=7)
    assert carried > 3 and good > 1


@pytest.mark.slow
def test_many_random_sequences_of_module_commands(tmp_path: Path) -> None:
    carried, good = check_sequences(tmp_path, 60, seed=32)
    print(f"\n{carried} commands were carried out, {good} left a good assembly")
    assert carried > 300 and good > 100
