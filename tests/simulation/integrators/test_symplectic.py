"""Symplectic methods: momentum to rounding, energy without drift, time that runs back; and who is refused."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import UnsupportedError
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators import symplectic, variational
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.march.layout import layout
from kinemorph.simulation.march.march import march
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

OURS = [method.name for method in (*symplectic.FAMILY, *variational.FAMILY)]


def floating(gravity=(0.0, 0.0, 0.0)):
    """A free hull with an arm and a ball on it, on a revolute and a spherical joint."""
    builder = kinemorph.RobotBuilder("floating", gravity=gravity).add(
        kinemorph.Body.box("hull", 2.0, (0.5, 0.3, 0.2)),
        kinemorph.Body.box("arm", 0.7, (0.1, 0.1, 0.6)),
        kinemorph.Body.box("ball", 0.5, (0.1, 0.4, 0.2)),
    )
    builder.joint("base", "free", "world", "hull")
    builder.joint("elbow", "revolute", "hull", "arm", translation=(0.3, 0.1, 0.0), axis=(0, 1, 0))
    return builder.joint("wrist", "spherical", "arm", "ball", translation=(0.0, 0.0, 0.4)).build()


def tumbling(gravity=(0.0, 0.0, 0.0)):
    """A free hull with an arm."""
    builder = kinemorph.RobotBuilder("tumbling", gravity=gravity).add(
        kinemorph.Body.box("hull", 2.0, (0.5, 0.3, 0.2)), kinemorph.Body.box("arm", 0.7, (0.1, 0.1, 0.6))
    )
    builder.joint("base", "free", "world", "hull")
    return builder.joint("elbow", "revolute", "hull", "arm", translation=(0.3, 0.1, 0.0), axis=(0, 1, 0)).build()


SPIN = [0.1, -0.2, 0.3, 0.5, 0.4, -0.3, 1.0, 0.3, 0.5, -0.7]


def three_links():
    """Uniform links of 1 m and 1 kg."""
    builder = kinemorph.RobotBuilder("three links")
    for k, parent in enumerate(("world", "link0", "link1")):
        builder.add(kinemorph.Body.rod(f"link{k}", 1.0, 1.0, center=(0, 0, -0.5)))
        builder.joint(f"q{k}", "revolute", parent, f"link{k}", axis=(0, -1, 0), translation=(0, 0, -1.0 if k else 0.0))
    return builder.build()


def undamped_hexapod():
    robot = kinemorph.library.hexapod24()
    joints = tuple(replace(joint, damping=tuple(0.0 for _ in joint.damping)) for joint in robot.joints)
    return replace(robot, joints=joints, gravity=(0.0, 0.0, 0.0))


def energy_and_momentum(robot, run):
    segment, law = run.segments[-1], kinemorph.derive(robot)
    return sum(law.energy(segment.q, segment.v)), law.momentum(segment.q, segment.v)


# ── momentum ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_free_tree_keeps_its_momentum_to_rounding(record_property):
    robot = floating()
    run = simulate(robot, 200.0, v=SPIN, method="variational", step=0.02, output_step=1.0)
    assert run.statistics.accepted >= 10_000
    energy, momentum = energy_and_momentum(robot, run)
    off = np.abs(momentum - momentum[0]).max()
    record_property("figure", ("variational, 10,000 steps", "momentum", float(off)))
    assert off < 2e-12
    first, last = np.abs(energy - energy[0])[:100].max(), np.abs(energy - energy[0])[100:].max()
    assert last < 1.2 * first < 1e-3 * energy[0]
    other = simulate(robot, 200.0, v=SPIN, method="rk4", step=0.02, output_step=1.0)
    assert np.abs(energy_and_momentum(robot, other)[1] - momentum[0]).max() > 1e3 * off


@pytest.mark.slow
def test_a_hexapod_floats_on_with_its_momentum(record_property):
    robot = undamped_hexapod()
    v = 0.3 * np.random.default_rng(1).normal(size=robot.nv)
    run = simulate(robot, 40.0, v=v, method="variational", step=0.02, output_step=0.5)
    energy, momentum = energy_and_momentum(robot, run)
    record_property("figure", ("variational, hexapod", "momentum", float(np.abs(momentum - momentum[0]).max())))
    assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert np.abs(energy - energy[0]).max() < 2e-4 * energy[0]


def test_no_frame_of_reference_is_special():
    still, falling = tumbling(), tumbling((0.0, 0.0, -9.81))
    seen = simulate(still, 10.0, v=SPIN[:7], method="variational", step=0.02, output_step=1.0)
    from_a_lift = simulate(falling, 10.0, v=SPIN[:7], method="variational", step=0.02, output_step=1.0)
    joints = slice(7, None)  # of q, after the base
    assert np.allclose(seen.segments[0].q[:, joints], from_a_lift.segments[0].q[:, joints], atol=1e-9)
    rise = from_a_lift.segments[0].q[-1, 2] - seen.segments[0].q[-1, 2]
    assert rise == pytest.approx(-0.5 * 9.81 * 100.0, abs=1e-8)  # exact for constant gravity


def test_an_outer_push_is_an_exact_change_of_momentum():
    robot = tumbling()

    def push(q):  # 1 N along the world's z, at the hull's origin, in its own axes
        w, x, y, z = q[3:7]
        length = w * w + x * x + y * y + z * z
        axis = [2 * (x * z - w * y) / length, 2 * (y * z + w * x) / length, (w * w - x * x - y * y + z * z) / length]
        return [*axis, *[0.0] * (robot.nv - 3)]

    run = simulate(robot, 5.0, v=SPIN[:7], forces=push, method="variational", step=0.02, output_step=0.5)
    _, momentum = energy_and_momentum(robot, run)
    gained = momentum[-1, :3] - momentum[0, :3]
    assert gained == pytest.approx([0.0, 0.0, 5.0], abs=1e-11)


# ── energy ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_energy_of_three_links_does_not_drift_where_that_of_rk4_does(record_property):
    """At a step of 50 ms; motion that is not chaotic, so that the figures are the same everywhere."""
    robot = three_links()
    means = {}
    for method in ("variational", "rk4"):
        run = simulate(robot, 1000.0, q=[0.5, 0.1, 0.1], method=method, step=0.05, output_step=0.25)
        assert run.outcome.kind == "finished" and run.statistics.accepted >= 20_000
        energy, _ = energy_and_momentum(robot, run)
        means[method] = np.array([part.mean() for part in np.array_split(energy - energy[0], 4)])
    drift = {method: float(np.ptp(mean)) for method, mean in means.items()}
    for method, size in drift.items():
        record_property("figure", ("three links, 20,000 steps, drift of the energy [J]", method, size))
    assert np.all(np.diff(means["rk4"]) < -0.01)  # [J], lower and lower
    assert drift["variational"] < 0.01 * drift["rk4"]


def test_energy_of_wild_motion_stays_near():
    """Three links released at the horizontal: chaotic, so that only bounds are the same everywhere."""
    robot = three_links()
    run = simulate(robot, 100.0, q=[pi / 2, 0.0, 0.0], method="variational", step=0.005, output_step=0.05)
    energy, _ = energy_and_momentum(robot, run)
    assert run.statistics.accepted >= 20_000
    assert abs((energy - energy[0])[-500:].mean()) < 0.05  # of 14.7 J; single samples are off by up to 0.5


@pytest.mark.parametrize("method", ["leapfrog", "yoshida4", "variational"])
def test_energy_of_gentle_motion_stays_for_ever(method):
    robot = three_links()
    run = simulate(robot, 1000.0, q=[0.5, 0.1, 0.1], method=method, step=0.02, output_step=0.5)
    energy, _ = energy_and_momentum(robot, run)
    first, last = energy[: len(energy) // 2] - energy[0], energy[len(energy) // 2 :] - energy[0]
    assert np.abs(last).max() < 1.1 * np.abs(first).max() < 0.02
    assert first.mean() == pytest.approx(last.mean(), rel=0.1)


@pytest.mark.parametrize("method", ["leapfrog", "yoshida4", "variational"])
def test_time_runs_back(method):
    """The way back is the same way: velocities turned round, the start is reached again."""
    robot = tumbling((0.0, 0.0, -9.81))
    stepper = Stepper(robot, method=method, step=0.02, v=SPIN[:7])
    start = stepper.state
    there = stepper.advance(2.0)
    stepper.place(0.0, v=-there.v)
    back = stepper.advance(2.0)
    assert kinemorph.difference(robot, start.q, back.q) == pytest.approx(np.zeros(robot.nv), abs=1e-9)
    assert back.v == pytest.approx(-start.v, abs=1e-9)


def test_the_variational_step_is_a_symplectic_map():
    """The Jacobian of (q, p) -> (q', p') keeps the symplectic form, by differences of steps."""
    robot = three_links()
    discrete = plant(robot).discrete
    momentum, velocity = build(discrete.momentum), build(discrete.velocity)
    stepper = Stepper(robot, method="variational", step=0.05)
    none, zero = np.zeros(0), np.zeros(3)

    def step(y):
        q, p = y[:3], y[3:]
        stepper.place(0.0, q, velocity(q, np.zeros(6), p, none))
        _, q, v, _ = stepper.step()
        return np.concatenate([q, momentum(q, np.concatenate([zero, v]), none)])

    y = np.array([0.9, -0.4, 0.3, 1.0, 0.5, -0.2])
    J = np.array([(step(y + 1e-5 * e) - step(y - 1e-5 * e)) / 2e-5 for e in np.eye(6)]).T
    form = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    assert np.abs(J.T @ form @ J - form).max() < 1e-7
    assert np.abs(J - np.eye(6)).max() > 0.1


# ── forces, further states, locks, events ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", OURS)
def test_forces_and_damping_come_in_and_the_books_balance(method):
    robot = kinemorph.library.double_pendulum()
    laws = {"forces": lambda t, q, v: [2.0 * t - 0.5 * v[0], -q[1] - 0.2 * v[1]], "q": [0.5, 0.2], "output_step": 0.05}
    run = simulate(robot, 1.0, method=method, step=1e-3, **laws)
    best = simulate(robot, 1.0, rtol=1e-11, atol=1e-12, **laws)
    tolerance = 5e-3 if METHODS[method].order == 1 else 1e-5
    assert np.abs(run.q - best.q).max() < tolerance
    assert np.abs(run.x - best.x).max() < 3.0 * tolerance
    assert np.abs(run["energy.balance"]).max() < 10.0 * tolerance


def test_further_states_go_with_the_motion():
    def motor():
        return plant(
            kinemorph.library.pendulum(),
            forces=lambda x: [2.0 * x[0]],
            states={"current": "A"},
            state_rates=lambda t, x, v: [5.0 * (t - x[0]) - v[0]],
        )

    best = simulate(motor(), 1.0, rtol=1e-12, atol=1e-13, output_step=0.5)
    for method in ("leapfrog", "variational"):
        errors = []
        for h in (0.01, 0.005):
            run = simulate(motor(), 1.0, method=method, step=h, output_step=0.5)
            errors.append(np.abs(np.concatenate([run.x[-1] - best.x[-1], run.q[-1] - best.q[-1]])).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("method", OURS)
def test_locked_joints_do_not_move(method):
    robot = three_links()
    run = simulate(robot, 1.0, q=[0.4, 0.3, 0.2], locked="q1", method=method, step=0.002)
    best = simulate(robot, 1.0, q=[0.4, 0.3, 0.2], locked="q1", rtol=1e-10)
    assert np.array_equal(run.q[:, 1], np.full(len(run.t), 0.3))
    assert np.abs(run.q - best.q).max() < (1e-2 if METHODS[method].order == 1 else 1e-4)


@pytest.mark.parametrize("method", OURS)
def test_first_order_equations_go_as_well_where_they_can(method):
    decay = first_order(lambda t, x: [-x[0] + t], {"x": ""}, start=[1.0])
    if method == "variational":
        with pytest.raises(UnsupportedError, match="kinetic and potential energy"):
            simulate(decay, 1.0, method=method, step=0.01)
        return
    run = simulate(decay, 1.0, method=method, step=0.001)
    assert run.x[-1, 0] == pytest.approx(2.0 * np.exp(-1.0), abs=1e-3)


def test_variational_refuses_loops_with_the_reason():
    with pytest.raises(UnsupportedError, match="loops or coupled joints"):
        simulate(kinemorph.library.four_bar(), 1.0, method="variational", step=0.01)


def test_a_step_without_a_solution_is_a_value():
    run = simulate(three_links(), 10.0, q=[pi / 2, 0.0, 0.0], method="variational", step=0.2)
    assert run.outcome.kind == "failed" and "could not be solved" in run.outcome.message
    stiff = second_order(lambda q, v, a: [a[0] + 1e3 * v[0]], {"x": "m"})
    run = simulate(stiff, 1.0, v=[1.0], method="leapfrog", step=0.01)
    assert run.outcome.kind == "failed" and "smaller step" in run.outcome.message


def test_leapfrog_is_verlet_where_forces_depend_on_places_only():
    """x' = 2 x - x_before + h^2 a: against the formula itself."""
    swing = second_order(lambda q, a: [a[0] + 4.0 * q[0] ** 3], {"x": "m"}, start=[1.0])
    h, n = 0.1, 50
    run = simulate(swing, n * h, method="leapfrog", step=h, output_step=h)
    x = [1.0, 1.0 - 0.5 * h * h * 4.0]
    for _ in range(n - 1):
        x.append(2.0 * x[-1] - x[-2] - h * h * 4.0 * x[-1] ** 3)
    assert run.q[:, 0] == pytest.approx(np.array(x), abs=1e-12)


