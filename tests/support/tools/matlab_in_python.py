"""The small part of MATLAB that the backend writes, as Python: so that emitted text runs where no MATLAB is.

Arrays answer calls, counted from 1 and down their columns; every kind of statement is one regular expression. Functions
refuse arguments for which MATLAB would answer with a complex number.
"""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

import numpy as np

from kinemorph.codegen.backends.text.matlab import LANGUAGE, export_matlab

FOREIGN = re.compile(rf"\b({'|'.join(word for word in keyword.kwlist if word not in LANGUAGE.reserved)})\b")


class Array(np.ndarray):
    """An array that is read as MATLAB reads one: `a(3)`, `a(2:4)`, down its columns, from 1."""

    def __call__(self, place: Any) -> Any:
        flat = np.asarray(self).reshape(-1, order="F")
        return array(flat[np.asarray(place) - 1]) if isinstance(place, np.ndarray) else flat[index(place, flat.size)]

    def put(self, place: Any, value: Any) -> None:  # type: ignore[override]
        """`a(place) = value` on a column."""
        assert self.shape[1] == 1
        if isinstance(place, np.ndarray):
            assert np.size(value) == place.size and place.max() <= len(self)
            self[place - 1, 0] = np.asarray(value).reshape(-1)
        else:
            self[index(place, len(self)), 0] = value


def index(place: Any, size: int) -> int:
    assert place == int(place) and 1 <= place <= size, f"place {place} of {size}"
    return int(place) - 1


def array(values: Any) -> Array:
    flat = np.asarray(values, dtype=float)
    return (flat.reshape(-1, 1) if flat.ndim < 2 else flat).view(Array)


def real(function: Any) -> Any:
    """A function that must never be asked for a complex number."""

    def checked(*arguments: Any) -> Any:
        with np.errstate(invalid="raise", divide="ignore", over="ignore", under="ignore"):
            given = [float(argument) for argument in arguments]
            return function(*map(np.float64, given)) if all(map(math.isfinite, given)) else loose(function, given)

    return checked


def loose(function: Any, arguments: list[float]) -> Any:
    with np.errstate(all="ignore"):
        return function(*map(np.float64, arguments))


def refuse(message: str, *details: Any) -> None:
    raise ValueError(message % tuple(map(int, details)))


BUILT_IN: dict[str, Any] = {
    **{name: real(getattr(np, name)) for name in ("sin", "cos", "tan", "exp", "floor", "ceil", "fix", "abs", "sign")},
    **{"sqrt": real(np.sqrt), "log": real(np.log), "asin": real(np.arcsin), "acos": real(np.arccos)},
    **{"atan2": real(np.arctan2), "min": real(np.fmin), "max": real(np.fmax), "power": real(np.power)},
    "double": lambda x: x if isinstance(x, Array) else float(x),
    "single": lambda x: array(np.asarray(x).astype(np.float32).astype(float)),
    "zeros": lambda n, m, kind="double": array(np.zeros((n, m))),
    "numel": np.size,
    "reshape": lambda a, *shape: (
        np.asarray(a)
        .reshape([int(n) for n in (np.ravel(shape[0]) if len(shape) == 1 else shape)], order="F")
        .view(Array)
    ),
    "permute": lambda a, axes: np.transpose(a, [int(axis) - 1 for axis in np.ravel(axes)]).view(Array),
    "error": refuse,
    "column": array,
    "span": lambda a, b: np.arange(int(a), int(b) + 1),
    **{"NaN": math.nan, "Inf": math.inf},
}


def in_python(text: str) -> str:
    """The text in Python, statement by statement."""
    lines: list[str] = []
    closing: list[str] = []
    outputs = ""
    for line in text.splitlines():
        indent, words = re.fullmatch(r"( *)(.*)", line).groups()  # type: ignore[union-attr]
        words = FOREIGN.sub(r"\1_", words.rstrip(";"))
        words = words.replace("~=", "!=").replace("&&", "and").replace("||", "or")
        if not words or words.startswith("%"):
            continue
        if found := re.fullmatch(r"function \[?([^\]]*?)\]? = (\w+)\((.*)\)", words):
            outputs = found[1]
            closing.append("function")
            lines.append(f"def {found[2]}({found[3]}):")
        elif found := re.fullmatch(r"for (\w+) = (.*):(.*)", words):
            closing.append("for")
            lines.append(f"{indent}for {found[1]} in range(int({found[2]}), int({found[3]}) + 1):")
        elif found := re.fullmatch(r"(while|if) (.*)", words):
            closing.append(found[1])
            lines.append(f"{indent}{words}:")
        elif words.startswith("else"):
            lines.append(indent + words.replace("elseif", "elif") + ":")
        elif words == "end":
            if closing.pop() == "function":
                lines.append(f"    return {outputs}")
        else:
            lines += [indent + statement for statement in assignment(words)]
    assert not closing, "every block is closed"
    return "\n".join(lines)


def assignment(words: str) -> list[str]:
    """`a = x`, `a(k) = x`, `[a(1:3), b(k)] = f(...)`; powers, ranges and columns on the right."""
    words = re.sub(r"([\w()]+)\^(\w+)", r"power(\1, \2)", words)
    words = re.sub(r"\((?!\()([^():]+):([^():]+)\)", r"(span(\1, \2))", words)
    if words.startswith("error("):
        return [words]
    target, _, value = words.partition(" = ")
    value = re.sub(r"\[([^\[\]]*)\]", lambda found: f"column([{re.sub('; | (?=[0-9]+)', ', ', found[1])}])", value)
    targets = re.findall(r"\w+(?:\((?:[^()]|\([^()]*\))*\))?", target)
    if len(targets) == 1 and "(" not in target:
        return [f"{target} = {value}"]
    names = [f"t_{k}" for k in range(len(targets))]
    puts = [
        re.sub(r"^(\w+)\((.*)\)$", rf"\1.put(\2, {name})", place) for place, name in zip(targets, names, strict=True)
    ]
    return [f"{', '.join(names)} = {value}", *puts]


def loaded(program: Any, name: str = "model", **options: Any) -> Any:
    """The function of a program, run by Python. Arrays go in and come out in the shapes of MATLAB."""
    ((file, text),) = export_matlab([program], name, **options).items()
    module = dict(BUILT_IN)
    exec(compile(in_python(text), file, "exec"), module)
    function = module[file.removesuffix(".m")]

    def called(*arrays: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            results = function(*map(array, arrays))
        results = results if isinstance(results, tuple) else (results,)
        return [np.asarray(a).reshape(p.shape) for a, p in zip(results, program.outputs, strict=True)]

    return called
