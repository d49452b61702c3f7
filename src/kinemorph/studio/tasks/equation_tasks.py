"""The equations of a model, derived and written as data for the page."""

from __future__ import annotations

from typing import Any

from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report


def write_equations(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """The equations that `data` ask for, whole; see `display.equations.shown_equations`."""
    from kinemorph.display.equations.shown_equations import shown_equations

    system = task_model(data)
    wanted = data["quantities"]
    done = 0

    def tell(title: str) -> None:
        nonlocal done
        report(title, fraction=done / max(len(wanted), 1))
        done += 1

    return shown_equations(
        system,
        wanted,
        formulation=data["formulation"],
        symbols=data["symbols"],
        names=data["names"],
        room=data["room"],
        report=tell,
    )
