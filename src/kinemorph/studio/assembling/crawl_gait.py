"""A gait with which an organism of docked modules crawls: a wave that runs through its hinges.

Hinges whose axes are level and across the direction of travel take part, with phases by their places along it. The
other hinges are held straight. The stiffness of every drive follows from the mass that its hinge has to carry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.groups import compose
from kinemorph.model.elements.gaits.gaits import Rhythmic
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.drives import hinge_drives
from kinemorph.model.parameter import evaluate

LEVEL = 0.9  # of the axis of a hinge that lies across the direction of travel
FIRM = 30.0  # torque of a drive by the torque of the weight that it carries, per radian [1/rad]
SMOOTH = 1.0 / 40.0  # [s], damping of a drive by its stiffness
LEAST = 0.25  # of the mass of the organism, which each hinge can carry: the ground pushes anywhere
EARTH = 9.81  # [m/s^2]
RUN = {"time": 5, "method": "implicit_contact", "step": 0.002}
GAIT, DRIVE, NAME = "gait", "drive", "crawl"


class Wave(NamedTuple):
    """A wave through an organism: the direction of travel, its height [deg], its length [modules], its frequency [Hz].

    A wave of negative length runs the other way.
    """

    along: Literal["x", "y"]
    height: float
    length: float
    frequency: float


# the most successful ones first
WAVES = tuple(
    Wave(along, *rest)
    for rest in ((30.0, 4.0, 1.0), (40.0, 2.5, 1.5), (30.0, -4.0, 1.5), (40.0, 4.0, 1.5))
    for along in ("x", "y")
)


def crawl_commands(assembly: Assembly, wave: Wave, present: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The commands that put an organism on the ground and give it a gait, drives and a run; none if no hinge can move.

    `present` are the data of the file: parts with the names of these are replaced.
    """
    side = np.array([0.0, 1.0, 0.0] if wave.along == "x" else [1.0, 0.0, 0.0])
    places = {name: (place, axis @ side) for name, (place, axis) in _hinges(assembly).items() if abs(axis @ side) > LEVEL}
    if len(places) < 2:
        return []
    pitch = assembly.modules[0].type.pitch
    first = min(place["xy".index(wave.along)] for place, _ in places.values())
    lag = {
        name: round(360.0 * (place["xy".index(wave.along)] - first) / (wave.length * float(pitch))) % 360
        for name, (place, _) in places.items()
    }
    gait = {
        "kind": "rhythmic",
        "joints": list(places),
        "amplitude": [f"{math.copysign(wave.height, turn):g} deg" for _, turn in places.values()],
        "phases": [f"{-one % 360} deg" for one in lag.values()],
        "frequency": wave.frequency,
        "ramp": 1,
        "initial": 0,
    }
    carried = carried_torques(assembly)
    parts: dict[tuple[str, str], dict[str, Any]] = {("elements", GAIT): gait}
    for one in hinge_drives(assembly, Rhythmic(GAIT, tuple(places)), name=DRIVE):
        kp = [float(f"{FIRM * carried[joint]:.2g}") for joint in one.joints]
        drive = {"kind": "pd", "joints": list(one.joints), "kp": kp, "kd": [float(f"{SMOOTH * k:.2g}") for k in kp]}
        drive["reference"] = GAIT if one.name == DRIVE else 0
        if all(math.isfinite(limit) for limit in one.upper):
            drive |= {"lower": list(one.lower), "upper": list(one.upper)}
        parts["elements", one.name] = drive
    parts["runs", NAME] = RUN
    old = [path for path in (*parts, ("elements", f"{DRIVE}_hold")) if path[1] in (present.get(path[0]) or {})]
    return [
        *({"verb": "unset", "path": list(path)} for path in dict.fromkeys(old)),
        {"verb": "ground", "on": True},
        *({"verb": "add", "path": list(path), "value": value} for path, value in parts.items()),
    ]


def carried_torques(assembly: Assembly) -> dict[str, float]:
    """The torque [N m] of the weight that each hinge carries, one module away: that of the lighter of its two sides."""
    robot = assembly.system([]).robot
    masses = {body.name: float(evaluate(body.mass)) for body in robot.bodies}
    whole = sum(masses.values())
    found = {}
    for name in _hinges(assembly):
        child = robot.joint(name).child
        beyond = sum(mass for body, mass in masses.items() if child in robot.path_to_root(body))
        pitch = float(assembly.modules[0].type.pitch)
        found[name] = EARTH * pitch * max(min(beyond, whole - beyond), LEAST * whole)
    return found


def _hinges(assembly: Assembly) -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """The place [m] and the axis of every revolute joint of the modules, in the world."""
    poses, found = assembly.poses(), {}
    for module in assembly.modules:
        for joint in (one for one in module.type.joints if one.kind == "revolute"):
            frame = compose(poses[module.name], module.type.part_poses[joint.parent], joint.placement)
            axis = np.array(frame.R, dtype=float) @ np.array(joint.axis, dtype=float)
            found[f"{module.name}_{joint.name}"] = (np.array([float(x) for x in frame.p]), axis)
    return found
