"""Two organisms of modules meet in free fall and dock; later the combined organism splits.

    python examples/21_docking.py [folder]

A cross of five Backbones turns in free fall. A snake of four approaches, slightly misaligned, with its tail
wagging. As soon as their ports are within 15 mm of each other, the two organisms lock in the pose in which they meet.
At 3 s the snake undocks and takes an arm of the cross along.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.image import imread

import kinemorph
from kinemorph import elements, modules
from kinemorph.algebra.groups import exp_se3
from kinemorph.display.canvas import LINES, blank, plain_axes, save
from kinemorph.display.painting.draw import write_still
from kinemorph.modules import Dock, Undock

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── two organisms in one world, and a gait for the snake's tail ───────────────────────────────────────────────────────

pair = kinemorph.modules.assemble(
    [(0, 1, 3, 4), (0, 2, 4, 3), (0, 3, 5, 2), (0, 4, 2, 5), (5, 6, 3, 4), (6, 7, 3, 4), (7, 8, 3, 4)],
    name="pair",
    several=True,
    at={0: exp_se3((0.0, 0.0, 0.0, 0.0, 0.0, -1.2)), 5: exp_se3((0.36, 0.003, 0.002, 0.03, 0.0, 0.02))},
)
wag = tuple(0.8 * (joint in ("m7_hinge", "m8_hinge")) for joint in modules.hinges(pair))
gait = elements.Rhythmic("gait", modules.hinges(pair), wag, frequency=0.7, ramp=1.0)
system = pair.system([gait, *modules.hinge_drives(pair, gait)], gravity=(0.0, 0.0, 0.0))
print(pair)

# ── the run: modules and the elements that act on them keep their names, whatever they are docked to ──────────────────

approach = {"m5_root.vx": -0.12, "m5_root.wz": -0.03, "m0_root.wz": 1.0}
events = [Dock("m1", 3, "m5", 4, distance=0.015), Undock("m0", 3, at=3.0)]
run = kinemorph.simulate(system, 5.0, v=approach, events=events, output_step=0.02)
print(run)
for event in run.events:
    print(f"{event.t:.3f} s: {event.told}")
for segment in run.segments:
    print(f"{segment.t[0]:.3f} to {segment.t[-1]:.3f} s: {segment.robot}")

# ── momentum is conserved, energy is lost ─────────────────────────────────────────────────────────────────────────────

momenta = run.momentum  # [linear [N s]; angular about the world's origin [N m s]], shape (n, 6)
t = run.t
print(f"momentum conserved to {np.abs(momenta - momenta[0]).max():.0e}", end=", ")
print(f"{run.events[0]['energy_loss']:.6f} J lost in docking")

figure = blank(9.0, 7.0)
top, middle, bottom = figure.subplots(3, 1, sharex=True)
for k, axis in enumerate("xyz"):
    top.plot(t, momenta[:, k], color=LINES[k], label=axis)
    middle.plot(t, 1e3 * momenta[:, 3 + k], color=LINES[k], label=axis)
bottom.plot(run.t, 1e3 * run["energy.kinetic"], color=LINES[0], label="kinetic energy")
bottom.plot(run.t, 1e3 * run["energy.balance"], color=LINES[1], label="balance: energy lost in docking")
top.set_ylabel("linear momentum [N s]")
middle.set_ylabel("angular momentum\n[mN m s]")
bottom.set(ylabel="energy [mJ]", xlabel="time [s]")
for axes in (top, middle, bottom):
    plain_axes(axes)
    axes.legend(fontsize="small", loc="center right", bbox_to_anchor=(1.0, 0.27))
    for event in run.events:
        axes.axvline(event.t, color="0.5", linewidth=0.8, linestyle="--")
for event in run.events:
    top.annotate(event.label, (event.t, 1.02), xycoords=("data", "axes fraction"), fontsize=8)
figure.tight_layout()
print("wrote", save(figure, folder / "21_momentum.png"))

# ── before and after, and a page that plays it ────────────────────────────────────────────────────────────────────────

figure = blank(11.0, 6.4)
for place, t in enumerate((0.0, run.events[0].t, 3.0, 5.0)):
    still = write_still(run, folder / f"21_still{place}.png", t, camera=(45, -75), title=f"{t:.2f} s")
    axes = figure.add_axes((0.5 * (place % 2), 0.5 - 0.5 * (place // 2), 0.5, 0.5))
    axes.imshow(imread(still))
    axes.set_axis_off()
print("wrote", save(figure, folder / "21_docking.png"))
kinemorph.replay(run, folder / "21_docking.html")  # plays in any browser
print("wrote", folder / "21_docking.html")
