"""HDF5: a dataset for each array (/q, /v, ...) with the attributes `names` and `units`; the description in /meta.

MATLAB reads it with h5read('run.h5', '/q') and h5readatt('run.h5', '/q', 'units'), with samples along the second axis.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from kinemorph.errors import MissingExtraError
from kinemorph.simulation.files.record_tables import labels
from kinemorph.simulation.files.run_record import Record, check_size


def encode(record: Record) -> bytes:
    """The bytes of an .h5 file."""
    h5py = required()
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        meta = json.dumps(record.meta).encode()  # of a fixed length: HDF5 may read a damaged text of any length forever
        file.create_dataset("meta", data=np.array(meta, h5py.string_dtype("utf-8", len(meta))))
        named = labels(record.meta)
        for name, array in record.arrays.items():
            dataset = file.create_dataset(quote(name, safe=".").replace(".", "/"), data=array)
            if name in named:
                for attribute, values in zip(("names", "units"), named[name], strict=True):
                    dataset.attrs[attribute] = np.array(values, dtype=h5py.string_dtype()) if values else ""
    return held.getvalue()


def decode(path: Path) -> Record:
    """The record in an .h5 file."""
    h5py = required()
    if not h5py.is_hdf5(path):
        raise ValueError("the file is not an HDF5 file, or it is truncated. Save the run again")
    with h5py.File(path, "r") as file:
        if not isinstance(file.get("meta"), h5py.Dataset):
            raise ValueError("the file has no description of a run ('/meta'). Give a file that Kinemorph saved")
        found: dict[str, Any] = {}
        file.visititems(found.__setitem__)  # follows hard links only, which do not lead to other files
        found = {name: item for name, item in found.items() if isinstance(item, h5py.Dataset)}
        check_size(sum(item.size * item.dtype.itemsize for item in found.values()), path)
        meta = json.loads(found.pop("meta").asstr()[()])
        arrays = {unquote(name.replace("/", ".")): item[()] for name, item in found.items()}
    return Record(meta, arrays)


def required() -> Any:
    """The package h5py; raises MissingExtraError where it is not installed."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("h5py", "hdf5") from None
    return h5py
