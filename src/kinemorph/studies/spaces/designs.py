"""Designs: n points of a unit cube with one dimension for each part that varies.

    grid      all combinations of the values of parts (`grids`), not points of a cube
    sobol     a scrambled Sobol sequence: even, in all dimensions together; best for counts that are powers of two
    latin     a Latin hypercube: each part has one value in each of n equal intervals
    random    independent random numbers

What is the same when a study grows:

    grid      the values of a part do not depend on other parts
    sobol     a larger count begins with the same points; another part that varies changes them all
    latin     the values of a part do not depend on other parts; another count changes them all
    random    the values of a part do not depend on other parts, and a larger count begins with the same ones

Dimensions are in the order of sorted names, so that it does not matter in which order parts are given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Literal

import numpy as np

from kinemorph.algebra.arrays import Array

Design = Literal["grid", "sobol", "latin", "random"]


def sobol(names: Sequence[str], count: int, seed: int) -> Array:
    """Points of a Sobol sequence with SciPy's scrambling (a random linear matrix and a digital shift)."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about counts other than powers of two: the space warns of them
        points: Array = qmc.Sobol(len(names), scramble=True, seed=np.random.default_rng(seed)).random(count)
    return points


def latin(names: Sequence[str], count: int, seed: int) -> Array:
    """Points of a Latin hypercube: the columns of n intervals in random order are independent of each other."""
    from scipy.stats import qmc

    columns = [qmc.LatinHypercube(1, seed=_generator(name, seed)).random(count)[:, 0] for name in names]
    return np.stack(columns, axis=1)


def random(names: Sequence[str], count: int, seed: int) -> Array:
    """Independent points."""
    return np.stack([_generator(name, seed).random(count) for name in names], axis=1)


POINTS: dict[str, Callable[[Sequence[str], int, int], Array]] = {"sobol": sobol, "latin": latin, "random": random}
DESIGNS = ("grid", *POINTS)


def unit_points(design: str, names: Sequence[str], count: int, seed: int) -> Array:
    """The points of a design for parts of these names, shape (count, len(names)), in [0, 1)."""
    return POINTS[design](names, count, seed) if names else np.empty((count, 0))


def _generator(name: str, seed: int) -> np.random.Generator:
    """The random numbers of one part, which depend on nothing but its name and the seed."""
    return np.random.default_rng([seed, int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")])
