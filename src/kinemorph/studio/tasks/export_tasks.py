"""Exports of a model: every export is sent as one file, a zip archive where it consists of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report


def export_model(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Makes the export of the kind `data["export"]`: code, program, model, picture or replay, with its `options`.

    The file is a part of the result; "notes" name what could not be carried over, and "files" the files in it.
    """
    from kinemorph.display.exports import export_files

    kinds: dict[str, Callable[..., export_files.Exported]] = {
        "code": export_files.code_files,
        "program": export_files.program_files,
        "model": export_files.model_files,
        "picture": export_files.picture_files,
        "replay": export_files.replay_files,
    }
    system = task_model(data)
    report(f"writing the {data['export']} of {system.name}")
    made = kinds[data["export"]](system, **data["options"])
    name, content, media = export_files.as_download(made, f"{system.name}_{data['export']}")
    report.part({"file": name, "media": media}, content)
    return {"notes": list(made.notes), "files": {file: len(one) for file, one in made.files.items()}}
