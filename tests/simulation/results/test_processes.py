"""Models and results in several processes and threads: fork, spawn, concurrent.futures, pickles."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from kinemorph import Stepper, derive, elements, library, linearize, poles, simulate, simulate_batch
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.model.system import System
from kinemorph.plants import Plant, first_order, plant, second_order
from kinemorph.simulation.results.trajectory import Trajectory

PATIENCE = 120.0  # [s] after which a process counts as hung; the work itself takes a fraction of a second
STATES = 30_000  # enough for two threads


# ── what other processes run; at the top of the file, so that they can import it ──────────────────────────────────────


@cache
def double_pendulum() -> Dynamics:
    return derive(library.build("double_pendulum"))


def big_batch(threads: int = 2) -> float:
    """The sum of the mass matrices of many states, computed on several threads."""
    function = derive(library.build("puma")).mass_matrix
    function.threads = threads
    return float(function(np.linspace(0.0, 1.0, 6 * STATES).reshape(STATES, 6)).sum())


def damped(v: Any) -> list[Any]:
    """A user law of forces."""
    return [-0.1 * v[0], -0.1 * v[1]]


def decaying(x: Any) -> list[Any]:
    return [-2.0 * x[0]]


def swinging(q: Any, a: Any) -> list[Any]:
    return [a[0] + 4.0 * q[0]]


def driven() -> System:
    """A robot with a law that the user wrote, one that the package has, and outputs of both."""
    robot = library.build("double_pendulum")
    one, other = robot.v_names
    follow = elements.Sampled("follow", hold_back, [f"q.{one}"], [one], every=0.01)
    return System(robot, (follow, elements.PD("pd", other, kp=3.0, kd=1.0)))


def hold_back(t: Any, angle: Any) -> Any:
    return -2.0 * angle


def results() -> dict[str, Any]:
    """One of everything that may have to travel between processes."""
    robot = library.build("double_pendulum")
    dynamics = derive(robot)
    q = [0.3, -0.2]
    return {
        "dynamics": dynamics,
        "function": dynamics.mass_matrix,
        "plant": plant(robot, forces=damped, account=True),
        "run": simulate(driven(), 0.1, q=q),
        "batch": simulate_batch(robot, 0.1, q=np.array([q, [0.1, 0.2]])),
        "linearization": linearize(robot),
        "poles": poles(robot),
    }


def numbers(found: dict[str, Any]) -> dict[str, list[Any]]:
    """What can be computed of them, to be compared to the last digit."""
    run, made, batch, linear, modes = (found[name] for name in ("run", "plant", "batch", "linearization", "poles"))
    simulated = simulate(made, 0.1, q=[0.3, -0.2])
    return {
        "dynamics": found["dynamics"].forward_dynamics([0.1, 0.2], [0.3, 0.4], [0.0, 1.0]).tolist(),
        "function": found["function"]([0.1, 0.2]).tolist(),
        "plant": [simulated.q.tolist(), simulated.energy.balance.tolist()],
        "run": [run[name].tolist() for name in run.columns],
        "batch": [batch.q.tolist(), batch.v.tolist(), batch.plant.compiled("rate").ops],
        "linearization": [linear.A.tolist(), linear.B.tolist(), linear.plant.initial("q").tolist()],
        "poles": [modes.values.tolist(), modes.shapes.tolist(), str(modes)],
    }


def result_of(waiting: Future[Any]) -> Any:
    return waiting.result(timeout=PATIENCE)


# ── processes and threads ─────────────────────────────────────────────────────────────────────────────────────────────


def _queued(queue: Any) -> None:
    queue.put(big_batch())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have() -> None:
    """After a batch on several threads, a forked process that evaluated a batch of its own never came back."""
    expected = big_batch()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_queued, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=PATIENCE) == expected
    finally:
        child.kill()
        child.join()


def test_results_come_home_from_a_new_process() -> None:
    """A run, a batch or a linearization of a worker could not be pickled, for a function inside without a name."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        waiting = [pool.submit(results), pool.submit(numbers, results())]
        came, computed_there = map(result_of, waiting)
    here = numbers(results())
    assert numbers(came) == here
    assert computed_there == here


def test_threads_share_a_model() -> None:
    dynamics = double_pendulum()
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(simulate, dynamics, 0.1, q=[0.1 * k, 0.0]) for k in range(8)]
        ends = [result_of(run).q[-1].tolist() for run in runs]
    assert ends == [simulate(dynamics, 0.1, q=[0.1 * k, 0.0]).q[-1].tolist() for k in range(8)]


