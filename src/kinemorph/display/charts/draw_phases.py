"""The graph of a hybrid automaton: phases as boxes, edges as arrows with the guards at which they are taken.

Two phases are side by side, more of them on a circle. The phase in which runs begin is dark.
"""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import wrap
from typing import Any

from kinemorph.display.canvas import INK, PALE, PALETTE, RGB, Figure, blank, legible, said, save
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements.contact.impact_laws import Plastic
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase, Quantity
from kinemorph.model.parameter import Parameter, Value, evaluate
from kinemorph.model.system import System
from kinemorph.words import counted

Point = tuple[float, float]
WIDTH, HEIGHT = 1.5, 0.62  # of a box [inch]
APART = 3.4  # distance of two phases that are side by side [inch]
SIDE = 1.55  # room for labels beside, above and below the boxes [inch]
BEND, STEP = 0.22, 0.16  # of the first arrow between two phases, and how much more each further one is bent
LETTERS, LINES = 34, 3  # of a line of a label, and lines of each of its parts
DARK, LIGHT = (0.22, 0.26, 0.31), (0.90, 0.92, 0.94)


def draw_phases(model: System | Automaton, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """A figure of the phases and edges of a system, or of its automaton; `path` is a .png, .svg or .pdf file to write.

    Below the name of a phase are the elements that act only in some phases, and locked joints. At an edge are its name,
    its guard, which falls through zero there, its condition in brackets, and what happens to the state.
    """
    automaton = model.automaton if isinstance(model, System) else model
    if not isinstance(automaton, Automaton):
        name = f"'{model.name}'" if isinstance(model, System) else f"{model!r:.40}"
        raise UnsupportedError(f"{name} has no automaton to draw. Give a System with phases: System(automaton=...).")
    places = _places(automaton)
    xs, ys = zip(*places.values(), strict=True)
    left, right, low, high = min(xs) - SIDE, max(xs) + SIDE, min(ys) - SIDE, max(ys) + SIDE
    figure = blank(right - left, high - low)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    drawn: dict[Any, int] = {}  # how many arrows between two phases there are
    for number, edge in enumerate(automaton.edges):
        pair = (edge.source, edge.target)
        count = drawn[pair] = drawn.get(pair, -1) + 1
        color = PALETTE[number % len(PALETTE)]
        if edge.source == edge.target:
            _add_loop(axes, edge, places, count, color)
        else:
            _add_arrow(axes, edge, places, count, color)
    for number, phase in enumerate(automaton.phases):
        _add_phase(axes, phase, places[phase.name], first=number == automaton.first)
    shown = model.name.replace("_", " ") if isinstance(model, System) else counted(len(automaton.phases), "phase")
    heading = shown if title is None else title
    axes.text(0.02, 0.985, heading, transform=axes.transAxes, va="top", color=INK, fontsize=10, fontweight="bold")
    if path is not None:
        save(figure, path)
    return figure


def _places(automaton: Automaton) -> dict[str, Point]:
    """The center (x, y) [inch] of the box of each phase."""
    names = [phase.name for phase in automaton.phases]
    if len(names) <= 2:
        return {name: (APART * k, 0.0) for k, name in enumerate(names)}
    radius = 0.5 * APART / math.sin(math.pi / len(names))
    turns = [0.5 * math.pi - 2.0 * math.pi * k / len(names) for k in range(len(names))]
    return {name: (radius * math.cos(turn), radius * math.sin(turn)) for name, turn in zip(names, turns, strict=True)}


def _add_phase(axes: Any, phase: Phase, place: Point, *, first: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    fill: RGB = DARK if first else LIGHT
    corner = (place[0] - 0.5 * WIDTH, place[1] - 0.5 * HEIGHT)
    shape = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, shape, facecolor=fill, edgecolor=PALE, zorder=2))
    below = [*phase.elements, *(f"{name} locked" for name in phase.locked)]
    up = 0.14 if below else 0.0
    color = legible(fill)
    axes.text(place[0], place[1] + up, phase.name, ha="center", va="center", color=color, fontsize=10, zorder=3)
    if below:
        words = "\n".join(wrap(", ".join(below), LETTERS - 4)[:LINES])
        axes.text(place[0], place[1] - 0.13, words, ha="center", va="center", color=color, fontsize=6.5, zorder=3)


