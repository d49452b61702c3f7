"""Specimens: systems whose numbers all become Parameters, and the robots that they act on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from kinemorph import System
from kinemorph.algebra.scalar import cos, sin
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.specimens.varied_numbers import with_parameters


@dataclasses.dataclass(frozen=True)
class Specimen:
    """A system, the time [s] over which it is simulated, and options of the run: q, v, u.

    `leave` are the fields, as "PD.kp", whose numbers stay plain; with `only`, those of all other fields do.
    """

    make: Callable[[], System]
    until: float = 0.3
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    leave: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def varied(self) -> tuple[System, dict[str, str]]:
        """(the system with Parameters, the field of each Parameter); see `with_parameters`."""
        return with_parameters(self.make(), lambda field: field not in self.leave and field in (self.only or (field,)))


def arm() -> Robot:
    """Three links, hinged about y, z and y, that move in space; the joints are q1, q2, q3 and the bodies a, b, c."""
    builder = RobotBuilder("arm")
    for name, length in (("a", 0.5), ("b", 0.4), ("c", 0.3)):
        builder.add(Body.box(name, 0.5 + length, (length, 0.1, 0.06), (0.5 * length, 0.02, 0.01)))
    builder.joint("q1", "revolute", "world", "a", axis=(0, 1, 0), lower=-0.2, upper=0.2, friction=0.3)
    builder.joint("q2", "revolute", "a", "b", translation=(0.5, 0, 0), axis=(0, 0, 1), friction=0.2)
    builder.joint("q3", "revolute", "b", "c", translation=(0.4, 0, 0), axis=(0, 1, 0), friction=0.1)
    return builder.build()


def slider() -> Robot:
    """A cart on a rail along x with a pendulum; the joints are x and swing."""
    builder = RobotBuilder("slider").add(Body.box("cart", 2.0, (0.3, 0.2, 0.1)), Body.rod("bob", 1.0, 0.5, axis="z"))
    builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0), lower=-1.0, upper=0.05, friction=0.4)
    return builder.joint("swing", "revolute", "cart", "bob", axis=(0, 1, 0)).build()


def flyer() -> Robot:
    """A body in free flight, with a hinge that carries another one."""
    builder = RobotBuilder("flyer").add(
        Body.box("hull", 1.5, (0.4, 0.3, 0.2), (0.01, 0.02, 0.03)),
        Body.box("fin", 0.4, (0.3, 0.1, 0.05), (0.15, 0.0, 0.0)),
    )
    builder.joint("root", "free", "world", "hull")
    return builder.joint("hinge", "revolute", "hull", "fin", translation=(0.2, 0.0, 0.0), axis=(0, 1, 0)).build()


JOINTS = ("q1", "q2", "q3")


MOVING = {"q": {"q1": 0.1, "q2": 0.4, "q3": -0.5}, "v": {"q1": 0.5, "q2": -0.7, "q3": 0.9}}


FLYING = {
    "q": {
        "root.x": 0.1,
        "root.y": -0.2,
        "root.z": 0.3,
        "root.qw": 0.8,
        "root.qx": 0.0,
        "root.qy": 0.6,
        "root.qz": 0.0,
        "hinge": 0.3,
    },
    "v": {
        "root.wx": 0.5,
        "root.wy": -0.8,
        "root.wz": 0.6,
        "root.vx": 1.0,
        "root.vy": 0.4,
        "root.vz": -0.3,
        "hinge": 0.7,
    },
}


def on_arm(*elements: Any, until: float = 0.3, **options: Any) -> Specimen:
    return Specimen(lambda: System(arm(), elements), until, {**MOVING, **options})


def on_flyer(*elements: Any, until: float = 0.3, **options: Any) -> Specimen:
    return Specimen(lambda: System(flyer(), elements), until, {**FLYING, **options})


def puck() -> Robot:
    builder = RobotBuilder("puck").add(Body.box("puck", 1.0, (0.2, 0.25, 0.15)))
    return builder.joint("root", "free", "world", "puck").build()


def hills(x: Any, y: Any) -> Any:
    return 0.1 * sin(2.0 * x) * cos(1.5 * y)
