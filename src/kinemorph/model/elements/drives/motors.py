"""Direct-current motors with a gearbox or a screw, for joints with one axis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

from kinemorph.errors import ModelError
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value

LOSSLESS = "Give 1 where nothing is lost."


@dataclass(frozen=True)
class DCMotor:
    """A direct-current motor that drives a joint; its input is the voltage u [V]. With the current i [A],

        L di/dt = u - R i - K_b w,      torque on the rotor K_m i,      shaft speed w = n v

    docs/motors_and_sensors.md has all equations.

    `resistance`        R [ohm], and `inductance` L [H]; without L the current follows the voltage without delay
    `torque_constant`   K_m [N m/A]
    `back_emf`          K_b [V s/rad], by default the same number as K_m
    `inertia`           of the rotor and of the parts on its shaft [kg m^2]; n^2 of it is added to the joint's armature
    `ratio`, `lead`     turns of the motor per turn of the joint, n = ratio; for a prismatic joint, turns of the motor
                        per turn of a screw that moves the joint by `lead` [m] per turn, n = 2 pi ratio / lead [rad/m]
    `efficiency`        of gearbox and screw together while the motor drives the joint, in (0, 1]
    `back_efficiency`   while the joint drives the motor; by default 2 - 1/efficiency, which is the same friction in
                        both directions. Below 0 the transmission is self-locking, which needs a `stiffness`
    `viscous`           viscous friction of the shaft [N m s/rad], and `coulomb` dry friction [N m]
    `slow`              shaft speed [rad/s] below which dry friction is proportional to the speed
    `stiffness`         of the transmission, at the joint [N m/rad or N/m]; infinite for a rigid transmission. If it is
                        finite, the rotor has its own state, and `damping` [N m s/rad or N s/m] acts in the transmission
    `backlash`          the distance that the joint can move while the rotor is at rest [rad or m]; needs a `stiffness`
    `voltage_limit`     of the supply [V]
    `current_limit`     of the amplifier [A], which changes the voltage to keep it, if necessary beyond `voltage_limit`
    """

    name: str
    joint: str
    resistance: Value = field(metadata=declaration("resistance", above=0.0))
    torque_constant: Value = field(metadata=declaration("motor constant", above=0.0))
    back_emf: Value | None = declared(None, "motor constant", above=0.0)
    inductance: Value = declared(0.0, "inductance", least=0.0)
    inertia: Value = declared(0.0, "inertia", least=0.0)
    ratio: Value = declared(1.0, "number")
    lead: Value = declared(0.0, "length", least=0.0)
    efficiency: Value = declared(1.0, "number", above=0.0, most=1.0, give=LOSSLESS)
    back_efficiency: Value | None = declared(None, "number", most=1.0, give=LOSSLESS)
    viscous: Value = declared(0.0, "angular damping", least=0.0)
    coulomb: Value = declared(0.0, "torque", least=0.0)
    slow: Value = declared(0.1, "rate", above=0.0)
    stiffness: Value = declared(math.inf, "joint stiffness", above=0.0)
    damping: Value = declared(0.0, "joint damping", least=0.0)
    backlash: Value = declared(0.0, "joint coordinate", least=0.0)
    voltage_limit: float = declared(math.inf, "voltage", above=0.0)
    current_limit: float = declared(math.inf, "current", above=0.0)

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
        """The motor with this no-load speed [rad/s], stall torque [N m] and no-load current [A] at `voltage` [V].

        The no-load current balances viscous friction. `others` are further fields of the motor; `voltage` is not a
        limit unless `voltage_limit` is given too.
        """
        given = {"voltage": voltage, "no_load_speed": no_load_speed, "stall_torque": stall_torque}
        _check_nameplate(name, given, no_load_current)
        # V = R i0 + K w0 and stall = K V / R
        constant = voltage / (no_load_speed + voltage * no_load_current / stall_torque)
        known = {"viscous": constant * no_load_current / no_load_speed, **others}
        return cls(name, joint, constant * voltage / stall_torque, constant, **known)

    @classmethod
    def from_servo(
        cls,
        name: str,
        joint: str,
        *,
        voltage: float,
        no_load_speed: float,
        stall_torque: float,
        stall_current: float,
        ratio: float,
        **others: Any,
    ) -> Self:
        """The motor of a servo whose data sheet gives the values at `voltage` [V] behind its gearbox, of this `ratio`.

        `no_load_speed` [rad/s] and `stall_torque` [N m] are those of its horn, `stall_current` [A] that of its motor.
        The efficiency of the gearbox is the stall torque divided by the torque of the motor times the ratio; friction
        without load is left out. The limits of voltage and current are those of the data sheet unless `others`, which
        are further fields of the motor, give them.
        """
        given = {"voltage": voltage, "no_load_speed": no_load_speed, "stall_torque": stall_torque}
        given |= {"stall_current": stall_current, "ratio": ratio}
        _check_nameplate(name, given)
        constant = voltage / (no_load_speed * ratio)  # N m/A, and V s/rad
        efficiency = stall_torque / (constant * stall_current * ratio)
        if efficiency > 1.0:
            raise ModelError(
                f"motor '{name}': stall_torque is {stall_torque:g} N m, but the motor gives at most "
                f"{stall_torque / efficiency:.4g} N m by its speed and current; expected no more. Check the nameplate."
            )
        known = {"voltage_limit": voltage, "current_limit": stall_current, "efficiency": efficiency, **others}
        return cls(name, joint, voltage / stall_current, constant, ratio=ratio, **known)

    @property
    def reduction(self) -> Value:
        """The reduction n: speed of the shaft [rad/s] divided by the velocity of the joint [rad/s or m/s]."""
        return self.ratio if _absent(self.lead) else 2.0 * math.pi * self.ratio / self.lead

    @property
    def has_screw(self) -> bool:
        """Whether the motor drives a prismatic joint by a screw."""
        return not _absent(self.lead)

    @property
    def has_inductance(self) -> bool:
        """Whether the motor has an inductance, so that its current is a state."""
        return not _absent(self.inductance)

    @property
    def has_backlash(self) -> bool:
        """Whether the transmission has backlash."""
        return not _absent(self.backlash)

    @property
    def is_rigid(self) -> bool:
        """Whether the transmission is rigid, so that the rotor has no state of its own."""
        return isinstance(self.stiffness, (int, float)) and self.stiffness == math.inf


def _absent(value: Value) -> bool:
    """Whether a value is the plain number 0; a parameter with the nominal value 0 is not."""
    return isinstance(value, (int, float)) and value == 0.0


def _check_nameplate(name: str, given: dict[str, float], no_load_current: float = 0.0) -> None:
    """Raises ModelError with one problem for each value that is not a finite number above 0, or of at least 0."""
    problems = [
        f"motor '{name}': {what} is {value:g}; expected a finite number above 0. Check it on the nameplate."
        for what, value in given.items()
        if not 0.0 < value < math.inf
    ]
    if not 0.0 <= no_load_current < math.inf:
        problems.append(
            f"motor '{name}': no_load_current is {no_load_current:g}; expected a finite number of at least 0. "
            "Check it on the nameplate."
        )
    if problems:
        raise ModelError(problems)
