"""An organism of modules: the nine Backbones of Meister and Gutenkunst, Fig. 4 and Table III; alone, or crawling.

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
from kinemorph.model.modules.catalog import PITCH, backbone, known_types
from kinemorph.model.modules.drives import hinge_drives, hinges
from kinemorph.model.modules.grids import grid_assembly
from kinemorph.model.modules.ground_contacts import RUBBER, ground_contacts, put_down
from kinemorph.model.system import Element, Settings, System

ORGANISM9 = """\
B>5 .   .   .
B>4 B>3 .   .
.   B>0 Bv1 B<2
B^7 B>6 .   .
B>8 .   .   .
"""
Gait = Literal["rhythmic", "maps"]

LENGTH = 0.525  # the longest side of the organism [m]

# amplitudes, offsets and phases of hinges 0 to 8 [deg]
SWINGS = (14, 0, 21, 8, 28, 21, 30, 2, 15)
BENDS = (5, -1, -7, 0, 0, 0, 13, 1, -10)
PHASES = (300, 330, 215, 315, 345, 125, 355, 85, 345)
# with maps, an angle is bend + swing (2 x - 1); x alternates between 0.45 and 0.89, or between 0.52 and 0.87
MAP_SWINGS = (45, -16, 30, -36, -8, 34, -60, 6, -29)
MAP_BENDS = (-5, 3, -2, 25, -6, -16, 30, -11, -2)


def organism9(mass: float = 1.0, pitch: float = PITCH, ground: bool = False) -> System:
    """The organism of the MODUROB paper: nine Backbones in three arms on the plane z = 0, with the base module m0.

    `mass` [kg] and `pitch` [m] are those of a module; `ground` adds contacts with the plane z = 0 and puts the organism
    down on it. The system has an assembly, so that modules may dock and undock in a run.
    """
    kind = backbone(mass=mass, pitch=pitch)
    assembly = grid_assembly(ORGANISM9, known_types(kind), name="organism9", base="m0")
    if ground:
        assembly = put_down(assembly)
    return assembly.system(ground_contacts(assembly) if ground else (), Settings(time=1.0))


# ── crawling ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    follows = _crawling_gait(gait, hinges(organism))
    floor = ground_contacts(organism, friction=type(RUBBER)(friction, RUBBER.speed))
    elements = [follows, *hinge_drives(organism, follows), *floor]
    return organism.system(elements, Settings(time=60.0, sample=0.02))


def _crawling_gait(gait: Gait, joints: tuple[str, ...]) -> Element:
    """The gait of the crawler for nine hinges, which starts smoothly from straight hinges within 2 s."""
    if gait == "rhythmic":
        swings, phases, bends = (tuple(np.radians(x)) for x in (SWINGS, PHASES, BENDS))
        return Rhythmic("gait", joints, swings, 0.4, offset=bends, phases=phases, ramp=2.0, initial=0.0)
    swings, bends = (tuple(np.radians(x)) for x in (MAP_SWINGS, MAP_BENDS))
    return CoupledMaps("gait", joints, every=0.5, amplitude=swings, offset=bends, seed=0, ramp=2.0, initial=0.0)
