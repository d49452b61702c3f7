"""The velocities of the bodies as formulas of the coordinates and their rates."""

from __future__ import annotations

from kinemorph.display.faces.document import Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.body_vectors import BodyVector, body_vectors
from kinemorph.display.reports.subject import Subject

VECTORS = (BodyVector("velocity", "vG", "v_{{G,{}}}"), BodyVector("angular velocity", "omega", r"\omega_{{{}}}"))


def chapter(subject: Subject, words: Words) -> Section | None:
    """The velocities of the centers of mass and the angular velocities, in the axes of the world."""
    told = words(
        "The velocity v of the center of mass G [m/s] and the angular velocity ω [rad/s] of each body are in the axes "
        "of the world. They follow from the position matrices by differentiation."
    )
    blocks = body_vectors(subject, words, VECTORS, told)
    return Section("velocities", words("Velocities"), blocks) if blocks else None
