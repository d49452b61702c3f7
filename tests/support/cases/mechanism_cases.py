"""Closed mechanisms in motion, and what is asked of the package's own solution of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.constrained import Constrained
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot
from support.references.maximal_coordinates import Array, Mechanism, Solution, solve
from support.robots.mechanism_drafts import Draft

EXACT = 1e-9  # of the largest acceleration or effort, or of 1 where they are smaller
CLOSED = 1e-12  # [m or rad, and per second]


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
    return dynamics, dynamics.laws.prepared(resolve(robot))


def ours(robot: Robot, *state: Array) -> Ours:
    """By plain floats: nothing is traced, nothing is compiled."""
    dynamics, tree = ready(robot)
    q, v, tau = (x.tolist() for x in state)
    rows = closures.rows_of(tree, q, v)
    held = dynamics.laws.inverse(tree, q, v, [0.0] * robot.nv)
    rest = [force - h for force, h in zip(tau, held, strict=True)]
    plain, shared = (dynamics.laws.under(tree, q, rest, rows, shared=shared) for shared in (False, True))
    phi, rate = closures.constraint_error(tree, q), closures.constraint_rate(tree, q, v)
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
    owners = np.array(closures.constraint_owners(robot))
    for way in (found.plain, found.shared):
        assert apart(way.a, expected.a) < tolerance
        assert way.rank == expected.rank and robot.nv - way.rank == expected.mobility
        assert apart(found.J.T @ way.multipliers, expected.effort) < tolerance
        for loop, effort in expected.efforts.items():
            mine = owners == loop
            assert apart(found.J[mine].T @ np.array(way.multipliers)[mine], effort) < tolerance
    return np.array(found.plain.a)


def askew(this: Case, seed: int) -> Case:
    """The same motion, turned in space: hinges all in three dimensions, nothing zero by structure."""
    draft = this.draft.askew(seed)
    robot, q = draft.built()
    return Case(draft, robot, q, this.v, this.tau, solve(Mechanism(robot, q), this.v, this.tau))
