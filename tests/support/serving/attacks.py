"""Attacks on a server of pages. Each one raises AssertionError where it succeeds.

`tried` and `answer` are the rows of the table in docs/security.md; `guard` is the key of the switch (see `switches`)
without which the attack succeeds, None where a library below the server refuses it. `limits` are set before the attack.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.serving.targets import Target

Act = Callable[[Target], None]


@dataclass(frozen=True)
class Attack:
    """One attack: what is tried, what happens, and which guard prevents it."""

    name: str
    tried: str
    answer: str
    guard: str | None
    act: Act
    needs: frozenset[str]  # what a site must have to be attacked so: "download", "upload", "waiting", "documents"
    limits: dict[str, Any] = field(default_factory=dict)


ATTACKS: dict[str, Attack] = {}


def attack(tried: str, answer: str, guard: str | None, *, needs: str = "", **limits: Any) -> Callable[[Act], Act]:
    """Adds a function to the table of attacks."""

    def add(act: Act) -> Act:
        name = act.__name__
        assert name not in ATTACKS
        ATTACKS[name] = Attack(name, tried, answer, guard, act, frozenset(needs.split()), limits)
        return act

    return add


def all_attacks() -> list[Attack]:
    """The whole table, in the order of docs/security.md."""
    for module in ("entries", "forged_headers", "names_and_pages", "bombs"):
        importlib.import_module(f"support.serving.{module}")
    return list(ATTACKS.values())
