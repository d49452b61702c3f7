"""The memory layout of Python objects, and machine code as built-in functions of Python.

Emitted code that Python calls directly with NumPy arrays reads their headers itself (type, dtype, flags, axes, data:
the public layout of NumPy's C interface). This takes nanoseconds, where ctypes takes microseconds. `layout_is_known`
checks the layout on existing objects first; if it returns False, no direct entries are used.
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

# offsets of fields in objects [byte]
HEAD = object.__basicsize__  # the first field after the object header; the last field of the header is the type
DATA, AXES, SHAPE, DTYPE, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # in an array
ORDER, KIND = HEAD + 10, HEAD + 12  # in a dtype: byte order (a letter) and type number
SWAPPED = ord(">")  # the letter of the wrong byte order
KINDS: dict[Precision, int] = {"float64": 12, "float32": 11}  # type numbers
ITEMS = tuple.__basicsize__  # in a tuple
USABLE = 0x1 | 0x100  # flags: C-contiguous, aligned
WRITEABLE = 0x400
# calling conventions: METH_FASTCALL, function(self, arguments, count), and METH_KEYWORDS, which adds the names
FASTCALL, KEYWORDS = 0x80, 0x2
# indices in NumPy's table of functions: its version, the type of arrays, and the function that makes an array
VERSION, ARRAY_TYPE, NEW_ARRAY = 0, 2, 94
KNOWN_VERSION = 0x2000000

# Objects and functions of the running interpreter that the emitted code uses. Their addresses are filled in after the
# LLVM module is loaded, so that the code itself is the same in every process and for every program name.
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
# the last ones: the NumPy function that makes an array; the program's error message; the Python function `make_lanes`
# that compiles code for batches; and the address of that code, which is zero before
PYTHON = (*OBJECTS, *FUNCTIONS, "new_array", "message", "make_lanes", "batch")


@cache
def layout_is_known() -> bool:
    """Whether arrays, floats and tuples have the memory layout that emitted code expects, and it can make arrays."""
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1 or sys.byteorder != "little":
        return False
    array, single, swapped = (
        np.zeros((3, 5)),
        np.dtype("f4"),
        np.dtype(">f8"),
    )  # variables keep these objects alive while they are read
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
    """NumPy's table of functions and types for C extensions, as an array of addresses."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    capsule = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API
    return ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_uint64))


def _arrays_can_be_made() -> bool:
    """Whether NumPy's table has the known version, and its function that makes arrays works."""
    try:
        table = _numpy_functions()
    except (ImportError, AttributeError, ValueError):
        return False
    if table[ARRAY_TYPE] != id(np.ndarray) or ctypes.CFUNCTYPE(ctypes.c_uint)(table[VERSION])() != KNOWN_VERSION:
        return False
    word, integer, thing = ctypes.c_void_p, ctypes.c_int, ctypes.py_object
    make = ctypes.PYFUNCTYPE(thing, thing, thing, integer, word, word, word, integer, word)(table[NEW_ARRAY])
    dtype = np.dtype("float32")
    ctypes.pythonapi.Py_IncRef(thing(dtype))  # the array takes ownership of one reference
    extents = (ctypes.c_int64 * 2)(3, 5)  # a variable keeps them alive while NumPy reads them
    made = make(np.ndarray, dtype, 2, ctypes.addressof(extents), None, None, 0, None)
    return bool(made.shape == (3, 5) and made.dtype == dtype and made.flags.carray and made.flags.owndata)


def addresses(message: ctypes.Array[ctypes.c_char], make_lanes: Callable[[], None]) -> list[int]:
    """The addresses of the names in `PYTHON`, in this order; the address of the code for batches is still 0."""
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in FUNCTIONS.values()
    ]
    own = [_numpy_functions()[NEW_ARRAY], ctypes.addressof(message), id(make_lanes), 0]
    return [id(value) for value in OBJECTS.values()] + functions + own


class _MethodDefinition(ctypes.Structure):
    """CPython's struct PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def built_in(address: int, name: str, doc: str, flags: int, *owned: object) -> Callable[..., Any]:
    """Machine code at `address` as a built-in function of Python; it gets the tuple `owned` as its first argument.

    The function keeps the owned objects alive, also the engine that has its machine code. `flags` is its calling
    convention.
    """
    texts = name.encode(), doc.encode()
    definition = np.frombuffer(bytes(_MethodDefinition(texts[0], address, flags, texts[1])), np.uint8).copy()
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    make.restype = ctypes.py_object
    # CPython reads the definition until the function has gone. The garbage collector frees the memory of a ctypes
    # structure while functions of the same garbage are still there; that of an array stays until its owner releases it.
    function: Callable[..., Any] = make(definition.ctypes.data, (*owned, definition, texts), None)
    return function
