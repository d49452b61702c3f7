"""Writes the mass and inertia of a body in MJCF so that MuJoCo's compiler accepts them."""

from __future__ import annotations

import numpy as np
from lxml import etree

from kinemorph.algebra.groups import rotation_to_quat
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate, evaluate_all

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
