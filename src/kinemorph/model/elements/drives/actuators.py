"""Actuators: ideal drives on joints, tendons and frames, as in MJCF or URDF, without a model of a motor."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Literal, TypeAlias

from kinemorph.frozen import dataclass
from kinemorph.model.elements.declared import declaration, declared

Three: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Lag:
    """The number w that drives an actuator follows its input u with a delay: dw/dt = (u - w) / time.

    `lower` and `upper` limit w, which is a state of the actuator; it begins at 0, or at the nearest limit.
    """

    time: float = field(metadata=declaration("time", above=0.0))
    lower: float = declared(-math.inf, unit="{drive}")
    upper: float = declared(math.inf, unit="{drive}")


@dataclass(frozen=True)
class Integrating:
    """The number w that drives an actuator is the integral of its input u: dw/dt = u.

    `lower` and `upper` limit w, which is a state of the actuator; it begins at 0, or at the nearest limit.
    """

    lower: float = declared(-math.inf, unit="{drive}")
    upper: float = declared(math.inf, unit="{drive}")


@dataclass(frozen=True)
class Actuator:
    """A drive with a stroke s and the force or torque f along it, so that its power is f ds/dt.

    It acts on one of these, with `gear` as follows:

        joint       a joint with one axis: s is gear times its coordinate, and its effort is gear f. For a spherical
                    joint gear has three numbers: its torque is gear f, and s is gear . (rotation vector of the joint)
        tendon      an element `Tendon`: s is gear times its length, and the effort on each of its joints is
                    coefficient gear f
        frame       a body or frame: gear has six numbers, and f gear is a force [N] at its origin and a moment [N m];
                    s is 0, and ds/dt is the velocity along gear. With a second body or frame, its `reference`, the
                    opposite acts on that one, and s is gear . (position, rotation vector) of the frame, seen from it

    `axes` are the axes of gear: "own" are those of the frame, or of the child of a spherical joint; "parent" are those
    of the world, or of the parent of a spherical joint. With a `reference` they are the axes of the reference.

    `control` is the kind of its input u. The number w is u, or follows from u by its `activation`:

        effort      f = w
        position    f = gain (w - s) - damping ds/dt
        velocity    f = gain (w - ds/dt)
        affine      f = (gains[0] + gains[1] s + gains[2] ds/dt) w + bias[0] + bias[1] s + bias[2] ds/dt

    `lower` and `upper` limit the input u. `effort` limits f [N or N m]: one number for both directions, or a pair
    (lower, upper). `inertia` [kg m^2] is the rotor inertia, only for information: the equations of motion use the
    armature of the joint. The force f is a column of a run: run["motor.force"].
    """

    name: str
    joint: str = ""
    gear: float | tuple[float, ...] = declared(1.0, unit="{gear}")
    control: Literal["effort", "position", "velocity", "affine"] = "effort"
    gain: float = declared(0.0, unit="{effort}/{drive}")
    damping: float = declared(0.0, "joint damping")
    lower: float = declared(-math.inf, unit="{in}")
    upper: float = declared(math.inf, unit="{in}")
    effort: float | tuple[float, float] = declared(math.inf, "joint effort")
    inertia: float = declared(0.0, "joint inertia")
    tendon: str = ""
    frame: str = ""
    reference: str = ""
    axes: Literal["own", "parent"] = "own"
    gains: Three = declared((1.0, 0.0, 0.0), unit="{gains}")
    bias: Three = declared((0.0, 0.0, 0.0), unit="{bias}")
    activation: Lag | Integrating | None = None

    def __post_init__(self) -> None:
        for name in ("gear", "effort", "gains", "bias"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def efforts(self) -> tuple[float, float]:
        """The smallest and the largest force or torque f [N or N m]."""
        return self.effort if isinstance(self.effort, tuple) else (-self.effort, self.effort)
