"""The parts of a model in another size: every field of a dataclass is scaled by the unit that its metadata state.

kind    a kind of quantity of `units.KINDS`; for a "joint ..." kind the joints of the element say which of its units; a
        pair of kinds is one for rotations and one for translations, for numbers per coordinate
kinds   a kind for each number of a row
unit    a unit; words in braces, "{out}/{in}", are those of the part, one for each of its channels
per     (unit, exponent): the unit is divided by this power of another one; the exponent is a number or a field
rows    whether the channels are the rows of a table, not its columns
pair    whether it may be a pair, with a number for joints that turn and one for joints that slide
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError, Problem
from kinemorph.mechanics.scaling.values import Names, near, scaled_value, unit_factor
from kinemorph.model.elements.fields import is_part
from kinemorph.model.parameter import Formula, Parameter, Value
from kinemorph.model.scales import Scales
from kinemorph.model.units import KINDS
from kinemorph.vocabulary.frozen_array import FrozenArray

JOINT = "joint "  # begins the kinds whose unit depends on the joint: rotations have the first one, slides the last
WORD = re.compile(r"\{(\w+)\}")
Words = Mapping[str, Sequence[str]]  # for each word in braces its units, one for all channels or one for each


def scaled_part(part: Any, words: Words, names: Names, skip: Sequence[str] = ()) -> Any:
    """A dataclass with all its numbers scaled, also in nested parts; the fields `skip` stay the same.

    `words` are the units of its channels, those of the joints as "joint". Raises ModelError for a number without kind.
    """
    new = {}
    for field in dataclasses.fields(part):
        old = getattr(part, field.name)
        if field.init and field.name not in skip:
            new[field.name] = _scaled_field(part, field, old, words, names)
    changed = {name: data for name, data in new.items() if data is not getattr(part, name)}
    return dataclasses.replace(part, **changed) if changed else part


def _scaled_field(part: Any, field: dataclasses.Field[Any], old: Any, words: Words, names: Names) -> Any:
    if old is None or isinstance(old, (str, bool)) or callable(old) or field.type == "int":
        return old
    if isinstance(old, Pose):
        return scaled_pose(old, names)
    units = units_of(field.metadata, words)
    inner = {**words, "field": units or ("",)}
    if is_part(type(old)):
        return scaled_part(old, inner, names)
    if isinstance(old, tuple) and any(is_part(type(one)) for one in old):
        return tuple(scaled_part(one, inner, names) for one in old)
    if not has_numbers(old):
        return old
    if units is None:
        if not any(math.isfinite(x) and x != 0.0 for x in _floats(old)):  # no factor changes it
            return old
        raise ModelError(wrong(part, field.name, f"{field.name} has no kind of quantity, so that it cannot be scaled"))
    factors = [_factor(part, unit, field.metadata, names.scales) for unit in units]
    if isinstance(old, FrozenArray):
        return old if near(factors[0], 1.0) else FrozenArray(old.array * factors[0])
    if field.metadata.get("pair", False) and (isinstance(old, tuple) or len(factors) == 2):
        return _scaled_pair(old, factors, names, field.metadata)
    try:
        return scaled_numbers(old, factors, names, rows=field.metadata.get("rows", False))
    except ValueError as error:
        raise ModelError(wrong(part, field.name, f"{field.name} {error}")) from None


def wrong(part: Any, field: str, what: str) -> Problem:
    """The problem of a field that cannot be scaled."""
    remedy = "Leave the part out of the system, or give each kind of joint a part of its own."
    if "no kind" in what:
        remedy = 'Give the field of its class field(metadata={"kind": "length"}), or another kind of `units.KINDS`.'
    return Problem(type(part).__name__, getattr(part, "name", ""), what, remedy, field)


def units_of(metadata: Mapping[str, Any], words: Words) -> tuple[str, ...] | None:
    """The units of a field, one for all its numbers or one for each channel; None if its metadata state none."""
    if "kinds" in metadata:
        return tuple(KINDS[kind][0] for kind in metadata["kinds"])
    kind = metadata.get("kind", "")
    if isinstance(kind, tuple):
        turning, sliding = (KINDS[one][0] for one in kind)
        return tuple(turning if "rad" in unit else sliding if unit else "" for unit in words["coordinates"])
    if kind.startswith(JOINT):
        return tuple(KINDS[kind][0 if "rad" in unit else -1] if unit else "" for unit in words["joint"])
    if kind:
        return (KINDS[kind][0],)
    if "unit" not in metadata:
        return None
    template = metadata["unit"]
    used = WORD.findall(template)
    count = max((len(words[word]) for word in used), default=1)
    each = {word: tuple(words[word]) * (count if len(words[word]) == 1 else 1) for word in used}
    return tuple(WORD.sub(lambda found: f"({each[found[1]][k] or 1})", template) for k in range(count))  # noqa: B023


def _factor(part: Any, unit: str, metadata: Mapping[str, Any], scales: Scales) -> Value:
    """The factor of a unit of a field; a formula if it is divided by a power that is a parameter."""
    factor: Value = unit_factor(scales, unit)
    if "per" in metadata:
        base, exponent = metadata["per"]
        power = getattr(part, exponent) if isinstance(exponent, str) else exponent
        factor = factor / scales.factor(base) ** power
    return factor


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def scaled_numbers(old: Any, factors: Sequence[Value], names: Names, *, rows: bool = False) -> Any:
    """Numbers, or nested tuples of them, with one factor for all or one for each; raises ValueError if none fits."""
    if len(factors) > 1 and all(isinstance(x, float) and near(factors[0], x) for x in factors):
        factors = factors[:1]
    if not isinstance(old, tuple):
        if isinstance(old, str) or not isinstance(old, (int, float, Parameter, Formula)):
            return old
        if len(factors) > 1 and (isinstance(old, (Parameter, Formula)) or (old and math.isfinite(old))):
            raise ValueError("is one number for joints that turn and joints that slide, which have different factors")
        return _scaled_number(old, factors[0], names)
    if rows:
        every = factors if len(factors) > 1 else tuple(factors) * len(old)
        return _kept(old, [scaled_numbers(row, [factor], names) for row, factor in zip(old, every, strict=False)])
    if any(isinstance(one, tuple) for one in old):
        return _kept(old, [scaled_numbers(one, factors, names) for one in old])
    if len(factors) == 1:
        return _kept(old, [scaled_numbers(one, factors, names) for one in old])
    if len(old) == 1 and _is_fixed(old[0]):  # 0, infinite or a name: the same for all channels
        return old
    every = old * len(factors) if len(old) == 1 else old
    if len(every) != len(factors):
        raise ValueError(f"has {len(old)} numbers for {len(factors)} channels with different factors")
    return tuple(scaled_numbers(one, [factor], names) for one, factor in zip(every, factors, strict=True))


def _scaled_pair(old: Any, factors: Sequence[Value], names: Names, metadata: Mapping[str, Any]) -> Any:
    """A number for joints that turn and one for joints that slide; one number if both are the same."""
    turning, sliding = (unit_factor(names.scales, unit) for unit in units_of(metadata, {"joint": ("rad", "m")}) or ())
    first, second = old if isinstance(old, tuple) else (old, old)
    pair = _scaled_number(first, turning, names), _scaled_number(second, sliding, names)
    same = isinstance(pair[0], float) and isinstance(pair[1], float) and near(pair[0], pair[1])
    if isinstance(old, tuple) and pair == old:
        return old
    return pair[0] if same else pair


def _is_fixed(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (int, float)) and (value == 0.0 or math.isinf(value)))


def _scaled_number(old: Value, factor: Value, names: Names) -> Value:
    if isinstance(old, (Parameter, Formula)):
        return scaled_value(old, factor, names)
    return old if near(factor, 1.0) or _is_fixed(old) else scaled_value(old, factor, names)


def _kept(old: tuple[Any, ...], new: list[Any]) -> Any:
    return old if all(map(operator.is_, old, new)) else tuple(new)


def scaled_pose(pose: Pose, names: Names) -> Pose:
    """A pose: its translation is a length, its rotation stays the same."""
    R = scaled_numbers(tuple(map(tuple, pose.R)), [1.0], names)
    p = scaled_numbers(tuple(pose.p), [names.scales.length], names)
    return pose if R == pose.R and p == pose.p else Pose(R, p)


def has_numbers(data: Any) -> bool:
    """Whether data are a number, a parameter or a formula, or nested tuples that contain one."""
    if isinstance(data, tuple):
        return any(map(has_numbers, data))
    return isinstance(data, (int, float, Parameter, Formula, FrozenArray)) and not isinstance(data, bool)


def _floats(data: Any) -> list[float]:
    """All numbers in nested tuples; 1 for each parameter and formula."""
    if isinstance(data, tuple):
        return [x for one in data for x in _floats(one)]
    if isinstance(data, FrozenArray):
        return [1.0]
    return [] if isinstance(data, str) else [1.0 if isinstance(data, (Parameter, Formula)) else float(data)]
