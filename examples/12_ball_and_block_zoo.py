"""Contacts: balls bounce, blocks stick, slip and creep, a ball begins to roll, a capsule tumbles over hills.

python examples/12_ball_and_block_zoo.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import GROUND, INK, PALE, PALETTE, blank, save
from kinemorph.elements import Anchor, Contact, EasyDynNormal, HeightMap, HuntCrossley, Plane, Regularized
from kinemorph.mechanics.elements.contact.grounds import interpolated

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
figure = blank(11.0, 7.6)
axes = figure.subplots(2, 2)
g, radius = 9.81, 0.1


def free(body):
    """A robot of one body that can move freely."""
    return kinemorph.RobotBuilder(body.name).add(body).joint("free", "free", "world", body.name).build()


# four balls fall from 1 m; `HuntCrossley.bouncing` chooses the damping for a given restitution at the first impact
ball, fall = free(kinemorph.Body.sphere("ball", 1.0, radius)), np.sqrt(2 * g)
for k, share in enumerate((0.9, 0.75, 0.6, 0.3)):
    contact = Contact("ground", "ball", HuntCrossley.bouncing(2e7, share, fall), radius=radius)
    start = [0, 0, 1.0 + radius, 1, 0, 0, 0]
    run = kinemorph.simulate(kinemorph.System(ball, (contact,)), 2.5, q=start, output_step=0.004, rtol=1e-9)
    heights = run["q.free.z"] - radius
    first = heights[run.t > 0.55].max()
    print(f"ball with restitution {share}: rises to {first:.4f} m, Newton's law says {share**2:.4f} m")
    axes[0, 0].plot(run.t, heights, color=PALETTE[k], label=f"restitution {share}")
axes[0, 0].set(title="Hunt and Crossley's balls", xlabel="time [s]", ylabel="height [m]")
axes[0, 0].legend(frameon=False, fontsize=8)

# a block on a slope of 30 degrees: with anchored friction it stays in place, with regularized friction it creeps
slope = np.radians(30.0)
down, out = np.array([np.cos(slope), -np.sin(slope)]), np.array([np.sin(slope), np.cos(slope)])
plane = Plane(normal=(np.sin(slope), 0.0, np.cos(slope)))
rails = kinemorph.RobotBuilder("block").add(kinemorph.Body.massless("rail")).add(kinemorph.Body.point("block", 1.0))
rails.joint("x", "prismatic", "world", "rail", axis=(1, 0, 0)).joint("z", "prismatic", "rail", "block", axis=(0, 0, 1))
block, hard = rails.build(), EasyDynNormal(1e5, 1e5)
rest = -g * np.cos(slope) / 1e5 * out
cases = {
    "sticks: anchor, 0.8": (Anchor(0.8, 0.7, 1e5, 300.0), 0.0),
    "creeps: regularized, 0.8": (Regularized(0.8, 0.05), 0.0),
    "slips: anchor, 0.5": (Anchor(0.5, 0.5, 1e5, 300.0), 0.0),
    "pushed up, sticks: anchor, 0.8": (Anchor(0.8, 0.7, 1e5, 300.0), -1.5),
    "pushed up, returns: anchor, 0.3": (Anchor(0.3, 0.3, 1e5, 300.0), -1.5),
}
for k, (name, (friction, speed)) in enumerate(cases.items()):
    contact = Contact("foot", "block", hard, friction, plane)
    system = kinemorph.System(block, (contact,))
    run = kinemorph.simulate(system, 0.8, q=rest, v=speed * down, method="rodas", output_step=0.005)
    axes[0, 1].plot(run.t, (run.q - rest) @ down, color=PALETTE[k], label=name)
    print(f"block, {name}: at {run.v[-1] @ down:+.4f} m/s after 0.8 s, {len(run.events)} switches")
print(f"creep in closed form: {0.05 * np.tan(slope) / 0.8:.4f} m/s")
axes[0, 1].set(title="blocks on a slope of 30 degrees", xlabel="time [s]", ylabel="distance down the slope [m]")
axes[0, 1].legend(frameon=False, fontsize=8)

# friction slows a ball that slides at 3 m/s, and spins it up until it rolls
contact = Contact("ground", "ball", hard, Regularized(0.3, 1e-3), radius=radius)
start = {"q": [0, 0, radius - g / 1e5, 1, 0, 0, 0], "v": [3.0, 0, 0, 0, 0, 0]}
run = kinemorph.simulate(kinemorph.System(ball, (contact,)), 0.5, method="rodas", output_step=0.002, **start)
speed, spin = np.hypot(run["v.free.vx"], run["v.free.vz"]), radius * run["v.free.wy"]
rolls = 2 / 7 * 3.0 / (0.3 * g)
print(f"ball rolls at {speed[-1]:.5f} m/s; closed form 5/7 of 3 m/s: {15 / 7:.5f} m/s, from {rolls:.4f} s on")
axes[1, 0].plot(run.t, speed, color=PALETTE[0], label="speed of the center")
axes[1, 0].plot(run.t, spin, color=PALETTE[1], label="spin times radius")
axes[1, 0].axvline(rolls, color=PALE, linestyle=":", linewidth=1.0)
axes[1, 0].annotate("rolls: 2 v / (7 mu g)", (rolls, 0.4), (6, 0), textcoords="offset points", fontsize=8, color=PALE)
axes[1, 0].set(title="from sliding to rolling", xlabel="time [s]", ylabel="[m/s]", ylim=(0, 3.2))
axes[1, 0].legend(frameon=False, fontsize=8, loc="center right")

# a capsule tumbles over hills that are given by heights on a grid
x, half, thick = np.arange(-1.0, 3.01, 0.25), 0.2, 0.08
hills = 0.2 * np.cos(2.2 * x + 0.6) + 0.45 * np.exp(-((x + 1.0) ** 2)) + 0.5 * np.clip(x - 1.6, 0.0, None)
ground = HeightMap(tuple((float(z),) * 3 for z in hills), (0.25, 1.0), (-1.0, -1.0))
capsule = free(kinemorph.Body.cylinder("capsule", 0.5, thick, 2 * half, axis="x"))
ends = {"point": (-half, 0.0, 0.0), "end": (half, 0.0, 0.0), "radius": thick, "samples": 4}
contact = Contact("skin", "capsule", HuntCrossley(2e5, 0.25), Regularized(0.5, 0.01), ground, **ends)
start = {"q": [-0.6, 0, 1.3, np.cos(0.4), 0, np.sin(0.4), 0], "v": [1.3, 0, 1.0, 0, 9.0, 0]}
run = kinemorph.simulate(kinemorph.System(capsule, (contact,)), 4.0, output_step=0.1, **start)
poses = kinemorph.derive(capsule).forward_kinematics(run.q)[:, 0]
turn = np.linspace(-np.pi / 2, np.pi / 2, 20)
cap = np.transpose([half + thick * np.cos(turn), 0 * turn, thick * np.sin(turn)])
outline = np.concatenate([cap, -cap, cap[:1]])
shown = [*range(16), len(run.t) - 1]
for k in shown:
    edge = (outline @ poses[k, :3, :3].T + poses[k, :3, 3])[:, [0, 2]]
    last = k == shown[-1]
    axes[1, 1].fill(*edge.T, facecolor=PALETTE[5] if last else "white", edgecolor=INK, linewidth=0.9, zorder=2 + k)
fine = np.linspace(-1.0, 3.0, 400)
axes[1, 1].fill_between(fine, [interpolated(ground)(float(one), 0.0) for one in fine], -0.6, color=GROUND)
axes[1, 1].plot(*run.q[:16, [0, 2]].T, color=PALETTE[0], linewidth=0.8, zorder=50)
print(f"capsule on hills: {run['skin.touching'].mean():.0%} of the samples touch; it ends at x = {run.q[-1, 0]:.3f} m")
axes[1, 1].set(title="a capsule tumbles over hills (0.1 s apart)", xlabel="x [m]", ylabel="z [m]")
axes[1, 1].set(aspect="equal", xlim=(-1.0, 2.6), ylim=(-0.4, 1.85))

figure.tight_layout()
print("wrote", save(figure, folder / "12_ball_and_block_zoo.png"))
