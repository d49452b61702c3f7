"""Writes a serial arm as a DH table: parameters from the common normals of its axes, masses in the frames of the table.

Axis i is the axis of joint i at q = 0. The common normal of two neighboring axes meets them at the points P and Q:

    a, alpha    between axes i and i+1: length of the normal, and angle about it
    d, theta    on axis i: distance along the axis, and angle about it, from the previous normal to the next

Any arm of revolute and prismatic joints can be described in this form. The pose before the first normal is the base,
the pose after the last normal is the tool, so the first and last parameters are zeros. Between parallel axes, the
normal begins where the previous normal ended. The frames are computed from the numbers as they are written, so that
masses and tool compensate for the rounding of these numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, relative
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.algebra.quaternions import quat_normalize, quat_to_rotation, rotation_to_quat
from kinemorph.formats.dh.normals import normals
from kinemorph.formats.dh.rows import LIMITS, Convention, Row, step
from kinemorph.formats.findings import Findings
from kinemorph.formats.write_text import write_text
from kinemorph.model.body import NO_INERTIA, ORIGIN
from kinemorph.model.configuration import joint_pose
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD
from kinemorph.words import counted, quoted


class DhTable(NamedTuple):
    """A DH table. `base` is the pose of frame 0 in the world, `tool` that of the frame "tool" in the last frame."""

    rows: list[Row]
    base: Pose
    tool: Pose


class _Arm(NamedTuple):
    """A serial arm at q = 0: its moving joints, their frames in the world, the mass data of the bodies between each
    joint and the next, and the pose of the tool in the world.
    """

    joints: list[Joint]
    frames: list[Pose]
    masses: list[Inertia]  # in the world's frame
    tool: Pose


def write(system: System, path: Path, findings: Findings, convention: Convention = "standard") -> tuple[Path, ...]:
    """Writes the DH table of a serial arm and returns the paths of the files written.

    For another robot nothing is written, and a finding says why.
    """
    text = written_table(system, convention, findings)
    return (path,) if text and write_text(path, text, findings) else ()


def written_table(system: System, convention: Convention, findings: Findings) -> str:
    """The text of the DH table of a system; empty if its robot is not a serial arm, which is recorded as a finding."""
    table = to_table(system.robot, convention, findings)
    if table is None:
        return ""
    _warn_of_the_rest(system, findings)
    return _text(system.robot, table, convention)


def to_table(robot: Robot, convention: Convention, findings: Findings) -> DhTable | None:
    """The DH table of a serial arm of revolute and prismatic joints.

    None for another robot, which is recorded as a finding.
    """
    arm = _arm(robot, findings)
    if arm is None:
        return None
    found = normals(arm.joints, arm.frames, findings)
    if found is None:
        return None
    base, pairs, turns = found
    base = _as_written(base)
    rows = []
    for i, joint in enumerate(arm.joints):
        # standard: the link after the joint; modified: the link before it
        a, alpha = pairs[i] if convention == "standard" else pairs[i - 1] if i else (0.0, 0.0)
        d, theta = turns[i]
        data: dict[str, Any] = {key: _number(getattr(joint, key)[0]) for key in LIMITS}
        rows.append(Row(joint.kind, theta, d, a, alpha, joint=joint.name, link=joint.child, **data))
    # mass data in the frames that follow from the numbers as they are written
    frame = base
    for i, row in enumerate(rows):
        frame = compose(frame, step(row, convention))
        inertia = transformed(arm.masses[i], inverse(frame))
        com = inertia.com if inertia.mass else ORIGIN
        rows[i] = replace(row, mass=float(inertia.mass), com=com, inertia=inertia.moment)
    return DhTable(rows, base, relative(frame, arm.tool))


# ── the arm ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _arm(robot: Robot, findings: Findings) -> _Arm | None:
    """The robot as a serial arm; None, with a finding that names the first joint that does not fit."""
    if robot.loops or robot.couplings:
        name = robot.loops[0].name if robot.loops else robot.couplings[0].joint
        why = "closes a loop" if robot.loops else "follows another joint"
        _unfit(name, why, findings)
        return None
    poses, carrier = {WORLD: IDENTITY}, {WORLD: 0}
    joints: list[Joint] = []
    frames: list[Pose] = []
    masses: list[Inertia] = []
    for joint in robot.order:
        poses[joint.child] = compose(poses[joint.parent], joint_pose(joint, joint.table.neutral))
        carrier[joint.child] = carrier[joint.parent]
        if joint.kind != "fixed":
            if joint.kind not in ("revolute", "prismatic"):
                _unfit(joint.name, f"is {joint.kind}", findings)
                return None
            if carrier[joint.parent] != len(joints):
                _unfit(joint.name, "branches off", findings)
                return None
            joints.append(joint)
            frames.append(compose(poses[joint.parent], evaluate_all(joint.placement)))
            masses.append(Inertia(0.0, ORIGIN, NO_INERTIA))
            carrier[joint.child] = len(joints)
        if carrier[joint.child]:
            body = robot.body(joint.child)
            inertia = Inertia(evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia))
            moved, place = transformed(inertia, poses[body.name]), carrier[joint.child] - 1
            masses[place] = added(masses[place], moved) if masses[place].mass else _plus(masses[place], moved)
    if not joints:
        problem = "it has no joint that moves, expected a serial arm, which is what a DH table describes"
        findings.error("structure", 0, f"robot '{robot.name}'", problem, "Save the robot as TOML instead.")
        return None
    tool = poses[joints[-1].child]
    for frame in robot.frames:
        if frame.name == "tool" and carrier[frame.body] == len(joints):
            tool = compose(poses[frame.body], evaluate_all(frame.placement))
    return _Arm(joints, frames, masses, tool)


def _plus(first: Inertia, second: Inertia) -> Inertia:
    """The sum of two inertias of which the first has no mass, but perhaps a moment of inertia."""
    moment = np.add(first.moment, second.moment)
    return Inertia(second.mass, second.com, tuple(map(tuple, moment.tolist())))


def _unfit(joint: str, why: str, findings: Findings) -> None:
    """Reports a joint that cannot be in a DH table, and `why`, such as "closes a loop"."""
    problem = f"it {why}, but a DH table describes serial arms of revolute and prismatic joints only"
    findings.error("structure", 0, f"joint '{joint}'", problem, "Save the robot as TOML instead.")


def _as_written(pose: Pose) -> Pose:
    """A pose as it is read back from the file, where the rotation is a quaternion."""
    return pose if _plain(pose) else Pose(quat_to_rotation(quat_normalize(rotation_to_quat(pose.R))), pose.p)


def _plain(pose: Pose) -> bool:
    """Whether a pose has no rotation."""
    return bool(np.abs(np.array(pose.R) - np.eye(3)).max() < 1e-16)


# ── the text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _text(robot: Robot, table: DhTable, convention: Convention) -> str:
    """The text of a table; columns in which all numbers are 0 are left out, unless they are in ALWAYS."""
    cells = [_cells(row) for row in table.rows]
    columns = [key for key in cells[0] if key in ALWAYS or any(row[key] not in ("", "0.0") for row in cells)]
    lines = [columns, *([row[key] for key in columns] for row in cells)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    head = [f"# convention: {convention}", f"# name: {robot.name}"]
    head += [f"# gravity: {_numbers(evaluate_all(robot.gravity))}"]
    head += [f"# {key}: {_placed(pose)}" for key, pose in (("base", table.base), ("tool", table.tool))]
    head += ["# angles in rad, lengths in m; base and tool are x y z qw qx qy qz; masses in the frames of the links"]
    body = [", ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*head, *body, ""])


ALWAYS = ("joint", "link", "kind", "theta", "d", "a", "alpha", "mass")


def _cells(row: Row) -> dict[str, str]:
    """The texts of a row by column."""
    inertia = dict(zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), _six(row.inertia), strict=True))
    center = dict(zip(("cx", "cy", "cz"), row.com, strict=True))
    numbers = {"theta": row.theta, "d": row.d, "a": row.a, "alpha": row.alpha, "mass": row.mass, **center, **inertia}
    numbers |= {key: getattr(row, key) for key in LIMITS}
    texts = {key: "" if value is None else repr(float(value) + 0.0) for key, value in numbers.items()}
    return {"joint": row.joint, "link": row.link, "kind": row.kind, **texts}


def _six(inertia: Any) -> tuple[float, ...]:
    """(xx, yy, zz, xy, xz, yz) of an inertia matrix."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    return (xx, yy, zz, xy, xz, yz)


