"""The keys of a TOML model file, one row per key. Reader, writer, schema and reference are all based on these tables.

A `Field` says how a value is written (its form), what kind of quantity it is, and what it means. Names, defaults and
order are those of the dataclasses: a new field of a dataclass needs only a row here. Elements need no rows, because
theirs follow from type hints (`model.elements.fields`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from kinemorph.model.body import Body
from kinemorph.model.elements.fields import Field, part_fields
from kinemorph.model.elements.phases.automaton import Edge
from kinemorph.model.joint import GIMBAL_ORDERS, JOINT_KINDS, ImpedanceStop
from kinemorph.model.modules.catalog import CUBES, JOINT_MODULES, KINDS
from kinemorph.model.modules.module_types import DYADS
from kinemorph.model.run_plans import LOOP_METHOD_NAMES
from kinemorph.model.shapes import (
    SHAPE_FIELDS,
    HalfSpace,
    Line,
    Mesh,
    MeshFile,
    Surface,
    Terrain,
    Triangle,
)

MARK = "kinemorph"  # the key that opens every file
VERSION = 1


def _per(name: str, turning: str, sliding: str, help: str, form: str = "per_velocity") -> Field:
    """The Field of a key with one number per velocity or coordinate of a joint, rotational or translational."""
    return Field(name, form, (turning, sliding), help)


POSE_KEYS = ("translation", "rpy", "rotation", "quaternion")
POSE = (
    Field("translation", "vector", "length", "Shift along x, y, z."),
    Field("rpy", "angles", "angle", "Roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll). Right angles in deg are exact."),
    Field("rotation", "matrix", "number", "Rotation matrix, three rows of three."),
    Field("quaternion", "numbers", "number", "Rotation as unit quaternion, in the order w, x, y, z.", inner=4),
)

PARAMETER = (
    Field("value", "value", "", "Nominal value: a number, or a text with a unit.", required=True),
    Field("unit", "text", "", 'Unit of the value, such as "kg".'),
    Field("symbol", "text", "", "Symbol in printed equations, in LaTeX."),
)

COORDINATE = (
    Field(
        "unit", "choice", "", 'Unit of the coordinate: "rad" (the default) or "m".', inner=("rad", "m"), default="rad"
    ),
    _per("value", "angle", "length", "Initial value [rad or m]; 0 if it is left out.", "per_coordinate"),
    _per("lower", "angle", "length", "Lower limit [rad or m].", "per_coordinate"),
    _per("upper", "angle", "length", "Upper limit [rad or m].", "per_coordinate"),
    _per("velocity", "rate", "speed", "Limit of its rate [rad/s or m/s]."),
    _per("effort", "torque", "force", "Limit of its effort [N m or N]."),
    _per("damping", "angular damping", "damping", "Viscous damping [N m s/rad or N s/m]."),
    _per("friction", "torque", "force", "Coulomb friction [N m or N]."),
    _per("armature", "inertia", "mass", "Reflected rotor inertia [kg m^2 or kg]."),
)

DEPENDENT = (
    Field("formula", "value", "", "Formula of coordinates, parameters, other dependents and t.", required=True),
    Field("unit", "text", "", 'Unit of the dependent, for messages; "rad" if it is left out.'),
)

BODY = (
    Field("mass", "value", "mass", "Mass [kg]; 0 if it is left out.", default=0),
    Field("solid", "solid", "", "A uniform solid, from which center of mass, inertia and shape are computed."),
    Field("com", "vector", "length", "Center of mass [m] in the body's frame."),
    Field("inertia", "inertia", "inertia", "Inertia [kg m^2] about the center of mass, in the body's axes."),
    Field("shapes", "shapes", "", "Shapes that are drawn."),
    Field("collisions", "shapes", "", "Shapes for contact."),
    Field("position", "position", "", 'Position matrix of the center of mass: "Trotz(q0) * Tdisp(0, -0.5, 0)".'),
    Field("reference", "text", "", "Body in whose frame the position is given; the world if it is left out."),
)

JOINT = (
    Field("kind", "choice", "", "Kind of joint.", required=True, inner=(*JOINT_KINDS, "pose")),
    Field("parent", "text", "", 'Body that carries the joint; "world" is the ground.', required=True),
    Field("child", "text", "", "Body that the joint moves.", required=True),
    Field("placement", "pose", "", "Joint frame in the parent's frame."),
    Field("child_placement", "pose", "", "Joint frame in the child's frame."),
    Field(
        "axis", "axis", "", 'Axis in the joint frame: "x", "-y", or a unit vector; z if it is left out.', default="z"
    ),
    Field("axis2", "axis", "", "Second axis of a universal joint; x if it is left out.", default="x"),
    Field(
        "order",
        "choice",
        "",
        'Axes of the three turns of a gimbal, first to last; "zyx" if it is left out.',
        inner=GIMBAL_ORDERS,
        default="zyx",
    ),
    Field("normalize", "flag", "", "Scale the axes to length 1.", default=False),
    Field("pitch", "value", "pitch", "Travel per angle [m/rad] of a helical joint."),
    _per("lower", "angle", "length", "Lower limits of the coordinates [rad or m].", "per_coordinate"),
    _per("upper", "angle", "length", "Upper limits of the coordinates [rad or m].", "per_coordinate"),
    _per("velocity", "rate", "speed", "Limits of the velocities [rad/s or m/s]."),
    _per("effort", "torque", "force", "Limits of the efforts [N m or N]."),
    _per("damping", "angular damping", "damping", "Viscous damping [N m s/rad or N s/m]."),
    _per("friction", "torque", "force", "Coulomb friction [N m or N]."),
    _per("armature", "inertia", "mass", "Reflected rotor inertia [kg m^2 or kg]."),
    Field("driven", "formulas", "", 'Formula of other coordinates that gives the motion: "50 * hip"; or one for each.'),
    Field("stop", "part", "", "How its limits act, in MuJoCo's terms.", inner={"stop": ImpedanceStop}),
    Field("cut", "flag", "", "The joint closes a loop: the tree is made of the other joints.", default=False),
)

# what a sidecar may say of bodies and joints of its model file, instead of what that file says
BODY_AMENDMENT = tuple(field for field in BODY if field.form == "shapes")
JOINT_AMENDMENT = tuple(field for field in JOINT if field.form.startswith("per_"))

# kinds of joints in other formats, for hints in messages
SYNONYMS = {
    **{
        "hinge": "revolute",
        "continuous": "revolute",
        "rotary": "revolute",
        "slide": "prismatic",
        "slider": "prismatic",
    },
    **{"floating": "free", "freejoint": "free", "ball": "spherical", "screw": "helical", "weld": "fixed"},
}

FRAME = (
    Field("body", "text", "", 'Body that carries the frame, or "world".', required=True),
    Field("placement", "pose", "", "The frame in the body's frame."),
)

COUPLING = (
    Field("leader", "text", "", "Joint that this joint follows.", required=True),
    Field("multiplier", "value", "", "q[joint] = multiplier * q[leader] + offset."),
    Field("offset", "value", "", "Offset [rad or m]."),
    Field("ratio", "value", "number", "Gear: turns of the leader for one turn of the joint in the opposite direction."),
    Field(
        "teeth",
        "numbers",
        "number",
        "Gear: teeth of the joint's wheel and of the leader's, instead of a ratio.",
        inner=2,
    ),
    Field(
        "internal",
        "flag",
        "",
        "Gear: one wheel is inside the other, so both turn in the same direction.",
        default=False,
    ),
    Field("radius", "value", "length", "Rack: radius of the leader's pinion [m]; the joint is the rack."),
)

_NAMES = (Field("", "text"), None)  # the items of a list of names
PHASE = (
    Field(
        "elements",
        "list",
        "",
        "Elements that act in this phase and sleep in phases that do not name them.",
        inner=_NAMES,
    ),
    Field("locked", "list", "", "Joints of one axis, or single velocities, that do not move.", inner=_NAMES),
)
_EDGE = {field.name: field for field in part_fields(Edge)}
EDGE = (
    Field("source", "text", "", "Phase that the edge leaves.", required=True),
    Field("target", "text", "", "Phase that begins.", required=True),
    Field("guard", "text", "", 'Expression that falls through zero: "foot.z", "q.hip - 0.2".', required=True),
    Field("when", "text", "", "Expression that has to be above 0 at that instant."),
    Field("relabel", "texts", "", 'Names that are exchanged: { left = "right", right = "left" }.'),
    Field("reset", "texts", "", 'New values: { "v.hip" = "-0.5 * v.hip" }.'),
    _EDGE["impact"]._replace(
        help='"plastic": velocities jump onto the constraints of the target. "none": they do not change. Or a law: '
        '{ kind = "energetic", restitution = 0.5 }, by which the points that the phase holds collide.'
    ),
    Field("during", "text", "", "Phase whose constraints take part in the impact; the target if it is left out."),
    Field("stop", "flag", "", "The run ends here.", default=False),
    _EDGE["friction"]._replace(help="Friction of an impact with a law: { coefficient = 0.6 }."),
)
AUTOMATON = (
    Field("initial", "text", "", "Phase in which runs begin; the first if it is left out."),
    Field("known", "any", "", 'Values of further names in the texts of edges: [["length", 0.3]].'),
)

GROUND = Field("ground", "flag", "", "Collision shapes touch the plane z = 0, if the model has no other ground")
SETTINGS = (
    Field("q", "state", "", "Initial configuration: a list, or values by name of coordinate; the others follow."),
    Field("v", "state", "", "Initial velocity: a list, or values by name."),
    Field("time", "literal", "time", "Simulated time of a run [s]."),
    Field("sample", "literal", "time", "Time between stored states [s]."),
    Field("max_step", "literal", "time", "Longest step that a method may choose [s]; default: no bound."),
    Field("loops", "choice", "", "Method by which loops and other constraints are satisfied.", inner=LOOP_METHOD_NAMES),
    GROUND._replace(help=f"{GROUND.help}; true under a free base if it is left out."),
)

RUN = (
    Field("method", "text", "", "Integration method; `kinemorph simulate --methods` lists all of them."),
    Field("step", "literal", "time", "Constant step size [s], instead of tolerances."),
    Field("rtol", "literal", "number", "Relative tolerance of the error of a step."),
    Field("atol", "literal", "number", "Absolute tolerance of the error of a step."),
    Field("max_step", "literal", "time", "Longest step that the method may choose [s]."),
    Field("time", "literal", "time", "Simulated time [s]; that of [settings] if it is left out."),
    Field("output_step", "literal", "time", "Time between stored states [s]."),
    Field("start", "text", "", "Start [starts.NAME] in which the run begins; q, v, x and inputs below override it."),
    Field("q", "state", "", "Initial configuration: a list, or values by name of coordinate; the others follow."),
    Field("v", "state", "", "Initial velocity: a list, or values by name."),
    Field("x", "state", "", "Further initial states, such as currents: a list, or values by name."),
    Field("inputs", "state", "", "Constant inputs: a list, or values by name."),
    Field("locked", "list", "", "Joints that do not move.", inner=_NAMES),
    Field("loops", "choice", "", "Method by which loops and other constraints are satisfied.", inner=LOOP_METHOD_NAMES),
    Field("limits", "flag", "", "Joints stop at their limits; true if it is left out."),
    Field("friction", "flag", "", "The Coulomb friction of joints acts; true if it is left out."),
    Field(
        "contacts",
        "flag",
        "",
        "Collision shapes touch the ground, if the model has no contacts of its own; true if it is left out.",
    ),
    GROUND._replace(help=f"{GROUND.help}; that of [settings] if it is left out."),
)
START = (
    Field("q", "state", "", "Configuration: a list, or values by name of coordinate; the others have their defaults."),
    Field("v", "state", "", "Velocity: a list, or values by name."),
    Field("x", "state", "", "Further states, such as currents: a list, or values by name."),
    Field("m", "state", "", "Memory of elements: a list, or values by name."),
    Field("u", "state", "", "Inputs, constant during a run: a list, or values by name."),
    Field("t", "literal", "time", "Time at which the run begins [s]; 0 if it is left out."),
)
DOCK_EVENT = (
    Field("a", "label", "", 'A module, by name or number: 3 is "m3".', required=True),
    Field("side_a", "label", "", "The side of a.", required=True),
    Field("b", "label", "", "The other module.", required=True),
    Field("side_b", "label", "", "The side of b.", required=True),
    Field("at", "literal", "time", "Time of the docking [s]; as soon as the ports are near if it is left out."),
    Field("turn", "whole", "", "Quarter turns about the normal, 0 to 3; the nearest if it is left out."),
    Field("distance", "literal", "length", "Distance from the legal pose [m] at which ports still lock."),
    Field("angle", "literal", "angle", "Angle from the legal pose [rad] at which ports still lock."),
)
UNDOCK_EVENT = (
    Field("module", "label", "", "A module, by name or number.", required=True),
    Field("side", "label", "", "The side whose docking opens.", required=True),
    Field("at", "literal", "time", "Time of the undocking [s].", required=True),
)
RUN_ROWS: dict[str, tuple[Field, ...]] = {"dock": DOCK_EVENT, "undock": UNDOCK_EVENT}  # lists of tables in a run

# ── modules that dock ─────────────────────────────────────────────────────────────────────────────────────────────────

ASSEMBLY = (
    Field("grid", "text", "", 'Cells seen from above, such as "B>0 Bv1"; # and connectors as in docs/assemblies.md.'),
    Field("docked", "any", "", "Docked sides as rows [i, j, side of i, side of j], instead of [[dockings]]."),
    Field("type", "labels", "", "Type of the modules, by letter or name: one for all, or a list with one for each."),
    Field("base", "label", "", "Module at the root of the kinematic tree; the first if it is left out."),
    Field(
        "dyads", "choice", "", "halves: two bodies and a hinge per module; adapted: one body per module.", inner=DYADS
    ),
    Field("root", "labels", "", "Root joint: free, fixed, or a list of virtual joints out of x, y, z, rx, ry, rz."),
    Field("planar", "flag", "", "Accept only trees of upright modules that are docked at sides 2 to 5.", default=False),
    Field(
        "several", "flag", "", "Allow modules that are not connected: several organisms in one world.", default=False
    ),
    Field(
        "ground",
        "flag",
        "",
        "Put the modules on the ground z = 0, with contacts at all corners and wheels.",
        default=False,
    ),
    Field(
        "keep", "choice", "", "Use poses as measured, or those of the nearest dockings.", inner=("measured", "legal")
    ),
    Field("gap", "literal", "length", "Largest distance of a measured pose from a docking [m]."),
    Field("bend", "literal", "angle", "Largest angle between a measured pose and a docking [rad]."),
)
MODULE = (
    Field("type", "label", "", "Type of the module, by letter or name."),
    Field("placement", "pose", "", "Pose of the module in the world."),
)
_ENDS = (
    Field("a", "label", "", 'A module, by name or number: 3 is "m3".', required=True),
    Field("b", "label", "", "The other module.", required=True),
)
DOCKING = (
    _ENDS[0],
    Field("side_a", "label", "", "The side of a.", required=True),
    _ENDS[1],
    Field("side_b", "label", "", "The side of b.", required=True),
    Field("turn", "whole", "", "Quarter turns of b about the normal of its own side.", default=0),
    Field("joint", "choice", "", "Kind of a joint module between a and b.", inner=tuple(JOINT_MODULES)),
    Field("axis", "axis", "", "Axis of the joint module in the frame of a's port; z, the normal, if it is left out."),
    *(
        Field(key, "literal", "", f"The {key} of the joint module, as for a joint.")
        for key in ("lower", "upper", "velocity", "effort", "damping")
    ),
    Field("offset", "pose", "", "Pose of b's port relative to its pose if docked exactly."),
)
MEASURED = (*_ENDS, Field("placement", "pose", "", "Measured pose of b in the frame of a."))
PORT = (
    Field("body", "text", "", "Part that carries the port.", required=True),
    Field("reach", "literal", "length", "Distance [m] of a side 1 to 6 of a cube from its center, instead of a pose."),
    Field("placement", "pose", "", "Pose of the port in the frame of its part: z points out of the side, y up."),
)
MODULE_TYPE = (
    Field("name", "text", "", "Name of the module type; its letter if it is left out."),
    Field("like", "choice", "", "A built-in type, whose data are replaced by those given here.", inner=tuple(KINDS)),
    Field("mass", "value", "mass", "Mass [kg] of both halves together."),
    Field("plate_mass", "value", "mass", "Mass [kg] of a Scout's turning plate."),
    Field("wheel_mass", "value", "mass", "Mass [kg] of a wheel."),
    Field("inertia", "value", "inertia", "Inertia [kg m^2] about each axis."),
    Field("radius", "literal", "length", "Radius [m] of wheels."),
    Field("tread", "literal", "length", "Distance [m] between wheels."),
    Field("size", "choice", "", "Size of a cube.", inner=tuple(CUBES)),
    Field("pitch", "literal", "length", "Distance [m] between the centers of neighboring modules."),
    Field("cells", "numbers", "number", "Number of grid cells that the module fills along x, y and z.", inner=3),
    Field("hinge", "text", "", "Name of the joint that bends the module."),
    Field("bodies", "table", "", "Bodies of the module."),
    Field("joints", "table", "", "Joints between the bodies of the module."),
    Field("ports", "table", "", "Ports at which other modules dock, by side."),
)

ORGANISM_TABLES: dict[str, tuple[Field, ...]] = {"modules": MODULE, "module_types": MODULE_TYPE}  # one table per name
ORGANISM_ROWS: dict[str, tuple[Field, ...]] = {"dockings": DOCKING, "poses": MEASURED}  # arrays of tables
ORGANISM = ("assembly", *ORGANISM_TABLES, *ORGANISM_ROWS)

TABLES: dict[str, tuple[Field, ...]] = {
    "parameters": PARAMETER,
    "coordinates": COORDINATE,
    "dependents": DEPENDENT,
    "bodies": BODY,
    "joints": JOINT,
    "frames": FRAME,
    "couplings": COUPLING,
    "phases": PHASE,
    "edges": EDGE,
}  # each holds one table per name
WORDS = {"parameters": "parameter", "bodies": "body", "joints": "joint", "frames": "frame", "couplings": "coupling"}
WORDS |= {"elements": "element", "coordinates": "coordinate", "dependents": "dependent"}
WORDS |= {"phases": "phase", "edges": "edge", "runs": "run", "starts": "start"}
TOP = (
    Field(MARK, "whole", "", f"Version of the format: {VERSION}.", required=True),
    Field("name", "text", "", "Name of the robot; that of the file if it is left out."),
    Field(
        "gravity",
        "vector",
        "acceleration",
        "Acceleration of free fall [m/s^2]; [0, 0, -9.81] if it is left out.",
        default=[0.0, 0.0, -9.81],
    ),
    *(Field(table, "table") for table in (*TABLES, "automaton", "elements", "settings", "starts", "runs", *ORGANISM)),
)
NOT_IN_SIDECARS = ("name", "coordinates", *ORGANISM)

# ── shapes and solids ─────────────────────────────────────────────────────────────────────────────────────────────────

COLOR = Field("color", "numbers", "number", "Red, green, blue and optionally opacity, from 0 to 1.", inner=(3, 4))
PLACED = Field("placement", "pose", "", "The shape's frame in the body's frame.")
TOUCHING = Field(
    "surface", "surface", "", "How the shape touches: friction, groups, margin.", inner={"surface": Surface}
)


def _shape_fields(shape: type[Any]) -> tuple[Field, ...]:
    """The Fields of a shape's keys: its sizes, placement and color."""
    row = SHAPE_FIELDS[shape]
    forms = {**dict.fromkeys(row.lengths, "value"), **dict.fromkeys(row.points, "vector")}
    sizes = [field.name for field in dataclasses.fields(shape) if field.name in forms]
    touching = () if shape in (Line, Triangle) else (TOUCHING,)
    return (*(Field(name, forms[name], "length", "[m]", required=True) for name in sizes), PLACED, COLOR, *touching)


