"""MJCF files that are wrong or mean harm: each ends in findings, within seconds, and nothing outside is read."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import indent

import pytest

from kinemorph.formats.loading import Examination, examine
from kinemorph.formats.mjcf import child as mjcf_child
from kinemorph.formats.mjcf import compiler as mjcf_compiling
from kinemorph.formats.sources import Options
from support.tools.each_case import each_case

pytest.importorskip("mujoco")
BODY = '<body name="a"><joint name="j"/><geom name="g" size="0.1" pos="0.3 0 0"/></body>'
NAMELESS = '<body><joint/><geom size="0.1" pos="0.3 0 0"/></body>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INERTIAL = '<inertial pos="0 0 0" mass="{}" diaginertia="1 1 1"/>'
SECONDS = 5.0


def model(inside: str = "", world: str = BODY) -> str:
    return f"<mujoco>\n{inside}\n<worldbody>{world}</worldbody>\n</mujoco>"


def read(folder: Path, text: str | bytes, **options: object) -> Examination:
    """Reads the text as a file in the folder, in less than the time allowed."""
    path = folder / "robot.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    start = sum(os.times()[:4])
    examination = examine(path, options=Options(**options))  # type: ignore[arg-type]
    assert sum(os.times()[:4]) - start < SECONDS  # of processor time, ours and that of the process we started
    return examination


def refused(folder: Path, text: str | bytes, rule: str, words: str, line: int | None = None) -> Examination:
    examination = read(folder, text)
    assert examination.system is None
    found = [finding for finding in examination.errors if finding.rule == rule]
    assert found, examination.findings
    assert words in str(found[0])
    assert "Traceback" not in str(found[0])
    if line is not None:
        assert found[0].line == line
    return examination


# ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for the model, beside files that it may not have."""
    (tmp_path / "secret.xml").write_text(model())
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    inner = tmp_path / "home"
    inner.mkdir()
    (inner / "package.xml").touch()  # the root of the model
    os.symlink(tmp_path / "secret.obj", inner / "link.obj")
    os.symlink(tmp_path, inner / "up")
    return inner


@each_case(
    "inside",
    [
        '<include file="../secret.xml"/>',
        '<include file="up/secret.xml"/>',
        '<include file="{outside}/secret.xml"/>',
        '<asset><mesh file="../secret.obj"/></asset>',
        '<asset><mesh file="{outside}/secret.obj"/></asset>',
        '<asset><mesh file="link.obj"/></asset>',
        '<compiler meshdir=".."/><asset><mesh file="secret.obj"/></asset>',
        '<compiler assetdir="{outside}"/><asset><mesh file="secret.obj"/></asset>',
        '<compiler assetdir="up"/><asset><hfield name="h" file="secret.obj" size="1 1 1 1"/></asset>',
        '<asset><model name="m" file="../secret.xml"/></asset>',
        '<asset><mesh file="http://example.com/x.obj"/></asset>',
        '<asset><mesh file="file:///etc/passwd"/></asset>',
    ],
)
def test_paths_that_leave_the_folder_are_refused(home: Path, inside: str) -> None:
    refused(home, model("\n" + inside.format(outside=home.parent)), "path", "outside the folders", 3)


def test_a_texture_outside_is_left_out_without_being_opened(home: Path) -> None:
    """Robots were refused for pictures in ../textures, which are not read at all."""
    pictures = '<texture name="t" type="2d" file="../secret.png"/><texture name="u" type="cube" fileup="/etc/passwd"/>'
    text = model(f'<asset>{pictures}<skin name="s" file="../../secret.skn"/><material name="m" texture="t"/></asset>')
    system, findings, *_ = read(home, text.replace("<geom ", '<geom material="m" '))
    assert system is not None and [finding.problem for finding in findings] == ["skins: 1 left out"]


def test_a_flexcomp_outside_is_refused(home: Path) -> None:
    world = BODY + '<flexcomp name="f" type="mesh" file="../secret.obj" dim="2"/>'
    refused(home, model(world=world), "path", "outside the folders")


