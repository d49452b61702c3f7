"""A walking machine: six Jansen legs on one crankshaft, eighteen loops, feet in contact with the ground.

python examples/18_jansen_walker.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

walker = kinemorph.library.jansen_walker(speed=4.0)  # of the crankshaft [rad/s]
robot = walker.robot
plant = kinemorph.plants.plant(walker, account=True)  # its equations, with an energy balance
start = walker.initial_state()[0]
run = kinemorph.simulate(plant, 5.0, q=start, rtol=1e-8)  # without rtol its steps are longer, in a third of the time
print(run)

# ── the gait: relative to the trunk, a standing foot moves back as fast as the trunk moves forward ────────────────────

dynamics = kinemorph.derive(robot)
feet = {k: dynamics.pose(f"back{k}_foot")(run.q)[:, [0, 2], 3] for k in (1, 2, 3)}
against = feet[1] - run.q[:, :2]  # the path of one foot relative to the trunk (whose pitch is below half a degree)
later = run.t > 1.0
speed = np.polyfit(run.t[later], run["q.trunk.x"][later], 1)[0]
load = np.where(later, run["back1_foot.normal"], 0.0)
back = np.average(-np.gradient(against[:, 0], run.t), weights=load)
print(f"{run['q.trunk.x'][-1]:.2f} m in 5 s: {speed:.3f} m/s; a foot that bears weight moves back at {back:.3f} m/s")
print(f"pitch within {np.degrees(np.abs(run['q.trunk.theta']).max()):.2f} degrees")
print(f"height within {1e3 * np.ptp(run['q.trunk.y'][later]):.1f} mm")

# ── accuracy: errors of the eighteen loops while feet land, slip and lift, and the energy balance ─────────────────────

print(f"loops open by at most {run['loop_error'].max():.1e} m")
balance = np.abs(run["energy.balance"]).max()
print(f"the motor supplied {run['energy.supplied'][-1]:.2f} J; energy balance within {balance:.1e} J")

# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────

figure, (top, left, bottom) = plt.subplots(
    3, 1, figsize=(8.0, 9.0), layout="constrained", height_ratios=(1.0, 1.1, 1.0)
)
top.plot(run.t, run["q.trunk.x"], label="trunk")
for k, path in feet.items():
    top.plot(run.t, path[:, 0], lw=1.0, label=f"rear foot {k}")
top.set_ylabel("forward [m]")
top.set_xlabel("time [s]")
top.legend(fontsize="small")
top.set_title(f"a walker of six Jansen legs, {speed:.2f} m/s at 4 rad/s of its crankshaft")
left.plot(1e3 * against[later, 0], 1e3 * against[later, 1], color="tab:orange")
left.plot(1e3 * against[load > 1.0, 0], 1e3 * against[load > 1.0, 1], ".", color="k", ms=3, label="bears weight")
left.set_aspect("equal")
left.set_xlabel("path of a foot relative to the trunk: forward [mm]")
left.set_ylabel("up [mm]")
left.legend(fontsize="small")
for k in range(1, 4):
    force = run[f"back{k}_foot.normal"] + run[f"front{k}_foot.normal"]
    bottom.plot(run.t[later], force[later], lw=1.0, label=f"legs of throw {k}")
weight = 9.81 * robot.total_mass
bottom.axhline(weight, color="0.5", ls=":", label="weight")
bottom.set_ylim(0.0, 1.6 * weight)
bottom.set_xlabel("time [s]")
bottom.set_ylabel("force on the ground [N]")
bottom.legend(fontsize="small", ncols=4)
for axes in (top, left, bottom):
    axes.grid(alpha=0.3)
figure.savefig(folder / "18_walk.png", dpi=120)
print("wrote", folder / "18_walk.png")
still = kinemorph.draw(robot, run.q[300], camera=(12, -62), title="a Jansen walker")
print("wrote", save(still, folder / "18_jansen_walker.png"))
kinemorph.replay(run, folder / "18_jansen_walker.html", follow="trunk")  # plays in any browser
print("wrote", folder / "18_jansen_walker.html")
