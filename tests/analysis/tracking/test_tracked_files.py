"""What `track` takes and gives beside numbers: names of both sides, and files that lead controllers."""

import numpy as np
import pytest

from kinemorph import library
from kinemorph.analysis.tracking.fitting.misfits import other_sides
from kinemorph.elements import SplinePath
from kinemorph.errors import ModelError, ShapeError
from kinemorph.tracking import scaled_bodies, scaled_segments, synthetic_markers, track


def test_bad_arguments_are_said():
    animal = library.cockroach()
    recorded = synthetic_markers(animal, (0.01 * np.arange(4), np.tile(animal.settings.q, (4, 1))))
    with pytest.raises(ShapeError, match=r"markers is a str; expected Markers. Read a file with load_markers"):
        track(animal, "walk.csv")
    with pytest.raises(ShapeError, match="only was given no names"):
        recorded.only([])
    feet = recorded.only(["front_left_foot", "front_right_foot"])
    with pytest.raises(ShapeError, match=r"too few points for the segment 'front_left_tibia': .* bodies and alike"):
        scaled_segments(animal, feet, alike=[("front_left_tibia", "front_right_tibia")])
    with pytest.raises(ModelError, match=r"body 'wing': robot 'cockroach' has no such body; its bodies: body, "):
        scaled_bodies(animal, {"wing": 2.0})


def test_other_sides_of_names_with_several_words_for_sides():
    names = ("left_hip~left_x", "right_hip~right_x", "left_toe_right", "right_toe_right", "R.knee", "L.knee", "nose")
    pairs = other_sides(names)
    assert all(pairs[pairs[name]] == name for name in pairs) and set(names) - set(pairs) == {"nose"}
    assert pairs["left_hip~left_x"] == "right_hip~right_x" and pairs["left_toe_right"] == "right_toe_right"


def test_the_file_of_a_free_robot_leads_a_controller(tmp_path):
    """The pose of the base and the intervals are no joints; the named ones are read in their order."""
    animal = library.cockroach()
    q = np.tile(animal.settings.q, (4, 1))
    recorded = synthetic_markers(animal, (0.01 * np.arange(4), q))
    found = track(animal, recorded, q0=q[0], backend="interpreter", search=0)
    file = found.write_csv(tmp_path / "angles.csv", intervals=True)
    path, own = SplinePath.from_csv("walk", file), found.path("walk")
    assert path.joints == own.joints and np.abs(np.array(path.points) - np.array(own.points)).max() < 1e-11
    one = SplinePath.from_csv("walk", file, joints=own.joints[3:1:-1])
    assert one.joints == own.joints[3:1:-1] and one.points[0] == path.points[0][3:1:-1]
    rows = [line.split() for line in str(found).splitlines() if line.endswith(" deg")]
    assert [len(row) for row in rows] == [3] * 3 + [5] * (len(rows) - 3), "both ends of angles, not of the free base"
    assert len(repr(path)) < 100 and "30 joints" in repr(path)
    with pytest.raises(ModelError, match=r"has no column 'knee', expected one for each of joints"):
        SplinePath.from_csv("walk", file, joints=["knee"])
