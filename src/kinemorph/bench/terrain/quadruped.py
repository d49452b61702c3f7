"""A quadruped that trots: eight hinges, twelve points that may touch the ground, and the grounds on which it trots.

Feet, knees and the corners of the trunk may touch the ground. The angles of hinges are sinusoids; diagonal legs are in
phase. The amplitude `swing` [rad] and the frequency [Hz] are parameters; a batch of gaits varies both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import cos, sin
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import HuntCrossley, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Ground, HeightFunction, HeightMap, Plane
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.gaits.gaits import Rhythmic
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System

SIDES = {"FL": (1.0, 1.0), "FR": (1.0, -1.0), "HL": (-1.0, 1.0), "HR": (-1.0, -1.0)}  # front or hind, left or right
PHASES = {"FL": 0.0, "FR": math.pi, "HL": math.pi, "HR": 0.0}  # [rad]
HIP, KNEE, HEIGHT = 0.6, -1.1, 0.40  # [rad], [rad], [m]: the posture about which legs swing, and the trunk at first
LENGTH, FOOT = 0.2, 0.02  # of thigh and shank, and radius of feet and knees [m]
STIFFNESS, DAMPING = 60.0, 2.0  # of the controllers [N m/rad], [N m s/rad]
FRICTION = 0.8
NODES, SPACING, ROUGH = (40, 14), 0.25, 0.04  # of the map: nodes along x and y, distance [m], largest height [m]
SWING, FREQUENCY = Parameter("swing", 0.15), Parameter("frequency", 2.5)


def walker() -> Robot:
    """The robot: a trunk of 9 kg, and four legs of a thigh and a shank."""
    builder = RobotBuilder("quadruped").add(Body.box("trunk", 9.0, (0.4, 0.2, 0.1)))
    builder = builder.joint("base", "free", "world", "trunk")
    for leg, (front, left) in SIDES.items():
        builder = builder.add(Body.rod(f"{leg}_thigh", 0.8, LENGTH, (0.0, 0.0, -0.5 * LENGTH)))
        builder = builder.add(Body.rod(f"{leg}_shank", 0.3, LENGTH, (0.0, 0.0, -0.5 * LENGTH)))
        hip, knee = (0.18 * front, 0.16 * left, 0.0), (0.0, 0.0, -LENGTH)
        builder = builder.joint(f"{leg}_hip", "revolute", "trunk", f"{leg}_thigh", translation=hip, axis=(0, 1, 0))
        builder = builder.joint(
            f"{leg}_knee", "revolute", f"{leg}_thigh", f"{leg}_shank", translation=knee, axis=(0, 1, 0)
        )
    return builder.build()


def touching() -> list[tuple[str, str, tuple[float, float, float], float]]:
    """(name, body, point of the body [m], radius [m]) of every sphere or point that may touch the ground."""
    found = []
    for leg, (front, left) in SIDES.items():
        found.append((f"{leg} foot", f"{leg}_shank", (0.0, 0.0, -LENGTH), FOOT))
        found.append((f"{leg} knee", f"{leg}_shank", (0.0, 0.0, 0.0), FOOT))
        found.append((f"{leg} corner", "trunk", (0.2 * front, 0.1 * left, -0.05), 0.0))
    return found


def joints() -> list[str]:
    """The names of the hinges."""
    return [f"{leg}_{joint}" for leg in SIDES for joint in ("hip", "knee")]


def offsets() -> list[float]:
    """The mean angles of the hinges in a gait [rad]."""
    return [HIP, KNEE] * len(SIDES)


def phases() -> list[float]:
    """The phases of the hinges [rad]: knees are a quarter of a period behind hips."""
    return [PHASES[leg] + behind for leg in SIDES for behind in (0.0, -0.5 * math.pi)]


def quadruped(ground: Ground) -> System:
    """The system of the quadruped on a ground: contacts, the gait, and a PD controller that follows the gait."""
    normal, friction = HuntCrossley(4e4, 0.8), Regularized(FRICTION, 0.02)
    contacts = [
        Contact(name, body, normal, friction, ground, point=point, radius=radius)
        for name, body, point, radius in touching()
    ]
    named = tuple(joints())
    count = len(named)
    gait = Rhythmic(
        "gait",
        named,
        amplitude=(SWING,) * count,
        frequency=(FREQUENCY,) * count,
        offset=tuple(offsets()),
        phases=tuple(phases()),
        ramp=0.0,
    )
    drive = PD("drive", named, kp=(STIFFNESS,), kd=(DAMPING,), reference="gait")
    start = (0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0, *offsets())
    return System(walker(), (*contacts, gait, drive), Settings(q=start))


def rough_map() -> HeightMap:
    """Random heights on a regular grid; the robot starts near the end with the largest x and trots along -x."""
    heights = ROUGH * np.random.default_rng(3).uniform(size=NODES)
    return HeightMap(heights, (SPACING, SPACING), (2.0 - SPACING * (NODES[0] - 1), -0.5 * SPACING * (NODES[1] - 1)))


def grounds() -> dict[str, Ground]:
    """The grounds by name: a plane, a smooth height function, and a height map."""
    waves = HeightFunction(lambda x, y: 0.5 * ROUGH * (1.0 + sin(6.0 * x) * cos(6.0 * y)))
    return {"plane": Plane(), "function": waves, "map": rough_map()}


def gaits(count: int) -> dict[str, Array]:
    """Random amplitudes [rad] and frequencies [Hz] of `count` gaits, as parameters by name, shape (count,) each."""
    rng = np.random.default_rng(0)
    return {"swing": rng.uniform(0.1, 0.2, count), "frequency": rng.uniform(1.5, 3.0, count)}


def references(gait: dict[str, Any], k: int, t: Array) -> Array:
    """The reference angles [rad] of the 8 hinges in gait k at times t (n,) [s], then their rates [rad/s]: (n, 16)."""
    omega = 2.0 * np.pi * float(gait["frequency"][k])
    angle = omega * t[:, None] + np.array(phases())
    wanted = np.array(offsets()) + float(gait["swing"][k]) * np.sin(angle)
    rates: Array = float(gait["swing"][k]) * omega * np.cos(angle)
    return np.concatenate([wanted, rates], axis=1)
