"""Reads the tables of a TOML file that describe docked modules:

    [assembly]                  a grid, or rows of docked sides; base, dyads, root
    [modules.m3]                the type and the pose of a module
    [[dockings]]                one docking, with turn, joint and offset
    [[poses]]                   a measured pose, which is replaced by the nearest docking
    [module_types.A]            a module type by letter: a built-in type with other data, or bodies, joints and ports

The result is a System with the assembly, its robot and its initial configuration. Elements and settings are read later,
as in any model file.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kinemorph.algebra.groups import IDENTITY
from kinemorph.errors import ModelError, Problem
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.bodies import Bodies
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.values import At
from kinemorph.model.elements.fields import Field
from kinemorph.model.input_reader import short
from kinemorph.model.joint import Joint
from kinemorph.model.modules.assembly import Assembly, Docking, joint_module
from kinemorph.model.modules.catalog import KINDS, known_types
from kinemorph.model.modules.cube_shapes import SIDES
from kinemorph.model.modules.docked_sides import docking_of, listed_assembly, module_name
from kinemorph.model.modules.grids import line_of, read_grid
from kinemorph.model.modules.ground_contacts import on_ground
from kinemorph.model.modules.measured_poses import snap
from kinemorph.model.modules.module_types import ModuleType, Port, Side, side_port
from kinemorph.model.modules.occupancy import shape_problems
from kinemorph.model.modules.organisms import organism_system
from kinemorph.model.parameter import nominal_part
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

AT = At(("assembly",), "assembly", "")
OWN = ("cells", "hinge", "bodies", "joints", "ports")  # keys of module types that are not based on a built-in one
GRID_EXAMPLE = 'Write for example grid = "B>0 B>1" below [assembly]: Backbones 0 and 1, side by side, facing right.'
SAYS = ("grid", "docked", "dockings", "poses")  # keys and tables that define dockings; a file has one of them


class Docked(NamedTuple):
    """The modules of a file: their assembly, or None if it is wrong, and what it was read from.

    `types` are all module types by letter, `keys` the keys of [assembly], `problems` what is wrong with the modules.
    """

    assembly: Assembly | None
    types: dict[str, ModuleType]
    keys: dict[str, Any]
    problems: list[Problem]


class Organisms:
    """Reads the tables about modules in one document."""

    def __init__(self, parts: Parts, types: Mapping[str, ModuleType] | None = None) -> None:
        self.parts, self.values, self.data = parts, parts.values, parts.data
        self.places: dict[str | int, At] = {}  # of dockings, by name
        self.problems: list[Problem] = []  # of the assembly, which are recorded as findings too
        self.known = types  # module types by letter, if they have been read already

    def system(self, name: str, gravity: Any = None) -> System | None:
        """The system that the docked modules make up, with contacts on the ground if the file asks for them; None, with
        findings, on error. `gravity` [m/s^2] is None for the default.
        """
        docked = self.docked(name)
        assembly, read = docked.assembly, docked.keys
        if assembly is None:
            return None
        options: dict[str, Any] = {key: read[key] for key in ("dyads", "root") if key in read}
        if isinstance(options.get("root"), int):
            options["root"] = str(options["root"])  # not a valid root, which is reported later
        if self.parts.options.base is not None:
            options["root"] = self.parts.options.base
        if gravity is not None:
            options["gravity"] = gravity
        at = AT.key("root") if "root" in read else AT

        def made() -> System:
            system = organism_system(assembly, **options)
            return on_ground(system) if read.get("ground") else system

        found: System | None = self._tried(made, at)
        return found

    def docked(self, name: str, *, unchecked: bool = False) -> Docked:
        """The docked modules, without the robot that they make up.

        `unchecked` gives an assembly also where the modules are several organisms, or not planar, and the file does not
        allow that; the problems then say so.
        """
        before = self.values.error_count
        for key in ("bodies", "joints", "couplings", "frames"):
            if self.data.get(key):
                problem = f"[{key}] is given together with an assembly, whose modules have their own {key}"
                self.values.error("assembly", At((key,), "", ""), problem, f"Move [{key}] into [module_types].")
        types = self.types()
        read = self.values.table(self.data.get("assembly", {}), AT, rows.ASSEMBLY)
        if self.values.error_count > before:
            return Docked(None, types, read, self.problems)
        asked: dict[str, Any] = {key: read.get(key, False) for key in ("planar", "several")}
        made = self._assembly(name, types, read, **({"planar": False, "several": True} if unchecked else asked))
        if unchecked and made is not None:
            self.problems += shape_problems(made, **asked)
        return Docked(made, types, read, self.problems)

    def _tried(self, make: Callable[[], Any], at: At) -> Any:
        """The result of a function; None, with findings at the place `at`, if it raises a ModelError."""
        try:
            return make()
        except ModelError as error:
            for message in error.problems:
                problem = Problem.of(message)
                self.problems.append(problem)
                self.values.error("assembly", self.places.get(problem.key, at), problem.what, problem.remedy)
            return None

    def _module(self, name: Any, at: At) -> Any:
        """The name of a module; None, with a finding, if it cannot be one."""
        return self._tried(lambda: module_name(name), at)

    # ── modules and dockings ──────────────────────────────────────────────────────────────────────────────────────

    def _assembly(
        self, name: str, types: dict[str, ModuleType], read: dict[str, Any], **asked: bool
    ) -> Assembly | None:
        """The assembly of the table `read`, [assembly]; None if it has errors, which are recorded.

        `types` are the module types by letter, `asked` the arguments planar and several of `assemble`.
        """
        said = [key for key in SAYS if key in read or self.data.get(key)]
        given = self._modules()
        if given is None:
            return None
        kinds, places = given
        if len(said) > 1:
            problem = f"{said[0]} and {said[1]} are given together, expected only one of {', '.join(SAYS)}"
            self.values.error("assembly", self._at(said[1]), problem, "Remove all but one.")
            return None
        base = self._module(read["base"], AT.key("base")) if "base" in read else None
        if "base" in read and base is None:
            return None
        if "grid" in read:
            if kinds or places:
                problem = "[modules] is given together with a grid, which defines its modules itself"
                self.values.error("assembly", At(("modules",), "", ""), problem, "Remove one of the two.")
                return None
            return self._grid(read["grid"], types, name=name, base=base, **asked)
        chosen: Any = kinds or read.get("type", "B")
        if kinds and "type" in read:
            problem = "type is given together with types in [modules], expected only one of the two"
            self.values.error("assembly", AT.key("type"), problem, "Remove type from [assembly], or from [modules].")
            return None
        options: dict[str, Any] = {"name": name, "base": base, "at": places, **asked}
        if "poses" in self.data:
            return self._poses(chosen, types, read, options)
        dockings = self._dockings(read)
        if dockings is None:
            return None
        if not dockings and not kinds:
            problem = f"no modules are given, expected one of {', '.join(SAYS)}, or [modules]"
            self.values.error("assembly", AT, problem, GRID_EXAMPLE)
            return None
        at = self._at("dockings" if self.data.get("dockings") else "docked")
        made: Assembly | None = self._tried(lambda: listed_assembly(dockings, chosen, types, **options), at)
        return made

    def _at(self, key: str) -> At:
        """The place of a table, or of a key of [assembly]."""
        return At((key,), key, "") if key in rows.ORGANISM_ROWS else AT.key(key)

    def _grid(self, text: str, types: dict[str, ModuleType], **options: Any) -> Assembly | None:
        """The assembly of a grid; None if it has errors, which are recorded with their lines."""
        problems: list[Problem] = []
        assembly = read_grid(text, types, problems, **options)
        self.problems += problems
        first, at = self._first_line(text), AT.key("grid")
        for problem in problems:
            line = line_of(problem)
            where = first + line - 1 if line else self.values.lines.line(at.path)
            self.values.error_count += 1
            self.parts.findings.error("assembly", where, at.element, problem.what, problem.remedy)
        return assembly

    def _first_line(self, text: str) -> int:
        """The line of the file on which the text of a grid begins: that of its key, or the next one if the key is
        followed only by quotes.
        """
        line = self.values.lines.line(("assembly", "grid"))
        rows_of_file = self.parts.source.data.decode("utf-8-sig", "replace").splitlines()
        opening = rows_of_file[line - 1] if line <= len(rows_of_file) else ""
        return line + 1 if opening.rstrip().endswith(('"""', "'''")) and "\n" in text else line

    def _modules(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """(types, poses) of the modules in [modules], each a dict by name of the module.

        None if the table has errors, which are recorded.
        """
        before = self.values.error_count
        kinds, places = {}, {}
        for name, raw in self._tables("modules"):
            at = At(("modules", name), f"module '{name}'", "")
            read = self.values.table(raw, at, rows.MODULE)
            if "type" in read:
                kinds[self._module(name, at)] = read["type"]
            if "placement" in read:
                places[self._module(name, at)] = nominal_part(read["placement"])
        return None if self.values.error_count > before else (kinds, places)

    def _dockings(self, read: dict[str, Any]) -> list[Docking] | None:
        """The dockings in `docked` or [[dockings]]; None if they have errors, which are recorded."""
        before = self.values.error_count
        found: list[Docking] = []
        raw_rows = self.data.get("assembly", {}).get("docked", [])
        for k, row in enumerate(self.values.items(raw_rows, AT.key("docked"))):
            problems: list[Problem] = []
            docking = docking_of(row, f"row {k + 1}", problems)
            for problem in problems:
                self.values.error("assembly", AT.key("docked").key(k), f"row {k + 1}: {problem.what}", problem.remedy)
            if docking is not None:
                self._found(docking, found, AT.key("docked").key(k))
        for at, data in self._rows("dockings", rows.DOCKING):
            joint = joint_module(data.pop("joint", None))
            changed = {
                key: data.pop(key) for key in ("axis", "lower", "upper", "velocity", "effort", "damping") if key in data
            }
            if joint is None and changed:
                key = next(iter(changed))
                what = f"{key} is given, but the docking has no joint module"
                self.values.error("assembly", at.key(key), what, f'Add joint = "revolute", or leave {key} out.')
                continue
            ends: dict[str, Any] = {key: self._module(data.pop(key), at.key(key)) for key in ("a", "b")}
            made = Docking(**ends, **nominal_part_of(data), joint=joint and replace(joint, **changed))
            self._found(made, found, at)
        return None if self.values.error_count > before else found

    def _found(self, docking: Docking, dockings: list[Docking], at: At) -> None:
        """Adds a docking to the list, and stores its place in the file."""
        dockings.append(docking)
        self.places[docking.name] = at

    def _poses(
        self, kinds: Any, types: dict[str, ModuleType], read: dict[str, Any], options: dict[str, Any]
    ) -> Assembly | None:
        """The assembly whose dockings are nearest to the measured poses in [[poses]].

        None if the poses have errors, which are recorded.
        """
        before = self.values.error_count
        poses = {}
        for at, data in self._rows("poses", rows.MEASURED):
            pair = (self._module(data["a"], at.key("a")), self._module(data["b"], at.key("b")))
            if pair in poses or pair[::-1] in poses:
                problem = f"the pose of '{pair[0]}' and '{pair[1]}' is given twice, expected once"
                self.values.error("assembly", at, problem, "Remove one of the two.")
            poses[pair] = nominal_part(data.get("placement", IDENTITY))
        if self.values.error_count > before:
            return None
        if "keep" in read:
            options["keep"] = read["keep"]
        if ("gap" in read) != ("bend" in read):
            here, other = ("gap", "bend") if "gap" in read else ("bend", "gap")
            problem = f"{here} is given without {other}, expected both"
            self.values.error("assembly", AT.key(here), problem, f"Add {other}.")
            return None
        if "gap" in read:
            options["tolerance"] = (read["gap"], read["bend"])
        made: Assembly | None = self._tried(
            lambda: snap(poses, kinds, types=types, **options).assembly, At(("poses",), "poses", "")
        )
        return made

    def _rows(self, key: str, fields: tuple[Field, ...]) -> list[tuple[At, dict[str, Any]]]:
        """The rows of an array of tables that have no errors, with their places in the file."""
        found = []
        for k, raw in enumerate(self.values.items(self.data.get(key, []), At((key,), "", key))):
            before = self.values.error_count
            at = At((key, k), f"{key[:-1]} {k + 1}", "")
            read = self.values.table(raw, at, fields)
            if self.values.error_count == before:
                found.append((at, read))
        return found

    def _tables(self, key: str) -> list[tuple[str, Any]]:
        """The pairs (name, table) below [key.*]; none if `key` is not a table, which is recorded as a finding."""
        table = self.data.get(key, {})
        if isinstance(table, dict):
            return list(table.items())
        problem = f"'{key}' is {short(table)}, expected a table with one table per name"
        self.values.error("structure", At((key,), "", ""), problem, f"Write [{key}.NAME] and its keys below.")
        return []

    # ── module types ──────────────────────────────────────────────────────────────────────────────────────────────

    def types(self) -> dict[str, ModuleType]:
        """All module types by letter, the built-in ones and those of the file."""
        if self.known is not None:
            return dict(self.known)
        found: dict[str, ModuleType] = {}
        for letter, raw in self._tables("module_types"):
            at = At(("module_types", letter), f"module type '{letter}'", "")
            before = self.values.error_count
            read = self.values.table(raw, at, rows.MODULE_TYPE)
            if self.values.error_count > before:
                continue
            kind = self._like(letter, read, raw, at) if "like" in read else self._own(letter, read, raw, at)
            if kind is not None:
                found[letter] = kind
        return known_types(found)

    def _like(self, letter: str, read: dict[str, Any], raw: dict[str, Any], at: At) -> ModuleType | None:
        """A built-in module type with other data; None if it has errors, which are recorded."""
        make = KINDS[read.pop("like")]
        named = read.pop("name", "")
        known = list(inspect.signature(make).parameters)
        for key in raw:
            if key not in (*known, "like", "name"):
                problem = f"the key {key} does not apply to a {make.__name__}, expected one of {', '.join(known)}"
                self.values.error("assembly", at.key(key), problem, did_you_mean(key, known).strip() or "Leave it out.")
                return None
        made: ModuleType | None = self._tried(
            lambda: (kind := make(**read)) and replace(kind, letter=letter, name=named or kind.name), at
        )
        return made

    def _own(self, letter: str, read: dict[str, Any], raw: dict[str, Any], at: At) -> ModuleType | None:
        """A module type made of bodies, joints and ports; None if it has errors, which are recorded.

        Masses may be parameters; in joints and ports, parameters are replaced by their values.
        """
        before = self.values.error_count
        for key in raw:
            if key not in (*OWN, "name", "pitch"):
                problem = f"the key {key} applies only to built-in types, expected bodies, joints and ports"
                self.values.error("assembly", at.key(key), problem, f'Add like = "backbone", or leave {key} out.')
        scratch = self._parts_of(letter, raw, at)
        ports = [port for key, table in self._below(raw, "ports", at) if (port := self._port(key, table, at))]
        if self.values.error_count > before or scratch is None:
            return None
        cells = tuple(int(n) if n == int(n) else n for n in read.get("cells", (1, 1, 1)))
        bodies, joints = scratch
        made: ModuleType | None = self._tried(
            lambda: ModuleType(
                read.get("name", letter), letter, bodies, joints, tuple(ports), read.get("pitch", 0.1), cells,  # type: ignore[arg-type]
                read.get("hinge", ""),
            ),
            at,
        )  # fmt: skip
        return made

    def _parts_of(self, letter: str, raw: dict[str, Any], at: At) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        """(bodies, joints) of a module type, checked as those of a robot; None if it has errors, which are recorded."""
        findings = self.parts.findings.within(self.parts.findings.file)
        count = findings.count
        blueprint = Blueprint(findings, letter, line=self.values.lines.line(at.path))
        tables = self._below(raw, "bodies", at)
        if not tables:
            problem = "it has no bodies, expected one or more"
            self.values.error("assembly", at, problem, f"Add [module_types.{letter}.bodies.NAME].")
            return None
        bodies = Bodies(self.values, self.parts.source, self.parts.options, raw.get("bodies"))
        before = self.values.error_count
        for key, declare in (("bodies", bodies.declare), ("joints", self.parts.joint)):
            for name, table in self._below(raw, key, at):
                place = At((*at.path, key, name), f"{rows.WORDS[key]} '{name}'", "")
                blueprint.keys[rows.WORDS[key], name] = partial(self.parts.key_line, place.path)
                declare(blueprint, self.values.lines.line(place.path), name, table, place)
        if self.values.error_count > before:
            return None
        root = f"{letter} root"
        blueprint.joint(0, root, "fixed", "world", tables[0][0])
        robot = blueprint.system()
        if robot is None or (findings.failed and findings.count > count):
            self.values.error_count += 1
            return None
        joints = tuple(_brief(nominal_part(joint)) for joint in robot.robot.joints if joint.name != root)
        return robot.robot.bodies, joints

    def _below(self, raw: dict[str, Any], key: str, at: At) -> list[tuple[str, dict[str, Any]]]:
        """The pairs (name, table) below `key` in a module type; entries that are not tables give findings."""
        table = raw.get(key, {})
        found = []
        for name, inner in table.items() if isinstance(table, dict) else [("name", table)]:
            if isinstance(inner, dict):
                found.append((name, inner))
            else:
                problem = f"it is {short(inner)}, expected a table"
                remedy = f"Write [{'.'.join(map(str, at.path))}.{key}.{name}]."
                self.values.error("structure", at.key(key).key(name), problem, remedy)
        return found

    def _port(self, key: str, raw: dict[str, Any], at: At) -> Port | None:
        """The port at the side `key` of a module type; None if it has errors, which are recorded."""
        place = At((*at.path, "ports", key), f"{at.element} port {key}", "")
        before = self.values.error_count
        read = self.values.table(raw, place, rows.PORT)
        side: Side = int(key) if key.isdecimal() else key
        if "reach" in read and ("placement" in read or side not in SIDES):
            if "placement" in read:
                problem, remedy = "reach is given together with a pose, expected one of them", "Remove one of them."
            else:
                problem = f"reach is given for the side {key}, expected it only for the sides 1 to 6 of a cube"
                remedy = "Give a pose in place of reach."
            self.values.error("assembly", place.key("reach"), problem, remedy)
        if self.values.error_count > before:
            return None
        if "reach" in read:
            return side_port(int(key), read["body"], read["reach"])
        return Port(side, read["body"], nominal_part(read.get("placement", IDENTITY)))


def _brief(joint: Joint) -> Joint:
    """The joint, with empty tuples for numbers that equal the defaults, as if they had not been given."""
    usual = {"lower": -math.inf, "upper": math.inf, "velocity": math.inf, "effort": math.inf}
    per = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")
    empty = {key: () for key in per if all(x == usual.get(key, 0.0) for x in getattr(joint, key))}
    return replace(joint, **empty)  # type: ignore[arg-type]


def nominal_part_of(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a docking, with all parameters replaced by their nominal values."""
    return {key: nominal_part(value) for key, value in data.items()}
