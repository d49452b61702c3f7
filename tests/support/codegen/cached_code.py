"""A small program to compile and keep, the files of a cache folder, and which programs are compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph.codegen.backends.llvm import engine as llvm_engine
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace

X = np.random.default_rng(5).normal(size=3)


def sample(factor: float = 2.0, name: str = "sample") -> Program:
    """A few ops, among them functions that come from the system's library."""
    return trace(lambda x: [(factor * x[0]).sin(), x[1].atan2(x[2]), (x[0] * x[0]) ** 1.7], {"x": (3,)}, name=name)


def stored(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs that are compiled from now on."""
    compiled: list[str] = []
    plain = llvm_engine.compile_text

    def counted(name: str, source: str, *speed: int) -> bytes:
        compiled.append(name)
        return plain(name, source, *speed)

    monkeypatch.setattr(llvm_engine, "compile_text", counted)
    return compiled
