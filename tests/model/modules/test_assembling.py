"""What people say of docked modules becomes an assembly: grids, lists of sides, measured poses; and what is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import modules
from kinemorph.algebra.groups import Pose, compose, exp_se3, inverse, matrix_of, pose_of
from kinemorph.errors import ModelError, ParseError
from kinemorph.formats.assemble import assemble
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.library import organism9
from kinemorph.model.modules import Assembly, Docking, ModuleType, backbone, side_port, snap, standard_types
from kinemorph.model.modules.grid_text import grid_of
from support.cases.paper_organism import DTL, paper_organism
from support.references.twist_matrices import log_se3
from support.tools.each_case import each_case

GRID = """
    B>5 .   .   .
    B>4 B>3 .   .
    .   B>0 Bv1 B<2
    B^7 B>6 .   .
    B>8 .   .   .
"""


def far(a: Pose, b: Pose) -> float:
    return float(np.linalg.norm(np.array(log_se3(compose(inverse(a), b)), dtype=float)))


def rows(assembly: Assembly) -> list[tuple[Any, ...]]:
    return [(int(d.a[1:]), int(d.b[1:]), d.side_a, d.side_b) for d in assembly.dockings]


def told(*args: Any, **options: Any) -> list[str]:
    with pytest.raises(ModelError) as caught:
        assemble(*args, **options)
    return list(caught.value.problems)


# ── grids ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_papers_organism_as_a_grid() -> None:
    assembly = assemble(GRID, planar=True)
    assert rows(assembly) == [tuple(row) for row in DTL]
    assert assembly.names == tuple(f"m{k}" for k in range(9)) and assembly.base == "m0"
    listed, poses = paper_organism().poses(), assembly.poses()
    base = assembly.module("m0").at
    assert base is not None and base.p == (0.0, 0.0, 0.0525)
    for module in assembly.modules:
        assert module.at is not None and far(poses[module.name], module.at) < 1e-12
        assert far(compose(inverse(listed["m0"]), listed[module.name]), compose(inverse(base), module.at)) < 1e-12
    assert organism9().assembly == assemble(GRID, name="organism9")
    assert rows(assemble(GRID, base=2))[0] == (2, 1, 3, 5)


def test_ragged_rows_remarks_names_and_numbers() -> None:
    assembly = assemble("""
        ; a remark
        B>      ; m0: the first number that is free

        Bv7  Svhead""")
    assert assembly.names == ("m0", "m7", "head")
    assert [d.name for d in assembly.dockings] == ["m0_2_m7_4", "m7_5_head_2"]


def test_connectors_say_what_docks() -> None:
    drawn = """
        B>0 - Bv1   B>2
               |     |
        B>4 - B^3 - B<5
    """
    assembly = assemble(drawn)
    assert [d.name for d in assembly.dockings] == ["m0_3_m1_2", "m1_3_m3_3", "m3_5_m4_3", "m3_2_m5_3", "m5_2_m2_2"]
    everywhere = assemble(drawn.replace("-", " ").replace("|", " "))
    assert len(everywhere.dockings) == 7 and not everywhere.is_tree  # two rings
    text = grid_of(assembly, standard_types())
    assert text is not None and "|" in text and assemble(text) == assembly


def test_modules_of_several_cells() -> None:
    assembly = assemble("""
        #   .   B>
        W>0 .   B>
        #   .   B>
        B^1 S>2 B^3 # W^4 #""")
    assert {d.name for d in assembly.dockings} == {
        "m0_2_m1_3", "m1_2_m2_4", "m2_3_m3_5", "m3_2_m4_5", "m3_3_m7_2", "m7_5_m6_2", "m6_5_m5_2",
    }  # fmt: skip
    wheel = assembly.module("m4").at
    assert wheel is not None and wheel.R[0][:2] == (0.0, -1.0)
    reached = assembly.poses()
    for module in assembly.modules:  # a docking puts every module where the grid has it
        assert module.at is not None and far(reached[module.name], module.at) < 1e-12
    pair = ModuleType(
        "pair", "P", (Body.box("one", 1.0, (0.2, 0.1, 0.1)),), (), (side_port(3, "one", 0.1),), 0.1, (2, 1, 1)
    )
    even = assemble("P> #", types=pair)
    assert even.module("m0").at == Pose(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.05))
    turned = assemble("# P<5", types=pair)
    assert grid_of(turned, {"P": pair}) == "#   P<5\n"


