"""Saving and loading runs: .npz, .h5 and .csv, which store everything computed, and EasyDyn's .res.

`Checkpoints` saves a run in progress, so that a run that is killed leaves its results.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from kinemorph.durable_files import storage_error, write_whole
from kinemorph.errors import KinemorphError, StorageError, StorageWarning, UnsupportedError, users_level
from kinemorph.model.changes.live_system import live_system
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.initial_values import SUPPLIED
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import Model
from kinemorph.simulation.docking.saved_run import plants_along
from kinemorph.simulation.files.batch_record import batch_of, record_of_batch
from kinemorph.simulation.files.run_record import LIVE, NO_MODEL, Record, record_of, segment_starts, trajectory_of
from kinemorph.simulation.files.stored_model import (
    MISSING,
    TEXT,
    differs,
    plant_of,
    read_model,
    stored_model,
    warn_of_other_numbers,
)
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean

T = TypeVar("T")
FORMATS = {".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5", ".csv": "comma_separated", ".res": "easydyn"}
BATCH_FORMATS = (".npz", ".h5", ".hdf5")  # formats of batches
DAMAGED = (KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError)
EVERY = 5.0  # [s] of wall-clock time between checkpoints, at least
SHARE = 0.05  # the share of the time of a run that checkpoints may take


# ── saving ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def save_trajectory(run: Trajectory, path: str | Path, *, columns: Sequence[str] = ()) -> Path:
    """Writes a run to a file, in the format of its ending .npz, .h5, .csv or .res; returns the path.

    `columns` are names of columns that are computed on request, such as "reaction.knee.fz", for the table in a .csv.
    A missing folder is made. Raises StorageError where the file cannot be written; then an older file of that name is
    unchanged. A .res file gets a script of gnuplot beside it, x.plt for x.res.
    """
    module = _format(path)
    if columns and Path(path).suffix.lower() != ".csv":
        raise UnsupportedError(
            f"'{path}': columns are given, expected a file that ends in .csv. Leave them out: .npz and .h5 files hold "
            "the model, from which they are computed."
        )
    for name in columns:
        run[name]  # raises an error for a column that the run does not have
    record = record_of(run, columns)
    if Path(path).suffix.lower() in BATCH_FORMATS:
        record.meta["models"] = _models_of(run, record, Path(path))
    write_whole(Path(path), module.encode(record))
    beside = module.companions(Path(path), record) if hasattr(module, "companions") else {}
    for place, data in beside.items():
        write_whole(place, data)
    return Path(path)


def _models_of(run: Trajectory, record: Record, path: Path) -> list[dict[str, str]]:
    """For each system of a run, its model or why there is none; of modules that dock, that of the first system."""
    firsts = {k: segment for (k, _), segment in reversed([*zip(record.meta["segments"], run.segments, strict=True)])}
    docked = run.segments[0].plant.assembly is not None
    return [
        {MISSING: firsts[k].missing} if firsts[k].missing else stored_model(firsts[k].plant, system, path)
        for k, system in enumerate(record.meta["systems"][: 1 if docked else None])
    ]


def save_batch(batch: BatchRun, path: str | Path) -> Path:
    """Writes a batch of runs to an .npz or .h5 file; returns the path. See `save_trajectory`."""
    module = _format(path, BATCH_FORMATS)
    write_whole(Path(path), module.encode(record_of_batch(batch)))
    return Path(path)


def _format(path: str | Path, formats: Sequence[str] = tuple(FORMATS)) -> ModuleType:
    """The Python module that writes and reads the format of a file, by the file's ending, one of `formats`."""
    ending = Path(path).suffix.lower()
    if ending not in formats:
        known = ", ".join(formats)
        found = f"ends in '{ending}'" if ending else "has no ending"
        raise UnsupportedError(f"'{path}' {found}; expected one of {known}.{did_you_mean(ending, formats)}")
    return import_module(f"kinemorph.simulation.files.{FORMATS[ending]}")


# ── loading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def load_trajectory(path: str | Path, model: Model | Sequence[Model | None] | None = None) -> Trajectory:
    """Loads a run from a file: its columns, energies, events and outcome, and in an .npz or .h5 file its model.

    Nothing in a file is executed or compiled. What is computed from a model, such as joint reactions and replays, uses
    the one in the file, or the `model` that is given in its place. A table holds no model, and no file holds one with
    functions in Python: give it. For a run in which modules dock, give the System at its start; for another run that
    changes its system, a list with one model for each system, None where you do not have it. A given model has to have
    the names of the run: of q, v, x, m, u and p, in their order. Its bodies and joints are compared with those of the
    model in the file, if there is one: other numbers give a ModelWarning. Raises StorageError, with a message, for a
    file that is not of a run, damaged or truncated.
    """

    def run(record: Record) -> Trajectory:
        inside, missing = _inside(record, Path(path)) if model is None else (model, "you gave none for it")
        plants = _models(inside, record, Path(path))
        if model is not None and plants[0] is not None:
            warn_of_other_numbers(plants[0], record.meta, Path(path))
        return trajectory_of(record, plants, missing)

    return _loaded(path, _format(path), run)


