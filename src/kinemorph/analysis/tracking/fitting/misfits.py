"""Signs that markers and robot do not belong together, which show when they are fitted: left and right exchanged, and
joints that no marker shows. Mistakes that show before that are found by `marker_checks`.
"""

from __future__ import annotations

import re

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.fitting.marker_problem import MarkerProblem
from kinemorph.words import quoted

WEAK = 1e-9  # smallest eigenvalue of the scaled mean normal matrix that counts as seen
PART = 0.1  # least share of a velocity in an unseen motion that is named
MISFIT = 0.02  # rms distance of markers, relative to the size of their cloud, that is worth a second look
FAR = 0.3  # median distance of markers, relative to the size of their cloud, at which robot and recording hardly agree
SIDES = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R"))


def unseen_velocities(problem: MarkerProblem) -> tuple[str, ...]:
    """Names of velocities of joints whose motion no marker shows, alone or together with other joints."""
    names, reach = problem.robot.v_names, problem.model.reach
    missing = reach == 0.0
    for coupling in problem.robot.couplings:  # these follow their leaders
        missing[problem.robot.v_slice(coupling.joint)] = False
    seen = np.flatnonzero(reach > 0.0)
    scaled = problem.model.mean_matrix[np.ix_(seen, seen)] / np.outer(reach[seen], reach[seen])
    values, vectors = np.linalg.eigh(scaled)
    weak = np.abs(vectors[:, values < WEAK]).max(axis=1, initial=0.0) > PART
    missing[seen[weak]] = True
    return tuple(name for name, gone in zip(names, missing, strict=True) if gone)


def unseen_note(problem: MarkerProblem, unseen: tuple[str, ...]) -> str:
    """A sentence on joints that no marker shows."""
    return (
        f"no marker of the recording shows the motion of {quoted(unseen)} alone: they keep their first values where "
        "nothing else determines them, and their intervals are infinite. Add a marker beyond these joints, off their "
        "axes, or lock them."
    )


def far_note(problem: MarkerProblem, distances: Array) -> list[str]:
    """A sentence if most markers are far from the robot for the size of their cloud; else none.

    `distances` are those of the markers that are seen [m].
    """
    half = float(np.median(distances))
    if half < FAR * problem.size:
        return []
    return [
        f"half of the positions are {half:.3g} m or more from the robot, and the markers are {problem.size:.3g} m from "
        "their own middle: robot and recording hardly agree. Check the axes and the origin of the recording, the "
        "attachments, and whether the base of the robot is free."
    ]


def other_sides(names: tuple[str, ...]) -> dict[str, str]:
    """Marker -> marker of the other side, for names that differ only in the words or letters for left and right.

    One of them may differ, "left_foot_right_corner" and "right_foot_right_corner", or all, "left_hip~left_hip_x".
    """
    found = {}
    for name in names:
        for a, b in (*SIDES, *((b, a) for a, b in SIDES)):
            bounded = rf"(?<![A-Za-z]){a}(?![a-z]|[A-Z]{{2}})" if len(a) > 1 else rf"(?<![A-Za-z]){a}"
            others = [re.sub(bounded, b, name, count=count) for count in (1, 0)]
            pair = next((other for other in others if other != name and other in names), None)
            if pair is not None:
                found[name] = pair
                break
    return found
