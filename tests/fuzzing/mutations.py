"""Model files gone wrong: seeded mutations of bytes, of words and numbers, of XML elements and of lines of TOML.

`mutant(corpus, format, seed)` is the whole interface; the same seed gives the same bytes. A mutant takes one to four
mutations, mostly those that know the grammar, so that it comes past the parser and into the reader.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lxml import etree

SEEDS = Path(__file__).with_name("seeds")
ENDINGS = {
    "urdf": ".urdf",
    "sdf": ".sdf",
    "toml": ".toml",
    "sidecar": ".sidecar.toml",
    "mjcf": ".mjcf",
    "dh": ".dh",
    "mupad": ".mu",
    "maxima": ".mac",
    "xacro": ".xacro",
    "srdf": ".srdf",
}
XML = ("urdf", "sdf", "mjcf", "xacro", "srdf")
BESIDE = ("sidecar", "srdf")  # files beside a model
NUMBERS = (
    *("nan", "inf", "-inf", "1e308", "-1e308", "1e-308", "5e-324", "-1", "0", "-0.0", "1,5", "1_000", "0x10", "1e400"),
    *("abc", "0.1.2", "--1", "1e16", "1e-16", "1e150", "-1e150", "1e-150", "3.14159", "7", "2", "-2", "0.5", "1e6"),
    *("1e-6", "true", "NaN", "Infinity", "1e5000", "1d3", "+1", ".5", "5.", "1e", "1/2", "30deg", "1 2 3", "0 0 0"),
    *("", " ", "9" * 400, "1 2", "\u0663", "\uff11", "\u2212\u0031", "x" * 2000),
)
WORDS = (
    *("", " ", "world", "base", "a", "../../etc/passwd", "file:///etc/passwd", "\u00e9\u4e16", "n" * 1500, "a b"),
    *("'", '"', "__model__", "inner::b", "-y", "free"),
)
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORD = re.compile(r"[A-Za-z_][\w:/.-]*")

Text = Callable[[str, random.Random], str]


def corpus(format: str) -> list[bytes]:
    """The seed files of a format."""
    files = sorted(path for path in SEEDS.iterdir() if path.name.endswith(ENDINGS[format]))
    if format == "toml":
        files = [path for path in files if not path.name.endswith(ENDINGS["sidecar"])]
    return [path.read_bytes() for path in files]


def mutant(seeds: Sequence[bytes], format: str, seed: int) -> bytes:
    """The mutant of this number."""
    rng = random.Random(f"{format} {seed}")
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        data = mutated(data, format, rng)
    return data


def mutated(data: bytes, format: str, rng: random.Random) -> bytes:
    """The data after one mutation."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(BYTE_MUTATIONS)(data, rng)
    if kind < 0.3:
        return _in_text(rng.choice(TEXT_MUTATIONS), data, rng)
    if format in XML:
        return _in_tree(data, rng)
    return _in_text(rng.choice(LINE_MUTATIONS), data, rng)


# ── bytes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 5, 20, 100, 400)))


def _drop(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _double(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    what = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"<", b">", b"&amp;", b"&x;", b'"', b"]]>", b"<!--", b"[[", b"\x1b[0m")
    return data[:at] + rng.choice(what) + data[at:]


def _encode(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7")), "replace")


BYTE_MUTATIONS = (_flip, _flip, _drop, _double, _truncate, _insert, _encode)

# ── words and numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def _in_text(mutate: Text, data: bytes, rng: random.Random) -> bytes:
    return mutate(data.decode("utf-8", "surrogateescape"), rng).encode("utf-8", "surrogateescape")


def _put(text: str, match: re.Match[str], instead: str) -> str:
    return text[: match.start()] + instead + text[match.end() :]


def _number(text: str, rng: random.Random) -> str:
    found = list(NUMBER.finditer(text))
    return _put(text, rng.choice(found), rng.choice(NUMBERS)) if found else text


def _word(text: str, rng: random.Random) -> str:
    found = list(WORD.finditer(text))
    if not found:
        return text
    return _put(text, rng.choice(found), rng.choice((*WORDS, rng.choice(found)[0], rng.choice(found)[0])))


def _swap(text: str, rng: random.Random) -> str:
    found = list(WORD.finditer(text))
    if len(found) < 2:
        return text
    first, second = sorted(rng.sample(found, 2), key=lambda match: match.start())
    return _put(_put(text, second, first[0]), first, second[0])


TEXT_MUTATIONS = (_number, _number, _word, _swap)

# ── lines, as TOML and tables have them ───────────────────────────────────────────────────────────────────────────────

VALUES = (
    *('"l"', '"1 +"', '"l**l**l**9"', "[]", "{}", "[[1]]", "{ a = 1 }", "true", "1979-05-27", '"5 parsec"', '"-"'),
    *("[1, [2]]", "[0, 0, 1]", '"m * l"', '"30 deg"', '"1 kg"', '"1 / (l - l)"', '"sqrt(-l)"'),
)


def _lines(text: str, change: Callable[[list[str]], None]) -> str:
    lines = text.split("\n")
    change(lines)
    return "\n".join(lines)


def _drop_line(text: str, rng: random.Random) -> str:
    return _lines(text, lambda lines: lines.__delitem__(rng.randrange(len(lines))))


def _double_line(text: str, rng: random.Random) -> str:
    return _lines(text, lambda lines: lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines)))


