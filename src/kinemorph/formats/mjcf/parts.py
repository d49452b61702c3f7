"""Writes masses, geoms and equalities of an MJCF file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from kinemorph.algebra.groups import Pose, compose, rotation_to_quat, translation
from kinemorph.formats.mesh_search import leads_to, relative_name
from kinemorph.formats.mjcf.contact_parts import ContactParts
from kinemorph.formats.mjcf.file_data import kept
from kinemorph.formats.mjcf.text import place
from kinemorph.formats.sources import Source
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.model.body import Body
from kinemorph.model.elements.contact.contacts_from_shapes import fixed_pose
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
    Terrain,
)
from kinemorph.model.system import System
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.words import counted

READABLE = (".stl", ".obj", ".msh")
FACES = 200_000  # the most of an STL file that MuJoCo reads; it reads no text files of this format
THICK = 0.1  # [m], the third size of planes and height fields, which has no effect
APART = 0.1  # [m], distance of the two points on an axis that are connected to make a hinge
SIZES: dict[type[Any], tuple[str, Callable[[Any], Sequence[float]]]] = {
    Box: ("box", lambda shape: [0.5 * x for x in evaluate_all(shape.size)]),
    Ellipsoid: ("ellipsoid", lambda shape: list(evaluate_all(shape.radii))),
    Sphere: ("sphere", lambda shape: [evaluate(shape.radius)]),
    Capsule: ("capsule", lambda shape: [evaluate(shape.radius), 0.5 * evaluate(shape.length)]),
    HalfSpace: ("plane", lambda shape: [*shape.size, THICK]),
    Cylinder: ("cylinder", lambda shape: [evaluate(shape.radius), 0.5 * evaluate(shape.length)]),
}

# ── masses ────────────────────────────────────────────────────────────────────────────────────────────────────────────

LEAST = 2e-15  # [kg] and [kg m^2]: MuJoCo gives an error for 1e-15 and less on a body that moves
FLAT = 64.0 * float(np.finfo(float).eps)  # times the largest moment: rounding error of the moments of a flat body
FULL = 1e-14  # [kg m^2]: MuJoCo gives an error for smaller moments of a full matrix; along their axes they are allowed
ROUNDING = 1e-9  # times the largest moment: a smaller violation of the triangle inequality is a rounding error


def write_inertial(node: Node, body: Body, moves: bool, losses: Losses, *, fixed: bool = False) -> None:
    """Writes the <inertial> of a body; nothing for a body without mass that does not move relative to its parent.

    For a body that is `fixed` to the world, nothing is written either if MuJoCo would refuse its moments of inertia.
    """
    mass, com, inertia = float(evaluate(body.mass)), evaluate_all(body.com), np.array(evaluate_all(body.inertia))
    if not moves and not mass and not inertia.any():
        return
    if moves and mass < LEAST:
        losses.add(f"moving bodies without mass are written with {LEAST:g} kg, MuJoCo's smallest mass", body.name)
        mass = LEAST
    moments, axes = np.diag(inertia), np.eye(3)
    if np.any(inertia != np.diag(moments)):
        moments, axes = np.linalg.eigh(inertia)
    wanted = moments.copy()
    excess = 2.0 * moments.max() - moments.sum()
    if np.any(axes != np.eye(3)) and excess > -FLAT * moments.max():
        excess += FLAT * moments.max()  # a flat body: MuJoCo computes its moments again, with rounding errors
    if 0.0 < excess <= ROUNDING * moments.max():
        wanted[moments < moments.max()] += excess
    elif excess > 0.0 and fixed:
        losses.add("moments of inertia that no real body has are left out of bodies that do not move", body.name)
        return
    elif excess > 0.0:
        what = "MuJoCo will give an error for moments of inertia that no real body has"
        losses.add(what, body.name, "Correct the moments of inertia.")
    if moves and wanted.min() < LEAST:
        losses.add(f"moments of inertia of 0 are written as {LEAST:g} kg m^2, MuJoCo's smallest value", body.name)
        wanted = np.maximum(wanted, LEAST)
    inertial = etree.SubElement(node, "inertial", pos=numbers(com), mass=number(mass))
    if np.array_equal(axes, np.eye(3)):
        inertial.set("diaginertia", numbers(wanted))
    elif np.array_equal(wanted, moments) and wanted.min() > FULL:
        rows = [inertia[i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        inertial.set("fullinertia", numbers(rows))
    else:
        axes[:, 0] *= np.linalg.det(axes)
        inertial.set("quat", numbers(rotation_to_quat(axes.tolist())))
        inertial.set("diaginertia", numbers(np.where(np.abs(wanted) <= FULL, np.maximum(wanted, 0.0), wanted)))


# ── geoms ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_looks(
    system: System, nodes: Mapping[str, Node], asset: Node, path: Path, contacts: ContactParts, losses: Losses
) -> None:
    """Writes shapes as geoms: group 0 for those that are both drawn and used for collisions, group 1 for those that
    are only drawn, group 3 for those that are only used for collisions.

    `nodes` are the XML elements of bodies by name; `path` is where the file will be written; `contacts` writes how
    geoms touch.
    """
    robot, meshes = system.robot, dict[Shape, str]()
    away, source = list[str](), Source(str(path), b"", path.parent)
    for body in robot.bodies:
        if body.name not in nodes:
            continue
        for given, seen, touches in _used(body):
            if isinstance(given, (HalfSpace, Terrain)) and fixed_pose(robot, body.name) is None:
                losses.add("planes and terrain of bodies that move are left out, MuJoCo has none", body.name)
                continue
            shape = _from_zero(given) if isinstance(given, Terrain) else given
            node = _geom(shape, nodes[body.name], asset, meshes, path)
            if node is None:
                kind = f"{type(shape).__name__}"
                if isinstance(shape, MeshFile):
                    kind = _unreadable(shape) or kind
                losses.add(f"shapes of kind {kind} are left out", body.name)
                continue
            if isinstance(shape, MeshFile) and not leads_to(relative_name(shape, path), shape, source):
                away.append(shape.source)
            place(node, evaluate_all(shape.placement))
            if touches and isinstance(shape, Mesh):
                what = "vertices of meshes without a file are kept by MuJoCo in single precision and in another frame"
                losses.add(what, body.name)
            if touches:
                contacts.add(node, body.name, given)
                own = kept(system, (body.name, given)) or {}
                for mesh in asset.iterfind(f"mesh[@name='{node.get('mesh')}']"):
                    mesh.attrib.update({key.partition(".")[2]: value for key, value in own.items() if "." in key})
            else:
                node.set("contype", "0")
                node.set("conaffinity", "0")
            node.set("group", "0" if seen and touches else "1" if seen else "3")
            node.set("rgba", numbers((*shape.color, 1.0)[:4]))
    if away:
        some = f"{counted(len(away), 'mesh is', 'meshes are')} outside the folders that this file may read"
        problem = f"{some}, such as {away[0]!r}"
        remedy = "Write the file into the folder of the meshes, or load it with package_dirs (--package-dir)."
        losses.findings.warn("mesh", 0, "", problem, remedy)


def _used(body: Body) -> Iterator[tuple[Shape, bool, bool]]:
    """(shape, whether it is drawn, whether it touches) for each geom of a body, which may have equal shapes."""
    for shape in dict.fromkeys((*body.collisions, *body.shapes)):  # contacts have the order of geoms that touch
        drawn, touching = body.shapes.count(shape), body.collisions.count(shape)
        yield from ((shape, k < drawn, k < touching) for k in range(max(drawn, touching)))


def _unreadable(shape: MeshFile) -> str:
    """What is to be said of a mesh that MuJoCo cannot read; empty if it can."""
    ending = os.path.splitext(shape.path)[1].lower()
    if not shape.path:
        return "mesh whose file is missing"
    if ending not in READABLE:
        return f"mesh with the ending '{ending}'"
    if ending == ".stl":
        try:
            with open(shape.path, "rb") as file:
                head = file.read(84)
        except OSError:
            return "mesh whose file cannot be read"
        faces = int.from_bytes(head[80:84], "little")
        if len(head) < 84 or not 1 <= faces <= FACES or os.path.getsize(shape.path) != 84 + 50 * faces:
            return f"mesh in an STL file that is text, or has more than {FACES} faces"
    return ""


def _geom(shape: Shape, body: Node, asset: Node, meshes: dict[Shape, str], path: Path) -> Node | None:
    """The <geom> of a shape in a body; None if MuJoCo has no such shape. Meshes are added to `asset` once."""
    row = SIZES.get(type(shape))
    if row is not None:
        return etree.SubElement(body, "geom", type=row[0], size=numbers(row[1](shape)))
    if isinstance(shape, Terrain):
        return _terrain(shape, body, asset, meshes)
    if isinstance(shape, MeshFile):
        if _unreadable(shape):
            return None
        data = {"file": relative_name(shape, path), "scale": numbers(shape.scale)}
    elif isinstance(shape, Mesh) and len(shape.vertices) > 3:
        data = {"vertex": numbers(x for corner in shape.vertices for x in corner)}
        data["face"] = " ".join(str(k) for face in shape.faces for k in face)
    else:
        return None
    if shape not in meshes:
        meshes[shape] = f"mesh{len(meshes)}"
        etree.SubElement(asset, "mesh", name=meshes[shape], inertia="shell", **data)
    return etree.SubElement(body, "geom", type="mesh", mesh=meshes[shape])


def _from_zero(shape: Terrain) -> Terrain:
    """The same terrain with heights from 0 on."""
    heights = np.asarray(shape.heights, dtype=float)
    if heights.ndim != 2 or not heights.size or heights.min() == 0.0:
        return shape
    least = float(heights.min())
    lifted = compose(evaluate_all(shape.placement), translation((0.0, 0.0, least)))
    return replace(shape, heights=FrozenArray(heights - least), placement=lifted)


def _terrain(shape: Terrain, body: Node, asset: Node, meshes: dict[Shape, str]) -> Node | None:
    """The <geom> of a terrain; None for one that is level or no grid. MuJoCo's terrain begins at the height 0."""
    heights = np.asarray(shape.heights, dtype=float)
    if heights.ndim != 2 or not np.ptp(heights) > 0.0 or heights.min() != 0.0:
        return None
    meshes[shape] = f"terrain{len(meshes)}"
    (nx, ny), (dx, dy), top = heights.shape, shape.spacing, float(heights.max())
    size = numbers((0.5 * dx * (nx - 1), 0.5 * dy * (ny - 1), top, THICK))
    data = numbers((heights.T[::-1] / top).ravel().tolist())  # in a text the row with the largest y comes first
    etree.SubElement(asset, "hfield", name=meshes[shape], nrow=str(ny), ncol=str(nx), size=size, elevation=data)
    return etree.SubElement(body, "geom", type="hfield", hfield=meshes[shape])


