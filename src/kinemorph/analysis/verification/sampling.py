"""A derived model at random states, with relative errors and exact rates of change, which all checks use.

Rates are exact: the program of a compiled function is evaluated on dual numbers, where q changes at the rate dq/dt of
the velocity v, and v at the rate a.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import applied
from kinemorph.algebra.scalar import f
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.evaluation import carry_out
from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.model.configuration import random_configuration
from kinemorph.model.parameter import evaluate
from kinemorph.vocabulary.blocks import Block

SINGULAR = 1e-4  # of the largest singular value of constraints: the least of configurations that are not redrawn
DEPENDENT = 1e-12  # singular values below this share are those of constraints that depend on others everywhere
MOST_REDRAWN = 20  # times that nearly singular configurations are drawn again


class WorstError(NamedTuple):
    """The largest relative error that a check found, the state and entry where it occurred, and a remark."""

    worst: float
    where: str = ""
    note: str = ""


def largest(errors: Sequence[WorstError]) -> WorstError:
    """The largest of several errors; nan counts as larger than any number."""
    return max(errors, key=lambda error: (math.isnan(error.worst), error.worst))


@dataclass(frozen=True)
class Sample:
    """A derived model at n random states: q (n, nq), v and a (n, nv), wrenches at k frames (n, k, 6)."""

    dynamics: Dynamics
    q: Array
    v: Array
    a: Array
    wrenches: Array

    def call(self, function: CompiledFunction, *, still: bool = False, **given: Array) -> Any:
        """The values of a compiled function at the n states.

        Its inputs are found by name, see `inputs`; `given` replaces some of them, `still` sets the wrenches to zero.
        """
        return function(*self.inputs(function.program, still=still, **given))

    def extended(self, function: CompiledFunction) -> Array:
        """The values of a function with one output, evaluated with 80 bits where the machine's long double has them."""
        program = function.program
        given = [np.asarray(x, np.longdouble) for x in self.inputs(program)]
        states = np.broadcast_shapes(self.q.shape[:-1], self.a.shape[:-1])
        columns = [
            column
            for x, port in zip(given, program.inputs, strict=True)
            for column in np.moveaxis(np.broadcast_to(x, (*states, *port.shape)).reshape(*states, port.size), -1, 0)
        ]
        entries = [np.broadcast_to(x, states) for x in carry_out(program, columns, _lifted)]
        return np.stack(entries, axis=-1).reshape(*states, *program.outputs[0].shape).astype(float)

    def inputs(self, program: Runnable, *, still: bool = False, **given: Array) -> list[Array]:
        """The arrays for the inputs of a program, by their names; `tau` is the same as `a`, `p` nominal, t 0."""
        held: dict[str, Array] = {"q": self.q, "v": self.v, "a": self.a, "tau": self.a}
        held["t"] = np.zeros(self.q.shape[:-1])
        held["wrenches"] = 0.0 * self.wrenches if still else self.wrenches
        held["p"] = self.dynamics.nominal_parameters
        return [given.get(port.name, held[port.name]) for port in program.inputs]

    def rates(self, function: CompiledFunction) -> list[Array]:
        """The exact time derivatives of all outputs of a function, for a robot with velocity v and acceleration a."""
        program = function.program
        speeds = {"q": self.call(self.dynamics.configuration_rate), "v": self.a}
        moving = [
            (array, speeds.get(port.name)) for port, array in zip(program.inputs, self.inputs(program), strict=True)
        ]
        return _carried(program, moving, len(self.q))

    @property
    def weight(self) -> float:
        """The moment of the robot's weight with a lever arm of 1 mm [N m]: smaller forces may be only rounding."""
        robot = self.dynamics.robot
        return 1e-3 * robot.total_mass * (1.0 + math.hypot(*(evaluate(x) for x in robot.gravity)))

    def worst(self, difference: Array, *terms: Array, floor: float = 0.0, by_joint: bool = True) -> WorstError:
        """The largest relative error: a difference (n, ...) divided, at each state, by the largest entry of its terms.

        `terms` are arrays (n, ...). `floor` is the least size to divide by, for terms that may vanish. `by_joint`: the
        axes of the difference are velocities, so that the place of the error is reported by their names.
        """
        n = len(difference)
        size = np.max([np.abs(term).reshape(n, -1).max(axis=1) for term in terms], axis=0, initial=floor)
        gap = np.abs(difference).reshape(n, -1)
        with np.errstate(all="ignore"):
            ratio = np.where(gap == 0.0, 0.0, gap / size[:, None])
        state, entry = np.unravel_index(int(np.argmax(ratio)), ratio.shape)  # argmax returns a nan first
        places = np.unravel_index(int(entry), difference.shape[1:]) if difference.ndim > 1 else ()
        names = self.dynamics.robot.v_names
        label = ", ".join(names[i] if by_joint else str(i) for i in places)
        return WorstError(
            float(ratio[state, entry]), f"largest at state {state}" + (f", entry [{label}]" if label else "")
        )


