"""Gaits: what each of them publishes, exact rates, ticks, locking of phases, and what is said of bad ones."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, System, load_text, simulate, simulate_batch
from kinemorph.analysis.with_gait import gait_joints, with_gait
from kinemorph.errors import ModelError
from kinemorph.formats.loading import save
from kinemorph.mechanics.elements.gaits.coupled_maps import AHEAD
from kinemorph.mechanics.elements.gaits.map_steps import MAPS, coupled_step, neighbors, random_start
from kinemorph.model.body import Body
from kinemorph.model.elements import (
    PD,
    ComputedTorque,
    CoupledMaps,
    PhaseOscillators,
    PrescribedMotion,
    Rhythmic,
    Serpenoid,
    Sinusoid,
)
from kinemorph.plants import plant
from support.cases.element_laws import ALONG, Instant
from support.tools.each_case import each_case

JOINTS = ("q1", "q2", "q3")
CHAIN = kinemorph.library.chain(3)
TIMED = {
    "rhythmic": Rhythmic("g", JOINTS, amplitude=(0.5, 0.4, 0.3), frequency=0.7, offset=0.1, ramp=0.8),
    "rhythmic with phases": Rhythmic("g", JOINTS, frequency=(0.5, 0.6, 0.7), phases=(0.0, 1.0, -2.0), ramp=0.0),
    "serpenoid": Serpenoid("g", JOINTS, turn=0.2, ramp=0.5),
    "alternating": Serpenoid("g", JOINTS, amplitude=(0.5, 0.2), turn=(0.1, -0.2), layout="alternating"),
}
OSCILLATORS = {
    "chain": PhaseOscillators("g", JOINTS, frequency=(0.4, 0.5, 0.9), offset=0.2, adapt=3.0, start=(0.0, 2.5, 4.0)),
    "ring": PhaseOscillators("g", JOINTS, network="ring", phases=(0.0, 2.0, 4.0), start=(0.1, 0.2, 0.3), initial=0.1),
    "all": PhaseOscillators("g", JOINTS, network="all", amplitude=(0.1, 0.2, 0.3), start=(1.0, 0.0, 0.0)),
}
STEPPING = {
    "half-cosine": CoupledMaps("g", JOINTS, r=3.7, epsilon=0.1, every=0.2, settle=3, ramp=0.0),
    "spline": CoupledMaps("g", JOINTS, r=(3.7, 3.9, 3.8), coupling="ring", interpolation="spline", settle=3, ramp=0.3),
}


def signals(instant, t, world=None):
    """(positions, velocities, accelerations), each of all joints."""
    world = world or instant.world(t, [0.0] * 3, [0.0] * 3)
    return tuple([world.signal(f"g.{joint}{word}") for joint in JOINTS] for word in ("", ".velocity", ".acceleration"))


def tick(instant, t):
    """What memory is after a tick."""
    world, (member, *_) = instant.world(t, [0.0] * 3, [0.0] * 3), instant.cast.members
    instant.m = [float(x) for x in member.law.sample(member.element, world.views[0], 0)]


# ── rates ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", TIMED)
def test_rates_are_derivatives_of_positions(name):
    instant = Instant(CHAIN, (TIMED[name],))
    for t in (0.0, 0.13, 0.5, 0.9, 3.7):
        q, v, _ = signals(instant, ALONG.moved(t, 1.0))
        _, rates, changes = signals(instant, t)
        assert [ALONG.tangent(x) for x in q] == pytest.approx(rates, abs=1e-12)
        assert [ALONG.tangent(x) for x in v] == pytest.approx(changes, abs=1e-11)


@pytest.mark.parametrize("name", OSCILLATORS)
def test_rates_of_oscillators_follow_their_states(name):
    instant = Instant(CHAIN, (OSCILLATORS[name],))
    rng = np.random.default_rng(3)
    for _ in range(3):
        instant.x = list(rng.uniform(-1.0, 2.0, len(instant.x)))
        world = instant.world(0.3, [0.0] * 3, [0.0] * 3)
        rates = world.efforts[0].rates
        _, velocities, accelerations = signals(instant, 0.3, world)
        instant.x = [ALONG.moved(x, rate) for x, rate in zip(instant.x, rates, strict=True)]
        q, v, _ = signals(instant, 0.3)
        assert [ALONG.tangent(x) for x in q] == pytest.approx(velocities, abs=1e-12)
        assert [ALONG.tangent(x) for x in v] == pytest.approx(accelerations, abs=1e-11)


@pytest.mark.parametrize("name", STEPPING)
def test_steps_of_maps_join_smoothly(name):
    """Exact rates within a step; positions and velocities continuous at ticks, accelerations of a spline too."""
    element = STEPPING[name]
    instant, T = Instant(CHAIN, (element,)), element.every
    for n in range(1, 12):
        for t in (n - 0.9) * T, (n - 0.4) * T:
            q, v, _ = signals(instant, ALONG.moved(t, 1.0))
            _, rates, changes = signals(instant, t)
            assert [ALONG.tangent(x) for x in q] == pytest.approx(rates, abs=1e-12)
            assert [ALONG.tangent(x) for x in v] == pytest.approx(changes, abs=1e-10)
        before = signals(instant, n * T)
        tick(instant, n * T)
        after = signals(instant, n * T)
        kept = 3 if name == "spline" else 2
        for a, b in zip(before[:kept], after[:kept], strict=True):
            assert a == pytest.approx(b, abs=1e-12 * (1.0 / T) ** 2)
        assert kept == 3 or max(abs(a - b) for a, b in zip(before[2], after[2], strict=True)) > 1.0


@pytest.mark.parametrize("name", STEPPING)
def test_angles_at_ticks_are_those_of_the_maps(name):
    element = STEPPING[name]
    instant, n = Instant(CHAIN, (element,)), len(JOINTS)
    x = random_start(0, n)
    numbers = (element.r * n if len(element.r) == 1 else element.r), element.epsilon * n
    for _ in range(element.settle):
        x = coupled_step(element.map, element.coupling, x, *numbers)
    for k in range(12):
        ramp = 1.0 if not element.ramp or k else 0.0
        found = signals(instant, k * element.every)[0]
        assert found == pytest.approx([ramp * math.radians(30.0) * (2.0 * one - 1.0) for one in x], abs=1e-7)
        tick(instant, (k + 1) * element.every)
        x = coupled_step(element.map, element.coupling, x, *numbers)


def test_a_run_that_begins_between_ticks_waits_for_the_next_one():
    instant = Instant(CHAIN, (STEPPING["half-cosine"],))
    q, v, a = signals(instant, 7.3 * 0.2)
    assert (v, a) == ([0.0] * 3, [0.0] * 3)
    assert q == pytest.approx(signals(instant, 0.2)[0])


# ── what they are ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_other_joint_belongs_to_a_wave_that_is_ahead():
    """A quarter of a turn where nothing is said; gaits grow within a second."""
    instant = Instant(CHAIN, (Serpenoid("g", JOINTS, amplitude=(0.5, 0.2), turn=(0.1, -0.2), layout="alternating"),))
    for t in (1.0, 1.9):
        angles = [math.pi * t + k * math.radians(60.0) + (0.5 * math.pi if k == 1 else 0.0) for k in range(3)]
        found = [0.1 + 0.5 * math.sin(angles[0]), -0.2 + 0.2 * math.sin(angles[1]), 0.1 + 0.5 * math.sin(angles[2])]
        assert signals(instant, t)[0] == pytest.approx(found, abs=1e-14)
    ramps = {kind: kind("g", JOINTS).ramp for kind in (Rhythmic, Serpenoid, CoupledMaps)}
    assert [*ramps.values()] == [1.0, 1.0, 1.0]


def test_a_rhythm_is_sinusoids_whose_phases_grow():
    step = math.radians(60.0)
    rhythm, one = Instant(CHAIN, (Rhythmic("g", JOINTS, ramp=0.0),)), {"amplitude": math.radians(30.0)}
    waves = Sinusoid("g", frequency=0.5, phase=tuple(k * step for k in range(3)), joints=JOINTS, **one)
    for t in (0.0, 0.37, 2.0):
        assert signals(rhythm, t) == signals(Instant(CHAIN, (waves,)), t)
        again = signals(rhythm, t + 2.0)
        for a, b in zip(signals(rhythm, t), again, strict=True):
            assert a == pytest.approx(b, abs=1e-12)


BENT = (0.3, -0.8, 1.2)  # [rad]
BEGINNING = {
    "rhythmic": lambda **how: Rhythmic("g", JOINTS, offset=BENT, ramp=1.5, **how),
    "serpenoid": lambda **how: Serpenoid("g", JOINTS, turn=0.3, ramp=1.5, **how),
    "maps": lambda **how: CoupledMaps("g", JOINTS, offset=BENT, every=5.0, ramp=1.5, settle=3, **how),
    "oscillators": lambda **how: PhaseOscillators("g", JOINTS, offset=BENT, start=(1.0, 2.0, 3.0), **how),
}


@pytest.mark.parametrize("name", BEGINNING)
def test_a_gait_begins_at_rest_at_its_offset(name):
    """A robot that stood with bent legs, at the offset of its gait, was asked to straighten them at t = 0: it jumped.
    A gait begins at its offset and only its amplitude grows; or it begins at the initial positions that are given.
    """
    offset = [0.3] * 3 if name == "serpenoid" else [*BENT]
    assert signals(Instant(CHAIN, (BEGINNING[name](),)), 0.0)[:2] == (offset, [0.0] * 3)
    for initial in (0.0, (0.1, 0.2, 0.3)):
        instant = Instant(CHAIN, (BEGINNING[name](initial=initial),))
        assert signals(instant, 0.0)[0] == list(np.broadcast_to(initial, 3))
        assert signals(instant, 0.0)[1] == [0.0] * 3
    assert signals(instant, -1.0)[0] == [0.1, 0.2, 0.3]
    if name != "oscillators":
        gaits = [BEGINNING[name](), BEGINNING[name](initial=0.1), replace(BEGINNING[name](), ramp=0.0)]
        for t in (1.5, 4.0):
            for values in zip(*(signals(Instant(CHAIN, (gait,)), t) for gait in gaits), strict=True):
                assert np.ptp(values, axis=0).max() < 1e-13


def test_oscillators_move_from_initial_positions_to_their_offsets():
    gait = PhaseOscillators("g", JOINTS, amplitude=0.0, offset=BENT, initial=0.2)
    run = simulate(System(CHAIN, (gait,)), 4.0, **QUICK)
    for joint, offset in zip(JOINTS, BENT, strict=True):
        assert run[f"g.{joint}"][0] == 0.2 and run[f"g.{joint}"][-1] == pytest.approx(offset, abs=1e-4)
        s = 4.0 * run.t  # critically damped, at half the rate
        assert run[f"g.{joint}"] == pytest.approx(offset + (0.2 - offset) * (1.0 + s) * np.exp(-s), abs=1e-4)


def test_wrong_initial_positions_are_named():
    for make in BEGINNING.values():
        with pytest.raises(ModelError, match=r"element 'g': initial has 2 numbers; expected 1, or 3, one for each of"):
            plant(System(CHAIN, (make(initial=(0.1, 0.2)),)))
        with pytest.raises(ModelError, match=r"element 'g': initial is nan; expected a finite number"):
            plant(System(CHAIN, (make(initial=math.nan),)))


def test_a_serpenoid_body_lies_along_its_curve():
    """Links along direction(s) = winding cos(2 pi waves s + w t) + turning s have these bends between them."""
    joints, winding, waves, turning = tuple(f"q{k + 1}" for k in range(7)), 0.6, 1.5, 0.4
    gait = Serpenoid.along("g", joints, winding=winding, waves=waves, turning=turning, frequency=0.3, ramp=0.0)
    instant, t = Instant(kinemorph.library.chain(7), (gait,)), 0.83
    world = instant.world(t, [0.0] * 7, [0.0] * 7)
    bends = [world.signal(f"g.{joint}") for joint in joints]
    s = np.arange(8) / 8
    direction = winding * np.cos(2.0 * np.pi * (waves * (s - 0.5 / 8) + 0.3 * t)) - turning * s
    assert -np.diff(direction) == pytest.approx(bends, abs=1e-12)


def test_neighbors_and_means():
    assert [neighbors("ring", 4, i) for i in range(4)] == [(3, 1), (0, 2), (1, 3), (2, 0)]
    assert [neighbors("chain", 3, i) for i in range(3)] == [(1,), (0, 2), (1,)]
    assert neighbors("global", 3, 1) == (0, 1, 2)  # itself included
    assert (neighbors("ring", 2, 0), neighbors("chain", 1, 0)) == ((1,), (0,))
    f = [3.0 * x * (1.0 - x) for x in (0.1, 0.4, 0.7)]
    found = coupled_step("logistic", "global", (0.1, 0.4, 0.7), (3.0,) * 3, (0.25,) * 3)
    assert found == pytest.approx([0.75 * one + 0.25 * sum(f) / 3.0 for one in f])


@pytest.mark.parametrize("name", MAPS)
def test_maps_stay_between_0_and_1(name):
    x = np.linspace(0.0, 1.0, 1001)
    image = MAPS[name].step(x, MAPS[name].largest)
    assert image.min() >= 0.0 and image.max() == pytest.approx(1.0, abs=1e-6)
    assert MAPS[name].step(x, 1.01 * MAPS[name].largest).max() > 1.0


# ── in runs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


WANTED, OWN = (0.0, 1.0, 2.5), (0.4, 0.5, 0.75)
UNLIKE = {"joints": JOINTS, "frequency": OWN, "phases": WANTED, "start": (0.0, 2.6, 5.0)}
TOGETHER = System(
    CHAIN,
    (
        CoupledMaps("g", JOINTS, r=3.9, epsilon=0.05, every=0.1, interpolation="spline", ramp=0.2, settle=50),
        *(PhaseOscillators(network, adapt=2.0, network=network, **UNLIKE) for network in ("chain", "ring", "all")),
        PhaseOscillators("steady", ("q1", "q2"), frequency=(0.4, 0.6), phase_step=1.0, coupling=2.0),
    ),
)  # one program for all that is seen in a run
QUICK = {"method": "rk4", "step": 0.02, "output_step": 0.05}


@pytest.fixture(scope="module")
def run():
    return simulate(TOGETHER, 20.0, **QUICK)


@pytest.mark.parametrize("network", ["chain", "ring", "all"])
def test_oscillators_learn_a_common_frequency_and_the_phases_that_are_wanted(run, network):
    last = {name: [run[f"{network}.{joint}.{name}"] for joint in JOINTS] for name in ("phase", "pulse", "amplitude")}
    phases = np.array([column[-1] for column in last["phase"]])
    assert np.cos(phases - phases[0] - np.array(WANTED)) == pytest.approx(1.0, abs=1e-8)
    pulses = np.array(last["pulse"]) / (2.0 * math.pi)
    assert pulses[:, 0] == pytest.approx(OWN) and pulses[:, -1] == pytest.approx(np.mean(OWN), abs=1e-5)
    assert pulses.mean(axis=0) == pytest.approx(np.mean(OWN))  # pulls add up to 0
    assert [column[0] for column in last["amplitude"]] == [0.0] * 3
    assert [column[-1] for column in last["amplitude"]] == pytest.approx([math.radians(30.0)] * 3, abs=1e-8)


def test_without_learning_unlike_oscillators_lock_beside_the_phases_that_are_wanted(run):
    off = run["steady.q2.phase"] - run["steady.q1.phase"] - 1.0
    assert off[-1] == pytest.approx(math.asin(2.0 * math.pi * 0.2 / (2.0 * 2.0)), abs=1e-7)
    rate = (run["steady.q1.phase"][-1] - run["steady.q1.phase"][-21]) / 1.0
    assert rate == pytest.approx(2.0 * math.pi * 0.5, abs=1e-7)  # and at the mean frequency


def test_a_compiled_run_is_the_law_on_floats(run):
    instant = Instant(CHAIN, TOGETHER.elements[:1])
    names = [slot.name for slot in instant.cast.memory]
    for n in range(1, 15):
        t = n * 0.1 - 0.05
        for column, values in zip(("", ".velocity", ".acceleration"), signals(instant, t), strict=True):
            found = [run[f"g.{joint}{column}"][2 * n - 1] for joint in JOINTS]
            assert found == pytest.approx(values, rel=1e-9, abs=1e-10)
        tick(instant, n * 0.1)
        assert [run[f"m.{name}"][2 * n] for name in names] == pytest.approx(instant.m, rel=1e-9, abs=1e-12)
    for n in range(15, 200):
        tick(instant, n * 0.1)
    for name, value in zip(names, instant.m, strict=True):
        assert "ahead" not in name or run[f"m.{name}"][398] == value  # chaos, to the last digit


def test_a_batch_is_single_runs():
    elements = (CoupledMaps("g", "q1", every=0.05), PD("pd", "q1", kp=9.0, reference="g"))
    system = System(kinemorph.library.pendulum(), elements)
    starts, how = np.linspace(0.0, 0.4, 5)[:, None], {"method": "heun", "step": 0.01}
    batch = simulate_batch(system, 0.4, q=starts, **how)
    for k in (0, 3):
        one = simulate(system, 0.4, q=starts[k], **how).segments[0]
        assert np.array_equal(batch.q[k], one.q) and np.array_equal(batch.m[k], one.m)
    assert len(np.unique(batch.m[0][:, 1])) > 5  # it did step


@pytest.mark.slow
def test_computed_torque_follows_oscillators_exactly():
    gait = OSCILLATORS["chain"]
    exact = ComputedTorque("exact", JOINTS, kp=100.0, kd=20.0, reference="g")
    begin = [*gait.offset] * len(JOINTS)  # a gait begins at rest at its offset
    run = simulate(System(CHAIN, (gait, exact)), 1.0, q=begin, method="rk4", step=0.005, output_step=0.1)
    assert np.ptp(run["q.q1"]) > 0.1
    for joint in JOINTS:
        assert run[f"q.{joint}"] == pytest.approx(run[f"g.{joint}"], abs=1e-6)


def test_constraints_may_read_gaits_of_time_alone():
    tied = [PrescribedMotion(f"m{joint}", joint, f"g.{joint}") for joint in JOINTS]
    assert plant(System(CHAIN, (TIMED["serpenoid"], *tied))).constraints is not None
    with pytest.raises(ModelError, match=r"g\.q1"):
        plant(System(CHAIN, (STEPPING["spline"], *tied)))


def test_with_gait_gains_suit_the_inertia_and_efforts_hold():
    builder = RobotBuilder("arm").add(Body.rod("rod", 1.0, 1.0, (0.5, 0, 0), axis="x"))
    arm = builder.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), effort=7.0).build()
    assert gait_joints(arm) == ("hinge",)
    system = with_gait(arm, Rhythmic("gait", "hinge"))
    _, pd = system.elements
    assert pd.kp == pytest.approx((7.0 / 0.05,))  # all effort for an error of 0.05 rad
    assert pd.kd == pytest.approx((2.0 * 140.0 / 25.0,))
    strong = RobotBuilder("strong").add(Body.rod("rod", 1.0, 1.0, (0.5, 0, 0), axis="x"))
    strong.joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), effort=70.0)
    pd_strong = with_gait(strong.build(), Rhythmic("gait", "hinge")).elements[1]
    assert pd_strong.kp == pytest.approx((25.0**2 / 3.0,)) and pd_strong.kd == pytest.approx((50.0 / 3.0,))
    assert (pd.lower, pd.upper, pd.reference) == ((-7.0,), (7.0,), ("gait",))
    floating = kinemorph.library.hexapod24()
    assert len(gait_joints(floating)) == 18 and "trunk_root" not in gait_joints(floating)
    assert gait_joints(kinemorph.library.four_bar()) == ("q1",)
    with pytest.raises(ModelError, match=r"its joints are none; expected joints of robot 'arm'\. Choose from: hinge\."):
        with_gait(arm, Rhythmic("gait"))


def test_damping_of_a_gait_stops_what_a_joint_moves_alone_in_no_less_than_a_step():
    """A wheel on a light trunk: the other joint gives way, so that a joint moves less inertia than its row of the mass
    matrix says, and the damping that suits the row is too stiff for the step.
    """
    builder = RobotBuilder("wheel").add(Body.sphere("trunk", 0.05, 0.02), Body.sphere("wheel", 0.02, 0.02))
    builder.joint("turn", "revolute", "world", "trunk", axis=(0, 0, 1))
    robot = builder.joint("spin", "revolute", "trunk", "wheel", axis=(0, 0, 1)).build()
    pd = with_gait(robot, Rhythmic("gait", ("turn", "spin")), kp=500.0).elements[1]
    dynamics = kinemorph.derive(robot)
    rates = [dynamics.forward_dynamics([0.0, 0.0], [0.0, 0.0], unit)[k] for k, unit in enumerate(np.eye(2))]
    assert pd.kd == pytest.approx([1.0 / (rate * 1e-3) for rate in rates], rel=1e-9)
    assert pd.kd[1] < 0.8 * dynamics.mass_matrix([0.0, 0.0])[1, 1] / 1e-3


# ── files and bad input ───────────────────────────────────────────────────────────────────────────────────────────────

EVERY = {
    **{f"timed {name}": element for name, element in TIMED.items()},
    **{f"oscillators {name}": element for name, element in OSCILLATORS.items()},
    **{f"maps {name}": element for name, element in STEPPING.items()},
}


def test_gaits_go_through_model_files(tmp_path):
    for number, element in enumerate(EVERY.values()):
        path = tmp_path / f"robot{number}.toml"
        save(System(CHAIN, (element,)), path)
        (back,) = kinemorph.load(path).elements
        assert back == element


def test_a_model_file_may_say_a_gait_in_degrees(tmp_path):
    save(CHAIN, tmp_path / "chain.toml")
    text = (tmp_path / "chain.toml").read_text()
    text += """
