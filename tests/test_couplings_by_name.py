"""What finds a module by a text: every such text names a module that is there, and every file is found.

A linter cannot see these couplings. A file that is moved without them fails here, not at a user's desk.
"""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import kinemorph
from kinemorph.formats import FORMATS
from kinemorph.mechanics.elements import law
from kinemorph.model import elements
from kinemorph.simulation.files import storage
from support.tools.each_case import each_case

PACKAGE = Path(kinemorph.__file__).parent
ROOT = PACKAGE.parents[1]
DOTTED = re.compile(r"(?<!window\.)kinemorph(?:\.[A-Za-z_][A-Za-z_0-9]*)+")  # `window.kinemorph` is an object of a page
IMPORT = re.compile(r"^ *(from|import) kinemorph[^\n]*$", re.MULTILINE)


def test_every_element_kind_has_a_law_in_the_file_of_the_same_name() -> None:
    kinds = [getattr(elements, name) for names in elements.FILES.values() for name in names]
    for kind in kinds:
        bare = object.__new__(kind)  # a law is found by the kind alone
        assert law.law_of(bare) is not None, kind


def test_every_file_of_elements_is_in_a_table() -> None:
    folder = Path(elements.__file__).parent
    listed = {
        *elements.FILES,
        *elements.PARTS,
        "control.wiring",
        "contact.unstopped",
        "contact.outer_shapes",
        "fields",
        "csv_numbers",
        "declared",
        "field_problems",
        "inactive",
    }
    found = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    }
    assert found == listed


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_models_has_its_reader(name: str) -> None:
    assert callable(FORMATS[name].read)


def test_every_folder_of_formats_is_in_the_table() -> None:
    folder = Path(import_module("kinemorph.formats").__file__ or "").parent
    found = {path.parent.name for path in folder.glob("*/reader.py")}
    assert found == {row.folder for row in FORMATS.values()}


def test_every_format_of_runs_has_both_ways() -> None:
    for ending in storage.FORMATS:
        module = storage._format(f"run{ending}")
        assert callable(module.encode) and callable(module.decode), ending


@each_case("name", kinemorph.__all__)
def test_every_public_name_has_a_home(name: str) -> None:
    assert getattr(kinemorph, name) is not None


def texts_of(path: Path) -> list[str]:
    """What a file says: all of it, or of Python its strings alone, as the linter knows its imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [text]
    if not DOTTED.search(IMPORT.sub("", text)):  # parsing takes longer
        return []
    return [
        node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and type(node.value) is str
    ]


FILES = [
    path
    for pattern in ("src/**/*.py", "tests/**/*.py", "examples/*.py", "docs/**/*.md", "*.md", "*.toml", "Makefile")
    for path in sorted(ROOT.glob(pattern))
    if "data" not in path.parts and "golden" not in path.parts
    if not re.search(
        "replay|page_times|screenshots|test_couplings_by_name", path.name
    )  # in pages of replays `kinemorph` is an object
]
FILE_NAMES = {"kinemorph.schema.json"}


def test_every_dotted_name_in_a_text_is_there() -> None:
    """In strings of the code, in the docs and in the files that build: `kinemorph.a.b.c` names something that is."""
    wrong = []
    for path in FILES:
        for text in texts_of(path):
            for name in DOTTED.findall(text):
                if name not in FILE_NAMES and not _is_there(name):
                    wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong, "\n".join(wrong)


def _is_there(name: str) -> bool:
    parts = name.split(".")
    found = kinemorph
    for k, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            module = ".".join(parts[:k])
            try:
                if find_spec(module) is None:
                    return False
            except ModuleNotFoundError:
                return False
            found = import_module(module)
        else:
            found = getattr(found, part)
    return True