@each_case(
    ("text", "words"),
    [
        ("", "has no modules"),
        ("B>0 X>1", "line 1: 'X>1' does not start with the letter of a module type; known are B (Backbone)"),
        ("B>0 B?1", "'?' after the letter; expected the direction of the module's front: > (+x)"),
        ("B>0 B", "has nothing after the letter"),
        ("B>0 B>a.b", "the module's name is 'a.b'"),
        ("B>0 B>1\nB>1", "line 2: module 'm1' is already in line 1 of the grid's text"),
        ("B>0 . B>2 B>3", "module 'm0' is not docked to 'm2' or the 1 module docked to it; expected one organism"),
        ("B>0 K>1", "'m1' (small cube) has a pitch of 0.05 m; expected 0.105 m, the pitch of the base 'm0'"),
        ("W>0 B>1", "fills 3 rows and 1 column here, but the cell 1 below its token is empty, expected '#'"),
        ("B>0 #", "'#' in cell 2 of the row belongs to no module"),
        ("#\nW>0\n#\nW>1\n#", "modules 'm0' and 'm1' overlap"),
        ("B>0 - .", "a connector leads to an empty cell"),
        ("B>0 -", "'-' has no cell to its right"),
        ("- B>0", "a connector leads to an empty cell"),
        ("B>0 | B>1", "'|' is in a line of cells"),
        ("B>0 B>1\n        |\nB>2", "'|' at position 9 does not connect a cell with the cell below it"),
        ("#\nW>0 - B>1\n#", "there is a connector between 'm0' and 'm1', but no ports that face each other"),
    ],
)
def test_mistakes_of_grids(text: str, words: str) -> None:
    assert any(words in sentence for sentence in told(text)), told(text)


def test_all_mistakes_are_told_and_the_base_is_known() -> None:
    assert len(told("B>0 X>1 B?2\nB>0")) == 3
    assert "base is 'm7', which is not one of its modules: m0, m1" in told("B>0 B>1", base="m7")[0]
    assert "expected a tree because planar is set" in told("B>0 B>1\nB>2 B>3", planar=True)[0]
    assert len(assemble("B>0 . B>1", several=True).organisms) == 2


# ── lists of sides ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lists_of_sides() -> None:
    assembly = assemble(DTL)
    assert rows(assembly) == [tuple(row) for row in DTL]
    assert far(assembly.poses()["m8"], assemble(GRID).poses()["m8"]) < 1e-12
    named = assemble([("a", 3, "b", 4), ("b", "c", 3, 4)], modules={"a": "B", "b": "scout", "c": backbone(mass=2.0)})
    assert named.names == ("a", "b", "c") and named.module("b").type.letter == "S"
    tall = assemble([{"a": 0, "side_a": 1, "b": 1, "side_b": 6, "turn": 1, "joint": "revolute"}], modules="LK", base=1)
    assert tall.dockings[0].turn == 1 and tall.dockings[0].joint is not None
    place = tall.poses()["m0"]
    assert float(place.p[2]) == pytest.approx(0.05) and tall.base == "m1"  # the lowest stands on the ground


