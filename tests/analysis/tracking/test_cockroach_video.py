"""A cockroach from video to running: a run is filmed by two cameras, tracked, and what was tracked runs again.

The cameras look from the side and from below, at 200 frames per second, and errors of digitizing are 0.1 mm.
Requirements 004-10 and 004-12.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import difference, library, simulate
from kinemorph.tracking import View, film, reconstruct, scaled_segments, synthetic_markers, track

SCALE = 1e4  # [px/m], so that errors of 1 px are 0.1 mm
STRIDES = 4


def turned(angles: np.ndarray) -> np.ndarray:
    return (angles + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.slow
def test_angles_come_back_within_their_intervals_and_the_tracked_motion_runs() -> None:
    animal = library.running_cockroach()
    robot = animal.robot
    run = simulate(animal, STRIDES / 6.8, step=1e-4)
    points = synthetic_markers(animal, run, rate=200)
    true = run.at(points.times).q

    # two views, with errors of 0.1 mm in each picture
    views = [
        View.orthographic("lateral", look=(0, 1, 0), up=(0, 0, 1), scale=SCALE, deviation=1.0),
        View.orthographic("ventral", look=(0, 0, 1), up=(0, -1, 0), scale=SCALE, deviation=1.0),
    ]
    space = reconstruct(film(points, views, noise=1.0, seed=1), views)
    assert space.scatter == pytest.approx(1.0, abs=0.05)

    # lengths of the animal come back within four standard errors
    fitted = scaled_segments(animal, space.markers)
    assert set(fitted.factors) == set(robot.body_names)
    for body, factor in fitted.factors.items():
        assert abs(factor - 1.0) < 4.0 * fitted.deviations[body] < 0.03, body

    # of the angles, 95 % are within their intervals of 95 %, which are about 1.5 deg wide to each side
    tracked = track(animal, space.markers, q0=animal.settings.q)
    errors = np.array([difference(robot, q, found) for q, found in zip(true, tracked.q, strict=True)])
    errors[:, 6:] = turned(errors[:, 6:])
    inside = np.abs(errors) <= tracked.intervals()
    assert 0.93 < inside.mean() < 0.98 and inside.mean(axis=0).min() > 0.85
    assert np.rad2deg(np.median(tracked.intervals()[:, 6:])) < 2.0
    assert np.rad2deg(np.sqrt(np.mean(errors[:, 6:] ** 2))) < 1.0

    # a PD that follows the tracked angles runs at the speed of the recording, and does not fall
    path = tracked.path("gait")
    elements = tuple(path if element.name == "gait" else element for element in animal.elements)
    again = simulate(replace(animal, elements=elements), float(points.times[-1]), step=1e-4)
    speeds = [(one.q[-1, 0] - one.q[0, 0]) / (one.t[-1] - one.t[0]) for one in (run, again)]
    print(f"{inside.mean():.3f} of the angles are inside; speeds {speeds[0]:.4f} and {speeds[1]:.4f} m/s")
    assert speeds[1] == pytest.approx(speeds[0], rel=0.1)
    assert again.q[:, 2].min() > 0.5 * run.q[0, 2]
    tilt = 1.0 - 2.0 * (again.q[:, 4] ** 2 + again.q[:, 5] ** 2)  # the cosine between the axes z of trunk and world
    assert tilt.min() > np.cos(np.deg2rad(20.0))
