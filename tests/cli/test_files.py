"""Model files on the command line: every verb takes them, `check` tells all that is wrong, `export` writes them."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

import pytest

from kinemorph.formats.findings import RULES
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.simulation.files.storage import load_trajectory
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case

INERTIA = '<inertia ixx="{0}" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, mass: str = "1", ixx: str = "0.1") -> str:
    center = '<origin xyz="0.1 0 -0.2"/>'
    return f'<link name="{name}"><inertial>{center}<mass value="{mass}"/>{INERTIA.format(ixx)}</inertial></link>\n'


def arm(*links: str, xyz: str = "0 0 1") -> str:
    joint = f'<joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="{xyz}"/>'
    return f'<robot name="arm">\n{"".join(links)}{joint}<axis xyz="0 1 0"/></joint>\n</robot>\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a good, a questionable and a bad file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.urdf").write_text(arm(link("a"), link("b")))
    (tmp_path / "doubtful.urdf").write_text(arm(link("a"), link("b", ixx="1")))
    (tmp_path / "bad.urdf").write_text(arm(link("a", mass="1,5"), link("b", mass="abc")))
    return tmp_path


# ── every verb ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "good.urdf"],
        ["derive", "good.urdf", "--function", "mass_matrix"],
        ["verify", "good.urdf", "--states", "1"],
        ["simulate", "good.urdf", "--q", "0.3", "--time", "0.1"],
        ["analyze", "good.urdf", "equilibrium"],
    ],
)
def test_every_verb_takes_a_file(folder: Path, arguments: list[str]) -> None:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert "arm" in [json.loads(result.stdout).get(key) for key in ("robot", "name")]


@pytest.mark.slow
def test_demo_takes_a_file(folder: Path) -> None:
    assert parsed("demo", "--robot", "good.urdf", "--output", "out")["robot"] == "arm"
    assert (folder / "out" / "robot.png").is_file()


def test_a_base_can_be_free(folder: Path) -> None:
    assert parsed("info", "good.urdf")["nv"] == 1
    assert parsed("info", "good.urdf", "--base", "free")["nv"] == 7


def test_warnings_of_a_file_go_to_stderr_with_file_and_line(folder: Path) -> None:
    result = run("info", "doubtful.urdf")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: doubtful.urdf:3: link 'b': ") and line.endswith("[triangle]")
    assert re.search(r"file +doubtful.urdf\nformat +URDF\nwarnings +1\n", result.stdout)


def test_warnings_of_a_file_are_told_once_a_day(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding D15: a line stands in their place, until the file changes; info and --quiet do as they always do."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(folder / "cache"))
    line = "1 warning of doubtful.urdf was told today; kinemorph check doubtful.urdf lists them\n"
    derive = ("derive", "doubtful.urdf", "--function", "mass_matrix")
    assert run(*derive, "--quiet").stderr == ""
    assert run(*derive).stderr.startswith("warning: doubtful.urdf:3: link 'b': ")
    assert run(*derive).stderr == line
    assert run(*derive, "--quiet").stderr == ""
    assert run("info", "doubtful.urdf").stderr.startswith("warning: doubtful.urdf:3: ")
    assert run("info", "doubtful.urdf", "--quiet").stderr == ""
    file = folder / "doubtful.urdf"
    file.write_text(file.read_text() + "\n")  # another content
    assert run(*derive).stderr.startswith("warning: doubtful.urdf:3: ")
    monkeypatch.setattr("kinemorph.cli.application.today", lambda: "2026-01-01")  # another day
    assert run(*derive).stderr.startswith("warning: doubtful.urdf:3: ")
    monkeypatch.setenv("KINEMORPH_CACHE", "off")
    assert [run(*derive).stderr.startswith("warning: doubtful.urdf:3: ") for _ in range(2)] == [True, True]


def test_errors_of_a_file_are_one_line_each(folder: Path) -> None:
    result = run("derive", "bad.urdf")
    assert result.exit_code == 2 and result.stdout == ""
    lines = result.stderr.splitlines()
    assert [line.partition(": link")[0] for line in lines] == ["error: bad.urdf:2", "error: bad.urdf:3"]


def test_a_file_beside_is_preferred_to_no_robot_of_that_name(folder: Path) -> None:
    (folder / "puma").write_text("no model")
    assert parsed("info", "puma")["robot"] == "puma"  # a built-in name is a name
    (folder / "thing").write_text("no model")
    result = run("info", "thing")
    assert result.exit_code == 2 and "thing: the file has no known format" in result.stderr


@each_case(
    ("arguments", "named"),
    [
        (["info", "missing.urdf"], "missing.urdf: the file does not exist"),
        (["info", "."], ".: it is a folder"),
        (["info", "good.urdf", "--base", "loose"], "loose"),
        (["info", "good.urdf", "--package-dir", "nowhere"], "--package-dir 'nowhere' is not a folder"),
        (["info", "good.urdf", "--sidecar", "nowhere"], "--sidecar 'nowhere' is not a file"),
        (["info", "puma", "--sidecar", "good.urdf"], "--sidecar is for model files"),
        (["check"], "FILE"),
        (["check", ""], "FILE is empty"),
        (["check", "good.urdf", "--output", "x.urdf"], "--fix"),
        (["check", "good.urdf", "bad.urdf", "--fix", "--output", "x.urdf"], "but 2 files are checked"),
        (["check", "bad.urdf", "--fix", "--output", "good.urdf"], "this file exists already"),
        (["check", "bad.urdf", "--fix", "--output", "good.urdf/x.urdf"], "cannot write 'good.urdf/x.urdf'"),
        (["export", "good.urdf"], "--to"),
        (["info", "good"], "a file 'good.urdf'"),
        (["export", "good.urdf", "--to", "step"], "step"),
        (["export", "good.urdf", "--output", "arm.step"], "'arm.step'; expected a file name that ends in .toml, .urdf"),
        (["export", "good.urdf", "--output", "arm.grid"], "Change the ending, or name the format with --to: urdf, sdf"),
        (["export", "good.urdf", "--output", "good.urdf"], "is the model file that is read"),
        (["export", "good.urdf", "--to", "urdf", "--output", "good.urdf/x.urdf"], "'good.urdf' is not a folder"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(folder: Path, arguments: list[str], named: str) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    result = run(*arguments)
    assert result.exit_code == 2
    assert named in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert (folder / "good.urdf").read_text() == arm(link("a"), link("b"))


# ── check ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_check_goes_on_through_all_files(folder: Path) -> None:
    result = run("check", "bad.urdf", "missing.urdf", "doubtful.urdf", "good.urdf")
    assert result.exit_code == 2 and result.stderr == "4 files: 2 with errors, 1 with warnings\n"
    lines = result.stdout.splitlines()
    assert "bad.urdf:2: error: link 'a': <mass> value is '1,5'" in lines[0] and "[number]" in lines[0]
    assert lines[2] == "bad.urdf: 2 errors"
    assert "missing.urdf: error: the file does not exist" in lines[3]
    assert lines[-1] == "good.urdf: 2 bodies, 1 dof"
    assert lines[-2] == "doubtful.urdf: 2 bodies, 1 dof, 1 warning, 1 hint"
    assert lines[-3].startswith("doubtful.urdf:3: hint: link 'b': the moment of inertia 1 kg m^2 about x")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good.urdf"], 0),
        (["doubtful.urdf"], 0),
        (["doubtful.urdf", "--strict"], 1),
        (["good.urdf", "--strict"], 0),
        (["bad.urdf"], 1),
        (["missing.urdf"], 2),
        (["bad.urdf", "missing.urdf"], 2),
    ],
)
def test_exit_codes_of_check(folder: Path, arguments: list[str], code: int) -> None:
    assert run("check", *arguments).exit_code == code


def test_check_as_data(folder: Path) -> None:
    data = parsed("check", "bad.urdf", "doubtful.urdf", code=1)
    bad, doubtful = data["files"]
    assert not data["well"] and not bad["loaded"] and doubtful["loaded"]
    assert [(row["line"], row["rule"], row["repairable"]) for row in bad["findings"]] == [
        (2, "number", True),
        (3, "number", False),
    ]
    assert (
        doubtful["sizes"] == {"bodies": 2, "massless": 0, "dof": 1, "loops": 0, "couplings": 0}
        and doubtful["hints"][0]["line"] == 3
    )
    assert set(bad["findings"][0]) >= {"file", "line", "element", "problem", "remedy", "rule", "severity"}


def test_check_finds_the_models_of_a_folder(folder: Path) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "again.urdf").write_text(arm(link("a"), link("b")))
    (folder / "deep" / "package.xml").write_text("<package/>")
    (folder / "deep" / "pyproject.toml").write_text("[project]\n")
    files = [Path(row["file"]).name for row in parsed("check", ".", code=1)["files"]]
    assert files == ["bad.urdf", "doubtful.urdf", "good.urdf", "again.urdf"]


def test_a_folder_without_models_is_an_error_like_others(folder: Path) -> None:
    (folder / "empty").mkdir()
    result = run("check", "empty", "good.urdf")
    assert result.exit_code == 2
    assert (
        result.stdout.startswith("empty: error: there are no model files in this folder")
        and "2 bodies" in result.stdout
    )


def test_check_verifies_when_asked(folder: Path) -> None:
    result = run("check", "good.urdf", "bad.urdf", "--verify")
    assert result.exit_code == 1
    assert "good.urdf: verified: " in result.stdout and " 0 failed" in result.stdout
    assert "bad.urdf: verified" not in result.stdout


def test_the_rules_are_listed(folder: Path) -> None:
    result = run("check", "--rules")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[4:] if line.strip()] == list(RULES)
    assert {row["rule"]: row["says"] for row in parsed("check", "--rules")["rules"]} == RULES


def test_fix_writes_a_copy_and_checks_it(folder: Path) -> None:
    before = (folder / "bad.urdf").read_text()
    result = run("check", "bad.urdf", "--fix")
    assert result.exit_code == 1  # 'abc' cannot be repaired
    assert "wrote bad.fixed.urdf with 1 repair" in result.stderr
    assert "bad.fixed.urdf:3: error: link 'b': <mass> value is 'abc'" in result.stdout
    assert 'value="1.5"' in (folder / "bad.fixed.urdf").read_text()
    assert (folder / "bad.urdf").read_text() == before
    again = run("check", "bad.urdf", "--fix")
    assert again.exit_code == 2 and "this file exists already" in again.stderr


def test_fix_of_all_that_is_wrong_gives_a_file_that_loads(folder: Path) -> None:
    (folder / "comma.urdf").write_text(arm(link("a", mass="1,5"), link("b"), xyz="0,0,1"))
    data = parsed("check", "comma.urdf", "--fix", "--output", "mended.urdf", code=1)
    assert data["files"][0]["fixed"]["loaded"] and data["files"][0]["fixed"]["findings"] == []
    assert parsed("info", "mended.urdf")["mass"] == 2.5


def test_fix_says_when_there_is_nothing_to_repair(folder: Path) -> None:
    result = run("check", "doubtful.urdf", "--fix")
    assert result.exit_code == 0 and "no finding has exactly one possible repair" in result.stderr
    assert not (folder / "doubtful.fixed.urdf").exists()


STRANGE = {
    "nothing.urdf": b"",
    "blank.urdf": b" \n\t ",
    "binary.urdf": bytes(range(256)) * 40,
    "nul.urdf": b"<robot name='a'>\0</robot>",
    "utf16.urdf": "<robot name='a'/>".encode("utf-16"),
    "words.urdf": b"this is no model",
    "picture.xml": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "noending": b"<html><body/></html>",
    "entity.urdf": b'<!DOCTYPE r [<!ENTITY x "y">]><robot name="&x;"/>',
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_files_are_answered_with_a_finding(folder: Path, name: str) -> None:
    (folder / name).write_bytes(STRANGE[name])
    result = run("check", name)
    assert result.exit_code == 1 and result.stderr == ""
    assert f"{name}: 1 error" in result.stdout and " error: " in result.stdout


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_answered_with_a_finding(folder: Path) -> None:
    (folder / "good.urdf").chmod(0)
    assert "cannot be read" in run("check", "good.urdf").stdout


# ── new and export ────────────────────────────────────────────────────────────────────────────────────────────────────


COMPILED_LONG = ("organism", "biped", "gripper", "quadruped")  # kinds whose runs take seconds to compile


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_new_file_loads_without_a_word(folder: Path, kind: str) -> None:
    result = run("new", "mine", "--kind", kind)
    assert result.exit_code == 0 and "wrote mine.toml" in result.stderr
    checked = run("check", "mine.toml", "--strict")
    assert checked.exit_code == 0 and checked.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in COMPILED_LONG)) for kind in TEMPLATES]
)
def test_a_new_file_moves(folder: Path, kind: str) -> None:
    run("new", "mine", "--kind", kind)
    data = parsed("simulate", "mine.toml", "--time", "0.5")
    assert data["name"] == "mine" and data["outcome"]["kind"] == "finished"
    assert max(abs(row["value"]) for row in data["final"]["v"]) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "column", "end", "height"),
    [
        ("quadruped", "q.trunk.x", 2.66, "q.trunk.z"),
        ("biped", "q.pelvis.x", 0.7, "q.pelvis.z"),
        ("wheeled", "q.chassis.x", 1.52, "q.chassis.z"),
        ("gripper", "q.ball.z", 0.24, "q.palm"),
    ],
)
def test_a_new_robot_walks_drives_or_grips_as_it_stands(
    folder: Path, kind: str, column: str, end: float, height: str
) -> None:
    """There was no file to start from for robots with legs, wheels or contacts. Nothing warns, and half the step size
    leads to the same place.
    """
    run("new", "mine", "--kind", kind)
    for options in ((), ("--step", "5e-4")):
        result = run("simulate", "mine.toml", "--save", "run.npz", *options)
        assert result.exit_code == 0 and "warning" not in result.stderr, result.stderr
        back = load_trajectory("run.npz")
        assert back[column][-1] == pytest.approx(end, rel=0.15)
        if height in back.columns:
            assert back[height].min() > 0.9 * back[height][0]  # it does not fall


def test_settings_of_a_file_are_the_defaults_of_a_run(folder: Path) -> None:
    run("new", "mine")
    result = run("simulate", "mine.toml", "--save", "run.npz", "--json")
    assert result.exit_code == 0 and "starts at rest" not in result.stderr
    assert json.loads(result.stdout)["end"] == 6.0
    first = {row["name"]: row["first"] for row in parsed("show", "run.npz")["columns"]}
    assert first["q.shoulder"] == pytest.approx(math.radians(100.0))
    other = parsed("simulate", "mine.toml", "--time", "1", "--q", "elbow=0.1", "--output-step", "0.5")
    assert other["end"] == 1.0 and other["samples"] == 3


def test_a_new_file_overwrites_nothing(folder: Path) -> None:
    run("new", "mine")
    before = (folder / "mine.toml").read_text()
    result = run("new", "mine.toml", "--kind", "cart")
    assert result.exit_code == 2 and "exists already" in result.stderr
    assert (folder / "mine.toml").read_text() == before
    assert run("new", "no/where").exit_code == 2


@pytest.mark.parametrize("name", ['a"b', "a\nb", "", "a\0b", ".toml"])
def test_a_name_that_no_file_can_have_is_refused(folder: Path, name: str) -> None:
    result = run("new", name)
    assert result.exit_code == 2 and result.stderr.startswith("error: ")


@pytest.mark.parametrize(("form", "ending"), [("toml", ".toml"), ("mjcf", ".xml"), ("urdf", ".urdf")])
def test_an_exported_model_is_the_same_robot(folder: Path, form: str, ending: str) -> None:
    result = run("export", "good.urdf", "--to", form)
    assert result.exit_code == 0, result.stderr
    (folder / f"printed{ending}").write_text(result.stdout)
    assert run("export", "good.urdf", "--output", f"written{ending}").exit_code == 0
    assert (folder / f"written{ending}").read_text().splitlines()[1:] == result.stdout.splitlines()[1:]
    for name in ("printed", "written"):
        data = parsed("info", f"{name}{ending}")
        assert (data["nv"], data["mass"]) == (1, 2.0)


def test_what_a_format_cannot_say_is_told_without_a_path_of_ours(folder: Path) -> None:
    run("new", "bar", "--kind", "four_bar")
    result = run("export", "bar.toml", "--to", "mjcf")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines and all(line.startswith("warning: bar.") and line.endswith("[dropped]") for line in lines)


def test_several_files_are_written_beside(folder: Path) -> None:
    run("new", "bar", "--kind", "four_bar")
    (folder / "models").mkdir()
    (folder / "bar.toml").rename(folder / "models" / "linkage.toml")
    result = run("export", "models/linkage.toml", "--to", "urdf")
    assert result.exit_code == 0 and result.stdout == ""
    assert "wrote models/bar.urdf" in result.stderr and "wrote models/bar.sidecar.toml" in result.stderr
    assert len(parsed("info", "models/bar.urdf")["loops"]) == 1
    again = run("export", "models/linkage.toml", "--to", "urdf")
    assert again.exit_code == 2 and "'models/bar.urdf' exists already" in again.stderr


def test_a_model_that_a_format_cannot_hold_is_refused_without_a_path_of_ours(folder: Path) -> None:
    result = run("export", "hexapod24", "--to", "dh")
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("error: hexapod24.dh: ")


def test_export_in_another_size(folder: Path) -> None:
    assert run("export", "good.urdf", "--output", "large.toml", "--scale", "2").exit_code == 0
    assert parsed("info", "large.toml")["mass"] == 16.0
    refused = run("export", "good.urdf", "--to", "toml", "--scale", "0")
    assert refused.exit_code == 2 and "length is 0.0; expected a finite number above 0" in refused.stderr


def test_export_as_data(folder: Path) -> None:
    data = parsed("export", "pendulum", "--to", "toml")
    assert data["format"] == "toml" and data["files"] == [] and "[joints.q1]" in data["text"]
    data = parsed("export", "pendulum", "--output", "p.toml")
    assert data["files"] == ["p.toml"] and data["text"] is None


def test_meshes_of_an_export_to_stdout_are_named_from_here(folder: Path) -> None:
    (folder / "meshes").mkdir()
    (folder / "meshes" / "a.stl").write_bytes(bytes(80) + (1).to_bytes(4, "little") + bytes(50))
    mesh = '<visual><geometry><mesh filename="meshes/a.stl"/></geometry></visual></link>'
    (folder / "shown.urdf").write_text(arm(link("a"), link("b")).replace("</link>", mesh, 1))
    result = run("export", "shown.urdf", "--to", "mjcf")
    assert result.exit_code == 0 and 'file="meshes/a.stl"' in result.stdout
    assert "outside" not in result.stderr and sorted(path.name for path in folder.glob("arm*")) == []
    (folder / "far" / "away").mkdir(parents=True)
    for ending, said in ((".xml", "is outside the folders"), (".urdf", "is not found from the folder")):
        assert "mesh" not in run("export", "shown.urdf", "--output", f"far/arm{ending}").stderr
        assert said in run("export", "shown.urdf", "--output", f"far/away/arm{ending}").stderr
        assert "../meshes/a.stl" in (folder / "far" / f"arm{ending}").read_text()


def test_what_acts_in_joints_is_told(folder: Path) -> None:
    run("new", "mine")
    text = (folder / "mine.toml").read_text().replace('"170 deg"', '"101 deg"')
    (folder / "mine.toml").write_text(text)
    start = ("simulate", "mine.toml", "--time", "1", "--q", "shoulder=1.5", "--v", "shoulder=4")
    told = run(*start).stderr
    assert "the run adds to the elements of the model: the limits of 1 joint (--no-limits leaves" in told
    assert "passed the limits" not in told
    free = run(*start, "--no-limits", "--no-friction").stderr
    assert "adds to the elements" not in free
    assert "shoulder passed the limits, because no stops are active" in free
    beyond = run("simulate", "mine.toml", "--time", "0.1", "--q", "shoulder=3").stderr
    assert "shoulder started beyond the limits (by " in beyond


def test_info_shows_elements_with_what_they_act_on(folder: Path) -> None:
    run("new", "mine")
    text = (folder / "mine.toml").read_text()
    text += '[elements.motor]\nkind = "actuator"\njoint = "elbow"\n[elements.stops]\nkind = "joint limits"\n'
    text += '[elements.cord]\nkind = "rope"\nbody_a = "world"\nbody_b = "forearm"\nstiffness = 40\nrest = 1\n'
    text += (
        '[elements.foot]\nkind = "contact"\nbody = "forearm"\nnormal = { kind = "hunt crossley", stiffness = 1e4 }\n'
    )
    text += 'friction = { kind = "anchor", static = 0.6, kinetic = 0.5, stiffness = 1e4 }\n'
    text += '[elements.hold]\nkind = "pid"\nreads = "q.elbow"\ndrives = "motor"\nkp = 3\n'
    (folder / "mine.toml").write_text(text)
    shown = run("info", "mine.toml").stdout
    for words in (
        "at the start",
        "q.elbow",
        "joint limits",
        "world, forearm",
    ):
        assert words in shown
    for row in (r"cord +stiffness +40 +N/m", r"  rest +1 +m", r"hold +kp +3\n", r"hold +command \[N m\] +motor"):
        assert re.search(row, shown), row
    rows = {row["name"]: row for row in json.loads(run("info", "mine.toml", "--json").stdout)["elements"]}
    assert rows["motor"]["inputs"] == [{"name": "command", "unit": "N m", "from": "hold"}]
    assert rows["stops"]["acts_on"] == ["shoulder"]
    assert rows["cord"]["kind"] == "rope" and rows["cord"]["clocks"] == []


def test_loops_are_counted_with_the_cut_tree(folder: Path) -> None:
    run("new", "bar", "--kind", "four_bar")
    assert run("check", "bar.toml").stdout == "bar.toml: 3 bodies, 3 dof of the cut tree, 1 loop\n"
