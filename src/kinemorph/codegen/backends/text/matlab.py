"""The MATLAB backend: programs as function files for MATLAB and GNU Octave, with nothing to install.

There is one file per program, `name_function.m`. Vectors are columns (rows are accepted too), matrices have their own
shape; inside the function all arrays are flat, row by row. MATLAB functions that would return a complex number, or
ignore a NaN, are wrapped, so that every op gives the same result as in the interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinemorph.codegen.backends.identifiers import comment, identifier
from kinemorph.codegen.backends.text.languages import Language, Names, function_name
from kinemorph.codegen.backends.text.scripting import Function, Functions
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram, all_runnable

OWNER = 24  # the most characters of `name` in the name of a function, which may have 63 characters

# local functions, each added to the files that call it; no identifier of a model contains two underscores in a row
HELPERS = {
    "f__sqrt": """
function y = f__sqrt(x)
    if x < 0
        y = NaN;
    else
        y = sqrt(x);
    end
end
""",
    "f__log": """
function y = f__log(x)
    if x < 0
        y = NaN;
    else
        y = log(x);
    end
end
""",
    "f__asin": """
function y = f__asin(x)
    if abs(x) > 1
        y = NaN;
    else
        y = asin(x);
    end
end
""",
    "f__acos": """
function y = f__acos(x)
    if abs(x) > 1
        y = NaN;
    else
        y = acos(x);
    end
end
""",
    "f__pow": """
function z = f__pow(x, y)
    if x == 1 || y == 0
        z = 1;
    elseif abs(y) == Inf
        if x == -1
            z = 1;
        else
            z = abs(x)^y;
        end
    elseif x < 0 && y ~= floor(y) && x ~= -Inf
        z = NaN;
    elseif x == -Inf && y ~= floor(y)
        z = Inf^y;
    else
        z = x^y;
    end
end
""",
    "f__min": """
function y = f__min(a, b)
    if a ~= a || b ~= b
        y = a + b;
    else
        y = min(a, b);
    end
end
""",
    "f__max": """
function y = f__max(a, b)
    if a ~= a || b ~= b
        y = a + b;
    else
        y = max(a, b);
    end
end
""",
    "f__where": """
function y = f__where(c, a, b)
    if c ~= 0
        y = a;
    else
        y = b;
    end
end
""",
    "f__gathered": """
function y = f__gathered(x, start, stride, number, count)
    if number ~= number
        number = 0;
    end
    first = fix(min(max(start + stride * number, 0), numel(x) - count));
    y = x(first + 1:first + count);
end
""",
    "f__bound": """
function y = f__bound(x)
    if x ~= x
        y = -1e15;
    else
        y = ceil(min(max(x, -1e15), 1e15));
    end
