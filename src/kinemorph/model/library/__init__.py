"""Ready-made robots, one line each: `build("scara")`, or the function itself, which takes the robot's data.

textbook   pendulum, double_pendulum, crane, chain: named parameters, motion in the x-z plane
arms       scara, puma
legged     hexapod24, hexapod36, humanoid
linkages   four_bar
"""

from __future__ import annotations

from collections.abc import Callable

from kinemorph.errors import ModelError
from kinemorph.model.library.arms import puma, scara
from kinemorph.model.library.legged import hexapod24, hexapod36, humanoid
from kinemorph.model.library.linkages import four_bar
from kinemorph.model.library.textbook import chain, crane, double_pendulum, pendulum
from kinemorph.model.robot import Robot

LIBRARY: dict[str, Callable[..., Robot]] = {
    "pendulum": pendulum,
    "double_pendulum": double_pendulum,
    "crane": crane,
    "chain": chain,
    "scara": scara,
    "puma": puma,
    "hexapod24": hexapod24,
    "hexapod36": hexapod36,
    "humanoid": humanoid,
    "four_bar": four_bar,
}


def build(name: str) -> Robot:
    """A robot of the library by name, with its default data."""
    if name not in LIBRARY:
        raise ModelError(f"there is no robot '{name}' in the library; expected one of: {', '.join(LIBRARY)}.")
    return LIBRARY[name]()


__all__ = ["LIBRARY", "build", *LIBRARY]
