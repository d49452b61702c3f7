"""Quantities that a run does not store: accelerations, forces, outputs, energies and loop errors, from its samples.

One compiled call computes all samples, of one run or of several (`batch_run`). A value that does not exist at a sample
(the acceleration where the mass matrix is singular) is NaN there, so that the last samples of a failed run can still be
inspected.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import kept_with
from kinemorph.mechanics.constraints.wrench_views import IN_JOINT, WrenchView
from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.quantities import POSITION, REACTION, quantities, quantity_laws

if TYPE_CHECKING:
    from kinemorph.simulation.results.segment import Segment


class Recomputer:
    """The compiled functions of one plant that compute quantities from samples; each is compiled at its first use."""

    def __init__(self, plant: Plant) -> None:
        self._plant = ref(plant)  # the plant refers to this object, which must not keep the plant alive

    @property
    def plant(self) -> Plant:
        """The plant whose samples these functions take."""
        plant = self._plant()
        assert plant is not None
        return plant

    @property
    def _rate(self) -> CompiledFunction:
        return self.plant.compiled("rate")

    @property
    def _efforts(self) -> CompiledFunction | None:
        return self.plant.compiled("efforts") if self.plant.laws.efforts else None

    @property
    def _stored(self) -> CompiledFunction | None:
        return self.plant.compiled("stored") if self.plant.laws.stored else None

    @cached_property
    def _outputs(self) -> CompiledFunction:
        return build(self.plant.observed(self.plant.outputs, "outputs"))

    def rates(self, segment: Segment) -> Array:
        """The rates [a, dx/dt] at every sample, shape (n, nv + nx)."""
        (found,) = in_batch(self._rate, len(segment.t), *_inputs(segment))
        return found[:, self.plant.nv :]

    def forces(self, segment: Segment) -> Array:
        """The generalized forces tau [N m or N], shape (n, nv): applied forces and damping.

        The shape is (n, 0) for a plant of user equations, which do not name forces.
        """
        if self._efforts is None:
            return np.zeros((len(segment.t), 0))
        supplied, damping = in_batch(self._efforts, len(segment.t), *_inputs(segment))
        return supplied + damping

    def outputs(self, segment: Segment) -> Array:
        """The outputs y of the plant at every sample, shape (n, ny)."""
        if not self.plant.outputs:
            return np.zeros((len(segment.t), 0))
        return in_batch(self._outputs, len(segment.t), *_inputs(segment))[0]

    def mechanical(self, segment: Segment) -> Array:
        """Kinetic and potential energy [J], shape (n, 2); potential energy is that of gravity and of springs."""
        dynamics = _of_robot(self.plant, "energies")
        energies = np.stack(in_batch(dynamics.energy, len(segment.t), *_state(segment), *_given(segment)), axis=-1)
        if self._stored is not None:
            energies[:, 1] += in_batch(self._stored, len(segment.t), *_inputs(segment))[0][:, 0]
        return energies

    def momentum(self, segment: Segment) -> Array:
        """[linear; angular about the world's origin] momentum in world axes, shape (n, 6) [N s, N m s]."""
        dynamics, n = _of_robot(self.plant, "momentum"), len(segment.t)
        (found,) = in_batch(dynamics.momentum, n, *_state(segment), *_given(segment))
        (center,) = in_batch(dynamics.center_of_mass, n, *_state(segment)[:-1], *_given(segment))
        return np.concatenate([found[:, :3], found[:, 3:] + np.cross(center, found[:, :3])], axis=1)

    def accounted(self, segment: Segment) -> Array:
        """Supplied and dissipated energy [J], shape (n, 2), from states of the plant; zero where no force acts.

        Raises UnsupportedError where forces act and the plant does not record their energy.
        """
        _of_robot(self.plant, "energies")
        names = [column.name for column in self.plant.x]
        if ACCOUNT[0] in names:
            return segment.x[:, [names.index(name) for name in ACCOUNT]]
        if np.any(self.forces(segment)):
            raise UnsupportedError(
                f"plant '{self.plant.name}' does not record the energy that its forces supply. Make it with "
                "plant(..., account=True); energy.kinetic and energy.potential are available."
            )
        return np.zeros((len(segment.t), 2))

    def loop_error(self, segment: Segment) -> Array:
        """The largest error of loops, couplings and other constraints [m or rad], shape (n,)."""
        return self._off(segment, 0)

    def loop_rate(self, segment: Segment) -> Array:
        """The largest rate of the errors of loops, couplings and other constraints [m/s or rad/s], shape (n,)."""
        return self._off(segment, 1)

    def _off(self, segment: Segment, which: int) -> Array:
        if self._constraints is None:
            raise UnsupportedError(
                f"'{self.plant.name}' has no loops and no other constraints, so it has no loop_error and no "
                "loop_rate. Read other columns."
            )
        off = in_batch(self._constraints, len(segment.t), *_inputs(segment))[which]
        largest: Array = np.max(np.abs(off), axis=1, initial=0.0)
        return largest

    @property
    def _constraints(self) -> CompiledFunction | None:
        return self.plant.compiled("constraints") if self.plant.laws.constraints else None

    def quantities(self, segment: Segment, group: str) -> Array:
        """All components of a group of quantities (`quantities.COMPONENTS`), shape (n, components)."""
        n = len(segment.t)
        if group == REACTION:
            return self.wrenches(segment, IN_JOINT).reshape(n, -1)
        return in_batch(self._positions, n, *_inputs(segment))[0]

    @cached_property
    def _positions(self) -> CompiledFunction:
        laws = quantity_laws(self.plant)
        named = {name: laws[name] for name, one in quantities(self.plant.robot).items() if one.group == POSITION}
        return build(self.plant.observed(named, "positions"))

    def wrenches(self, segment: Segment, view: WrenchView) -> Array:
        """The wrench [N, N m] through every joint, with loop joints last, shape (n, joints + loops, 6).

        `view` says in which frame the wrenches are, and which part of them.
        """
        _of_robot(self.plant, "joint reactions")
        t, q, s, *others = _inputs(segment)
        reactions = self.plant.compiled("reactions", view)
        return in_batch(reactions, len(segment.t), t, q, s, segment.a, *others)[0]


@kept_with
def recomputer(plant: Plant) -> Recomputer:
    """The recomputer of a plant, which all trajectories of that plant share."""
    return Recomputer(plant)


def in_batch(function: CompiledFunction, n: int, *inputs: Any) -> list[Array]:
    """The outputs of a compiled function at n states, each of shape (n, ...); they may contain NaN."""
    outs = [np.zeros((n, *port.shape), dtype=function.dtype) for port in function.outputs]
    if any(out.size for out in outs):
        ready = [np.ascontiguousarray(values, dtype=function.dtype) for values in inputs]
        function.raw(outs[0] if len(outs) == 1 else tuple(outs), *ready)
    return [np.asarray(out, dtype=float) for out in outs]


def _inputs(segment: Segment) -> tuple[Array, ...]:
    """The inputs (t, base, s, m, u, p) of `Plant.rate` at every sample: `base` is the sample's q, and s = [0, v, x].

    `plants.LocalInstant` explains the letters.
    """
    s = np.concatenate([np.zeros_like(segment.v), segment.v, segment.x], axis=1)
    return segment.t, segment.q, s, segment.m, segment.u, segment.p


def _state(segment: Segment) -> tuple[Array, ...]:
    """(q, v) at every sample, as functions of the robot take them; with the time t first if it drives joints."""
    robot = segment.plant.robot
    timed = robot is not None and robot.is_timed
    return (segment.t, segment.q, segment.v) if timed else (segment.q, segment.v)


def _given(segment: Segment) -> tuple[Array, ...]:
    """The values of the robot's own parameters, which come first in p; an empty tuple where it has none."""
    own = len(segment.plant.dynamics.parameters) if segment.plant.dynamics else 0
    return (segment.p[..., :own],) if own else ()


def _of_robot(plant: Plant, what: str) -> Dynamics:
    if plant.dynamics is None:
        raise UnsupportedError(
            f"'{plant.name}' is not a robot, so it has no {what}. Define an output for the value that you need."
        )
    return plant.dynamics
