"""Which joints stop at their limits in a system, and which coordinates begin beyond them."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements import JointLimits
from kinemorph.model.system import System
from kinemorph.words import listed

NAMED = 4  # coordinates that a sentence lists
PASSED = 1e-6  # tolerance of joint limits [m or rad]


def stopped_joints(system: System) -> set[str]:
    """The names of the joints that elements stop at their limits."""
    stops = [element for element in system.elements if isinstance(element, JointLimits)]
    return {name for element in stops for name in law_of(element).acts_on(element, system.robot)}


def begun_beyond(system: System, q: Array) -> str:
    """A clause that names the coordinates that begin beyond limits with stops; empty where none does.

    `q` [m or rad] is an initial configuration, (nq,), or those of many runs, (n, nq).
    """
    places = {name: k for k, name in enumerate(system.robot.q_names)}
    stopped = stopped_joints(system)
    begun = []
    for joint in system.robot.joints if stopped else ():
        if joint.name in stopped:
            for name, low, high in zip(joint.q_names, joint.lower, joint.upper, strict=True):
                values = np.atleast_2d(q)[:, places[name]] if name in places else np.empty(0)
                if np.any((values < low - PASSED) | (values > high + PASSED)):
                    begun.append(name)
    return f"{listed(begun, NAMED)} started beyond the limits, and the stops push back at once" if begun else ""
