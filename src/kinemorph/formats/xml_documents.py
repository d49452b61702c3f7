"""Parses XML safely: without document types, entities and network, and with limits on size, depth and count.

The result is an lxml tree whose elements know their lines. Besides the limit on depth, readers do not recurse, so a
deeply nested file cannot overflow the stack.
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
_LINES = 65_534  # beyond this line, older versions of libxml2 need the white space between elements to count lines
# the time that lxml takes grows with the square of the number of attributes of an element; such a tag is long
_CROWDED = etree.XPath(f"boolean(//@*[{limits.ATTRIBUTES + 1}])")
_LONG = len(' a=""') * limits.ATTRIBUTES  # bytes of such a tag, at least
_LONG_TAG = re.compile(rb"<[^<]{%d}" % _LONG)
_HYPHENS = etree.ErrorTypes.ERR_HYPHEN_IN_COMMENT
_GRAVE = (_HYPHENS, etree.ErrorTypes.ERR_VERSION_MISSING)  # tolerated alone, but named if more is wrong
_TOLERATED = (
    etree.ErrorTypes.ERR_UNKNOWN_VERSION,
    etree.ErrorTypes.ERR_VERSION_MISSING,
    etree.ErrorTypes.ERR_RESERVED_XML_NAME,  # a declaration that is not at the start of the file
    etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE,
    _HYPHENS,
)
_PREFIX = re.compile(r"Namespace prefix (\S+)")  # in a message of libxml2
_POSITION = re.compile(r"(, line \d+)?(, column \d+)?( \(.*\))?$")
# (messages of libxml2, whose words differ between its versions; problem; remedy)
_SENTENCES = (
    (
        re.compile("Input is not proper UTF-8|Invalid bytes in|Truncated multi-byte"),
        "a byte does not fit the encoding of the file, which is UTF-8 where no other is declared",
        'Save the file as UTF-8, or write its encoding at the start: <?xml version="1.0" encoding="..."?>.',
    ),
    (
        re.compile("invalid character in|(xml)?Char value|out of allowed range"),
        "the text contains a character that XML does not allow, such as a control character",
        "Remove it near this line.",
    ),
)


DRAKE = (
    "http://drake.mit.edu",
    "https://drake.mit.edu",
    "drake.mit.edu",
)  # namespace of Drake, as files write it


def parse(source: Source, findings: Findings, *, bare: bool = False) -> Node | None:
    """The root element of an XML file; None if it is not well-formed or beyond a limit, which is recorded as a finding.

    A `bare` tree has no comments and no white space between elements. Parsing it takes less time, but it cannot be
    written again, so it is not stored in the findings as the document to repair.
    """
    if not source.data or source.data.isspace():
        findings.error("syntax", 1, "", "the file is empty, expected XML", "Name a file that contains a model.")
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
        log = _log_of(source.data) if isinstance(error, etree.XMLSyntaxError) else None
        if log is None:
            _refuse(getattr(error, "lineno", None), str(error), findings)
            return None
        root, entries = log
        if root is None or any(entry.type not in _TOLERATED for entry in entries):
            first = next((entry for entry in entries if entry.type not in _TOLERATED or entry.type in _GRAVE), None)
            _refuse(first.line if first else 1, first.message if first else "", findings)
            return None
        _warn_of(entries, findings)
    about = root.getroottree().docinfo
    if about.internalDTD is not None:  # in an encoding in which the search above misses it, such as UTF-7
        _typed(1, findings)
        return None
    if not _PARSER_STOPS and _TOO_DEEP(root):
        _too_deep(1, findings)
        return None
    # most files are too short to have too many elements
    count = int(_COUNT(root)) if len(source.data) > _SHORTEST * limits.ELEMENTS else 0
    if count > limits.ELEMENTS:
        problem = f"the file has {count} elements, expected at most {limits.ELEMENTS}"
        findings.error("file", 1, "", problem, "Split the file.")
        return None
    if _may_be_crowded(source.data, about.encoding) and _CROWDED(root):
        problem = f"an element has more attributes than {limits.ATTRIBUTES}, the largest number allowed"
        findings.error("file", 1, "", problem, "Remove attributes that do not belong to the format.")
        return None
    if source.numbered:
        _number(root, source.numbered)
    if findings.document is None and not bare:  # the model file itself is parsed first, included files later
        findings.document = root
    return root


def _refuse(line: int | None, message: str, findings: Findings) -> None:
    """Reports that a text is not well-formed XML, encoded otherwise than declared, or nested too deep."""
    reason = _POSITION.sub("", message.strip()) or "no element found"
    if reason.startswith("Excessive depth"):  # the parser has the same limit
        _too_deep(line or 1, findings)
        return
    plain = (f"the text is not well-formed XML: {reason}", "Correct it near this line.")
    problem, remedy = next(((said, advice) for words, said, advice in _SENTENCES if words.search(reason)), plain)
    findings.error("syntax", line or 1, "", problem, remedy)


def _log_of(data: bytes) -> tuple[Node | None, list[Any]] | None:
    """The root element that a parser finds which continues after errors, and these errors; None if it cannot continue.

    Errors of the types in _TOLERATED do not change the tree: an element whose prefix is not declared has a tag with a
    colon.
    """
    parser = etree.XMLParser(**_SAFE, recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None
    entries = list(parser.error_log)
    return (root, entries) if entries else None


def _warn_of(entries: list[Any], findings: Findings) -> None:
    """Warns about errors that the XML parsers of robot simulators accept, once about each kind and each prefix."""
    seen: set[str] = set()
    for entry in entries:
        found = _PREFIX.match(entry.message)
        prefix = found[1] if found else ""
        if f"{entry.type} {prefix}" in seen:
            continue
        seen.add(f"{entry.type} {prefix}")
        if prefix:
            problem = f"the prefix '{prefix}' of an element or attribute is not declared"
            remedy = f'Write xmlns:{prefix}="..." in the outermost element.'
            findings.warn("syntax", entry.line, "", problem, remedy, _nothing)
        elif entry.type == etree.ErrorTypes.ERR_UNKNOWN_VERSION:
            problem = f"the XML declaration has the {entry.message.removeprefix('Unsupported ')}, expected 1.0"
            findings.warn("syntax", entry.line, "", problem, 'Write <?xml version="1.0"?>.', _nothing)
        elif entry.type == etree.ErrorTypes.ERR_VERSION_MISSING:
            problem = "the XML declaration has no version, expected 1.0"
            findings.warn("syntax", entry.line, "", problem, 'Write <?xml version="1.0"?>.', _nothing)
        elif entry.type == _HYPHENS:
            problem = "a comment contains two hyphens, expected none before its end"
            findings.warn("syntax", entry.line, "", problem, "Remove the hyphens, or put a space between them.")
        else:
            problem = "the XML declaration is not at the start of the file: it is ignored"
            findings.warn("syntax", entry.line, "", problem, "Move <?xml ...?> to the start, or remove it.", _nothing)


def _nothing() -> None:
    """The repair of an XML declaration and of undeclared prefixes: a repaired copy gets its own declarations."""


def _may_be_crowded(data: bytes, encoding: str | None) -> bool:
    """Whether an element could have too many attributes. Most files are too short for that, or have no long tag."""
    if encoding == "UTF-7":  # in which the brackets of tags are encoded
        return True
    return len(data) > _LONG and _LONG_TAG.search(data) is not None


def _few_lines(data: bytes) -> bool:
    """Whether a file is so short that every version of libxml2 counts its lines, even without white space nodes."""
    return len(data) <= _LINES or data.count(b"\n") <= _LINES


def _stops_at(depth: int) -> bool:
    """Whether the parser itself gives an error for elements nested deeper than `depth`; that of libxml2 is 256."""
    try:
        etree.fromstring(b"<a>" * (depth + 1) + b"</a>" * (depth + 1), _PARSER)
    except etree.XMLSyntaxError:
        return True
    return False


_PARSER_STOPS = _stops_at(limits.NESTING)


def _typed(line: int, findings: Findings) -> None:
    """Reports a document type declaration."""
    problem = "the file has a document type declaration, expected none: it could read other files or fill the memory"
    findings.error("entities", line, "", problem, "Remove <!DOCTYPE ...>, and replace entities by their text.")


def _too_deep(line: int, findings: Findings) -> None:
    """Reports elements that are nested too deep."""
    problem = f"elements are nested deeper than {limits.NESTING}, the largest depth allowed"
    findings.error("file", line, "", problem, "Nest fewer elements in each other.")


def _number(root: Node, attribute: str) -> None:
    """Gives elements the lines that are written in an attribute of theirs, and removes the attribute."""
    for node in root.iter("*"):
        line = node.attrib.pop(attribute, "")
        node.sourceline = int(line) if line else 0


def drake_child(node: Node, name: str) -> Node | None:
    """The child <drake:name> of a node, whether the prefix is declared or not; None if there is none."""
    tags = (f"drake:{name}", *(f"{{{space}}}{name}" for space in DRAKE))
    return next((child for child in node.iterchildren() if child.tag in tags), None)


def line_of(node: Node) -> int:
    """The line of an element, counted from 1; 0 if it is not known."""
    return int(node.sourceline or 0)
