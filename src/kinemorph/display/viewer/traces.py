"""Traces on the page: the way of a point up to now.

A line has the same number of segments all the time; those of the future lie at the present point. The way of a posed
robot is what its point has passed since the trace was added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import WORLD_OWNER, Figure, Trace
from kinemorph.display.viewer.colors import light

MOST_POINTS = 600
THICKNESS = 3.0  # pixels


class Way:
    """One trace of a figure."""

    def __init__(self, api: Any, name: str, figure: Figure, trace: Trace, shown: bool) -> None:
        self.trace = trace
        self._point = np.array(trace.at.point)
        self._run = len(figure.positions) > 1
        count = len(figure.positions)
        self._frames = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
        way = self._at(figure.positions, figure.quaternions)
        self._way = way[self._frames] if self._run else np.zeros((0, 3))
        color = np.array(light(trace.color), dtype=np.uint8)
        points = self._segments(way[0], 0)
        colors = np.broadcast_to(color, points.shape)
        self._node = api.add_line_segments(
            name, points, colors, thickness=THICKNESS, thickness_units="screen", visible=shown
        )

    def show(self, on: bool) -> None:
        """Shows or hides it."""
        self._node.visible = on

    def remove(self) -> None:
        """Takes it off the page."""
        self._node.remove()

    def move(self, positions: Array, quaternions: Array, frame: int, part: float) -> None:
        """Draws the way up to a moment, the bodies at positions (n_b, 3) [m] and quaternions (n_b, 4)."""
        now = self._at(positions[None], quaternions[None])[0]
        passed = int(np.searchsorted(self._frames, frame, side="right"))
        if not self._run:
            if len(self._way) and np.allclose(self._way[-1], now, rtol=0.0, atol=1e-9):
                return
            self._way = np.concatenate([self._way, now[None]])[-MOST_POINTS:]
            passed = len(self._way)
        self._node.points = self._segments(now, passed)

    def _segments(self, now: Array, passed: int) -> Array:
        """Segments (n, 2, 3): the way so far, then nothing at the present point."""
        points = np.tile(now, (len(self._frames) + 1 if self._run else MOST_POINTS + 1, 1))
        points[:passed] = self._way[:passed]
        segments: Array = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        return segments

    def _at(self, positions: Array, quaternions: Array) -> Array:
        """The point (n, 3) [m] in n moments."""
        owner = self.trace.at.owner
        if owner == WORLD_OWNER:
            return np.tile(self._point, (len(positions), 1))
        return rotated(quaternions[:, owner], np.broadcast_to(self._point, (len(positions), 3))) + positions[:, owner]
