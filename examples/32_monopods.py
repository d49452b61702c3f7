"""Monopods on closed chains, as in the paper of Kamidi, Williams and Ben-Tzvi: one runs, one hops in place.

The sizes of BOLT and of Raptor's leg were not published, so that these are stand-ins: Klann's leg has the two loops of
BOLT, Jansen's leg the three loops of Raptor. The pictures correspond to figures 5 to 8 of the paper.

python examples/32_monopods.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

from kinemorph import derive, library, simulate
from kinemorph.display.canvas import blank, save
from kinemorph.loops import SingularPerturbation
from kinemorph.orbits import periodic_orbit

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")


def gait_strip(model, run, driving, heading):
    """Instants of a cycle side by side, one in stance: the crank is black, the driving loop red, other links gray."""
    figure = blank(11.0, 2.7)
    axes = figure.add_axes((0.02, 0.16, 0.96, 0.72))
    stance = int(np.median(np.flatnonzero(run["phase"])))
    for number, k in enumerate(sorted({*np.linspace(0, len(run.t) - 1, 7).astype(int), stance})):
        middle = 0.65 * number  # [m]: the instants are moved apart
        for body, pose in zip(model.robot.bodies, run.body_poses()[k], strict=True):
            color = "black" if body.name == "crank" else "crimson" if body.name in driving else "gray"
            for shape in body.shapes:
                x, _, z = pose[:3, :3] @ shape.placement.p + pose[:3, 3] + [middle - run["q.x"][k], 0.0, 0.0]
                if body.name == "trunk":
                    axes.fill(
                        x + np.array([-0.15, 0.15, 0.15, -0.15]), z + np.array([-0.05, -0.05, 0.05, 0.05]), "0.88"
                    )
                else:
                    dx, _, dz = 0.5 * shape.length * pose[:3, :3] @ np.array(shape.placement.R)[:, 2]
                    axes.plot([x - dx, x + dx], [z - dz, z + dz], color=color, linewidth=2.2, solid_capstyle="round")
        phase = "stance" if run["phase"][k] else "flight"
        axes.text(middle - 0.05, -0.06, f"{1e3 * run.t[k]:.0f} ms, {phase}", ha="center", va="top")
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(heading, fontsize=11)
    return figure


def traces(run, errors, heading):
    """The errors of the constraints of a run, and the angle of its crank."""
    figure = blank(8.0, 5.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for k, error in enumerate(errors.T):
        upper.plot(run.t, 1e3 * error, linewidth=1.3, label=f"loop {k // 2 + 1}, {'xz'[k % 2]}")
    upper.set(ylabel="constraint error [mm]", title=heading)
    upper.legend(ncol=3, frameon=False)
    lower.plot(run.t, np.degrees(run["q.crank_joint"]), color="black", linewidth=1.3)
    for event in run.events:
        if event.name == "touchdown":
            lower.axvline(event.t, color="crimson", linewidth=0.7)
    lower.set(xlabel="t [s], red: touchdown", ylabel="crank from its angle of attack [deg]")
    return figure


# the angles of the crank [rad] in flight and in stance, gains and masses were tuned for steady gaits
tuned = {
    "bolt_like": {"attack": np.radians(225), "push": np.radians(190), "mass": 3.0, "stiffness": 60.0, "damping": 0.5},
    "raptor_like": {"attack": np.radians(248), "push": np.radians(288), "mass": 1.5, "stiffness": 30.0, "damping": 0.3},
}
labels = {
    "bolt_like": ("a monopod on Klann's leg runs, a stand-in for BOLT", ("rocker", "rod"), 5),
    "raptor_like": ("a monopod on Jansen's leg hops in place, a stand-in for Raptor", ("upper", "upper_rod"), 7),
}
for name, values in tuned.items():
    model = getattr(library, name)(**values)
    heading, driving, number = labels[name]

    # the gait as an orbit: a state after liftoff that returns after two edges, by two methods for loops
    gait = periodic_orbit(model, loops="perturbation")
    other = periodic_orbit(model, loops="projection")
    print(gait)
    print(f"the orbits of the two methods differ by {np.abs(gait.z - other.z).max():.1e}")

    # ten cycles
    fine = {"rtol": 1e-10, "atol": 1e-12, "loops": "perturbation"}
    run = simulate(model, 12.0 * gait.period, m={"phase": 0.0}, most_events=20, **gait.state, **fine)
    last = run.events[-1].after
    print(f"{(last['q'] - gait.state['q'])[0] / run.events[-1].t:.4f} m/s over {run.events[-1].t:.4f} s;", end=" ")
    print(f"velocities after ten cycles differ by {np.abs(last['v'] - gait.state['v']).max():.1e}")

    # figures 5 and 7: one cycle; and the phase portrait of the crank, which swings in a narrow band
    figure = gait_strip(model, gait.trajectory, driving, f"{heading} (figure {number} of the paper)")
    print("wrote", save(figure, folder / f"32_{name}.png"))
    gait.plot(x="q.crank_joint", y="v.crank_joint", path=folder / f"32_{name}_orbit.png")

    # figures 6 and 8: loops that are open at the start close; ode45 with samples every 2 ms, as in the paper
    ajar = np.array(model.settings.q)
    ajar[3:] += np.linspace(0.02, -0.02, len(ajar) - 3)
    run = simulate(model, 1.0, q=ajar, loops=SingularPerturbation(0.05), method="ode45", output_step=0.002)
    reduction = derive(model.robot).reduced(("x", "z", "crank_joint"), at=model.settings.q)
    errors = reduction.closure_error(run.q)
    figure = traces(run, errors, f"{heading}\n(figure {number + 1} of the paper, epsilon 0.05 s)")
    print(f"largest error {np.abs(errors[0]).max():.1e} m, after 1 s {np.abs(errors[-1]).max():.1e} m")
    print("wrote", save(figure, folder / f"32_{name}_errors.png"))