@each_case(
    ("source", "options", "words"),
    [
        ([(0, 1, 3, 2), (0, 2, 3, 2)], {}, "side 3 of module 'm0' is already docked to module 'm1'"),
        ([(0, 1, 1, 2)], {}, "module 'm0' (Backbone) has no port on side 1; its ports are 2, 3, 4, 5"),
        ([(0, 1, 3, 5), (1, 2, 3, 5), (2, 3, 3, 5), (3, 4, 3, 5)], {}, "modules 'm0' and 'm4' overlap, 0 m"),
        ([(0, 1, 3, 4), (2, 3, 3, 4)], {}, "modules 'm2', 'm3' are not docked to 'm0'"),
        ([(0, 1, 3)], {}, "row 1: it is (0, 1, 3); expected (i, j, side of i, side of j)"),
        ([(0, 1, 3, 2)], {"modules": "BX"}, "module 'm1': the module type 'X' is unknown"),
        ([(0, 1, 3, 2)], {"modules": ["B"] * 3}, "module 'm2' is not docked"),
        ([(0, 9, 3, 2)], {"modules": "BBB"}, "modules has 3 types for 2 modules: m0, m9"),
        ([(0, 1, 3, 2)], {"modules": {0: "B"}}, "module 'm1': it has no type"),
        ([(0, 1, 3, 2)], {"at": {5: None}}, "at: there is no module 'm5'"),
        ([{"a": 0, "b": 1, "side_a": 3}], {}, "side_b is missing"),
        ([{"a": 0, "b": 1, "side_a": 3, "side": 3}], {}, "key 'side' is unknown"),
        ([{"a": 0, "b": 1, "side_a": 3, "side_b": 4, "joint": "hinge"}], {}, "joint module 'hinge': it is unknown"),
        ([(0, 1, 1, 6)], {"modules": "L", "planar": True}, "is not in the plane"),
        ([(0, 1, 3, 4, 2)], {"planar": True}, "has 2 quarter turns"),
        (3, {}, "source is 3; expected a grid as text"),
        ([], {}, "the list of docked sides is empty"),
        ({}, {}, "{} is given as measured poses"),
        ([(-1, 0, 3, 4)], {}, "a module is named -1"),
        ([(True, 0, 3, 4)], {}, "a module is named True"),
        ([(0, 1, 3, 4)], {"modules": "X"}, "modules: the module type 'X' is unknown"),
        ([(0, 1, 3, 4)], {"base": 7}, "there is no module 'm7'"),
        ([(0, 1, 3, 4)], {"at": {0: (0, 0, 0), 1: (0.2, 0, 0)}}, "differ by 0.095 m and 0 rad"),
        ([(0, 1, 3, 4)], {"at": "here"}, "at is 'here'; expected a dict from names"),
        ([(0, 1, 3, 4)], {"at": {0: np.full((4, 4), np.nan)}}, "the place of module 'm0' has a value that is not"),
        ({(0, 1): np.eye(4)}, {"tolerance": (-1.0, 0.1)}, "tolerance is (-1.0, 0.1); expected two numbers above 0"),
        ({(0, 1): np.eye(4)}, {"tolerance": "x"}, "tolerance is 'x'"),
        ("b>0 b>1", {}, "Letters are upper case: B"),
        (" ".join(["B>"] * 5001), {}, "the grid has 5001 modules; expected at most 5000"),
        ({(0, 1): np.eye(4)}, {"types": "B"}, "expected a ModuleType"),
    ],
)
def test_mistakes_of_lists(source: Any, options: dict[str, Any], words: str) -> None:
    assert any(words in sentence for sentence in told(source, **options)), told(source, **options)


@each_case(
    ("ask", "words"),
    [
        (lambda two: two.robot(root=None), "root is None; expected 'free'"),
        (lambda two: two.robot(root=3), "root is 3; expected 'free'"),
        (lambda two: two.dock("m0", 2.0, "m1", 2), "has no port on side 2.0"),
        (lambda two: two.undock("m0", 3).dock("m0", 3, "m1", 4, offset=None), "offset is None; expected a Pose"),
        (lambda two: two.add("m5", "B"), "is of type 'B'; expected a ModuleType"),
        (lambda two: Assembly("x", None), "modules has None; expected a Module"),
        (lambda two: modules.backbone(mass="1 kg"), "mass is '1 kg'; expected a number in SI"),
        (lambda two: modules.side_port(7, "b", 0.05), "side is 7"),
        (lambda two: modules.side_port(3, "b", None), "reach of side 3 is None"),
        (lambda two: modules.ModuleType("e", "E", None), "bodies has None; expected a Body"),
        (lambda two: modules.put_down(None), "None was given, expected an Assembly"),
        (lambda two: modules.put_down(two, float("nan")), "height is nan"),
        (lambda two: modules.hinges(two.robot()), "a Robot was given, expected an Assembly"),
        (lambda two: modules.hinge_drives(two, None), "element 'None' has no joints"),
        (lambda two: kinemorph.derive(two), "model is an Assembly; expected a Robot or a System. Pass the result of"),
        (lambda two: kinemorph.System(two), "model is an Assembly; expected a Robot or a System. Pass the result of"),
        (lambda two: kinemorph.verify(two), "an Assembly; expected a Robot, a System or a Dynamics. Pass the result"),
        (lambda two: kinemorph.replay(two), "an Assembly; expected a Robot, a System, a Dynamics, a Trajectory or a"),
        (lambda two: kinemorph.modules.assembly_tables(None), "None was given, expected an Assembly"),
        (lambda two: two.system(None), "None is given as an element"),
    ],
)  # fmt: skip
def test_what_is_given_in_place_of_something_else(ask: Any, words: str) -> None:
    with pytest.raises(kinemorph.errors.KinemorphError) as caught:
        ask(assemble([(0, 1, 3, 4)]))
    assert words in str(caught.value)


