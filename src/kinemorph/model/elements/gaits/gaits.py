"""Gaits: rhythms for many joints at once, as references that controllers follow.

Each publishes "gait.hip", "gait.hip.velocity" and "gait.hip.acceleration" for every joint, as all references do.
Numbers are one for all joints or one each; joints count from 0, in the order of `joints`. `ramp` [s] lets a gait grow
smoothly out of 0, so that a robot which rests at q = 0 begins without a jerk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.parameter import Value

TIME, ANGLE = ({"kind": kind} for kind in ("time", "angle"))
SWING, STEP = math.radians(30.0), math.radians(60.0)  # [rad], of a joint, and from joint to joint


@dataclass(frozen=True)
class Rhythmic:
    """Sinusoids with a phase of their own: q_i = offset + amplitude sin(2 pi frequency t + phase_i).

    Amplitude and offset [rad or m], frequency [Hz]. phase_i = i phase_step [rad], or what `phases` say, one each. With
    a positive step the wave runs towards the first joint, with a negative one away from it.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = (SWING,)
    frequency: Numbers = (0.5,)
    phase_step: Value = field(default=STEP, metadata=ANGLE)
    offset: Numbers = (0.0,)
    phases: Numbers = ()
    ramp: float = field(default=1.0, metadata=TIME)

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "frequency", "offset", "phases")


@dataclass(frozen=True)
class Serpenoid:
    """The bends of a body that lies along Hirose's serpenoid curve, and glides along it:

        q_i = turn + amplitude sin(2 pi frequency t + i phase_step)

    S. Hirose, Biologically Inspired Robots: Snake-like Locomotors and Manipulators, Oxford University Press (1993). His
    curve has the direction winding cos(2 pi waves s) + turning s at the part s of its length; a chain of links along
    it has these bends, with the numbers that `along` works out.

    `layout` "one": all joints bend one way. "alternating": joints 0, 2, 4, ... belong to one wave (they pitch), joints
    1, 3, 5, ... to another (they yaw), which is ahead by `shift` [rad]; amplitude and turn [rad] may then be two
    numbers, one for each wave. A shift of 90 deg lets the body roll or wind sideways.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = (SWING,)
    frequency: Value = 0.5
    phase_step: Value = field(default=STEP, metadata=ANGLE)
    turn: Numbers = (0.0,)
    layout: Literal["one", "alternating"] = "one"
    shift: Value = field(default=0.5 * math.pi, metadata=ANGLE)
    ramp: float = field(default=1.0, metadata=TIME)

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "turn")

    @classmethod
    def along(
        cls,
        name: str,
        joints: Sequence[str],
        *,
        winding: float = math.radians(45.0),
        waves: float = 1.0,
        turning: float = 0.0,
        **options: Any,
    ) -> Serpenoid:
        """Of the curve: its largest angle to the way ahead [rad], waves along the body, and by how much the whole body
        turns [rad]. For links of equal length, one more than there are joints:

            phase_step = 2 pi waves / links,  amplitude = 2 winding sin(phase_step / 2),  turn = turning / links
        """
        if not all(map(math.isfinite, (winding, waves, turning))):
            raise ModelError(
                f"element '{name}': winding, waves and turning are {winding}, {waves}, {turning}; expected finite "
                "numbers. Mend them."
            )
        links = len(joints) + 1
        step = 2.0 * math.pi * waves / links
        amplitude = 2.0 * winding * math.sin(0.5 * step)
        return cls(name, tuple(joints), amplitude, phase_step=step, turn=turning / links, **options)


@dataclass(frozen=True)
class PhaseOscillators:
    """Oscillators that find each other's rhythm, one for each joint: q_i = b_i + r_i sin phi_i, with the states

        phi_i'  = w_i + coupling sum_j sin(phi_j - phi_i - D_ij)                over the neighbors j of i
        w_i'    = adapt coupling sum_j sin(phi_j - phi_i - D_ij)                which begins at 2 pi frequency_i
        r_i''   = rate (rate / 4 (amplitude_i - r_i) - r_i'),  b_i likewise     towards amplitude and offset, from 0

    D_ij are the differences of the phases that are wanted: i phase_step [rad], or `phases`, one each. Without `adapt`
    [1/s] unlike frequencies [Hz] lock with an error in the phases, and only where `coupling` [rad/s] is strong enough
    for them. With it every oscillator learns: all come to the mean frequency, and the phases to those wanted.
    `network`: which oscillators are neighbors. `start`: phases at the beginning [rad], one each; else those wanted.
    The form is that of A. J. Ijspeert et al., From swimming to walking with a salamander robot driven by a spinal cord
    model, Science 315 (2007), with the learning of frequencies beside it.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = (SWING,)
    frequency: Numbers = (0.5,)
    phase_step: Value = field(default=STEP, metadata=ANGLE)
    offset: Numbers = (0.0,)
    phases: Numbers = ()
    network: Literal["chain", "ring", "all"] = "chain"
    coupling: Value = 4.0
    adapt: Value = 0.0
    rate: Value = 8.0
    start: Numbers = ()

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "frequency", "offset", "phases", "start")


@dataclass(frozen=True)
class CoupledMaps:
    """A map for each joint, coupled to others; every T = `every` [s] all of them take a step:

        x_i(n+1) = (1 - epsilon) f(x_i(n)) + epsilon <f(x_j(n))>,       q_i = offset + amplitude (2 x_i - 1)

    `map`            "logistic" r x (1 - x), r to 4; "tent" r min(x, 1 - x), r to 2; "sine" r sin(pi x), r to 1;
                     "cubic" r x (1 - x^2), r to 2.598; beyond that x would leave 0 to 1
    `coupling`       the maps in the mean: "ring" and "chain" the neighbors on both sides, of which the ends of a chain
                     have one; "global" all maps, the map itself included (K. Kaneko, Physica D 34 (1989), 41 (1990))
    `interpolation`  "half-cosine": at rest at every step, with accelerations that jump there; "spline": a cubic spline
                     through the angles with continuous accelerations, which may swing beyond them
    `start`          x at the beginning, one each; else random numbers of `seed`
    `settle`         steps that are made before t = 0, so that the gait is there from the beginning

    Maps that are chaotic alone fall into groups in step with each other, a periodic gait; which of them depends on the
    start: `kinemorph.elements.gait_clusters` tells it of many seeds, the same as those here.
    """

    name: str
    joints: Names = ()
    map: Literal["logistic", "tent", "sine", "cubic"] = "logistic"
    r: Numbers = (3.9,)
    coupling: Literal["ring", "chain", "global"] = "global"
    epsilon: Numbers = (0.3,)
    every: float = field(default=0.5, metadata=TIME)
    amplitude: Numbers = (SWING,)
    offset: Numbers = (0.0,)
    interpolation: Literal["half-cosine", "spline"] = "half-cosine"
    seed: int = 0
    start: Numbers = ()
    settle: int = 5000
    ramp: float = field(default=1.0, metadata=TIME)

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "r", "epsilon", "amplitude", "offset", "start")
