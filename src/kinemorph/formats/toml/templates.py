"""Templates for `kinemorph new`: small model files with comments, which can be simulated at once and then changed.

The files are in `template_files`, one for each kind.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class Template(NamedTuple):
    """A kind of model file to start from."""

    kind: str
    title: str

    @property
    def text(self) -> str:
        """The file in TOML, in which NAME stands for the name of the robot."""
        return (files(__package__) / "template_files" / f"{self.kind}.toml").read_text(encoding="utf-8")


TEMPLATES: dict[str, Template] = {
    kind: Template(kind, title)
    for kind, title in (
        ("arm", "a two-link arm"),
        ("biped", "two legs that take small steps"),
        ("cart", "a cart with a pole"),
        ("four_bar", "a linkage with a closed loop"),
        ("gripper", "two fingers that lift a ball"),
        ("organism", "modules that dock"),
        ("quadruped", "four legs that trot"),
        ("tumbler", "a body that flips in free space"),
        ("wheeled", "two driven wheels and a caster"),
    )
}
