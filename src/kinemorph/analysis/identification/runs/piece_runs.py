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
MOST = 50 * MOST_TRIES  # steps of one piece from a sample to the next
REPEATED = (Status.BUDGET, Status.LOGGED)  # the march goes on when it is called again


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

    def start(self, piece: Piece, q: Array, v: Array, x: Array, p: Array) -> Start:
        """The initial state of a piece: the state nearest to (q, v, x) that satisfies the constraints."""
        return start_of(self.plant, q=q, v=v, x=x, u=piece.u[0] if self.plant.nu else None, p=p, t=float(piece.t[0]))

    def run(self, pieces: Sequence[Piece], starts: Sequence[Start], slopes: Sequence[Array], p: Array) -> list[PieceRun]:
        """The runs of all pieces from their initial states, with derivatives `slopes` (k, ns) of these.

        Raises FailedRun where one of them fails.
        """
        one, plant = self._stepper, self.plant
        memory = np.stack([self._begun(*each, p) for each in zip(pieces, starts, slopes, strict=True)])
        rows = [np.empty((len(piece.t), one.plant.nq + one.plant.nv + one.plant.nx + len(one.plant.m))) for piece in pieces]
        nv = plant.nv
        for piece, into, own in zip(pieces, rows, memory, strict=True):
            s = one.plan.array(own, "s")
            into[0] = np.concatenate([one.plan.array(own, "base"), s[nv:], one.plan.array(own, "m_next")])
        for first in range(1, max(len(piece.t) for piece in pieces), self._chunk):
            going = np.array([k for k, piece in enumerate(pieces) if len(piece.t) > first])
            self._advance(pieces, rows, memory, going, first, p)
        return [self._unpacked(each) for each in rows]

    def _begun(self, piece: Piece, start: Start, slopes: Array, p: Array) -> Array:
        """The memory of a march at the beginning of a piece."""
        one, point = self._stepper, start.point
        q, v = (point.q, point.v) if self.plant.nv else (None, None)
        if not one.fixed:
            one.h = self._h
        one.begin(point.t, q, v, np.concatenate([point.x, slopes.ravel()]), u=piece.u[0] if self.plant.nu else None, p=p)
        return one.memory.copy()

    def _advance(
        self, pieces: Sequence[Piece], rows: list[Array], memory: Array, going: Any, first: int, p: Array
    ) -> None:
        """Advances the pieces with the indices `going` from sample `first` - 1 through the next ones of a call."""
        one, width = self._stepper, self._stepper.rows
        counts = np.array([min(self._chunk, len(pieces[k].t) - first) for k in going])
        times = np.zeros((len(going), width))
        for row, k, count in zip(times, going, counts, strict=True):
            row[:count] = pieces[k].t[first : first + count]
        stops = times[np.arange(len(going)), counts - 1]
        u = np.stack([pieces[k].u[first - 1] for k in going])
        if self.plant.nu:
            self._push(memory, going, u, p)
        done = np.zeros(len(going), dtype=np.int64)
        tried = 0
        open_ = np.arange(len(going))
        while len(open_):
            left = counts[open_] - done[open_]
            wanted = np.stack([np.roll(times[j], -done[j]) for j in open_])
            chosen = going[open_]
            limits = one.limits.copy()
            limits[4] = MOST_TRIES
            outs = tuple(np.empty((len(open_), *port.shape)) for port in one.run.outputs)
            ins = (memory[chosen], wanted, left.astype(float), stops[open_], limits, u[open_], p)
            one.run.shared(outs, *ins)
            memory[chosen] = outs[0]
            for j, k, got, found in zip(open_, chosen, outs[2].astype(int), outs[1], strict=True):
                at = first + done[j]
                rows[k][at : at + got] = found[:got]
                done[j] += got
            tried += MOST_TRIES
            for j, status in zip(open_, outs[3].astype(int), strict=True):
                over = Status(status) in REPEATED and tried > MOST
                if over or (status != Status.GOING and Status(status) not in REPEATED):
                    raise FailedRun(self._why(pieces[going[j]], memory[going[j]], u[j], p, Status(status)))
            open_ = open_[done[open_] < counts[open_]]
        speeds = slice(self.plant.nq, self.plant.nq + self.plant.nv)
        for k, count in zip(going, counts, strict=True):
            latest = rows[k][first : first + count]
            if not np.isfinite(latest).all() or (np.abs(latest[:, speeds]) > SENSELESS).any():
                raise FailedRun(
                    f"the run of '{pieces[k].name}' diverges before t = {pieces[k].t[first + count - 1]:.6g} s, or has "
                    "no derivatives there."
                )

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
            return f"the run of '{piece.name}' ends at an event at t = {one.state.t:.6g} s."
        if status in REPEATED:
            return f"the run of '{piece.name}' needs more than {MOST} steps from one sample to the next."
        return f"the run of '{piece.name}' fails. {explained(one, status)}"

    def _unpacked(self, rows: Array) -> PieceRun:
        """A run and its derivatives, from the samples of the larger plant."""
        plant, whole = self.plant, self._whole
        wide = plant.nx + whole.count * plant.ns
        q, v, both, m = np.split(rows, np.cumsum([plant.nq, plant.nv, wide]), axis=1)
        S = both[:, plant.nx :].reshape(len(rows), whole.count, plant.ns).transpose(0, 2, 1)
        return PieceRun(q, v, both[:, : plant.nx], m[:, m.shape[1] - len(plant.m) :], S)

