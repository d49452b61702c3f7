"""The study file that a store keeps: with it a study is resumed, and runs of its items are computed again.

It also says whether the study is a Monte Carlo or a sensitivity study: then its estimates or indices follow from the
measures in the store, and no item is computed.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinemorph.errors import KinemorphError, ParseError, StudyWarning, UnsupportedError, users_level
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.studies.experiments.experiment import experiment_of
from kinemorph.studies.statistics.measured_items import stored_items
from kinemorph.studies.statistics.monte_carlo import MonteCarlo, estimated
from kinemorph.studies.statistics.sensitivity import Sensitivity, analyzed
from kinemorph.studies.store.aspects import difference
from kinemorph.studies.study_files.reader import read_study
from kinemorph.studies.study_files.study_plan import StudyPlan
from kinemorph.studies.sweeps.study import Study, load_study

TEXT, PLACE = "study file", "study file path"  # facts of a store


def file_facts(file: Path | str, store: Path | str) -> dict[str, str]:
    """The facts by which a store keeps the study file that made it: its text, and its path.

    The path is relative to the folder of the store, so that both can be moved together.
    """
    try:
        place = os.path.relpath(Path(file).resolve(), Path(store).resolve().parent)
    except ValueError:  # they are on different drives
        place = str(Path(file).resolve())
    return {TEXT: Path(file).read_text(encoding="utf-8"), PLACE: Path(place).as_posix()}


def stored_plan(path: Path | str) -> StudyPlan:
    """The plan of the study file that a store keeps, as it was when the study was made; its store is this one.

    Raises ParseError where a file that it names is not there any more, and UnsupportedError for a study that was made
    by Python.
    """
    return _plan_of(load_study(path), Path(path))


def planned_study(path: Path | str) -> Study:
    """The study of a store. Where it keeps a study file, runs of its items can be computed again.

    Warns where that file does not describe the results any more, since the model changed; then no run can be shown.
    """
    study = load_study(path)
    if TEXT not in study.store.facts:
        return study
    try:
        plan = _plan_of(study, Path(path))
        objects = plan.space.objects
        asked: dict[str, Any] = {name: getattr(plan, name) for name in ("base", "package_dirs", "until", "run")}
        experiment = experiment_of(plan.model, plan.measures, objects=objects, **asked)
        changed = difference(study.store.aspects, experiment.aspects)
    except KinemorphError as error:
        changed = str(error)
    else:
        if not changed:
            return replace(study, experiment=experiment)
    warnings.warn(
        f"'{path}': no run can be shown, since the study file or its model has changed. {changed}",
        StudyWarning,
        stacklevel=users_level(),
    )
    return study


def found_so_far(study: Study) -> Study | MonteCarlo | Sensitivity:
    """What a study has found: its estimates or indices where its study file asks for them, otherwise the study itself.

    Warns where they do not follow from what the store has.
    """
    if TEXT not in study.store.facts or study.path is None:
        return study
    try:
        plan = _plan_of(study, study.path)
        items = stored_items(plan.space, study, tuple(plan.measures))
        if plan.monte_carlo is not None:
            return estimated(items, plan.monte_carlo)
        return study if plan.sensitivity is None else analyzed(items, plan.sensitivity)
    except KinemorphError as error:
        warnings.warn(
            f"'{study.path}': its estimates or indices do not follow from its results. {error}",
            StudyWarning,
            stacklevel=users_level(),
        )
        return study


def _plan_of(study: Study, path: Path) -> StudyPlan:
    facts = study.store.facts
    if TEXT not in facts:
        raise UnsupportedError(
            f"'{path}' keeps no study file, since it was made by Python. Call sweep with its model, space and measures "
            "again, which continues the study."
        )
    file = path.resolve().parent / facts.get(PLACE, f"{path.stem}.toml")
    findings = Findings(str(file))
    plan = read_study(Source(str(file), facts[TEXT].encode(), file.parent), findings)
    if plan is None or findings.failed:
        raise ParseError([str(finding) for finding in findings.found if finding.severity == "error"], findings.found)
    return replace(plan, store=path)
