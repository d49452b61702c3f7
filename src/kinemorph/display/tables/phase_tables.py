"""What a hybrid automaton has to show: its phases and edges."""

from __future__ import annotations

from typing import Any

from kinemorph.display.charts.draw_phases import jump_text, quantity_text
from kinemorph.model.elements.phases.automaton import Automaton
from kinemorph.sheet import Part, Table, hidden, shown

PHASES = (
    *shown("phase"),
    *shown("where runs begin", form={True: "initial", False: ""}),
    *shown("active elements", "locked joints"),
)
EDGES = shown("edge", "from phase", "to phase", "where it falls through 0", "if above 0", "then")


def automaton_summary(automaton: Automaton) -> dict[str, Any]:
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


def phase_parts(automaton: Automaton | None) -> list[Part]:
    """The phases and edges of an automaton, in the language of `canvas.in_language`; only data without an automaton."""
    if automaton is None:
        return [hidden(automaton=None)]
    data = automaton_summary(automaton)
    phases = [(one["name"], one["name"] == data["initial"], one["elements"], one["locked"]) for one in data["phases"]]
    edges = [[one[key] for key in ("name", "source", "target", "guard", "when", "jump")] for one in data["edges"]]
    return [
        Table("", PHASES, phases, "Phases"),
        Table("", EDGES, edges, "Edges"),
        hidden(automaton=data),
    ]
