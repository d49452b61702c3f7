"""The robot of an assembly, with one root joint for each organism. It has one of two forms.

With dyads="halves", each part of a module is a body, the joints of a module are joints of the robot, and docked ports
are fixed to each other. The names of bodies and joints of a module do not depend on the dockings:

    m3_rear, m3_front       bodies of module m3            m3_hinge     its joint
    m3_5_m4_2               the docking of side 5 of m3 and side 2 of m4, a fixed joint
    m0_root                 the joint between the world and the organism with base m0
    m3_port5                a frame at the port

With dyads="adapted", the dyad of Meister and Gutenkunst (eq 18), a module is one body, and the hinge of module j is the
joint between j and the module i to which it is docked,  H_ij(q) = H_ij(0) exp(s_j q).  The hinge of the base is left
out, and it does not matter which half of a module has which port: everything docked to a module moves with it.

The offsets of dockings named in `inputs` become parameters (`offset_parameters`), so that one compiled model serves all
offsets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, quat_to_rotation, rotation_to_quat
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.errors import ModelError, Problem
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.building.reversed_joint import reversed_joint
from kinemorph.model.configuration import neutral
from kinemorph.model.joint import Joint
from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.cube_shapes import TINTS, tinted
from kinemorph.model.modules.module_types import draft_of
from kinemorph.model.modules.occupancy import spatial_problems
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element, Settings, System
from kinemorph.model.topology import WORLD, Edge, spanning_tree
from kinemorph.words import listed

Dyads = Literal["halves", "adapted"]
Root: TypeAlias = str | Sequence[str]
OFFSET = ("x", "y", "z", "qw", "qx", "qy", "qz")  # parameters of a docking's offset
# virtual joints between the world and the base: kind and axis
VIRTUAL = {
    "x": ("prismatic", (1.0, 0.0, 0.0)),
    "y": ("prismatic", (0.0, 1.0, 0.0)),
    "z": ("prismatic", (0.0, 0.0, 1.0)),
    "rx": ("revolute", (1.0, 0.0, 0.0)),
    "ry": ("revolute", (0.0, 1.0, 0.0)),
    "rz": ("revolute", (0.0, 0.0, 1.0)),
}


class Pieces(NamedTuple):
    """The bodies and joints of a robot, before its root joints are added.

    `seats` gives, for the names of a module and its part, the body that contains the part, and the part's pose in it.
    """

    bodies: list[Body]
    joints: list[Joint]  # parent and child may be exchanged
    loops: list[Joint]  # the joints that close rings
    bases: list[str]  # the root body of each organism
    seats: Mapping[tuple[str, str], tuple[str, Pose]]


def organism_robot(
    assembly: Assembly,
    base: str | None = None,
    *,
    dyads: Dyads = "halves",
    root: Root = "free",
    inputs: Collection[str] = (),
    gravity: Any = (0.0, 0.0, -9.81),
    in_motion: bool = False,
) -> Robot:
    """The robot that the modules of an assembly make up.

    `base`      the module at the root of its organism, by default the base of the assembly
    `dyads`     "halves": each part of a module is a body; "adapted": each module is one body with one hinge
    `root`      the joint between the world and the base: "free", "fixed", or 1 to 6 virtual joints ("x", "rz", ...; see
                `VIRTUAL`), in this order
    `inputs`    names of dockings whose offset is given by parameters
    `gravity`   [m/s^2] (3,)
    `in_motion` whether dockings were made while joints were bent; then overlaps and open rings in the initial
                configuration are not checked

    The roots of all other organisms are free. Raises ModelError with all problems of the modules in space.
    """
    if not assembly.modules:
        raise ModelError(Problem("assembly", assembly.name, "it has no modules; expected at least one", "Add one."))
    if dyads not in get_args(Dyads):
        what = f"dyads is {dyads!r}; expected one of: {listed(get_args(Dyads))}"
        raise ModelError(Problem("", "", what, "Choose one of these.", "dyads"))
    problems = [] if in_motion else spatial_problems(assembly)
    if problems:
        raise ModelError(problems)
    base = assembly.module(base or assembly.base).name
    made = _adapted(assembly, base, inputs) if dyads == "adapted" else _halves(assembly, base, inputs)
    # shapes were checked with the module type, so they are added after the robot is built
    builder = RobotBuilder(assembly.name, gravity).add(
        *(replace(body, shapes=(), collisions=()) for body in made.bodies)
    )
    poses = assembly.poses(base)
    for k, body in enumerate(made.bases):
        named = next(name for (name, _), (seat, _) in made.seats.items() if seat == body)
        _add_root(builder, named, body, poses[named], root if k == 0 else "free")
    for joint in _outward(made):
        builder.joint_of(draft_of(joint))
    for joint in made.loops:
        builder.joint_of({**draft_of(joint), "cut": True})
    for module in assembly.modules:
        for port in module.type.ports:
            body, pose = made.seats[module.name, port.body]
            builder.frame(f"{module.name}_port{port.side}", body, placement=compose(pose, port.pose))
    robot = builder.build()
    looks = dict.fromkeys(robot.body_names, ((), ())) | {b.name: (b.shapes, b.collisions) for b in made.bodies}
    tints = {seat: assembly.tints[module] for (module, _), (seat, _) in made.seats.items()}
    dressed, painted = list[Body](), dict[Any, Any]()
    for one in robot.bodies:
        (shapes, collisions), tint = looks[one.name], tints.get(one.name, TINTS[0])
        if (id(shapes), tint) not in painted:  # modules of a type share their shapes
            painted[id(shapes), tint] = tuple(replace(shape, color=tinted(shape.color, tint)) for shape in shapes)
        dressed.append(replace(one, shapes=painted[id(shapes), tint], collisions=collisions))
    return replace(robot, bodies=tuple(dressed))


def organism_system(
    assembly: Assembly, elements: Sequence[Element] = (), settings: Settings | None = None, **options: Any
) -> System:
    """The system of an assembly: its robot with these elements and settings. `options` are those of `organism_robot`.

    If `settings` has no q, the run starts at the initial configuration, with every organism at its place.
    """
    robot = organism_robot(assembly, **options)
    settings = settings or Settings()
    if not settings.q:
        settings = replace(settings, q=tuple(standing(assembly, robot)))
    return System(robot, elements, settings, assembly)  # type: ignore[arg-type]  # System checks the elements


def standing(assembly: Assembly, robot: Robot) -> list[float]:
    """The initial configuration q, shape (nq,), with every organism at its place in the world."""
    q = neutral(robot)
    for joint in robot.joints:
        if joint.parent == WORLD and joint.kind == "free":
            module = joint.name.removesuffix("_root")
            T = assembly.poses(module)[module]
            q[robot.q_slice(joint.name)] = (*T.p, *rotation_to_quat(T.R))
    return [float(x) for x in q]


def offset_parameters(docking: Docking) -> tuple[Parameter, ...]:
    """The parameters of a docking's offset: x, y, z [m] and a unit quaternion wxyz, nominally no offset."""
    return tuple(
        Parameter(f"{docking.name}.{part}", float(part == "qw"), unit="m" if part in "xyz" else "") for part in OFFSET
    )


