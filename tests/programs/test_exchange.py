"""Model exchange in C: another integrator, SciPy's DOP853, advances a model and sees the motion of `simulate`.

SEEDS 001-02, 001-03: the model leaves as running code.
"""

from __future__ import annotations

import ctypes
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import BDF

import kinemorph
from kinemorph import Guard, RobotBuilder, System
from kinemorph.algebra.dual import Direction
from kinemorph.elements import Anchor, Contact, EasyDynNormal
from kinemorph.plants import manifold_free
from kinemorph.plants.programs import Plant
from kinemorph.programs import Job, UserCode, make_job, write_program
from kinemorph.simulation.results.trajectory import Trajectory
from support.cases.c_programs import needs_cc
from support.cases.contact_cases import particle
from support.cases.program_cases import CASES, DATA, Case
from support.tools.exchange_master import GOING, REST, STOPPED, Advanced, Instance, Library, advance, build_library

pytestmark = needs_cc


def heavy_top() -> Case:
    """A top with a quaternion."""
    given = json.loads((DATA / "heavy_top.json").read_text())["inputs"]
    builder = RobotBuilder("heavy_top").body(
        "top", given["mass"], com=given["com_from_fixed_point"], inertia=given["J_com"]
    )
    robot = builder.joint("pivot", "spherical", "world", "top").build()
    return Case(robot, 1.0, {"q": [1.0, 0.0, 0.0, 0.0], "v": given["omega0_body"]})


def case_named(name: str) -> Case:
    """A case by its name, without the options of a method."""
    case = heavy_top() if name == "heavy_top" else CASES[name]()
    kept = {key: value for key, value in case.options.items() if key in ("q", "v", "events")}
    return Case(case.model, case.until, kept)


def exactly(case: Case, times: np.ndarray) -> Trajectory:
    """The run of `simulate` by DOP853 with small tolerances."""
    options = {"method": "dop853", "rtol": 1e-11, "atol": 1e-13, "output_step": list(times[1:])}
    return kinemorph.simulate(case.model, times[-1], **{**case.options, **options})


def worst(found: Advanced, run: Trajectory) -> float:
    """The largest difference between the states of a master and those of a run, at times that both have."""
    rows = {t: np.concatenate([s.q[k], s.v[k], s.x[k]]) for s in run.segments for k, t in enumerate(s.t)}
    pairs = [(row, rows[t]) for t, row in zip(found.t, found.states, strict=True) if t in rows]
    assert len(pairs) >= min(len(found.t), 10)
    return max(float(np.abs(mine[: len(other)] - other).max()) for mine, other in pairs)


# ── a motor with a sampled PID ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def motor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Job, Library]:
    case = case_named("dc_motor")
    job = make_job(case.model, 0.2, **case.options)
    return case, job, build_library(job, tmp_path_factory.mktemp("motor"))


def test_sampled_elements_are_time_events(motor: tuple[Case, Job, Library]) -> None:
    case, job, library = motor
    times = np.linspace(0.0, 0.2, 11)
    found = advance(Instance(library), times)
    period = job.plant.ticks[0].period
    assert found.status == GOING and not found.events
    assert np.allclose(found.ticks, period * np.arange(1, len(found.ticks) + 1), rtol=0.0, atol=1e-15)
    assert len(found.ticks) == round(0.2 / period)
    assert worst(found, exactly(case, times)) < 1e-8


def test_a_tick_is_found_where_the_integrator_is_a_rounding_before_it(motor: tuple[Case, Job, Library]) -> None:
    _, job, library = motor
    period, model = job.plant.ticks[0].period, Instance(library)
    model.begin()
    assert abs(model.event()[2] - period) < 1e-15
    model.move(period * (1.0 - 1e-12), model.states)
    assert abs(model.event()[2] - 2.0 * period) < 1e-15  # it has ticked
    model.move(period * 1.5, model.states)
    assert abs(model.event()[2] - 2.0 * period) < 1e-15  # and does not in between


def test_instances_are_apart(motor: tuple[Case, Job, Library]) -> None:
    library = motor[2]
    alone, first, second = (Instance(library) for _ in range(3))
    second.set("v.shaft", 3.0)
    for model in (alone, first, second):
        model.begin()
    wanted = alone.rates(0.0, alone.states)
    second.rates(0.0, second.states)
    assert np.array_equal(first.rates(0.0, first.states), wanted)
    assert not np.array_equal(first.states, second.states)


