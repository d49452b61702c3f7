"""Elements of MathML as data, as text for files, and as plain lists for pages that build the elements by script.

    element("mn", "2")                        the number 2
    written(element)                          "<mn>2</mn>"
    listed(element)                           ["mn", {}, ["2"]]

Tags and attributes are those of TAGS and ATTRIBUTES alone. Names of a model are only ever the text of an element, or
the value of its attribute `data-symbol`, so that no name becomes markup in either form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

TAGS = frozenset(
    "math mfrac mi mn mo mover mrow mspace msqrt msub msubsup msup mtable mtd mtext mtr".split()  # noqa: SIM905
)
ATTRIBUTES = frozenset(
    "accent columnalign display displaystyle form lspace mathvariant rspace stretchy style width".split()  # noqa: SIM905
)
# How cells of a table are aligned: the attributes of a file, which has no style sheet; a page has a class for each.
# Chromium aligns cells by style, with a value of its own for the right; Firefox and Safari by the attribute.
LOOKS: dict[str, dict[str, str]] = {
    "left": {"columnalign": "left", "style": "text-align:left"},
    "name": {"columnalign": "right", "style": "text-align:right;text-align:-webkit-right;padding-right:0"},
    "equals": {"style": "padding-left:0.28em;padding-right:0.28em"},
    "formula": {"columnalign": "left", "style": "text-align:left;padding-left:0"},
}
EMPTY = ("mspace",)  # elements that are written without an end tag
REFERENCES = {"\u2062": "&#x2062;", "\u2061": "&#x2061;"}  # signs that no font shows


class Element(NamedTuple):
    """An element: its tag, its attributes, and its children, which are elements or texts.

    `look`     how a cell of a table is aligned, a key of LOOKS; "" for none
    `symbol`   the plain name of the quantity whose symbol the element is; "" for none
    """

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Element | str, ...]
    look: str = ""
    symbol: str = ""


def element(tag: str, *children: Element | str, look: str = "", **attributes: str) -> Element:
    """An element with these children and attributes."""
    assert tag in TAGS and attributes.keys() <= ATTRIBUTES, (tag, attributes)
    return Element(tag, tuple(attributes.items()), children, look)


def written(one: Element | str) -> str:
    """An element as the text of a file; the text of a text is escaped."""
    if isinstance(one, str):
        return REFERENCES.get(one) or escape(one)
    pairs = (*one.attributes, *LOOKS[one.look].items()) if one.look else one.attributes
    attributes = "".join(f' {name}="{value}"' for name, value in pairs)
    if one.tag in EMPTY:
        return f"<{one.tag}{attributes}/>"
    return f"<{one.tag}{attributes}>{''.join(map(written, one.children))}</{one.tag}>"


def all_written(elements: Iterable[Element | str]) -> str:
    """Elements as the text of a file, one after the other."""
    return "".join(map(written, elements))


def listed(one: Element | str) -> Any:
    """An element as [tag, {attribute: value}, [children]] for JSON; a text as itself.

    `class` is the look of a cell in place of a style, and `data-symbol` is the plain name of a symbol.
    """
    if isinstance(one, str):
        return one
    attributes = dict(one.attributes)
    if one.look:
        attributes["class"] = one.look
    if one.symbol:
        attributes["data-symbol"] = one.symbol
    return [one.tag, attributes, [listed(child) for child in one.children]]
