"""Random closed mechanisms, in the plane and in space, against every body by its own six velocities.

`maximal_coordinates` shares nothing with the package: other coordinates, other conditions, other derivatives, other
linear algebra. Three hundred mechanisms of 28 families by default, a thousand with the slow marker.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cases.mechanism_cases import EXACT, apart, askew, case, check
from support.references import maximal_coordinates
from support.robots.mechanism_drafts import CLOSING
from support.robots.random_mechanisms import FAMILIES, FLAT, random_mechanism
from support.tools.each_case import each_case

SWEEP = range(40)
FAR = range(40, 1000)


@each_case("seed", SWEEP, parts=2)
def test_random_mechanisms(seed: int, record_property: Callable[[str, object], None]) -> None:
    check_mechanism(seed, record_property)


def check_mechanism(seed: int, record_property: Callable[[str, object], None]) -> None:
    this = case(random_mechanism(seed), seed)
    error = apart(check(this), this.expected.a)
    record_property("figure", ("random mechanisms", "error of accelerations", error))
    if list(FAMILIES)[seed % len(FAMILIES)] in FLAT:
        error = apart(check(askew(this, seed)), this.expected.a)  # a plane may lie as it likes
        assert error < EXACT
        record_property("figure", ("random mechanisms", "error of accelerations out of plane", error))


@pytest.mark.slow
@pytest.mark.parametrize("seed", FAR)
def test_many_more_random_mechanisms(seed: int, record_property: Callable[[str, object], None]) -> None:
    check_mechanism(seed, record_property)


@pytest.mark.slow
def test_every_kind_of_joint_closes_loops() -> None:
    drafts = [random_mechanism(seed) for seed in range(300)]
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
