"""Information of recordings: triangles say what all samples say, whatever the blocks, weights and known values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph.analysis.identification.information import BLOCK, GrowingTriangle, gathered
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import torque_rows
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ShapeError
from kinemorph.model import library
from kinemorph.model.configuration import random_configuration

RNG = np.random.default_rng(3)
NAMES, CHANNELS = ("a", "b", "c", "d"), ("one", "two")
Y = RNG.normal(size=(300, 2, 4)) * [[[1.0, 1e3, 1.0, 1e-3], [1.0, 1.0, 0.0, 0.0]]]
y = RNG.normal(size=(300, 2))


def info(first: int = 0, last: int = 300):  # type: ignore[no-untyped-def]
    blocks = [([Y[first:last, 0], Y[first:last, 1, :2]], y[first:last])]
    return gathered(NAMES, CHANNELS, blocks, dependent=((0, 1, 2, 3), (0, 1)))


def test_the_triangle_of_many_blocks_is_that_of_all_rows() -> None:
    rows = RNG.normal(size=(2 * BLOCK + 57, 9)) * np.logspace(0, -5, 9)
    growing = GrowingTriangle(9)
    for part in np.array_split(rows, 31):
        growing.add(part[:, :-1], part[:, -1])
    R = growing.value()
    assert growing.rows == len(rows)
    assert np.allclose(np.tril(R, -1), 0.0)
    scale = np.linalg.norm(rows, axis=0)
    assert np.abs((R.T @ R - rows.T @ rows) / np.outer(scale, scale)).max() < 1e-13


def test_the_residuals_of_any_parameters_follow_from_the_triangles() -> None:
    theta, deviations = RNG.normal(size=4), np.array([0.5, 3.0])
    left = y - Y @ theta
    found = info()
    assert np.allclose(found.squares(theta), (left**2).sum(axis=0), rtol=1e-12)
    R, z, rest = found.weighted(deviations)
    assert np.sum((R @ theta - z) ** 2) + rest == pytest.approx(((left / deviations) ** 2).sum(), rel=1e-12)
    assert np.allclose(found.norms(), np.linalg.norm(y, axis=0), rtol=1e-12)


def test_information_of_two_parts_together_is_that_of_the_whole() -> None:
    whole, parts = info(), info(0, 120).plus(info(120))
    for one, other in zip(whole.channels, parts.channels, strict=True):
        assert one.rows == other.rows
        assert np.allclose(one.R.T @ one.R, other.R.T @ other.R, rtol=1e-12)


def test_known_values_leave_the_information_about_the_others() -> None:
    theta = RNG.normal(size=4)
    found = info().without({"b": theta[1], "d": theta[3]})
    assert found.columns == ("a", "c")
    assert np.allclose(found.squares(theta[[0, 2]]), info().squares(theta), rtol=1e-11)


def test_wrong_names_and_deviations_are_refused() -> None:
    for bad in ({"one": 1.0}, (1.0,), (1.0, -1.0), (1.0, np.nan)):
        with pytest.raises(ShapeError, match="deviations"):
            info().weighted(bad)
    with pytest.raises(ShapeError, match="'e'"):
        info().without({"e": 1.0})


def test_torques_of_an_arm_depend_on_the_bodies_beyond_the_joint() -> None:
    """Rows in blocks give the least-squares solution of all rows."""
    robot = library.puma()
    dynamics, rng = derive(robot, backend="interpreter"), np.random.default_rng(1)
    q = np.array([random_configuration(robot, rng) for _ in range(60)])
    v, a = rng.normal(size=(2, 60, robot.nv))
    whole = dynamics.regressor(q, v, a)
    theta = rng.normal(size=whole.shape[2])
    recording = Recording("random", np.arange(60.0), q, v, a, whole @ theta)
    rows = torque_rows(dynamics)
    sizes = [len(one) for one in rows.dependent]
    assert all(4 < size <= 10 * (6 - k) + 4 for k, size in enumerate(sizes))  # bodies beyond, and four of its own
    found = rows.information([recording.part(0, 25), recording.part(25, 60)])
    assert np.abs(found.squares(theta)).max() < 1e-20 * found.norms().max() ** 2 * 60
    other = replace(recording, tau=recording.tau + 1.0)
    assert rows.information([other]).squares(theta) == pytest.approx(np.full(robot.nv, 60.0), rel=1e-9)
