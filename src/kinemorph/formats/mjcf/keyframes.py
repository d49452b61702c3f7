"""Keyframes of MJCF files, read as starts and written from them.

A keyframe has the time, qpos, qvel, ctrl and act of MuJoCo. qpos is q, number by number; of qvel, only the velocity of
free joints differs, which is linear in the world there and in the body here. ctrl and act become inputs u and states x
of the elements that the actuators are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from lxml import etree

from kinemorph.algebra.groups import quat_to_rotation
from kinemorph.algebra.vectors import matvec
from kinemorph.errors import ModelError
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.conventions.conversions import from_convention
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate
from kinemorph.model.starts import Start
from kinemorph.model.system import System

SAME = 1e-9  # [m], and of quaternions: a smaller difference of a mocap body from where the file puts it does not count

# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_keyframes(system: System, model: Compiled, reading: Any) -> System:
    """The system with a start for every keyframe; those without a name are called "key0", "key1" ...

    What of the keyframes is left out is reported by `reading.drop`.
    """
    if not model.names["key"]:
        return system
    try:
        cast = ensemble(system.robot, system.members)
        inputs, states = [slot.name for slot in cast.inputs], [slot.name for slot in cast.states]
    except ModelError:  # the loader reports elements that cannot act
        inputs, states = list(reading.drives.values()), []
    starts: dict[str, Start] = {}
    unread: dict[str, list[str]] = {}
    for k, given in enumerate(model.names["key"]):
        name = given or f"key{k}"
        rows = [model.key_qpos[k], model.key_qvel[k], model.key_ctrl[k], model.key_act[k], model.key_time[k : k + 1]]
        if not all(np.isfinite(row).all() for row in rows):
            unread.setdefault("keyframes with numbers that are not finite", []).append(name)
            continue
        q, v = from_convention(system.robot, "mujoco", rows[0], rows[1])
        u, is_left = _by_element(model.key_ctrl[k], model.actuator_ctrladr, reading.drives, inputs)
        if is_left:
            unread.setdefault("controls of keyframes, for actuators that are left out", []).append(name)
        x, is_left = _by_element(model.key_act[k], model.actuator_actadr, reading.drives, states)
        if is_left:
            unread.setdefault("activations of keyframes, for actuators without such a state", []).append(name)
        if _moves_mocap(model, k):
            unread.setdefault("poses of mocap bodies in keyframes", []).append(name)
        speeds = tuple(v.tolist()) if v.any() else ()
        starts[name] = Start(tuple(q.tolist()), speeds, x, (), u, float(model.key_time[k]))
    for what, names in unread.items():
        reading.drop(what, names, "Give these values in Python where they matter.")
    return replace(system, starts=starts)


def _by_element(
    values: Any, places: Iterable[int], drives: dict[int, str], columns: Sequence[str]
) -> tuple[tuple[tuple[str, float], ...], bool]:
    """(values by the name of a column, whether a value that is not zero has no column); no values if all are zero.

    `places` are the indices of the first value of each actuator, -1 if it has none; `drives` the names of the elements
    that actuators are. The column of an element is called as it is, or begins with its name and a point.
    """
    found: dict[str, float] = {}
    is_left = False
    for k, place in enumerate(places):
        if place < 0:
            continue
        owner = drives.get(k)
        own = [name for name in columns if owner and (name == owner or name.startswith(f"{owner}."))]
        if len(own) == 1:
            found[own[0]] = float(values[place])
        else:
            is_left = is_left or bool(values[place])
    return tuple(found.items()) if any(found.values()) else (), is_left


def _moves_mocap(model: Compiled, k: int) -> bool:
    """Whether keyframe number k puts mocap bodies elsewhere than the file does."""
    bodies = np.flatnonzero(model.body_mocapid >= 0)
    places = model.body_mocapid[bodies]
    p, quaternion = model.key_mpos[k].reshape(-1, 3)[places], model.key_mquat[k].reshape(-1, 4)[places]
    turned = 1.0 - np.abs((quaternion * model.body_quat[bodies]).sum(axis=1))
    return bool((np.abs(p - model.body_pos[bodies]) > SAME).any() or (turned > SAME).any())


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_keyframe(root: Node, name: str, start: Start, system: System, order: Sequence[Joint], losses: Losses) -> None:
    """Writes a start, whose q and v are in order, as <key>.

    `order` has the joints with coordinates in the order of MuJoCo.
    """
    robot, qpos, qvel = system.robot, list[float](), list[float]()
    for joint in order:
        q, v = start.q[robot.q_slice(joint.name)], start.v[robot.v_slice(joint.name)]
        for group, part in zip((qpos, qvel), _in_mujoco(joint, q, v), strict=True):
            group += part
    keyframe = root.find("keyframe")
    keyframe = etree.SubElement(root, "keyframe") if keyframe is None else keyframe
    data = {"name": name, "qpos": numbers(qpos)}
    if start.t:
        data["time"] = number(start.t)
    if any(qvel):
        data["qvel"] = numbers(qvel)
    cast = ensemble(robot, system.members)
    lost = [bool(start.m)]
    for key, given, slots, columns in (
        ("ctrl", start.numbers("u"), cast.inputs, [node.get("name") for node in root.iterfind("actuator/*")]),
        ("act", start.numbers("x"), cast.states, [f"{node.get('name')}.activation" for node in _activated(root)]),
    ):
        values = dict(zip((slot.name for slot in slots), given, strict=False)) if isinstance(given, list) else given
        found = values or {}
        if any(found.get(column) for column in columns):
            data[key] = numbers(found.get(column, 0.0) for column in columns)
        lost += [bool(value) for column, value in found.items() if column not in columns]
    if any(lost):
        losses.add("inputs and states of starts that MuJoCo does not have are left out", name)
    etree.SubElement(keyframe, "key", **data)


def _activated(root: Node) -> list[Node]:
    """The actuators with an activation, in order."""
    return [node for node in root.iterfind("actuator/*") if node.get("dyntype", "none") != "none"]


def _in_mujoco(joint: Joint, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """(qpos, qvel) of the MuJoCo joints that a joint with state (q, v) is written as."""
    if joint.kind == "helical":
        pitch = float(evaluate(joint.pitch))
        return [q[0], pitch * q[0]], [v[0], pitch * v[0]]
    if joint.kind == "free":  # the linear velocity is in the world in a free joint, and in the parent in three slides
        return [*q], [*matvec(quat_to_rotation(q[3:]), tuple(v[:3])), *v[3:]]
    if joint.kind == "planar":
        c, s = np.cos(q[2]), np.sin(q[2])
        return [*q], [float(c * v[0] - s * v[1]), float(s * v[0] + c * v[1]), v[2]]
    return [*q], [*v]
