"""Whether a Python function of the user may be traced once, in place of being called every time.

A traced function becomes compiled code: it gives the same numbers, but it no longer runs. So it must not read anything
that can change, and must not write anything. This is decided from the function itself, before it is called: it may use
its arguments, numbers, texts, and functions of this package, of the module math, and of the user that are pure too.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from numbers import Number
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME"}
PLAIN = (Number, str, bytes, type(None), ModuleType, BuiltinFunctionType, type)
TRUSTED = ("kinemorph", "math", "builtins", "operator")  # packages whose functions read and write nothing else
DEEPEST = 4  # calls of functions of the user within each other that are looked at
REFUSED = {"print", "open", "input", "next", "exec", "eval", "setattr", "delattr", "globals", "vars", "id"}
MODULES = ("math", "operator", "kinemorph")  # modules that a pure function may name; random and time change


def is_pure(function: Any, depth: int = 0) -> bool:
    """Whether a function only computes numbers from its arguments and from constants, as far as can be seen."""
    if not isinstance(function, FunctionType) or depth > DEEPEST or inspect.isgeneratorfunction(function):
        return False
    if any(not _is_constant(value, depth) for value in (function.__defaults__ or ())):
        return False
    codes = list(_codes(function.__code__))
    if any(step.opname in WRITES for code in codes for step in dis.get_instructions(code)):
        return False
    return all(_is_constant(value, depth) for value in _outside(function, codes))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of all functions that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _outside(function: FunctionType, codes: list[CodeType]) -> Iterator[Any]:
    """The values of all names that a function reads from its surroundings; an unknown name gives a list, not pure."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield []
    known = {**vars(__import__("builtins")), **function.__globals__}
    for code in codes:
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                name = str(step.argval)
                yield [] if name in REFUSED else known.get(name, [])


def _is_constant(value: Any, depth: int) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in MODULES
    if isinstance(value, FunctionType):
        package = (value.__module__ or "").partition(".")[0]
        return package in TRUSTED or is_pure(value, depth + 1)
    if isinstance(value, tuple):
        return all(_is_constant(one, depth) for one in value)
    return isinstance(value, PLAIN)
