"""Closed loops over 1000 s: nothing drifts, and the crank is where the energy integral says it is.

The crank of a mechanism with one freedom and no losses turns by  E = I(theta) rate^2 / 2 + V(theta),  so the time it
takes is a quadrature over theta, which no integrator has a part in. The integrand is periodic and smooth: a Fourier
series of it is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph import derive, neutral, simulate
from kinemorph.analysis.loops.close_loops import Closer
from kinemorph.model.library import four_bar, jansen, spatial_slider_crank
from kinemorph.model.robot import Robot
from kinemorph.model.system import as_robot
from kinemorph.plants import plant

DURATION = 1000.0


class Turning:
    """The angle of a crank over time, from where it was with some rate [rad/s] at q (nq,)."""

    def __init__(self, robot: Robot, q: np.ndarray, rate: float, count: int = 1024) -> None:
        dynamics, closer = derive(robot), Closer(robot, tolerance=1e-13)
        crank = robot.joints[0].name
        angles = np.arange(count) * 2.0 * np.pi / count
        inertia, potential = np.empty(count), np.empty(count)
        start = q[0]
        for k, angle in enumerate(angles):
            q = q.copy()
            q[0] = start + angle
            closed = closer.close(q, held=crank)
            assert closed, closed.message
            q = closed.q
            motion = np.linalg.svd(dynamics.constraint_jacobian(q))[2][-1]
            motion = motion / motion[0]
            inertia[k] = motion @ dynamics.mass_matrix(q) @ motion
            potential[k] = dynamics.energy(q, np.zeros(robot.nv))[1]
        energy = 0.5 * inertia[0] * rate**2 + potential[0]
        assert (energy > potential).all(), "too slow to go round"
        self.series = np.fft.fft(np.sqrt(0.5 * inertia / (energy - potential))) / count  # of dt / dtheta
        self.orders = np.fft.fftfreq(count, 1.0 / count)
        self.period = 2.0 * np.pi * self.series[0].real
        assert np.abs(self.series[count // 2 - 4 : count // 2 + 4]).max() < 1e-12 * self.series[0].real

    def angle(self, t: float) -> float:
        """[rad] from where it was at first."""
        turns, rest = divmod(t, self.period)
        x, waves = 2.0 * np.pi * rest / self.period, self.orders != 0.0
        for _ in range(50):
            phase = np.exp(1j * self.orders[waves] * x)
            past = self.series[0].real * x + (self.series[waves] * (phase - 1.0) / (1j * self.orders[waves])).sum().real
            slope = self.series[0].real + (self.series[waves] * phase).sum().real
            x -= (past - rest) / slope
        return float(2.0 * np.pi * turns + x)


CASES: dict[str, tuple[Any, dict[str, float], float]] = {
    "four_bar": (four_bar(), {"q1": 12.0}, 1e-13),
    "jansen": (jansen(), {"crank_joint": 12.0}, 1e-13),
    "spatial_slider_crank": (spatial_slider_crank(), {"crank_joint": 6.0}, 1e-12),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_thousand_seconds(name: str, record_property: Callable[[str, object], None]) -> None:
    def measured(what: str, value: float) -> None:
        record_property("figure", (f"1000 s of {name}", what, float(value)))

    model, speed, rtol = CASES[name]
    robot = as_robot(model)
    start = {"q": {"q1": 0.6}} if name == "four_bar" else {}
    run = simulate(plant(model), DURATION, v=speed, rtol=rtol, atol=1e-2 * rtol, output_step=1.0, **start)
    assert run.outcome.ok
    measured("loop error [m]", run.loop_error.max())
    measured("its rate [m/s]", run.loop_rate.max())
    assert run.loop_error.max() < 1e-10 and run.loop_rate.max() < 1e-9
    exact = Turning(robot, run.q[0], float(run.v[0, 0]))
    off = [run.q[k, 0] - run.q[0, 0] - exact.angle(run.t[k]) for k in range(0, len(run.t), 50)]
    measured(f"error of the angle [rad], of {run.q[-1, 0]:.0f}", np.abs(off).max())
    assert np.abs(off).max() < 1e-6


def test_the_energy_integral_is_the_motion() -> None:
    """The reference against a short run: neither knows of the other."""
    system = spatial_slider_crank()
    exact = Turning(system.robot, neutral(system.robot), 6.0, 256)
    run = simulate(system, 1.0, rtol=1e-11, atol=1e-13, output_step=0.5)
    assert abs(run.q[1, 0] - exact.angle(0.5)) < 1e-8 and abs(run.q[2, 0] - exact.angle(1.0)) < 1e-8