def check_linearize(case: Case, job: Job, library: Library, v: Any = None) -> None:
    """Directional derivatives equal the matrices of `linearize` where the constraints allow a motion."""
    model = Instance(library)
    model.begin()
    model.event()
    states, sizes = model.states, library.sizes
    nq, nv, nu = sizes["nq"], sizes["nv"], sizes["nu"]
    own = kinemorph.plants.plant(case.model)  # without the accounts of energy, which are the last states
    n = nq + nv + own.nx
    memory = [model.get(name) for name in library.columns if name.startswith("m.")]
    x = states[nq + nv : n] if own.nx else None
    wanted = kinemorph.linearize(case.model, q=states[:nq], v=states[nq : nq + nv], x=x, m=memory or None)
    A = model.slopes(0.0, states, range(n))[:n]
    B = model.slopes(0.0, states, range(sizes["row"], sizes["row"] + nu))[:n]
    assert np.abs((A - wanted.A) @ wanted.basis).max() < 1e-12 * max(1.0, np.abs(wanted.A).max())
    assert np.abs(B - wanted.B).max(initial=0.0) < 1e-12 * max(1.0, np.abs(wanted.B).max(initial=0.0))


def test_directional_derivatives_equal_linearize(motor: tuple[Case, Job, Library]) -> None:
    check_linearize(*motor)


