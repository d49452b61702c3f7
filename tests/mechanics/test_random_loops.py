"""Random closed mechanisms, in the plane and in space, against every body by its own six velocities.

`maximal_coordinates` shares nothing with the package: other coordinates, other conditions, other derivatives, other
linear algebra. Three hundred mechanisms of 28 families by default, a thousand with the slow marker.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import maximal_coordinates
from kinemorph.deriving import Dynamics, derive
from kinemorph.mechanics import loops
from kinemorph.mechanics.constrained import Constrained
from kinemorph.mechanics.resolving import resolve
from kinemorph.mechanics.tree import Tree
from kinemorph.model.robot import Robot
from maximal_coordinates import Array, Mechanism, Solution, solve
from random_mechanisms import (
    CLOSING,
    FAMILIES,
    FLAT,
    Draft,
    random_mechanism,
)

EXACT = 1e-9  # of the largest acceleration or effort, or of 1 where they are smaller
CLOSED = 1e-12  # [m or rad, and per second]
SWEEP = range(300)
FAR = range(300, 1000)


class Case(NamedTuple):
    """A mechanism in motion: closed at q, moving by v as all joints allow, under tau."""

    draft: Draft
    robot: Robot
    q: Array
    v: Array
    tau: Array
    expected: Solution


class Ours(NamedTuple):
    """What the package says: the opening and its rate, J, and accelerations and multipliers both ways (see `under`)."""

    phi: Array
    rate: Array
    J: Array
    plain: Constrained
    shared: Constrained


def case(draft: Draft, seed: int) -> Case:
    robot, q = draft.built()
    rng = np.random.default_rng([seed, 23])
    mechanism = Mechanism(robot, q)
    v, tau = mechanism.moving(rng), rng.normal(size=robot.nv)
    return Case(draft, robot, q, v, tau, solve(mechanism, v, tau))


def ready(robot: Robot) -> tuple[Dynamics, Tree]:
    dynamics = derive(robot, backend="interpreter")
    return dynamics, dynamics.prepared(resolve(robot))


def ours(robot: Robot, *state: Array) -> Ours:
    """By plain floats: nothing is traced, nothing is compiled."""
    dynamics, tree = ready(robot)
    q, v, tau = (x.tolist() for x in state)
    rows = loops.rows_of(tree, q, v)
    held = dynamics.inverse(tree, q, v, [0.0] * robot.nv)
    rest = [force - h for force, h in zip(tau, held, strict=True)]
    plain, shared = (dynamics.under(tree, q, rest, rows, shared=shared) for shared in (False, True))
    phi, rate = loops.constraint_error(tree, q), loops.constraint_rate(tree, q, v)
    return Ours(np.array(phi), np.array(rate), np.array(rows.J), plain, shared)


def apart(found: Any, expected: Array) -> float:
    """The largest difference, against the largest number that is expected, or 1."""
    difference = np.abs(np.asarray(found, dtype=float) - expected).max(initial=0.0)
    return float(difference / max(1.0, np.abs(expected).max(initial=0.0)))


def check(this: Case, tolerance: float = EXACT) -> Array:
    """All that one mechanism is asked for; its accelerations."""
    draft, robot, q, v, tau, expected = this
    # the reference by itself: joints are kept, and it moves as theory tells
    assert expected.residual < EXACT * max(1.0, np.abs(expected.a).max(initial=0.0))
    if draft.mobility is not None:
        assert expected.mobility == draft.mobility or not draft.exact
        assert expected.mobility >= draft.mobility
    # both agree on what is closed and what goes along with it
    found = ours(robot, q, v, tau)
    assert np.abs(found.phi).max() < CLOSED
    assert np.abs(found.rate).max() < CLOSED * max(1.0, np.abs(v).max())
    # and on the motion, on how many conditions there are, and on what bears what
    owners = np.array(loops.constraint_owners(robot))
    for way in (found.plain, found.shared):
        assert apart(way.a, expected.a) < tolerance
        assert way.rank == expected.rank and robot.nv - way.rank == expected.mobility
        assert apart(found.J.T @ way.multipliers, expected.effort) < tolerance
        for loop, effort in expected.efforts.items():
            mine = owners == loop
            assert apart(found.J[mine].T @ np.array(way.multipliers)[mine], effort) < tolerance
    return np.array(found.plain.a)


@pytest.mark.parametrize("seed", SWEEP)
def test_random_mechanisms(seed: int, record_property: Callable[[str, object], None]) -> None:
    this = case(random_mechanism(seed), seed)
    error = apart(check(this), this.expected.a)
    record_property("figure", ("random mechanisms", "error of accelerations", error))
    if list(FAMILIES)[seed % len(FAMILIES)] in FLAT:
        error = apart(check(out_of_plane(this, seed)), this.expected.a)  # a plane may lie as it likes
        assert error < EXACT
        record_property("figure", ("random mechanisms", "error of accelerations out of plane", error))


def out_of_plane(this: Case, seed: int) -> Case:
    """The same motion, turned in space: hinges all in three dimensions, nothing zero by structure."""
    draft = this.draft.askew(seed)
    robot, q = draft.built()
    return Case(draft, robot, q, this.v, this.tau, solve(Mechanism(robot, q), this.v, this.tau))


@pytest.mark.slow
@pytest.mark.parametrize("seed", FAR)
def test_many_more_random_mechanisms(seed: int, record_property: Callable[[str, object], None]) -> None:
    test_random_mechanisms(seed, record_property)


def test_every_kind_of_joint_closes_loops() -> None:
    drafts = [random_mechanism(seed) for seed in SWEEP]
    robots = [draft.built()[0] for draft in drafts]
    kinds = Counter(loop.kind for robot in robots for loop in robot.loops)
    assert set(kinds) == set(CLOSING) and min(kinds.values()) >= 10, kinds
    carried = Counter(joint.kind for robot in robots for joint in robot.joints)
    assert set(carried) == {*CLOSING, "free"} and min(carried.values()) >= 30, carried
    assert sum(bool(robot.couplings) for robot in robots) >= 10
    assert sum(len(robot.loops) > 1 for robot in robots) >= 80


def test_the_reference_takes_nothing_from_the_package() -> None:
    tree = ast.parse(Path(maximal_coordinates.__file__).read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "collections.abc", "dataclasses", "functools", "typing", "numpy"}
