"""Packed scenes of robots that are only poses, as a page gets them, and how far the page's bodies are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.display.cameras import Camera
from kinemorph.display.looks.poses import Poses, extent_of
from kinemorph.display.replays.packing import pack
from kinemorph.display.scenes.figures import stacked_poses
from kinemorph.display.scenes.scene import Figure, Scene
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot


def bare(robot: Robot, q: np.ndarray, **more: Any) -> Figure:
    """A figure without parts: it is only the poses that matter."""
    poses = Poses(robot, q)
    positions, quaternions = stacked_poses(robot, poses)
    masses = np.array([float(evaluate(body.mass)) for body in robot.bodies])
    centers = np.array([evaluate_all(body.com) for body in robot.bodies], dtype=float)
    size = extent_of(robot, poses)
    return Figure(robot.name, robot, np.atleast_2d(q), positions, quaternions, (), masses, centers, size, **more)


def smooth(robot: Robot, n: int, seed: int = 0) -> np.ndarray:
    """Coordinates (n, nq) of a motion over 2 s; quaternions are off their length, and turns go round several times."""
    rng = np.random.default_rng(seed)
    rate, phase, drift = rng.normal(size=(3, robot.nq))
    t = np.linspace(0.0, 2.0, n)[:, None]
    return np.sin(2.0 * rate * t + phase) + 0.5 + 4.0 * drift * t * (np.array(robot.q_units) == "rad")


def scene(figures: Sequence[Figure], times: np.ndarray, **more: Any) -> Scene:
    return Scene("test", times, tuple(figures), np.array([[-1.0] * 3, [1.0] * 3]), **more)


def packed(figures: Sequence[Figure], times: np.ndarray, **more: Any) -> str:
    return pack(scene(figures, times, **more), Camera())


def off(figure: Figure, found: dict[str, Any], p: np.ndarray, Q: np.ndarray) -> float:
    """How far bodies are off at most: in rad, and in m as a part of the figure's size."""
    positions, turns = np.array(found["positions"]).reshape(p.shape), np.array(found["quaternions"]).reshape(Q.shape)
    near = np.minimum(1.0, np.abs((turns * Q).sum(axis=-1)))
    sides = np.linalg.norm(turns - np.sign((turns * Q).sum(axis=-1))[..., None] * Q, axis=-1)
    assert near.min() > 0.999
    return max(float(np.abs(positions - p).max()) / figure.size, 2.0 * float(sides.max()))


ALL = """async (text) => {
  const scene = await km.unpack(text);
  return scene.figures.map(f => ({positions: [...f.positions], quaternions: [...f.quaternions]}));
}"""