def test_strippath_takes_the_last_part_only(home: Path) -> None:
    (home / "secret.obj").write_text(TETRAHEDRON)
    text = model('<compiler strippath="true"/><asset><mesh file="../../x/secret.obj"/></asset>')
    assert read(home, text).system is not None


def test_folders_that_the_caller_names_may_be_read(home: Path) -> None:
    text = model('<asset><mesh file="../secret.obj"/></asset>', BODY + '<geom type="mesh" mesh="secret"/>')
    assert read(home, text).system is None
    assert read(home, text, package_dirs=(home.parent,)).system is not None


def test_a_file_that_is_exchanged_after_the_check_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "part.xml").write_text(model(world=BODY))
    gather = mjcf_compiling.compile_bundle

    def exchanged(bundle: object, findings: object) -> object:
        (home / "part.xml").write_text(model(world=BODY.replace('"a"', '"thief"')))
        return gather(bundle, findings)  # type: ignore[arg-type]

    monkeypatch.setattr("kinemorph.formats.mjcf.reader.compile_bundle", exchanged)
    system = read(home, '<mujoco><include file="part.xml"/></mujoco>').system
    assert system is not None
    assert system.robot.body_names == ("a",)


# ── includes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_includes_are_found_and_lines_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "outer.xml").write_text('<mujocoinclude>\n<include file="inner.xml"/>\n</mujocoinclude>')
    (tmp_path / "sub" / "inner.xml").write_text(f"<mujocoinclude>\n<worldbody>{BODY}</worldbody>\n</mujocoinclude>")
    text = '<mujoco>\n\n<include file="sub/outer.xml"/></mujoco>'
    system = read(tmp_path, text).system
    assert system is not None
    assert system.robot.body_names == ("a",)
    wrong = f"<mujocoinclude>\n<worldbody>\n{BODY.replace('0.3 0 0', '0.3 zero 0')}</worldbody></mujocoinclude>"
    (tmp_path / "sub" / "inner.xml").write_text(wrong)
    finding = read(tmp_path, text).errors[0]
    assert (Path(finding.file).name, finding.line) == ("inner.xml", 3)
    assert "bad format in attribute 'pos'" in finding.problem


