"""`kalman`: the linear observer whose estimates have the least error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.feedback.holding import linear_at_rest
from kinemorph.analysis.feedback.regulator import SAMPLE, Regulator, poles_table
from kinemorph.analysis.feedback.riccati import least_cost, sampled
from kinemorph.analysis.feedback.stabilizable import named, out_of_reach
from kinemorph.analysis.feedback.weights import check_sample, known_name, weights
from kinemorph.analysis.small_motions.eigenproblems import Complex
from kinemorph.analysis.small_motions.linearize import Linearization, Model
from kinemorph.analysis.small_motions.named_matrices import named_matrix, state_units
from kinemorph.analysis.small_motions.plant_derivatives import built
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements.control.state_feedback import Observer
from kinemorph.plants.user_laws import Column
from kinemorph.sheet import Facts, Sheet, hidden
from kinemorph.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Estimator(Shown):
    """An observer of the state: ds/dt = A s + B du + L (y - y0 - C s - D du). Made by `kalman`.

    `L` (ns, ny) are its gains, `P` (ns, ns) the covariance of its error, `poles` (n,) those of its error [1/s]; with
    `sample`, the right side is s at the next sample, and the poles are log(z) / sample.
    """

    L: Array
    P: Array
    poles: Complex
    linear: Linearization
    sample: float | None = None

    def __repr__(self) -> str:
        return f"<Estimator of '{self.linear.plant.name}': {len(self.L)} states, {self.L.shape[1]} outputs>"

    def sheet(self) -> Sheet:
        """The gains, and the poles of the error."""
        linear = self.linear
        rows = tuple(map(Column, linear.state_names, state_units(linear.plant)))
        gains = named_matrix("L", self.L, rows, linear.output_columns)
        return Sheet(
            "Estimator of",
            linear.plant.name,
            (
                Facts([(SAMPLE, self.sample)]),
                gains,
                hidden(L=self.L),
                poles_table(self.poles, "Poles of the error"),
            ),
        )

    def part(self, regulator: Regulator, reads: Mapping[str, str]) -> Observer:
        """The observer as data of the element of a regulator; `reads` are signals in place of outputs, by name."""
        linear = self.linear
        states = [*linear.state_names]
        if states != list(regulator.state_names) or self.sample != regulator.sample or regulator.times is not None:
            raise UnsupportedError(
                f"element: the observer has {len(states)} states of '{linear.plant.name}' and the sample time "
                f"{self.sample}, the regulator {len(regulator.state_names)} states of '{regulator.plant.name}' and "
                f"{regulator.sample}, at one point; expected the same. Make both of one model with the same sample=."
            )
        chosen = [linear.input_names.index(name) for name in regulator.input_names]
        A, B = linear.basis @ linear.minimal()[0] @ linear.dual, linear.B[:, chosen]
        if self.sample:
            held = sampled(A, B, 0.0 * A, np.eye(len(chosen)), 0.0 * B, self.sample)
            A, B = linear.basis @ linear.dual @ held.A, held.B
        matrices = zip("ABLCD", (A, B, self.L, linear.C, linear.D[:, chosen]), strict=True)
        rows = {name: tuple(map(tuple, matrix.tolist())) for name, matrix in matrices}
        for name in reads:
            known_name("element: reads", name, linear.output_names)
        values = self._measured()
        signals = tuple(reads.get(name) or self._signal(name) for name in values)
        return Observer(signals, tuple(states), **rows, measured=tuple(values.values()))

    def _signal(self, output: str) -> str:
        """The signal of an output: for a displacement of a joint with one axis, its coordinate."""
        name = output.removeprefix("w.")
        if name == output or name in (column.name for column in self.linear.plant.q):
            return output if name == output else f"q.{name}"
        raise UnsupportedError(
            f"element: output '{output}' is a local coordinate, which no sensor reads. Name signals of sensors, or "
            "coordinates of joints with one axis, as outputs of `kalman`."
        )

    def _measured(self) -> dict[str, float]:
        """The values of the outputs at the point, by name."""
        linear, plant = self.linear, self.linear.plant
        found = dict(zip(linear.state_names, linear.point.s, strict=True))
        found |= {f"w.{column.name}": value for column, value in zip(plant.q, linear.q, strict=True)}
        laws = {name: plant.outputs[name] for name in linear.output_names if name in plant.outputs}
        if laws:
            found |= dict(zip(laws, built(plant.observed(laws))(*linear.point.inputs), strict=True))
        return {name: float(found[name]) for name in linear.output_names}


def kalman(
    model: Model | Linearization,
    W: Any,
    V: Any,
    *,
    outputs: Sequence[str] | None = None,
    sample: float | None = None,
    **state: Any,
) -> Estimator:
    """The observer of least error for white noise: the stationary Kalman filter.

    `W`         the density of the noise in ds/dt: a matrix (ns, ns), a vector, a number, or a dict by name of states
                and of inputs; noise of an input acts where the input acts
    `V`         the density of the noise of the outputs, in the same forms, above 0 for each of them
    `outputs`   the outputs that sensors read, by name; see `linearize`. By default those of a Linearization, or all
    `sample`    the time between samples [s]: the noise is integrated exactly over a period, that of a sample of an
                output is V / sample, and the estimate is that of the next sample

    `state` are the arguments q, v, x, u, t, p, m, forces and locked of `linearize`, as for `lqr`.
    """
    check_sample("kalman", sample)
    linear = linear_at_rest("kalman", model, None, outputs, state)
    A, _, C, _ = linear.minimal()
    noise = weights("kalman: V", V, linear.output_names, positive=True)
    unseen = out_of_reach(A.T, C.T)
    if unseen.size:
        raise UnsupportedError(
            f"kalman: the outputs {', '.join(linear.output_names)} do not show motions of "
            f"{named(linear.basis @ unseen, linear.state_names)}, which do not decay. Add a sensor that reads them."
        )
    names, ns = linear.state_names, len(linear.A)
    acts, shows = np.eye(ns), np.zeros((len(C), ns))  # of the noise on rates of states, and on outputs at once
    if isinstance(W, Mapping):
        names += linear.input_names
        acts, shows = np.hstack([acts, linear.B]), np.hstack([shows, linear.D])
    density = weights("kalman: W", W, names)
    spread, zero = linear.dual @ acts @ density @ acts.T @ linear.dual.T, np.zeros((len(A), len(C)))
    common = linear.dual @ acts @ density @ shows.T
    if sample is None:
        gains, P = least_cost(A.T, C.T, spread, noise + shows @ density @ shows.T, common)
        poles = np.linalg.eigvals(A - gains.T @ C).astype(complex)
    else:
        if (shows @ density).any():
            seen = [name for name, row in zip(linear.output_names, shows @ density, strict=True) if row.any()]
            raise UnsupportedError(
                f"kalman: noise of inputs reaches the outputs {', '.join(seen)} at once, which a sampled observer does "
                "not take into account. Give W of states, or leave these outputs or `sample` out."
            )
        held = sampled(A.T, zero, spread, noise, zero, sample)
        gains, P = least_cost(held.A, C.T, held.Q, noise / sample, zero, discrete=True)
        poles = np.log(np.linalg.eigvals(held.A.T - gains.T @ C).astype(complex)) / sample
    return Estimator(linear.basis @ gains.T, linear.basis @ P @ linear.basis.T, poles, linear, sample)
