"""The verb derive: counts of operations, equations and code in every form, and the files that it writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kinemorph.cli import application
from kinemorph.cli.verbs.derive import Emit
from kinemorph.codegen import work_clock
from kinemorph.deriving.function_names import FUNCTIONS
from kinemorph.display.exports.emitted_forms import FORMS
from support.tools.command_line import parsed, run
from support.tools.some_slow import first


def test_derive_counts_operations() -> None:
    data = parsed("derive", "double_pendulum")
    rows = {row["function"]: row for row in data["functions"]}
    assert list(rows) == ["mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics"]
    assert 0 < rows["mass_matrix"]["ops"] < rows["inverse_dynamics"]["ops"]
    assert "inverse_dynamics" in run("derive", "double_pendulum").stdout


def test_derive_says_which_functions_keep_a_loop_closed() -> None:
    (line,) = run("derive", "four_bar", "--emit", "graph").stderr.splitlines()
    assert "1 loop" in line and "when loops are cut" in line and "forward dynamics satisfies the constraints" in line
    assert run("derive", "four_bar", "--function", "forward_kinematics").stderr == ""
    assert run("derive", "puma").stderr == ""


def test_help_of_derive_lists_the_functions_and_flags_have_no_type() -> None:
    text = run("derive", "--help").stdout
    assert all(name in text for name in FUNCTIONS)
    assert "<bool>" not in next(line for line in text.splitlines() if "--json" in line)


@pytest.mark.parametrize(
    ("form", "mark"),
    [
        ("text", "tau1 = m1*l1**2*a1 + m1*l1*g*sin(q1)"),
        ("latex", r"\ddot{q}_{1}"),
        ("typst", "tau_1 &= m_1 l_1^2 dot.double(q)_1 + m_1 l_1 g sin q_1"),
        ("mathml", "<mi>sin</mi><mo>&#x2061;</mo>"),
        ("sympy", "m1*l1**2*a1 + m1*l1*g*sin(q1)"),
        ("python", "def inverse_dynamics(q, v, a):"),
        ("matlab", "function out = pendulum_inverse_dynamics(q, v, a)"),
        ("c", "void pendulum_inverse_dynamics("),
        ("cuda", "__global__"),
        ("llvm", "define"),
        ("graph", "n4 = sin"),
    ],
)
def test_derive_emits(form: str, mark: str) -> None:
    assert mark in run("derive", "pendulum", "--emit", form).stdout
    assert any(mark in text for text in parsed("derive", "pendulum", "--emit", form)["files"].values())


def test_every_form_is_offered() -> None:
    assert [form.value for form in Emit] == list(FORMS)


SOURCES = [form for form, row in FORMS.items() if row.write is not None]


@pytest.mark.parametrize("form", SOURCES)
def test_derive_emits_several_functions_of_any_kind(form: str) -> None:
    names = ["mass_matrix", "energy", "jacobian"]
    wanted = [part for name in names for part in ("--function", name)]
    result = run("derive", "crane", "--emit", form, *wanted, "--frame", "load")
    assert result.exit_code == 0, result.stderr
    assert all(name in result.stdout for name in names[:2])


@pytest.mark.parametrize("form", first((form for form in SOURCES if form != "sympy"), 4))
def test_derive_emits_a_robot_with_a_loop(form: str) -> None:
    result = run("derive", "four_bar", "--emit", form, "--function", "forward_dynamics")
    assert result.exit_code == 0, result.stderr
    result = run("derive", "four_bar", "--emit", form, "--function", "constraint_forces")
    assert result.exit_code == 0, result.stderr
    assert "solve" in result.stdout or form in ("latex", "typst", "mathml", "llvm")


def test_files_on_stdout_are_parted_by_comments() -> None:
    both = ["--function", "mass_matrix", "--function", "energy"]
    text = run("derive", "puma", "--emit", "matlab", *both).stdout
    assert re.findall(r"^% ==== (.*) ====$", text, re.MULTILINE) == ["puma_mass_matrix.m", "puma_energy.m"]
    text = run("derive", "puma", "--emit", "c", *both).stdout
    assert re.findall(r"^// ==== (.*) ====$", text, re.MULTILINE) == ["puma.c", "puma.h"]
    assert "====" not in run("derive", "puma", "--emit", "python", *both).stdout


@pytest.mark.parametrize("form", [form for form, row in FORMS.items() if row.precise])
def test_derive_in_single_precision(form: str) -> None:
    single, double = (run("derive", "pendulum", "--emit", form, "--precision", f"float{n}").stdout for n in (32, 64))
    assert single != double and re.search("float32|float|single", single)


def test_derive_keeps_the_parameters_that_are_asked_for() -> None:
    assert "tau1 = a1 + 9.81*sin(q1)" in run("derive", "pendulum", "--emit", "text", "--parameters", "none").stdout
    assert "l1**2*a1 + 9.81*l1*sin(q1)" in run("derive", "pendulum", "--emit", "text", "--parameters", "l1").stdout
    assert parsed("derive", "pendulum", "--parameters", "l1, m1")["parameters"] == ["l1", "m1"]


def test_derive_functions_of_a_frame() -> None:
    (row,) = parsed("derive", "puma", "--function", "jacobian", "--frame", "flange")["functions"]
    assert row["outputs"] == {"out": [6, 6]}


def test_derive_writes_a_file_and_says_so_on_stderr(tmp_path: Path) -> None:
    target = tmp_path / "pendulum.tex"
    result = run("derive", "pendulum", "--emit", "latex", "--output", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    assert str(target) in result.stderr.replace("\n", "")
    assert r"\begin{aligned}" in target.read_text()


OUTPUTS = [
    ("python", "arm.py", ["arm.py"]),
    ("python", ".", ["pendulum.py"]),
    ("sympy", "here.py", ["here.py"]),
    ("graph", "graph", ["graph"]),
    ("graph", ".", ["pendulum_graph.txt"]),
    ("text", ".", ["pendulum.txt"]),
    ("summary", ".", ["pendulum_summary.txt"]),
    ("c", "arm", ["arm.c", "arm.h"]),
    ("c", "arm.c", ["arm.c", "arm.h"]),
    ("c", ".", ["pendulum.c", "pendulum.h"]),
    ("c", "my model.c", ["my model.c", "my model.h"]),
    ("c", "mödel ☂.h", ["mödel ☂.c", "mödel ☂.h"]),
    ("c", "2link", ["2link.c", "2link.h"]),
    ("cuda", "2 link.cu", ["2 link.cu", "2 link.cuh"]),
    ("python", "my model.py", ["my model.py"]),
    ("matlab", "arm", ["arm_inverse_dynamics.m"]),
    ("matlab", "./", ["pendulum_inverse_dynamics.m"]),
]


@pytest.mark.parametrize(("form", "output", "files"), OUTPUTS)
def test_output_is_a_file_a_stem_or_a_folder(
    form: str, output: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("derive", "pendulum", "--emit", form, "--output", output)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    assert result.stderr.splitlines() == [f"wrote {file}" for file in files]
    assert all(path.stat().st_size > 20 for path in tmp_path.iterdir())
    if form == "c":
        assert f'#include "{files[1]}"' in (tmp_path / files[0]).read_text()


@pytest.mark.parametrize(
    ("form", "output", "sentence"),
    [
        ("c", "model.cpp", "expected a name that ends in .c, .h, or one without an ending. Write 'model.c'."),
        ("c", "arm.v2", "expected a name that ends in .c"),
        ("c", 'a"b.c', "cannot be written in an #include line"),
        ("matlab", "my arm", "MATLAB finds a function by the name of its file; expected at most 24 letters"),
        ("matlab", "arm.m", "There is one file for each function"),
    ],
)
def test_a_name_that_a_file_cannot_have_is_refused(
    form: str, output: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("derive", "pendulum", "--emit", form, "--output", output)
    assert result.exit_code == 2 and sentence in result.stderr and not list(tmp_path.iterdir())


def test_files_that_were_not_emitted_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--output "my model.c"` wrote my_model.c, over a file of that name."""
    monkeypatch.chdir(tmp_path)
    Path("my_model.c").write_text("int mine;")
    Path("arm.h").write_text("int mine;")
    for _ in range(2):  # what was emitted may be emitted again
        assert run("derive", "pendulum", "--emit", "c", "--output", "my model.c").exit_code == 0
    result = run("derive", "pendulum", "--emit", "c", "--output", "arm")
    assert result.exit_code == 2 and "'arm.h' exists and was not written by kinemorph" in result.stderr
    assert Path("my_model.c").read_text() == Path("arm.h").read_text() == "int mine;"
    assert not Path("arm.c").exists()
    assert run("derive", "pendulum", "--emit", "c", "--output", "arm.h").exit_code == 0  # named itself: replaced


def test_json_says_what_was_written_where(tmp_path: Path) -> None:
    data = parsed("derive", "pendulum", "--emit", "python", "--output", str(tmp_path))
    assert data["output"] == [str(tmp_path / "pendulum.py")]
    assert (tmp_path / "pendulum.py").read_text() == data["files"]["pendulum.py"]


def test_a_long_derivation_says_that_it_works_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stderr that is no terminal gets lines that name what is simplified, before the equations come."""
    for name, value in (("PATIENCE", 0.02), ("EVERY", 0.01), ("_LINE", work_clock._Line())):
        monkeypatch.setattr(work_clock, name, value)
    monkeypatch.delenv(work_clock.VARIABLE, raising=False)
    monkeypatch.setattr(application, "LINE_EVERY", 0.0)
    options = ("--formulation", "incidence", "--function", "block_matrices", "--emit", "latex")
    result = run("derive", "chain:3", *options)
    lines = [line for line in result.stderr.splitlines() if line.startswith("deriving chain3 (")]
    assert result.exit_code == 0 and any("simplifying the equations of chain3" in line for line in lines), result.stderr
    assert result.output.index("simplifying the equations of") < result.output.index(r"\begin{")
