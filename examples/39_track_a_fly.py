"""A fly from video: 48 joint coordinates that follow 30 recorded points, with intervals, gaps filled, and a reference.

    python examples/39_track_a_fly.py [folder]

The points were predicted from video of a walking fruit fly (FlyGym, recording 20250613-fly1b-012, Apache-2.0; 60 of its
660 frames at 330 per second are part of this package). `library.fly` has a rigid thorax on a free base and six legs of
seven hinges.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import kinemorph.bench.tracking
from kinemorph import library
from kinemorph.tracking import load_markers, track

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── the recording and the model ───────────────────────────────────────────────────────────────────────────────────────

markers = load_markers(Path(kinemorph.bench.tracking.__file__).parent / "fly_keypoints_60.csv")
robot = library.fly()
print(markers)
print(robot)

# ── all frames together: every marker has the name of a frame of the robot ────────────────────────────────────────────

tracked = track(robot, markers)
print(tracked)
beyond = [name for name in markers.names if not name.endswith("ThC")]
print(f"24 points beyond the thorax: {1e6 * tracked.rms(beyond):.1f} um root mean square")
knee = robot.v_slice("lf_FTi_pitch").start
print(f"left front knee: 95 % interval of +- {np.degrees(np.median(tracked.intervals()[:, knee])):.1f} deg")
tracked.plot(path=folder / "39_fly.png")
tracked.plot(
    "angles", joints=[name for name in robot.joint_names if name.startswith("lf_")], path=folder / "39_leg.png"
)
tracked.plot("residuals", path=folder / "39_residuals.png")

# ── a leg that is hidden for a while: points come back from the motion of the others ──────────────────────────────────

hidden = np.array(markers.positions)
middle = [markers.names.index(name) for name in ("lm_TiTa", "lm_claw")]
hidden[25:33, middle] = np.nan
again = track(robot, replace(markers, positions=hidden))
error = np.linalg.norm(again.positions - markers.positions, axis=2)[25:33][:, middle]
print(f"two points of a leg hidden for 8 frames come back within {1e6 * np.sqrt(np.mean(error**2)):.0f} um")

# ── angles for a controller, and as a table ───────────────────────────────────────────────────────────────────────────

path = tracked.path("walk")
print(f"a SplinePath of {len(path.joints)} hinges at {len(path.times)} times")
print("wrote", tracked.write_csv(folder / "39_angles.csv", intervals=True))