@pytest.mark.parametrize("name", OURS)
def test_interpreter_and_machine_code_march_alike(name):
    pendulum = plant(kinemorph.library.double_pendulum())
    program = march(pendulum, METHODS[name], samples=3, fixed=True)
    plan = layout(pendulum, METHODS[name])
    memory = np.zeros(plan.size)
    plan.array(memory, "base")[:] = [0.4, -0.3]
    plan.array(memory, "fresh")[...] = 1.0
    plan.array(memory, "h")[...] = 0.01
    inputs = (memory, [0.01, 0.025, 0.03], 3.0, 0.03, [1e-6, 1e-8, 1e-12, 1e30, 1e6, 1e300], [0.1, -0.2], [])
    ways = [build(program, backend)(*inputs)[1] for backend in ("interpreter", "llvm")]
    assert np.allclose(ways[0], ways[1], rtol=1e-12, atol=1e-13)


def test_the_balance_is_solved_with_its_exact_slope():
    discrete = plant(tumbling((0.0, 0.0, -9.81))).discrete
    slope, balance = build(jacobian(discrete.balance, "left", "z")), build(discrete.balance)
    rng = np.random.default_rng(3)
    q = np.array(kinemorph.neutral(tumbling()))
    z, s, p = 0.05 * rng.normal(size=7), np.concatenate([np.zeros(7), SPIN[:7]]), rng.normal(size=7)

    def left(z):
        return balance(0.0, q, s, z, p, 0.05, [], np.zeros(7), [])[0]

    seen = np.array([(left(z + 1e-6 * e) - left(z - 1e-6 * e)) / 2e-6 for e in np.eye(7)]).T
    assert np.allclose(seen, slope(0.0, q, s, z, p, 0.05, [], np.zeros(7), []), atol=1e-6)


