"""The phases and edges of a hybrid automaton as data and as tables."""

from __future__ import annotations

from typing import Any

from kinemorph.display.charts.draw_phases import jump_text, quantity_text
from kinemorph.display.faces.grid import Data, Parts, grid_of
from kinemorph.model.elements.phases.automaton import Automaton


def automaton_summary(automaton: Automaton) -> Data:
    """An automaton as data: its phases, its edges, and the phase in which runs begin."""
    return {
        "initial": automaton.phases[automaton.first].name,
        "phases": [
            {"name": phase.name, "elements": list(phase.elements), "locked": list(phase.locked)}
            for phase in automaton.phases
        ],
        "edges": [
            {
                "name": edge.name,
                "source": edge.source,
                "target": edge.target,
                "guard": quantity_text(edge.guard),
                "when": None if edge.when is None else quantity_text(edge.when),
                "jump": jump_text(edge),
            }
            for edge in automaton.edges
        ],
    }


def phase_tables(data: Data | None) -> Parts:
    """The tables of phases and edges, from the data of `automaton_summary`; none without an automaton."""
    if data is None:
        return []
    phases: dict[str, Any] = {
        "phase": lambda row: f"{row['name']}, initial" if row["name"] == data["initial"] else row["name"],
        "elements": lambda row: ", ".join(row["elements"]),
        "locked": lambda row: ", ".join(row["locked"]),
    }
    edges: dict[str, Any] = {
        "edge": "{name}",
        "from": "{source}",
        "to": "{target}",
        "where it falls through 0": "{guard}",
        "if above 0": lambda row: row["when"] or "",
        "then": "{jump}",
    }
    return [
        grid_of("phases", data["phases"], phases),
        *([grid_of("edges", data["edges"], edges)] if data["edges"] else []),
    ]