def test_modules_that_are_no_boxes_dock_where_their_ports_are() -> None:
    def port(side: str, body: str, x: float, y: float, z: float) -> modules.Port:
        n = np.array([x, y, z]) / np.linalg.norm([x, y, z])
        up = np.array([0.0, 1.0, 0.0]) if abs(n[2]) > 0.9 else np.array([0.0, 0.0, 1.0])
        up = (up - n * (up @ n)) / np.linalg.norm(up - n * (up @ n))
        return modules.Port(side, body, pose_of(np.column_stack([np.cross(up, n), up, n, 0.05 * n]).tolist()))

    slide = Joint("slide", "prismatic", "core", "pin", axis=(0.0, 0.0, 1.0), lower=(0.0,), upper=(0.02,))
    ports = (port("a", "pin", 0, 0, 3), port("b", "core", 2.83, 0, -1), port("c", "core", -1.41, 2.45, -1))
    parts = (Body.sphere("core", 0.3, 0.03), Body.sphere("pin", 0.1, 0.01))
    tetra = ModuleType("tetra", "T", parts, (slide,), ports, 0.1, hinge="slide")
    three = assemble([("m0", "a", "m1", "b"), ("m1", "c", "m2", "b")], modules=tetra)
    assert [joint.name for joint in three.robot(root="fixed").joints if joint.nv] == [f"m{k}_slide" for k in range(3)]
    assert math.dist(three.poses()["m0"].p, three.poses()["m1"].p) == pytest.approx(0.1)
    with pytest.raises(ModelError, match="overlap"):
        assemble([], modules={0: tetra, 1: tetra}, several=True, at={0: (0, 0, 0), 1: (0.05, 0, 0)})


def test_numbers_and_places_as_matlab_has_them() -> None:
    H = np.array([[0.0, -1.0, 0.0, 0.3], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.2], [0.0, 0.0, 0.0, 1.0]])
    two = assemble(np.array([[0, 1, 3, 4]]), at={0: H})
    assert np.allclose(matrix_of(two.poses()["m0"]), H)
    assert assemble([(0, 1, 3.0, 4.0)]).dockings == assemble([(0, 1, 3, 4)]).dockings
    assert modules.hinges(two.system()) == ("m0_hinge", "m1_hinge")
    assert repr(assemble("B>")) == "<Assembly 'organism': 1 module, 0 docked>"


# ── measured poses ────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(assembly: Assembly, seed: int = 0) -> tuple[dict[tuple[int, int], Any], dict[str, Pose]]:
    """Poses of docked modules with noise of 2 mm and 2 degrees; and the noise, by docking."""
    rng = np.random.default_rng(seed)
    poses, noise = {}, {}
    for d in assembly.dockings:
        noise[d.name] = exp_se3([*rng.normal(0.0, 2e-3, 3), *rng.normal(0.0, math.radians(2.0), 3)])
        H = compose(assembly.dyad_pose(d.name), noise[d.name])
        poses[int(d.a[1:]), int(d.b[1:])] = np.array(matrix_of(H), dtype=float)
    return poses, noise


def test_measured_poses_snap() -> None:
    true = assemble(GRID)
    poses, noise = measured(true)
    found = snap(poses)
    assert rows(found.assembly) == [tuple(row) for row in DTL]
    for residual, docking in zip(found.residuals, found.assembly.dockings, strict=True):
        assert residual.turned == pytest.approx(np.linalg.norm(log_se3(noise[residual.docking])[3:]), abs=1e-9)
        assert residual.apart == pytest.approx(np.linalg.norm(np.array(docking.offset.p, dtype=float)), abs=1e-12)
        assert residual.next_best > 5.0
        H = found.assembly.dyad_pose(docking.name)  # modules stand as they were seen
        assert np.abs(np.array(matrix_of(H)) - poses[int(docking.a[1:]), int(docking.b[1:])]).max() < 1e-12
    assert "apart [mm]" in str(found)
    legal = assemble(poses, keep="legal")
    assert legal.dockings == true.dockings and found.assembly.robot().nv == legal.robot().nv


def test_a_measured_ring_closes() -> None:
    ring = assemble("B>0 B>1\nB>2 B>3")
    poses, _ = measured(ring, 3)
    robot = assemble(poses).robot()  # which would tell of a ring that is open
    assert len(robot.loops) == 1


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_quarter_turns_are_found(turn: int) -> None:
    true = assemble([Docking("m0", 1, "m1", 3, turn)], modules="L")
    found = assemble(measured(true, turn)[0], modules="L")
    assert found.dockings[0].turn == turn and found.dockings[0].ends == true.dockings[0].ends


