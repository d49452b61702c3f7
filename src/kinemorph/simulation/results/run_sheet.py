"""What a run has to show: how it ended, its steps and times, energies, events, and its last state or chosen columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.sheet import Curves, Facts, Field, Note, Part, Pose, Said, Sheet, Table, Verdict, fields, hidden, said
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.outcome import ENDINGS, Outcome
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import listed

STILL = 1e-14  # kinetic energies below this fraction of the potential energy are rounding
FEW = 16  # coordinates whose last values are listed
MOST_EVENTS = 12  # that a terminal lists
MOST_NAMES = 6  # of events that are counted
CURVES, MARKED = 5, 60  # small curves, and events that are marked in them

SPAN = (Field("start", "begins", "s"), Field("end", "ends", "s"), Field("samples", "samples"))
METHOD = Field("method", "method", form="name")
STEPS = (Field("steps", "steps"), Field("rejected", "rejected steps"))
TIMES = (
    Field("seconds", "time to run", "s", 3),
    Field("compile_seconds", "time to derive and compile", "s", 3),
    Field("preparation_seconds", "time to prepare", "s", 3),
    Field("check_seconds", "time to check", "s", 3),
)
DRIFT = Field("", "energy drift", "J", ".2e")
KINETIC = Field("", "largest kinetic energy", "J", 3)
LOOPS = Field("loop_error", "largest loop error", "m or rad", ".2e")
SYSTEMS = (
    Field("name", "system", form="name"),
    *(Field("start", "begins", "s"), Field("end", "ends", "s")),
    *(Field("dof", "degrees of freedom"), Field("states", "")),
)
EVENTS = (
    Field("", "t", "s", 9),
    *(Field("", "event", form="name"), Field("", "kind", form="name"), Field("", "what happened", form="name")),
)
ENERGIES = (
    Field("", "energy", form="name"),
    *(Field("", head, "J") for head in ("at the start", "at the end", "change")),
)
COLUMNS = (
    Field("name", "column", form="name"),
    Field("unit", "unit", form="unit"),
    *(Field(key, key) for key in ("first", "last")),
    *(Field("smallest", "smallest"), Field("smallest_at", "smallest at", "s")),
    *(Field("largest", "largest"), Field("largest_at", "largest at", "s")),
)
ORDER = ("kinetic", "potential", "kinetic + potential", "supplied", "dissipated")  # of energies
DRIFTS = "The energy drift is the largest change of kinetic + potential - supplied + dissipated energy between events."


def run_sheet(run: Trajectory, columns: Sequence[str] | None = None) -> Sheet:
    """What a run has to show; with the names of `columns`, these in place of the last state.

    Energies that the run does not store are computed by compiled code, which is compiled if it never was.
    """
    done, t, energy = run.statistics, run.t, energy_figures(run)
    span = (t[0], t[-1], len(t)) if len(t) else (None, None, 0)
    times = [getattr(done, one.key) for one in TIMES]
    seen = [one if done.seconds else one._replace(head="") for one in TIMES]  # some files do not store them
    facts = Facts(
        [
            *zip(SPAN, span, strict=True),
            (METHOD, done.method),
            _accuracy(run),
            *zip(STEPS, (done.accepted, done.rejected), strict=True),
            *zip(seen, times, strict=True),
            *([(DRIFT, energy["drift"]), (KINETIC, energy["largest_kinetic"])] if energy else []),
            (LOOPS, _largest(run, "loop_error")),
        ]
    )
    outcome = {"kind": run.outcome.kind, "t": run.outcome.t, "message": run.outcome.message, "ok": run.outcome.ok}
    last = _last_state(run) if columns is None else columns_table(run, columns)
    parts: list[Part] = [Verdict(run.outcome.ok, _ended(run.outcome)), facts, *_events(run.events), _systems(run)]
    parts += [_curves(run, last), _energies(run, energy), *_pose(run)]
    data = {"outcome": outcome, "settings": run.settings, "energy": energy, "final": _final(run)}
    return Sheet("Run of", run.name, [*parts, hidden(**data)])


def _ended(outcome: Outcome) -> Said:
    at = f"{outcome.t:.5g}" if math.isfinite(outcome.t) else outcome.t
    how = Said(ENDINGS[outcome.kind], {})
    if not outcome.message:
        return said("{ended} at t = {t} s", ended=how, t=at)
    return said("{ended} at t = {t} s: {message}", ended=how, t=at, message=outcome.message)


def _accuracy(run: Trajectory) -> tuple[Field, Any]:
    """The size of the steps of a run, or the tolerance by which they were chosen."""
    step = run.settings.get("step")
    name, value, unit = ("step", step, "s") if step else ("rtol", run.settings.get("rtol"), "")
    return Field("", name, unit, 6), value or None


# ── events and systems ────────────────────────────────────────────────────────────────────────────────────────────────


def _events(events: Sequence[Event]) -> list[Part]:
    """The events as a table, with a count of those of each name where there are many; and as data."""
    rows = [(event.t, event.name, event.kind, event.told) for event in events]
    width = 4 if any(event.told for event in events) else 3
    note = said("In all: {events}.", events=_counts(events)) if len(events) > MOST_EVENTS else ""
    table = Table("", EVENTS[:width], [row[:width] for row in rows], "Events", note, most=MOST_EVENTS)
    return [table, hidden(events=[_event(event) for event in events])]


def _counts(events: Sequence[Event]) -> str:
    """How often events of each name occurred, with their first and last time."""
    times: dict[str, list[float]] = {}
    for event in events:
        times.setdefault(event.label, []).append(event.t)
    told = [
        f"{name} {len(at):,} times, {at[0]:.4g} to {at[-1]:.4g} s" if len(at) > 1 else f"{name} at {at[0]:.4g} s"
        for name, at in times.items()
    ]
    return listed(told, MOST_NAMES)


def _event(event: Event) -> dict[str, Any]:
    """An event as data; with its note and numbers if it has any."""
    data: dict[str, Any] = {"t": event.t, "name": event.name, "kind": event.kind}
    data |= {"note": event.note} if event.note else {}
    numbers = [number._asdict() for number in event.numbers]
    return data | ({"numbers": numbers, "told": event.told} if numbers else {})


def _systems(run: Trajectory) -> Part:
    """The stretches of a run, in each of which the system stays the same; a run of one system has it as data only."""
    rows = []
    for part in run.stretches:
        plant, t = part.segments[0].plant, part.t
        ends = (t[0], t[-1]) if len(t) else (None, None)
        rows.append((plant.name, *ends, plant.nv, plant.nx))
    title = said("{n} systems in turn", n=len(rows))
    table = Table("systems", SYSTEMS, rows, title, most=MOST_EVENTS)
    return table if len(rows) > 1 else hidden(systems=table.data()["systems"])


# ── energies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def energy_figures(run: Trajectory) -> dict[str, float | None] | None:
    """The energy drift of a run [J], the largest kinetic energy [J], and their ratio; None without energies.

    Energy that an impact or a docking dissipates is no drift: the balance is compared between such events only. The
    ratio is None where the kinetic energy is only rounding of the potential energy, as for a mechanism at rest.
    """
    drift, kinetic = _drift(run), _largest(run, "energy.kinetic")
    if drift is None or kinetic is None:
        return None
    rounding = STILL * (_largest(run, "energy.potential") or 0.0)
    return {"drift": drift, "largest_kinetic": kinetic, "relative": drift / kinetic if kinetic > rounding else None}


def _drift(run: Trajectory) -> float | None:
    """The largest change of the energy balance within a segment of a run [J]; None where the run has no balance."""
    if "energy.balance" not in run.columns:
        return None
    rows = np.cumsum([len(segment.t) for segment in run.segments])[:-1]
    known = [part[np.isfinite(part)] for part in np.split(run["energy.balance"], rows)]
    return max((float(np.abs(part - part[0]).max()) for part in known if len(part)), default=None)


def _largest(run: Trajectory, name: str) -> float | None:
    """The largest finite magnitude of a column; None where the run has no such column or no finite value."""
    values = np.abs(run[name]) if name in run.columns else np.zeros(0)
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else None


def _energies(run: Trajectory, figures: dict[str, float | None] | None) -> Table:
    """Energies at the start and the end of a run; those supplied and dissipated where they are not always zero."""
    known = {name: run[f"energy.{name}"] for name in ORDER if len(run) and f"energy.{name}" in run.columns}
    known |= {"kinetic + potential": known["kinetic"] + known["potential"]} if known else {}
    with np.errstate(all="ignore"):  # of a run that diverged
        rows = [
            (name, known[name][0], known[name][-1], known[name][-1] - known[name][0])
            for name in ORDER
            if name in known and (name in ORDER[:3] or np.nan_to_num(known[name]).any())
        ]
    return Table("", ENERGIES, rows, "Energies", DRIFTS if figures else "")


# ── coordinates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _curves(run: Trajectory, instead: Table | Note) -> Curves:
    """Curves of a few coordinates, or of element states without coordinates; those of the whole run come first."""
    names = [name for name in run.columns if name.startswith("q.")]
    head = "coordinate" if names else "state"
    names = names or [one.name for part in run.stretches for one in part.segments[0].plant.x if one.name in run.columns]
    count = Counter(name for part in run.stretches for name in part.columns)
    chosen = sorted(dict.fromkeys(names), key=lambda name: -count[name])[:CURVES]
    lines = [(Field(name, said("{name}", name=name), run.columns[name].unit, 3), run[name]) for name in chosen]
    return Curves(head, run.t, lines, instead, [event.t for event in run.events[:MARKED]])


def _final(run: Trajectory) -> dict[str, list[dict[str, Any]]]:
    """The last state of a run as data, by group."""
    last = next((one for one in reversed(run.segments) if len(one.t)), None)
    return {
        group: [
            {"name": column.name, "unit": column.unit, "value": value}
            for column, value in zip(getattr(last.plant, group), getattr(last, group)[-1], strict=True)
        ]
        if last is not None
        else []
        for group in ("q", "v", "x")
    }


def _last_state(run: Trajectory) -> Table | Note:
    """The last state as a table; with many coordinates, a sentence about where it is."""
    final = _final(run)
    if max(map(len, final.values())) > FEW:
        return Note(
            said("The last state has {n} coordinates: .q[-1] and --json have it, --save keeps it.", n=len(final["q"])),
            "note",
        )
    rows = [
        (row["name"] if group == "x" else f"{group}.{row['name']}", row["value"], row["unit"])
        for group, part in final.items()
        for row in part
    ]
    name, value, unit = fields("name value unit", name="")
    return Table("", (name._replace(key=""), value, unit), rows, "Last state")


def columns_table(run: Trajectory, names: Sequence[str]) -> Table:
    """Columns by their names: the first, last, smallest and largest value, and the times of the last two.

    In a run whose system changes, only samples with the column count.
    """
    known, rows = {**run.on_request, **run.columns}, []
    for name in names:
        having = np.concatenate([np.full(len(part), name in part) for part in run.stretches])
        t, values = run.t[having], run[name][having]
        if len(values):
            rows.append((name, known[name].unit, values[0], values[-1], *_extremes(t, values)))
    return Table("columns", COLUMNS, rows, "Columns")


def _extremes(t: Array, values: Array) -> tuple[float | None, ...]:
    """The smallest value, its time, the largest value, its time; None where no value is finite."""
    if not np.isfinite(values).any():
        return (None,) * 4
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    return float(values[low]), float(t[low]), float(values[high]), float(t[high])


def _pose(run: Trajectory) -> list[Part]:
    """Some poses of the robot; a run of equations has none."""
    has_robot = any(one.plant.robot is not None or one.stored is not None for one in run.segments)
    caption = said("poses of {name} from start to end", name=run.name)
    return [Pose(run, None, caption)] if has_robot and len(run) else []
