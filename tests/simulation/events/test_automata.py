"""Hybrid automata in runs: phases, edges, impacts, held points, locked joints, resets (SEEDS.md 003-07 to 003-09)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, System, derive, simulate, simulate_batch
from kinemorph.elements import Automaton, Edge, Hold, Phase, Probe, Spring
from kinemorph.errors import AutomatonWarning, ModelError
from kinemorph.simulation.march.guards import Guard
from support.robots.random_automata import RandomAutomaton

SLOPE = math.radians(3.0)
# a step of the compass gait on this slope, just after an impact: angles of both legs [rad] and their rates [rad/s]
ANGLES, RATES = (0.21866880293895935, -0.3233885580586191), (-1.0923835898835124, -0.37737394890733433)


def compass():
    """Two legs with point masses on a hip that slides along x and z; the left foot stands at the origin."""
    builder = RobotBuilder("compass")
    builder.body("slider", mass=0.0)
    builder.body("hip", mass=10.0)
    builder.joint("x", "prismatic", "world", "slider", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "slider", "hip", axis=(0, 0, 1))
    for side in ("left", "right"):
        builder.body(f"{side}_leg", mass=5.0, com=(0, 0, -0.5))
        builder.frame(f"{side}_foot", f"{side}_leg", translation=(0, 0, -1.0))
        builder.joint(side, "revolute", "hip", f"{side}_leg", axis=(0, -1, 0))
    return builder.build()


def walking(automaton):
    return System(compass(), (Hold("stance", "left_foot", axes="xz"), Probe("foot", "right_foot")), automaton=automaton)


STRIKE = Edge(
    *("strike", "step", "step"),
    guard=f"foot.z + {math.tan(SLOPE)!r} * foot.x",
    when="q.right - q.left",
    relabel={"left": "right", "right": "left"},
)
ONE_PHASE = Automaton((Phase("step", "stance"),), (STRIKE,))
START = {
    "q": {"x": -math.sin(ANGLES[0]), "z": math.cos(ANGLES[0]), "left": ANGLES[0], "right": ANGLES[1]},
    "v": {
        "x": -math.cos(ANGLES[0]) * RATES[0],
        "z": -math.sin(ANGLES[0]) * RATES[0],
        **dict(zip(("left", "right"), RATES, strict=True)),
    },
}


@pytest.fixture(scope="module")
def run():
    return simulate(walking(ONE_PHASE), 3.0, **START, rtol=1e-11, atol=1e-12)


def test_a_limit_cycle_repeats_itself_to_rounding(run):
    times = np.array([event.t for event in run.events])
    assert run.outcome.kind == "finished" and len(times) == 4
    assert np.abs(np.diff(times, prepend=0.0) - 0.7343463911586737).max() < 1e-10
    for event in run.events:
        assert event.kind == "edge" and np.abs(event.after["q"][2:] - ANGLES).max() < 1e-9
        assert np.abs(event.after["v"][2:] - RATES).max() < 1e-9


def test_an_impact_keeps_the_momentum_about_the_new_foot_and_loses_the_energy_that_it_says(run):
    dynamics = derive(compass())
    for event in run.events:
        q = event.after["q"]
        before = event.before["v"][[0, 1, 3, 2]]  # the legs have exchanged their names
        after, M = event.after["v"], dynamics.mass_matrix(q)
        lost = 0.5 * (before @ M @ before - after @ M @ after)
        assert lost > 0.0 and abs(event["energy_loss"] - lost) < 1e-12 * lost
        # M (v+ - v-) is the impulse on the new stance foot and nothing else
        J = dynamics.jacobian("left_foot", reference="local_world_aligned")(q)[[0, 2]]
        impulse = np.array([event["impulse.stance.x"], event["impulse.stance.z"]])
        assert np.abs(M @ (after - before) - J.T @ impulse).max() < 1e-11
        assert np.abs(J @ after).max() < 1e-12


def test_the_foot_stays_where_it_landed_and_segments_are_the_phases(run):
    assert len(run.segments) == len(run.events) + 1
    for segment in run.segments:
        feet = segment.q[:, :2] + np.stack([np.sin(segment.q[:, 2]), -np.cos(segment.q[:, 2])], axis=1)
        assert np.ptp(feet, axis=0).max() < 1e-11
    assert (run["phase"] == 0.0).all() and run.energy.balance[-1] == pytest.approx(0.0, abs=1e-9)


def test_two_phases_without_relabeling_walk_the_same_way(run):
    """Left and right stance as two phases: the same motion, step by step, without an exchange of names."""
    feet = (Hold("left_stance", "left_foot", axes="xz"), Hold("right_stance", "right_foot", axes="xz"))
    probes = (Probe("left_probe", "left_foot"), Probe("right_probe", "right_foot"))

    def edge(source, target):
        height = f"{target}_probe.z + {math.tan(SLOPE)!r} * {target}_probe.x"
        return Edge(f"{target} lands", source, target, height, when=f"q.{target} - q.{source}")

    phases = (Phase("left", "left_stance"), Phase("right", "right_stance"))
    automaton = Automaton(phases, (edge("left", "right"), edge("right", "left")))
    other = simulate(System(compass(), (*feet, *probes), automaton=automaton), 3.0, **START, rtol=1e-11, atol=1e-12)
    assert [event.name for event in other.events] == ["right lands", "left lands", "right lands", "left lands"]
    assert np.abs(np.array([e.t for e in other.events]) - [e.t for e in run.events]).max() < 1e-12
    assert np.abs(other.q[:, :2] - run.q[:, :2]).max() < 1e-10
    assert sorted(set(other["phase"])) == [0.0, 1.0]


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 1e-3}, {"method": "scipy:DOP853"}, {"method": "radau"}])
def test_every_kind_of_method_takes_edges(options, run):
    other = simulate(walking(ONE_PHASE), 1.0, **START, **options)
    assert [event.name for event in other.events] == ["strike"]
    assert abs(other.events[0].t - run.events[0].t) < 1e-6


def ball(automaton, *elements):
    builder = RobotBuilder("ball")
    builder.body("ball", mass=2.0)
    builder.joint("z", "prismatic", "world", "ball", axis=(0, 0, 1))
    return System(builder.build(), elements, automaton=automaton)


@pytest.mark.parametrize("reset", [{"v.z": "-e * v.z"}, lambda v: {"v": [-0.8 * v[0]]}])
def test_a_reset_by_text_and_by_function_bounces_as_the_closed_form(reset):
    edge = Edge("bounce", "flight", "flight", "q.z", reset=reset, impact="none")
    system = ball(Automaton(Phase("flight"), edge, known={"e": 0.8}))
    found = simulate(system, 2.0, q=[1.0])
    first = math.sqrt(2.0 / 9.81)
    expected = first + 2.0 * first * np.array([0.0, 0.8, 0.8 + 0.64])
    assert np.abs(np.array([event.t for event in found.events]) - expected).max() < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.01, 0.5, 0.8])
@pytest.mark.parametrize("options", [{}, pytest.param({"method": "rk4", "step": 1e-3}, marks=pytest.mark.slow)])
def test_bounces_that_come_ever_faster_end_in_rest_and_not_below_the_ground(e, options):
    """They fell through the ground where a flight was shorter than the rounding of the guard."""
    edge = Edge("bounce", "flight", "flight", "q.z - 0.53", reset={"v.z": f"-{e} * v.z"}, impact="none")
    system = ball(Automaton(Phase("flight"), edge))
    found = simulate(system, 10.0, q=[1.0], **options)
    first = math.sqrt(2.0 * 0.47 / 9.81)
    assert found.outcome.kind == "rest" and found["q.z"].min() > 0.53 - 1e-9
    assert found.outcome.t == pytest.approx(first * (1.0 + 2.0 * e / (1.0 - e)), abs=1e-4)
    batch = simulate_batch(system, 10.0, q=[[1.0], [0.9]], **options)
    assert [outcome.kind for outcome in batch.outcomes] == ["rest", "rest"]


def test_the_same_reset_as_a_guard_is_compiled_or_called_and_gives_the_same_run():
    system, called = ball(None), []

    def seen(v):
        called.append(v)
        return {"v": [-0.8 * v[0]]}

    compiled, python = (
        simulate(system, 2.0, q=[1.0], events=[Guard("ground", lambda q: q[0], "falling", reset=reset)])
        for reset in (lambda v: {"v": [-0.8 * v[0]]}, seen)
    )
    assert len(called) == len(python.events) == len(compiled.events)
    assert [len(segment.t) for segment in python.segments] == [len(segment.t) for segment in compiled.segments]
    assert np.abs(python.q - compiled.q).max() < 1e-12


def test_an_element_sleeps_in_phases_that_do_not_name_it():
    """A spring that acts in contact only: a bounce takes half a period of the oscillator (closed form)."""
    k, m, g, h = 2000.0, 2.0, 9.81, 0.5
    spring = Spring("leg", "world", "ball", stiffness=k, rest=1.0, point_a=(0.0, 0.0, -1.0))
    edges = (Edge("land", "flight", "stance", "q.z"), Edge("leave", "stance", "flight", "-q.z"))
    system = ball(Automaton((Phase("flight"), Phase("stance", "leg")), edges), spring)
    found = simulate(system, 0.8, q=[h], rtol=1e-10, atol=1e-12)
    names = [event.name for event in found.events]
    assert names[:2] == ["land", "leave"]
    flight = found.segments[0]
    assert np.abs(flight.q[:, 0] - (h - 0.5 * g * flight.t**2)).max() < 1e-10
    # in stance m z'' = -m g - k z: a cosine about its rest, from (0, -sqrt(2 g h))
    rest, w = -m * g / k, math.sqrt(k / m)
    stance = found.segments[1]
    t, speed = stance.t - stance.t[0], -math.sqrt(2.0 * g * h)
    assert np.abs(stance.q[:, 0] - (rest - rest * np.cos(w * t) + speed / w * np.sin(w * t))).max() < 1e-8


def test_a_joint_that_locks_stops_with_a_plastic_impact_and_stays_locked():
    robot = kinemorph.library.double_pendulum()
    joint = robot.joint_names[1]
    edge = Edge("lock", "free", "locked", f"q.{joint}")
    system = System(robot, automaton=Automaton((Phase("free"), Phase("locked", locked=joint)), (edge,)))
    found = simulate(system, 2.0, q=[0.3, 0.8])
    (event,) = found.events
    before, after = (np.asarray(side["v"]) for side in (event.before, event.after))
    M = derive(robot).mass_matrix(event.after["q"])
    moved = M @ (after - before)
    assert abs(after[1]) < 1e-14 and abs(moved[0]) < 1e-12 and abs(moved[1]) > 1e-6  # only the lock has an impulse
    last = found.segments[-1]
    assert np.ptp(last.q[:, 1]) < 1e-10 and np.abs(last.v[:, 1]).max() < 1e-12


def test_a_joint_that_a_run_locks_stays_locked_at_an_impact():
    """A box lands on a corner: free, it would turn; with its pitch locked, it stops."""
    builder = RobotBuilder("box")
    for name, parent, axis in (("x", "world", (1, 0, 0)), ("z", "on_x", (0, 0, 1))):
        builder.body(f"on_{name}", mass=0.0).joint(name, "prismatic", parent, f"on_{name}", axis=axis)
    builder.add(kinemorph.Body.box("box", 2.0, (0.4, 0.3, 0.2))).joint(
        "pitch", "revolute", "on_z", "box", axis=(0, 1, 0)
    )
    builder.frame("corner", "box", translation=(0.2, 0.0, -0.1))
    elements = (Hold("held", "corner", axes="xz"), Probe("foot", "corner"))
    land = Edge("land", "fall", "stand", "foot.z")
    system = System(builder.build(), elements, automaton=Automaton((Phase("fall"), Phase("stand", "held")), land))
    free, locked = (simulate(system, 0.5, q={"z": 0.5}, locked=names) for names in ((), "pitch"))
    assert abs(free.events[0].after["v"][2]) > 1.0
    assert np.abs(locked.events[0].before["v"][1]) > 1.0 and np.abs(locked.events[0].after["v"]).max() < 1e-12
    assert np.abs(locked.q[-1] - locked.events[0].after["q"]).max() < 1e-10


def test_a_relabeling_exchanges_the_memory_of_elements():
    """Two balls are held at their heights; after the exchange each one has the height and the memory of the other."""
    builder = RobotBuilder("balls")
    for k in (0, 1):
        builder.body(f"ball{k}", mass=1.0 + k).joint(f"z{k}", "prismatic", "world", f"ball{k}", axis=(0, 0, 1))
    holds = tuple(Hold(f"hold{k}", f"ball{k}", axes="z") for k in (0, 1))
    names = {"z0": "z1", "z1": "z0", "hold0": "hold1", "hold1": "hold0"}
    swap = Edge("swap", "held", "held", "0.5 - t", relabel=names)
    with pytest.warns(AutomatonWarning, match="no symmetry"):  # of their masses
        found = simulate(System(builder.build(), holds, automaton=Automaton(Phase("held"), swap)), 1.0, q=[0.2, 0.7])
    assert found.outcome.ok and [event.name for event in found.events] == ["swap"]
    assert np.abs(found.q[-1] - [0.7, 0.2]).max() < 1e-12 and np.abs(found.m[-1][:2] - [0.7, 0.2]).max() < 1e-12


def test_an_edge_may_end_the_run():
    found = simulate(ball(Automaton(Phase("fall"), Edge("ground", "fall", "fall", "q.z", stop=True))), 5.0, q=[1.0])
    assert found.outcome.kind == "stopped" and "'ground'" in found.outcome.message
    assert abs(found.t[-1] - math.sqrt(2.0 / 9.81)) < 1e-9


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"target": "fly"}, "edge 'strike': target is 'fly', but there is no such phase"),
        ({"guard": "foot.zz"}, "edge 'strike': 'foot.zz' names 'foot.zz'"),
        ({"relabel": {"left": "right"}}, "relabel gives the values of one name"),
        ({"relabel": {"left": "rigth", "right": "left"}}, "relabel names 'rigth'"),
        ({"reset": {"v.hip": "0"}}, "reset names 'v.hip'"),
    ],
)
def test_wrong_automata_are_refused_by_name(change, named):
    given = {name: getattr(STRIKE, name) for name in ("name", "source", "target", "guard", "when", "relabel", "reset")}
    with pytest.raises(ModelError, match=named):
        simulate(walking(Automaton(Phase("step", "stance"), Edge(**{**given, **change}))), 0.1)


@pytest.mark.parametrize(
    ("phase", "named"),
    [
        (Phase("step", "stanse"), "phase 'step': .*'stanse'"),
        (Phase("step", locked="knee"), "phase 'step': it locks 'knee'"),
    ],
)
def test_wrong_phases_are_refused_by_name(phase, named):
    with pytest.raises(ModelError, match=named):
        simulate(walking(Automaton(phase)), 0.1)


def test_a_point_is_held_where_it_is_once_loops_are_closed():
    """The open loop of a four-bar with a held foot closes by moving all that is not named, the foot included."""
    robot = RandomAutomaton(0, "axes", looped=True).robot
    hold = Hold("foot", "left_coupler", (0.3, -0.2, 0.0), "xy")
    stance = System(
        robot,
        (hold, Probe("point", "left_coupler", point=(0.3, -0.2, 0.0))),
        automaton=Automaton(Phase("stance", "foot")),
    )
    named = {"x": 0.0, "y": 0.0, "turn": 0.1, "left1": 1.2, "right1": 1.4}
    found = simulate(stance, 0.5, q=named)
    free = simulate(System(robot, (stance.elements[1],)), 0.01, q=named)
    np.testing.assert_allclose(found.q[0], free.q[0], atol=1e-12)
    for axis in "xy":
        assert np.ptp(found[f"point.{axis}"]) < 1e-10
        assert found[f"m.foot.{axis}.held"][0] == pytest.approx(free[f"point.{axis}"][0], abs=1e-12)
    batch = simulate_batch(stance, 0.5, q=named, v={"x": [0.0, 0.0]}, output_step=0.5)
    np.testing.assert_allclose(batch.q[0, -1], found.q[-1], atol=1e-9)


def test_an_edge_without_a_guard_is_one_sentence():
    with pytest.raises(ModelError, match=r"edge 'lost': it has no guard.*guard=\"foot.z - 0.01\""):
        Edge("lost", "left", "right")


def test_names_that_may_be_exchanged_are_listed_once():
    """Joints with one axis and their coordinates have the same names."""
    edge = Edge("swap", "one", "one", "q.a", relabel={"c": "a"})
    builder = RobotBuilder("pair").body("a", mass=1.0).body("b", mass=1.0)
    builder.joint("a", "prismatic", "world", "a", axis=(1, 0, 0)).joint("b", "prismatic", "a", "b", axis=(1, 0, 0))
    with pytest.raises(ModelError, match=r"relabel names 'c'.*Known: a, b\."):
        simulate(System(builder.build(), automaton=Automaton((Phase("one"),), (edge,))), 0.1)
