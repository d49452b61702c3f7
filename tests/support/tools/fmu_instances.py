"""Instances of an FMU by FMPy, with the same methods for FMI 2.0 and 3.0, for co-simulation and for model exchange."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy import fmi2, fmi3
from fmpy.model_description import read_model_description

SLAVES: dict[str, Callable[..., Any]] = {"2": fmi2.FMU2Slave, "3": fmi3.FMU3Slave}
MODELS: dict[str, Callable[..., Any]] = {"2": fmi2.FMU2Model, "3": fmi3.FMU3Model}


class Instance:
    """One instance of an FMU: `said` are the messages that it has logged by FMI 3.0."""

    def __init__(self, file: Path, folder: Path, *, exchange: bool = False, token: str = "") -> None:
        if not (folder / "modelDescription.xml").exists():
            fmpy.extract(str(file), str(folder))
        self.description = read_model_description(str(folder))
        self.version = self.description.fmiVersion[0]
        self.references = {one.name: one.valueReference for one in self.description.modelVariables}
        self.said: list[str] = []
        name = self.description.coSimulation.modelIdentifier
        given = {"guid": token or self.description.guid, "unzipDirectory": str(folder), "modelIdentifier": name}
        self.fmu = (MODELS if exchange else SLAVES)[self.version](**given)
        if self.version == "3":
            self.fmu.instantiate(loggingOn=True, logMessage=lambda e, s, c, message: self.said.append(message.decode()))
        else:
            # FMPy formats messages by one native function for the last logger given, which may not exist any more
            self.callbacks = fmi2.fmi2CallbackFunctions(logger=fmi2.fmi2CallbackLoggerTYPE(lambda *values: None))
            self.fmu.instantiate(loggingOn=False, callbacks=self.callbacks)

    def begin(self, start: float = 0.0, **given: float) -> Instance:
        """Sets values by name, with `__` in place of points, and initializes the instance."""
        if self.version == "2":
            self.fmu.setupExperiment(startTime=start)
        for name, value in given.items():
            self.set(name.replace("__", "."), value)
        if self.version == "2":
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=start)
        self.fmu.exitInitializationMode()
        return self

    def get(self, *names: str) -> np.ndarray:
        """The values of variables by name."""
        references = [self.references[name] for name in names]
        return np.array((self.fmu.getReal if self.version == "2" else self.fmu.getFloat64)(references))

    def set(self, name: str, value: float) -> None:
        """Sets a variable."""
        (self.fmu.setReal if self.version == "2" else self.fmu.setFloat64)([self.references[name]], [value])

    def steps(self, times: Sequence[float], *names: str) -> np.ndarray:
        """The values of variables after each of the steps between these times."""
        rows = []
        for t, after in pairwise(times):
            self.fmu.doStep(t, after - t)
            rows.append(self.get(*names))
        return np.array(rows)

    def saved(self) -> bytes:
        """The present state as bytes."""
        if self.version == "2":
            return bytes(self.fmu.serializeFMUstate(self.fmu.getFMUstate()))
        return bytes(self.fmu.serializeFMUState(self.fmu.getFMUState()))

    def restore(self, state: bytes) -> None:
        """Goes back to a state that was saved as bytes."""
        if self.version == "2":
            self.fmu.setFMUstate(self.fmu.deSerializeFMUstate(state))
        else:
            self.fmu.setFMUState(self.fmu.deserializeFMUState(state))

    def slopes(self, unknowns: Sequence[str], knowns: Sequence[str]) -> np.ndarray:
        """The matrix of derivatives of variables with respect to others, a column for each directional derivative."""
        of = [self.references[name] for name in unknowns]
        return np.column_stack(
            [self.fmu.getDirectionalDerivative(of, [self.references[name]], [1.0]) for name in knowns]
        )

    # ── model exchange ──────────────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> tuple[bool, float]:
        """Handles events until there are none, and enters continuous time; (the end, the next time event [s])."""
        while True:
            update = self.fmu.newDiscreteStates if self.version == "2" else self.fmu.updateDiscreteStates
            more, end, _, _, timed, next_time = update()
            if not more or end:
                self.fmu.enterContinuousTimeMode()
                return bool(end), next_time if timed else np.inf

    def rates(self, t: float, states: np.ndarray) -> np.ndarray:
        """The rates of the continuous states at a time and at states."""
        n = len(states)
        values, found = (ctypes.c_double * n)(*states), (ctypes.c_double * n)()
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(values, n)
        (self.fmu.getDerivatives if self.version == "2" else self.fmu.getContinuousStateDerivatives)(found, n)
        return np.array(found)

    def states(self, n: int) -> np.ndarray:
        """The continuous states."""
        found = (ctypes.c_double * n)()
        self.fmu.getContinuousStates(found, n)
        return np.array(found)


def null_calls(made: Instance) -> int:
    """Calls all functions of an instance that do not change its mode with NULL for arrays and results; (their number).

    A call that succeeds or fails returns a status that the standard has for it, and one that fails logs a message.
    """
    count, version = 0, made.version
    for name in dir(made.fmu):
        function = getattr(made.fmu.dll, name, None) if name.startswith(f"fmi{version}") else None
        if not getattr(function, "argtypes", None) or re.search("Inst|Version|Types|Enter|Exit|Reset|Terminate", name):
            continue
        for size, number in ((1, 0.0), (0, np.nan), (2, 1e300), (1 << 20, -1.0)):
            sizes = {ctypes.c_double: number, ctypes.c_bool: True}
            sizes |= dict.fromkeys((ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int, ctypes.c_int32), size)
            before = len(made.said)
            status = function(made.fmu.component, *(sizes.get(kind) for kind in function.argtypes[1:]))
            assert status in (0, 2, 3) and (status != 3 or version == "2" or len(made.said) > before), name
            count += 1
    return count