def _move_line(text: str, rng: random.Random) -> str:
    return _lines(text, lambda lines: lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines)))))


def _value(text: str, rng: random.Random) -> str:
    found = list(re.finditer(r'(?<== )[^\n]+|"[^"\n]*"|(?<=[\[,] )[^,\]\n]+', text))
    if not found:
        return text
    match, other = rng.choice(found), rng.choice((*VALUES, *NUMBERS, rng.choice(found)[0]))
    quoted = match[0].startswith('"') and not other.startswith('"') and rng.random() < 0.7
    return _put(text, match, f'"{other}"' if quoted else other)


def _nest(text: str, rng: random.Random) -> str:
    found = list(re.finditer(r"(?<== )[^\n]+", text))
    if not found:
        return text
    match, depth = rng.choice(found), rng.choice((1, 2, 300))
    left, right = rng.choice((("[", "]"), ("{ a = ", " }"), ('"(', ')"')))
    return _put(text, match, left * depth + match[0] + right * depth)


LINE_MUTATIONS = (_drop_line, _double_line, _move_line, _value, _value, _value, _nest, _number, _word, _swap)

# ── XML elements ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _in_tree(data: bytes, rng: random.Random) -> bytes:
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return BYTE_MUTATIONS[0](data, rng)
    nodes = [node for node in root.iter() if isinstance(node.tag, str)]
    node, other = rng.choice(nodes), rng.choice(nodes)
    rng.choice(TREE_MUTATIONS)(node, other, rng)
    return bytes(etree.tostring(root))


def _below(node: etree._Element, other: etree._Element) -> bool:
    return other is node or any(above is node for above in other.iterancestors())


def _delete_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    parent = node.getparent()
    if parent is not None:
        parent.remove(node)


def _double_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    parent = node.getparent()
    if parent is not None:
        for _ in range(rng.choice((1, 1, 2, 40))):
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(node))


def _move_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    if node.getparent() is not None and not _below(node, other):
        other.insert(rng.randrange(len(other) + 1), node)


def _copy_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    other.insert(rng.randrange(len(other) + 1), copy.deepcopy(node))


def _nest_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 2, 30))):
        child = etree.Element(node.tag, dict(node.attrib))
        node.append(child)
        node = child


def _rename_node(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    node.tag = other.tag


def _delete_attribute(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    if node.attrib:
        del node.attrib[rng.choice(list(node.attrib))]


def _set(node: etree._Element, key: str | None, value: str) -> None:
    try:
        if key is None:
            node.text = value
        else:
            node.set(key, value)
    except ValueError:  # what XML cannot hold
        return


def _place(node: etree._Element, rng: random.Random) -> str | None:
    """An attribute of the node, or None for its text."""
    return rng.choice(list(node.attrib)) if node.attrib else None


def _number_in(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    key = _place(node, rng)
    parts = ((node.text if key is None else node.get(key)) or "").split() or [""]
    parts[rng.randrange(len(parts))] = rng.choice(NUMBERS)
    _set(node, key, " ".join(parts))


def _word_in(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    _set(node, _place(node, rng), rng.choice(WORDS))


def _value_of_other(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    key = _place(other, rng)
    _set(node, _place(node, rng), (other.text if key is None else other.get(key)) or "")


def _attribute_of_other(node: etree._Element, other: etree._Element, rng: random.Random) -> None:
    key = _place(other, rng)
    if key is not None:
        _set(node, key, other.get(key) or "")


TREE_MUTATIONS = (
    _delete_node,
    _double_node,
    _move_node,
    _copy_node,
    _nest_node,
    _rename_node,
    _delete_attribute,
    _number_in,
    _number_in,
    _number_in,
    _word_in,
    _value_of_other,
    _value_of_other,
    _attribute_of_other,
)
