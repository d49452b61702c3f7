"""The accelerations of the bodies as formulas of the coordinates and their first and second rates."""

from __future__ import annotations

from kinemorph.display.faces.document import Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.body_vectors import BodyVector, body_vectors
from kinemorph.display.reports.subject import Subject

VECTORS = (
    BodyVector("acceleration", "aG", "a_{{G,{}}}"),
    BodyVector("angular acceleration", "omegad", r"\dot{{\omega}}_{{{}}}"),
)


def chapter(subject: Subject, words: Words) -> Section | None:
    """The accelerations of the centers of mass and the angular accelerations, in the axes of the world."""
    told = words(
        "The acceleration a of the center of mass G [m/s²] and the angular acceleration [rad/s²] of each body are in "
        "the axes of the world. Gravity is not part of them."
    )
    blocks = body_vectors(subject, words, VECTORS, told)
    return Section("accelerations", words("Accelerations"), blocks) if blocks else None