def test_rings_and_bombs_of_includes(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text('<mujocoinclude><include file="robot.xml"/></mujocoinclude>')
    refused(tmp_path, '<mujoco><include file="part.xml"/></mujoco>', "structure", "included already")
    for k in range(20):
        twice = f'<include file="bomb{k + 1}.xml"/>' * 2
        (tmp_path / f"bomb{k}.xml").write_text(f"<mujoco>{twice}</mujoco>")
    refused(tmp_path, '<mujoco><include file="bomb0.xml"/></mujoco>', "path", "does not exist")
    (tmp_path / "bomb20.xml").write_text(model())
    refused(tmp_path, '<mujoco><include file="bomb0.xml"/></mujoco>', "structure", "included already")
    for k in range(1200):
        (tmp_path / f"chain{k}.xml").write_text(f'<mujoco><include file="chain{k + 1}.xml"/></mujoco>')
    refused(tmp_path, '<mujoco><include file="chain0.xml"/></mujoco>', "file", "expected at most 1000 files")


def test_a_model_that_has_itself_as_a_part(tmp_path: Path) -> None:
    text = model('<asset><model name="m" file="robot.xml"/></asset>', BODY + '<attach model="m" body="a" prefix="x"/>')
    assert read(tmp_path, text).system is None


def test_models_as_parts_of_models(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.obj").write_text(TETRAHEDRON)
    part = model('<asset><mesh name="k" file="t.obj"/></asset>', BODY.replace('size="0.1"', 'type="mesh" mesh="k"'))
    (tmp_path / "sub" / "part.xml").write_text(part)
    text = model('<asset><model name="m" file="sub/part.xml"/></asset>', '<attach model="m" body="a" prefix="x_"/>')
    system = read(tmp_path, text).system
    assert system is not None
    assert system.robot.body_names == ("x_a",)


# ── text and numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("", "syntax", "empty"),
        ("<mujoco", "syntax", "not well-formed"),
        (b"<mujoco>\xff\xfe\x00</mujoco>", "syntax", "does not fit the encoding"),
        ("<mujoco><worldbody>" + "<body>" * 300 + "</body>" * 300 + "</worldbody></mujoco>", "file", "deeper"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco>&a;</mujoco>', "entities", "document type"),
        ("<mujocoinclude/>", "structure", "part of a model"),
        ("<mujoco/>", "name", "no bodies"),
        ("<mujoco><robot/></mujoco>", "structure", "unrecognized element"),
        (model(world=f"<body><joint/>{INERTIAL.format('nan')}</body>"), "structure", "mass"),
        (model(world='<body pos="nan 0 0"><joint/><geom size="1"/></body>'), "data", "finite"),
        (model(world='<body><joint/><geom size="-1"/></body>'), "structure", "MuJoCo cannot compile"),
        (model(world="<body><joint/></body>"), "structure", "mass and inertia of moving bodies"),
        (model('<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>'), "structure", "cannot compile"),
        (model(world='<body><geom type="mesh" mesh="none"/></body>'), "structure", "MuJoCo cannot compile"),
        (model('<asset><mesh file="none.obj"/></asset>'), "mesh", "does not exist"),
        (model('<asset><mesh file="robot.usd"/></asset>'), "mesh", "ending"),
        (model(f'<option gravity="{"9" * 5000} 0 0"/>'), "structure", "too large"),
        (model("<extension><plugin plugin='none.such'/></extension>"), "structure", "MuJoCo cannot compile"),
    ],
)  # fmt: skip
def test_wrong_files_are_findings(tmp_path: Path, text: str | bytes, rule: str, words: str) -> None:
    refused(tmp_path, text, rule, words)


@pytest.mark.parametrize(
    "world",
    [
        f'<replicate count="2000000000">{BODY}</replicate>',
        f'<replicate count="100000"><replicate count="100000">{BODY}</replicate></replicate>',
        f'<replicate count="9000" sep="-">{NAMELESS}{NAMELESS}</replicate>',
        '<flexcomp name="f" type="grid" count="2000 2000 2000" spacing="1 1 1" dim="3"/>',
    ],
)
def test_counts_beyond_reason_end_in_a_finding(tmp_path: Path, world: str) -> None:
    refused(tmp_path, model(world=world), "file", "expected at most 10000")


def test_room_for_a_simulation_does_not_matter(tmp_path: Path) -> None:
    assert read(tmp_path, model('<size memory="900G" njmax="100000000"/>')).system is not None


# ── the process ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import os; os.abort()", "signal 6"),
        ("import sys; sys.exit(3)", "code 3"),
        ("while True: pass", "takes longer than"),
        ("import time; time.sleep(60)", "takes longer than"),
        ("import os; os.write(1, b'PK' + bytes(1000))", "ended with"),
        ("x = []\nwhile True: x.append(bytes(1 << 24))", "GiB"),
    ],
)
def test_whatever_becomes_of_the_process_is_one_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    head, last = Path(mjcf_child.__file__).read_text().split("def main")[0], "main(*sys.argv[1:5])"
    script = tmp_path / "script.py"
    body = indent(f"confine(int(memory) // 4, int(seconds))\n{program}\n", "    ")
    script.write_text(f"{head}\ndef main(memory, seconds, most, folder):\n{body}\nif __name__ == '__main__': {last}\n")
    monkeypatch.setattr(mjcf_child, "__file__", str(script))
    monkeypatch.setattr("kinemorph.formats.limits.COMPILE_SECONDS", 1.0)
    monkeypatch.setattr(mjcf_compiling, "WALL", 1.5)
    assert len(refused(tmp_path, model(), "file", words).findings) == 1


def test_without_mujoco_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjcf_compiling, "find_spec", lambda name: None)
    refused(tmp_path, model(), "file", "pip install 'kinemorph[mujoco]'")
