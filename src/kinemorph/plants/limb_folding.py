"""Plants of robots with similar limbs, elements included: the laws of motion on a tree with one limb of each kind.

Six legs with the same joints, a motor on each and a foot on the ground are one leg six times. `folded` finds that out
by names: elements of a limb name its bodies, frames and joints, and each other; except for names and numbers they are
the same as those of the first limb. A controller of all joints is divided into one for each limb. The small system is
then a robot with one limb of each kind and its elements, and its laws are those of any plant, on the tree of
`limb_lanes`, which has the numbers of each limb in tables.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.loops.splitting import CopiesMeet, Spot
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.limb_lanes import Spread, as_q, as_v, common, each, faster_of, limb_program
from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.division import divided
from kinemorph.mechanics.elements.ensemble import Member, ensemble
from kinemorph.mechanics.elements.law import ElementLaw, law_of
from kinemorph.mechanics.trees.limbs import Limbs, kept_places, like_limbs
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Attachment, Tree
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.plants.instant import at_instant
from kinemorph.plants.loaded_robot import Additions, LoadedRobot
from kinemorph.plants.user_laws import Law

Owner = tuple[int, int]  # a limb: the number of its kind, and its number among limbs of that kind
NUMBERS = ("t", "h")  # groups of one number
GEOMETRY = (
    "name",
    "parent",
    "child",
    "placement",
    "child_placement",
    "axis",
    "axis2",
    "order",
    "armature",
    "pitch",
    "driven",
)


class _Unlike(Exception):
    """Raised where limbs of a kind differ in more than names and numbers."""


@dataclass(frozen=True, eq=False)
class Folded:
    """A system with one limb of each kind in place of all limbs."""

    tree: Tree  # of the whole robot, prepared
    limbs: tuple[Limbs, ...]
    loaded: LoadedRobot  # still without a tree
    values: tuple[tuple[float, ...], ...]  # for each kind of limb, the values of its parameters, limb after limb
    attached: tuple[tuple[str, ...], ...]  # for each kind, the names of bodies and frames on the first limb
    poses: tuple[tuple[float, ...], ...]  # for each kind, the poses of these, R and p of each, limb after limb
    spreads: Mapping[str, Spread]  # the memory layout of the arrays of laws: t, base, s, m, u, p and others

    def program(self, like: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> LoopProgram:
        """A law as a loop program over limbs, with the same inputs and outputs as the unrolled program `like`.

        `law(loaded)` is the law of a loaded robot with one limb of each kind. `outputs` says of which arrays, one after
        the other, each output consists; these are keys of `spreads`, such as "s".
        """
        inputs = [port.name for port in like.inputs]
        numbers: dict[str, tuple[Spread, Sequence[float]]] = {}
        for k, kind in enumerate(self.limbs):
            for what, flat in (("values", self.values[k]), ("poses", self.poses[k])):
                numbers[f"{what} {k}"] = (each(self.limbs, k, len(flat) // kind.count), flat)

        def run(one: Tree, *arrays: Any) -> Any:
            given, rows = arrays[: len(inputs)], arrays[len(inputs) :]
            small = replace(self.loaded, prepared_tree=self._attached(one, rows[1::2]))
            arrays_of = zip(inputs, given, strict=True)
            state = {group: array[0] if group in NUMBERS else array for group, array in arrays_of}
            state["p"] = [x for row in rows[::2] for x in row]
            return at_instant(law(small), state)

        made = {out: reduce(operator.add, (self.spreads[group] for group in groups)) for out, groups in outputs.items()}
        spreads = {group: self.spreads[group] for group in inputs}
        return limb_program(like.name, self.tree, self.limbs, run, spreads, made, numbers)

    def _attached(self, one: Tree, rows: Sequence[Sequence[Any]]) -> Tree:
        """The tree `one`, which has one limb of each kind, with the limbs' bodies and frames attached to its links.

        `rows` has, for each kind of limb, the poses of these bodies and frames: 9 entries of R and 3 of p [m] each.
        """
        found = dict(one.attachments)
        kept = kept_places(self.tree, self.limbs)[0]
        for names, row in zip(self.attached, rows, strict=True):
            for k, name in enumerate(names):
                x = row[12 * k : 12 * k + 12]
                pose = Pose((tuple(x[:3]), tuple(x[3:6]), tuple(x[6:9])), tuple(x[9:]))
                found[name] = Attachment(kept.index(self.tree.attachments[name].link), pose)
        return replace(one, attachments=found)


def with_limbs_abreast(
    found: Folded | None, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]
) -> Program:
    """The program of a law, with limbs in SIMD lanes for one state, if the system is folded and that is faster."""
    if found is None:
        return program
    try:
        return faster_of(program, found.program(program, law, outputs))
    except CopiesMeet:  # an element of a limb acts on the body that carries the limb too
        return program


@kept_with
def folded(loaded: LoadedRobot) -> Folded | None:
    """The system with one limb of each kind; None where there are no similar limbs, or where a law reads all limbs."""
    dynamics, added = loaded.dynamics, loaded.added
    laws = added.forces is not None or added.state_rates is not None
    if dynamics.formulation != "newton_euler" or loaded.constrained or laws or loaded.parameters or loaded.locked:
        return None
    if dynamics.robot.is_timed or loaded.elements.automaton is not None:
        return None
    tree = loaded.prepared(resolve(dynamics.robot))
    limbs = tuple(like_limbs(tree))
    if not limbs or loaded.couples_links:
        return None
    try:
        return _Folding(loaded, tree, limbs).result()
    except _Unlike:
        return None


# ── comparing limbs ───────────────────────────────────────────────────────────────────────────────────────────────────


class _Part(NamedTuple):
    """An element, or the part of an element for one limb, and the indices of its states, memory and inputs."""

    element: Any
    x: list[int]
    m: list[int]
    u: list[int]


Group = tuple[int, list[_Part]]  # the kind of limb, and corresponding parts, one for each limb; or a single element


class _Folding:
    """Makes the system with one limb of each kind; raises _Unlike where limbs of a kind differ too much."""

    def __init__(self, loaded: LoadedRobot, tree: Tree, limbs: Sequence[Limbs]) -> None:
        self.tree, self.limbs, self.pushed = tree, tuple(limbs), loaded.added.pushed
        self.robot, self.formulation = loaded.dynamics.robot, loaded.dynamics.formulation
        self.ensemble, self.account = loaded.elements, loaded.account
        self.first: dict[str, str] = {}  # name on a limb -> the corresponding name on the first limb of its kind
        self.owner: dict[str, Owner] = {}  # name of a body, frame, joint or element -> the limb it belongs to
        self.parameters: list[list[Parameter]] = [[] for _ in limbs]
        self.values: list[list[list[float]]] = [[] for _ in limbs]  # by kind and parameter, one value for each limb

    def result(self) -> Folded:
        attached = [self._name_parts(number) for number in range(len(self.limbs))]
        groups = self._groups()
        robot = self._small_robot()
        small = [self._merged_element(group) for group in groups]
        cast = ensemble(robot, small)
        spreads = self._spreads(groups)
        kept = kept_places(self.tree, self.limbs)[0]
        limb_of = {
            index: kept.index(self.limbs[kind].first) for index, (kind, group) in enumerate(groups) if len(group) > 1
        }
        parameters = tuple(parameter for kind in self.parameters for parameter in kind)
        added = Additions(inputs=robot.nv if self.pushed else 0, pushed=self.pushed)
        return Folded(
            self.tree,
            self.limbs,
            LoadedRobot(
                Dynamics(robot, self.formulation), cast, parameters, added, account=self.account, limb_of=limb_of
            ),
            tuple(tuple(x for row in zip(*columns, strict=True) for x in row) for columns in self.values),
            tuple(tuple(names) for names in attached),
            tuple(tuple(self._poses(kind, names)) for kind, names in zip(self.limbs, attached, strict=True)),
            spreads,
        )

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _name_parts(self, number: int) -> list[str]:
        """Records the names of bodies, frames and joints on limbs of a kind; returns bodies and frames of the first."""
        kind, attachments = self.limbs[number], self.tree.attachments
        bodies = {*self.robot.body_names}
        rows: list[list[tuple[str, int, str]]] = [[] for _ in range(kind.count)]  # (what, link, name) of each limb
        for name, at in attachments.items():
            if at.link in kind.owners:
                limb, link = kind.owners[at.link]
                rows[limb].append(("body" if name in bodies else "frame", link, name))
        for joint in self.robot.joints:
            carried = attachments[joint.child].link
            if carried in kind.owners:
                limb, link = kind.owners[carried]
                names = dict.fromkeys((joint.name, *joint.motion_names("v")))  # of the joint and of its axes
                rows[limb] += [(f"{joint.kind} {k}", link, name) for k, name in enumerate(names)]
        for row in rows:
            row.sort(key=lambda entry: entry[:2])
        for limb, row in enumerate(rows):
            if [entry[:2] for entry in row] != [entry[:2] for entry in rows[0]]:
                raise _Unlike
            for (*_, name), (*_, like) in zip(row, rows[0], strict=True):
                self._learn(name, like, (number, limb))
        return [name for what, _, name in rows[0] if what in ("body", "frame")]

    def _learn(self, name: str, like: str, owner: Owner) -> None:
        """Records a name on a limb with its counterpart on the first limb; a body and a joint may share a name."""
        if self.first.setdefault(name, like) != like or self.owner.setdefault(name, owner) != owner:
            raise _Unlike

    def _poses(self, kind: Limbs, names: Sequence[str]) -> Iterator[float]:
        alike = {(like, self.owner[name][1]): name for name, like in self.first.items()}
        for limb in range(kind.count):
            for name in names:
                pose = self.tree.attachments[alike[name, limb]].pose
                yield from (float(x) for row in (*pose.R, pose.p) for x in row)

    # ── elements ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _groups(self) -> list[Group]:
        """The elements in groups, each with the kind of their limbs, in the order of the small system.

        There is a group for each element outside limbs, one for each set of corresponding elements of limbs, and one
        for the parts of each element that is divided.
        """
        elements = [member.element for member in self.ensemble.members]
        owners: dict[int, Owner] = {}
        groups: dict[int, Group] = {}
        known = -1
        while known != len(owners):  # elements that name elements that name limbs ...
            known = len(owners)
            for index, element in enumerate(elements):
                named = {owner for text in _texts(element) if (owner := self._owner(text)) is not None}
                if len(named) > 1:
                    groups[index] = self._divided(index)
                elif named:
                    (owners[index],) = named
                    if self.owner.setdefault(element.name, owners[index]) != owners[index]:
                        raise _Unlike
        if any(
            self._spans(member)
            for index, member in enumerate(self.ensemble.members)
            if index not in owners and index not in groups
        ):
            raise _Unlike
        of_limbs: dict[Owner, list[int]] = {}
        for index, owner in owners.items():
            of_limbs.setdefault(owner, []).append(index)
        for index in range(len(elements)):
            if index not in owners and index not in groups:
                groups[index] = (0, [self._part(index)])
        for number, kind in enumerate(self.limbs):
            rows = [sorted(of_limbs.get((number, limb), [])) for limb in range(kind.count)]
            if len({*map(len, rows)}) > 1:
                raise _Unlike
            for group in zip(*rows, strict=True):
                groups[group[0]] = (number, [self._part(index) for index in group])
                for limb, index in enumerate(group):
                    self._learn(elements[index].name, elements[group[0]].name, (number, limb))
        return [groups[index] for index in sorted(groups)]

    def _divided(self, index: int) -> Group:
        """The parts of an element that names all limbs of one kind, a part for each limb."""
        element, law, *_ = self.ensemble.members[index]
        fields = [getattr(element, name) for name in law.per_joint(element)]
        rows = [values for values in fields if fields and len(values) == len(fields[0])]
        owners = [{self._owner(text) for text in _texts(entries)} - {None} for entries in zip(*rows, strict=True)]
        if not owners or any(len(named) != 1 for named in owners):
            raise _Unlike
        limbs = [named.pop() for named in owners]
        kinds = {owner[0] for owner in limbs if owner is not None}
        if len(kinds) > 1:
            raise _Unlike
        (kind,) = kinds
        counts = range(self.limbs[kind].count)
        parts = divided(
            element, law, [[k for k, owner in enumerate(limbs) if owner == (kind, limb)] for limb in counts]
        )
        if parts is None:
            raise _Unlike
        return kind, [self._part(index, part) for part in parts]

    def _part(self, index: int, part: Any = None) -> _Part:
        """An element, or a part of it, with the indices of its states, memory and inputs, which are found by name."""
        element, law, x, m = self.ensemble.members[index]
        part = element if part is None else part

        def among(slots: Any) -> list[int]:
            names = [slot.name for slot in slots(element)]
            return [names.index(slot.name) for slot in slots(part)]

        wanted = {slot.name for slot in law.inputs(part)}
        return _Part(
            part,
            [x + k for k in among(law.states)],
            [m + k for k in among(law.memory)],
            [k for k, (owner, name) in enumerate(self.ensemble.open_inputs) if owner == index and name in wanted],
        )

    def _spans(self, member: Member) -> bool:
        """Whether an element whose data name no limb acts on limbs all the same, as additional gravity does.

        Its effect may then depend on numbers that differ between limbs, such as masses. An element that does not state
        where it acts counts as acting on limbs.
        """
        element, law, *_ = member
        if type(law).effort is ElementLaw.effort or law.limb_by_limb(element):
            return False
        named = law.acts_on(element, self.robot)
        return not named or any(name in self.owner for name in named)

    def _owner(self, text: str) -> Owner | None:
        return next((self.owner[name] for name in _readings(text) if name in self.owner), None)

    def _renamed(self, text: str) -> str:
        for name in _readings(text):
            if name in self.first:
                return text.replace(name, self.first[name], 1)
        return text

    def _merged_element(self, group: Group) -> Any:
        """The element of the first limb, with parameters in place of numbers in which limbs differ."""
        kind, parts = group
        elements = [part.element for part in parts]
        if len(parts) == 1:
            return elements[0]
        return self._merged(elements, kind, elements[0].name, numeric=False)

    def _merged(self, values: Sequence[Any], kind: int, name: str, *, numeric: bool) -> Any:
        """The common value of all limbs; names are those of the first limb, different numbers become a parameter.

        `name` is that of the parameter, and `numeric` tells whether numbers may become one.
        """
        one = values[0]
        if any(type(value) is not type(one) for value in values):
            raise _Unlike
        if isinstance(one, str):
            if len({self._renamed(value) for value in values}) > 1:
                raise _Unlike
            return one
        if is_dataclass(one) and not isinstance(one, type):
            split = law_of(one).per_joint(one) if hasattr(one, "joints") else ()
            members = {
                field.name: self._merged(
                    [getattr(value, field.name) for value in values],
                    kind,
                    f"{name}.{field.name}",
                    numeric=numeric or "Value" in str(field.type) or "Vector" in str(field.type) or field.name in split,
                )
                for field in fields(one)
            }
            return replace(one, **members)
        if isinstance(one, tuple) and all(len(value) == len(one) for value in values):
            entries = zip(*values, strict=True)
            parts = [self._merged(entry, kind, f"{name}.{k}", numeric=numeric) for k, entry in enumerate(entries)]
            return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)
        if all(value == one for value in values):
            return one
        if not numeric or not isinstance(one, float):
            raise _Unlike
        parameter = Parameter(name, one)
        self.parameters[kind].append(parameter)
        self.values[kind].append(list(values))
        return parameter

    # ── the small robot ───────────────────────────────────────────────────────────────────────────────────────────

    def _small_robot(self) -> Robot:
        """The robot with only the first limb of each kind."""
        gone = {name for name, (_, limb) in self.owner.items() if limb}
        joints = [self._merged_joint(joint) for joint in self.robot.joints if joint.name not in gone]
        return Robot(
            self.robot.name,
            tuple(body for body in self.robot.bodies if body.name not in gone),
            tuple(joints),
            frames=tuple(frame for frame in self.robot.frames if frame.name not in gone),
            gravity=self.robot.gravity,
        )

    def _merged_joint(self, joint: Joint) -> Joint:
        """A joint of the first limb, with a parameter as damping if limbs differ in it.

        Raises _Unlike for other differences, except for those of geometry, which the tree has in tables.
        """
        if joint.name not in self.owner:
            return joint
        alike = [one for one in self.robot.joints if self.first.get(one.name) == joint.name]
        kind = self.owner[joint.name][0]
        for field in fields(joint):
            if field.name not in (*GEOMETRY, "damping") and len({getattr(one, field.name) for one in alike}) > 1:
                raise _Unlike
        damping = self._merged([one.damping for one in alike], kind, f"{joint.name}.damping", numeric=True)
        return replace(joint, damping=damping)

    # ── arrays ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _spreads(self, groups: Sequence[Group]) -> dict[str, Spread]:
        whole = self.ensemble
        along_v = as_v(self.tree, self.limbs)
        x = self._along(groups, len(whole.states), lambda part: part.x)
        if self.account:
            x = x + common(2)
        m = self._along(groups, len(whole.memory), lambda part: part.m)
        u = along_v if self.pushed else self._along(groups, len(whole.open_inputs), lambda part: part.u)
        base = as_q(self.tree, self.limbs)
        return {
            **{"t": common(1), "h": common(1), "base": base, "s": along_v + along_v + x},
            **{"m": m, "u": u, "p": common(0), "v": along_v, "guess": along_v},
        }

    def _along(self, groups: Sequence[Group], size: int, share: Callable[[_Part], list[int]]) -> Spread:
        """The layout of an array with entries for each element: share(part) are the indices of the entries."""
        spots: list[Spot] = []
        for kind, parts in groups:
            shares = [share(part) for part in parts]
            if len(parts) == 1:
                spots += map(Spot, shares[0])
                continue
            if len({*map(len, shares)}) > 1:
                raise _Unlike
            for places in zip(*shares, strict=True):
                stride = places[1] - places[0]
                if any(place != places[0] + k * stride for k, place in enumerate(places)):
                    raise _Unlike
                spots.append(Spot(places[0], kind, stride))
        return Spread(size, tuple(spots))


def _texts(value: Any) -> Iterator[str]:
    """All strings in an element's data, except its own name."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name != "name":
                yield from _texts(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)


def _readings(text: str) -> Iterator[str]:
    """The names that a text may refer to: the text itself, or part of "q.hip", "element.signal" or "q.base.x"."""
    rest = text[2:] if text[:2] in ("q.", "v.") else text
    for name in (text, rest):
        yield name
        yield name.rpartition(".")[0]
