"""Mesh files: read in meters with their scale, limited, and every failure one sentence; drawing never stops at them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kinemorph.display.looks.outlines import read_mesh
from kinemorph.display.painting.draw import draw
from kinemorph.errors import MissingExtraError, ModelError, ModelWarning
from kinemorph.model import meshes
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.meshes import coarsened, surface
from kinemorph.model.shapes import MeshFile

TETRAHEDRON = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="9">0 0 0 100 0 0 0 200 0</float_array><technique_common>
   <accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
   <param name="Z" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
 </library_visual_scenes><scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def file(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return MeshFile(f"package://x/{name}", str(tmp_path / name))


def test_a_file_is_read_and_scaled(tmp_path):
    shape = file(tmp_path, "t.obj", TETRAHEDRON)
    mesh = surface(MeshFile(shape.source, shape.path, (2.0, 3.0, 4.0), color=(1.0, 0.0, 0.0)))
    assert len(mesh.faces) == 4 and mesh.source == shape.source and mesh.color == (1.0, 0.0, 0.0)
    assert sorted(mesh.vertices) == [(0.0, 0.0, 0.0), (0.0, 0.0, 4.0), (0.0, 3.0, 0.0), (2.0, 0.0, 0.0)]


@pytest.fixture
def bare(monkeypatch):
    """An installation without the extra [view]."""
    for name in ("trimesh", "collada"):
        monkeypatch.setitem(sys.modules, name, None)


def test_binary_stl_is_read_without_trimesh_as_trimesh_reads_it(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "ball.stl"
    path.write_bytes(trimesh.creation.icosphere(1).export(file_type="stl"))
    (known,) = trimesh.load_scene(path, process=False).geometry.values()
    monkeypatch.setitem(sys.modules, "trimesh", None)
    ball = surface(MeshFile("ball.stl", str(path)))
    assert np.array_equal(ball.vertices, known.vertices) and np.array_equal(ball.faces, known.faces)
    path.write_bytes(path.read_bytes()[:-1])  # cut off: no binary STL
    with pytest.raises(ModelError, match="cannot be read as STL: it has 4083 bytes, where its header announces 80 tri"):
        surface(MeshFile("ball.stl", str(path)))


def test_stl_files_of_text_are_read_without_trimesh(tmp_path, bare):
    """FINDINGS D2."""
    facet = "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 2e0 0\n endloop\nendfacet\n"
    mesh = surface(file(tmp_path, "t.stl", f"solid t\n{facet}endsolid t\n"))
    assert mesh.vertices == ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0)) and mesh.faces == ((0, 1, 2),)


def test_obj_files_have_polygons_and_count_backward(tmp_path, bare):
    """FINDINGS D2."""
    text = "# a square\nv 0 0 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\ng side\nf 1/1/1 2//1 3/1 \\\n 4\nf -4 -3 -2\n"
    assert surface(file(tmp_path, "t.obj", text)).faces == ((0, 1, 2), (0, 2, 3), (0, 1, 2))
    with pytest.raises(ModelError, match=r"mesh 't\.obj': a face names a point that the file does not have"):
        surface(file(tmp_path, "t.obj", text.replace("-4 -3", "9 -3")))


def test_collada_files_have_a_unit(tmp_path, bare):
    """FINDINGS D2: read without pycollada."""
    assert np.ptp(surface(file(tmp_path, "t.dae", DAE)).vertices, axis=0).tolist() == [1.0, 2.0, 0.0]


def test_nodes_of_collada_files_move_their_geometries(tmp_path, bare):
    """FINDINGS D2: nodes in nodes, each step after the one before it, and polygons with several inputs."""
    steps = "<translate>0 0 300</translate><rotate>0 0 1 90</rotate><node><scale>2 1 1</scale>"
    text = DAE.replace("<node>", f"<node>{steps}").replace("</node>", "</node></node>")
    polygons = '<polylist count="1"><input semantic="NORMAL" source="#n" offset="1"/>'
    text = text.replace('<triangles count="1">', polygons).replace("</triangles>", "</polylist>")
    text = text.replace("<p>0 1 2</p>", "<vcount>3</vcount><p>0 7 1 7 2 7</p>")
    mesh = surface(file(tmp_path, "t.dae", text))
    assert np.allclose(mesh.vertices, [[0.0, 0.0, 3.0], [0.0, 2.0, 3.0], [-2.0, 0.0, 3.0]], atol=1e-12)
    assert mesh.faces == ((0, 1, 2),)


def test_collada_files_are_read_as_pycollada_reads_them(tmp_path):
    """A sphere as trimesh writes it."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    path = tmp_path / "ball.dae"
    path.write_bytes(trimesh.creation.icosphere(1).export(file_type="dae"))
    (known,) = trimesh.load_scene(path, process=False).geometry.values()
    ball = surface(MeshFile("ball.dae", str(path)))
    mine, theirs = (np.array(one.vertices)[np.array(one.faces)] for one in (ball, known))
    assert np.allclose(mine, theirs)


def test_odd_but_sound_files_are_read(tmp_path, bare):
    """Comments and joined lines in OBJ, capitals in STL, a byte behind a binary STL, numbers before the first point."""
    joined = TETRAHEDRON.replace("f 1 3 2", "f 1 3 2 # base").replace("f 1 2 4", "f 1 \\\r\n2 4")
    assert len(surface(file(tmp_path, "t.obj", joined)).faces) == 4
    words = "SOLID A\nFACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 0 0 0\nVERTEX 1 0 0\nVERTEX 0 1 0\nENDLOOP\nENDFACET\n"
    assert len(surface(file(tmp_path, "t.stl", words)).faces) == 1
    moved = DAE.replace('count="9">', 'count="10">7 ').replace('stride="3">', 'stride="3" offset="1">')
    assert np.allclose(surface(file(tmp_path, "t.dae", moved)).vertices, surface(file(tmp_path, "u.dae", DAE)).vertices)
    whole = bytes(80) + (1).to_bytes(4, "little") + np.arange(12, dtype="<f4").tobytes() + bytes(2)
    (tmp_path / "b.stl").write_bytes(whole + b"\n")
    assert len(surface(MeshFile(str(tmp_path / "b.stl"), str(tmp_path / "b.stl"))).faces) == 1


