"""Scripts of peers that need a Python of their own: which Python has a package, and what its script answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinemorph.errors import CompileError


def python_with(module: str, names: Sequence[str]) -> str | None:
    """The path of the first of some Pythons that can import a module; None where none can."""
    for path in filter(None, map(shutil.which, names)):
        asked = [path, "-c", f"import {module}"]
        if subprocess.run(asked, env=_environment(), capture_output=True, check=False).returncode == 0:
            return path
    return None


def answer(peer: str, command: Sequence[str], given: Any, folder: Path | None = None, **environment: str) -> Any:
    """What a script answers, as JSON in its last line, to data that it reads as JSON.

    It runs in `folder`, with further variables in its `environment`. Raises CompileError where it fails; `peer` names
    what failed.
    """
    done = subprocess.run(
        command,
        input=json.dumps(given),
        env={**_environment(), **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        raise CompileError(f"{peer}: {done.stderr.strip()[-200:]}. Leave it out.")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _environment() -> dict[str, str]:
    """The environment without the places of this Python's packages."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
