"""An element that acts on several limbs, divided into one for each limb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinemorph.mechanics.elements.law import ElementLaw


def divided(element: Any, law: ElementLaw[Any], groups: Sequence[Sequence[int]]) -> list[Any] | None:
    """An element for each group of joints, given by their indices in `joints`; None where it cannot be divided.

    Each of them has the name of the whole, and the entries of its own joints. A group needs at least two joints, since
    signals of a single joint have another name.
    """
    fields = law.per_joint(element)
    if not fields or any(len(group) < 2 for group in groups):
        return None
    if sorted(k for group in groups for k in group) != list(range(len(element.joints))):
        return None
    return [replace(element, **{name: _part(element, name, size, group) for name, size in fields.items()})
            for group in groups]  # fmt: skip


def _part(element: Any, name: str, size: int, group: Sequence[int]) -> Any:
    """The entries of a field for a group of joints, `size` joints to an entry; one entry for all joints stays."""
    values = getattr(element, name)
    if len(values) * size != len(element.joints):
        return values
    return tuple(values[k] for k in dict.fromkeys(joint // size for joint in group))
