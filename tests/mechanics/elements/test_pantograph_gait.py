"""The reference generator of pantograph legs: feet on straight lines, exact rates, polynomials as in a controller."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph.errors import ModelError
from kinemorph.formats.loading import load_text, save
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.elements import PantographGait
from kinemorph.model.library.textbook import chain
from kinemorph.model.system import System
from support.cases.element_laws import ALONG, Instant

JOINTS = tuple(f"q{k}" for k in range(1, 7))
CHAIN = chain(6)
GAIT = PantographGait("g", JOINTS, starts=(0.0, 2.0), strides=((0.0, 0.1), (0.0, -0.1)), trigonometry="exact")


def positions(gait: PantographGait, t: object, word: str = "") -> list:
    world = Instant(CHAIN, (gait,)).world(t, [0.0] * 6, [0.0] * 6)
    return [world.signal(f"g.{joint}{word}") for joint in JOINTS]


def foot(gait: PantographGait, leg: int, t: float) -> np.ndarray:
    """The foot that the drives reach, in the axes of the leg."""
    a, b, c = positions(gait, t)[3 * leg : 3 * leg + 3]
    r = gait.offset + gait.ratio * c
    return np.array([r * math.cos(a), r * math.sin(a), -(gait.ratio - 1.0) * b])


@pytest.mark.parametrize(
    "t, first, second",
    [
        (0.3, (-0.05, 0.0), (-0.05, 0.0)),  # both stand for 1 s; the second leg is half a cycle ahead
        (1.25, (-0.05, 0.02), (-0.0375, 0.0)),
        (2.0, (0.0, 0.04), (0.0, 0.0)),
        (2.75, (0.05, 0.02), (0.0375, 0.0)),
        (4.0, (0.0, 0.0), (0.0, 0.04)),
        (13.25, (-0.05, 0.02), (-0.0375, 0.0)),
    ],
)
def test_feet_follow_the_sequences(t: float, first: tuple[float, float], second: tuple[float, float]) -> None:
    """The stride of the second leg is the opposite one, as on the other side of a body."""
    for leg, (y, up) in enumerate((first, second)):
        assert foot(GAIT, leg, t) == pytest.approx([0.45, y, up - 0.24], abs=1e-15)


@pytest.mark.parametrize("trigonometry", ["exact", "polynomial"])
def test_rates_are_derivatives_of_positions(trigonometry: str) -> None:
    gait = replace(GAIT, trigonometry=trigonometry)
    for t in (0.4, 1.13, 1.9, 2.6, 3.7):
        along = positions(gait, ALONG.moved(t, 1.0)), positions(gait, ALONG.moved(t, 1.0), ".velocity")
        rates, changes = positions(gait, t, ".velocity"), positions(gait, t, ".acceleration")
        assert [ALONG.tangent(x) for x in along[0]] == pytest.approx(rates, abs=1e-12)
        assert [ALONG.tangent(x) for x in along[1]] == pytest.approx(changes, abs=1e-11)


def test_polynomials_miss_the_line_a_little() -> None:
    """At an angle of 0.11 rad the foot is some micrometers beside its line, at 0.5 rad some millimeters."""
    rough = replace(GAIT, trigonometry="polynomial")
    small = np.abs(foot(rough, 0, 1.0) - foot(GAIT, 0, 1.0)).max()
    far = np.abs(foot(replace(rough, feet=((0.45, 0.2),)), 0, 1.0) - foot(replace(GAIT, feet=((0.45, 0.2),)), 0, 1.0))
    assert 1e-6 < small < 5e-6
    assert 1e-4 < far.max() < 1e-2


def test_it_is_stored_in_model_files(tmp_path: object) -> None:
    system = System(CHAIN, (GAIT,))
    path = tmp_path / "gait.toml"  # type: ignore[operator]
    save(system, path)
    assert load_text(path.read_text(), "toml").elements == system.elements


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"joints": JOINTS[:4]}, "joints has 4 names; expected three for each leg"),
        ({"sequences": ()}, "sequences is empty"),
        ({"sequences": ((0.0, 1.0, 1.0),)}, "duration that is not above 0"),
        ({"sequences": ((1.0, 1.0),)}, r"sequences\[0\] is \(1.0, 1.0\); expected 3 numbers"),
        ({"feet": ((0.1, 0.2, 0.3),)}, r"feet\[0\] is .* expected 2 numbers"),
        ({"strides": ((0.1, 0.2),) * 3}, "strides has 3 entries; expected 1, or 2, one for each leg"),
    ],
)
def test_wrong_data_are_named(changed: dict, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ensemble(CHAIN, (replace(GAIT, **changed),))
