"""The march itself: samples, times, boundaries, the manifold, one call of machine code for many steps."""

import math
import warnings

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.building.compile import build
from kinemorph.errors import ModelError, ShapeError, SlowRunWarning, StepError, UnsupportedError
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.march.layout import Status, layout
from kinemorph.simulation.march.march import march
from kinemorph.simulation.running import patience
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.regular_functions import HeldInputs, Regular
from kinemorph.simulation.stepping.stepper import Stepper
from support.tools.each_case import each_case

oscillator = first_order(lambda x: [x[1], -x[0]], {"place": "m", "speed": "m/s"}, start=[1.0, 0.0], name="oscillator")


def test_dense_samples_are_as_accurate_as_steps():
    run = simulate(oscillator, 20.0, output_step=0.0137, rtol=1e-10, atol=1e-12)
    segment = run.segments[0]
    assert run.statistics.accepted < len(segment.t) / 4  # so that most samples lie within steps
    assert np.abs(segment.x[:, 0] - np.cos(segment.t)).max() < 3e-9
    assert np.abs(segment.x[:, 1] + np.sin(segment.t)).max() < 3e-9


def test_times_do_not_drift_over_a_million_fixed_steps():
    run = simulate(first_order(lambda x: [1.0], {"x": ""}), 100.0, method="euler", step=1e-4, output_step=100.0)
    assert run.statistics.accepted == 1_000_000
    assert run.segments[0].t[-1] == 100.0
    assert run.segments[0].x[-1, 0] == pytest.approx(100.0, abs=1e-8)
    ticking = first_order(lambda t: [t], {"x": ""})
    stepper = Stepper(ticking, method="euler", step=0.1)
    for k in range(1, 1001):
        assert stepper.step().t == pytest.approx(0.1 * k, abs=math.ulp(100.0))


def test_sample_times_are_exact_and_include_both_ends():
    run = simulate(oscillator, 1.0, output_step=0.3)
    assert np.array_equal(run.segments[0].t, [0.0, 0.3, 0.6, 0.9, 1.0])  # as they are written, not 3 * 0.3
    run = simulate(oscillator, 1.0, output_step=[0.2, 0.9], start=0.1)
    assert np.array_equal(run.segments[0].t, [0.1, 0.2, 0.9, 1.0])
    assert run.outcome.t == 1.0


@pytest.mark.parametrize("method", ["dop853", "scipy:DOP853"])
def test_more_samples_within_a_step_than_fit_a_call_are_all_there(method):
    falling = second_order(lambda a: [a[0] + 9.81], {"height": "m"}, start=[10.0])
    run = simulate(falling, 10.0, output_step=0.001, method=method)
    assert run.statistics.accepted < 40 and len(run.t) == 10_001
    assert np.abs(run.q[:, 0] - (10.0 - 0.5 * 9.81 * run.t**2)).max() < 1e-9
    until = Guard("ground", lambda q: q[0], "falling", stop=True)
    run = simulate(falling, 10.0, output_step=0.001, method=method, events=[until])
    assert np.array_equal(run.t[:-1], np.arange(1428) / 1000) and run.t[-1] == run.outcome.t


@pytest.mark.parametrize("number", [int, np.int64, np.float32])
def test_times_may_be_any_kind_of_number(number):
    wanted = simulate(oscillator, 3.0, start=1.0, output_step=1.0)
    run = simulate(oscillator, number(3), start=number(1), output_step=number(1))
    assert np.array_equal(run.t, [1.0, 2.0, 3.0])
    assert np.array_equal(run.x, wanted.x)
    assert Stepper(oscillator, t=number(1)).advance(number(3)).t == 3.0


def test_ten_thousand_steps_are_one_call():
    stepper = Stepper(oscillator, method="rk4", step=1e-3)
    stepper.advance(10.0)
    assert stepper.counts == (10_000, 0)
    assert stepper.calls == 1


def test_one_step_and_interval_calls_agree_with_a_run():
    stepper = Stepper(oscillator, method="rk4", step=0.01)
    for _ in range(100):
        stepper.step()
    assert stepper.state.t == pytest.approx(1.0, abs=1e-15)
    other = Stepper(oscillator, method="rk4", step=0.01)
    other.advance(1.0)
    assert np.allclose(stepper.state.x, other.state.x, atol=1e-14)
    run = simulate(oscillator, 1.0, method="rk4", step=0.01, output_step=1.0)
    assert np.array_equal(run.segments[0].x[-1], other.state.x)


