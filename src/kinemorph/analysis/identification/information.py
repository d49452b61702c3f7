"""`Information`: what recordings say about parameters that forces are linear in, in a size that samples do not change.

Each measured force is a *channel*: y = Y_c theta at every sample, where Y_c has only those columns that the force
depends on. A torque of a joint depends on the bodies that it moves, so that an arm needs a quarter of the work of full
rows. Of the rows of a channel only the triangle R of an orthogonal factorization is kept, and rows are added to it
block by block:

    [R_old; Y_block  y_block] = Q R_new,      R^T R = [Y_c y]^T [Y_c y],      shape (c + 1, c + 1)

Sums of squared residuals, estimates for any weights of the channels, and covariances follow from the triangles alone.
Householder reflections do not square the condition number, as the sums Y^T Y would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.words import counted, listed, quoted

Deviations = Mapping[str, float] | Sequence[float] | Array | None  # of channels, by name or in their order
BLOCK = 2048  # rows that are factorized together


@dataclass(frozen=True, eq=False)
class Channel:
    """One measured force, such as "tau.elbow": all of its samples as a triangle.

    `rows`       the number of samples
    `columns`    the indices in `Information.columns` of the c unknowns that it depends on
    `R`          upper triangular, shape (c + 1, c + 1):  R^T R = [Y_c y]^T [Y_c y]
    """

    name: str
    rows: int
    columns: tuple[int, ...]
    R: Array

    def squares(self, theta: Array) -> float:
        """The sum of the squared residuals of this channel at parameters theta, shape (all columns,)."""
        left: Array = self.R @ np.append(-theta[list(self.columns)], 1.0)
        return float(left @ left)


@dataclass(frozen=True, eq=False)
class Information:
    """What recordings say about unknown parameters that forces are linear in.

    `columns`     the names of the n unknowns: those of `Dynamics.regressor_columns`, then others such as "elbow.gain"
    `channels`    one for each measured force
    """

    columns: tuple[str, ...]
    channels: tuple[Channel, ...]

    def __repr__(self) -> str:
        rows = sum(channel.rows for channel in self.channels)
        shape = f"{counted(rows, 'row')} of {counted(len(self.channels), 'channel')}"
        return f"<Information: {shape}, {counted(len(self.columns), 'unknown')}>"

    def channel(self, name: str) -> Channel:
        """The channel with this name."""
        for one in self.channels:
            if one.name == name:
                return one
        raise ShapeError(f"there is no channel '{name}'. Known: {listed([one.name for one in self.channels])}.")

    def weighted(self, deviations: Deviations = None) -> tuple[Array, Array, float]:
        """(R, z, rest) with  |R theta - z|^2 + rest = sum of squared residuals, each divided by its deviation squared.

        R (n, n) is upper triangular and has rows of zeros where there are fewer rows than unknowns; z is (n,).
        `deviations` are the standard deviations of the channels, by name or in their order; 1 by default.
        """
        n = len(self.columns)
        stacked = [np.zeros((n + 1, n + 1))]
        for channel, deviation in zip(self.channels, self.deviations(deviations), strict=True):
            block = np.zeros((len(channel.R), n + 1))
            block[:, [*channel.columns, n]] = channel.R / deviation
            stacked.append(block)
        R = triangle(np.concatenate(stacked))
        return R[:n, :n], R[:n, n], float(R[n, n] ** 2)

    def deviations(self, given: Deviations) -> Array:
        """The standard deviations of the channels in their order, shape (channels,), all positive; 1 where None."""
        names = [channel.name for channel in self.channels]
        if given is None:
            return np.ones(len(names))
        if isinstance(given, Mapping):
            if set(given) != set(names):
                wrong = sorted(set(given) ^ set(names))
                raise ShapeError(f"deviations: {quoted(wrong)} is unknown or missing. Channels: {listed(names)}.")
            given = [given[name] for name in names]
        found = np.array(given, dtype=float)
        if found.shape != (len(names),) or not np.all(found > 0.0) or not np.all(np.isfinite(found)):
            raise ShapeError(f"deviations are {found}; expected one positive number for each of {listed(names)}.")
        return found

    def squares(self, theta: Array) -> Array:
        """The sums of squared residuals at theta (n,), shape (channels,); not divided by deviations."""
        return np.array([channel.squares(theta) for channel in self.channels])

    def rows(self) -> Array:
        """The number of samples of each channel, shape (channels,)."""
        return np.array([float(channel.rows) for channel in self.channels])

    def norms(self) -> Array:
        """The norm of each measured force over all samples, shape (channels,)."""
        return np.array([float(np.linalg.norm(channel.R[:, -1])) for channel in self.channels])

    def plus(self, other: Information) -> Information:
        """The information of both together; they have the same columns. Channels of one name are joined."""
        if other.columns != self.columns:
            wrong = sorted(set(other.columns) ^ set(self.columns))
            raise ShapeError(f"information about other unknowns cannot be added: {quoted(wrong)} is only on one side.")
        found = {channel.name: channel for channel in self.channels}
        for new in other.channels:
            old = found.get(new.name)
            found[new.name] = new if old is None else _joined(old, new)
        return Information(self.columns, tuple(found.values()))

    def without(self, known: Mapping[str, float]) -> Information:
        """The information about the other unknowns, where those in `known` have these values."""
        wrong = [name for name in known if name not in self.columns]
        if wrong:
            raise ShapeError(f"{quoted(wrong)} is not among the unknowns. Known: {listed(self.columns)}.")
        left = [name for name in self.columns if name not in known]
        place = {name: k for k, name in enumerate(left)}
        channels = []
        for channel in self.channels:
            names = [self.columns[k] for k in channel.columns]
            kept = [k for k, name in enumerate(names) if name not in known]
            values = np.array([known.get(name, 0.0) for name in names])
            y = channel.R[:, -1] - channel.R[:, :-1] @ values
            R = triangle(np.column_stack([channel.R[:, kept], y]))
            channels.append(Channel(channel.name, channel.rows, tuple(place[names[k]] for k in kept), R))
        return Information(tuple(left), tuple(channels))


def _joined(one: Channel, other: Channel) -> Channel:
    """One channel with the samples of two."""
    columns = sorted({*one.columns, *other.columns})
    place = {k: at for at, k in enumerate(columns)}
    blocks = []
    for channel in (one, other):
        block = np.zeros((len(channel.R), len(columns) + 1))
        block[:, [*(place[k] for k in channel.columns), len(columns)]] = channel.R
        blocks.append(block)
    return Channel(one.name, one.rows + other.rows, tuple(columns), triangle(np.concatenate(blocks)))


def triangle(rows: Array) -> Array:
    """The upper triangular R, shape (n, n), with R^T R = rows^T rows, for rows of shape (m, n)."""
    n = rows.shape[1]
    if len(rows) < n:
        rows = np.concatenate([rows, np.zeros((n - len(rows), n))])
    import scipy.linalg

    R: Array = scipy.linalg.qr(rows, mode="r", check_finite=False)[0][:n]
    return R


class GrowingTriangle:
    """The triangle of rows that arrive in blocks; its memory is that of BLOCK rows."""

    def __init__(self, columns: int) -> None:
        self.rows = 0
        self._width = columns
        self._room = np.zeros((columns + BLOCK, columns), order="F")
        self._filled = columns  # the first rows hold the triangle

    def add(self, Y: Array, y: Array) -> None:
        """Adds rows [Y, y], of shapes (m, columns - 1) and (m,)."""
        self.rows += len(y)
        start = 0
        while start < len(y):
            count = min(len(y) - start, len(self._room) - self._filled)
            room = self._room[self._filled : self._filled + count]
            room[:, :-1], room[:, -1] = Y[start : start + count], y[start : start + count]
            self._filled += count
            start += count
            if self._filled == len(self._room):
                self._factorize()

    def _factorize(self) -> None:
        from scipy.linalg import lapack

        found: Any = lapack.dgeqrf(self._room[: self._filled], overwrite_a=True)[0]
        width = self._width
        R = np.triu(found[:width])
        self._room[:width] = R
        self._filled = width

    def value(self) -> Array:
        """The triangle of all rows so far, shape (columns, columns)."""
        if self._filled > self._width:
            self._factorize()
        return self._room[: self._width].copy()


Block = tuple[Sequence[Array], Array]  # for each channel a matrix (b, its columns), and y (b, channels)


def gathered(
    columns: Sequence[str],
    channels: Sequence[str],
    blocks: Iterable[Block],
    *,
    dependent: Sequence[Sequence[int]] | None = None,
    maps: Sequence[Array] | None = None,
) -> Information:
    """The information of rows that arrive in blocks: for each channel a matrix (b, its columns), and y (b, channels).

    `columns` and `channels` are their names. `dependent` has, for each channel, the indices of its columns; all columns
    by default. With `maps` (k, its columns) of the channels, blocks have matrices (b, k), whose products with these
    have all columns. Memory does not grow with the number of blocks.
    """
    chosen = [list(range(len(columns)))] * len(channels) if dependent is None else [list(one) for one in dependent]
    widths = [len(one) for one in (chosen if maps is None else maps)]
    growing = [GrowingTriangle(width + 1) for width in widths]
    for Y, y in blocks:
        for k, (one, Y_c) in enumerate(zip(growing, Y, strict=True)):
            one.add(Y_c, y[:, k])
    found = []
    for k, (name, one, kept) in enumerate(zip(channels, growing, chosen, strict=True)):
        R = one.value()
        if maps is not None:
            R = triangle(np.column_stack([R[:, :-1] @ maps[k], R[:, -1]]))
        found.append(Channel(name, one.rows, tuple(kept), R))
    return Information(tuple(columns), tuple(found))
