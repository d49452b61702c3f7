"""Aspects of an experiment: everything that determines its results, as readable texts by name.

model                       every number of the model, or the source of the function that is the model
measure NAME                the text or the source of a measure
choice PART LABEL           what a choice stands for, such as an element or one of several models
run                         the end of the runs, the run plan and the options
kinemorph                   the version of this package

The kind of CPU that machine code is compiled for is recorded beside them (`cpu_text`): results on another one differ by
rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kinemorph.codegen.backends.llvm.target import llvm_target
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.studies.experiments.flat_texts import flat_text
from kinemorph.studies.experiments.function_models import FunctionModel
from kinemorph.studies.experiments.measures import Measure
from kinemorph.studies.experiments.setups import FileModel, Run
from kinemorph.studies.store.aspects import CHOICE, MEASURE

OF_SYSTEM = ("elements", "settings", "automaton", "starts", "runs")  # fields of a System


def aspects_of(
    models: Mapping[str, Any], measures: tuple[Measure, ...], objects: Mapping[str, Mapping[str, Any]], run: Run
) -> dict[str, str]:
    """The aspects of an experiment by name."""
    found = {f"{CHOICE}model {label}" if label else "model": model_text(model) for label, model in models.items()}
    found |= {f"{MEASURE}{measure.name}": flat_text(measure.given) for measure in measures}
    for part, labels in objects.items():
        for label, chosen in labels.items():
            if chosen != label:  # a plain text stands for itself
                found[f"{CHOICE}{part} {label}"] = model_text(chosen)
    given = {"until": run.until, "plan": run.plan, **run.options}
    found["run"] = flat_text(given) or "the options of the model"
    return found | {"kinemorph": _version()}


def model_text(model: Any) -> str:
    """The text of a model: every fact of its data."""
    if isinstance(model, FunctionModel):
        return flat_text(model.function)
    if isinstance(model, FileModel):
        return flat_text(_facts(model.system))
    if isinstance(model, Plant):
        return flat_text(_plant_facts(model))
    return flat_text(_facts(model) if isinstance(model, (System, Robot)) else model)


def _facts(model: System | Robot) -> Any:
    """A system with the parts of its robot first, so that lines begin with "bodies" and "joints"."""
    if isinstance(model, Robot):
        return model
    own = {field.name: getattr(model.robot, field.name) for field in fields(model.robot) if field.compare}
    return own | {name: getattr(model, name) for name in OF_SYSTEM}


def _plant_facts(plant: Plant) -> dict[str, Any]:
    """A plant: its model and start; and its laws, where these are not made of plain data."""
    facts: dict[str, Any] = {"robot": plant.robot, "elements": plant.elements, "automaton": plant.automaton}
    facts |= {group: getattr(plant, group) for group in ("q", "v", "x", "u", "p", "start", "locked", "loops")}
    return facts if plant.recipe is not None else {**facts, "laws": plant.laws, "outputs": plant.outputs}


def _version() -> str:
    from kinemorph import __version__

    return __version__


def cpu_text() -> str:
    """The kind of CPU that machine code is compiled for, and the compiler."""
    target = llvm_target()
    return (
        f"{target.get('cpu', 'unknown')}, {target.get('simd_bits', 64)} bits, LLVM {target.get('version', 'missing')}"
    )
