"""Measured columns of simulated runs, and their derivatives by parameters and initial values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.runs.piece_runs import PieceRun
from kinemorph.analysis.identification.runs.pieces import Piece
from kinemorph.analysis.small_motions.plant_derivatives import built
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.model.configuration import difference
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant


class Outputs:
    """The measured columns of a plant: states "q.elbow", "v.elbow", "current", or outputs of its elements.

    `names` are those of the c columns, `parameters` those of the parameters that derivatives are taken by.
    """

    def __init__(self, plant: Plant, names: Sequence[str], parameters: Sequence[str]) -> None:
        self.plant, self.names = plant, tuple(names)
        self._parameters = [plant.index("p", name) for name in parameters]
        entries = [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
        self._states = [entries.index(name) if name in entries else -1 for name in self.names]
        laws = {name: plant.outputs[name] for name in self.names if name not in entries}
        self._values: CompiledFunction | None = None
        if laws:
            program = plant.observed(laws, "outputs")
            self._values = built(program)
            self._slopes = built(jacobian(program, "out", ("s", "p")))
        self._places = [k for k, name in enumerate(self.names) if name not in entries]

    def residuals(self, piece: Piece, run: PieceRun, p: Array) -> tuple[Array, Array]:
        """(measured minus simulated columns (n, c), their derivatives (n, c, k)) by parameters and initial values."""
        plant, n, k = self.plant, len(piece.t), run.slopes.shape[-1]
        moved = _difference(plant, run.q, piece.q)
        s = np.concatenate([-moved, run.v, run.x], axis=1)  # of the configuration only the difference counts
        r, dr = np.empty((n, len(self.names))), np.empty((n, len(self.names), k))
        for column, state in enumerate(self._states):
            if state >= 0:
                r[:, column] = piece.y[:, column] - s[:, state]
                dr[:, column] = -run.slopes[:, state]
        if self._values is not None:
            u = piece.u.copy()
            u[-1] = u[-2]
            at = np.concatenate([np.zeros_like(run.v), run.v, run.x], axis=1)
            inputs = (piece.t, run.q, at, run.m, u, np.broadcast_to(p, (n, len(p))))
            by_s, by_p = self._slopes(*inputs)
            slopes = by_s @ run.slopes
            slopes[..., : len(self._parameters)] += by_p[..., self._parameters]
            r[:, self._places] = piece.y[:, self._places] - self._values(*inputs)
            dr[:, self._places] = -slopes
        return r, dr


def _difference(plant: Plant, simulated: Array, measured: Array) -> Array:
    """The displacements (n, nv) from simulated to measured configurations."""
    robot = plant.robot
    if isinstance(robot, Robot):
        found: Array = difference(robot, simulated, measured)
        return found
    return measured - simulated
