"""Files of docked modules: read, checked with their lines, run by every verb, and written back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.assemble import assemble
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, load, load_text, save
from kinemorph.formats.toml.writer import written_system
from kinemorph.model.library import organism9
from kinemorph.model.modules import REVOLUTE, backbone, on_ground
from kinemorph.model.system import System
from support.tools.command_line import run
from support.tools.each_case import each_case

ELBOW = """\
kinemorph = 1
name = "elbows"

[parameters]
leg_mass = "400 g"

[assembly]
type = ["E", "H", "B"]
docked = [[0, 1, 3, 4], [0, 2, 5, 2]]
root = ["x", "rz"]

[module_types.H]
like = "backbone"
mass = "1.5 kg"

[module_types.E]
name = "elbow"
pitch = "105 mm"
hinge = "slide"

[module_types.E.bodies.base]
mass = "600 g"
solid = { kind = "box", size = [0.1, 0.05, 0.05] }

[module_types.E.bodies.leg]
mass = "leg_mass"
solid = { kind = "box", size = [0.05, 0.1, 0.05] }

[module_types.E.joints.slide]
kind = "prismatic"
parent = "base"
child = "leg"
axis = "y"
upper = "5 cm"

[module_types.E.ports.3]
body = "base"
reach = "52.5 mm"

[module_types.E.ports.5]
body = "leg"
translation = [0, 0.0525, 0]
rpy = ["90 deg", 0, "180 deg"]

[elements.push]
kind = "spring"
body_a = "m0_base"
body_b = "m1_front"
stiffness = 100
point_a = [0, 0, 0.1]

