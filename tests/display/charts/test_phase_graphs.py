"""The graph of an automaton: a box for each phase, an arrow for each edge, with names and guards; tables and cards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from kinemorph import library
from kinemorph.display.charts.draw_phases import draw_phases
from kinemorph.display.faces.terminal import text_of
from kinemorph.display.tables.system_sheet import info_sheet, system_sheet
from kinemorph.elements import Automaton, Edge, Phase
from kinemorph.errors import UnsupportedError
from kinemorph.model.system import System

WALKERS = ("rimless_wheel", "kneed_walker", "slip_runner")


@pytest.mark.parametrize("name", WALKERS)
def test_every_phase_and_every_edge_is_drawn(name: str, tmp_path: Path) -> None:
    model: System = getattr(library, name)()
    automaton = model.automaton
    assert automaton is not None
    (axes,) = draw_phases(model, path=tmp_path / "graph.png").axes
    assert len([one for one in axes.patches if isinstance(one, FancyBboxPatch)]) == len(automaton.phases)
    assert len([one for one in axes.patches if isinstance(one, FancyArrowPatch)]) == len(automaton.edges)
    texts = "\n".join(text.get_text() for text in axes.texts)
    assert all(phase.name in texts for phase in automaton.phases)
    assert all(f"{edge.name}\n{edge.guard} = 0" in texts for edge in automaton.edges)
    assert (tmp_path / "graph.png").stat().st_size > 1000


def test_arrows_there_and_back_are_apart_and_many_phases_do_not_overlap() -> None:
    names = "abcde"
    phases = tuple(map(Phase, names))
    edges = tuple(Edge(a + b, a, b, lambda t: t) for a in names for b in names)
    (axes,) = draw_phases(Automaton(phases, edges)).axes
    arrows = [one for one in axes.patches if isinstance(one, FancyArrowPatch)]
    middles = {tuple(one.get_path().vertices[1].round(3)) for one in arrows}
    assert len(middles) == len(edges)
    boxes = [one.get_bbox() for one in axes.patches if isinstance(one, FancyBboxPatch)]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_what_has_no_phases_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'rover' has no automaton"):
        draw_phases(library.rover())


def test_tables_and_cards_have_phases_and_edges() -> None:
    model = library.kneed_walker()
    data = info_sheet(model).data()
    assert [row["name"] for row in data["elements"]] == ["stance", "foot"]
    assert data["automaton"]["initial"] == "swing" and data["automaton"]["phases"][1]["locked"][1] == "right_knee"
    assert "plastic impact in straight" in data["automaton"]["edges"][1]["jump"]
    text = text_of(info_sheet(model))
    assert re.search(r"swing +initial +stance +left_knee\n", text)
    assert re.search(r"heel +straight +swing +foot.z +q.right_hip - q.left_hip +exchange left_hip,", text)
    card = model._repr_html_()
    assert "the phases of kneed_walker" in card and "q.right_knee" in card
    assert system_sheet(library.rover()).data()["automaton"] is None
