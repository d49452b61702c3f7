"""What code of the user consists of: functions, classes, objects of these classes, modules, and C; each with its parts.

Code that is not the user's is known by its name and the version of its distribution.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from enum import Enum
from pathlib import Path
from typing import Any

from kinemorph.model.elements.control.c_functions import CController, is_c_text
from kinemorph.studies.experiments.origins import file_text, is_binary, is_own, package_text, place_of
from kinemorph.studies.experiments.reached import Named, Whole, files_among, of_function, of_source
from kinemorph.studies.experiments.source_texts import function_tree, source_text

Parts = tuple[str, Named]  # what something is, and its parts by name
GENERATED = "<string>"  # the file of methods that dataclasses and named tuples write themselves
SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
METHODS = {staticmethod: "__func__", classmethod: "__func__", functools.cached_property: "func"}
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(?:([\"<])([^\">]+)|(\w.*))", re.MULTILINE)


def code_parts(value: Any, missed: Callable[[str], None]) -> Parts | None:
    """What a thing of code is, and its parts; None for data. `missed` takes the names of what is not followed."""
    if isinstance(value, types.FunctionType) and is_own(home_of(value)):
        tree = function_tree(value)
        return source_text(value, tree).replace("\n", "\n    "), of_function(value, tree, missed)
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
