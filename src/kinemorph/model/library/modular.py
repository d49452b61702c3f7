"""An organism of modules: the nine Backbones of Meister and Gutenkunst, Fig. 4 and Table III."""

from __future__ import annotations

from kinemorph.model.modules.catalog import PITCH, backbone, known_types
from kinemorph.model.modules.grids import grid_assembly
from kinemorph.model.modules.ground_contacts import ground_contacts, put_down
from kinemorph.model.system import Settings, System

ORGANISM9 = """\
B>5 .   .   .
B>4 B>3 .   .
.   B>0 Bv1 B<2
B^7 B>6 .   .
B>8 .   .   .
"""


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
