"""Without the packages of an extra, the verbs that need them say which one to install, and everything else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kinemorph

WITHOUT = """
import sys
class Without:
    def __init__(self, finder): self.finder = finder
    def find_spec(self, name, path=None, target=None):
        hidden = name.split(".")[0] in {hidden!r}
        return None if hidden else self.finder.find_spec(name, path, target)
    def __getattr__(self, name): return getattr(self.finder, name)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
from kinemorph.cli import main
sys.argv = ["kinemorph", *{arguments!r}]
main()
"""  # a program in which packages are missing, as if they had not been installed


def run_without(hidden: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command does in a Python that lacks some packages."""
    program = WITHOUT.format(hidden=hidden, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["starlette", "uvicorn", "websockets"])
@pytest.mark.parametrize("verb", ["studio", "view"])
def test_a_missing_package_is_a_sentence(tmp_path: Path, package: str, verb: str) -> None:
    kinemorph.save(kinemorph.library.pendulum(), tmp_path / "swing.toml")
    place = str(tmp_path / "swing.toml")
    arguments = ("studio", place, "--no-open") if verb == "studio" else ("show", place, "--view")
    done = run_without([package], *arguments)
    assert done.returncode == 2, done.stderr
    assert f"pip install 'kinemorph[{verb}]'" in done.stderr and package in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


@pytest.mark.slow
def test_other_verbs_work_without_the_extras(tmp_path: Path) -> None:
    kinemorph.save(kinemorph.library.pendulum(), tmp_path / "swing.toml")
    done = run_without(["starlette", "uvicorn", "websockets", "anywidget"], "info", str(tmp_path / "swing.toml"))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
