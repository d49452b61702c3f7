"""SDF against Drake's parser: M, bias and poses of its own files and of robots written at random; in `make slow`.

Links of a file that Drake alters are left out: it replaces moments of inertia that no body has.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph import RobotBuilder
from kinemorph.algebra.groups import Pose, matrix_of
from kinemorph.algebra.rotations import rotation
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, save
from kinemorph.formats.sdf.reader import read
from kinemorph.formats.sources import Options, Source
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.configuration import random_configuration
from kinemorph.model.robot import Robot

pytestmark = pytest.mark.slow
TOLERANCE = 1e-11


def drake():
    pytest.importorskip("pydrake")
    from support.peers import drake_peer

    return drake_peer


def worst_errors(robot: Robot, peer: object, count: int = 3) -> dict[str, float]:
    """Largest errors of M and bias, as a share of the largest entry, and of poses [m]."""
    rng, tree, n = np.random.default_rng(0), resolve(robot), robot.nv
    worst = dict.fromkeys(("M", "bias", "poses"), 0.0)
    for _ in range(count):
        q, v, rest = random_configuration(robot, rng), rng.uniform(-1.0, 1.0, n), np.zeros(n)

        if n:
            M = np.array([_force(tree, q, rest, unit) - _force(tree, q, rest, rest) for unit in np.eye(n)])
            there, bias = peer.mass_matrix(q), peer.bias_forces(q, v)
            worst["M"] = max(worst["M"], np.abs(M - there).max() / np.abs(there).max())
            off = np.abs(_force(tree, q, v, rest) - bias).max() / max(np.abs(bias).max(), 1.0)
            worst["bias"] = max(worst["bias"], off)
        for body, T in peer.poses(q).items():
            ours = np.array(matrix_of(body_motion(robot, body, q, v)[0]), dtype=float)
            worst["poses"] = max(worst["poses"], np.abs(ours - T).max())
    return worst


def _force(tree: object, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    return np.array(inverse_dynamics(tree, q.tolist(), v.tolist(), a.tolist()), dtype=float)


def files() -> list[Path]:
    """The SDF files that Drake and example-robot-data bring along."""
    found = []
    for name in ("drake", "example-robot-data"):
        try:
            listed = importlib.metadata.distribution(name).files or []
        except importlib.metadata.PackageNotFoundError:
            continue
        found += [Path(str(file.locate())) for file in listed if file.suffix == ".sdf"]
    return sorted(found)


@pytest.mark.parametrize("path", files() or [None], ids=lambda path: "none" if path is None else path.stem)
def test_files_of_others(path: Path | None, record_property) -> None:
    peers = drake()
    found = examine(path)
    assert found.system is not None
    robot = found.system.robot
    if any(finding.rule == "triangle" for finding in found.warnings):
        pytest.skip("Drake replaces moments of inertia that no body has")
    worst = worst_errors(robot, peers.DrakePeer(robot, peers.without_loops(path, robot)))
    for name, error in worst.items():
        record_property("figure", ("SDF: Drake", name, float(error)))
    assert max(worst.values()) < TOLERANCE, worst


@pytest.mark.parametrize("seed", range(40))
def test_random_robots(seed: int, record_property) -> None:
    peers = drake()
    from support.texts.sdf_texts import sdf_of, sdf_robot

    text = sdf_of(sdf_robot(seed, upright=True), seed)
    system = read(Source("x.sdf", text.encode()), Options(), Findings("x.sdf"))
    assert system is not None
    worst = worst_errors(system.robot, peers.DrakePeer(system.robot, text), 1)
    for name, error in worst.items():
        record_property("figure", ("SDF at random: Drake", name, float(error)))
    assert max(worst.values()) < TOLERANCE, worst


NESTED = """<sdf version="1.9"><world name="w"><model name="robot"><pose>1 2 3 0.1 0.2 0.3</pose>
<link name="base">{0}</link><joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
<frame name="flange" attached_to="base"><pose degrees="true">0 0 1 10 20 30</pose></frame>
<model name="arm" placement_frame="mount"><pose relative_to="flange">0 0 0 0 0 0</pose>
  <frame name="mount"><pose>0 0 -0.5 0.4 0 0</pose></frame>
  <link name="upper">{0}<pose>0 0.1 0.2 0.3 0 0</pose></link>
  <model name="hand"><pose relative_to="upper">0.3 0 0 0 0.5 0</pose><link name="palm">{0}</link></model>
  <joint name="wrist" type="universal"><parent>upper</parent><child>hand::palm</child>
    <pose relative_to="mount">0.3 0 0 0 0 0</pose>
    <axis><xyz expressed_in="hand::palm">1 0 0</xyz></axis>
    <axis2><xyz expressed_in="hand::palm">0 1 0</xyz></axis2></joint>
</model>
<joint name="shoulder" type="ball"><parent>flange</parent><child>arm::mount</child></joint>
</model></world></sdf>""".format(
    "<inertial><pose>0.1 0 0 0.3 0 0</pose><mass>2</mass>"
    "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial>"
)


def test_nested_models() -> None:
    peers = drake()
    system = read(Source("x.sdf", NESTED.encode()), Options(), Findings("x.sdf"))
    assert system is not None and system.robot.nv == 5
    worst = worst_errors(system.robot, peers.DrakePeer(system.robot, NESTED))
    assert max(worst.values()) < TOLERANCE, worst


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "spherical", "universal"])
def test_drake_reads_what_is_written(kind: str, tmp_path: Path) -> None:
    """M, bias and poses of a written chain whose joint frames are turned on both bodies, with armature."""
    peer = drake()
    T = Pose(rotation((0.0, 1.0, 0.0), 0.4), (0.1, 0.2, 0.3))
    builder = RobotBuilder("chain")
    for name in "abc":
        builder.body(name, 1.0, com=(0.1, 0.0, 0.05), inertia=(0.1, 0.12, 0.15))
    builder.joint("a_root", "free", "world", "a")
    builder.joint("j", kind, "a", "b", placement=T, child_placement=T, **({"pitch": 0.02} if kind == "helical" else {}))
    builder.joint("k", "revolute", "b", "c", placement=T, child_placement=T, armature=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(builder.build(), tmp_path / "chain.sdf")
        robot = examine(tmp_path / "chain.sdf").system.robot
    worst = worst_errors(robot, peer.DrakePeer(robot, tmp_path / "chain.sdf"))
    assert max(worst.values()) < TOLERANCE, worst
