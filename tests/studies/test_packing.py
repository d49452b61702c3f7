"""What workers get: functions of modules by name, those of scripts and lambdas where that is possible, else words."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import kinemorph
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies import packing
from kinemorph.studies.packing import PYTHON, packed, refuse_in_worker, unpacked
from support.studies.small_study import do

SCRIPT = """
import sys
sys.path[:] = {path!r}
{first}
from kinemorph.studies.packing import packed
FACTOR = 3
def triple(x):
    return FACTOR * x
class Model:
    def __init__(self, number): self.number = number
    def __call__(self, x): return triple(x) + self.number
if {guard}:
    from kinemorph.studies.workers.open_workers import open_workers
    with open_workers(0):
        sys.stdout.buffer.write(packed(({thing}, FACTOR)).data)
"""
READER = """
import sys
sys.path[:] = {path!r}
{first}
from kinemorph.studies.packing import unpacked
model, factor = unpacked(sys.stdin.buffer.read())
print(model(14), factor)
"""
NONE = "sys.modules['cloudpickle'] = None"
GUARD = '__name__ == "__main__"'


def travelled(folder: Path, thing: str, *, first: str = "", guard: str = GUARD) -> str:
    """What a process prints that gets a thing of a script; or the last line that the script or it says."""
    script = folder / "my_study.py"
    script.write_text(SCRIPT.format(path=sys.path, first=first, guard=guard, thing=thing))
    made = subprocess.run([sys.executable, str(script)], capture_output=True)
    if made.returncode:
        return made.stderr.decode().splitlines()[-1]
    reader = READER.format(path=sys.path, first=first)
    read = subprocess.run([sys.executable, "-c", reader], input=made.stdout, capture_output=True)
    return (read.stdout or read.stderr).decode().strip().splitlines()[-1]


@pytest.mark.slow
def test_functions_of_a_script_travel_with_cloudpickle_or_are_found_again(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    assert travelled(tmp_path, "triple") == "42 3"
    assert travelled(tmp_path, "triple", guard="True") == "42 3"  # no guard is needed
    assert travelled(tmp_path, "lambda x: x + FACTOR") == "17 3"
    assert travelled(tmp_path, "Model(1)") == "43 3"
    assert travelled(tmp_path, "triple", first=NONE) == "42 3"
    assert travelled(tmp_path, "Model(1)", first=NONE) == "43 3"


@pytest.mark.slow
def test_what_cannot_travel_is_told_with_the_ways_out(tmp_path: Path) -> None:
    said = travelled(tmp_path, "lambda x: x", first=NONE)
    assert "cannot be sent to worker processes" in said and "install cloudpickle" in said and "workers=0" in said
    said = travelled(tmp_path, "triple", first=NONE, guard="True")
    assert "'my_study.py' starts a study whenever it is run" in said and 'if __name__ == "__main__":' in said


def test_functions_of_modules_travel_by_name() -> None:
    one, other = packed((do, 5)), packed((do, 6))
    assert unpacked(one.data) == (do, 5) and one.digest != other.digest == packed((do, 6)).digest


def test_workers_of_another_version_or_without_a_module_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(5).data
    monkeypatch.setattr(kinemorph, "__version__", "0.0.1")
    with pytest.raises(KinemorphError, match=r"has Kinemorph 0\.0\.1 .*Install the same versions"):
        unpacked(data)
    monkeypatch.undo()
    missing = pickle.dumps((kinemorph.__version__, PYTHON, "", b"cno_such_module\nmodel\n."))
    with pytest.raises(KinemorphError, match="cannot import 'no_such_module'"):
        unpacked(missing)
    monkeypatch.setattr(packing, "_RUNNING", ["/home/me/my_study.py"])
    with pytest.raises(UnsupportedError, match=r"'my_study\.py' starts a study whenever it is run"):
        refuse_in_worker()
