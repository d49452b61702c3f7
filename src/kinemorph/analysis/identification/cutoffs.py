"""The cut-off of the filter of an identification, chosen by the forces that the recordings themselves have.

No spectrum says how much of a signal is motion: encoders have steps, loggers repeat rows, drives filter. But forces
follow from the motion. With every cut-off of a ladder the recordings are filtered; parameters that fit all but one of
PIECES pieces, by least squares, predict the forces of the piece that was left out. Too low a cut-off loses
accelerations, too high a one fills them with noise, and both predict worse. Forces are not filtered here, so that all
cut-offs are judged by the same measurements. The cut-off is in the middle of those that are nearly the best, because
other motions may be faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.rates import (
    FEWEST,
    Rates,
    ZeroPhase,
    cutoff_bounds,
    evenly_spaced,
    filtered,
    fresh_samples,
    missing_rates,
)
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import Rows
from kinemorph.analysis.identification.unknowns import Unknowns
from kinemorph.model.robot import Robot

PIECES = 5  # of each recording, each left out once
LADDER = 2.0  # the factor between two cut-offs
MARGIN = 0.1  # the share at both ends of a recording that does not judge, because filters feel the ends there
JUDGING = 1500  # samples of all recordings that judge, about
RIDGE = 1e-4  # the weight of the model's values, relative to the squares of a column
TINY = 1e-12  # a smaller share of the squares of a force or of a column is as good as none
TURNS = 3  # in which parameters and deviations of residuals are found
NEARLY = 1.1  # errors that are larger by a smaller factor are nearly the best
PAST = 1.5  # the ladder ends after two cut-offs whose errors are larger by this factor


def chosen_cutoff(
    rows: Rows, wanted: Unknowns, robot: Robot, recordings: Sequence[Recording], rates: Rates | None
) -> tuple[float, str] | tuple[None, str]:
    """The cut-off [Hz] with which forces of pieces of the recordings are predicted well, and why.

    None where `rates` state one or need none, or recordings have too few samples or not what the rows need.
    """
    unfiltered = [one for one in recordings if missing_rates(one, rows.needs)] if rates is None else recordings
    method = rates or ZeroPhase()
    if not unfiltered or not isinstance(method, ZeroPhase) or method.cutoff is not None:
        return None, ""
    fresh = [fresh_samples(one) for one in unfiltered]
    if any(len(one) < FEWEST or ("tau" in rows.needs and one.tau is None) for one in fresh):
        return None, ""
    even = [evenly_spaced(one, robot) for one in fresh]
    bounds = [cutoff_bounds(one) for one in even]
    least, most = min(low for low, _ in bounds), max(high for _, high in bounds)
    raw = replace(method, forces=None)
    errors: dict[float, float] = {}
    for cutoff in np.geomspace(least, most, max(1, round(np.log(most / least) / np.log(LADDER))) + 1).tolist():
        moved = [filtered(one, robot, min(cutoff, high), raw) for one, (_, high) in zip(even, bounds, strict=True)]
        shares = held_out_shares(rows, wanted, moved, JUDGING)
        errors[cutoff] = float(np.exp(0.5 * np.mean(np.log(np.maximum(shares, TINY)))))
        if all(one > PAST * min(errors.values()) for one in list(errors.values())[-2:]):
            break
    low, high = _nearly_best(errors)
    best = float(np.sqrt(low * high))
    told = ", ".join(f"{100.0 * one:.3g} % at {c:.3g} Hz" for c, one in errors.items())
    note = (
        f"cut-off {best:.3g} Hz, chosen by forces: from {low:.3g} to {high:.3g} Hz, pieces that are left out are "
        f"predicted best or nearly so ({told})"
    )
    return best, note


def _nearly_best(errors: dict[float, float]) -> tuple[float, float]:
    """The range of cut-offs around the best one where errors, on lines of logarithms, are less than NEARLY times it."""
    x, y = np.log(list(errors)), np.log(list(errors.values()))
    fine = np.linspace(x[0], x[-1], 1000)
    above = np.interp(fine, x, y) > y.min() + np.log(NEARLY)
    lower, upper = above & (fine < x[y.argmin()]), above & (fine > x[y.argmin()])
    low = fine[lower].max(initial=x[0])
    high = fine[upper].min(initial=x[-1])
    return float(np.exp(low)), float(np.exp(high))


def held_out_shares(rows: Rows, wanted: Unknowns, recordings: Sequence[Recording], samples: int) -> Array:
    """The shares of the squares of forces that parameters leave in pieces that they were not fitted to, (channels,).

    Of all samples about so many are taken, evenly.
    """
    stride, n = max(1, sum(map(len, recordings)) // samples), len(wanted.columns)
    pieces: list[list[Recording]] = [[] for _ in range(PIECES)]
    for one in recordings:
        marks = (np.linspace(MARGIN, 1.0 - MARGIN, PIECES + 1) * len(one)).astype(int).tolist()
        for piece, (first, last) in zip(pieces, pairwise(marks), strict=True):
            piece += [one.chosen(slice(first, last, stride))] if last > first + stride else []
    sums = np.zeros((PIECES, len(rows.channels), n + 1, n + 1))  # [Y y]^T [Y y] of each piece and channel
    for of_piece, piece in zip(sums, pieces, strict=True):
        for square, channel in zip(of_piece, rows.information(piece).without(wanted.known).channels, strict=True):
            square[np.ix_([*channel.columns, n], [*channel.columns, n])] = channel.R.T @ channel.R
    whole, left = sums.sum(axis=0), np.zeros(len(rows.channels))
    for own in sums:
        by = np.append(-_fit(whole - own, wanted.nominal), 1.0)
        left += by @ own @ by
    shares: Array = np.minimum(left / np.maximum(whole[:, -1, -1], 1e-300), 1.0)
    return shares


def _fit(squares: Array, nominal: Array) -> Array:
    """The unknowns that fit all channels, each divided by the deviation of its residuals, which is found in turns."""
    deviations = np.sqrt(np.maximum(squares[:, -1, -1], 1e-300))
    for _ in range(TURNS):
        A = np.tensordot(deviations**-2.0, squares, axes=1)
        ridge = np.diag(RIDGE * np.diag(A)[:-1] + TINY * np.diag(A)[:-1].max())
        theta: Array = nominal + np.linalg.solve(A[:-1, :-1] + ridge, A[:-1, -1] - A[:-1, :-1] @ nominal)
        by = np.append(-theta, 1.0)
        deviations = np.sqrt(np.maximum(by @ squares @ by, TINY * squares[:, -1, -1] + 1e-300))
    return theta
