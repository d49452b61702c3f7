"""How Python objects lie in memory, and machine code as Python built-ins.

Emitted code that takes NumPy arrays straight from the interpreter reads their headers itself (type, dtype, flags, axes,
data: the public layout of NumPy's C interface), which takes nanoseconds where ctypes takes microseconds.
`layout_is_known` looks at live objects first; where it says no, nothing of this is used.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kinemorph.codegen.backends import Precision
from kinemorph.errors import ShapeError

HEAD = object.__basicsize__  # bytes before an object's own fields; the type is the last of them
DATA, AXES, SHAPE, DTYPE, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # of an array
ORDER, KIND = HEAD + 10, HEAD + 12  # of a dtype: byte order (a letter) and type number
SWAPPED = ord(">")  # what the order is where it is the wrong one
KINDS: dict[Precision, int] = {"float64": 12, "float32": 11}  # type numbers
ITEMS = tuple.__basicsize__  # of a tuple
USABLE = 0x1 | 0x100  # flags: C-contiguous, aligned
WRITEABLE = 0x400
# calling conventions: METH_FASTCALL, function(self, arguments, count), and METH_KEYWORDS, which adds the names
FASTCALL, KEYWORDS = 0x80, 0x2
# NumPy's table of functions: where it has its version, the type of arrays, and the function that makes one
VERSION, ARRAY_TYPE, NEW_ARRAY = 0, 2, 94
KNOWN_VERSION = 0x2000000

# What the emitted code needs of the running interpreter, and the message of its error. The addresses are filled in once
# the module is loaded, so that the code itself is the same in every process and for every name.
OBJECTS: dict[str, object] = {
    "array": np.ndarray,
    "float": float,
    "double": np.float64,
    "tuple": tuple,
    "true": True,
    "false": False,
    "shape_error": ShapeError,
    "float64": np.dtype("float64"),
    "float32": np.dtype("float32"),
}
FUNCTIONS = {
    "retain": "Py_IncRef",
    "release": "Py_DecRef",
    "invoke": "PyObject_CallNoArgs",
    "unlock": "PyEval_SaveThread",
    "lock": "PyEval_RestoreThread",
    "set_error": "PyErr_SetString",
    "new_tuple": "PyTuple_New",
    "vectorcall": "PyObject_Vectorcall",
}
# last, the function of NumPy that makes an array, and what belongs to one program: its error message, the machine code
# for batches, which is zero until `make_lanes`, a Python function, was run
PYTHON = (*OBJECTS, *FUNCTIONS, "new_array", "message", "make_lanes", "batch")


@cache
def layout_is_known() -> bool:
    """Whether arrays, floats and tuples lie in memory as the emitted code expects, and NumPy makes arrays for it."""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1 or sys.byteorder != "little":
        return False
    array, single, swapped = (
        np.zeros((3, 5)),
        np.dtype("f4"),
        np.dtype(">f8"),
    )  # held here, so that what is read is still theirs
    array.flags.writeable = False
    start = id(array)

    def word(address: int) -> int:
        return ctypes.c_uint64.from_address(address).value

    def half(address: int) -> int:
        return ctypes.c_uint32.from_address(address).value

    def letter(address: int) -> int:
        return ctypes.c_uint8.from_address(address).value

    fields = [
        (word(start + HEAD - 8), id(np.ndarray)),
        (word(start + DATA), array.ctypes.data),
        (half(start + AXES), 2),
        (word(start + DTYPE), id(array.dtype)),
        (half(id(array.dtype) + KIND), KINDS["float64"]),
        (half(id(single) + KIND), KINDS["float32"]),
        (letter(id(array.dtype) + ORDER) == SWAPPED, False),
        (letter(id(swapped) + ORDER) == SWAPPED, True),
        (half(start + FLAGS) & (USABLE | WRITEABLE), USABLE),
    ]
    if any(found != expected for found, expected in fields):
        return False
    shape = word(start + SHAPE)
    numbers, pair = (0.1, np.float64(0.2)), (array, start)
    return (
        (word(shape), word(shape + 8)) == (3, 5)
        and all(ctypes.c_double.from_address(id(number) + HEAD).value == number for number in numbers)
        and (word(id(pair) + ITEMS), word(id(pair) + ITEMS + 8)) == (id(array), id(start))
        and _arrays_can_be_made()
    )


def _numpy_functions() -> Any:
    """NumPy's table of functions and types for compiled code, as addresses."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    capsule = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API
    return ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_uint64))


def _arrays_can_be_made() -> bool:
    """Whether NumPy's table is the known one, and what is expected to make an array makes one."""
    try:
        table = _numpy_functions()
    except (ImportError, AttributeError, ValueError):
        return False
    if table[ARRAY_TYPE] != id(np.ndarray) or ctypes.CFUNCTYPE(ctypes.c_uint)(table[VERSION])() != KNOWN_VERSION:
        return False
    word, integer, thing = ctypes.c_void_p, ctypes.c_int, ctypes.py_object
    make = ctypes.PYFUNCTYPE(thing, thing, thing, integer, word, word, word, integer, word)(table[NEW_ARRAY])
    dtype = np.dtype("float32")
    ctypes.pythonapi.Py_IncRef(thing(dtype))  # the array takes over a reference
    made = make(np.ndarray, dtype, 2, ctypes.addressof((ctypes.c_int64 * 2)(3, 5)), None, None, 0, None)
    return bool(made.shape == (3, 5) and made.dtype == dtype and made.flags.carray and made.flags.owndata)


def addresses(message: ctypes.Array[ctypes.c_char], make_lanes: Callable[[], None]) -> list[int]:
    """The addresses of `PYTHON`, in its order; none yet for batches."""
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in FUNCTIONS.values()
    ]
    own = [_numpy_functions()[NEW_ARRAY], ctypes.addressof(message), id(make_lanes), 0]
    return [id(value) for value in OBJECTS.values()] + functions + own


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def built_in(address: int, name: str, doc: str, flags: int, *owned: object) -> Callable[..., Any]:
    """Machine code at `address` as a Python built-in, with the tuple `owned` as the first argument of each call.

    It keeps what is owned alive, so its code cannot vanish under it.
    """
    definition = _MethodDefinition(name.encode(), address, flags, doc.encode())
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    make.restype = ctypes.py_object
    function: Callable[..., Any] = make(ctypes.addressof(definition), (*owned, definition), None)
    return function
