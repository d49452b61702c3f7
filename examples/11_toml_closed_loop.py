"""A linkage from a TOML file: its graph, its mobility, and the curve that its pen draws.

    python examples/11_toml_closed_loop.py [folder]

The file `11_toml_closed_loop.toml` beside this script holds a crank, a coupler and a rocker, with lengths that follow
from one parameter. A joint closes the loop; the reader finds it.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.codegen import build
from kinemorph.codegen.derivatives.newton import newton
from kinemorph.display.canvas import save
from kinemorph.display.charts.figures import draw_topology

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
system = kinemorph.load(Path(__file__).with_suffix(".toml"))
robot = system.robot
for row in robot.table():
    print(f"{row.joint:8} {row.kind:16} {row.parent} -> {row.child}")
print("the cycle:", " - ".join(robot.cycles["closure"]))
print("wrote", save(draw_topology(robot), folder / "11_graph.png"))

# a configuration that closes the loop, near the one that the file gives
dynamics = kinemorph.derive(robot)
close = build(newton(dynamics.constraint_error.program, by="q"))
q, _, _ = close(system.settings.q, 1e-13, 50)
print("q =", np.degrees(q).round(3), "deg; the loop is open by", np.abs(dynamics.constraint_error(q)).max())

# mobility: velocities of the tree, less the independent constraint rows
J = dynamics.constraint_jacobian(q)
rank = np.linalg.matrix_rank(J)
print(f"{robot.nv} joints in the tree, {len(J)} constraint rows of the loop, {rank} of them independent:")
print(f"mobility {robot.nv} - {rank} = {robot.nv - rank}; counting all rows would give {robot.nv - len(J)}")

# one turn of the crank, along the one motion that the loop permits
pen = dynamics.pose("pen")
poses, step = [q], 2.0 * np.pi / 180
while len(poses) < 181:
    motion = np.linalg.svd(dynamics.constraint_jacobian(q))[2][-1]
    q, _, _ = close(q + step * motion / motion[0], 1e-13, 50)
    poses.append(q)
path = np.array([pen(q)[:3, 3] for q in poses])
straight = path[np.cos(np.array(poses)[:, 0]) < 0.0]  # while the crank points away from the rocker
length, height = np.ptp(straight[:, 0]), np.ptp(straight[:, 2])
print(f"over half a turn the pen moves {1e3 * length:.0f} mm and departs from a straight line by {1e3 * height:.2f} mm")

picture = kinemorph.draw(
    robot,
    poses[0],
    ghosts=poses[30:180:30],
    frames=["pen"],
    ground=False,
    camera="right",
    title="Hoecken's linkage, one turn of the crank",
)
picture.axes[0].plot(path[:, 0], path[:, 2], color="#b3261e", linewidth=1.5)  # seen from the right: x and z
print("wrote", save(picture, folder / "11_linkage.png"))
