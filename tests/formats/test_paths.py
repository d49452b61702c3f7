"""Files that a model names: which folders may be read, and that no name leads to any other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinemorph.formats.loading import examine
from kinemorph.formats.sources import Options, Outside, Source, find_file, model_root
from support.tools.each_case import each_case

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MJCF = '<mujoco>{}<worldbody><body name="a"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'


@pytest.fixture(params=["package.xml", ".git", ""])
def urdf(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The folder robot/urdf of a model whose root is robot, by a mark or as the folder above; secrets are beside it."""
    own = tmp_path / "robot" / "urdf"
    own.mkdir(parents=True)
    if request.param:
        (own.parent / request.param).touch()
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.obj").write_text(TETRAHEDRON)
    (own.parent / "meshes").mkdir()
    (own.parent / "meshes" / "m.obj").write_text(TETRAHEDRON)
    (own / "m.obj").write_text(TETRAHEDRON)
    (own / "link.obj").symlink_to(tmp_path / "secret.obj")
    (own / "chain.obj").symlink_to("link.obj")
    (own / "up").symlink_to(tmp_path)
    (own / "zero").symlink_to("/dev/zero")
    (own.parent / "meshes" / "out").symlink_to(tmp_path / "other")
    os.mkfifo(own / "pipe.obj")
    return own


@each_case(
    "name",
    ["m.obj", "../meshes/m.obj", "../urdf/../meshes/m.obj", "file://../meshes/m.obj", "file://%2e%2e/meshes/m.obj",
     "{root}/meshes/m.obj", "file://{root}/meshes/m.obj", "package://robot/meshes/m.obj", "./up/robot/meshes/m.obj"],
)  # fmt: skip
def test_files_in_the_root_of_a_model_are_found(urdf: Path, name: str) -> None:
    """Meshes in ../meshes needed package_dirs."""
    path = find_file(name.format(root=urdf.parent), Source(str(urdf / "arm.urdf"), b"", urdf), Options())
    assert path is not None and path.name == "m.obj" and path.is_relative_to(urdf.parent)


ATTACKS = [
    # beyond the root by dots
    "../../secret.obj", "../../other/secret.obj", "./../../secret.obj", "../meshes/../../secret.obj",
    "..//..//secret.obj", "../urdf/../../secret.obj", "x/../../../secret.obj", "../../robot/../secret.obj", "../..",
    "../" * 40 + "etc/passwd",
    # absolute
    "{outside}/secret.obj", "/etc/passwd", "//etc/passwd", "///etc/passwd", "/../etc/passwd", "{own}/../../secret.obj",
    "/proc/self/environ", "/dev/zero", "/dev/stdin", "/dev/fd/0",
    # links, devices and pipes
    "link.obj", "chain.obj", "up/secret.obj", "up/robot/../secret.obj", "zero", "../meshes/out/secret.obj", "pipe.obj",
    "up", ".", "..",
    # encoded
    "file://%2e%2e/%2e%2e/secret.obj", "file://..%2f..%2fsecret.obj", "file://%2fetc%2fpasswd", "file:///etc/passwd",
    "file://localhost/etc/passwd", "file://../../secret.obj", "%2e%2e/%2e%2e/secret.obj", "FILE:///etc/passwd",
    "file://%252e%252e/%252e%252e/secret.obj",
    # packages
    "package://../secret.obj", "package://%2e%2e/secret.obj", "package://robot/../secret.obj", "package:///etc/passwd",
    "package://robot/%2e%2e/secret.obj", "package://robot/urdf/link.obj", "model://../other/secret.obj",
    "package://other/secret.obj", "model://other/secret.obj", "package://..\\other/secret.obj", "package://./secret.obj",
    "package://robot/../other/secret.obj", "package://robot//etc/passwd", "package://etc/passwd",
    # zero bytes, other schemes, other operating systems
    "m.obj\0.txt", "../../secret.obj\0m.obj", "package://robot\0/m.obj", "file://m%00.obj",
    "http://example.com/m.obj", "https://example.com/m.obj", "ftp://example.com/m.obj", "data://text,x", "smb://host/m.obj",
    "C:\\secret.obj", "C:/secret.obj", "c:secret.obj", "\\\\host\\share\\secret.obj", "//host/share/secret.obj",
    "\\\\?\\C:\\secret.obj", "..\\..\\secret.obj", "~/secret.obj", "~root/.bashrc", "$HOME/.bashrc", "CON", "NUL",
]  # fmt: skip


