"""NumPy's archive: the arrays of the run (q, v, ...), and its description as JSON text under "meta".

The same run gives the same bytes: the file holds no time of day. Nothing is compressed, because the numbers of a motion
hardly shrink.
"""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.files.run_record import Record, check_size

READ_LARGE_HEADER = np.lib.format.read_array_header_2_0
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can name


def encode(record: Record) -> bytes:
    """The bytes of an .npz file."""
    held = io.BytesIO()
    arrays = {"meta": np.array(json.dumps(record.meta)), **record.arrays}
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array, order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", EPOCH), entry.getvalue())
    return held.getvalue()


def decode(path: Path) -> Record:
    """The record in an .npz file."""
    arrays = read_arrays(path)
    if "meta" not in arrays:
        raise ValueError("the file has no description of a run ('meta'). Give a file that Kinemorph saved")
    return Record(json.loads(str(arrays.pop("meta"))), arrays)


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by name; raises ValueError, before anything large is read, where they cannot be."""
    if not zipfile.is_zipfile(path):
        raise ValueError("the file is not an .npz file, or it is damaged. Save the run again")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            check_size(sum(entry.file_size for entry in entries.values()), path)
            return {name: _array(archive, entry, name) for name, entry in entries.items()}
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError) as error:
        raise ValueError(f"the file is damaged ({error}). Save the run again") from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> Array:
    """An array of an archive, whose header is checked before memory is taken."""
    with archive.open(entry) as file:
        try:
            version = np.lib.format.read_magic(file)
            read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else READ_LARGE_HEADER
            shape, _, dtype = read_header(file)
        except (ValueError, SyntaxError, TypeError, tokenize.TokenError):
            raise ValueError(f"the header of its array '{name}' is damaged. Save the run again") from None
        said, held = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
        if dtype.hasobject or min(shape, default=0) < 0 or said != held:
            raise ValueError(
                f"its array '{name}' is said to have type {dtype} and shape {shape}, which are {said} bytes; the file "
                f"has {held} bytes of it. Save the run again"
            )
        file.seek(0)
        found: Array = np.lib.format.read_array(file, allow_pickle=False)
        return found
