"""XML without its dangers: no document types, no entities, no network, and limits on size, depth and count.

Text becomes an lxml tree whose elements know their lines. Readers descend to the elements they know; none of them
recurses along a file, so depth is limited twice.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from lxml import etree

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source

Node: TypeAlias = Any  # an lxml element

_DOCTYPE = b"<!DOCTYPE"
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")  # the encodings with zero bytes that libxml2 detects
_SAFE = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_pis": True,
    "collect_ids": False,
}
_PARSER = etree.XMLParser(**_SAFE)
_BARE_PARSER = etree.XMLParser(**_SAFE, remove_blank_text=True, remove_comments=True)
_TOO_DEEP = etree.XPath("boolean(" + "/*" * (limits.NESTING + 1) + ")")
_COUNT = etree.XPath("count(//*)")
_SHORTEST = len("<a/>")  # bytes of an element
_LINES = 65_534  # older versions of libxml2 find later lines by the white space between elements
# lxml takes a time that grows with the square of the attributes of an element; a tag that has many is long
_CROWDED = etree.XPath(f"boolean(//@*[{limits.ATTRIBUTES + 1}])")
_LONG = len(' a=""') * limits.ATTRIBUTES  # bytes of such a tag, at least
_LONG_TAG = re.compile(rb"<[^<]{%d}" % _LONG)
_POSITION = re.compile(r"(, line \d+)?(, column \d+)?( \(.*\))?$")


def parse(source: Source, findings: Findings, *, bare: bool = False) -> Node | None:
    """The root element; None, with findings, where the text is no XML that may be read.

    A `bare` tree has no comments and no white space between elements. It takes less time, but cannot be written again,
    so it is not left in the findings.
    """
    if not source.data or source.data.isspace():
        findings.error("syntax", 1, "", "the file is empty, expected XML", "Write the model into it.")
        return None
    wide = [_DOCTYPE.decode().encode(encoding) for encoding in _WIDE] if b"\0" in source.data else []
    for mark in (_DOCTYPE, *wide):
        place = source.data.find(mark)
        if place >= 0:
            _typed(source.data.count(b"\n", 0, place) + 1, findings)
            return None
    try:
        root = etree.fromstring(source.data, _BARE_PARSER if bare and _few_lines(source.data) else _PARSER)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = _POSITION.sub("", str(error).strip()) or "no element found"
        if reason.startswith("Excessive depth"):  # the parser has the same limit
            _too_deep(line, findings)
            return None
        findings.error("syntax", line, "", f"the text is not well-formed XML: {reason}", "Correct it near this line.")
        return None
    about = root.getroottree().docinfo
    if about.internalDTD is not None:  # in an encoding that hides it, such as UTF-7
        _typed(1, findings)
        return None
    if not _PARSER_STOPS and _TOO_DEEP(root):
        _too_deep(1, findings)
        return None
    # most files are too short to have too many
    count = int(_COUNT(root)) if len(source.data) > _SHORTEST * limits.ELEMENTS else 0
    if count > limits.ELEMENTS:
        problem = f"the file has {count} elements, expected at most {limits.ELEMENTS}"
        findings.error("file", 1, "", problem, "Split the file.")
        return None
    if _may_be_crowded(source.data, about.encoding) and _CROWDED(root):
        problem = f"an element has more than {limits.ATTRIBUTES} attributes"
        findings.error("file", 1, "", problem, "Remove those that are not of the format.")
        return None
    if findings.document is None and not bare:  # that of the model itself comes first; others are what it includes
        findings.document = root
    return root


def _may_be_crowded(data: bytes, encoding: str | None) -> bool:
    """Whether an element could have too many attributes: most files are not that long, or have no tag that is."""
    if encoding == "UTF-7":  # in which tags have no brackets
        return True
    return len(data) > _LONG and _LONG_TAG.search(data) is not None


def _few_lines(data: bytes) -> bool:
    return len(data) <= _LINES or data.count(b"\n") <= _LINES


def _stops_at(depth: int) -> bool:
    """Whether the parser itself refuses elements deeper than that inside one another; libxml2 does at 256."""
    try:
        etree.fromstring(b"<a>" * (depth + 1) + b"</a>" * (depth + 1), _PARSER)
    except etree.XMLSyntaxError:
        return True
    return False


_PARSER_STOPS = _stops_at(limits.NESTING)


def _typed(line: int, findings: Findings) -> None:
    problem = "a document type declaration is there, expected none: it can pull in files and blow up memory"
    findings.error("entities", line, "", problem, "Remove <!DOCTYPE ...> and write entities out.")


def _too_deep(line: int, findings: Findings) -> None:
    problem = f"elements lie deeper than {limits.NESTING} inside one another"
    findings.error("file", line, "", problem, "Flatten the file.")


def line_of(node: Node) -> int:
    """The line of an element, counted from 1."""
    return int(node.sourceline or 0)
