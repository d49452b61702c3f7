"""Functions whose sensitivity is known: that of Ishigami, and the example of Morris (1991) with its 20 inputs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array

# ── Ishigami and Homma (1990) ─────────────────────────────────────────────────────────────────────────────────────────

A, B = 7.0, 0.1


def ishigami(x1: Any, x2: Any, x3: Any) -> Any:
    """The function of three inputs, each uniform from -pi to pi."""
    return np.sin(x1) + A * np.sin(x2) ** 2 + B * x3**4 * np.sin(x1)


_ALONE = (0.5 * (1.0 + B * math.pi**4 / 5.0) ** 2, A * A / 8.0, 0.0)  # variances by each input alone
_TOGETHER = B * B * math.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)  # by the first and the third together
_ALL = sum(_ALONE) + _TOGETHER
ISHIGAMI_FIRST: Array = np.array(_ALONE) / _ALL
ISHIGAMI_TOTAL: Array = np.array([_ALONE[0] + _TOGETHER, _ALONE[1], _TOGETHER]) / _ALL
ISHIGAMI_SECOND: Array = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]) * _TOGETHER / _ALL

# ── Morris (1991), section 4 ──────────────────────────────────────────────────────────────────────────────────────────

MORRIS_INPUTS = 20
_BENT = (2, 4, 6)  # inputs 3, 5 and 7 enter nonlinearly


def _coefficients(remainder: bool) -> tuple[Array, Array]:
    """The coefficients of first (20,) and of second order (20, 20), above the diagonal.

    Those that the paper draws from a normal distribution are the `remainder`; our draws are as good as his.
    """
    chance = np.random.default_rng(1991)
    first, second = chance.normal(size=20), np.triu(chance.normal(size=(20, 20)), 1)
    if not remainder:
        first, second = np.zeros(20), np.zeros((20, 20))
    first[:10] = 20.0
    second[:6, :6] = np.triu(np.full((6, 6), -15.0), 1)
    return first, second


def _bent(x: Array) -> Array:
    w = 2.0 * (x - 0.5)
    for k in _BENT:
        w[..., k] = 2.0 * (1.1 * x[..., k] / (x[..., k] + 0.1) - 0.5)
    return w


def morris_function(x: Array, *, remainder: bool) -> Array:
    """The function at points (..., 20) of the unit cube."""
    first, second = _coefficients(remainder)
    w = _bent(x)
    value = w @ first + np.einsum("...i,ij,...j->...", w, second, w)
    value = value - 10.0 * sum(w[..., i] * w[..., j] * w[..., k] for i, j, k in itertools.combinations(range(5), 3))
    return np.asarray(value + 5.0 * w[..., 0] * w[..., 1] * w[..., 2] * w[..., 3])


def morris_effects(*, remainder: bool) -> tuple[Array, Array]:
    """The exact means and deviations (20,) of all elementary effects on a grid of four levels.

    The function is linear in each w_i, so that an effect of input i is the slope of w_i, which depends on x_i alone,
    times a polynomial of the other inputs. Its part in the first six is enumerated; the others enter it linearly, and
    add their variances.
    """
    first, second = _coefficients(remainder)
    both = second + second.T
    levels = np.arange(4) / 3.0
    w = _bent(np.repeat(levels[:, None], MORRIS_INPUTS, axis=1))  # (level, input)
    slopes = (w[2:] - w[:2]) / (2.0 / 3.0)
    mean_w, var_w = w.mean(axis=0), w.var(axis=0)
    six = np.stack(np.meshgrid(*(w[:, k] for k in range(6)), indexing="ij"), axis=-1).reshape(-1, 6)
    mu, sigma = np.empty(MORRIS_INPUTS), np.empty(MORRIS_INPUTS)
    for i in range(MORRIS_INPUTS):
        inner = first[i] + six @ both[i, :6] + both[i, 6:] @ mean_w[6:]
        if i < 5:
            others = [k for k in range(5) if k != i]
            inner = inner - 10.0 * sum(six[:, j] * six[:, k] for j, k in itertools.combinations(others, 2))
        if i < 4:
            inner = inner + 5.0 * np.prod(six[:, [k for k in range(4) if k != i]], axis=1)
        slope, variance = slopes[:, i], inner.var() + both[i, 6:] ** 2 @ var_w[6:]
        mu[i] = slope.mean() * inner.mean()
        sigma[i] = math.sqrt(slope.var() * (inner.mean() ** 2 + variance) + slope.mean() ** 2 * variance)
    return mu, sigma
