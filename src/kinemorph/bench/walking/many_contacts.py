"""A robot with many contacts: the humanoid of the library, with a mesh of CORNERS corners at each of its bodies.

Each mesh has the corners of a ball that is flattened along its axes, as the hulls of robots that are read from files
have them. No two meshes and no two laws of contact are the same.
"""

from __future__ import annotations

import numpy as np

from kinemorph.model.elements.contact.contact_laws import ImpedanceNormal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.library.legged import humanoid
from kinemorph.model.shapes import Mesh
from kinemorph.model.system import System

CORNERS = 40
SIZE = 0.05  # [m], about the radius of a mesh


def many_contacts() -> System:
    """The humanoid with a contact at each of its bodies."""
    robot, rng = humanoid(), np.random.default_rng(0)
    contacts = []
    for number, body in enumerate(robot.body_names):
        points = rng.normal(size=(CORNERS, 3))
        points *= SIZE * rng.uniform(0.5, 1.5, size=3) / np.linalg.norm(points, axis=1)[:, None]
        mesh = Mesh(tuple((x, y, z) for x, y, z in points.tolist()), ())
        law = ImpedanceNormal(2e4 + 100.0 * number, 800.0 + number)
        contacts.append(Contact(f"{body} mesh", body, law, Regularized(0.5 + 0.01 * number, 1e-4), shape=mesh))
    return System(robot, tuple(contacts))