QUICK = ("dop853", "radau", "newmark", "extrapolated_contact")  # one of each family; the others are slow


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name, method in METHODS.items()
        if method.adaptive
    ],
)
def test_interpreter_and_machine_code_march_alike(name):
    pendulum = plant(kinemorph.library.double_pendulum())
    program = march(pendulum, METHODS[name], samples=4)
    plan = layout(pendulum, METHODS[name])
    memory = np.zeros(plan.size)
    plan.array(memory, "base")[:] = [0.4, -0.3]
    plan.array(memory, "fresh")[...] = 1.0
    plan.array(memory, "h")[...] = 0.01
    limits = [1e-3, 1e-4, 1e-12, 1e30, 1e6, 1e300]
    inputs = (memory, [0.05, 0.1, 0.15, 0.2], 4.0, 0.2, limits, [0.1, -0.2], np.zeros(0))
    ways = [build(program, backend)(*inputs)[1] for backend in ("interpreter", "llvm")]
    lanes = build(program)(*(np.stack([np.asarray(x)] * 3) for x in inputs))[1]
    assert np.allclose(ways[0], ways[1], rtol=1e-12, atol=1e-13)
    assert np.allclose(lanes[1], ways[1], rtol=1e-12, atol=1e-13)
    assert np.array_equal(lanes[0], lanes[2])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_an_infinite_state_ends_a_march_in_both_precisions(precision, backend):
    """The bound of finite numbers, 1e300, is infinity itself in float32: infinite states were accepted there."""
    growing = first_order(lambda x: [1e4 * x[0]], {"x": ""}, start=[1.0])
    program, plan = march(growing, METHODS["euler"], samples=2, fixed=True), layout(growing, METHODS["euler"])
    memory = np.zeros(plan.size)
    for name in ("s", "fresh", "h"):
        plan.array(memory, name)[...] = 1.0
    limits = [1e-3, 1e-4, 1e-12, 1e30, 1e6, 1e300]
    inputs = (memory, [8.0, 100.0], 2.0, 100.0, limits, np.zeros(0), np.zeros(0))
    outs, ins = ([np.array(x, precision) for x in xs] for xs in ((memory, np.zeros((2, 1)), 0.0, 0.0), inputs))
    with np.errstate(over="ignore"):
        build(program, backend, precision=precision).raw(tuple(outs), *ins)
    _, rows, done, status = outs
    assert status == Status.INFINITE and done == 1 and rows[0] == pytest.approx(1e4**8, rel=1e-2)


def test_rotations_stay_on_the_sphere_and_pass_every_attitude():
    builder = kinemorph.RobotBuilder("body", gravity=(0, 0, 0)).add(kinemorph.Body.box("box", 2.0, (0.1, 0.2, 0.4)))
    body = builder.joint("free", "free", "world", "box").build()
    run = simulate(body, 20.0, v=[1.0, 0.5, -0.2, 3.0, 0.1, 2.0], rtol=1e-11, atol=1e-12)
    segment = run.segments[0]
    assert np.abs(np.linalg.norm(segment.q[:, 3:], axis=1) - 1.0).max() < 1e-15
    momentum = kinemorph.derive(body).momentum(segment.q, segment.v)
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    energy = sum(kinemorph.derive(body).energy(segment.q, segment.v))
    assert np.ptp(energy) < 1e-9 * energy[0]


# ── inputs, forces, locks ─────────────────────────────────────────────────────────────────────────────────────────────


def test_forces_are_compiled_in_and_supply_what_the_energy_gains():
    arm = kinemorph.library.double_pendulum()
    run = simulate(arm, 3.0, forces=lambda t, q, v: [2.0 * t - 0.5 * v[0], -q[1]], rtol=1e-10, atol=1e-12)
    segment = run.segments[0]
    energy = sum(kinemorph.derive(arm).energy(segment.q, segment.v))
    supplied, dissipated = segment.x.T
    assert np.abs(energy - energy[0] - supplied + dissipated).max() < 1e-8
    assert np.ptp(energy) > 0.5
    assert not dissipated.any()


