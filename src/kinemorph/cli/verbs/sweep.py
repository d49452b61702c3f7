"""The verb `sweep`: carries out a study file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinemorph.cli.application import Json, option, reported_warnings, verb
from kinemorph.cli.options.study_options import WorkOptions
from kinemorph.cli.output_files import check_place
from kinemorph.errors import KinemorphError


@verb
def sweep(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file: .toml.", show_default=False)],
    store: Annotated[
        Path | None,
        option(
            "File of results: .study. Results that it has are kept, and the others computed.",
            "FILE",
            default="the study file's",
        ),
    ] = None,
    *,
    work: WorkOptions,
    as_json: Json = False,
) -> None:
    """Carries out a study: many runs over a space of values, whose results are kept in one file.

    A study that was interrupted, by Ctrl-C or a crash, goes on where it was when it is started again. Example:
    `kinemorph sweep gaits.toml --workers 4`, then `kinemorph study gaits.study best`.

    Exit codes: 0 where items have results, 1 where all of them failed, 130 after Ctrl-C.
    """
    from kinemorph.cli.study_runs import carry_out_plan
    from kinemorph.studies.study_files.reader import ENDING, line_of_error, load_study_plan
    from kinemorph.studies.study_files.stored_plan import file_facts

    if study.suffix == ENDING:
        raise KinemorphError(
            f"'{study}' is a file of results; expected a study file (.toml). `kinemorph study {study} resume` goes on "
            "with its study."
        )
    if store is not None:
        check_place(store, "--store")
    with reported_warnings():
        plan = load_study_plan(study)
    place = store or plan.store
    assert place is not None  # a study file without a store has one with its own name
    options: dict[str, Any] = {"store": place, "facts": file_facts(study, place)}
    try:
        carry_out_plan(plan, options, work, as_json=as_json)
    except KinemorphError as error:
        line = line_of_error(study, error)
        if not line:
            raise
        raise KinemorphError(f"{line}{error}") from None