def offset_values(offset: Pose) -> tuple[float, ...]:
    """The values of `offset_parameters` for this offset: x, y, z [m] and a unit quaternion wxyz, shape (7,)."""
    return tuple(float(x) for x in (*offset.p, *rotation_to_quat(offset.R)))


# ── roots and order ───────────────────────────────────────────────────────────────────────────────────────────────────


def _add_root(builder: RobotBuilder, module: str, body: str, pose: Pose, root: Root) -> None:
    """Adds the joint or joints between the world and a base body at `pose`.

    The pose of a free base is part of q; for other roots it is the placement of the first joint.
    """
    if root == "free":
        builder.root(body, "free", name=f"{module}_root")
        return
    if root == "fixed":
        builder.root(body, "fixed", pose, name=f"{module}_root")
        return
    letters = (root,) if isinstance(root, str) or not isinstance(root, Iterable) else tuple(root)
    unknown = [letter for letter in letters if not isinstance(letter, str) or letter not in VIRTUAL]
    if unknown or not 1 <= len(letters) <= 6 or len({*letters}) < len(letters):
        what = f"root is {root!r}; expected 'free', 'fixed', or 1 to 6 different virtual joints of {', '.join(VIRTUAL)}"
        raise ModelError(Problem("", "", what, "Choose one of these.", "root"))
    parent, placement = WORLD, pose
    for k, letter in enumerate(letters):
        kind, axis = VIRTUAL[letter]
        child = body if k == len(letters) - 1 else f"virtual_{letter}_body"
        if child != body:
            builder.add(Body.massless(child))
        builder.joint(f"virtual_{letter}", kind, parent, child, axis=axis, placement=placement)
        parent, placement = child, IDENTITY


