"""From a downloaded robot to a run on its own floor: a quadruped in MJCF, as others publish them, falls and stands.

    python examples/47_robot_from_a_file.py [folder]

The file says all that a run needs: a floor with its friction, collision shapes, servos with limits, an inertial sensor,
and a keyframe with a pose and the commands of the servos. `System.run` uses them as `kinemorph simulate` does:

    kinemorph simulate examples/47_robot_from_a_file.xml --start stand --time 1.5

Reading MJCF needs `pip install 'kinemorph[mujoco]'`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.image import imread

import kinemorph
from kinemorph.display.canvas import LINES, blank, plain_axes, save

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
system = kinemorph.load(Path(__file__).with_suffix(".xml"))
print(system)

# ── the run: the keyframe, raised by 5 cm ─────────────────────────────────────────────────────────────────────────────

height = system.start("stand").q[2] + 0.05
run = system.run({"start": "stand", "q": {"base.z": height}, "time": 1.5})
print(run)

feet = [name for name in run.columns if name.endswith("sphere.force_z")]
force = sum(run[name] for name in feet)
weight = 9.81 * sum(body.mass for body in system.robot.bodies)
depth = max(run[name.replace("force_z", "depth")].max() for name in feet)
print(f"{len(feet)} feet carry {force[-1]:.2f} N of {weight:.2f} N, and were at most {1e3 * depth:.2f} mm in the floor")
print(f"the trunk stands {run['q.base.z'][-1]:.4f} m high and feels {run['acceleration.az'][-1]:.3f} m/s^2")

# ── a picture: where it stands, and how it got there ──────────────────────────────────────────────────────────────────

out.mkdir(parents=True, exist_ok=True)
portrait = out / "47_stands.png"
kinemorph.draw(system, run.q[-1], ghosts=[run.q[0]], camera=(12.0, -60.0), size=6.0, title="", path=portrait)
figure = blank(10.0, 4.2)
left, right = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
left.imshow(imread(portrait))
left.axis("off")
right.plot(run.t, force, color=LINES[0], label="force of the floor [N]")
right.axhline(weight, color="0.5", linewidth=0.8, linestyle="--", label="weight [N]")
right.plot(run.t, 1e3 * run["q.base.z"], color=LINES[1], label="height of the trunk [mm]")
right.set_xlabel("time [s]")
right.set_ylim(0.0, 1.1 * float(np.max(force)))
plain_axes(right)
right.legend(fontsize="small")
save(figure, out / "47_robot_from_a_file.png")
print("wrote", out / "47_robot_from_a_file.png")
