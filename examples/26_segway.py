"""A segway: gains from `linearize`, a sampled controller with an inertial sensor and encoders, and a push.

python examples/26_segway.py [folder]
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.linalg import expm, solve_discrete_are

import kinemorph
from kinemorph import System, elements, library
from kinemorph.model.library.balancers import BALANCE, EVERY, RADIUS, segway_motors, segway_robot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── design: the vehicle on wheels that roll, linearized about its upright position ────────────────────────────────────

discs = (
    elements.RollingDisc("left_rolls", "left_wheel", RADIUS),
    elements.RollingDisc("right_rolls", "right_wheel", RADIUS, sliding=True),
)
rolling = System(segway_robot(), (*segway_motors(), *discs))
linear = kinemorph.linearize(rolling, q={"root.z": RADIUS}, outputs=())
rows = [linear.state_names.index(f"{kind}.{name}") for kind in "wv" for name in ("root.wy", "left", "right")]
A, B = linear.A[rows] @ linear.basis @ np.linalg.pinv(linear.basis[rows]), linear.B[rows]

# both wheels alike: pitch, angle of the wheels, and their rates; the input is the voltage of both motors
pick = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]], dtype=float)
A, B = np.linalg.pinv(pick) @ A @ pick, np.linalg.pinv(pick) @ B.sum(axis=1, keepdims=True)
held = expm(EVERY * np.block([[A, B], [np.zeros((1, 5))]]))  # over a sample of 10 ms
A, B = held[:4, :4], held[:4, 4:]
Q, R = np.diag([400.0, 4.0, 10.0, 1.0]), np.array([[0.1]])
S = solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)[0]
print("gains:", K.round(2), "- those of the library:", BALANCE)

# ── a push of 400 N for 0.2 s against the chest ───────────────────────────────────────────────────────────────────────

segway = library.segway()
course = elements.Table(
    (0.0, 1.0, 1.001, 1.2, 1.201, 20.0), tuple((f, 0.0, 0.0) for f in (0.0, 0.0, 400.0, 400.0, 0.0, 0.0))
)
push = elements.AppliedWrench("push", "body", force=course, point=(0.0, 0.0, 1.0))
run = kinemorph.simulate(replace(segway, elements=(*segway.elements, push)), 10.0)
pitch = np.degrees(2.0 * np.arctan2(run["q.root.qy"], run["q.root.qw"]))
limited = 0.01 * (np.abs(run["left_motor.voltage"]) > 11.999).sum()
print(f"pitch {pitch.min():.1f} to {pitch.max():.1f} degrees, {limited:.2f} s at 12 V")
print(f"it goes {run['q.root.x'].max():.2f} m and comes back to {abs(run['q.root.x'][-1]):.2f} m")

kinemorph.plot(
    run,
    "q.root.x",
    "v.root.wy",
    "left_motor.voltage",
    "left_tire.longitudinal",
    title="a segway takes a push of 400 N for 0.2 s; its motors have at most 12 V",
    path=folder / "26_segway.png",
)
print("wrote", folder / "26_segway.png")
