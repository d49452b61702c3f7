"""What code of the user consists of: functions, classes, objects of these classes, modules, and C; each with its parts.

Code that is not the user's is known by its name and the version of its distribution.
A function counts by its source without comments and layout, and by its bytecode where there is no source.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from kinemorph.model.elements.control.c_functions import CController, is_c_text
from kinemorph.studies.experiments.origins import file_text, is_binary, is_own, package_text, place_of
from kinemorph.studies.experiments.reached import Named, Whole, files_among, of_function, of_source

Parts = tuple[str, Named]  # what something is, and its parts by name
GENERATED = "<string>"  # the file of methods that dataclasses and named tuples write themselves
SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
METHODS = {staticmethod: "__func__", classmethod: "__func__", functools.cached_property: "func"}
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(?:([\"<])([^\">]+)|(\w.*))", re.MULTILINE)


def code_parts(value: Any, missed: Callable[[str], None]) -> Parts | None:
    """What a thing of code is, and its parts; None for data. `missed` takes the names of what is not followed."""
    if isinstance(value, types.FunctionType) and is_own(home_of(value)):
        tree = _function_tree(value)
        return _source_text(value, tree).replace("\n", "\n    "), of_function(value, tree, missed)
    if not is_own(type(value).__module__) and hasattr(value, "__wrapped__"):  # in a function of a library
        return "wrapped", iter({"function": value.__wrapped__, "others": dict(getattr(value, "registry", {}))}.items())
    if isinstance(value, type):
        return f"class {value.__qualname__}", _methods(value)
    if isinstance(value, functools.partial):
        given = {str(k): one for k, one in enumerate(value.args)} | value.keywords
        return "partial", iter({"function": value.func, **given}.items())
    if isinstance(value, types.MethodType):
        return "method", iter({"of": value.__self__, "function": value.__func__}.items())
    if isinstance(value, types.BuiltinFunctionType) and is_binary(value.__module__):
        return f"function {value.__name__}", iter([("module", Whole(value.__module__))])
    if isinstance(value, Whole):
        return _module(value, place_of(value), missed)
    return None


def home_of(value: Any) -> str | None:
    """The module whose code a function or a class is; `functools.wraps` gives wrappers the name of another one."""
    found = value.__globals__.get("__name__") if isinstance(value, types.FunctionType) else value.__module__
    return found if isinstance(found, str) else None


def outside_text(value: Any) -> str | None:
    """The name of a module, a function or a class that is not the user's, with the version of its distribution."""
    if isinstance(value, types.ModuleType):
        return None if is_own(value.__name__) else f"module {value.__name__}{of_package(value.__name__)}"
    module = home_of(value)
    if module is None or is_own(module) or hasattr(value, "__wrapped__"):
        return None
    kind = "class" if isinstance(value, type) else "function"
    return f"{kind} {module}.{value.__qualname__}{of_package(module)}"


def of_package(module: str) -> str:
    """The distribution of an installed module, as a text that follows its name: " of numpy 2.1.0"."""
    text = package_text(module)
    return f" of {text}" if text else ""


def state_of(value: Any) -> Named:
    """What an object of a class of the user holds, with the files that it names, and without what it only caches."""
    kind, state = type(value), object.__getstate__(value)
    held = [pair for part in (state if isinstance(state, tuple) else (state,)) for pair in (part or {}).items()]
    kept = [pair for pair in held if not isinstance(getattr(kind, pair[0], None), functools.cached_property)]
    yield from sorted(kept, key=lambda pair: pair[0])
    yield from files_among((part for _, part in kept), ("",))
    yield "class", kind


def _methods(kind: type) -> Named:
    """What determines what objects of a class do: its methods, its data, and the classes it is made from."""
    if is_binary(kind.__module__):
        yield "module", Whole(kind.__module__)
    for name, part in vars(kind).items():
        made = getattr(part, METHODS.get(type(part), ""), part)
        if isinstance(part, property):
            yield from ((f"{name} {way}", getattr(part, way)) for way in ("fget", "fset"))
        elif isinstance(made, types.FunctionType):
            if getattr(made, "__wrapped__", made).__code__.co_filename != GENERATED:
                yield name, made
        elif name == "__dataclass_fields__":
            factories = ((one.name, one.default_factory) for one in part.values())
            yield from ((f"default {one}", made) for one, made in factories if made is not MISSING)
        elif issubclass(kind, Enum):
            if name in kind.__members__:
                yield name, kind.__members__[name].value
        elif not (name.startswith("__") or isinstance(part, SLOTS) or name == "_abc_impl"):
            yield name, made
    yield from ((f"base {base.__name__}", base) for base in (*kind.__bases__, type(kind)) if base not in (object, type))


def _module(name: Whole, place: str | None, missed: Callable[[str], None]) -> Parts:
    """A module by its whole source, without comments; a folder is a module without code."""
    if place is None or not os.path.exists(place):
        missed(f"module '{name}', which has no source")
        return name, iter(())
    if os.path.isdir(place) or is_binary(name):
        return file_text(place), iter(())
    tree = ast.parse(Path(place).read_bytes())
    digest = hashlib.sha256(ast.unparse(tree).encode()).hexdigest()
    return f"source {digest[:16]}", of_source(name, tree, place, missed)


def c_files(element: CController, missed: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """("file NAME", its content) of the sources of a controller and of the headers that they include, but the system's.

    `missed` takes the includes whose names are macros.
    """
    waiting: dict[str, None] = dict.fromkeys(map(str, element.source))
    for source in (places := [*waiting]):  # which grows
        text, folder = source, ""
        if not is_c_text(source):
            yield f"file {os.path.basename(source)}", file_text(source)
            folder = os.path.dirname(source)
            text = Path(source).read_text(encoding="utf-8", errors="replace") if os.path.isfile(source) else ""
        for mark, name, macro in INCLUDE.findall(text):
            if macro:
                missed(f"#include {macro.strip()} of controller '{element.name}'")
            folders = [*([folder] if folder and mark == '"' else []), *map(str, element.include)]
            path = next(filter(os.path.isfile, (os.path.join(one, name) for one in folders)), None)
            if path is not None and path not in waiting:
                waiting[path] = None
                places.append(path)


# ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _source_text(function: types.FunctionType, tree: ast.AST | None) -> str:
    """The source of a function from its tree, or its bytecode where there is no source."""
    if tree is not None:
        return ast.unparse(tree)
    return "\n".join([f"bytecode of Python {sys.version_info[0]}.{sys.version_info[1]}", *_code(function.__code__)])


def _function_tree(function: types.FunctionType) -> ast.AST | None:
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
