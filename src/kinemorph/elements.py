"""Elements, which act on a robot or measure it: springs, contacts, motors, controllers, sensors, gaits, user laws.

from kinemorph.elements import Contact, HuntCrossley, Spring
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # the elements
    "Actuator": "kinemorph.model.elements.drives.actuators",
    "Tendon": "kinemorph.model.elements.drives.tendons",
    "AppliedWrench": "kinemorph.model.elements.forces.applied",
    "AppliedEffort": "kinemorph.model.elements.forces.applied",
    "Gravity": "kinemorph.model.elements.forces.applied",
    "CentralGravity": "kinemorph.model.elements.forces.applied",
    "WeightSupport": "kinemorph.model.elements.forces.applied",
    "Bushing": "kinemorph.model.elements.forces.bushings",
    "Fluid": "kinemorph.model.elements.forces.fluids",
    "Constraint": "kinemorph.model.elements.constraints.own_constraints",
    "VelocityConstraint": "kinemorph.model.elements.constraints.own_constraints",
    "Contact": "kinemorph.model.elements.contact.contacts",
    "CController": "kinemorph.model.elements.control.c_functions",
    "PD": "kinemorph.model.elements.control.controllers",
    "PID": "kinemorph.model.elements.control.controllers",
    "FuzzyRules": "kinemorph.model.elements.control.fuzzy_rules",
    "Continuous": "kinemorph.model.elements.control.functions",
    "PythonController": "kinemorph.model.elements.control.functions",
    "Sampled": "kinemorph.model.elements.control.functions",
    "CoupledMaps": "kinemorph.model.elements.gaits.gaits",
    "PhaseOscillators": "kinemorph.model.elements.gaits.gaits",
    "Rhythmic": "kinemorph.model.elements.gaits.gaits",
    "PantographGait": "kinemorph.model.elements.gaits.pantograph_gait",
    "Serpenoid": "kinemorph.model.elements.gaits.gaits",
    "TorqueSpline": "kinemorph.model.elements.gaits.torque_splines",
    "VirtualConstraints": "kinemorph.model.elements.gaits.virtual_constraints",
    "DistanceConstraint": "kinemorph.model.elements.constraints.guides",
    "PointOnCurve": "kinemorph.model.elements.constraints.guides",
    "PointOnLine": "kinemorph.model.elements.constraints.guides",
    "PointOnPlane": "kinemorph.model.elements.constraints.guides",
    "PointOnSurface": "kinemorph.model.elements.constraints.guides",
    "TorsionSpring": "kinemorph.model.elements.forces.joint_forces",
    "JointFriction": "kinemorph.model.elements.forces.joint_forces",
    "JointLimits": "kinemorph.model.elements.forces.joint_forces",
    "Pull": "kinemorph.model.elements.forces.pulls",
    "SpringLeg": "kinemorph.model.elements.forces.legs",
    "ComputedTorque": "kinemorph.model.elements.control.model_based",
    "GravityCompensation": "kinemorph.model.elements.control.model_based",
    "StateFeedback": "kinemorph.model.elements.control.state_feedback",
    "DCMotor": "kinemorph.model.elements.drives.motors",
    "PairContact": "kinemorph.model.elements.contact.pair_contacts",
    "PrescribedMotion": "kinemorph.model.elements.constraints.prescribed",
    "Hold": "kinemorph.model.elements.phases.holds",
    "FourierSeries": "kinemorph.model.elements.control.references",
    "MinimumJerk": "kinemorph.model.elements.control.references",
    "Profile": "kinemorph.model.elements.control.references",
    "Setpoint": "kinemorph.model.elements.control.references",
    "Sinusoid": "kinemorph.model.elements.control.references",
    "SplinePath": "kinemorph.model.elements.control.references",
    "KnifeEdge": "kinemorph.model.elements.constraints.rolling",
    "RollingDisc": "kinemorph.model.elements.constraints.rolling",
    "RollingSphere": "kinemorph.model.elements.constraints.rolling",
    "ContactSwitch": "kinemorph.model.elements.sensing.sensors",
    "Integral": "kinemorph.model.elements.sensing.integrals",
    "Encoder": "kinemorph.model.elements.sensing.sensors",
    "ForceTorqueSensor": "kinemorph.model.elements.sensing.sensors",
    "IMU": "kinemorph.model.elements.sensing.sensors",
    "MassCenter": "kinemorph.model.elements.sensing.sensors",
    "Meter": "kinemorph.model.elements.sensing.sensors",
    "Probe": "kinemorph.model.elements.sensing.sensors",
    "Spring": "kinemorph.model.elements.forces.springs",
    "Damper": "kinemorph.model.elements.forces.springs",
    "Rope": "kinemorph.model.elements.forces.springs",
    "Bumper": "kinemorph.model.elements.forces.springs",
    "Tire": "kinemorph.model.elements.forces.tires",
    # their parts
    "Observer": "kinemorph.model.elements.control.state_feedback",
    "Lag": "kinemorph.model.elements.drives.actuators",
    "Integrating": "kinemorph.model.elements.drives.actuators",
    "DragBox": "kinemorph.model.elements.forces.fluids",
    "DragEllipsoid": "kinemorph.model.elements.forces.fluids",
    "Table": "kinemorph.model.elements.forces.applied",
    "EasyDynNormal": "kinemorph.model.elements.contact.contact_laws",
    "Plastic": "kinemorph.model.elements.contact.impact_laws",
    "Newton": "kinemorph.model.elements.contact.impact_laws",
    "Poisson": "kinemorph.model.elements.contact.impact_laws",
    "Energetic": "kinemorph.model.elements.contact.impact_laws",
    "HuntCrossley": "kinemorph.model.elements.contact.contact_laws",
    "ImpedanceNormal": "kinemorph.model.elements.contact.contact_laws",
    "Regularized": "kinemorph.model.elements.contact.contact_laws",
    "Rigid": "kinemorph.model.elements.contact.contact_laws",
    "Coulomb": "kinemorph.model.elements.contact.contact_laws",
    "Anchor": "kinemorph.model.elements.contact.contact_laws",
    "Automaton": "kinemorph.model.elements.phases.automaton",
    "Phase": "kinemorph.model.elements.phases.automaton",
    "Edge": "kinemorph.model.elements.phases.automaton",
    "Plane": "kinemorph.model.elements.contact.grounds",
    "HeightMap": "kinemorph.model.elements.contact.grounds",
    "HeightFunction": "kinemorph.model.elements.contact.grounds",
    "contacts": "kinemorph.model.elements.contact.contacts_from_shapes",
    "with_joint_forces": "kinemorph.model.elements.forces.joint_forces",
    "ImpedanceStop": "kinemorph.model.joint",
    # laws of your own
    "ElementLaw": "kinemorph.mechanics.elements.law",
    "Effort": "kinemorph.mechanics.elements.law",
    "register": "kinemorph.mechanics.elements.law",
    "ELEMENT_KINDS": "kinemorph.model.elements",
    # rotors and gaits
    "robot_with_rotors": "kinemorph.mechanics.elements.drives.rotors",
    "with_rotor_body": "kinemorph.model.changes.rotor_body",
    "with_gait": "kinemorph.analysis.with_gait",
    "train_rules": "kinemorph.analysis.trained_rules",
    "gait_clusters": "kinemorph.analysis.gait_clusters",
    "plot_clusters": "kinemorph.display.charts.plot_clusters",
    "draw_phases": "kinemorph.display.charts.draw_phases",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.gait_clusters import gait_clusters as gait_clusters
    from kinemorph.analysis.trained_rules import train_rules as train_rules
    from kinemorph.analysis.with_gait import with_gait as with_gait
    from kinemorph.display.charts.draw_phases import draw_phases as draw_phases
    from kinemorph.display.charts.plot_clusters import plot_clusters as plot_clusters
    from kinemorph.mechanics.elements.drives.rotors import robot_with_rotors as robot_with_rotors
    from kinemorph.mechanics.elements.law import Effort as Effort
    from kinemorph.mechanics.elements.law import ElementLaw as ElementLaw
    from kinemorph.mechanics.elements.law import register as register
    from kinemorph.model.changes.rotor_body import with_rotor_body as with_rotor_body
    from kinemorph.model.elements import ELEMENT_KINDS as ELEMENT_KINDS
    from kinemorph.model.elements.constraints.guides import DistanceConstraint as DistanceConstraint
    from kinemorph.model.elements.constraints.guides import PointOnCurve as PointOnCurve
    from kinemorph.model.elements.constraints.guides import PointOnLine as PointOnLine
    from kinemorph.model.elements.constraints.guides import PointOnPlane as PointOnPlane
    from kinemorph.model.elements.constraints.guides import PointOnSurface as PointOnSurface
    from kinemorph.model.elements.constraints.own_constraints import Constraint as Constraint
    from kinemorph.model.elements.constraints.own_constraints import VelocityConstraint as VelocityConstraint
    from kinemorph.model.elements.constraints.prescribed import PrescribedMotion as PrescribedMotion
    from kinemorph.model.elements.constraints.rolling import KnifeEdge as KnifeEdge
    from kinemorph.model.elements.constraints.rolling import RollingDisc as RollingDisc
    from kinemorph.model.elements.constraints.rolling import RollingSphere as RollingSphere
    from kinemorph.model.elements.contact.contact_laws import Anchor as Anchor
    from kinemorph.model.elements.contact.contact_laws import Coulomb as Coulomb
    from kinemorph.model.elements.contact.contact_laws import EasyDynNormal as EasyDynNormal
    from kinemorph.model.elements.contact.contact_laws import HuntCrossley as HuntCrossley
    from kinemorph.model.elements.contact.contact_laws import ImpedanceNormal as ImpedanceNormal
    from kinemorph.model.elements.contact.contact_laws import Regularized as Regularized
    from kinemorph.model.elements.contact.contact_laws import Rigid as Rigid
    from kinemorph.model.elements.contact.contacts import Contact as Contact
    from kinemorph.model.elements.contact.contacts_from_shapes import contacts as contacts
    from kinemorph.model.elements.contact.grounds import HeightFunction as HeightFunction
    from kinemorph.model.elements.contact.grounds import HeightMap as HeightMap
    from kinemorph.model.elements.contact.grounds import Plane as Plane
    from kinemorph.model.elements.contact.impact_laws import Energetic as Energetic
    from kinemorph.model.elements.contact.impact_laws import Newton as Newton
    from kinemorph.model.elements.contact.impact_laws import Plastic as Plastic
    from kinemorph.model.elements.contact.impact_laws import Poisson as Poisson
    from kinemorph.model.elements.contact.pair_contacts import PairContact as PairContact
    from kinemorph.model.elements.control.c_functions import CController as CController
    from kinemorph.model.elements.control.controllers import PD as PD
    from kinemorph.model.elements.control.controllers import PID as PID
    from kinemorph.model.elements.control.functions import Continuous as Continuous
    from kinemorph.model.elements.control.functions import PythonController as PythonController
    from kinemorph.model.elements.control.functions import Sampled as Sampled
    from kinemorph.model.elements.control.fuzzy_rules import FuzzyRules as FuzzyRules
    from kinemorph.model.elements.control.model_based import ComputedTorque as ComputedTorque
    from kinemorph.model.elements.control.model_based import GravityCompensation as GravityCompensation
    from kinemorph.model.elements.control.references import FourierSeries as FourierSeries
    from kinemorph.model.elements.control.references import MinimumJerk as MinimumJerk
    from kinemorph.model.elements.control.references import Profile as Profile
    from kinemorph.model.elements.control.references import Setpoint as Setpoint
    from kinemorph.model.elements.control.references import Sinusoid as Sinusoid
    from kinemorph.model.elements.control.references import SplinePath as SplinePath
    from kinemorph.model.elements.control.state_feedback import Observer as Observer
    from kinemorph.model.elements.control.state_feedback import StateFeedback as StateFeedback
    from kinemorph.model.elements.drives.actuators import Actuator as Actuator
    from kinemorph.model.elements.drives.actuators import Integrating as Integrating
    from kinemorph.model.elements.drives.actuators import Lag as Lag
    from kinemorph.model.elements.drives.motors import DCMotor as DCMotor
    from kinemorph.model.elements.drives.tendons import Tendon as Tendon
    from kinemorph.model.elements.forces.applied import AppliedEffort as AppliedEffort
    from kinemorph.model.elements.forces.applied import AppliedWrench as AppliedWrench
    from kinemorph.model.elements.forces.applied import CentralGravity as CentralGravity
    from kinemorph.model.elements.forces.applied import Gravity as Gravity
    from kinemorph.model.elements.forces.applied import Table as Table
    from kinemorph.model.elements.forces.applied import WeightSupport as WeightSupport
    from kinemorph.model.elements.forces.bushings import Bushing as Bushing
    from kinemorph.model.elements.forces.fluids import DragBox as DragBox
    from kinemorph.model.elements.forces.fluids import DragEllipsoid as DragEllipsoid
    from kinemorph.model.elements.forces.fluids import Fluid as Fluid
    from kinemorph.model.elements.forces.joint_forces import JointFriction as JointFriction
    from kinemorph.model.elements.forces.joint_forces import JointLimits as JointLimits
    from kinemorph.model.elements.forces.joint_forces import TorsionSpring as TorsionSpring
    from kinemorph.model.elements.forces.joint_forces import with_joint_forces as with_joint_forces
    from kinemorph.model.elements.forces.legs import SpringLeg as SpringLeg
    from kinemorph.model.elements.forces.pulls import Pull as Pull
    from kinemorph.model.elements.forces.springs import Bumper as Bumper
    from kinemorph.model.elements.forces.springs import Damper as Damper
    from kinemorph.model.elements.forces.springs import Rope as Rope
    from kinemorph.model.elements.forces.springs import Spring as Spring
    from kinemorph.model.elements.forces.tires import Tire as Tire
    from kinemorph.model.elements.gaits.gaits import CoupledMaps as CoupledMaps
    from kinemorph.model.elements.gaits.gaits import PhaseOscillators as PhaseOscillators
    from kinemorph.model.elements.gaits.gaits import Rhythmic as Rhythmic
    from kinemorph.model.elements.gaits.gaits import Serpenoid as Serpenoid
    from kinemorph.model.elements.gaits.pantograph_gait import PantographGait as PantographGait
    from kinemorph.model.elements.gaits.torque_splines import TorqueSpline as TorqueSpline
    from kinemorph.model.elements.gaits.virtual_constraints import VirtualConstraints as VirtualConstraints
    from kinemorph.model.elements.phases.automaton import Automaton as Automaton
    from kinemorph.model.elements.phases.automaton import Edge as Edge
    from kinemorph.model.elements.phases.automaton import Phase as Phase
    from kinemorph.model.elements.phases.holds import Hold as Hold
    from kinemorph.model.elements.sensing.integrals import Integral as Integral
    from kinemorph.model.elements.sensing.sensors import IMU as IMU
    from kinemorph.model.elements.sensing.sensors import ContactSwitch as ContactSwitch
    from kinemorph.model.elements.sensing.sensors import Encoder as Encoder
    from kinemorph.model.elements.sensing.sensors import ForceTorqueSensor as ForceTorqueSensor
    from kinemorph.model.elements.sensing.sensors import MassCenter as MassCenter
    from kinemorph.model.elements.sensing.sensors import Meter as Meter
    from kinemorph.model.elements.sensing.sensors import Probe as Probe
    from kinemorph.model.joint import ImpedanceStop as ImpedanceStop
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
