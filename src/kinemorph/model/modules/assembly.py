"""An assembly: modules, and which of their sides are docked to each other.

    organism = Assembly("snake", (Module("m0", backbone()), Module("m1", backbone())), (Docking("m0", 3, "m1", 4),))
    organism = organism.add("m2", scout()).dock("m1", 3, "m2", 4)
    organism.robot()

Assemblies are frozen data: `dock`, `undock`, `add` and `remove` return new assemblies. Modules that are connected by
dockings are an organism; an assembly may contain several organisms, each with a place in the world. Problems with sides
and names are reported when an assembly is made; overlapping modules and rings that do not close (`spatial_problems`)
when a robot is made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.input_reader import short
from kinemorph.model.modules.catalog import JOINT_MODULES
from kinemorph.model.modules.cube_shapes import TINTS
from kinemorph.model.modules.module_types import TURNED, JointModule, ModuleType, Side, strangers
from kinemorph.model.shapes import Color
from kinemorph.model.topology import Edge, Method, SpanningTree, central_vertex, spanning_tree
from kinemorph.sheet import Sheet
from kinemorph.shown import Shown
from kinemorph.words import counted, did_you_mean, listed

if TYPE_CHECKING:
    from kinemorph.model.modules.organisms import Dyads, Root
    from kinemorph.model.robot import Robot
    from kinemorph.model.system import Element, Settings, System


@dataclass(frozen=True)
class Module:
    """A module: its name, its type, and its pose in the world, `at`, or None if it is unknown."""

    name: str
    type: ModuleType
    at: Pose | None = None


@dataclass(frozen=True)
class Docking:
    """Side `side_a` of module `a` is docked to side `side_b` of module `b`.

    `turn`      quarter turns of b about the normal of its own side; 0 if both modules are upright
    `joint`     a joint module between the two ports; None if they are fixed to each other
    `offset`    the pose of b's port relative to the exact docking pose, if it was measured
    """

    a: str
    side_a: Side
    b: str
    side_b: Side
    turn: int = 0
    joint: JointModule | None = None
    offset: Pose = IDENTITY

    def __str__(self) -> str:
        return f"docking of '{self.a}' side {self.side_a} with '{self.b}' side {self.side_b}"

    @property
    def name(self) -> str:
        """The name of the robot's joint that stands for this docking."""
        return f"{self.a}_{self.side_a}_{self.b}_{self.side_b}"

    @property
    def ends(self) -> tuple[tuple[str, Side], tuple[str, Side]]:
        return (self.a, self.side_a), (self.b, self.side_b)

    def reversed(self) -> Docking:
        """This docking with the modules a and b exchanged."""
        across = TURNED[self.turn]
        offset = self.offset if self.offset == IDENTITY else compose(across, inverse(self.offset), inverse(across))
        return replace(self, a=self.b, side_a=self.side_b, b=self.a, side_b=self.side_a, offset=offset)

    def from_port(self) -> Pose:
        """The pose of b's port in the frame of a's port, with a joint module at 0."""
        return compose(TURNED[self.turn], self.offset)


