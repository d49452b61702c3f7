"""Options of the verb `gait`: the gait that a robot follows, and for `gait maps` the coupled maps to study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from kinemorph.cli.application import flag, option
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean, listed


class Kind(StrEnum):
    """The kinds of gaits that --kind chooses from."""

    rhythmic = "rhythmic"
    serpenoid = "serpenoid"
    oscillators = "oscillators"
    maps = "maps"


_WAVES = ("amplitude", "frequency", "phase", "offset")
MAP = ("map", "r", "coupling", "epsilon")
# the options that each kind of gait uses
OWN: dict[Kind, tuple[str, ...]] = {
    Kind.rhythmic: (*_WAVES, "ramp"),
    Kind.serpenoid: (*_WAVES, "alternating", "ramp"),
    Kind.oscillators: (*_WAVES, "network", "adapt"),
    Kind.maps: (*MAP, "amplitude", "offset", "every", "interpolation", "seed", "ramp"),
}


@dataclass(frozen=True)
class GaitOptions:
    """A gait, the joints that follow it, and the gains of the PD controller that makes them follow it."""

    kind: Annotated[Kind | None, option(f"Kind of gait: {', '.join(Kind)}.", "KIND", default="rhythmic")] = None
    joints: Annotated[
        str | None, option("Joints that move, separated by commas.", "NAMES", default="all joints with one axis")
    ] = None
    amplitude: Annotated[str | None, option("Amplitude of the joint angles.", "ANGLE", default="30deg")] = None
    frequency: Annotated[float | None, option("Frequency in Hz.", default="0.5")] = None
    phase: Annotated[
        str | None, option("Phase difference between one joint and the next.", "ANGLE", default="60deg")
    ] = None
    offset: Annotated[str | None, option("Constant angle added to the joint angles.", "ANGLE", default="0")] = None
    ramp: Annotated[
        float | None,
        option("Seconds in which the angles change from the initial configuration to the gait.", default="1"),
    ] = None
    alternating: Annotated[bool, flag("--alternating", "serpenoid: joints pitch and yaw alternately.")] = False
    network: Annotated[str | None, option("oscillators: coupled as chain, ring or all.", default="chain")] = None
    adapt: Annotated[float | None, option("oscillators: learning rate of the frequency in 1/s.", default="0")] = None
    map: Annotated[str | None, option("maps: logistic, tent, sine or cubic.", default="logistic")] = None
    r: Annotated[float | None, option("maps: parameter of the map.", names=("--r",), default="3.9")] = None
    coupling: Annotated[str | None, option("maps: coupled as ring, chain or global.", default="global")] = None
    epsilon: Annotated[float | None, option("maps: strength of the coupling, 0 to 1.", default="0.3")] = None
    every: Annotated[float | None, option("maps: time between steps of the maps in seconds.", default="0.5")] = None
    interpolation: Annotated[
        str | None, option("maps: curve between their steps: half-cosine or spline.", default="half-cosine")
    ] = None
    seed: Annotated[int | None, option("maps: seed of their random initial values.", default="0")] = None
    gains: Annotated[
        str | None, option("Gains of the PD controller.", "KP,KD", default="computed from the inertia")
    ] = None

    def check(self) -> None:
        """Raises KinemorphError for numbers out of range and for unknown words."""
        from kinemorph.mechanics.elements.gaits.map_steps import COUPLINGS, MAPS

        option_values.above_zero(self.frequency, "--frequency", "Hz")
        option_values.above_zero(self.every, "--every", "s")
        words = {"map": tuple(MAPS), "coupling": COUPLINGS, "interpolation": ("half-cosine", "spline")}
        for name, choices in {**words, "network": ("chain", "ring", "all")}.items():
            word = getattr(self, name)
            if word is not None and word not in choices:
                hint = did_you_mean(word, choices)
                raise KinemorphError(f"--{name} is '{word}'; expected one of {listed(choices)}.{hint}")
        for name in ("ramp", "adapt"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < math.inf:
                raise KinemorphError(f"--{name} is {value:g}; expected a finite number of at least 0.")

    def element(self, joints: tuple[str, ...]) -> Any:
        """The element that computes the reference angles of these joints."""
        from kinemorph.model import elements

        kind = self.kind or Kind.rhythmic
        said = given(vars(self), *OWN[kind])
        for name in {"amplitude", "phase", "offset"} & set(said):
            said[name] = option_values.number(said[name], f"--{name}")
        if "phase" in said:
            said["phase_step"] = said.pop("phase")
        if kind is Kind.serpenoid:
            said |= {"layout": "alternating"} if said.pop("alternating") else {}
            said |= {"turn": said.pop("offset")} if "offset" in said else {}
        table: dict[Kind, Any] = {
            Kind.rhythmic: elements.Rhythmic,
            Kind.serpenoid: elements.Serpenoid,
            Kind.oscillators: elements.PhaseOscillators,
            Kind.maps: elements.CoupledMaps,
        }
        return table[kind]("gait", joints, **said)

    def proportional_derivative(self) -> tuple[float | None, float | None]:
        """(kp, kd) of --gains; None for a gain that is not given. Without kd, joints are critically damped."""
        if self.gains is None:
            return None, None
        found = option_values.values(self.gains, "--gains")
        if not isinstance(found, list) or len(found) > 2 or min(found) < 0.0:
            raise KinemorphError(
                f"--gains is '{self.gains}'; expected kp, or kp and kd separated by a comma, both at least 0. "
                "Write for example 300,40."
            )
        return found[0], found[1] if len(found) == 2 else None


@dataclass(frozen=True)
class ClusterOptions:
    """Options of `gait maps`, which counts the clusters (groups that move in step) of coupled maps."""

    count: Annotated[int | None, option("'gait maps': number of maps.", default="6")] = None
    seeds: Annotated[int | None, option("'gait maps': number of random initial values.", default="100")] = None
    steps: Annotated[int | None, option("'gait maps': steps from each initial value.", default="20000")] = None
    picture: Annotated[Path | None, option("'gait maps': draw clusters over r or epsilon.", "PATH")] = None
    over: Annotated[
        str | None, option("'gait maps': parameter on the x axis of the picture, r or epsilon.", default="epsilon")
    ] = None

    def __post_init__(self) -> None:
        if self.over is not None and self.picture is None:
            raise KinemorphError(f"--over is '{self.over}', but there is no --picture to draw. Give --picture as well.")


def given(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The entries of `values` with these names, without those that are None."""
    return {name: values[name] for name in names if values[name] is not None}