# ── smooth motions, loops, quaternions ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "heavy_top", "four_bar"])
def test_another_integrator_sees_the_same_motion(name: str, tmp_path: Path) -> None:
    case, times = case_named(name), np.linspace(0.0, 1.0, 21)
    library = build_library(make_job(case.model, 1.0, **case.options), tmp_path)
    found = advance(Instance(library), times)
    assert found.status == GOING and not found.events
    assert worst(found, exactly(case, times)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_directional_derivatives_of_robots_equal_linearize(name: str, tmp_path: Path) -> None:
    case = case_named(name)
    job = make_job(case.model, 1.0, **{**case.options, "q": {"q1": 0.8}, "v": {"q1": 2.0}})
    check_linearize(case, job, build_library(job, tmp_path))


def by_duals(plant: Plant, t: float, y: np.ndarray, p: np.ndarray, u: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The derivative of the rates along a direction of y, u and p, by dual numbers and without a program."""
    given, direction = np.concatenate([y, u, p]), Direction()
    made = direction.all_moved(given.tolist(), along.tolist())
    a, b = len(y), len(y) + len(u)
    found = manifold_free.flow(plant.laws, plant.sizes, t, made[:a], [], made[a:b], made[b:])
    return np.array(direction.tangents(found))


@pytest.mark.slow
@pytest.mark.parametrize("name, parameters", [("heavy_top", ()), ("double_pendulum", ("m1", "m2"))])
def test_directional_derivatives_equal_dual_numbers(name: str, parameters: tuple[str, ...], tmp_path: Path) -> None:
    """With respect to quaternions of any length, and to parameters."""
    case = case_named(name)
    job = make_job(case.model, 1.0, **case.options, parameters=parameters)
    library = build_library(job, tmp_path)
    model = Instance(library)
    model.begin()
    model.event()
    rng = np.random.default_rng(3)
    states = model.states * (1.0 + 0.1 * (name == "heavy_top"))
    plant, row = job.plant, library.sizes["row"]
    knowns = [*range(library.continuous), *range(row, len(library.columns))]
    seed = rng.normal(size=len(knowns))
    model.move(0.0, states)
    rows = [len(library.columns) + k for k in range(library.continuous)]
    u, p = job.first.u, job.first.p
    wanted = by_duals(plant, 0.0, states, p, u, seed)
    assert np.abs(model.directional(rows, knowns, seed) - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())
    assert np.array_equal(model.directional(knowns, knowns, seed), seed)  # the values of columns


@pytest.mark.slow
def test_a_step_that_drifts_is_brought_back(tmp_path: Path) -> None:
    """Where loops are open, or quaternions are not of length 1, by more than the tolerance, and not before."""
    for name in ("four_bar", "heavy_top"):
        case = case_named(name)
        job = make_job(case.model, 1.0, **case.options, rtol=1e-8)
        model = Instance(build_library(job, tmp_path / name))
        model.begin()
        model.event()
        states = model.states
        assert not model.completed()
        model.move(0.0, states + 1e-9)
        assert not model.completed() and np.array_equal(model.states, states + 1e-9)
        off = states + 1e-4
        model.move(0.0, off)
        assert model.completed() and np.array_equal(model.states, off)
        status, jumped, _, rounds = model.event()
        assert (status, jumped, rounds) == (GOING, True, 1)
        back = model.states
        assert 1e-6 < np.abs(back - off).max() < 1e-3
        if name == "heavy_top":
            assert abs(np.linalg.norm(back[:4]) - 1.0) < 1e-15
            assert np.allclose(model.rates(0.0, off)[4:], model.rates(0.0, back)[4:], rtol=0.0, atol=1e-12)
        else:
            plant = job.plant
            here = (0.0, back[:3], np.concatenate([[0.0] * 3, back[3:]]), [], job.first.u, [])
            phi, rate, _, _ = plant.compiled("constraints")(*here)
            assert np.abs(phi).max() < 1e-11 and np.abs(rate).max() < 1e-10


@pytest.mark.slow
def test_a_coarse_integrator_keeps_loops_closed(tmp_path: Path) -> None:
    case = case_named("four_bar")
    job = make_job(case.model, 10.0, **case.options, rtol=1e-6)
    found = advance(Instance(build_library(job, tmp_path)), np.linspace(0.0, 10.0, 101), rtol=1e-4, atol=1e-5)
    assert found.status == GOING and found.asked > 0
    plant = job.plant
    for row in found.states[::10]:
        here = (0.0, row[:3], np.concatenate([[0.0] * 3, row[3:]]), [], job.first.u, [])
        assert np.abs(plant.compiled("constraints")(*here)[0]).max() < 1e-3


# ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_bouncing_ball(tmp_path: Path) -> None:
    """State events to 1e-8 s, and rest: the events accumulate, and the master is told to end."""
    case, times = case_named("bouncing_ball"), np.linspace(0.0, 20.0, 41)
    library = build_library(make_job(case.model, 20.0, **case.options), tmp_path)
    found, run = advance(Instance(library), times), exactly(case, times)
    bounces = [event.t for event in run.events if event.kind == "reset"]
    assert found.status == REST and run.outcome.kind == "rest"
    assert abs(len(found.events) - len(bounces)) <= 1
    both = min(len(found.events), len(bounces))
    assert np.abs(np.array(found.events[:both]) - bounces[:both]).max() < 1e-8
    assert abs(found.end - run.outcome.t) < 1e-5
    assert worst(found, run) < 1e-8


@pytest.mark.slow
def test_two_events_at_one_instant_are_two_rounds(tmp_path: Path) -> None:
    """Two masses land at the same time: both bounce, each by its own guard."""
    builder = RobotBuilder("pair")
    for k in range(2):
        builder.body(f"mass{k}", mass=1.0 + k, inertia=(1.0, 1.0, 1.0))
        builder.joint(f"z{k}", "prismatic", "world", f"mass{k}", axis=(0.0, 0.0, 1.0))
    first = Guard("first", lambda q: q[0], "falling", reset=lambda v: {"v": [-0.5 * v[0], v[1]]})
    second = Guard("second", lambda q: q[1], "falling", reset=lambda v: {"v": [v[0], -0.25 * v[1]]})
    job = make_job(builder.build(), 2.0, q=[1.0, 1.0], events=[first, second])
    model = Instance(build_library(job, tmp_path))
    model.begin()
    model.event()
    states = np.zeros(model.library.continuous)
    states[:4] = -1e-12, -1e-12, -4.0, -4.0
    model.move(0.45, states)
    status, jumped, _, rounds = model.event()
    assert (status, jumped, rounds) == (GOING, True, 2)
    assert np.allclose(model.states[:4], [0.0, 0.0, 2.0, 1.0], rtol=0.0, atol=1e-11)
    assert (model.indicators(0.45, model.states) > 0.0).all()
    times = np.linspace(0.0, 1.0, 11)
    found = advance(Instance(model.library), times)
    assert worst(found, exactly(Case(builder.build(), 1.0, {"q": [1.0, 1.0], "events": [first, second]}), times)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
def test_a_ball_at_rest_for_a_coarse_integrator(rtol: float, tmp_path: Path) -> None:
    """Where bounces are lower than its error, a stiff integrator ends below the ground at once; the ball is at rest."""
    case, times = case_named("bouncing_ball"), np.linspace(0.0, 20.0, 1001)
    model = Instance(build_library(make_job(case.model, 20.0, **case.options), tmp_path))
    found = advance(model, times, rtol=rtol, atol=rtol, method=BDF, most=20_000)
    assert found.status == REST and 12.0 < found.end < 13.5
    assert found.states[:, 0].min() > -1e-9 and abs(model.get("q.z")) < 1e-9


@pytest.mark.slow
def test_a_guard_that_stops(tmp_path: Path) -> None:
    case = case_named("bouncing_ball")
    stop = Guard("low", lambda q: q[0] - 0.5, "falling", stop=True)
    options = {**case.options, "events": [stop]}
    library = build_library(make_job(case.model, 5.0, **options), tmp_path)
    found = advance(Instance(library), np.linspace(0.0, 5.0, 11))
    run = kinemorph.simulate(case.model, 5.0, **options, rtol=1e-11, atol=1e-13)
    assert found.status == STOPPED and abs(found.end - run.outcome.t) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, until",
    [("rimless_wheel", 3.0), ("kneed_walker", 1.5), ("rigid_ball", 2.0), ("rocking_block", 1.5), ("slip_runner", 1.0)],
)
def test_phases_and_impacts(name: str, until: float, tmp_path: Path) -> None:
    """Edges of automata with resets and impacts, rigid contacts, loops that open and close."""
    case, times = Case(getattr(kinemorph.library, name)(), until), np.linspace(0.0, until, 21)
    library = build_library(make_job(case.model, until, method="dop853"), tmp_path)
    found, run = advance(Instance(library), times, most=20_000), exactly(case, times)
    assert found.status == GOING and run.outcome.kind == "finished" and len(run.events) > 0
    assert worst(found, run) < 1e-8
    for event in run.events:  # a master also sees guards that rise, where nothing happens
        assert np.abs(np.array(found.events) - event.t).min() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "implicit_contact"])
def test_memory_that_changes_after_steps(method: str, tmp_path: Path) -> None:
    """A block slides and halts: by located events, or, with a method that locates none, after steps of the master."""
    grip = Anchor(0.8, 0.4, 100.0, 20.0)
    system = System(particle(), (Contact("foot", "block", EasyDynNormal(1e4, 1e4), grip),))
    start = {"q": [0.0, -9.81e-4], "v": [1.0, 0.0]}
    case, times = Case(system, 0.6, start), np.linspace(0.0, 0.6, 13)
    job = make_job(system, 0.6, **start, method=method, step=None if method == "dop853" else 1e-3)
    found = advance(Instance(build_library(job, tmp_path)), times, rtol=1e-9, atol=1e-11)
    located = method == "dop853"
    assert found.status == GOING and (len(found.events) > 0) == located and (found.asked > 0) != located
    assert worst(found, exactly(case, times)) < (1e-8 if located else 2e-3)


@pytest.mark.slow
def test_a_loop_of_ones_own_ends_at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library form ends where the ball is at rest, and the ball lies on the ground; before, it fell through."""
    case = case_named("bouncing_ball")
    job = make_job(case.model, 20.0, **case.options)
    rest = kinemorph.simulate(case.model, 20.0, **case.options).outcome.t
    model = Instance(build_library(job, tmp_path))
    assert model._call("advance", ctypes.c_double(10.0)) == GOING
    assert model._call("advance", ctypes.c_double(20.0)) == REST
    assert abs(model.get("q.z")) < 1e-9 and 0.0 < model.get("v.z") < 1e-4
    write_program(job, "python", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    ball = importlib.import_module("bouncing_ball").Model()
    assert ball.advance(10.0) and not ball.advance(20.0)
    assert abs(ball.get("q.z")) < 1e-9 and abs(ball.time - rest) < 1e-4


SPRING = """#include "user.h"

void user_efforts(const user_instant *now, user_loads *add)
{
    add->generalized[0] -= 3.0 * now->q[0] + 0.5 * now->v[0];
}
"""


@pytest.mark.slow
def test_code_of_a_user_is_part_of_the_rates(tmp_path: Path) -> None:
    """A spring with a damper in C gives the rates that its torque as an input gives, and its part of the slopes."""
    case = case_named("double_pendulum")
    (tmp_path / "spring.c").write_text(SPRING)
    code = UserCode(source=tmp_path / "spring.c")
    mine, plain = (
        Instance(build_library(make_job(case.model, 1.0, **case.options, user=user), tmp_path / f"{user is code}"))
        for user in (code, None)
    )
    for model in (mine, plain):
        model.begin()
        model.event()
    states = np.array([0.4, -0.2, 0.3, 0.7])
    plain.set("u.q1", -3.0 * 0.4 - 0.5 * 0.3)
    wanted = plain.rates(0.0, states)
    own = mine.library.continuous - 4  # accounts of energy
    assert np.abs(mine.rates(0.0, np.append(states, [0.0] * own))[:4] - wanted).max() < 1e-13
    A = plain.slopes(0.0, states, range(4))
    B = plain.slopes(0.0, states, [plain.library.columns.index("u.q1")])
    found = mine.slopes(0.0, np.append(states, [0.0] * own), range(4))[:4]
    assert np.abs(found - (A + B @ [[-3.0, 0.0, -0.5, 0.0]])).max() < 1e-6
