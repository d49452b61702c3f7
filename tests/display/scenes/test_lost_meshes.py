"""Robots whose meshes are missing are drawn in their proportions, and one line of the picture says so."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph import load
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.scene import Scene
from kinemorph.errors import ModelWarning

TRUNK, BONE = (0.3762, 0.0935, 0.114), 0.213  # edges of the trunk, length of thigh and calf [m]
CAMERA = 1e-5  # mass of the link of a camera [kg]


def link(name: str, mass: float, center: str, edges: tuple[float, ...], box: str = "", at: str = "0 0 0") -> str:
    """A link with a mesh that is nowhere, and with the inertia of a cuboid with these edges [m]."""
    moments = [mass / 12.0 * (sum(e * e for e in edges) - edges[k] ** 2) for k in range(3)]
    inertia = " ".join(f'{key}="{value}"' for key, value in zip(("ixx", "iyy", "izz"), moments, strict=True))
    collision = f'<collision><origin xyz="{at}"/><geometry><box size="{box}"/></geometry></collision>' if box else ""
    file = f"package://quadruped_meshes/{name.rpartition('_')[2]}.dae"
    mesh = f'<visual><geometry><mesh filename="{file}"/></geometry></visual>'
    mass_data = f'<inertial><origin xyz="{center}"/><mass value="{mass}"/>'
    mass_data += f'<inertia {inertia} ixy="0" ixz="0" iyz="0"/></inertial>'
    return f'<link name="{name}">{mesh}{collision}{mass_data}</link>'


def joint(parent: str, child: str, place: str, axis: str = "") -> str:
    kind = "revolute" if axis else "fixed"
    moves = f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="30" velocity="30"/>' if axis else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{place}"/>'
    return f'<joint name="{child}_joint" type="{kind}">{ends}{moves}</joint>'


def quadruped(path: Path, *, collisions: bool = True) -> Path:
    """A URDF file of a robot with the proportions of a Unitree Go1, without its meshes."""
    boxed = collisions
    parts = [link("trunk", 5.2, "0 0 0", TRUNK, "0.3762 0.0935 0.114" if boxed else "")]
    for leg, x, y in (("FR", 1, -1), ("FL", 1, 1), ("RR", -1, -1), ("RL", -1, 1)):
        hip, thigh, calf, bone = f"{leg}_hip", f"{leg}_thigh", f"{leg}_calf", f"0 0 {-BONE / 2}"
        parts.append(link(hip, 0.68, "0 0 0", (0.06, 0.04, 0.06), "0.04 0.08 0.08" if boxed else ""))
        parts.append(link(thigh, 1.0, bone, (0.03, 0.03, BONE), f"0.0245 0.034 {BONE}" if boxed else "", bone))
        parts.append(link(calf, 0.19, bone, (0.016, 0.016, BONE), f"0.016 0.016 {BONE}" if boxed else "", bone))
        parts += [
            joint("trunk", hip, f"{0.1881 * x} {0.04675 * y} 0", "1 0 0"),
            joint(hip, thigh, f"0 {0.08 * y} 0", "0 1 0"),
        ]
        parts.append(joint(thigh, calf, f"0 0 {-BONE}", "0 1 0"))
    for number in range(3):  # moments of 1e-6 kg m^2 are those of a box of 0.77 m
        parts += [
            link(f"camera{number}", CAMERA, "0 0 0", (0.77, 0.77, 0.77)),
            joint("trunk", f"camera{number}", "0.27 0 0"),
        ]
    path.write_text(f'<robot name="quadruped">{"".join(parts)}</robot>')
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra [view]."""
    for name in ("trimesh", "collada"):
        monkeypatch.setitem(sys.modules, name, None)


def seen(path: Path) -> Scene:
    """The scene of a model file, whatever is told about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scene_of(load(path))


def spans(scene: Scene, body: str) -> np.ndarray:
    """The edges (3,) [m] of the box around what shows a body, in its own axes; zeros where nothing does."""
    points = [part.surface.points for part in scene.figures[0].parts if part.name == body and part.layer == "shapes"]
    return np.ptp(np.concatenate(points), axis=0) if points else np.zeros(3)


@pytest.mark.usefixtures("bare")
def test_a_body_without_its_mesh_shows_its_collision_shape(tmp_path: Path) -> None:
    """FINDINGS D2: the links of cameras were boxes of 0.31 m, and the trunk another one."""
    scene = seen(quadruped(tmp_path / "q.urdf"))
    assert np.allclose(spans(scene, "trunk"), TRUNK)
    assert np.allclose(spans(scene, "FL_thigh"), (0.0245, 0.034, BONE)) and spans(scene, "RR_calf")[2] == BONE
    assert all(not spans(scene, f"camera{number}").any() for number in range(3))
    assert np.allclose(np.ptp(scene.box, axis=0), (0.4162, 0.2875, 0.483), atol=0.03)


@pytest.mark.usefixtures("bare")
def test_a_body_without_mesh_and_collision_shape_is_its_inertia_in_true_size(tmp_path: Path) -> None:
    """FINDINGS D2: edges were cut at 0.4 of the robot, and cameras weighed nothing and were the largest."""
    scene = seen(quadruped(tmp_path / "q.urdf", collisions=False))
    assert np.allclose(spans(scene, "trunk")[0], 0.3762, atol=0.05), spans(scene, "trunk")
    assert all(not spans(scene, f"camera{number}").any() for number in range(3))
    assert np.allclose(np.ptp(scene.box, axis=0), (0.4162, 0.2875, 0.483), atol=0.05)


def test_missing_meshes_are_one_line_of_a_picture_and_listed_once(tmp_path: Path) -> None:
    """FINDINGS D8: each of them was two lines of every picture and film, with advice that did not help."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load(quadruped(tmp_path / "q.urdf"))
    with pytest.warns(ModelWarning) as told:
        scene = scene_of(robot)
    (text,) = (str(one.message) for one in told)
    assert text.startswith(
        "robot 'quadruped': 7 meshes are not drawn; the first: mesh 'package://quadruped_meshes/trunk."
    )
    assert text.endswith("The others: hip.dae, thigh.dae, calf.dae, camera0.dae, camera1.dae, camera2.dae.")
    assert scene.notes == ("7 meshes of quadruped cannot be shown: a warning says why",)


def test_folders_are_advised_only_where_a_folder_is_missing(tmp_path: Path) -> None:
    """FINDINGS D8: `package_dirs` was advised where one file of a folder that is found is missing."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    text = "".join(
        f'<link name="{name}"><visual><geometry><mesh filename="meshes/{name}.obj"/></geometry></visual></link>'
        for name in ("b", "a")
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{text}{joint("a", "b", "0 0 0")}</robot>')
    with pytest.warns(ModelWarning, match="the mesh 'meshes/b.obj' is not found") as told:
        load(tmp_path / "r.urdf")
    (sentence,) = (str(one.message) for one in told if "b.obj" in str(one.message))
    assert f"Put the file into '{tmp_path / 'meshes'}', or correct its name." in sentence
    assert "package_dirs" not in sentence
