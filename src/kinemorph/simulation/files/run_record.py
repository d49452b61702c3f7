"""A run as a record, which files hold: a description that fits JSON, and arrays by name.

The description has every name and unit, the manifold of the configuration, events, outcome, settings and step counts.
It has no laws and no time of day, so that nothing in a record can be executed and the same run gives the same record.
The arrays are

    t q v x m u             samples of all segments, one after the other
    a dx                    accelerations, rates of x
    tau y loop_error        as in `Trajectory`
    energy account          kinetic, potential; supplied, dissipated, balance

    kept                    what a run that continues this one goes on with, see `results.kept`

Where a run changes its system, the arrays of the second system are called "system2.q", and so on.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import Place, Plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.kept import Kept
from kinemorph.simulation.results.quantities import ENERGIES, is_quantity, quantities
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Event, Outcome, Quantity, Statistics, Trajectory

FORMAT, VERSION = "kinemorph trajectory", 1
BATCH_FORMAT = "kinemorph batch"  # see `batch_record`
GROUPS = ("q", "v", "x", "m", "u", "p")
SAMPLES = ("q", "v", "x", "m", "u")
FINITE = ("q", "v", "x")  # samples that are finite in every run, one that failed too
NO_MODEL = "a table holds no model"  # why the file of a run has none
LIVE = "live"  # the setting that holds the record of a live run, as JSON: its options and commands
SMALL, PACKED = 256 << 20, 100  # bytes that every file may take in memory, and how often its own size
COMPUTED = ("z", "tau", "y", "energy", "account", "loop_error")


class Record(NamedTuple):
    """A run as data: its description `meta`, which fits JSON, and its arrays by name."""

    meta: dict[str, Any]
    arrays: dict[str, Array]


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def record_of(run: Trajectory, columns: Collection[str] = ()) -> Record:
    """The description and the arrays of a run; `columns` are those on request that are stored, too."""
    by_system: dict[tuple[Plant, bytes], list[Segment]] = {}
    for segment in run.segments:
        by_system.setdefault((segment.plant, segment.p.tobytes()), []).append(segment)
    places = {key: k for k, key in enumerate(by_system)}
    order = [[places[segment.plant, segment.p.tobytes()], len(segment.t)] for segment in run.segments]
    systems, arrays = [], {}
    balance = _balance(run)
    for k, ((plant, _), mine) in enumerate(by_system.items()):
        groups = [group for group in COMPUTED if all(segment.has(group) for segment in mine)]
        held, named = filter(is_quantity, mine[0].stored or ()), quantities(plant.robot)
        groups += dict.fromkeys([*held, *(name for name in columns if name in named)])
        systems.append(described(plant, mine[0].p, groups))
        found = {name: np.concatenate([one.array(name) for one in mine]) for name in ("t", *SAMPLES, *groups)}
        z = found.pop("z")
        found["a"], found["dx"] = z[:, : plant.nv], z[:, plant.nv :]
        if "account" in found:
            kept = np.repeat([system == k for system, _ in order], [rows for _, rows in order])
            found["account"] = np.column_stack([found["account"], balance[kept]])
        arrays.update({array_key(k, name): array for name, array in found.items()})
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "systems": systems,
        "segments": order,
        "outcome": {"kind": run.outcome.kind, "t": run.outcome.t, "message": run.outcome.message},
        "statistics": {name: getattr(run.statistics, name) for name in ("method", "accepted", "rejected", "calls")},
        "settings": {name: plain_setting(value) for name, value in run.settings.items()},
        "events": [event_data(event) for event in run.events],
    }
    if run.kept is not None and run.kept.plain:
        shapes = {name: array.shape for name, array in run.kept.arrays.items()}
        meta["kept"] = {"key": run.kept.key, "end": run.kept.end, "guards": run.kept.guards, "shapes": shapes}
        arrays["kept"] = np.concatenate([array.ravel() for array in run.kept.arrays.values()])
    return Record(meta, arrays)


def _balance(run: Trajectory) -> Array:
    try:
        return run.energy.balance
    except UnsupportedError:
        return np.full(len(run), np.nan)


def described(plant: Plant, p: Array, groups: Sequence[str]) -> dict[str, Any]:
    """A system as data: its names, units, parameters and manifold, and the computed arrays (`groups`) of its run."""
    columns = {group: [[c.name, c.unit] for c in getattr(plant, group)] for group in GROUPS}
    return {
        "name": plant.name,
        **columns,
        "outputs": [[name, plant.output_units.get(name, "")] for name in plant.outputs],
        "parameters": p.tolist(),
        "manifold": [list(place) for place in plant.manifold],
        "locked": list(plant.locked),
        "loops": [type(plant.loops).__name__, vars(plant.loops)],
        "groups": list(groups),
    }


def plain_setting(value: Any) -> Any:
    """A setting of a run as JSON can hold it."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def event_data(event: Event) -> dict[str, Any]:
    """An event as JSON can hold it; `read_event` makes the event again."""
    sides = {side: {g: a.tolist() for g, a in getattr(event, side).items()} for side in ("before", "after")}
    note = {"note": event.note} if event.note else {}
    numbers = {"numbers": [list(number) for number in event.numbers]} if event.numbers else {}
    return {"t": event.t, "name": event.name, "kind": event.kind, **sides, **note, **numbers}


