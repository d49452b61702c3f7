"""A motion that shows the masses and the friction of an arm: search, samples, and a run that follows it.

python examples/34_excite_an_arm.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

from kinemorph import System, library, simulate
from kinemorph.elements import ComputedTorque
from kinemorph.identification import Zone, excite

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# the best motion of 20 s for the Puma, above its table
puma = library.puma()
table = Zone((-np.inf, -np.inf, -np.inf), (np.inf, np.inf, -0.3))
limits = {
    "velocity": [1.9, 1.5, 2.1, 5.0, 4.6, 5.9],
    "acceleration": [6.0, 5.0, 8.0, 20.0, 20.0, 25.0],
    "effort": [97.0, 186.0, 89.0, 24.0, 20.0, 21.0],
}
found = excite(puma, **limits, zones=[table], draws=100)
print(found)
worst = np.argsort(-found.deviations)[:3]
print("known least:", ", ".join(f"{found.names[k]} +- {found.deviations[k]:.2g}" for k in worst))

# its samples as a table, and its picture
print("wrote", found.write_csv(folder / "34_motion.csv"))
found.plot(path=folder / "34_excitation.png")
print("wrote", folder / "34_excitation.png")

# a controller follows it
control = ComputedTorque("control", found.element.joints, kp=100.0, kd=20.0, reference="excitation")
run = simulate(System(puma, (found.element, control)), 20.0, q=found.q[0], output_step=0.01)
print(f"followed within {np.abs(run.q - found.q).max():.1e} rad")
