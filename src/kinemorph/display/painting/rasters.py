"""Rasterization: the nearest triangle at every sample of a picture, with values interpolated between its corners.

All triangles are split into rows of samples and all rows into samples at once, without a loop over triangles. Depth and
triangle number of a sample are packed into one integer, so the maximum at every sample is the visible triangle. A value
over a triangle is a + b x + c y, in single precision, which is enough for 8-bit colors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array

Ints = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float32]

NUMBER_BITS = 32  # the lower bits of the packed integer hold the triangle number, the upper bits the depth
DEPTHS = 2.0**30  # number of depth levels
FINE = 2  # samples per pixel in each direction


class Samples(NamedTuple):
    """Samples inside triangles: `triangle` (n,) is the triangle's index, `place` (n,) the sample's, counted by rows."""

    triangle: Ints
    place: Ints

    def only(self, chosen: npt.NDArray[np.intp]) -> Samples:
        """The samples with the given indices."""
        return Samples(self.triangle[chosen], self.place[chosen])


def covered(corners: Array, width: int, height: int) -> Samples:
    """The samples of a picture whose centers lie in triangles, for each triangle.

    `corners` (m, 3, >= 2) are x to the right and y downward, in samples; `width` and `height` are in samples.
    """
    order = np.argsort(corners[..., 1], axis=1)  # of the corners, from the top down
    x, y = (np.take_along_axis(corners[..., axis], order, axis=1).T.copy() for axis in (0, 1))
    first = np.clip(np.ceil(y[0] - 0.5), 0, height).astype(np.int32)
    last = np.clip(np.ceil(y[2] - 0.5) - 1, -1, height - 1).astype(np.int32)
    last[np.ceil(x.min(axis=0) - 0.5) > np.floor(x.max(axis=0) - 0.5)] = -1  # between two columns of samples
    triangle, row = _counted(first, last - first + 1)
    # a row of samples is cut by the edge from the first to the last corner, and by one of the other two
    rise = np.stack([y[1] - y[0], y[2] - y[1], y[2] - y[0]])
    slopes = np.stack([x[1] - x[0], x[2] - x[1], x[2] - x[0]]) / np.where(rise == 0.0, 1.0, rise)
    middle = row + 0.5
    top = x[0][triangle] + (middle - y[0][triangle]) * slopes[2][triangle]
    other = triangle + np.int32(len(corners)) * (middle >= y[1][triangle])
    cut = x[:2].ravel()[other] + (middle - y[:2].ravel()[other]) * slopes[:2].ravel()[other]
    left, right = np.minimum(top, cut), np.maximum(top, cut)
    start = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int32)
    end = np.clip(np.floor(right - 0.5), -1, width - 1).astype(np.int32)
    rows, place = _counted(start + row * np.int32(width), end - start + 1)
    return Samples(triangle[rows], place)


def _counted(first: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """(k, number) arrays that list, for every index k, the `counts[k]` consecutive numbers from `first[k]` on."""
    counts = np.maximum(counts, 0)
    owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    before = np.cumsum(counts, dtype=np.int32) - counts
    return owner, np.arange(len(owner), dtype=np.int32) + np.repeat(first - before, counts)


def planes(values: Array, corners: Array) -> Array:
    """The coefficients (a, b, c) of a + b x + c y over m triangles for k values at their corners, shape (m, k, 3).

    `values` is (m, 3, k), `corners` (m, 3, >= 2).
    """
    (x0, y0), (x1, y1), (x2, y2) = (corners[:, k, :2].T for k in range(3))
    twice = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    scale = 1.0 / np.where(twice == 0.0, 1.0, twice)
    d1, d2 = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    by_x = (d1 * (y2 - y0)[:, None] - d2 * (y1 - y0)[:, None]) * scale[:, None]
    by_y = (d2 * (x1 - x0)[:, None] - d1 * (x2 - x0)[:, None]) * scale[:, None]
    return np.stack([values[:, 0] - by_x * x0[:, None] - by_y * y0[:, None], by_x, by_y], axis=-1)


def taken(plane: npt.NDArray[Any], samples: Samples, width: int) -> npt.NDArray[Any]:
    """The value a + b x + c y at each sample, shape (n,); `plane` (m, 3) are the coefficients (a, b, c) by triangle."""
    row = samples.place // np.int32(width)
    x = samples.place - row * np.int32(width) + plane.dtype.type(0.5)
    found: npt.NDArray[Any] = plane[samples.triangle, 1] * x.astype(plane.dtype)
    found += plane[samples.triangle, 2] * (row + plane.dtype.type(0.5)).astype(plane.dtype)
    found += plane[samples.triangle, 0]
    return found


def nearest(corners: Array, width: int, height: int) -> tuple[Samples, Array]:
    """The visible samples of triangles, and the nearness to the viewer at all samples, shape (height * width,).

    `corners` (m, 3, 3) are (x, y, nearness). Nearness is -inf where there is no triangle.
    """
    samples = covered(corners, width, height)
    z = corners[..., 2]
    lowest, highest = (float(z.min()), float(z.max())) if z.size else (0.0, 0.0)
    scale = DEPTHS / max(highest - lowest, 1e-12)
    depth = taken(planes((z[..., None] - lowest) * scale, corners)[:, 0], samples, width)
    key = np.clip(depth, 0.0, DEPTHS).astype(np.int64) << NUMBER_BITS
    key |= samples.triangle
    best = np.full(width * height, -1, dtype=np.int64)
    np.maximum.at(best, samples.place, key)
    place = np.flatnonzero(best >= 0)
    hit = best[place]
    near = np.full(width * height, -np.inf)
    near[place] = (hit >> NUMBER_BITS) / scale + lowest
    return Samples((hit & ((1 << NUMBER_BITS) - 1)).astype(np.int32), place.astype(np.int32)), near


def lay_over(
    picture: Reals, near: Array, corners: Array, colors: Array, opacity: Array, width: int, height: int
) -> None:
    """Renders translucent triangles into `picture` (h * w, 4), from far to near, where no opaque one is nearer.

    `near` (h * w,) is the nearness of the opaque triangles. The colors of `picture` are premultiplied by opacity.
    `corners` (m, 3, 3) are (x, y, nearness), `colors` (m, 3, 3) RGB at the corners, `opacity` (m,).
    """
    samples = covered(corners, width, height)
    depth = taken(planes(corners[..., 2:], corners)[:, 0], samples, width)
    seen = np.flatnonzero(depth > near[samples.place])
    order = seen[np.lexsort((depth[seen], samples.place[seen]))]
    chosen = samples.only(order)
    place = chosen.place
    # layer k holds the k-th farthest triangle of each sample, so no sample occurs twice in a layer
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    rank = np.arange(len(place)) - np.repeat(starts, np.diff(np.append(starts, len(place))))
    tints = planes(colors, corners).astype(np.float32)
    shade = np.stack([*(taken(tints[:, k], chosen, width) for k in range(3)), np.ones(len(place), np.float32)], axis=1)
    cover = opacity[chosen.triangle][:, None]
    by_rank = np.argsort(rank, kind="stable")
    for these in np.split(by_rank, np.cumsum(np.bincount(rank))[:-1]) if len(rank) else ():
        picture[place[these]] += cover[these] * (np.clip(shade[these], 0.0, 1.0) - picture[place[these]])
