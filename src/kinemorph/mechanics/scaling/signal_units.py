"""The units of signals and targets of a system, and of what the numbers of its elements belong to.

The numbers of many elements have units that depend on the robot: a gain of a PD is in N m/rad or in N/m. The metadata
of such a field has a `unit` with words in braces, "{out}/{in}", for which `words_of` gives one unit per channel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.control.functions import names_of_outputs
from kinemorph.mechanics.elements.control.references import PathLaw
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.forces.joint_forces import JointForceLaw
from kinemorph.model.elements.constraints.guides import PointOnSurface
from kinemorph.model.elements.constraints.own_constraints import Constraint
from kinemorph.model.elements.control.functions import OwnFunction
from kinemorph.model.elements.control.fuzzy_rules import FuzzyRules
from kinemorph.model.elements.control.wiring import below, channel_names, driven, measured
from kinemorph.model.elements.drives.actuators import Actuator, Integrating
from kinemorph.model.elements.drives.tendons import Tendon
from kinemorph.model.elements.forces.joint_forces import JointFriction, JointLimits, TorsionSpring
from kinemorph.model.elements.gaits.torque_splines import TorqueSpline
from kinemorph.model.elements.gaits.virtual_constraints import VirtualConstraints
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.elements.sensing.sensors import ContactSwitch, MassCenter, Meter, Probe

FORCES = {"rad": "N m", "m": "N", "": ""}  # unit of a coordinate -> unit of the effort along it


class SignalUnits:
    """The units of the signals of a system, by name."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        robot = ensemble.robot
        of_q = [*robot.q_units, *(unit for joint in robot.driven for unit in joint.motion.q_units)]
        of_v = [*robot.v_units, *(unit for joint in robot.driven for unit in joint.motion.v_units)]
        self.coordinates = dict(zip(robot.all_q_names, of_q, strict=True))
        self.velocities = dict(zip(robot.all_v_names, of_v, strict=True))

    def unit(self, signal: str) -> str:
        """The unit of a signal, empty if it is a number; raises ModelError if nothing states the unit."""
        group, _, name = signal.partition(".")
        if signal == "t":
            return "s"
        if group == "q" and name in self.coordinates:
            return self.coordinates[name]
        if group == "v" and name in self.velocities:
            return self.velocities[name]
        index, slot = self.ensemble.signals[signal]
        element = self.ensemble.members[index].element
        if isinstance(element, (Constraint, PointOnSurface)):
            raise ModelError(
                f"element '{element.name}': its signal '{signal}' is a force whose unit is not known, so that elements "
                "that read it cannot be scaled. Remove them from the system, and scale it without them."
            )
        return slot.unit or self._rate(signal)

    def _rate(self, signal: str) -> str:
        """The unit of the rates of a reference whose positions are numbers; empty for any other signal."""
        path, _, word = signal.rpartition(".")
        timed = isinstance(self.ensemble.members[self.ensemble.signals[signal][0]].law, PathLaw)
        return {"velocity": "1/s", "acceleration": "1/s^2"}.get(word, "") if timed and path else ""

    def target(self, name: str) -> str:
        """The unit of what drives a joint, a velocity or an input of an element."""
        for element, law, *_ in self.ensemble.members:
            slots = law.inputs(element)
            for slot in slots:
                if name == f"{element.name}.{slot.name}" or (name == element.name and len(slots) == 1):
                    return self.command(element) if isinstance(element, Actuator) else slot.unit
        known = [name] if name in self.velocities else self.ensemble.robot.joint(name).motion_names("v")
        return FORCES[self.velocities[known[0]].removesuffix("/s")]

    def command(self, actuator: Actuator) -> str:
        """The unit of the input of an actuator."""
        return self._actuator(actuator)["in"][0]

    def stroke(self, actuator: Actuator) -> str:
        """The unit of the stroke of an actuator."""
        if actuator.tendon:
            tendons = {one.element.name: one.element for one in self.ensemble.members}
            return self._tendon(tendons[actuator.tendon])["length"][0]
        if isinstance(actuator.gear, tuple):
            return "m" if len(actuator.gear) == 6 and any(actuator.gear[:3]) else "rad"
        return self.joint(actuator.joint)

    def _actuator(self, actuator: Actuator) -> dict[str, list[str]]:
        """The units of the words in the fields of an actuator."""
        stroke = self.stroke(actuator)
        effort = FORCES[stroke]
        drive = {"effort": effort, "position": stroke, "velocity": f"{stroke}/s"}.get(actuator.control, "")
        bias = [effort, f"({effort})/({stroke})", f"({effort}) s/({stroke})"]
        return {
            "in": [f"({drive or 1})/s" if isinstance(actuator.activation, Integrating) else drive],
            "drive": [drive],
            "effort": [effort],
            "gear": ["", "", "", "m", "m", "m"] if stroke == "m" and isinstance(actuator.gear, tuple) else [""],
            "gains": [f"({unit})/({drive or 1})" for unit in bias],
            "bias": bias,
        }

    def _tendon(self, tendon: Tendon) -> dict[str, list[str]]:
        """The units of the words in the fields of a tendon: lengths if a joint slides, else angles."""
        length = "m" if any(self.joint(name) == "m" for name in tendon.joints) else "rad"
        return {"length": [length], "tension": [FORCES[length]], "joint": [length], **_curves(tendon, length)}

    def joint(self, name: str) -> str:
        """The unit of the coordinate of a joint with one axis, or of one coordinate of a joint by its full name."""
        known = [name] if name in self.coordinates else self.ensemble.robot.joint(name).motion_names("q")
        return self.coordinates[known[0]]

    def measured(self, element: Any) -> list[str]:
        """The unit of what each channel of a controller reads."""
        return [self.unit(self.ensemble.source(name)) for name in measured(element)]

    def driven(self, element: Any) -> list[str]:
        """The unit of what each channel of a controller drives; of its signals, if it drives nothing."""
        targets = driven(element)
        if targets:
            return [self.target(name) for name in targets]
        return [self.unit(below(element.name, name).rstrip(".")) for name in channel_names(element)]

    # ── elements ──────────────────────────────────────────────────────────────────────────────────────────────────

    def joints(self, element: Any) -> list[str]:
        """The units of the coordinates of an element's joints, which its `joint coordinate` fields belong to."""
        if isinstance(element, (JointFriction, JointLimits)):
            law = next(one.law for one in self.ensemble.members if one.element is element)
            assert isinstance(law, JointForceLaw)
            names = [self.ensemble.robot.all_v_names[k] for k in law.velocities(element, self.ensemble.robot)]
            found = {self.velocities[name].removesuffix("/s") for name in names}
            return [unit for unit in ("rad", "m") if unit in found] or ["rad"]
        if isinstance(element, Actuator):
            return [self.stroke(element)]
        if getattr(element, "joint", ""):
            return [self.joint(element.joint)]
        if getattr(element, "joints", ()):
            return [self.joint(name) for name in element.joints]
        return [self.unit(element.name)] if element.name in self.ensemble.signals else [""]

    def words(self, element: Any) -> dict[str, list[str]]:
        """The units of the words in braces that the fields of an element use, one for each channel."""
        if isinstance(element, Integral):
            signals = [self._power(self.unit(self.ensemble.source(name)), element.of) for name in element.signals]
            return {"own": [element.unit], "signal": signals}
        if isinstance(element, (ContactSwitch, Meter)):
            return {"signal": [self.unit(self.ensemble.source(element.signal))]}
        if isinstance(element, (Probe, MassCenter)):
            return {"own": [self.unit(self._signals(element)[0])]}
        if isinstance(element, Actuator):
            return self._actuator(element)
        if isinstance(element, Tendon):
            return self._tendon(element)
        if isinstance(element, TorsionSpring):
            return _curves(element, self.joint(element.joint))
        if isinstance(element, OwnFunction):
            return {"out": self.outputs(element)}
        if isinstance(element, TorqueSpline):
            return {"out": self.driven(element)}
        if not any(hasattr(element, name) for name in ("kp", "reference", "drives")):
            return {}
        words = {"in": self.measured(element), "out": self.driven(element)}
        if isinstance(element, VirtualConstraints):
            words["signal"] = [self.joint(name) for name in element.phase]
            pairs = zip(words["out"], words["in"], strict=True)
            linear = element.control == "linearization"
            words["gain"] = ["1/s^2"] if linear else [f"({out or 1})/({into or 1})" for out, into in pairs]
        if isinstance(element, FuzzyRules):
            words["input"] = [*(self._fuzzy_input(name, words["in"][0]) for name in element.inputs), ""]
        return words

    def outputs(self, element: Any) -> list[str]:
        """The units of the outputs of a user function."""
        return [self.unit(below(element.name, name).rstrip(".")) for name in names_of_outputs(element)]

    def _fuzzy_input(self, name: str, error: str) -> str:
        own = {"error": error, "integral": f"({error or 1}) s", "rate": f"({error or 1})/s"}
        return own[name] if name in own else self.unit(self.ensemble.source(name))

    @staticmethod
    def _power(unit: str, of: str) -> str:
        return f"({unit})^2" if of == "square" and unit else unit

    def _signals(self, element: Any) -> list[str]:
        owned: Iterable[tuple[str, Any]] = self.ensemble.signals.items()
        return [name for name, (index, _) in owned if self.ensemble.members[index].element is element]


def _curves(element: Tendon | TorsionSpring, unit: str) -> dict[str, list[str]]:
    """The units of coefficients of higher order of a spring along a coordinate with this unit, and of its damper."""
    force = FORCES[unit]
    return {
        "curve": [f"({force})/({unit})^{n}" for n in range(2, 2 + len(element.curve))] or [""],
        "damping_curve": [f"({force})/({unit}/s)^{n}" for n in range(2, 2 + len(element.damping_curve))] or [""],
    }
