"""What the tests ask Drake: a model file read by its own parser, every answer in our convention."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from lxml import etree
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex

from kinemorph.model.conventions.conversions import to_convention
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

Array = np.ndarray


def without_loops(path: Path, robot: Robot) -> Path | str:
    """The file, or its text without joints that close loops in our robot and without gearboxes: Drake refuses both."""
    root = etree.parse(str(path), etree.XMLParser(recover=True)).getroot()
    cut = {loop.name for loop in robot.loops}
    unwanted = [joint for joint in root.iter("joint") if joint.get("name") in cut or joint.get("type") == "gearbox"]
    for joint in unwanted:
        joint.getparent().remove(joint)
    return etree.tostring(root).decode() if unwanted else path


def _free_accelerations(plant: MultibodyPlant, context: object) -> Array:
    """Accelerations (nv,) of a plant in continuous time, without the torques of actuators."""
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuated_dofs()))
    return np.array(plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions() :])


def finite_accelerations(path: Path, packages: dict[str, Path]) -> tuple[bool, str]:
    """Whether Drake reads a file and gives finite accelerations where it starts; and what it says."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, folder in packages.items():
        parser.package_map().Add(name, str(folder))
    try:
        parser.AddModels(str(path))
        plant.Finalize()
        if plant.num_velocities() == 0:
            return False, "nothing moves"
        return bool(np.isfinite(_free_accelerations(plant, plant.CreateDefaultContext())).all()), "reads it"
    except (RuntimeError, ValueError, MemoryError) as error:  # a mesh may take Drake's memory
        return False, str(error).splitlines()[0][:120]


class DrakePeer:
    """A robot of ours beside the plant that Drake makes of the same SDF or URDF file."""

    def __init__(
        self, robot: Robot, source: Path | str, *, file_type: str = "sdf", packages: dict[str, Path] | None = None
    ) -> None:
        self.robot, self.plant = robot, MultibodyPlant(0.0)
        parser = Parser(self.plant)
        for name, folder in (packages or {}).items():
            parser.package_map().Add(name, str(folder))
        if isinstance(source, Path):
            parser.AddModels(str(source))
        else:
            parser.AddModelsFromString(source, file_type)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(evaluate_all(robot.gravity)))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.constrained = self.plant.num_constraints() > 0  # such a plant has no accelerations in continuous time
        moving = [self.plant.get_joint(index) for index in self.plant.GetJointIndices()]
        moving = sorted((j for j in moving if j.num_velocities()), key=lambda joint: joint.velocity_start())
        self.joints = [self._joint_name(joint) for joint in moving]

    def _scoped(self, part: object) -> str:
        """The name of a body or joint as ours are called."""
        model = self.plant.GetModelInstanceName(part.model_instance())
        inner = f"{model}::{part.name()}"
        known = {*self.robot.body_names, *self.robot.joint_names}
        while inner not in known and "::" in inner:
            inner = inner.partition("::")[2]
        alike = [name for name in known if name.endswith(f"::{inner}")]  # a joint may stand in the model of its child
        return inner if inner in known or not alike else alike[0]

    def _joint_name(self, joint: object) -> str:
        name = self._scoped(joint)
        if name in self.robot.joint_names and name not in self.robot.body_names:
            return name
        root = f"{self._scoped(joint.child_body())}_root"
        return root if root in self.robot.joint_names else name

    def place(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Puts the plant there and gives (B, Bdot v), where v there is B(q) v."""
        n = self.robot.nv
        there, _ = to_convention(self.robot, "drake", q, v, joints=self.joints)
        self.plant.SetPositions(self.context, there)
        B = to_convention(self.robot, "drake", q, np.eye(n), joints=self.joints)[1].T
        self.plant.SetVelocities(self.context, B @ v)
        rate = np.zeros(n)
        for joint in self.robot.joints:  # linear velocities turn with the body
            at = self.robot.v_slice(joint.name)
            own = v[at]
            if joint.kind == "free":
                rate += B[:, at.start : at.start + 3] @ np.cross(own[3:], own[:3])
            elif joint.kind == "planar":
                rate += B[:, at.start : at.start + 2] @ np.array([-own[2] * own[1], own[2] * own[0]])
        return B, rate

    def mass_matrix(self, q: Array) -> Array:
        B, _ = self.place(q, np.zeros(self.robot.nv))
        return B.T @ self.plant.CalcMassMatrix(self.context) @ B

    def bias_forces(self, q: Array, v: Array) -> Array:
        B, rate = self.place(q, v)
        M = self.plant.CalcMassMatrix(self.context)
        h = self.plant.CalcBiasTerm(self.context) - self.plant.CalcGravityGeneralizedForces(self.context)
        return B.T @ (h + M @ rate)

    def accelerations(self, q: Array, v: Array) -> Array:
        """With gravity and all that the file brakes and pulls: damping, springs; drives and contact are at rest."""
        B, rate = self.place(q, v)
        return np.linalg.solve(B, _free_accelerations(self.plant, self.context) - rate)

    def poses(self, q: Array) -> dict[str, Array]:
        """T_WB (4, 4) of every body, by our names."""
        self.place(q, np.zeros(self.robot.nv))
        bodies = [self.plant.get_body(BodyIndex(index)) for index in range(1, self.plant.num_bodies())]
        there = {self._scoped(b): b.EvalPoseInWorld(self.context).GetAsMatrix4() for b in bodies}
        return {name: there[name] for name in self.robot.body_names}

    def kinetic_energy(self, q: Array, v: Array) -> float:
        self.place(q, v)
        return float(self.plant.CalcKineticEnergy(self.context))
