"""Reads the sensors of a compiled MuJoCo model as sensors with the same names: columns of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.drives import FIXED_TENDON, SIMPLE
from kinemorph.model.elements import IMU, ForceTorqueSensor, MassCenter, Meter, Probe

BODY, XBODY, SITE = 1, 2, 6  # mjtObj: the frame of a body's inertia, its own frame, a site
ACCELEROMETER, VELOCIMETER, GYRO, FORCE, TORQUE = 1, 2, 3, 4, 5  # mjtSensor, of sites
JOINT_POSITION, JOINT_VELOCITY, TENDON_POSITION, TENDON_VELOCITY, ACTUATOR_FORCE = 9, 10, 11, 12, 15
FRAME_POSITION, FRAME_ORIENTATION, FRAME_VELOCITY, FRAME_RATE = 26, 27, 31, 32
SUBTREE_CENTER, SUBTREE_VELOCITY = 35, 36
CLOCK = 45
OWN = {VELOCIMETER: "velocity", GYRO: "rate"}
FRAME = {
    FRAME_POSITION: "position",
    FRAME_ORIENTATION: "orientation",
    FRAME_VELOCITY: "velocity",
    FRAME_RATE: "rate",
}
SUBTREE = {SUBTREE_CENTER: "position", SUBTREE_VELOCITY: "velocity"}
NAMES = """
    touch accelerometer velocimeter gyro force torque magnetometer rangefinder camprojection jointpos jointvel
    tendonpos tendonvel actuatorpos actuatorvel actuatorfrc jointactuatorfrc tendonactuatorfrc ballquat ballangvel
    jointlimitpos jointlimitvel jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framepos framequat
    framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom subtreelinvel
    subtreeangmom insidesite distance normal fromto contact e_potential e_kinetic clock tactile plugin user
"""  # mjtSensor, in order


def add_sensors(model: Compiled, reading: Any) -> None:
    """Declares the sensors that have a counterpart; warns about all others by their kind."""
    dropped: dict[str, list[str]] = {}
    kinds = NAMES.split()
    acting = {element.name for element in reading.blueprint.elements}
    for k, kind in enumerate(model.sensor_type.tolist()):
        name = model.names["sensor"][k]
        made = _sensor(model, reading, k, reading.new_element(name or f"sensor{k}"), acting)
        if made is None:
            dropped.setdefault(f"sensors of kind {kinds[kind]}", []).append(name)
        else:
            reading.blueprint.element(reading.line("sensor", name), made)
    for what, names in dropped.items():
        reading.drop(what, names)
    late = np.flatnonzero((model.sensor_delay != 0.0) | np.any(model.sensor_interval != 0.0, axis=1))
    reading.drop("delays and intervals of sensors", [model.names["sensor"][k] for k in late])
    reading.drop("cutoffs of sensors", [model.names["sensor"][k] for k in np.flatnonzero(model.sensor_cutoff)])


def _sensor(model: Compiled, reading: Any, k: int, name: str, acting: set[str]) -> Any:
    """The sensor number k with this name; None if it has no counterpart. `acting` are the elements that are read."""
    kind, on, one = (int(getattr(model, f"sensor_{key}")[k]) for key in ("type", "objtype", "objid"))
    if int(model.sensor_refid[k]) >= 0:
        return None
    if kind == CLOCK:
        return Meter(name, "t")
    if kind in (JOINT_POSITION, JOINT_VELOCITY) and model.jnt_type[one] in SIMPLE:
        return Meter(name, f"{'q' if kind == JOINT_POSITION else 'v'}.{reading.joints[one]}")
    if kind in (TENDON_POSITION, TENDON_VELOCITY) and model.tendon_type[one] == FIXED_TENDON:
        return Meter(name, f"{reading.tendons[one]}.{'length' if kind == TENDON_POSITION else 'rate'}")
    if kind == ACTUATOR_FORCE and reading.actuators[one] in acting:
        return Meter(name, f"{reading.actuators[one]}.force")
    if kind == ACCELEROMETER:
        return IMU(name, reading.sites[one])
    if kind in OWN:
        return Probe(name, reading.sites[one], OWN[kind], axes="own")
    if kind in (FORCE, TORQUE):
        i = int(model.site_bodyid[one])
        joint = reading.joint_above.get(reading.bodies[i])
        return None if joint is None else ForceTorqueSensor(name, joint, frame=reading.sites[one])
    if kind in FRAME and on in (XBODY, SITE):
        return Probe(name, reading.sites[one] if on == SITE else reading.bodies[one], FRAME[kind])
    if kind in FRAME and kind != FRAME_ORIENTATION and on == BODY:
        return Probe(name, reading.bodies[one], FRAME[kind], point=tuple(model.body_ipos[one].tolist()))
    if kind in SUBTREE:
        return MassCenter(name, reading.bodies[one], SUBTREE[kind])
    return None
