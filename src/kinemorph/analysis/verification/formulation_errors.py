"""Every formulation beside the recursion: the error of its inverse dynamics, and the operations of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kinemorph.analysis.verification.sampling import Sample
from kinemorph.analysis.verification.verify import inverse_dynamics_error, size_limit
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.mechanics.formulations.table import FORMULATIONS

FUNCTIONS = {"id": "inverse_dynamics", "fd": "forward_dynamics"}
REFERENCE = "newton_euler"
Functions = Mapping[str, CompiledFunction]  # by the keys of FUNCTIONS


class FormulationRow(NamedTuple):
    """A formulation beside the reference.

    `error`    largest relative difference of inverse dynamics, at random states, for random and for all unit
               accelerations; None for the reference and where the formulation is left out
    `id_ops`   operations of inverse dynamics, and `fd_ops` of forward dynamics; 0 where they are not counted
    `note`     why the formulation is left out; empty where it is not
    """

    formulation: str
    error: float | None = None
    id_ops: int = 0
    fd_ops: int = 0
    note: str = ""


def formulation_errors(sample: Sample, make: Callable[[str], Functions]) -> list[FormulationRow]:
    """One row for every formulation; those that are too slow for a robot of this size have a note.

    `make` returns the functions of a formulation, by the keys of FUNCTIONS; operations of those that it leaves out are
    not counted.
    """
    nv = sample.dynamics.robot.nv
    rows: list[FormulationRow] = []
    made: dict[str, Functions] = {}
    for name in FORMULATIONS:
        if name != REFERENCE and nv > size_limit(name):
            note = f"left out: {nv} degrees of freedom, more than {size_limit(name)}"
            rows.append(FormulationRow(name, note=note))
            continue
        made[name] = make(name)
        one, other = made[REFERENCE]["id"], made[name]["id"]
        error = None if name == REFERENCE else inverse_dynamics_error(sample, one, other).worst
        ops = {f"{key}_ops": function.program.ops for key, function in made[name].items()}
        rows.append(FormulationRow(name, error, **ops))
    return rows
