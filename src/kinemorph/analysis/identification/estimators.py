"""Estimators: parameters from information, as a table of methods with one signature.

    ordinary    least squares, all channels alike
    weighted    least squares, each channel divided by the deviation of its residuals; both are found in turns
    robust      as weighted, with Tukey's bisquare: a residual beyond 4.7 deviations does not count at all
    total       total least squares: the columns of Y have errors, too
    instrumental    instrumental variables: regressors of simulated runs in place of Y, which has noise

A method takes a `Task` and returns an `Estimate`. It never sees samples: it asks the task for residuals, or for the
information of rows with other weights, and the task passes over the recordings once for that, block by block. Robust
estimates so need the memory of one number for each measured force, and one pass for each of their iterations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.information import Information
from kinemorph.errors import RecordingWarning, ShapeError, users_level

MOST, SETTLED = 30, 1e-6  # iterations; the relative change of deviations that ends them
LAST, NEARLY = 5, 1e-3  # of those with constraints
BISQUARE = 4.685  # [deviations], where Tukey's weights end: 95 % of the efficiency of least squares for normal noise
ROBUST_SETTLED = 1e-4
NOISELESS = 1e-8  # the least deviation of residuals, relative to the forces of their channel
SMALL = 1e-6  # forces that are smaller, relative to those of the largest channel, count as so large
MEDIAN = 0.6745  # the median of |x| for normal x of deviation 1


class Sums(Protocol):
    """What takes the place of the information for instrumental variables."""

    def weighted(self, deviations: Array) -> tuple[Array, Array, float]:
        """(R, z, rest) as those of `Information.weighted`."""


class Task(NamedTuple):
    """What an estimator works on.

    `information`    that of all rows
    `solve`          (R, z) -> the parameters, shape (n,), that are best for |R theta - z|^2 with prior and constraints
    `quick`          as `solve`, but without constraints: for iterations before the last ones
    `residuals`      parameters -> the residuals y - Y theta of each channel, in the order of the samples
    `reweighted`     weights of each channel's rows -> the information of rows times the roots of their weights
    `freedoms`       how many parameters each channel's rows determine, shape (channels,)
    `exact`          the indices of columns without errors: offsets and signs of velocities
    `base`           K, shape (k, n): rows depend on the parameters by K theta alone
    `instruments`    parameters -> sums of recordings and of runs of the model with these parameters
    """

    information: Information
    solve: Callable[[Array, Array], Array]
    quick: Callable[[Array, Array], Array]
    residuals: Callable[[Array], list[Array]]
    reweighted: Callable[[list[Array]], Information]
    freedoms: Array
    exact: tuple[int, ...]
    base: Array
    instruments: Callable[[Array], Sums] | None = None


class Estimate(NamedTuple):
    """Parameters, the deviation of the residuals of each channel, and the weights of rows where they are not all 1.

    `stretch` is the factor by which the slope of the estimating equations is smaller than the weights say: 1 for least
    squares.
    """

    theta: Array
    deviations: Array
    information: Information | Sums
    weights: list[Array] | None = None
    stretch: float = 1.0


def least_deviations(info: Information) -> Array:
    """The least deviation of the residuals of each channel, shape (channels,): that of data without noise.

    It is a share of the channel's forces, or of the largest ones where its own are zero or rounding errors.
    """
    sizes = info.norms() / np.sqrt(np.maximum(info.rows(), 1.0))
    largest = float(sizes.max(initial=0.0)) or 1.0
    return NOISELESS * np.maximum(sizes, SMALL * largest)


def ordinary(task: Task) -> Estimate:
    """Least squares with equal weights. The deviations of the channels are all that of all residuals together."""
    info = task.information
    rows = max(float(info.rows().sum()) - len(task.base), 1.0)
    least = least_deviations(info).max(initial=0.0)

    def deviations_of(theta: Array) -> Array:
        return np.full(len(info.channels), max(np.sqrt(info.squares(theta).sum() / rows), least))

    return _in_turns(task, deviations_of)


def weighted(task: Task) -> Estimate:
    """Least squares with each channel divided by the deviation of its residuals, which is found by iteration."""
    info = task.information
    left = np.maximum(info.rows() - task.freedoms, 1.0)
    least = least_deviations(info)
    return _in_turns(task, lambda theta: np.maximum(np.sqrt(info.squares(theta) / left), least))


def _in_turns(task: Task, deviations_of: Callable[[Array], Array]) -> Estimate:
    """Parameters, and the deviations of the channels that follow from them, found in turns: the prior counts in
    deviations.
    """
    info = task.information
    R, z, _ = info.weighted()
    deviations = deviations_of(task.quick(R, z))
    for solve, most, settled in ((task.quick, MOST, SETTLED), (task.solve, LAST, NEARLY)):
        for _ in range(most):
            R, z, _ = info.weighted(deviations)
            theta = solve(R, z)
            old, deviations = deviations, deviations_of(theta)
            if np.abs(deviations / old - 1.0).max() < settled:
                break
    return Estimate(theta, deviations, info)


def robust(task: Task) -> Estimate:
    """Weighted least squares in which rows with large residuals count less, and those beyond BISQUARE deviations not.

    The deviation of a channel is the median of its |residuals|, divided by that of a normal variable.
    """
    quick = task._replace(solve=task.quick)
    theta = weighted(quick).theta
    info, deviations = task.information, np.ones(len(task.information.channels))
    least = least_deviations(info)
    weights: list[Array] = []
    sizes: list[Array] = []
    for _ in range(MOST):
        residuals = task.residuals(theta)
        old = deviations
        deviations = np.maximum([float(np.median(np.abs(one))) / MEDIAN for one in residuals], least)
        sizes = [np.abs(one) / deviation for one, deviation in zip(residuals, deviations, strict=True)]
        weights = [np.maximum(1.0 - (size / BISQUARE) ** 2, 0.0) ** 2 for size in sizes]
        info = task.reweighted(weights)
        R, z, _ = info.weighted(deviations)
        theta = task.quick(R, z)
        if np.abs(deviations / old - 1.0).max() < ROBUST_SETTLED:
            break
    theta = task.solve(R, z)
    slopes = [_slope(size) for size in sizes]
    stretch = float(np.concatenate(slopes).mean() / np.concatenate(weights).mean())
    return Estimate(theta, deviations, info, weights, max(stretch, 0.1))


def _slope(size: Array) -> Array:
    """The derivative of size times its weight, for sizes of residuals in deviations."""
    u = (size / BISQUARE) ** 2
    return np.where(u < 1.0, (1.0 - u) * (1.0 - 5.0 * u), 0.0)


def total(task: Task, column_error: float = 0.01, force_errors: Mapping[str, float] | None = None) -> Estimate:
    """Total least squares: entries of Y have errors as well, of `column_error` times the size of their column.

    Columns of offsets and of signs of velocities are exact. `force_errors` are the standard deviations of the measured
    forces by channel [N m or N]; by default those of the residuals of `weighted`. With X = [base columns, y], divided
    by the deviations of their errors, the estimate is the smallest right singular vector of what exact columns leave
    of X (Golub & Van Loan 1980; Van Huffel 1991).
    """
    if not column_error > 0.0:
        raise ShapeError(f"column_error is {column_error:g}; expected a positive share, such as 0.01.")
    R, z, rest = task.information.weighted(
        weighted(task._replace(solve=task.quick)).deviations if force_errors is None else force_errors
    )
    K, right = task.base, np.linalg.pinv(task.base)
    Rb = R @ right
    is_exact = np.isin(np.abs(K).argmax(axis=1), task.exact) & (np.count_nonzero(K, axis=1) == 1)
    order = [*np.flatnonzero(is_exact), *np.flatnonzero(~is_exact)]
    count = int(is_exact.sum())
    rows = float(task.information.rows().sum())
    errors = column_error * np.linalg.norm(Rb, axis=0) / np.sqrt(rows)
    errors = np.where(errors > 0.0, errors, 1.0)
    scales = np.append(np.where(is_exact, 1.0, errors)[order], 1.0)
    X = np.zeros((len(Rb) + 1, len(K) + 1))
    X[:-1, :-1], X[:-1, -1], X[-1, -1] = Rb[:, order], z, np.sqrt(rest)
    triangle = np.linalg.qr(X / scales)[1]
    smallest = np.linalg.svd(triangle[count:, count:])[2][-1]
    if abs(smallest[-1]) < 1e-12:
        raise ShapeError("total least squares has no solution for these data. Choose method='weighted'.")
    late = -smallest[:-1] / smallest[-1]
    early = np.linalg.solve(triangle[:count, :count], triangle[:count, -1] - triangle[:count, count:-1] @ late)
    base = np.empty(len(K))
    base[order] = np.concatenate([early, late]) / scales[:-1]
    theta = task.solve(R, Rb @ base)
    left = np.maximum(task.information.rows() - task.freedoms, 1.0)
    deviations = np.maximum(np.sqrt(task.information.squares(theta) / left), least_deviations(task.information))
    return Estimate(theta, deviations, task.information)


def instrumental(task: Task, most: int = 20, settled: float = 0.05) -> Estimate:
    """Instrumental variables by runs of the model with its controllers, for noise in velocities and accelerations.

    Runs and parameters are found in turns, until parameters move by less than `settled` of their deviations, at most
    `most` times; see `runs.instrumental`.
    """
    assert task.instruments is not None
    info = task.information
    left = np.maximum(info.rows() - task.freedoms, 1.0)
    theta = weighted(task._replace(solve=task.quick)).theta
    for _ in range(max(1, most)):
        sums = task.instruments(theta)
        deviations = np.maximum(np.sqrt(info.squares(theta) / left), least_deviations(info))
        R, z, _ = sums.weighted(deviations)
        old, theta = theta, task.quick(R, z)
        moved = float(np.linalg.norm(R @ (theta - old))) / np.sqrt(len(task.base))
        if moved < max(settled, SETTLED * float(np.linalg.norm(z))):
            break
    else:
        warnings.warn(
            f"identify: instrumental variables have not settled after {max(1, most)} runs; the last one moved "
            f"parameters by {moved:.2g} deviations. Check controllers and references of the system, or give more runs, "
            "as options={'most': 50}.",
            RecordingWarning,
            stacklevel=users_level(),
        )
    theta = task.solve(R, z)
    deviations = np.maximum(np.sqrt(info.squares(theta) / left), least_deviations(info))
    return Estimate(theta, deviations, sums)


Method = Callable[..., Estimate]
METHODS: dict[str, Method] = {
    "ordinary": ordinary,
    "weighted": weighted,
    "robust": robust,
    "total": total,
    "instrumental": instrumental,
}


def estimated(task: Task, method: str, options: Mapping[str, Any]) -> Estimate:
    """The estimate of a method by name; raises ShapeError for an unknown one."""
    if method == "output_error":
        raise ShapeError(
            "method is 'output_error', which fits runs and not forces. Call identification.output_error(model, "
            "recordings, parameters): it finds parameters of elements, too."
        )
    if method not in METHODS:
        raise ShapeError(f"method is '{method}'; expected one of {', '.join(METHODS)}.")
    return METHODS[method](task, **options)
