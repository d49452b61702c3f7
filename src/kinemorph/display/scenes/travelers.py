"""Robots that go so far that a picture of their whole way would not show them: cameras go along with those."""

from __future__ import annotations

import numpy as np

from kinemorph.display.scenes.scene import Scene

FAR = 50.0  # of a robot's size: a way as long leaves it a few pixels


def wanderer(scene: Scene) -> str | None:
    """The first body of a scene's only robot, where it goes FAR; None for all others."""
    if len(scene.figures) != 1 or not scene.figures[0].bodies:
        return None
    figure = scene.figures[0]
    way = float(np.linalg.norm(np.ptp(figure.positions[:, 0], axis=0)))
    return figure.bodies[0] if way > FAR * figure.size else None
