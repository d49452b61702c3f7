"""The entries of Kinemorph and of Pinocchio (with SciPy, and in C++) for ten seconds of the four-bar.

The entries of other simulators are in `simulator_entries`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import STEP, TOLERANCE, Entry, Run, by_ode, by_simulate, by_stepper
from kinemorph.bench.loops import four_bar_motion
from kinemorph.bench.loops.four_bar_motion import START, TIMES, Motion
from kinemorph.model.library.linkages import four_bar
from kinemorph.plants.loop_methods import LOOP_METHODS
from kinemorph.plants.robot_plant import plant

OURS = "Kinemorph"
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
BAUMGARTE = (100.0, 20.0)  # gains of Pinocchio's correction: Kp [1/s^2] and Kd [1/s], both roots at -10/s


def start_angles() -> Array:
    """The initial q (3,) of the cut tree [rad]; the angle of the coupler is measured from the crank."""
    coupler, rocker = four_bar_motion.assembled(START)
    return np.array([START, coupler - START, rocker])


def of_tree(q: Array) -> Motion:
    """The motion of the four-bar from configurations of its cut tree, shape (n, 3)."""
    return four_bar_motion.of_angles(q[:, 0], q[:, 0] + q[:, 1], q[:, 2])


# ── ours ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kinemorph_entries() -> list[Entry]:
    """Our entries: a `Stepper` with each method that keeps loops closed, and `simulate` with its default method."""

    def entry(method: str, run: Run, read: Callable[[Any], Motion]) -> Entry:
        return Entry(OURS, method, TOLERANCES, TOLERANCE, run, read)

    given = TIMES, start_angles(), np.zeros(3)
    steppers = [
        entry(loops, by_stepper(plant(four_bar(), loops=loops), *given), lambda rows: of_tree(rows[:, :3]))
        for loops in LOOP_METHODS
    ]
    whole = by_simulate(plant(four_bar()), *given)
    return [*steppers, entry("projection, simulate()", whole, lambda run: of_tree(run.segments[0].q[1:]))]


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def pinocchio_entries(library: Path | None) -> list[Entry]:
    """Pinocchio's entries: `constraintDynamics` with SciPy, without and with Pinocchio's correction of the gap.

    `library` is Pinocchio's C++, with which RK4 is an entry, too; None if it was not built.
    """
    from kinemorph.bench.loops.pinocchio_loops import twin_with_loops
    from kinemorph.bench.peers.pinocchio_cpp import CppPeer
    from kinemorph.bench.peers.pinocchio_python import constrained_call
    from kinemorph.bench.peers.pinocchio_twin import Prox

    robot = four_bar()
    twin = twin_with_loops(robot)
    twin.prox = {"constrained": Prox(1e-14, 1)}
    start = np.concatenate([twin.configuration(start_angles()), np.zeros(robot.nv)])
    none = np.zeros(robot.nv)

    def scipy(kp: float, kd: float) -> Run:
        call = constrained_call(twin, "constrained", twin.prox["constrained"], kp=kp, kd=kd)
        function, model, data, more = call.function, twin.model, call.data, call.more

        def rate(t: float, y: Array) -> Array:
            return np.concatenate((y[3:], function(model, data, y[:3], y[3:], none, *more)))

        return by_ode(rate, TIMES, start)

    def read(rows: Array) -> Motion:
        return of_tree(twin.ours(rows[:, :3]))

    name = "Pinocchio"
    found = [
        Entry(name, "SciPy dop853", TOLERANCES, TOLERANCE, scipy(0.0, 0.0), read),
        Entry(name, "SciPy dop853, Baumgarte", TOLERANCES, TOLERANCE, scipy(*BAUMGARTE), read),
    ]
    if library is not None:
        peer = CppPeer(twin, robot.body_names[-1], library)

        def by_rk4(step: float) -> Array:
            q, v = start[:3].copy(), start[3:].copy()
            rows = []
            for span in np.diff(TIMES, prepend=0.0):
                peer.march("constrained", round(span / step), step, q, v)
                rows.append(q.copy())
            return np.array(rows)

        found.append(Entry(name, "C++ RK4", (0.01, 0.005, 0.002, 0.001), STEP, by_rk4, read))
    return found
