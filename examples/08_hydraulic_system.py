"""A hydraulic cylinder behind a valve: equations of your own, some of which contain no acceleration.

    python examples/08_hydraulic_system.py [folder]

The load moves by  m a + d v = A1 p1 - A2 p2 - F;  the oil in each chamber is a stiff spring,
p' V / B = flow in - flow out, fed through a valve whose flow is proportional to the square root of the pressure drop.
Pressures are coordinates like the position of the piston, only without inertia; the residual form accepts such
coordinates.
"""

import sys
from pathlib import Path

import kinemorph
from kinemorph.algebra.scalar import cos, sqrt, where
from kinemorph.display.canvas import INK, PALETTE, blank, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
MASS, DAMPING, LOAD = 120.0, 800.0, 4000.0  # kg, N s/m, N
AREA = (2.0e-3, 1.2e-3)  # m^2, piston side and rod side
STROKE, DEAD = 0.5, 1.0e-4  # m, m^3
BULK = 1.4e4  # bar, of oil
SUPPLY, TANK = 120.0, 2.0  # bar
VALVE = 4.0e-5  # m^3/s at 1 bar, fully open


def opening(t):
    """Valve opening, -1 to 1: it opens smoothly, stays open, closes, and opens in the other direction."""
    ramp = 0.5 - 0.5 * cos(31.4159265 * where(t < 0.1, t, 0.1))
    turn = 0.5 - 0.5 * cos(31.4159265 * where(t < 0.9, 0.0, where(t < 1.0, t - 0.9, 0.1)))
    return ramp - 1.6 * turn


def through(drop):
    """Flow through a sharp-edged orifice in units of sqrt(bar), smoothed around zero."""
    return drop / sqrt(sqrt(drop * drop + 0.01))


def flows(t, p1, p2):
    """Oil flow into the piston side and out of the rod side [m^3/s]."""
    u = opening(t)
    into = VALVE * u * where(u > 0.0, through(SUPPLY - p1), through(p1 - TANK))
    out = VALVE * u * where(u > 0.0, through(p2 - TANK), through(SUPPLY - p2))
    return into, out


def residual(t, q, v, a):
    """Residual: force balance [N], then volume balance of each chamber [1e-5 m^3/s]; q = [piston m, p1 bar, p2 bar]."""
    x, p1, p2 = q
    into, out = flows(t, p1, p2)
    push = 1e5 * (AREA[0] * p1 - AREA[1] * p2)
    return [
        MASS * a[0] + DAMPING * v[0] + LOAD - push,
        1e5 * (v[1] * (DEAD + AREA[0] * x) / BULK + AREA[0] * v[0] - into),
        1e5 * (v[2] * (DEAD + AREA[1] * (STROKE - x)) / BULK - AREA[1] * v[0] + out),
    ]


p2 = 20.0
start = [0.05, (LOAD / 1e5 + AREA[1] * p2) / AREA[0], p2]  # the pressures carry the load
units = {"piston": "m", "p1": "bar", "p2": "bar"}
cylinder = kinemorph.plants.second_order(residual, units, start=start, outputs={"valve": opening}, name="cylinder")
run = kinemorph.simulate(cylinder, 2.0, method="newmark", rtol=1e-6, atol=1e-6, output_step=0.002)
print(run)


def rates(t, x):
    """The same equations solved for the rates, as other methods need them."""
    place, speed, p1, p2 = x
    into, out = flows(t, p1, p2)
    push = 1e5 * (AREA[0] * p1 - AREA[1] * p2)
    return [
        speed,
        (push - LOAD - DAMPING * speed) / MASS,
        (into - AREA[0] * speed) * BULK / (DEAD + AREA[0] * place),
        (AREA[1] * speed - out) * BULK / (DEAD + AREA[1] * (STROKE - place)),
    ]


states = {"piston": "m", "speed": "m/s", "p1": "bar", "p2": "bar"}
again = kinemorph.plants.first_order(rates, states, start=[start[0], 0.0, *start[1:]], name="cylinder, first order")
check = kinemorph.simulate(again, 2.0, method="rodas", rtol=1e-8, atol=1e-8, output_step=0.002)
print(f"Newmark and Rosenbrock agree to {1e3 * abs(run['q.piston'] - check['piston']).max():.4f} mm")

figure = blank(9.0, 7.5)
axes = figure.subplots(3, 1, sharex=True)
axes[0].plot(run.t, run["valve"], color=INK)
axes[0].set(ylabel="valve opening", title="a cylinder lifts a load and lets it down")
axes[1].plot(run.t, 1e3 * run["q.piston"], color=PALETTE[0], label="newmark")
axes[1].plot(check.t[::40], 1e3 * check["piston"][::40], "o", color=PALETTE[1], markersize=4, label="rodas")
axes[1].set(ylabel="piston [mm]")
axes[1].legend(frameon=False)
axes[2].plot(run.t, run["q.p1"], color=PALETTE[2], label="piston side")
axes[2].plot(run.t, run["q.p2"], color=PALETTE[5], label="rod side")
axes[2].set(ylabel="pressure [bar]", xlabel="time [s]")
axes[2].legend(frameon=False)
figure.tight_layout()
print("wrote", save(figure, folder / "08_hydraulic_system.png"))
