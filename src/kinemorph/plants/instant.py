"""A plant at one instant, as a record of the values that its laws read.

These letters have the same meaning in all docstrings about plants, steps and runs:

    t            time [s]
    q (nq,)      configuration [rad or m]; spherical and free joints have a unit quaternion, in the order wxyz
    v (nv,)      velocities [rad/s or m/s]
    a (nv,)      accelerations dv/dt
    x (nx,)      further continuous states, such as the current of a motor
    m (nm,)      memory of elements: numbers that change at ticks of clocks, at events and after steps only
    u (nu,)      inputs
    p (np,)      values of the parameters that the plant keeps as inputs
    h            step size [s]
    base (nq,)   the configuration at the start of a step
    w (nv,)      local coordinates about `base`: the displacement of a configuration from it (mechanics.trees.charts)
    s (ns,)      the state within a step, s = [w, v, x], with ns = 2 nv + nx
    z (nv + nx,) the unknown rates [a, dx/dt]; in a variational step [w, x] at the end of the step
    instant      a LocalInstant (t, base, s, m, u, p), or an Instant (t, q, v, x, m, u, p)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class LocalInstant(NamedTuple):
    """A plant at one instant, in the local coordinates of a step: the inputs of `Plant.rate`.

    t       time [s]
    base    configuration at the start of the step, shape (nq,)
    s       state [w, v, x], shape (2 nv + nx,): local coordinates about `base`, velocities, further states
    m       memory of elements, shape (nm,)
    u       inputs, shape (nu,)
    p       parameters, shape (np,)
    """

    t: Any
    base: Any
    s: Any
    m: Any
    u: Any
    p: Any


class Instant(NamedTuple):
    """A plant at one instant: time, configuration, velocities, further states, memory, inputs, parameters.

    The units and shapes are listed at the top of this file.
    """

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
    """Calls `law` with the values `given` by name: t, base, s, m, u, p as one LocalInstant, the others as keywords."""
    others = {name: value for name, value in given.items() if name not in LocalInstant._fields}
    return law(LocalInstant(*(given[name] for name in LocalInstant._fields)), **others)
