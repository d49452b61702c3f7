"""Fuzzy rules beside a PID: one leg of AMRU5 follows the walk while its foot carries a load.

python examples/28_trained_leg.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import elements
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

LOAD = 9.81 * 34.0 / 3.0  # [N] on the foot while it stands: a third of the robot's weight
DRIVES = {"rotation": ("q6", 1e3, "mrad"), "vertical": ("q7", 1e3, "mm"), "horizontal": ("q8", 1e3, "mm")}

# ── training: rules equal to the PID at first; 12 steps along exact gradients of the sampled, limited system ──────────

trained = elements.train_rules(
    kinemorph.library.amru5_leg("initial rules", load=LOAD), since=1.0, steps=12, method="rk4", step=0.002
)
print("relative error after each step:", *(f"{one:.2f}" for one in trained.history))

# ── the PID and the trained rules, at the load of the training and at 30 % more ───────────────────────────────────────


def leg(controller: str, load: float) -> kinemorph.Trajectory:
    """A run of the leg over two cycles of the walk."""
    if controller == "pid":
        return kinemorph.simulate(kinemorph.library.amru5_leg("pid", load=load), 9.0, output_step=0.005)
    system = trained.in_system(kinemorph.library.amru5_leg("initial rules", load=load))
    return kinemorph.simulate(system, 9.0, output_step=0.005)


runs = {(name, share): leg(name, share * LOAD) for name in ("pid", "rules") for share in (1.0, 1.3)}


def error(run: kinemorph.Trajectory, drive: str) -> np.ndarray:
    """The tracking error of a drive [mrad or mm]."""
    q, scale, _ = DRIVES[drive]
    return scale * (run[f"gait.{q}"] - run[f"q.{q}"])


for drive, (_, _, unit) in DRIVES.items():
    rms = {key: np.sqrt(np.mean(error(run, drive)[run.t >= 1.0] ** 2)) for key, run in runs.items()}
    for share in (1.0, 1.3):
        pid, rules = rms["pid", share], rms["rules", share]
        print(f"{drive:10} {share * LOAD:3.0f} N: PID {pid:.4f} {unit}, rules {rules:.4f} {unit}, {rules / pid:.0%}")

figure, axes = plt.subplots(3, 2, figsize=(11.0, 7.5), layout="constrained", sharex=True)
figure.suptitle(f"One leg of AMRU5 under {1.3 * LOAD:.0f} N, 30 % more than in the training")
styles = (("pid", "PID", "0.55", 1.4), ("rules", "trained fuzzy rules", "C1", 1.0))
for row, (drive, (q, _, unit)) in zip(axes, DRIVES.items(), strict=True):
    for name, label, color, width in styles:
        run = runs[name, 1.3]
        row[0].plot(run.t, error(run, drive), color=color, lw=width, label=label)
        row[1].plot(run.t, run[f"pid.{q}" if name == "pid" else f"rules_{drive}"], color=color, lw=width, label=label)
    row[0].set_ylabel(f"{drive}: error [{unit}]")
    row[1].set_ylabel("voltage [V]")
    for ax in row:
        ax.grid(alpha=0.3)
axes[0, 0].legend(loc="upper left", fontsize=8)
for ax in axes[-1]:
    ax.set_xlabel("t [s]")
print("wrote", save(figure, folder / "28_trained_leg.png"))
