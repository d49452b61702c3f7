"""Events: located on the dense output, one-sided, resets, rest, and never a hang."""

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, System, elements
from kinemorph.algebra.scalar import less, sincos
from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.foreign.stepper import stepper_for
from kinemorph.simulation.march.guards import Guard, watch_of
from kinemorph.simulation.simulate import simulate

turning = first_order(lambda x: [x[1], -x[0]], {"c": "", "s": ""}, start=[1.0, 0.0])


def ball():
    builder = kinemorph.RobotBuilder("ball").add(kinemorph.Body.sphere("ball", 1.0, 0.1))
    return builder.joint("fall", "prismatic", "world", "ball", axis=(0, 0, 1)).build()


def bounce(e):
    return Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-e * v[0]]})


@pytest.mark.parametrize(("direction", "first"), [("both", 0.5), ("falling", 0.5), ("rising", 1.5)])
def test_crossings_are_found_to_a_billionth_of_a_second(direction, first):
    run = simulate(turning, 10.0, events=[Guard("zero", lambda x: x[0], direction)], rtol=1e-12, atol=1e-13)
    times = [event.t for event in run.events]
    apart = 1.0 if direction == "both" else 2.0
    exact = np.pi * np.arange(first, 10.0 / np.pi, apart)
    assert len(times) == len(exact)
    assert np.abs(np.array(times) - exact).max() < 1e-9
    assert run.outcome.kind == "finished" and {event.kind for event in run.events} == {"crossing"}


def test_two_crossings_within_one_step_are_both_found():
    falling = first_order(lambda t: [2.0 * (t - 1.0)], {"y": ""}, start=[1.0 - 0.01])  # (t - 1)^2 - 0.01
    run = simulate(falling, 3.0, events=[Guard("dip", lambda x: x[0])], max_step=0.4, output_step=1.0)
    assert [event.t for event in run.events] == pytest.approx([0.9, 1.1], abs=1e-9)


def test_an_event_at_the_start_does_not_fire():
    run = simulate(turning, 1.0, x=[0.0, 1.0], events=[Guard("zero", lambda x: x[0])])
    assert run.events == ()


def test_a_stop_ends_the_run_at_the_event():
    run = simulate(turning, 10.0, events=[Guard("low", lambda x: x[0] + 0.5, "falling", stop=True)])
    assert run.outcome.kind == "stopped" and run.outcome.ok
    assert run.outcome.t == pytest.approx(2.0 * np.pi / 3.0, abs=1e-8)
    assert run.segments[-1].t[-1] == run.outcome.t
    assert run.segments[-1].x[-1, 0] == pytest.approx(-0.5, abs=1e-12)


def test_a_reset_begins_a_segment_at_the_same_time():
    run = simulate(ball(), 3.0, q=[10.0], events=[bounce(0.8)], output_step=0.5)
    first, second = run.segments
    event = run.events[0]
    assert first.t[-1] == second.t[0] == event.t
    assert second.v[0, 0] == -0.8 * first.v[-1, 0]
    assert np.array_equal(event.before["v"], first.v[-1]) and np.array_equal(event.after["v"], second.v[0])
    assert event.kind == "reset"


def test_endless_bounces_end_in_rest():
    run = simulate(ball(), 20.0, q=[10.0], events=[bounce(0.8)])
    assert run.outcome.kind == "rest" and "ground" in run.outcome.message
    assert run.outcome.t == pytest.approx(12.850588106343585, abs=1e-8)
    assert run.events[-1].kind == "rest"


@pytest.mark.parametrize("e", [0.0, 1e-9, 0.3, 0.99])
def test_every_bounce_ends_or_goes_on_but_never_hangs_or_falls_through(e):
    run = simulate(ball(), 8.0, q=[1.0], events=[bounce(e)])
    assert run.outcome.kind == ("finished" if e == 0.99 else "rest")
    assert min(segment.q.min() for segment in run.segments) > -1e-12


def test_perfect_bounces_keep_their_height():
    run = simulate(ball(), 20.0, q=[10.0], events=[bounce(1.0)], output_step=0.01)
    assert [event.t for event in run.events] == pytest.approx(
        np.sqrt(2 * 10.0 / 9.81) * (1 + 2 * np.arange(7)), abs=1e-9
    )


def test_a_reset_that_does_nothing_does_not_hang():
    run = simulate(ball(), 3.0, q=[1.0], events=[Guard("idle", lambda q: q[0], "falling", reset=lambda v: {})])
    assert run.outcome.kind == "finished" and len(run.events) == 1


def test_mistakes_in_guards_are_sentences():
    with pytest.raises(ModelError, match="direction 'down' is unknown"):
        Guard("g", lambda q: q[0], "down")
    with pytest.raises(ModelError, match="given 2 times"):
        simulate(turning, 1.0, events=[Guard("g", lambda x: x[0])] * 2)
    with pytest.raises(ShapeError, match="expected one"):
        simulate(turning, 1.0, events=[Guard("g", lambda x: x)])


@pytest.mark.parametrize("method", ["dop853", "scipy:DOP853"])
@pytest.mark.parametrize(("start", "ground"), [(1e5, 0.0), (0.0, 1e6)])
def test_a_ball_does_not_fall_through_ground_that_numbers_resolve_coarsely(start, ground, method):
    """At t = 1e5 s an event is 1e-11 s late and the ball that far below ground: it still counts as on the ground."""
    guard = Guard("ground", lambda q: q[0] - ground, "falling", reset=lambda v: {"v": [-0.5 * v[0]]}, shortest=1e-3)
    run = simulate(ball(), start + 3.0, start=start, q=[ground + 1.0], events=[guard], method=method)
    assert run.outcome.kind == "rest"
    assert run.outcome.t - start == pytest.approx(3.0 * np.sqrt(2.0 / 9.81), abs=1e-6)


