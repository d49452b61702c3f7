"""The notebook card of a run: outcome, steps and time, first and last energies, small curves of its first coordinates.

Nothing is compiled for it. Energies come from the run where it has them; else they are computed without compiled code
at the first and last sample.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from kinemorph.display.charts.runs import ENDINGS
from kinemorph.display.faces.thumbnails import run_picture
from kinemorph.display.html import card, duration, escaped, listed, mark, note, number, sparkline, table
from kinemorph.display.notebooks.model_cards import counted, pictured
from kinemorph.errors import KinemorphError
from kinemorph.mechanics.recursions import momentum
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.plants.initial_values import DISSIPATED, SUPPLIED
from kinemorph.plants.instant import Instant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.event import TOLD
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Trajectory

CURVES = 5  # number of coordinates with a small curve
MARKED = 60  # number of events that are marked in the curves
EVENTS = 6  # number of event names that are listed


def run_card(trajectory: Trajectory) -> str:
    """The card of a run: its picture, outcome, statistics, curves, energies and events."""
    if not len(trajectory):
        return card("Run of", trajectory.name, ["no samples"], [_outcome(trajectory)])
    picture, why = pictured(run_picture(trajectory), f"poses of {trajectory.name} from start to end")
    parts = [_outcome(trajectory), _curves(trajectory), _energies(trajectory), _events(trajectory), why]
    return card("Run of", trajectory.name, _figures(trajectory), parts, picture=picture)


def _figures(trajectory: Trajectory) -> list[str]:
    statistics, settings, t = trajectory.statistics, trajectory.settings, trajectory.t
    steps = counted(statistics.accepted, "step") + (
        f", {statistics.rejected:,} rejected" if statistics.rejected else ""
    )
    step = settings.get("step")
    sizes = [f"steps of {number(step)} s"] if isinstance(step, (int, float)) and step else []
    took = [f"{duration(statistics.seconds)} to run"] if statistics.seconds else []
    changes = [f"{len(trajectory.stretches)} systems in turn"] if len(trajectory.stretches) > 1 else []
    span = f"{number(float(t[0]))} to {number(float(t[-1]))} s"
    return [span, counted(len(trajectory), "sample"), statistics.method, *sizes, steps, *took, *changes]


def _outcome(trajectory: Trajectory) -> str:
    """The HTML line about the outcome of a run; the message of a failed run is red."""
    outcome = trajectory.outcome
    word = f"{ENDINGS.get(outcome.kind, outcome.kind)} at t = {number(outcome.t)} s"
    if not outcome.ok:
        return note(f"{word}: {outcome.message}" if outcome.message else word, "bad")
    return f"<div>{mark(word, 'good')} {escaped(outcome.message, 300)}</div>"


# ── curves ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _curves(trajectory: Trajectory) -> str:
    """The HTML table with small curves of a few coordinates, or of element states where there are no coordinates.

    Coordinates that exist during the whole run come first.
    """
    group = "q" if any(segment.plant.q for segment in trajectory.segments) else "x"
    parts = [getattr(part.segments[0].plant, group) for part in trajectory.stretches]
    count = Counter(column for columns in parts for column in columns)
    chosen = sorted(count, key=lambda column: -count[column])[:CURVES]
    times = [event.t for event in trajectory.events[:MARKED]]
    rows = []
    for column in chosen:
        t, values = trajectory.t, _values(trajectory, group, column)
        known = values[np.isfinite(values)]
        if not len(known):
            continue
        low, high, last = number(float(known.min()), 3), number(float(known.max()), 3), number(float(known[-1]), 3)
        unit = f" [{column.unit}]" if column.unit else ""
        rows.append([escaped(f"{column.name}{unit}", 32), sparkline(t, values, times), f"{low} to {high}", last])
    return table("", ("coordinate" if group == "q" else "state", "over time", "range", "at the end"), rows)


def _values(trajectory: Trajectory, group: str, column: Column) -> np.ndarray:
    """The samples of a coordinate or state, shape (n,); NaN in segments that do not have it."""
    parts = []
    for segment in trajectory.segments:
        columns = getattr(segment.plant, group)
        missing = np.full(len(segment.t), np.nan)
        parts.append(getattr(segment, group)[:, columns.index(column)] if column in columns else missing)
    return np.concatenate(parts)


# ── energies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _energies(trajectory: Trajectory) -> str:
    """The HTML table of energies [J] at the first and the last sample."""
    segments = [segment for segment in trajectory.segments if len(segment.t)]
    ends = [_energy(segments[0], 0), _energy(segments[-1], -1)]
    names = [name for name in ends[0] if name in ends[1]]
    rows = [
        [escaped(name), *(number(end[name]) for end in ends), _change(ends[0][name], ends[1][name])] for name in names
    ]
    return table("energies [J]", ("", "at the start", "at the end", "change"), rows)


def _change(first: float, last: float) -> str:
    change = last - first
    return number(change, 3) if math.isfinite(change) else "\N{EN DASH}"


def _energy(segment: Segment, place: int) -> dict[str, float]:
    """Energies [J] by name at the sample with index `place`; empty where they are not known."""
    found = _mechanical(segment, place)
    if found is None or not all(map(math.isfinite, found)):
        return {}
    kinetic, potential = found
    energies = {"kinetic": kinetic, "potential": potential, "kinetic + potential": kinetic + potential}
    names = [column.name for column in segment.plant.x]
    for name, says in ((SUPPLIED, "supplied"), (DISSIPATED, "dissipated")):
        if name in names and np.any(segment.x[:, names.index(name)]):
            energies[says] = float(segment.x[place, names.index(name)])
    return energies


def _mechanical(segment: Segment, place: int) -> tuple[float, float] | None:
    """(kinetic, potential) energy [J] at the sample with index `place`; None where it is not known.

    It is the stored value, or else computed without compiled code.
    """
    known = vars(segment).get("energy")
    if known is None and segment.stored is not None:
        known = segment.stored.get("energy")
    if known is not None and len(known):
        return float(known[place, 0]), float(known[place, 1])
    plant = segment.plant
    if plant.dynamics is None:
        return None
    q, v, x, m, u = (getattr(segment, group)[place].tolist() for group in ("q", "v", "x", "m", "u"))
    p = segment.p.tolist()
    given = {parameter.name: value for parameter, value in zip(plant.dynamics.parameters, p, strict=False)}

    def computed() -> tuple[float, float]:
        assert plant.dynamics is not None
        tree = resolve(plant.dynamics.robot, given).at_time(float(segment.t[place]))
        moving = tree.all_joints(q, v)
        held = 0.0
        if segment.stored is None and plant.laws.stored is not None:  # a file has no laws
            held = float(plant.laws.stored(Instant(float(segment.t[place]), q, v, x, m, u, p).local)[0])
        return (
            float(momentum.kinetic_energy(tree, moving.q, moving.v)),
            float(momentum.potential_energy(tree, moving.q)) + held,
        )

    return _or_none(computed)


def _or_none(compute: Callable[[], tuple[float, float]]) -> tuple[float, float] | None:
    """The result of `compute`; None where it fails, as user laws may with plain numbers."""
    try:
        return compute()
    except (KinemorphError, ArithmeticError, TypeError, ValueError):
        return None


# ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _events(trajectory: Trajectory) -> str:
    """The HTML line of events by name: how often each occurred, and its first and last time."""
    counts = Counter(event.label for event in trajectory.events)
    told: list[str] = []
    for name, count in counts.items():
        mine = [event for event in trajectory.events if event.label == name] if len(told) < EVENTS else []
        times = [event.t for event in mine]
        at = f"at {number(times[0])} s" if len(times) == 1 else ""
        if len(times) > 1:
            at = f"{count:,} times, {number(times[0])} to {number(times[-1])} s"
        numbers = ", ".join(map(str, mine[0].numbers[:TOLD])) if len(mine) == 1 else ""
        more = f" ({numbers})" if numbers else ""
        told.append(f"{name} {at}{more}".strip())
    return listed("events", told, most=EVENTS)
