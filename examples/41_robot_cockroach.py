"""A cockroach becomes a robot: 15 times as long, with a servo at every axis of its legs, it walks ten body lengths.

    python examples/41_robot_cockroach.py [folder]

`scaled` multiplies every number of the walking animal by the dimension of its field: under the same gravity, masses by
15^3 and times by sqrt(15). The gains of the animal's joints become those of a machine, and servos replace its muscles.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import library
from kinemorph.conventions import Scales
from kinemorph.elements import DCMotor
from kinemorph.model.parameter import evaluate

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
SIZE = 15.0

# ── the animal walks slowly, and so does its copy ─────────────────────────────────────────────────────────────────────

animal = library.running_cockroach(speed=0.04, frequency=1.8, duty=0.6, lift=0.002)
large = kinemorph.scaled(animal, length=SIZE)
scales = Scales(length=SIZE)
length = 0.039 * SIZE  # m, that of the body
print(f"{1e3 * animal.robot.total_mass:.2f} g become {large.robot.total_mass:.2f} kg, {length:.3f} m long")
muscle, joint = (evaluate(one.element("posture").kp[0]) for one in (animal, large))
print(
    f"stiffness of joints {1e3 * muscle:.2f} mN m/rad becomes {joint:.1f} N m/rad: {scales.factor('N m/rad'):.0f} times"
)

# ── servos at the 30 axes; the PD gives their voltages, with the stiffness of the scaled joints ───────────────────────

SERVO = {  # Dynamixel MX-106 at 12 V: emanual.robotis.com/docs/en/dxl/mx/mx-106
    "voltage": 12.0,  # V
    "no_load_speed": 45.0 * 2.0 * math.pi / 60.0,  # rad/s
    "stall_torque": 8.4,  # N m
    "stall_current": 5.2,  # A
    "ratio": 225.0,
}
posture = large.element("posture")
ROTOR = 2e-7  # kg m^2, assumed
motors = [DCMotor.from_servo(f"motor {axis}", axis, **SERVO, inertia=ROTOR) for axis in posture.joints]
per_volt = SERVO["stall_torque"] / SERVO["voltage"]  # N m/V, at rest
drives = replace(posture, kp=joint / per_volt, kd=1.5, drives=tuple(motor.name for motor in motors))
elements = [drives if one is posture else one for one in large.elements]
robot = replace(large, elements=(*elements, *motors))
print(f"{len(motors)} servos of 0.153 kg weigh {len(motors) * 0.153:.1f} kg of these {large.robot.total_mass:.1f} kg")

# ── ten body lengths ──────────────────────────────────────────────────────────────────────────────────────────────────

run = kinemorph.simulate(robot, 44.0, step=4e-4, output_step=0.02)
x, z = run["q.body_root.x"], run["q.body_root.z"]
voltage, current = (np.array([run[f"{motor.name}.{what}"] for motor in motors]) for what in ("voltage", "current"))
w, qx, qy, qz = (run[f"q.body_root.{name}"] for name in ("qw", "qx", "qy", "qz"))
tilt = np.degrees(np.arccos(np.clip(1.0 - 2.0 * (qx**2 + qy**2), -1.0, 1.0)))
print(f"{x[-1]:.2f} m in {run.t[-1]:.0f} s: {x[-1] / length:.1f} body lengths, {run.outcome.kind}")
print(f"height {z.min():.3f} to {z.max():.3f} m, tilt at most {tilt.max():.1f} deg")
print(f"voltages up to {np.abs(voltage).max():.1f} of 12 V, currents up to {np.abs(current).max():.1f} of 5.2 A")

figure, panels = plt.subplots(3, 1, figsize=(8.0, 7.0), sharex=True, layout="constrained")
panels[0].plot(run.t, x / length)
panels[0].set_ylabel("body lengths")
for axes, values, limit, name in ((panels[1], voltage, 12.0, "voltage [V]"), (panels[2], current, 5.2, "current [A]")):
    axes.plot(run.t, np.abs(values).max(axis=0), linewidth=0.8, label="largest of 30")
    axes.plot(run.t, np.sqrt((values**2).mean(axis=0)), linewidth=0.8, label="root of mean square")
    axes.axhline(limit, color="tab:red", linestyle="--", label="limit")
    axes.set_ylabel(name)
    axes.legend(loc="center right", fontsize=8)
panels[-1].set_xlabel("t [s]")
figure.suptitle("a cockroach of 8.8 kg walks on 30 servos")
figure.savefig(folder / "41_motors.png", dpi=110)
print("wrote", folder / "41_motors.png")
kinemorph.draw(robot.robot, run.q[-1], title="15 times a cockroach").savefig(folder / "41_robot.png", dpi=110)
print("wrote", folder / "41_robot.png")
print("wrote", run.replay(folder / "41_robot.html"))
