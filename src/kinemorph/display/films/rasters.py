"""Triangles to samples: at every sample the nearest triangle, its color in between those of its corners.

All triangles are cut into rows and all rows into samples at once, so that no loop runs over triangles. The depth of a
sample and the number of its triangle are one integer, whose maximum at every sample is what one sees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.display.solids import Array

Ints = npt.NDArray[np.int64]
Colors = npt.NDArray[np.float32]

NUMBER_BITS = 32  # of the integer that holds depth and number; depth has those above
DEPTHS = 2.0**30


class Samples(NamedTuple):
    """Samples inside triangles: the number of the triangle, and of the sample in its picture, row by row."""

    triangle: Ints
    place: Ints


class Visible(NamedTuple):
    """What is seen: the samples that are hit, the triangles that are nearest there, and the weights of their corners.

    `weights` (n, 2) are those of the second and third corner.
    """

    place: Ints
    triangle: Ints
    weights: Array

    def only(self, chosen: Ints) -> Visible:
        """Some of it, by number."""
        return Visible(self.place[chosen], self.triangle[chosen], self.weights[chosen])


def covered(corners: Array, width: int, height: int) -> Samples:
    """The samples of a picture whose middles lie in triangles, given as corners (m, 3, >= 2) [samples, y downward]."""
    x, y = corners[..., 0], corners[..., 1]
    first = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    last = np.clip(np.floor(y.max(axis=1) - 0.5), -1, height - 1).astype(np.int64)
    triangle, row = _counted(first, last - first + 1)
    middle = row + 0.5
    left, right = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        rise = y[:, j] - y[:, i]
        slope = (x[:, j] - x[:, i]) / np.where(rise == 0.0, 1.0, rise)
        yi, yj = y[triangle, i], y[triangle, j]
        cut = x[triangle, i] + (middle - yi) * slope[triangle]
        crossed = (yi <= middle) != (yj <= middle)
        np.minimum(left, cut, out=left, where=crossed)
        np.maximum(right, cut, out=right, where=crossed)
    start = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    end = np.clip(np.floor(right - 0.5), -1, width - 1).astype(np.int64)
    rows, column = _counted(start, end - start + 1)
    return Samples(triangle[rows], row[rows] * width + column)


def _counted(first: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """(k, number): for every entry k the `counts[k]` numbers from `first[k]` on."""
    counts = np.maximum(counts, 0)
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) + np.repeat(first - before, counts)


def planes(corners: Array) -> Array:
    """For every triangle the weights of its second and third corner as a + b x + c y, shape (m, 2, 3)."""
    (x0, y0), (x1, y1), (x2, y2) = (corners[:, k, :2].T for k in range(3))
    twice = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    scale = 1.0 / np.where(twice == 0.0, 1.0, twice)
    second = np.stack([x2 * y0 - x0 * y2, y2 - y0, x0 - x2], axis=1)
    third = np.stack([x0 * y1 - x1 * y0, y0 - y1, x1 - x0], axis=1)
    return np.stack([second, third], axis=1) * scale[:, None, None]


def weights_of(flat: Array, samples: Samples, width: int) -> Array:
    """Weights (n, 2) of the second and third corner at samples; `flat` are the `planes` of the triangles."""
    y, x = np.divmod(samples.place, width)
    chosen = flat[samples.triangle]
    return chosen[:, :, 0] + chosen[:, :, 1] * (x + 0.5)[:, None] + chosen[:, :, 2] * (y + 0.5)[:, None]


def depth_planes(corners: Array) -> Array:
    """Nearness, the third number of the corners, as a + b x + c y for every triangle, shape (m, 3)."""
    z = corners[..., 2]
    found: Array = np.einsum("mk,mkj->mj", z[:, 1:] - z[:, :1], planes(corners))
    found[:, 0] += z[:, 0]
    return found


def nearest(corners: Array, width: int, height: int) -> tuple[Visible, Array]:
    """What is seen of triangles (m, 3, 3) [samples, samples, nearness], and the nearness (height * width,) of it.

    Nearness is -inf where nothing is hit.
    """
    samples = covered(corners, width, height)
    z = corners[..., 2]
    lowest, highest = (float(z.min()), float(z.max())) if z.size else (0.0, 0.0)
    scale = DEPTHS / max(highest - lowest, 1e-12)
    levels = (depth_planes(corners) - [lowest, 0.0, 0.0]) * scale
    y, x = np.divmod(samples.place, width)
    a, b, c = levels[samples.triangle].T
    depth = np.clip(a + b * (x + 0.5) + c * (y + 0.5), 0.0, DEPTHS).astype(np.int64)
    best = np.full(width * height, -1, dtype=np.int64)
    np.maximum.at(best, samples.place, (depth << NUMBER_BITS) | samples.triangle)
    place = np.flatnonzero(best >= 0)
    found = Samples(best[place] & ((1 << NUMBER_BITS) - 1), place)
    near = np.full(width * height, -np.inf)
    near[place] = (best[place] >> NUMBER_BITS) / scale + lowest
    return Visible(place, found.triangle, weights_of(planes(corners), found, width)), near


def between(values: Array, visible: Visible) -> Array:
    """Values at corners (m, 3, k), taken at what is seen, shape (n, k)."""
    chosen = values[visible.triangle]
    w1, w2 = visible.weights[:, :1], visible.weights[:, 1:]
    found: Array = chosen[:, 0] + w1 * (chosen[:, 1] - chosen[:, 0]) + w2 * (chosen[:, 2] - chosen[:, 0])
    return found


def lay_over(
    picture: Array, near: Array, corners: Array, colors: Array, opacity: Array, width: int, height: int
) -> None:
    """Paints translucent triangles, the far ones first, where nothing is nearer; `picture` (h * w, 4) is changed.

    Its colors are multiplied by its opacity, the fourth number. `colors` (m, 3, 3) at corners, `opacity` (m,).
    """
    samples = covered(corners, width, height)
    y, x = np.divmod(samples.place, width)
    a, b, c = depth_planes(corners)[samples.triangle].T
    depth = a + b * (x + 0.5) + c * (y + 0.5)
    seen = np.flatnonzero(depth > near[samples.place])
    order = seen[np.lexsort((depth[seen], samples.place[seen]))]
    place, triangle = samples.place[order], samples.triangle[order]
    # the k-th layer over each sample, k = 0, 1, ...: no sample occurs twice in one of them
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    rank = np.arange(len(place)) - np.repeat(starts, np.diff(np.append(starts, len(place))))
    visible = Visible(place, triangle, weights_of(planes(corners), Samples(triangle, place), width))
    shade = np.column_stack([between(colors, visible), np.ones(len(place))])
    cover = opacity[triangle][:, None]
    for layer in range(int(rank.max(initial=-1)) + 1):
        these = rank == layer
        picture[place[these]] += cover[these] * (shade[these] - picture[place[these]])
