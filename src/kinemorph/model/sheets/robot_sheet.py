"""What a robot has to show: its sizes, and tables of its bodies, joints, couplings, frames and parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kinemorph.model.expressions import written
from kinemorph.model.parameter import Parameter, evaluate, evaluate_all
from kinemorph.sheet import Facts, Field, Part, Pose, Said, Sheet, Table, fields, hidden, said, shown

if TYPE_CHECKING:
    from kinemorph.model.joint import Joint
    from kinemorph.model.robot import Robot

Row = tuple[Field, Any]

MASS = Field("mass", "mass", "kg", 6)
# a robot in one line of a list
LINE = (
    *(Field("bodies", "bodies"), Field("dof", "degrees of freedom"), Field("loops", "loops"), MASS),
    Field("kinds", "joints", form="word"),
)
CUT = {False: "degrees of freedom", True: "degrees of freedom of the cut tree"}  # by whether there are loops

BODIES = (
    *(Field("name", "body", form="name"), MASS, Field("com", "center of mass", "m", 6)),
    *(Field("inertia", ""), Field("joint", "")),
)
MOMENTS = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}
ABOUT = "Moments and products of inertia [kg m²] are about the center of mass, in the axes of the body."

ENDS = ("name", "kind", "parent", "child")  # of a joint
JOINTS = (
    *(*shown("joint"), *shown("kind", form="word"), *shown("parent", "child"), *shown("axis", form=6)),
    *(*shown("coordinates"), *shown("limits", form="sentence")),
)
CLOSED = said(
    "The last joint of this table closes a loop and has no coordinate: it is kept by constraints.",
    "The last {n} joints of this table close loops and have no coordinates: they are kept by constraints.",
)
LOSSES = ("velocity", "effort", "damping", "friction", "armature")
COUPLINGS = (
    *(Field("joint", "joint", form="name"), Field("leader", "follows", form="name")),
    *(Field("multiplier", "times", form=6), Field("offset", "plus", form=6)),
)
FRAMES = (Field("name", "frame", form="name"), Field("body", "on body", form="name"))
PARAMETERS = (Field("name", "parameter", form="name"), *fields("value unit"))
DEPENDENTS = (Field("name", "name", form="name"), Field("formula", "formula", form="code"), *fields("unit"))


def robot_sheet(robot: Robot) -> Sheet:
    """The sizes of a robot, all its tables, and its picture."""
    tables = (*body_parts(robot), *named_parts(robot))
    parts = (Facts(robot_facts(robot)), *tables, *robot_data(robot), Pose(robot, None, robot.name))
    return Sheet("Robot", robot.name, parts, key="robot")


def robot_data(robot: Robot) -> list[Part]:
    """What only programs read about a robot."""
    return [
        hidden(massless=robot.massless),
        hidden(q_names=robot.q_names),
        hidden(v_names=robot.v_names),
        hidden(joints=[_joint_data(robot, joint) for joint in robot.joints]),
        hidden(loops=[{key: getattr(loop, key) for key in ENDS} for loop in robot.loops]),
    ]


def robot_line(robot: Robot) -> tuple[Any, ...]:
    """The values of LINE: the sizes of a robot, its mass [kg], and the kinds of its joints."""
    kinds = sorted({joint.kind for joint in (*robot.joints, *robot.loops) if joint.motion.nv})
    return len(robot.bodies), robot.nv, len(robot.loops), robot.total_mass, kinds


def robot_facts(robot: Robot) -> list[Row]:
    """The sizes, the mass and the gravity of a robot."""
    return [
        (Field("nv", CUT[bool(robot.loops)]), robot.nv),
        (Field("nq", "entries of q"), robot.nq),
        (Field("", "bodies"), len(robot.bodies)),
        (Field("", "bodies without mass"), robot.massless or None),
        (Field("", "joints"), len(robot.joints)),
        (Field("", "loops"), len(robot.loops) or None),
        (MASS._replace(head="total mass"), robot.total_mass),
        (Field("gravity", "gravity", "m/s^2", 6), [evaluate(value) for value in robot.gravity]),
    ]


def body_parts(robot: Robot) -> list[Part]:
    """The tables of bodies, joints, limits and losses, and couplings."""
    joints = [_joint_row(robot, joint) for joint in robot.joints]
    joints += [(*(getattr(loop, key) for key in ENDS), None, None, None) for loop in robot.loops]
    note = CLOSED._replace(values={"n": len(robot.loops)}) if robot.loops else ""
    couplings = [(c.joint, c.leader, evaluate(c.multiplier), evaluate(c.offset)) for c in robot.couplings]
    return [
        Table("", JOINTS, joints, "Joints, in the order of q", note),
        _losses(robot.joints),
        _bodies(robot),
        Table("couplings", COUPLINGS, couplings, "Couplings"),
    ]


def named_parts(robot: Robot, more: Iterable[Parameter] = ()) -> list[Part]:
    """The tables of frames, parameters, `more` parameters of elements, and quantities that depend on them."""
    dependents = [(one.name, written(one.formula), one.unit) for one in robot.dependents]
    others = [one for one in dict.fromkeys(more) if one not in robot.parameters]
    return [
        Table("frames", FRAMES, [(frame.name, frame.body) for frame in robot.frames], "Frames"),
        Table("dependents", DEPENDENTS, dependents, "Quantities that follow from others"),
        parameter_table("parameters", robot.parameters, "Parameters"),
        parameter_table("", others, "Parameters of elements"),
    ]


def parameter_table(key: str, parameters: Iterable[Parameter], title: str) -> Table:
    """A table of parameters with their values and units."""
    return Table(key, PARAMETERS, [(one.name, one.value, one.unit) for one in parameters], title)


def _bodies(robot: Robot) -> Table:
    """The table of bodies; products of inertia that are zero for all bodies are left out."""
    inertias = {body.name: evaluate_all(body.inertia) for body in robot.bodies}
    moments = {
        name: (i, j) for name, (i, j) in MOMENTS.items() if i == j or any(one[i][j] for one in inertias.values())
    }
    rows = []
    for body in robot.bodies:
        inertia = [[float(value) for value in row] for row in inertias[body.name]]
        com = [float(evaluate(value)) for value in body.com]
        own = (inertia[i][j] for i, j in moments.values())
        joint = robot.parent_joint[body.name].name
        rows.append((body.name, float(evaluate(body.mass)), com, inertia, joint, *own))
    columns = (*BODIES, *shown(*(said("{name}", name=name) for name in moments), form=4))
    return Table("bodies", columns, rows, "Masses, centers of mass and inertias", ABOUT)


# ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _joint_data(robot: Robot, joint: Joint) -> dict[str, Any]:
    """A joint for programs; a limit of None is none."""
    return {
        **{key: getattr(joint, key) for key in ENDS},
        "q_index": robot.q_slice(joint.name).start,
        "q": joint.q_names,
        "v": joint.v_names,
        "q_units": joint.table.q_units,
        "axis": joint.axis if joint.motion.axes else None,
        "axis2": joint.axis2 if joint.motion.axes == 2 else None,
        "order": joint.order if joint.kind == "gimbal" else None,
        "driven": [written(formula) for formula in joint.driven],
        "limits": list(zip(joint.lower, joint.upper, strict=True)),
        **{key: [float(evaluate(value)) for value in getattr(joint, key)] for key in LOSSES},
    }


def _joint_row(robot: Robot, joint: Joint) -> tuple[Any, ...]:
    """A joint for people: its bodies, its axis, axes or order of turns, its coordinates and its limits."""
    axis: Any = [joint.axis, joint.axis2] if joint.motion.axes == 2 else joint.axis if joint.motion.axes else None
    limits = [
        _limit(low, high, unit) for low, high, unit in zip(joint.lower, joint.upper, joint.table.q_units, strict=True)
    ]
    return (
        *(getattr(joint, key) for key in ENDS),
        joint.order if joint.kind == "gimbal" else axis,
        _coordinates(robot, joint),
        [limit for limit in limits if limit is not None],
    )


def _coordinates(robot: Robot, joint: Joint) -> str:
    """Where a joint's coordinates are in q, with names and units: `q[3] [rad]`, `q[0:3] x y [m], theta [rad]`."""
    place, names, units = robot.q_slice(joint.name), joint.table.q_names, joint.table.q_units
    if not names:
        return ""
    told = []
    for unit, group in groupby(zip(names, units, strict=True), key=lambda one: one[1]):
        several = "" if len(names) == 1 else " ".join(name for name, _ in group)
        told.append(f"{several} [{unit}]".strip() if unit else several)
    where = f"q[{place.start}]" if len(names) == 1 else f"q[{place.start}:{place.stop}]"
    return f"{where} {', '.join(told)}".rstrip()


