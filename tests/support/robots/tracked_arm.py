"""An arm of two links whose points are known in closed form, and noisy recordings of its motion."""

from __future__ import annotations

import numpy as np

from kinemorph import Body, RobotBuilder
from kinemorph.tracking import Markers

SMALL = {"backend": "interpreter", "search": 8}
TIGHT = SMALL | {"tolerance": 1e-15, "iterations": 300}
LINKS = (0.5, 0.4)


def arm(**joints):
    """Two links in the plane of x and z: hinges about y, links along x; `joints` are options of both hinges."""
    builder = RobotBuilder("arm")
    for k, length in enumerate(LINKS):
        builder.add(Body.rod(f"link{k}", 1.0, length, (0.5 * length, 0.0, 0.0), axis="x"))
        place = (LINKS[0], 0.0, 0.0) if k else (0.0, 0.0, 0.0)
        parent = "link0" if k else "world"
        builder.joint(f"q{k}", "revolute", parent, f"link{k}", axis=(0.0, 1.0, 0.0), translation=place, **joints)
    builder.frame("elbow", "link0", translation=(LINKS[0], 0.0, 0.0))
    return builder.frame("tip", "link1", translation=(LINKS[1], 0.0, 0.0)).build()


def points(q):
    """Elbow and tip of `arm` in closed form, (n, 2, 3)."""
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    zero = np.zeros(len(q))
    elbow = LINKS[0] * np.stack([np.cos(a), zero, -np.sin(a)], axis=1)
    return np.stack([elbow, elbow + LINKS[1] * np.stack([np.cos(b), zero, -np.sin(b)], axis=1)], axis=1)


def swing(n, dt=0.01):
    t = dt * np.arange(n)
    return t, np.stack([0.4 + 0.8 * np.sin(5.0 * t), 0.9 + 0.3 * np.cos(7.0 * t)], axis=1)


def noisy(n=20, sigma=0.01, seed=0, **more):
    t, q = swing(n)
    positions = points(q) + sigma * np.random.default_rng(seed).normal(size=(n, 2, 3))
    return Markers(("elbow", "tip"), t, positions, **more), q
