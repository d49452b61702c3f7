"""From URDF to TOML and back: the same system in TOML, the same dynamics in the end.

The default run takes five robots; the slow one every URDF file of `example-robot-data` that loads.
"""

from __future__ import annotations

import pytest

from kinemorph.formats.loading import examine, save
from kinemorph.formats.sources import Options
from support.robots.robot_files import REFUSED, differences, urdf_file, urdf_files
from support.robots.robot_files import folder as robots

SOME = ("panda.urdf", "anymal_b_simple_description/robots/anymal.urdf", "human.urdf", "pr2.urdf", "tiago.urdf")


def there_and_back(path, base, folder):
    """Largest difference of poses, M, bias and accelerations after URDF -> System -> TOML -> System -> URDF."""
    first = examine(path, options=Options(base=base)).system
    save(first, folder / "robot.toml")
    packages = Options(package_dirs=(robots().parent.parent,))  # where package:// names of meshes begin
    second = examine(folder / "robot.toml", options=packages).system
    assert second == first
    save(second, folder / "again.urdf")
    examined = examine(folder / "again.urdf", options=packages)
    assert examined.system is not None, "\n".join(map(str, examined.findings))
    last = examined.system.robot
    assert last.q_names == first.robot.q_names and last.couplings == first.robot.couplings
    return differences(first.robot, last, first.robot.body_names)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_some_robots_come_back(name, tmp_path):
    assert there_and_back(urdf_file(name), "free", tmp_path) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize(
    "path", [path for path in urdf_files() if path.name not in REFUSED], ids=lambda path: path.stem
)
@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_all_robots_come_back(path, base, tmp_path):
    assert there_and_back(path, base, tmp_path) < 1e-12