def test_damping_of_joints_dissipates():
    builder = kinemorph.RobotBuilder("damped").add(kinemorph.Body.rod("rod", 1.0, 1.0, center=(0, 0, -0.5)))
    robot = builder.joint("swing", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.3).build()
    run = simulate(robot, 20.0, q=[1.0], rtol=1e-10, atol=1e-12)
    segment = run.segments[0]
    energy = sum(kinemorph.derive(robot).energy(segment.q, segment.v))
    assert energy[-1] - energy[0] == pytest.approx(-segment.x[-1, 1], abs=1e-9)
    assert segment.x[-1, 1] > 1.0 and (np.diff(segment.x[:, 1]) >= 0.0).all()


def test_held_inputs_are_held():
    seen = []

    def law(t, q, v, x):
        seen.append(t)
        return [10.0 * len(seen)]

    mass = second_order(lambda a, u: [a[0] - u[0]], {"x": "m"}, inputs={"force": "N"})
    run = simulate(mass, 1.0, inputs=HeldInputs(law, every=0.25), output_step=0.125)
    assert seen == [0.0, 0.25, 0.5, 0.75, 1.0]
    segment = run.segments[0]
    assert segment.u[:, 0].tolist() == [10.0, 10.0, 20.0, 20.0, 30.0, 30.0, 40.0, 40.0, 50.0]
    assert segment.v[-1, 0] == pytest.approx(0.25 * (10 + 20 + 30 + 40), abs=1e-12)


def test_held_inputs_appear_at_samples_of_their_own_time_only():
    """A sample that is stored before the inputs change keeps the inputs that acted at its time."""
    mass = second_order(lambda a, u: [a[0] - u[0]], {"x": "m"}, inputs={"force": "N"})
    run = simulate(mass, 1.0, inputs=HeldInputs(lambda t: [t], every=0.25), output_step=0.2)
    assert run["u.force"].tolist() == [0.0, 0.0, 0.25, 0.5, 0.75, 1.0]


def test_a_function_is_due_at_its_time_up_to_rounding():
    held = Regular(lambda t: [t], "inputs", 0.1, 0.0)
    assert held.due(0.0) and not held.due(0.0)
    assert not held.due(0.1 - 1e-9) and held.due(0.1 - 1e-13)
    assert held.next_time == 0.2


def test_callbacks_come_at_regular_times_and_may_end_the_run():
    times = []

    def look(t, q, v, x):
        times.append(t)
        return t >= 0.6

    run = simulate(oscillator, 5.0, callback=look, every=0.2)
    assert times == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert (run.outcome.kind, run.outcome.t) == ("stopped", pytest.approx(0.6))


def test_a_comparison_of_numpy_ends_a_run_as_true_does():
    run = simulate(oscillator, 10.0, callback=lambda t, q, v, x: x[0] < 0.0)
    assert run.outcome.kind == "stopped" and run.outcome.t == pytest.approx(1.58, abs=1e-12)


def test_a_locked_joint_is_a_fixed_one():
    locked = simulate(kinemorph.library.double_pendulum(), 2.0, q=[0.7, 0.4], locked="q2", rtol=1e-10).segments[0]
    assert np.array_equal(locked.q[:, 1], np.full(len(locked.t), 0.4))
    assert not locked.v[:, 1].any()
    law = kinemorph.derive(kinemorph.library.double_pendulum())
    M, h = law.mass_matrix(locked.q), law.bias_forces(locked.q, locked.v)
    slope = np.gradient(locked.v[:, 0], locked.t, edge_order=2)
    assert np.abs(slope + h[:, 0] / M[:, 0, 0])[2:-2].max() < 1e-2  # M00 a0 = -h0
    energy = sum(law.energy(locked.q, locked.v))
    assert np.ptp(energy) < 1e-7


def test_functions_of_the_user_may_leave_out_what_they_do_not_need():
    arm = kinemorph.library.double_pendulum()
    run = simulate(arm, 0.1, q=[0.5, 0.25], inputs=lambda v, q: [q[1], v[0]])
    assert np.array_equal(run.u[0], [0.25, 0.0])
    assert np.array_equal(simulate(arm, 0.1, inputs=lambda now, a, b, c: [now, 0.0]).u[:, 0], run.t)  # in order
    assert simulate(arm, 1.0, callback=lambda t: t >= 0.5).outcome.t == 0.5
    with pytest.raises(UnsupportedError, match=r"inputs: the function takes \(now, a\); expected \(t, q, v, x\)"):
        simulate(arm, 0.1, inputs=lambda now, a: [now, 0.0])


