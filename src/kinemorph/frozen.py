"""Frozen dataclasses that make importing fast.

The standard library generates six methods for every frozen dataclass and compiles each of them on import. That takes
half a millisecond per class: a quarter of the time from a model file to the first value when compiled code is already
cached. Here all classes share one `__eq__`, `__hash__`, `__repr__`, `__setattr__` and `__delattr__`, and only
`__init__` is generated for each class. `fields`, `replace`, `asdict` and pattern matching work as for standard
dataclasses, and type checkers see the decorator of the standard library. Subclasses have to use this decorator too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True) -> Any:
        """The decorator `dataclasses.dataclass` for frozen classes; methods that the class defines are not replaced."""
        assert frozen

        def made(cls: type) -> type:
            kept = {name for name, value in vars(cls).items() if value is not None}  # __hash__ is None beside an __eq__
            shared = ["__setattr__", "__delattr__"] + ["__repr__"] * repr + ["__eq__", "__hash__"] * eq
            dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
            fields = dataclasses.fields(cls)
            cls._compared = _values([field.name for field in fields if field.compare])
            cls.__init__ = _initializer(cls, fields)
            for name in shared:
                if name not in kept:
                    setattr(cls, name, METHODS[name])
            return cls

        return made


def _values(names: list[str]) -> Any:
    """A function that returns the values of these fields of an object, as a tuple."""
    if len(names) > 1:
        return staticmethod(attrgetter(*names))
    return staticmethod(lambda self: tuple([getattr(self, name) for name in names]))


def _initializer(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """`__init__` for a class: it writes to `__dict__`, because `__setattr__` refuses every assignment."""
    given, lines = ["self"], ["own = self.__dict__"]
    names: dict[str, Any] = {"default": {}, "made": {}, "missing": _MISSING}
    names["__name__"] = cls.__module__  # so that a warning of `__post_init__` shows the line of the user
    for field in fields:
        name, value = field.name, field.name
        if field.default is not dataclasses.MISSING:
            names["default"][name] = field.default
            given.append(f"{name}=default[{name!r}]")
        elif field.default_factory is not dataclasses.MISSING:
            names["made"][name] = field.default_factory
            given.append(f"{name}=missing")
            value = f"made[{name!r}]() if {name} is missing else {name}"
        else:
            given.append(name)
        lines.append(f"own[{name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    found: dict[str, Any] = {}
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(lines), names, found)  # as the standard library does
    init = found["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return init


class Fixed:
    """A base class for frozen records that cache results computed from their fields, such as compiled code.

    Pickling stores the fields without the cached results: a process that loads the pickle computes them again, and
    finds compiled code in the cache on disk. A field whose name begins with "_" is a dict of cached results, and is
    pickled as an empty dict. `copy` and `deepcopy` return the record itself, because it never changes.
    """

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: {} if name.startswith("_") else getattr(self, name) for name in names}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


# ── methods that all classes share ────────────────────────────────────────────────────────────────────────────────────

MOST_SHOWN = 50  # numbers of a table in the text of a record
_MISSING = object()  # the default of an argument that is not given and has a `default_factory`


def _repr(self: Any) -> str:
    shown = [f"{field.name}={_text(getattr(self, field.name))}" for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _text(value: Any) -> str:
    """A value as text; of a table with many numbers, such as the vertices of a mesh, the size."""
    row = value[0] if isinstance(value, tuple) and value else None
    columns = row if isinstance(row, tuple) and row else (row,)
    if isinstance(columns[0], (int, float)) and len(value) * len(columns) > MOST_SHOWN:
        return f"<{len(value)}{f' x {len(columns)}' if columns is row else ''} numbers>"
    return repr(value)


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _guard(self: Any, name: str, *value: Any) -> None:
    """`__setattr__` and `__delattr__`: refuses to change the object, as a frozen dataclass does."""
    verb = "assign to" if value else "delete"
    raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")


METHODS = {"__repr__": _repr, "__eq__": _eq, "__hash__": _hash, "__setattr__": _guard, "__delattr__": _guard}


def kept_in(owner: object, name: str, make: Callable[[], T]) -> T:
    """The result of `make()`, computed once and cached in a frozen record; copies and pickles of it leave it out.

    Unlike `kept_with`, it does not compare records.
    """
    kept: dict[str, T] = vars(owner)
    if name not in kept:
        kept[name] = make()
    return kept[name]


def kept_with(make: Callable[[K], T]) -> Callable[[K], T]:
    """A decorator: `make(owner)` is called once for each owner, and its result is cached until the owner is freed.

    The result must not refer to the owner, or neither of them is ever freed.
    """
    kept: WeakKeyDictionary[K, T] = WeakKeyDictionary()

    @wraps(make)
    def found(owner: K) -> T:
        if owner not in kept:
            kept[owner] = make(owner)
        return kept[owner]

    return found
