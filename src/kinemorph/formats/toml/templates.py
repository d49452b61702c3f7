"""Templates for `kinemorph new`: small model files with comments, which can be simulated at once and then changed.

The files are in `template_files`, one for each kind.
"""

from __future__ import annotations

from importlib.resources import files
from shlex import quote
from typing import NamedTuple

from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean, listed


class Template(NamedTuple):
    """A kind of model file to start from."""

    kind: str
    title: str

    @property
    def text(self) -> str:
        """The file in TOML, in which NAME stands for the name of the robot."""
        return (files(__package__) / "template_files" / f"{self.kind}.toml").read_text(encoding="utf-8")

    def named(self, robot: str) -> str:
        """The file in TOML for a robot with a name. Raises KinemorphError for a name that cannot be written there."""
        return with_name(self.text, robot)


def with_name(text: str, robot: str) -> str:
    """A file in TOML in which NAME is replaced by the name of a robot. Raises KinemorphError for a name that cannot be
    written there.
    """
    if not robot or not robot.isprintable() or any(mark in robot for mark in '"\\'):
        raise KinemorphError(
            f"NAME is {robot!r}; expected printable characters without quotes and backslashes. Write for example arm."
        )
    return text.replace("NAME.toml", quote(f"{robot}.toml")).replace("NAME", robot)


def template(kind: str, option: str = "kind") -> Template:
    """The template of a kind. Raises KinemorphError for an unknown one, which calls the kind `option`."""
    if kind not in TEMPLATES:
        hint = did_you_mean(kind, TEMPLATES)
        raise KinemorphError(f"{option} is '{kind}'; expected one of {listed(TEMPLATES)}.{hint}")
    return TEMPLATES[kind]


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
