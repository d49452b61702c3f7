"""What can be wrong with a space: all its problems at once, each with the part, the value found and a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kinemorph.errors import Problem
from kinemorph.studies.spaces.conditions import in_order, known_conditions
from kinemorph.studies.spaces.designs import DESIGNS
from kinemorph.studies.spaces.grids import MOST_ITEMS
from kinemorph.studies.spaces.parts import Choice, Part, Range, Values, is_number, is_whole, label_of, text_of
from kinemorph.words import did_you_mean, listed, quoted


def space_problems(parts: Sequence[tuple[Any, Any]], design: Any, count: Any, seed: Any, when: Any) -> list[Problem]:
    """The problems of a space of these parts, each a name and a part. `key` of a problem is the field that is wrong."""
    return [
        *part_problems(parts),
        *design_problems(parts, design, count, seed),
        *condition_problems(dict(parts), when),
    ]


def part_problems(parts: Sequence[tuple[Any, Any]]) -> Iterator[Problem]:
    """The problems of parts and their names."""
    if not parts:
        yield Problem(
            "space", "", "it has no parts, expected at least one", 'Write {"mass": Range(0.5, 2.0)}.', "parts"
        )
    seen: set[str] = set()
    for name, part in parts:
        if not isinstance(name, str) or not name or not name.isprintable():
            shown = f"a part is called {text_of(name)}, expected a printable text"
            yield Problem("space", "", shown, "Give it the name of what it varies.", "parts", "name")
        elif name in seen:
            yield Problem("part", name, "two parts have this name, expected one", "Remove one.", "parts", "name")
        elif isinstance(part, Part):
            yield from part.problems(name)
        else:
            yield Problem("part", name, f"{text_of(part)} is no part of a space", _instead(part), "parts")
        seen.add(str(name))


def _instead(value: object) -> str:
    """The remedy for a value that is not a part: the part that was probably meant."""
    if isinstance(value, (list, tuple)):
        return f"Write {'Values([...])' if all(map(is_number, value)) else 'Choice(...)'}."
    if isinstance(value, Mapping):
        return "Write Choice({label: value})."
    fixed = f"Choice({text_of(value)})" if is_number(value) or isinstance(value, str) else "Choice({label: value})"
    return f"Write {fixed} for a fixed value, or use Range, Values or a distribution."


def design_problems(parts: Sequence[tuple[Any, Any]], design: Any, count: Any, seed: Any) -> Iterator[Problem]:
    """The problems of a design, and of parts that do not fit it."""
    if design not in DESIGNS:
        guess = did_you_mean(design, DESIGNS)
        shown = f"design is {text_of(design)}, expected one of {listed(DESIGNS)}"
        yield Problem("space", "", shown, guess.strip() or "Choose one of these.", "design")
    elif design == "grid":
        for name, part in parts:
            if isinstance(part, Range) and part.points is None:
                shown = f"a grid needs the number of points of the range from {_between(part)}"
                yield Problem("part", name, shown, "Add points=5, or choose another design.", "points")
            elif isinstance(part, Part) and part.size is None:
                shown = f"{type(part).__name__} is a distribution, which a grid cannot contain"
                yield Problem("part", name, shown, 'Use Values, or design="latin" with a count.', "design")
    elif count is None:
        yield Problem("space", "", f"the design {design} needs a count of items", "Add count=1024.", "count")
    if count is not None and (not is_whole(count) or not 0 < count <= MOST_ITEMS):
        shown = f"count is {text_of(count)}, expected a whole number from 1 to {MOST_ITEMS:,}"
        yield Problem("space", "", shown, f"Give at most {MOST_ITEMS:,}.", "count")
    if not is_whole(seed) or seed < 0:
        shown = f"seed is {text_of(seed)}, expected a whole number of 0 or more"
        yield Problem("space", "", shown, "Give such a number, or leave it out.", "seed")


def _between(part: Range) -> str:
    return f"{text_of(part.low)} to {text_of(part.high)}"


def condition_problems(parts: Mapping[Any, Any], when: Any) -> Iterator[Problem]:
    """The problems of conditions: unknown parts and values, and circles."""
    if not isinstance(when, Mapping) or not all(isinstance(needed, Mapping) for needed in when.values()):
        shown = f"when is {text_of(when)}, expected {{part: {{other part: value}}}}"
        yield Problem("space", "", shown, 'Write when={"lag": {"gait": "wave"}}.', "when")
        return
    sound = True
    names = [str(name) for name in parts]
    for name, needed in when.items():
        for named in (name, *needed):
            if named not in parts:
                sound = False
                shown = f"its condition names the part {text_of(named)}, which the space does not have"
                if named == name:
                    shown = "it has a condition, but the space does not have it"
                guess = did_you_mean(named, names).strip() or f"The parts are {listed(names)}."
                yield Problem("part", name, shown, guess, "when", "name")
        for other, values in known_conditions({name: needed})[name].items():
            if isinstance(parts.get(other), Part):
                yield from _value_problems(name, other, parts[other], values)
    order = in_order(names, when) if sound else names
    if len(order) < len(names):
        circle = [name for name in names if name not in order and name in when]
        shown = f"the conditions of {quoted(circle)} form a circle: each applies only if another one does"
        yield Problem("part", circle[0], shown, "Remove one of these conditions.", "when")


def _value_problems(name: str, other: str, part: Part, values: tuple[Any, ...]) -> Iterator[Problem]:
    """The problems of a condition of `name` on values of the part `other`."""
    start = f"it applies when '{other}'"
    if not values:
        yield Problem("part", name, f"{start} has one of no values, expected at least one", "Name a value.", "when")
    if not part.listed:
        shown = f"{start} has the value {listed(values)}, but that part is {type(part).__name__}, which has no list"
        yield Problem("part", name, shown, f"Make '{other}' a Choice or Values.", "when")
        return
    known: list[Any] = [*part.labels]
    if isinstance(part, (Choice, Values)) and not known:
        known = [float(number) for number in (part.options if isinstance(part, Choice) else part.numbers)]
    for value in values:
        if (label_of(value) if part.labels else value) not in known:
            shown = f"{start} has the value {text_of(value)}, which that part does not have"
            texts = [label_of(other) for other in known]
            yield Problem("part", name, shown, did_you_mean(value, texts).strip() or f"It has {listed(texts)}.", "when")


def option_remarks(parts: Mapping[str, Part], design: str, count: int | None, seed: int) -> list[Problem]:
    """Remarks on options of a space that have no effect, or a smaller one than they could have."""
    found = []
    for key, value in (("count", count), ("seed", seed or None)):
        if design == "grid" and value is not None:
            shown = f"{key} = {value} has no effect in a grid"
            found.append(Problem("space", "", shown, "Leave it out, or choose another design.", key))
    if design == "sobol" and count is not None and count & (count - 1):
        lower, upper = 1 << (count.bit_length() - 1), 1 << count.bit_length()
        shown = f"count is {count}, and a Sobol sequence is even only for powers of two"
        found.append(Problem("space", "", shown, f"Use {lower} or {upper}.", "count"))
    for name, part in parts.items():
        if design != "grid" and isinstance(part, Range) and part.points is not None:
            shown = f"points = {part.points} has no effect in the design {design}"
            found.append(Problem("part", name, shown, "Leave it out.", "points"))
    return found
