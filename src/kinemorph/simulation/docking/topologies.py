"""Topologies of a run with docking events: what is docked to what, and the plant of each topology.

Offsets of dockings that are made during a run are parameters of the plant. So a plant depends on the topology only, and
a topology that occurs again uses the same plant.

The root of an organism is the base of the assembly if the organism contains it, else the first of its modules. So a
topology always has the same roots; the columns of a root's joint appear and vanish with the root.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.model.building.reversed_joint import PER_VELOCITY
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import TURNED
from kinemorph.model.modules.organisms import OFFSET, offset_parameters, offset_values, organism_robot
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.docking.changes import Dock, Gap, Undock
from kinemorph.simulation.results.segment import Segment

# data of joints, and their default values
JOINT_DATA = {"lower": -math.inf, "upper": math.inf, **{key: none for key, none, _ in PER_VELOCITY}}
MOST_KEPT = 64  # plants that are cached


@dataclass(frozen=True)
class DockedAssembly:
    """An assembly during a run, and the names of the dockings made in the run, whose offsets are parameters."""

    assembly: Assembly
    made: tuple[str, ...] = ()

    @property
    def p(self) -> dict[str, float]:
        """The values of the offset parameters, by name."""
        docked = {docking.name: docking for docking in self.assembly.dockings}
        found: dict[str, float] = {}
        for name in self.made:
            names = (parameter.name for parameter in offset_parameters(docked[name]))
            found |= dict(zip(names, offset_values(docked[name].offset), strict=True))
        return found

    @property
    def topology(self) -> tuple[Any, ...]:
        """A key of all data that the robot depends on: everything except the offsets of dockings made in the run."""
        dockings = tuple(replace(d, offset=IDENTITY) if d.name in self.made else d for d in self.assembly.dockings)
        return (self.assembly.name, self.assembly.modules, dockings, self.assembly.base, self.made)

    def with_docking(self, dock: Dock, gap: Gap) -> DockedAssembly:
        """The assembly after a docking whose offset is the present pose error of the ports."""
        joined = self.assembly.dock(*dock.ends[0], *dock.ends[1], turn=gap.turn, offset=gap.offset)
        return DockedAssembly(in_order(joined), tuple(sorted((*self.made, dock.name))))

    def measured(self, poses: Mapping[str, Pose]) -> DockedAssembly:
        """The assembly with measured offsets: `poses` holds the pose of b's port in a's frame, by name of docking."""
        dockings = tuple(
            replace(d, offset=compose(inverse(TURNED[d.turn]), poses[d.name])) if d.name in poses else d
            for d in self.assembly.dockings
        )
        return DockedAssembly(replace(self.assembly, dockings=dockings), tuple(sorted({*self.made, *poses})))

    def without(self, undock: Undock) -> tuple[DockedAssembly, str]:
        """The assembly without the docking at a side, and the name of that docking."""
        left = self.assembly.undock(undock.module, undock.side)
        (gone,) = {d.name for d in self.assembly.dockings} - {d.name for d in left.dockings}
        return DockedAssembly(left, tuple(name for name in self.made if name != gone)), gone


def docked_in(segment: Segment) -> DockedAssembly | None:
    """The assembly in a segment of a run, with the offsets that its dockings have there; None if it has no modules."""
    assembly = segment.plant.assembly
    if assembly is None:
        return None
    p = dict(zip((column.name for column in segment.plant.p), segment.p.tolist(), strict=True))
    dockings, made = [], []
    for docking in assembly.dockings:
        values = [p.get(f"{docking.name}.{part}") for part in OFFSET]
        if None not in values:
            made.append(docking.name)
            docking = replace(docking, offset=Pose(quat_to_rotation(values[3:]), tuple(values[:3])))
        dockings.append(docking)
    return DockedAssembly(in_order(replace(assembly, dockings=tuple(dockings))), tuple(sorted(made)))


def in_order(assembly: Assembly) -> Assembly:
    """The same assembly with its dockings in an order that does not depend on when they were made."""
    place = {name: k for k, name in enumerate(assembly.names)}
    ordered = sorted(assembly.dockings, key=lambda d: (place[d.a], place[d.b], str(d.side_a), str(d.side_b)))
    return replace(assembly, dockings=tuple(ordered))


def changed_parts(robot: Robot, assembly: Assembly) -> list[str]:
    """The bodies and inner joints of a robot whose data differ from those of their modules, as "body 'm1_frame'"."""
    found = []
    bodies = {body.name: body for body in robot.bodies}
    joints = {joint.name: joint for joint in robot.joints}
    for module in assembly.modules:
        for part in module.type.bodies:
            body = bodies.get(f"{module.name}_{part.name}")
            if body is None or (body.mass, body.com, body.inertia) != (part.mass, part.com, part.inertia):
                found.append(f"body '{module.name}_{part.name}'")
        for inner in module.type.joints:
            joint = joints.get(f"{module.name}_{inner.name}")
            if joint is None or any(
                getattr(joint, key) != (getattr(inner, key) or (none,) * len(getattr(joint, key)))
                for key, none in JOINT_DATA.items()
            ):
                found.append(f"joint '{module.name}_{inner.name}'")
    return found


class Plants:
    """The plants of one system, one for each topology. They are cached for the process, so that other runs use them."""

    def __init__(self, system: System, asked: Mapping[str, Any]) -> None:
        """`asked` holds further options of the function `plant` by name: locked, loops and account."""
        self.system, self.asked = system, asked
        self.root = _root_of(system.robot)
        self.gravity = system.robot.gravity
        self._given = self._kept_by((system, *self._asked_key), lambda: as_plant(system, **asked))

    @cached_property
    def first(self) -> Assembly:
        """The assembly at the start of the run: its base is the module that carries the robot's root joint.

        No other module has a fixed pose; if the robot moves freely, the base has none either.
        """
        assert self.system.assembly is not None
        assembly, robot = self.system.assembly, self.system.robot
        rooted = [joint for joint in robot.joints if joint.parent == WORLD]
        carried = rooted[0].child if self.root in ("free", "fixed") else _last_virtual(robot)
        base = next(m.name for m in assembly.modules if f"{m.name}_{m.type.bodies[0].name}" == carried)
        at: Pose | None = None if self.root == "free" else evaluate_all(rooted[0].placement)
        modules = tuple(replace(module, at=at if module.name == base else None) for module in assembly.modules)
        return in_order(replace(assembly, modules=modules, base=base))

    def of(self, docked: DockedAssembly) -> Plant:
        """The plant of the topology of a docked assembly."""
        if docked.topology == DockedAssembly(self.first).topology:
            return self._given  # the robot as the user gave it, with its order of bodies and its initial place
        key = (docked.topology, self.root, self.gravity, self.system.elements, self.system.settings.loops)
        return self._kept_by((*key, *self._asked_key), lambda: self._made(docked))

    def _kept_by(self, key: tuple[Any, ...], make: Callable[[], Plant]) -> Plant:
        """The plant that is cached under a key; `make` makes it if there is none."""
        try:
            found = _KEPT.get(key)
        except TypeError:  # an element that is not plain data
            return make()
        if found is None:
            found = _KEPT[key] = make()
        _KEPT.move_to_end(key)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
        return found

    @property
    def _asked_key(self) -> tuple[Any, ...]:
        return tuple((name, _hashable(value)) for name, value in self.asked.items())

    def _made(self, docked: DockedAssembly) -> Plant:
        robot = organism_robot(
            docked.assembly, root=self.root, inputs=docked.made, gravity=self.gravity, in_motion=True
        )
        settings = Settings(loops=self.system.settings.loops)
        system = System(robot, self.system.elements, settings, docked.assembly)
        locked = [name for name in self.asked["locked"] if name in (*robot.joint_names, *robot.v_names)]
        return as_plant(system, **{**self.asked, "locked": locked}, parameters=tuple(docked.p) or None)


_KEPT: OrderedDict[tuple[Any, ...], Plant] = OrderedDict()


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _root_of(robot: Robot) -> str | tuple[str, ...]:
    """How the base of an assembly's robot is connected to the world, as the argument `root` of `organism_robot`."""
    letters = tuple(name.removeprefix("virtual_") for name in robot.joint_names if name.startswith("virtual_"))
    return letters or next(joint.kind for joint in robot.joints if joint.parent == WORLD)


def _last_virtual(robot: Robot) -> str:
    return next(joint.child for joint in reversed(robot.joints) if joint.name.startswith("virtual_"))
