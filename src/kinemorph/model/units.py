"""Quantities given as text: "5 mm", "30 deg", "3 kg m^2", "1500 rpm". Values are converted to SI, angles to radians.

A unit is a product of powers of the names below, read from left to right: "N m s/rad", "m/s^2", "kg*m^2". The radian
counts as a base unit, so that an angle differs from a number without a unit, and "5 mm" is refused as the pitch of a
screw. `KINDS` lists the units of each kind of quantity, the usual one first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from kinemorph.errors import Problem, ShapeError
from kinemorph.words import did_you_mean

LONGEST = 60  # characters; a unit may not be longer
BASES = ("m", "kg", "s", "A", "K", "rad")


class Unit(NamedTuple):
    """A unit in SI: the factor scale * pi**turns, and the powers of the base units BASES."""

    scale: Fraction
    turns: int
    powers: tuple[int, ...]


def _unit(scale: Fraction | int | str, turns: int = 0, **powers: int) -> Unit:
    return Unit(Fraction(scale), turns, tuple(powers.get(base, 0) for base in BASES))


UNITS: dict[str, Unit] = {
    "1": _unit(1),
    "m": _unit(1, m=1),
    "g": _unit("1/1000", kg=1),
    "s": _unit(1, s=1),
    "A": _unit(1, A=1),
    "K": _unit(1, K=1),
    "rad": _unit(1, rad=1),
    "deg": _unit("1/180", 1, rad=1),
    "rev": _unit(2, 1, rad=1),
    "rpm": _unit("1/30", 1, rad=1, s=-1),
    "Hz": _unit(1, s=-1),
    "min": _unit(60, s=1),
    "h": _unit(3600, s=1),
    "N": _unit(1, m=1, kg=1, s=-2),
    "dyn": _unit("1/100000", m=1, kg=1, s=-2),
    "J": _unit(1, m=2, kg=1, s=-2),
    "W": _unit(1, m=2, kg=1, s=-3),
    "Pa": _unit(1, m=-1, kg=1, s=-2),
    "V": _unit(1, m=2, kg=1, s=-3, A=-1),
    "ohm": _unit(1, m=2, kg=1, s=-3, A=-2),
    "H": _unit(1, m=2, kg=1, s=-2, A=-2),
    "F": _unit(1, m=-2, kg=-1, s=4, A=2),
    "inch": _unit("127/5000", m=1),
    "ft": _unit("381/1250", m=1),
    "lb": _unit("45359237/100000000", kg=1),
    "t": _unit(1000, kg=1),
}
PREFIXED = {"m", "g", "s", "Hz", "A", "N", "J", "W", "Pa", "V", "ohm", "H", "F", "rad"}
PREFIXES = {
    **{"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "c": Fraction(1, 100)},
    **{"d": Fraction(1, 10), "k": Fraction(1000), "M": Fraction(10**6), "G": Fraction(10**9)},
}
SPELLINGS = {"\N{DEGREE SIGN}": "deg", "\N{OHM SIGN}": "ohm", "\N{GREEK CAPITAL LETTER OMEGA}": "ohm", "**": "^"}
SPELLINGS |= {"\N{MICRO SIGN}": "u", "\N{GREEK SMALL LETTER MU}": "u", "\N{MIDDLE DOT}": "*"}
SPELLINGS |= {"\N{SUPERSCRIPT TWO}": "^2", "\N{SUPERSCRIPT THREE}": "^3"}
# names of units in full, in the singular, and the unit that the error then offers
WRITTEN_OUT = {
    **{"meter": "m", "metre": "m", "millimeter": "mm", "centimeter": "cm", "inche": "inch", "feet": "ft", "foot": "ft"},
    **{"gram": "g", "kilogram": "kg", "kilo": "kg", "pound": "lb", "ton": "t", "second": "s", "sec": "s", "hour": "h"},
    **{"minute": "min", "degree": "deg", "radian": "rad", "turn": "rev", "newton": "N", "volt": "V", "ampere": "A"},
}

# kind of quantity: units that fit
KINDS: dict[str, tuple[str, ...]] = {
    "number": ("1",),
    "length": ("m",),
    "angle": ("rad",),
    "mass": ("kg",),
    "inertia": ("kg m^2",),
    "time": ("s",),
    "speed": ("m/s",),
    "rate": ("rad/s", "1/s"),
    "acceleration": ("m/s^2",),
    "force": ("N",),
    "torque": ("N m", "N m/rad"),
    "damping": ("N s/m",),
    "angular damping": ("N m s/rad", "N m s"),
    "stiffness": ("N/m",),
    "angular stiffness": ("N m/rad", "N m"),
    "pitch": ("m/rad",),
    "voltage": ("V",),
    "current": ("A",),
    "resistance": ("ohm",),
    "inductance": ("H",),
    "motor constant": ("N m/A", "V s/rad", "V s"),
    "energy": ("J",),
    "power": ("W",),
    "pressure": ("Pa",),
    "joint coordinate": ("rad", "m"),
    "joint velocity": ("rad/s", "m/s"),
    "joint effort": ("N m", "N"),
    "joint stiffness": ("N m/rad", "N m", "N/m"),
    "joint damping": ("N m s/rad", "N m s", "N s/m"),
    "joint inertia": ("kg m^2", "kg"),
    "gravitational parameter": ("m^3/s^2",),
    "frequency": ("Hz",),
}

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*((?>{_NUMBER}))\s*(?=[^\W\d_]|\N{{DEGREE SIGN}}|(?<=\s)1\s*/)(.*)", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:([^\W\d_]+)|(\d+)|([-*/^()]))")


def is_quantity(text: str) -> bool:
    """Whether a text is a number followed by a name that may be a unit, known or unknown."""
    return _QUANTITY.fullmatch(text) is not None


def quantity(text: str, kind: str = "") -> float:
    """The value in SI of a text such as "5 mm", or of a plain number. An empty `kind` accepts every unit.

    Raises ValueError if the text is not a quantity, or its unit does not fit `kind`, a key of `KINDS`.
    """
    return read_quantity(text, kind)[0]


def read_quantity(text: str, kind: str = "") -> tuple[float, str]:
    """The value in SI and its unit in SI, empty for a plain number. Raises ValueError as `quantity` does."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        try:
            return float(text), ""
        except ValueError:
            with_unit = "" if kind == "number" else f" with a unit{_such_as(kind)}"
            raise ValueError(f"{text[:LONGEST]!r} is not a number{with_unit}") from None
    number, unit_text = float(match[1]), match[2]
    unit = parse_unit(unit_text)
    if kind in ("rate", "joint velocity") and "Hz" in unit_text:  # for these kinds 1/s means rad/s
        raise ValueError(f"{text[:LONGEST]!r} is not an angular velocity. Use rev/s or rad/s")
    if kind and unit.powers not in _fitting(kind):
        what = kind_of(unit)
        found = f"the unit of {with_article(what)}" if what else "a unit of another kind"
        raise ValueError(f"{text[:LONGEST]!r} has {found}, expected {with_article(kind)}{_such_as(kind)}")
    return in_si(number, unit), si_unit(unit_text)


