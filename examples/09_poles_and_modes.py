"""A hanging chain: its equilibrium, its frequencies beside those of Bernoulli's chain of 1733, and its mode shapes.

python examples/09_poles_and_modes.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
np.set_printoptions(precision=4, suppress=True)

# the equilibrium: Newton's iteration on the residual, from a poor guess
chain = kinemorph.library.chain(10)  # ten rods, 1 m and 1 kg together
rest = kinemorph.equilibrium(chain, q=0.4 * np.cos(np.arange(10)), stable=True)
print(rest.message)

# the modes: exact derivatives, then an eigenvalue problem
swings = kinemorph.poles(chain, rest.q)
bessel = np.array([2.404825557695773, 5.520078110286311, 8.653727912911013, 11.791534439014281])  # zeros of J0
print("ten rods          [rad/s]", swings.omega[:4])
print("a continuous chain [rad/s]", 0.5 * bessel * np.sqrt(9.81))
print("wrote", kinemorph.draw_modes(swings, 6, path=folder / "09_mode_shapes.png") and folder / "09_mode_shapes.png")

# with a damper at every joint the poles leave the imaginary axis; a run that starts in the second mode decays as its
# pole predicts
damped = kinemorph.plants.plant(chain, forces=lambda v: [-2e-3 * rate for rate in v])
poles = kinemorph.poles(damped, rest.q)
kinemorph.plot_poles(poles, title="a hanging chain with a damper at every joint", path=folder / "09_pole_map.png")
print("wrote", folder / "09_pole_map.png")
shape, pole = 1e-4 * poles.shapes[1], poles.values[1]
run = kinemorph.simulate(damped, 6.0, q=rest.q + shape.real, v=(pole * shape).real, output_step=0.002)
swing = run.q @ shape.real
tops = np.flatnonzero((swing[1:-1] > swing[:-2]) & (swing[1:-1] > swing[2:])) + 1
decay = np.polyfit(run.t[tops], np.log(swing[tops]), 1)[0]
print(f"second mode: decay {decay:.3f} 1/s in a run, {pole.real:.3f} 1/s by its pole")
kinemorph.plot(run, "q", title="the second mode dies away", path=folder / "09_second_mode.png")
print("wrote", folder / "09_second_mode.png")
