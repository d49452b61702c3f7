"""The JSON schema: in step with the tables, fulfilled by what is written, broken by what is wrong."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kinemorph.formats.findings import Findings
from kinemorph.formats.toml import fields as toml_fields
from kinemorph.formats.toml import schema
from kinemorph.formats.toml import text as toml_text
from kinemorph.formats.toml.lines import Lines
from kinemorph.formats.toml.schema import json_schema
from kinemorph.formats.toml.values import Values
from kinemorph.formats.toml.writer import written_system
from kinemorph.model.elements.fields import Field
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.system import System
from support.robots.random_robots import random_robot
from support.tools.each_case import each_case

ROOT = Path(__file__).resolve().parents[3]
ARM = """\
kinemorph = 1
[bodies.link]
mass = "500 g"
solid = { kind = "box", size = [0.1, "a", 0.3] }
shapes = [{ kind = "mesh", file = "a.stl" }, { kind = "sphere", radius = 1, rpy = [0, 0, "90 deg"] }]
[joints.hinge]
kind = "revolute"
parent = "world"
child = "link"
axis = "-y"
lower = -1
upper = ["90 deg"]
[parameters]
a = { value = 1, unit = "m" }
b = "2 * a"
[elements.motor]
kind = "actuator"
joint = "hinge"
[settings]
q = { hinge = 1 }
v = [1]
"""


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    found = json_schema()
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def test_the_file_in_the_docs_is_in_step(request: pytest.FixtureRequest) -> None:
    path = ROOT / "docs" / "kinemorph.schema.json"
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@each_case("name", CHOICE)
def test_written_files_fulfill_it(name: str, validator: Draft202012Validator) -> None:
    text = written_system(choose(name), Findings("x"))
    assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == []


def test_random_robots_fulfill_it(validator: Draft202012Validator) -> None:
    for seed in range(4):
        text = written_system(System(random_robot(seed, most=20, symbolic=True)), Findings("x"))
        assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == []


@each_case(
    ("old", "new"),
    [
        ("kinemorph = 1", ""),
        ("kinemorph = 1", "kinemorph = 2"),
        ("kinemorph = 1", "kinemorph = 1\nbodys = 1"),
        ("kinemorph = 1", "kinemorph = 1\ngravity = [1, 2]"),
        ("mass =", "mas ="),
        ('"500 g"', "true"),
        ("solid =", "com = [0, 0, 0]\nsolid ="),
        ('"box"', '"boxx"'),
        ('size = [0.1, "a", 0.3]', "size = [0.1, 0.2]"),
        ("radius = 1", "radiu = 1"),
        ("file =", "fil ="),
        ("rpy =", "quaternion = [1, 0, 0, 0], rpy ="),
        ('kind = "revolute"', 'kind = "hinge"'),
        ('kind = "revolute"', ""),
        ('"-y"', '"w"'),
        ("lower = -1", "lower = {}"),
        ("lower = -1", "rotation = [1, 2, 3]"),
        ("lower = -1", "placement = 1"),
        ('unit = "m"', 'units = "m"'),
        ('kind = "actuator"', 'kind = "motor"'),
        ('joint = "hinge"', "joint = 1"),
        ("q = { hinge = 1 }", "q = 1"),
        ("[settings]", "[settings]\nduratio = 1"),
        ('kind = "actuator"', 'kind = "encoder"\nevery = 0'),
        ('kind = "actuator"\njoint', 'kind = "pantograph gait"\nratio = 1\njoints'),
    ],
)
def test_wrong_files_do_not(old: str, new: str, validator: Draft202012Validator) -> None:
    assert validator.is_valid(tomllib.loads(ARM))
    assert old in ARM
    assert not validator.is_valid(tomllib.loads(ARM.replace(old, new, 1)))


def _rows() -> list[Field]:
    tables: list[Any] = [toml_fields.POSE, *toml_fields.TABLES.values(), toml_fields.SETTINGS, toml_fields.MESH]
    tables += [toml_fields.MESH_FILE, *(row[1] for row in toml_fields.SHAPES.values())]
    tables += [solid.fields for solid in toml_fields.SOLIDS.values()]
    return [field for table in tables for field in table]


def test_every_form_is_read_written_and_described() -> None:
    special = {
        "per_coordinate",
        "per_velocity",
        "shapes",
        "solid",
        "state",
        "angles",
        "formulas",
        "position",
        "texts",
    }  # read by the part they belong to
    readers = Values(Findings("x"), Lines("")).forms.keys()
    for field in _rows():
        assert field.form in schema.FORMS
        assert field.form in special or field.form in readers
        assert field.form in toml_text.FORMS or field.form in {"shapes", "solid", "state", "angles", "matrix"}
        assert field.help
