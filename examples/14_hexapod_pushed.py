"""A hexapod is dropped, stands on its six feet and is pushed: contact, PD control, equilibrium and poles.

python examples/14_hexapod_pushed.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import elements

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── the robot, its ground, its controller and a push ──────────────────────────────────────────────────────────────────

robot = kinemorph.library.hexapod24()
joints = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
crouch = (0.0, 0.1, 1.2) * 6  # hip, thigh and shank of every leg [rad]
# a sticking foot creeps at 0.2 mm/s * friction force / (0.8 * normal force): regularized friction needs a little slip
soil = {"normal": elements.EasyDynNormal(5e4, 5e5), "friction": elements.Regularized(0.8, 2e-4)}
feet = [elements.Contact(f"foot {k}", f"foot{k}", **soil) for k in range(1, 7)]
hold = elements.PD("hold", joints, kp=60.0, kd=1.5, reference=crouch)
push = elements.AppliedWrench("push", "trunk", force=lambda t: (80.0 * (t > 1.5) * (t < 1.7), 0.0, 0.0))
system = kinemorph.System(robot, (*feet, hold, push))

# ── dropped from 5 cm, pushed for 0.2 s: steps that take the stiff contact forces implicitly ─────────────────────────

start = np.array([0.0, 0.0, 0.21, 1.0, 0.0, 0.0, 0.0, *crouch])
run = kinemorph.simulate(system, 3.0, q=start, output_step=0.005)
weight = 9.81 * sum(body.mass for body in robot.bodies)
forces = np.array([run[f"foot {k}.normal"] for k in range(1, 7)])
print(f"{run.statistics.method}: {run.statistics.accepted} steps in {1e3 * run.statistics.seconds:.0f} ms")
print(f"weight {weight:.2f} N, on the feet at the end {forces[:, -1].sum():.2f} N")

# ── for control design: the equilibrium of the standing robot, and the poles about it ────────────────────────────────

standing = kinemorph.System(robot, (*feet, hold))
rest = kinemorph.equilibrium(standing, q=run.q[-1])
print(rest.message)
sways = kinemorph.poles(standing, rest.q)
slow = sways.values[np.argsort(np.abs(sways.values))]
print("slowest poles [1/s]:", np.array2string(slow[:4], precision=3))

# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────

figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(8.0, 8.0), sharex=True, layout="constrained")
top.plot(run.t, 1e3 * run["q.trunk_root.x"], label="forward")
top.plot(run.t, 1e3 * (run["q.trunk_root.z"] - run["q.trunk_root.z"][-1]), label="up, relative to rest")
top.set_ylabel("trunk [mm]")
for k in range(6):
    middle.plot(run.t, forces[k], lw=1.0, label=f"foot {k + 1}")
middle.plot(run.t, forces.sum(axis=0) / 6.0, "k", lw=1.5, label="mean of all")
middle.axhline(weight / 6.0, color="0.5", ls=":", lw=1.0)
middle.set_ylabel("normal force [N]")
middle.set_ylim(0.0, 1.5 * np.max(forces[:, run.t > 1.4]))
bottom.plot(run.t, run["energy.kinetic"], label="kinetic")
bottom.plot(run.t, run["energy.dissipated"] - run["energy.dissipated"][0], label="dissipated by ground and joints")
bottom.set_ylabel("energy [J]")
bottom.set_xlabel("time [s]")
for axes in (top, middle, bottom):
    axes.axvspan(1.5, 1.7, color="tab:orange", alpha=0.15, lw=0.0)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right", ncols=2, fontsize="small")
top.set_title("a hexapod of 24 dof: dropped, standing, pushed with 80 N (shaded)")
figure.savefig(folder / "14_hexapod_pushed.png", dpi=120)
print("wrote", folder / "14_hexapod_pushed.png")
picture = kinemorph.draw(robot, rest.q, title="standing on six points")
picture.savefig(folder / "14_standing.png", dpi=120)
print("wrote", folder / "14_standing.png")
