"""Signs that markers and robot do not belong together: lengths in other units, left and right exchanged, joints that no
marker shows.
"""

from __future__ import annotations

import re

import numpy as np

from kinemorph.analysis.tracking.marker_problem import MarkerProblem
from kinemorph.errors import ShapeError
from kinemorph.words import quoted

APART = 5.0  # ratio of sizes of markers and robot beyond which they are in different units
WEAK = 1e-9  # smallest eigenvalue of the scaled mean normal matrix that counts as seen
PART = 0.1  # least share of a velocity in an unseen motion that is named
UNITS = {1e-3: "mm", 1e-2: "cm", 1e-6: "um", 0.0254: "inches", 1e3: "km"}  # size of a unit [m]
MISFIT = 0.05  # rms distance of markers, relative to the size of their cloud, that is worth a second look
SIDES = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R"))


def check_units(problem: MarkerProblem, model: float) -> None:
    """Raises ShapeError where the cloud of markers is much larger or smaller than that of the robot's points [m]."""
    ratio = problem.size / model if model > 0.0 else 1.0
    if len(problem.frames) < 2 or 1.0 / APART <= ratio <= APART:
        return
    unit = min(UNITS, key=lambda size: abs(np.log(ratio * size)))
    near = 1.0 / APART <= ratio * unit <= APART
    guess = f" They may be in {UNITS[unit]}: load_markers(..., unit='{UNITS[unit]}')." if near else ""
    word, factor = ("larger", ratio) if ratio > 1.0 else ("smaller", 1.0 / ratio)
    raise ShapeError(
        f"track: the markers are about {factor:.3g} times {word} than the robot: they are {problem.size:.3g} m from "
        f"their middle (root mean square), the points of robot '{problem.robot.name}' {model:.3g} m. Expected lengths in "
        f"m.{guess or ' Scale the markers or the robot.'}"
    )


def unseen_velocities(problem: MarkerProblem) -> tuple[str, ...]:
    """Names of velocities of joints whose motion no marker shows, alone or together with other joints."""
    names, reach = problem.robot.v_names, problem.reach
    missing = reach == 0.0
    for coupling in problem.robot.couplings:  # these follow their leaders
        missing[problem.robot.v_slice(coupling.joint)] = False
    seen = np.flatnonzero(reach > 0.0)
    scaled = problem.mean_matrix[np.ix_(seen, seen)] / np.outer(reach[seen], reach[seen])
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


def other_sides(names: tuple[str, ...]) -> dict[str, str]:
    """Marker -> marker of the other side, for names that differ in one word or letter for left and right only."""
    found = {}
    for name in names:
        for a, b in (*SIDES, *((b, a) for a, b in SIDES)):
            bounded = rf"(?<![A-Za-z]){a}(?![a-z]|[A-Z]{{2}})" if len(a) > 1 else rf"(?<![A-Za-z]){a}"
            other = re.sub(bounded, b, name, count=1)
            if other != name and other in names:
                found[name] = other
                break
    return found
