"""`reconstruct`: points in space from their pictures in two or more calibrated views.

    space = reconstruct([load_view("side.csv", "lateral"), load_view("below.csv", "ventral")], [lateral, ventral])
    space.markers, space.residuals["lateral"], space.covariances

A point X is where the sum of w |picture - projection of X|^2 / deviation^2 over the views is least; w are the weights
of pictures. It begins at the solution of the linear equations of the projections, which is exact for parallel ones, and
is refined by Gauss-Newton steps for all frames and markers at once. Its covariance is the inverse of the sum of
w J^T J / deviation^2, with the slopes J of the projections. A point that fewer than two views show is missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.filmed import Filmed
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.analysis.tracking.views import View, projected
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.frozen import dataclass
from kinemorph.words import counted, listed, quoted

STEPS = 30
TOGETHER = 0.25  # frames of two cameras belong together if their times differ by less than this share of the distance
OPEN = 1e-10  # a normal matrix whose least eigenvalue is a smaller share of its largest leaves a direction open
FAR = 10.0  # a marker whose residuals are larger by this factor than the usual ones gives a warning


@dataclass(frozen=True, eq=False, repr=False)
class Reconstructed:
    """Points in space from several views.

    `markers`       their positions [m]; weights are the usual variance by that of each point, averaged over directions
    `residuals`     by view: picture minus projection [px], shape (n, k, 2); NaN where the view does not show the point
    `covariances`   of the positions [m^2], shape (n, k, 3, 3); NaN of missing points
    `deviations`    by view: the standard deviation of a picture coordinate [px] that the covariances use
    `scatter`       root mean square of residuals in units of these deviations, per degree of freedom: 1 where the
                    deviations are true; NaN where nothing is left over
    """

    markers: Markers
    residuals: Mapping[str, Array]
    covariances: Array
    deviations: Mapping[str, float]
    scatter: float

    def __repr__(self) -> str:
        return f"<Reconstructed {self.markers!r} from {quoted(self.residuals)}, scatter {self.scatter:.3g}>"


def reconstruct(recordings: Sequence[Filmed], views: Sequence[View], *, source: str = "") -> Reconstructed:
    """Points in space from pictures of the same frames by two or more cameras.

    `recordings`   of pictures, one for each camera; they may have different markers. Only frames that all of them have
                   are used.
    `views`        the calibrated cameras, by name
    `source`       what messages call the result; the names of the recordings by default

    Where no view has a deviation, the usual size of residuals gives it, the same in all views. Raises ShapeError where
    a view has no calibration, or all views look in the same direction.
    """
    used = _views(recordings, views)
    label = source or " and ".join(dict.fromkeys(film.source or film.view for film in recordings))
    times, pictures, weights, names = _together(recordings, label)
    matrices = [view.calibrated_matrix for view in used]
    deviations = np.array([view.deviation or np.nan for view in used])
    known = bool(np.isfinite(deviations).all())
    if not known and np.isfinite(deviations).any():
        missing = [view.name for view in used if view.deviation is None]
        raise ShapeError(
            f"recording '{label}': view {quoted(missing)} has no deviation and others have one. Give the deviation "
            "[px] of every view, or of none."
        )
    sigma = deviations if known else np.ones(len(used))
    W = weights / sigma[:, None, None] ** 2
    X, normal = _solved(matrices, pictures, W)
    whole = np.linalg.eigvalsh(np.nan_to_num(normal))
    fixed = whole[..., 0] > OPEN * whole[..., 2]
    twice = (W > 0.0).sum(axis=0) >= 2
    if twice.any() and not (fixed & twice).any():
        raise ShapeError(
            f"recording '{label}': views {quoted([view.name for view in used])} look in the same direction, which "
            "leaves the distance of all points open. Add a view from another side."
        )
    X[~(fixed & twice)] = np.nan
    residuals = np.stack([pictures[k] - projected(matrices[k], X)[0] for k in range(len(used))])
    surplus = 2 * int((np.isfinite(residuals[..., 0]) & (W > 0.0)).sum()) - 3 * int(np.isfinite(X[..., 0]).sum())
    squares = float(np.nansum(W[..., None] * residuals**2))
    scatter = float(np.sqrt(squares / surplus)) if surplus > 0 else np.nan
    if not known:
        sigma = np.full(len(used), scatter)
        normal, scatter = normal / scatter**2 if scatter > 0.0 else normal, 1.0 if scatter > 0.0 else scatter
    covariances = np.full(normal.shape, np.nan)
    there = np.isfinite(X[..., 0])
    covariances[there] = np.linalg.inv(normal[there])
    _tell(label, names, residuals, W, scatter)
    return Reconstructed(
        Markers(names, times, X, _weights(covariances), label),
        {view.name: residual for view, residual in zip(used, residuals, strict=True)},
        covariances,
        dict(zip([view.name for view in used], sigma.tolist(), strict=True)),
        scatter,
    )


def _views(recordings: Sequence[Filmed], views: Sequence[View]) -> list[View]:
    """The view of every recording; raises ShapeError where one is missing or there are fewer than two."""
    by_name = {view.name: view for view in views}
    names = [film.view for film in recordings]
    if len(set(names)) < 2:
        raise ShapeError(
            f"reconstruct: recordings of {counted(len(set(names)), 'view')} were given ({listed(names)}); expected two "
            "or more. One camera alone does not show depth: add another view."
        )
    if len(set(names)) < len(names):
        raise ShapeError(f"reconstruct: two recordings are of the same view ({listed(names)}). Give one for each view.")
    for name in names:
        if name not in by_name:
            raise ShapeError(
                f"view '{name}' has no calibration: views are {listed(by_name)}. Give known points and their pictures "
                f"to calibrated('{name}', points, pictures), and its result to views."
            )
        by_name[name].calibrated_matrix  # noqa: B018 - raises where there is none
    return [by_name[name] for name in names]


def _together(recordings: Sequence[Filmed], label: str) -> tuple[Array, Array, Array, tuple[str, ...]]:
    """Times (n,), pictures (views, n, k, 2), weights (views, n, k) and names of frames that all recordings have.

    A weight is 0 where a view does not show a point, and its picture is NaN there.
    """
    names = tuple(dict.fromkeys(name for film in recordings for name in film.names))
    first = recordings[0]
    distance = min(float(np.median(np.diff(film.times))) if len(film) > 1 else np.inf for film in recordings)
    rows = [np.arange(len(first))]
    common = np.full(len(first), all(len(film) for film in recordings))
    for film in recordings[1:]:
        between = (film.times[1:] + film.times[:-1]) / 2.0
        at = np.searchsorted(between, first.times)  # the nearest frame of the other camera
        rows.append(at)
        if len(film):
            common &= np.abs(film.times[at] - first.times) < TOGETHER * distance
    if not common.any():
        spans = [f"'{film.view}' {film.times[0]:g} to {film.times[-1]:g} s" for film in recordings if len(film)]
        raise ShapeError(
            f"recording '{label}': the views have no frames at the same times ({listed(spans)}). Shift the times of "
            "one of them, so that pictures that were taken together have the same time."
        )
    most = max(len(film) for film in recordings)
    lost = most - int(common.sum())
    if lost:
        what = (
            f"{lost} of {counted(most, 'frame')} of a view have no frame at their time in the others, and are left out"
        )
        _warn(Problem("recording", label, what, "Check that the cameras were started together."))
    pictures = np.full((len(recordings), int(common.sum()), len(names), 2), np.nan)
    weights = np.zeros(pictures.shape[:3])
    for k, (film, at) in enumerate(zip(recordings, rows, strict=True)):
        columns = [names.index(name) for name in film.names]
        pictures[k][:, columns] = film.pictures[at[common]]
        given = np.ones((len(film), len(film.names))) if film.weights is None else film.weights
        weights[k][:, columns] = np.where(film.seen, given, 0.0)[at[common]]
    return first.times[common], pictures, weights, names


def _solved(matrices: Sequence[Array], pictures: Array, W: Array) -> tuple[Array, Array]:
    """Positions (n, k, 3) and normal matrices (n, k, 3, 3) of points with pictures and weights W (views, n, k)."""
    seen = np.nan_to_num(pictures)
    A, b = np.zeros((*W.shape[1:], 3, 3)), np.zeros((*W.shape[1:], 3))
    for P, u, w in zip(matrices, seen, W, strict=True):  # (P12 - u P3) X = u p3 - p12
        rows = P[:2, :3] - u[..., None] * P[2, :3]
        right = u * P[2, 3] - P[:2, 3]
        A += w[..., None, None] * np.swapaxes(rows, -1, -2) @ rows
        b += w[..., None] * np.einsum("...ij,...i->...j", rows, right)
    X = _steps(A, b)
    for _ in range(STEPS):
        A, b = np.zeros_like(A), np.zeros_like(b)
        for P, u, w in zip(matrices, seen, W, strict=True):
            now, J = projected(P, X)
            A += w[..., None, None] * np.swapaxes(J, -1, -2) @ J
            b += w[..., None] * np.einsum("...ij,...i->...j", J, u - now)
        step = _steps(A, b)
        X = X + step
        if np.abs(step).max(initial=0.0) <= 1e-14 * max(np.abs(X).max(initial=0.0), 1e-300):
            break
    return X, A


def _steps(A: Array, b: Array) -> Array:
    """The solutions of A x = b, shape (n, k, 3); 0 where the matrix leaves a direction open."""
    values = np.linalg.eigvalsh(A)
    good = values[..., 0] > OPEN * values[..., 2]
    safe = np.where(good[..., None, None], A, np.eye(3))
    return np.where(good[..., None], np.linalg.solve(safe, b[..., None])[..., 0], 0.0)


def _weights(covariances: Array) -> Array | None:
    """Weights (n, k): the median of the mean variances of points by that of each; None where all are the same."""
    variances = np.trace(covariances, axis1=2, axis2=3) / 3.0
    seen = np.isfinite(variances)
    if not seen.any() or np.ptp(variances[seen]) <= 1e-9 * np.median(variances[seen]):
        return None
    found: Array = np.where(seen, np.median(variances[seen]) / np.where(seen, variances, 1.0), 0.0)
    return found


def _tell(label: str, names: Sequence[str], residuals: Array, W: Array, scatter: float) -> None:
    """Warns of markers whose pictures in different views do not belong to one point, and where none do."""
    sizes = np.sqrt(np.nansum(W[..., None] * residuals**2, axis=(0, 1, 3)) / np.maximum(1, (W > 0.0).sum(axis=(0, 1))))
    usual = float(np.median(sizes)) if len(sizes) else 0.0
    far = [name for name, size in zip(names, sizes, strict=True) if size > FAR * usual > 0.0]
    if far and len(names) > 2:
        what = f"the pictures of markers {quoted(far, 6)} in different views do not show the same points"
        _warn(Problem("recording", label, what, "Check that their names are the same in all views."))
    elif scatter > FAR:
        what = f"residuals are {scatter:.3g} times the stated deviations of the views, so their pictures do not fit"
        _warn(Problem("recording", label, what, "Check which recording belongs to which view, and their deviations."))


def _warn(problem: Problem) -> None:
    warnings.warn(problem, RecordingWarning, stacklevel=users_level())
