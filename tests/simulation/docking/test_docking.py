"""Docking and undocking during a run: what is conserved, what is lost, what goes on and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Guard, simulate
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.errors import ModelError
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import integrate, random_configuration
from kinemorph.model.elements import PID, DistanceConstraint
from kinemorph.model.modules import Assembly, Docking, Module, active_wheel, backbone, cube, scout
from kinemorph.modules import Dock, Undock
from kinemorph.simulation.docking.changes import approaching, nearness
from kinemorph.simulation.docking.topologies import docked_in
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from support.references.flying_modules import bodies_of, inertias_of, loss_of_locking, momentum
from support.tools.each_case import each_case

PITCH = 0.105
WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


def at(x, y=0.0, z=0.0):
    return Pose(IDENTITY.R, (x, y, z))


@pytest.fixture(scope="module")
def pair():
    """Two modules that are docked and a third one 20 mm from them, in free flight."""
    modules = (Module("m0", backbone(), at(0.0)), Module("m1", scout()), Module("m2", backbone(), at(2 * PITCH + 0.02)))
    return Assembly("pair", modules, (Docking("m0", 3, "m1", 4),)).system(**WEIGHTLESS)


@pytest.fixture(scope="module")
def duo():
    """Two modules that are docked."""
    modules = (Module("m0", backbone(), at(0.0)), Module("m1", backbone()))
    return Assembly("duo", modules, (Docking("m0", 3, "m1", 4),)).system(**WEIGHTLESS)


MOVING = {
    "m0_root.vy": 0.03,
    "m2_root.vx": -0.2,
    "m2_root.wx": 0.3,
    "m2_root.vz": 0.01,
    "m0_hinge": 0.2,
    "m2_hinge": -0.4,
}


@pytest.fixture(scope="module")
def flight(pair):
    """They meet, merge, split elsewhere; one docking is out of reach."""
    events = [
        Dock("m1", 3, "m2", 4),
        Undock("m0", 3, at=0.2),
        Dock("m2", 3, "m0", 4, at=0.25),
    ]
    return simulate(pair, 0.4, v=MOVING, events=events, output_step=0.05, rtol=1e-11, atol=1e-12)


def jumps(run, k):
    """How much poses and twists differ between the end of segment k and the start of the next."""
    old, new = bodies_of(run.segments[k], -1), bodies_of(run.segments[k + 1], 0)
    pose = max(np.abs(old[name][i] - new[name][i]).max() for name in old for i in (0, 1))
    return pose, max(np.abs(old[name][2] - new[name][2]).max() for name in old)


def test_ports_that_come_within_tolerance_lock_as_they_are(pair, flight):
    dock = flight.events[0]
    assert dock.kind == "dock" and dock.name == "m1_3_m2_4"
    assert dock["distance"] == pytest.approx(0.01, abs=1e-9) and 0.0 < dock.t < 0.2
    before, after = flight.segments[:2]
    assert before.t[-1] == after.t[0] == dock.t
    offset = next(d for d in docked_in(after).assembly.dockings if d.name == dock.name).offset
    assert np.linalg.norm(offset.p) == pytest.approx(0.01, abs=1e-9)


def test_no_body_jumps_and_undocking_changes_nothing(flight):
    for k in range(3):
        pose, twist = jumps(flight, k)
        assert pose < 1e-12
        if flight.events[k].kind != "dock":
            assert twist < 1e-12


def test_momentum_about_the_origin_of_the_world_is_conserved(flight):
    first = momentum(flight.segments[0], 0)
    size = np.abs(first).max()
    for k in range(3):
        change = momentum(flight.segments[k + 1], 0) - momentum(flight.segments[k], -1)
        assert np.abs(change).max() < 1e-12 * size
    told = flight.momentum
    assert told.shape == (len(flight), 6)
    assert np.abs(told[0] - first).max() < 1e-14 * (1.0 + size)
    assert np.abs(told - first).max() < 1e-9 * size
    assert np.abs(momentum(flight.segments[-1], -1) - first).max() < 1e-9 * size  # as exact as the steps are


def test_the_energy_loss_is_that_of_free_bodies_under_all_rows_at_once(pair, flight):
    loss, twists = loss_of_locking(flight.segments[0], pair.assembly, [(("m1", 3), ("m2", 4))])
    assert flight.events[0]["energy_loss"] == pytest.approx(loss, rel=1e-12) and loss > 1e-3
    after = bodies_of(flight.segments[1], 0)
    assert max(np.abs(after[name][2] - twists[name]).max() for name in twists) < 1e-11
    kinetic = [flight.segments[0].energy[-1, 0], flight.segments[1].energy[0, 0]]
    assert kinetic[0] - kinetic[1] == pytest.approx(loss, rel=1e-11)


def test_the_impulse_is_what_the_other_organism_gains(flight):
    """On b at a's port, in that port's axes: moved to the world's origin it is the change of b's momentum there."""
    states = [bodies_of(segment, sample) for segment, sample in ((flight.segments[0], -1), (flight.segments[1], 0))]
    inertias = inertias_of(flight.segments[0].robot, states[0])
    gained = sum(inertias[n] @ (states[1][n][2] - states[0][n][2]) for n in ("m2_rear", "m2_front"))
    R, p, _ = states[0]["m1_plate"]
    port = scout().port(3).pose
    R, p = R @ np.array(port.R), R @ np.array(port.p) + p
    f, m = (R @ [flight.events[0][f"impulse.{part}{axis}"] for axis in "xyz"] for part in "fm")
    assert np.allclose(gained, [*f, *(m + np.cross(p, f))], rtol=0.0, atol=1e-13) and np.linalg.norm(f) > 0.05


def test_columns_are_named_by_what_there_is(flight):
    first, second, third, _ = (segment.plant for segment in flight.segments)
    assert "m2_root.x" in [c.name for c in first.q] and "m2_root.x" not in [c.name for c in second.q]
    assert second.p[0].name == "m1_3_m2_4.x"
    assert [j.name for j in third.robot.joints if j.parent == "world"] == ["m0_root", "m1_root"]
    assert np.isnan(flight["q.m2_root.x"][-1]) and np.isfinite(flight["q.m2_hinge"]).all()


def test_what_is_too_far_off_is_refused_with_the_gap_and_the_run_goes_on(flight):
    refused = flight.events[2]
    assert refused.kind == "refused" and refused["distance"] > 0.1
    assert "is refused" in refused.note and f"{refused['distance']:.3g} m" in refused.note and "0.01 m" in refused.note
    assert flight.outcome.kind == "finished" and flight.t[-1] == 0.4


def test_a_run_goes_on_as_it_was_docked(pair, flight):
    more = simulate(pair, 0.5, start=flight, events=[Undock("m1", 3, at=0.45)], output_step=0.05)
    assert [c.name for c in more.segments[0].plant.q] == [c.name for c in flight.segments[-1].plant.q]
    assert np.allclose(more.segments[0].q[0], flight.segments[-1].q[-1], atol=1e-14)
    assert [e.kind for e in more.events] == ["undock"] and len(more.segments[-1].robot.path_to_root("m2_rear")) == 2


# ── rings ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ring_of_four():
    """Four modules in a square: each hinge upright, the last two ports face to face. Turned on their sides."""
    modules = tuple(Module(f"m{k}", backbone(), at(0.0) if k == 0 else None) for k in range(4))
    dockings = (Docking("m0", 3, "m1", 5), Docking("m1", 3, "m2", 5), Docking("m2", 3, "m3", 5))
    return Assembly("ring", modules, dockings)


def test_a_ring_closes_and_opens_again():
    system = ring_of_four().system(**WEIGHTLESS)
    v = {"m0_hinge": 1.3, "m1_hinge": -1.2, "m3_hinge": 1.1, "m0_root.wz": 0.5}
    events = [Dock("m3", 3, "m0", 5, at=0.005), Undock("m3", 3, at=0.05)]
    run = simulate(system, 0.06, v=v, events=events, output_step=0.02, rtol=1e-10, atol=1e-12)
    assert [e.kind for e in run.events] == ["dock", "undock"], run.events[0].note
    open_, closed, again = run.segments
    assert len(closed.robot.loops) == 1 and not again.robot.loops
    assert closed.loop_error.max() < 1e-9
    loss, twists = loss_of_locking(open_, system.assembly, [(("m3", 3), ("m0", 5))])
    assert run.events[0]["energy_loss"] == pytest.approx(loss, rel=1e-10) and loss > 1e-4
    after = bodies_of(closed, 0)
    assert max(np.abs(after[name][2] - twists[name]).max() for name in twists) < 1e-11
    for k in range(2):
        assert jumps(run, k)[0] < 1e-12
        change = momentum(run.segments[k + 1], 0) - momentum(run.segments[k], -1)
        assert np.abs(change).max() < 1e-12


def test_rings_and_rods_that_are_there_already_hold_through_an_impact():
    """A module docks onto a ring of cubes with a sliding side, on which a rod hangs one more: free bodies again."""
    cubes = Assembly("ring", tuple(Module(f"m{k}", cube(), at(0.0) if k == 0 else None) for k in range(4)))
    for k, (side_a, side_b) in enumerate(((3, 4), (5, 2), (4, 3))):
        cubes = cubes.dock(f"m{k}", side_a, f"m{k + 1}", side_b, joint="prismatic" if k != 1 else None)
    cubes = cubes.dock("m3", 2, "m0", 5).add("m4", cube("small"), at(0.0, -0.08)).add("m5", cube("small"), at(0.4))
    rod = DistanceConstraint("rod", "m0_cube", "m5_cube", 0.4)
    system = cubes.system([rod], **WEIGHTLESS)
    v = {"m0_3_m1_4": 0.1, "m4_root.vy": 0.3, "m4_root.wx": 2.0, "m0_root.wz": 0.0, "m0_root.vx": 0.0}
    run = simulate(system, 0.02, v=v, events=[Dock("m0", 2, "m4", 5, at=0.01)], output_step=0.01, rtol=1e-10)
    (dock,) = run.events
    before, after = run.segments
    assert dock.kind == "dock" and len(before.robot.loops) == 1
    assert np.abs(momentum(after, 0) - momentum(before, -1)).max() < 1e-12
    kinetic = [before.energy[-1, 0], after.energy[0, 0]]
    assert dock["energy_loss"] == pytest.approx(kinetic[0] - kinetic[1], rel=1e-9) and dock["energy_loss"] > 1e-3
    there = bodies_of(after, 0)
    ends = [(there[n][1], there[n][2][:3] + np.cross(there[n][2][3:], there[n][1])) for n in ("m0_cube", "m5_cube")]
    along = (ends[1][0] - ends[0][0]) @ (ends[1][1] - ends[0][1])
    assert abs(along) < 1e-12 and after.loop_error.max() < 1e-9
    assert np.linalg.norm(ends[0][1] - bodies_of(before, -1)["m0_cube"][2][:3]) > 1e-2  # the impact is felt there


# ── what goes on through a docking ────────────────────────────────────────────────────────────────────────────────────


def test_elements_inputs_and_callbacks_go_on_as_if_others_had_not_docked():
    """What two modules do is nothing to a third: controllers with states and memory, clocks, held inputs."""
    elements = (
        PID("steady", joints="m2_hinge", reference=0.2, kp=0.2, ki=4.0, kd=0.02),
        PID("sampled", joints="m2_dock", reference=-0.1, kp=0.2, ki=4.0, every=0.02),
    )
    modules = (Module("m0", cube(), at(0.0)), Module("m1", cube()), Module("m2", scout(), at(0.0, 1.0)))
    system = Assembly("three", modules, (Docking("m0", 3, "m1", 4),)).system(elements, **WEIGHTLESS)
    seen = {}

    def flown(*events):
        asked, told = seen.setdefault(len(events), ([], []))

        def push(t, q, v):
            asked.append(t)
            return {"m2_root.vy": 0.1 + t}

        def note(t, v):
            told.append(t)

        inputs = HeldInputs(push, every=0.03)
        return simulate(
            system, 0.1, v={"m0_root.wy": 0.5}, events=events, method="rk4", step=0.001, output_step=0.01,
            inputs=inputs, callback=note, every=0.02,
        )  # fmt: skip

    alone, docked = flown(), flown(Undock("m0", 3, at=0.033), Dock("m0", 3, "m1", 4, at=0.066, distance=0.1))
    assert [event.kind for event in docked.events] == ["undock", "dock"] and docked.outcome.ok
    assert seen[0] == seen[2] and len(seen[0][0]) == 4 and len(seen[0][1]) == 6
    same = np.isin(docked.t, alone.t) & np.append(True, np.diff(docked.t) > 0.0)
    for name in ("q.m2_root.y", "q.m2_hinge", "v.m2_dock", "u.m2_root.vy", "steady.integral"):
        assert np.allclose(docked[name][same], alone[name], rtol=1e-9, atol=1e-11) and alone[name].any(), name
    begun, ended = ([column.name for column in run.segments[-1].plant.m] for run in (alone, docked))
    assert begun == ended and np.allclose(docked.segments[-1].m[-1], alone.segments[-1].m[-1], rtol=1e-9)
    assert alone.segments[-1].m[-1].any()


def test_guards_read_by_name_and_sleep_where_a_root_is_not(duo):
    """One that resets, one of a root that is not there at first; and a law that decides when modules part."""
    events = [
        Undock("m0", 3, when=lambda q: q["m1_hinge"] - 0.003),
        Guard("apart", lambda q: q["m1_root.y"] - q["m0_root.y"] - 0.0015, direction="rising"),
        Guard("kick", lambda t: t - 0.08, reset=lambda v: {"v": {"m1_hinge": 0.7 + v["m1_hinge"]}}),
    ]
    run = simulate(duo, 0.1, v={"m0_hinge": -0.2, "m1_hinge": 0.4, "m0_root.wz": 0.4}, events=events, output_step=0.05)
    undock, apart, kick = run.events
    assert (undock.kind, apart.name, kick.kind) == ("undock", "apart", "reset")
    assert undock.name == "m0_3_m1_4" and run["q.m1_hinge"][run.t == undock.t] == pytest.approx(0.003, abs=1e-9)
    assert undock.t < apart.t < 0.08 and len(run.segments) == 3
    before, after = (run["v.m1_hinge"][run.t == kick.t][k] for k in (0, 1))
    assert after == pytest.approx(before + 0.7) and after != before
    assert np.count_nonzero(kick.after["v"] - kick.before["v"]) == 1  # what the reset leaves out stays


def test_a_fixed_base_takes_the_momentum_and_keeps_its_place():
    modules = (Module("m0", backbone(), at(0.3, 0.1)), Module("m1", backbone(), at(0.3 + PITCH + 0.005, 0.1)))
    system = Assembly("wall", modules).system(root="fixed", **WEIGHTLESS)
    events = [Dock("m0", 3, "m1", 4, at=0.01), Undock("m0", 3, at=0.02)]
    run = simulate(system, 0.03, v={"m1_root.vx": -0.1, "m1_root.wy": 0.5}, events=events, output_step=0.01)
    loss, _ = loss_of_locking(run.segments[0], system.assembly, [(("m0", 3), ("m1", 4))], fixed="m0_rear")
    assert run.events[0]["energy_loss"] == pytest.approx(loss, rel=1e-12)
    for k in range(2):
        assert jumps(run, k)[0] < 1e-14
    assert [len(segment.plant.v) for segment in run.segments] == [8, 2, 8]


@pytest.mark.slow
def test_joint_modules_between_cubes_stay_joints():
    modules = (Module("m0", cube(), at(0.0)), Module("m1", cube()), Module("m2", cube(), at(0.21)))
    system = Assembly("cubes", modules).dock("m0", 3, "m1", 4, joint="prismatic").system(**WEIGHTLESS)
    events = [Dock("m2", 4, "m1", 3, at=0.02, distance=0.02), Undock("m0", 3, at=0.04)]
    v = {"m0_3_m1_4": 0.02, "m2_root.vx": -0.1, "m0_root.wx": 0.2}
    run = simulate(system, 0.05, v=v, events=events, output_step=0.01, rtol=1e-10)
    assert [event.kind for event in run.events] == ["dock", "undock"]
    for k in range(2):
        assert jumps(run, k)[0] < 1e-12
        assert np.abs(momentum(run.segments[k + 1], 0) - momentum(run.segments[k], -1)).max() < 1e-12
    slide = run["v.m0_3_m1_4"]
    assert slide[0] == 0.02 and slide[run.t == 0.04][0] < 0.0 and np.isnan(slide[-1])  # pushed back, then gone


# ── ports that meet in passing ────────────────────────────────────────────────────────────────────────────────────────


def wide(gap, turned=0.0):
    """Two modules in free flight whose ports face each other [m], the second one turned about z [rad]."""
    c, s = math.cos(turned), math.sin(turned)
    place = Pose(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)), (PITCH + gap, 0.0, 0.0))
    return Assembly("wide", (Module("m0", cube(), at(0.0)), Module("m1", cube(), place))).system(**WEIGHTLESS)


@pytest.mark.parametrize(("distance", "angle"), [(0.01, 0.1), (1e-5, 1e-4)])
def test_ports_meet_that_pass_each_other_within_a_step(distance, angle):
    """In free flight a step is as long as the run: who looks at four places of it sees nothing."""
    events = [Dock("m0", 3, "m1", 4, distance=distance, angle=angle)]
    run = simulate(wide(0.395), 2.0, v={"m1_root.vx": -0.4}, events=events, output_step=1.0)
    (dock,) = run.events
    assert dock.kind == "dock" and dock.t == pytest.approx((0.4 - distance) / 0.4, abs=1e-9)


def test_ports_meet_that_turn_past_each_other():
    events = [Dock("m0", 3, "m1", 4, distance=0.2, angle=1e-5)]
    run = simulate(wide(0.05, 0.3), 1.0, v={"m1_root.wz": -0.5}, events=events, output_step=0.5)
    (dock,) = run.events
    assert dock.kind == "dock" and dock.t == pytest.approx((0.3 - 1e-5) / 0.5, abs=1e-9)


@pytest.mark.parametrize("options", [{"distance": 1.0, "angle": 0.1}, {"distance": 1e-3, "angle": 3.0, "turn": 1}])
def test_ports_approach_as_fast_as_their_nearness_grows(options):
    """Where they are turned too far, or too far apart: against a difference in time, however they move."""
    robot, rng = wide(0.3, 0.4).robot, np.random.default_rng(4)
    dock = Dock("m0", 3, "m1", 1, **options)
    for _ in range(4):
        q, v = random_configuration(robot, rng), rng.normal(size=robot.nv)
        near = [nearness(resolve(robot), integrate(robot, q, h * v).tolist(), dock) for h in (-1e-5, 0.0, 1e-5)]
        rate = (near[2] - near[0]) / 2e-5 / (2.0 - near[1])
        assert approaching(resolve(robot), q.tolist(), v.tolist(), dock) == pytest.approx(rate, rel=1e-5, abs=2e-6)
        assert abs(rate) > 1e-2


def test_ports_that_pass_too_far_off_are_no_event_and_the_run_says_so():
    run = simulate(wide(0.395), 2.0, v={"m1_root.vx": -0.4, "m1_root.vy": 0.02}, events=[Dock("m0", 3, "m1", 4)])
    assert not run.events and run.outcome.kind == "finished"
    assert run.outcome.message.startswith(
        "Docking of 'm0' side 3 with 'm1' side 4 did not happen: at the end its ports are"
    )
    assert f"{math.hypot(0.4, 0.04):.3g} m and 0 rad" in run.outcome.message


def test_every_system_starts_where_it_stands():
    """Plants are kept by what is docked to what; where modules stand is no part of that."""
    events = [Dock("m0", 3, "m1", 4, at=0.01)]
    for gap in (0.001, 0.004):
        run = simulate(wide(gap), 0.02, events=events, output_step=0.01)
        assert run.events[0]["distance"] == pytest.approx(gap + 0.005, abs=1e-12)
    docked = Assembly("wide", (Module("m0", cube(), at(0.0)), Module("m1", cube())), (Docking("m0", 3, "m1", 4),))
    simulate(docked.system(**WEIGHTLESS), 0.02, events=[Undock("m0", 3, at=0.01)], output_step=0.01)
    assert simulate(wide(0.003), 0.02, events=events, output_step=0.01).events[0]["distance"] == pytest.approx(0.008)


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────────────────────


@each_case(
    ("event", "words"),
    [
        (Dock("m9", 3, "m2", 4, at=0.1), "there is no module 'm9'"),
        (Dock("m1", 7, "m2", 4, at=0.1), "no port on side 7"),
        (Dock("m1", 3, "m1", 5, at=0.1), "cannot dock on itself"),
        (Dock("m1", 3, "m2", 4, at=9.0), "expected a time within the run, 0 to 0.1 s"),
        (Dock("m1", 3, "m2", 4, turn=4), "turn is 4"),
        (Dock("m1", 3, "m2", 4, distance=-1.0), "distance is -1.0"),
        (Dock("m1", 3, "m2", 4, at=0.05, when=lambda t: t), "both at and when"),
        (Dock("m0", 3, "m2", 4, at=0.05), "is docked to module 'm1', and nothing undocks it"),
        (Undock("m1", 5, at=0.05), "nothing is docked to this side"),
        (Undock("m0", 3), "neither at nor when"),
        (Guard("place", lambda q: q[3]), "indices change. Read by name"),
        (Guard("typo", lambda q: q["m2_hing"]), "Did you mean 'm2_hinge'"),
    ],
)
def test_what_cannot_happen_is_told_before_the_run(pair, event, words):
    events = [event] if not isinstance(event, Guard) else [event, Undock("m0", 3, at=0.05)]
    with pytest.raises(ModelError, match=words.replace("[", r"\[").replace("(", r"\(")):
        simulate(pair, 0.1, events=events)


def test_an_element_whose_joint_is_gone_ends_the_run_with_a_sentence():
    """What was computed is kept."""
    cubes = Assembly("cubes", (Module("m0", cube(), at(0.0)), Module("m1", cube()))).dock(
        "m0", 3, "m1", 4, joint="revolute"
    )
    motor = PID("motor", joints="m0_3_m1_4", kp=1.0)
    run = simulate(cubes.system([motor], **WEIGHTLESS), 0.02, events=[Undock("m0", 3, at=0.01)], output_step=0.01)
    assert run.outcome.kind == "failed" and run.t[-1] == 0.01
    assert "after the undocking of 'm0' side 3: element 'motor': joints contains 'm0_3_m1_4'" in run.outcome.message


def test_a_robot_that_is_not_as_its_modules_are_does_not_dock(duo):
    """It would be another one from the docking on."""
    bodies = tuple(replace(body, mass=2.0) if body.name == "m1_rear" else body for body in duo.robot.bodies)
    joints = tuple(replace(j, armature=(0.1,)) if j.name == "m0_hinge" else j for j in duo.robot.joints)
    for robot, words in (
        (replace(duo.robot, bodies=bodies), "body 'm1_rear'"),
        (replace(duo.robot, joints=joints), "joint 'm0_hinge'"),
    ):
        with pytest.raises(ModelError, match=f"{words} of 'duo' differs from its module"):
            simulate(replace(duo, robot=robot), 0.1, events=Undock("m0", 3, at=0.05))


def test_only_modules_as_they_are_built_dock(pair):
    dock = Dock("m1", 3, "m2", 4)
    with pytest.raises(ModelError, match="is not made of modules"):
        simulate(pair.robot, 0.1, events=dock)
    with pytest.raises(ModelError, match="adapted dyads"):
        simulate(pair.assembly.system(dyads="adapted"), 0.1, events=dock)
    with pytest.raises(ModelError, match="forces: a law that returns one force for each velocity"):
        simulate(pair, 0.1, events=dock, forces=lambda q: [0.0] * 15)


# ── many of them ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(0, 6), (1, 7), (2, 9)])
def test_twenty_random_events_in_a_row(seed, count):
    """Modules of all kinds in free flight lock wherever they are; rings close and open, organisms merge and split."""
    rng = np.random.default_rng(seed)
    kinds = [backbone(), scout(), active_wheel(), cube()]
    heap = Assembly("heap", tuple(Module(f"m{k}", kinds[rng.integers(4)], at(0.5 * k)) for k in range(count)))
    events, docked = [], [heap]
    for k in range(20):
        shape, t = docked[-1], 0.05 * (k + 1)
        if shape.dockings and rng.random() < 0.4:
            gone = shape.dockings[rng.integers(len(shape.dockings))]
            events.append(Undock(gone.a, gone.side_a, at=t))
            docked.append(shape.undock(gone.a, gone.side_a))
            continue
        free = [(name, side) for name in shape.names for side in shape.free_sides(name)]
        a, b = _two(rng, free)
        events.append(Dock(*a, *b, at=t, distance=100.0, angle=np.pi))
        docked.append(shape.dock(*a, *b))
    system = heap.system(**WEIGHTLESS)
    v = 0.5 * rng.normal(size=system.robot.nv)
    run = simulate(system, 1.05, v=v, events=events, rtol=1e-12, atol=1e-13, output_step=0.05)
    assert run.outcome.kind == "finished" and len(run.segments) == 21
    first = momentum(run.segments[0], 0)
    for k, (event, shape) in enumerate(zip(run.events, docked, strict=False)):
        before, after = run.segments[k : k + 2]
        pose, twist = jumps(run, k)
        assert pose < 2e-12
        assert np.abs(momentum(after, 0) - momentum(before, -1)).max() < 1e-12 * np.abs(first).max()
        assert np.abs(momentum(after, 0) - first).max() < 1e-11 * np.abs(first).max()
        if event.kind == "undock":
            assert twist < 1e-12
            continue
        loss, twists = loss_of_locking(before, shape, [events[k].ends])
        assert event["energy_loss"] == pytest.approx(loss, rel=1e-10, abs=1e-13)
        there = bodies_of(after, 0)
        assert max(np.abs(there[name][2] - twists[name]).max() for name in twists) < 1e-10


def _two(rng, free):
    """Two ports of different modules."""
    while True:
        a, b = (free[k] for k in rng.integers(len(free), size=2))
        if a[0] != b[0]:
            return a, b