def _outward(pieces: Pieces) -> Iterable[Joint]:
    """The tree joints, breadth first from the bases, each with the body farther from its base as the child."""
    around: dict[str, list[Joint]] = {body.name: [] for body in pieces.bodies}
    for joint in pieces.joints:
        around[joint.parent].append(joint)
        around[joint.child].append(joint)
    found, queue = set(pieces.bases), deque(pieces.bases)
    while queue:
        here = queue.popleft()
        for joint in around[here]:
            outward = joint if joint.parent == here else reversed_joint(joint)
            if outward.child not in found:
                found.add(outward.child)
                queue.append(outward.child)
                yield outward


# ── the two forms ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _halves(assembly: Assembly, base: str, inputs: Collection[str]) -> Pieces:
    """The bodies and joints with dyads="halves": every part of a module is a body."""
    bodies, joints = [], []
    seats: dict[tuple[str, str], tuple[str, Pose]] = {}
    for module in assembly.modules:
        for body in module.type.bodies:
            name = _named(module, body.name)
            bodies.append(replace(body, name=name))
            seats[module.name, body.name] = (name, IDENTITY)
        joints += [_own(module, joint, seats) for joint in module.type.joints]
    docks, rings, roots = _docks(assembly, base, seats, inputs, cut_rigid=True)
    bases = [seats[root, assembly.module(root).type.bodies[0].name][0] for root in roots]
    return Pieces(bodies, [*joints, *docks.values()], rings, bases, seats)


def _adapted(assembly: Assembly, base: str, inputs: Collection[str]) -> Pieces:
    """The bodies and joints with dyads="adapted": every module is one body.

    The hinge of a module is between its body and the module to which it is docked.
    """
    bodies, joints = [], []
    seats: dict[tuple[str, str], tuple[str, Pose]] = {}
    for module in assembly.modules:
        lumped, poses = _lumped(module)
        bodies.append(lumped)
        seats |= {(module.name, part): (module.name, pose) for part, pose in poses.items()}
        for body in module.type.bodies:
            if body.name not in poses:
                bodies.append(replace(body, name=_named(module, body.name)))
                seats[module.name, body.name] = (_named(module, body.name), IDENTITY)
        joints += [_own(module, joint, seats) for joint in module.type.joints if joint.name != module.type.hinge]
    docks, rings, roots = _docks(assembly, base, seats, inputs)
    inner = {joint.name: joint for joint in joints}
    for step in (step for root in roots for step in assembly.tree(root).steps):
        module = assembly.module(step.child)
        if not module.type.hinge:
            continue
        hinge = _own(module, module.type.joint(module.type.hinge), seats)
        dock = docks.pop(step.edge.name)
        dock = reversed_joint(dock) if step.against else dock
        if dock.kind == "fixed" and dock.child == module.name:
            # the hinge replaces the fixed docking: its frame on module j becomes a frame on module i
            T_ij = compose(dock.placement, inverse(dock.child_placement))
            inner[hinge.name] = replace(hinge, parent=dock.parent, placement=compose(T_ij, hinge.placement))
            continue
        # a joint lies between the docked part and the module's body: a massless body is put between it and the hinge
        stub = Body.massless(f"{module.name}_stub")
        bodies.append(stub)
        last = dock if dock.child == module.name else inner[_last_joint(module, dock.child)]
        parent, child = (stub.name if end == module.name else end for end in (last.parent, last.child))
        taken = replace(last, parent=parent, child=child)
        if last is dock:
            docks[dock.name] = taken
        else:
            docks[dock.name], inner[last.name] = dock, taken
        inner[hinge.name] = replace(hinge, parent=stub.name)
    return Pieces(bodies, [*inner.values(), *docks.values()], rings, list(roots), seats)


def _last_joint(module: Module, part: str) -> str:
    """The name of the last joint on the path from a part of a module to the nearer of the module's two halves."""
    hinge = module.type.joint(module.type.hinge)
    halves = (hinge.parent, hinge.child)
    own = part.removeprefix(f"{module.name}_")
    edges = [Edge(joint.name, joint.parent, joint.child) for joint in module.type.joints if joint is not hinge]
    tree = spanning_tree([body.name for body in module.type.bodies], edges, own)
    return _named(module, next(step.edge.name for step in tree.steps if step.child in halves))


