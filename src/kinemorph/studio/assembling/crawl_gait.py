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
from kinemorph.model.elements.control.controllers import PD
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
    k = "xy".index(wave.along)
    level = {name: (at[k], axis @ side) for name, (at, axis) in _hinges(assembly).items() if abs(axis @ side) > LEVEL}
    if len(level) < 2:
        return []
    first, turn = min(at for at, _ in level.values()), -360.0 / (wave.length * float(assembly.modules[0].type.pitch))
    gait = {
        "kind": "rhythmic",
        "joints": list(level),
        "amplitude": [f"{math.copysign(wave.height, sign):g} deg" for _, sign in level.values()],
        "phases": [f"{round(turn * (at - first)) % 360} deg" for at, _ in level.values()],
        "frequency": wave.frequency,
        "ramp": 1,
        "initial": 0,
    }
    carried = carried_torques(assembly)
    parts: dict[tuple[str, str], dict[str, Any]] = {("elements", GAIT): gait}
    for one in hinge_drives(assembly, Rhythmic(GAIT, tuple(level)), name=DRIVE):
        assert isinstance(one, PD)
        kp = [float(f"{FIRM * carried[joint]:.2g}") for joint in one.joints]
        drive = {"kind": "pd", "joints": list(one.joints), "kp": kp, "kd": [float(f"{SMOOTH * k:.2g}") for k in kp]}
        bound = [float(evaluate(limit)) for limit in np.atleast_1d(np.array(one.upper, dtype=object))]
        limits = {"lower": [-limit for limit in bound], "upper": bound} if np.isfinite(bound).all() else {}
        parts["elements", one.name] = {**drive, "reference": GAIT if one.name == DRIVE else 0, **limits}
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
    whole, lever, found = sum(masses.values()), EARTH * float(assembly.modules[0].type.pitch), {}
    for name in _hinges(assembly):
        child = robot.joint(name).child
        beyond = sum(mass for body, mass in masses.items() if child in robot.path_to_root(body))
        found[name] = lever * max(min(beyond, whole - beyond), LEAST * whole)
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
