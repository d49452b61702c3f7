"""Values that count where a file leaves a key out, because another part of the file or a built-in type gives them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from kinemorph.model.modules.catalog import KINDS

# keys of a run, and the keys of [settings] that count where a run leaves them out
FROM_SETTINGS = {
    **{"time": "duration", "output_step": "sample", "max_step": "max_step", "loops": "loops", "q": "q", "v": "v"},
}


def inherited(data: Mapping[str, Any], path: tuple[str | int, ...]) -> dict[str, Any] | None:
    """The value that counts for a key, and where it comes from; None if there is no such value.

    A module type that is `like` a built-in one has the data of that type; a run has the duration and the initial
    state of [settings].
    """
    if len(path) != 3:
        return None
    section, name, key = path
    table = data.get(section) if isinstance(section, str) else None
    part = table.get(name) if isinstance(table, Mapping) else None
    if not isinstance(part, Mapping) or key in part:
        return None
    if section == "module_types" and part.get("like") in KINDS:
        known = inspect.signature(KINDS[part["like"]]).parameters.get(str(key))
        if known is not None and isinstance(known.default, (int, float, str)):
            return {"value": known.default, "source": f"the built-in type {part['like']}"}
    settings = data.get("settings")
    named = FROM_SETTINGS.get(str(key), "")
    if section == "runs" and isinstance(settings, Mapping) and named in settings:
        return {"value": settings[named], "source": "[settings]"}
    return None
