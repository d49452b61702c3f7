"""The keys and flags of a CAGeM file, and what each of them means here."""

from __future__ import annotations

from typing import NamedTuple

INERTIA = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")  # [kg m^2] entries of the tensor about the center of mass
COUNTS = ("nbrbody", "nbrdof", "nbrdep")
TIMES = ("FinalTime", "StepSave", "StepMax")  # [s]
DEPENDENT = "p"
# keys with an index, and what it counts
INDEXED = {
    "gravity": "axis",
    "mass": "body",
    **dict.fromkeys(INERTIA, "body"),
    "T0G": "body",
    "TrefG": "body",
    "BodyRef": "body",
    DEPENDENT: "dependent",
    "qi": "coordinate",
    "qdi": "coordinate",
}


class Flag(NamedTuple):
    """A flag that asks CAGeM for a further output or run: what that is, and how to get it here."""

    what: str
    instead: str


FLAGS = {
    "PLOT": Flag("plots of coordinates, velocities and accelerations", "Use kinemorph simulate --plot."),
    "ANIM": Flag("an animation with a box for each body", "Use kinemorph simulate --html, --gif or --mp4."),
    "STATIC": Flag("the static equilibrium", "Use kinemorph analyze FILE equilibrium, and start runs there."),
    "POLE": Flag("the poles of the linearized equations", "Use kinemorph analyze FILE poles."),
    "TEST": Flag("a test of the motion", "Use kinemorph verify."),
    "LATEX_FR": Flag("a report in French", "Use kinemorph report --language fr --to latex."),
    "LATEX_EN": Flag("a report in English", "Use kinemorph report --to latex."),
}
RESERVED = ("q", "qd", "qdd", "t", "PI")  # names that a file may use, but not assign
PLAIN = ("title", *COUNTS, *TIMES, *FLAGS)
