"""Sample instants: exactly when and in which order, whatever the method; delay and quantum by closed form."""

import math

import numpy as np
import pytest

import kinemorph
from kinemorph import Guard, HeldInputs, Stepper, System, load_trajectory, simulate, simulate_batch
from kinemorph.algebra.scalar import where
from kinemorph.model.elements import PID, Actuator, Continuous, PythonController, Sampled
from kinemorph.plants.sample_instants import instants

pytest.importorskip("scipy")


def cart(*elements):
    """A mass of 1 kg on a rail: v is the integral of the force."""
    builder = kinemorph.RobotBuilder("cart", gravity=(0.0, 0.0, 0.0)).add(kinemorph.Body.sphere("cart", 1.0, 0.1))
    return System(builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0)).build(), elements)


def notes(name, every, *, phase=0.0):
    """Remembers the time of its last sample, and how often it has sampled."""
    return Sampled(
        name,
        lambda t, x, memory: ([t, memory[0] + 1.0, x], [memory[0] + 1.0]),
        reads=("q.x",),
        outputs=("time", "count", "x"),
        memory="n",
        every=every,
        phase=phase,
    )


def slowly(*options):
    return pytest.param(*options, marks=pytest.mark.slow)


QUICK = {"method": "rk4", "step": 0.04}  # exact for what carts do here, and soon compiled

METHODS = [
    {},
    {"method": "rk4", "step": 0.0137},
    slowly({"method": "scipy:RK45"}),
    slowly({"method": "dormand_prince", "rtol": 1e-4, "atol": 1e-4}),
    slowly({"method": "euler", "step": 0.25}),
    slowly({"method": "radau"}),
    slowly({"method": "newmark", "step": 0.003}),
    slowly({"method": "leapfrog", "step": 0.009}),
    slowly({"method": "semi_implicit_euler", "step": 0.01}),
    slowly({"method": "scipy:BDF"}),
]


# ── instants ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_instants_that_should_coincide_do():
    for period in (0.1, 0.02, 0.05, 0.001, 0.0025, 1 / 3, 0.7, 1e-4):
        tenths = instants(0.1)
        grid = instants(period)
        for k in range(1, 2000):
            t = grid.time(k)
            near = tenths.nearest(t)
            assert near is None or tenths.time(near) == t
        assert grid.time(7) == pytest.approx(7 * period, rel=1e-15)
        assert np.array_equal(grid.times(50), [grid.time(k) for k in range(50)])
    assert instants(0.1).time(3) == 0.3 != 3 * 0.1
    assert instants(0.1, 0.1 + 0.2).time(4) == 0.7  # a phase that was computed
    assert instants(0.01, 0.003).time(10**9) == 1e7 + 0.003
    assert instants(math.pi / 100).time(3) == 3 * (math.pi / 100)  # no ratio of small numbers: as it is


def test_numbers_of_instants():
    grid = instants(0.1, 0.05)
    assert [grid.next(t) for t in (-1.0, 0.0, 0.05, 0.06, 0.15, 0.15000000000000002)] == [0, 0, 0, 1, 1, 1]
    assert [grid.next(t, passed=True) for t in (0.0, 0.05, 0.06, 0.15)] == [0, 1, 1, 2]
    assert grid.nearest(0.1) is None and grid.nearest(0.25000000000000006) == 2
    assert np.array_equal(
        grid.snapped(np.array([0.0, 0.05, 0.3, 0.1 + 0.05, 0.7 + 0.05])), [0.0, 0.05, 0.3, 0.15, 0.75]
    )


# ── when ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("options", METHODS, ids=lambda o: o.get("method", "default"))
def test_every_method_samples_at_the_same_instants(options):
    seen = []
    looks = PythonController("looks", lambda t, x, v: seen.append((t, x, v)) or 0.0, ("q.x", "v.x"), "x", every=0.07)
    run = simulate(
        cart(notes("n1", 0.1), looks, notes("n2", 0.03, phase=0.02)), 1.0, v=[1.0], output_step=0.01, **options
    )
    assert run.outcome.ok
    assert [t for t, *_ in seen] == [instants(0.07).time(k) for k in range(15)]
    for name, grid in (("n1", instants(0.1)), ("n2", instants(0.03, 0.02))):
        times = [grid.time(k) for k in range(100) if grid.time(k) <= 1.0]
        expected = np.searchsorted(times, run.t, side="right")  # at the very instant it shows what came after
        assert np.array_equal(run[f"{name}.count"], expected)
        known = expected > 0
        assert np.array_equal(run[f"{name}.time"][known], np.array(times)[expected[known] - 1])
        # and the state is that of the instant: the cart moves with 1 m/s
        assert np.abs(run[f"{name}.x"] - run[f"{name}.time"]).max() < 1e-12


