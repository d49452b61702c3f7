"""A plant at one instant, as a record of the values that its laws read.

Instant         t, q (nq,), v (nv,), x (nx,), m (nm,), u (nu,), p (np,)
LocalInstant    t, base (nq,), s (ns,), m (nm,), u (nu,), p (np,); the configuration is that of s = [w, v, x] in the
                local coordinates w about `base` (mechanics.trees.charts)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class LocalInstant(NamedTuple):
    """A plant at one instant, in the local coordinates of a step: the inputs of `rate`."""

    t: Any
    base: Any
    s: Any
    m: Any
    u: Any
    p: Any


class Instant(NamedTuple):
    """A plant at one instant: time, configuration, velocities, extra states, memory, inputs, parameters."""

    t: Any
    q: Any
    v: Any
    x: Any
    m: Any
    u: Any
    p: Any

    @property
    def local(self) -> LocalInstant:
        """The same instant in local coordinates about its own configuration, where w is 0."""
        return LocalInstant(self.t, self.q, [*[0.0] * len(self.v), *self.v, *self.x], self.m, self.u, self.p)


def at_instant(law: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """law(instant, **others) from values by name: those of a LocalInstant as one record, the others as keywords."""
    others = {name: value for name, value in given.items() if name not in LocalInstant._fields}
    return law(LocalInstant(*(given[name] for name in LocalInstant._fields)), **others)
