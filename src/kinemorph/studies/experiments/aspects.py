"""Aspects of an experiment: everything that determines its results, as readable texts by name.

model                       every number of the model, or the source of the function that is the model
measure NAME                the text or the source of a measure
choice PART LABEL           what a choice stands for, such as an element or one of several models
run                         the end of the runs, the run plan and the options
depends                     files, modules and data that the user names besides
kinemorph                   the version of this package

The kind of CPU that machine code is compiled for is recorded beside them (`cpu_text`): results on another one differ by
rounding.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.codegen.backends.llvm.engine import llvm_target
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import MeshFile
from kinemorph.model.system import System
from kinemorph.studies.experiments.flat_texts import flat_text
from kinemorph.studies.experiments.function_models import FunctionModel
from kinemorph.studies.experiments.measures import Measure
from kinemorph.studies.experiments.origins import FileContent
from kinemorph.studies.experiments.setups import FileModel, Run
from kinemorph.studies.store.aspects import CHOICE, MEASURE

OF_SYSTEM = ("elements", "settings", "automaton", "starts", "runs")  # fields of a System


class Aspects(NamedTuple):
    """The aspects of an experiment by name, and the names of what determines results too and cannot be followed."""

    texts: dict[str, str]
    missed: tuple[str, ...]


def aspects_of(
    models: Mapping[str, Any],
    measures: tuple[Measure, ...],
    objects: Mapping[str, Mapping[str, Any]],
    run: Run,
    depends: Sequence[Any] = (),
) -> Aspects:
    """The aspects of an experiment."""
    given: dict[str, Any] = {
        f"{CHOICE}model {label}" if label else "model": facts(one) for label, one in models.items()
    }
    given |= {f"{MEASURE}{measure.name}": measure.given for measure in measures}
    for part, labels in objects.items():
        for label, chosen in labels.items():
            if chosen != label:  # a plain text stands for itself
                given[f"{CHOICE}{part} {label}"] = facts(chosen)
    given["run"] = {"until": run.until, "plan": run.plan, **run.options}
    if depends:
        given["depends"] = _named(depends)
    missed: dict[str, None] = {}
    texts = {name: flat_text(value, missed=missed.setdefault) for name, value in given.items()}
    texts["run"] = texts["run"] or "the options of the model"
    return Aspects(texts | {"kinemorph": _version()}, tuple(missed))


def _named(depends: Sequence[Any]) -> dict[str, Any]:
    """What a user says that results depend on: files by their names, all those of a folder, and other things."""
    found: dict[str, Any] = {"others": [one for one in depends if not isinstance(one, (str, os.PathLike))]}
    for path in (Path(one) for one in depends if isinstance(one, (str, os.PathLike))):
        if not path.exists():
            raise UnsupportedError(
                f"depends: '{path}' does not exist; expected the path of a file or a folder. Correct the path, or give "
                "a version as a number."
            )
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        found |= {file.as_posix(): FileContent(file) for file in inside}
    return found


def facts(model: Any) -> Any:
    """What determines a model, as data: every fact of it."""
    if isinstance(model, FunctionModel):
        return model.function
    if isinstance(model, FileModel):
        return _facts(model.system)
    return _facts(model) if isinstance(model, (System, Robot)) else model


def _facts(model: System | Robot) -> Any:
    """A system with the parts of its robot first, so that lines begin with "bodies" and "joints"."""
    if isinstance(model, Robot):
        return model
    own = {field.name: getattr(model.robot, field.name) for field in fields(model.robot) if field.compare}
    touching = (shape for body in model.robot.bodies for shape in body.collisions)
    meshes = {shape.source: FileContent(shape.path) for shape in touching if isinstance(shape, MeshFile) and shape.path}
    return own | {name: getattr(model, name) for name in OF_SYSTEM} | {"meshes": meshes}


def _version() -> str:
    from kinemorph import __version__

    return __version__


def cpu_text() -> str:
    """The kind of CPU that machine code is compiled for, and the compiler."""
    target = llvm_target()
    return (
        f"{target.get('cpu', 'unknown')}, {target.get('simd_bits', 64)} bits, LLVM {target.get('version', 'missing')}"
    )
