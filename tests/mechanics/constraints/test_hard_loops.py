"""Closed mechanisms where digits are at stake: close to singular, not quite closed, tiny or huge, many loops at once.

The reference is `maximal_coordinates`, every body by its own six velocities.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.constraints import closures, constrained
from kinemorph.mechanics.constraints.constrained import MOST_WRITTEN, written_out
from kinemorph.mechanics.constraints.newton_closing import closed_by_newton
from kinemorph.mechanics.derivatives.branch_factor import ways_to_root
from kinemorph.model.configuration import integrate
from kinemorph.model.library import four_bar
from kinemorph.plants import plant
from kinemorph.plants.constraints import Conditions
from kinemorph.plants.instant import LocalInstant
from support.cases.mechanism_cases import EXACT, Case, Ours, apart, askew, case, check, ours, ready
from support.references.maximal_coordinates import Mechanism, solve
from support.robots.loop_robots import closed_state
from support.robots.mechanism_drafts import sliding
from support.robots.random_mechanisms import FAMILIES, FLAT, NEARLY, cranks, drafted, random_mechanism, tower
from support.tools.each_case import each_case

ONE_OF_EACH = range(28, 28 + len(FAMILIES))
# rows that repeat others by way of some that are nearly repeated: Bennett's, cranks in a row, Sarrus's
LONG_WAY_ROUND = (263, 991, 569, 597, 765, 182, 238)
COMPILED = ("four_bar", "sarrus", "with_helical", "coupled")
COMPILED_TOO = (
    "slider", "three_cranks", "spherical_ring", "bennett", "bricard", "door", "with_universal", "with_planar",
)  # fmt: skip


def family(name: str, seed: int = 28) -> Case:
    seed += list(FAMILIES).index(name)
    return case(random_mechanism(seed), seed)


@pytest.mark.slow
@each_case("by", [1e-3, 1e-5])
@each_case("name", NEARLY)
def test_close_to_singular_configurations(name: str, by: float) -> None:
    """What is 1e-5 rad from one freedom more has it not; as many digits are lost as J is irregular, not the square."""
    for seed in range(3):
        this = case(drafted(NEARLY[name](by), name, seed, flat="cranks" in name), seed)
        for here in (this, askew(this, seed)):
            expected = here.expected
            assert expected.mobility == here.draft.mobility and expected.smallest < by
            found = ours(here.robot, here.q, here.v, here.tau)
            assert found.plain.rank == expected.rank
            assert apart(found.plain.a, expected.a) < max(EXACT, 3e-15 / expected.smallest)
            if by == 1e-3:  # forces of least norm are found from squares
                assert found.shared.rank == expected.rank and apart(found.shared.a, expected.a) < 1e-8


@pytest.mark.slow
@each_case("seed", [*ONE_OF_EACH, *LONG_WAY_ROUND])
def test_states_a_little_off_the_constraints(seed: int) -> None:
    """Rows that repeat others where loops are closed still do so where they are open by a little."""
    this = case(random_mechanism(seed), seed)
    this = askew(this, seed) if seed % 2 else this
    rng = np.random.default_rng(seed)
    away, faster = rng.normal(size=(2, this.robot.nv))
    for off in (1e-9, 1e-7, 1e-5):
        q = integrate(this.robot, this.q, off * away)
        found = ours(this.robot, q, this.v + off * faster, this.tau)
        assert found.plain.rank == this.expected.rank
        assert apart(found.plain.a, this.expected.a) < 1e-11 + 1000.0 * off


def scaled(this: Case, length: float, mass: float) -> Ours:
    """What the package says of a mechanism of another size and weight, in the units of this one.

    In a time longer by the root of the length everything goes the same way.
    """
    robot, q = this.draft.scaled(length, mass).built()
    slides = np.concatenate([sliding(joint.kind) for joint in robot.joints])
    v = np.where(slides, length, 1.0) * this.v / np.sqrt(length)
    tau = np.where(slides, 1.0, length) * this.tau * mass
    found = ours(robot, q, v, tau)
    plain, shared = (way._replace(a=np.where(slides, 1.0, length) * way.a) for way in (found.plain, found.shared))
    return found._replace(plain=plain, shared=shared)


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-6), pytest.param(1e3, 1e9, marks=pytest.mark.slow)])
def test_size_and_weight_change_nothing_but_the_units(length: float, mass: float) -> None:
    for seed in ONE_OF_EACH:
        this = case(random_mechanism(seed), seed)
        found = scaled(this, length, mass)
        for way in (found.plain, found.shared):
            assert way.rank == this.expected.rank, this.draft.name
            assert apart(way.a, this.expected.a) < EXACT, this.draft.name


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_what_is_nearly_singular_is_so_in_any_size(length: float) -> None:
    """A row of lengths is judged by the lengths of its loop."""
    for seed in range(3):
        this = case(drafted(cranks(2, 1e-3), "cranks", seed, flat=True), seed)
        for here in (this, askew(this, seed)):
            found = scaled(here, length, 1.0)
            assert found.plain.rank == here.expected.rank
            assert apart(found.plain.a, here.expected.a) < EXACT


@pytest.mark.parametrize("name", [*COMPILED, *(pytest.param(name, marks=pytest.mark.slow) for name in COMPILED_TOO)])
def test_compiled_functions_are_the_same(name: str) -> None:
    this = family(name)
    this = askew(this, 3) if name in FLAT else this
    dynamics, tree = ready(this.robot)
    compiled = derive(this.robot).forward_dynamics
    scales = np.array([[1.0], [-0.5], [2.0]])
    q, v, tau = np.tile(this.q, (3, 1)), scales * this.v, scales[::-1] * this.tau
    found = compiled(q, v, tau)
    for row in range(3):
        floats = dynamics.laws.accelerations(tree, q[row].tolist(), v[row].tolist(), tau[row].tolist())
        assert apart(found[row], np.array(floats)) < 1e-11
        assert apart(found[row], solve(Mechanism(this.robot, this.q), v[row], tau[row]).a) < EXACT


@pytest.mark.parametrize(
    "name", ["five_bar", "six_ring", "sarrus", "bricard", "with_spherical", "two_loops", "coupled"]
)
def test_locked_joints(name: str) -> None:
    this = family(name)
    dynamics, tree = ready(this.robot)
    mechanism = Mechanism(this.robot, this.q)
    state = [x.tolist() for x in (this.q, this.v, this.tau)]
    tried = 0
    for k in range(this.robot.nv):
        expected = solve(mechanism, this.v, this.tau, [k])
        if expected.mobility < this.expected.mobility:  # it could move
            assert apart(dynamics.laws.accelerations(tree, *state, locked=[k]), expected.a) < EXACT
            tried += 1
    assert tried


def test_so_many_loops_that_they_are_solved_by_blocks() -> None:
    this = case(drafted(tower(14), "tower", 3, flat=True), 3)
    for here in (this, askew(this, 3)):
        check(here)
        _, tree = ready(here.robot)
        J = closures.constraint_jacobian(tree, here.q.tolist())
        print(written_out(ways_to_root(tree), J), MOST_WRITTEN)
    assert written_out(ways_to_root(tree), J) > MOST_WRITTEN


@pytest.mark.parametrize("masses", [(1.0, 1.0, 1e-12), (1e-12, 1.0, 1e-12), (1.0, 1e12, 1.0)])
def test_light_links_do_not_make_rows_alike(masses: tuple[float, float, float]) -> None:
    """A row that is drowned by a light link is a condition all the same, also where a run looks at it."""
    robot = four_bar(masses=masses, closure="spherical")
    q, v = closed_state(robot, 3, (0.6, 0.03, 1.6))
    dynamics, tree = ready(robot)
    J = np.array(closures.constraint_jacobian(tree, q.tolist()))
    free = np.linalg.svd(J)[2][-1]
    forced = np.linalg.pinv(J, 1e-9) @ closures.constraint_bias(tree, q.tolist(), v.tolist())
    M = np.array(dynamics.laws.masses(tree, q.tolist()))
    h = np.array(dynamics.laws.inverse(tree, q.tolist(), v.tolist(), [0.0] * 3))
    expected = forced + free * (free @ (-h - M @ forced)) / (free @ M @ free)  # along the one way it can go
    found = plant(robot).laws.rate(LocalInstant(0.0, q.tolist(), [0.0] * 3 + v.tolist(), [], [0.0] * 3, []))[3:6]
    assert apart(found, expected) < 1e-4  # digits are lost, a condition is not


@pytest.mark.parametrize("name", ["three_cranks", "sarrus", "bricard", "with_helical"])
def test_elimination_leaves_out_the_same_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long chains of loops are eliminated; what repeats other rows is left out there, too."""
    this = askew(family(name), 3)
    found = ours(this.robot, this.q, this.v, this.tau).plain
    monkeypatch.setattr(constrained, "MOST_WRITTEN", -1)
    other = ours(this.robot, this.q, this.v, this.tau).plain
    assert other.rank == found.rank == this.expected.rank
    assert apart(other.a, this.expected.a) < 1e-7 and apart(other.a, this.expected.a) > 0.0


