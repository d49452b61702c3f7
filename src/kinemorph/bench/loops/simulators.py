"""The contestants on the four-bar: each carries it through ten seconds, in ways that have settings from loose to tight.

Here are ours and Pinocchio's, under SciPy and in C++; `peers` has the simulators. Models are made before; a run is
what is timed, and its angles are read out afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.loops import four_bar_motion
from kinemorph.bench.loops.four_bar_motion import DURATION, START, TIMES, Motion
from kinemorph.model.library.linkages import four_bar
from kinemorph.plants.loop_methods import LOOP_METHODS
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

OURS = "Kinemorph"
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
BAUMGARTE = (100.0, 20.0)  # of Pinocchio: Kp [1/s^2] and Kd [1/s], both roots at -10/s


@dataclass(frozen=True)
class LoopWay:
    """A method of a contestant: `run(setting)` gives what `read` makes a motion of; `says` is "step {:g} s"."""

    contestant: str
    method: str
    settings: tuple[float, ...]
    says: str
    run: Callable[[float], Any]
    read: Callable[[Any], Motion]


def start_angles() -> Array:
    """q (3,) of the tree that is left when the loop is cut: the coupler's angle is from the crank."""
    coupler, rocker = four_bar_motion.assembled(START)
    return np.array([START, coupler - START, rocker])


def of_tree(q: Array) -> Motion:
    """The motion of q (n, 3)."""
    return four_bar_motion.of_angles(q[:, 0], q[:, 0] + q[:, 1], q[:, 2])


# ── ours ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kinemorph_ways() -> list[LoopWay]:
    """Each method of keeping loops by a `Stepper` made before, and the whole call `simulate` as it is by default."""
    return [*map(_by_stepper, LOOP_METHODS), _by_simulate()]


def _by_simulate() -> LoopWay:
    q, times, system = start_angles(), TIMES.tolist(), plant(four_bar())

    def run(tolerance: float) -> Any:
        return simulate(system, DURATION, q=q, output_step=times, method="dop853", rtol=tolerance, atol=tolerance)

    def read(run: Any) -> Motion:
        return of_tree(run.segments[0].q[1:])

    return LoopWay(OURS, "projection, simulate()", TOLERANCES, "tolerance {:.0e}", run, read)


def _by_stepper(loops: str) -> LoopWay:
    q, v, system = start_angles(), np.zeros(3), plant(four_bar(), loops=loops)
    made: dict[float, Stepper] = {}

    def run(tolerance: float) -> Array:
        if tolerance not in made:
            made[tolerance] = Stepper(system, method="dop853", rtol=tolerance, atol=tolerance)
        made[tolerance].restart(0.0, q, v)
        return made[tolerance].through(TIMES, DURATION).rows[:, :3]

    return LoopWay(OURS, loops, TOLERANCES, "tolerance {:.0e}", run, of_tree)


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def pinocchio_ways(library: Path | None) -> list[LoopWay]:
    """`constraintDynamics` under SciPy, bare and with its own correction; and under RK4 in C++, where that is built."""
    from scipy.integrate import ode

    from kinemorph.bench.loops.pinocchio import twin_with_loops
    from kinemorph.bench.peers.pinocchio_cpp import CppPeer
    from kinemorph.bench.peers.pinocchio_python import constrained_call
    from kinemorph.bench.peers.pinocchio_twin import Prox

    robot = four_bar()
    twin = twin_with_loops(robot)
    twin.prox = {"constrained": Prox(1e-14, 1)}
    start = np.concatenate([twin.configuration(start_angles()), np.zeros(robot.nv)])
    none = np.zeros(robot.nv)

    def by_ode(tolerance: float, kp: float, kd: float) -> Array:
        call = constrained_call(twin, "constrained", twin.prox["constrained"], kp=kp, kd=kd)
        function, model, data, more = call.function, twin.model, call.data, call.more

        def rate(t: float, y: Array) -> Array:
            return np.concatenate((y[3:], function(model, data, y[:3], y[3:], none, *more)))

        code = ode(rate).set_integrator("dop853", rtol=tolerance, atol=tolerance, nsteps=10**6)
        code.set_initial_value(start, 0.0)
        return np.array([code.integrate(t)[:3] for t in TIMES])

    def read(angles: Array) -> Motion:
        return of_tree(twin.ours(angles))

    name, says = "Pinocchio", "tolerance {:.0e}"
    bare, corrected = (partial(by_ode, kp=kp, kd=kd) for kp, kd in ((0.0, 0.0), BAUMGARTE))
    ways = [
        LoopWay(name, "SciPy dop853", TOLERANCES, says, bare, read),
        LoopWay(name, "SciPy dop853, Baumgarte", TOLERANCES, says, corrected, read),
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

        ways.append(LoopWay(name, "C++ RK4", (0.01, 0.005, 0.002, 0.001), "step {:g} s", by_rk4, read))
    return ways
