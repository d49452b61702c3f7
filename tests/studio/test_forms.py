"""Forms from the schema: they show every key of every file, and a field set to its own value changes nothing."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from kinemorph.errors import ModelError
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import load_text
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.formats.toml.writer import written_system
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.commands.keys import GROUPS
from kinemorph.studio.documents.commands.renaming import rename_part
from kinemorph.studio.forms import form as forms
from kinemorph.studio.forms import parts

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "tests").rglob("*.toml"), *(ROOT / "examples").rglob("*.toml")])

BAD = {path.name for path in (ROOT / "tests" / "data" / "badinput").glob("*.toml")}


def _documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """All templates and all TOML files of tests and examples that are well-formed TOML."""
    for kind, template in TEMPLATES.items():
        yield kind, tomllib.loads(template.text)
    for path in FILES:
        try:
            yield path.name, tomllib.loads(path.read_text(encoding="utf-8"))
        except (ValueError, UnicodeDecodeError):
            continue  # files of bad input


def _tables(data: dict[str, Any]) -> Iterator[tuple[str | int, ...]]:
    """The paths of all parts of a file, as the tree of parts lists them, and the path of the keys at the top."""
    yield ()
    for section in parts.sections(data):
        if section["present"] and section["shape"] in ("single", "values"):
            yield (section["key"],)
        yield from (tuple(part["path"]) for part in section["parts"])


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The paths of all single values, empty tables and empty lists in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, (dict, list)) or not value:
        yield path, value
    for key, item in inside:
        yield from _paths(item, (*path, key))


def _all_fields(field: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield field
    for one in field.get("fields", ()):
        yield from _all_fields(one)


def _put(data: dict[str, Any], path: list[Any], value: Any) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


DOCUMENTS = list(_documents())


@pytest.mark.parametrize(("name", "data"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_every_key_of_every_table_has_a_field_and_its_own_text_changes_nothing(name: str, data: dict[str, Any]) -> None:
    covered: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path in _tables(data):
        for field in _all_fields(forms.form(data, path)):
            covered.setdefault(tuple(field["path"]), field)
    again = copy.deepcopy(data)
    for path, value in _paths(data, ()):
        place = next(path[:n] for n in range(len(path), -1, -1) if path[:n] in covered)
        field = covered[place]
        if field["kind"] in ("list", "table", "names"):
            assert place == path and not value, (name, path)  # an empty table or list
            continue
        assert place == path or field["kind"] == "data", (name, path)
        assert field["help"] or field["label"]
        field = field if name in BAD else {**field, "present": False}  # a right text has to be read anew
        _put(again, list(place), forms.read(field, field["text"]))
    assert repr(again) == repr(data), name


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOICE)
def test_robots_of_the_library_have_forms(name: str) -> None:
    data = tomllib.loads(written_system(choose(name), Findings("x")))
    test_every_key_of_every_table_has_a_field_and_its_own_text_changes_nothing(name, data)


def _field(data: dict[str, Any], *path: str | int) -> dict[str, Any]:
    """The field of a key in the form of the table around it."""
    return next(one for one in _all_fields(forms.form(data, path[:2])) if tuple(one["path"]) == path)


CART = tomllib.loads(TEMPLATES["cart"].text)
BARS = tomllib.loads(TEMPLATES["four_bar"].text)
ORGANISM = tomllib.loads(TEMPLATES["organism"].text)


def test_units_follow_the_kind_of_the_joint() -> None:
    assert _field(CART, "joints", "slide", "lower")["unit"] == "m"
    assert _field(CART, "joints", "pole", "lower")["unit"] == "rad"
    assert _field(CART, "bodies", "cart", "mass")["unit"] == "kg"
    assert _field(CART, "bodies", "cart", "solid", "size", 1)["unit"] == "m"


def test_numbers_keep_their_units_and_wrong_units_get_a_sentence() -> None:
    mass = _field(BARS, "bodies", "crank", "mass")
    assert (mass["text"], mass["quantity"], mass["present"]) == ("500 g", "mass", True)
    assert forms.read(mass, "0.7 kg") == "0.7 kg"
    assert forms.read(mass, "2 * crank") == "2 * crank"
    assert repr([forms.read(mass, text) for text in ("2", "2.0", "1e-3")]) == "[2, 2.0, 0.001]"
    with pytest.raises(ModelError, match="'3 m' has the unit of a length, expected a mass such as '250 g'"):
        forms.read(mass, "3 m")
    with pytest.raises(ModelError, match="mass is empty, expected a number"):
        forms.read(mass, " ")
    with pytest.raises(ModelError, match=r"kind is 'revolut', expected one of: .*Did you mean 'revolute'"):
        forms.read(_field(BARS, "joints", "knee", "kind"), "revolut")


def test_a_form_says_defaults_inherited_values_choices_and_alternatives() -> None:
    cut = _field(BARS, "joints", "knee", "cut")
    assert (cut["kind"], cut["default"], cut["present"]) == ("flag", False, False)
    axis = _field(BARS, "joints", "knee", "axis")
    assert (axis["kind"], axis["text"]) == ("choice", "-y")
    assert [way["title"] for way in axis["alternatives"]] == ["a choice", "a list of 3"]
    assert [way["blank"] for way in axis["alternatives"]] == ["z", [0, 0, 0]]
    pitch = _field(ORGANISM, "module_types", "B", "pitch")
    assert pitch["inherited"] == {"value": 0.105, "source": "the built-in type backbone"}
    spring = {**BARS, "elements": {"s": {"kind": "spring", "body_a": "crank", "body_b": "world", "stiffness": 3}}}
    form = forms.form(spring, ("elements", "s"))
    assert "spring between two points" in form["help"]
    assert {"kind": "damper", "help": "A damper between two points: it pulls with damping d(length)/dt [N]."} in form[
        "variants"
    ]
    stiffness = _field(spring, "elements", "s", "stiffness")
    assert stiffness["unit"] == "N/m" and stiffness["help"].endswith("Give a finite number of at least 0.")
    with pytest.raises(ModelError, match="the file has no key 'boddies'"):
        forms.form(BARS, ("boddies", "crank"))
    with pytest.raises(ModelError, match=r"the file has no part 'bodies\.arm'"):
        forms.form(BARS, ("bodies", "arm"))


def test_new_parts_of_every_section_and_kind_have_the_keys_they_need() -> None:
    for section in parts.sections(BARS):
        for kind in [one["kind"] for one in section["kinds"]] or [""]:
            made = parts.new_part(BARS, section["key"], kind)
            data = {**BARS, section["key"]: {"new": made}}
            if section["shape"] == "named":
                form = forms.form(data, (section["key"], "new"))
                assert not [one["label"] for one in form["fields"] if one["required"] and not one["present"]]
    joint = parts.new_part(BARS, "joints")
    assert joint["parent"] in BARS["bodies"] and joint["child"] in BARS["bodies"] and joint["parent"] != joint["child"]
    with pytest.raises(ModelError, match=r"expected one of: .*Did you mean 'spring'"):
        parts.new_part(BARS, "elements", "sprng")
    assert parts.free_name(BARS, "bodies", "crank") == "crank_2"
    assert parts.free_name({"bodies": {"crank": 1, "crank_2": 1}}, "bodies", "crank_2") == "crank_3"


SLOWLY = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("gripper", "organism")]


@pytest.mark.parametrize("kind", ["four_bar", *SLOWLY])
def test_a_part_that_is_renamed_everywhere_is_the_same_robot(kind: str) -> None:
    """All named parts of a template get new names, one by one: comments stay, and the model differs by names only."""
    text = TEMPLATES[kind].text
    before = load_text(text, "toml")
    words = {group: word for word, group in GROUPS.items()}
    renamed: list[tuple[str, str]] = []
    for section in ("parameters", "bodies", "joints", "frames", "elements"):
        for old in tomllib.loads(text).get(section, {}):
            text = rename_part(tomlkit.parse(text), words[section], old, f"new_{old}")
            renamed.append((section, old))
    after = load_text(text, "toml")
    assert len(renamed) >= 2
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        line for line in TEMPLATES[kind].text.split("\n") if line.startswith("#")
    ]
    assert list(after.robot.body_names) == [
        f"new_{name}" if ("bodies", name) in renamed else name for name in before.robot.body_names
    ]
    assert after.settings.q == before.settings.q
    assert [type(one) for one in after.elements] == [type(one) for one in before.elements]
    assert repr(after).replace("new_", "") == repr(before)


def test_a_name_in_use_is_refused_and_other_names_stay() -> None:
    document = tomlkit.parse(TEMPLATES["cart"].text)  # a body and a joint are both called "pole"
    with pytest.raises(CommandError, match="there is a body 'cart' already"):
        rename_part(document, "body", "pole", "cart")
    data = tomllib.loads(rename_part(document, "joint", "pole", "hinge"))
    assert "hinge" in data["joints"] and "pole" in data["bodies"]
    assert data["joints"]["hinge"]["child"] == "pole"
    assert data["settings"]["q"] == {"hinge": "3 deg"}


def test_an_empty_field_that_the_file_does_not_have_is_no_value() -> None:
    absent = _field(CART, "joints", "slide", "friction")
    assert not absent["present"] and absent["text"] == ""
    with pytest.raises(ModelError, match="friction is empty, expected a number"):
        forms.read(absent, "")


def test_long_lists_and_values_of_a_wrong_type_are_edited_as_text() -> None:
    def kind(size: int) -> str:
        return str(_field({"runs": {"a": {"q": [0.5] * size}}}, "runs", "a", "q")["kind"])

    assert [kind(size) for size in (5, 40, 41)] == ["list", "list", "data"]
    rows = {"dockings": [{"a": 1, "side_a": 2, "b": 3, "side_b": 4, "turn": True}]}
    assert _field(rows, "dockings", 0, "turn")["kind"] == "data"  # true is no whole number
    assert forms.read(_field(rows, "dockings", 0, "a"), "7") == 7
    assert forms.read(_field(rows, "dockings", 0, "a"), "m7") == "m7"


def test_coordinates_have_the_unit_of_their_kind() -> None:
    data = {"coordinates": {"x": {"unit": "m"}, "phi": {"unit": "rad"}, "psi": {}}}
    assert [_field(data, "coordinates", name, "lower")["unit"] for name in data["coordinates"]] == ["m", "rad", "rad"]


def test_another_kind_keeps_the_keys_that_it_has_too() -> None:
    spring = {"kind": "spring", "body_a": "crank", "body_b": "world", "stiffness": 3, "rest": 0.1}
    data = {**BARS, "elements": {"s": spring}}
    made = forms.of_kind(data, ("elements", "s"), "damper")
    assert made == {"kind": "damper", "body_a": "crank", "body_b": "world", "damping": 0}
    with pytest.raises(ModelError, match="Did you mean 'damper'"):
        forms.of_kind(data, ("elements", "s"), "dampr")


def test_a_part_with_a_mistake_has_the_form_of_its_kind() -> None:
    wrong = {**BARS, "elements": {"s": {"kind": "damper", "body_a": "crank", "stifness": 3}}}
    form = forms.form(wrong, ("elements", "s"))
    assert form["help"].startswith("A damper between two points")
    assert [(one["label"], one["known"]) for one in form["fields"] if "known" in one] == [("stifness", False)]


def test_runs_inherit_from_the_settings_what_they_leave_out() -> None:
    data = {"settings": {"time": 3, "sample": 0.5, "q": [0.1]}, "runs": {"a": {"time": 2, "v": [0.3]}}}
    found = {key: _field(data, "runs", "a", key)["inherited"] for key in ("time", "output_step", "q", "v")}
    given = {"value": 0.5, "source": "[settings]"}
    assert found == {"time": None, "output_step": given, "q": {**given, "value": [0.1]}, "v": None}
    assert _field({**data, "runs": {"b": {}}}, "runs", "b", "time")["inherited"] == {**given, "value": 3}


def test_a_value_is_found_in_its_part() -> None:
    data = {**BARS, "dockings": [{"a": "m0", "b": "m1"}, {}], "parameters": {"length": 1.0}}
    around = {
        ("bodies", "crank", "mass"): ("bodies", "crank"), ("dockings", 1, "turn"): ("dockings", 1), ("name",): (),
        ("parameters", "length"): ("parameters",), ("settings", "q", "hip"): ("settings",),
    }  # fmt: skip
    assert {path: parts.part_around(data, path) for path in around} == around
    rows = next(one for one in parts.sections(data) if one["key"] == "dockings")
    assert [one["name"] for one in rows["parts"]] == ["1: m0 - m1", "2"]
    with pytest.raises(ModelError, match="'dockings' has no key '-1'"):
        forms.form(data, ("dockings", -1))
    with pytest.raises(ModelError, match="the file has no part 'dockings"):
        forms.form(data, ("dockings", 2))
