"""Four pendulums: a large swing and its period in closed form, a ball joint, chaos, a falling chain.

python examples/07_pendulum_zoo.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import INK, PALETTE, blank, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
figure = blank(11.0, 7.4)
axes = figure.subplots(2, 2)

# a pendulum of 1 m swings by 3 rad to either side; its period is an elliptic integral, computed by the
# arithmetic-geometric mean
swing = kinemorph.library.pendulum()
amplitude, mean = 3.0, [1.0, np.cos(1.5)]
for _ in range(6):
    mean = [sum(mean) / 2, np.sqrt(mean[0] * mean[1])]
period = 2 * np.pi * np.sqrt(1.0 / 9.81) / mean[0]
passing = kinemorph.Guard("lowest", lambda q: q[0])
run = kinemorph.simulate(swing, 12.0, q=[amplitude], events=[passing], rtol=1e-12, atol=1e-13)
measured = 2 * np.diff([event.t for event in run.events]).mean()
print(f"period of a swing with amplitude {amplitude} rad: {measured:.10f} s measured, {period:.10f} s in closed form")
axes[0, 0].plot(run.t, run.q[:, 0], color=PALETTE[0])
axes[0, 0].set(
    title=f"a swing with amplitude {amplitude} rad, period {measured:.4f} s", xlabel="time [s]", ylabel="angle [rad]"
)

# a ball joint: the tip draws a rosette, and no orientation is singular
builder = kinemorph.RobotBuilder("cone").add(kinemorph.Body.cylinder("rod", 1.0, 0.02, 1.0, center=(0, 0, -0.5)))
cone = builder.joint("ball", "spherical", "world", "rod").frame("tip", "rod", translation=(0, 0, -1.0)).build()
run = kinemorph.simulate(cone, 20.0, q=[np.cos(0.6), np.sin(0.6), 0, 0], v=[0.0, 0.9, 0.0])
tip = kinemorph.derive(cone).pose("tip")(run.q)[:, :3, 3]
print(f"ball joint: |quaternion| - 1 stays below {abs(np.linalg.norm(run.q, axis=1) - 1).max():.1e}")
axes[0, 1].plot(tip[:, 0], tip[:, 1], color=PALETTE[2], linewidth=0.8)
axes[0, 1].set(title="a ball joint seen from above", xlabel="x [m]", ylabel="y [m]", aspect="equal")

# two double pendulums that start a millionth of a radian apart
double = kinemorph.library.double_pendulum()
runs = [kinemorph.simulate(double, 20.0, q=[2.0 + off, 1.0], rtol=1e-12, atol=1e-13) for off in (0.0, 1e-6)]
apart = np.abs(runs[0].q - runs[1].q).max(axis=1)
print(f"double pendulums that start 1e-6 rad apart are {apart[-1]:.2f} rad apart after 20 s")
axes[1, 0].semilogy(runs[0].t, apart, color=PALETTE[5])
axes[1, 0].set(
    title="chaos: two double pendulums, 1e-6 rad apart", xlabel="time [s]", ylabel="largest difference [rad]"
)

# a chain of ten links, released from the horizontal
chain = kinemorph.library.chain(10)
run = kinemorph.simulate(chain, 1.2, q=np.r_[np.pi / 2, np.zeros(9)], output_step=0.06)
poses = kinemorph.derive(chain).forward_kinematics(run.q)[..., :3, 3]
for k, points in enumerate(poses):
    axes[1, 1].plot(points[:, 0], points[:, 2], color=INK, alpha=0.15 + 0.85 * k / len(poses), linewidth=1.0)
print(f"chain of ten links: energy balance within {abs(run['energy.balance']).max():.1e} J")
axes[1, 1].set(title="a chain of ten links falls (0.06 s apart)", xlabel="x [m]", ylabel="z [m]", aspect="equal")

figure.tight_layout()
print("wrote", save(figure, folder / "07_pendulum_zoo.png"))
