"""Names for the entries of a program's ports, in plain text and in LaTeX.

The caller passes `symbols`, a mapping from (port name, index) to (plain name, LaTeX name); entries are counted from 0,
row by row, and the index None names the array as a whole. Entries that the mapping leaves out are named after their
port, counted from 1 as in textbooks: `q1` and `q_{1}`, `M12` and `M_{12}`.

Ports named in `parameters` contain the constants of a problem; these are written first in a product.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.reading.expression_tree import PARAMETER, VARIABLE, Symbol
from kinemorph.errors import CompileError

Symbols = Mapping[tuple[str, int | None], tuple[str, str]]

GREEK = frozenset(
    re.findall(
        r"\w+",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
        "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega",
    )
)
ESCAPES = {letter: f"\\{letter}" for letter in "_#$%&{}"}
ESCAPES |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def input_symbols(program: Program, symbols: Symbols, parameters: Collection[str]) -> list[Symbol]:
    """One symbol for every input entry of a program, in order; CompileError if names are equal or not identifiers."""
    found: list[Symbol] = []
    families: dict[str, int] = {}
    seen: dict[str, str] = {}
    for level, port in enumerate(program.inputs):
        for index in range(port.size):
            text, latex = entry_name(port, index, symbols)
            place = f"{port.name}[{index}]"
            if not text.isidentifier() or text in seen:
                clash = f"is already the name of {seen[text]}" if text in seen else "is not an identifier"
                raise CompileError(
                    f"program '{program.name}': the name '{text}' of input {place} {clash}. "
                    "Pass another plain name in `symbols`."
                )
            seen[text] = place
            family = families.setdefault(text.rstrip("0123456789_"), len(families))
            rank = PARAMETER if port.name in parameters else VARIABLE + level
            found.append(Symbol(text, latex, (rank, family, len(found))))
    return found


def entry_name(port: Port, index: int, symbols: Symbols) -> tuple[str, str]:
    """(plain name, LaTeX name) of an entry of a port; `index` counts row by row from 0."""
    given = symbols.get((port.name, index))
    if given is not None:
        return given
    text, latex = port_name(port, symbols)
    if port.shape == ():
        return text, latex
    places = [str(int(place) + 1) for place in np.unravel_index(index, port.shape)]
    tight = max(port.shape) < 10
    joint = "" if tight else "_"
    subscript = ("" if tight else ",").join(places)
    base = text if not text[-1].isdigit() else text + "_"
    return base + joint.join(places), f"{latex}_{{{subscript}}}" if "_" not in latex else f"{{{latex}}}_{{{subscript}}}"


def port_name(port: Port, symbols: Symbols) -> tuple[str, str]:
    """(plain name, LaTeX name) of a port as a whole."""
    return symbols.get((port.name, None), (port.name, latex_name(port.name)))


def latex_name(name: str) -> str:
    """A plain name in LaTeX: `tau` is a Greek letter, `m_2` and `m2` have a subscript, longer words are upright.

    A name that is not an identifier, such as one with spaces, is text.
    """
    stem, index = re.fullmatch(r"(?s)(.*?)_?(\d*)", name).groups()  # type: ignore[union-attr]
    if stem in GREEK:
        body = f"\\{stem}"
    elif not stem.isidentifier():
        return rf"\text{{{latex_text(name)}}}"
    else:
        body = stem if len(stem) == 1 else "\\mathrm{" + latex_text(stem) + "}"
    return f"{body}_{{{index}}}" if index else body


def latex_text(text: str) -> str:
    """Text in LaTeX, with every character that is a command there written as a letter."""
    return "".join(ESCAPES.get(letter, letter if letter.isprintable() else " ") for letter in text)


def fresh_stem(taken: Collection[str], letter: str = "x") -> str:
    """A stem for the names of subexpressions: the letter, repeated until no name in `taken` has this stem."""
    stem = letter
    while any(re.fullmatch(f"{stem}_?\\d*", name) for name in taken):
        stem += letter
    return stem