FORK_WHILE_COMPILING = """
import multiprocessing, threading, time
from kinemorph import derive, library
from kinemorph.codegen.backends.llvm.engine import LLVM_LOCK

def compile_one(queue):
    queue.put(derive(library.build("pendulum")).mass_matrix([0.0]).tolist())

def busy():
    with LLVM_LOCK:
        started.set()
        time.sleep(0.3)

started = threading.Event()
threading.Thread(target=busy).start()
started.wait()
context = multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=compile_one, args=(queue,), daemon=True)
child.start()
print(queue.get(timeout=60))
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_process_may_be_forked_while_another_thread_compiles() -> None:
    """The copy of a lock that another thread holds would stay locked in the forked process for ever."""
    done = subprocess.run(
        [sys.executable, "-c", FORK_WHILE_COMPILING], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout.startswith("[["), done.stderr[-300:]


# ── pickles ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def travelled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_pickle_holds_data_and_no_code() -> None:
    """What was compiled or computed before does not make a pickle of a model larger."""
    dynamics = derive(library.build("puma"))
    before = len(pickle.dumps(dynamics))
    assert all([dynamics.mass_matrix, dynamics.pose("flange"), dynamics.derivative("gravity_forces", "q")])
    assert len(pickle.dumps(dynamics)) <= before + 100
    made = plant(library.build("puma"))
    before = len(pickle.dumps(made))
    made.compiled("rate")
    assert len(pickle.dumps(made)) <= before + 100


@pytest.mark.parametrize("name", ["jansen_walker", "crawler", "flyball_governor", "organism9"])
def test_plants_with_all_kinds_of_elements_can_be_pickled(name: str) -> None:
    system = library.SYSTEMS[name]() if name in library.SYSTEMS else library.build(name)
    made = plant(system)
    again = travelled(made)
    assert again.recipe == made.recipe
    assert again.start == made.start
    assert list(again.outputs) == list(made.outputs)
    with pytest.raises(TypeError):
        again.start["q"] = ()


@pytest.mark.parametrize(
    "made",
    [
        first_order(decaying, {"x": "m"}, start=[1.0]),
        second_order(swinging, {"q": "m"}, start=[1.0]),
        replace(plant(library.build("pendulum")), outputs={"one": decaying}),
    ],
    ids=["first order", "second order", "changed"],
)
def test_plants_of_equations_can_be_pickled(made: Plant) -> None:
    again = travelled(made)
    assert again.compiled("rate").program.key == made.compiled("rate").program.key
    assert list(again.outputs) == list(made.outputs)


def test_a_function_that_has_no_name_is_refused_with_its_place() -> None:
    """The error was about a lambda of this package, whatever was pickled."""
    robot = library.build("pendulum")
    run = simulate(robot, 0.1, forces=lambda t: [0.1 * t])
    with pytest.raises(
        UnsupportedError, match=r"'pendulum' cannot be pickled .*<lambda>.*test_processes.py, line"
    ) as e:
        pickle.dumps(run)
    assert "Define it with `def` at the top level" in str(e.value)
    element = System(robot, (elements.Continuous("c", lambda t, q: -q, ["q.q1"], ["q1"]),))
    for made in (plant(element), plant(robot, outputs={"y": lambda q: q[0]}), first_order(lambda x: [x[0]], {"x": ""})):
        with pytest.raises(UnsupportedError, match="<lambda>"):
            pickle.dumps(made)


def test_picklers_that_write_code_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """cloudpickle, which joblib, dask and ray use, writes lambdas into its pickles."""
    made = plant(library.build("pendulum"), forces=lambda t: [t])
    monkeypatch.setitem(sys.modules, "cloudpickle", pickle)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):  # of pickle itself
        pickle.dumps(made)


def test_copies_of_models_are_the_models_and_copies_of_runs_are_their_own() -> None:
    run: Trajectory = simulate(double_pendulum(), 0.1, q=[0.1, 0.0], forces=lambda v: [-v[0], -v[1]])
    made = run.segments[0].plant
    assert copy.copy(made) is made and copy.deepcopy(made) is made
    assert copy.deepcopy(double_pendulum()) is double_pendulum()
    other = copy.deepcopy(run)
    other.segments[0].q[:] = 0.0
    assert run.q[0, 0] == 0.1


def test_a_stepper_continues_where_it_was_pickled() -> None:
    stepper = Stepper(double_pendulum(), q=[0.3, -0.2])
    stepper.advance(0.05)
    other = travelled(stepper)
    for one in (stepper, other):
        one.advance(0.1)
    assert other.state.q.tolist() == stepper.state.q.tolist()


def test_a_system_with_a_function_of_the_moment_is_refused_with_its_place() -> None:
    """It was a raw PicklingError about an attribute lookup; copies are still made."""
    bang = elements.Sampled("bang", lambda t, q: -q, ("q.q1",), drives="q1")
    system = System(library.double_pendulum(), (bang,))
    with pytest.raises(UnsupportedError, match=r"system 'double_pendulum' cannot be pickled .*test_processes\.py"):
        pickle.dumps(system)
    assert copy.deepcopy(system) is copy.copy(system) is system
