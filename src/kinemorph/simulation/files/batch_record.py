"""A batch of runs as a record, which .npz and .h5 files hold: its states, inputs, parameters, outcomes and step counts.

Columns that are computed, such as torques and energies, are not stored: they need the model of the batch.

    t (n,)      q v x m (B, n, .)       p u (B, .)
    done status accepted rejected ends numbers (B,)     as in `BatchRun`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.plants.programs import Plant
from kinemorph.simulation.files.run_record import (
    BATCH_FORMAT,
    Record,
    described,
    event_data,
    named_plant,
    plain_setting,
    read_event,
)
from kinemorph.simulation.results.batch_run import BatchRun
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
        "events": {str(k): [event_data(event) for event in events] for k, events in batch.events.items()},
    }
    return Record(meta, {name: np.asarray(getattr(batch, name)) for name in ARRAYS})


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
    given: dict[str, Any] = {name: arrays[name].astype(np.int64 if name in COUNTS else float) for name in ARRAYS}
    return BatchRun(
        plant=made,
        failures={int(k): message for k, message in meta["failures"].items()},
        statistics=Statistics(**meta["statistics"]),
        settings=meta["settings"],
        events={int(k): tuple(map(read_event, events)) for k, events in meta["events"].items()},
        **given,
    )
