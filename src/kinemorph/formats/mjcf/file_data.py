"""What an MJCF file states for MuJoCo alone: read from a compiled model, kept with the System, and written again.

Options of the solver, pairs of bodies that never touch, contact pairs, and the numbers of geoms, joints, tendons and
equalities by which MuJoCo's soft constraints act. They do not act here, or not number by number (`surfaces`). A part
that was changed after loading is written by what it is then, and a warning says that its numbers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from lxml import etree

from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.model.elements import Constraint, Tendon
from kinemorph.model.system import FileData, System
from kinemorph.model.topology import WORLD

FORMAT = "mjcf"
GEOMS_OF_WORLD = "world~geoms"  # name of the body that gets the geoms of the world
OWN = ("gravity", "wind", "density", "viscosity", "actuatorgroupdisable")  # options that are data of the System
# flags that have acted on the data of the System
APPLIED = ("constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity", "clampctrl",
           "actuation")  # fmt: skip
MESH, INERTIAS = 7, ("convex", "exact", "legacy", "shell")  # mjtGeom; words of mjtMeshInertia
Row = tuple[str, str, Any]  # attribute, array of the compiled model, MuJoCo's default


def _rows(kind: str, names: str, *usual: Any) -> list[Row]:
    """Rows for arrays of a kind of part; `names` are "attribute:array" or the attribute alone, `usual` the defaults."""
    pairs = [name.partition(":") for name in names.split()]
    return [(key, f"{kind}_{array or key}", value) for (key, _, array), value in zip(pairs, usual, strict=True)]


REF, IMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's default solref and solimp
STOPS = _rows("jnt", "solreflimit:solref solimplimit:solimp margin", REF, IMP, 0.0)
RESISTING = _rows("dof", "solreffriction:solref solimpfriction:solimp", REF, IMP)
GEOM = _rows("geom", "contype conaffinity condim priority solmix margin gap", 1, 1, 3, 0, 1.0, 0.0, 0.0)
GEOM += _rows("geom", "friction solref solimp", (1.0, 0.005, 0.0001), REF, IMP)
PAIR = _rows("pair", "condim:dim friction solref solreffriction solimp margin gap", *[None] * 7)
TENDON = _rows("tendon", "solreflimit:solref_lim solimplimit:solimp_lim margin armature", REF, IMP, 0.0, 0.0)
TENDON += _rows("tendon", "solreffriction:solref_fri solimpfriction:solimp_fri", REF, IMP)
EQUALITY = _rows("eq", "solref solimp", REF, IMP)
TORQUE = 10  # the place of the torquescale among the data of a weld

# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def file_data(system: System, model: Compiled, text: bytes, reading: Any) -> FileData:
    """What the file states for MuJoCo alone; `text` is the text that was compiled."""
    names, bodies = model.names["geom"], reading.bodies
    pairs = [
        (names[a], names[b], _attributes(model, PAIR, number))
        for number, (a, b) in enumerate(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True))
        if model.pair_dim[number] > 0
    ]
    signatures = model.exclude_signature.tolist()
    apart = tuple((bodies[int(pair) >> 16], bodies[int(pair) & 0xFFFF]) for pair in signatures)
    parts = {part: own for part, own in _parts(system, model, reading) if part is not None}
    return FileData(FORMAT, options_of(text), apart, tuple(pairs), parts, tuple(reading.left_out), soft=True)


def options_of(text: bytes) -> dict[str, str]:
    """The options that a text gives the solver, by name; those of flags are called "flag.NAME"."""
    found: dict[str, str] = {}
    for option in etree.fromstring(text).iterfind("option"):
        found |= {str(key): str(value) for key, value in option.attrib.items() if key not in OWN}
        for flags in option.iterfind("flag"):
            found |= {f"flag.{key}": str(value) for key, value in flags.attrib.items() if key not in APPLIED}
    return found


def _attributes(model: Compiled, rows: Sequence[Row], k: int) -> dict[str, str]:
    """The attributes of part number k, without those that have MuJoCo's defaults."""
    found = {}
    for key, name, usual in rows:
        values = np.atleast_1d(getattr(model, name)[k]).tolist()
        if values != list(np.atleast_1d(usual)):
            found[key] = numbers(values)
    return found


