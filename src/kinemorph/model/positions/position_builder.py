"""`PositionBuilder` builds a robot from the position matrices of its bodies alone, as in the EasyDyn paper.

    builder = PositionBuilder("double pendulum", gravity=(0.0, -9.81, 0.0))
    q0, q1 = builder.coordinates("q0 q1")
    builder.body("upper", 1.1, (0.0, 0.0, 0.1), T0G=Trotz(q0) * Tdisp(0, -0.6, 0))
    builder.body("lower", 0.9, (0.0, 0.0, 0.1), T0G=Trotz(q0) * Tdisp(0, -1.2, 0) * Trotz(q1) * Tdisp(0, -0.55, 0))
    robot = builder.build()

Everything else follows: the joints, the velocities and the equations of motion. The robot's q are the coordinates, in
the order in which they were declared. Dependent quantities are formulas of coordinates and of the time:

    gamma = builder.dependent("gamma", acos((AB**2 + AC**2 - BC**2) / (2.0 * AB * AC)))

Nothing is checked before `build` (or `problems`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.notation import Factor, mth, tiner
from kinemorph.errors import ModelError, ModelWarning, Problem, users_level
from kinemorph.model.body import NO_INERTIA
from kinemorph.model.building.builder import RobotBuilder, Verdict
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import TIME, Coordinate, Formula, Parameter, Value, coordinates_of, evaluate
from kinemorph.model.positions.position_tree import Node, direct, nodes_of, position_tree
from kinemorph.model.robot import Dependent, Position, Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean, listed

JOINTS = {"rad": "revolute", "m": "prismatic"}  # the kind of joint of a coordinate, by its unit


class PlacedBody(NamedTuple):
    """A body as it was declared: its name, the position matrix and the body that the matrix refers to."""

    name: str
    position: Any
    reference: str


class PositionBuilder:
    """Collects coordinates, dependent quantities and bodies placed by matrices."""

    def __init__(self, name: str, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.name, self.gravity = name, gravity
        self._coordinates: dict[str, tuple[Coordinate, dict[str, Any]]] = {}
        self._dependents: list[Dependent] = []
        self._bodies: list[tuple[PlacedBody, dict[str, Any]]] = []
        self._frames: list[tuple[str, str, Any]] = []
        self._found: list[Problem] = []

    # ── declaring ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def time(self) -> Coordinate:
        """The time t [s], for positions that depend on it."""
        return TIME

    def coordinate(self, name: str, unit: str = "rad", value: float = 0.0, **data: Any) -> Coordinate:
        """Declares a coordinate q, with its unit ("rad" or "m") and its initial value; returns it for formulas.

        `data` are limits and the like, as of a joint: lower, upper, velocity, effort, damping, friction, armature.
        """
        made = Coordinate(name, value, unit)
        if name == TIME.name:
            self._note("coordinate", name, "this is the name of the time", "Rename the coordinate.")
        elif name in self._coordinates:
            self._note("coordinate", name, "there are two coordinates of this name", "Rename one of them.")
        if unit not in JOINTS:
            self._note("coordinate", name, f"its unit is {short(unit)}, expected 'rad' or 'm'", "Give one of these.")
            made = Coordinate(name, value, "rad")
        self._coordinates.setdefault(name, (made, data))
        return made

    def coordinates(self, names: str | Sequence[str], unit: str = "rad") -> tuple[Coordinate, ...]:
        """Declares several coordinates of one unit: a list of names, or a text with names between spaces."""
        return tuple(self.coordinate(name, unit) for name in (names.split() if isinstance(names, str) else names))

    def parameter(self, name: str, value: float, unit: str = "", symbol: str = "") -> Parameter:
        """A named number for masses, lengths and formulas, whose value can be changed after deriving; returns it.

        `symbol` is its LaTeX in printed equations. It is the same as `Parameter(...)`.
        """
        return Parameter(name, value, unit, symbol)

    def dependent(self, name: str, formula: Value, unit: str = "rad") -> Value:
        """Declares a dependent quantity p(q, t), a formula of coordinates, parameters and the time; returns it.

        The name appears in messages, for example where the formula leaves its domain.
        """
        if not isinstance(formula, (Formula, Parameter, float, int)):
            self._note("dependent", name, f"its formula is {short(formula)}, expected a formula", "Use coordinates.")
            formula = 0.0
        if name in [one.name for one in self._dependents]:
            self._note("dependent", name, "there are two dependents of this name", "Rename one of them.")
        self._dependents.append(Dependent(name, formula, unit))
        return formula

    def body(
        self,
        name: str,
        mass: Any,
        inertia: Any = NO_INERTIA,
        *,
        T0G: Any = None,
        TrefG: Any = None,
        reference: str = "",
        shapes: Sequence[Shape] = (),
        collisions: Sequence[Shape] = (),
    ) -> Self:
        """Declares a body: mass [kg], inertia [kg m^2] about the center of mass G, and the position of G and its axes.

        `inertia`   a tiner, a 3 x 3 matrix or three moments of inertia, in the axes of the body
        `T0G`       the position matrix in the world: a product of Trotx, Troty, Trotz, Trotn, Tdisp, Tquat and mth
        `TrefG`     the position matrix in the frame of another body, `reference`
        """
        if (T0G is None) == (TrefG is None):
            self._note("body", name, "neither or both of T0G and TrefG are given, expected one of them", "Give one.")
        if TrefG is not None and not reference:
            self._note("body", name, "TrefG is given without a reference", "Name the body: reference='...'.")
        if T0G is not None and reference:
            self._note("body", name, "T0G is given with a reference", "Give TrefG, or leave the reference out.")
        data = {
            "name": name,
            "mass": mass,
            "com": (0.0, 0.0, 0.0),
            "inertia": inertia.matrix if isinstance(inertia, tiner) else inertia,
            "shapes": shapes,
            "collisions": collisions,
        }
        self._bodies.append((PlacedBody(name, T0G if TrefG is None else TrefG, reference), data))
        return self

    def frame(self, name: str, body: str, position: mth) -> Self:
        """Declares a named frame on a body, at a constant position in the frame of the body."""
        self._frames.append((name, body, position))
        return self

    # ── building ──────────────────────────────────────────────────────────────────────────────────────────────────

    def problems(self) -> tuple[Problem, ...]:
        """All problems found; empty if the robot can be built."""
        return self.judged().problems

    def build(self) -> Robot:
        """The checked robot. Raises ModelError with every problem found; questionable values give a ModelWarning."""
        robot, problems, remarks = self.judged()
        if robot is None:
            raise ModelError(problems)
        for remark in remarks:
            warnings.warn(str(remark), ModelWarning, stacklevel=users_level())
        return robot

    def system(self, elements: Sequence[Any] = (), **settings: Any) -> System:
        """The robot with elements, and the initial values of the coordinates as initial configuration.

        `settings` are those of `System`: v, t_end and so on.
        """
        q = tuple(coordinate.value for coordinate, _ in self._coordinates.values())
        return System(self.build(), tuple(elements), Settings(q=q, **settings))

    def judged(self) -> Verdict:
        """The checked robot, None if it has problems, with all problems and remarks."""
        found = [*self._found, *self._name_problems()]
        paths = self._paths(found)
        if found:
            return Verdict(None, tuple(found))
        builder = RobotBuilder(self.name, self.gravity)
        names: dict[int, str] = {}  # of the body at the frame of a node
        poses: dict[int, Pose] = {}  # its pose in the frame of the node
        root = position_tree(paths.items())
        owners: dict[str, Node] = {}
        for node in nodes_of(root):
            single = direct(node.values[0]) if node.kind in JOINTS.values() else None
            name = "" if single is None else single[0].name
            known = name in self._coordinates and name not in owners
            if known and JOINTS[self._coordinates[name][0].unit] == node.kind:
                owners[name] = node
        names[id(root)], poses[id(root)] = WORLD, IDENTITY
        for (
            _,
            data,
        ) in self._bodies:  # before those of carriers and dials: row k of a table of bodies is the user's k-th
            builder.body_of(data)
        for node in nodes_of(root):
            here = node.bodies[0] if node.bodies else (self._carrier(node), IDENTITY)
            names[id(node)], poses[id(node)] = here
            if not node.bodies:
                builder.body(here[0])
        for name, (coordinate, data) in self._coordinates.items():
            self._declare_owner(builder, coordinate, data, owners.get(name), names, poses)
        taken: set[str] = set(self._coordinates)
        for node in (root, *nodes_of(root)):
            if node is not root and node not in owners.values():
                self._declare_driven(builder, node, names, poses, taken)
            for body, pose in node.bodies[0 if node is root else 1 :]:
                fixed = compose(inverse(poses[id(node)]), pose)
                builder.joint(f"{body}.fixed", "fixed", names[id(node)], body, placement=fixed)
        for name, body, position in self._frames:
            builder.frame(name, body, placement=position.pose)
        verdict = builder.judged()
        if verdict.robot is None:
            own = {"coordinate": self._coordinates, "body": [body.name for body, _ in self._bodies]}
            return verdict._replace(problems=tuple(_of_user(problem, own) for problem in verdict.problems))
        placed = [body for body, _ in self._bodies]
        positions = tuple(Position(one.name, tuple(_plain(one.position.factors)), one.reference) for one in placed)
        return verdict._replace(robot=replace(verdict.robot, dependents=tuple(self._dependents), positions=positions))

    def _declare_owner(
        self,
        builder: RobotBuilder,
        coordinate: Coordinate,
        data: dict[str, Any],
        node: Node | None,
        names: dict[int, str],
        poses: dict[int, Pose],
    ) -> None:
        """Declares the joint that a coordinate belongs to; without one, a massless slide or hinge on the world."""
        name, kind = coordinate.name, JOINTS[coordinate.unit]
        if node is None:
            builder.body(f"{name}.dial")
            builder.joint(name, kind, WORLD, f"{name}.dial", **data)
            return
        found = direct(node.values[0])
        assert found is not None and node.parent is not None
        _, sign, offset = found
        axis = tuple(sign * x for x in node.axis)
        placement = compose(inverse(poses[id(node.parent)]), node.before, _moved(node, offset))
        at = inverse(poses[id(node)])
        builder.joint(
            *(name, kind, names[id(node.parent)], names[id(node)]),
            placement=placement,
            child_placement=at,
            axis=axis,
            **data,
        )

    def _declare_driven(
        self, builder: RobotBuilder, node: Node, names: dict[int, str], poses: dict[int, Pose], taken: set[str]
    ) -> None:
        assert node.parent is not None
        body = names[id(node)].partition(".")[0]
        name, number = f"{body}.{node.letter}", 2
        while name in taken:
            name, number = f"{body}.{node.letter}{number}", number + 1
        taken.add(name)
        builder.joint(
            *(name, node.kind, names[id(node.parent)], names[id(node)]),
            placement=compose(inverse(poses[id(node.parent)]), node.before),
            child_placement=inverse(poses[id(node)]),
            axis=node.axis,
            driven=list(node.values),
        )

    def _carrier(self, node: Node) -> str:
        """The name of the massless body at a joint that carries no body directly: that of a body that it carries."""
        first, depth = node, 0
        while not first.bodies:
            first, depth = first.children[0], depth + 1
        return f"{first.bodies[0][0]}.{depth}"

    # ── checking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _note(self, kind: str, name: str, what: str, remedy: str) -> None:
        self._found.append(Problem(kind, name, what, remedy))

    def _name_problems(self) -> list[Problem]:
        """Problems with the names of coordinates in dependents and positions."""
        found: list[Problem] = []
        used = [("dependent", one.name, coordinates_of(one.formula)) for one in self._dependents]
        for body, _ in self._bodies:
            if isinstance(body.position, mth):
                leaves = coordinates_of(tuple(factor.values for factor in body.position.factors))
                used.append(("body", body.name, leaves))
        moving = {leaf.name for kind, _, leaves in used if kind == "body" for leaf in leaves}
        if all(isinstance(body.position, mth) for body, _ in self._bodies):
            for name in self._coordinates:
                if name not in moving:
                    what = "no position of a body depends on it, so that it moves nothing"
                    found.append(
                        Problem("coordinate", name, what, "Use it in a position, or leave it out.", rule="singular")
                    )
        found += self._value_problems()
        for kind, name, leaves in used:
            for leaf in leaves:
                if leaf.name not in self._coordinates and leaf != TIME:
                    remedy = f"{did_you_mean(leaf.name, self._coordinates)} Known: {listed(self._coordinates, 16)}."
                    what = f"it names '{leaf.name}', and there is no such coordinate"
                    found.append(Problem(kind, name, what, remedy.strip()))
        return found

    def _value_problems(self) -> list[Problem]:
        """Problems with formulas that have no finite value at the initial values of the coordinates.

        Those of dependents come first; if there are any, positions are not looked at, since they may contain them.
        """
        formulas = [("dependent", one.name, "its value", one.formula) for one in self._dependents]
        found = [problem for row in formulas for problem in _not_finite(*row)]
        if found:
            return found
        placed = [body for body, _ in self._bodies if isinstance(body.position, mth)]
        return [
            problem
            for body in placed
            for factor in body.position.factors
            for value in factor.values
            for problem in _not_finite("body", body.name, f"a formula in its position, {value},", value)
        ]

    def _paths(self, problems: list[Problem]) -> dict[str, list[Factor]]:
        """The factors from the world to each body, by name; problems with matrices and references are noted."""
        declared = {body.name: body for body, _ in self._bodies}
        paths: dict[str, list[Factor]] = {}
        for body, _ in self._bodies:
            chain, here = [body], body
            while here.reference:
                if here.reference not in declared:
                    remedy = f"{did_you_mean(here.reference, declared)} Known: {listed(declared, 16)}.".strip()
                    if here is body:
                        what = f"its reference is '{here.reference}', and there is no such body"
                        problems.append(Problem("body", body.name, what, remedy, "reference"))
                    break
                here = declared[here.reference]
                if here in chain:
                    what = f"references form a circle: {' -> '.join(one.name for one in [*chain, here])}"
                    problems.append(Problem("body", body.name, what, "Place one of them in the world.", "reference"))
                    break
                chain.append(here)
            if not isinstance(body.position, mth):
                if body.position is not None:
                    what = f"its position is {short(body.position)}, expected a product of transforms"
                    problems.append(Problem("body", body.name, what, "Use Trotx, Tdisp and so on."))
                continue
            if all(isinstance(one.position, mth) for one in chain):
                paths[body.name] = [factor for one in reversed(chain) for factor in _plain(one.position.factors)]
        return paths


def _not_finite(kind: str, name: str, what: str, formula: Any) -> list[Problem]:
    """A problem if a formula has no finite value at the initial values of its coordinates, else none."""
    value = evaluate(formula) if isinstance(formula, (Formula, Parameter)) else 0.0
    if math.isfinite(value):
        return []
    at = listed([f"{leaf.name} = {leaf.value:g}" for leaf in coordinates_of(formula)], 6)
    what = f"{what} is {value} at the initial values {at}, expected a finite number"
    remedy = "Declare initial values that the mechanism can have: coordinate(name, unit, value)."
    return [Problem(kind, name, what, remedy, rule="number")]


def _of_user(problem: Problem, own: Mapping[str, Collection[str]]) -> Problem:
    """The problem of a joint as a problem of the coordinate or the body that the joint was made for.

    `own` are the names of coordinates and bodies that the user declared.
    """
    if problem.kind == "joint" and problem.name in own["coordinate"]:
        return Problem("coordinate", problem.name, problem.what, problem.remedy, problem.key, problem.rule)
    body = problem.name.rpartition(".")[0]
    if problem.kind == "joint" and body in own["body"]:
        return Problem("body", body, problem.what, problem.remedy, "position", problem.rule)
    return problem


def _plain(factors: Sequence[Factor]) -> list[Factor]:
    """The factors with numbers as floats."""
    return [Factor(kind, tuple(float(x) if isinstance(x, int) else x for x in values)) for kind, values in factors]


def _moved(node: Node, offset: Value) -> Pose:
    """The constant pose of a joint's motion by an offset of its coordinate."""
    if isinstance(offset, float) and offset == 0.0:
        return IDENTITY
    if node.kind == "prismatic":
        return Pose(IDENTITY.R, tuple(x * offset for x in node.axis))
    return Factor("n", (*node.axis, offset)).pose
