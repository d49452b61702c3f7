"""Gaits: references for many joints, which controllers follow.

Like all references, a gait publishes the signals "gait.hip", "gait.hip.velocity" and "gait.hip.acceleration" for every
joint. Numbers are one for all joints or one for each joint; the index i counts the joints from 0, in the order of
`joints`. A gait begins at rest at its offset, and during the first `ramp` seconds its amplitude grows smoothly from 0.
A robot that starts at the offset therefore starts without a jerk. For a robot that starts elsewhere, `initial` gives
the joint positions at which the gait begins instead: one number for all joints or one for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.declared import declared
from kinemorph.model.parameter import Value

MOST_SETTLED = 100_000  # the most steps of coupled maps before a run
SWING, STEP = math.radians(30.0), math.radians(60.0)  # [rad]: default amplitude, default phase step


@dataclass(frozen=True)
class Rhythmic:
    """A sinusoid for each joint: q_i = offset + amplitude sin(2 pi frequency t + phase_i).

    Amplitude and offset are in [rad or m], frequency in [Hz]. phase_i is i phase_step [rad], or given by `phases` [rad]
    for each joint. With a positive phase step the wave travels towards the first joint, with a negative one away from
    it.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = declared((SWING,), "joint coordinate")
    frequency: Numbers = declared((0.5,), "frequency")
    phase_step: Value = declared(STEP, "angle")
    offset: Numbers = declared((0.0,), "joint coordinate")
    phases: Numbers = declared((), "angle")
    ramp: float = declared(1.0, "time", least=0.0)
    initial: Numbers = declared((), "joint coordinate")

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "frequency", "offset", "phases", "initial")


