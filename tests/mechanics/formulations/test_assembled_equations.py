"""Closed form = recursion = Lagrange on assemblies: the paper's organism, and random trees from random bases.

Both forms of a module, free and fixed bases, virtual joints. All on plain floats, no code is compiled.
"""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.mechanics.formulations import closed_form, lagrange
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions import composite_bodies, newton_euler
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration
from kinemorph.model.modules import Assembly
from kinemorph.model.modules.organisms import Dyads, Root
from support.cases.paper_organism import paper_organism
from support.robots.random_assemblies import random_tree

AGREE = 1e-11  # of the largest force
ORGANISM = paper_organism()
ROOTS: tuple[Root, ...] = ("free", "fixed", ("x", "z", "ry"))


def disagreement(assembly: Assembly, seed: int, dyads: Dyads, root: Root) -> float:
    """How far the three ways are apart, as a part of the largest force, and of the largest entry of M."""
    robot = assembly.robot(dyads=dyads, root=root)
    rng = np.random.default_rng(seed)
    q, v, a = random_configuration(robot, rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    tree = resolve(robot)
    prepared = FORMULATIONS["newton_euler"].prepare(tree)
    state = (q.tolist(), v.tolist(), a.tolist())
    forces = [
        np.array(newton_euler.inverse_dynamics(prepared, *state)),
        np.array(closed_form.inverse_dynamics(tree, *state)),
        np.array(lagrange.inverse_dynamics(tree, *state)),
    ]
    masses = [
        np.array(composite_bodies.mass_matrix(prepared, state[0])),
        np.array(closed_form.mass_matrix(tree, state[0])),
    ]
    apart = 0.0
    for ways in (forces, masses):
        scale = max(np.abs(way).max(initial=0.0) for way in ways) or 1.0
        apart = max(apart, *(float(np.abs(way - ways[0]).max(initial=0.0)) / scale for way in ways[1:]))
    return apart


@pytest.mark.parametrize("dyads", ["halves", "adapted"])
@pytest.mark.parametrize("root", ROOTS)
def test_the_organism(dyads: Dyads, root: Root) -> None:
    """The nine modules of Fig. 4, as they are built and as the paper's dyads."""
    assert disagreement(ORGANISM, 4, dyads, root) < AGREE


def test_the_organism_has_eight_joints_in_the_paper() -> None:
    """E000-16: the hinge of the base does not appear in the adapted form; built as they are, all nine bend."""
    assert ORGANISM.robot(dyads="adapted", root="fixed").nv == 8
    assert ORGANISM.robot(root="fixed").nv == 9


def _random_cases(seeds: range, largest: int) -> float:
    worst = 0.0
    for seed in seeds:
        count = 1 + seed * 7919 % largest
        dyads: Dyads = "adapted" if seed % 2 else "halves"
        worst = max(worst, disagreement(random_tree(count, seed), seed, dyads, ROOTS[seed % 3]))
    return worst


@pytest.mark.slow
def test_random_assemblies() -> None:
    """25 random trees of up to 10 mixed modules."""
    assert _random_cases(range(25), 10) < AGREE


@pytest.mark.slow
def test_two_hundred_random_assemblies() -> None:
    """200 random trees of 1 to 40 mixed modules."""
    worst = _random_cases(range(200), 40)
    print(f"largest disagreement {worst:.2g}")
    assert worst < AGREE