def _add_arrow(axes: Any, edge: Edge, places: dict[str, Point], count: int, color: RGB) -> None:
    """Draws an edge between two phases as a bent arrow; arrows in both directions are on different sides."""
    from matplotlib.patches import FancyArrowPatch

    start, end = places[edge.source], places[edge.target]
    bend = BEND + STEP * count
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    ux, uy = dx / length, dy / length
    reach = min(0.5 * WIDTH / max(abs(ux), 1e-9), 0.5 * HEIGHT / max(abs(uy), 1e-9))
    a = (start[0] + reach * ux - 0.1 * uy, start[1] + reach * uy + 0.1 * ux)
    b = (end[0] - reach * ux - 0.1 * uy, end[1] - reach * uy + 0.1 * ux)
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "color": color, "linewidth": 1.6}
    axes.add_patch(FancyArrowPatch(a, b, connectionstyle=f"arc3,rad={-bend}", shrinkA=0, shrinkB=0, zorder=1, **look))
    gap = math.hypot(b[0] - a[0], b[1] - a[1])
    out = 0.5 * bend * gap + 0.1
    spot = (0.5 * (a[0] + b[0]) - out * uy, 0.5 * (a[1] + b[1]) + out * ux)
    beside = {"ha": "center" if abs(ux) > 0.5 else "right" if uy > 0.0 else "left"}
    above = {"va": "bottom" if ux > 0.5 else "top" if ux < -0.5 else "center"}
    axes.text(*spot, _label(edge), color=color, fontsize=7, linespacing=1.25, **beside, **above)


def _add_loop(axes: Any, edge: Edge, places: dict[str, Point], count: int, color: RGB) -> None:
    """Draws an edge from a phase to itself as an arc above its box, the next one below it, and so on."""
    from matplotlib.patches import FancyArrowPatch

    x, y = places[edge.source]
    way = 1.0 if (count % 2 == 0) == (y >= 0.0) else -1.0
    half, bow = 0.22 + 0.12 * (count // 2), 0.9 + 0.5 * (count // 2)
    a, b = (x - half, y + way * 0.5 * HEIGHT), (x + half, y + way * 0.5 * HEIGHT)
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "color": color, "linewidth": 1.6}
    arc = f"arc3,rad={-way * 2.0 * bow}"
    axes.add_patch(FancyArrowPatch(a, b, connectionstyle=arc, shrinkA=0, shrinkB=0, zorder=1, **look))
    spot = (x, y + way * (0.5 * HEIGHT + 2.0 * bow * half + 0.06))
    axes.text(
        *spot, _label(edge), color=color, fontsize=7, linespacing=1.25, ha="center", va="bottom" if way > 0 else "top"
    )


def _label(edge: Edge) -> str:
    """The lines beside an arrow: name, guard and condition, jump."""
    lines = [edge.name, f"{quantity_text(edge.guard)} = 0"]
    lines += [f"[{quantity_text(edge.when)} > 0]"] if edge.when is not None else []
    return "\n".join(line for text in [*lines, jump_text(edge)] for line in wrap(text, LETTERS)[:LINES])


def quantity_text(quantity: Quantity) -> str:
    """The text of a guard or a condition."""
    return quantity if isinstance(quantity, str) else said("a function")


def jump_text(edge: Edge) -> str:
    """What happens at an edge, in words: `exchange left, right; plastic impact`."""
    relabel = [said("exchange {names}", names=", ".join(name for name, _ in edge.relabel))] if edge.relabel else []
    if callable(edge.reset):
        new = [said("reset by a function")]
    else:
        new = [f"{name} = {text}" for name, text in edge.reset]
    return "; ".join([*relabel, *new, *_impact_text(edge), *([said("stop")] if edge.stop else [])])


def _impact_text(edge: Edge) -> list[str]:
    """The impact of an edge in words, as `newton impact, e = 0.5, mu = 0.6, in touch`; empty where there is none."""
    if edge.impact == "none":
        return []
    law = edge.law
    if law is None:
        return [said("plastic impact in {phase}", phase=edge.during) if edge.during else said("plastic impact")]
    told = "{law} impact in sequence" if law.in_sequence else "{law} impact"
    parts = [said(told, law=type(law).__name__.lower())]
    parts += [f"e = {_number(law.restitution)}"] if not isinstance(law, Plastic) else []
    parts += [f"mu = {_number(edge.friction.coefficient)}"] if edge.friction is not None else []
    return [", ".join([*parts, *([said("in {phase}", phase=edge.during)] if edge.during else [])])]


def _number(value: Value) -> str:
    return value.name if isinstance(value, Parameter) else f"{evaluate(value):g}"