def test_lanes_and_a_loop_of_ones_own_sample_at_the_same_instants():
    system = cart(notes("n1", 0.1), notes("n2", 0.03, phase=0.02))
    run = simulate(system, 1.0, v=[1.0], output_step=0.01, **QUICK)
    batch = simulate_batch(system, 1.0, v=np.full((9, 1), 1.0), output_step=0.01, **QUICK)
    for k in range(9):
        assert np.array_equal(batch.m[k], run.segments[0].m)
    for options in ({}, QUICK):
        stepper = Stepper(system, v=[1.0], **options)
        assert stepper.m[1] == 1.0  # those at the start are done
        rows = [(stepper.advance(t).t, *stepper.m) for t in run.t[1:]]
        assert np.allclose(rows, np.column_stack([run.t[1:], run.segments[0].m[1:]]), rtol=0.0, atol=1e-13)
        assert np.array_equal(
            np.array(rows)[:, [0, 1, 2, 5, 6]], np.column_stack([run.t, run.segments[0].m])[1:, [0, 1, 2, 5, 6]]
        )
        single = Stepper(system, v=[1.0], **options)
        while single.state.t < 1.0:
            t = single.step().t
            assert single.m[0] == instants(0.1).time(math.floor(10.0 * t + 1e-9))


def test_an_outside_method_in_a_loop_of_ones_own():
    from kinemorph.simulation.foreign.stepper import ForeignStepper

    stepper = ForeignStepper(cart(notes("n1", 0.1)), method="scipy:RK45", v=[1.0])
    for t in (0.05, 0.1, 0.33, 0.7):
        stepper.advance(t)
        assert stepper.m[1] == math.floor(t * 10.0 + 1e-9) + 1 and stepper.state.t == t
    while stepper.state.t < 1.0:
        stepper.step()
    assert stepper.m[1] == 11.0


def test_a_period_like_no_other_and_a_start_elsewhere():
    odd = math.pi / 100
    for python in (False, True):
        seen = []
        kind = PythonController if python else Sampled
        law = (lambda t, seen=seen: seen.append(t) or t) if python else (lambda t: t)
        system = cart(kind("n1", law, (), outputs="time", every=odd, phase=0.1), notes("n2", 0.05))
        run = simulate(system, 2.0, start=0.35, v=[1.0], output_step=0.05, **QUICK)
        k = math.ceil((0.35 - 0.1) / odd)
        last = math.floor((2.0 - 0.1) / odd)
        assert run["n1.time"][-1] == 0.1 + last * odd
        assert not python or seen == [0.1 + j * odd for j in range(k, last + 1)]
        assert run["n2.count"][-1] == 34 and run["n2.time"][0] == 0.35