def numbers_in_si(what: str, given: Any, units: Mapping[str, str]) -> Any:
    """Numbers in order or by name, or rows of them, with texts such as "30 deg" in SI; anything else unchanged.

    `units` are the units by name, in order; `what` names the numbers in messages. Raises ShapeError for a text that is
    not a quantity, or whose unit does not fit.
    """
    if isinstance(given, Mapping):
        return {name: _texts_in_si(f"{what} '{name}'", raw, units.get(name, "")) for name, raw in given.items()}
    if not isinstance(given, (list, tuple)):
        return given
    if any(isinstance(row, (list, tuple)) for row in given):
        return [numbers_in_si(what, row, units) for row in given]
    known = chain(units.items(), repeat(("", "")))
    return [_texts_in_si(f"{what} '{name}'", raw, unit) for raw, (name, unit) in zip(given, known, strict=False)]


def _texts_in_si(what: str, raw: Any, unit: str) -> Any:
    """A number, or a list of numbers with the same unit, with texts in SI; anything else unchanged."""
    if isinstance(raw, (list, tuple)):
        return [_texts_in_si(what, item, unit) for item in raw]
    if not isinstance(raw, str):
        return raw
    try:
        return quantity(raw, kind_called(unit))
    except ValueError as error:
        problem = Problem.of(error.args[0], f"Correct it, or give a plain number{unit and f' in {unit}'}.")
        raise ShapeError(f"{what}: {problem}") from None


def in_si(number: float, unit: Unit) -> float:
    """The value in SI of `number` times `unit`."""
    if unit.turns:
        return number * (float(unit.scale) * math.pi**unit.turns if unit.turns != 1 else _turn(unit.scale))
    return number * unit.scale.numerator / unit.scale.denominator


def _turn(scale: Fraction) -> float:
    """pi times a fraction, rounded so that 1 deg equals math.radians(1) exactly."""
    return math.pi * scale.numerator / scale.denominator


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """The unit that a text such as "kg m^2" stands for. Raises ValueError if it is not a unit."""
    spelled = text.strip()
    if len(spelled) > LONGEST:
        raise ValueError(f"the unit {spelled[:20]!r}... has {len(spelled)} characters, expected at most {LONGEST}")
    for found, usual in SPELLINGS.items():
        spelled = spelled.replace(found, usual)
    tokens = _tokens(spelled, text)
    unit, rest = _product(tokens, 0, text)
    if rest < len(tokens):
        raise ValueError(f"the unit {text!r} has {tokens[rest]!r}, expected the name of a unit there")
    return unit


