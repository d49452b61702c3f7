"""Names, units and titles of a model stay text in every language, whatever they contain."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import kinemorph
from kinemorph.programs import make_job, write_program
from support.cases.c_programs import STRICT
from support.tools.command_line import parsed, run
from support.tools.program_languages import WRITERS, c_program, has_language, run_program

HOSTILE = (
    '#read("x")',
    "\\input{x}",
    "<script>",
    "*/ int main(){",
    "]]>",
    "\N{GRINNING FACE}",
    "a\nb",
    "%s%n",
    "??/",
    "simulator",
    "'''",
)
LONG = "l' " * 3_000 + "l" * 1_000
OTHERS = [language for language in WRITERS if language != "c"]
HASTY = ("-O0", *STRICT[1:])  # soon compiled, without a warning


def plant(name: str) -> kinemorph.plants.Plant:
    states = {**dict.fromkeys(HOSTILE, '"unit"'), LONG: "%d"}
    return kinemorph.plants.first_order(lambda x: [-value for value in x], states, start=[1.0] * len(states), name=name)


@pytest.mark.parametrize("language", ["c", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_hostile_names_stay_text(language: str, tmp_path: Path) -> None:
    if missing := has_language(language):
        pytest.skip(missing)
    job = make_job(plant("*/ main simulator"), 0.1)
    program = c_program(job, tmp_path, HASTY) if language == "c" else WRITERS[language](job, tmp_path)
    found, message = run_program(program)
    assert found.shape[1] == len(HOSTILE) + 2 and message.startswith("finished at t = 0.1 s")
    listed = subprocess.run([*program.command, "--list"], capture_output=True, check=True).stdout.decode()
    for name in (*HOSTILE, LONG):
        assert f"x.{name}".replace("\n", " ") + " = 1" in listed
    assert run_program(program, "--set", f"x.{HOSTILE[0]}=2")[0][0, 1] == 2.0
    assert run_program(program, "--set", f"x.{LONG}=3")[0][0, -1] == 3.0


def test_programs_in_all_languages_are_written_for_hostile_names(tmp_path: Path) -> None:
    for language in ("matlab", "cpp", "python"):
        assert write_program(make_job(plant("main"), 0.1), language, tmp_path / language)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    job = make_job(kinemorph.library.pendulum(), 0.1)
    with pytest.raises(kinemorph.errors.KinemorphError, match=r"cannot be written to: .* Choose another folder"):
        write_program(job, "python", tmp_path / "file" / "folder")


def test_the_verb_writes_a_program(tmp_path: Path) -> None:
    data = parsed("program", "pendulum", "--to", "python", "--output", str(tmp_path), "--time", "0.1", "--rtol", "1e-6")
    assert data["target"] == "python" and data["method"] == "dop853"
    assert {path.name for path in tmp_path.iterdir()} == {"pendulum.py", "pendulum_data.py", "pendulum_model.py"}
    result = run("program", "pendulum", "--to", "c", "--method", "scipy:RK45", "--output", str(tmp_path))
    assert result.exit_code == 2 and "method 'scipy:RK45' belongs to another library" in result.stderr
