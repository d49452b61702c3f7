"""Controllers that make the joints of an assembly follow a gait, within the torque limits of the joints.

    gait = Rhythmic("gait", hinges(assembly))
    assembly.system([gait, *hinge_drives(assembly, gait), *ground_contacts(assembly)])

Joints with position limits that the gait does not move, such as the docking plates of Scouts, are controlled to stay at
0. Wheels, which have no position limits, get no controller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.control.model_based import ComputedTorque
from kinemorph.model.joint import Joint
from kinemorph.model.modules.assembly import Assembly, as_assembly
from kinemorph.model.modules.catalog import PITCH
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import Element
from kinemorph.words import listed

STIFF, SMOOTH = 60.0, 1.5  # gains [N m/rad], [N m s/rad] of Backbones: 3.5 N m, half their limit, bend it by 3 degrees
LOAD = 1.0 * PITCH  # [kg m], mass times pitch of a Backbone
QUICK = 20.0  # [rad/s]: natural frequency of the errors under computed torque, critically damped


def hinges(assembly: Assembly) -> tuple[str, ...]:
    """The names of the joints that bend the modules of an assembly, in the order of the modules."""
    modules = as_assembly(assembly).modules
    return tuple(f"{module.name}_{module.type.hinge}" for module in modules if module.type.hinge)


def hinge_drives(
    assembly: Assembly,
    gait: Any,
    *,
    law: Literal["pd", "computed torque"] = "pd",
    kp: float | None = None,
    kd: float | None = None,
    name: str = "drive",
) -> list[Element]:
    """Controllers that make joints follow a gait, with torques within the effort limit of each joint.

    `gait`      an element that publishes an angle for each of its `joints`
    `law`       "pd": proportional-derivative control. The default gains are kp 60 N m/rad and kd 1.5 N m s/rad for
                Backbones, and proportional to mass times pitch, the mean of all modules, so that any module stands;
                "computed torque": default gains kp 400 1/s^2 and kd 40 1/s, for organisms with a fixed root whose
                joints all follow the gait
    `name`      the name of the controller; the one that keeps the other joints at 0 is called `<name>_hold`
    """
    if law not in ("pd", "computed torque"):
        raise ModelError(f"hinge_drives: law is {law!r}; expected 'pd' or 'computed torque'.")
    assembly = as_assembly(assembly)
    own = {
        f"{module.name}_{joint.name}": joint
        for module in assembly.modules
        for joint in module.type.joints
        if joint.kind == "revolute"
    }
    driven = tuple(getattr(gait, "joints", ()))
    unknown = [joint for joint in driven if joint not in own]
    if unknown or not driven:
        what = f"drives joint '{unknown[0]}'" if unknown else "has no joints"
        raise ModelError(
            f"element '{getattr(gait, 'name', gait)}' {what}; expected revolute joints of the modules of assembly "
            f"'{assembly.name}': {listed(own, 3)}. Name these in the gait."
        )
    held = tuple(joint for joint in own if joint not in driven and _is_bounded(own[joint]))
    if law == "computed torque":
        lower, upper = _within(own, driven)
        quick = QUICK**2 if kp is None else kp
        return [ComputedTorque(name, driven, quick, 2.0 * QUICK if kd is None else kd, gait.name, (), lower, upper)]
    found: list[Element] = []
    load = _mean_load(assembly) / LOAD
    for called, joints, reference in ((name, driven, gait.name), (f"{name}_hold", held, 0.0)):
        if joints:
            lower, upper = _within(own, joints)
            stiff, smooth = load * STIFF if kp is None else kp, load * SMOOTH if kd is None else kd
            found.append(PD(called, joints, stiff, smooth, reference, lower=lower, upper=upper))
    return found


def _mean_load(assembly: Assembly) -> float:
    """The mean of mass times pitch [kg m] of all modules; that of a Backbone where nothing has mass."""
    kinds = [module.type for module in assembly.modules]
    loads = [float(evaluate(body.mass)) * float(evaluate(kind.pitch)) for kind in kinds for body in kind.bodies]
    return sum(loads) / len(kinds) or LOAD


def _is_bounded(joint: Joint) -> bool:
    return bool(joint.lower) and all(math.isfinite(float(evaluate(x))) for x in (*joint.lower, *joint.upper))


def _within(own: dict[str, Joint], names: Sequence[str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The lower and upper torque limits [N m] of the named joints; infinite for joints without an effort limit."""
    efforts = tuple(float(evaluate(own[name].effort[0])) if own[name].effort else math.inf for name in names)
    return tuple(-effort for effort in efforts), efforts