def _tokens(spelled: str, text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(spelled):
        match = _TOKEN.match(spelled, at)
        if match is None:
            raise ValueError(f"the unit {text!r} has {spelled[at:].strip()[:1]!r}, expected names, '*', '/' and '^'")
        tokens.append(match[match.lastindex or 0])
        at = match.end()
    return tokens


def _product(tokens: list[str], at: int, text: str) -> tuple[Unit, int]:
    """The product of the factors from token `at` to a closing bracket or the end, and the index where it ends.

    Brackets are nested at most LONGEST deep, since a unit has no more characters.
    """
    total, sign = UNITS["1"], 1
    while True:
        factor, at = _factor(tokens, at, text)
        total = _times(total, factor, sign)
        if at >= len(tokens) or tokens[at] == ")":
            return total, at
        sign = -1 if tokens[at] == "/" else 1
        if tokens[at] in "*/":
            at += 1


def _factor(tokens: list[str], at: int, text: str) -> tuple[Unit, int]:
    token = tokens[at] if at < len(tokens) else ""
    if token == "(":
        unit, at = _product(tokens, at + 1, text)
        if at >= len(tokens):
            raise ValueError(f"the unit {text!r} has a bracket that is not closed")
    else:
        unit = _named(token, text)
    at += 1
    if at < len(tokens) and tokens[at] == "^":
        negative = tokens[at + 1 : at + 2] == ["-"]
        power = tokens[at + 2 if negative else at + 1 :][:1]
        if not power or not power[0].isdecimal() or len(power[0]) > 1:
            raise ValueError(f"the unit {text!r} has no one-digit power after '^', expected one as in 'm^2'")
        unit = _times(UNITS["1"], unit, -int(power[0]) if negative else int(power[0]))
        at += 3 if negative else 2
    return unit, at


def _named(token: str, text: str) -> Unit:
    if token in UNITS:
        return UNITS[token]
    if token[:1] in PREFIXES and token[1:] in PREFIXED:
        unit = UNITS[token[1:]]
        return unit._replace(scale=unit.scale * PREFIXES[token[0]])
    if not token.isalpha():
        found = f"{token!r}, expected the name of a unit there" if token else "no name of a unit at its end"
        raise ValueError(f"the unit {text!r} has {found}")
    meant = WRITTEN_OUT.get(token.lower().removesuffix("s"))
    hint = f"Did you mean '{meant}'?" if meant else did_you_mean(token, [*UNITS, "kg", "mm"]).strip()
    inside = f", because of {token!r}" if token != text else ""
    problem = f"the unit {text!r} is not known{inside}, expected one such as 'mm' or 'kg m^2'"
    raise ValueError(Problem("", "", problem, hint) if hint else problem)


def _times(a: Unit, b: Unit, power: int) -> Unit:
    powers = tuple(x + power * y for x, y in zip(a.powers, b.powers, strict=True))
    scale = a.scale * b.scale**power
    if max(map(abs, powers)) > 99 or max(scale.numerator, scale.denominator).bit_length() > 900:
        raise ValueError("the powers in a unit are too large for any physical quantity; expected powers such as m^2")
    return Unit(scale, a.turns + power * b.turns, powers)


# ── kinds ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def _fitting(kind: str) -> frozenset[tuple[int, ...]]:
    return frozenset(parse_unit(unit).powers for unit in KINDS[kind])


def kind_of(unit: Unit) -> str:
    """The first kind of quantity in `KINDS` that this unit fits; empty if it fits none."""
    return next((kind for kind in KINDS if unit.powers in _fitting(kind)), "")


def kind_called(unit_text: str) -> str:
    """The kind of quantity whose unit is given: "angle" for "rad"; "number" where there is no unit or no such kind."""
    try:
        return kind_of(parse_unit(unit_text or "1")) or "number"
    except ValueError:
        return "number"


def fits(unit_text: str, kind: str) -> bool:
    """Whether a unit fits a kind of quantity; True if the unit is unknown or the kind is empty."""
    try:
        return not kind or parse_unit(unit_text).powers in _fitting(kind)
    except ValueError:
        return True


def is_si(unit_text: str) -> bool:
    """Whether a unit is already in SI, with the factor 1. Raises ValueError if the unit is unknown."""
    unit = parse_unit(unit_text)
    return unit.scale == 1 and unit.turns == 0


def si_unit(unit_text: str) -> str:
    """The SI unit for a unit: itself if it is in SI, else the usual unit of its kind, else a product of base units."""
    if is_si(unit_text):
        return unit_text.strip()
    unit = parse_unit(unit_text)
    kind = kind_of(unit)
    if kind:
        return KINDS[kind][0] if KINDS[kind][0] != "1" else ""
    return " ".join(
        base if power == 1 else f"{base}^{power}" for base, power in zip(BASES, unit.powers, strict=True) if power
    )


def _such_as(kind: str) -> str:
    """The end of a message that gives an example of the kind of quantity: " such as '5 mm'"."""
    examples = {"length": "'5 mm'", "angle": "'30 deg'", "mass": "'250 g'", "rate": "'1500 rpm'"}
    examples["pitch"] = "'5 mm/rev'"
    if not kind:
        return " such as '5 mm'"
    if kind == "number":
        return " without a unit"
    return f" such as {examples.get(kind, repr('1 ' + KINDS[kind][0]))}"


def with_article(kind: str) -> str:
    """The kind of quantity with its article: "a mass", "an angle"."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
