"""The Python and the command that do what a panel has done, as text to copy.

    same(
        script("import kinemorph as km", "", call("km.verify", Code('km.load("arm.toml")'), tolerance=1e-9)),
        command("verify", "arm.toml"),
    )

The page shows both by `sameInPython` of page/same_in_python.js.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

WIDE = 100  # characters of a line, beyond which the arguments of a call stand below each other


class Code(str):
    """A piece of Python that stands in a call as it is, such as the name of a variable."""


def same(python: str, shell: str = "") -> dict[str, str]:
    """What the page shows: Python, and a command where there is one."""
    return {"python": python, "command": shell}


def script(*lines: str) -> str:
    """Lines of Python as one text; an empty line stays."""
    return "\n".join(lines) + "\n"


def assign(name: str, value: str) -> str:
    """The line that gives a variable the value of an expression."""
    return f"{name} = {value}"


def call(function: str, *values: Any, **named: Any) -> str:
    """A call with its arguments as Python writes them; arguments that are None are left out."""
    given = [written(value) for value in values]
    given += [f"{name}={written(value)}" for name, value in named.items() if value is not None]
    line = f"{function}({', '.join(given)})"
    if len(line) <= WIDE:
        return line
    return "\n".join([f"{function}(", *(f"    {one}," for one in given), ")"])


def written(value: Any) -> str:
    """A value as Python: text, numbers, lists and dicts of them, and `Code` as it is."""
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)}: {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(written(one) for one in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text
    return repr(value)


def command(verb: str, *values: Any, **options: Any) -> str:
    """The command of the shell: `kinemorph VERB VALUES --OPTIONS`, quoted where that is needed.

    An option that is True stands alone, one that is None or False is left out, and a list repeats its option.
    """
    words = ["kinemorph", verb, *map(str, values)]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        several = value if isinstance(value, (list, tuple)) else [value]
        for one in several:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words += [flag, repr(one) if isinstance(one, float) else str(one)]
    return shlex.join(words)
