"""`calibrated`: a view from the pictures of points whose places are known.

    lateral = calibrated("lateral", points, pictures)                       # at least 6 points, not in a plane
    ventral = calibrated("ventral", points, pictures, kind="orthographic")  # at least 4

Both solve linear equations in scaled coordinates (Hartley 1997); a central projection is then refined by Gauss-Newton
steps, so that the sum of squared errors in the picture is least.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.views import View, projected
from kinemorph.errors import ShapeError
from kinemorph.words import listed

Kind = Literal["dlt", "orthographic"]
LEAST = {"dlt": 6, "orthographic": 4}  # points that a calibration needs
UNKNOWNS = {"dlt": 11, "orthographic": 8}
FLAT = 1e-3  # points whose extent across a plane is a smaller share of their extent lie in it
OPEN = 1e-6  # equations whose least singular value is a smaller share of the largest leave a coefficient open
STEPS = 50


def calibrated(
    name: str,
    points: npt.ArrayLike,
    pictures: npt.ArrayLike,
    *,
    kind: Kind = "dlt",
    deviation: float | None = None,
) -> View:
    """The view in which points [m], shape (m, 3), have these pictures [px], shape (m, 2).

    `kind`        "dlt": a central projection, from 6 points or more; "orthographic": a parallel one with any direction
                  and scales, from 4 points or more. The points may not all lie in one plane.
    `deviation`   standard deviation of a picture coordinate [px]; by default the one that the calibration leaves, where
                  there are more points than it needs

    Points with NaN are left out.
    """
    if kind not in LEAST:
        raise ShapeError(f"view '{name}': kind is '{kind}'; expected one of {listed(LEAST)}.")
    X, u = np.array(points, dtype=float), np.array(pictures, dtype=float)
    if X.ndim != 2 or X.shape[1:] != (3,) or u.shape != (len(X), 2):
        raise ShapeError(
            f"view '{name}': points have shape {X.shape} and pictures {u.shape}; expected (m, 3) and (m, 2). Give one "
            "picture of every point."
        )
    known = np.isfinite(X).all(axis=1) & np.isfinite(u).all(axis=1)
    X, u = X[known], u[known]
    if len(X) < LEAST[kind]:
        raise ShapeError(
            f"view '{name}': {len(X)} known points were given; a calibration of the kind '{kind}' needs {LEAST[kind]} "
            "or more. Give more points."
        )
    middle, size = X.mean(axis=0), np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    if not size[2] > FLAT * size[0]:
        raise ShapeError(
            f"view '{name}': the known points lie in a plane, to {size[2] / max(size[0], 1e-300):.2g} of their extent, "
            "which leaves its calibration open. Add points outside of this plane."
        )
    scale, center, zoom = size[0] / np.sqrt(len(X)), u.mean(axis=0), float(np.std(u - u.mean(axis=0)))
    if not zoom > 0.0:
        raise ShapeError(
            f"view '{name}': all pictures of the known points are at one place, ({center[0]:g}, {center[1]:g}) px; "
            "expected different ones. Check which columns of the file hold picture coordinates."
        )
    scaled, shown = (X - middle) / scale, (u - center) / zoom
    matrix = _parallel(scaled, shown) if kind == "orthographic" else _central(name, scaled, shown)
    before, after = np.eye(4), np.diag([zoom, zoom, 1.0])
    before[:3, :3] /= scale
    before[:3, 3] = -middle / scale
    after[:2, 2] = center
    whole = after @ matrix @ before
    errors = projected(whole, X)[0] - u
    surplus = 2 * len(X) - UNKNOWNS[kind]
    found = float(np.sqrt(np.sum(errors**2) / surplus)) if surplus > 0 else 0.0
    residual = float(np.sqrt(np.mean(np.sum(errors**2, 1))))
    return View(name, whole / (whole[2, 3] or 1.0), found or None if deviation is None else deviation, residual)


def _parallel(X: Array, u: Array) -> Array:
    """The matrix (3, 4) of the parallel projection that fits best."""
    rows = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), u, rcond=None)[0].T
    return np.vstack([rows, [0.0, 0.0, 0.0, 1.0]])


def _central(name: str, X: Array, u: Array) -> Array:
    """The matrix (3, 4) of the central projection whose picture errors are least, with the last entry 1.

    Raises ShapeError where several projections have the same pictures: points on two lines, for example, or all but
    one in a plane.
    """
    one = np.column_stack([X, np.ones(len(X))])
    zero = np.zeros_like(one)
    rows = np.vstack([np.hstack([one, zero, -u[:, :1] * X]), np.hstack([zero, one, -u[:, 1:] * X])])
    found = np.linalg.lstsq(rows, u.T.ravel(), rcond=None)[0]
    for _ in range(STEPS):
        matrix = np.append(found, 1.0).reshape(3, 4)
        below = X @ matrix[2, :3] + 1.0
        error = (u - projected(matrix, X)[0]).T.ravel()
        # the slopes of pictures are those rows, with the pictures of this matrix and divided by its denominators
        now = projected(matrix, X)[0]
        slopes = np.vstack([np.hstack([one, zero, -now[:, :1] * X]), np.hstack([zero, one, -now[:, 1:] * X])])
        step, _, _, sizes = np.linalg.lstsq(slopes / np.tile(below, 2)[:, None], error, rcond=None)
        if not sizes[-1] > OPEN * sizes[0]:
            raise ShapeError(
                f"view '{name}': the places of the {len(X)} known points leave its calibration open, as those on two "
                "lines, or all but one in a plane. Add points at other places."
            )
        found = found + step
        if np.abs(step).max() < 1e-14 * np.abs(found).max():
            break
    return np.append(found, 1.0).reshape(3, 4)
