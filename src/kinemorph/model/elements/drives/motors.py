"""Motors: direct-current machines with a gearbox or a screw, on joints with one axis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

from kinemorph.errors import ModelError
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class DCMotor:
    """A direct-current motor that drives a joint. Its input is the voltage u [V]; docs/motors_and_sensors.md has all
    equations.

        L di/dt = u - R i - K_b w       torque on the rotor K_m i       w = n v, the speed of its shaft

    `resistance`        R [ohm], and `inductance` L [H]; without one the current follows the voltage at once
    `torque_constant`   K_m [N m/A]; `back_emf` K_b [V s/rad] is the same number unless it is given
    `inertia`           of the rotor and what turns with it [kg m^2]: n^2 of it is added to the joint's armature
    `ratio`, `lead`     turns of the motor per turn of the joint; on a prismatic joint, per turn of a screw that moves
                        it by `lead` [m] each. n is the ratio, or 2 pi ratio / lead [rad/m]
    `efficiency`        of gearbox and screw together while the motor drives the joint, in (0, 1]
    `back_efficiency`   while the joint drives the motor; 2 - 1/efficiency unless it is given, which is the same
                        friction both ways. Below 0 the transmission locks itself: that needs a `stiffness`
    `viscous`           friction of the shaft [N m s/rad], and `coulomb` [N m]
    `slow`              speed of the shaft [rad/s] below which dry friction is taken as proportional to speed
    `stiffness`         of the transmission at the joint [N m/rad or N/m]; infinite where it is rigid. Otherwise the
                        rotor has a motion of its own, and `damping` [N m s/rad or N s/m] is that of the transmission
    `backlash`          how far the joint moves between its teeth while the rotor rests [rad or m]; needs a `stiffness`
    `voltage_limit`     of the supply [V]
    `current_limit`     [A], kept by the amplifier: it changes the voltage for that, if need be beyond the supply's
    """

    name: str
    joint: str
    resistance: Value = field(metadata={"kind": "resistance"})
    torque_constant: Value = field(metadata={"kind": "motor constant"})
    back_emf: Value | None = field(default=None, metadata={"kind": "motor constant"})
    inductance: Value = field(default=0.0, metadata={"kind": "inductance"})
    inertia: Value = field(default=0.0, metadata={"kind": "inertia"})
    ratio: Value = 1.0
    lead: Value = field(default=0.0, metadata={"kind": "length"})
    efficiency: Value = 1.0
    back_efficiency: Value | None = None
    viscous: Value = field(default=0.0, metadata={"kind": "angular damping"})
    coulomb: Value = field(default=0.0, metadata={"kind": "torque"})
    slow: Value = field(default=0.1, metadata={"kind": "rate"})
    stiffness: Value = math.inf
    damping: Value = 0.0
    backlash: Value = 0.0
    voltage_limit: float = field(default=math.inf, metadata={"kind": "voltage"})
    current_limit: float = field(default=math.inf, metadata={"kind": "current"})

    @classmethod
    def from_nameplate(
        cls,
        name: str,
        joint: str,
        *,
        voltage: float,
        no_load_speed: float,
        stall_torque: float,
        no_load_current: float = 0.0,
        **others: Any,
    ) -> Self:
        """The motor whose shaft, at `voltage` [V], turns with `no_load_speed` [rad/s] and holds `stall_torque` [N m].

        The current without load [A] is what viscous friction takes. `others` are further data; the nameplate's
        voltage is no limit unless `voltage_limit` says so.
        """
        given = {"voltage": voltage, "no_load_speed": no_load_speed, "stall_torque": stall_torque}
        problems = [
            f"motor '{name}': {what} is {value:g}; expected a finite number above 0. Read the nameplate again."
            for what, value in given.items()
            if not 0.0 < value < math.inf
        ]
        if not 0.0 <= no_load_current < math.inf:
            problems.append(
                f"motor '{name}': no_load_current is {no_load_current:g}; expected a finite number of at least 0. "
                "Read the nameplate again."
            )
        if problems:
            raise ModelError(problems)
        # V = R i0 + K w0 and stall = K V / R
        constant = voltage / (no_load_speed + voltage * no_load_current / stall_torque)
        known = {"viscous": constant * no_load_current / no_load_speed, **others}
        return cls(name, joint, constant * voltage / stall_torque, constant, **known)

    @property
    def reduction(self) -> Value:
        """n: speed of the shaft [rad/s] over that of the joint [rad/s or m/s]."""
        return self.ratio if _absent(self.lead) else 2.0 * math.pi * self.ratio / self.lead

    @property
    def has_screw(self) -> bool:
        """Whether it moves a prismatic joint."""
        return not _absent(self.lead)

    @property
    def has_inductance(self) -> bool:
        """Whether its current is a state."""
        return not _absent(self.inductance)

    @property
    def has_backlash(self) -> bool:
        """Whether there is play in its transmission."""
        return not _absent(self.backlash)

    @property
    def is_rigid(self) -> bool:
        """Whether its rotor turns with the joint."""
        return isinstance(self.stiffness, (int, float)) and self.stiffness == math.inf


def _absent(value: Value) -> bool:
    """Zero as it is written; a parameter whose nominal value is zero is there."""
    return isinstance(value, (int, float)) and value == 0.0
