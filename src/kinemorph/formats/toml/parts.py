"""Reads the tables of a TOML file: parameters, bodies, joints, frames, couplings, elements, phases, edges, settings.

`Parts` declares them in a blueprint, in the order of the file. A model file and a sidecar have the same tables.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.position_blueprint import PositionBlueprint
from kinemorph.formats.repairs import TomlRepairs
from kinemorph.formats.sources import Options, Outside, Source, find_file, named_text
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.automata import read_automaton
from kinemorph.formats.toml.bodies import Bodies, amends
from kinemorph.formats.toml.documents import Document, has_version
from kinemorph.formats.toml.fields import POSE_KEYS
from kinemorph.formats.toml.lines import Path
from kinemorph.formats.toml.motion import Motion, joint_coordinates
from kinemorph.formats.toml.parameters import read_parameters
from kinemorph.formats.toml.runs import named_numbers, read_runs, read_starts
from kinemorph.formats.toml.values import NEAR_UNIT, At, Values
from kinemorph.mechanics.elements.law import constrains
from kinemorph.model.elements import ELEMENT_KINDS, FUNCTIONS, kind_of
from kinemorph.model.elements.control.c_functions import CController, is_c_text
from kinemorph.model.elements.fields import Field, element_fields
from kinemorph.model.input_reader import UNIT_TOLERANCE, short
from kinemorph.model.joint import JOINT_KINDS, POSE
from kinemorph.model.parameter import TIME, Value
from kinemorph.model.robot import Robot
from kinemorph.model.units import kind_called
from kinemorph.words import did_you_mean, listed

ABOUT = {"rad": 0, "rad/s": 0, "m": 1, "m/s": 1}  # index in `Field.kind`: 0 for rotation, 1 for translation
REFERENCES: dict[str, Callable[[Robot], tuple[str, ...]]] = {
    "joint": lambda robot: (*robot.joint_names, *(loop.name for loop in robot.loops)),
    "body": lambda robot: ("world", *robot.body_names, *(frame.name for frame in robot.frames)),
    "frame": lambda robot: ("world", *robot.body_names, *(frame.name for frame in robot.frames)),
}  # keys of elements that name a part of the robot, and the names that are allowed


class Parts:
    """Reads the tables of one document. `repairs` makes repairs of a model file; it is None for a sidecar."""

    def __init__(
        self,
        document: Document,
        source: Source,
        options: Options,
        findings: Findings,
        repairs: TomlRepairs | None = None,
    ) -> None:
        self.data, self.findings = document.data, findings
        self.source, self.options = source, options
        self.values = Values(
            findings, document.lines, repairs=repairs, open=lambda name: named_text(name, source, options)
        )
        self.values.forms["starts"] = self._starts
        self.motion = Motion(self.values, {})  # reads formulas of coordinates; `declare` adds their names
        self._references: list[tuple[At, str]] = []

    def checked(self, without: tuple[str, ...] = ()) -> bool:
        """Whether the file has the key `kinemorph = 1`; unknown tables, and those in `without`, give findings."""
        known = [field.name for field in rows.TOP if field.name not in without]
        right = has_version(self.data, rows.MARK, rows.VERSION, self.values)
        for key in self.data:
            if key not in known:
                self.values.unknown(At((key,), "", ""), key, known)
        return right

    def top(self) -> dict[str, Any]:
        """The name and gravity that the file gives, by key."""
        fields = [field for field in rows.TOP if field.form in ("text", "vector")]
        return self.values.table({key: self.data[key] for key in ("name", "gravity") if key in self.data}, TOP, fields)

    def parameters(self) -> None:
        """Reads the parameters. To be called before anything that uses them is read."""
        table = self.data.get("parameters", {})
        if isinstance(table, dict):
            read_parameters(table, self.values)
        else:
            self._no_table("parameters")

    def declare(self, blueprint: Blueprint) -> None:
        """Declares all parts of the document in a blueprint; name and gravity are read by `top`."""
        if blueprint.made is not None:
            blueprint.settings = replace(blueprint.settings, q=blueprint.made.settings.q)
        coordinates = self._coordinates(blueprint)
        self.motion = Motion(self.values, coordinates)
        if "dependents" in self.data:
            for name in self.data["dependents"] if isinstance(self.data["dependents"], dict) else ():
                blueprint.keys["dependent", name] = partial(self.key_line, ("dependents", name))
            self.motion.dependents(self.data["dependents"], blueprint)
        bodies = Bodies(self.values, self.source, self.options, self.data.get("bodies"), self.motion)
        for key, declare in (
            ("bodies", bodies.declare),
            ("joints", self.joint),
            ("frames", self._frame),
            ("couplings", self._coupling),
            ("elements", self._element),
        ):
            table = self.data.get(key, {})
            if not isinstance(table, dict):
                self._no_table(key)
                continue
            for name, raw in table.items():
                at = At((key, name), f"{rows.WORDS[key]} '{name}'", "")
                if isinstance(raw, dict):
                    if not amends(blueprint, rows.WORDS[key], name, raw):
                        blueprint.keys[rows.WORDS[key], name] = partial(self.key_line, at.path)
                    declare(blueprint, self.values.lines.line(at.path), name, raw, at)
                else:
                    problem = f"it is {short(raw)}, expected a table"
                    self.values.error("structure", at, problem, f"Write [{key}.{name}] and its keys below.")
        read_automaton(self.data, self.values, blueprint, self.key_line)
        blueprint.afterwards.append(self._check_references)
        self._settings(blueprint)
        read_starts(self.data, self.values, blueprint)
        read_runs(self.data, self.values, blueprint)

    def key_line(self, path: Path, key: str) -> int:
        """The line of a key of the part at `path`, or of the placement that contains it; 0 if the file has neither."""
        lines, keys = self.values.lines, (key, "placement") if key in POSE_KEYS else (key,)
        return next((lines.line((*path, name)) for name in keys if lines.has((*path, name))), 0)

    def _no_table(self, key: str) -> None:
        """Reports that the value of `key` is not a table."""
        problem = f"'{key}' is {short(self.data[key])}, expected a table with one table per name"
        self.values.error("structure", At((key,), "", ""), problem, f"Write [{key}.NAME] and its keys below.")

    def _coordinates(self, blueprint: Blueprint) -> dict[str, Value]:
        """The coordinates that formulas may name, by name: those of joints, or those declared in [coordinates]."""
        if not isinstance(blueprint, PositionBlueprint):
            declared = {name: {"kind": kind} for name, kind in blueprint.kinds.items()}  # by the file of a sidecar
            joints = self.data.get("joints")
            return joint_coordinates(declared | (joints if isinstance(joints, dict) else {}))
        for key in ("joints", "couplings"):
            if self.data.get(key):
                problem = f"[{key}] is given together with positions of bodies, expected one of the two"
                remedy = f"Leave [{key}] out: positions determine the joints."
                self.values.error("structure", At((key,), "", ""), problem, remedy)
        table = self.data.get("coordinates", {})
        if not isinstance(table, dict):
            self._no_table("coordinates")
            return {}
        for name, raw in table.items():
            at = At(("coordinates", name), f"coordinate '{name}'", "")
            blueprint.keys["coordinate", name] = partial(self.key_line, at.path)
            read = self.values.table(raw, at, rows.COORDINATE)
            unit = read.pop("unit", "rad")
            for field in rows.COORDINATE[1:] if isinstance(raw, dict) else ():
                if field.name in raw:
                    read[field.name] = self._per(raw[field.name], at.key(field.name), field, (unit,))
            value = read.pop("value", 0.0)
            if not isinstance(value, float):
                problem = f"value is {short(raw['value'])}, expected a plain number"
                self.values.error("number", at.key("value"), problem, "Write a number.")
                value = 0.0
            if name in self.values.names or name == TIME.name or not name.strip() or not name.isprintable():
                uses = "the name of the time" if name == TIME.name else "also the name of a parameter"
                what = uses if name.strip() and name.isprintable() else "not printable text"
                problem = f"the name {short(name)} is {what}, expected another name"
                self.values.error("name", at, problem, "Rename the coordinate.")
                continue
            blueprint.coordinate(self.values.lines.line(at.path), name, unit, value, **read)
        if any(isinstance(raw, dict) and "value" in raw for raw in table.values()):
            q = tuple(coordinate.value for coordinate in blueprint.coordinates.values())
            blueprint.settings = replace(blueprint.settings, q=q)
        return dict(blueprint.coordinates)

    # ── joints, frames, couplings ─────────────────────────────────────────────────────────────────────────────────

    def joint(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the joint of the table `raw`, which begins at `line`."""
        before = self.values.error_count
        amended = amends(blueprint, "joint", name, raw)
        read = self.values.table(raw, at, rows.JOINT_AMENDMENT if amended else rows.JOINT)
        named = blueprint.kinds[name] if amended else read.get("kind", "")
        kind = POSE if named == POSE.name else JOINT_KINDS.get(named)
        if "driven" in raw and not amended:
            read["driven"] = self.motion.formulas(raw["driven"], at.key("driven"))
        if not read.get("normalize") and not amended:
            self._check_length(read, raw, at)
        for field in rows.JOINT:
            if field.form.startswith("per_") and field.name in raw and kind is not None:
                kinds = kind.q_units if field.form == "per_coordinate" else kind.v_units
                read[field.name] = self._per(raw[field.name], at.key(field.name), field, kinds)
        if self.values.error_count == before and amended:
            blueprint.amend("joint", name, read)
        elif self.values.error_count == before:
            blueprint.joint(line, name, **read)

    def _check_length(self, read: dict[str, Any], raw: dict[str, Any], at: At) -> None:
        """Checks that the axes of a joint have length 1."""
        for key in ("axis", "axis2"):
            if isinstance(raw.get(key), list) and len(raw[key]) != 3:
                continue  # reported already
            axis = read.get(key, (1.0, 0.0, 0.0))
            if all(isinstance(x, float) and abs(x) < 1e100 for x in axis):
                length = math.hypot(*axis)
                if abs(length - 1.0) > UNIT_TOLERANCE:
                    problem = f"{key} is {axis} with length {length:.6g}, expected length 1"
                    remedy, corrected = "Add normalize = true, or correct the axis.", {(*at.path, "normalize"): True}
                    self.values.error("axis", at.key(key), problem, remedy, corrected)

    def _per(self, raw: Any, at: At, field: Field, coordinates: tuple[str, ...]) -> Any:
        """One number for all coordinates, or a tuple with one for each; `coordinates` are their units: "rad", "m"."""
        kinds = [field.kind[ABOUT[unit]] if unit else "number" for unit in coordinates]
        if not isinstance(raw, list):
            return self.values.value(raw, at, kinds[0] if len(set(kinds)) == 1 else "")
        items = self.values.items(raw, at, len(kinds))
        return tuple(
            self.values.value(x, at.key(i), kind) for i, (x, kind) in enumerate(zip(items, kinds, strict=True))
        )

    def _frame(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the frame of the table `raw`."""
        read = self.values.table(raw, at, rows.FRAME)
        if "body" in read:
            blueprint.frame(line, name, **read)

    def _coupling(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the coupling of the table `raw`."""
        read = self.values.table(raw, at, rows.COUPLING)
        if "leader" in read:
            blueprint.couple(line, name, **read)

    # ── elements and settings ─────────────────────────────────────────────────────────────────────────────────────

    def _element(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the element of the table `raw`."""
        made = self.element(name, raw, at)
        if made is not None:
            blueprint.element(line, made)

    def element(self, name: str, raw: dict[str, Any], at: At) -> Any:
        """The element of the table `raw`; None if it has errors, which are recorded."""
        kind = raw.get("kind")
        if isinstance(kind, str) and kind not in ELEMENT_KINDS and kind in map(kind_of, FUNCTIONS):
            problem = f"an element of the kind {short(kind)} has a Python function, which a file cannot contain"
            remedy = "Add it in Python: System(system.robot, system.elements + ...)."
            self.values.error("structure", at, problem, remedy)
            return None
        element = self.values.kind(raw, at, ELEMENT_KINDS)
        if element is None:
            return None
        before = self.values.error_count
        read = self.values.table(raw, at, element_fields(element), skip=("kind",))
        if self.values.error_count > before:
            return None
        self._locate(element, read, at)
        if self.values.error_count > before:
            return None
        made = self.values.made(element, {"name": name, **read}, at)
        if made is not None:
            self._references += [(at.key(key), read[key]) for key in REFERENCES if isinstance(read.get(key), str)]
        return self._judged(made, at) if isinstance(made, CController) else made

    def _starts(self, raw: Any, at: At, field: Field) -> Any:
        """Numbers by name, from a table or from names alone, which start at 0."""
        if isinstance(raw, dict):
            return {name: self.values.literal(value, at.key(name), field) for name, value in raw.items()}
        return self.values.labels(raw, at, field)

    def _locate(self, element: type[Any], read: dict[str, Any], at: At) -> None:
        """Puts the places of files and folders that an element names in place of their names in the file."""
        for field in dataclasses.fields(element):
            kind = field.metadata.get("path")
            if kind is None or field.name not in read:
                continue
            given = read[field.name]
            names = (given,) if isinstance(given, str) else given
            read[field.name] = tuple(
                name if is_c_text(name) else self._found(name, kind, at.key(field.name)) for name in names
            )

    def _found(self, name: str, kind: str, at: At) -> str:
        """The path of a file or folder that the model names. One that is not there or not allowed gives a finding.

        A text that is not in a file has no folder to search: there names are kept.
        """
        if self.source.folder is None and not self.options.package_dirs:
            return name
        try:
            path = find_file(name, self.source, self.options, folder=kind == "folder")
        except Outside:
            problem = f"{at.what} names the {kind} {short(name)}, which is outside the folders that may be read"
            remedy = f"Move the {kind} to the folder of the model, or name its folder in package_dirs (--package-dir)."
            self.values.error("path", at, problem, remedy)
            return name
        if path is None:
            problem = f"{at.what} names the {kind} {short(name)}, which does not exist"
            self.values.error("path", at, problem, f"Correct the name, or move the {kind} to the folder of the model.")
        return str(path)

    def _judged(self, element: CController, at: At) -> CController:
        """A controller in C that may run only where the caller has allowed it; a warning says where it may not."""
        if not self.options.allow_c:
            names = listed([os.path.basename(file) for file in element.files]) or "a text in this file"
            problem = f"its function '{element.function}' is C ({names}), which is not compiled and cannot run"
            remedy = "If you trust it, allow it: load(..., allow_c=True), or the option --allow-c."
            self.values.warn("c", at, problem, remedy)
        return replace(element, trusted=self.options.allow_c)

    def _check_references(self, robot: Robot) -> None:
        """Reports every joint, body or frame that an element names and the robot does not have."""
        parts = {kind: dict.fromkeys(names(robot)) for kind, names in REFERENCES.items()}
        for at, name in self._references:
            kind = str(at.path[-1])
            if name not in parts[kind]:
                hint = "" if self.findings.unlisted else did_you_mean(name, parts[kind]).strip()
                remedy = hint or f"Declare the {kind}, or correct the name."
                self.values.error("name", at, f"there is no {kind} {short(name)}, expected a declared name", remedy)

    def _settings(self, blueprint: Blueprint) -> None:
        """Reads [settings]; the initial state is read when the robot is complete."""
        raw = self.data.get("settings")
        if raw is None:
            return
        at = At(("settings",), "settings", "")
        before = self.values.error_count
        read = self.values.table(raw, at, rows.SETTINGS)
        for key in ("time", "sample", "max_step"):
            if self.values.error_count == before and key in read and not 0.0 < read[key] < float("inf"):
                problem = f"{key} is {read.pop(key):.6g} s, expected a finite time above 0"
                self.values.error("number", at.key(key), problem, "Write a time above 0.")
        blueprint.settings = replace(blueprint.settings, **read)
        if isinstance(raw, dict) and ("q" in raw or "v" in raw):
            blueprint.afterwards.append(lambda robot: self._state(blueprint, robot, raw, at))

    def _state(self, blueprint: Blueprint, robot: Robot, raw: dict[str, Any], at: At) -> None:
        """Reads q and v in [settings]: lists, or tables by name. Coordinates that are not named are neutral."""
        neutral = [value for joint in robot.joints for value in joint.table.neutral]
        if len(blueprint.settings.q) == len(neutral):  # coordinates have initial values, or modules have poses already
            neutral = list(blueprint.settings.q)
        follows = not robot.is_open or any(map(constrains, filter(None, (*blueprint.elements, blueprint.automaton))))
        for key, names, coordinates, rest in (
            ("q", robot.q_names, robot.q_units, neutral),
            ("v", robot.v_names, robot.v_units, [0.0] * robot.nv),
        ):
            if key not in raw:
                continue
            kinds = {name: kind_called(unit) for name, unit in zip(names, coordinates, strict=True)}
            read = named_numbers(raw[key], at.key(key), self.values, kinds, robot)
            if isinstance(read, dict):
                state = [read.get(name, value) for name, value in zip(names, rest, strict=True)]
            else:
                state = list(read)
            if not all(abs(value) < float("inf") for value in state):
                problem = f"{key} is {short(raw[key])}, expected finite numbers"
                self.values.error("number", at.key(key), problem, "Write finite numbers.")
            for joint in robot.joints if key == "q" else ():
                for first in joint.table.quaternions:
                    turn = state[robot.q_slice(joint.name)][first : first + 4]
                    length = math.hypot(*turn)
                    if not abs(length - 1.0) <= NEAR_UNIT:
                        problem = (
                            f"the quaternion of joint '{joint.name}' is {short(tuple(turn))}, of length {length:.6g}"
                        )
                        self.values.error("rotation", at.key(key), f"{problem}, expected 1", "Divide it by its length.")
            some = follows and isinstance(read, dict) and len(read) < len(names)
            found: dict[str, Any] = {key: tuple(state), f"stated_{key}": tuple(read) if some else None}
            blueprint.settings = replace(blueprint.settings, **found)
            if key == "q":
                blueprint.lines["settings", ""] = self.values.lines.line((*at.path, key))


TOP = At((), "", "")
