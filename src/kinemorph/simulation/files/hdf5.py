"""HDF5: a dataset for each array (/q, /v, ...) with the attributes `names` and `units`; the description in /meta.

MATLAB reads it with h5read('run.h5', '/q') and h5readatt('run.h5', '/q', 'units'), with samples along the second axis.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.errors import MissingExtraError
from kinemorph.simulation.files.record_tables import labels
from kinemorph.simulation.files.run_record import Record


def encode(record: Record) -> bytes:
    """The bytes of an .h5 file."""
    h5py = required()
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.create_dataset("meta", data=json.dumps(record.meta))
        named = labels(record.meta)
        for name, array in record.arrays.items():
            dataset = file.create_dataset(name.replace(".", "/"), data=array)
            if name in named:
                for attribute, values in zip(("names", "units"), named[name], strict=True):
                    dataset.attrs[attribute] = np.array(values, dtype=h5py.string_dtype()) if values else ""
    return held.getvalue()


def decode(path: Path) -> Record:
    """The record in an .h5 file."""
    h5py = required()
    if not h5py.is_hdf5(path):
        raise ValueError("the file is not an HDF5 file, or it is truncated. Save the run again")
    arrays: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        if not isinstance(file.get("meta"), h5py.Dataset):
            raise ValueError("the file has no description of a run ('/meta'). Give a file that Kinemorph saved")
        meta = json.loads(file["meta"].asstr()[()])

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and name != "meta":
                arrays[name.replace("/", ".")] = item[()]

        file.visititems(visit)  # follows hard links only, which do not lead to other files
    return Record(meta, arrays)


def required() -> Any:
    """The package h5py; raises MissingExtraError where it is not installed."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("h5py", "hdf5") from None
    return h5py