def test_mistakes_of_poses_have_numbers() -> None:
    true = assemble(GRID)
    poses, _ = measured(true)
    one = {(0, 1): poses[0, 1]}

    def words(changed: Any, **options: Any) -> str:
        return "\n".join(told(changed, **options))

    bent = compose(exp_se3([0.0, 0.0, 0.0, 0.0, 0.6, 0.0]), true.dyad_pose("m0_3_m1_2"))
    assert "it would fit if 'm0' were bent by 34.4 deg" in words({(0, 1): bent})
    other = compose(true.dyad_pose("m0_3_m1_2"), exp_se3([0.0, 0.0, 0.0, 0.0, -0.5, 0.0]))
    assert "it would fit if 'm1' were bent by 28.6 deg" in words({(0, 1): other})
    away = np.eye(4)
    away[:3, 3] = (0.3, 0.1, 0.0)
    assert "rad from the nearest possible docking" in words({(0, 1): away}) and "less than 0.0262 m" in words(
        {(0, 1): away}
    )
    between = np.eye(4)
    between[:3, 3] = (0.07, 0.07, 0.0)
    assert "is ambiguous" in words({(0, 1): between}, tolerance=(1.0, 3.0))
    both = words({(0, 3): poses[0, 3], (0, 7): poses[0, 3]})
    assert "side 5 of module 'm0' is nearest to module 'm3' (off by 0.00" in both and "and to module 'm7'" in both
    assert "given twice" in words({(0, 1): poses[0, 1], (1, 0): poses[0, 1]})
    assert "expected a Pose or a matrix" in words({(0, 1): [1, 2]})
    assert "not finite" in words({(0, 1): np.full((4, 4), np.nan)})
    assert "from the nearest rigid transformation" in words({(0, 1): np.diag((1.0, 2.0, 1.0, 1.0))})
    assert "expected a pair of modules" in words({3: np.eye(4)})
    assert "keep is 'seen'" in words(one, keep="seen")
    assert "rad from the nearest" in words(one, tolerance=(1e-6, 1e-6))


# ── kinds of one's own, and files ─────────────────────────────────────────────────────────────────────────────────────


def test_a_kind_of_ones_own_slides() -> None:
    half = 0.5 * 0.105
    elbow = ModuleType(
        "elbow",
        "E",
        (Body.box("base", 0.6, (0.1, 0.05, 0.05)), Body.box("leg", 0.4, (0.05, 0.08, 0.05), (0.0, 0.06, 0.0))),
        (Joint("slide", "prismatic", "base", "leg", axis=(0.0, 1.0, 0.0), lower=(0.0,), upper=(0.05,)),),
        (side_port(3, "base", half), side_port(4, "base", half), side_port(5, "leg", half)),
        0.105,
        hinge="slide",
    )
    assembly = assemble(".  B>\nB> E> B>", types=elbow)
    assert {d.name for d in assembly.dockings} == {"m0_2_m2_5", "m2_4_m1_3", "m2_3_m3_4"}
    robot = assembly.robot("m2", root="fixed")
    assert [joint.name for joint in robot.joints if joint.kind == "prismatic"] == ["m2_slide"]
    adapted = assembly.robot("m1", dyads="adapted")
    assert {joint.name for joint in adapted.joints if joint.nv == 1} == {"m0_hinge", "m2_slide", "m3_hinge"}


def test_files_and_their_text(tmp_path: Any) -> None:
    text = 'kinemorph = 1\nname = "o"\n[assembly]\ngrid = "B>0 B>1"\n'
    (tmp_path / "o.toml").write_text(text)
    (tmp_path / "o.grid").write_text("; base: 1\nB>0 B>1\n")
    assert assemble(text) == assemble(tmp_path / "o.toml") == assemble("B>0 B>1", name="o")
    assert assemble(str(tmp_path / "o.grid")).base == "m1"
    with pytest.raises(ParseError, match=r"o.txt: the file does not exist"):
        assemble(tmp_path / "o.txt")
    (tmp_path / "arm.toml").write_text(
        'kinemorph = 1\n[bodies.a]\nmass = 1\n[joints.j]\nkind="fixed"\nparent="world"\nchild="a"\n'
    )
    assert "has no assembly of modules" in told(tmp_path / "arm.toml")[0]