def _inside(record: Record, path: Path) -> tuple[Any, str]:
    """The models in the file of a run, as `load_trajectory` takes them, and why one is missing."""
    held = record.meta.get("models", [])
    found = [read_model(each[TEXT], path) if TEXT in each else None for each in held]
    missing = next((each[MISSING] for each in held if MISSING in each), NO_MODEL)
    return (found if len(found) > 1 else found[0] if found else None), missing


def load_batch(path: str | Path, model: Model | None = None) -> BatchRun:
    """Loads a batch of runs from a file; `model` is that of the batch, for columns that are computed from its states.

    Raises StorageError, with a message, for a file that is not of a batch, damaged or truncated.
    """

    def batch(record: Record) -> BatchRun:
        system = record.meta["systems"][0]
        return batch_of(record, None if model is None else _agreeing(model, system, Path(path)))

    return _loaded(path, _format(path, BATCH_FORMATS), batch)


def _loaded(path: str | Path, module: ModuleType, read: Callable[[Record], T]) -> T:
    """What `read` makes of the record in a file; raises StorageError where the file is damaged."""
    path = Path(path)
    if not path.is_file():
        found = "is not a file" if path.exists() else "does not exist"
        raise StorageError(f"'{path}' {found}; expected a saved run. Check the path.")
    try:
        record: Record = module.decode(path)
        return read(record)
    except StorageError:
        raise
    except PermissionError:
        raise StorageError(f"'{path}' cannot be read: you lack the permission. Ask the owner of the file.") from None
    except json.JSONDecodeError as error:
        raise StorageError(
            f"'{path}' cannot be read as a run: its description is not valid JSON ({error}). Save the run again."
        ) from None
    except DAMAGED as error:
        raise StorageError(
            f"'{path}' cannot be read as a run: its description is damaged or incomplete ({type(error).__name__}: "
            f"{error}). Save the run again."
        ) from None
    except (UnicodeDecodeError, OSError, RuntimeError) as error:  # of libraries, whose messages have no remedy
        raise StorageError(
            f"'{path}' cannot be read as a run: the file is damaged ({error}). Save the run again."
        ) from None
    except ValueError as error:
        raise StorageError(f"'{path}' cannot be read as a run: {error}.") from None


def _models(model: Any, record: Record, path: Path) -> list[Plant | None]:
    """The plants of the systems in a file.

    A single model stands for the first system, and for systems that differ from it in numbers only. If its modules
    dock, the plants of all systems follow from it.
    """
    systems = record.meta["systems"]
    if LIVE in record.meta["settings"] and isinstance(model, Robot | System):
        model = live_system(model)
    if not isinstance(model, (list, tuple)):
        first = None if model is None else _agreeing(model, systems[0], path)
        if isinstance(model, System) and model.assembly is not None and len(systems) > 1:
            account = SUPPLIED in [name for name, _ in systems[0]["x"]]
            along = plants_along(model, record.meta, segment_starts(record), account)
            return [m and _agreeing(m, system, path) for m, system in zip(along, systems, strict=True)]
        alike = ({**systems[0], "parameters": 0, "groups": 0} == {**s, "parameters": 0, "groups": 0} for s in systems)
        return [first if same else None for same in alike]
    if len(model) != len(systems):
        turns = ", ".join(f"'{system['name']}'" for system in systems)
        raise StorageError(
            f"'{path}' is a run of {len(systems)} systems one after the other ({turns}); {len(model)} models are "
            "given. Give one model for each system, or None for a system whose model you do not have."
        )
    return [None if m is None else _agreeing(m, system, path) for m, system in zip(model, systems, strict=True)]


def _agreeing(model: Model, system: Mapping[str, Any], path: Path) -> Plant:
    """The plant of a model; raises StorageError where its names differ from those of `system`, as in the file."""
    plant = plant_of(model, system)
    if group := differs(plant, system):
        names, here = [name for name, _ in system[group]], [column.name for column in getattr(plant, group)]
        raise StorageError(
            f"'{path}' is a run of '{system['name']}', whose {group} are {names}; those of the given model "
            f"'{plant.name}' are {here}. Give the model, or the plant, that was run."
        )
    return plant


# ── during a run ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Checkpoints:
    """Saves a run in progress every few seconds. If the first save fails, an error is raised; later ones only warn."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.due = -1.0  # [s] the time of the next checkpoint; the first one is written at once
        self.warned = False
        module = _format(path)
        if hasattr(module, "required"):
            module.required()
        try:
            Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(self.path, error) from None

    def note(self, so_far: Callable[[], Trajectory]) -> None:
        """Saves the run so far, if a checkpoint is due."""
        began = time.monotonic()
        if began < self.due:
            return
        if self.due < 0.0:
            save_trajectory(so_far(), self.path)
        else:
            self._try(so_far, "The run continues, and tries again later.")
        took = time.monotonic() - began
        self.due = began + took + max(EVERY, took / SHARE)

    def finish(self, run: Trajectory) -> None:
        """Saves the finished run."""
        self._try(lambda: run, "The run is returned: save it elsewhere with run.save(path).", last=True)

    def _try(self, make: Callable[[], Trajectory], then: str, last: bool = False) -> None:
        try:
            save_trajectory(make(), self.path)
            self.warned = False
        except (KinemorphError, OSError, MemoryError) as error:
            if last or not self.warned:
                warnings.warn(f"{error} {then}", StorageWarning, stacklevel=users_level())
            self.warned = True
