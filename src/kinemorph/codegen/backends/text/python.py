"""The Python backend: programs as the source of a Python module that needs only NumPy.

A public function takes arrays like a compiled function, `(..., nq)` with leading axes that broadcast, and returns new
arrays. It calls a private function on arrays whose first axis counts the entries: an entry is a NumPy scalar for one
state and an array for a batch, and every line works for both. Loops that may end earlier in one state than in another
run state by state.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Sequence

from kinemorph.codegen.backends.identifiers import comment, identifier
from kinemorph.codegen.backends.text.languages import Language, Names, function_name
from kinemorph.codegen.backends.text.scripting import Function, Functions
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import (
    For,
    Foreign,
    If,
    LoopProgram,
    View,
    While,
    all_runnable,
    all_statements,
)

REALS = {"float64": "np.float64", "float32": "np.float32"}

# functions that are added to a module if it calls them
HELPERS = {
    "_evaluated": '''
def _evaluated(function, ports, arrays, shapes):
    """Puts the entries of each input first, evaluates, and puts them last again."""
    inputs, batches = [], []
    for (name, shape), array in zip(ports, arrays):
        array = np.asarray(array, dtype=real)
        axes = array.ndim - len(shape)
        if axes < 0 or array.shape[axes:] != shape:
            raise ValueError(f"input '{name}' has shape {array.shape}; expected {shape} after the axes of a batch")
        batches.append(array.shape[:axes])
        inputs.append(array.reshape((*batches[-1], math.prod(shape))))
    batch = np.broadcast_shapes(*batches)
    inputs = [np.broadcast_to(array, (*batch, array.shape[-1])) for array in inputs]
    with np.errstate(all="ignore"):
        outputs = function(*(np.ascontiguousarray(np.moveaxis(array, -1, 0)) for array in inputs))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    results = [np.moveaxis(out, 0, -1).reshape((*batch, *shape)) for out, shape in zip(outputs, shapes)]
    return results[0] if len(results) == 1 else tuple(results)
''',
    "_stacked": '''
def _stacked(*numbers):
    """Numbers or arrays of a batch as one array, one after the other along its first axis."""
    return np.stack(np.broadcast_arrays(*numbers)).astype(real)
''',
    "_gathered": '''
def _gathered(array, start, stride, number, count):
    """`count` entries from start + stride * number on; the number may differ from state to state."""
    first = np.clip(start + stride * np.nan_to_num(number), 0, len(array) - count).astype(int)
    places = first + np.arange(count).reshape(count, *[1] * first.ndim)
    array = array.reshape(*array.shape, *[1] * (places.ndim - array.ndim))
    return np.take_along_axis(np.broadcast_to(array, (len(array), *first.shape)), places, axis=0)
''',
    "_foreign": '''
def _foreign(function, sizes, *inputs):
    """Calls a function of user.py on copies of arrays; it returns arrays of the given sizes, several as a tuple."""
    outputs = function(*(array.copy() for array in inputs))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    arrays = tuple(np.asarray(output, dtype=real).ravel() for output in outputs)
    if tuple(map(len, arrays)) != sizes:
        found = tuple(map(len, arrays))
        raise ValueError(f"user.py: {function.__name__} returned arrays of sizes {found}; expected the sizes {sizes}")
    return arrays[0] if len(arrays) == 1 else arrays
''',
    "_bound": '''
def _bound(number):
    """The first whole number that is not below `number`; of no use as a bound where it is not a number."""
    return math.ceil(min(max(number, -1e15), 1e15)) if number == number else -(10**15)
''',
    "_state_by_state": '''
def _state_by_state(*sizes):
    """Lets a function of one state serve a batch. `sizes` says how many entries each of its outputs has."""

    def decorated(function):
        def over_batch(*inputs):
            batch = np.broadcast_shapes(*(array.shape[1:] for array in inputs))
            count = math.prod(batch)
            rows = [np.broadcast_to(array, (len(array), *batch)).reshape(len(array), count) for array in inputs]
            outs = [np.zeros((size, count), dtype=real) for size in sizes]
            for k in range(count):
                results = function(*(array[:, k] for array in rows))
                for out, result in zip(outs, results if isinstance(results, tuple) else (results,)):
                    out[:, k] = result
            outs = tuple(out.reshape(len(out), *batch) for out in outs)
            return outs[0] if len(outs) == 1 else outs

        return over_batch

    return decorated
''',
}


OWN = {"math", "np", "real", "batch", "user", *(helper[1:] for helper in HELPERS)}
LANGUAGE = Language(
    reserved=frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *OWN}),
    ops={
        "add": "{} + {}",
        "sub": "{} - {}",
        "mul": "{} * {}",
        "div": "{} / {}",
        "neg": "-({})",
        "sqrt": "np.sqrt({})",
        "pow": "np.power({}, {})",
        "exp": "np.exp({})",
        "log": "np.log({})",
        "sin": "np.sin({})",
        "cos": "np.cos({})",
        "tan": "np.tan({})",
        "asin": "np.arcsin({})",
        "acos": "np.arccos({})",
        "atan2": "np.arctan2({}, {})",
        "abs": "np.abs({})",
        "sign": "np.sign({})",
        "floor": "np.floor({})",
        "min": "np.minimum({}, {})",
        "max": "np.maximum({}, {})",
        "lt": "np.where({} < {}, real(1), real(0))",
        "le": "np.where({} <= {}, real(1), real(0))",
        "eq": "np.where({} == {}, real(1), real(0))",
        "where": "np.where({} != 0, {}, {})",
    },
    number=lambda value: repr(value) if abs(value) < float("inf") else f"np.{value!r}".replace("np.-", "-np."),
    typed_number="real({})",
    first=0,
    private="_",
    assign="{} = {}",
    entry="{}[{}]",
    span="{}[{}:{}]",
    gathered="_gathered({}, {}, {}, {}, {})",
    picked="_gathered({}, {}, {}, {}, 1)[0]",
    block="{}(_stacked({}))",
    between=", ",
    targets="{}",
    foreign="_foreign(user.{0}, ({1}), {2})",
    zeros="np.zeros(({}, *batch), dtype=real)",
    constant="np.array([{}], dtype=real)",
    repeat="for {} in range({}, {}):",
    bound="_bound({})",
    going="while {} > 0:",
    chosen="if {} > 0:",
    otherwise="else:",
    end=None,
)


def export_python(
    programs: Sequence[Program | LoopProgram], name: str, *, precision: str = "float64", user: str = "user"
) -> dict[str, str]:
    """{file name: text} of the module `name.py`, with one function for each program.

    A function has the name of its program, without the part before the last dot. It takes one state or a batch.
    Foreign functions are those of the module with the name `user`.
    """
    programs = all_runnable(programs, "export_python")
    real = of_precision(REALS, precision, programs)
    functions = Functions(LANGUAGE)
    names = [functions.names.new(function_name(program)) for program in programs]
    written = [functions.of(program, LANGUAGE.private + name) for name, program in zip(names, programs, strict=True)]
    public = [_public(name, function) for name, function in zip(names, written, strict=True)]
    private = [_private(function) for function in functions.written]
    body = "\n".join([*public, *private])
    helpers = [text.strip("\n") for helper, text in HELPERS.items() if f"{helper}(" in body]
    opening = [
        f'"""{comment(name) or "A model"}: {", ".join(names)}.',
        "",
        f"Emitted by Kinemorph. Numbers are {precision}, in SI units and radians. Each function takes one state or a",
        "batch of them: leading axes broadcast. What is not defined comes out as inf or nan, without a warning.",
        '"""',
        "",
        "import math",
        "",
        "import numpy as np",
        *(["", f"import {user} as user" if user != "user" else "import user"] if "_foreign(user." in body else []),
        "",
        f"real = {real}",
    ]
    return {f"{identifier(name)}.py": "\n\n\n".join(["\n".join(opening), *public, *helpers, *private]) + "\n"}