[elements.g]
kind = "rhythmic"
joints = ["q1", "q2"]
amplitude = "20 deg"
phase_step = "90 deg"
ramp = "500 ms"

[elements.steps]
kind = "coupled maps"
joints = ["q3"]
map = "sine"
r = 0.95
every = 0.25
"""
    waves, maps = load_text(text, "toml").elements
    assert waves == Rhythmic("g", ("q1", "q2"), amplitude=math.radians(20.0), phase_step=math.pi / 2.0, ramp=0.5)
    assert maps == CoupledMaps("steps", "q3", map="sine", r=0.95, every=0.25)


@each_case(
    ("element", "sentence"),
    [
        (
            CoupledMaps("g", JOINTS, r=4.1),
            "r is 4.1; expected a number from 0 to 4, because otherwise the logistic map",
        ),
        (CoupledMaps("g", JOINTS, map="sine"), "r is 3.9; expected a number from 0 to 1"),
        (Rhythmic("g", (JOINTS[0], JOINTS[0])), "joint 'q1' is named 2 times; expected once"),
        (CoupledMaps("g", JOINTS, r=(3.9, 3.8)), "r has 2 numbers; expected 1, or 3, one for each of its joints"),
        (CoupledMaps("g", JOINTS, start=(0.1, 0.2)), "start has 2 numbers; expected 3, one for each joint, or none"),
        (Rhythmic("g", ("q1", "elbow")), "robot 'chain3' has no such joint"),
        (Rhythmic("g", JOINTS, phases=(0.0, 1.0)), "phases has 2 numbers; expected 3, one for each joint, or none"),
        (Serpenoid("g", JOINTS, amplitude=(0.1, 0.2)), "amplitude has 2 numbers and the layout is 'one'"),
        (PhaseOscillators("g", JOINTS, start=(1.0,)), "start has 1 number; expected 3"),
    ],
)
def test_bad_gaits_are_told_in_a_sentence(element, sentence):
    with (
        pytest.raises(ModelError, match=re.escape(f"element 'g': {sentence}"))
        if "no such" not in sentence
        else (pytest.raises(ModelError, match=re.escape(sentence)))
    ):
        plant(System(CHAIN, (element,)))


def test_ahead_is_far_enough_for_splines():
    assert (2.0 - math.sqrt(3.0)) ** (AHEAD + 1) < 1e-7
