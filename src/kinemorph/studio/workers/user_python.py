"""Python files of the user, executed once at the start of a studio, such as those with element kinds of their own.

Nothing that a page, a model or a project contains is ever executed: only files that were named at the start.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kinemorph.errors import KinemorphError


def load_python(files: Sequence[Path | str]) -> tuple[Path, ...]:
    """Executes Python files in their order, and returns their full paths. A file that was executed is not repeated.

    A file is imported as a module called like the file, so that its functions can be imported by name. Raises
    KinemorphError if a file does not exist or fails.
    """
    return tuple(_loaded(Path(file)) for file in files)


def _loaded(path: Path) -> Path:
    """Executes a Python file as a module."""
    full = path.resolve()
    if not full.is_file() or full.suffix != ".py":
        what = "is not a Python file" if full.exists() else "does not exist"
        raise KinemorphError(f"the file to load, '{path}', {what}; expected a file that ends in .py. Correct the name.")
    name = full.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(full):
        return full
    if known is not None or not name.isidentifier():
        why = "another module has this name" if known is not None else "this is no name of a Python module"
        raise KinemorphError(f"the file to load is '{path}', but {why}. Rename the file.")
    spec = spec_from_file_location(name, full)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise KinemorphError(f"'{path}' failed{_line(error, full)}: {type(error).__name__}: {error}") from error
    return full


def _line(error: BaseException, path: Path) -> str:
    """The place in a file where an error was raised: " in line 3"; empty if unknown."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f" in line {error.lineno}"
    lines = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == str(path)]
    return f" in line {lines[-1]}" if lines else ""
