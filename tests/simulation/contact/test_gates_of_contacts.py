"""Contacts of a link act as one, and points above the ground are not computed: no bit of the motion changes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, PositionBuilder, RobotBuilder, System, Trajectory, notation, simulate, simulate_batch
from kinemorph.algebra.scalar import absolute, less, sin, where
from kinemorph.disk_cache import switched_off
from kinemorph.elements import (
    Anchor,
    AppliedWrench,
    Automaton,
    Constraint,
    Contact,
    Edge,
    HeightFunction,
    HeightMap,
    HuntCrossley,
    ImpedanceNormal,
    Phase,
    Plane,
    Regularized,
    TorsionSpring,
)
from kinemorph.errors import EnergyWarning
from kinemorph.mechanics.elements.contact.clearances import clearance
from kinemorph.mechanics.elements.contact.contacts import ContactLaw
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.elements.contact.touching_points import spots, touched
from kinemorph.mechanics.elements.places import Motions
from kinemorph.mechanics.steps import gates
from kinemorph.mechanics.steps.gates import steady
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfEllipsoid, Mesh, Sphere
from kinemorph.notation import Tdisp
from kinemorph.plants.contacts import joined_contacts
from kinemorph.plants.contacts.levers import levers
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators.methods import usual
from support.tools.program_runs import WAYS

SLOPE = Plane((0, 0, -1.0), (0.1, 0.0, 1.0))
STAIRS = HeightFunction(lambda x, y: 0.2 * (x - sin(5.0 * x) / 5.0))
SOIL = HuntCrossley(1e5, 0.5)
VERTICES = tuple((0.1 * np.cos(k), 0.2 * np.sin(k), 0.01 * k) for k in range(20))
SOLIDS = (
    Box((0.2, 0.1, 0.3)),
    Sphere(0.2),
    Capsule(0.1, 0.4),
    Cylinder(0.1, 0.3),
    Ellipsoid((0.1, 0.2, 0.3)),
    HalfEllipsoid((0.1, 0.2, 0.3)),
    Mesh(VERTICES[:8], ((0, 1, 2),)),
    Mesh(VERTICES, ((0, 1, 2),)),
)


def tumbling(ground: Any = None, **more: Any) -> System:
    """A trunk with solids that falls, and a leg on a hinge below it."""
    builder = RobotBuilder("tumbler").add(Body.sphere("trunk", 2.0, 0.1), Body.sphere("leg", 1.0, 0.1, (0, 0, -0.2)))
    builder.root("trunk", "free").joint("hip", "revolute", "trunk", "leg", axis=(0, 1, 0))
    given = {"friction": Regularized(0.5, 0.01), "ground": ground or SLOPE, **more}
    bodies = ("trunk", "leg")
    found = [Contact(f"c{k}", bodies[k % 2], SOIL, shape=solid, **given) for k, solid in enumerate(SOLIDS)]
    return System(builder.build(), tuple(found))


def states(count: int) -> np.ndarray[Any, Any]:
    q = np.random.default_rng(3).normal(size=(count, 8))
    q[:, 2] = 0.3 * q[:, 2] - 0.6
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return q


def test_a_clearance_is_never_more_than_the_height_of_a_touching_point() -> None:
    """At a state, and after the motion of a rigid body for a time; on a box, whose corners touch, it is the height."""
    system, rng, tight = tumbling(), np.random.default_rng(4), []
    tree = resolve(system.robot)
    for q in states(20):
        v = rng.normal(size=7)
        motions = Motions(tree, q.tolist(), v.tolist())
        for element in system.elements:
            at = motions.attachment(element.body)
            own = [spot.moved(at.pose) for spot in spots(element)]
            bound = clearance(own, element.ground)
            assert bound is not None
            height, point = surface(element.ground), partial(motions.point, at.link)
            for h in (0.0, 0.01):
                low = bound.lowest(motions.sight, at.link, steady(motions.twist(at.link), h))
                for spot in own:
                    place, _ = touched(spot, height, position_of(point), point((0.0, 0.0, 0.0)).into, 1)
                    late = replace(point(place), step=h)
                    assert low <= height(late.position).height + 1e-12
                    tight.append(height(late.position).height - low)
    assert min(tight) < 1e-9


def position_of(point: Any) -> Any:
    return lambda place: point(place).position


def test_contacts_of_a_link_that_differ_in_numbers_only_act_as_one() -> None:
    system = tumbling()
    anchored = Contact("held", "leg", SOIL, Anchor(0.5, 0.4, 1e4, 1e2), SLOPE, shape=Box((0.1, 0.1, 0.1)))
    other = Contact("b", "leg", replace(SOIL, exponent=1.0), Regularized(0.5, 0.01), SLOPE, shape=SOLIDS[0])
    more = (*system.elements, anchored, other, replace(other, name="c", ground=Plane()))
    with switched_off():
        loaded = plant(replace(system, elements=more)).laws.implicit.args[0]  # type: ignore[union-attr]
    laws = [type(member.law).__name__ for member in loaded.elements.members]
    assert laws[:2] == ["JoinedContactLaw"] * 2 and set(laws[2:8]) == {"SilentContactLaw"}
    assert laws[8:] == ["ContactLaw", "JoinedContactLaw", "JoinedContactLaw"]
    few = replace(system, elements=system.elements[:2])
    assert type(plant(few).laws.implicit.args[0].elements.members[0].law) is ContactLaw  # type: ignore[union-attr]


def forced(monkeypatch: pytest.MonkeyPatch, system: System, **options: Any) -> list[Trajectory]:
    """The run of a system three times: as it is, with all gates open, and with each contact for itself."""
    runs = []
    for module, name, value in (
        (gates, "MARGIN", gates.MARGIN),
        (gates, "MARGIN", 1e9),
        (joined_contacts, "MANY", 1e9),
    ):
        with monkeypatch.context() as patch, switched_off():
            patch.setattr(module, name, value)
            made = plant(system, account=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                runs.append(simulate(made, **options))
    return runs


@pytest.mark.parametrize("method", ["extrapolated_contact", "rodas", "dop853"])
def test_gates_change_no_bit_of_a_fall(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = {"q": [0, 0, 0.6, 1, 0, 0, 0, 0.3], "v": [0.5, 0.2, -1.0, 1.0, 2.0, 0.5, 3.0]}
    run, dense, apart = forced(monkeypatch, tumbling(), until=0.6, method=method, output_step=0.02, **start)
    assert run.outcome.ok and max(run[f"c{k}.normal"].max() for k in range(8)) > 0.0
    for name in "qvx":
        assert np.array_equal(getattr(run.segments[-1], name), getattr(dense.segments[-1], name))
    np.testing.assert_allclose(run.q[:12], apart.q[:12], atol=1e-9)  # later, rounding grows by impacts
    signals = [name for name in ("c0.normal", "c7.depth", "c3.touching")]
    for name in signals:
        np.testing.assert_allclose(run[name], dense[name], atol=0.0)
        np.testing.assert_allclose(run[name][:12], apart[name][:12], atol=1e-6)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_gates_change_no_bit_of_random_drops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten drops of a random robot on a plane, a slope, hills or stairs: from high, rolling, on an edge, in the floor.

    One of them alone, all in lanes, and in lanes of two threads.
    """
    rng = np.random.default_rng(seed)
    builder = RobotBuilder("random").add(*(Body.sphere(f"b{k}", float(rng.uniform(0.3, 2.0)), 0.1) for k in range(3)))
    builder.root("b0", "free")
    for k in (1, 2):
        builder.joint(
            f"j{k}",
            "revolute",
            f"b{k - 1}",
            f"b{k}",
            axis=rng.normal(size=3),
            normalize=True,
            translation=(0.1, 0, -0.15),
        )
    heights = tuple(map(tuple, (0.1 * rng.uniform(size=(6, 6))).tolist()))
    grounds = Plane(), Plane((0, 0, -0.1), (0.3, -0.2, 1.0)), HeightMap(heights, (1.0, 1.0), (-2.5, -2.5)), STAIRS
    ground = grounds[seed % len(grounds)]
    soils = (HuntCrossley(1e5, 0.5), HuntCrossley(3e4, 0.2, 1.0), ImpedanceNormal(2e3, 60.0, width=0.002))
    elements = tuple(
        Contact(f"c{k}", f"b{k % 3}", soils[seed % 3], Regularized(0.5, 0.01), ground, shape=solid)
        for k, solid in enumerate(SOLIDS)
    )
    system = System(builder.build(), elements)
    q = np.zeros((10, 9))
    q[:, 2] = [10.0, 0.3, 0.31, 0.2, 0.1, 0.0, -0.02, 0.5, 0.7, 1.0]
    q[:, 3:7] = rng.normal(size=(10, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    v = rng.normal(size=(10, 8)) * [2, 2, 1, 5, 5, 5, 3, 3]
    found = []
    for margin in (gates.MARGIN, 1e9):
        with monkeypatch.context() as patch, switched_off(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(gates, "MARGIN", margin)
            made = plant(system, account=True)
            threads = [simulate_batch(made, 0.4, q=q, v=v, output_step=0.1, threads=count) for count in (1, 2)]
            one = simulate(made, 0.4, q=q[4], v=v[4], output_step=0.1)
            found.append([states for run in (*threads, one) for states in (run.q, run.v)])
    assert np.isfinite(found[0][0]).all()
    for own, dense in zip(*found, strict=True):
        assert np.array_equal(own, dense)


@pytest.mark.slow
def test_gates_change_no_bit_of_a_mesh_of_ten_thousand_points(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(10_000)
    z = np.linspace(-0.999, 0.999, len(turns))
    round_ = np.sqrt(1.0 - z**2)
    points = tuple(map(tuple, (0.1 * np.stack([round_ * np.cos(turns), round_ * np.sin(turns), 1.5 * z], 1)).tolist()))
    shape = Mesh(points, ((0, 1, 2),))
    builder = RobotBuilder("pebble").add(Body.sphere("pebble", 2.0, 0.1)).root("pebble", "free")
    contact = Contact("c", "pebble", SOIL, Regularized(0.5, 0.01), SLOPE, shape=shape)
    system = System(builder.build(), (contact,))
    start = {"q": [0, 0, -0.8, 1, 0.2, 0.1, 0.3], "v": [0.3, 0.1, -1.0, 2.0, 1.0, 0.5]}
    found = []
    for margin in (gates.MARGIN, 1e9):
        with monkeypatch.context() as patch, switched_off():
            patch.setattr(gates, "MARGIN", margin)
            found.append(simulate(plant(system, account=True), 0.3, output_step=0.05, **start))
    run, dense = found
    assert run.v[-1, 2] > -1.0, "it has not met the ground"
    assert np.array_equal(run.q, dense.q) and np.array_equal(run.v, dense.v)


@pytest.mark.parametrize("method", ["dop853", "rodas"])
def test_a_fall_onto_the_ground_is_the_same_where_a_parameter_keeps_contacts_apart(method: str) -> None:
    builder = RobotBuilder("stick").add(Body.sphere("stick", 2.0, 0.1)).root("stick", "free")
    soil = replace(SOIL, stiffness=Parameter("k", 1e5))
    given = {"friction": Regularized(0.5, 0.01), "ground": Plane((0, 0, -0.4)), "shape": Box((0.2, 0.2, 0.4))}
    apart = System(builder.build(), tuple(Contact(f"c{k}", "stick", soil, **given) for k in range(4)))
    joined = System(apart.robot, tuple(replace(one, normal=SOIL) for one in apart.elements))
    start = {"q": [0, 0, 0, 1, 0, 0, 0], "v": [0.2, 0, 0, 1.0, 2.0, 0.5]}
    options = {"method": method, "rtol": 1e-9, "atol": 1e-9, "output_step": 0.05}
    run, other = (simulate(one, 0.35, **start, **options) for one in (joined, plant(apart, parameters=["k"])))
    assert run.v[-1, 2] > -1.0  # it falls for 0.2 s and has hit the ground then
    np.testing.assert_allclose(run.q, other.q, atol=1e-7)
    np.testing.assert_allclose(run.v, other.v, atol=1e-6)


# ── programs at random states: also where steps are long, and guesses of accelerations are wild ───────────────────────


def varied(**more: Any) -> System:
    """The tumbler with a pad that is fixed to its leg: contacts differ in all numbers, and in the bodies of a link."""
    builder = RobotBuilder("varied").add(
        *(Body.sphere(name, 1.0, 0.1, (0, 0, -0.1)) for name in ("trunk", "leg", "pad"))
    )
    builder.root("trunk", "free").joint("hip", "revolute", "trunk", "leg", axis=(0, 1, 0))
    builder.joint("weld", "fixed", "leg", "pad", translation=(0.1, 0.05, -0.3))
    rng, found = np.random.default_rng(2), []
    for k, solid in enumerate(SOLIDS):
        soil = HuntCrossley(float(rng.uniform(1e4, 1e5)), float(rng.uniform(0.1, 1.0)))
        rubbing = None if k in (3, 5) else Regularized(float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.005, 0.05)))
        found.append(Contact(f"c{k}", ("trunk", "leg", "pad")[k % 3], soil, rubbing, SLOPE, shape=solid))
    return System(builder.build(), (*found, *more.pop("elements", ())), **more)


def at_random_states(system: System, guess: float, *, phase: float = 0.0) -> list[np.ndarray[Any, Any]]:
    """All outputs of steps, of the rate and of the energy at states in the ground and above it."""
    with switched_off():
        made = plant(system, account=True)
        steps = [made.implicit_step(1), made.implicit_step(2, centered=True)] if system.automaton is None else []
        programs = [*steps, made.rate, made.energy]
    rng, count = np.random.default_rng(7), 300
    q, nv = rng.normal(size=(count, made.nq)), made.nv
    q[:, 2] = 0.4 * q[:, 2] - 0.5
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    s = np.zeros((count, made.ns))
    s[:, nv : 2 * nv] = 3.0 * rng.normal(size=(count, nv))
    given = {
        "base": q,
        "s": s,
        "h": rng.choice([1e-3, 1e-2, 5e-2], size=count),
        "m": np.full((count, len(made.m)), phase),
    }
    given["guess"] = guess * rng.normal(size=(count, nv))
    zeros = {port.name: np.zeros((count, *port.shape)) for program in programs for port in program.inputs}
    return [
        out
        for program in programs
        for out in WAYS["llvm lanes"](program, [given.get(port.name, zeros[port.name]) for port in program.inputs])
    ]


@pytest.mark.parametrize("guess", [30.0, 1000.0])
@pytest.mark.parametrize("kind", ["boxes", "varied"])
def test_gates_change_no_bit_of_long_steps_from_wild_guesses(
    kind: str, guess: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = replace(tumbling(), elements=tuple(replace(one, shape=SOLIDS[0]) for one in tumbling().elements))
    system = boxes if kind == "boxes" else varied()
    gated = at_random_states(system, guess)
    monkeypatch.setattr(gates, "MARGIN", 1e9)
    for own, dense in zip(gated, at_random_states(system, guess), strict=True):
        assert dense.any() and np.array_equal(own, dense)


def test_joined_contacts_push_as_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    phases = Automaton(
        (Phase("one", ("c0", "c1", "c2", "c4")), Phase("two", ("c3", "c5", "c6", "c7"))),
        (Edge("never", "one", "two", "q.trunk_root.z - 100"),),
    )
    cases = [(varied(), 0.0), *((varied(automaton=phases), phase) for phase in (0.0, 1.0))]
    together = [at_random_states(system, 30.0, phase=phase) for system, phase in cases]
    monkeypatch.setattr(joined_contacts, "MANY", 10**9)
    for (system, phase), joined in zip(cases, together, strict=True):
        for own, apart in zip(joined, at_random_states(system, 30.0, phase=phase), strict=True):
            scale = 1e-3 + np.abs(apart).reshape(len(apart), -1).max(axis=1)
            assert (np.abs(own - apart).reshape(len(own), -1).max(axis=1) < 1e-8 * scale).all()


# ── default steps miss nothing ────────────────────────────────────────────────────────────────────────────────────────


def test_a_short_push_is_seen_by_default() -> None:
    """It begins in the middle of a step, while nothing moves; steps of 2 ms see a push of 10 ms to a tenth."""
    builder = RobotBuilder("box").add(Body.box("box", 1.0, (0.2, 0.2, 0.1))).root("box", "free")
    push = AppliedWrench("push", "box", lambda t: [where(less(absolute(t - 2.0173), 0.005), 100.0, 0.0), 0.0, 0.0])
    ground = Contact("ground", "box", HuntCrossley(1e5, 0.5), Regularized(0.05, 0.01), shape=Box((0.2, 0.2, 0.1)))
    system = System(builder.build(), (push, ground))
    run, fine = (simulate(system, 2.5, q={"box_root.z": 0.05}, **more) for more in ({}, {"max_step": 5e-4}))
    assert fine.v[-1, 0] > 0.5 and run.v[-1, 0] == pytest.approx(fine.v[-1, 0], rel=0.1)


@pytest.mark.parametrize("speed", [1.0, 17.0])
def test_a_puck_that_slides_does_not_pass_a_hill_of_a_map(speed: float) -> None:
    """A hill of 5 mm, 80 mm long, lifts it by as much as in a run of tight tolerances, in few steps."""
    heights = np.zeros((200, 3))
    heights[150] = 0.005
    hill = HeightMap(tuple(map(tuple, heights.tolist())), (0.04, 10.0), (-0.2, -10.0))
    builder = RobotBuilder("puck").add(Body.sphere("slide", 0.1, 0.01), Body.sphere("puck", 1.0, 0.01))
    builder.joint("x", "prismatic", "world", "slide", axis=(1, 0, 0))
    robot = builder.joint("z", "prismatic", "slide", "puck", axis=(0, 0, 1)).build()
    system = System(robot, (Contact("ground", "puck", HuntCrossley(1e6, 0.5), ground=hill),))
    options = {"q": [0.0, -((9.81 / 1e6) ** (1.0 / 1.5))], "v": [speed, 0.0], "output_step": 0.005}
    run, exact = (simulate(system, 7.0 / speed, **options, **more) for more in ({}, {"rtol": 1e-9, "atol": 1e-9}))
    assert run.statistics.accepted < 1000
    assert exact.q[:, 1].max() > 0.005 and run.q[:, 1].max() == pytest.approx(exact.q[:, 1].max(), rel=0.15)
    assert run.v[-1, 0] == pytest.approx(exact.v[-1, 0], rel=0.01)


@pytest.mark.parametrize("angle", [0.7, 1.32, 1.72, 1.77])
def test_an_arm_that_turns_does_not_pass_a_wall(angle: float) -> None:
    """Its motion has no error until it meets the wall, by 20 mm for a few milliseconds."""
    builder = RobotBuilder("arm").add(Body.sphere("arm", 1.0, 0.05, (0.5, 0.0, 0.0)))
    robot = builder.joint("turn", "revolute", "world", "arm", axis=(0, 0, 1)).build()
    wall = Contact("wall", "arm", HuntCrossley(1e6, 2.0), ground=Plane((0.98, 0, 0), (-1, 0, 0)), point=(1.0, 0, 0))
    run = simulate(System(robot, (wall,)), 0.6, q=[angle - 2.0 * np.pi], v=[20.0])
    assert abs(run.v[-1, 0]) < 15.0, "it has passed"


def test_a_fast_rotor_does_not_shorten_default_steps() -> None:
    """Steps of 2 ms, the limit where something may be passed, are taken whatever turns."""
    builder = RobotBuilder("box").add(Body.box("box", 1.0, (0.2, 0.2, 0.1)), Body.cylinder("rotor", 0.05, 0.05, 0.01))
    builder.root("box", "free").joint("turn", "revolute", "box", "rotor", axis=(0, 0, 1), translation=(0, 0, 0.1))
    ground = Contact("ground", "box", HuntCrossley(1e5, 0.5), Regularized(0.5, 0.01), shape=Box((0.2, 0.2, 0.1)))
    start = {"q": {"box_root.z": 0.05}, "v": {"turn": 1000.0}}
    run = simulate(System(builder.build(), (ground,)), 1.0, output_step=0.1, **start)
    assert run.q[-1, -1] == pytest.approx(1000.0, rel=1e-6) and run.statistics.accepted < 800


def test_contacts_of_bodies_that_do_not_move_do_nothing() -> None:
    builder = RobotBuilder("r").add(Body.sphere("base", 1.0, 0.1), Body.sphere("leg", 1.0, 0.1, (0.3, 0, 0)))
    builder.joint("weld", "fixed", "world", "base").joint("hip", "revolute", "base", "leg", axis=(0, 1, 0))
    contact = Contact("c", "base", SOIL, ground=Plane((0, 0, 1.0)), shape=Box((0.2, 0.2, 0.2)))
    system = System(builder.build(), tuple(replace(contact, name=f"c{k}") for k in range(5)))
    for method in (None, "centered_contact", "rodas"):
        run = simulate(system, 0.3, method=method, step=1e-3 if method == "centered_contact" else None)
        free = simulate(System(system.robot), 0.3)
        assert run.outcome.ok and run.q[-1] == pytest.approx(free.q[-1], abs=1e-3)


def test_a_map_leaves_out_what_is_above_its_highest_point() -> None:
    hills = HeightMap(tuple(map(tuple, (0.1 * np.random.default_rng(1).uniform(size=(6, 6))).tolist())))
    box = spots(Contact("c", "box", SOIL, ground=hills, shape=Box((0.2, 0.2, 0.2))))
    found = clearance(box, hills)
    assert found is not None and 0.1 <= found.level < 0.15  # splines exceed the points of the map a little
    assert clearance(box, STAIRS) is None


def test_couplings_of_coordinates_do_not_shorten_default_steps() -> None:
    """A text that names the time, or a function, may change in the middle of a step."""
    system = tumbling()
    for rows, holds in (("q.hip - 0.1", True), ("q.hip - sin(t)", False), (lambda t, q: q[-1], False)):
        held = replace(system, elements=(*system.elements, Constraint("held", rows)))
        assert plant(held, account=True).steady is holds


@pytest.mark.parametrize("start", [0.02, 0.03, 0.045])
def test_a_long_arm_does_not_pass_a_post_of_a_map(start: float) -> None:
    """A few hundredths of a radian move its tip by several points of the map."""
    length, heights = 12.0, np.zeros((81, 81))
    heights[40, 40] = 1.0
    corner = length * np.cos(0.25 * np.pi) - 4.0
    builder = RobotBuilder("sweep", gravity=(0, 0, 0)).add(
        Body.rod("arm", 1.0, length, center=(0.5 * length, 0, 0), axis="x")
    )
    robot = builder.joint("yaw", "revolute", "world", "arm", axis=(0, 0, 1), translation=(0, 0, 0.6)).build()
    ground = HeightMap(tuple(map(tuple, heights.tolist())), (0.1, 0.1), (corner, corner))
    tip = Contact("tip", "arm", HuntCrossley(1e5, 0.2), Regularized(0.3), ground, point=(length, 0, 0), radius=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of energy, in so coarse a map
        run = simulate(System(robot, (tip,)), 1.6, q=[start], v=[1.0], output_step=0.1)
    assert run.q[:, 0].max() < 0.85, "it has passed"


def test_levers_are_bounds_of_how_far_touching_points_move() -> None:
    system = tumbling()
    robot, tree = system.robot, resolve(system.robot)
    arms = levers(robot, system.elements)
    bodies = list(dict.fromkeys(one.body for one in system.elements))
    for q in states(10):
        for k in range(robot.nv):
            v = np.eye(robot.nv)[k]
            motions = Motions(tree, q.tolist(), v.tolist())
            for element in system.elements:
                at = motions.attachment(element.body)
                most = arms[bodies.index(element.body), k]
                for spot in spots(element):
                    place = np.array(spot.moved(at.pose).center)
                    moved = motions.point(at.link, tuple(place.tolist())).velocity
                    assert float(np.linalg.norm(np.array(moved, dtype=float))) <= most + 1e-12


def test_levers_reach_to_feet_that_are_frames() -> None:
    builder = RobotBuilder("leg").add(Body.rod("hip", 1.0, 0.4), Body.rod("shank", 1.0, 0.5))
    builder.joint("slide", "prismatic", "world", "hip", axis=(1, 0, 0), lower=-0.2, upper=0.3)
    builder.joint("knee", "revolute", "hip", "shank", axis=(0, 1, 0), translation=(0, 0, -0.4))
    robot = builder.frame("foot", "shank", translation=(0, 0, -0.5)).build()
    assert levers(robot, (Contact("foot", "foot", SOIL),)).tolist() == [[1.0, 0.5]]


def test_robots_with_driven_joints_take_short_steps_on_maps() -> None:
    """How far their feet move with a coordinate is a formula, which no lever bounds."""
    builder = PositionBuilder("crank", gravity=(0, 0, -9.81))
    q = builder.coordinate("q")
    builder.body("slider", 1.0, (0.1, 0.1, 0.1), T0G=Tdisp(notation.sin(q), 0.0, 1.0))
    system = builder.system()
    flat = HeightMap(tuple(map(tuple, np.zeros((9, 9)).tolist())), (0.5, 0.5), (-2.0, -2.0))
    for ground, most in ((flat, 2e-3), (Plane(), 0.1)):
        made = plant(replace(system, elements=(*system.elements, Contact("c", "slider", SOIL, ground=ground))))
        assert made.robot is not None and made.robot.driven and made.steady
        assert usual(made, None, None, exact=False).max_step == most


def slider(rate: float, damping: float = 0.0) -> System:
    """A mass of 1 kg on a spring, which swings with `rate` [Hz] far above a floor."""
    builder = RobotBuilder("slider").add(Body.box("mass", 1.0, (0.1, 0.1, 0.1)))
    robot = builder.joint("x", "prismatic", "world", "mass", axis=(1, 0, 0)).build()
    spring = TorsionSpring("spring", "x", (2.0 * np.pi * rate) ** 2, damping=damping)
    return System(robot, (spring, Contact("floor", "mass", SOIL, ground=Plane((0, 0, -5.0)))))


def test_small_swings_above_the_ground_stay_accurate_by_default() -> None:
    """Errors counted relative to a tenth of a meter wherever there was a floor: 6 % of a swing of 10 mm."""
    t = np.linspace(0.0, 5.0, 501)
    run = simulate(slider(1.0), 5.0, q=[0.01], output_step=0.01)
    assert np.abs(run.q[:, 0] - 0.01 * np.cos(2.0 * np.pi * t)).max() < 0.03 * 0.02
    damped = simulate(slider(1.0, damping=1.0), 5.0, q=[0.003], output_step=0.01)
    exact = simulate(slider(1.0, damping=1.0), 5.0, q=[0.003], output_step=0.01, rtol=1e-9)
    assert np.abs(damped.q - exact.q).max() < 0.03 * np.ptp(exact.q)


def test_a_small_ball_bounces_as_accurately_as_a_large_one() -> None:
    """Errors counted relative to a tenth of a meter: 7 % of the bounces of a ball of a centimeter."""
    builder = RobotBuilder("marble").add(Body.sphere("marble", 1e-3, 0.005)).root("marble", "free")
    floor = Contact("floor", "marble", HuntCrossley(2.7e4, 1.0), Regularized(0.5, 1e-4), radius=0.005)
    start = {"q": {"marble_root.z": 0.015}, "v": {"marble_root.vx": 0.05}, "output_step": 2e-3}
    system = System(builder.build(), (floor,))
    run, exact = (simulate(system, 0.4, **start, **more) for more in ({}, {"rtol": 1e-9, "atol": 1e-11}))
    assert np.abs(run.q[:, 2] - exact.q[:, 2]).max() < 0.02 * np.ptp(exact.q[:, 2])


def test_a_box_that_settles_on_the_ground_gets_no_warning() -> None:
    builder = RobotBuilder("box").add(Body.box("box", 1.0, (0.2, 0.2, 0.2))).root("box", "free")
    robot = builder.build()
    system = System(replace(robot, bodies=(replace(robot.bodies[0], collisions=robot.bodies[0].shapes),)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        run = system.run({"time": 0.5, "ground": True})
    assert run.outcome.ok and run.statistics.accepted > 20
