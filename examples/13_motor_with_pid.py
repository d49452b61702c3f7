"""A motor with gearbox and encoder lifts an arm under a sampled PID, with and without anti-windup.

python examples/13_motor_with_pid.py [folder]
"""

import math
import sys
from pathlib import Path

import kinemorph
from kinemorph import Body, RobotBuilder, System, elements

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# an arm of 0.5 kg, 0.4 m, that hangs down
builder = RobotBuilder("arm").add(Body.rod("arm", 0.5, 0.4, center=(0.0, 0.0, -0.2)))
arm = builder.joint("elbow", "revolute", "world", "arm", axis=(0.0, -1.0, 0.0)).build()

# a motor of 12 V with a gearbox 66 : 1, and an encoder of 500 lines on its shaft, read every 2 ms
motor = elements.DCMotor.from_nameplate(
    "motor",
    "elbow",
    voltage=12.0,
    no_load_speed=510.6,
    stall_torque=0.1226,
    inductance=1e-3,
    inertia=1.05e-6,
    ratio=66.0,
    efficiency=0.8,
    voltage_limit=12.0,
)
encoder = elements.Encoder("encoder", joint="elbow", counts=2000.0, ratio=66.0, every=0.002)

# a step of 90 degrees, which saturates the 12 V supply
goal = elements.Setpoint("goal", math.pi / 2)


def control(anti_windup: str) -> elements.PID:
    """A PID sampled every 2 ms; its output is delayed by 1 ms, quantized to 10 bits and limited to 12 V."""
    return elements.PID(
        "pid",
        reads="encoder.position",
        drives="motor",
        reference="goal",
        kp=40.0,
        ki=120.0,
        kd=2.0,
        filter=0.01,
        lower=-12.0,
        upper=12.0,
        anti_windup=anti_windup,
        quantum=24.0 / 1024,
        every=0.002,
        delay=0.001,
    )


runs = {}
for name in ("none", "clamp", "back_calculation"):
    system = System(arm, (goal, encoder, control(name), motor))
    runs[name] = run = kinemorph.simulate(system, 1.5, output_step=0.002)
    late = run.t[abs(run["q.elbow"] - math.pi / 2) > math.radians(2.0)][-1]
    over = math.degrees(run["q.elbow"].max()) - 90.0
    print(f"anti-windup {name:16}: {over:5.1f} deg overshoot, within 2 deg after {late:.2f} s")

balance = kinemorph.audit(runs["clamp"], tolerance=1e-6)
print("energy of supply, windings, gearbox and arm balances:", balance.passed)

kinemorph.plot(
    runs["none"],
    "q.elbow",
    "motor.voltage",
    "motor.current",
    compare={name: run for name, run in runs.items() if name != "none"},
    name="none",
    degrees=True,
    title="a motor with a sampled PID limited to 12 V, three kinds of anti-windup",
    path=folder / "13_motor_with_pid.png",
)
print("wrote", folder / "13_motor_with_pid.png")
