"""Programs that need not be traced again: an outline of each program is stored on disk.

A *recipe* is plain data: everything that a program is made from. Together with the source files of this package it
determines the program. Under a digest of both, an outline is stored: ports, cost, and the key of the compiled code. A
program recalled from its outline runs without being traced; it is traced only if its graph is requested.

    recipe ──► outline ──► key ──► code            (found)
       └─ else: trace ──► program, and its outline is stored

After any change of the recipe or of the package, the digest differs and the old outline is not found.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.codegen.graphs.program import Port, Program, Runnable
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.work_clock import at_work
from kinemorph.disk_cache import OUTLINE, code_cache, package_folder, source_lines
from kinemorph.frozen import dataclass
from kinemorph.vocabulary.frozen_array import FrozenArray

# subpackages that do not influence what is traced; every other source file of the package does
NO_SAY = frozenset({"analysis", "bench", "cli", "display", "formats", "studio"})


@dataclass(frozen=True, eq=False)
class Recalled:
    """A program known by its outline and not traced yet; `make` traces it. See `graphs.program.Runnable`."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    ops: int
    flops: int
    cost: int
    decided_by_data: bool
    key: str
    make: Callable[[], Program | LoopProgram]

    @cached_property
    def traced(self) -> Program | LoopProgram:
        """The program with its graph; it is traced at the first access."""
        return self.make()


def recalled(recipe: object, make: Callable[[], Program | LoopProgram]) -> Runnable:
    """The program that `make` traces; it is not traced yet if an outline for this recipe is on disk."""
    store = code_cache()
    text = written(recipe) if store else None
    if store is None or text is None:
        with at_work("deriving", "a program"):
            return make()
    digest = hashlib.sha256(f"{source_digest(package_folder())} {text}".encode()).hexdigest()
    found = store.read(digest, OUTLINE)
    if found is not None:
        return _read(found, make)
    with at_work("deriving", "a program"):
        program = make()
    store.write(digest, _outline(program), OUTLINE)
    return program


def written(value: object) -> str | None:
    """Plain data as text, different for different data; None if a part of it is not plain data.

    Plain data are numbers, strings, bools, None, FrozenArrays, and tuples, lists and dataclasses of them.
    """
    kind: Any = type(value)
    if isinstance(value, float):
        return value.hex()
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, np.floating):
        return float(value).hex()
    if isinstance(value, FrozenArray):
        return f"numbers {value.digest}"
    if isinstance(value, (tuple, list)):
        parts = [written(item) for item in value]
    elif (names := _field_names(kind)) is not None:
        parts = [written(getattr(value, name)) for name in names]
    else:
        return None
    texts = [part for part in parts if part is not None]
    return f"{kind.__qualname__}({','.join(texts)})" if len(texts) == len(parts) else None


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass; None for any other type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def source_digest(package: Path) -> str:
    """A hash of the source files that determine what is traced, and of the versions of Python and NumPy."""
    digest = hashlib.sha256(f"{platform.python_version()} {np.__version__}\n".encode())
    for line in source_lines(package, NO_SAY):
        digest.update(line)
    return digest.hexdigest()


def _outline(program: Program | LoopProgram) -> bytes:
    """The outline of a program, as JSON: its ports, operation counts and key."""
    ports = {side: [asdict(port) for port in getattr(program, side)] for side in ("inputs", "outputs")}
    facts = {name: getattr(program, name) for name in ("name", "ops", "flops", "cost", "decided_by_data", "key")}
    return json.dumps({**ports, **facts}).encode()


def _read(outline: bytes, make: Callable[[], Program | LoopProgram]) -> Recalled:
    """The program of an outline; `make` traces it."""
    facts = json.loads(outline)
    for side in ("inputs", "outputs"):
        facts[side] = tuple(Port(port["name"], tuple(port["shape"])) for port in facts[side])
    return Recalled(**facts, make=make)
