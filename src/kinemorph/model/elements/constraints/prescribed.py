"""Joints with a prescribed motion, as by ideal drives that apply the force that the motion needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kinemorph.model.elements.constraints.own_constraints import Known, as_known, undeclared, with_known
from kinemorph.model.elements.declared import declaration
from kinemorph.model.elements.forces.applied import Law, Table
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class PrescribedMotion:
    """The coordinate [rad or m] of a joint with one axis is a function of time: q = motion(t).

    `motion` is a number, at which the joint is locked; a text, which is an expression of t [s], parameters and signals
    of references, such as "0.2 * sin(w * t)" or "gait.hip"; a Table with one column; or a function of t. The motion has
    to be twice differentiable. `known` gives the values of other names in a text.
    """

    name: str
    joint: str
    motion: Value | str | Table | Law = field(metadata=declaration("joint coordinate"))
    known: Known = ()

    def __post_init__(self) -> None:
        as_known(self)

    def knowing(self, names: Mapping[str, Value]) -> PrescribedMotion:
        """The element, with the values from `names` added to `known` for further names that its text contains."""
        texts = (self.motion,) if isinstance(self.motion, str) else ()
        return replace(self, known=with_known(texts, self.known, names))

    def brief(self) -> PrescribedMotion:
        """The element as it is written to a model file: `known` without the parameters that the file declares.

        The file has these in its table [parameters].
        """
        return replace(self, known=undeclared(self.known))
