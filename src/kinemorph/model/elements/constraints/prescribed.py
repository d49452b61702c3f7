"""Joints whose motion is given: ideal drives that apply whatever force is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kinemorph.model.elements.constraints.own_constraints import Known, as_known, undeclared, with_known
from kinemorph.model.elements.forces.applied import Law, Table
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class PrescribedMotion:
    """The coordinate [rad or m] of a joint with one axis is a function of time: q = motion(t).

    A number locks the joint there. A text is an expression of t, of parameters and of signals of references, such as
    "0.2 * sin(w * t)" or "gait.hip"; a Table has rows of one; a function takes t. The motion must be twice
    differentiable: where it jumps, the robot would jump too.
    """

    name: str
    joint: str
    motion: Value | str | Table | Law = field(metadata={"kind": "joint coordinate"})
    known: Known = ()

    def __post_init__(self) -> None:
        as_known(self)

    def knowing(self, names: Mapping[str, Value]) -> PrescribedMotion:
        """The element with meanings for the names in its text, where it has none of its own."""
        texts = (self.motion,) if isinstance(self.motion, str) else ()
        return replace(self, known=with_known(texts, self.known, names))

    def brief(self) -> PrescribedMotion:
        """The element without what a model file says in its table of parameters."""
        return replace(self, known=undeclared(self.known))