def test_laws_may_give_numbers_of_numpy():
    arm = kinemorph.library.double_pendulum()
    wanted = simulate(arm, 0.1, forces=lambda: [1.0, 2.0])
    assert np.array_equal(simulate(arm, 0.1, forces=lambda: np.array([1, 2])).q, wanted.q)
    assert np.array_equal(simulate(arm, 0.1, forces=lambda: [np.int64(1), np.float32(2)]).q, wanted.q)
    with pytest.raises(ShapeError, match=r"returns 0 numbers; expected a list of 2 numbers\..* np\.asarray"):
        simulate(arm, 0.1, forces=lambda q: -4 * q)  # a list times -4 is an empty list


def test_a_start_with_open_loops_is_refused():
    robot = kinemorph.library.four_bar()
    for options in ({}, {"q": [0.6, 0.0, 1.6]}, {"q": [0.6, 0.0, 1.6], "method": "scipy:RK45"}):
        with pytest.raises(ShapeError, match=r"loops of 'four_bar' are open .*'closure' by"):
            simulate(robot, 0.1, **options)
    rest = kinemorph.equilibrium(robot).q  # as the message says
    assert simulate(robot, 0.1, q=rest, v=[0.0, 0.0, 0.0]).outcome.ok
    simulate(robot, 0.1, q=rest.round(4))  # a rounded number is no mistake


@pytest.mark.parametrize("method", ["rk4", "rodas", "radau", "newmark", "generalized_alpha", "leapfrog"])
def test_a_robot_that_cannot_move_stays(method):
    builder = kinemorph.RobotBuilder("stone").add(kinemorph.Body.sphere("stone", 1.0, 0.1))
    run = simulate(builder.joint("mount", "fixed", "world", "stone").build(), 0.1, method=method, step=0.05)
    assert run.outcome.ok and run.q.shape == (11, 0)


def test_a_restart_begins_where_a_new_stepper_would():
    arm = kinemorph.library.double_pendulum()
    stepper = Stepper(arm, q=[1.0, 1.0])
    stepper.advance(1.0)
    stepper.restart(q=[1.0, 2.0])
    for found, wanted in zip(stepper.state, Stepper(arm, q=[1.0, 2.0]).state, strict=True):
        assert np.array_equal(found, wanted)  # v too: at rest


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case(
    ("options", "kind", "said"),
    [
        ({"q": [math.nan, 0.0]}, ShapeError, "q 'q1' is nan"),
        ({"q": [0.0]}, ShapeError, r"expected \(2,\)"),
        ({"v": {"q3": 1.0}}, ShapeError, "no velocity 'q3'; expected one of 'q1', 'q2'"),
        ({"method": "rk5"}, UnsupportedError, "Did you mean 'rk45'"),
        ({"method": "rk4"}, UnsupportedError, "step=0.001"),
        ({"step": -1.0}, UnsupportedError, "step is -1.0"),
        ({"rtol": 0.0}, UnsupportedError, "rtol is 0.0"),
        ({"until": -1.0}, UnsupportedError, "expected an end after the start"),
        ({"until": math.inf}, UnsupportedError, "until is inf"),
        ({"output_step": 0.0}, UnsupportedError, "output_step is 0.0"),
        ({"locked": "elbow"}, ModelError, "no such joint"),
        ({"forces": lambda torque: [0.0, 0.0]}, ModelError, "argument 'torque'"),
        ({"forces": lambda t: [0.0]}, ShapeError, "expected a list of 2"),
        ({"inputs": [1.0]}, ShapeError, r"u has shape \(1,\)"),
        ({"until": "10"}, UnsupportedError, "until is '10'"),
        ({"start": math.nan}, UnsupportedError, "start is nan"),
        ({"output_step": 1e-15}, UnsupportedError, "which gives 1e.15 samples"),
        ({"output_step": "often"}, UnsupportedError, "output_step is 'often'"),
        ({"method": 3}, UnsupportedError, "method is 3"),
        ({"locked": 0}, ModelError, "locked is 0; expected names of joints: q1, q2"),
        ({"callback": 3}, UnsupportedError, "callback is 3"),
        ({"callback": print, "every": 0.0}, UnsupportedError, "every is 0.0"),  # once the sample time, silently
        ({"callback": print, "every": -1.0}, UnsupportedError, "every is -1.0"),  # once an endless loop
        ({"inputs": HeldInputs(print, every=-1.0)}, UnsupportedError, "every of HeldInputs is -1.0"),
    ],
)
def test_bad_options_are_one_sentence(options, kind, said):
    with pytest.raises(kind, match=said):
        simulate(kinemorph.library.double_pendulum(), **{"until": 1.0, **options})


