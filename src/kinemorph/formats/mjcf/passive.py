"""Reads what acts in a compiled MuJoCo model without a drive: springs, tendons, gravity compensation, fluid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.groups import Pose, compose, quat_to_rotation, turn
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.drives import BALL, FIXED_TENDON, FREE, SIMPLE, limits, on_tendons, reflected
from kinemorph.formats.mjcf.softness import stop_of
from kinemorph.model.elements import Bushing, DragBox, DragEllipsoid, Fluid, Tendon, TorsionSpring, WeightSupport

LEAST = 1e-15  # MuJoCo's mjMINVAL: smaller masses and inertias count as none
SPHERE, CAPSULE, CYLINDER = 2, 3, 5  # mjtGeom


def add_springs(model: Compiled, reading: Any) -> None:
    """Declares the springs and curved dampers of hinges and slides, called "<joint> spring"; warns about others."""
    resistance = model.dof_dampingpoly + reflected(model, "dampingpoly")
    curved = np.any(resistance != 0.0, axis=1)
    stiff = (model.jnt_stiffness != 0.0) | np.any(model.jnt_stiffnesspoly != 0.0, axis=1)
    lost, resisting = [], []
    for j, name in enumerate(reading.joints):
        v = int(model.jnt_dofadr[j])
        simple = model.jnt_type[j] in SIMPLE
        if simple and stiff[j] and model.jnt_springyield[j] != 0.0:
            lost.append(name)
        elif simple and (stiff[j] or curved[v]):
            rest = float(model.qpos_spring[model.jnt_qposadr[j]])
            spring = TorsionSpring(
                reading.new_element(f"{name} spring"),
                name,
                float(model.jnt_stiffness[j]),
                rest,
                curve=_order(model.jnt_stiffnesspoly[j]),
                damping_curve=_order(resistance[v]),
            )
            reading.blueprint.element(reading.line("joint", name), spring)
        if not simple and curved[v]:
            resisting.append(name)
    reading.drop("springs that yield", lost)
    reading.drop("damping of ball and free joints that is not linear", resisting)


def add_tendons(model: Compiled, reading: Any) -> None:
    """Declares the fixed tendons; warns about spatial ones."""
    damping, curves = (getattr(model, f"tendon_{key}") + on_tendons(model, key) for key in ("damping", "dampingpoly"))
    heavy = np.flatnonzero(model.tendon_armature + on_tendons(model, "armature"))
    fixed = model.tendon_type == FIXED_TENDON
    for i in np.flatnonzero(fixed):
        first, count = int(model.tendon_adr[i]), int(model.tendon_num[i])
        part = slice(first, first + count)
        shortest, longest = model.tendon_lengthspring[i].tolist()
        lower, upper = limits(model.tendon_limited[i], model.tendon_range[i])
        least, most = limits(model.tendon_actfrclimited[i], model.tendon_actfrcrange[i])
        soft = (model.tendon_solref_lim[i].tolist(), model.tendon_solimp_lim[i].tolist(), float(model.tendon_margin[i]))
        stop = stop_of(*soft, float(model.tendon_invweight0[i]), float(model.quickest))
        stiff = model.tendon_stiffness[i] or np.any(model.tendon_stiffnesspoly[i])
        tendon = Tendon(
            reading.tendons[i],
            tuple(reading.joints[j] for j in model.wrap_objid[part].tolist()),
            tuple(model.wrap_prm[part].tolist()),
            stiffness=float(model.tendon_stiffness[i]),
            rest=(shortest if shortest == longest else (shortest, longest)) if stiff else 0.0,
            curve=_order(model.tendon_stiffnesspoly[i]),
            damping=float(damping[i]),
            damping_curve=_order(curves[i]),
            friction=float(model.tendon_frictionloss[i]),
            lower=lower,
            upper=upper,
            effort=most if least == -most else (least, most),
            stop=stop if model.tendon_limited[i] else None,
        )
        reading.blueprint.element(reading.line("fixed", model.names["tendon"][i]), tendon)
    names = model.names["tendon"]
    reading.drop("spatial tendons", [names[i] for i in np.flatnonzero(~fixed)])
    reading.drop("rotor inertias (armature) of tendons", [names[i] for i in heavy if fixed[i]])
    reading.drop("yielding of the springs of tendons", [names[i] for i in np.flatnonzero(model.tendon_springyield)])


def add_weight_supports(model: Compiled, reading: Any) -> None:
    """Declares the gravity compensation of bodies, an element for each share of their weight."""
    if not np.any(model.gravity):
        return
    felt = (model.body_gravcomp != 0.0) & (model.body_mass > 0.0) & reading.moving()
    for share in dict.fromkeys(model.body_gravcomp[felt].tolist()):
        bodies = np.flatnonzero(felt & (model.body_gravcomp == share))
        names = tuple(reading.bodies[i] for i in bodies)
        support = WeightSupport(reading.new_element("gravity compensation"), float(share), names)
        reading.blueprint.element(reading.line("body", model.names["body"][bodies[0]]), support)


def add_fluid(model: Compiled, reading: Any) -> None:
    """Declares the fluid: ellipsoids for geoms that ask for them, for all other bodies boxes of the same inertia."""
    *wind, density, viscosity = model.wind.tolist()
    if not (density or viscosity):
        return
    parts: list[DragBox | DragEllipsoid] = []
    moving = reading.moving()
    for i in range(1, len(reading.bodies)):
        if not moving[i] or model.body_mass[i] < LEAST:
            continue
        geoms = [g for g in np.flatnonzero(model.geom_bodyid == i) if model.geom_fluid[g][0] > 0.0]
        parts += [_ellipsoid(model, reading.bodies[i], int(g)) for g in geoms] or [_box(model, reading.bodies[i], i)]
    if parts:
        name = reading.new_element("fluid")
        reading.blueprint.element(0, Fluid(name, tuple(parts), density, viscosity, tuple(wind)))


def _box(model: Compiled, body: str, i: int) -> DragBox:
    """The box with the inertia of body number i."""
    half = equal_box(float(model.body_mass[i]), model.body_inertia[i].tolist())
    R = quat_to_rotation(model.body_iquat[i].tolist())
    return DragBox(body, half, Pose(R, tuple(model.body_ipos[i].tolist())))


def equal_box(mass: float, moments: Sequence[float]) -> tuple[float, ...]:
    """Half the edges [m] of the uniform box with this mass [kg] and these principal moments [kg m^2]."""
    return tuple(math.sqrt(1.5 * max(sum(moments) - 2.0 * own, LEAST) / mass) for own in moments)


def _ellipsoid(model: Compiled, body: str, g: int) -> DragEllipsoid:
    """The ellipsoid of geom number g."""
    share, blunt, slender, angular, kutta, magnus, *added = model.geom_fluid[g].tolist()
    a, b, c = model.geom_size[g].tolist()
    half = {SPHERE: (a, a, a), CAPSULE: (a, a, a + b), CYLINDER: (a, a, b)}.get(int(model.geom_type[g]), (a, b, c))
    at = Pose(quat_to_rotation(model.geom_quat[g].tolist()), tuple(model.geom_pos[g].tolist()))
    coefficients = (blunt, slender, angular, kutta, magnus)
    return DragEllipsoid(body, half, at, *coefficients, tuple(added[:3]), tuple(added[3:]), share)


def add_turning_springs(model: Compiled, reading: Any) -> None:
    """Declares the springs of ball and free joints, called "<joint> spring"; warns about those that are not linear."""
    lost = []
    stiff = (model.jnt_stiffness != 0.0) | np.any(model.jnt_stiffnesspoly != 0.0, axis=1)
    for j in np.flatnonzero(stiff & ((model.jnt_type == BALL) | (model.jnt_type == FREE))):
        name, q = reading.joints[j], int(model.jnt_qposadr[j])
        if np.any(model.jnt_stiffnesspoly[j]) or model.jnt_springyield[j]:
            lost.append(name)
            continue
        k, rest = float(model.jnt_stiffness[j]), model.qpos_spring[q:].tolist()
        free = int(model.jnt_type[j]) == FREE
        parent, child, at, on_child = reading.joint_frames[j]
        home = Pose(quat_to_rotation(rest[3:7]), tuple(rest[:3])) if free else turn(quat_to_rotation(rest[:4]))
        along = (k, k, k) if free else (0.0, 0.0, 0.0)
        spring = Bushing(
            reading.new_element(f"{name} spring"),
            parent,
            child,
            along,
            turning_stiffness=(k, k, k),
            placement_a=compose(at, home),
            placement_b=on_child,
        )
        reading.blueprint.element(reading.line("joint", name), spring)
    reading.drop("springs of ball and free joints that are not linear or yield", lost)


def _order(coefficients: Any) -> tuple[float, ...]:
    """The coefficients of higher order, without zeros at the end."""
    found = coefficients.tolist()
    while found and found[-1] == 0.0:
        found.pop()
    return tuple(found)