# ── equalities ────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_equalities(
    system: System, nodes: Mapping[str, Node], equality: Node, q0: Sequence[float], losses: Losses
) -> None:
    """Writes loops as equalities between sites, and couplings and helical joints as equalities of joints.

    Sites need not coincide in the initial configuration q0 (nq,).
    """
    robot = system.robot
    for loop in robot.loops:
        _loop(loop, nodes, equality, system, losses)
    for coupling in robot.couplings:
        lead, follow = (q0[robot.q_slice(name).start] for name in (coupling.leader, coupling.joint))
        multiplier, offset = evaluate(coupling.multiplier), evaluate(coupling.offset)
        constant = offset + multiplier * lead - follow
        own = kept(system, coupling)
        _couple(equality, coupling.joint, coupling.leader, constant, multiplier)
        equality[-1].attrib.update(own or {})
        if own is None:
            losses.add("couplings are soft constraints in MuJoCo", coupling.joint)
    for joint in robot.joints:
        if joint.kind == "helical":
            _couple(equality, f"{joint.name}.travel", joint.name, 0.0, evaluate(joint.pitch))
            losses.add("helical joints are written as a hinge and a slide with a soft coupling", joint.name)


def _couple(equality: Node, joint: str, leader: str, constant: float, multiplier: float) -> None:
    """Writes the equality by which `joint` follows `leader`, both measured from their reference coordinates."""
    polynomial = numbers((constant, multiplier, 0.0, 0.0, 0.0))
    etree.SubElement(equality, "joint", joint1=joint, joint2=leader, polycoef=polynomial)


