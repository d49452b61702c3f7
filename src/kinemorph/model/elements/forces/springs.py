"""Springs and dampers between two points: they act along the line that joins them."""

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


@dataclass(frozen=True)
class Damper:
    """A damper between two points: it pulls with  damping d(length)/dt  [N]."""

    name: str
    body_a: str
    body_b: str
    damping: Value = field(metadata={"kind": "damping"})
    point_a: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    point_b: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})


@dataclass(frozen=True)
class Rope:
    """A rope between two points: slack up to the length `rest`, a spring with a damper beyond, and it never pushes.

    With the stretch  s = length - rest > 0  it pulls with  max(0, stiffness s + damping r ds/dt)  [N]. The damper comes
    in over the first `onset` of stretch, r = min(s / onset, 1), so that a rope that snaps taut pulls without a jump.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata={"kind": "stiffness"})
    rest: Value = field(metadata={"kind": "length"})
    damping: Value = field(default=0.0, metadata={"kind": "damping"})
    onset: Value = field(default=0.001, metadata={"kind": "length"})
    point_a: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    point_b: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})


@dataclass(frozen=True)
class Bumper:
    """A bumper between two points: nothing beyond the length `rest`, a spring with a damper below, and it never pulls.

    It is the mirror image of a rope, with the compression  s = rest - length.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata={"kind": "stiffness"})
    rest: Value = field(metadata={"kind": "length"})
    damping: Value = field(default=0.0, metadata={"kind": "damping"})
    onset: Value = field(default=0.001, metadata={"kind": "length"})
    point_a: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    point_b: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
