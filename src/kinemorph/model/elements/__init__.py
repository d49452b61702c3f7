"""The data of elements, which act on a robot or measure it. Their laws are in mechanics.elements, in files of the same
names.

An element is a frozen dataclass of plain values with a `name`. `ELEMENT_KINDS` maps the names of elements in model
files ("dc motor") to classes. A class is imported when it is first used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

from kinemorph.words import did_you_mean

FILES: dict[str, tuple[str, ...]] = {
    "drives.actuators": ("Actuator",),
    "drives.tendons": ("Tendon",),
    "forces.applied": ("AppliedWrench", "AppliedEffort", "Gravity", "CentralGravity", "WeightSupport"),
    "forces.bushings": ("Bushing",),
    "forces.fluids": ("Fluid",),
    "constraints.own_constraints": ("Constraint", "VelocityConstraint"),
    "contact.contacts": ("Contact",),
    "control.c_functions": ("CController",),
    "control.controllers": ("PD", "PID"),
    "control.fuzzy_rules": ("FuzzyRules",),
    "control.functions": ("Continuous", "PythonController", "Sampled"),
    "gaits.gaits": ("CoupledMaps", "PhaseOscillators", "Rhythmic", "Serpenoid"),
    "gaits.pantograph_gait": ("PantographGait",),
    "gaits.torque_splines": ("TorqueSpline",),
    "gaits.virtual_constraints": ("VirtualConstraints",),
    "constraints.guides": ("DistanceConstraint", "PointOnCurve", "PointOnLine", "PointOnPlane", "PointOnSurface"),
    "forces.joint_forces": ("TorsionSpring", "JointFriction", "JointLimits"),
    "forces.legs": ("SpringLeg",),
    "forces.pulls": ("Pull",),
    "control.model_based": ("ComputedTorque", "GravityCompensation"),
    "drives.motors": ("DCMotor",),
    "contact.pair_contacts": ("PairContact",),
    "constraints.prescribed": ("PrescribedMotion",),
    "phases.holds": ("Hold",),
    "control.state_feedback": ("StateFeedback",),
    "control.references": ("FourierSeries", "MinimumJerk", "Profile", "Setpoint", "Sinusoid", "SplinePath"),
    "constraints.rolling": ("KnifeEdge", "RollingDisc", "RollingSphere"),
    "sensing.integrals": ("Integral",),
    "sensing.sensors": ("ContactSwitch", "Encoder", "ForceTorqueSensor", "IMU", "MassCenter", "Meter", "Probe"),
    "forces.springs": ("Spring", "Damper", "Rope", "Bumper"),
    "forces.tires": ("Tire",),
}  # the elements that each file defines
FUNCTIONS = {"Continuous", "Profile", "PythonController", "Sampled"}  # contain functions, which a model file cannot
PARTS: dict[str, tuple[str, ...]] = {
    "drives.actuators": ("Lag", "Integrating"),
    "forces.applied": ("Table",),
    "forces.fluids": ("DragBox", "DragEllipsoid"),
    "contact.contact_laws": (
        *("EasyDynNormal", "HuntCrossley", "ImpedanceNormal", "Rigid"),
        *("Regularized", "Anchor", "Coulomb"),
    ),
    "contact.contacts_from_shapes": ("contacts",),
    "control.state_feedback": ("Observer",),
    "contact.impact_laws": ("Plastic", "Newton", "Poisson", "Energetic"),
    "contact.grounds": ("Plane", "HeightMap", "HeightFunction"),
    "phases.automaton": ("Automaton", "Phase", "Edge"),
    "forces.joint_forces": ("with_joint_forces",),
}  # further public names: parts of elements, and functions

__all__ = ["ELEMENT_KINDS", *(name for table in (FILES, PARTS) for names in table.values() for name in names)]


def __getattr__(name: str) -> Any:
    """The public name of this folder, imported when it is first used (PEP 562)."""
    for file, names in (*FILES.items(), *PARTS.items()):
        if name in names:
            return getattr(import_module(f"{__name__}.{file}"), name)
    known = [name for names in FILES.values() for name in names]
    raise AttributeError(f"there is no element '{name}'.{did_you_mean(name, known)} Known are {', '.join(known)}.")


def __dir__() -> list[str]:
    return sorted(__all__)


def kind_of(name: str) -> str:
    """The name of a class in model files: "spring leg" for "SpringLeg", "dc motor" for "DCMotor"."""
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()


class KindTable(MutableMapping[str, type[Any]]):
    """The classes of elements by their names in model files; a built-in class is imported when it is first used."""

    def __init__(self) -> None:
        named = [name for names in FILES.values() for name in names if name not in FUNCTIONS]
        self._kinds: dict[str, str | type[Any]] = {kind_of(name): name for name in named}

    def __getitem__(self, kind: str) -> type[Any]:
        found = self._kinds[kind]
        if isinstance(found, str):
            found = self._kinds[kind] = __getattr__(found)
        return found

    def __setitem__(self, kind: str, element: type[Any]) -> None:
        self._kinds[kind] = element

    def __delitem__(self, kind: str) -> None:
        del self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


ELEMENT_KINDS = KindTable()
