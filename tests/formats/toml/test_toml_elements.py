"""Elements in model files: rows out of type hints, every kind there and back, parts in parts, findings with lines."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from kinemorph import Parameter, System, elements, examine, load, save
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.rotations import rotation
from kinemorph.errors import ModelWarning
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml.reader import read
from kinemorph.formats.toml.schema import json_schema
from kinemorph.formats.toml.writer import written_system
from kinemorph.model.body import Vector
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.elements.contact.contact_laws import HuntCrossley
from kinemorph.model.elements.contact.grounds import HeightFunction
from kinemorph.model.elements.fields import Field, element_fields, part_fields
from kinemorph.model.elements.forces.applied import Table
from kinemorph.model.library import LIBRARY
from kinemorph.model.parameter import Value

ARM = LIBRARY["double_pendulum"]()
GAIN = Parameter("gain", 0.7)
NAMES = {"joint": ARM.joints[0].name, "joints": ARM.joints[0].name, "frame": ARM.body_names[0]}


# ── every kind, with data made up from its type hints ─────────────────────────────────────────────────────────────────


def examples(field: Field, number: int = 3) -> list[Any]:
    """Data for a row: one for each form that it may have."""
    simple: dict[str, Any] = {
        "value": GAIN * 2.0,
        "literal": next(x for x in (0.1 * number, 0.9, 2.0) if field.bounds.hold(x)),
        "whole": number,
        "flag": True,
        "text": NAMES.get(field.name, ARM.body_names[0]),
        "vector": (0.1, GAIN, -0.3 if field.bounds.hold(-0.3) else 0.3),
        "pose": Pose(rotation((0.0, 0.0, 1.0), 0.4), (1.0, 2.0, 3.0)),
    }
    if field.form in simple:
        return [simple[field.form]]
    if field.form == "choice":
        return list(field.inner)
    if field.form == "list":
        row, count = field.inner
        items = examples(row._replace(name=field.name, bounds=field.bounds), number)
        return [tuple(items[k % len(items)] for k in range(count or max(2, len(items))))]
    if field.form == "row":
        return [tuple(examples(row)[0] for row in field.inner)]
    if field.form == "part":
        return [one for kind in field.inner.values() for one in made(kind, part_fields(kind))]
    if field.form == "either":
        return [one for row in field.inner for one in examples(row._replace(name=field.name, bounds=field.bounds))]
    return []  # functions, and what is taken as it is written


def made(kind: type[Any], rows: tuple[Field, ...], **given: Any) -> Iterator[Any]:
    """Objects of a kind: as many as show all that its fields may be."""
    known = {row.name: examples(row, 3 + k) for k, row in enumerate(rows) if row.name not in ("file", "columns")}
    if any(row.required and not known[row.name] for row in rows):
        return
    for k in range(max(map(len, known.values()), default=1)):
        data = {name: values[k % len(values)] for name, values in known.items() if values}
        yield kind(**given, **data)


def every_example() -> Iterator[Any]:
    for kind, element in list(ELEMENT_KINDS.items()):
        own = getattr(import_module(element.__module__), "EXAMPLES", None)
        found = (
            [e for e in own if type(e) is element] if own else list(made(element, element_fields(element), name=kind))
        )
        yield from (dataclasses.replace(one, name=f"{kind} {k}") for k, one in enumerate(found))


def back(system: System) -> System:
    text = written_system(system, Findings("x"))
    findings = Findings("x")
    found = read(Source("x.toml", text.encode()), Options(), findings)
    assert found is not None, (findings.errors, text)
    return found


def test_every_kind_comes_back_from_a_file_the_same() -> None:
    acting = tuple(every_example())
    assert {type(one) for one in acting} >= {ELEMENT_KINDS[kind] for kind in ("spring", "bushing", "applied wrench")}
    findings = Findings("x")
    text = written_system(System(ARM, acting), findings)
    assert not findings.found
    assert back(System(ARM, acting)).elements == acting
    validator = Draft202012Validator(json_schema())
    assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == []


def test_every_kind_has_units_where_it_has_quantities() -> None:
    """A number without a kind of quantity takes any unit; built-in elements should say which."""
    for kind, element in list(ELEMENT_KINDS.items()):
        for field in element_fields(element):
            if field.form in ("value", "vector") and element.__module__.endswith(
                ("springs", "bushings", "joint_forces")
            ):
                assert field.kind, f"{kind}.{field.name}"


# ── parts in parts ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclasses.dataclass(frozen=True)
class Flat:
    height: Value = dataclasses.field(default=0.0, metadata={"kind": "length"})


@dataclasses.dataclass(frozen=True)
class Hill:
    top: Vector
    inside: Flat | None = None
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Walker:
    name: str
    ground: Flat | Hill
    feet: tuple[Hill, ...] = ()
    mode: Literal["a", "b"] | float = "a"
    pairs: tuple[tuple[str, Value], ...] = ()
    law: Any = None


@pytest.fixture
def walkers() -> Iterator[None]:
    ELEMENT_KINDS["walker"] = Walker
    yield
    del ELEMENT_KINDS["walker"]


@pytest.mark.usefixtures("walkers")
def test_parts_lie_in_parts() -> None:
    walker = Walker(
        "w",
        Hill((1.0, 2.0, GAIN), Flat(GAIN), ("x", "y")),
        (Hill((0.0, 0.0, 0.0)), Hill((1.0, 1.0, 1.0), Flat())),
        2.5,
        (("q1", 3.0), ("q2", GAIN)),
    )
    system = back(System(ARM, (walker, Walker("v", Flat(), mode="b"))))
    assert system.elements == (walker, Walker("v", Flat(), mode="b"))


TEXT = """\
kinemorph = 1
[parameters]
gain = 2
[bodies.rod]
mass = 1
solid = { kind = "rod", length = 1 }
[joints.hinge]
kind = "revolute"
parent = "world"
child = "rod"
axis = "x"
lower = -1
upper = 1
"""


def loaded(tmp_path: Path, more: str) -> Any:
    path = tmp_path / "arm.toml"
    path.write_text(TEXT + more)
    return examine(path)


@pytest.mark.usefixtures("walkers")
@pytest.mark.parametrize(
    ("ground", "line", "says"),
    [
        ('{ kind = "flt" }', 16, r"ground: the kind is 'flt', expected one of flat, hill.*Did you mean 'flat'"),
        ("{ height = 1 }", 16, r"ground: the key 'kind' is missing"),
        ('{ kind = "flat", height = "3 kg" }', 16, r"ground height: '3 kg' has the unit of a mass, expected a length"),
        ('{ kind = "hill" }', 16, r"ground: the key 'top' is missing"),
        ('{ kind = "hill", top = [1, 2, 3], inside = { hight = 1 } }', 16, r"the key 'hight' is not known.*'height'"),
        ("3", 16, r"ground is 3, expected a table"),
    ],
)
def test_what_is_wrong_in_a_part_is_found_on_its_line(tmp_path: Path, ground: str, line: int, says: str) -> None:
    found = loaded(tmp_path, f'[elements.w]\nkind = "walker"\nground = {ground}\n')
    (finding,) = found.errors
    assert finding.line == line
    assert re.search(says, str(finding)), str(finding)


def test_units_parameters_and_expressions_are_read(tmp_path: Path) -> None:
    more = '[elements.s]\nkind = "torsion spring"\njoint = "hinge"\nstiffness = "3 * gain"\nrest = "90 deg"\n'
    more += '[elements.l]\nkind = "joint limits"\njoints = ["hinge"]\nonset = "2 mrad"\n'
    more += '[elements.f]\nkind = "applied wrench"\nbody = "rod"\nforce = { kind = "table", times = [0, 1], '
    more += 'values = [[0, 0, 1], [0, 0, "2 N"]], method = "cubic" }\n'
    system = loaded(tmp_path, more).system
    spring, stops, push = system.elements
    assert spring.rest == pytest.approx(1.5707963267948966)
    assert [p.name for p in (spring.stiffness.args[1],)] == ["gain"]
    assert (stops.joints, stops.onset, stops.stiffness) == (("hinge",), 0.002, None)
    assert push.force == Table((0.0, 1.0), ((0.0, 0.0, 1.0), (0.0, 0.0, 2.0)), "cubic")
    save(system, tmp_path / "again.toml")
    assert load(tmp_path / "again.toml").elements == system.elements


# ── laws find what is wrong ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("element", "line", "says"),
    [
        ('kind = "torsion spring"\njoint = "hinge"\nstiffness = -3', 17, "stiffness is -3; expected a finite number"),
        ('kind = "spring"\nbody_a = "rodd"\nbody_b = "world"\nstiffness = 1', 16, "body_a is 'rodd'.*'rod'"),
        ('kind = "joint friction"\njoints = ["knee"]', 16, "joints contains 'knee', and robot 'arm' has no such joint"),
        ('kind = "joint limits"\nonset = 0', 16, "onset is 0; expected a finite number above 0"),
        ('kind = "gravity"\nacceleration = [0, 0, inf]', 16, r"acceleration\[2\] is inf; expected a finite"),
    ],
)
def test_what_laws_find_has_a_line(tmp_path: Path, element: str, line: int, says: str) -> None:
    found = loaded(tmp_path, f"[elements.e]\n{element}\n")
    (finding,) = found.errors
    assert (finding.rule, finding.line, finding.element) == ("element", line, "element 'e'"), str(finding)
    assert re.search(says, str(finding)), str(finding)
    assert found.system is None


def test_wiring_is_checked_when_a_file_is_loaded(tmp_path: Path) -> None:
    sidecar = tmp_path / "arm.toml"
    sidecar.write_text(
        TEXT + '[elements.e]\nkind = "applied effort"\njoint = "hinge"\neffort = 1\n[elements.t]\n'
        'kind = "gravity"\nacceleration = [0, 0, 1]\n'
    )
    (finding,) = examine(sidecar).errors
    assert (finding.line, finding.element) == (18, "element 't'")
    assert "reserved for signals" in finding.problem


@dataclasses.dataclass(frozen=True)
class Lawless:
    name: str


def test_a_kind_without_a_law_is_loaded_with_a_warning(tmp_path: Path) -> None:
    ELEMENT_KINDS["lawless"] = Lawless
    try:
        found = loaded(tmp_path, '[elements.e]\nkind = "lawless"\n')
    finally:
        del ELEMENT_KINDS["lawless"]
    assert found.system is not None and not found.errors
    (finding,) = found.warnings
    assert finding.line == 14 and "no law is registered for its kind, Lawless" in finding.problem


# ── tables in files ───────────────────────────────────────────────────────────────────────────────────────────────────

PUSH = '[elements.e]\nkind = "applied wrench"\nbody = "rod"\n'
PUSH += 'force = { kind = "table", file = "FILE", columns = COLUMNS }\n'
CSV = "t, fx, fy, fz\n0, 1, 2, 3\n0.5, 4, 5, 6\n"


def pushed(tmp_path: Path, file: str = "push.csv", columns: str = "[]", text: str = CSV) -> Any:
    (tmp_path / "push.csv").write_text(text)
    return loaded(tmp_path, PUSH.replace("FILE", file).replace("COLUMNS", columns))


def test_a_table_may_stand_in_a_csv_beside_the_model(tmp_path: Path) -> None:
    whole = Table((0.0, 0.5), ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    assert pushed(tmp_path).system.elements[0].force == whole
    turned = pushed(tmp_path, columns='["t", "fz", "fx", "fy"]').system.elements[0].force
    assert turned.values[0] == (3.0, 1.0, 2.0)
    assert Table.from_csv(tmp_path / "push.csv") == whole
    (tmp_path / "said.csv").write_text(f"\ufeff# measured\n{CSV}", encoding="utf-8")
    assert Table.from_csv(tmp_path / "said.csv") == whole
    save(pushed(tmp_path).system, tmp_path / "again.toml")  # the numbers go along
    (tmp_path / "push.csv").unlink()
    assert load(tmp_path / "again.toml").elements[0].force == whole  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "rule", "says"),
    [
        ({"file": "../../push.csv"}, "path", "outside the folders that may be read"),
        ({"file": "/etc/hostname"}, "path", "outside the folders that may be read"),
        ({"file": "pull.csv"}, "path", "which does not exist"),
        ({"columns": '["t", "gx"]'}, "data", "has no column 'gx'; its columns are t, fx, fy, fz"),
        (
            {"text": CSV + "1, 2, x, 4\n"},
            "data",
            "line 4 is '1, 2, x, 4', expected a number in each of the columns t, fx",
        ),
        ({"text": CSV + "1, 2, 3, 4, 5\n"}, "data", "line 4 is '1, 2, 3, 4, 5', expected a number in each of"),
        ({"columns": '["t", "fx"]'}, "element", "row 1 of force has 1 number; expected 3"),
        ({"text": "t,x,y,z\n1,0,0,0\n0,0,0,0\n"}, "element", "is not above"),
        ({"text": ""}, "element", "expected two lists of the same length"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, options: dict[str, str], rule: str, says: str) -> None:
    found = pushed(tmp_path, **options)
    (finding,) = found.errors
    assert finding.rule == rule and says in str(finding), str(finding)
    assert finding.line in (14, 17)


# ── what files cannot hold ────────────────────────────────────────────────────────────────────────────────────────────


def test_functions_are_left_out_with_a_warning(tmp_path: Path) -> None:
    body = ARM.body_names[0]
    waving = elements.AppliedWrench("wave", body, lambda t: (t, t, t), (1.0, 0.0, 0.0))
    hill = elements.Contact("foot", body, HuntCrossley(1e4), ground=HeightFunction(lambda x, y: x * y))
    kept = elements.Gravity("g", (0.0, 0.0, 1.0))
    with pytest.warns(ModelWarning) as told:
        save(System(ARM, (waving, kept, hill)), tmp_path / "x.toml")
    sentences = [str(one.message) for one in told]
    says = "is a Python function, which a file cannot contain, so it is left out"
    assert any(f"'wave': its force {says}" in sentence for sentence in sentences)
    assert any(f"'foot': its ground.height {says}" in sentence for sentence in sentences)
    assert load(tmp_path / "x.toml").elements == (kept,)


def test_a_function_in_a_file_is_refused(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[elements.e]\nkind = "applied effort"\njoint = "hinge"\neffort = "sin(t)"\n')
    assert "effort is 'sin(t)'" in str(found.errors[0]) and found.errors[0].line == 17


# ── mistakes that people make ─────────────────────────────────────────────────────────────────────────────────────────

HELD = '[elements.e]\nkind = "pd"\njoints = ["hinge"]\nkp = 1\n'
MOTOR = '[elements.motor]\nkind = "dc motor"\njoint = "hinge"\nresistance = 1\ntorque_constant = 1\n'
PID = '[elements.{}]\nkind = "pid"\nreads = "q.hinge"\ndrives = "motor"\nkp = 1\n'
FOOT = '[elements.e]\nkind = "contact"\nbody = "rod"\n'


@pytest.mark.parametrize(
    ("more", "line", "says"),
    [
        (FOOT, 14, r'the key \'normal\' is missing. Write normal = { kind = "easy dyn normal", ... }'),
        (
            FOOT + 'normal = { kind = "hunt crossley", stiffness = -1 }',
            17,
            "normal: stiffness is -1; expected a finite",
        ),
        (
            FOOT
            + 'normal = { kind = "hunt crossley", stiffness = 1 }\nground = { kind = "plane", normal = [0, 0, 0] }',
            18,
            "ground: the normal of the plane is zero",
        ),
        (HELD + "reference = [1, 2]", 18, "reference has 2 numbers; expected 1"),
        (HELD + "feedforward = [1, 2]", 18, "feedforward has 2 numbers; expected 1"),
        (MOTOR + PID.format("one") + PID.format("two"), 27, "element 'two': it drives 'motor', and so does 'one'"),
        (
            '[elements.e]\nkind = "encoder"\njoint = "hinge"\ncounts = 100\nevery = 1\nnoise = -0.1',
            19,
            "noise is -0.1; expected a finite number of at least 0",
        ),
        (
            '[elements.e]\nkind = "imu"\nbody = "rod"\nevery = 1\ngyroscope_noise = -0.1',
            18,
            "gyroscope_noise is -0.1; expected a finite number of at least 0",
        ),
        ('[elements.e]\nkind = "imu"\nbody = "rod"\naccelerometer_range = 0', 17, "accelerometer_range is 0; expected"),
        (
            '[elements.e]\nkind = "python controller"',
            14,
            "has a Python function, which a file cannot contain. Add it in Python",
        ),
        (
            MOTOR + PID.format("one").replace("q.hinge", "motor.curent"),
            21,
            "Did you mean 'motor.current'. Known: motor.c",
        ),
    ],
)
def test_mistakes_of_people_are_told_with_name_line_and_remedy(tmp_path: Path, more: str, line: int, says: str) -> None:
    (finding,) = loaded(tmp_path, more).errors
    assert re.search(says, str(finding)), str(finding)
    assert finding.line == line, str(finding)