@each_case("name", ATTACKS)
def test_no_name_leads_out_of_the_root(urdf: Path, name: str) -> None:
    source = Source(str(urdf / "arm.urdf"), b"", urdf)
    try:
        path = find_file(name.format(outside=urdf.parent.parent, own=urdf), source, Options())
    except (Outside, OSError, ValueError, RuntimeError):
        return
    assert path is None


def test_an_included_file_cannot_climb_from_its_own_folder(tmp_path: Path) -> None:
    """The root is that of the main file: else a file in the root could lead to the folder above, and so on."""
    pytest.importorskip("mujoco")
    own = tmp_path / "robot" / "mjcf"
    own.mkdir(parents=True)
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    (own / "main.xml").write_text(MJCF.format('<include file="../part.xml"/>'))
    (own.parent / "part.xml").write_text('<mujoco><asset><mesh name="m" file="../secret.obj"/></asset></mujoco>')
    assert [finding.rule for finding in examine(own / "main.xml").errors] == ["path"]
    (own.parent / "m.obj").write_text(TETRAHEDRON)
    (own.parent / "part.xml").write_text('<mujoco><asset><mesh name="m" file="m.obj"/></asset></mujoco>')
    assert not examine(own / "main.xml").errors


@each_case("home", [True, False])
def test_the_root_is_never_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: bool) -> None:
    me, other = tmp_path / "home" / "me", tmp_path / "home" / "other"
    for folder in (me / "robot", other / "robot"):
        folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()  # above the homes: not reached
    (me / ".git").mkdir()
    monkeypatch.setenv("HOME", str(me))
    folder = me if home else other
    assert model_root(folder / "robot") == folder / "robot"
    assert model_root(folder) == folder  # a file in a home folder may use those beside it, and no others
    assert model_root(tmp_path / "home") == tmp_path / "home"


def test_the_root_is_never_that_of_the_file_system() -> None:
    assert model_root(Path("/")) == Path("/") and model_root(Path("/tmp")) == Path("/tmp")


def test_assets_beside_an_included_file_are_found(tmp_path: Path) -> None:
    """As in MuJoCo: in the folder of the main file, with its meshdir, and then in that of the included file."""
    mujoco = pytest.importorskip("mujoco")
    part = tmp_path / "assets" / "parts" / "part.xml"
    part.parent.mkdir(parents=True)
    main = tmp_path / "main.xml"
    main.write_text(MJCF.format('<compiler meshdir="meshes"/><include file="assets/parts/part.xml"/>'))
    part.write_text('<mujoco><asset><mesh name="m" file="../geometry/m.obj"/></asset></mujoco>')
    masses = []
    for folder, size in ((tmp_path / "assets", 1), (tmp_path, 2)):  # then the first folder has one, too
        (folder / "geometry").mkdir()
        (folder / "geometry" / "m.obj").write_text(TETRAHEDRON.replace("1 0 0", f"{size} 0 0"))
        (tmp_path / "meshes").mkdir(exist_ok=True)
        found = examine(main)
        assert found.system is not None and not found.errors
        masses.append(found.system.robot.body("a").mass)
        assert masses[-1] == pytest.approx(mujoco.MjModel.from_xml_path(str(main)).body_mass[1])
    assert masses[1] == pytest.approx(2.0 * masses[0])