SHAPES: dict[str, tuple[type[Any], tuple[Field, ...]]] = {
    shape.__name__.lower(): (shape, _shape_fields(shape)) for shape in SHAPE_FIELDS if shape not in (Mesh, MeshFile)
}
SHAPES["halfspace"] = (
    HalfSpace,
    (
        Field("size", "numbers", "length", "Half the edges of the rectangle that is drawn; 0 for none [m].", inner=2),
        *_shape_fields(HalfSpace),
    ),
)
_HEIGHTS = Field("", "list", inner=(Field("", "literal"), None))
SHAPES["terrain"] = (
    Terrain,
    (
        Field("heights", "list", "length", "Heights on a grid: a row along y for each x.", True, (_HEIGHTS, None)),
        Field("spacing", "numbers", "length", "Distance of grid points along x and y [m].", inner=2),
        *_shape_fields(Terrain),
    ),
)
MESH_FILE = (
    Field("file", "text", "", "Mesh file: a path from the folder of the model, or package://name/...", required=True),
    Field("scale", "numbers", "number", "Factors along x, y and z that convert the mesh to meters.", inner=3),
    PLACED,
    COLOR,
    TOUCHING,
)
MESH = (
    Field("vertices", "points", "length", "Vertices [m].", required=True),
    Field("faces", "faces", "", "Triangles, as triples of indices of vertices.", required=True),
    Field("source", "text", "", "File that the mesh was read from."),
    PLACED,
    COLOR,
    TOUCHING,
)


