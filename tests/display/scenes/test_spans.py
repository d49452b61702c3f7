"""Marks lie between their points: a look carried by scale, turn and position reaches from the start to the end."""

import numpy as np

from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Mark
from kinemorph.display.scenes.spans import Spans, turns_toward

GRAY = (0.5, 0.5, 0.5, 1.0)
RNG = np.random.default_rng(3)


def bodies(count: int) -> tuple[np.ndarray, np.ndarray]:
    turns = RNG.normal(size=(count, 4))
    return RNG.normal(size=(count, 3)), turns / np.linalg.norm(turns, axis=1, keepdims=True)


def test_a_span_reaches_from_start_to_end() -> None:
    positions, quaternions = bodies(2)
    marks = [
        Mark("spring", "spring", GRAY, 0.1, Attachment(0, (0.1, 0.2, 0.3)), Attachment(1, (-0.2, 0.0, 0.1))),
        Mark("rope", "rope", GRAY, 0.2, Attachment(1, (0.0, 0.0, 0.0)), Attachment(WORLD_OWNER, (1.0, 2.0, 3.0))),
    ]
    start = positions + rotated(quaternions, np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]))
    start[1] = positions[1]
    end = np.array([positions[1] + rotated(quaternions[1], np.array([-0.2, 0.0, 0.1])), [1.0, 2.0, 3.0]])
    placed = Spans(marks).placed(positions, quaternions)
    top = placed.positions + rotated(placed.quaternions, placed.scales * [0.0, 0.0, 1.0])
    np.testing.assert_allclose(placed.positions, start, atol=1e-12)
    np.testing.assert_allclose(top, end, atol=1e-12)
    np.testing.assert_allclose(placed.scales[:, 0], [0.1, 0.2])


def test_arrows_follow_their_vectors_and_shifts_between_frames() -> None:
    positions, quaternions = bodies(1)
    vectors = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.0]])
    shifts = np.array([[0.5, 0.0, 0.0], [0.7, 0.0, 0.0], [0.7, 0.0, 0.0]])
    marks = [
        Mark("push", "arrow", GRAY, 0.1, Attachment(0, (0.0, 0.0, 0.0)), vectors=vectors, layer="forces"),
        Mark("pull", "arrow", GRAY, 0.1, Attachment(0, (0.0, 0.0, 0.0)), vectors=vectors, shifts=shifts),
    ]
    spans = Spans(marks)
    start, end = spans.ends(positions, quaternions, 0, 0.25)
    np.testing.assert_allclose(end - start, [[0.0, 0.5, 1.0]] * 2, atol=1e-12)
    np.testing.assert_allclose(start[1] - start[0], [0.55, 0.0, 0.0], atol=1e-12)
    assert not spans.placed(positions, quaternions, 2).scales.any()  # no force, no arrow


def test_a_ball_is_round_and_at_its_end() -> None:
    positions, quaternions = bodies(1)
    ball = Mark("ball", "ball", GRAY, 0.3, Attachment(0, (1.0, 0.0, 0.0)), Attachment(WORLD_OWNER, (0.0, 4.0, 0.0)))
    placed = Spans([ball]).placed(positions, quaternions)
    np.testing.assert_allclose(placed.positions, [[0.0, 4.0, 0.0]])
    np.testing.assert_allclose(placed.scales, [[0.3, 0.3, 0.3]])


def test_turns_carry_z_anywhere() -> None:
    directions = RNG.normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.concatenate([directions, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1e-9, -1.0]]])
    turns = turns_toward(directions)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0)
    z = np.broadcast_to([0.0, 0.0, 1.0], directions.shape)
    np.testing.assert_allclose(rotated(turns, z), directions, atol=1e-8)
