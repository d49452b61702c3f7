"""Functions as texts: their source without comments and layout, and the values that they read from elsewhere.

Two functions have the same text if they compute the same, as far as their source and the values of defaults, of
enclosing functions and of global names show it. Functions of installed packages are known by their names. Where there
is no source, the bytecode is the text.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import os
import sys
import sysconfig
import textwrap
import types
from collections.abc import Iterator
from functools import cache
from typing import Any

INSTALLED = tuple(os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
PACKAGE = __name__.partition(".")[0]


def is_installed(module: str | None) -> bool:
    """Whether a module belongs to this package, to the standard library or to an installed package.

    Functions that `exec` made have no module.
    """
    if module is None:
        return False
    top = module.partition(".")[0]
    if top in (PACKAGE, "builtins") or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and os.path.realpath(file).startswith(INSTALLED)


def source_text(function: types.FunctionType) -> str:
    """The source of a function, or its bytecode where there is no source."""
    tree = _tree(function)
    if tree is None:
        return "\n".join([f"bytecode of Python {sys.version_info[0]}.{sys.version_info[1]}", *_code(function.__code__)])
    if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        tree.decorator_list = []
        if ast.get_docstring(tree) is not None:
            tree.body = tree.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def read_values(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a function reads besides its arguments: defaults, variables of enclosing functions, and
    global names; modules and functions of installed packages are left out, since their names are in the source.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, value in zip(names[::-1], (function.__defaults__ or ())[::-1], strict=False):
        yield f"default {name}", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield f"default {name}", value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"enclosed {name}", cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    known = function.__globals__
    for name in sorted(_global_names(function.__code__)):
        if name not in known or hasattr(builtins, name):
            continue
        value = known[name]
        if isinstance(value, types.ModuleType) or is_installed(str(getattr(value, "__module__", ""))):
            continue
        yield f"global {name}", value


def _global_names(code: types.CodeType) -> set[str]:
    """The names that code, and code in it, may read from the global names of its module."""
    inner = [_global_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {*code.co_names}.union(*inner)


def _tree(function: types.FunctionType) -> ast.AST | None:
    """The syntax tree of a function; that of a lambda is searched in the lines that contain it."""
    try:
        if function.__name__ != "<lambda>":
            found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
            return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        lines, _ = inspect.findsource(function)
        tree = _parsed("".join(lines))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None
    first = function.__code__.co_firstlineno
    near = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == first]
    if len(near) > 1:
        wanted = [*_code(function.__code__)]
        near = [node for node in near if [*_code(_compiled(node, function))] == wanted]
    return near[0] if near else None


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _compiled(node: ast.Lambda, function: types.FunctionType) -> types.CodeType:
    """The code of a lambda, compiled alone, within a function that has the same variables around it."""
    free = function.__code__.co_freevars
    head = f"def outer({', '.join(free)}):\n return None"
    tree = ast.parse(head)
    outer = tree.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [ast.Return(node)]
    code = compile(ast.fix_missing_locations(tree), "lambda", "exec")
    (inside,) = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return next(constant for constant in inside.co_consts if isinstance(constant, types.CodeType))


def _code(code: types.CodeType) -> Iterator[str]:
    """Bytecode as text: instructions, constants and names, without addresses, file names and line numbers."""
    yield f"instructions {hashlib.sha256(code.co_code).hexdigest()}"
    yield f"names {' '.join((*code.co_names, *code.co_varnames, *code.co_freevars))}"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield f"constant {sorted(map(repr, constant))}"
        else:
            yield f"constant {constant!r}"