end
""",
}
RESERVED = frozenset(
    re.findall(
        r"\w+",
        "break case catch classdef continue else elseif end enumeration events for function global if methods "
        "otherwise parfor persistent properties return spmd switch try while do until endfor endif endfunction "
        "endwhile endswitch end_try_catch end_unwind_protect endparfor unwind_protect unwind_protect_cleanup abs "
        "acos asin atan2 ans ceil cos double eps error eval exp false fix floor i inf Inf j log max min nan NaN "
        "numel permute pi reshape sign sin single size sqrt system tan true zeros",
    )
)
LANGUAGE = Language(
    reserved=RESERVED,
    ops={
        "add": "{} + {}",
        "sub": "{} - {}",
        "mul": "{} * {}",
        "div": "{} / {}",
        "neg": "-({})",
        "sqrt": "f__sqrt({})",
        "pow": "f__pow({}, {})",
        "exp": "exp({})",
        "log": "f__log({})",
        "sin": "sin({})",
        "cos": "cos({})",
        "tan": "tan({})",
        "asin": "f__asin({})",
        "acos": "f__acos({})",
        "atan2": "atan2({}, {})",
        "abs": "abs({})",
        "sign": "sign({})",
        "floor": "floor({})",
        "min": "f__min({}, {})",
        "max": "f__max({}, {})",
        "lt": "double({} < {})",
        "le": "double({} <= {})",
        "eq": "double({} == {})",
        "where": "f__where({}, {}, {})",
    },
    number=lambda value: repr(value).replace("inf", "Inf").replace("nan", "NaN"),
    typed_number="{}",
    first=1,
    private="f__",
    assign="{} = {};",
    entry="{}({})",
    span="{}({}:{})",
    gathered="f__gathered({}, {}, {}, {}, {})",
    picked="f__gathered({}, {}, {}, {}, 1)",
    block="{}([{}])",
    between="; ",
    targets="[{}]",
    foreign="{0}({2})",
    zeros="zeros({}, 1)",
    constant="[{}]",
    repeat="for {} = {}:{}",
    bound="f__bound({})",
    going="while {} > 0",
    chosen="if {} > 0",
    otherwise="else",
    end="end",
)
DIALECTS = {  # precision -> class of numbers, spellings
    "float64": ("double", LANGUAGE),
    "float32": ("single", replace(LANGUAGE, zeros="zeros({}, 1, 'single')", constant="single([{}])")),
}
Dialect = tuple[str, Language]


def export_matlab(
    programs: Sequence[Program | LoopProgram],
    name: str,
    *,
    precision: str = "float64",
    foreign: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """{file name: text} of one function file for each program; its name is `name` and the name of the program.

    `foreign` are the names of foreign functions, which are functions in files of their own, where they differ from the
    names in the programs.
    """
    programs = all_runnable(programs, "export_matlab")
    dialect = of_precision(DIALECTS, precision, programs)
    names = Names(LANGUAGE)
    owner = identifier(name)[:OWNER].rstrip("_")
    files = {}
    for program in programs:
        function = names.new(f"{owner}_{function_name(program)}")
        files[f"{function}.m"] = _file(program, function, dialect, foreign)
    return files


def _file(program: Program | LoopProgram, name: str, dialect: Dialect, foreign: Mapping[str, str] | None = None) -> str:
    """The text of the function file of a program: its function, then the local functions that it needs."""
    kind, language = dialect
    functions = Functions(language, foreign)
    top = functions.of(program, name)
    texts = [_public(top, kind)]
    texts += [_local(function) for function in functions.written if function is not top]
    body = "\n\n".join(texts)
    texts += [helper.strip("\n") for called, helper in HELPERS.items() if f"{called}(" in body]
    return "\n\n".join(texts) + "\n"


def _public(function: Function, kind: str) -> str:
    """The main function of a file: it checks and flattens its inputs, computes, and reshapes the outputs.

    `kind` is the MATLAB class of numbers.
    """
    program = function.program
    inputs = list(zip(function.inputs, program.inputs, strict=True))
    outputs = list(zip(function.outputs, program.outputs, strict=True))
    lines = [
        _opening(function),
        f"%{function.name.upper()}  {comment(program.name)}: {program.ops} operations.",
        *(f"%   {array}: {_size(port)}" for array, port in inputs),
        "%   Returns " + ", ".join(f"{array}: {_size(port)}" for array, port in outputs),
        f"%   Emitted by Kinemorph. Numbers are {kind}, in SI units and radians.",
    ]
    for array, port in inputs:
        lines.append(f"    if numel({array}) ~= {port.size}")
        lines.append(f"        error('input {array} has %d entries; expected {port.size}', numel({array}));")
        lines.append("    end")
        flat = array if len(port.shape) < 2 else f"permute({array}, {_axes(port)})"
        lines.append(f"    {array} = {kind}(reshape({flat}, {port.size}, 1));")
    lines += function.lines
    for array, port in outputs:
        if len(port.shape) > 1:
            turned = " ".join(map(str, reversed(port.shape)))
            lines.append(f"    {array} = permute(reshape({array}, [{turned}]), {_axes(port)});")
    return "\n".join([*lines, "end"])


def _local(function: Function) -> str:
    """A local function, on flat arrays."""
    return "\n".join([_opening(function), *function.lines, "end"])


def _opening(function: Function) -> str:
    """The first line of a function."""
    outputs = function.outputs[0] if len(function.outputs) == 1 else f"[{', '.join(function.outputs)}]"
    return f"function {outputs} = {function.name}({', '.join(function.inputs)})"


def _axes(port: Port) -> str:
    """All axes in reverse order, since MATLAB stores arrays by columns and the flat arrays are by rows."""
    return f"[{' '.join(str(axis) for axis in range(len(port.shape), 0, -1))}]"


def _size(port: Port) -> str:
    """The shape of a port in MATLAB, as in `3 x 1`."""
    return " x ".join(map(str, port.shape if len(port.shape) > 1 else (port.size, 1)))
