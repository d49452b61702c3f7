"""The record of a regulator, as a sheet and as an element of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.eigenproblems import Complex
from kinemorph.analysis.small_motions.named_matrices import named_matrix, state_units
from kinemorph.analysis.small_motions.plant_derivatives import state_names
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements.control.state_feedback import StateFeedback
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column
from kinemorph.sheet import Facts, Field, Note, Sheet, Table, fields, hidden, said
from kinemorph.shown import Shown

if TYPE_CHECKING:
    from kinemorph.analysis.feedback.kalman import Estimator

SAMPLE = Field("sample", "sampled every", "s")


@dataclass(frozen=True, eq=False, repr=False)
class Regulator(Shown):
    """State feedback of least cost: u = u0 - K s, with the deviation s of the state. Made by `lqr`.

    `K` (nu, ns)            the gains, for the inputs `input_names` and the states `state_names` ("w.hip", "v.hip", ...)
    `S` (ns, ns)            the least cost from s on is s^T S s
    `poles` (n,)            those of the closed loop [1/s]; of a sampled one, log(z) / sample
    `q`, `v`, `x`, `u`      the point: (nq,), (nv,), (nx,), (nu,)
    `sample`                the time between samples [s]; None where the feedback is continuous
    `times` (nt,)           of a regulator along a motion [s]; K, S, q, v, x and u then have a first axis of this
                            length, and there are no poles
    `left_out`              a remark on the directions that the inputs cannot stabilize; "" where there are none
    """

    K: Array
    S: Array
    poles: Complex
    input_names: tuple[str, ...]
    plant: Plant
    q: Array
    v: Array
    x: Array
    u: Array
    sample: float | None = None
    times: Array | None = None
    left_out: str = ""

    def __repr__(self) -> str:
        return f"<Regulator of '{self.plant.name}': {self.K.shape[-1]} states, {len(self.input_names)} inputs>"

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of the entries of s = [w, v, x]: "w.elbow" (displacement), "v.elbow", names of further states."""
        return state_names(self.plant)

    def sheet(self) -> Sheet:
        """The gains, the point and the poles of the closed loop."""
        states = tuple(map(Column, self.state_names, state_units(self.plant)))
        inputs = tuple(column for column in self.plant.u if column.name in self.input_names)
        facts: list[tuple[Field, Any]] = [(SAMPLE, self.sample)]
        gains, at = self.K, "K, transposed"
        if self.times is None:
            held = zip(inputs, self.u + 0.0, strict=True)
            facts += [(Field("", said("u0 of {name}", name=one.name), one.unit), float(value)) for one, value in held]
        else:
            over = f"t = {self.times[0]:g} to {self.times[-1]:g} s, {len(self.times)} times"
            gains, at = gains[0], f"K at the start, transposed ({over})"
        return Sheet(
            "Regulator of",
            self.plant.name,
            (
                Note("u = u0 - K s"),
                Facts(facts),
                hidden(inputs=self.input_names, states=self.state_names, K=self.K, q=self.q, u=self.u),
                named_matrix(at, gains.T, states, inputs),
                poles_table(self.poles, "Poles of the closed loop"),
                Note(self.left_out, "note", "left_out"),
            ),
        )

    def element(
        self,
        name: str = "lqr",
        *,
        observer: Estimator | None = None,
        reads: Mapping[str, str] | None = None,
        **options: Any,
    ) -> StateFeedback:
        """The element that drives the inputs of a system by these gains.

        With an `observer`, made by `kalman`, it reads the outputs of the observer; otherwise it reads the state itself.
        `reads` names signals to read in place of outputs, such as {"w.hip": "encoder.position"}: an encoder that
        rounds has no slope by which an observer could be designed. `options` are fields of `StateFeedback`, such as
        lower=-12.0 and upper=12.0.
        """
        if self.plant.robot is None:
            raise UnsupportedError(
                f"element: plant '{self.plant.name}' is not that of a robot, so no system can have it. Use K itself."
            )
        if reads and observer is None:
            raise UnsupportedError(f"element: reads is {reads} without an observer=. Give one, or leave reads out.")
        count = self.plant.nv
        given: dict[str, Any] = {"drives": self.input_names, "every": self.sample, **options}
        if self.times is not None:
            begin = float(self.times[0])
            given["times"] = tuple(self.times.tolist())
            if self.sample and "phase" not in options:
                given["phase"] = begin if begin > 0.0 else begin % self.sample
        used = np.flatnonzero(self.K[..., 2 * count :].any(axis=tuple(range(self.K.ndim - 1))))
        columns = [*range(2 * count), *(2 * count + used)]
        if observer is None:
            given |= {"q": _rows(self.q), "v": _rows(self.v), "states": tuple(self.plant.x[k].name for k in used)}
            given |= {"x": _rows(self.x[..., used]) if len(used) else ()}
        else:
            given |= {"observer": observer.part(self, reads or {})}
            columns = [*range(self.K.shape[-1])]
        return StateFeedback(
            name, gains=_rows(self.K[..., columns].reshape(-1, len(columns))), inputs=_rows(self.u), **given
        )


def _rows(values: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.atleast_2d(values).tolist())


def poles_table(values: Complex, title: str) -> Table:
    """Poles [1/s] as a table with the keys that --json prints."""
    alpha, omega = fields("alpha omega")
    rows = [*zip(values.real, values.imag, strict=True)]
    return Table("poles", (alpha._replace(key="real"), omega._replace(key="imaginary")), rows, title)
