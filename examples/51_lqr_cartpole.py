"""A cart-pole with a 12 V motor: linear equations, a regulator of least cost, and an observer that reads encoders.

python examples/51_lqr_cartpole.py [folder]
"""

import math
import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import System, elements, library

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# a cart of 1 kg on wheels of 5 cm, driven by a motor of 12 V; its pole stands
motor = elements.DCMotor.from_nameplate(
    "motor", "x", voltage=12.0, no_load_speed=60.0, stall_torque=2.0, lead=0.1 * math.pi, voltage_limit=12.0
)
cartpole = System(library.cartpole(), (motor,))
print(kinemorph.linearize(cartpole, outputs=["w.x", "w.theta"]))

# ── the regulator of least cost, continuous and sampled, and an observer that reads two encoders ──────────────────────

weights = {"q.x": 20.0, "q.theta": 50.0}, {"motor": 0.05}
regulator = kinemorph.lqr(cartpole, *weights)
sampled = kinemorph.lqr(cartpole, *weights, sample=0.02)
observer = kinemorph.kalman(cartpole, {"motor": 1.0}, 1e-5, outputs=["w.x", "w.theta"], sample=0.02)
print(regulator)

encoders = tuple(elements.Encoder(f"{joint}_encoder", joint, resolution=1e-3) for joint in ("x", "theta"))
reads = {f"w.{joint}": f"{joint}_encoder.position" for joint in ("x", "theta")}
limits = {"lower": -12.0, "upper": 12.0}
controllers = {
    "the state": (regulator.element(**limits),),
    "the state, every 20 ms": (sampled.element(**limits),),
    "two encoders, every 20 ms": (*encoders, sampled.element(observer=observer, reads=reads, **limits)),
}

# ── a start that leans by 0.3 rad ─────────────────────────────────────────────────────────────────────────────────────

runs = {}
for name, controller in controllers.items():
    closed = System(cartpole.robot, (motor, *controller))
    runs[name] = run = kinemorph.simulate(closed, 4.0, q={"theta": 0.3}, output_step=0.01)
    late = run.t[np.abs(run["q.theta"]) > 0.02][-1]
    print(f"{name:26}: within 0.02 rad after {late:.2f} s, the cart goes {np.abs(run['q.x']).max():.2f} m")

first, *others = runs
kinemorph.plot(
    runs[first],
    "q.x",
    "q.theta",
    "motor.voltage",
    compare={name: runs[name] for name in others},
    name=first,
    title="a cart-pole with a 12 V motor starts 0.3 rad from upright",
    path=folder / "51_lqr_cartpole.png",
)
print("wrote", folder / "51_lqr_cartpole.png")
