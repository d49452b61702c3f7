"""Two benchmarks of the MODUROB paper: the stacked closed form against Lagrange's equations, written by hand.

    python examples/19_lagrange_and_poe.py [folder]

A double pendulum of point masses, and a crane: a pendulum on a joint that slides along x. Each is simulated with the
matrices from products of exponentials (POE), and with textbook equations that SciPy integrates, as in Fig. 7 of the
paper.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import kinemorph
from kinemorph.display.canvas import LINES, blank, save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
g = 9.81  # m/s^2

# ── by hand: Lagrange's equations, unit masses and lengths, a cart of 2 kg; angles from the vertical ──────────────────


def solved(m, c, f1, f2):
    """The accelerations a that solve [[m, c], [c, 1]] a = [f1, f2]."""
    return (f1 - c * f2) / (m - c * c), (m * f2 - c * f1) / (m - c * c)


def pendulum_rates(t, y):
    """Rates of y = (theta1, theta2, theta1d, theta2d) at the time t."""
    th1, th2, w1, w2 = y
    s, c = np.sin(th1 - th2), np.cos(th1 - th2)
    f1, f2 = -(w2**2) * s - 2.0 * g * np.sin(th1), w1**2 * s - g * np.sin(th2)
    return [w1, w2, *solved(2.0, c, f1, f2)]


def crane_rates(t, y):
    """Rates of y = (x, theta, xd, thetad) at the time t."""
    _, th, xd, w = y
    return [xd, w, *solved(3.0, np.cos(th), w**2 * np.sin(th), -g * np.sin(th))]


# ── by the closed form: M(q) = S^T T^T M T S and the other matrices, derived from the robot ───────────────────────────

pendulum = kinemorph.library.double_pendulum((1.0, 1.0), (1.0, 1.0), point=True)  # relative angles
crane = kinemorph.library.crane(cart=2.0, load=1.0, length=1.0)
print("the crane by the closed form, symbols kept:")
print(kinemorph.equations_of_motion(crane, formulation="closed_form").text)
shown = kinemorph.derive(crane, "closed_form", backend="interpreter")
S, T, T_H0, M, ad_Sqd, ad_V = shown.block_matrices([0.0, 0.5], [1.0, 2.0])
print(f"links {shown.link_names}: S is {S.shape}, T {T.shape}, T_H0 {T_H0.shape}, M {M.shape}")
print("S^T T^T M T S =", (S.T @ T.T @ M @ T @ S).round(6).tolist(), "= M(q)")

absolute, as_is = np.tri(2), np.eye(2)  # relative angles add up along the pendulum
cases = {
    "double pendulum": (pendulum, absolute, [np.pi / 4, np.pi / 2], pendulum_rates, ("theta 1", "theta 2")),
    "crane": (crane, as_is, [0.0, np.pi / 3], crane_rates, ("x [m]", "theta [rad]")),
}
# states at 5 s: values of an independent computation to 1e-13
PRINTED = {
    "double pendulum": (0.093202728, 0.424157393, 3.132931094, 1.321073826),
    "crane": (0.551253446, -0.907123336, -0.331467750, 1.614253399),
}

# ── both solutions, overlaid ──────────────────────────────────────────────────────────────────────────────────────────

figure = blank(11.0, 6.2)
rows = figure.subplots(2, 2, sharex=True, height_ratios=(2, 1))
times = np.linspace(0.0, 10.0, 501)
for (name, (robot, sums, start, rates, labels)), (above, below) in zip(cases.items(), rows.T, strict=True):
    dynamics = kinemorph.derive(robot, "closed_form")
    run = kinemorph.simulate(dynamics, 10.0, q=np.linalg.solve(sums, start), output_step=0.02, rtol=1e-13, atol=1e-13)
    by_poe = np.hstack([run.q @ sums.T, run.v @ sums.T])
    by_hand = solve_ivp(rates, (0.0, 10.0), [*start, 0.0, 0.0], "DOP853", t_eval=times, rtol=1e-13, atol=1e-13).y.T
    off = np.abs(by_poe - by_hand).max(axis=1)
    at_five = np.abs(by_poe[250] - PRINTED[name]).max()
    print(f"{name}: POE and Lagrange differ by {off[:251].max():.0e} in 5 s, {off.max():.0e} in 10 s;", end=" ")
    drift = abs(run["energy.balance"]).max()
    print(f"from the reference state at 5 s by {at_five:.0e}; energy conserved to {drift:.0e} J")
    for k, label in enumerate(labels):
        above.plot(times, by_poe[:, k], color=LINES[k], linewidth=3.0, alpha=0.45, label=f"{label}, POE")
        above.plot(times, by_hand[:, k], color="black", linewidth=1.0, dashes=(4, 3), label=f"{label}, Lagrange")
    above.set(title=name, ylabel="angle [rad]" if name != "crane" else "position [m], angle [rad]")
    above.set_ylim(bottom=1.5 * by_poe[:, :2].min())  # room for the legend
    above.legend(fontsize="small", ncols=2, loc="lower center")
    below.semilogy(times, np.maximum(off, 1e-17), color=LINES[1])
    below.set(xlabel="time [s]", ylabel="largest difference", ylim=(1e-16, 1e-8))
    for axes in (above, below):
        axes.grid(alpha=0.3)
figure.tight_layout()
print("wrote", save(figure, folder / "19_lagrange_and_poe.png"))
