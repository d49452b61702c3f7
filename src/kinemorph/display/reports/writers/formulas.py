"""Formulas in the notation of each format: trees, equations, and objects that can write themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

Notation = Literal["typst", "latex", "mathml"]
DECIMAL = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?![\w.])")  # a decimal number in the source of a formula
COMMAS = {"typst": r'\1","\2', "latex": r"\1{,}\2", "mathml": r"\1,\2"}


def written(content: Any, notation: Notation, comma: bool = False) -> str:
    """The source of a display formula: of an object with an attribute called like the notation, or of a tree.

    `comma` writes numbers with a decimal comma.
    """
    source = getattr(content, notation, None)
    if source is None:
        source = tree_writer(notation)(content)
    return DECIMAL.sub(COMMAS[notation], source) if comma else source


def tree_writer(notation: Notation) -> Callable[[Any], str]:
    """The function of a backend that writes one expression tree in its notation."""
    writer: Callable[[Any], str] = getattr(import_module(f"kinemorph.codegen.backends.text.{notation}"), notation)
    return writer
