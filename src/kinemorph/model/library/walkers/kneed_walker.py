"""A passive walker with knees, after McGeer: the knee of the leg that swings is free until the leg is straight."""

from __future__ import annotations

import math

from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.elements.sensing.sensors import Probe
from kinemorph.model.library.walkers.planar import (
    AHEAD,
    BACK,
    SIDES,
    above_zero,
    bob,
    limb,
    on_slope,
    sliding,
    starting,
)
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System

# on the gait of the default data after a heel strike: the angle of the leg that stands, which is the opposite of that
# of the leg that swings [rad], and the rates of the left and right hip [rad/s]; the knees are straight and do not move
START = (0.23858546025340033, -1.1095873311766578, -0.05714810633755566)


def kneed_walker(
    slope: float = 0.0504,
    hip_mass: float = 0.5,
    thigh_mass: float = 0.5,
    shank_mass: float = 0.05,
    length: float = 0.5,
    thigh_center: float = 0.325,
    shank_center: float = 0.125,
    gravity: float = 9.81,
) -> System:
    """Two legs with thighs and shanks of this `length` [m], each with a point mass, and a point mass at the hip.

    `thigh_center` and `shank_center` [m] are the distances of the masses below the hip and below the knee. The leg
    "left" stands with a locked knee. In the phase "swing" the right knee is free, with a positive angle while it is
    bent. Where it is straight it locks, a plastic impact, and in the phase "straight" both knees are locked until the
    heel strikes. They stay locked during the strike; then the names of the legs are exchanged, and the knee of the leg
    that swings is released. The run begins after a strike; with the default data it is on a stable gait.
    """
    data = dict(hip_mass=hip_mass, thigh_mass=thigh_mass, shank_mass=shank_mass, length=length)
    above_zero("kneed_walker", **data, thigh_center=thigh_center, shank_center=shank_center, gravity=gravity)
    mh, mt, ms = (
        Parameter(name, value, "kg", f"m_{name[1]}")
        for name, value in (("mh", hip_mass), ("mt", thigh_mass), ("ms", shank_mass))
    )
    l, ct, cs = (
        Parameter(name, value, "m", symbol)
        for name, value, symbol in (("l", length, "l"), ("ct", thigh_center, "c_t"), ("cs", shank_center, "c_s"))
    )
    builder = RobotBuilder("kneed_walker", gravity=on_slope(slope, gravity)).add(bob("hip", mh, 0.08 * length))
    sliding(builder, "hip")
    for side in SIDES:
        builder.add(
            limb(f"{side}_thigh", mt, l, ct, radius=0.03 * length),
            limb(f"{side}_shank", ms, l, cs, radius=0.02 * length),
        )
        builder.joint(f"{side}_hip", "revolute", "hip", f"{side}_thigh", axis=AHEAD)
        knee = (0.0, 0.0, -l)
        builder.joint(f"{side}_knee", "revolute", f"{side}_thigh", f"{side}_shank", translation=knee, axis=BACK)
        builder.frame(f"{side}_foot", f"{side}_shank", translation=(0.0, 0.0, -l))
    robot = builder.build()
    exchanged = {f"{a}_{joint}": f"{b}_{joint}" for a, b in (SIDES, SIDES[::-1]) for joint in ("hip", "knee")}
    phases = (
        Phase("swing", "stance", locked="left_knee"),
        Phase("straight", "stance", locked=("left_knee", "right_knee")),
    )
    ahead = "q.right_hip - q.left_hip"
    edges = (
        Edge("knee", "swing", "straight", "q.right_knee"),
        Edge("heel", "straight", "swing", "foot.z", when=ahead, relabel=tuple(exchanged.items()), during="straight"),
    )
    angle, left, right = START
    leg = 2.0 * length
    q = {"x": -leg * math.sin(angle), "z": leg * math.cos(angle), "left_hip": angle, "right_hip": -angle}
    v = {"x": -leg * math.cos(angle) * left, "z": -leg * math.sin(angle) * left, "left_hip": left, "right_hip": right}
    start = starting(robot, q, v, 10.0)
    elements = (Hold("stance", "left_foot", axes="xz"), Probe("foot", "right_foot"))
    return System(robot, elements, start, automaton=Automaton(phases, edges))
