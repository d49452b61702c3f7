"""The report of a project: its model, and those of its runs that are chosen."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from kinemorph.errors import KinemorphError
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report

MEDIA = {"pdf": "application/pdf", "html": "text/html; charset=utf-8", "latex": "application/zip"}


def write_report(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Writes the report of a model with runs: `results` are those of the studio, `files` {name: path} saved ones.

    `to` is "pdf", "html" or "latex"; `language`, `chapters`, `title`, `author` and `date` are those of `report`. The
    report is a part of the result.
    """
    from kinemorph.codegen.backends.identifiers import identifier
    from kinemorph.display.reports.chapters import KEYS
    from kinemorph.display.reports.report import USUAL_ENDING
    from kinemorph.display.reports.report import report as written
    from kinemorph.simulation.files.storage import load_trajectory

    system = task_model(data)
    chapters = data["chapters"] or list(KEYS)
    runs = {}
    if data["results"]:
        from kinemorph.studio.tasks.run_result_tasks import loaded_runs

        runs = loaded_runs(data, report)
        report.enter("work")
    for name, path in data["files"].items():
        report(f"reading the run {name}")
        runs[name] = load_trajectory(path, system)
    failed = [name for name, run in runs.items() if not run.outcome.ok]

    def tell(step: str) -> None:
        done = chapters.index(step) if step in chapters else len(chapters)
        doing = f"chapter {step.replace('_', ' ')}" if step in chapters else "setting the pages"
        report(doing, fraction=done / (len(chapters) + 1))

    ending = USUAL_ENDING[data["to"]]
    with tempfile.TemporaryDirectory(prefix="kinemorph_") as folder:
        path = written(
            system, *runs.values(),
            path=Path(folder) / f"{identifier(system.name)}{ending}", to=data["to"], language=data["language"],
            chapters=chapters, title=data["title"] or None, author=data["author"], date=data["date"],
            names=list(runs), progress=tell,
        )  # fmt: skip
        try:
            content = path.read_bytes()
        except OSError as error:
            raise KinemorphError(f"the report cannot be read back: {error.strerror}. Write it again.") from error
        report.part({"file": path.name, "media": MEDIA[data["to"]]}, content)
    notes = [f"run '{name}' did not reach its end; the report shows the part before" for name in failed]
    return {"notes": notes, "to": data["to"]}
