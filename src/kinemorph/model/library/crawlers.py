"""An organism of modules that crawls: nine Backbones on the ground, as in Meister and Gutenkunst, with a gait.

The paper gives no numbers for its gaits. Those here were found by trying a few hundred random gaits, with amplitudes,
offsets and phases as parameters of one program (`simulate_batch`), and then improving the best ones by small changes. A
gait was accepted if it travels far in 60 s, and equally far with half the step size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from kinemorph.errors import ModelError
from kinemorph.model.elements.gaits.gaits import CoupledMaps, Rhythmic
from kinemorph.model.library.modular import organism9
from kinemorph.model.modules.drives import hinge_drives, hinges
from kinemorph.model.modules.ground_contacts import RUBBER, ground_contacts, put_down
from kinemorph.model.system import Element, Settings, System

Gait = Literal["rhythmic", "maps"]

LENGTH = 0.525  # the longest side of the organism [m]

# amplitudes, offsets and phases of hinges 0 to 8 [deg]
SWINGS = (14, 0, 21, 8, 28, 21, 30, 2, 15)
BENDS = (5, -1, -7, 0, 0, 0, 13, 1, -10)
PHASES = (300, 330, 215, 315, 345, 125, 355, 85, 345)
# with maps, an angle is bend + swing (2 x - 1); x alternates between 0.45 and 0.89, or between 0.52 and 0.87
MAP_SWINGS = (45, -16, 30, -36, -8, 34, -60, 6, -29)
MAP_BENDS = (-5, 3, -2, 25, -6, -16, 30, -11, -2)


def crawler(gait: Gait = "rhythmic", *, friction: float = 0.6) -> System:
    """The organism of nine Backbones crawling on the ground; its hinges follow a gait with torques of at most 7 N m.

    `gait`      "rhythmic": sinusoids at 0.4 Hz; "maps": nine coupled logistic maps, each chaotic on its own, which
                synchronize in two groups that move in opposite directions, with a step every 0.5 s
    `friction`  the friction coefficient between module corners and the ground
    """
    if gait not in get_args(Gait):
        raise ModelError(f"crawler: gait is {gait!r}, expected 'rhythmic' or 'maps'.")
    if not friction > 0.0:
        raise ModelError(
            f"crawler: friction is {friction:g}, expected a number above 0: without friction it cannot crawl."
        )
    organism = organism9().assembly
    assert organism is not None
    organism = put_down(replace(organism, name="crawler"))
    follows = crawling_gait(gait, hinges(organism))
    floor = ground_contacts(organism, friction=type(RUBBER)(friction, RUBBER.speed))
    elements = [follows, *hinge_drives(organism, follows), *floor]
    return organism.system(elements, Settings(time=60.0, sample=0.02))


def crawling_gait(gait: Gait, joints: tuple[str, ...]) -> Element:
    """The gait of the crawler for nine hinges, which starts smoothly from straight hinges within 2 s."""
    if gait == "rhythmic":
        swings, phases, bends = (tuple(np.radians(x)) for x in (SWINGS, PHASES, BENDS))
        return Rhythmic("gait", joints, swings, 0.4, offset=bends, phases=phases, ramp=2.0, initial=0.0)
    swings, bends = (tuple(np.radians(x)) for x in (MAP_SWINGS, MAP_BENDS))
    return CoupledMaps("gait", joints, every=0.5, amplitude=swings, offset=bends, seed=0, ramp=2.0, initial=0.0)