def _public(name: str, function: Function) -> str:
    """The source of a public function, which a user of the module calls."""
    program = function.program
    names = Names(LANGUAGE)
    taken = [names.new(port.name) for port in program.inputs]
    given = [f"{comment(port.name)} {_batched(port)}" for port in program.outputs]
    ports = _tuple(f'("{name}", {port.shape})' for name, port in zip(taken, program.inputs, strict=True))
    lines = [
        f"def {name}({', '.join(taken)}):",
        f'    """{comment(program.name)}: {program.ops} operations.',
        "",
        *(f"    {name}: shape {_batched(port)}" for name, port in zip(taken, program.inputs, strict=True)),
        "",
        f"    Returns {', '.join(given)}",
        '    """',
        f"    ports = {ports}",
        f"    shapes = {_tuple(str(port.shape) for port in program.outputs)}",
        f"    return _evaluated({function.name}, ports, {_tuple(taken)}, shapes)",
    ]
    return "\n".join(lines)


def _private(function: Function) -> str:
    """The source of a private function, on arrays with their entries along the first axis."""
    program = function.program
    lines = [f"def {function.name}({', '.join(function.inputs)}):"]
    if isinstance(program, LoopProgram) and not is_uniform(program):
        lines.insert(0, f"@_state_by_state({', '.join(str(port.size) for port in program.outputs)})")
    lines.append(f"    batch = np.broadcast_shapes({', '.join(f'{array}.shape[1:]' for array in function.inputs)})")
    return "\n".join([*lines, *function.lines, f"    return {', '.join(function.outputs)}"])


def _batched(port: Port) -> str:
    """The shape of a port with the leading axes of a batch, as in `(..., 3)`."""
    return "(" + ", ".join(["...", *map(str, port.shape)]) + ")"


def _tuple(items: Iterable[str]) -> str:
    """The source of a tuple of items that are source text themselves."""
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def is_uniform(program: LoopProgram) -> bool:
    """Whether the loops work on a whole batch at once: every state takes the same path, and no function is foreign.

    Called programs are not checked.
    """
    return not any(
        isinstance(statement, (While, If, Foreign)) or (isinstance(statement, For) and isinstance(statement.stop, View))
        for statement in all_statements(program.body)
    )