def array_key(system: int, name: str) -> str:
    """The name in a record of an array of the system with this index: "q" for 0, "system2.q" for 1."""
    return name if system == 0 else f"system{system + 1}.{name}"


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def trajectory_of(record: Record, models: Sequence[Plant | None] = (), missing: str = NO_MODEL) -> Trajectory:
    """The run that a record describes; raises ValueError where the record is not valid.

    `models` are the plants of its systems. A system without one, or with None, gets a plant without equations;
    `missing` says why the file has no model.
    """
    meta = record.meta
    if isinstance(meta, dict) and meta.get("format") == BATCH_FORMAT:
        raise ValueError("the file holds a batch of runs, not a single run. Use BatchRun.load")
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ValueError("the file does not describe a run of kinemorph. Give a file that kinemorph saved")
    if meta["version"] > VERSION:
        raise ValueError(
            f"the version of its format is {meta['version']}; expected at most {VERSION}. Install a newer kinemorph"
        )
    check_segments(meta)
    plants = [named_plant(system, missing=missing) for system in meta["systems"]]
    whole = [_arrays(record, k, plant) for k, plant in enumerate(plants)]
    for k, model in enumerate(models):
        plants[k] = plants[k] if model is None else _with_outputs_of(model, plants[k])
    begun = [0] * len(plants)
    segments = []
    for k, rows in meta["segments"]:
        part = slice(begun[k], begun[k] + rows)
        begun[k] += rows
        held = {name: array[part] for name, array in whole[k].items()}
        p = np.array(meta["systems"][k]["parameters"], dtype=float)
        samples = {name: held.pop(name) for name in ("t", *SAMPLES)}
        absent = missing if plants[k].dynamics is None else ""
        segments.append(Segment(plants[k], **samples, p=p, stored=held, missing=absent))
    for k, arrays in enumerate(whole):
        if len(arrays["t"]) != begun[k] or not segments:
            raise ValueError(
                f"the file has {len(arrays['t'])} samples of system {k + 1}; its description says {begun[k]}. Save the "
                "run again"
            )
    check_times(np.concatenate([segment.t for segment in segments]))
    events = tuple(map(read_event, meta["events"]))
    outcome = Outcome(**meta["outcome"])
    return Trajectory(
        tuple(segments), events, outcome, Statistics(**meta["statistics"]), meta["settings"], _kept(record)
    )


def _with_outputs_of(model: Plant, saved: Plant) -> Plant:
    """The plant of a model with the outputs of a saved run in their order: the run may have had others beside them."""
    if tuple(model.outputs) == tuple(saved.outputs):
        return model
    outputs = {name: model.outputs.get(name, law) for name, law in saved.outputs.items()}
    return replace(model, outputs=outputs, output_units=saved.output_units)


def _kept(record: Record) -> Kept | None:
    """What a run has kept for one that continues it; None where the file does not have it."""
    if "kept" not in record.meta or "kept" not in record.arrays:
        return None
    known, flat = record.meta["kept"], record.arrays["kept"]
    ends = np.cumsum([math.prod(shape) for shape in known["shapes"].values()])
    parts = zip(known["shapes"].items(), np.split(flat, ends[:-1]), strict=True)
    found = {name: part.reshape(shape) for (name, shape), part in parts}
    return Kept(known["key"], True, known["end"], tuple(known["guards"]), found)


def check_size(size: int, path: Path) -> None:
    """Raises ValueError where the arrays of a file have a size [bytes] that only a forged or damaged file declares.

    Zeros shrink a thousandfold; a motion, with its times, by less than PACKED on the whole.
    """
    most = max(SMALL, PACKED * path.stat().st_size)
    if size > most:
        raise ValueError(
            f"its arrays are said to take {size} bytes; expected at most {most}, {PACKED} times the size of the file. "
            "Do not trust it, or save the run again without compression"
        )