def _parts(system: System, model: Compiled, reading: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    """(key, attributes) of all parts that can have some."""
    robot, elements = system.robot, {element.name: element for element in system.elements}
    left = {body.name: list(body.collisions) for body in robot.bodies}  # in the order of geoms, as they were checked
    for k in reading.geometry.with_contact:
        body = reading.bodies[int(model.geom_bodyid[k])] if model.geom_bodyid[k] else reading.world
        own = _attributes(model, GEOM, k)
        if model.geom_type[k] == MESH:
            inertia, most = model.meshes.get(model.names["mesh"][int(model.geom_dataid[k])], (3, -1))
            own |= {"mesh.inertia": INERTIAS[inertia]} | ({"mesh.maxhullvert": str(most)} if most > 0 else {})
        yield (body, left[body].pop(0)), own
    for j, name in enumerate(reading.joints):
        own = _attributes(model, STOPS, j) | _attributes(model, RESISTING, int(model.jnt_dofadr[j]))
        yield robot.joint(name), own | ({"actuatorgravcomp": "true"} if model.jnt_actgravcomp[j] else {})
    followers = {coupling.joint: coupling for coupling in robot.couplings}
    loops = {loop.name: loop for loop in robot.loops}
    for e, name in reading.equalities.items():
        own, share = _attributes(model, EQUALITY, e), float(model.eq_data[e][TORQUE])
        if name in loops and loops[name].kind == "fixed" and share != 1.0:
            own["torquescale"] = number(share)
        yield loops.get(name) or followers.get(name) or elements.get(name), own
    for i, name in enumerate(reading.tendons):
        yield elements.get(name), _attributes(model, TENDON, i)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _own(system: System) -> FileData:
    return system.file_data if system.file_data.format == FORMAT else FileData()


def kept(system: System, part: Any) -> Mapping[str, str] | None:
    """The attributes that the file of a system gives a part, or a pair (body, shape); None if it changed since."""
    return _own(system).parts.get(part)


def write_options(system: System, option: Node) -> None:
    """Writes the options of the solver that the file states."""
    given = _own(system).options
    option.attrib.update({key: value for key, value in given.items() if "." not in key})
    flags = {key.partition(".")[2]: value for key, value in given.items() if "." in key}
    if flags:
        etree.SubElement(option, "flag", **flags)


def write_contacts(system: System, root: Node, nodes: Mapping[str, Node], losses: Losses) -> None:
    """Writes the pairs of bodies that never touch, and the contact pairs; records what no longer fits the model."""
    data, robot, section = _own(system), system.robot, etree.Element("contact")
    known = {"body": {*nodes, WORLD}, "geom": {node.get("name") for node in root.iter("geom")}}
    rows = [("exclude", "body", *pair, {}) for pair in system.file_data.apart]
    for tag, kind, one, other, own in [*rows, *(("pair", "geom", *pair) for pair in data.pairs)]:
        if {one, other} <= known[kind]:
            etree.SubElement(section, tag, {f"{kind}1": one, f"{kind}2": other, **own})
        else:
            losses.add(f"<{tag}> with a {kind} that is not written is left out", f"{one} and {other}")
    present = {*robot.joints, *robot.loops, *robot.couplings}
    present |= {one for one in system.elements if isinstance(one, (Constraint, Tendon))}
    present |= {(body.name, shape) for body in robot.bodies for shape in body.collisions}
    for part in (part for part, own in data.parts.items() if own and part not in present):
        name = part[0] if isinstance(part, tuple) else getattr(part, "name", "") or part.joint
        losses.add("numbers that the file of the model gives parts that were changed since are left out", name)
    for what in data.left_out:
        losses.add("left out when the file of the model was read", what, "Compare with that file.")
    if len(section):
        root.append(section)
