"""Poles about the equilibrium near the initial state of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.analysis.small_motions.equilibrium import Equilibrium, equilibrium
from kinemorph.analysis.small_motions.poles import Poles, poles
from kinemorph.model.system import System


def poles_at_rest(
    system: System,
    *,
    u: Any = None,
    v: Any = None,
    locked: str | Sequence[str] = (),
    window: tuple[float, float] | None = None,
) -> tuple[Poles, Equilibrium]:
    """(poles, equilibrium): the poles about an equilibrium near the initial values that a system declares.

    Without such values, it is searched for near the neutral configuration. Where no equilibrium is found, which its
    truth value tells, the poles are those about the initial values. The arguments are those of `poles`.
    """
    first = system.settings.q or None
    found = equilibrium(system, first, stable=False, u=u, locked=locked)
    at: dict[str, Any] = {"q": found.q, "x": found.x, "m": found.m} if found else {"q": first}
    return poles(system, **at, v=v, u=u, locked=locked, window=window), found
