"""The cockroach chooses its stance: stiffness of the joints and angles of the legs at which standing costs least.

The effort is the sum of squared torques of all joints. `least_effort` gives the forces of the feet that hold a posture
with the least effort of all: a bound below every controller. 500 random stances are the comparison.

python examples/40_least_effort.py [folder]
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinemorph import Parameter, library, optimize
from kinemorph.legs import least_effort, with_measures

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# the angles that the controller holds are those of the library plus offsets, the same on both sides of the animal
animal = library.cockroach()
names = {"body_coxa.first": "gamma", "femur_tibia": "tibia"}
offsets = {
    f"{pair}_{name}": Parameter(f"{pair}_{name}", 0.0, "rad")
    for pair in ("front", "middle", "hind")
    for name in names.values()
}
posture = next(element for element in animal.elements if element.name == "posture")
reference = []
for joint, angle in zip(posture.joints, posture.reference, strict=True):
    pair, _, part = joint.split("_", 2)
    reference.append(angle + offsets[f"{pair}_{names[part]}"] if part in names else angle)
posture = replace(posture, reference=tuple(reference))
others = [element for element in animal.elements if element.name != "posture"]
system = with_measures(replace(animal, elements=(*others, posture)), ["effort"])

# feet must not slip, and the trunk must not sink by more than 1 mm
over = {"posture_stiffness": (2e-4, 5e-3, "log"), **{name: (-0.1, 0.1) for name in offsets}}
conditions = {
    f"static_friction * {pair}_left_ground.normal - {pair}_left_ground.friction": (0.0, math.inf)
    for pair in ("front", "middle", "hind")
}
conditions["q.body_root.z"] = (animal.settings.q[2] - 1e-3, math.inf)

best = optimize(system, over, "effort", conditions)
again = optimize(system, over, "effort", conditions)
chance = optimize(system, over, "effort", conditions, search="random", population=500, seed=1)
elsewhere = optimize(system, over, "effort", conditions, start=chance)
bound = least_effort(system, best.result.q)
print(best)
print("the same again:", best.values == again.values)
met = int(np.count_nonzero(chance.history.errors == 0.0))
print(f"the best of 500 random stances, of which {met} meet all conditions: {chance.cost:.4g} N^2 m^2")
print(f"the stance of the library: {best.history.costs[0]:.4g}; begun at a random one: {elsewhere.cost:.4g} N^2 m^2")
print(
    f"no controller holds this posture with less than {bound.effort:.4g} N^2 m^2: {best.cost / bound.effort:.4f} of it"
)
for pair in ("front", "middle", "hind"):
    x, y, z = 1e3 * bound.forces[f"{pair}_left_ground"]
    print(f"{pair} left foot: {x:6.2f} mN forward, {y:6.2f} mN to the left, {z:5.2f} mN up")

over_these = ("posture_stiffness", "front_tibia", "hind_gamma")
title = "a cockroach chooses its stance; dashed: no controller needs less in the best posture"
best.plot(
    beside={"500 random stances": chance},
    over=over_these,
    bound=bound.effort,
    title=title,
    path=folder / "40_stance.png",
)
print("wrote", folder / "40_stance.png")
