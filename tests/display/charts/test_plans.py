"""Plans of assemblies: all modules, sides and dockings of flat ones are drawn; others are seen in 3-D."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinemorph.display.charts.draw_plan import draw_plan, is_flat
from kinemorph.formats.assemble import assemble
from kinemorph.model.library import organism9


def test_a_plan_shows_modules_sides_and_dockings(tmp_path: Path) -> None:
    assembly = organism9().assembly
    assert assembly is not None and is_flat(assembly)
    figure = draw_plan(assembly, path=tmp_path / "plan.png")
    (axes,) = figure.axes
    words = [text.get_text() for text in axes.texts]
    assert sorted(word for word in words if word in assembly.names) == sorted(assembly.names)
    assert all(words.count(side) == 9 for side in "2345") and words.count("B") == 9
    bars = [line for line in axes.lines if line.get_zorder() == 1]
    middles = {tuple(np.round(np.mean(np.transpose(bar.get_data()), axis=0), 4)) for bar in bars}
    assert len(middles) == 8 and (0.0525, 0.0) in middles  # where m0 and m1 are docked
    assert (tmp_path / "plan.png").stat().st_size > 5000


def test_what_is_not_flat_is_drawn_in_space() -> None:
    tower = assemble([(0, 1, 1, 6)], modules="L")
    assert not is_flat(tower) and len(draw_plan(tower).axes[0].images) == 1  # painted
    jointed = assemble([{"a": 0, "side_a": 3, "b": 1, "side_b": 4, "joint": "prismatic"}], modules="L")
    assert "P" in [text.get_text() for text in draw_plan(jointed).axes[0].texts]
