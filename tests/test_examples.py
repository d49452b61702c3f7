"""Examples are documentation: each runs as it stands, says something, and makes a picture with something on it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinemorph
from support.tools.each_case import each_case

FOLDER = Path(__file__).resolve().parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))  # notebooks are run by display/pages/test_notebook_run.py


def test_examples_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:2]) for path in (*EXAMPLES, *FOLDER.glob("[0-9]*.ipynb")))
    assert numbers == list(range(1, len(numbers) + 1))


BRIEF = ("01",)  # pages of the documentation run the code of all others by default
RUN = [pytest.param(path, marks=[pytest.mark.slow] * (path.name[:2] not in BRIEF), id=path.stem) for path in EXAMPLES]


@pytest.mark.parametrize("path", RUN)
def test_example_runs_and_makes_a_picture(path: Path, tmp_path: Path) -> None:
    from matplotlib.image import imread

    environment = {**os.environ, "PYTHONPATH": str(Path(kinemorph.__file__).resolve().parent.parent)}
    command = [sys.executable, str(path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "wrote" in done.stdout
    pictures = sorted((tmp_path / "out").glob(f"{path.name[:2]}_*.png"))
    assert pictures
    for picture in pictures:
        assert float((imread(picture)[..., :3] < 0.9).mean()) > 0.004  # this part of the picture is drawn upon


@each_case("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_take_public_names_from_the_top(path: Path) -> None:
    imported = re.findall(r"^from (kinemorph\S*) import (\w+)$", path.read_text(), re.MULTILINE)
    for module, name in imported:
        assert kinemorph.HOMES.get(name) != module, f"write kinemorph.{name}"
        assert module != "kinemorph.cli.demo.robot_demo"
