"""Writes a System as TOML that people can read well, and that is read back as the same System, field by field.

Defaults are left out, uniform solids are written as solids, angles in degrees if that gives round numbers. The order of
sections is: parameters, bodies, joints, frames, couplings, elements, phases, edges, settings, starts, runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from kinemorph.errors import ModelError
from kinemorph.formats.findings import Findings
from kinemorph.formats.mesh_search import with_reachable_meshes
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.automata import writable
from kinemorph.formats.toml.runs import run_entries, start_entries
from kinemorph.formats.write_text import write_text
from kinemorph.mechanics.elements.law import constrains
from kinemorph.model import units
from kinemorph.model.body import STANDING, Body
from kinemorph.model.configuration import initial_configuration, neutral
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.elements.control.c_functions import CController
from kinemorph.model.elements.fields import Field, defaults_of, element_fields, functions_in
from kinemorph.model.elements.phases.automaton import Automaton
from kinemorph.model.expressions import name_text
from kinemorph.model.joint import Joint
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.organisms import standing
from kinemorph.model.parameter import Formula, Parameter, Value, parameters_of
from kinemorph.model.positions.position_text import written_position
from kinemorph.model.positions.rebuilding import coordinate_data, coordinate_joints, rebuilt, unit_of
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfEllipsoid, Line, Mesh, MeshFile, Shape, Sphere
from kinemorph.model.system import Element, System
from kinemorph.model.topology import WORLD, Edge, spanning_tree

Entries = dict[str, str]  # key -> text of its value

UNITS_NOTE = 'Numbers are in SI with radians; texts may have units: "5 mm", "30 deg", "250 g".'
# the comment at the beginning of each section
NOTES = {
    "parameters": "Numbers with names. Other values may be expressions of them, in quotes.",
    "coordinates": "The coordinates q [rad or m], with their initial values and limits.",
    "dependents": "Formulas of coordinates and of the time t, for use in other formulas.",
    "placed": "Mass [kg], inertia [kg m^2] about the center of mass, and the position matrix of the center of mass.",
    "bodies": "Mass [kg], center of mass [m], inertia [kg m^2] about it in the body's axes.",
    "looks": "Shapes of bodies of the model file, in place of its own. Lengths [m].",
    "joints": "T_parent_child = placement * motion(q) * inverse(child_placement). Lengths [m], angles [rad].",
    "frames": "Named places on bodies.",
    "couplings": "q[joint] = multiplier * q[leader] + offset.",
    "elements": "What acts on the robot.",
    "phases": "Phases of the motion: which elements act in them, and which joints are locked.",
    "edges": "An edge is taken where its guard falls through zero.",
    "settings": "How a run starts and how long it lasts [s].",
    "starts": "States in which runs can begin: kinemorph simulate FILE --start NAME.",
    "runs": "Runs by name: kinemorph simulate FILE --run NAME.",
}


def write(system: System, path: Path, findings: Findings) -> tuple[Path, ...]:
    """Writes a system as a TOML file and returns its path; nothing if that fails, which is recorded as a finding."""
    system = replace(system, robot=with_reachable_meshes(system.robot, path, findings))
    try:
        text = written_system(system, findings)
    except ValueError as error:
        remedy = "Simplify the formula, or replace it by a number."
        findings.error("data", 0, f"robot '{system.name}'", str(error), remedy)
        return ()
    return (path,) if write_text(path, text, findings) else ()


def written_system(system: System, findings: Findings) -> str:
    """The text of the model file of a system. Raises ValueError if a formula is too large to be written."""
    robot = system.robot
    docked = None
    if system.assembly is not None:
        from kinemorph.formats.toml.assembly_text import organism_sections

        docked = organism_sections(system, findings)
    placed = placed_sections(system) if docked is None else []
    assembly = None if docked is None else system.assembly
    parameters = _parameters(_all_parameters(system), findings)
    acting = list(element_entries(system.elements, findings))
    sections = [
        f"# A robot for Kinemorph. {UNITS_NOTE}\n" + lines_of(_top(robot, {"name": spell.text(robot.name)})),
        parameters,
        *(placed or _robot(robot) if docked is None else docked),
        *_tables("elements", acting),
        *_automaton(writable(system.automaton, {name for name, *_ in acting}, findings)),
        *_settings(system, assembly, placed=bool(placed) and not system.stated("q")),
        *_tables("starts", ((name, start_entries(start), "") for name, start in system.starts.items())),
        *_tables("runs", ((name, run_entries(plan), "") for name, plan in system.runs.items())),
    ]
    return "\n".join(section for section in sections if section)


def _robot(robot: Robot) -> list[str]:
    """The sections of bodies, joints, frames and couplings."""
    return [
        *_dependents(robot),
        *_tables("bodies", ((body.name, body_entries(body), "") for body in robot.bodies)),
        *_joints(robot),
        *_tables("frames", ((frame.name, _part(frame, rows.FRAME), "") for frame in robot.frames)),
        *_tables("couplings", ((c.joint, _part(c, rows.COUPLING), "") for c in robot.couplings)),
    ]


def placed_sections(system: System) -> list[str]:
    """The sections of a robot from position matrices: coordinates, dependents, bodies, frames; empty for others."""
    robot = system.robot
    if rebuilt(robot) is None:
        return []
    names = _dependent_names(robot)
    declared = tuple(initial_configuration(robot).tolist())
    values = system.settings.q or (declared if any(declared) else ())
    coordinates = []
    for place, joint in enumerate(coordinate_joints(robot)):
        unit = unit_of(joint)
        data = coordinate_data(joint)
        if values:
            data = {"value": values[place], **data}
        entries = {} if unit == "rad" else {"unit": spell.text(unit)}
        for field in rows.COORDINATE[1:]:
            if field.name in data:
                kind = field.kind[0 if unit == "rad" else 1]
                entries[field.name] = spell.value(data[field.name], kind)
        coordinates.append((joint.name, entries, ""))
    bodies = []
    for position in robot.positions:
        entries = body_entries(robot.body(position.body))
        entries["position"] = spell.text(written_position(position.factors, names))
        if position.reference:
            entries["reference"] = spell.text(position.reference)
        bodies.append((position.body, entries, ""))
    return [
        *_tables("coordinates", coordinates),
        *_dependents(robot),
        *_tables("bodies", bodies, note="placed"),
        *_tables("frames", ((frame.name, _part(frame, rows.FRAME), "") for frame in robot.frames)),
    ]


def _dependents(robot: Robot) -> list[str]:
    """The section of dependents as a list of one text; empty if there are none."""
    entries: Entries = {}
    names: dict[Value, str] = {}
    for one in robot.dependents:
        formula = spell.value(one.formula, names=names)
        unit = {} if one.unit == "rad" else {"unit": spell.text(one.unit)}
        entries[one.name] = spell.inline({"formula": formula, **unit}) if unit else formula
        if isinstance(one.formula, Formula):
            names.setdefault(one.formula, name_text(one.name))
    return [f"# {NOTES['dependents']}\n\n[dependents]\n{lines_of(entries)}"] if entries else []


def _dependent_names(robot: Robot) -> dict[Value, str]:
    """The names of dependents as they are written, by their formulas."""
    formulas = [one for one in reversed(robot.dependents) if isinstance(one.formula, Formula)]
    return {one.formula: name_text(one.name) for one in formulas}


Part = TypeVar("Part")
Amended: TypeAlias = Sequence[
    tuple[Part, Collection[str]]
]  # parts of a model file, each with the keys that a sidecar gives


def written_sidecar(
    system: System,
    joints: Sequence[Joint],
    findings: Findings,
    *,
    gravity: bool = True,
    settings: bool = True,
    looks: Amended[Body] = (),
    numbers: Amended[Joint] = (),
) -> str:
    """The text of a sidecar with the given joints, and all frames, couplings and elements of the system.

    `looks` and `numbers` are bodies and joints of the model file, with the keys whose values the sidecar gives.
    """
    robot = system.robot
    top = _top(robot if gravity else replace(robot, gravity=Robot.gravity), {})
    cut, loops = chosen_cut(robot), {loop.name for loop in robot.loops}
    sections = [
        f"# Data for Kinemorph that the model file of the same name cannot express. {UNITS_NOTE}\n" + lines_of(top),
        *_tables("bodies", ((body.name, _looks(body, keys), "") for body, keys in looks), note="looks"),
        *_tables(
            "joints",
            [
                *((j.name, joint_entries(j) | (cut if j.name in loops else {}), "") for j in joints),
                *((j.name, _picked(joint_entries(j), keys), "") for j, keys in numbers),
            ],
        ),
        *_tables("frames", ((frame.name, _part(frame, rows.FRAME), "") for frame in robot.frames)),
        *_tables("couplings", ((c.joint, _part(c, rows.COUPLING), "") for c in robot.couplings)),
        *_tables("elements", element_entries(system.elements, findings)),
        *(_settings(system) if settings else ()),
        *_tables("starts", ((name, start_entries(start), "") for name, start in system.starts.items())),
        *_tables("runs", ((name, run_entries(plan), "") for name, plan in system.runs.items())),
    ]
    return "\n".join(section for section in sections if section)


def _top(robot: Robot, names: Entries) -> Entries:
    """The keys at the beginning of a file: version, the entries `names`, and gravity unless it is the default."""
    top = {rows.MARK: str(rows.VERSION), **names}
    return top if robot.gravity == Robot.gravity else {**top, "gravity": spell.vector(robot.gravity)}


# ── layout ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def lines_of(entries: Entries) -> str:
    """Keys and values as text, one key per line, with aligned values."""
    width = max((len(spell.key(name)) for name in entries), default=0)
    return "".join(f"{spell.key(name):<{width}} = {entry}\n" for name, entry in entries.items())


def _tables(section: str, tables: Iterable[tuple[str, Entries, str]], *, note: str = "") -> list[str]:
    """The tables of a section as texts, the first with the comment of the section, or with the NOTES entry `note`.
    A table is given as (name, keys, comment).
    """
    said = NOTES[note or section]
    written: list[str] = []
    for name, entries, comment in tables:
        first = f"# {said}\n\n" if not written else ""
        remark = f"  # {comment}" if comment else ""
        written.append(f"{first}[{section}.{spell.key(name)}]{remark}\n{lines_of(entries)}")
    return written


# ── parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _part(part: Any, table: Sequence[Field], *, flat: str = "placement") -> Entries:
    """The keys of a part (body, joint, ...) and their values as text, without defaults; `table` lists possible keys.

    The keys of the pose `flat` are put into the table of the part itself.
    """
    entries: Entries = {}
    defaults = defaults_of(part)
    for field in table:
        if field.name not in defaults:
            continue
        data = getattr(part, field.name)
        if data is None or (not field.required and data == defaults[field.name]):
            continue
        if field.form == "pose" and field.name == flat:
            entries |= spell.pose(data)
        elif field.form in spell.FORMS:
            entries[field.name] = spell.FORMS[field.form](data, field)
    return entries


def _all_parameters(system: System) -> tuple[Parameter, ...]:
    """All parameters of a system: those of the robot, then those that only elements, dependents or positions have."""
    others = (system.members, system.robot.dependents, system.robot.positions)
    found = {parameter.name: parameter for parameter in parameters_of(others)}
    return tuple({**{p.name: p for p in system.robot.parameters}, **found}.values())


def _parameters(parameters: Sequence[Parameter], findings: Findings) -> str:
    """The section of parameters; empty if there are none."""
    entries = {parameter.name: _parameter(parameter, findings) for parameter in parameters}
    return f"# {NOTES['parameters']}\n\n[parameters]\n{lines_of(entries)}" if entries else ""


def _parameter(parameter: Parameter, findings: Findings) -> str:
    """The value of a parameter as text: a number, a quantity, or a table with unit and symbol."""
    value, unit = spell.number(parameter.value), parameter.unit
    if unit:
        try:
            if not units.is_si(unit):
                problem = f"its unit is {unit!r}, but its value is in SI, so the unit is left out"
                findings.warn(
                    "dropped", 0, f"parameter '{parameter.name}'", problem, "Give the parameter a unit of SI."
                )
                unit = ""
        except ValueError:
            pass  # kept as text
    if not unit and not parameter.symbol:
        return value
    quantity = f"{value} {unit}"
    if unit and not parameter.symbol and units.is_quantity(quantity):
        try:
            if units.read_quantity(quantity) == (parameter.value, unit):
                return spell.text(quantity)
        except ValueError:
            pass
    symbol = {"symbol": spell.text(parameter.symbol)} if parameter.symbol else {}
    return spell.inline({"value": value, **({"unit": spell.text(unit)} if unit else {}), **symbol})


def body_entries(body: Body) -> Entries:
    """The keys of a body, with a uniform solid instead of mass data and shape if that gives the same body."""
    solid = _solid(body)
    entries = _part(body, rows.BODY)
    if solid:
        entries = {key: entries[key] for key in ("mass",) if key in entries} | {"solid": spell.inline(solid)}
    keys = [key for key in ("shapes", "collisions") if getattr(body, key) and not (key == "shapes" and solid)]
    return entries | _looks(body, keys)


def _looks(body: Body, keys: Iterable[str]) -> Entries:
    """The shapes of a body, by the keys "shapes" or "collisions"."""
    return {
        key: "[\n" + "".join(f"  {spell.inline(_shape(shape))},\n" for shape in getattr(body, key)) + "]"
        for key in keys
    }


def _picked(entries: Entries, keys: Collection[str]) -> Entries:
    """The entries with the given keys."""
    return {key: entry for key, entry in entries.items() if key in keys}


def _solid(body: Body) -> Entries:
    """The keys of the uniform solid that is exactly this body; empty if there is none."""
    for kind, data in _candidates(body.shapes):
        made = rows.SOLIDS[kind].make(body.name, body.mass, **data)
        if replace(made, collisions=body.collisions) == body:
            keep = {field.name: field for field in rows.SOLIDS[kind].fields if field.name in data}
            plain = {"center": (0.0, 0.0, 0.0), "axis": "z", "radius": {"rod": 0.03, "point": 0.05}.get(kind)}
            return {"kind": spell.text(kind)} | {
                name: spell.FORMS[field.form](data[name], field)
                for name, field in keep.items()
                if field.required or data[name] != plain.get(name)
            }
    return {}


def _candidates(shapes: tuple[Shape, ...]) -> Iterable[tuple[str, dict[str, Any]]]:
    """The kinds and data of uniform solids that a body with these shapes may have been made from."""
    if len(shapes) == 2 and isinstance(shapes[0], Line) and isinstance(shapes[1], Sphere):
        yield "point", {"position": shapes[0].end, "radius": shapes[1].radius}
    if len(shapes) != 1:
        return
    shape, center = shapes[0], shapes[0].placement.p
    axis = next((name for name, R in STANDING.items() if R == shape.placement.R), "z")
    if isinstance(shape, Box):
        yield "box", {"size": shape.size, "center": center}
    if isinstance(shape, Sphere):
        yield "sphere", {"radius": shape.radius, "center": center}
    if isinstance(shape, Ellipsoid):
        yield "ellipsoid", {"radii": shape.radii, "center": center}
    if isinstance(shape, HalfEllipsoid):
        yield "half_ellipsoid", {"radii": shape.radii, "center": center, "axis": axis}
    if isinstance(shape, Cylinder):
        yield "cylinder", {"radius": shape.radius, "length": shape.length, "center": center, "axis": axis}
    if isinstance(shape, Capsule):
        yield "rod", {"length": shape.length, "center": center, "axis": axis, "radius": shape.radius}


def _shape(shape: Shape) -> Entries:
    """The keys of a shape."""
    if isinstance(shape, MeshFile):
        named = {"kind": spell.text("mesh"), "file": spell.text(shape.source)}
        return named | _part(shape, [field for field in rows.MESH_FILE if field.name != "file"])
    if isinstance(shape, Mesh):
        return {"kind": spell.text("mesh")} | _part(shape, rows.MESH)
    kind = type(shape).__name__.lower()
    return {"kind": spell.text(kind)} | _part(shape, rows.SHAPES[kind][1])


def _joints(robot: Robot) -> list[str]:
    """The tables of all joints, those that close loops last and with a comment."""
    cycles = robot.cycles
    names = _dependent_names(robot)
    tables = [(joint.name, joint_entries(joint, names), "") for joint in robot.joints]
    cut = chosen_cut(robot)
    for loop in robot.loops:
        entries = joint_entries(loop) | cut
        tables.append((loop.name, entries, f"closes the loop {' - '.join(cycles[loop.name])}"))
    return _tables("joints", tables)


def chosen_cut(robot: Robot) -> Entries:
    """The key `cut` for joints that close loops, if the builder would otherwise cut other joints; else empty."""
    edges = [Edge(joint.name, joint.parent, joint.child) for joint in (*robot.joints, *robot.loops)]
    chords = spanning_tree([WORLD, *robot.body_names], edges, directed=True).chords
    return {} if {chord.name for chord in chords} == {loop.name for loop in robot.loops} else {"cut": "true"}


def joint_entries(joint: Joint, names: dict[Value, str] | None = None) -> Entries:
    """The keys of a joint, without defaults; `names` are the names of formulas."""
    # axes of zeros, which a joint that has no such axis may have, would be refused by the reader
    unused = [name for name in ("axis", "axis2")[joint.motion.axes :] if not any(getattr(joint, name))]
    written = [field for field in rows.JOINT if not field.form.startswith("per_") and field.name not in unused]
    entries = _part(joint, written)
    if joint.driven and names:
        entries["driven"] = spell.array(spell.value(formula, names=names) for formula in joint.driven)
    nothing = {"lower": float("-inf"), "upper": float("inf"), "velocity": float("inf"), "effort": float("inf")}
    for field in rows.JOINT:
        if field.form.startswith("per_"):
            data = getattr(joint, field.name)
            if any(x != nothing.get(field.name, 0.0) for x in data):
                row = joint.motion
                coordinates = row.q_units if field.form == "per_coordinate" else row.v_units
                kinds = tuple(field.kind[0 if "rad" in unit else 1] if unit else "" for unit in coordinates)
                entries[field.name] = spell.FORMS[field.form](data, field._replace(inner=kinds))
    return entries


def element_entries(elements: Iterable[Element], findings: Findings) -> Iterable[tuple[str, Entries, str]]:
    """The tables of elements as (name, keys, comment); elements that a file cannot express give warnings."""
    kinds = {element: kind for kind, element in ELEMENT_KINDS.items()}
    for element in elements:
        kind = kinds.get(type(element))
        if kind is None:
            problem = f"its type {type(element).__name__} is not known in model files, so it is left out"
            findings.warn(
                "dropped", 0, f"element '{element.name}'", problem, "Add its type to kinemorph.elements.ELEMENT_KINDS."
            )
            continue
        lost = list(functions_in(element))
        if lost:
            problem = f"its {lost[0]} is a Python function, which a file cannot contain, so it is left out"
            findings.warn(
                "dropped", 0, f"element '{element.name}'", problem, "Add the element in Python after loading."
            )
            continue
        try:
            brief = element.brief() if hasattr(element, "brief") else element
            if isinstance(brief, CController):
                brief = brief.seen_from(Path(findings.file).parent)
            entries = _part(brief, element_fields(type(element)), flat="")
        except (TypeError, ValueError, KeyError, AttributeError, StopIteration):
            problem = "it has data that a model file cannot express, so it is left out"
            remedy = "Use only numbers, texts and tuples in its data."
            findings.warn("dropped", 0, f"element '{element.name}'", problem, remedy)
            continue
        yield element.name, {"kind": spell.text(kind), **entries}, ""


def written_elements(elements: Sequence[Element]) -> str:
    """The tables of elements as text, to be copied into a model file. Raises ModelError for what a file cannot say."""
    findings = Findings("elements")
    text = "\n".join(_tables("elements", element_entries(elements, findings)))
    if findings.warnings:
        raise ModelError([str(one) for one in findings.warnings])
    return text


def _automaton(automaton: Automaton | None) -> list[str]:
    """The sections of phases and edges, and of the phase in which runs begin if it is not the first."""
    if automaton is None:
        return []
    initial = automaton.initial if automaton.first else ""
    top = _part(replace(automaton, initial=initial), rows.AUTOMATON)
    return [
        *_tables("phases", ((phase.name, _part(phase, rows.PHASE), "") for phase in automaton.phases)),
        *_tables("edges", ((edge.name, _part(edge, rows.EDGE), "") for edge in automaton.edges)),
        *([f"[automaton]\n{lines_of(top)}"] if top else []),
    ]


def _settings(system: System, assembly: Assembly | None = None, *, placed: bool = False) -> list[str]:
    """The section of settings: times, then the initial state by names of coordinates; without q where it is `placed`.

    These are the names that are stated. Where all values are, those that are neutral, or for an assembly those of its
    placed modules, are left out of a model without constraints, whose values follow from nothing.
    """
    robot = system.robot
    entries = _part(system.settings, rows.SETTINGS)
    tables = []
    rest_q = tuple(neutral(robot).tolist()) if assembly is None else tuple(standing(assembly, robot))
    placed = placed or (assembly is not None and system.settings.q == rest_q)
    constrained = not robot.is_open or any(map(constrains, system.members))
    for name, names, rest in (
        ("q", robot.q_names, rest_q),
        ("v", robot.v_names, (0.0,) * robot.nv),
    ):
        state, stated = () if placed and name == "q" else getattr(system.settings, name), system.stated(name)
        known = {key: (x, at) for key, x, at in zip(names, state, rest, strict=False) if key in (stated or names)}
        moved = {key: spell.number(x) for key, (x, at) in known.items() if x != at or stated or constrained}
        if state and not any(x != at for x, at in known.values()) and not stated:
            entries[name] = spell.vector(state)
        elif state:
            tables.append(f"[settings.{name}]\n{lines_of(moved)}")
    if entries or not tables:
        tables.insert(0, f"[settings]\n{lines_of(entries)}" if entries else "")
    note = f"# {NOTES['settings']}\n\n"
    return [note + tables[0], *tables[1:]] if tables != [""] else []
