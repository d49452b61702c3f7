"""The graph of an assembly: an arrow for each docking with both sides beside it, a box for each module."""

from __future__ import annotations

from collections import Counter
from typing import Any

from matplotlib.figure import Figure

from kinemorph.display.charts.draw_modules import draw_modules
from kinemorph.formats.assemble import assemble
from kinemorph.model.modules import Assembly
from support.cases.paper_organism import DTL, paper_organism
from support.robots.random_assemblies import TYPES


def arrows(figure: Figure) -> list[Any]:
    (axes,) = figure.axes
    return [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]


def sides(figure: Figure) -> Counter[str]:
    (axes,) = figure.axes
    return Counter(text.get_text() for text in axes.texts if text.get_text().partition(":")[0].isdigit())


def test_the_organism_has_eight_arrows_from_its_base_outward() -> None:
    figure = draw_modules(paper_organism())
    drawn = arrows(figure)
    assert len(drawn) == 8
    assert sides(figure) == Counter(str(side) for *_, a, b in DTL for side in (a, b))
    away = [sum(abs(x) for x in arrow.xy) - sum(abs(x) for x in arrow.xyann) for arrow in drawn]
    assert all(step > 0.0 for step in away)  # seen from above every docking of this organism leads away from the base
    assert len(figure.axes[0].patches) == 9


def test_rings_are_dashed_and_towers_are_laid_out_by_paths() -> None:
    ring = assemble([(0, 1, 3, 4), (1, 2, 5, 2), (2, 3, 4, 3), (3, 0, 2, 5)])
    styles = [arrow.arrow_patch.get_linestyle() for arrow in arrows(draw_modules(ring))]
    assert styles.count("--") + styles.count("dashed") == 1
    tower = Assembly("tower").add("a", TYPES["L"]).add("b", TYPES["L"]).dock("a", 1, "b", 6, joint="revolute", turn=1)
    figure = draw_modules(tower)
    assert [box.get_x() for box in figure.axes[0].patches] != [figure.axes[0].patches[0].get_x()] * 2
    assert sides(figure) == Counter({"1": 1, "6:1": 1})
