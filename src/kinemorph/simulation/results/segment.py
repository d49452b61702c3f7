"""A segment of a run: the samples between two changes of the system, and quantities that are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.model.parameter import nominal_part
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.derived_columns import recomputer
from kinemorph.simulation.results.quantities import COMPONENTS, is_quantity, quantities


@dataclass(frozen=True, eq=False)
class Segment:
    """Samples between two changes of the system.

    t (n,), q (n, nq), v (n, nv), x (n, nx), m (n, nm), u (n, nu), p (np,); u acts from the time of its sample on. A
    segment from a file has no equations: `stored` holds the quantities that were computed when the run was saved.
    Batches also compute their columns from segments: such a segment has samples of several runs, and parameters
    p (n, np) for each sample.
    """

    plant: Plant
    t: Array
    q: Array
    v: Array
    x: Array
    m: Array
    u: Array
    p: Array
    stored: Mapping[str, Array] | None = None
    missing: str = ""  # why the file of the run has no model, where it has none

    @classmethod
    def empty(cls, plant: Plant, stored: Mapping[str, Array] | None = None) -> Segment:
        """A segment without samples, which has the columns of a plant."""
        q, v, x, m, u = (np.zeros((0, len(getattr(plant, group)))) for group in ("q", "v", "x", "m", "u"))
        return cls(plant, np.zeros(0), q, v, x, m, u, np.zeros(len(plant.p)), stored)

    def continues_in(self, other: Segment) -> bool:
        """Whether another segment has the same plant and the same parameter values."""
        return self.plant is other.plant and np.array_equal(self.p, other.p)

    def column_names(self, group: str) -> tuple[str, ...]:
        """The names of the columns of one array; arrays of segments with the same names may be joined."""
        if group == "y":
            return tuple(self.plant.outputs)
        groups = {"a": ("v",), "tau": ("v",), "z": ("v", "x"), "z_until": ("v", "x")}
        whose = groups.get(group, (group,) if group in ("q", "v", "x", "m", "u") else ())
        return tuple(column.name for one in whose for column in getattr(self.plant, one))

    @cached_property
    def robot(self) -> Robot | None:
        """The robot with the parameter values of the run; None for a run of equations."""
        return robot_with(self.plant, self.p)

    def has(self, group: str) -> bool:
        """Whether a quantity is available: "tau", "energy", "account" (supplied energy), "loop_error", "y" or "z"."""
        if self.stored is not None and group in self.stored:
            return True
        if self.stored is not None and group not in _OF_STATES:
            return False
        return _PRESENT[group](self)

    def _either(self, group: str, compute: Callable[[Segment], Array]) -> Array:
        """The quantity `group` as it was stored, or computed now; raises UnsupportedError where neither is possible."""
        if self.stored is not None and group in self.stored:
            return self.stored[group]
        if self.stored is None or (group in _OF_STATES and self.plant.dynamics is not None):
            return compute(self)
        raise UnsupportedError(
            f"'{group}' of run '{self.plant.name}' is computed from the model, which its file does not hold. Save the "
            "run as .npz, .h5 or .csv, which store more, or run it again."
        )

    @cached_property
    def z(self) -> Array:
        """The rates z = [a, dx/dt] at every sample, shape (n, nv + nx): accelerations, rates of further states x."""
        return self._either("z", recomputer(self.plant).rates)

    @cached_property
    def z_until(self) -> Array:
        """Rates just before each sample, shape (n, nv + nx), with the inputs and the memory that acted until then.

        They differ from `z` where inputs or memory jump. In a run from a file, which has no equations, they are NaN
        there.
        """
        u, m = (np.concatenate([held[:1], held[:-1]]) for held in (self.u, self.m))
        jumps = np.any(u != self.u, axis=1) | np.any(m != self.m, axis=1)
        if not jumps.any():
            return self.z
        before = np.full_like(self.z, np.nan) if self.stored is not None else replace(self, u=u, m=m).z
        return np.where(jumps[:, None], before, self.z)

    @property
    def a(self) -> Array:
        """Accelerations, shape (n, nv)."""
        return self.z[:, : self.plant.nv]

    @cached_property
    def tau(self) -> Array:
        """Generalized forces [N m or N], shape (n, nv)."""
        return self._either("tau", recomputer(self.plant).forces)

    @cached_property
    def y(self) -> Array:
        """Outputs, shape (n, ny)."""
        return self._either("y", recomputer(self.plant).outputs)

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy [J], shape (n, 2)."""
        return self._either("energy", recomputer(self.plant).mechanical)

    @cached_property
    def account(self) -> Array:
        """Supplied and dissipated energy [J], shape (n, 2)."""
        return self._either("account", recomputer(self.plant).accounted)

    @cached_property
    def loop_error(self) -> Array:
        """The largest error of loops, couplings and other constraints [m or rad], shape (n,)."""
        return self._either("loop_error", recomputer(self.plant).loop_error)

    def array(self, name: str) -> Array:
        """The array that a `columns.Source` names, shape (n,) or (n, width); or a quantity by its name, shape (n,)."""
        if self.stored is not None and name in self.stored:
            return self.stored[name]
        if name in COMPONENTS:
            if name not in self._components:
                self._components[name] = recomputer(self.plant).quantities(self, name)
            return self._components[name]
        if is_quantity(name):
            group, place, _ = quantities(self.plant.robot)[name]
            return self.array(group)[:, place]
        found: Array = getattr(self, name)
        return found

    @cached_property
    def _components(self) -> dict[str, Array]:
        """The groups of quantities that have been computed."""
        return {}

    @cached_property
    def momentum(self) -> Array:
        """[linear; angular about the world's origin] momentum in world axes, shape (n, 6) [N s, N m s]."""
        return recomputer(self.plant).momentum(self)

    @cached_property
    def loop_rate(self) -> Array:
        """The largest rate of the errors of loops, couplings and other constraints [m/s or rad/s], shape (n,)."""
        return recomputer(self.plant).loop_rate(self)


def _keeps_account(segment: Segment) -> bool:
    try:
        return segment.plant.dynamics is not None and len(segment.account) > 0
    except UnsupportedError:
        return False


_OF_STATES = ("energy", "loop_error")  # quantities that follow from a robot and its states alone
_PRESENT: dict[str, Callable[[Segment], bool]] = {
    "z": lambda segment: True,
    "y": lambda segment: True,
    "tau": lambda segment: segment.plant.laws.efforts is not None,
    "energy": lambda segment: segment.plant.dynamics is not None,
    "account": _keeps_account,
    "loop_error": lambda segment: bool(segment.plant.constraint_names),
}


def robot_with(plant: Plant, p: Array) -> Robot | None:
    """The robot of a plant with the values p (np,) of its parameters; None for a plant of equations."""
    dynamics = plant.dynamics
    if dynamics is None or not dynamics.parameters:
        return plant.robot
    given = {one.name: float(value) for one, value in zip(dynamics.parameters, p, strict=False)}
    if all(one.value == given[one.name] for one in dynamics.parameters):
        return dynamics.robot
    found: Robot = nominal_part(replace(dynamics.robot, parameters=()), given)
    return found
