"""The public face: every name of `kinemorph.__all__` is there, none is shadowed by a module, and importing is light."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import kinemorph
from kinemorph.lazy import MODULE

ROOT = Path(__file__).resolve().parent.parent
MODULE_NAMES = {name for name, home in kinemorph.HOMES.items() if home.endswith(MODULE)}
FACES = (
    "kinemorph",
    *(
        f"kinemorph.{name}"
        for name in (
            "library",
            "elements",
            "modules",
            "loops",
            "orbits",
            "legs",
            "identification",
            "tracking",
            "live",
            "conventions",
            "plants",
            "programs",
            "studies",
            "codegen",
        )
    ),
)
HEAVY = ("scipy", "matplotlib", "llvmlite", "typer", "rich", "sympy")


def every_submodule() -> list[str]:
    found = pkgutil.walk_packages(kinemorph.__path__, "kinemorph.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def python(code: str) -> str:
    """What a fresh interpreter prints when it runs `code`."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_every_public_name_resolves_after_every_submodule_is_imported() -> None:
    # Importing a submodule sets an attribute of its name on its package: a function of that name would be lost.
    for module in every_submodule():
        importlib.import_module(module)
    for name in kinemorph.__all__:
        value = getattr(kinemorph, name)
        assert isinstance(value, types.ModuleType) == (name in MODULE_NAMES), f"{name} is {value!r}"


def test_no_module_of_a_face_bears_the_name_of_a_public_function() -> None:
    """In other packages a file may: it becomes an attribute of its own package only."""
    modules = set(every_submodule())
    for face in FACES:
        names = set(importlib.import_module(face).__all__) - (MODULE_NAMES if face == "kinemorph" else set())
        assert not modules & {f"{face}.{name}" for name in names}


@pytest.mark.parametrize(
    "subject",
    [
        "library",
        "elements",
        "modules",
        "loops",
        "orbits",
        "legs",
        "identification",
        "tracking",
        "live",
        "conventions",
        "plants",
        "programs",
    ],
)
def test_a_subject_can_be_imported_as_a_module(subject: str) -> None:
    """`import kinemorph.library` and `from kinemorph.elements import PD` raised ModuleNotFoundError."""
    name = importlib.import_module(f"kinemorph.{subject}").__all__[0]
    space: dict[str, object] = {}
    exec(f"import kinemorph.{subject}\nfrom kinemorph.{subject} import {name} as got", space)
    assert space["got"] is getattr(getattr(kinemorph, subject), name)


def test_public_names_are_listed_once_and_shown_by_dir() -> None:
    assert len(kinemorph.__all__) == len(set(kinemorph.__all__))
    assert set(kinemorph.__all__) <= set(dir(kinemorph))


@pytest.mark.parametrize("face", FACES)
def test_type_checkers_see_the_same_names(face: str) -> None:
    module = importlib.import_module(face)
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            path = f"{statement.module}.{alias.name}"
            seen[alias.name] = path + MODULE if module.HOMES[alias.name].endswith(MODULE) else statement.module
    assert seen == module.HOMES


@pytest.mark.parametrize("face", FACES)
def test_every_name_of_a_face_is_there_and_listed(face: str) -> None:
    module = importlib.import_module(face)
    assert set(module.HOMES) <= set(module.__all__) <= set(dir(module))
    for name in module.HOMES:
        assert getattr(module, name) is not None


def test_about_50_names_stand_at_the_top() -> None:
    assert len(set(kinemorph.HOMES) - MODULE_NAMES) <= 52


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"'derivee'.*derive"):
        _ = kinemorph.derivee


def test_a_name_of_another_subject_is_pointed_out() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Spring'\. Use kinemorph\.elements\.Spring\."):
        _ = kinemorph.Spring
    with pytest.raises(AttributeError, match=r"Use kinemorph\.elements\.Spring\."):
        _ = kinemorph.modules.Spring


def test_completion_offers_public_names_only() -> None:
    assert {name for name in dir(kinemorph) if not name.startswith("__")} == set(kinemorph.HOMES)


def test_import_leaves_heavy_libraries_alone() -> None:
    loaded = python("import sys, kinemorph; print(*sys.modules)").split()
    assert not {name for name in loaded if name.partition(".")[0] in HEAVY}


def test_import_time_is_measured(record_property: pytest.RecordProperty) -> None:
    start = time.perf_counter()
    python("pass")
    bare = time.perf_counter() - start
    inside = float(python("import time; s = time.perf_counter(); import kinemorph; print(time.perf_counter() - s)"))
    print(f"import kinemorph: {inside * 1e3:.1f} ms inside an interpreter that takes {bare * 1e3:.0f} ms to start")
    record_property("import_seconds", inside)
    assert inside > 0.0


def test_the_readme_examples_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "README.md", "exec"), names)
        assert capsys.readouterr().out.strip()
