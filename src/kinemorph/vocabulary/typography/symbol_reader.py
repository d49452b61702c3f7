r"""Reads the LaTeX of a symbol, such as \theta_1, m_{\text{arm}} or \dot{\bar{L}}, into marks.

The grammar is closed. It consists of letters and digits, indices and exponents, the letters, signs, accents, functions
and shapes of `alphabet`, \frac, \sqrt, \left and \right, text, and spaces. Everything else is refused, so that no
command that reads a file, defines a macro or runs a program can be part of a symbol:

    formula := (atom (_ argument | ^ argument | ')*)*          argument := atom
    atom    := letter | digits | sign | { formula } | \command with its arguments
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from kinemorph.vocabulary.typography import alphabet
from kinemorph.vocabulary.typography.marks import (
    Accent,
    Digits,
    Fence,
    Fraction,
    Mark,
    Root,
    Row,
    Scripts,
    Sign,
    Space,
    Style,
    Word,
    row,
)

LONGEST = 200  # characters of a symbol
DEEPEST = 16  # braces within braces
TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\d+(?:\.\d+)?|.", re.DOTALL)
PLAIN_SIGNS = {"+": "+", "-": "-", "=": "=", "*": "∗", "<": "<", ">": ">", **{c: c for c in "/,.()[]|!:;"}}
BRACKETS = {**{c: c for c in "()[]|/"}, ".": "", r"\{": "{", r"\}": "}", r"\lfloor": "⌊", r"\rfloor": "⌋"}
INFIX = frozenset("+-=<>≤≥≠≈→±∓×⋅⊕⊗")


class SymbolError(ValueError):
    """The LaTeX of a symbol cannot be read; the text says what it contains that is not known, without a full stop."""


def symbol_problem(latex: str) -> str:
    """What makes the LaTeX of a symbol unreadable, as a clause such as "is empty"; "" if it can be read."""
    try:
        read_symbol(latex)
    except SymbolError as error:
        return str(error)
    return ""


@lru_cache(maxsize=4096)
def symbol_marks(latex: str, text: str) -> Mark:
    """The marks of a symbol; where its LaTeX cannot be read, its plain name `text` as text."""
    try:
        return read_symbol(latex)
    except SymbolError:
        return Word(text, "text")


@lru_cache(maxsize=4096)
def read_symbol(latex: str) -> Mark:
    """The marks of a symbol in LaTeX. Raises SymbolError for what is not in the grammar at the top of this file."""
    if len(latex) > LONGEST:
        raise SymbolError(f"has {len(latex)} characters, and the longest symbol has {LONGEST}")
    if not latex.strip():
        raise SymbolError("is empty")
    reader = _Reader(latex)
    found = reader.formula("italic", end="")
    if isinstance(found, Row) and not found.parts:
        raise SymbolError("shows nothing")
    return found


class _Reader:
    """Reads tokens from left to right, by recursive descent."""

    def __init__(self, latex: str) -> None:
        self.tokens = TOKEN.findall(latex)
        self.place = 0
        self.depth = 0

    def peek(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        """The next token, which is consumed; "" at the end."""
        token = self.peek()
        self.place += 1
        return token

    def take_visible(self) -> str:
        """The next token that is not white space, which is consumed."""
        while self.peek().isspace():
            self.place += 1
        return self.take()

    def formula(self, style: Style, end: str) -> Mark:
        """The marks up to the token `end`, which is consumed; with `end` "" up to the end of the text."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise SymbolError(f"has more than {DEEPEST} braces within each other")
        parts: list[Mark] = []
        while True:
            token = self.take()
            if token == end:
                break
            if token == "":
                raise SymbolError(f"has an opening {'brace' if end == '}' else 'bracket'} that is never closed")
            if token.isspace():
                continue
            if token in ("_", "^", "'"):
                self.script(token, parts, style)
            else:
                self.extend(parts, self.atom(token, style), style, token)
        self.depth -= 1
        return row(*map(_closed, parts))

    @staticmethod
    def extend(parts: list[Mark], mark: Mark, style: Style, token: str) -> None:
        """Appends a mark; letters of an upright or bold name are joined to one word."""
        last = parts[-1] if parts else None
        joins = style != "italic" and isinstance(mark, Word) and isinstance(last, Word)
        if joins and not token.startswith("{") and last.style == mark.style == style:  # type: ignore[union-attr]
            parts[-1] = Word(last.text + mark.text, style)  # type: ignore[union-attr]
        elif isinstance(mark, Sign) and not mark.prefix and mark.text in "+-":
            first = last is None or (isinstance(last, Sign) and last.text in "(,[=")
            parts.append(Sign(mark.text, prefix=True) if first else mark)
        else:
            parts.append(mark)

    def script(self, token: str, parts: list[Mark], style: Style) -> None:
        """Attaches an index, an exponent or primes to the last of the parts."""
        base = parts.pop() if parts else Row(())
        known = base if isinstance(base, _Open) else _Open(base)
        place = "below" if token == "_" else "above"
        if getattr(known, place) is not None:
            raise SymbolError(f"has two {'indices' if token == '_' else 'exponents'} at the same place")
        if token == "'":
            primes = 1
            while self.peek() == "'":
                primes, self.place = primes + 1, self.place + 1
            value: Mark = row(*[Sign("′", prefix=True)] * primes)
        else:
            following = self.take_visible()
            if following in ("", "_", "^", "}", "'"):
                raise SymbolError(f"has nothing after '{token}'")
            value = self.atom(following, style)
        below = value if place == "below" else known.below
        above = value if place == "above" else known.above
        parts.append(_Open(known.base, below, above))

    def atom(self, token: str, style: Style) -> Mark:
        """The mark that begins with a token."""
        if token == "{":
            return self.formula(style, end="}")
        if token == "}":
            raise SymbolError("has a closing brace that was never opened")
        if token.startswith("\\"):
            return self.command(token[1:], style)
        if token[0].isdigit() and token.isascii():
            return Digits(token) if style == "italic" else Word(token, style)
        if token.isalpha():
            return Word(token, style)
        if token in PLAIN_SIGNS:
            return Sign(PLAIN_SIGNS[token], prefix=PLAIN_SIGNS[token] not in INFIX)
        raise SymbolError(f"contains the character {token!r}, which a symbol cannot contain")

    def command(self, name: str, style: Style) -> Mark:
        """The mark of a command."""
        if name in alphabet.GREEK:
            return Word(alphabet.GREEK[name][0], style)
        if name in alphabet.SIGNS:
            sign = alphabet.SIGNS[name]
            return Sign(sign, prefix=sign not in INFIX)
        if name in alphabet.FUNCTIONS:
            return Word(name, "function")
        if name in alphabet.SPACES:
            return Space(alphabet.SPACES[name])
        if name in alphabet.ACCENTS:
            return Accent(name, self.argument(name, style))
        if name in alphabet.STYLES:
            shape: Style = alphabet.STYLES[name]  # type: ignore[assignment]
            return self.argument(name, shape)
        if name in alphabet.TEXTS:
            return Word(self.text(name), "text")
        if name in alphabet.ESCAPES:
            return Word(alphabet.ESCAPES[name], style if style != "italic" else "upright")
        several: dict[str, Callable[[], Mark]] = {
            "frac": lambda: Fraction(self.argument(name, style), self.argument(name, style)),
            "sqrt": lambda: Root(self.argument(name, style)),
            "left": lambda: self.fence(style),
        }
        if name in several:
            return several[name]()
        raise SymbolError(f"contains the command \\{name}, which symbols do not know")

    def argument(self, name: str, style: Style) -> Mark:
        """The argument of a command: a group in braces, or one atom."""
        token = self.take_visible()
        if token in ("", "_", "^", "}", "'"):
            raise SymbolError(f"has the command \\{name} without what it is applied to")
        return self.atom(token, style)

    def fence(self, style: Style) -> Mark:
        r"""The brackets after \left up to those after \right."""
        opening = self.bracket("left")
        body = self.formula(style, end=r"\right")
        return Fence(opening, body, self.bracket("right"))

    def bracket(self, name: str) -> str:
        r"""The character of a bracket after \left or \right; "" for the invisible bracket, a point."""
        token = self.take_visible()
        if token not in BRACKETS:
            raise SymbolError(f"has no bracket after \\{name}")
        return BRACKETS[token]

    def text(self, name: str) -> str:
        r"""The argument of a command for text: characters, and escapes such as \_, in braces."""
        if self.take_visible() != "{":
            raise SymbolError(f"has the command \\{name} without braces")
        letters: list[str] = []
        while (token := self.take()) != "}":
            if token == "":
                raise SymbolError("has an opening brace that is never closed")
            if token.startswith("\\"):
                if token[1:] not in alphabet.ESCAPES:
                    raise SymbolError(f"contains the command {token} in text, where symbols do not know it")
                letters.append(alphabet.ESCAPES[token[1:]])
                if len(token) > 2 and self.peek() == "{":  # \textbackslash{} ends with an empty group
                    self.take()
                    if self.take() != "}":
                        raise SymbolError(f"contains braces that are not empty after {token}")
            elif token in "{#$%&~^_" or not token.isprintable():
                raise SymbolError(f"contains the character {token!r} in text, where it needs a backslash before it")
            else:
                letters.append(token)
        return "".join(letters)


class _Open(Scripts):
    """A base with scripts to which another script can still be attached: one that is not closed by braces."""


def _closed(mark: Mark) -> Mark:
    """A mark to which no further script is attached, as at the end of a group in braces."""
    return Scripts(mark.base, mark.below, mark.above) if isinstance(mark, _Open) else mark
