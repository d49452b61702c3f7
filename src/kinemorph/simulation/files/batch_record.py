"""A batch of runs as a record, which .npz and .h5 files hold: its states, inputs, parameters, outcomes and step counts.

Columns that are computed, such as torques and energies, are not stored: they need the model of the batch.

    t (n,)      q v x m (B, n, .)       p u (B, .)
    done status accepted rejected ends numbers (B,)     as in `BatchRun`
    final_t (B,)    final_q final_v final_x final_m (B, .)
    event_counts event_last (B,)    event_rows (N, width)    as in `EventLog`; no rows where events were not kept
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.plants.programs import Plant
from kinemorph.simulation.files.run_record import (
    BATCH_FORMAT,
    FINITE,
    Record,
    check_states,
    check_times,
    described,
    named_plant,
    plain_setting,
)
from kinemorph.simulation.results.batch_run import BatchRun, FinalStates
from kinemorph.simulation.results.event_log import EventLog, LogFormat, Mark
from kinemorph.simulation.results.trajectory import Statistics

VERSION = 1
STATES, GIVEN = ("q", "v", "x", "m"), ("p", "u")
COUNTS = ("done", "status", "accepted", "rejected", "numbers")  # whole numbers
ARRAYS = ("t", *STATES, *GIVEN, *COUNTS, "ends")


def record_of_batch(batch: BatchRun) -> Record:
    """The description and the arrays of a batch."""
    p = batch.p[0] if len(batch.p) else np.zeros(len(batch.plant.p))
    statistics = {name: getattr(batch.statistics, name) for name in ("method", "accepted", "rejected", "calls")}
    meta = {
        "format": BATCH_FORMAT,
        "version": VERSION,
        "systems": [described(batch.plant, p, ())],
        "failures": {str(k): message for k, message in batch.failures.items()},
        "statistics": statistics,
        "settings": {name: plain_setting(value) for name, value in batch.settings.items()},
        "rests": {str(k): message for k, message in batch.rests.items()},
        "marks": [list(mark) for mark in batch.events.format.marks],
        "constraints": list(batch.events.format.constraints),
        "events_kept": batch.events.rows is not None,
    }
    arrays = {name: np.asarray(getattr(batch, name)) for name in ARRAYS}
    arrays |= {f"final_{group}": values for group, values in batch.final._asdict().items()}
    rows = np.zeros((0, batch.events.format.width)) if batch.events.rows is None else batch.events.rows
    arrays |= {"event_counts": batch.events.counts, "event_last": batch.events.last, "event_rows": rows}
    return Record(meta, arrays)


def batch_of(record: Record, plant: Plant | None) -> BatchRun:
    """The batch that a record describes; raises ValueError where the record is not valid.

    Without its `plant`, the batch has its states and no columns that are computed.
    """
    meta, arrays = record.meta, record.arrays
    if meta.get("format") != BATCH_FORMAT:
        raise ValueError("the file does not describe a batch of runs. Use load_trajectory for the file of a single run")
    if meta["version"] > VERSION:
        raise ValueError(
            f"the version of its format is {meta['version']}; expected at most {VERSION}. Install a newer kinemorph"
        )
    made = named_plant(meta["systems"][0], "BatchRun.load(path, model)") if plant is None else plant
    count, samples = arrays["q"].shape[:2]
    shapes: dict[str, tuple[int, ...]] = {"t": (samples,), "ends": (count,), **dict.fromkeys(COUNTS, (count,))}
    shapes |= {group: (count, samples, len(getattr(made, group))) for group in STATES}
    shapes |= {group: (count, len(getattr(made, group))) for group in GIVEN}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(
                f"the array '{name}' in the file has shape {arrays[name].shape}, expected {shape}. Save the batch again"
            )
    check_times(arrays["t"])
    for group in FINITE:
        for k, done in enumerate(arrays["done"].astype(np.int64)):
            check_states(made, group, arrays[group][k, :done])
    given: dict[str, Any] = {name: arrays[name].astype(np.int64 if name in COUNTS else float) for name in ARRAYS}
    return BatchRun(
        plant=made,
        failures={int(k): message for k, message in meta["failures"].items()},
        statistics=Statistics(**meta["statistics"]),
        settings=meta["settings"],
        rests={int(k): message for k, message in meta["rests"].items()},
        events=_events(record, made),
        final=FinalStates(*(arrays[f"final_{name}"].astype(float) for name in FinalStates._fields)),
        **given,
    )


def _events(record: Record, plant: Plant) -> EventLog:
    """The events of the batch that a record describes."""
    meta, arrays = record.meta, record.arrays
    sizes = (plant.nq, plant.nv, plant.nx, len(plant.m))
    form = LogFormat(tuple(Mark(*mark) for mark in meta["marks"]), sizes, tuple(meta["constraints"]))
    counts, last = (arrays[f"event_{name}"].astype(np.int64) for name in ("counts", "last"))
    rows = arrays["event_rows"].astype(float) if meta["events_kept"] else None
    wanted = (int(counts.sum()), form.width)
    if counts.shape != (len(arrays["q"]),) or (rows is not None and rows.shape != wanted):
        raise ValueError(
            f"the array 'event_rows' in the file has shape {arrays['event_rows'].shape}, expected {wanted}. Save the "
            "batch again"
        )
    return EventLog(form, counts, last, rows)