[settings]
q = { m0_slide = "1 cm" }
"""
POSES = """\
kinemorph = 1
[assembly]
gap = "2 cm"
bend = "15 deg"
[[poses]]
a = 0
b = 1
translation = [0.107, 0.001, 0]
rpy = ["1 deg", 0, "-92 deg"]
"""
DOCKINGS = """\
kinemorph = 1
gravity = [0, 0, -1.62]
[assembly]
base = "top"
[modules.m0]
type = "L"
translation = [0, 0, 0.5]
[modules.top]
type = "large_cube"
[[dockings]]
a = 0
side_a = 1
b = "top"
side_b = 6
turn = 1
joint = "revolute"
upper = 0.5
offset = { translation = [0.001, 0, 0] }
"""


def written(text: str, folder: Path, name: str = "o.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def again(system: System, folder: Path) -> System:
    save(system, folder / "again.toml")
    return load(folder / "again.toml")


@pytest.mark.parametrize("text", [ELBOW, POSES, DOCKINGS], ids=["elbow", "poses", "dockings"])
def test_files_come_back(text: str, tmp_path: Path) -> None:
    system = load(written(text, tmp_path))
    assert system.assembly is not None and again(system, tmp_path) == system


def test_what_a_file_says_is_there(tmp_path: Path) -> None:
    elbows = load(written(ELBOW, tmp_path))
    assert [joint.name for joint in elbows.robot.joints if joint.nv][:3] == ["virtual_x", "virtual_rz", "m0_slide"]
    assert elbows.settings.q[elbows.robot.q_slice("m0_slide")] == (0.01,)
    assert [p.name for p in elbows.robot.parameters] == ["leg_mass"]
    cubes = load(written(DOCKINGS, tmp_path)).assembly
    assert cubes is not None and cubes.base == "top" and cubes.dockings[0].joint != REVOLUTE
    assert cubes.dockings[0].joint is not None and cubes.dockings[0].joint.upper == 0.5
    assert load(tmp_path / "o.toml").robot.gravity == (0.0, 0.0, -1.62)
    assert load(tmp_path / "o.toml", merge_fixed=True).assembly is None  # bodies of modules are no more


def test_systems_of_python_come_back_as_grids_or_rows(tmp_path: Path) -> None:
    plain = organism9()
    assert again(plain, tmp_path) == plain
    assert "B>4 B>3" in (tmp_path / "again.toml").read_text()
    assembly = assemble("B>0 B>1 . S>2", several=True, types=backbone(mass=2.0))
    for options in ({"base": "m1"}, {"dyads": "adapted"}, {"root": ("x", "ry"), "base": "m1"}):
        system = assembly.with_base(options.get("base", "m0")).system(**options)  # type: ignore[arg-type]
        assert again(system, tmp_path) == system


@pytest.mark.filterwarnings("ignore:.*link frames")
def test_what_cannot_be_said_is_told(tmp_path: Path) -> None:
    assembly = assemble([(0, 1, 3, 4)], modules=[backbone(), backbone(mass=2.0)])
    with pytest.warns(ModelWarning, match="two module types have the letter 'B'"):
        save(assembly.system(), tmp_path / "o.toml")
    assert load(tmp_path / "o.toml").robot == assembly.robot()
    with pytest.warns(ModelWarning, match="URDF cannot express dockings"):
        save(organism9(), tmp_path / "o.urdf")


BAD = {
    '[assembly]\ngrid = """\nB>0 B?1\nX>2"""': [
        (4, "'B?1' has '?' after the letter"),
        (5, "'X>2' does not start with"),
    ],
    '[assembly]\ngrid = "B>0 . B>1"': [(3, "module 'm1' is not docked to 'm0'")],
    '[assembly]\ngrid = "B>0"\nroot = "up"': [(4, "root is 'up'")],
    '[assembly]\ngrid = "B>0"\nroot = 3': [(4, "root is '3'")],
    '[assembly]\ngrid = "B>0"\nbase = "m3"': [(3, "base is 'm3'")],
    '[assembly]\ngrid = "B>0"\ndocked = []': [(4, "grid and docked are given together")],
    "[assembly]\ndocked = [\n[0, 1, 3, 4],\n[0, 2, 3, 4]]": [
        (5, "side 3 of module 'm0' is already docked to module 'm1'")
    ],
    "[assembly]\ndocked = [\n[0, 1, 3, 4],\n[1, 2]]": [(5, "row 2: it is [1, 2]")],
    "[assembly]\ntype = 3\ndocked = [[0, 1, 3, 4]]": [(4, "modules is 3; expected a letter")],
    "[assembly]": [(2, "no modules are given")],
    '[assembly]\ngrid = "B>0"\n[bodies.a]\nmass = 1': [(4, "[bodies] is given together with an assembly")],
    '[assembly]\ngrid = "B>0"\n[modules.m0]\ntype = "S"': [(4, "[modules] is given together with a grid")],
    "[[dockings]]\na = 0\nside_a = 3\nb = 1\nside_b = 7": [(2, "module 'm1' (Backbone) has no port on side 7")],
    "[[dockings]]\na = 0\nside_a = 3\nb = true\nlower = 1": [
        (5, "b is True, expected a name"),
        (2, "'side_b' is missing"),
    ],
    "[[dockings]]\na = 0\nside_a = 3\nb = 1\nside_b = 4\nlower = 1": [
        (7, "lower is given, but the docking has no joint module")
    ],
    "[[poses]]\na = 0\nb = 1\ntranslation = [1, 0, 0]": [(2, "from the nearest possible docking")],
    "[assembly]\ngap = 1\n[[poses]]\na = 0\nb = 1": [(3, "gap is given without bend")],
    '[assembly]\ngrid = "B>"\n[module_types.B]\nlike = "scout"\ntread = 3': [
        (6, "the key tread does not apply to a scout")
    ],
    '[assembly]\ngrid = "B>"\n[module_types.A]\nmass = 3': [
        (5, "the key mass applies only to built-in types"),
        (4, "it has no bodies"),
    ],
    '[assembly]\ngrid = "B>"\n[module_types.A.bodies.x]\nmass = -1': [(5, "mass is -1 kg")],
    '[assembly]\ngrid = "B>"\n[module_types.A]\nhinge = "h"\n[module_types.A.bodies.x]\nmass = 1': [
        (4, "hinge is 'h'")
    ],
    '[assembly]\ngrid = "B>"\n[module_types.A.bodies.x]\nmass = 1\n[module_types.A.ports.q]\nbody = "x"\nreach = 1': [
        (8, "expected it only for the sides 1 to 6")
    ],
}  # after the first line, kinemorph = 1


@each_case("text", BAD)
def test_mistakes_have_lines(text: str, tmp_path: Path) -> None:
    found = examine(written(f"kinemorph = 1\n{text}\n", tmp_path))
    assert found.system is None
    told = [(row.line, row.problem) for row in found.errors]
    for line, words in BAD[text]:
        assert any(line == at and words in problem for at, problem in told), told
    assert all(row.problem and row.remedy for row in found.errors)


def test_grids_are_model_files(tmp_path: Path) -> None:
    system = load(written("; base: 1\n; root: x, rz\n; a remark\nB>0 B>1 Svtail\n", tmp_path, "worm.grid"))
    assert system.name == "worm" and system.assembly is not None and system.assembly.base == "m1"
    assert system.robot.nv == 2 + 4
    bad = examine(written("; several: perhaps\nB>0 X>\n#", tmp_path, "bad.txt"))
    assert [row.line for row in bad.errors] == [1, 2, 3]
    assert load(written("; several: yes\nB> . B>", tmp_path, "two.txt")).robot.nv == 14


def test_organisms_of_files_stand_on_the_ground(tmp_path: Path) -> None:
    """`ground` puts them down and lets their corners touch, in a grid and in TOML; a run of both is the same."""
    grid, toml = tmp_path / "pair.grid", tmp_path / "pair.toml"
    grid.write_text("; ground: yes\nB>0 B>1\n")
    toml.write_text('kinemorph = 1\nname = "pair"\n[assembly]\nground = true\ngrid = "B>0 B>1"\n')
    placed = on_ground(assemble("B>0 B>1", name="pair").system())
    assert [element.name for element in load(toml).elements] == [element.name for element in placed.elements]
    assert load(toml).settings.q == load(grid).settings.q == placed.settings.q
    assert load(grid).elements == placed.elements
    save(load(toml), tmp_path / "again.toml")
    assert load(tmp_path / "again.toml") == load(toml)


def test_the_verb(tmp_path: Path) -> None:
    plan, model = tmp_path / "plan.png", tmp_path / "o.toml"
    told = run("assemble", "organism9", "--base", "2", "--root", "x,rz", "--picture", str(plan), "--model", str(model))
    assert "9 B (Backbone)" in told.stdout and "19\njoints" in told.stdout
    assert plan.read_bytes()[:4] == b"\x89PNG" and load(model).assembly is not None
    data = json.loads(run("assemble", str(model), "--tables", "--json").stdout)
    assert data["base"] == "m2" and data["tree"] and len(data["dockings"]) == 8 and "aim" in data["tables"]
    assert "\\begin{tabular}" in run("assemble", "organism9", "--format", "latex").stdout
    seen = run("assemble", str(written(POSES, tmp_path, "seen.toml"))).stdout
    assert "apart [mm]" in seen and "2.236" in seen  # turned by 1 degree about x and 2 degrees about z
    ring = written("B>0 B>1\nB>2 B>3", tmp_path, "ring.grid")
    assert "with rings" in run("assemble", str(ring)).stdout
    for arguments, words in (
        (["puma"], "'puma' is a robot without an assembly of modules"),
        ([str(ring), "--planar"], "modules are docked in a ring"),
        (["organism9", "--base", "m77"], "there is no module 'm77'"),
        (["organism9", "--dyads", "both"], "dyads is 'both'"),
        (["organism9", "--picture", "plan.doc"], "--picture"),
    ):
        failed = run("assemble", *arguments)
        assert failed.exit_code == 2 and words in failed.stderr, failed.stderr


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[assembly]\ngrid = "B>0 B>1"\nbase = ""', 4),
        ('[assembly]\ngrid = "B>0 B>1"\nbase = -1', 4),
        ("[[dockings]]\na = -1\nside_a = 3\nb = 1\nside_b = 2", 3),
        ('[modules.""]\ntype = "B"', 2),
        ('[[poses]]\na = ""\nb = 1', 3),
    ],
)
def test_a_module_without_a_name_has_its_line(text: str, line: int) -> None:
    with pytest.raises(ParseError, match="expected a name, or a whole number of at least 0") as caught:
        load_text(f"kinemorph = 1\n{text}\n", "toml")
    assert caught.value.findings[0].line == line  # type: ignore[attr-defined]


def test_masses_of_module_types_may_be_parameters() -> None:
    """FINDINGS S9: the mass of a kind of module is a symbol in the equations of the organism, and is written again."""
    text = (
        'kinemorph = 1\nname = "pair"\n[parameters]\nm = "1.5 kg"\n[module_types.X]\nlike = "backbone"\nmass = "2*m"\n'
    )
    system = load_text(text + '[assembly]\ngrid = "X> X>"\n', "toml")
    mass = derive(system, parameters="all").mass_matrix
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.3, -0.2])[: system.robot.nq]
    assert mass(q, [1.5])[0, 0] == pytest.approx(6.0) and mass(q, [0.5])[0, 0] == pytest.approx(2.0)
    again = load_text(written_system(system, Findings("x")), "toml")
    assert [one.name for one in again.robot.parameters] == ["m"]
