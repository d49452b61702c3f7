"""Figures of results: structure of the mass matrix, operation groups, the layout of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import kinemorph
from kinemorph.display.environment import simd_bits
from kinemorph.display.figures import (
    draw_mass_matrix,
    draw_op_counts,
    draw_topology,
    grouped_ops,
    structure,
    tree_layout,
)
from kinemorph.model.library import LIBRARY


@pytest.mark.parametrize("name", ["hexapod24", "puma", "four_bar"])
def test_structure_of_the_mass_matrix_holds_every_number_that_is_not_zero(name: str) -> None:
    robot = LIBRARY[name]()
    f = kinemorph.derive(robot, backend="interpreter").mass_matrix
    rng = np.random.default_rng(0)
    seen = np.any([f(kinemorph.random_configuration(robot, rng)) != 0.0 for _ in range(3)], axis=0)
    assert (structure(f.program) == seen).all()


def test_legs_do_not_touch_each_other_in_the_mass_matrix() -> None:
    robot = LIBRARY["hexapod24"]()
    present = structure(kinemorph.derive(robot, backend="interpreter").mass_matrix.program)
    assert not present[6:9, 9:].any() and present[6:9, 6:9].any()


def test_mass_matrix_picture_says_how_full_it_is() -> None:
    robot = LIBRARY["puma"]()
    f = kinemorph.derive(robot, backend="interpreter").mass_matrix
    figure = draw_mass_matrix(robot, f.program, f(np.zeros(6)))
    count = int(structure(f.program).sum())
    assert any(f"{count} of 36" in text.get_text() for text in figure.texts)


def test_operation_groups_add_up_to_all_operations() -> None:
    program = kinemorph.derive(LIBRARY["puma"](), backend="interpreter").forward_dynamics.program
    groups = grouped_ops(program.op_counts)
    assert sum(groups.values()) == len(program.steps) and groups["multiply"] == program.op_counts["mul"]
    totals = [text.get_text().strip() for text in draw_op_counts([program]).axes[0].texts]
    assert totals == [f"{len(program.steps):,}"]


@pytest.mark.parametrize("name", LIBRARY)
def test_no_two_bodies_share_a_place_in_the_tree(name: str) -> None:
    robot = LIBRARY[name]()
    places = tree_layout(robot)
    assert set(places) == {"world", *robot.body_names}
    assert len(set(places.values())) == len(places)
    for joint in robot.joints:
        assert places[joint.child][0] == places[joint.parent][0] + 1
    shown = {text.get_text() for text in draw_topology(robot).axes[0].texts}
    assert set(places) <= shown


def test_widest_registers_count() -> None:
    assert simd_bits({"sse2": True, "avx": True, "avx512f": False}) == 256
    assert simd_bits({"neon": True}) == 128
    assert simd_bits({}) == 64
