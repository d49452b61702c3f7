"""Figures of results: structure of the mass matrix, operation groups, the layout of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.backends.llvm.engine import simd_bits
from kinemorph.display.charts.figures import (
    draw_mass_matrix,
    draw_op_counts,
    draw_topology,
    grouped_ops,
    structure,
    tree_layout,
)
from kinemorph.model.library import LIBRARY
from support.tools.each_case import each_case


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


def test_mass_matrix_picture_tells_two_kinds_of_zeros_apart() -> None:
    robot = LIBRARY["puma"]()
    f = kinemorph.derive(robot, backend="interpreter").mass_matrix
    M, present = f(np.zeros(6)), structure(f.program)
    M[0, 1] = M[1, 0] = 0.0  # as in a pose where they happen to vanish
    assert present[0, 1]
    here, always = int((present & (np.abs(M) < 1e-14 * M.max())).sum()), int((~present).sum())
    figure = draw_mass_matrix(robot, f.program, M)
    caption = next(text.get_text() for text in figure.texts if "not zero" in text.get_text())
    for words in (f"{36 - here - always} not zero", f"{here} zero only in this pose", f"{always} zero at every"):
        assert words in caption
    gray, map_of_sizes = (np.ma.getmaskarray(np.ma.asarray(image.get_array())) for image in figure.axes[0].images)
    assert not gray[0, 1] and map_of_sizes[0, 1]  # its own color
    assert gray[~present].all() and map_of_sizes[~present].all()  # white
    assert gray[0, 0] and not map_of_sizes[0, 0]


def test_operation_groups_add_up_to_all_operations() -> None:
    program = kinemorph.derive(LIBRARY["puma"](), backend="interpreter").forward_dynamics.program
    groups = grouped_ops(program.op_counts)
    assert sum(groups.values()) == len(program.steps) and groups["multiply"] == program.op_counts["mul"]
    totals = [text.get_text().strip() for text in draw_op_counts([program]).axes[0].texts]
    assert totals == [f"{len(program.steps):,}"]


@each_case("name", LIBRARY)
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
