"""Functions as trees and texts: their source without comments and layout; bytecode where there is none."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import textwrap
import types
from collections.abc import Iterator
from functools import cache


def source_text(function: types.FunctionType, tree: ast.AST | None) -> str:
    """The source of a function from its tree, or its bytecode where there is no source."""
    if tree is not None:
        return ast.unparse(tree)
    return "\n".join([f"bytecode of Python {sys.version_info[0]}.{sys.version_info[1]}", *_code(function.__code__)])


def function_tree(function: types.FunctionType) -> ast.AST | None:
    """The syntax tree of a function, without its docstring; None where its source is missing or was edited."""
    code = function.__code__  # of the function itself: `inspect` would take what a decorated one wraps
    try:
        lines, _ = inspect.findsource(code)
        wanted = [*_code(code)]
        here = (one for one in _codes("".join(lines)) if one.co_firstlineno == code.co_firstlineno)
        if not any([*_code(one)] == wanted for one in here):
            return None
        if code.co_name != "<lambda>":
            tree = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
            if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree.name != code.co_name:
                return None
            ast.increment_lineno(tree, code.co_firstlineno - 1)
            if ast.get_docstring(tree) is not None:
                tree.body = tree.body[1:] or [ast.Pass()]
            return tree
        whole = _parsed("".join(lines))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None
    first = code.co_firstlineno
    near = [node for node in ast.walk(whole) if isinstance(node, ast.Lambda) and node.lineno == first]
    if len(near) > 1:
        near = [node for node in near if [*_code(_compiled(node, code.co_freevars))] == wanted]
    return near[0] if near else None


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _codes(source: str) -> tuple[types.CodeType, ...]:
    """All code in a source, compiled."""
    found = [compile(source, "source", "exec", dont_inherit=True)]
    for code in found:  # which grows
        found += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(found)


def _compiled(node: ast.Lambda, free: tuple[str, ...]) -> types.CodeType:
    """The code of a lambda, compiled alone, within a function that has the same variables around it."""
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
