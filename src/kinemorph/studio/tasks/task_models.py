"""The model that a task works on: the text of a document, read as if it were the file at its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinemorph.formats.assemble import reassembled
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine_source, settled
from kinemorph.formats.sources import Options, Source
from kinemorph.model.system import System


def task_model(data: dict[str, Any]) -> System:
    """The system of `data`: its `text`, read as the file at `path` in a project `folder`.

    Both folders are searched for files that the model names.

    `modules` may give another base, other dyads or another root for docked modules, see `reassembled`. Raises
    ParseError with all findings where the text is not a model.
    """
    path = Path(data["path"])
    source = Source(str(path), data["text"].encode("utf-8", "surrogateescape"), path.parent)
    options = Options(package_dirs=(Path(data["folder"]),) if "folder" in data else ())
    system = settled(examine_source(source, Findings(path.name), options), path.name)
    chosen = {key: value for key, value in (data.get("modules") or {}).items() if value}
    return reassembled(system, **chosen) if chosen and system.assembly is not None else system
