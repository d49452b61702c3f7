"""Reads actuators and joint springs of a compiled MuJoCo model: motors, position and velocity servos on hinges and
slides.

In MuJoCo, force = gain * ctrl + bias, and the effort of the joint is gear * force. In Kinemorph a motor has no
gain: its gear is multiplied by the gain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.model.elements import Actuator, TorsionSpring

ON_JOINT = (0, 1)  # mjtTrn: joint, jointinparent
SIMPLE = (2, 3)  # mjtJoint: slide, hinge
FIXED, AFFINE, NONE = 0, 1, 0  # mjtGain, mjtBias


def reflected_inertia(model: Compiled) -> Array:
    """The rotor inertia armature * gear^2 of the actuators that act on each velocity, added, shape (nv,)."""
    found = np.zeros(len(model.dof_armature))
    for k in np.flatnonzero(model.actuator_armature):
        j = int(model.actuator_trnid[k][0])
        if int(model.actuator_trntype[k]) in ON_JOINT and model.jnt_type[j] in SIMPLE:
            found[model.jnt_dofadr[j]] += model.actuator_armature[k] * model.actuator_gear[k][0] ** 2
    return found


def add_drives(model: Compiled, reading: Any) -> None:
    """Declares the actuators of a model; warns about those that cannot be expressed."""
    dropped: dict[str, list[str]] = {}
    taken: set[str] = set()
    for k, name in enumerate(model.names["actuator"]):
        made = _drive(model, reading, k)
        if isinstance(made, str):
            dropped.setdefault(made, []).append(name)
            continue
        base = name or f"actuator{k}"
        unique, number = base, 1
        while unique in taken:
            number += 1
            unique = f"{base}~{number}"
        taken.add(unique)
        reading.drives[k] = unique
        reading.blueprint.element(reading.line("actuator", name), Actuator(unique, **made))
    for what, names in dropped.items():
        reading.drop(what, names)
    damped = np.flatnonzero((model.actuator_damping != 0.0) | np.any(model.actuator_dampingpoly != 0.0, axis=1))
    reading.drop("damping of actuators", [model.names["actuator"][k] for k in damped])
    late = np.flatnonzero((model.actuator_delay != 0.0) & ~model.actuator_off)
    reading.drop("delays of actuators", [model.names["actuator"][k] for k in late])


def add_springs(model: Compiled, reading: Any) -> None:
    """Declares the linear springs of hinges and slides, called "<joint> spring"; warns about all other springs."""
    curved = np.any(model.jnt_stiffnesspoly != 0.0, axis=1) | (model.jnt_springyield != 0.0)
    lost = []
    for j in np.flatnonzero((model.jnt_stiffness != 0.0) | np.any(model.jnt_stiffnesspoly != 0.0, axis=1)):
        name = reading.joints[j]
        if curved[j] or model.jnt_type[j] not in SIMPLE:
            lost.append(name)
            continue
        rest = float(model.qpos_spring[model.jnt_qposadr[j]])
        spring = TorsionSpring(f"{name} spring", name, float(model.jnt_stiffness[j]), rest)
        reading.blueprint.element(reading.line("joint", name), spring)
    reading.drop("springs of joints", lost)


def _drive(model: Compiled, reading: Any, k: int) -> dict[str, Any] | str:
    """The data of actuator number k; or, if it is left out, a text that names its kind in a warning."""
    j = int(model.actuator_trnid[k][0])
    if model.actuator_off[k]:
        return "actuators that the options of the file switch off"
    if int(model.actuator_trntype[k]) not in ON_JOINT:
        return "actuators that do not act on a joint"
    if model.jnt_type[j] not in SIMPLE:
        return "actuators of ball and free joints"
    if (
        model.actuator_dyntype[k]
        or model.actuator_gaintype[k] != FIXED
        or model.actuator_biastype[k] not in (NONE, AFFINE)
    ):
        return "actuators other than motors, position and velocity servos (muscles, filters, general ones)"
    gear, gain = float(model.actuator_gear[k][0]), float(model.actuator_gainprm[k][0])
    constant, stiffness, damping = model.actuator_biasprm[k][:3].tolist()
    if model.actuator_biastype[k] == NONE:
        constant = stiffness = damping = 0.0
    if constant or gain == 0.0 or not np.all(np.isfinite((gear, gain, stiffness, damping))):
        return "actuators other than motors, position and velocity servos (muscles, filters, general ones)"
    data: dict[str, Any] = {"joint": reading.joints[j], "gear": gear}
    effort = _even(model.actuator_forcerange[k]) if model.actuator_forcelimited[k] else math.inf
    if effort is None:
        return "actuators with force limits that differ between the two directions"
    if stiffness == 0.0 and damping == 0.0:
        data |= {"gear": gear * gain, "effort": effort / abs(gain)}
    elif stiffness == -gain:
        data |= {"control": "position", "gain": gain, "damping": -damping, "effort": effort}
    elif stiffness == 0.0 and damping == -gain:
        data |= {"control": "velocity", "gain": gain, "effort": effort}
    else:
        return "actuators other than motors, position and velocity servos (muscles, filters, general ones)"
    if model.actuator_ctrllimited[k]:
        data["lower"], data["upper"] = model.actuator_ctrlrange[k].tolist()
    return data


def _even(limits: Array) -> float | None:
    """The limit of a force if it is the same in both directions; None if not."""
    lower, upper = limits.tolist()
    return float(upper) if lower == -upper else None