def _limit(low: float, high: float, unit: str) -> Said | None:
    """The limits of a coordinate; None where there are none."""
    if math.isinf(low) and math.isinf(high):
        return None
    if math.isinf(low):
        return said("at most {high} {unit}", high=high, unit=unit)
    if math.isinf(high):
        return said("at least {low} {unit}", low=low, unit=unit)
    return said("{low} to {high} {unit}", low=low, high=high, unit=unit)


def _losses(joints: Sequence[Joint]) -> Table:
    """The limits and losses of joints in SI units; joints with the same values share a row, columns of none are left
    out.
    """
    alike: dict[tuple[Any, ...], list[str]] = {}
    for joint in joints:
        values = [[float(evaluate(value)) for value in getattr(joint, key)] for key in LOSSES]
        given = tuple(tuple(x for x in row if x != 0.0 and math.isfinite(x)) for row in values)
        alike.setdefault(given, []).append(joint.name)
    rows = [(names, *map(_single, values)) for values, names in alike.items() if any(values)]
    columns = (*shown("joint"), *shown(*LOSSES, form=4))
    return Table("", columns, rows, "Limits and losses, SI")


def _single(values: tuple[float, ...]) -> Any:
    """One number alone, several as a list, None for none."""
    return (values[0] if len(values) == 1 else list(values)) if values else None
