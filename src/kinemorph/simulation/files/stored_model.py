"""The model in the file of a run: the text of its model file, with which a loaded run is shown and computed further.

The text is data. It is read by the readers of model files, as any model file is, and nothing in it is compiled or run.
Meshes are named by paths from the folder of the run. A text is stored only if the model that is read from it has the
same names as the run.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinemorph.errors import KinemorphError, ModelWarning, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.initial_values import SUPPLIED
from kinemorph.plants.loop_methods import LOOP_METHODS
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.words import listed

NAMED = ("q", "v", "x", "m", "u", "p")  # groups in which a model has to have the names of its run
COMPARED = ("parameters", "bodies", "joints", "elements", "module_types")  # tables of model files
LOOKS = ("shapes", "collisions", "symbol", "unit")  # keys in them on which the motion does not depend
TEXT, MISSING = "text", "missing"


def stored_model(plant: Plant, described: Mapping[str, Any], path: Path) -> dict[str, str]:
    """{"text": the model of a plant}, or {"missing": why there is none}, for a run that is saved in the file `path`.

    `described` is the system in the description of the run.
    """
    key = ("stored model", path.parent)
    if key not in plant.kept:
        plant.kept[key] = _stored_model(plant, described, path)
    found: dict[str, str] = plant.kept[key]
    return found


def _stored_model(plant: Plant, described: Mapping[str, Any], path: Path) -> dict[str, str]:
    from kinemorph.formats.findings import Findings
    from kinemorph.formats.toml import writer
    from kinemorph.formats.write_text import in_memory

    if plant.system is None:
        return {MISSING: "functions in Python take part in it, which no file can contain"}
    findings = Findings(str(path))
    with in_memory() as texts:
        writer.write(plant.system, path, findings)
    for finding in findings.found:
        if finding.severity == "error" or finding.rule != "mesh":  # the motion does not depend on meshes
            return {MISSING: f"a model file cannot express {finding.element or 'it'}: {finding.problem}"}
    (text,) = texts.values()
    try:
        other = differs(plant_of(read_model(text, path), described), described)
    except (KinemorphError, ValueError) as error:
        return {MISSING: f"its model file would have errors: {str(error).rstrip('.')}"}
    return {MISSING: f"its model file would be a model with other {other}"} if other else {TEXT: text}


def read_model(text: str, path: Path) -> System:
    """The model in the file of a run; raises ValueError, with the first error, where it is damaged."""
    from kinemorph.formats import limits
    from kinemorph.formats.findings import Findings
    from kinemorph.formats.loading import examine_source
    from kinemorph.formats.sources import Options, Source

    name = f"{path.name}/model.toml"
    if not isinstance(text, str) or len(text) > limits.FILE_SIZE:
        raise ValueError(f"the model in it is no text of at most {limits.FILE_SIZE} characters. Give model= to load it")
    examination = examine_source(Source(name, text.encode(), path.parent), Findings(name), Options())
    if examination.system is None or examination.errors:
        first = examination.errors[0]
        place = f"{first.element}: " if first.element else ""
        raise ValueError(f"the model in it has an error: {place}{first.problem}. Give model= to load it")
    return examination.system


def plant_of(model: System | Robot | Any, described: Mapping[str, Any]) -> Plant:
    """The plant of a model, with the options with which the run of a description was made."""
    if isinstance(model, Plant):
        return model
    account = SUPPLIED in [name for name, _ in described["x"]]
    if not isinstance(model, System | Robot):
        return as_plant(model, account=account)
    robot = model.robot if isinstance(model, System) else model
    velocities = [name for name, _ in described["v"]]
    locked = [name for k in described["locked"] if (name := velocities[k]) in robot.v_names]
    kept = named_parameters(model, dict.fromkeys(name for name, _ in described["p"]))
    kinds = {type(method).__name__: type(method) for method in LOOP_METHODS.values()}
    kind, numbers = described["loops"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they were told when the model was run
        return as_plant(model, account=account, locked=locked, parameters=kept, loops=kinds[kind](**numbers))


def differs(plant: Plant, described: Mapping[str, Any]) -> str:
    """The first group in which a plant has other names than the system of a description; empty where there is none."""
    names = {group: [name for name, _ in described[group]] for group in NAMED}
    here = {group: [column.name for column in getattr(plant, group)] for group in NAMED}
    return next((group for group in NAMED if here[group] != names[group]), "")


def warn_of_other_numbers(plant: Plant, meta: Mapping[str, Any], path: Path) -> None:
    """Warns where a given model has other data than the model in the file of the run that `meta` describes.

    Compared are the parts that both have, to nine digits and without their looks; parameters of the run have its values
    in both.
    """
    system = meta["systems"][0]
    try:  # without a text in the file, or with a damaged one, the names alone are compared
        read_model(text := meta["models"][0][TEXT], path)
        texts = text, stored_model(plant, system, path)[TEXT]
        old, new = (tomllib.loads(text, parse_float=lambda number: float(f"{float(number):.9g}")) for text in texts)
    except (LookupError, ValueError, KinemorphError):
        return
    known, found = dict(system["p"]), []
    for group in COMPARED:
        for name in [one for one in old.get(group, {}) if one in new.get(group, {}) and one not in known]:
            parts = (old[group][name], new[group][name])
            a, b = (part if isinstance(part, dict) else {"value": part} for part in parts)
            keys = [key for key in {**a, **b} if key not in LOOKS and a.get(key) != b.get(key)]
            found += [f"{key} of '{name}'" for key in keys]
    if found:
        warnings.warn(
            f"'{path}': the given model '{plant.name}' is not that of the run in this file: {listed(found, 4)} "
            f"{'differ' if len(found) > 1 else 'differs'}. What is computed from it now does not fit the motion. "
            "Leave model out to use that of the file.",
            ModelWarning,
            stacklevel=users_level(),
        )
