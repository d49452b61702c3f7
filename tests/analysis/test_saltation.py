"""Derivatives of motions through the edges of automata: closed forms, published multipliers, differences of runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.analysis.small_motions.varied_run import varied_run
from kinemorph.elements import Automaton, Coulomb, Edge, Hold, Phase, Poisson, Probe, Sampled
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from support.robots.random_automata import BASES, EXACT, RandomAutomaton, differences
from support.robots.reference_robots import reference

Array = np.ndarray


# ── balls ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def balls(*names: str, gravity: float = -9.81) -> Robot:
    """Masses that fall along the same line, one coordinate each."""
    builder = RobotBuilder("balls", gravity=(0.0, 0.0, gravity))
    for name in names:
        builder.body(name, mass=1.0).joint(f"z_{name}", "prismatic", "world", name, axis=(0.0, 0.0, 1.0))
    return builder.build()


def bouncing(e: float = 0.8) -> System:
    """A ball with the coefficient of restitution `e`, a parameter of the reset."""
    edge = Edge("bounce", "flight", "flight", "q.z_a - floor", reset={"v.z_a": "-e * v.z_a"}, impact="none")
    known = {"e": Parameter("e", e), "floor": Parameter("floor", 0.0, "m")}
    return System(balls("a"), automaton=Automaton((Phase("flight"),), (edge,), known=known))


def ball_at(t: float, h: complex, v: complex, e: complex, floor: complex, bounces: int) -> tuple[complex, complex, Any]:
    """(height, velocity, times of bounces) of a ball after so many bounces, in closed form for complex numbers."""
    g, now, height, times = 9.81, 0.0 + 0.0j, h, []
    for _ in range(bounces):
        speed = np.sqrt(v * v + 2.0 * g * (height - floor))
        now = now + (speed + v) / g
        times.append(now)
        height, v = floor, e * speed
    left = t - now
    return height + v * left - 0.5 * g * left * left, v - g * left, np.array(times)


def test_bouncing_ball_in_closed_form() -> None:
    """Derivatives at fixed times and of the times of bounces, with respect to h, v, e and the height of the floor."""
    found = sensitivities(
        bouncing(), 6.0, ["e", "floor"], initial=["q.z_a", "v.z_a"], q=[10.0], v=[1.0], output_step=0.5
    )
    times = np.array([event.t for event in found.trajectory.events])
    assert len(times) == 3 and found.note == ""
    at = {"e": 0.8, "floor": 0.0, "h": 10.0, "v": 1.0}
    for name, key in (("e", "e"), ("floor", "floor"), ("q.z_a", "h"), ("v.z_a", "v")):
        step = {**at, key: at[key] + 1e-30j}  # the complex step
        k = found.names.index(name)
        for j, t in enumerate(found.t.tolist()):
            if np.abs(times - t).min() > 1e-9:
                z, v, _ = ball_at(t, step["h"], step["v"], step["e"], step["floor"], int((times < t).sum()))
                assert abs(found.q[j, 0, k] - z.imag * 1e30) < 1e-7
                assert abs(found.v[j, 0, k] - v.imag * 1e30) < 1e-7
        bounced = ball_at(6.0, step["h"], step["v"], step["e"], step["floor"], 3)[2]
        np.testing.assert_allclose(found.edge_times[:, k], bounced.imag * 1e30, atol=1e-7)
    assert found.trajectory.segments[0].plant.x == ()
    assert [event.after["m"].shape for event in found.trajectory.events] == [(1,)] * 3


def test_a_guard_that_touches_zero_is_named() -> None:
    """A ball thrown up just to the height at which an edge waits: its time changes infinitely fast with the throw."""
    edge = Edge("touch", "up", "down", "1.0 - q.z_a", impact="none")
    system = System(balls("a"), automaton=Automaton((Phase("up"), Phase("down")), (edge,)))
    barely = math.sqrt(2.0 * 9.81) * (1.0 + 1e-13)
    found = sensitivities(system, barely / 9.81, initial="all", v=[barely], output_step=0.1)  # ends at the top
    assert "the guard of edge 'touch' touches zero" in found.note
    assert np.isfinite(found.q[:-2]).all() and np.isnan(found.q[-1]).all()
    assert found.trajectory.outcome.ok and np.isnan(found.edge_times).all()
    clearly = sensitivities(system, 1.0, initial="all", v=[5.0], output_step=0.1)
    speed = -math.sqrt(25.0 - 2.0 * 9.81)
    np.testing.assert_allclose(clearly.edge_times, [[1.0 / speed, (5.0 + speed) / 9.81 / speed]], rtol=1e-7)


def test_edges_at_the_same_time_are_named() -> None:
    bounce = {"impact": "none"}
    edges = tuple(
        Edge(f"bounce {one}", "flight", "flight", f"q.z_{one}", reset={f"v.z_{one}": f"-v.z_{one}"}, **bounce)  # type: ignore[arg-type]
        for one in "ab"
    )
    system = plant(System(balls("a", "b"), automaton=Automaton((Phase("flight"),), edges)))
    found = varied_run(system, 2.0, initial="all", q=[1.0, 1.0])
    assert "edge 'bounce a' is taken while edge 'bounce b' is met too" in found.message
    assert np.isnan(found.slopes).all()
    apart = varied_run(system, 2.0, initial="all", q=[1.0, 1.0 + 1e-6])
    assert apart.message == "" and len(apart.edges) == 4


def test_samples_and_edges_in_one_run() -> None:
    """A controller samples a height; an edge at a time that is a parameter of the automaton exchanges two balls."""
    # it pushes ball a by 2 N per meter of the height that it saw last
    follow = Sampled("push", lambda t, z: [2.0 * z], reads="q.z_a", drives="z_a", every=0.5)
    kick, swap = {"v.z_b": "v.z_b + 3 * t"}, {"z_a": "z_b", "z_b": "z_a"}
    edge = Edge("swap", "first", "second", "when - t", relabel=swap, reset=kick, impact="none")
    automaton = Automaton((Phase("first"), Phase("second")), (edge,), known={"when": Parameter("when", 0.6, "s")})
    system = plant(System(balls("a", "b", gravity=0.0), (follow,), automaton=automaton), parameters=["when"])

    def end(when: float, z_b: float, v_a: float) -> Array:
        a, b, rates = 1.0, z_b, [v_a, -0.4]
        for begin, until in ((0.0, 0.5), (0.5, when), (when, 1.0), (1.0, 1.2)):
            if begin in (0.0, 0.5, 1.0):
                push = 2.0 * a
            if begin == when:
                a, b, rates = b, a, [rates[1], rates[0] + 3.0 * when]
            h = until - begin
            a, b = a + rates[0] * h + 0.5 * push * h * h, b + rates[1] * h
            rates = [rates[0] + push * h, rates[1]]
        return np.array([a, b, *rates])

    at_a_sample = varied_run(system, 1.2, ["when"], p={"when": 0.5})
    assert "edge 'swap' is taken at a sample time" in at_a_sample.message
    names, at = ("when", "q.z_b", "v.z_a"), (0.6, 2.0, 0.3)
    found = varied_run(system, 1.2, names[:1], initial=names[1:], q=[1.0, 2.0], v=[0.3, -0.4])
    np.testing.assert_allclose(np.concatenate([found.q, found.v]), end(*at), atol=1e-9)
    np.testing.assert_allclose(found.time_slopes, [[1.0, 0.0, 0.0]], atol=1e-12)
    for k, column in enumerate(found.slopes.T):
        step = np.eye(3)[k] * 1e-3
        expected = (end(*(at + step)) - end(*(at - step))) / 2e-3  # the motion is a polynomial of low degree
        np.testing.assert_allclose(column, expected, atol=1e-5)


# ── walkers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def compass(slope: float) -> Plant:
    """The compass gait of Goswami, Thuilot and Espiau as a floating robot; its left foot stands."""
    builder = RobotBuilder("compass")
    builder.body("slider", mass=0.0).body("hip", mass=10.0)
    for side in ("left", "right"):
        builder.body(f"{side}_leg", mass=5.0, com=(0.0, 0.0, -0.5))
        builder.frame(f"{side}_foot", f"{side}_leg", translation=(0.0, 0.0, -1.0))
    builder.joint("x", "prismatic", "world", "slider", axis=(1.0, 0.0, 0.0))
    builder.joint("z", "prismatic", "slider", "hip", axis=(0.0, 0.0, 1.0))
    for side in ("left", "right"):
        builder.joint(side, "revolute", "hip", f"{side}_leg", axis=(0.0, -1.0, 0.0))
    strike = Edge(
        "strike",
        "step",
        "step",
        f"foot.z + {math.tan(slope)!r} * foot.x",
        when="q.right - q.left",
        relabel={"left": "right", "right": "left"},
    )
    elements = (Hold("stance", "left_foot", axes="xz"), Probe("foot", "right_foot"))
    return plant(System(builder.build(), elements, automaton=Automaton((Phase("step", ("stance",)),), (strike,))))


def test_multipliers_of_the_compass_gait() -> None:
    """The eigenvalues of the return map of one step equal those of tests/data/compass_gait_goswami.json."""
    case = reference("compass_gait_goswami")["reference"]
    first = case["post_impact"]
    names = ["q.left", "q.right", "v.left", "v.right"]
    step = varied_run(
        compass(math.radians(3.0)),
        2.0,
        initial=names,
        most_events=1,
        q={"left": first["theta_stance"], "right": first["theta_swing"]},
        v={"left": first["thetadot_stance"], "right": first["thetadot_swing"]},
        m={"stance.x.held": 0.0, "stance.z.held": 0.0},  # the stance foot starts on the ground, whatever the angles
        **EXACT,
    )
    assert step.edges == ("strike",) and step.message == ""
    assert abs(step.t - case["step_period"]) < 1e-11
    found = np.linalg.eigvals(step.slopes[[2, 3, 6, 7]])
    expected = [complex(*pair) for pair in case["eig"]] + [0.0j]  # both feet are on the ground: one direction is lost
    for one in expected:
        assert np.abs(found - one).min() < 1e-8


@pytest.mark.parametrize("inertia", [0.3, 1e-7])
def test_multiplier_of_the_rimless_wheel(inertia: float) -> None:
    """The multiplier is eta^2 with eta = (m l^2 cos(2 alpha) + I) / (m l^2 + I): 0.5 without the inertia I."""
    case = reference("rimless_wheel")
    given, alpha, gamma = case["inputs"], case["inputs"]["alpha"], case["inputs"]["gamma"]
    builder = RobotBuilder("wheel", gravity=(0.0, 0.0, -given["g"]))
    builder.body("slider", mass=0.0).body("lift", mass=0.0).body("wheel", mass=given["m"], inertia=(inertia,) * 3)
    builder.joint("x", "prismatic", "world", "slider", axis=(1.0, 0.0, 0.0))
    builder.joint("z", "prismatic", "slider", "lift", axis=(0.0, 0.0, 1.0))
    builder.joint("turn", "revolute", "lift", "wheel", axis=(0.0, 1.0, 0.0))
    # the spoke on the ground is at the angle `turn` from the vertical; the next one stands 2 alpha ahead
    reset = {"q.turn": f"q.turn - {2.0 * alpha!r}"}
    edges = tuple(Edge(f"strike {b}", a, b, f"{alpha + gamma!r} - q.turn", reset=reset) for a, b in ("ab", "ba"))
    holds = tuple(Hold(f"stance {one}", "wheel", (0.0, 0.0, -given["l"]), axes="xz") for one in "ab")
    phases = tuple(Phase(one, (f"stance {one}",)) for one in "ab")
    system = plant(System(builder.build(), holds, automaton=Automaton(phases, edges)))
    about = given["m"] * given["l"] ** 2 + inertia
    eta = (given["m"] * given["l"] ** 2 * math.cos(2.0 * alpha) + inertia) / about
    gained = 2.0 * given["m"] * given["g"] * given["l"] * (math.cos(gamma - alpha) - math.cos(gamma + alpha)) / about
    omega = math.sqrt(eta**2 * gained / (1.0 - eta**2))  # of the step that repeats
    begin, names = {"turn": gamma - alpha}, ["q.turn", "v.turn"]
    step = varied_run(system, 3.0, initial=names, most_events=1, q=begin, v={"turn": omega}, **EXACT)
    assert step.message == ""
    assert abs(step.v[2] - omega) < 1e-9
    assert abs(step.slopes[5, 1] - eta**2) < 1e-8
    if inertia < 1e-6:
        assert abs(eta**2 - case["reference"]["eigenvalue"]) < 1e-6
        assert abs(step.t - case["reference"]["step_period"]) < 1e-6


# ── random automata ───────────────────────────────────────────────────────────────────────────────────────────────────


def compared(seed: int, edges: int, *, rough: bool = False) -> None:
    """Compares the derivatives of the state, the memory and the times after so many edges with differences of runs."""
    automaton = RandomAutomaton(seed, BASES[seed % 3], seed % 2 == 0, rough)
    q, v = automaton.named
    base = [f"q.{name}" for name in automaton.robot.v_names if not name.startswith(("left", "right"))]
    places = [*base, *(f"q.{name}" for name in q if name.startswith(("left", "right")))]
    names = [automaton.parameters[seed % 3], places[seed % len(places)], f"v.{list(v)[seed % len(v)]}"]
    found = varied_run(automaton.plant, 60.0, names[:1], initial=names[1:], most_events=edges, q=q, v=v, **EXACT)
    assert found.message == ""
    assert len(found.edges) == edges
    expected, times, _ = differences(automaton, names, 60.0, 1e-4, most_events=edges)
    for mine, other in ((np.vstack([found.slopes, found.memory_slopes]), expected), (found.time_slopes, times)):
        np.testing.assert_allclose(mine, other, atol=1e-6 * max(1.0, float(np.abs(other).max())), rtol=0.0)


@pytest.mark.slow
def test_derivatives_equal_differences() -> None:
    """Two limbs in series on a planar base: holds, a lock, relabelings, resets, guards of time and state."""
    compared(1, 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_derivatives_through_20_edges_equal_differences(seed: int) -> None:
    """Bases in the plane and in space, half of the robots with loops."""
    compared(seed, 20)


def tossed_rod() -> System:
    """A rod in the plane of x and z, both ends of which collide at once where one meets the ground: it is uneven."""
    inertia = diagonal(0.01, 0.2, 0.2)
    builder = RobotBuilder("rod").add(Body("a", 0.01), Body("b", 0.01), Body("rod", 1.0, (0.05, 0.0, 0.0), inertia))
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("z", "prismatic", "a", "b", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "b", "rod", axis=(0, 1, 0))
    ends = {"left": (-1.0, 0.0, 0.0), "right": (1.0, 0.0, 0.0)}
    law = {"impact": Poisson(Parameter("e", 0.7)), "friction": Coulomb(Parameter("mu", 0.3)), "during": "touch"}
    automaton = Automaton(
        (Phase("flight"), Phase("touch", [f"{end} end" for end in ends])),
        tuple(Edge(f"{end} hits", "flight", "flight", f"{end}.z", **law) for end in ends),
    )
    holds = [Hold(f"{end} end", "rod", point, "xz") for end, point in ends.items()]
    probes = [Probe(end, "rod", point=point) for end, point in ends.items()]
    return System(builder.build(), (*holds, *probes), automaton=automaton)


@pytest.mark.slow
def test_derivatives_through_frictional_impacts() -> None:
    """A rod that falls on its ends: contacts stick, slide and open; restitution and friction are quantities, too."""
    rod = plant(tossed_rod(), parameters=["e", "mu"])
    start = {"q": [0.0, 0.8, 0.1], "v": [0.3, 0.0, 0.5]}
    found = varied_run(rod, 5.0, ["e", "mu"], initial=["v.x", "q.turn"], most_events=4, **start, **EXACT)
    assert found.message == "" and len(found.edges) == 4

    def end(e: float = 0.7, mu: float = 0.3, vx: float = 0.3, turn: float = 0.1) -> Array:
        given = {"q": [0.0, 0.8, turn], "v": [vx, 0.0, 0.5], "p": {"e": e, "mu": mu}}
        run = simulate(rod, 5.0, most_events=4, output_step=[0.0, 5.0], **given, **EXACT)
        assert [event.name for event in run.events] == list(found.edges)
        return np.concatenate([run.q[-1], run.v[-1], [event.t for event in run.events]])

    h = 1e-5
    for k, (name, value) in enumerate((("e", 0.7), ("mu", 0.3), ("vx", 0.3), ("turn", 0.1))):
        expected = (end(**{name: value + h}) - end(**{name: value - h})) / (2.0 * h)
        mine = np.concatenate([found.slopes[:, k], found.time_slopes[:, k]])
        np.testing.assert_allclose(mine, expected, rtol=0.0, atol=1e-6 * max(1.0, float(np.abs(expected).max())))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_derivatives_through_20_frictional_impacts_equal_differences(seed: int) -> None:
    """Laws of impacts with friction, loops that hold on, locked joints, names that are exchanged."""
    compared(seed, 20, rough=True)


def test_slopes_stay_on_the_constraints() -> None:
    """In a run with loose tolerances, the derivatives satisfy the differentiated constraints as well as the motion."""
    robot = RandomAutomaton(0, "axes", looped=True).robot
    system = plant(System(robot, (Hold("foot", "left_coupler", (0.3, -0.2, 0.0), "xy"),)))
    names, first = ["q.left1", "v.right1"], {"left1": 1.2, "right1": 1.4}
    found = sensitivities(system, 3.0, initial=names, q=first, output_step=1.0, rtol=1e-5, atol=1e-7)
    run, rows = found.trajectory.segments[0], slice(0, len(system.constraint_names) - 2)  # of loops
    for q, v, m, dq in zip(run.q, run.v, run.m, found.q, strict=True):
        J = system.compiled("constraints")(0.0, q, np.concatenate([0.0 * v, v]), m, np.zeros(system.nu), [])[2]
        np.testing.assert_allclose(J[rows] @ dq, 0.0, atol=1e-10)
        # the point is held where it starts, and its start moves with q.left1
        np.testing.assert_allclose(J[rows.stop :] @ dq, held_at_start(system, found.q[0], run), atol=1e-10)


def held_at_start(system: Plant, dq: Array, run: Any) -> Array:
    """How the place of the held point changes with the initial state: its Jacobian at the start times dq (nv, k)."""
    at = np.concatenate([np.zeros(system.nv), run.v[0]])
    found: Array = system.compiled("constraints")(0.0, run.q[0], at, run.m[0], np.zeros(system.nu), [])[2][-2:] @ dq
    return found


# ── what cannot be done ───────────────────────────────────────────────────────────────────────────────────────────────


def test_bad_input_is_told_in_a_sentence() -> None:
    system = plant(bouncing())
    with pytest.raises(UnsupportedError, match="no quantity is named"):
        varied_run(system, 1.0)
    with pytest.raises(ShapeError, match=r"slopes has shape \(3, 2\); expected \(2, k\)"):
        varied_run(system, 1.0, slopes=np.zeros((3, 2)))
    with pytest.raises(UnsupportedError, match="most_events is 0; expected a number above 0"):
        varied_run(system, 1.0, initial="all", most_events=0)
    run = simulate(system, 6.0, q=[10.0], most_events=2)
    assert run.outcome.kind == "stopped" and "after 2 events" in run.outcome.message
