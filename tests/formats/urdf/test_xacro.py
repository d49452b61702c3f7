"""xacro: macros are expanded in a process that can read what it may and do nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinemorph.formats.loading import examine, load
from kinemorph.formats.sources import Options, packages
from kinemorph.formats.xacro import reader as xacro_macros

pytest.importorskip("xacro")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
LINK = """
<xacro:macro name="part" params="name mass">
  <link name="${name}"><inertial><mass value="${mass * 2}"/>
  <inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz="${pi / 20}"/></inertial></link>
</xacro:macro>
"""
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
JOINT2 = '<joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>'
ARM = (
    HEAD
    + '<xacro:include filename="{}"/><xacro:part name="a" mass="1"/><xacro:part name="b" mass="2.5"/>'
    + JOINT
    + "</robot>"
)


def written(folder, text, name="arm.urdf.xacro"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def errors(path, **options):
    examined = examine(path, options=Options(**options))
    assert examined.system is None
    return examined.errors


def test_macros_arguments_and_includes_are_expanded(tmp_path):
    written(tmp_path, f"{HEAD}{LINK}</robot>", "parts.xacro")
    robot = load(written(tmp_path, ARM.format("parts.xacro"))).robot
    assert robot.body("b").mass == 5.0 and robot.body("a").inertia[2][2] == pytest.approx(0.15707963267948966)


@pytest.mark.parametrize("named", ["{root}", "{root}/ws/src", ".", "ws/src", "ws/src/folder"])
def test_packages_below_package_dirs_have_the_names_of_their_package_xml(tmp_path, monkeypatch, named):
    """A package in a folder of another name was not found, and a relative path meant the folder of the xacro."""
    package = tmp_path / "ws" / "src" / "folder"
    written(package / "macros", f"{HEAD}{LINK}</robot>", "parts.xacro")
    (package / "package.xml").write_text("<package><name>arm_description</name></package>")
    (package / "m.obj").write_text("v 0 0 0\n")
    visual = '<visual><geometry><mesh filename="package://arm_description/m.obj"/></geometry></visual></link>'
    text = ARM.format("$(find arm_description)/macros/parts.xacro")
    own = written(tmp_path / "elsewhere", text.replace("</robot>", f'<link name="c">{visual}{JOINT2}</robot>'))
    monkeypatch.chdir(tmp_path)
    body = load(own, package_dirs=[named.format(root=tmp_path)]).robot.body("c")
    assert body.shapes[0].path == str(package / "m.obj")


def test_what_ros_does_not_search_for_packages_is_not_searched(tmp_path):
    """Hidden folders, links and packages inside packages."""
    for folder in ("outer/inner", ".hidden"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "package.xml").write_text("<package><name>found</name></package>")
    (tmp_path / "outer" / "package.xml").write_text("<package><name>outer</name></package>")
    assert packages(Options(package_dirs=(tmp_path,))) == [("outer", tmp_path / "outer")]


def test_packages_are_found_above_the_model_and_in_package_dirs(tmp_path):
    written(tmp_path / "arm" / "macros", f"{HEAD}{LINK}</robot>", "parts.xacro")
    own = written(tmp_path / "arm" / "urdf", ARM.format("$(find arm)/macros/parts.xacro"))
    (error,) = errors(own)  # a folder above is no package because of its name: else every folder of the disk could be
    assert "package 'arm' is not found" in error.problem
    (tmp_path / "arm" / "package.xml").write_text("<package/>")
    assert load(own).robot.nv == 1
    other = written(tmp_path / "elsewhere", ARM.format("$(find arm)/macros/parts.xacro"))
    (error,) = errors(other)
    assert error.problem.endswith("expand the file: the package 'arm' is not found") and "package_dirs" in error.remedy
    assert load(other, package_dirs=[tmp_path]).robot.nv == 1


@pytest.mark.parametrize("name", ["../../parts.xacro", "/etc/passwd", "$(cwd)/../../etc/passwd"])
def test_files_outside_are_not_read(tmp_path, name):
    written(tmp_path, f"{HEAD}{LINK}</robot>", "parts.xacro")
    (error,) = errors(written(tmp_path / "in" / "urdf", ARM.format(name)))
    assert error.rule == "path" and "outside" in error.problem


def test_a_link_that_leads_outside_is_not_followed(tmp_path):
    secret = written(tmp_path, f"{HEAD}{LINK}</robot>", "secret.xacro")
    path = written(tmp_path / "in" / "urdf", ARM.format("sly.xacro"))
    (tmp_path / "in" / "urdf" / "sly.xacro").symlink_to(secret)
    assert errors(path)[0].rule == "path"


@pytest.mark.parametrize(
    "expression",
    [
        "().__class__.__base__.__subclasses__()",
        "__import__('os').system('touch owned')",
        "open('/etc/passwd').read()",
        "xacro.load_yaml('/etc/passwd')",
        "1/0",
        "nobody",
    ],
)
def test_expressions_reach_nothing(tmp_path, expression):
    (error,) = errors(written(tmp_path, f'{HEAD}<link name="${{{expression}}}"/></robot>'))
    assert error.rule in ("structure", "path") and error.file.endswith("arm.urdf.xacro")
    assert not (tmp_path / "owned").exists()


def test_expressions_do_not_find_their_callers(tmp_path):
    """A running generator has a frame, frames have callers, and one of those has the rules of the guard."""
    for depth in (8, 9, 10):
        spell = (
            "(lambda s: (s.append(((lambda f: (f.f_globals.update(FORBIDDEN=('zzz',)), f.f_globals['os'].system("
            f"'touch {tmp_path}/owned')))(s[0].gi_frame{'.f_back' * depth}) for _ in [1])), list(s[0]))[1])([])"
        )
        (error,) = errors(written(tmp_path, f'{HEAD}<link name="${{{spell}}}"/></robot>'))
        assert "gi_frame" in error.problem and not (tmp_path / "owned").exists()


def test_the_environment_is_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET", "word")
    (error,) = errors(written(tmp_path, f'{HEAD}<link name="$(env SECRET)"/></robot>'))
    assert "SECRET" in error.problem and "word" not in error.problem


@pytest.mark.slow
def test_macros_without_end_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(xacro_macros, "SECONDS", 2)
    text = f'{HEAD}<xacro:macro name="m"><xacro:m/><xacro:m/></xacro:macro><xacro:m/></robot>'
    (error,) = errors(written(tmp_path, text))
    assert error.rule in ("file", "structure")
    (error,) = errors(written(tmp_path, f'{HEAD}<link name="${{9**9**9}}"/></robot>'))
    assert error.rule == "file" and "takes longer than 2 s" in error.problem


def test_what_is_wrong_with_the_expanded_text_is_told_of_it(tmp_path):
    examined = examine(written(tmp_path, f'{HEAD}<link name="a"/><xacro:if value="0"/><link name="a"/></robot>'))
    (error,) = examined.errors
    assert error.file.endswith("arm.urdf.xacro") and error.rule == "name" and error.line == 1


def test_lines_are_those_of_the_files_with_the_macros(tmp_path):
    """They were those of the expanded text, which nobody sees."""
    moments = '<inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/>'
    body = f'<link name="${{n}}"><inertial><mass value="${{m}}"/>{moments}</inertial></link>'
    written(tmp_path, f'{HEAD}\n<xacro:macro name="heavy" params="n m">\n{body}</xacro:macro></robot>', "parts.xacro")
    main = HEAD + '<xacro:include filename="parts.xacro"/>\n\n<link name="a"/>\n<xacro:heavy n="b" m="one"/>\n' + JOINT
    (error,) = errors(written(tmp_path, main + "</robot>"))
    assert (Path(error.file).name, error.line, error.rule) == ("parts.xacro", 3, "number")
    twice = main.replace('m="one"/>', 'm="1"/>\n<xacro:heavy n="b" m="1"/>')
    (error,) = errors(written(tmp_path, twice + "</robot>"))
    assert (Path(error.file).name, error.line) == ("parts.xacro", 3) and "parts.xacro" in error.problem
    wrong = main.replace('m="one"', 'm="1"').replace(JOINT, JOINT.replace('"b"', '"c"'))
    (error,) = errors(written(tmp_path, wrong + "</robot>"))
    assert (Path(error.file).name, error.line, error.rule) == ("arm.urdf.xacro", 5, "name")


def test_a_missing_argument_names_those_that_the_file_has(tmp_path):
    needs = SIZED.replace('<xacro:arg name="mass" default="1"/>', "")
    (error,) = errors(written(tmp_path, needs))
    assert error.problem.endswith("; the file has 'heavy' besides") and "--arg mass:=..." in error.remedy


def test_text_that_expands_to_sdf_is_read_as_sdf(tmp_path):
    inertia = "<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
    body = f'<link name="a"><inertial><mass>${{2 * 3}}</mass>{inertia}</inertial></link>'
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    text = f'<sdf version="1.9" {space}><xacro:if value="1"><model name="m">{body}</model></xacro:if></sdf>'
    assert load(written(tmp_path, text, "m.sdf.xacro")).robot.total_mass == 6.0


def test_text_that_is_no_xacro_is_refused(tmp_path):
    assert errors(written(tmp_path, "<robot"))[0].rule == "structure"
    assert errors(written(tmp_path, '<!DOCTYPE x [<!ENTITY a "b">]><robot/>'))[0].rule == "entities"
    path = tmp_path / "latin.xacro"
    path.write_bytes("<robot name='\xe9'/>".encode("latin-1"))
    assert errors(path)[0].rule == "syntax"


def test_without_the_extra_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(xacro_macros, "find_spec", lambda name: None)
    (error,) = errors(written(tmp_path, f"{HEAD}</robot>"))
    assert "kinemorph[xacro]" in error.remedy


# ── arguments ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SIZED = (
    HEAD
    + '<xacro:arg name="heavy" default="false"/><xacro:arg name="mass" default="1"/>'
    + '<xacro:property name="heavy" value="$(arg heavy)"/><xacro:property name="mass" value="$(arg mass)"/>'
    + '<link name="a"/><link name="b"><inertial><mass value="${10 * mass if heavy else mass}"/>'
    + '<inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial></link>'
    + JOINT
    + "</robot>"
)


def test_arguments_of_a_file_have_defaults_and_can_be_given(tmp_path):
    path = written(tmp_path, SIZED)
    masses = [
        load(path, arguments=given).robot.body("b").mass for given in (None, {"mass": 2.5}, {"heavy": True, "mass": 2})
    ]
    assert masses == [1.0, 2.5, 20.0]
    required = written(tmp_path, SIZED.replace('<xacro:arg name="mass" default="1"/>', ""), "required.xacro")
    assert load(required, arguments={"mass": 3}).robot.body("b").mass == 3.0


def test_arguments_that_a_file_does_not_declare_are_refused(tmp_path):
    (error,) = errors(written(tmp_path, SIZED), arguments=(("mas", "2"),))
    assert "does not declare it; it has 'heavy', 'mass'" in str(error) and "Did you mean 'mass'?" in str(error)
    plain = written(tmp_path, '<robot name="r"><link name="a"/></robot>', "plain.urdf")
    found = examine(plain, options=Options(arguments=(("mass", "2"),))).errors
    assert ["arguments are for xacro files, and the file is URDF" in str(one) for one in found] == [True]


def test_the_command_line_gives_arguments(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from kinemorph.cli import app

    monkeypatch.chdir(tmp_path)
    written(tmp_path, SIZED)
    runner = CliRunner()
    result = runner.invoke(app, ["info", "arm.urdf.xacro", "--arg", "mass:=7", "--argument", "heavy=true"])
    assert result.exit_code == 0 and "70" in result.stdout
    for given, sentence in (
        ("mass", "expected NAME:=VALUE"),
        ("size=2", "does not declare it"),
    ):
        result = runner.invoke(app, ["info", "arm.urdf.xacro", "--arg", given])
        assert result.exit_code == 2 and sentence in result.output
