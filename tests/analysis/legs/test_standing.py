"""How the cockroach stands, from stiff to soft joints: requirements 004-11, 004-12, 004-15, E004-13.

The reference is the minimum of an energy written with NumPy alone, see `support.references.standing_insect`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import System, equilibrium, library
from kinemorph.elements import PD, Contact, Regularized
from kinemorph.errors import ModelError, ModelWarning
from kinemorph.legs import StandingCurve, least_effort, standing_curve
from support.references import standing_insect

GAINS = np.geomspace(1.0, 3e-4, 8)  # [N m/rad]
LEFT = ("front_left", "middle_left", "hind_left")
DYN, ERG = 1e-5, 1e-7  # [N], [N m]


def stiffer_along(system: System, factor: float) -> System:
    """The system on ground that is stiffer along itself."""

    def changed(element: Any) -> Any:
        if not isinstance(element, Contact):
            return element
        friction: Any = element.friction
        return replace(element, friction=replace(friction, stiffness=factor * friction.stiffness))

    return replace(system, elements=tuple(map(changed, system.elements)))


@pytest.fixture(scope="module")
def curve() -> StandingCurve:
    return standing_curve(library.cockroach(), GAINS)


def references(along: float, gains: Any = GAINS) -> list[standing_insect.Standing]:
    found: list[standing_insect.Standing] = []
    for gain in gains:
        found.append(standing_insect.standing(gain / ERG, along=along, start=found[-1].unknowns if found else None))
    return found


@pytest.fixture(scope="module")
def reference() -> list[standing_insect.Standing]:
    return references(standing_insect.ALONG)


def gap(curve: StandingCurve, reference: list[standing_insect.Standing]) -> float:
    """The largest relative difference of errors, efforts and reactions of the legs of either side."""
    found = []
    for row, exact in enumerate(reference):
        for side, mirrored in ((slice(0, 3), 1.0), (slice(3, 6), -1.0)):
            forces = curve.reactions[row, side] * [1.0, mirrored, 1.0] / DYN
            found.append(np.abs(forces - exact.reactions).max() / np.abs(exact.reactions).max())
            found.append(np.abs(curve.errors[row, side] / exact.errors - 1.0).max())
            found.append(np.abs(curve.efforts[row, side] / ERG**2 / exact.efforts - 1.0).max())
    return float(max(found))


@pytest.mark.slow
def test_the_curve_is_that_of_an_energy_minimum(
    curve: StandingCurve, reference: list[standing_insect.Standing], record_property: Any
) -> None:
    assert curve.legs[:3] == LEFT and not curve.message
    worst = gap(curve, reference)
    record_property("figure", ("standing", "against the minimum of an energy", worst))
    assert worst < 1e-8


def test_stiff_joints_give_vertical_reactions_and_softer_ones_lean_to_the_body(curve: StandingCurve) -> None:
    front, _, hind = (curve.reactions[:, curve.column(leg)] for leg in LEFT)
    sideways = np.abs(curve.reactions[..., :2]).max(axis=(1, 2)) / curve.reactions[..., 2].min(axis=1)
    assert sideways[0] < 0.01
    assert np.all(np.diff(front[:, 0]) < 0.0) and np.all(np.diff(hind[:, 0]) > 0.0)  # backward, and forward
    assert np.all(np.diff(curve.reactions[:, :3, 1], axis=0) < 0.0)  # inward on the left
    weight = 9.81 * library.cockroach().robot.total_mass
    assert curve.reactions.sum(axis=1)[:, 2] == pytest.approx(weight, rel=1e-12)
    assert np.abs(curve.reactions.sum(axis=1)[:, :2]).max() < 1e-12


def test_the_effort_of_front_legs_falls_and_rises(curve: StandingCurve, record_property: Any) -> None:
    """Table 1 of the paper: it falls to 0.50 and rises by 20 % from there."""
    effort = curve.relative_effort("front_left")
    least = curve.least("front_left")
    record_property("figure", ("standing", "least effort of front legs, relative to stiff joints", effort[least]))
    assert 0 < least < len(GAINS) - 1
    assert 0.3 <= effort[least] <= 0.65
    assert effort[-1] >= 1.05 * effort[least]


def test_no_effort_is_below_that_of_the_best_forces(
    curve: StandingCurve, reference: list[standing_insect.Standing]
) -> None:
    """The least sum of squared torques over all forces that carry the body, at the same posture."""
    bounds = np.array([2.0 * standing_insect.least_effort(one.unknowns) for one in reference]) * ERG**2
    shares = curve.efforts.sum(axis=1) / bounds
    assert np.all(shares > 1.0) and shares[0] > 1.8 and shares.min() < 1.5


@pytest.mark.slow
def test_the_bound_is_that_of_least_effort(
    curve: StandingCurve, reference: list[standing_insect.Standing], record_property: Any
) -> None:
    """The force program of the package finds the bound that least squares with NumPy alone gives, at two postures."""
    worst = 0.0
    for row in (0, 6):
        bound = 2.0 * standing_insect.least_effort(reference[row].unknowns) * ERG**2
        found = least_effort(library.cockroach(), curve.q[row], friction=1e3)
        worst = max(worst, abs(found.effort / bound - 1.0))
    record_property("figure", ("standing", "bound against least squares", worst))
    assert worst < 1e-6


def test_feet_slip_where_friction_ends(curve: StandingCurve) -> None:
    slips = curve.gains < curve.slip_gain
    assert 0 < slips.sum() < len(slips)
    assert np.array_equal(curve.grips.max(axis=1) > 0.8, slips)
    forces = standing_insect.standing(curve.slip_gain / ERG).reactions
    assert np.max(np.hypot(forces[:, 0], forces[:, 1]) / forces[:, 2]) == pytest.approx(0.8, rel=1e-5)


@pytest.mark.slow
def test_equilibrium_says_that_feet_slip(curve: StandingCurve) -> None:
    for share, slips in ((1.02, False), (0.98, True)):
        found = equilibrium(library.cockroach(stiffness=share * curve.slip_gain))
        assert found and ("lets go" in found.message) is slips


@pytest.mark.slow
def test_ground_that_is_stiffer_along_itself(curve: StandingCurve) -> None:
    """The least effort comes with smaller angle errors, as in the paper, and falls further."""
    gains = np.geomspace(1.0, 3e-4, 29)
    soft = standing_curve(library.cockroach(), gains)
    stiff = standing_curve(stiffer_along(library.cockroach(), 10.0), gains)
    assert gap(stiff, references(10.0 * standing_insect.ALONG, gains)) < 1e-8
    least = [np.degrees(one.errors[one.least("front_left"), 0]) for one in (soft, stiff)]
    assert least[1] < 0.4 * least[0]
    effort = stiff.relative_effort("front_left")
    assert 0.3 <= effort.min() <= 0.65 and effort[-1] > 1.05 * effort.min()


@pytest.mark.slow
def test_soft_joints_on_stiff_ground_find_the_best_forces() -> None:
    """Where the ground does not give way along itself and angles hardly change, total effort is the least of all."""
    gain = 0.3
    system = stiffer_along(library.cockroach(), 1e5)
    curve = standing_curve(system, [gain])
    exact = standing_insect.standing(gain / ERG, along=1e5 * standing_insect.ALONG)
    bound = 2.0 * standing_insect.least_effort(exact.unknowns) * ERG**2
    assert 1.0 <= curve.efforts.sum() / bound < 1.01


def test_bad_input_is_said() -> None:
    system = library.cockroach()
    bad: Any
    for bad in ([], [0.0], [-1.0], [np.nan], 1.0, "soft", [[1.0, 2.0]]):
        with pytest.raises(ModelError, match=r"gains are .* expected finite numbers above 0"):
            standing_curve(system, bad)
    bad = system.robot
    with pytest.raises(ModelError, match="model is a Robot; expected a System with contacts of feet"):
        standing_curve(bad, [1.0])
    with pytest.raises(ModelError, match="'front_left_ground' is a Contact; expected a continuous PD"):
        standing_curve(system, [1.0], controller="front_left_ground")
    pd = system.element("posture")
    assert isinstance(pd, PD)
    moving = replace(system, elements=(*system.elements[:-1], replace(pd, reference="gait")))
    with pytest.raises(ModelError, match="follows the signal 'gait'"):
        standing_curve(moving, [1.0])
    high = (*system.settings.q[:2], 0.02, *system.settings.q[3:])
    lifted = replace(system, settings=replace(system.settings, q=high))
    with pytest.raises(ModelError, match=r"are not on the ground .* 'front_left'"):
        standing_curve(lifted, [1.0])


def test_feet_that_nothing_holds_are_told() -> None:
    """Friction that depends on velocity is 0 at rest: forces are vertical, however soft the joints."""
    system = library.cockroach()
    slide = [replace(one, friction=Regularized(0.8)) if isinstance(one, Contact) else one for one in system.elements]
    with pytest.warns(ModelWarning, match=r"contacts 'front_left_ground', .* have no Anchor friction"):
        curve = standing_curve(replace(system, elements=slide), [1e-2])
    assert curve.grips.max() < 1e-6


def test_unknown_legs(curve: StandingCurve) -> None:
    with pytest.raises(ModelError, match=r"no leg 'frontleft'.*front_left"):
        curve.relative_effort("frontleft")


def test_the_picture_has_all_curves(curve: StandingCurve, tmp_path: Path) -> None:
    published = [(0.001, 41.7), (0.084, 21.0)]
    figure = curve.plot(legs=LEFT, compare={"again": curve}, beside={"paper": published}, path=tmp_path / "curve.png")
    efforts, grips = figure.axes
    assert len(efforts.lines) == 7 and len(grips.lines) == 7  # two times three curves, and points or the bound
    assert efforts.lines[0].get_ydata() == pytest.approx(curve.relative_effort("front_left"))
    assert efforts.lines[-1].get_ydata() == pytest.approx([1.0, 21.0 / 41.7])
    assert (tmp_path / "curve.png").stat().st_size > 10_000
    assert "of &#x27;cockroach&#x27;: 8 gains from 1 to 0.0003 N m/rad, 6 legs" in curve._repr_html_()