def _carried(program: Program, moving: Sequence[tuple[Array, Array | None]], n: int) -> list[Array]:
    """The rates of change of a program's outputs, shape (n, *shape) each.

    `moving` has a pair of the value and its rate for each input; the rate is None where the input is constant.
    """
    along = Direction()
    columns: list[Any] = []
    for port, (value, rate) in zip(program.inputs, moving, strict=True):
        flat = np.broadcast_to(value, (n, *port.shape)).reshape(n, port.size)
        slope = None if rate is None else rate.reshape(n, port.size)
        columns += [flat[:, k] if slope is None else along.moved(flat[:, k], slope[:, k]) for k in range(port.size)]
    entries, outs = iter(carry_out(program, columns, _lifted)), []
    for port in program.outputs:
        out = np.zeros((n, port.size))
        for k in range(port.size):
            out[:, k] = along.tangent(next(entries))
        outs.append(out.reshape(n, *port.shape))
    return outs


def _lifted(op: str | Block) -> Callable[..., Any]:
    """The function of an operation or block of a program, on scalars of any kind: floats, arrays or dual numbers."""
    return partial(_applied, op) if isinstance(op, Block) else getattr(f, op)


def _applied(block: Block, *args: Any) -> list[Any]:
    return applied(block, args)


def drawn(dynamics: Dynamics, states: int, seed: int) -> Sample:
    """A model at random states: q over its whole range; v, a and wrenches normally distributed, of about 1 SI unit.

    Configurations of closed chains that are nearly singular are drawn again: there, rounding decides on constraint
    forces.
    """
    rng, robot = np.random.default_rng(seed), dynamics.robot
    q = np.array([random_configuration(robot, rng) for _ in range(states)]).reshape(states, robot.nq)
    for _ in range(0 if robot.is_open else MOST_REDRAWN):
        singular = _nearly_singular(dynamics, q)
        if not singular.any():
            break
        q[singular] = [random_configuration(robot, rng) for _ in range(singular.sum())]
    v, a = rng.normal(size=(2, states, robot.nv))
    return Sample(dynamics, q, v, a, rng.normal(size=(states, len(dynamics.wrenches), 6)))


def _nearly_singular(dynamics: Dynamics, q: Array) -> Array:
    """Whether rows of constraints that are independent elsewhere are nearly dependent at q (n, nq), shape (n,)."""
    still = np.zeros((len(q), dynamics.robot.nv))
    at_rest = Sample(dynamics, q, still, still, np.zeros((len(q), len(dynamics.wrenches), 6)))
    sizes = np.linalg.svd(at_rest.call(dynamics.constraint_jacobian), compute_uv=False)
    share = sizes / np.maximum(sizes.max(axis=1, initial=0.0), np.finfo(float).tiny)[:, None]
    return np.asarray(((share > DEPENDENT) & (share < SINGULAR)).any(axis=1))
