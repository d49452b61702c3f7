"""MJCF files of other packages: poses, M, bias and accelerations are MuJoCo's, to the digits that doubles have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.peers import mjcf_written
from support.peers.mjcf_peers import CLOSE, Peer, compared, peers, tally

pytest.importorskip("mujoco")
SCENES = os.environ.get("KINEMORPH_MJCF_SCENES", "")  # a folder of folders with scene*.xml, which are not part of this
NAMES = [
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "inverted_double_pendulum",
    "pusher",
    "reacher",
    "swimmer",
    "walker2d",
    "point",
    "model",
]
FEW = [peer for peer in peers("gymnasium", "mujoco") if peer.path.stem in NAMES]
SPATIAL = {
    "gymnasium_robotics/envs/multiagent_mujoco/assets/coupled_half_cheetah.xml",
    "mujoco/testdata/model.xml",
}  # their spatial tendons do not act
# what may keep a file from being compared; joints, armature, damping and equality never do
REASONS = {
    "not a model: a part to be included",
    "not an MJCF file",
    "a scene or a part without any body",
    "names a file that is not there",
    "MuJoCo itself refuses it",
}


@pytest.mark.parametrize(
    "peer", [*FEW[::2], *(pytest.param(peer, marks=pytest.mark.slow) for peer in FEW[1::2])], ids=lambda peer: peer.name
)
def test_a_dozen_models_move_as_in_mujoco(peer: Peer) -> None:
    row = compared(peer)
    assert not row.reason
    assert len(row.errors) == 4
    assert max(row.errors) < CLOSE, row
    assert row.acts is not None and (row.acts < CLOSE or peer.name in SPATIAL), row


@pytest.mark.slow
def test_all_models_of_the_peers_move_as_in_mujoco() -> None:
    pytest.importorskip("dm_control")
    pytest.importorskip("gymnasium_robotics")
    good, refused, kinds, whole, worst = tally([compared(peer) for peer in peers()])
    assert set(kinds) <= REASONS, [row for row in refused if row.kind not in REASONS]
    assert all(row.reason for row in refused)
    assert len(good) >= 0.9 * whole
    assert sum(row.nv > 0 for row in good) > 75
    assert max(worst) < CLOSE
    assert {row.name for row in good if row.nv and row.acts is not None and row.acts >= CLOSE} == SPATIAL


@pytest.mark.slow
@pytest.mark.skipif(not SCENES, reason="KINEMORPH_MJCF_SCENES names no folder")
def test_scenes_that_are_written_again_move_as_before_but_for_what_is_told() -> None:
    rows = [mjcf_written.compared(path) for path in mjcf_written.scenes(Path(SCENES))]
    verdicts = [row.verdict for row in rows]
    assert "different" not in verdicts, [row for row in rows if row.verdict == "different"]
    assert verdicts.count("equal") >= 0.85 * len(rows) and len(rows) >= 30
