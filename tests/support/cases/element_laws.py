"""What every law of an element must satisfy, at one instant and on floats: power that is accounted for, slopes that are
differences. Three small robots to try it on, each with friction and limits in its joints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import translation
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.elements.instant import SystemInstant, generalized
from kinemorph.mechanics.trees import charts
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot

ALONG = Direction()  # below every direction that laws open themselves
LOSSY = {"lower": -0.6, "upper": 0.5, "friction": 0.3}


def arm() -> Robot:
    """A hinge, a slide and a universal joint on the ground."""
    builder = RobotBuilder("arm")
    for name, length in (("upper", 0.5), ("slider", 0.4), ("tool", 0.3)):
        builder.add(Body.box(name, 1.0 + length, (length, 0.1, 0.05), (0.5 * length, 0.0, 0.0)))
    builder.joint("hinge", "revolute", "world", "upper", axis=(0, 1, 0), **LOSSY)
    builder.joint("slide", "prismatic", "upper", "slider", translation=(0.5, 0, 0), axis=(1, 0, 0), **LOSSY)
    both = {"lower": [-0.6, -0.4], "upper": [0.5, 0.3], "friction": [0.2, 0.1]}
    builder.joint("wrist", "universal", "slider", "tool", translation=(0.4, 0, 0), axis=(0, 0, 1), **both)
    return builder.build()


def floater() -> Robot:
    """A trunk that flies, with a hinge and a ball joint."""
    builder = RobotBuilder("floater")
    for name, length in (("upper", 0.6), ("slider", 0.4), ("tool", 0.3)):
        builder.add(Body.box(name, 1.0 + length, (length, 0.2, 0.1)))
    builder.joint("root", "free", "world", "upper")
    builder.joint("hinge", "revolute", "upper", "slider", translation=(0.3, 0, 0), axis=(0, 1, 0), **LOSSY)
    builder.joint("ball", "spherical", "slider", "tool", translation=(0.2, 0, 0.1), friction=[0.1, 0.2, 0.3])
    return builder.build()


def linkage() -> Robot:
    """A four-bar: a loop."""
    builder = RobotBuilder("linkage")
    for name, length in (("upper", 0.3), ("slider", 0.9), ("tool", 0.7)):
        builder.add(Body.rod(name, 1.0, length, (0.5 * length, 0.0, 0.0), axis="x"))
    swing = (0.0, -1.0, 0.0)
    builder.joint("hinge", "revolute", "world", "upper", axis=swing, lower=-0.4, upper=0.9, friction=0.2)
    builder.joint("elbow", "revolute", "upper", "slider", translation=(0.3, 0.0, 0.0), axis=swing)
    builder.joint("foot", "revolute", "world", "tool", translation=(1.0, 0.0, 0.0), axis=swing, friction=0.1)
    end = translation((0.7, 0.0, 0.0))
    builder.joint("end", "revolute", "slider", "tool", translation=(0.9, 0.0, 0.0), child_placement=end, axis=swing)
    return builder.build()


ROBOTS: dict[str, Callable[[], Robot]] = {"arm": arm, "floater": floater, "linkage": linkage}


class Instant:
    """Elements of a robot at a state on floats or dual numbers."""

    def __init__(self, robot: Robot, elements: Sequence[Any], u: Mapping[str, float] | None = None) -> None:
        """`u` are values of inputs by name; the others have their initial values."""
        self.robot, self.tree, self.cast = robot, resolve(robot), ensemble(robot, tuple(elements))
        self.x = [slot.start for slot in self.cast.states]
        self.m = [slot.start for slot in self.cast.memory]
        self.u = [(u or {}).get(slot.name, slot.start) for slot in self.cast.inputs]

    def world(self, t: Any, q: Any, v: Any) -> SystemInstant:
        return SystemInstant(self.cast, self.tree, t, list(q), list(v), self.x, self.m, self.u, {})

    def forces(self, t: Any, q: Any, v: Any) -> list[Any]:
        """The generalized forces of all elements, (nv,)."""
        world = self.world(t, q, v)
        gathered = world.gathered()
        loads = generalized(world.motions, gathered.loads)
        return [a + b for a, b in zip(gathered.torques, loads, strict=True)]

    def power_gap(self, t: float, q: Any, v: Any) -> tuple[float, float]:
        """(power on the robot - (supplied - dissipated - d(stored)/dt), the largest of these numbers) [W]."""
        gathered = self.world(t, q, v).gathered()
        power = float(np.dot(self.forces(t, q, v), v))
        w = [ALONG.moved(0.0, rate) for rate in v]
        moved = self.world(ALONG.moved(t, 1.0), charts.place(self.tree, q, w, finished=False), v).gathered()
        stored = float(ALONG.tangent(moved.stored))
        numbers = [power, float(gathered.supplied), float(gathered.dissipated), stored]
        return numbers[0] - (numbers[1] - numbers[2] - numbers[3]), max(map(abs, numbers))

    def slopes(self, t: float, q: Any, v: Any) -> np.ndarray:
        """Exact slopes of the forces by (w, v), shape (nv, 2 nv)."""
        return np.array([self._slope(t, q, v, unit) for unit in np.eye(2 * self.robot.nv)]).T

    def _slope(self, t: float, q: Any, v: Any, unit: Any) -> list[float]:
        nv = self.robot.nv
        w = [ALONG.moved(0.0, x) for x in unit[:nv]]
        moving = [ALONG.moved(rate, x) for rate, x in zip(v, unit[nv:], strict=True)]
        found = self.forces(t, charts.place(self.tree, q, w, finished=False), moving)
        return [float(ALONG.tangent(x)) for x in found]

    def differences(self, t: float, q: Any, v: Any, h: float = 1e-6) -> np.ndarray:
        """The same by central differences."""
        nv = self.robot.nv
        columns = []
        for unit in np.eye(2 * nv):
            up, down = (
                self.forces(t, charts.place(self.tree, q, list(s * h * unit[:nv])), v + s * h * unit[nv:])
                for s in (1.0, -1.0)
            )
            columns.append((np.array(up) - np.array(down)) / (2.0 * h))
        return np.array(columns).T
