"""The cut-off of the filter of an identification, chosen by the forces that the recordings themselves have.

No spectrum says how much of a signal is motion: encoders have steps, loggers repeat rows, drives filter. But forces
follow from the motion. With every cut-off of a ladder the recordings are filtered; the rows of PIECES - 1 of PIECES
pieces explain their forces by least squares, each channel on its own; and these parameters predict the forces of the
piece that was left out. Too low a cut-off loses accelerations, too high a one fills them with noise, and both predict
worse. Forces are never filtered here, so that all cut-offs are judged by the same measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.rates import (
    FEWEST,
    HIGHEST,
    Rates,
    ZeroPhase,
    cutoff_bounds,
    evenly_spaced,
    filtered,
    fresh_samples,
    highest_frequency,
    missing_rates,
)
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import Rows
from kinemorph.analysis.identification.unknowns import Unknowns
from kinemorph.model.robot import Robot

PIECES = 5  # of each recording, each left out once
LADDER = 2.0  # the factor between two cut-offs, and its root near the best one
MARGIN = 0.1  # the share at both ends of a recording that does not judge, because filters feel the ends there
JUDGING = 1500  # rows of all recordings that judge, about
RIDGE = 1e-4  # the weight of the model's values, relative to the squares of a column
TINY = 1e-12  # a smaller share of a variance is as good as none
TURNS = 3  # in which parameters and deviations of residuals are found
NEARLY = 1.1  # errors that are larger by a smaller factor are nearly the best
PAST = 1.5  # the ladder ends after two cut-offs whose errors are larger by this factor


class Choice(NamedTuple):
    """A chosen cut-off [Hz], and a sentence that says why."""

    cutoff: float
    note: str


def chosen_cutoff(
    rows: Rows, wanted: Unknowns, robot: Robot, recordings: Sequence[Recording], rates: Rates | None
) -> Choice | None:
    """The cut-off with which forces of pieces of the recordings are predicted best.

    None where `rates` state one or need none, or recordings have too few samples or not what the rows need.
    """
    unfiltered = [one for one in recordings if missing_rates(one, rows.needs)] if rates is None else recordings
    method = rates or ZeroPhase()
    if not unfiltered or not isinstance(method, ZeroPhase) or method.cutoff is not None:
        return None
    fresh = [fresh_samples(one) for one in unfiltered]
    if any(len(one) < FEWEST or ("tau" in rows.needs and one.tau is None) for one in fresh):
        return None
    fresh = [evenly_spaced(one, robot) for one in fresh]
    method = replace(method, forces=None)
    bounds = [cutoff_bounds(one) for one in fresh]
    least, most = min(low for low, _ in bounds), max(high for _, high in bounds)
    stride = max(1, sum(len(one) for one in fresh) // JUDGING)

    def error(cutoff: float) -> float:
        pieces: list[list[Recording]] = [[] for _ in range(PIECES)]
        for one in fresh:
            moved = filtered(one, robot, min(cutoff, HIGHEST * highest_frequency(one)), method)
            marks = np.linspace(MARGIN, 1.0 - MARGIN, PIECES + 1) * len(moved)
            for piece, (first, last) in zip(pieces, pairwise(marks.astype(int).tolist()), strict=True):
                piece.append(moved.chosen(slice(first, last, stride)))
        shares = held_out_shares(rows, wanted, pieces)
        return float(np.exp(0.5 * np.mean(np.log(np.maximum(shares, TINY)))))

    count = max(1, round(np.log(most / least) / np.log(LADDER)))
    errors: dict[float, float] = {}
    for cutoff in np.geomspace(least, most, count + 1).tolist():
        errors[cutoff] = error(cutoff)
        if all(one > PAST * min(errors.values()) for one in list(errors.values())[-2:]):
            break
    low, high = _nearly_best(errors)
    best = float(np.sqrt(low * high))
    told = ", ".join(f"{100.0 * one:.3g} % at {c:.3g} Hz" for c, one in errors.items())
    note = (
        f"cut-off {best:.3g} Hz, chosen by forces: between {low:.3g} and {high:.3g} Hz the forces of pieces that were "
        f"left out are predicted best, or worse by less than a tenth ({told})"
    )
    return Choice(best, note)


def _nearly_best(errors: dict[float, float]) -> tuple[float, float]:
    """The range of cut-offs around the best one where errors, on lines of logarithms, are less than NEARLY times it."""
    x, y = np.log(list(errors)), np.log(list(errors.values()))
    best = int(np.argmin(y))
    level = y[best] + np.log(NEARLY)
    ends = []
    for step, last in ((-1, 0), (1, len(x) - 1)):
        at = best
        while at != last and y[at + step] < level:
            at += step
        share = 0.0 if at == last else (level - y[at]) / (y[at + step] - y[at])
        ends.append(float(np.exp(x[at] + share * (x[at + step if at != last else at] - x[at]))))
    return ends[0], ends[1]


def held_out_shares(rows: Rows, wanted: Unknowns, pieces: Sequence[Sequence[Recording]]) -> Array:
    """The shares of the variances of forces that parameters leave, which fit all pieces but the one they predict.

    Shape (channels,). A force that does not change has the share 1.
    """
    nominal = wanted.every(wanted.nominal, rows.columns)
    sums, forces = [], []
    for piece in pieces:
        found = [np.zeros((len(K) + 1, len(K) + 1)) for K in rows.every_map]
        for Y, y in (block for recording in piece for block in rows.blocks(recording)):
            forces.append(y)
            for square, Y_c, r_c in zip(found, Y, (y - rows.forces(Y, nominal)).T, strict=True):
                X = np.column_stack([Y_c, r_c])
                square += X.T @ X
        sums.append(_of_unknowns(found, rows, wanted))
    spread = np.maximum(np.concatenate(forces).var(axis=0) * sum(map(len, forces)), 1e-300)
    whole = np.sum(sums, axis=0)
    left = np.zeros(len(spread))
    for own in sums:
        by = np.append(-_fit(whole - own), 1.0)
        left += by @ own @ by
    return np.minimum(left / spread, 1.0)


def _of_unknowns(squares: Sequence[Array], rows: Rows, wanted: Unknowns) -> Array:
    """The sums [Y r]^T [Y r] of the independent columns of channels as those of all unknowns, (channels, n + 1, n + 1).
    """
    place = {name: k for k, name in enumerate(wanted.columns)}
    found = np.zeros((len(squares), len(place) + 1, len(place) + 1))
    for own, square, K, part in zip(found, squares, rows.every_map, rows.dependent, strict=True):
        kept = [k for k, column in enumerate(part) if rows.columns[column] in place]
        at = [*(place[rows.columns[part[k]]] for k in kept), len(place)]
        map_ = np.zeros((len(square), len(at)))
        map_[:-1, :-1], map_[-1, -1] = K[:, kept], 1.0
        own[np.ix_(at, at)] = map_.T @ square @ map_
    return found


def _fit(squares: Array) -> Array:
    """Unknowns less those of the model that fit all channels, each divided by the deviation of its residuals."""
    deviations = np.sqrt(squares[:, -1, -1])
    for _ in range(TURNS):
        A = np.tensordot(np.maximum(deviations, 1e-300) ** -2.0, squares, axes=1)
        ridge = RIDGE * np.diag(A)[:-1] + TINY * np.diag(A)[:-1].max()
        theta = np.linalg.solve(A[:-1, :-1] + np.diag(ridge), A[:-1, -1])
        by = np.append(-theta, 1.0)
        deviations = np.sqrt(np.maximum(by @ squares @ by, TINY * squares[:, -1, -1]))
    found: Array = theta
    return found