def test_a_step_far_too_large_is_a_value_that_keeps_what_was_done():
    run = simulate(kinemorph.library.double_pendulum(), 100.0, q=[1.0, 0.5], method="rk4", step=1.0, output_step=1.0)
    assert run.outcome.kind == "failed" and not run.outcome.ok
    assert "step of 1 s is too large" in run.outcome.message and "q2" in run.outcome.message
    assert np.isfinite(run.segments[0].v).all() and 0.0 < run.segments[0].t[-1] == run.outcome.t < 100.0


def test_a_motion_that_runs_away_is_a_value():
    run = simulate(first_order(lambda x: [x[0] * x[0]], {"a": ""}, start=[1.0]), 2.0)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(1.0, abs=1e-6)
    assert "'a' has grown to" in run.outcome.message and "infinite in finite time" in run.outcome.message
    assert run.segments[0].t[-1] == pytest.approx(0.99, abs=0.011)


def test_an_equation_without_acceleration_is_no_silent_zero():
    singular = second_order(lambda q, v, a: [a[0] + q[1], v[1] - q[0]], {"x": "m", "p": "Pa"})
    run = simulate(singular, 1.0, q=[1.0, 0.0])
    assert run.outcome.kind == "failed" and run.outcome.t == 0.0
    assert "singular" in run.outcome.message


def test_equal_steps_of_a_method_that_knows_its_error_are_all_taken():
    run = simulate(oscillator, 2.0, x=[1.0, 0.0], method="dormand_prince", step=0.25, rtol=1e-12, atol=1e-12)
    assert run.outcome.ok and run.statistics.accepted == 8 and run.statistics.rejected == 0


def test_laws_read_quaternions_of_length_one_within_a_step():
    builder = kinemorph.RobotBuilder("body", gravity=(0, 0, 0)).add(kinemorph.Body.box("box", 2.0, (0.1, 0.2, 0.4)))
    body = builder.joint("ball", "spherical", "world", "box").build()

    def length(q):
        return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0

    pushed = plant(body, forces=lambda q: [length(q), 0.0, 0.0], states={"off": ""}, state_rates=lambda q: [length(q)])
    base, s = [0.6, 0.0, 0.8, 0.0], [0.5, -0.4, 0.3, 0.0, 0.0, 0.0, 0.0]
    rate = build(pushed.rate)(0.0, base, s, [], np.zeros(3), [])
    assert np.abs(rate).max() < 1e-13  # of a torque over an inertia of 0.03 kg m^2
    assert abs(build(pushed.observed({"length": length}))(0.0, base, s, [], np.zeros(3), [])[0]) < 1e-15
    turned = Guard("turned", lambda q: q[1] - 0.2, "rising")
    run = simulate(body, 0.5, v=[2.0, 0.8, 3.0], events=[turned], rtol=1e-10, atol=1e-12)
    assert len(run.events) == 1 and abs(run.events[0].before["q"][1] - 0.2) < 1e-12


@pytest.mark.parametrize("method", ["dop853", "newmark", "radau", "scipy:DOP853"])
def test_steps_longer_than_the_samples_of_one_call_lose_none_of_them(method):
    drop = first_order(lambda t: [2.0 * t], {"y": ""})  # steps grow as they please: any of them is exact
    run = simulate(drop, 3.0, output_step=1e-3, method=method)
    assert len(run.t) == 3001 and run.t[-1] == 3.0
    assert np.abs(run.x[:, 0] - run.t**2).max() < 1e-9
    held = simulate(
        first_order(lambda u: [u[0]], {"y": ""}, inputs={"u": ""}),
        3.0,
        inputs=HeldInputs(lambda t, q, v, x: [round(t)], every=1.0),
        output_step=1e-3,
        method=method,
    )
    assert len(held.t) == 3001
    assert np.array_equal(held.u[:, 0], np.minimum(np.floor(held.t + 1e-9), 3.0))


