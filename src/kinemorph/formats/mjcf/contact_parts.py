"""Writes how geoms touch: friction, groups, margins, and normal forces as solref and solimp; see `surfaces`.

The stiffness and damping of a geom's contact are those of solref times the mass that the contact feels, of which MuJoCo
computes the inverse for each body where q is qpos0,

    body_invweight0 = trace(J M^-1 J^T) / 3,    J of the center of mass, shape (3, nv)

With an elliptic cone there is no other factor. Ground mixes its own solref and solimp with those of geoms: its solmix
is 0, so that those of geoms count, unless it has the higher priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.formats.mjcf.file_data import kept
from kinemorph.formats.mjcf.surfaces import solver_numbers
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.contact.contact_laws import ImpedanceNormal
from kinemorph.model.elements.contact.contacts_from_shapes import fixed_pose
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import HalfSpace, Shape, Surface, Terrain
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD

SPIN = (0.005, 0.0001)  # MuJoCo's default torsional and rolling friction
ALIGNED = 1e-14  # components of an axis that count as 0
SAME = 1e-12  # relative difference of laws that one ground can have


class Touching(NamedTuple):
    """A geom that touches: its node, its body, and how it touches."""

    node: Node
    body: str
    surface: Surface
    is_ground: bool


class ContactParts:
    """Writes the surfaces of the geoms of one robot. q0 (nq,) is the configuration qpos0 of the file."""

    def __init__(self, system: System, q0: Sequence[float], losses: Losses) -> None:
        self.system, self.robot, self.q0, self.losses = system, system.robot, q0, losses
        self.found: list[Touching] = []
        self.names: set[str] = set()

    def add(self, node: Node, body: str, shape: Shape) -> None:
        """Writes how a geom touches, without the defaults of MuJoCo; `finish` writes its normal force."""
        surface = getattr(shape, "surface", None) or Surface()
        if surface.name and surface.name not in self.names:
            node.set("name", surface.name)
            self.names.add(surface.name)
        own = kept(self.system, (body, shape))
        if own is not None:  # the file that the model was loaded from
            node.attrib.update({key: value for key, value in own.items() if "." not in key})
            return
        if surface.friction == 0.0:
            node.set("condim", "1")
        if surface.friction is not None:  # also 0: on a geom with a larger condim, the larger friction counts
            node.set("friction", numbers((surface.friction, *SPIN)))
        groups = {"contype": surface.groups, "conaffinity": surface.meets, "priority": surface.priority}
        for name, value in groups.items():
            if value != {"priority": 0}.get(name, 1):
                node.set(name, str(value))
        for name, size in (("margin", surface.margin), ("gap", surface.gap)):
            if size:
                node.set(name, number(size))
        self.found.append(Touching(node, body, surface, isinstance(shape, (HalfSpace, Terrain))))

    def finish(self, option: Node) -> None:
        """Writes the normal forces of all geoms, and the kind of cone that they are meant for."""
        fixed = {body.name for body in self.robot.bodies if fixed_pose(self.robot, body.name) is not None}
        grounds = [one for one in self.found if one.is_ground and one.body in fixed]
        moving = [one for one in self.found if not one.is_ground and one.body not in fixed]
        soft = [one for one in moving if isinstance(one.surface.normal, ImpedanceNormal)]
        for one in moving:
            law = one.surface.normal
            if law is None:
                self.losses.add("collision shapes without a normal force get that of MuJoCo", one.body)
            elif not isinstance(law, ImpedanceNormal):
                self.losses.add(f"normal forces of the kind {type(law).__name__} are left out", one.body)
        if not soft:
            return
        if option.get("cone") != "elliptic" and self.system.file_data.options:
            self.losses.add(
                "normal forces that the file does not have are written with elliptic cones", self.robot.name
            )
        option.set("cone", "elliptic")
        weights = body_weights(self.robot, self.q0, {one.body for one in soft})
        for ground in grounds:
            ground.node.set("solmix", "0")
        given: dict[int, Array] = {}  # by the index of the ground: the solver numbers that it has
        for one in soft:
            solref, solimp = solver_numbers(one.surface.normal, weights[one.body])
            met = [k for k, ground in enumerate(grounds) if one.surface.touches(ground.surface)]
            above = [k for k in met[:1] if grounds[k].surface.priority > one.surface.priority]  # the first one decides
            for node in [grounds[k].node for k in above] or [one.node]:
                node.set("solref", numbers(solref))
                node.set("solimp", numbers(solimp))
            wanted = np.array((*solref, *solimp))
            for k in above:
                if np.abs(given.setdefault(k, wanted) - wanted).max() > SAME * np.abs(wanted).max():
                    what = "normal forces that differ on a ground with a higher priority are written as one of them"
                    self.losses.add(what, one.body)
        for one in soft:  # of two numbers below 0 in solref the smaller counts, whatever solmix is
            met = [k for k, ground in enumerate(grounds) if one.surface.touches(ground.surface)]
            own = np.array(solver_numbers(one.surface.normal, weights[one.body])[0])
            for k in met[:1]:
                mixed = k in given and grounds[k].surface.priority == one.surface.priority
                if mixed and (own - given[k][:2]).max() > SAME * np.abs(own).max():
                    what = "normal forces on a ground that has those of geoms with a lower priority are mixed with them"
                    self.losses.add(what, one.body)


def _only_slides(robot: Robot, name: str) -> bool:
    """Whether a body carries no other and slides on the ground along its own axes, which are those of its inertia.

    For such a body MuJoCo takes the inverse of its mass, whatever the number of slides and their armature.
    """
    body, here, R = robot.body(name), name, np.eye(3)
    inertia = np.array(evaluate_all(body.inertia), dtype=float)
    carries = any(joint.parent == name for joint in robot.joints)
    if carries or any(evaluate_all(body.com)) or np.any(inertia != np.diag(np.diag(inertia))):
        return False
    while here != WORLD and robot.parent_joint[here].kind == "prismatic":
        joint = robot.parent_joint[here]
        R = R @ np.array(evaluate_all(joint.child_placement.R), dtype=float)
        if np.sum(np.abs(R @ np.array(joint.axis)) > ALIGNED) != 1:
            return False
        R, here = R @ np.array(evaluate_all(joint.placement.R), dtype=float).T, joint.parent
    above = robot.parent_joint.get(here)
    still = here == WORLD or (above is not None and above.kind == "fixed" and above.parent == WORLD)
    return here != name and still and evaluate(body.mass) > 0.0


def body_weights(robot: Robot, q0: Sequence[float], bodies: Iterable[str]) -> dict[str, float]:
    """MuJoCo's `body_invweight0` of bodies [1/kg]: the inverse of the mass that a force on them feels."""
    tree = resolve(replace(robot, loops=(), couplings=()))
    M = np.array(mass_matrix(tree, list(q0)), dtype=float)
    found = {}
    for name in bodies:
        if _only_slides(robot, name):
            found[name] = 1.0 / float(evaluate(robot.body(name).mass))
            continue
        J = np.array(jacobian(tree, list(q0), name), dtype=float)
        x, y, z = (float(evaluate(part)) for part in robot.body(name).com)
        shift = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # omega x com
        at_com = J[:3] + shift @ J[3:]
        found[name] = float(np.einsum("iv,vi->", at_com, np.linalg.solve(M, at_com.T))) / 3.0
    return found
