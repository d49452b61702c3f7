"""Formulas that leave their domain in a run: acos and asin outside -1 to 1, sqrt below 0, log at or below 0.

These are the formulas of dependent quantities, such as the angle of a rod, and of driven joints.

At the edge of the domain of acos and asin the formula has no finite derivative, so that the mechanism it describes has
reached the end of its motion, and the computed motion means nothing beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.model.parameter import TIME, Formula, Value, coordinates_of, evaluate
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant

EDGE = 1e-9  # distance of an argument of acos or asin from -1 or 1 at which a run is ended
NEAR = 1e-6  # the same, in a run that has failed
DOMAINS = {"acos": (-1.0, 1.0), "asin": (-1.0, 1.0), "sqrt": (0.0, np.inf), "log": (0.0, np.inf)}


class Domain(NamedTuple):
    """An argument that has to stay in a domain: the owner of the formula, the op, and the argument."""

    owner: str  # "dependent 'gamma'"
    op: str
    argument: Value

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value that is allowed."""
        return DOMAINS[self.op]

    def is_left(self, values: Array, edge: float) -> NDArray[np.bool_]:
        """Where values (n,) of the argument are outside, or nearer than `edge` to an end of acos and asin."""
        low, high = self.ends
        if self.op in ("acos", "asin"):
            low, high = low + edge, high - edge
        return ~((values >= low) & (values <= high))


def domains_of(robot: Robot) -> list[Domain]:
    """The arguments that have to stay in a domain in the formulas of dependent quantities and of driven joints.

    An argument that several formulas contain is that of the first one.
    """
    found: dict[tuple[str, Value], Domain] = {}
    owners = [(f"dependent '{one.name}'", one.formula) for one in robot.dependents]
    owners += [(f"joint '{joint.name}'", formula) for joint in robot.driven for formula in joint.driven]
    for owner, formula in owners:
        for part in _parts(formula):
            if part.op in DOMAINS and coordinates_of(part.args[0]):
                found.setdefault((part.op, part.args[0]), Domain(owner, part.op, part.args[0]))
    return list(found.values())


def _parts(formula: Value) -> Iterator[Formula]:
    """The formula and all formulas in it, each once, those inside first."""
    seen: dict[int, Formula] = {}
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Formula) and id(part) not in seen:
            seen[id(part)] = part
            waiting += part.args
    return reversed(seen.values())


class DomainWatch:
    """Watches the domains of a robot's formulas during a run. It does nothing for robots without such formulas."""

    def __init__(self, plant: Plant) -> None:
        self.domains = [] if plant.robot is None else domains_of(plant.robot)
        self.columns = {column.name: i for i, column in enumerate(plant.q)}
        self.parameters = {column.name: i for i, column in enumerate(plant.p)}

    def left(self, t: Array, q: Array, p: Array, edge: float = EDGE) -> tuple[float, str] | None:
        """(time [s], message) of the first of n samples that leaves a domain, else None.

        The samples are t (n,) [s] and q (n, nq), with the values p (np,) of the plant's parameters.
        """
        first: tuple[float, str] | None = None
        for domain, values in self._arguments(t, q, p):
            bad = np.flatnonzero(domain.is_left(values, edge))
            if len(bad) and (first is None or t[bad[0]] < first[0]):
                first = float(t[bad[0]]), _message(domain, float(t[bad[0]]), float(values[bad[0]]))
        return first

    def are_left(self, t: Array, q: Array, p: Array) -> NDArray[np.bool_]:
        """Where samples leave a domain, shape (...): t (...), q (..., nq) and p (..., np), which may be broadcast."""
        found = np.zeros(t.shape, dtype=bool)
        for domain, values in self._arguments(t, q, p):
            found |= domain.is_left(values, EDGE)
        return found

    def values(self, t: Any, q: Sequence[Any], p: Sequence[Any]) -> list[Any]:
        """The values of all arguments at t [s], q (nq,) and parameters p (np,), which may be of any scalar type."""
        lookup: dict[str, Any] = {name: p[i] for name, i in self.parameters.items()}
        lookup |= {name: q[i] for name, i in self.columns.items()} | {TIME.name: t}
        return [evaluate(domain.argument, lookup) for domain in self.domains]

    def turns(self, t: Array, q: Array, p: Array) -> list[int]:
        """The samples k of n after which an argument of acos or asin may have turned at the end of its domain.

        Its distance from the end falls up to sample k, grows from k + 1 on, and its root, extrapolated from the samples
        before k, is 0 before sample k + 2. The samples are t (n,) [s] and q (n, nq), p (np,).
        """
        found: set[int] = set()
        for domain, values in self._arguments(t, q, p):
            if domain.op not in ("acos", "asin") or len(t) < 4:
                continue
            root = np.sqrt(np.maximum(1.0 - np.abs(values), 0.0))
            slope = np.diff(root) / np.diff(t)
            k = np.arange(1, len(t) - 2)
            ahead = root[k] + slope[k - 1] * (t[k + 2] - t[k])
            found |= set(k[(slope[k - 1] < 0.0) & (slope[k + 1] > 0.0) & (ahead <= 0.0)].tolist())
        return sorted(found)

    def _arguments(self, t: Array, q: Array, p: Array) -> Iterator[tuple[Domain, Array]]:
        """All domains, each with the values of its argument at samples t (...), q (..., nq), p (..., np)."""
        if not self.domains:
            return
        lookup: dict[str, Any] = {name: p[..., i] for name, i in self.parameters.items()}
        lookup |= {name: q[..., i] for name, i in self.columns.items()} | {TIME.name: t}
        for domain in self.domains:
            with np.errstate(all="ignore"):
                yield domain, np.broadcast_to(np.asarray(evaluate(domain.argument, lookup), dtype=float), t.shape)


def _message(domain: Domain, t: float, value: float) -> str:
    low, high = domain.ends
    if not np.isfinite(value):
        value_text = "not a number"
    elif low <= value <= high and np.isfinite(high):
        value_text = f"{value:.9g}, where the domain ends"
    else:
        value_text = f"{value:.9g}"
    return leaves_domain(domain, t, value_text)


def leaves_domain(domain: Domain, t: float, value: str) -> str:
    """The message of a run that ends at t [s] because an argument leaves its domain; `value` is that value as text."""
    low, high = domain.ends
    expected = f"from {low:g} to {high:g}" if np.isfinite(high) else "above 0"
    return (
        f"At t = {t:.9g} s {domain.owner} leaves its domain: the argument of {domain.op} is {value}, expected a "
        f"value {expected}. The mechanism is at the end of its reach: choose another initial state or end time, add "
        "limits, or use other coordinates."
    )
