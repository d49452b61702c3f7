"""The worst phrases stay out: a newcomer understands every sentence at first reading.

Looked at are the strings and comments of the package (docstrings, errors, help texts) and the pages of the docs. The
glossary of docs/architecture.md says which word means what.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import kinemorph

PACKAGE = Path(kinemorph.__file__).parent
ROOT = PACKAGE.parents[1]
PHRASES = {
    r"what is none|which there is not|returns? what is no": "say what it is not: 'something that is not a number'",
    r"\bto be had\b|\b(is|are) had\b": "available, possible, found",
    r"\bin vain\b": "without effect",
    r"\btold of\b|\b(is|are|be) told\b": "reported, named, listed",
    r"\bgone? on with\b": "continued",
    r"\bdoubtful\b": "questionable",
    r"\bnobody\b|\bwhom\b": "name the part",
    r"\bsuch as (move|are|have)\b": "joints that move",
    r"\bat hand\b": "known, ready, available",
    r"\bRuns that docked\b": "runs with docking events",
}
FRAGMENT = re.compile(r"(The same|All of them|Those|These|Such|Of [a-z ]+)\.")
FRAGMENT_IN_QUOTES = re.compile(FRAGMENT.pattern + r"\s*[\"']{3}")  # looked for first, as parsing takes longer


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings and comments of a file of Python, the lines of any other, with their line numbers."""
    if path.suffix != ".py":
        yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        return
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                yield from enumerate(token.string.splitlines(), token.start[0])


def test_no_file_uses_a_phrase_that_strangers_stumble_over() -> None:
    pattern = re.compile("|".join(PHRASES))
    roughly = [re.compile(phrase.replace(r"\b", "")) for phrase in PHRASES]  # begins with letters: found much faster
    files = [*PACKAGE.rglob("*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()}"
        for path in files
        for whole in [path.read_text(encoding="utf-8")]
        if any(phrase.search(whole) for phrase in roughly)
        for line, text in texts(path)
        if pattern.search(text)
    ]
    assert not found, f"better: {PHRASES}\n" + "\n".join(found)


def test_no_docstring_is_a_fragment_that_needs_the_code_above_it() -> None:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {text}"
        for path in PACKAGE.rglob("*.py")
        if FRAGMENT_IN_QUOTES.search(path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds) and (text := ast.get_docstring(node)) and FRAGMENT.fullmatch(text)
    ]
    assert not found, "\n".join(found)
