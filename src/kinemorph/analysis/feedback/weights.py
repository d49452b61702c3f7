"""Weights of quadratic costs and of noise: a number, a vector (the diagonal), a matrix, or a dict by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.model.input_reader import short
from kinemorph.words import did_you_mean, quoted

ROUNDING = 1e-12  # of the largest eigenvalue


def weights(what: str, given: Any, names: Sequence[str], *, positive: bool = False) -> Array:
    """The symmetric matrix (n, n) of weights for n quantities with these names; `what` names it in messages.

    A dict gives entries of the diagonal, the others are 0; "q.hip" stands for "w.hip". Raises ShapeError where the
    matrix is not positive semidefinite, or not positive definite where it has to be (`positive`).
    """
    n, name = len(names), what.rpartition(" ")[2]
    if isinstance(given, Mapping):
        found = np.zeros(n)
        for key, value in given.items():
            found[names.index(known_name(what, key, names))] = _numbers(what, value, ()).item()
    else:
        found = _numbers(what, given, ((), (n,), (n, n)))
    matrix = found if found.ndim == 2 else np.diag(np.broadcast_to(found, n))
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ShapeError(f"{what} is not symmetric; expected {name} = {name}^T. Give ({name} + {name}^T) / 2.")
    values = np.linalg.eigvalsh(matrix)
    least, size = float(values.min(initial=np.inf)), float(np.abs(values).max(initial=0.0))
    if least <= ROUNDING * size if positive else least < -ROUNDING * size:
        kind, bound = ("definite", "one above 0") if positive else ("semidefinite", "none below 0")
        raise ShapeError(
            f"{what} is not positive {kind}: its least eigenvalue is {least:.3g}, expected {bound}. Give "
            f"{'each' if positive else 'none'} of {quoted(names)} a weight {'above' if positive else 'below'} 0."
        )
    return np.array(0.5 * (matrix + matrix.T))


def known_name(what: str, name: Any, names: Sequence[str]) -> str:
    """The name in `names` that is meant: itself, or "w.hip" for "q.hip"; raises ShapeError where there is none."""
    local = f"w.{name[2:]}" if isinstance(name, str) and name.startswith("q.") else name
    for one in (name, local):
        if one in names:
            return str(one)
    raise ShapeError(f"{what} names '{name}', which is not there.{did_you_mean(name, names)} Known: {quoted(names)}.")


def costs(states: Sequence[str], inputs: Sequence[str], Q: Any, R: Any, N: Any) -> tuple[Array, Array, Array]:
    """(Q, R, N) as matrices; N (ns, nu) has the weights of products of states and inputs."""
    if not inputs:
        raise ShapeError("lqr: there are no inputs, so nothing can be regulated. Add a motor, or name inputs in R.")
    weighed = weights("lqr: Q", Q, states), weights("lqr: R", R, inputs, positive=True)
    shape = (len(states), len(inputs))
    if N is None:
        return *weighed, np.zeros(shape)
    (Qm, Rm), Nm = weighed, _numbers("lqr: N", N, (shape,))
    rest = np.linalg.eigvalsh(Qm - Nm @ np.linalg.solve(Rm, Nm.T))
    if rest.min(initial=0.0) < -1e-9 * np.abs(Qm).max(initial=0.0):
        raise ShapeError(
            f"lqr: N is too large: the least eigenvalue of Q - N R^-1 N^T is {rest.min():.3g}, expected none below 0, "
            "so that no motion has a negative cost. Give a smaller N."
        )
    return Qm, Rm, Nm


def check_sample(what: str, sample: float | None) -> None:
    """Raises ShapeError for a time between samples that is not above 0."""
    if sample is not None and not 0.0 < sample < np.inf:
        raise ShapeError(f"{what}: sample is {sample}; expected a finite time above 0 [s]. Leave it out if continuous.")


def _numbers(what: str, given: Any, shapes: Any) -> Array:
    """An array of finite numbers with one of these shapes."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {short(given)}; expected numbers. Give numbers, or a dict by name.") from None
    if found.shape not in (shapes or ((),)):
        expected = " or ".join("a number" if not one else str(one) for one in shapes or ((),))
        raise ShapeError(f"{what} has shape {found.shape}; expected {expected}. A dict by name needs no order.")
    if not np.isfinite(found).all():
        raise ShapeError(f"{what} is {short(given)}; expected finite numbers. Replace those that are not.")
    return found
