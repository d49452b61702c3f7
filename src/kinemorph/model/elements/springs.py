"""Springs and dampers between two points."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Spring:
    """A spring between two points: it pulls with  stiffness (length - rest) + damping d(length)/dt  [N].

    `point_a` [m] is fixed to `body_a`, in its axes, and `point_b` to `body_b`; "world" is the ground. Any body or frame
    may be named.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata={"kind": "stiffness"})
    rest: Value = field(default=0.0, metadata={"kind": "length"})
    damping: Value = field(default=0.0, metadata={"kind": "damping"})
    point_a: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    point_b: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
