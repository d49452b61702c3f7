"""The archive of an FMU: a zip file whose bytes depend on the contents alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from kinemorph.programs.drivers import as_bytes

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of all entries, the first one that the format has


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """The bytes of a zip file with these files, in the order of their names; texts are UTF-8."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (name != "modelDescription.xml", name)):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, as_bytes(files[name]))
    return found.getvalue()
