"""`Dynamics.export` and `Dynamics.to_sympy`: functions of derived equations as files in a language, or as SymPy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinemorph.analysis.small_motions.linearize import write_text
from kinemorph.codegen.backends.text.sympy_matrices import Constants, to_sympy
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.display.equations.symbols import symbols_of
from kinemorph.display.exports.emitted_forms import FORMS, Work
from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean, quoted

LANGUAGES = {"c": "c", "cpp": "c", "cuda": "cuda", "python": "python", "matlab": "matlab", "sympy": "sympy"}


def export_dynamics(
    dynamics: Dynamics, language: str, path: str | os.PathLike[str] = ".", *, functions: Sequence[str] = MAIN_FUNCTIONS
) -> tuple[Path, ...]:
    """Writes functions in a language of LANGUAGES and returns the paths written; see `ShownEquations.export`."""
    if language not in LANGUAGES:
        raise UnsupportedError(
            f"export: language is {language!r}; expected one of {quoted(LANGUAGES)}.{did_you_mean(language, LANGUAGES)}"
        )
    made = [_function(dynamics, name) for name in ([functions] if isinstance(functions, str) else functions)]
    target = Path(path)
    stem = target.stem if target.suffix else None
    write = FORMS[LANGUAGES[language]].write
    assert write is not None
    files = write(Work(dynamics, made, stem or dynamics.robot.name, dynamics.precision, stem))
    folder = target.parent if stem else target
    folder.mkdir(parents=True, exist_ok=True)
    alone = stem is not None and len(files) == 1
    return tuple(write_text(target if alone else folder / name, text) for name, text in files.items())


def sympy_of(dynamics: Dynamics, function: str, *, constants: Constants = "float") -> Any:
    """The only output of a function in SymPy, else its outputs by name; see `ShownEquations.to_sympy`."""
    found = to_sympy(_function(dynamics, function).program, symbols_of(dynamics), constants=constants)
    return next(iter(found.values())) if len(found) == 1 else found


def _function(dynamics: Dynamics, name: str) -> CompiledFunction:
    """The function of this name without further arguments, such as "mass_matrix"."""
    found = getattr(dynamics, name, None) if isinstance(name, str) and not name.startswith("_") else None
    if not isinstance(found, CompiledFunction):
        raise UnsupportedError(
            f"the Dynamics of '{dynamics.robot.name}' has no function {name!r} to write; expected one such as "
            f"{quoted(MAIN_FUNCTIONS)}.{did_you_mean(name, MAIN_FUNCTIONS)}"
        )
    return found
