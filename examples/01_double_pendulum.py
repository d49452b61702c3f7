"""Equations, numbers and a picture of the double pendulum.

    python examples/01_double_pendulum.py [folder]

Two uniform rods swing in the x-z plane; q1 and q2 are the angles of the hinges, q2 relative to the first rod. The
equations are printed with masses and lengths as symbols, then the same model is compiled and falls from rest.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import save
from kinemorph.display.equations.typesetting import draw_equations

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
robot = kinemorph.library.double_pendulum()

# the equations of motion as formulas
equations = kinemorph.equations_of_motion(robot)
print(equations.text)
save(draw_equations(equations), folder / "01_equations.png")

# the same equations as numbers: M(q) a + h(q, v) = tau
dynamics = kinemorph.derive(robot)
q, v, a = np.array([0.3, -0.5]), np.array([1.0, 0.2]), np.array([0.5, -0.1])  # rad, rad/s, rad/s^2
M, h = dynamics.mass_matrix(q), dynamics.bias_forces(q, v)
tau = dynamics.inverse_dynamics(q, v, a)
print("M =", M.round(4).tolist(), "kg m^2")
print("tau =", tau.round(4).tolist(), "N m;  M a + h - tau =", np.abs(M @ a + h - tau).max())

# let it fall from rest: the classical Runge-Kutta method with a step of 5 ms
q, v, dt = np.array([1.2, 0.8]), np.zeros(2), 0.005
free = np.zeros(2)  # no torque at the hinges
start = sum(dynamics.energy(q, v))
snapshots = [q]
for step in range(1, 161):
    k1, l1 = v, dynamics.forward_dynamics(q, v, free)
    k2, l2 = v + dt / 2 * l1, dynamics.forward_dynamics(q + dt / 2 * k1, v + dt / 2 * l1, free)
    k3, l3 = v + dt / 2 * l2, dynamics.forward_dynamics(q + dt / 2 * k2, v + dt / 2 * l2, free)
    k4, l4 = v + dt * l3, dynamics.forward_dynamics(q + dt * k3, v + dt * l3, free)
    q, v = q + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + dt / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    if step % 20 == 0:
        snapshots.append(q)
drift = sum(dynamics.energy(q, v)) - start
print(f"after {160 * dt} s: q = {q.round(4).tolist()} rad, energy has drifted by {drift:.1e} J")

title = "double pendulum, falling from rest: every 0.1 s"
picture = kinemorph.draw(robot, snapshots[-1], ghosts=snapshots[:-1], title=title, camera=(12.0, -78.0))
print("wrote", folder / "01_equations.png", "and", save(picture, folder / "01_double_pendulum.png"))
