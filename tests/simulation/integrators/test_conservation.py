"""What must not change does not, over long runs: energy and momentum of what floats, energy of what swings."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch
from support.robots.random_robots import joint_data, random_body, random_states

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
    found = simulate(robot, until, q=q[0], v=v[0], output_step=until / 50, **options)
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


@pytest.mark.slow
def test_a_floating_tree_keeps_energy_and_momentum_for_1000_s():
    energy, linear, spin, _ = drift(floating_tree(1), 1000.0, rtol=1e-13, atol=1e-13)
    assert energy < 1e-11 and max(linear, spin) < 1e-11


@pytest.mark.slow
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


def mujoco_drift(start: float, times: np.ndarray) -> np.ndarray:
    """Change of energy [J] of three links in MuJoCo, by RK4 with steps of 1 ms; `start`: angle below the horizontal."""
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
    data.qpos[0] = start
    energies = []
    for span in np.diff(times, prepend=0.0):
        mujoco.mj_step(model, data, round(span / 1e-3))
        mujoco.mj_forward(model, data)  # else its energy is that of a stage within the last step
        energies.append(data.energy.sum())
    return np.array(energies) - energies[0]


@pytest.mark.slow
def test_three_links_drift_no_more_than_in_mujoco():
    """1 m and 1 kg each, released horizontal: 100 s by Runge-Kutta's method of order 4 with steps of 1 ms.

    Both follow the same motion until chaos parts them, and drift alike; then luck decides which run meets the sharper
    turns. So several starts that differ by a hair are compared.
    """
    robot, starts, times = library.chain(3, 1.0, 1.0), 1e-8 * np.arange(3), 0.05 * np.arange(2001)
    q = np.zeros((len(starts), 3))
    q[:, 0] = np.pi / 2 - starts
    found = simulate_batch(robot, 100.0, q=q, method="rk4", step=1e-3, output_step=times)
    energies = sum(derive(robot).energy(found.q, found.v))
    ours = np.abs(energies - energies[:, :1])
    theirs = np.abs([mujoco_drift(start, times) for start in starts])
    early = times <= 5.0
    assert np.abs(ours - theirs)[:, early].max() < 0.01 * theirs[:, early].max()
    ours, theirs = ours.max(axis=1), theirs.max(axis=1)
    assert np.median(ours) <= theirs.max()
    assert max(ours) < 1e-6 * (3 * 9.81 * 3.0)  # of the total m g L