@pytest.mark.parametrize(("kind", "locked"), [("free", "base.vy"), ("planar", "base.vy"), ("free", "base.wz")])
def test_variational_steps_with_one_axis_of_a_joint_locked_are_of_second_order(kind, locked):
    """A locked velocity is that of the body on its way, not the shift seen from where the step began."""
    builder = kinemorph.RobotBuilder("sled").add(kinemorph.Body.box("sled", 1.0, (0.3, 0.2, 0.1)))
    builder.add(kinemorph.Body.box("arm", 0.7, (0.1, 0.4, 0.2)))
    sled = builder.joint("base", kind, "world", "sled").joint("turn", "revolute", "sled", "arm", axis=(0, 1, 0)).build()
    v = np.linspace(0.9, -0.7, sled.nv)
    exact = simulate(sled, 1.0, v=v, locked=locked, rtol=1e-12, atol=1e-13, output_step=1.0)
    errors = []
    for n in (50, 100, 200):
        run = simulate(sled, 1.0, v=v, locked=locked, method="variational", step=1.0 / n, output_step=1.0)
        errors.append(max(np.abs(run.q[-1] - exact.q[-1]).max(), np.abs(run.v[-1] - exact.v[-1]).max()))
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("name", ["leapfrog", "yoshida4"])
def test_velocities_that_are_nothing_but_rounding_do_not_stop_a_step(name):
    robot = kinemorph.library.hexapod36()
    q = {joint: 0.1 for joint in robot.q_names[7:]}
    run = simulate(
        robot, 0.25, q=q, v={"trunk_root.wx": 0.3, "trunk_root.wy": 0.2}, method=name, step=1e-3, output_step=0.25
    )
    assert run.outcome.ok, run.outcome.message
    wanted = simulate(robot, 0.25, q=q, v={"trunk_root.wx": 0.3, "trunk_root.wy": 0.2}, output_step=0.25)
    assert np.abs(run.q[-1] - wanted.q[-1]).max() < 1e-5
