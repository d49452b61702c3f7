"""Simulated runs of all pieces together, with their derivatives by parameters and initial values.

All pieces are a batch: one call of machine code advances every piece from its present sample to the next, because
inputs change there. Where there are no inputs, a call advances them through many samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.runs.pieces import Piece
from kinemorph.analysis.small_motions.start_slopes import Start, start_of
from kinemorph.analysis.small_motions.variation import Variation
from kinemorph.analysis.small_motions.varied_run import varied_plant
from kinemorph.errors import KinemorphError
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import CHANGED
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.failures import SENSELESS, explained
from kinemorph.simulation.stepping.step_options import StepOptions
from kinemorph.simulation.stepping.stepper import MOST_TRIES, Stepper

ROWS = 32  # samples in one call, where inputs do not change
MOST = 50  # calls from one sample to the next
GOING = int(Status.GOING)
REPEATED = (int(Status.BUDGET), int(Status.LOGGED))  # the march goes on when it is called again


class PieceRun(NamedTuple):
    """The run of a piece at its samples, and its derivatives.

    `q` (n, nq), `v` (n, nv), `x` (n, nx), `m` (n, nm)
    `slopes`    derivatives of [w, v, x] by the parameters, then by the initial values, shape (n, ns, k); w are
                displacements of the configuration, one entry per velocity
    """

    q: Array
    v: Array
    x: Array
    m: Array
    slopes: Array


class _Call(NamedTuple):
    """What one call of machine code advances: pieces, the next sample and the number of samples of each.

    `inputs` is the index of the sample whose inputs act.
    """

    which: Any
    first: Any
    counts: Any
    inputs: int


class FailedRun(KinemorphError):
    """A run of the model has failed, as for parameters that make it diverge."""


class PieceRuns:
    """Runs of a plant through pieces of recordings.

    `names`      parameters by which runs are differentiated
    `initial`    how many initial values of each piece they are differentiated by
    """

    def __init__(self, plant: Plant, names: Sequence[str], initial: int, options: StepOptions) -> None:
        self.plant, self.names = plant, tuple(names)
        self._whole = Variation(plant, self.names, initial)
        wide = varied_plant(self._whole) if self._whole.count else plant
        self._chunk = 1 if plant.nu else ROWS
        self._stepper = Stepper.made(wide, options, rows=4 if plant.nu else ROWS, compiled=True)
        self._h = self._stepper.h
        self._limits = self._stepper.limits.copy()
        self._limits[4] = MOST_TRIES

    def start(self, piece: Piece, q: Array, v: Array, x: Array, p: Array) -> Start:
        """The initial state of a piece: the state nearest to (q, v, x) that satisfies the constraints."""
        u = piece.u[0] if self.plant.nu else None
        return start_of(self.plant, q=q, v=v, x=x, u=u, p=p, t=float(piece.t[0]), nearest=True)

    def run(
        self, pieces: Sequence[Piece], starts: Sequence[Start], slopes: Sequence[Array], p: Array
    ) -> list[PieceRun]:
        """The runs of all pieces from their initial states, with derivatives `slopes` (k, ns) of these.

        Raises FailedRun where one of them fails.
        """
        one, plant = self._stepper, self.plant
        wide, lengths = one.plant, np.array([len(piece.t) for piece in pieces])
        memory = np.stack([self._begun(*each, p) for each in zip(pieces, starts, slopes, strict=True)])
        t, u = np.zeros((len(pieces), lengths.max())), np.zeros((len(pieces), lengths.max(), plant.nu))
        for k, piece in enumerate(pieces):
            t[k, : lengths[k]], u[k, : lengths[k]] = piece.t, piece.u
        rows = np.zeros((*t.shape, wide.nq + wide.nv + wide.nx + len(wide.m)))
        base, s, m = (one.plan.array(memory, name) for name in ("base", "s", "m_next"))
        rows[:, 0] = np.concatenate([base, s[:, plant.nv :], m], axis=1)
        for first in range(1, lengths.max(), self._chunk):
            going = np.flatnonzero(lengths > first)
            counts = np.minimum(self._chunk, lengths[going] - first)
            if plant.nu:
                self._push(memory, going, u[going, first - 1], p)
            done = np.zeros(len(going), dtype=np.int64)
            for _ in range(MOST):
                left = done < counts
                if not left.any():
                    break
                now = _Call(going[left], first + done[left], (counts - done)[left], first - 1)
                done[left] += self._called(pieces, now, memory, rows, t, u, p)
            else:
                k = going[np.argmin(done - counts)]
                raise FailedRun(
                    f"the run of '{pieces[k].name}' needs more than {MOST * MOST_TRIES} steps after t = "
                    f"{t[k, first - 1]:.6g} s."
                )
        return [self._unpacked(pieces[k], rows[k, : lengths[k]]) for k in range(len(pieces))]

    def _begun(self, piece: Piece, start: Start, slopes: Array, p: Array) -> Array:
        """The memory of a march at the beginning of a piece."""
        one, point = self._stepper, start.point
        q, v = (point.q, point.v) if self.plant.nv else (None, None)
        if not one.fixed:
            one.h = self._h
        one.begin(
            point.t, q, v, np.concatenate([point.x, slopes.ravel()]), u=piece.u[0] if self.plant.nu else None, p=p
        )
        return one.memory.copy()

    def _called(
        self, pieces: Sequence[Piece], now: _Call, memory: Array, rows: Array, t: Array, u: Array, p: Array
    ) -> Any:
        """Advances pieces by one call of machine code; returns how many samples each of them has reached."""
        one, which = self._stepper, now.which
        wanted = np.zeros((len(which), one.rows))
        for k in range(now.counts.max()):
            wanted[:, k] = t[which, now.first + np.minimum(k, now.counts - 1)]
        stops = t[which, now.first + now.counts - 1]
        outs = tuple(np.empty((len(which), *port.shape)) for port in one.run.outputs)
        inputs = np.ascontiguousarray(u[which, now.inputs])
        one.run.shared(outs, memory[which], wanted, now.counts.astype(float), stops, self._limits, inputs, p)
        memory[which] = outs[0]
        got, status = outs[2].astype(np.int64), outs[3].astype(np.int64)
        for k in range(got.max(initial=0)):
            some = got > k
            rows[which[some], now.first[some] + k] = outs[1][some, k]
        failed = np.flatnonzero((status != GOING) & (status != REPEATED[0]) & (status != REPEATED[1]))
        if len(failed):
            k = int(failed[0])
            raise FailedRun(self._why(pieces[which[k]], memory[which[k]], inputs[k], p, Status(int(status[k]))))
        return got

    def _push(self, memory: Array, going: Any, u: Array, p: Array) -> None:
        """Tells the march of pieces that their inputs have changed."""
        one = self._stepper
        own = memory[going]
        fresh = one.plan.array(own, "fresh")
        fresh[...] = np.maximum(fresh, CHANGED)
        if one.watch:
            at = (one.plan.array(own, name) for name in ("t", "base", "s", "m_next"))
            one.plan.array(own, "sides")[:] = one.watch.sides(*at, u, p)
            one.plan.array(own, "floors")[:] = 0.0
        memory[going] = own

    def _why(self, piece: Piece, memory: Array, u: Array, p: Array, status: Status) -> str:
        """A sentence that says why the run of a piece has failed."""
        one = self._stepper
        one.memory, one.u, one.p = memory.copy(), u, p
        if status in (Status.STOPPED, Status.ENOUGH, Status.EVENT):
            return f"the run of '{piece.name}' ends at an event at t = {one.t:.6g} s."
        return f"the run of '{piece.name}' fails. {explained(one, status)}"

    def _unpacked(self, piece: Piece, rows: Array) -> PieceRun:
        """A run and its derivatives, from the samples of the larger plant."""
        plant, whole = self.plant, self._whole
        speeds = slice(plant.nq, plant.nq + plant.nv)
        bad = ~np.isfinite(rows).all(axis=1) | (np.abs(rows[:, speeds]) > SENSELESS).any(axis=1)
        if bad.any():
            raise FailedRun(
                f"the run of '{piece.name}' diverges before t = {piece.t[np.argmax(bad)]:.6g} s, or has no derivatives "
                "there."
            )
        wide = plant.nx + whole.count * plant.ns
        q, v, both, m = np.split(rows, np.cumsum([plant.nq, plant.nv, wide]), axis=1)
        S = both[:, plant.nx :].reshape(len(rows), whole.count, plant.ns).transpose(0, 2, 1)
        return PieceRun(q, v, both[:, : plant.nx], m[:, m.shape[1] - len(plant.m) :], S)
