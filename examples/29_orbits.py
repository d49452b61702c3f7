"""The simplest walker: its gait as an orbit, the doubling of its period, and the diagram on the way to chaos.

python examples/29_orbits.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

from kinemorph import library
from kinemorph.orbits import basin, bifurcation_diagram, continuation, periodic_orbit, switch_branch

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# the gait: a state after a strike that returns to itself after one step (Garcia, Chatterjee, Ruina and Coleman 1998)
walker = library.simplest_walker()
gait = periodic_orbit(walker)
print(gait)
gait.plot(x="q.left", y="v.left", path=folder / "29_gait.png")

# along the slope: the gait loses its stability where its period doubles
branch = continuation(gait, "slope", (0.002, 0.019))
twice = switch_branch(branch.at("doubling")[0], (0.002, 0.019))
four = switch_branch(twice.at("doubling")[0], (0.002, 0.019))
print(branch, twice, four, sep="\n")
branch.plot(y="q.right", compare=[twice, four], path=folder / "29_branches.png")
print("wrote", folder / "29_branches.png")

# where the walk settles on steeper and steeper slopes: 150 steps each, of which the last 40 are shown
diagram = bifurcation_diagram(walker, "slope", np.linspace(0.014, 0.0188, 200), transient=110, keep=40)
print(diagram)
diagram.plot(y="q.right", path=folder / "29_diagram.png")
print("wrote", folder / "29_diagram.png")

# from which states the compass finds its gait: angle of the leg that swings, rate of the leg that stands
angles, rates = np.linspace(-0.36, -0.18, 120), np.linspace(-1.4, -0.8, 120)
starts = basin(library.compass_walker(), {"q.right": angles, "v.left": rates})
print(starts)
starts.plot(path=folder / "29_basin.png")
print("wrote", folder / "29_basin.png")