def check_segments(meta: Mapping[str, Any]) -> None:
    """Raises ValueError where the segments of a description are not pairs of a system and a number of samples."""
    for pair in meta["segments"]:
        if not (len(pair) == 2 and all(type(n) is int and n >= 0 for n in pair) and pair[0] < len(meta["systems"])):
            raise ValueError(
                f"its description has the segment {pair!r:.60}; expected the number of one of its "
                f"{len(meta['systems'])} systems, from 0, and a number of samples. Save the run again"
            )


def check_times(t: Array) -> None:
    """Raises ValueError where times are not finite numbers that do not fall."""
    bad = np.flatnonzero(~np.isfinite(t) | np.append(False, np.diff(t) < 0.0)[: len(t)])
    if len(bad):
        k = int(bad[0])
        raise ValueError(
            f"its times t are wrong from sample {k + 1} on: t = {t[k]:g} s"
            + (f" after {t[k - 1]:g} s" if k else "")
            + "; expected finite numbers that do not fall. Save the run again"
        )


def check_states(plant: Plant, group: str, values: Array) -> None:
    """Raises ValueError where states (n, width) of a run are not finite numbers."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0].tolist()
        raise ValueError(
            f"{group}.{getattr(plant, group)[column].name} is {values[row, column]} in sample {row + 1}; expected "
            "finite numbers, which the states of a run are. Save the run again"
        )


def segment_starts(record: Record) -> list[float]:
    """The first time of each segment of a record [s]."""
    begun = [0] * len(record.meta["systems"])
    found = []
    for k, rows in record.meta["segments"]:
        found.append(float(record.arrays[array_key(k, "t")][begun[k]]))
        begun[k] += rows
    return found


def read_event(event: Mapping[str, Any]) -> Event:
    """The Event that an entry of a run's description holds, which leaves out a note and numbers that are empty."""
    before, after = ({g: np.array(values) for g, values in event[side].items()} for side in ("before", "after"))
    numbers = tuple(Quantity(str(name), float(value), str(unit)) for name, value, unit in event.get("numbers", ()))
    return Event(event["t"], event["name"], event["kind"], before, after, note=event.get("note", ""), numbers=numbers)


def named_plant(
    system: Mapping[str, Any], remedy: str = "load_trajectory(path, model=...)", missing: str = NO_MODEL
) -> Plant:
    """A plant with the names and units in a file; using its equations raises an error that asks for the model.

    `remedy` is the call that takes the model, `missing` says why the file has none.
    """
    name = system["name"]

    def refuse(*state: Any, **options: Any) -> Any:
        raise UnsupportedError(
            f"run '{name}' comes from a file, which holds samples and no equations of motion, because {missing}. Give "
            f"the model: {remedy}."
        )

    q, v, x, m, u, p = (tuple(Column(*pair) for pair in system[group]) for group in GROUPS)
    return Plant(
        name,
        *(q, v, x, m, u, p),
        start={group: (0.0,) * len(system[group]) for group in GROUPS},
        locked=tuple(system["locked"]),
        outputs={output: refuse for output, _ in system["outputs"]},
        output_units=dict(system["outputs"]),
        laws=Laws(refuse, refuse, refuse, refuse),
        manifold=tuple(Place(*place) for place in system["manifold"]),
    )


def is_flat(name: str) -> bool:
    """Whether an array of a record has the shape (n,), and not (n, width)."""
    return name in ("t", "loop_error") or is_quantity(name)


def array_widths(plant: Plant) -> dict[str, int]:
    """The number of columns of each array of a system, by the name of the array."""
    widths = {"t": 1, **{group: len(getattr(plant, group)) for group in SAMPLES}, "a": plant.nv, "dx": plant.nx}
    widths |= {"tau": plant.nv, "y": len(plant.outputs), "loop_error": 1}
    return widths | {group: len(names) for group, names in ENERGIES.items()}


def _arrays(record: Record, k: int, plant: Plant) -> dict[str, Array]:
    """The arrays of system k, as a Segment names them; raises ValueError where a shape is not that of its plant."""
    groups = record.meta["systems"][k]["groups"]
    n = len(record.arrays[array_key(k, "t")])
    widths = array_widths(plant)
    found: dict[str, Array] = {}
    for name in ("t", *SAMPLES, "a", "dx", *(group for group in groups if group != "z")):
        array = np.asarray(record.arrays[array_key(k, name)])
        wanted = (n,) if is_flat(name) else (n, widths[name])
        if array.shape != wanted or array.dtype != np.float64:
            raise ValueError(
                f"the array '{name}' in the file has type {array.dtype} and shape {array.shape}; expected float64 and "
                f"shape {wanted}. Save the run again"
            )
        if name in FINITE:
            check_states(plant, name, array)
        found[name] = array
    found["z"] = np.column_stack([found.pop("a"), found.pop("dx")])
    if "account" in found:
        found["account"] = found["account"][:, :2]  # the balance is computed again
    return found
