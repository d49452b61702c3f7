"""The picture of docked modules from their poses alone shows what the picture of their robot shows (000-27, 000-32)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph import library
from kinemorph.display.looks.outlines import ROD
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.replays.joint_rows import own_row
from kinemorph.display.replays.packing import pack
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.module_scene import module_scene, placed_look, port_marks
from kinemorph.display.scenes.scene import Figure, Scene
from kinemorph.display.scenes.usual_view import replay_camera
from kinemorph.model.modules import Assembly
from kinemorph.model.modules.cube_shapes import MARKS, SILVER, TINTS, tinted
from kinemorph.modules import assemble
from support.cases.paper_organism import paper_organism
from support.tools.each_case import each_case

ROVER = """
    #   .   #
    W>0 .   W>4
    #   .   #
    B^1 S>2 B^3
"""
TOWER = [
    {"a": 0, "side_a": 1, "b": 1, "side_b": 6, "turn": 1, "joint": "revolute"},
    {"a": 1, "side_a": 3, "b": 2, "side_b": 4, "turn": 3},
]


def corners(figure: Figure, body: str) -> np.ndarray:
    """The lowest and highest corners (2, 3) [m] of the shapes of a body in the world."""
    owner = figure.bodies.index(body)
    found = [part.surface.points for part in figure.parts if part.owner == owner and part.layer == "shapes"]
    points = rotated(figure.quaternions[0, owner][None], np.concatenate(found)) + figure.positions[0, owner]
    return np.stack([points.min(axis=0), points.max(axis=0)])


@each_case(
    ("name", "assembly"),
    [
        ("paper", assemble(paper_organism())),
        ("rover", assemble(ROVER)),
        ("tower", assemble(TOWER, modules="L")),
        ("two organisms", assemble("B>0 . Sv1 B^2", several=True)),
    ],
)
def test_the_quick_picture_is_that_of_the_robot(name: str, assembly: Assembly) -> None:
    del name
    scene = module_scene(assembly)
    quick, slow = scene.figures[0], scene_of(assembly.system()).figures[0]
    assert set(quick.bodies) == set(slow.bodies)
    rod = ROD * slow.size  # rods to joints are as thick as the whole robot makes them, in the slow picture only
    for body in slow.bodies:
        k, m = quick.bodies.index(body), slow.bodies.index(body)
        assert np.allclose(quick.positions[0, k], slow.positions[0, m], atol=1e-12)
        assert abs(quick.quaternions[0, k] @ slow.quaternions[0, m]) > 1.0 - 1e-12
        assert np.abs(corners(quick, body) - corners(slow, body)).max() <= rod
    assert pack(scene, replay_camera(scene, None, None))


def colors(figure: Figure, body: str) -> set[tuple[float, ...]]:
    """The colors of the shapes of a body."""
    owner = figure.bodies.index(body)
    return {part.color for part in figure.parts if part.owner == owner and part.layer == "shapes"}


@each_case(("root", "grid"), [("paper", paper_organism()), ("square", "\n".join(["B>0 B>1 B>2", "B>3 B>4 B>5"]))])
def test_modules_beside_each_other_have_different_colors_and_equal_plates(root: str, grid: Any) -> None:
    """All modules of a type had one color, so that nobody saw where one ends."""
    del root
    assembly = assemble(grid)
    shades = {(*tinted(SILVER, tint), 1.0) for tint in TINTS}
    marks = {(*mark[:3], 1.0) for mark in MARKS}
    slow, lumped = (scene_of(assembly.robot(dyads=dyads)).figures[0] for dyads in ("halves", "adapted"))
    for figure in (slow, lumped, module_scene(assembly).figures[0]):
        seen: dict[str, set[tuple[float, ...]]] = {}
        for body in figure.bodies:
            seen.setdefault(body.partition("_")[0], set()).update(colors(figure, body))
        assert all(len(seen[name] & shades) == 1 and marks <= seen[name] for name in assembly.names)
        assert all(seen[docking.a] & shades != seen[docking.b] & shades for docking in assembly.dockings)
        assert {name: seen[name] & shades for name in seen} == {
            name: {(*tinted(SILVER, assembly.tints[name]), 1.0)} for name in seen
        }


def test_ports_are_the_frames_of_the_robot() -> None:
    system = library.organism9()
    assert system.assembly is not None
    marks = port_marks(system.assembly)
    assert {mark.name for mark in marks} == {frame.name for frame in system.robot.frames}
    assert sum(not mark.free for mark in marks) == 2 * len(system.assembly.dockings)
    assert all(mark.free == (mark.side in system.assembly.free_sides(mark.module)) for mark in marks)
    places = [(np.array(mark.position), np.array(mark.normal), mark) for mark in marks if not mark.free]
    for here, normal, mark in places:  # a docked port meets exactly one other, which looks at it
        met = [
            one for at, out, one in places if one is not mark and np.allclose(at, here) and np.allclose(out, -normal)
        ]
        assert len(met) == 1


def test_surfaces_are_made_once_for_each_kind() -> None:
    scenes: list[Scene] = [module_scene(assemble("B>0 B>1 S>2")), module_scene(assemble("B^0 B>1 S>2 B>3"))]
    surfaces = [{id(part.surface) for part in scene.figures[0].parts} for scene in scenes]
    assert surfaces[0] == surfaces[1]


def test_modules_that_were_shown_before_look_as_new_ones_do() -> None:
    def shown(grid: str) -> str:
        scene = module_scene(assemble(grid, name="organism"))
        return pack(scene, replay_camera(scene, None, None))

    # the same names at other places, with other types, fronts and neighbors
    grids = ("B>0 B>1 S^2", "B>0 S>1 B^2", "B^0\nB>1 B>2", "B>0 B>1 S^2 B>3", "S>1 B>0 B>2")
    stored = [[shown(grid) for grid in grids] for _ in range(2)][1]
    fresh = []
    for grid in grids:
        placed_look.cache_clear()
        own_row.cache_clear()
        fresh.append(shown(grid))
    assert stored == fresh and len(set(fresh)) == len(grids)
