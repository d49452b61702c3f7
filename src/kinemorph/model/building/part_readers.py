"""Converts declared parts to checked parts: bodies, joints, frames and couplings, one function for each.

A draft is a dictionary of raw arguments. Reading it returns a frozen part and records every problem in the reader.
Conditions that involve several parts are checked later (`part_checks`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import ORIGIN, Body
from kinemorph.model.building.gears import read_multiplier
from kinemorph.model.building.part_checks import body_problems, joint_problems, questionable_mass
from kinemorph.model.input_reader import Reader, short
from kinemorph.model.joint import GIMBAL_ORDERS, JOINT_KINDS, PLAIN, POSE, USUAL_ORDER, Joint, JointKind
from kinemorph.model.parameter import Parameter, Value, evaluate_all, parameters_of
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.shapes import SHAPE_FIELDS, Mesh, MeshFile, Shape, shape_values
from kinemorph.words import counted, listed

Draft = dict[str, Any]


def read_body(reader: Reader, draft: Draft) -> Body:
    """The body of a draft; problems and questionable mass data are recorded in the reader."""
    reader.part("body", draft["name"])
    name, before = reader.name(draft["name"]), len(reader.problems)
    mass_data = (
        reader.number(reader.at("mass"), draft["mass"]),
        reader.vector(reader.at("com"), draft["com"]),
        reader.inertia(reader.at("inertia"), draft["inertia"]),
    )
    readable = len(reader.problems) == before
    shapes, collisions = (_read_shapes(reader, key, draft[key]) for key in ("shapes", "collisions"))
    body = Body(name, *mass_data, shapes, collisions)
    if readable:  # otherwise its mass data are replacements, which need no check
        wrong = body_problems(body)
        reader.problems += wrong
        reader.questionable += [] if wrong else questionable_mass(body)
    return body


def _read_shapes(reader: Reader, key: str, raw: Any) -> tuple[Shape, ...]:
    if not isinstance(raw, (tuple, list)):
        reader.note(f"{reader.at(key)} is {short(raw)}, expected a list of shapes", "Put it in brackets.")
        return ()
    reader.at(key)
    read = (read_shape(reader, f"{key[:-1]} {index}", shape) for index, shape in enumerate(raw))
    return tuple(shape for shape in read if shape is not None)


def read_shape(reader: Reader, what: str, raw: Any) -> Shape | None:
    """The checked shape; None, with a problem, if `raw` is not a shape. `what` names it in messages."""
    row = SHAPE_FIELDS.get(type(raw))
    if row is None:
        known = listed(kind.__name__ for kind in SHAPE_FIELDS)
        reader.note(f"{what} is {short(raw)}, expected a shape: {known}", "Use one of these.")
        return None
    what, before = f"{what} ({type(raw).__name__})", len(reader.problems)
    read: Draft = {"placement": reader.pose(f"{what}: placement", raw.placement)}
    read |= {name: reader.number(f"{what}: {name}", getattr(raw, name)) for name in row.lengths}
    read |= {name: reader.vector(f"{what}: {name}", getattr(raw, name)) for name in row.points}
    for name in row.positive if len(reader.problems) == before else ():
        size = evaluate_all(read[name])
        if not np.all(np.greater(size, 0.0)):
            reader.note(f"{what}: {name} is {size}, expected above 0", "Give a positive length in meters.")
    if isinstance(raw, Mesh):
        read |= _read_mesh(reader, what, raw)
    if isinstance(raw, MeshFile):
        read["scale"] = evaluate_all(reader.vector(f"{what}: scale", raw.scale))
    color = reader.sequence(f"{what}: color", raw.color)
    read["color"] = tuple(reader.literal(f"{what}: color[{i}]", part) for i, part in enumerate(color))
    if len(color) not in (3, 4) or not all(0.0 <= part <= 1.0 for part in read["color"]):
        problem = f"{what}: color is {short(raw.color)}, expected 3 or 4 numbers from 0 to 1"
        reader.note(problem, "Divide by 255 if needed.")
    shape: Shape = replace(raw, **read)
    return shape


def _read_mesh(reader: Reader, what: str, raw: Mesh) -> Draft:
    corners = reader.sequence(f"{what}: vertices", raw.vertices)
    faces = [
        reader.items(f"{what}: face {i}", f, 3) for i, f in enumerate(reader.sequence(f"{what}: faces", raw.faces))
    ]
    if any(not (isinstance(k, int) and 0 <= k < len(corners)) for face in faces for k in face or ()):
        problem = f"{what}: a face has a corner index that is not from 0 to {len(corners) - 1}"
        reader.note(problem, "Correct the faces of the mesh.")
    vertices = (reader.vector(f"{what}: corner {i}", corner) for i, corner in enumerate(corners))
    return {"vertices": tuple(evaluate_all(v) for v in vertices), "faces": tuple(face for face in faces if face)}


def read_joint(reader: Reader, draft: Draft) -> Joint:
    """The joint of a draft. If its kind is unknown, only the data that all kinds have in common are read."""
    reader.part("joint", draft["name"])
    name = reader.name(draft["name"])
    kind, child_placement = draft["kind"], draft["child_placement"]
    row = JOINT_KINDS.get(kind) if isinstance(kind, str) else None
    if isinstance(kind, str) and kind == POSE.name and draft["driven"] is not None:
        row = POSE
    if row is None:
        problem = f"the {reader.at('kind')} is {short(kind)}, expected one of {listed(JOINT_KINDS)}"
        reader.note(problem, "Choose one of these.")
    shared = (
        name,
        "fixed" if row is None else row.name,
        reader.reference(reader.at("parent"), draft["parent"]),
        reader.reference(reader.at("child"), draft["child"]),
        _read_placement(reader, draft),
        IDENTITY if child_placement is None else reader.pose(reader.at("child_placement"), child_placement),
        reader.axis(reader.at("axis"), draft["axis"], normalize=draft["normalize"] is True),
        reader.axis(reader.at("axis2"), draft["axis2"], normalize=draft["normalize"] is True),
        reader.number(reader.at("pitch"), draft["pitch"]),
    )
    order = _read_order(reader, draft, row)
    if row is None:
        return Joint(*shared)

    def per(key: str, count: int, default: float) -> Any:
        raw = draft[key]
        if raw is None:
            return (default,) * count
        return reader.per_coordinate(reader.at(key), raw, count, default, limit=default != 0.0)

    driven = _read_driven(reader, draft, row)
    nq, nv = (0, 0) if driven else (row.nq, row.nv)  # the motion of a driven joint has no limits
    joint = Joint(
        *shared,
        lower=per("lower", nq, -math.inf),
        upper=per("upper", nq, math.inf),
        velocity=per("velocity", nv, math.inf),
        effort=per("effort", nv, math.inf),
        damping=per("damping", row.nv, 0.0),
        friction=per("friction", row.nv, 0.0),
        armature=per("armature", row.nv, 0.0),
        driven=driven,
        order=order,
        stop=draft.get("stop"),
    )
    reader.problems += joint_problems(joint)
    return joint


def _read_driven(reader: Reader, draft: Draft, row: JointKind) -> tuple[Value, ...]:
    """The formulas of a driven joint, one for each coordinate of its kind; empty if the joint is not driven."""
    raw = draft["driven"]
    if raw is None or (isinstance(raw, (tuple, list)) and not raw):
        return ()
    formulas = tuple(raw) if isinstance(raw, (tuple, list)) else (raw,)
    plain = row is POSE or all(step.kind in PLAIN for step in row.primitives)
    if not plain or len(formulas) != row.nq:
        what = f"{reader.at('driven')} has {counted(len(formulas), 'formula')} for a {row.name} joint"
        expected = f"one per coordinate, {row.nq}" if plain and row.nq else "a joint of hinges and slides"
        reader.note(
            f"{what}, expected {expected}",
            "Use a revolute, prismatic, helical, cylindrical, universal or gimbal joint.",
        )
        return ()
    limits = [
        key
        for key in ("lower", "upper", "velocity", "effort")
        if not (draft[key] is None or (isinstance(draft[key], tuple) and not draft[key]))
    ]
    if limits:
        reader.at(limits[0])
        reader.note(f"{limits[0]} is given for a driven joint", "Give limits to the joints that drive it.")
    return tuple(reader.number(f"{reader.at('driven')}[{i}]", formula) for i, formula in enumerate(formulas))


def _read_order(reader: Reader, draft: Draft, row: JointKind | None) -> str:
    """The order of the three turns of a gimbal, one of GIMBAL_ORDERS."""
    order = draft.get("order", USUAL_ORDER)
    if isinstance(order, str) and order in GIMBAL_ORDERS:
        if row is not None and row.name != "gimbal" and order != USUAL_ORDER:
            reader.note(f"{reader.at('order')} is {short(order)} but the kind is {row.name}", "Use kind 'gimbal'.")
        return order
    what = f"{reader.at('order')} is {short(order)}, expected three axes: one of {listed(GIMBAL_ORDERS)}"
    reader.note(what, "Choose one of these; no axis may follow itself.")
    return USUAL_ORDER


def read_cut(reader: Reader, draft: Draft) -> bool:
    """Whether a joint is declared with cut=True, to close a loop."""
    cut = draft.get("cut", False)
    if cut is not True and cut is not False:
        reader.part("joint", draft["name"])
        reader.note(f"{reader.at('cut')} is {short(cut)}, expected True or False", "Leave it out for False.")
    return cut is True


def _read_placement(reader: Reader, draft: Draft) -> Pose:
    """The placement of a draft, given as a pose, or as translation and rotation."""
    placement, translation, rotation = draft["placement"], draft["translation"], draft["rotation"]
    if placement is not None:
        if translation is not None or rotation is not None:
            problem = f"{reader.at('placement')} is given together with translation or rotation"
            reader.note(problem, "Give either placement or the other two.")
        return reader.pose(reader.at("placement"), placement)
    return Pose(
        IDENTITY.R if rotation is None else reader.rotation(reader.at("rotation"), rotation),
        ORIGIN if translation is None else reader.vector(reader.at("translation"), translation),
    )


def read_frame(reader: Reader, draft: Draft) -> Frame:
    """The frame of a draft."""
    reader.part("frame", draft["name"])
    name = reader.name(draft["name"])
    return Frame(name, reader.reference(reader.at("body"), draft["body"]), _read_placement(reader, draft))


def read_coupling(reader: Reader, draft: Draft) -> Coupling:
    """The coupling of a draft."""
    reader.part("coupling", draft["joint"])
    return Coupling(
        reader.reference(reader.at("joint"), draft["joint"]),
        reader.reference(reader.at("leader"), draft["leader"]),
        read_multiplier(reader, draft),
        reader.number(reader.at("offset"), draft.get("offset", 0.0)),
    )


def used_parameters(
    gravity: Any, bodies: list[Body], joints: list[Joint], frames: list[Frame], couplings: list[Coupling]
) -> tuple[Parameter, ...]:
    """All parameters of a robot, in order: those of bodies, joints, frames, couplings, gravity, shapes."""
    return parameters_of((
        tuple((body.mass, body.com, body.inertia) for body in bodies),
        tuple((j.placement, j.child_placement, j.pitch, j.damping, j.friction, j.armature, j.driven) for j in joints),
        tuple(frame.placement for frame in frames),
        tuple((coupling.multiplier, coupling.offset) for coupling in couplings),
        gravity,
        tuple(shape_values(shape) for body in bodies for shape in (*body.shapes, *body.collisions)),
    ))  # fmt: skip