def _loop(loop: Joint, nodes: Mapping[str, Node], equality: Node, system: System, losses: Losses) -> None:
    """Writes a joint that closes a loop: spherical and gimbal as connect, fixed as weld, revolute as two connected
    points on its axis. Other kinds are left out, with a warning.
    """
    offsets = {"spherical": (0.0,), "gimbal": (0.0,), "fixed": (0.0,), "revolute": (0.0, APART)}.get(loop.kind)
    if offsets is None:
        losses.add(f"loops that a {loop.kind} joint closes are left out", loop.name)
        return
    own = kept(system, loop)
    if own is None:
        losses.add("loops are soft constraints in MuJoCo", loop.name)
    for index, offset in enumerate(offsets):
        name = loop.name if index == 0 else f"{loop.name}~{index + 1}"
        shift = translation(tuple(offset * x for x in loop.axis))
        for side, body, pose in (("a", loop.parent, loop.placement), ("b", loop.child, loop.child_placement)):
            at: Pose = compose(evaluate_all(pose), shift)
            place(etree.SubElement(nodes[body], "site", name=f"{name}~{side}", group="4"), at)
        kind = "weld" if loop.kind == "fixed" else "connect"
        etree.SubElement(equality, kind, name=name, site1=f"{name}~a", site2=f"{name}~b", **(own or {}))
