"""A rover with rocker-bogie suspension climbs over a bump of half its wheel radius, and stays where it is parked.

python examples/25_rover.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import library
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

climb = library.rover(0.2, bump=0.05)  # 0.2 m/s, wheels of 10 cm radius
run = kinemorph.simulate(climb, 10.0, output_step=0.02)
places = [f"{side}_{wheel}" for side in ("left", "right") for wheel in ("rear", "middle", "front")]
steep = max(float(np.abs(run[f"{name}_motor.voltage"]).max()) for name in places)
print(f"{run['q.root.x'][-1] - run['q.root.x'][0]:.2f} m in 10 s, at most {steep:.1f} V")
print(f"the chassis rises by {1e3 * np.ptp(run['q.root.z']):.0f} mm, the wheels by 50 mm")

parked = kinemorph.simulate(library.rover(0.0, slope=15.0), 61.0, output_step=0.1)
way = np.hypot(parked["q.root.x"] - parked["q.root.x"][10], parked["q.root.z"] - parked["q.root.z"][10])
print(f"parked on 15 degrees it creeps by {1e3 * way[-1]:.2f} mm in 60 s")

figure, rows = plt.subplots(3, 1, figsize=(8.0, 9.0), layout="constrained")
rows[0].plot(run["q.root.x"], 1e3 * (run["q.root.z"] - run["q.root.z"][0]), label="chassis")
ground = np.linspace(-0.8, 1.1, 400)
rows[0].plot(ground, 50.0 * np.exp(-0.5 * (ground / 0.07) ** 2), color="0.4", label="ground")
rows[0].set_ylabel("height [mm]")
rows[0].set_xlabel("chassis [m]")
rows[0].set_title("a rover over a bump of half its wheel radius")
for name in places[:3]:
    rows[1].plot(run.t, run[f"{name}_tire.load"], lw=0.9, label=name.replace("_", " "))
rows[1].set_ylabel("load of a tire [N]")
rows[1].set_xlabel("time [s]")
rows[2].plot(parked.t[10:], 1e3 * way[10:])
rows[2].set_ylabel("creep [mm]")
rows[2].set_xlabel("time [s], parked on 15 degrees")
for axes in rows:
    axes.grid(alpha=0.3)
for axes in rows[:2]:
    axes.legend(fontsize="small")
figure.savefig(folder / "25_rover.png", dpi=120)
print("wrote", folder / "25_rover.png")
still = kinemorph.draw(climb.robot, run.q[155], camera=(15, -60), title="on the bump")
print("wrote", save(still, folder / "25_climbing.png"))
kinemorph.replay(run, folder / "25_rover.html", follow="chassis")  # plays in any browser
print("wrote", folder / "25_rover.html")