def _number(value: Any) -> float | None:
    """The nominal value of a limit; None if it is infinite."""
    number = float(evaluate(value))
    return number if math.isfinite(number) else None


def _numbers(values: Any) -> str:
    """Numbers as text, separated by spaces."""
    return " ".join(repr(float(x) + 0.0) for x in values)


def _placed(pose: Pose) -> str:
    """A pose as text: x y z, with a quaternion if it has a rotation."""
    return _numbers(pose.p if _plain(pose) else (*pose.p, *rotation_to_quat(pose.R)))


def _times(settings: Settings) -> list[str]:
    """The names of those times in the settings that are not the defaults."""
    return [key for key in ("time", "sample", "max_step") if getattr(settings, key) != getattr(Settings(), key)]


def _warn_of_the_rest(system: System, findings: Findings) -> None:
    """Warns about data that a DH table cannot express, and reports names that it cannot contain."""
    robot = system.robot
    welded = [joint.child for joint in robot.joints if joint.kind == "fixed"]
    frames = [frame.name for frame in robot.frames if frame.name != "tool"]
    shapes = sum(len(body.shapes) + len(body.collisions) for body in robot.bodies)
    for names, problem in (
        (welded, "the bodies {} are merged into the links, or the ground, that they are fixed to"),
        (frames, "the frames {} are left out"),
        ([element.name for element in system.elements], "the elements {} are left out"),
        ([parameter.name for parameter in robot.parameters], "the parameters {} are written as numbers"),
        (["q", "v"] if system.settings.q or system.settings.v else [], "the initial state {} is left out"),
        (_times(system.settings), "the settings {} are left out"),
        (
            [counted(shapes, "shape is", "shapes are")] if shapes else [],
            "{} left out, because a DH table has no shapes",
        ),
    ):
        if names:
            problem = problem.format(names[0] if "shape" in problem else quoted(names, 5))
            findings.warn("dropped", 0, f"robot '{robot.name}'", problem, "Save the robot as TOML to keep all data.")
    for name in (robot.name, *robot.joint_names, *robot.body_names):
        if any(mark in name for mark in ',"#'):
            problem = "the name has a comma, a quote or a '#', which a DH table cannot contain"
            findings.error("name", 0, f"'{name}'", problem, "Rename the part.")
