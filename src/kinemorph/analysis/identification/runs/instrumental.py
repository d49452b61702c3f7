"""Instruments by simulated runs: regressors of a motion that has no noise.

Noise of measured velocities and accelerations is in Y as well as in the residuals, so that least squares is biased: the
sums Y^T (y - Y theta) are not zero at the true parameters. Instruments Z that follow Y, and are independent of the
noise, give sums Z^T (y - Y theta) that are. Here Z is the regressor along a run of the model itself, with its
controllers and references, for the present parameters; these are found again from the sums, and so on (Janot,
Vandanjon & Gautier 2014). With weights W of the channels the estimate is the minimum of

    |L^-1 Z^T W (y - Y theta)|^2,      L L^T = Z^T W Z,

which becomes weighted least squares where Z = Y. All sums are made in blocks of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import Rows
from kinemorph.analysis.identification.runs.moments import Moments
from kinemorph.analysis.identification.runs.parametrized import parametrized
from kinemorph.analysis.identification.runs.piece_runs import FailedRun, PieceRuns
from kinemorph.analysis.identification.runs.pieces import cut, is_controlled, measured_names
from kinemorph.analysis.identification.unknowns import Unknowns
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.stepping.step_options import longest_step, step_options

STEPS = ("dormand_prince", None, 1e-6, 1e-8)  # method, step, rtol and atol of simulated runs


def instruments(
    system: System, rows: Rows, wanted: Unknowns, recordings: Sequence[Recording]
) -> Callable[[Array], Moments]:
    """Parameters theta (n,) -> sums of recordings and of runs of the system with these parameters.

    Every run begins in the first state of its recording, and has the inputs of its recording, such as references; the
    controllers of the system act on the simulated motion. Raises UnsupportedError for a system without controllers.
    """
    K, nominal = wanted.base.combinations, wanted.nominal
    heads = list(wanted.base.independent)
    names = [wanted.columns[k] for k in heads]
    made, _ = parametrized(system, names)
    plant = shared_plant(made, parameters=names)
    missing = [column.name for column in plant.u if any(column.name not in one.inputs for one in recordings)]
    if missing and not is_controlled(plant):
        raise UnsupportedError(
            f"instrumental: a run of '{plant.name}' needs the input '{missing[0]}', which no recording has. Add "
            "the controllers and references of the recorded robot to the system, or choose method='weighted'."
        )
    runs = PieceRuns(plant, (), 0, step_options(plant, *STEPS, longest_step(made, None)))
    pieces = cut(recordings, plant, measured_names(recordings, plant, ["q"]), None, "held")
    places = [plant.index("p", name) for name in names]
    others = [k for k in range(len(nominal)) if k not in heads]

    def simulated(theta: Array) -> tuple[Recording, ...]:
        p = plant.initial("p")
        p[places] = np.linalg.solve(K[:, heads], K @ theta - K[:, others] @ nominal[others])
        try:
            starts = [runs.start(piece, piece.q[0], piece.v, piece.x, p) for piece in pieces]
            found = runs.run(pieces, starts, [np.zeros((0, plant.ns)) for _ in pieces], p)
        except (FailedRun, ShapeError) as error:
            raise ShapeError(
                f"instrumental: {error} Give a model that is nearer to the robot, or choose method='weighted'."
            ) from None
        results = []
        for recording, piece, run in zip(recordings, pieces, found, strict=True):
            s = np.concatenate([np.zeros_like(run.v), run.v, run.x], axis=1)
            rates = plant.compiled("rate")(piece.t, run.q, s, run.m, piece.u, np.tile(p, (len(piece.t), 1)))
            a = rates[:, plant.nv : 2 * plant.nv]
            tau = np.zeros_like(run.v)
            results.append(replace(recording, q=run.q, v=run.v, a=a, tau=tau))
        return tuple(results)

    return lambda theta: _summed(rows, wanted, recordings, simulated(theta))


def _summed(rows: Rows, wanted: Unknowns, recordings: Sequence[Recording], simulated: tuple[Recording, ...]) -> Moments:
    """The sums of recordings and simulated runs, block by block."""
    K = wanted.base.combinations
    base: Array = np.asarray(np.linalg.pinv(K), dtype=float)
    chosen = [rows.columns.index(name) for name in wanted.columns]
    known = np.array([wanted.known.get(name, 0.0) for name in rows.columns])
    k, n, count = len(K), len(chosen), len(rows.channels)
    ZZ, ZY, Zy = np.zeros((count, k, k)), np.zeros((count, k, n)), np.zeros((count, k))
    for one, other in zip(recordings, simulated, strict=True):
        for (Y, y), (Z, _) in zip(rows.blocks(one), rows.blocks(other), strict=True):
            for c in range(count):
                wide = rows.written_out(Y, c)
                Zb = rows.written_out(Z, c)[:, chosen] @ base
                ZZ[c] += Zb.T @ Zb
                ZY[c] += Zb.T @ wide[:, chosen]
                Zy[c] += Zb.T @ (y[:, c] - wide @ known)
    return Moments(simulated, base, ZZ, ZY, Zy)
