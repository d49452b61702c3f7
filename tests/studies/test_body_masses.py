"""`NAME.mass` scales a whole body; `NAME.m` is the mass alone, and a note says so."""

from __future__ import annotations

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ModelError, StudyWarning
from kinemorph.model.robot import Robot
from kinemorph.studies import Space, Study, Values, sweep
from kinemorph.studies.experiments.body_masses import with_masses


def pendulum(mass: float) -> Robot:
    """A rod on a hinge with damping, so that its motion depends on its mass."""
    rod = kinemorph.Body.rod("rod", mass, 0.8, center=(0.1, 0.0, -0.4))
    builder = kinemorph.RobotBuilder("pendulum").add(rod)
    return builder.joint("swing", "revolute", "world", "rod", axis=(0, 1, 0), damping=0.4).build()


def swept(**parts: Values) -> Study:
    return sweep(pendulum(1.0), Space(parts), {"angle": "q.swing"}, until=0.5, workers=0, q=[1.0])


def test_the_mass_of_a_body_scales_it_as_a_body_that_was_built_so() -> None:
    (scaled,), (built,) = with_masses(pendulum(1.0), {"rod.mass": 3.0}).robot.bodies, pendulum(3.0).bodies
    assert (scaled.mass, scaled.com) == (built.mass, built.com)
    np.testing.assert_allclose(scaled.inertia, built.inertia, rtol=1e-15)


def test_the_mass_of_a_body_acts_in_runs() -> None:
    light, heavy = swept(**{"rod.mass": Values([0.5, 3.0])})["angle"]
    assert heavy < light - 0.1  # damping stops the light one sooner


def test_the_mass_alone_is_told() -> None:
    with pytest.warns(StudyWarning, match=r"'rod.m' changes the mass alone.*'rod.mass' scales the whole body"):
        swept(**{"rod.m": Values([1.0, 1.05])})


@pytest.mark.filterwarnings("ignore::kinemorph.errors.StudyWarning")
def test_impossible_masses_fail_with_a_remedy_for_studies() -> None:
    (item,) = swept(**{"rod.mass": Values([-3.0, 1.0])}).failed
    assert item.cause == "part 'rod.mass' is -3 kg, expected more than 0. Leave such values out."
    (item,) = swept(**{"rod.m": Values([-3.0, 1.0])}).failed
    assert "mass is -3 kg, expected more than 0" in item.cause and "feasible_parameters" not in item.cause


def test_a_mass_is_not_given_twice() -> None:
    with pytest.raises(ModelError, match=r"part 'rod.mass' scales all .* but 'rod.hx' is a part, too"):
        swept(**{"rod.mass": Values([1.0, 2.0]), "rod.hx": Values([0.1, 0.2])})
