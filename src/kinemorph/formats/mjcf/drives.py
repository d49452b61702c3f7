"""Reads the actuators of a compiled MuJoCo model: on hinges, slides, balls, free joints, fixed tendons and sites.

In MuJoCo, force = gain * w + bias, where w is the control or the activation; gain and bias are affine functions of the
length of the actuator and of its rate. The effort of a joint is gear * force. In Kinemorph a motor has no gain: its
gear is multiplied by the gain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.text import FAR
from kinemorph.model.elements import Actuator, Integrating, Lag

JOINT, JOINT_IN_PARENT, TENDON, SITE = 0, 1, 3, 4  # mjtTrn
ON_JOINT = (JOINT, JOINT_IN_PARENT)
FREE, BALL = 0, 1  # mjtJoint
SIMPLE = (2, 3)  # mjtJoint: slide, hinge
FIXED, AFFINE, NONE = 0, 1, 0  # mjtGain, mjtBias
INTEGRATOR, FILTERS = 1, (2, 3)  # mjtDyn: integrator; filter, filterexact
OTHER_TARGETS = {
    2: "actuators on slider-cranks",
    5: "adhesion actuators",
    6: "actuators on orientations (so3)",
}  # mjtTrn
OTHER_DYNAMICS = {4: "muscles", 5: "DC motors", 6: "PID actuators", 7: "actuators with user dynamics"}  # mjtDyn
OTHER_GAINS = {2: "muscles", 3: "DC motors", 4: "so3 actuators", 5: "PID actuators", 6: "actuators with user gains"}
FIXED_TENDON = 0  # mjtTendon


def limits(limited: Any, bounds: Array) -> tuple[float, float]:
    """The lower and the upper limit, infinite where there is none."""
    low, high = bounds.tolist() if limited else (-FAR, FAR)
    return (low if low > -FAR else -math.inf, high if high < FAR else math.inf)


def reflected(model: Compiled, what: str) -> Array:
    """What actuators add to each velocity, (nv, ...): their "armature", "damping" or "dampingpoly" times gear^2."""
    return _added(model, what, getattr(model, f"dof_{what}"), model.jnt_dofadr, _on_hinges(model))


def on_tendons(model: Compiled, what: str) -> Array:
    """What actuators add to each tendon, shape (ntendon, ...), as `reflected` does for velocities."""
    base: Array = getattr(model, f"tendon_{what}")
    return _added(model, what, base, np.arange(len(base)), model.actuator_trntype == TENDON)


def _added(model: Compiled, what: str, base: Array, places: NDArray[np.int_], acting: NDArray[np.bool_]) -> Array:
    found, values = np.zeros_like(base), getattr(model, f"actuator_{what}")
    for k in np.flatnonzero(acting):
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused later
            found[places[int(model.actuator_trnid[k][0])]] += values[k] * model.actuator_gear[k][0] ** 2
    return found


def _on_hinges(model: Compiled) -> NDArray[np.bool_]:
    """Whether each actuator acts on a hinge or slide."""
    kinds = np.append(model.jnt_type, -1)[
        np.where(np.isin(model.actuator_trntype, ON_JOINT), model.actuator_trnid[:, 0], -1)
    ]
    found: NDArray[np.bool_] = np.isin(kinds, SIMPLE)
    return found


def add_drives(model: Compiled, reading: Any) -> None:
    """Declares the actuators of a model; warns about those that cannot be expressed."""
    dropped: dict[str, list[str]] = {}
    made: dict[int, dict[str, Any]] = {}
    for k, name in enumerate(model.names["actuator"]):
        data = _drive(model, reading, k)
        if isinstance(data, str):
            dropped.setdefault(data, []).append(name)
        else:
            made[k] = data
    lost = _share_joint_limits(model, made)
    for k, data in made.items():
        line = reading.line("actuator", model.names["actuator"][k])
        reading.drives[k] = reading.actuators[k]
        reading.blueprint.element(line, Actuator(reading.actuators[k], **data))
    for what, names in dropped.items():
        reading.drop(what, names)
    reading.drop(
        "smaller effort limits, where limits differ between the two directions", [reading.joints[j] for j in lost]
    )
    named = model.names["actuator"]
    turning = np.isin(model.actuator_trntype, ON_JOINT) & ~_on_hinges(model)
    loads = (model.actuator_armature != 0.0) | (model.actuator_damping != 0.0)
    what = "damping and rotor inertias of actuators of ball and free joints"
    reading.drop(what, [named[k] for k in np.flatnonzero(turning & loads)])
    late = np.flatnonzero((model.actuator_delay != 0.0) & ~model.actuator_off)
    reading.drop("delays of actuators", [named[k] for k in late])
    early = [named[k] for k in made if model.actuator_actearly[k] and "activation" in made[k]]
    reading.drop(
        "activations of the end of a step of MuJoCo (actearly)",
        early,
        "Expect a force that comes one step of MuJoCo later: it follows the activation of the instant.",
    )
    _warn_of_limits(model, reading)


def _warn_of_limits(model: Compiled, reading: Any) -> None:
    """Warns about efforts that the limits of joints bound in MuJoCo, but not here."""
    limited = model.jnt_actfrclimited != 0
    bearing: set[int] = set()
    for k in np.flatnonzero((model.actuator_trntype == SITE) & ~model.actuator_off):
        body = int(model.site_bodyid[int(model.actuator_trnid[k][0])])
        while body:
            first = int(model.body_jntadr[body])
            bearing |= set(range(first, first + int(model.body_jntnum[body])) if model.body_jntnum[body] else ())
            body = int(model.body_parentid[body])
    names = [reading.joints[j] for j in np.flatnonzero(limited) if j in bearing]
    reading.drop("effort limits of joints for the efforts of actuators on sites", names)
    if np.any(model.body_gravcomp) and np.any(model.gravity):
        carried = np.flatnonzero(limited & (model.jnt_actgravcomp != 0))
        what = "effort limits of joints for gravity compensation (actuatorgravcomp)"
        reading.drop(what, [reading.joints[j] for j in carried])


def _share_joint_limits(model: Compiled, made: dict[int, dict[str, Any]]) -> list[int]:
    """Gives effort limits of joints that differ between the directions to the one actuator of the joint.

    Returns the joints that have several actuators or none, whose smaller limits are left out.
    """
    lost = []
    for j in np.flatnonzero((model.jnt_actfrclimited != 0) & (model.jnt_actfrcrange.sum(axis=1) != 0.0)):
        on_joint = [k for k in made if int(model.actuator_trntype[k]) in ON_JOINT and model.actuator_trnid[k][0] == j]
        pulled = [k for k in made if int(model.actuator_trntype[k]) == TENDON]
        if len(on_joint) != 1 or pulled:
            lost.append(int(j))
            continue
        data = made[on_joint[0]]
        if data["gear"]:
            own = data.get("effort", math.inf)
            low, high = own if isinstance(own, tuple) else (-own, own)
            bounds = sorted(float(x) / data["gear"] for x in model.jnt_actfrcrange[j])
            data["effort"] = (max(low, bounds[0]), min(high, bounds[1]))
    return lost


def _drive(model: Compiled, reading: Any, k: int) -> dict[str, Any] | str:
    """The data of actuator number k; or, if it is left out, a text that names its kind in a warning."""
    if model.actuator_off[k]:
        return "actuators that the options of the file switch off"
    if model.actuator_plugin[k] >= 0:
        return "actuators of plugins"
    for key, kinds in (("dyntype", OTHER_DYNAMICS), ("gaintype", OTHER_GAINS), ("trntype", OTHER_TARGETS)):
        kind = int(getattr(model, f"actuator_{key}")[k])
        if kind in kinds:
            return kinds[kind]
    if model.actuator_biastype[k] not in (NONE, AFFINE) or model.actuator_ctrlnum[k] != 1:
        return "actuators with biases other than affine ones, or with several controls"
    target = _target(model, reading, k)
    if isinstance(target, str):
        return target
    gains = tuple(model.actuator_gainprm[k][:3].tolist())
    gains = gains if model.actuator_gaintype[k] == AFFINE else (gains[0], 0.0, 0.0)
    bias = tuple(model.actuator_biasprm[k][:3].tolist()) if model.actuator_biastype[k] == AFFINE else (0.0, 0.0, 0.0)
    if not np.all(np.isfinite((*gains, *bias))):
        return "actuators with gains that are not finite"
    low, high = limits(model.actuator_forcelimited[k], model.actuator_forcerange[k])
    data = target | _law(gains, bias)
    if data.get("control") is None:  # a motor
        gear, gain = target["gear"], gains[0]
        data["gear"] = tuple(gain * x for x in gear) if isinstance(gear, tuple) else gain * gear
        low, high = sorted((low / gain, high / gain))
    data["effort"] = high if low == -high else (low, high)
    data["lower"], data["upper"] = limits(model.actuator_ctrllimited[k], model.actuator_ctrlrange[k])
    return data | _activation(model, k)


def _law(gains: tuple[float, ...], bias: tuple[float, ...]) -> dict[str, Any]:
    """The kind of control and its gains; nothing for a motor."""
    gain = gains[0]
    if gain == 0.0 or any(gains[1:]) or bias[0]:
        return {"control": "affine", "gains": gains, "bias": bias}
    if not any(bias):
        return {}
    if bias[1] == -gain:
        return {"control": "position", "gain": gain, "damping": -bias[2]}
    if bias[1] == 0.0 and bias[2] == -gain:
        return {"control": "velocity", "gain": gain}
    return {"control": "affine", "gains": gains, "bias": bias}


def _activation(model: Compiled, k: int) -> dict[str, Any]:
    kind, time = int(model.actuator_dyntype[k]), float(model.actuator_dynprm[k][0])
    if kind != INTEGRATOR and (kind not in FILTERS or time <= 0.0):
        return {}
    low, high = limits(model.actuator_actlimited[k], model.actuator_actrange[k])
    return {"activation": Integrating(low, high) if kind == INTEGRATOR else Lag(time, low, high)}


def _target(model: Compiled, reading: Any, k: int) -> dict[str, Any] | str:
    """What actuator number k acts on, and its gear; or a text that names its kind in a warning."""
    target, (one, two) = int(model.actuator_trntype[k]), model.actuator_trnid[k].tolist()
    gear = model.actuator_gear[k].tolist()
    if target == TENDON:
        if int(model.tendon_type[one]) != FIXED_TENDON:
            return "actuators on spatial tendons"
        return {"tendon": reading.tendons[one], "gear": gear[0]}
    if target == SITE:
        data = {"frame": reading.sites[one], "gear": tuple(gear)}
        if two < 0:
            return data
        if not _carries(model, int(model.site_bodyid[two]), int(model.site_bodyid[one])):
            return "actuators on sites whose reference site is not on a body that carries the site"
        return data | {"reference": reading.sites[two]}
    if target not in ON_JOINT:
        return "actuators on other parts"
    parent = {"axes": "parent"} if target == JOINT_IN_PARENT else {}
    kind = int(model.jnt_type[one])
    if kind == BALL:
        return {"joint": reading.joints[one], "gear": tuple(gear[:3])} | parent
    if kind == FREE:  # a force along the world's axes, and a moment about the body's axes
        if any(gear[:3]) and any(gear[3:]) and not parent:
            return "actuators of free joints with both a force and a moment"
        axes = {"axes": "parent"} if any(gear[:3]) else parent
        return {"frame": reading.bodies[int(model.jnt_bodyid[one])], "gear": tuple(gear)} | axes
    return {"joint": reading.joints[one], "gear": gear[0]}


def _carries(model: Compiled, one: int, other: int) -> bool:
    """Whether body number `one` carries body number `other`, or is the same."""
    while other and other != one:
        other = int(model.body_parentid[other])
    return other == one
