"""Robots of files fall onto their ground as they do in MuJoCo: they finish, carry their weight, and stay above it.

`tests/support/peers/robots_dropped.py` drops the robots of whole collections, and writes docs/robots_dropped.md.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from support.peers.robot_drops import Drop, dropped
from support.peers.robots_dropped import chosen_files, page

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "47_robot_from_a_file.xml"
HOPPER = """<mujoco><default><geom condim="1"/></default><worldbody><geom type="plane" size="1 1 1" pos="0 0 -1"/>
  <body name="trunk"><freejoint name="base"/><geom type="capsule" fromto="-0.1 0 0 0.1 0 0" size="0.05" mass="1"/>
    <body name="leg" pos="0.1 0 0"><joint name="hip" axis="0 1 0" damping="0.02"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03" mass="0.3" contype="2" conaffinity="1"/></body></body>
  </worldbody><actuator><position joint="hip" kp="5" kv="0.3"/></actuator>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.4" ctrl="0.5"/></keyframe></mujoco>"""


def stands(drop: Drop | None, apart: float) -> None:
    """A robot that was dropped carries its weight, stays above the ground, and ends beside MuJoCo's within [m]."""
    assert drop is not None and drop.outcome == "finished"
    assert drop.depth is not None and 0.0 < drop.depth < max(5e-3, drop.depth_there or 0.0)  # by the law of its file
    assert drop.carried == pytest.approx(1.0, abs=0.01) and drop.rests
    assert math.dist(drop.base[:3], drop.base_there[:3]) < apart


def test_a_robot_from_a_file_comes_to_rest_beside_mujoco(tmp_path: Path) -> None:
    """On a plane at z = -1, which carries it without friction; of the files only the scene is chosen."""
    pytest.importorskip("mujoco")
    folder = tmp_path / "robots"
    folder.mkdir()
    (folder / "hopper.xml").write_text(HOPPER, encoding="utf-8")
    (folder / "scene.xml").write_text('<mujoco><include file="hopper.xml"/></mujoco>', encoding="utf-8")
    ((path, format),) = chosen_files(folder, ())
    assert (path.name, format) == ("scene.xml", "mjcf")
    drop = dropped(path, format, folder)
    stands(drop, 0.02)
    assert drop is not None and (drop.start, drop.contacts) == ("home", 2)
    assert drop.base[2] == pytest.approx(drop.base_home[2], abs=1e-6)
    assert drop.weight == pytest.approx(1.3 * 9.81)
    text = page([drop, drop._replace(outcome="died", file="robots/other.xml")])
    assert (
        "**1 of 2 finish** (50 %)" in text and "| robots/other | died |" in text and "| robots | 7 | 2 | home |" in text
    )


@pytest.mark.slow
def test_the_robot_of_the_example_falls_and_lies_where_mujoco_says() -> None:
    """It stands; shoved by 80 N it turns over onto its back, where it rests as high as MuJoCo's."""
    stands(dropped(EXAMPLE, "mjcf", EXAMPLE.parent), 5e-3)
    shoved = dropped(EXAMPLE, "mjcf", EXAMPLE.parent, 80.0)
    stands(shoved, 0.1)
    assert (
        shoved is not None and shoved.base[2] == pytest.approx(shoved.base_home[2], abs=1e-6) and shoved.base[2] < 0.09
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "apart"), [("ant", 0.25), ("humanoid", 0.2), ("humanoidstandup", 0.2)])
def test_robots_of_gymnasium_fall_and_carry_their_weight(name: str, apart: float) -> None:
    """The ant stands here; MuJoCo's feet creep, and without its creep (`noslip_iterations`) it stands there, too."""
    gymnasium = pytest.importorskip("gymnasium")
    root = Path(gymnasium.__file__).parent
    stands(dropped(root / "envs" / "mujoco" / "assets" / f"{name}.xml", "mjcf", root), apart)
