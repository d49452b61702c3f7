"""Every method of the table has the order it claims, on plain coordinates and on manifolds, and between its steps."""

from functools import cache

import numpy as np
import pytest

import kinemorph
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators import explicit, symplectic
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.stepping.stepper import Stepper
from support.tools.each_case import each_case

STEPS = {1: 800, 2: 200, 3: 200, 4: 250, 5: 120, 8: 24}  # in a second, by order; then twice as many
END = {"double pendulum": 4.0, "tumbling": 2.0}  # [s]


@cache
def problem(name: str) -> tuple[Plant, np.ndarray, np.ndarray]:
    """(plant, q, v) at the start."""
    if name == "double pendulum":
        return plant(kinemorph.library.double_pendulum()), np.array([0.5, 0.25]), np.array([0.2, -0.1])
    builder = kinemorph.RobotBuilder("tumbling").add(
        kinemorph.Body.box("box", 2.0, (0.1, 0.2, 0.4)), kinemorph.Body.rod("bob", 1.0, 0.8, center=(0.1, 0.0, -0.6))
    )
    builder.joint("free", "free", "world", "box")
    builder.joint("ball", "spherical", "world", "bob")
    tumbling = plant(builder.build())
    q, v = tumbling.initial("q"), np.array([0.2, 0.1, 0.3, 0.7, 0.1, 0.5, 0.4, 0.3, 0.2])
    return tumbling, q, v


@cache
def reference(name: str, until: float) -> np.ndarray:
    system, q, v = problem(name)
    state = Stepper(system, method="dop853", step=until / np.ceil(500.0 * until), q=q, v=v).advance(until)
    return np.concatenate([state.q, state.v])


@cache
def stepper(name: str, method: str) -> Stepper:
    return Stepper(problem(name)[0], method=method, step=1.0, rows=4)


def error(name: str, method: str, h: float, until: float) -> float:
    """Of the state at `until` by steps of the size h."""
    system, q, v = problem(name)
    run = stepper(name, method)
    run.place(0.0, q, v)
    run.h = h
    row = run.through(np.array([until]), 10.0).rows[0]
    return float(np.linalg.norm(row[: system.nq + system.nv] - reference(name, until)))


# forces act at the middle of centered steps, and where nothing is carried, no other term has order 1
BETTER = {("tumbling", method): 2 for method in METHODS if method.startswith("centered_contact")}
# the tumbling bodies have what the pendulum has and quaternions besides, so most methods show theirs on them only
SMOOTH = [method for method in METHODS if method != "moreau"]  # it is for rigid contacts, see test_rigid_contacts
BOTH = ("dop853", "rodas", "generalized_alpha", "variational")
CASES = [
    pytest.param(method, name, marks=() if name == "tumbling" or method in BOTH else pytest.mark.slow)
    for method in SMOOTH
    for name in END
]


@pytest.mark.parametrize("method, name", CASES)
def test_the_order_of_the_table_is_the_order_seen(method, name, record_property):
    order = BETTER.get((name, method), METHODS[method].order)
    coarse, fine = (error(name, method, 1.0 / n, END[name]) for n in (STEPS[order], 2 * STEPS[order]))
    seen = np.log2(coarse / fine)
    record_property("figure", ("order off by", method, float(abs(seen - order))))
    assert fine > 1e-13  # so that it is not rounding that is seen
    assert seen == pytest.approx(order, abs=0.1 if order <= 4 else 0.3)


def order_within(method: str) -> float:
    """The order in h of the error at 0.3 h within one step of size h."""
    h = 0.2 if METHODS[method].degree > 5 else 0.02
    coarse, fine = (error("tumbling", method, size, 0.3 * size) for size in (h, 0.5 * h))
    assert fine > 1e-15
    return float(np.log2(coarse / fine))


@each_case("method", SMOOTH)
def test_values_within_a_step_are_as_good_as_those_at_its_ends(method):
    """A polynomial of degree d is good for an error of order d + 1: that of radau for 4 of its 5."""
    assert order_within(method) > min(METHODS[method].order, METHODS[method].degree + 1) - 0.2


@pytest.mark.parametrize("method", [method.name for method in (*explicit.FAMILY, *symplectic.FAMILY)])
def test_the_dense_output_is_as_good_as_its_degree_allows(method):
    assert order_within(method) > 1 + min(METHODS[method].order, METHODS[method].degree) - 0.2