def test_a_file_that_changes_is_read_again(tmp_path):
    shape = file(tmp_path, "t.obj", TETRAHEDRON)
    assert len(surface(shape).faces) == 4
    file(tmp_path, "t.obj", TETRAHEDRON.replace("f 2 3 4\n", ""))
    assert len(surface(shape).faces) == 3


# nodes that name the next node twice: 2^20 geometries in 2 kB
DOUBLED = (
    '<node><instance_node url="#n0"/></node>'
    + "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(20)
    )
    + '<node id="n20"><instance_geometry url="#g"/></node>'
)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.step", "x", "'.step', expected one of stl"),
        ("t.stl", "", "cannot be read as STL: it has 0 bytes"),
        ("t.dae", "<x/>", "cannot be read as DAE"),
        ("t.dae", '<!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>', "document type"),
        ("t.obj", "v 0 0 0\n", "t.obj"),
        ("t.obj", TETRAHEDRON.replace("v 1", "v nan"), "finite"),
        ("t.obj", TETRAHEDRON.replace("f 1 3 2", "f 0 3 2"), "a face names point 0; the first point is 1"),
        ("t.dae", DAE.replace("triangles", "tristrips"), "it has <tristrips>, expected triangles or polygons"),
        ("t.dae", DAE.replace('<node><instance_geometry url="#g"/></node>', DOUBLED), "more than 10000 geometries"),
    ],
)
def test_what_is_no_mesh_is_a_sentence(tmp_path, name, text, words):
    with pytest.raises(ModelError, match="mesh 't") as raised:
        surface(file(tmp_path, name, text))
    assert words in str(raised.value)


def test_limits_hold(tmp_path, monkeypatch):
    shape = file(tmp_path, "t.obj", TETRAHEDRON)
    monkeypatch.setattr(meshes, "FACES", 3)
    with pytest.raises(ModelError, match="4 faces, expected at most 3"):
        surface(shape)
    monkeypatch.setattr(meshes, "FILE_SIZE", 10)
    meshes._read.cache_clear()
    with pytest.raises(ModelError, match="expected at most 10"):
        surface(shape)
    with pytest.raises(ModelError, match="was not found"):
        surface(MeshFile("package://x/y.stl"))
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        surface(MeshFile("y.stl", str(tmp_path / "y.stl")))


def test_without_the_extra_the_command_is_named(tmp_path, monkeypatch):
    shape = file(tmp_path, "new.ply", "ply\n")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[view\]"):
        surface(shape)
    assert read_mesh(shape)[0] is None


def test_coarser_surfaces_keep_their_size():
    n = 60
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, n), np.linspace(0.0, np.pi, n))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3)
    at = np.arange(n * n).reshape(n, n)
    low = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:]], axis=-1).reshape(-1, 3)
    high = np.stack([at[:-1, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 3)
    corners, faces = coarsened(ball, np.concatenate([low, high]), 500)
    assert 100 < len(faces) <= 500 and np.linalg.norm(corners, axis=1).min() > 0.9
    assert np.abs(np.ptp(corners, axis=0) - 2.0).max() < 0.25


def test_coarser_surfaces_keep_their_edges():
    """A cube in 7500 triangles with a twisted grid: with 600 its edges and corners are where they were."""
    n = 26
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, n) ** 3, np.linspace(-1.0, 1.0, n), indexing="ij")
    sides = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            grid = np.empty((n, n, 3))
            grid[..., axis], grid[..., (axis + 1) % 3], grid[..., (axis + 2) % 3] = side, u, v
            corners = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
            a, b, c, d = corners if side > 0 else corners[::-1]
            sides += [np.stack(three, axis=2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d))]
    triangles = np.concatenate(sides)
    vertices, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    coarse, kept = coarsened(vertices, faces.reshape(-1, 3), 600)
    a, b, c = np.moveaxis(coarse[kept], 1, 0)
    assert len(kept) <= 600 and len(triangles) == 7500
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(8.0, rel=0.01)
    used = coarse[np.unique(kept)]
    assert np.abs(np.abs(used).max(axis=1) - 1.0).max() < 0.02  # all on the cube
    tips = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    away = np.linalg.norm(tips[:, None] - used, axis=-1).min(axis=1)
    assert away.max() < 0.05, away  # its corners among them; cells are 0.2 wide


def test_a_robot_is_drawn_with_its_meshes_and_without(tmp_path):
    builder = RobotBuilder("r").body("a", 1.0, inertia=(0.1, 0.1, 0.1), shapes=(file(tmp_path, "t.obj", TETRAHEDRON),))
    with_mesh = draw(builder.root("a").build())
    assert with_mesh.axes
    lost = [MeshFile("package://x/y.stl"), MeshFile("package://x/z.stl")]
    robot = RobotBuilder("s").body("a", 1.0, inertia=(0.1, 0.1, 0.1), shapes=lost).root("a").build()
    with pytest.warns(ModelWarning, match="2 meshes are not drawn; the first: mesh 'package://x/y.stl'") as told:
        draw(robot)
    assert len(told) == 1 and str(told[0].message).endswith("Put it where the model names it. The others: z.stl.")
