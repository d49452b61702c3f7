"""Optimal gaits: RABBIT's step of least effort, the same step under feedback, gaits by speed, and a static gait.

python examples/31_optimal_gaits.py [folder]
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinemorph import Parameter, library
from kinemorph.elements import Integral, Phase, TorqueSpline, VirtualConstraints
from kinemorph.orbits import GaitLibrary, gait_library, optimize_gait, static_gait

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
OPEN = float("inf")

# RABBIT with torques that are splines over the time of a step, and the integral of their squares as the cost
rabbit = library.rabbit()
joints = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee")]
motors = [f"{joint}_motor" for joint in joints]
torques = TorqueSpline.free("torque", motors, Parameter("torque.duration", 0.7, "s"), count=8)
effort = Integral("effort", [f"torque.{motor}" for motor in motors], of="square")
phases = (Phase("step", ("stance", "torque")),)
walker = replace(
    rabbit, elements=(*rabbit.elements, torques, effort), automaton=replace(rabbit.automaton, phases=phases)
)

# the search begins at a step that is drawn by hand: the legs exchange their places, and the swing knee bends
q = dict(zip(rabbit.robot.q_names, rabbit.settings.q, strict=True))
front, rear, knee = q["left_hip"], q["right_hip"], q["left_knee"]
guess = {
    "q.x": [0.0, 0.5],
    "q.z": [0.74, 0.74],
    **{"q.left_hip": [front, rear], "q.left_knee": [knee, knee]},
    **{"q.right_hip": [rear, front], "q.right_knee": [knee, knee + 0.8, knee]},
}
conditions = {
    "duration": 0.7,
    "along": {
        "foot.z": (0.0, OPEN),
        "0.6 * stance.z.force - stance.x.force": (0.0, OPEN),
        "0.6 * stance.z.force + stance.x.force": (0.0, OPEN),
        "q.left_knee": (0.0, OPEN),
        "q.right_knee": (0.0, OPEN),
    },
    "at_end": {"foot.x - heel.x": 0.5},
}
gait = optimize_gait(walker, "effort", torques.parameter_names, **conditions, guess=guess, arcs=5)
print(f"torque splines: {gait.cost:.3f} N^2 m^2 s, largest multiplier {abs(gait.multipliers[0]):.1f}")
gait.plot(title="RABBIT: 0.5 m in 0.7 s with the least effort", path=folder / "31_strip.png")
print("wrote", folder / "31_strip.png")

# gaits by speed: each search begins at the gait before it
end = {"t - torque.duration": 0.0}
free = [*torques.parameter_names, "torque.duration"]
slow = {"along": conditions["along"], "at_end": end, "guess": gait, "arcs": 5}
by_speed = gait_library(walker, "effort", free, [0.7, 0.65, 0.6], stride="foot.x - heel.x", length=0.45, **slow)
path = by_speed.save(folder / "31_gaits.npz")
print(f"gaits by speed: {np.round(by_speed.costs, 1)}; at 0.68 m/s {GaitLibrary.load(path).at(0.68)['cost']:.1f}")

# the same step with feedback: motors keep hips and knees on curves over the angle of the stance leg
step = gait.run().segments[0]
columns = {f"q.{name}": step.q[:, k] for k, name in enumerate(rabbit.robot.q_names)}
phase = ["pitch", "left_hip", "left_knee"]
curves = VirtualConstraints.fitted("curve", joints, phase, columns, weights=(1.0, -1.0, 0.5), degree=8)
effort = Integral("effort", [f"curve.{joint}" for joint in joints], of="square")
on_curves = {f"curve.{joint}.{what}": 0.0 for joint in joints for what in ("error", "error_rate")}
held = optimize_gait(
    *(replace(rabbit, elements=(*rabbit.elements, curves, effort)), "effort", curves.parameter_names),
    duration=0.7,
    at_start={**on_curves, "curve.phase": 0.0},
    at_end={**conditions["at_end"], "curve.phase": 1.0},
    guess={name: values.tolist() for name, values in columns.items()},
    stages=8,
)
print(f"virtual constraints: {held.cost:.3f} N^2 m^2 s, largest multiplier {abs(held.multipliers[0]):.4f}")

# a static gait: the motor of a leg with one degree of freedom holds every posture
turn = static_gait(library.bolt_like(), {"crank_joint": np.linspace(0.0, 2.0 * np.pi, 73)}, friction=0.6, limit=25.0)
print(turn.message, f"At most {np.abs(turn.torques['crank_joint']).max():.3f} N m.")
turn.plot(path=folder / "31_static.png")
print("wrote", folder / "31_static.png")