@pytest.mark.parametrize("method", ["dop853", "radau", "scipy:DOP853"])
def test_samples_before_an_event_stay_before_it(method):
    top = 1.99957
    drop = first_order(lambda x: [0.0 * x[0] - 1.0], {"y": ""}, start=[top])
    again = Guard("floor", lambda x: x[0], "falling", reset=lambda: {"x": [top]})
    run = simulate(drop, 5.0, output_step=1e-3, events=[again], method=method)
    assert [len(segment.t) for segment in run.segments] == [2001, 2002, 1002]
    for segment, begun in zip(run.segments, (0.0, top, 2.0 * top), strict=True):
        assert (np.diff(segment.t) > 0.0).all()
        assert np.abs(segment.x[:, 0] - (top - (segment.t - begun))).max() < 1e-9


@pytest.mark.parametrize("method", ["dop853", "rodas", "newmark"])
def test_a_step_cut_short_does_not_make_the_next_ones_small(method):
    stepper = Stepper(oscillator, method=method, rtol=1e-6, atol=1e-8)
    stepper.advance(5.0)
    planned = stepper.h
    stepper.advance(5.0 + 1e-6)
    assert stepper.h >= planned > 1e-3


def test_a_failure_names_a_coordinate_and_not_the_account_of_energy():
    run = simulate(kinemorph.library.double_pendulum(), 1.0, q=[1.0, 1.0], forces=lambda t: [1.0 / (t - 0.5), 0.0])
    assert run.outcome.kind == "failed" and "energy" not in run.outcome.message and "'q" in run.outcome.message


def test_a_stiff_motion_is_spoken_of_while_it_grinds_on():
    stiff = first_order(lambda t, x: [-1e7 * (x[0] - t)], {"a": ""}, name="decay")
    with pytest.warns(SlowRunWarning, match="'decay': 1,.* steps of 'dop853' for .* method='radau'") as seen:
        run = simulate(stiff, 1.0, output_step=0.5)
    assert run.outcome.ok and len(seen) == 1 and seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(stiff, 1.0, output_step=0.5, method="radau").statistics.accepted < 1000


@pytest.mark.parametrize(("options", "warned"), [({}, True), ({"method": "radau"}, False), ({"step": 1e-3}, False)])
def test_many_steps_are_a_warning_only_where_another_method_may_need_fewer(monkeypatch, options, warned):
    """A stiff method is the remedy, and steps of a fixed size are the user's choice."""
    monkeypatch.setattr(patience, "MANY", 5)
    monkeypatch.setattr(patience, "SOON", 5)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert simulate(oscillator, 5.0, **options).statistics.accepted > 5
    assert [entry.category for entry in seen] == [SlowRunWarning] * warned


def test_a_stepper_that_cannot_continue_says_so_as_a_run_does():
    """It returned the last state without a word, and a loop of the user's own never ended."""
    pushed = {"method": "rk4", "step": 1e-3}
    pendulum = plant(kinemorph.library.pendulum(), forces=lambda v: [1e3 * v[0]])
    run = simulate(pendulum, 1.0, v=[1.0], output_step=1e-3, **pushed)
    stepper = Stepper(pendulum, v=[1.0], **pushed)
    with pytest.raises(StepError, match=r"v 'q1' is .* rad/s: the motion diverges.*step=0\.0001"):
        while stepper.state.t < 1.0:
            stepper.step()
    assert "diverges" in run.outcome.message and stepper.state.t <= run.outcome.t
    blowing_up = first_order(lambda x: [x[0] * x[0]], {"x": ""}, name="blow-up")
    alone = Stepper(blowing_up, x=[2.0])
    with pytest.raises(StepError, match="the motion becomes infinite in finite time"):
        alone.advance(1.0)
    assert alone.state.t == pytest.approx(0.5) and np.isfinite(alone.state.x).all()
