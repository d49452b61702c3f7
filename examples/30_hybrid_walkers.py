"""Hybrid motions: a hopper of two phases, written by hand, and a compass that walks down a slope.

python examples/30_hybrid_walkers.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import RobotBuilder, System, simulate
from kinemorph.display.canvas import save
from kinemorph.elements import Automaton, Edge, Phase, Spring, draw_phases

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# a mass on a spring that acts in stance only
builder = RobotBuilder("hopper")
builder.body("body", mass=10.0)
builder.joint("z", "prismatic", "world", "body", axis=(0, 0, 1))
phases = (Phase("flight"), Phase("stance", "leg"))
edges = (
    Edge("touchdown", "flight", "stance", guard="q.z - 0.8"),
    Edge("liftoff", "stance", "flight", guard="0.8 - q.z"),
)
leg = Spring("leg", "world", "body", stiffness=4000.0, rest=0.8)
hopper = System(builder.build(), (leg,), automaton=Automaton(phases, edges))
hops = simulate(hopper, 2.0, q=[1.0])
print(", ".join(f"{event.name} at {event.t:.3f} s" for event in hops.events))
print("wrote", save(draw_phases(hopper), folder / "30_phases.png"))

# two legs on a slope of 3 degrees: where the swing foot strikes, the legs exchange their names, and a step begins anew
walker = kinemorph.library.compass_walker()
walk = simulate(walker, 5.0)
lost = [event["energy_loss"] for event in walk.events]
print(f"{len(walk.events)} steps, {walk['q.x'][-1]:.2f} m down the slope, {sum(lost):.2f} J lost in impacts")
ghosts = [walk.q[k] for k in np.linspace(10, 300, 8).astype(int)]
picture = kinemorph.draw(walker, walk.q[0], ghosts=ghosts, title="a compass walks down a slope of 3 degrees")
print("wrote", save(picture, folder / "30_walk.png"))
