"""Sheets: what a result has to show, said once, beside its computation.

    def sheet(self) -> Sheet:
        rows = [(k + 1, self.alpha[k], self.frequency[k]) for k in range(len(self))]
        return Sheet("Poles of", self.plant.name, (Table("poles", fields("number alpha frequency"), rows),))

A sheet is data: raw numbers, with a key for programs, and a head and a unit for people. `display.faces` shows every
sheet in a terminal, as text, as JSON, as the card of a notebook, in reports of every language and in the studio, and
knows no type of result: an object of any class with a method `sheet` is shown everywhere.
Texts are English. Values in a sentence are kept beside it (`Said`), so that reports can translate it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from kinemorph.frozen import dataclass

Tone = Literal["text", "note", "warning", "success"]
# how a value is written: significant digits, a format such as ".1e" or ".2%", or the words for its values; a text is a
# "name", "code" or "unit", which stay as they are, or a "word" or "sentence", which are translated. A list of numbers
# is a vector, another list is written with commas
Form: TypeAlias = int | str | Mapping[Any, str]

STABILITY = {True: "stable", False: "not stable", None: "not decided by linear equations"}


class Said(NamedTuple):
    """A sentence and the values in the places of their names in braces.

    Where `many` is given, it is the sentence for every number n but one.
    """

    text: str
    values: Mapping[str, Any]
    many: str = ""

    def __str__(self) -> str:
        text = self.many if self.many and self.values["n"] != 1 else self.text
        shown = {name: f"{x:.4g}" if isinstance(x, float) else x for name, x in self.values.items()}
        return text.format(**shown)


Text: TypeAlias = str | Said


def said(text: str, many: str = "", /, **values: Any) -> Said:
    """A sentence with values: said("{n} of {m} poles grows.", "{n} of {m} poles grow.", n=2, m=6)."""
    return Said(text, values, many)


class Field(NamedTuple):
    """A quantity: a fact, or a column of a table.

    `key`    its name in JSON; with "" it is for people only
    `head`   what people read; with "" it is for programs only. A name of the user is said("{name}", name=name)
    `unit`   "m", "rad/s"; "" for none

    A value may be a list of such values.
    """

    key: str
    head: Text
    unit: str = ""
    form: Form = 5


# the quantities that several results have; each has one head, in one place
QUANTITIES = {
    one.key: one
    for one in (
        Field("alpha", "real part", "1/s", 6),
        Field("omega", "imaginary part", "rad/s", 6),
        Field("frequency", "frequency", "Hz", 6),
        Field("damping_ratio", "damping ratio", "", 6),
        Field("modal_mass", "modal mass", "", 6),
        Field("name", "coordinate", form="name"),
        Field("value", "value", form=10),
        Field("unit", "unit", form="unit"),
        Field("stable", "stability", form=STABILITY),
        Field("iterations", "iterations"),
        Field("message", "", form="sentence"),
        Field("status", "verdict", form="word"),
        Field("worst", "worst", form=".1e"),
        Field("tolerance", "tolerance", form=".0e"),
        Field("states", "random states"),
        Field("seed", "seed"),
        Field("combination", "base parameter", form="name"),
        Field("deviation", "standard deviation", form=3),
        Field("data_share", "share of the data", form=".1%"),
        Field("error", "error", "of the norm of all measured forces", ".2%"),
        Field("magnitude", "magnitude", form=9),
        Field("real", "real part", form=9),
        Field("imag", "imaginary part", form=9),
        Field("period", "period", "s", 10),
        Field("cycles", "cycles"),
        Field("edges", "edges of a cycle", form="name"),
        Field("starts", "starts"),
        Field("steps", "steps"),
        Field("cost", "cost", form=10),
        Field("duration", "duration", "s", 6),
        Field("speed", "speed", "m/s", 4),
        Field("leg", "leg", form="name"),
        Field("margin", "margin", form=6),
        Field("condition", "condition", form="name"),
    )
}
DETERMINED = Field("determined", "determined", form={True: "yes", False: "no", None: "hardly"})


def fields(keys: str, **heads: str) -> tuple[Field, ...]:
    """The fields with these keys, from QUANTITIES; `heads` replaces what people read."""
    return tuple(QUANTITIES[key]._replace(head=heads.get(key, QUANTITIES[key].head)) for key in keys.split())


def named(keys: str, form: Form = 5) -> tuple[Field, ...]:
    """Fields whose keys are also what people read."""
    return tuple(Field(key, key.replace("_", " "), "", form) for key in keys.split())


def shown(*heads: Text, form: Form = "name") -> tuple[Field, ...]:
    """Fields of one form that are for people only."""
    return tuple(Field("", head, form=form) for head in heads)


@dataclass(frozen=True, eq=False)
class Facts:
    """Values, each with its head, one below the other."""

    rows: Sequence[tuple[Field, Any]]

    def data(self) -> dict[str, Any]:
        """The values by the keys of their fields."""
        return {one.key: plain(value) for one, value in self.rows if one.key}


@dataclass(frozen=True, eq=False)
class Table:
    """A table: a value for every column in every row; None where there is none.

    `key`      its name in JSON, where it is a list of objects; with "" it is for people only
    `marked`   rows that stand out, such as poles that grow; where there is little room, they come first
    `note`     a sentence below the table
    `most`     rows that a terminal shows; all with None
    """

    key: str
    columns: Sequence[Field]
    rows: Sequence[Sequence[Any]]
    title: Text = ""
    note: Text = ""
    marked: Sequence[int] = ()
    most: int | None = None

    def data(self) -> dict[str, Any]:
        """{key: list of rows as objects}; {} for a table without a key."""
        keys = [one.key for one in self.columns]
        rows = [{key: plain(value) for key, value in zip(keys, row, strict=True) if key} for row in self.rows]
        return {self.key: rows} if self.key else {}


@dataclass(frozen=True)
class Note:
    """A sentence. Its tone says how it stands out; an empty text is shown nowhere."""

    text: Text
    tone: Tone = "text"
    key: str = ""

    def data(self) -> dict[str, Any]:
        """{key: text} where it has a key."""
        return {self.key: str(self.text)} if self.key else {}


@dataclass(frozen=True)
class Verdict:
    """What a result comes to: a sentence in green where it `holds`, in red where not. `key` names `holds` in JSON."""

    holds: bool
    text: Text
    key: str = ""

    def data(self) -> dict[str, Any]:
        """{key: holds} where it has a key."""
        return {self.key: self.holds} if self.key else {}


@dataclass(frozen=True, eq=False)
class Pose:
    """A picture of a robot or system at a configuration `q` (nq,), with None where its runs begin; or of a run."""

    model: Any
    q: Any
    caption: Text

    def data(self) -> dict[str, Any]:
        """Nothing: pictures are for people."""
        return {}


@dataclass(frozen=True, eq=False)
class Points:
    """Poles in the complex plane, as a picture; those on the right grow.

    `values`   complex numbers, shape (n,), of conjugate pairs the upper one
    `marked`   those that stand out
    `caption`  a sentence below the picture, `note` a remark inside of it
    """

    values: Any
    marked: Sequence[int]
    caption: Text
    note: Text = ""

    def data(self) -> dict[str, Any]:
        """Nothing: the numbers are in a table."""
        return {}


@dataclass(frozen=True, eq=False)
class Plot:
    """The usual plot of a result, which its method `plot` draws."""

    result: Any
    caption: Text

    def data(self) -> dict[str, Any]:
        """Nothing: pictures are for people."""
        return {}


@dataclass(frozen=True, eq=False)
class Curves:
    """Small curves over one axis, each with its range and its last value, on a card; elsewhere another part.

    `head`      what the curves are of, such as "coordinate"
    `x`         places on the axis, such as times, shape (n,)
    `lines`     (the field of a curve, its values (n,), NaN where there is none)
    `instead`   what other faces show, such as the last values
    `marks`     places on the axis that stand out, such as times of events
    """

    head: Text
    x: Any
    lines: Sequence[tuple[Field, Any]]
    instead: Table | Note
    marks: Sequence[float] = ()

    def data(self) -> dict[str, Any]:
        """That of `instead`."""
        return self.instead.data()


def hidden(**values: Any) -> Facts:
    """Values for programs only, by their keys."""
    return Facts([(Field(key, ""), value) for key, value in values.items()])


def attributes(result: Any, keys: str) -> Facts:
    """Attributes of a result by their names, for programs only."""
    return hidden(**{key: getattr(result, key) for key in keys.split()})


Part: TypeAlias = Facts | Table | Note | Verdict | Pose | Points | Plot | Curves


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a result has to show: the `kind` of result, the `name` of what it is about, and parts in order.

    `key` names `name` in JSON.
    """

    kind: str
    name: str
    parts: Sequence[Part] = field(default=())
    key: str = "name"

    def data(self) -> dict[str, Any]:
        """The sheet for programs, as `--json` prints it: facts and tables by their keys."""
        found: dict[str, Any] = {self.key: self.name}
        for part in self.parts:
            found |= part.data()
        return found

    def with_parts(self, *parts: Part) -> Sheet:
        """The sheet with more parts at its end."""
        return replace(self, parts=(*self.parts, *parts))


def plain(value: Any) -> Any:
    """A value that JSON can represent: numbers that are not finite become None, arrays and tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
