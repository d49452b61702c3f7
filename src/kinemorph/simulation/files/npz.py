"""NumPy's archive: the arrays of the run (q, v, ...), and its description as JSON text under "meta".

The same run gives the same bytes: the file holds no time of day. Nothing is compressed, because the numbers of a motion
hardly shrink.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from kinemorph.simulation.files.run_record import Record

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
    if not zipfile.is_zipfile(path):
        raise ValueError("the file is not an .npz file, or it is damaged. Save the run again")
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile) or "meta" not in archive.files:
                raise ValueError("the file has no description of a run ('meta'). Give a file that Kinemorph saved")
            meta = json.loads(str(archive["meta"]))
            return Record(meta, {name: archive[name] for name in archive.files if name != "meta"})
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"the file is damaged ({error}). Save the run again") from None