def test_sizes_make_rows_and_velocities_comparable() -> None:
    """The way round a loop grows with the pitch; a slide weighs as a turn does, in any unit of length."""
    screw = family("with_helical").robot
    flat, steep = (replace(screw, loops=tuple(replace(x, pitch=p) for x in screw.loops)) for p in (0.0, -5.0))
    sizes = [np.array(closures.constraint_sizes(ready(robot)[1], [0.0] * screw.nq)) for robot in (flat, steep)]
    assert set(np.round(sizes[1] - sizes[0], 12)) == {0.0, 5.0}
    this = family("slider")
    for length in (1.0, 1e-3):
        robot, q = this.draft.scaled(length, 1.0).built()
        tree = ready(robot)[1]
        around = closures.constraint_sizes(tree, q.tolist())
        longest = max(size for size in around if size != 1.0)
        slides = closures.sliding_velocities(tree)
        expected = [longest if k in slides else 1.0 for k in range(tree.nv)]
        assert slides and closures.velocity_reaches(tree, around) == expected


def test_errors_count_positions_and_their_rates() -> None:
    nothing: list[float] = []
    for phi, rate, expected in (([3e-12], [0.0], 1.5), ([0.0], [8e-11], 4.0), ([1e-12], [1e-12], 0.5)):
        found = Conditions(phi, rate, [[1.0]], nothing, [2.0], [1.0], nothing, 0.0)
        assert found.error(1e-12, [1.0]) == pytest.approx(expected)
        assert found.error(1e-12, [0.0]) == 0.0  # of a row that cannot be met


def test_rows_that_contradict_each_other_by_rounding_end_the_search() -> None:
    """Axes of a file with few digits leave loops open by a micrometer: 60 steps found nothing better than 8 do."""
    looks = 0

    def look(q: Array) -> tuple[Array, Array]:
        nonlocal looks
        looks += 1
        return np.array([np.sin(q[0]), np.sin(q[0]) - 1e-6]), np.full((2, 1), np.cos(q[0]))

    q, apart = closed_by_newton(look, lambda q, step: q + step, np.array([0.5]))
    assert apart == pytest.approx(5e-7, rel=1e-3) and q == pytest.approx([5e-7], rel=1e-3)
    assert looks < 20
