"""What must not change does not, over long runs: energy and momentum of what floats, energy of what swings."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.bench.bench_models import stored_robot
from kinemorph.model.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.simulation.run import simulate
from random_robots import joint_data, random_body, random_states

KINDS = ("revolute", "spherical", "universal")  # joints that slide would fly apart without end


def floating_tree(seed: int, bodies: int = 7) -> Robot:
    """A tree on a free base, without gravity."""
    rng = np.random.default_rng([seed, 5])
    builder = RobotBuilder(f"tree{seed}", gravity=(0.0, 0.0, 0.0)).add(random_body(rng, "b0"))
    builder.joint("j0", "free", "world", "b0")
    for k in range(1, bodies):
        kind = KINDS[k % 3]
        builder.add(random_body(rng, f"b{k}"))
        builder.joint(f"j{k}", kind, f"b{rng.integers(k)}", f"b{k}", **joint_data(rng, kind))
    return builder.build()


def drift(robot: Robot, until: float, seed: int = 0, **options) -> tuple[float, float, float, float]:
    """The largest changes of energy, momentum and spin about the center of mass, against their values at the start.

    The last number is the largest angle of a joint [rad].
    """
    q, v, _, _ = random_states(robot, seed, 1)
    found = simulate(robot, until, q=q[0], v=v[0], sample=until / 50, **options)
    assert found.outcome.ok, found.outcome.message
    (segment,) = found.segments
    q, v = segment.q.copy(), segment.v
    assert np.ptp(q[:, 7:], axis=0).min() > 0.1  # it does move
    q[:, :3] = 0.0  # nothing depends on where it is, and numbers far from the origin have fewer digits
    dynamics = derive(robot)
    energy = dynamics.energy(q, v)[0]
    linear, spin = np.split(dynamics.momentum(q, v), 2, axis=1)
    changes = (np.linalg.norm(values - values[0], axis=1).max() for values in (linear, spin))
    lost, turned = (change / np.linalg.norm(x[0]) for change, x in zip(changes, (linear, spin), strict=True))
    return float(np.abs(energy / energy[0] - 1.0).max()), float(lost), float(turned), float(np.abs(q).max())


def test_a_floating_tree_keeps_energy_and_momentum_for_1000_s():
    energy, linear, spin, _ = drift(floating_tree(1), 1000.0, rtol=1e-13, atol=1e-13)
    assert energy < 1e-11 and max(linear, spin) < 1e-11


def test_a_floating_hexapod_keeps_energy_and_momentum_for_1000_s():
    robot = replace(stored_robot("hexapod36"), gravity=(0.0, 0.0, 0.0))
    energy, linear, spin, _ = drift(robot, 1000.0, rtol=1e-12, atol=1e-12)
    assert energy < 1e-11 and max(linear, spin) < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_floating_trees_keep_energy_and_momentum(seed):
    energy, linear, spin, farthest = drift(floating_tree(seed), 1000.0, seed, rtol=1e-13, atol=1e-13)
    # an angle of 2000 rad, of a joint that never stops turning, is known to 2e-13 rad only: that is what limits tree 3
    assert energy < 1e-9 and max(linear, spin) < 1e-11 + 3e-14 * farthest


def test_three_links_drift_no_more_than_in_mujoco():
    """1 m and 1 kg each, released horizontal: 100 s by Runge-Kutta's method of order 4 with steps of 1 ms."""
    robot = library.chain(3, 1.0, 1.0)
    found = simulate(robot, 100.0, q=[np.pi / 2, 0.0, 0.0], method="rk4", step=1e-3, sample=0.05)
    dynamics, (segment,) = derive(robot), found.segments
    energy = sum(dynamics.energy(segment.q, segment.v))
    whole = 3 * 9.81 * 3.0  # total m g L
    ours = np.abs(energy - energy[0]).max() / whole

    links = "".join(
        f'<body pos="{0.0 if k == 0 else 1.0} 0 0"><joint axis="0 1 0"/>'
        f'<inertial pos="0.5 0 0" mass="1" diaginertia="1e-9 {1 / 12!r} {1 / 12!r}"/>'
        for k in range(3)
    )
    text = (
        '<mujoco><option timestep="0.001" integrator="RK4"><flag energy="enable" constraint="disable"/></option>'
        f"<worldbody>{links}{'</body>' * 3}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    begun, worst = data.energy.sum(), 0.0
    for _ in range(2000):
        mujoco.mj_step(model, data, 50)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        worst = max(worst, abs(data.energy.sum() - begun))
    assert ours <= worst / whole < 1e-3