@dataclass(frozen=True)
class Serpenoid:
    """The joint angles of a snake robot whose body moves along Hirose's serpenoid curve:

        q_i = turn + amplitude sin(2 pi frequency t + i phase_step)

    S. Hirose, Biologically Inspired Robots: Snake-like Locomotors and Manipulators, Oxford University Press (1993). The
    direction of the curve is the angle  winding cos(2 pi waves s) + turning s  at the fraction s of its length; `along`
    computes amplitude, phase_step and turn from winding, waves and turning.

    With the layout "one", all joint axes are parallel. With "alternating", joints 0, 2, 4, ... follow one wave (they
    pitch) and joints 1, 3, 5, ... another (they yaw), which is ahead by `shift` [rad]; amplitude and turn [rad] may
    then be two numbers, one for each wave. A shift of 90 deg makes the body roll or wind sideways. The offset at which
    the gait begins is `turn`.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = declared((SWING,), "joint coordinate")
    frequency: Value = declared(0.5, "frequency")
    phase_step: Value = declared(STEP, "angle")
    turn: Numbers = declared((0.0,), "joint coordinate")
    layout: Literal["one", "alternating"] = "one"
    shift: Value = declared(0.5 * math.pi, "angle")
    ramp: float = declared(1.0, "time", least=0.0)
    initial: Numbers = declared((), "joint coordinate")

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "turn", "initial")

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
        """The gait for a serpenoid curve and links of equal length, one more than there are joints.

        `winding`   the largest angle between the body and the direction of motion [rad]
        `waves`     the number of waves along the body
        `turning`   the angle by which the direction changes along the whole body [rad]

            phase_step = 2 pi waves / links,  amplitude = 2 winding sin(phase_step / 2),  turn = turning / links
        """
        if not all(map(math.isfinite, (winding, waves, turning))):
            raise ModelError(
                f"element '{name}': winding is {winding}, waves is {waves}, turning is {turning}; expected finite "
                "numbers. Correct the one that is not finite."
            )
        links = len(joints) + 1
        step = 2.0 * math.pi * waves / links
        amplitude = 2.0 * winding * math.sin(0.5 * step)
        return cls(name, tuple(joints), amplitude, phase_step=step, turn=turning / links, **options)


@dataclass(frozen=True)
class PhaseOscillators:
    """Coupled phase oscillators that synchronize, one for each joint: q_i = b_i + r_i sin phi_i, with the states

        phi_i'  = w_i + coupling sum_j sin(phi_j - phi_i - D_ij)                over the neighbors j of i
        w_i'    = adapt coupling sum_j sin(phi_j - phi_i - D_ij)                starting at 2 pi frequency_i
        r_i''   = rate (rate / 4 (amplitude_i - r_i) - r_i')                    from 0 to amplitude_i
        b_i''   = rate (rate / 4 (offset_i - b_i) - b_i')                       from initial_i to offset_i

    D_ij are the desired phase differences, from the desired phases i phase_step [rad] or `phases` [rad], one for each
    joint. Without `adapt` [1/s], oscillators with different frequencies [Hz] synchronize with an error of the phases,
    and only if `coupling` [rad/s] is strong enough. With `adapt`, the frequencies converge to their mean and the phases
    to the desired ones. `network` says which oscillators are neighbors. `start` are the initial phases [rad], one for
    each joint, by default the desired ones. Without `initial`, b_i is offset_i at all times and not a state. The
    equations are those of A. J. Ijspeert et al., From swimming to walking with a salamander robot driven by a spinal
    cord model, Science 315 (2007), extended by w_i'.
    """

    name: str
    joints: Names = ()
    amplitude: Numbers = declared((SWING,), "joint coordinate")
    frequency: Numbers = declared((0.5,), "frequency")
    phase_step: Value = declared(STEP, "angle")
    offset: Numbers = declared((0.0,), "joint coordinate")
    phases: Numbers = declared((), "angle")
    network: Literal["chain", "ring", "all"] = "chain"
    coupling: Value = declared(4.0, "rate", least=0.0)
    adapt: Value = declared(0.0, "frequency", least=0.0)
    rate: Value = declared(8.0, "frequency", above=0.0)
    start: Numbers = declared((), "angle")
    initial: Numbers = declared((), "joint coordinate")

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "amplitude", "frequency", "offset", "phases", "start", "initial")


@dataclass(frozen=True)
class CoupledMaps:
    """Coupled iterated maps, one for each joint; every `every` seconds all maps make a step:

        x_i(n+1) = (1 - epsilon) f(x_i(n)) + epsilon <f(x_j(n))>,       q_i = offset + amplitude (2 x_i - 1)

    `map`            f(x): "logistic" r x (1 - x), r up to 4; "tent" r min(x, 1 - x), r up to 2; "sine" r sin(pi x), r
                     up to 1; "cubic" r x (1 - x^2), r up to 2.598; for larger r, x would leave the range 0 to 1
    `coupling`       the maps j in the mean < >: "ring" and "chain", the neighbors on both sides (one at the ends of a
                     chain); "global", all maps, map i included (K. Kaneko, Physica D 34 (1989), 41 (1990))
    `interpolation`  of the angles between steps: "half-cosine", with zero velocity at every step and accelerations that
                     jump there; "spline", a cubic spline with continuous accelerations, which may overshoot
    `start`          the initial x, one for each joint; by default random numbers from `seed`
    `settle`         the number of steps before t = 0, so that transients have decayed

    Maps that are chaotic on their own can synchronize in groups and give a periodic gait; which groups depends on the
    initial x. `kinemorph.elements.gait_clusters` computes the groups for many seeds; the seeds are the same as here.
    """

    name: str
    joints: Names = ()
    map: Literal["logistic", "tent", "sine", "cubic"] = "logistic"
    r: Numbers = declared((3.9,), "number")
    coupling: Literal["ring", "chain", "global"] = "global"
    epsilon: Numbers = declared(
        (0.3,),
        "number",
        least=0.0,
        most=1.0,
        give="Give 0 where each map follows its own value, up to 1 where all follow their mean.",
    )
    every: float = declared(0.5, "time", above=0.0)
    amplitude: Numbers = declared((SWING,), "joint coordinate")
    offset: Numbers = declared((0.0,), "joint coordinate")
    interpolation: Literal["half-cosine", "spline"] = "half-cosine"
    seed: int = 0
    start: Numbers = declared((), "number", least=0.0, most=1.0)
    settle: int = declared(5000, least=0, most=MOST_SETTLED)
    ramp: float = declared(1.0, "time", least=0.0)
    initial: Numbers = declared((), "joint coordinate")

    def __post_init__(self) -> None:
        as_names(self, "joints")
        as_numbers(self, "r", "epsilon", "amplitude", "offset", "start", "initial")