class Solid(NamedTuple):
    """A uniform solid: the function of `Body` that makes a body of it, and the Fields of its keys."""

    make: Callable[..., Body]
    fields: tuple[Field, ...]


_CENTER = Field("center", "vector", "length", "Center in the body's frame [m].")
_ALONG = Field(
    "axis", "choice", "", "Axis of the body that the solid is along; z if it is left out.", inner=("x", "y", "z")
)


def _length(name: str, *, required: bool = True) -> Field:
    """The Field of a key that is a length [m]."""
    return Field(name, "value", "length", "[m]", required)


_RADII = Field("radii", "vector", "length", "Half the extents; the third is along the axis [m].", required=True)
SOLIDS: dict[str, Solid] = {
    "point": Solid(Body.point, (Field("position", "vector", "length", "[m]"), _length("radius", required=False))),
    "rod": Solid(Body.rod, (_length("length"), _CENTER, _ALONG, _length("radius", required=False))),
    "cylinder": Solid(Body.cylinder, (_length("radius"), _length("length"), _CENTER, _ALONG)),
    "box": Solid(Body.box, (Field("size", "vector", "length", "[m]", required=True), _CENTER)),
    "sphere": Solid(Body.sphere, (_length("radius"), _CENTER)),
    "ellipsoid": Solid(Body.ellipsoid, (_RADII, _CENTER)),
    "half_ellipsoid": Solid(Body.half_ellipsoid, (_RADII, _CENTER, _ALONG)),
}
