"""A hexapod of 36 degrees of freedom: mass matrix, inverse and forward dynamics for 10,000 states at once.

    python examples/03_hexapod_batch.py [folder]

Arrays are batch-first: q of shape (10000, 37) gives mass matrices of shape (10000, 36, 36).
"""

import sys
import time
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import save
from kinemorph.display.charts.figures import draw_mass_matrix

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
robot = kinemorph.library.hexapod36()
dynamics = kinemorph.derive(robot)
n, rng = 10_000, np.random.default_rng(0)

# standing: the same three angles in every leg [rad], then the trunk raised until the lowest foot is on the ground
angles = {"thigh_joint": -0.5, "shank_joint": 1.1, "foot_joint": 0.55}
standing = kinemorph.neutral(robot)
for joint in robot.joints:
    for ending, angle in angles.items():
        if joint.name.endswith(ending):
            standing[robot.q_slice(joint.name)] = angle
trunk = robot.q_slice(robot.joints[0].name)  # x, y, z and a quaternion
standing[trunk.start + 2] -= min(dynamics.pose(foot.name)(standing)[2, 3] for foot in robot.frames)

# random states near it: `integrate` moves q along a velocity for 1 s, quaternions included
q = kinemorph.integrate(robot, standing, 0.2 * rng.normal(size=(n, robot.nv)))
v, a = rng.normal(size=(2, n, robot.nv))


def timed(name: str, *inputs: np.ndarray) -> np.ndarray:
    """Compiles a function, runs it on the batch, and prints how long each took."""
    function = getattr(dynamics, name)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        result = function(*inputs)
        best = min(best, time.perf_counter() - start)
    print(
        f"{name:17} {function.ops:5} operations, compiled in {function.compile_seconds:.2f} s, "
        f"{n} states in {1e3 * best:6.1f} ms: {1e6 * best / n:.2f} us per state"
    )
    return result


M = timed("mass_matrix", q)
tau = timed("inverse_dynamics", q, v, a)
back = timed("forward_dynamics", q, v, tau)
print("M", M.shape, "  condition numbers up to", f"{np.linalg.cond(M[:1000]).max():.2g}")
print("FD(ID(a)) - a: at most", f"{np.abs(back - a).max():.1e}")

picture = kinemorph.draw(robot, standing, title="hexapod, 36 degrees of freedom")
matrix = draw_mass_matrix(robot, dynamics.mass_matrix.program, M[0])
print("wrote", save(picture, folder / "03_hexapod.png"), "and", save(matrix, folder / "03_mass_matrix.png"))
