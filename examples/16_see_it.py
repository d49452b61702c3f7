"""Pages and films: a robot posed by sliders, a replay of a run, two runs in one scene, a gif.

    python examples/16_see_it.py [folder]

Each page is one file that opens in any browser, offline: try `out/16_arm.html`.
docs/viewing.md explains what the pages show.
"""

import sys
from pathlib import Path

import kinemorph
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# a robot from a file: a page with a slider for every joint
arm = kinemorph.load(Path(__file__).with_name("10_urdf_to_c.urdf"))
pages = {"16_arm.html": kinemorph.replay(arm, q=[0.5, 0.6, 0.9, 0.4], camera="iso")}

# a linkage that swings, with the path of its coupler
four_bar = kinemorph.library.four_bar()
closed = [0.6, 0.02989836, 1.6066907]
swing = kinemorph.simulate(four_bar, 3.0, q=closed, output_step=0.005)
pages["16_four_bar.html"] = kinemorph.replay(swing, trace="coupler", columns=["q", "energy"])

# two double pendulums that start a thousandth of a radian apart, in one scene
pendulum = kinemorph.library.double_pendulum()
runs = {f"q2 = {q2}": kinemorph.simulate(pendulum, 8.0, q=[2.2, q2], output_step=0.005) for q2 in (0.6, 0.601)}
pages["16_chaos.html"] = kinemorph.replay(runs, spread=0.0, trace="tip", title="a thousandth of a radian apart")

for name, page in pages.items():
    seconds = page.scene.times[-1]
    what = f"{seconds:g} s" if seconds else "a robot with sliders"
    print(f"wrote {page.save(folder / name)}: {what}, {page.size / 1e3:.0f} kB")

# for slides: a film and a still picture
print("wrote", kinemorph.animate(swing, folder / "16_four_bar.gif", fps=20, trace="coupler", size=3.2))
still = kinemorph.draw(four_bar, swing.q[0], ghosts=swing.q[20:140:24], camera=(12, -68), title="a linkage swings")
print("wrote", save(still, folder / "16_four_bar.png"))