def test_a_guard_that_jumps_has_a_side_after_its_event():
    steps = Guard("steps", lambda x: less(x[0], 0.5) - 0.5, reset=lambda x: {"x": [x[0], x[1]]})
    run = simulate(turning, 8.0, events=[steps])
    assert run.outcome.kind == "finished"
    assert [event.t for event in run.events] == pytest.approx([np.pi / 3, 5 * np.pi / 3, 7 * np.pi / 3], abs=1e-8)


def test_a_steep_guard_counts_as_zero_farther_away():
    """At 5e-13 m below its zero a guard of slope 1e9 is -5e-4 there: it is at zero, on the side that it moves to."""
    made = plant(ball())
    watch = watch_of(made, (Guard("steep", lambda q: 1e9 * q[0]),))
    state = (0.0, np.array([-5e-13]), np.array([0.0, 1.0]), np.zeros(0), np.zeros(1), np.zeros(0))
    assert watch.values(*state) == pytest.approx([-5e-4])
    assert watch.sides(*state) == [1.0]
    assert watch.sides(0.0, np.array([-5e-12]), *state[2:]) == [-1.0]


def test_one_guard_needs_no_list_and_other_things_are_refused():
    pendulum = kinemorph.library.pendulum()
    crossing = Guard("below", lambda q: q[0], "falling")
    assert [event.name for event in simulate(pendulum, 1.0, q=[1.0], events=crossing).events] == ["below"]
    with pytest.raises(ModelError, match="expected a Guard"):
        simulate(pendulum, 1.0, q=[1.0], events=[lambda q: q[0]])


def test_a_stop_that_also_resets_is_a_stop():
    halt = Guard("below", lambda q: q[0], "falling", reset=lambda: {"v": [0.0]}, stop=True)
    run = simulate(kinemorph.library.pendulum(), 1.0, q=[1.0], events=[halt])
    assert run.outcome.kind == "stopped" and len(run.events) == 1 and run.v[-1, 0] == 0.0


@pytest.mark.parametrize("method", ["dop853", "scipy:DOP853"])
def test_a_stepper_goes_on_after_an_event(method):
    stepper = stepper_for(method)(turning, method=method, guards=[Guard("zero", lambda x: x[0])])
    times = [stepper.advance(10.0).t for _ in range(4)]
    assert times == pytest.approx([0.5 * np.pi, 1.5 * np.pi, 2.5 * np.pi, 10.0], abs=1e-7)


@pytest.mark.parametrize(
    ("method", "off"), [("radau", 2e-3), ("rodas", 2e-3), ("tr_bdf2", 2e-3), ("scipy:Radau", 0.02)]
)
def test_a_stiff_rate_that_points_back_does_not_repeat_a_crossing(method, off):
    """Off the slow solution by an error of the step, the rate at the event may have the other sign.

    Dense outputs are that far off within long steps (SciPy's by 0.02), and events are found on them.
    """
    fast = first_order(lambda t, x: [-1e5 * (x[0] - sincos(t)[0]) + sincos(t)[1]], {"y": ""}, start=[1.0])
    half = Guard("half", lambda x: x[0] - 0.5)

    def few(t, h, events):
        assert events < 20

    run = simulate(fast, 7.0, method=method, events=[half], rtol=1e-6, atol=1e-8, progress=few)
    assert run.outcome.kind == "finished"
    exact = [np.pi / 6, 5 * np.pi / 6, 13 * np.pi / 6]
    assert all(min(abs(event.t - t) for event in run.events) < off for t in exact)


@pytest.mark.parametrize("method", ["dop853", "scipy:RK45"])
@pytest.mark.parametrize("apart", [0.0, 1e-12, *(pytest.param(x, marks=pytest.mark.slow) for x in (1e-13, 1e-9))])
def test_feet_that_land_a_rounding_apart_all_touch_and_all_leave(method: str, apart: float) -> None:
    """Each is anchored when it lands and free in the air, however near its event is to that of the other."""
    robot = RobotBuilder("b").body("b", 1.0).joint("z", "prismatic", "world", "b", axis=(0, 0, 1)).build()
    ground = (elements.EasyDynNormal(1e4, 1e2), elements.Anchor(0.8, 0.6, 1e4))
    feet = [elements.Contact(name, "b", *ground, point=(0.0, 0.0, z)) for name, z in (("low", 0.0), ("high", apart))]
    run = simulate(System(robot, feet), 0.3, q=[0.1], method=method, rtol=1e-8)
    assert sorted(event.name for event in run.events) == ["high.leaves", "high.touches", "low.leaves", "low.touches"]
    for name in ("low", "high"):
        assert (run[f"m.{name}.mode"] == run[f"{name}.touching"]).all()  # sticks (1) or is free (0)


def test_the_watch_of_a_plant_depends_on_whether_its_own_guards_are_located():
    """The same guards serve a fixed step, which does not locate switches of elements, and an adaptive one."""
    foot = elements.Contact("foot", "ball", elements.EasyDynNormal(1e4, 1e2), elements.Anchor(0.8, 0.6, 1e4))
    made = plant(System(ball(), (foot,)))
    guards = (Guard("low", lambda q: q[0] - 0.5),)
    fixed, adaptive = (watch_of(made, guards, located=located) for located in (False, True))
    assert made.guards and (fixed.switches, adaptive.switches) == ((), tuple(range(len(made.guards))))
    assert watch_of(made, guards, located=True) is adaptive and watch_of(made, guards) is fixed
