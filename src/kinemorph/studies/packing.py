"""Models and functions as bytes for workers: pickled, together with the versions that have to be the same there.

Things of importable modules travel by their names. Things of the script that was started travel by value where
cloudpickle is installed; otherwise a worker runs the script again, under another name, and finds them there. Lambdas
and functions within functions need cloudpickle. Such bytes are only ever exchanged between processes of one study.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import kinemorph
from kinemorph.errors import KinemorphError, UnsupportedError, told

SCRIPT_NAME = "__kinemorph_worker__"  # the __name__ of a script that is run again in a worker
PYTHON = ".".join(platform.python_version_tuple()[:2])


class Packed(NamedTuple):
    """A thing as bytes, and their digest, by which a worker recognizes it."""

    digest: str
    data: bytes


class _Pickler(pickle.Pickler):
    """A pickler that notes which functions and classes belong to the script that was started."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.of_script: list[str] = []

    def reducer_override(self, thing: Any) -> Any:
        """Notes a thing of the script, and leaves the rest to pickle."""
        if isinstance(thing, (type, FunctionType)) and thing.__module__ == "__main__":
            self.of_script.append(thing.__qualname__)
        return NotImplemented


def packed(thing: Any) -> Packed:
    """A thing, such as an experiment, as bytes for workers. Raises UnsupportedError where it cannot be packed."""
    file = io.BytesIO()
    pickler, script, why = _Pickler(file), "", ""
    content: bytes | None = None
    try:
        pickler.dump(thing)
        content = file.getvalue()
    except Exception as error:  # pickle raises PicklingError, AttributeError, TypeError and what __reduce__ raises
        why = str(error)
    if content is None or pickler.of_script:
        content, script, why = _with_script(thing, content, pickler.of_script, why)
    data = pickle.dumps((kinemorph.__version__, PYTHON, script, content), protocol=5)
    return Packed(hashlib.blake2b(data, digest_size=16).hexdigest(), data)


def _with_script(thing: Any, content: bytes | None, names: list[str], why: str) -> tuple[bytes, str, str]:
    """The bytes of a thing that has functions of the script or without a name, and the script to run again if any."""
    try:
        import cloudpickle

        return cloudpickle.dumps(thing, protocol=5), "", ""
    except ImportError:
        remedies = "install cloudpickle (pip install cloudpickle), "
    except Exception as error:  # such as a global variable that cannot be pickled
        remedies, why = "", str(error) or type(error).__name__
    script = getattr(sys.modules["__main__"], "__file__", None)
    if content is not None and script is not None and Path(script).is_file():
        return content, str(Path(script).resolve()), ""
    why = why.split(". ")[0].rstrip(".")
    what = f"'{names[0]}' of this script or notebook" if content is not None else "the model or a measure"
    raise UnsupportedError(
        f"the study cannot be sent to worker processes, because {what} cannot be packed{f' ({why})' if why else ''}. "
        f"Move the functions of the model and of the measures to a module that can be imported, {remedies}"
        "or compute in this process with workers=0."
    )


def unpacked(data: bytes) -> Any:
    """The thing that was packed. Raises KinemorphError with a sentence where this worker cannot have it."""
    version, python, script, content = pickle.loads(data)
    here = f"A worker on '{platform.node()}'"
    if (version, python) != (kinemorph.__version__, PYTHON):
        raise KinemorphError(
            f"{here} has Kinemorph {kinemorph.__version__} and Python {PYTHON}, but the study was started with "
            f"Kinemorph {version} and Python {python}. Install the same versions there."
        )
    try:
        if script:
            _run_again(script)
        return pickle.loads(content)
    except ModuleNotFoundError as error:
        raise KinemorphError(
            f"{here} cannot import '{error.name}', which the model or a measure of the study needs. Install it there, "
            "or define the functions in the script itself and install cloudpickle."
        ) from error
    except KinemorphError:
        raise
    except Exception as error:
        raise KinemorphError(f"{here} cannot unpack the study: {told(error)}.") from error


_RUNNING: list[str] = []  # the script that is being run again


def _run_again(script: str) -> None:
    """Runs the script of the study under another name, so that its functions are found as those of `__main__`."""
    if getattr(sys.modules["__main__"], "__file__", None) == script:
        return
    loader = SourceFileLoader(SCRIPT_NAME, script)
    spec = spec_from_loader(SCRIPT_NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    _RUNNING.append(script)
    try:
        loader.exec_module(module)
    finally:
        _RUNNING.pop()
    sys.modules["__main__"] = sys.modules[SCRIPT_NAME] = module


def refuse_in_worker() -> None:
    """Raises UnsupportedError where a script that is run again in a worker starts a study itself."""
    if _RUNNING:
        raise UnsupportedError(
            f"'{Path(_RUNNING[-1]).name}' starts a study whenever it is run, and its workers have to run it again to "
            'find its functions. Put the call under `if __name__ == "__main__":`, move the functions to a module of '
            "their own, or install cloudpickle (pip install cloudpickle)."
        )
