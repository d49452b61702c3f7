"""The simplest walker: its gait as an orbit, the doubling of its period, and the diagram on the way to chaos.

python examples/29_orbits.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.algebra.scalar import cos, sin
from kinemorph.orbits import bifurcation_diagram, continuation, periodic_orbit, return_map, switch_branch

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")


# two legs without mass, a hip of mass 1, unit length and gravity (Garcia, Chatterjee, Ruina and Coleman 1998)
def swing(q, v, a, p):
    """The equations of motion while one leg swings: zero at the right accelerations."""
    falling = sin(q[0] - p[0])
    return [a[0] - falling, a[1] - falling - v[0] ** 2 * sin(q[1]) + cos(q[0] - p[0]) * sin(q[1])]


def strike(q, v):
    """The state after the foot strikes the ground and the legs change their names."""
    c = cos(2.0 * q[0])
    return {"q": [-q[0], -2.0 * q[0]], "v": [c * v[0], c * (1.0 - c) * v[0]]}


walker = kinemorph.plants.second_order(
    swing, {"stance": "rad", "swing": "rad"}, parameters={"slope": 0.009}, name="simplest_walker"
)
landing = kinemorph.Guard("heel strike", lambda q: q[1] - 2.0 * q[0], direction="rising")
steps = return_map(walker, section=landing, relabel=strike, q=[0.2, 0.4], v=[-0.2, -0.015])

# the gait: a state that returns to itself after one step
gait = periodic_orbit(steps)
print(gait)
gait.plot(x="q.stance", y="v.stance", path=folder / "29_gait.png")

# along the slope: the gait loses its stability where its period doubles
branch = continuation(gait, "slope", (0.002, 0.019))
twice = switch_branch(branch.at("doubling")[0], (0.002, 0.019))
four = switch_branch(twice.at("doubling")[0], (0.002, 0.019))
print(branch, twice, four, sep="\n")
branch.plot(y="q.swing", compare=[twice, four], path=folder / "29_branches.png")
print("wrote", folder / "29_branches.png")

# where the walk settles on steeper and steeper slopes: 150 steps each, of which the last 40 are shown
slopes = np.linspace(0.014, 0.0188, 60)
starts = np.array([[np.interp(s, branch.values, branch[c.name]) for c in steps.columns] for s in slopes]) * 1.0005
coarse = return_map(walker, section=landing, relabel=strike, q=[0.2, 0.4], v=[-0.2, -0.015], rtol=1e-8, atol=1e-10)
diagram = bifurcation_diagram(coarse, "slope", slopes, z=starts, transient=110, keep=40)
diagram.plot(y="q.swing", path=folder / "29_diagram.png")
print("wrote", folder / "29_diagram.png")
