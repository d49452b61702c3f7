"""Reads the <surface> of a collision of SDF, and names what it says that has no effect here.

Friction and the spring and damper of contacts are read as Gazebo has them (`formats.gazebo_surfaces`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinemorph.formats.gazebo_surfaces import ALL_GROUPS, HARD, gazebo_surface
from kinemorph.formats.sdf.values import SdfValues, text_of
from kinemorph.formats.xml_documents import DRAKE, Node
from kinemorph.formats.xml_values import Tally
from kinemorph.model.shapes import HalfSpace, Shape, with_surface

# places in <surface> that affect contacts in Gazebo but not here, and the numbers with which they have no effect there
LEFT_OUT: dict[str, tuple[float, ...]] = {
    "bounce/restitution_coefficient": (0.0,),
    "friction/ode/fdir1": (0.0,),
    "friction/ode/slip1": (0.0,),
    "friction/ode/slip2": (0.0,),
    "friction/bullet/friction": (1.0,),
    "friction/bullet/friction2": (1.0,),
    "friction/bullet/fdir1": (0.0,),
    "friction/bullet/rolling_friction": (0.0, 1.0),
    "friction/torsional/coefficient": (0.0, 1.0),
    "friction/torsional/ode/slip": (0.0,),
    "contact/collide_without_contact": (0.0,),
    "contact/category_bitmask": (65535.0,),
    "contact/poissons_ratio": (0.3,),
    "contact/elastic_modulus": (-1.0,),
    "contact/ode/soft_cfm": (0.0,),
    "contact/ode/soft_erp": (0.2,),
    "contact/ode/max_vel": (0.01,),
    "contact/ode/min_depth": (0.0,),
    "contact/bullet/soft_cfm": (0.0,),
    "contact/bullet/soft_erp": (0.2,),
    "contact/bullet/kp": (1e12,),
    "contact/bullet/kd": (1.0,),
    "soft_contact": (),
}
PROXIMITY = "proximity_properties"


class Surfaces:
    """Reads surfaces; `tally` counts warnings."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def touching(self, collision: Node, shape: Shape, values: SdfValues, element: str) -> Shape:
        """The shape of a <collision> with its <surface>."""
        for node, what in _left_out(collision):
            remedy = "Give a law of contact in Python, or expect another contact than in Gazebo or Drake."
            self.tally.add(values.at(node, element), "dropped", f"{what} in <collision> has no effect", remedy)
        surface = collision.find("surface")
        if surface is None:
            return shape
        ode = surface.find("friction/ode")
        mu = values.value(ode, "mu", element, 1.0) if ode is not None and ode.find("mu") is not None else None
        usual = 1.0 if mu is None else mu
        second = usual if ode is None else values.value(ode, "mu2", element, usual)
        if second != usual:
            problem = f"<mu2> ({second:g}), which differs from <mu> ({usual:g}), has no effect"
            remedy = "Make them equal, or expect another motion than in Gazebo."
            self.tally.add(values.at(ode, element), "dropped", problem, remedy)
        contact = surface.find("contact/ode")
        kp = None if contact is None else values.value(contact, "kp", element, HARD)
        kd = None if contact is None else values.value(contact, "kd", element, 1.0)
        bits = surface.find("contact/collide_bitmask")
        mask = ALL_GROUPS if bits is None else _mask(text_of(bits))
        return with_surface(shape, gazebo_surface(mu, kp, kd, mask=mask, ground=isinstance(shape, HalfSpace)))


def _left_out(collision: Node) -> Iterator[tuple[Node, str]]:
    """The parts of a <collision> that have no effect here, each with its name."""
    for tag in (PROXIMITY, f"drake:{PROXIMITY}", *(f"{{{space}}}{PROXIMITY}" for space in DRAKE)):
        for node in collision.iterchildren(tag):
            yield node, f"<drake:{PROXIMITY}>"
    surface = collision.find("surface")
    for path, idle in LEFT_OUT.items() if surface is not None else ():
        node = surface.find(path)
        if node is not None and any(number not in idle for number in _numbers(text_of(node))):
            yield node, f"<{path}>"


def _numbers(text: str) -> list[float]:
    """The numbers in a text; a word is 1, "false" is 0, and a text without words is one number that is not finite."""
    found = []
    for word in text.split():
        try:
            found.append(float(int(word, 0)) if word.lower().startswith("0x") else float(word))
        except ValueError:
            found.append(0.0 if word.lower() == "false" else 1.0)
    return found or [math.nan]


def _mask(text: str) -> int:
    """The bits of a mask, which may be written as 0xffff; all bits for any other text."""
    try:
        return int(text, 0) & ALL_GROUPS
    except ValueError:
        return ALL_GROUPS
