"""What code of the user consists of: functions, classes, objects of these classes, and modules, each with its parts."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from enum import Enum
from itertools import chain
from typing import Any

from kinemorph.studies.experiments.origins import file_text, is_binary, is_own, package_text, place_of
from kinemorph.studies.experiments.reached import Package, Whole, files_among, of_function, of_module
from kinemorph.studies.experiments.source_texts import function_tree, source_text

Parts = tuple[str, Iterator[tuple[str, Any]]]  # what something is, and its parts by name
GENERATED = "<string>"  # the file of methods that dataclasses and named tuples write themselves
SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
METHODS = {staticmethod: "__func__", classmethod: "__func__", functools.cached_property: "func"}


def code_parts(value: Any, missed: Callable[[str], None]) -> Parts | None:
    """What a thing of code is, and its parts; None for data. `missed` takes the names of what is not followed."""
    if isinstance(value, types.FunctionType):
        if not is_own(home_of(value)):
            return outside_text(value) or "", own_cells(value)
        tree = function_tree(value)
        return source_text(value, tree).replace("\n", "\n    "), of_function(value, tree, missed)
    if isinstance(value, type):
        return f"class {value.__qualname__}", _methods(value)
    if isinstance(value, functools.partial):
        given = {str(k): one for k, one in enumerate(value.args)} | value.keywords
        return "partial", iter({"function": value.func, **given}.items())
    if isinstance(value, types.MethodType):
        return "method", iter({"of": value.__self__, "function": value.__func__}.items())
    if isinstance(value, types.ModuleType):
        return _module(value.__name__, getattr(value, "__file__", None), missed)
    if isinstance(value, Whole):
        return _module(value.name, place_of(value.name), missed)
    if isinstance(value, types.BuiltinFunctionType) and is_binary(value.__module__):
        return f"function {value.__name__}", iter([("module", Whole(str(value.__module__)))])
    return None


def home_of(value: Any) -> str | None:
    """The module whose code a function or a class is; `functools.wraps` gives wrappers the name of another one."""
    found = value.__globals__.get("__name__") if isinstance(value, types.FunctionType) else value.__module__
    return found if isinstance(found, str) else None


def thing_name(value: Any) -> str:
    """What code of the user is called in a text: "Arm.gain"; an object is called by its class."""
    if isinstance(value, (Whole, types.ModuleType)):
        return f"module {value.name if isinstance(value, Whole) else value.__name__}"
    return str((value if isinstance(value, (types.FunctionType, type)) else type(value)).__qualname__)


def outside_text(value: Any) -> str | None:
    """The name of a module, a function or a class that is not the user's, with the version of its package."""
    if isinstance(value, Package):
        return package_text(value.name)
    if isinstance(value, types.ModuleType):
        return None if is_own(value.__name__) else f"module {value.__name__}{of_package(value.__name__)}"
    module = home_of(value)
    if module is None or is_own(module):
        return None
    kind = "class" if isinstance(value, type) else "function"
    code = value.__code__.co_qualname if isinstance(value, types.FunctionType) else value.__qualname__
    return f"{kind} {module}.{code}{of_package(module)}"


def of_package(module: str) -> str:
    """The distribution of an installed module, as a text that follows its name: " of numpy 2.1.0"."""
    text = package_text(module)
    return f" of {text}" if text else ""


def own_cells(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The code of the user in the variables of a function that is not the user's, such as what a decorator wraps."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        many = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else (value,)
        if any(_is_own_code(one) for one in many):
            yield f"enclosed {name}", value


def _is_own_code(value: Any) -> bool:
    if isinstance(value, types.MethodType):
        return _is_own_code(value.__func__)
    if isinstance(value, types.FunctionType):
        return is_own(home_of(value)) or any(True for _ in own_cells(value))
    return is_own((value if isinstance(value, type) else type(value)).__module__)


def state_of(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object of a class of the user holds, with the files that it names, and without what it only caches."""
    held: dict[str, Any] = {}
    state = object.__getstate__(value)
    for part in state if isinstance(state, tuple) else (state,):
        held |= part or {}
    kind = type(value)
    cached = [name for name in held if isinstance(getattr(kind, name, None), functools.cached_property)]
    kept = [(str(name), part) for name, part in held.items() if name not in cached]
    return chain(
        sorted(kept, key=lambda pair: pair[0]), files_among((part for _, part in kept), ("",)), of_class(value)
    )


def of_class(value: Any) -> Iterator[tuple[str, Any]]:
    """The class of an object, where it is one of the user, whose methods may compute something else one day."""
    kind = type(value)
    if is_own(kind.__module__):
        yield "class", kind


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """What determines what objects of a class do: its methods, its data, and the classes it is made from."""
    if is_binary(kind.__module__):
        yield "module", Whole(kind.__module__)
    for name, part in vars(kind).items():
        made = getattr(part, METHODS.get(type(part), ""), part)
        if isinstance(part, property):
            yield from ((f"{name} {way}", getattr(part, way)) for way in ("fget", "fset") if getattr(part, way))
        elif isinstance(made, types.FunctionType):
            if made.__code__.co_filename != GENERATED:
                yield name, made
        elif name == "__dataclass_fields__":
            factories = ((one.name, one.default_factory) for one in part.values())
            yield from ((f"default {one}", made) for one, made in factories if made is not MISSING)
        elif issubclass(kind, Enum) and name in kind.__members__:
            yield name, part.value if isinstance(part, Enum) else kind.__members__[name].value
        elif not (name.startswith("__") or isinstance(part, SLOTS) or name == "_abc_impl" or issubclass(kind, Enum)):
            yield name, made
    yield from ((f"base {base.__name__}", base) for base in kind.__bases__ if base is not object)
    if type(kind) is not type and is_own(type(kind).__module__):
        yield "metaclass", type(kind)


def _module(name: str, place: str | None, missed: Callable[[str], None]) -> Parts:
    """A module by its whole source."""
    none: Mapping[str, Any] = {}
    if place is None or not os.path.exists(place):
        missed(f"module '{name}', which has no source")
        return f"module {name}", iter(none.items())
    if os.path.isdir(place):
        return f"module {name}", iter(none.items())
    try:
        with tokenize.open(place) as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError):  # compiled
        return f"module {name}, {file_text(place)}", iter(none.items())
    digest = hashlib.sha256(ast.unparse(tree).encode()).hexdigest()
    return f"module {name}, source {digest[:16]}", of_module(name, tree, place, missed)