# ── in which order ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("python", [False, True])
def test_two_rates_interleave_in_the_order_of_elements(python):
    """0.1 s and 0.02 s meet at 0.1, 0.2, 0.3 ...; which element is first decides what the other reads there."""
    slow = notes("slow", 0.1)
    kind = PythonController if python else Sampled
    fast = kind("fast", lambda t, n, m: (n, [m[0] + 1.0]), ("slow.count",), outputs="heard", memory="n", every=0.02)
    for elements, late in (((slow, fast), 0), ((fast, slow), 1)):
        run = simulate(cart(*elements), 1.0, output_step=0.02, **QUICK)
        k = np.arange(51)
        assert np.array_equal(run["slow.count"], k // 5 + 1)
        assert np.array_equal(run["fast.heard"], k // 5 + 1 - (late * (k % 5 == 0)))
        assert run.segments[0].m[-1][[c.name for c in run.segments[0].plant.m].index("fast.n")] == 51


def test_elements_of_one_clock_see_each_other_in_order():
    one = Sampled("one", lambda t: t, (), outputs="y", every=0.1)
    other = Sampled("other", lambda t, y: y, ("one.y",), outputs="y", every=0.1)
    together = simulate(cart(one, other), 0.5, output_step=0.1, **QUICK)
    assert np.array_equal(together["other.y"], together["one.y"])
    behind = simulate(cart(other, one), 0.5, output_step=0.1, **QUICK)
    assert np.array_equal(behind["other.y"][1:], behind["one.y"][:-1])


def test_functions_of_the_run_come_after_ticks():
    order = []
    element = PythonController("tick", lambda t: order.append(("tick", t)) or 0.0, (), outputs="y", every=0.1)
    system = cart(element, Continuous("push", lambda t, y: y, ("tick.y",), "x"), Actuator("motor", "x"))
    inputs = HeldInputs(lambda t: order.append(("inputs", t)) or [0.0], every=0.1)
    run = simulate(
        system,
        0.3,
        output_step=0.1,
        inputs=inputs,
        callback=lambda t: order.append(("callback", t)),
        every=0.1,
        **QUICK,
    )
    times = [0.0, 0.1, 0.2, 0.3]
    assert order == [(what, t) for t in times for what in ("tick", "inputs", "callback")] and run.t.tolist() == times


def test_events_between_ticks_and_at_them():
    """An event at the very instant of a tick comes first; the tick sees what it has reset, and is neither lost nor done
    twice.
    """
    for options in (QUICK, {"method": "scipy:DOP853"}):
        wall = Guard("wall", lambda t: t - 0.5, "rising", reset=lambda v: {"v": [-v[0]]})
        run = simulate(cart(notes("n1", 0.1)), 1.0, v=[1.0], events=[wall], output_step=0.05, **options)
        assert run.outcome.ok and run.events[0].t == pytest.approx(0.5, abs=1e-12)
        assert run["n1.count"][-1] == 11
    middle = Guard("middle", lambda q: q[0] - 0.437, "rising", reset=lambda v: {"v": [2.0 * v[0]]})
    run = simulate(cart(notes("n1", 0.1)), 1.0, v=[1.0], events=[middle], output_step=0.05, **QUICK)
    assert run["n1.count"][-1] == 11
    assert run["n1.x"][-1] == pytest.approx(0.437 + 2.0 * (1.0 - 0.437), abs=1e-9)
    stop = Guard("stop", lambda t: t - 0.3, "rising", stop=True)
    ended = simulate(cart(notes("n1", 0.1)), 1.0, v=[1.0], events=[stop], output_step=0.05, **QUICK)
    gone_on = simulate(cart(notes("n1", 0.1)), 1.0, start=ended, output_step=0.05, **QUICK)
    assert gone_on["n1.count"][-1] == 11


def test_a_guard_that_reads_memory_fires_at_the_tick():
    rising = Guard("third", lambda m: m[1] - 2.5, "rising")
    for python in (False, True):
        kind = PythonController if python else Sampled
        element = kind(
            "n1", lambda t, m: ([t, m[0] + 1.0], [m[0] + 1.0]), (), outputs=("time", "count"), memory="n", every=0.1
        )
        run = simulate(cart(element), 1.0, events=[rising], output_step=0.05, **QUICK)
        assert [event.t for event in run.events] == [pytest.approx(0.2, abs=1e-9)]


# ── runs that go on ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "options", [QUICK, slowly({}), slowly({"method": "scipy:RK45"})], ids=lambda o: o.get("method", "default")
)
def test_a_run_that_goes_on_neither_repeats_nor_skips_a_tick(options, tmp_path):
    seen = []
    looks = PythonController("looks", lambda t, n: (t, [n[0] + 1.0]), (), outputs="n", memory="n", every=0.15)
    spy = PythonController("spy", lambda t: seen.append(t) or 0.0, (), outputs="y", every=0.1, memory=())
    system = kinemorph.plants.plant(cart(notes("n1", 0.1), looks, spy, notes("n2", 0.03, phase=0.02)))
    whole = simulate(system, 1.0, v=[1.0], output_step=0.05, **options)
    all_seen = seen.copy()
    for cut in (0.3, 0.35, 0.1 + 0.2, 0.6):
        seen.clear()
        first = simulate(system, cut, v=[1.0], output_step=0.05, **options)
        first.save(tmp_path / "first.npz")
        rest = simulate(system, 1.0, start=load_trajectory(tmp_path / "first.npz"), output_step=0.05, **options)
        assert seen == all_seen
        assert np.allclose(rest.segments[0].m[-1], whole.segments[0].m[-1], rtol=0.0, atol=1e-12)
        for column in ("n1.count", "n2.count", "looks.n"):
            assert rest[column][-1] == whole[column][-1]


def test_an_element_that_is_new_in_a_run_samples_at_its_start():
    first = simulate(cart(notes("n1", 0.1)), 0.5, v=[1.0], output_step=0.1, **QUICK)
    both = simulate(cart(notes("n1", 0.1), notes("n2", 0.25)), 1.0, start=first, output_step=0.1, **QUICK)
    assert both["n1.count"].tolist() == [6, 7, 8, 9, 10, 11] and both["n2.count"].tolist() == [1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("file", ["run.npz", "run.h5", "run.csv"])
def test_memory_is_kept_in_files(file, tmp_path):
    if file.endswith("h5"):
        pytest.importorskip("h5py")
    run = simulate(cart(notes("n1", 0.1)), 0.5, v=[1.0], output_step=0.05, **QUICK)
    run.save(tmp_path / file)
    back = load_trajectory(tmp_path / file)
    assert np.array_equal(back.segments[0].m, run.segments[0].m)
    assert [c.name for c in back.segments[0].plant.m] == ["n1.time.held", "n1.count.held", "n1.x.held", "n1.n"]
    assert np.array_equal(back["n1.count"], run["n1.count"])


# ── many samples in one call ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("python", [False, True])
def test_many_samples_within_one_step_show_memory_before_the_tick(python):
    kind = PythonController if python else Sampled
    element = kind("n1", lambda t, m: (t, [m[0] + 1.0]), (), outputs="time", memory="n", every=1.0)
    run = simulate(cart(element), 3.0, v=[1.0], output_step=0.001)
    assert np.array_equal(run["n1.time"], np.floor(run.t))


# ── delay and quantum, by closed form ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("delay", [0.04, 0.2, 0.37, slowly(0.0), slowly(0.1), slowly(0.13), slowly(1e-4)])
@pytest.mark.parametrize("options", [{"method": "rk4", "step": 0.017}, slowly({}), slowly({"method": "scipy:RK45"})])
def test_a_delayed_sampled_gain_on_an_integrator(delay, options):
    """dv/dt = u, u = -K v sampled every T and delayed by n T + f: an exact recursion."""
    T, K = 0.1, 2.0
    control = PID("p", reads="v.x", drives="x", kp=K, every=T, delay=delay)
    run = simulate(cart(control), 3.0, v=[1.0], output_step=T, **options)
    n, f = divmod(round(delay / T * 1e6), 10**6)
    f = f * 1e-6 * T
    v, u = [1.0], []
    for k in range(30):
        u.append(-K * v[-1])
        old = u[k - n - 1] if k - n - 1 >= 0 else 0.0
        new = u[k - n] if k - n >= 0 else 0.0
        v.append(v[-1] + f * old + (T - f) * new)
    assert np.abs(run["v.x"] - v).max() < 1e-12
    assert run.outcome.ok


def test_the_phase_and_the_delay_are_seen_between_samples():
    control = PID("p", reads="t", drives="x", kp=-1.0, every=0.1, phase=0.05, delay=0.12)
    run = simulate(cart(control), 1.0, output_step=0.01, **QUICK)
    # what was sampled at 0.05 + k 0.1 comes out 0.12 later
    k = np.floor((run.t - 0.17) / 0.1 + 1e-9)
    assert np.abs(run["p"] - np.where(k >= 0, 0.05 + 0.1 * k, 0.0)).max() < 1e-12


def test_a_delay_of_many_periods_has_no_rounding_in_its_rest():
    from kinemorph.mechanics.elements.control.sample_hold import clocks_of, delayed

    control = PID("p", reads="t", drives="x", kp=-1.0, every=0.1, delay=10.03)
    assert delayed(control) == (100, 0.03) and clocks_of(control)[1] == (0.1, 0.03)
    assert delayed(PID("p", every=0.1, delay=0.3)) == (3, 0.0) and delayed(PID("p", every=1 / 3, delay=0.5))[0] == 1


def test_outputs_are_rounded_to_quanta_and_stay_within_limits():
    control = PID("p", reads="t", drives="x", kp=-1.0, every=0.01, quantum=0.3, upper=1.0)
    run = simulate(cart(control), 2.0, output_step=0.01, **QUICK)
    assert np.abs(run["p"] - np.minimum(0.3 * np.floor(run.t / 0.3 + 0.5), 1.0)).max() < 1e-12
    assert set(np.round(run["p"], 9)) == {0.0, 0.3, 0.6, 0.9, 1.0}


def test_where_in_a_compiled_law():
    bang = Sampled("bang", lambda t, x: where(x < 0.5, 1.0, -1.0), "q.x", "x", every=0.01)
    run = simulate(cart(bang), 3.0, output_step=0.01, **QUICK)
    assert np.array_equal(run["bang"], np.where(run["q.x"] < 0.5, 1.0, -1.0))
