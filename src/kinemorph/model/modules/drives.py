"""Motors of modules: controllers that make the joints of an assembly follow a gait, within their torque.

    gait = Rhythmic("gait", hinges(assembly))
    assembly.system([gait, *hinge_drives(assembly, gait), *ground_contacts(assembly)])

Joints with limits that the gait leaves out, as the docks of Scouts, are controlled to stay where they are. Wheels,
which have no limits, get no controller.
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
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import Element

STIFF, SMOOTH = 60.0, 1.5  # [N m/rad], [N m s/rad]: half of 7 N m bends a hinge by 3 degrees
QUICK = 20.0  # [rad/s]: at what rate errors die away under computed torque


def hinges(assembly: Assembly) -> tuple[str, ...]:
    """The joints that bend the modules of an assembly, in the order of the modules."""
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
    """Controllers that let the joints of a gait follow it, with torques within the effort of each joint.

    `gait`      an element that publishes an angle for each of its `joints`
    `law`       "pd": springs and dampers, kp 60 N m/rad and kd 1.5 N m s/rad; "computed torque": kp 400 1/s^2 and
                kd 40 1/s, for organisms on a root that is fixed, whose joints all follow the gait
    """
    if law not in ("pd", "computed torque"):
        raise ModelError(f"law of drives is {law!r}; expected 'pd' or 'computed torque'.")
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
            f"element '{getattr(gait, 'name', gait)}' {what}; expected joints of the modules of assembly "
            f"'{assembly.name}', as {', '.join([*own][:3]) or 'none'}. Name them."
        )
    held = tuple(joint for joint in own if joint not in driven and _is_bounded(own[joint]))
    if law == "computed torque":
        lower, upper = _within(own, driven)
        quick = QUICK**2 if kp is None else kp
        return [ComputedTorque(name, driven, quick, 2.0 * QUICK if kd is None else kd, gait.name, (), lower, upper)]
    found: list[Element] = []
    for called, joints, reference in ((name, driven, gait.name), (f"{name}_hold", held, 0.0)):
        if joints:
            lower, upper = _within(own, joints)
            stiff, smooth = STIFF if kp is None else kp, SMOOTH if kd is None else kd
            found.append(PD(called, joints, stiff, smooth, reference, lower=lower, upper=upper))
    return found


def _is_bounded(joint: Joint) -> bool:
    return bool(joint.lower) and all(math.isfinite(float(evaluate(x))) for x in (*joint.lower, *joint.upper))


def _within(own: dict[str, Joint], names: Sequence[str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the torques [N m]."""
    efforts = tuple(float(evaluate(own[name].effort[0])) if own[name].effort else math.inf for name in names)
    return tuple(-effort for effort in efforts), efforts