def _docks(
    assembly: Assembly,
    base: str,
    seats: Mapping[tuple[str, str], tuple[str, Pose]],
    inputs: Collection[str],
    *,
    cut_rigid: bool = False,
) -> tuple[dict[str, Joint], list[Joint], list[str]]:
    """The dockings of the trees as joints by name, the joints that close rings, and the base of each organism.

    With `cut_rigid`, a ring is closed by a docking without a joint module, if it has one.
    """
    roots = [base, *(organism[0] for organism in assembly.organisms if base not in organism)]
    carrying = {step.edge.name for root in roots for step in assembly.tree(root).steps}
    if cut_rigid:
        carrying = _with_joints(assembly, carrying)
    unknown = [name for name in inputs if name not in {docking.name for docking in assembly.dockings}]
    if unknown:
        known = listed(d.name for d in assembly.dockings)
        what = f"inputs names the docking '{unknown[0]}', which does not exist; its dockings are {known}"
        raise ModelError(Problem("assembly", assembly.name, what, "Name one of these."))
    made = {docking.name: _dock(assembly, docking, seats, docking.name in inputs) for docking in assembly.dockings}
    rings = [joint for name, joint in made.items() if name not in carrying]
    return {name: joint for name, joint in made.items() if name in carrying}, rings, roots


def _with_joints(assembly: Assembly, carrying: set[str]) -> set[str]:
    """The names of tree dockings, changed so that joint modules are in the trees as far as possible.

    A joint that closes a ring has no coordinate, so damping, limits and motors could not act on it.
    """
    rigid = {docking.name for docking in assembly.dockings if docking.joint is None}
    for docking in assembly.dockings:
        if docking.name in rigid or docking.name in carrying:
            continue
        tree = spanning_tree(assembly.names, [edge for edge in assembly.edges if edge.name in carrying], docking.a)
        into = {step.child: step for step in tree.steps}
        here, way = docking.b, []
        while here != docking.a:
            way.append(into[here].edge.name)
            here = into[here].parent
        spared = next((name for name in way if name in rigid), None)
        if spared is not None:
            carrying = carrying - {spared} | {docking.name}
    return carrying


def _dock(
    assembly: Assembly, docking: Docking, seats: Mapping[tuple[str, str], tuple[str, Pose]], symbolic: bool
) -> Joint:
    """A docking as a joint from module a to module b; `symbolic` makes its offset a set of parameters."""
    ends = []
    for name, side in docking.ends:
        port = assembly.module(name).type.port(side)
        body, pose = seats[name, port.body]
        ends.append((body, compose(pose, port.pose)))
    (a, T_a), (b, T_b) = ends
    offset = _symbolic(docking) if symbolic else docking.offset
    across = replace(docking, offset=offset).from_port()
    if docking.joint is None:
        return Joint(docking.name, "fixed", a, b, compose(T_a, across), T_b)
    kind = docking.joint
    # the joint frame is a's port frame, so that the axis z points out of a
    return Joint(
        docking.name, kind.kind, a, b, T_a, compose(T_b, inverse(across)), axis=kind.axis,
        lower=(kind.lower,), upper=(kind.upper,), velocity=(kind.velocity,), effort=(kind.effort,),
        damping=(kind.damping,),
    )  # fmt: skip


def _symbolic(docking: Docking) -> Pose:
    x, y, z, *quaternion = offset_parameters(docking)
    return Pose(quat_to_rotation(quaternion), (x, y, z))


def _named(module: Module, part: str) -> str:
    return f"{module.name}_{part}"


def _own(module: Module, joint: Joint, seats: Mapping[tuple[str, str], tuple[str, Pose]]) -> Joint:
    """A joint of a module as a joint of the robot, with its full name, between bodies that contain its two ends."""
    (parent, T_parent), (child, T_child) = (seats[module.name, part] for part in (joint.parent, joint.child))
    return replace(
        joint,
        name=_named(module, joint.name),
        parent=parent,
        child=child,
        placement=compose(T_parent, joint.placement),
        child_placement=compose(T_child, joint.child_placement),
    )


def _lumped(module: Module) -> tuple[Body, dict[str, Pose]]:
    """The two parts joined by a module's hinge as one body, and their poses in it; without hinge, the first part."""
    kind = module.type
    poses, first = kind.part_poses, kind.bodies[0].name
    parts = [*(part for joint in kind.joints if joint.name == kind.hinge for part in (joint.parent, joint.child))]
    kept = [body for body in kind.bodies if body.name in (parts or [first])]
    whole: Inertia | None = None
    for body in kept:
        own = transformed(Inertia(body.mass, body.com, body.inertia), poses[body.name])
        whole = own if whole is None else added(whole, own)
    assert whole is not None
    x, y, z = whole.com
    a, b, c = ((row[0], row[1], row[2]) for row in whole.moment)
    shapes = tuple(
        replace(shape, placement=compose(poses[body.name], shape.placement)) for body in kept for shape in body.shapes
    )
    return Body(module.name, whole.mass, (x, y, z), (a, b, c), shapes), {body.name: poses[body.name] for body in kept}