@dataclass(frozen=True, repr=False)
class Assembly(Shown):
    """Modules and their dockings. The kinematic tree starts at the module `base`, by default the first module."""

    name: str
    modules: tuple[Module, ...] = ()
    dockings: tuple[Docking, ...] = ()
    base: str = ""

    def __post_init__(self) -> None:
        problems = _strangers(self) or _problems(self)
        if problems:
            raise ModelError(problems)
        if not self.base and self.modules:
            object.__setattr__(self, "base", self.modules[0].name)

    def __repr__(self) -> str:
        parts = len(self.organisms)
        several = f", {parts} organisms" if parts > 1 else ""
        return f"<Assembly '{self.name}': {counted(len(self.modules), 'module')}, {len(self.dockings)} docked{several}>"

    __str__ = __repr__  # one line, as for use in sentences

    def sheet(self) -> Sheet:
        """Its modules by kind, their places and free sides, and what is docked to what."""
        from kinemorph.model.sheets.assembly_sheet import assembly_sheet

        return assembly_sheet(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the modules."""
        return tuple(module.name for module in self.modules)

    @cached_property
    def _by_name(self) -> dict[str, Module]:
        return {module.name: module for module in self.modules}

    def module(self, name: str) -> Module:
        """The module of this name."""
        found = self._by_name.get(name)
        if found is None:
            raise ModelError(Problem("assembly", self.name, *_unknown(name, self.names)))
        return found

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The dockings as edges between modules."""
        return tuple(Edge(docking.name, docking.a, docking.b) for docking in self.dockings)

    @cached_property
    def _docked(self) -> dict[tuple[str, Side], Docking]:
        return {end: docking for docking in self.dockings for end in docking.ends}

    @cached_property
    def _dyads(self) -> dict[tuple[Any, ...], Pose]:
        """The poses H_ab(0) computed so far, by types, sides and quarter turns."""
        return {}

    @cached_property
    def _dockings_by_name(self) -> dict[str, Docking]:
        return {docking.name: docking for docking in self.dockings}

    def docking(self, module: str, side: Side) -> Docking | None:
        """The docking at a side of a module, with that module as `a`; None if the side is free."""
        found = self._docked.get((module, side))
        return found if found is None or (found.a, found.side_a) == (module, side) else found.reversed()

    def free_sides(self, module: str) -> tuple[Side, ...]:
        """The sides of a module to which no module is docked."""
        return tuple(side for side in self.module(module).type.sides if (module, side) not in self._docked)

    def tree(self, base: str | None = None, *, method: Method = "bfs") -> SpanningTree:
        """The spanning tree of the modules connected to `base`, breadth first or depth first."""
        return spanning_tree(self.names, self.edges, self.module(base or self.base).name, method=method)

    @cached_property
    def organisms(self) -> tuple[tuple[str, ...], ...]:
        """The names of the modules of each organism: the organism of the base first, then the others in order."""
        found: list[tuple[str, ...]] = []
        left = dict.fromkeys([self.base, *self.names] if self.names else [])
        while left:
            reached = set(self.tree(next(iter(left))).order)
            found.append(tuple(name for name in self.names if name in reached))
            left = {name: None for name in left if name not in reached}
        return tuple(found)

    @cached_property
    def tints(self) -> dict[str, Color]:
        """A tint for the colors of each module, by name: another one than those of the modules beside it."""
        found: dict[str, Color] = {}
        for module in self.modules:
            docked = (self.docking(module.name, side) for side in module.type.sides)
            taken = {found.get(docking.b) for docking in docked if docking is not None}
            found[module.name] = next((tint for tint in TINTS if tint not in taken), TINTS[0])
        return found

    @property
    def is_tree(self) -> bool:
        """Whether the dockings form no ring."""
        return len(self.dockings) == len(self.modules) - len(self.organisms)

    @property
    def center(self) -> str:
        """The module with the fewest dockings to its farthest module: the base with the shortest paths."""
        return central_vertex(self.names, self.edges)

    def poses(self, base: str | None = None) -> dict[str, Pose]:
        """The pose of every module in the world, in the initial configuration.

        An organism without a place has its root at the origin: the base of the assembly, or its first module.
        """
        return self._poses(base) if base is not None else dict(self._initial_poses)

    @cached_property
    def _initial_poses(self) -> dict[str, Pose]:
        return self._poses(None)

    def _poses(self, base: str | None) -> dict[str, Pose]:
        found: dict[str, Pose] = {}
        for organism in self.organisms:
            root = base if base in organism else self.base if self.base in organism else organism[0]
            assert root is not None
            here = {root: IDENTITY}
            for step in self.tree(root).steps:
                here[step.child] = compose(here[step.parent], self.dyad_pose(step.edge.name, step.against))
            known = next((self.module(name) for name in (root, *organism) if self.module(name).at is not None), None)
            if known is not None and known.at is not None:
                shift = compose(known.at, inverse(here[known.name]))
                here = {name: compose(shift, pose) for name, pose in here.items()}
            found |= here
        return {name: found[name] for name in self.names}

    def dyad_pose(self, docking: str, against: bool = False) -> Pose:
        """H_ab(0), the pose of module b in the frame of module a, for the docking of this name at its initial pose.

        With `against`, the pose of a in the frame of b.
        """
        link = self._dockings_by_name.get(docking)
        if link is None:
            what = f"there is no docking {docking!r}; its dockings are {listed(self._dockings_by_name)}"
            remedy = did_you_mean(docking, self._dockings_by_name).strip() or "Name one of these."
            raise ModelError(Problem("assembly", self.name, what, remedy))
        kinds = self.module(link.a).type, self.module(link.b).type
        key = (id(kinds[0]), link.side_a, id(kinds[1]), link.side_b, link.turn, against)
        exact = link.offset == IDENTITY
        if exact and key in self._dyads:  # most modules of an organism are docked in one of a few ways
            return self._dyads[key]
        H_ab = compose(kinds[0].port_pose(link.side_a), link.from_port(), inverse(kinds[1].port_pose(link.side_b)))
        found = inverse(H_ab) if against else H_ab
        if exact:
            self._dyads[key] = found
        return found

    # ── changes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, name: str, kind: ModuleType, at: Pose | None = None) -> Assembly:
        """A new assembly with one more module, which is not docked yet."""
        return replace(self, modules=(*self.modules, Module(name, kind, at)))

    def remove(self, name: str) -> Assembly:
        """A new assembly without this module and its dockings."""
        gone = self.module(name)
        left = tuple(docking for docking in self.dockings if name not in (docking.a, docking.b))
        others = tuple(module for module in self.modules if module is not gone)
        return replace(self, modules=others, dockings=left, base="" if self.base == name else self.base)

    def dock(
        self,
        a: str,
        side_a: Side,
        b: str,
        side_b: Side,
        *,
        turn: int = 0,
        joint: str | JointModule | None = None,
        offset: Pose = IDENTITY,
    ) -> Assembly:
        """A new assembly with `side_a` of module `a` docked to `side_b` of `b`; see `Docking` for the arguments.

        `joint` may be the name of a joint module, "revolute" or "prismatic".
        """
        return replace(
            self, dockings=(*self.dockings, Docking(a, side_a, b, side_b, turn, joint_module(joint), offset))
        )

    def undock(self, module: str, side: Side) -> Assembly:
        """A new assembly without the docking at this side of a module."""
        kind = self.module(module).type
        kind.port(side)
        gone = self._docked.get((module, side))
        if gone is None:
            docked = listed(known for known in kind.sides if (module, known) in self._docked)
            what = f"nothing is docked to side {side} of module '{module}'; its docked sides are: {docked}"
            raise ModelError(Problem("assembly", self.name, what, "Name a docked side."))
        return replace(self, dockings=tuple(docking for docking in self.dockings if docking is not gone))

    def with_base(self, base: str) -> Assembly:
        """This assembly with another module as its base."""
        return replace(self, base=self.module(base).name)

    # ── robot and system ──────────────────────────────────────────────────────────────────────────────────────────

    def robot(
        self,
        base: str | None = None,
        *,
        dyads: Dyads = "halves",
        root: Root = "free",
        inputs: Collection[str] = (),
        gravity: Any = (0.0, 0.0, -9.81),
    ) -> Robot:
        """The robot that the modules make up; see `organisms.organism_robot`."""
        from kinemorph.model.modules.organisms import organism_robot

        return organism_robot(self, base, dyads=dyads, root=root, inputs=inputs, gravity=gravity)

    def system(self, elements: Sequence[Element] = (), settings: Settings | None = None, **options: Any) -> System:
        """The system of the robot, with these elements; `options` are the arguments of `robot`."""
        from kinemorph.model.modules.organisms import organism_system

        return organism_system(self, elements, settings, **options)


def as_assembly(given: Any) -> Assembly:
    """The given assembly, or the assembly of a given system. Raises ModelError for anything else."""
    found = getattr(given, "assembly", given)
    if not isinstance(found, Assembly):
        kind = type(given).__name__
        found_kind = "None" if given is None else f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
        what = f"{found_kind} was given, expected an Assembly, or a System that is made of modules"
        raise ModelError(Problem("", "", what, "Make one with `assemble`."))
    return found


def joint_module(joint: str | JointModule | None) -> JointModule | None:
    """The joint module, given by name ("revolute", "prismatic") or as a JointModule; None stays None."""
    if not isinstance(joint, str):
        return joint
    if joint not in JOINT_MODULES:
        what = f"it is unknown; expected one of: {', '.join(JOINT_MODULES)}"
        remedy = did_you_mean(joint, JOINT_MODULES).strip() or "Choose one of these."
        raise ModelError(Problem("joint module", joint, what, remedy))
    return JOINT_MODULES[joint]


def _unknown(name: object, known: Collection[str]) -> tuple[str, str]:
    """The message and the remedy for a name that no module has."""
    what = f"there is no module {name!r}; its modules are {listed(known)}"
    return what, did_you_mean(name, known).strip() or "Name one of them."


def _strangers(assembly: Assembly) -> list[Problem]:
    """Problems with parts of an assembly that have the wrong Python type."""
    remedy = "Use `assemble` for other forms of input."
    found = strangers("assembly", assembly, {"modules": Module, "dockings": Docking}, remedy)
    if found:
        return found
    about = partial(Problem, "assembly", assembly.name)
    for module in assembly.modules:
        what = f"module '{module.name}' is"
        if not isinstance(module.type, ModuleType):
            remedy = "Pass a module type such as backbone()."
            found.append(about(f"{what} of type {short(module.type)}; expected a ModuleType", remedy))
        if module.at is not None and not isinstance(module.at, Pose):
            found.append(about(f"{what} at {short(module.at)}; expected a Pose or None", "Pass a Pose as `at`."))
    return found + [
        about(f"{docking}: offset is {short(docking.offset)}; expected a Pose", "Leave offset out.", docking.name)
        for docking in assembly.dockings
        if not isinstance(docking.offset, Pose)
    ]


def _problems(assembly: Assembly) -> list[Problem]:
    """Problems with the names of modules and the sides of dockings."""
    about = partial(Problem, "assembly", assembly.name)
    names = [module.name for module in assembly.modules]
    found = [
        about(f"module '{name}' is declared {count} times, expected once", "Rename all but one.")
        for name, count in Counter(names).items()
        if count > 1
    ]
    kinds: Mapping[str, ModuleType] = {module.name: module.type for module in assembly.modules}
    if assembly.base and assembly.base not in kinds:
        what, remedy = _unknown(assembly.base, names)
        found.append(about(f"base: {what}", remedy, "base"))
    used: dict[tuple[str, Side], Docking] = {}
    for docking in assembly.dockings:

        def note(what: str, remedy: str, docking: Docking = docking) -> None:
            found.append(about(f"{docking}: {what}", remedy, docking.name))

        if docking.a == docking.b:
            note("a module cannot be docked to itself", "Name two different modules.")
        if docking.turn not in (0, 1, 2, 3):
            note(f"turn is {docking.turn!r}, expected 0, 1, 2 or 3 quarter turns", "Give one of these.")
        for module, side in docking.ends:
            kind = kinds.get(module)
            if kind is None:
                note(*_unknown(module, names))
            elif side not in kind.sides or type(side) not in (int, str):  # 3.0 is not a side
                what = f"module '{module}' ({kind.name}) has no port on side {side!r}"
                note(f"{what}; its ports are {listed(kind.sides)}", "Choose one of them.")
            elif (module, side) in used and docking.a != docking.b:
                other = used[module, side]
                partner = other.b if (other.a, other.side_a) == (module, side) else other.a
                what = f"side {side} of module '{module}' is already docked to module '{partner}'"
                note(what, "Undock it or choose another side.")
            used.setdefault((module, side), docking)
    return found
