"""The elements that act on the robot or measure it: their data, and what drives what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from kinemorph.codegen.storing.recipes import written
from kinemorph.display.canvas import in_language, raised
from kinemorph.display.faces.document import Block, Figure, Grid, Heading, Paragraph, Section, Table
from kinemorph.display.faces.grid import Data
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.element_tables import element_rows, is_list_of_names, spelled
from kinemorph.display.tables.phase_tables import automaton_summary
from kinemorph.model.elements import kind_of
from kinemorph.model.elements.fields import defaults_of, is_part, part_fields
from kinemorph.model.parameter import Formula, Parameter, evaluate
from kinemorph.model.units import KINDS

FEW = 6  # names that are listed in a cell


def chapter(subject: Subject, words: Words) -> Section | None:
    """The elements, their data, their signals and the phases of an automaton; None without elements."""
    system = subject.model
    if not system.elements and system.automaton is None:
        return None
    rows = element_rows(system)
    groups = _groups(system.elements)
    data = {row["name"]: row for row in rows}
    blocks: list[Block] = []
    if system.elements:
        alike = words("Elements of one kind with the same data share a row.")
        blocks += [
            Paragraph(words("What acts on the robot or measures it, with all data that differ from the defaults.")),
            Table(_acting(groups, data, words)),
            Paragraph(alike, "note"),
            *_data_tables(groups, words),
        ]
    blocks += _wiring(rows, words)
    if system.automaton is not None:
        blocks += _phases(subject, words)
    return Section("elements", words("Elements and wiring"), blocks)


Group = tuple[str, Sequence[Any]]  # the kind of elements, and elements of this kind with the same data


def _groups(elements: Sequence[Any]) -> list[Group]:
    """The elements by kind and data: those that differ only by names of parts are one group."""
    found: dict[tuple[str, str], list[Any]] = {}
    for element in elements:
        kind = kind_of(type(element).__name__)
        data = [value for _, value, _ in _values(element)]
        found.setdefault((kind, written(data) or repr(data)), []).append(element)
    return [(kind, group) for (kind, _), group in found.items()]


def _values(part: Any, front: str = "") -> list[tuple[str, Any, str]]:
    """(name of a field, its value, its unit) of all data of an element that are neither names nor defaults.

    Fields of a part of the element, such as the law of a contact, follow with its name and a dot before theirs.
    """
    defaults, found = defaults_of(part), []
    for row in part_fields(type(part)):
        value = getattr(part, row.name)
        if row.form in ("text", "pose") or value is None or value == defaults[row.name] or is_list_of_names(value):
            continue
        unit = KINDS[row.kind][0] if isinstance(row.kind, str) and row.kind not in ("", "number") else ""
        if is_part(type(value)) and not isinstance(value, (Parameter, Formula)):
            found += [(front + row.name, type(value).__name__, ""), *_values(value, f"{front}{row.name}.")]
        else:
            found.append((front + row.name, value, unit))
    return found


def _names(group: Sequence[Any], words: Words) -> str:
    return words.listed([element.name for element in group], FEW)


def _acting(groups: Sequence[Group], rows: dict[str, Data], words: Words) -> Grid:
    """The table of elements: their kinds and on what they act."""
    cells = []
    for kind, group in groups:
        acts = dict.fromkeys(
            name for one in group for key in ("acts_on", "drives") for name in rows.get(one.name, {}).get(key, ())
        )
        cells.append([_names(group, words), words(kind), words.listed(acts, FEW) if acts else ""])
    return words.grid(Grid("Elements", ("element", "kind", "acts on"), cells, heads=1))


def _data_tables(groups: Sequence[Group], words: Words) -> list[Block]:
    """The table of all numbers of elements; names of fields are those of the model file."""
    rows = []
    for _, group in groups:
        told = _names(group, words)
        for name, value, unit in _values(group[0]):
            rows.append([told, name, _spelled(value, words), raised(unit)])
            told = ""
    if not rows:
        return []
    columns = ("element", "quantity", "value", "unit")
    grid = words.grid(Grid("Data of the elements", columns, rows, heads=1), numbers=())
    return [Table(grid, code=(words("quantity"),))]


def _spelled(value: Any, words: Words) -> str:
    """A value of a field as text: numbers with the signs of the language, long lists counted."""
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, Parameter):
        return f"{value.name} = {words.number(evaluate(value), 6)}"
    if isinstance(value, (int, float, Formula)):
        return words.number(evaluate(value), 6)
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) == 1:
        return _spelled(value[0], words)
    if isinstance(value, tuple):
        if len(value) > FEW:
            return words("{n} values", n=len(value))
        return f"({words('; ').join(_spelled(one, words) for one in value)})"
    if callable(value):
        return words("a function")
    return words("{n} values", n=len(fields(value))) if is_part(type(value)) else spelled(value)


# ── wiring ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _wiring(rows: Sequence[Data], words: Words) -> list[Block]:
    """The table of what drives what, and of the states and clocks of elements."""
    links: list[list[str]] = []
    wired = {(slot["from"], row["name"]) for row in rows for slot in row.get("inputs", ())}  # named with their signal
    alike: dict[tuple[str, ...], list[str]] = {}  # names of elements with the same signals
    for row in rows:
        if "clocks" not in row:
            continue
        links += [[slot["from"] or words("outside"), _unit(slot), row["name"]] for slot in row["inputs"]]
        links += [[words.listed(row["reads"], FEW), "", row["name"]]] if row["reads"] else []
        driven = [name for name in row["drives"] if (row["name"], name) not in wired]
        links += [[row["name"], "", words.listed(driven, FEW)]] if driven else []
        signals, states, memory = (words.listed(map(_unit, row[key]), FEW) for key in ("signals", "states", "memory"))
        empty = words("none")
        cells = ["" if cell == empty else cell for cell in (signals, states, memory)]
        clocks = ", ".join(_times(words, **clock) for clock in row["clocks"])
        if any((*cells, clocks)):
            alike.setdefault((*cells, clocks), []).append(row["name"])
    inner = [[words.listed(names, FEW), *cells] for cells, names in alike.items()]
    blocks: list[Block] = []
    if links:
        kept = [0, 1, 2] if any(link[1] for link in links) else [0, 2]
        rows_of = [[link[k] for k in kept] for link in dict.fromkeys(map(tuple, links))]
        heads = [("source", "signal", "target")[k] for k in kept]
        blocks.append(Table(words.grid(Grid("What drives what", heads, rows_of))))
    if inner:
        columns = ("element", "signals", "states", "memory", "samples")
        kept = [k for k in range(len(columns)) if not k or any(row[k] for row in inner)]
        cut = Grid("Signals and states of elements", [columns[k] for k in kept], [[r[k] for k in kept] for r in inner])
        blocks.append(Table(words.grid(cut)))
    return [Heading(words("Wiring")), *blocks] if blocks else []


def _unit(slot: Data) -> str:
    return f"{slot['name']} [{raised(slot['unit'])}]" if slot["unit"] else str(slot["name"])


def _times(words: Words, period: float | None, phase: float) -> str:
    """When a clock ticks: every 0.01 s from 0.5 s on."""
    if period is None:
        return words("at {t} s", t=float(phase)) if phase else words("at the start")
    every = words("every {t} s", t=float(period))
    return words("{every} from {t} s on", every=every, t=float(phase)) if phase else every


def _phases(subject: Subject, words: Words) -> list[Block]:
    """The phases and edges of the automaton, as a picture and as tables."""
    from kinemorph.display.charts.draw_phases import draw_phases

    assert subject.model.automaton is not None
    with in_language(words):
        data = automaton_summary(subject.model.automaton)
        picture = draw_phases(subject.model, title="")
    phases = [
        [
            row["name"] + (f", {words('initial')}" if row["name"] == data["initial"] else ""),
            ", ".join(row["elements"]),
            ", ".join(row["locked"]),
        ]
        for row in data["phases"]
    ]
    edges = [[row["name"], row["source"], row["target"], row["guard"], row["when"] or ""] for row in data["edges"]]
    heads = ("edge", "from phase", "to phase", "where it falls through 0", "if above 0")
    blocks: list[Block] = [
        Heading(words("Phases")),
        Figure(picture, words("Phases of the motion, and the edges between them."), 0.9),
        Table(words.grid(Grid("Phases", ("phase", "active elements", "locked joints"), phases, heads=1))),
    ]
    return [*blocks, Table(words.grid(Grid("Edges", heads, edges, heads=1)))] if edges else blocks
