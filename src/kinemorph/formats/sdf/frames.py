"""Frames of SDF: links, joints, models and frames proper, placed against each other by name, in any order.

A pose is relative to a named frame, and a frame moves with the one it is attached to. Both are pointers; they are
followed without recursion, rings are found, and every name is looked up in the scope (model or world) that holds it:

    relative_to, if not given:   link, nested model -> the frame of its model     joint -> its child
                                 frame -> what it is attached to                   model -> the world
    attached_to, if not given:   frame -> the frame of its model                   joint -> its child
                                 model -> its canonical link, static model -> the world

A model with a placement frame is placed so that this frame within it lies at the model's pose. Poses are kept relative
to the model that owns a frame, so models that lie far out lose no digits. Source: sdformat.org, "Pose frame semantics".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, relative
from kinemorph.formats.findings import Findings
from kinemorph.model.input_reader import short
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean

DUST = 4.5e-16  # what products of rotations leave where an exact one has a zero: two roundings

NAMED = "\0"  # marks an `attached_to` that is still a name
PENDING = ""  # an `attached_to` that is not set: a model without links


@dataclass(frozen=True)
class Scope:
    """Where names are looked up: they stand for `prefix::name`. `home` is the key of the frame called __model__."""

    prefix: str
    home: str

    def key(self, name: str) -> str:
        """The key of a name in this scope."""
        return f"{self.prefix}::{name}" if self.prefix else name


@dataclass
class Entry:
    """One frame: its pose against `relative_to`, and what it moves with. `owner` is the frame of its model."""

    owner: str
    scope: Scope  # where its references are looked up
    pose: Pose
    relative_to: str  # a name; empty for `default`
    default: str  # a key
    attached_to: str | None  # a key or a name; None: it is a body itself
    line: int
    element: str
    findings: Findings
    placement: str = ""  # the frame inside that the pose is about, for models
    inside: Scope | None = None  # the scope of a model, where `placement` and its canonical link are looked up
    attribute: str = "attached_to"  # what messages call the reference to what it moves with

    def error(self, rule: str, problem: str, remedy: str) -> None:
        """Records what is wrong with this frame."""
        self.findings.error(rule, self.line, self.element, problem, remedy)


class Frames:
    """All frames of a file and of those it includes, by key. Declare, then `settle`, then ask."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._local: dict[str, Pose] = {}  # in the owner's frame
        self._targets: dict[str, str] = {}  # key of what the pose is relative to
        self._placements: dict[str, str] = {}
        self._bodies: dict[str, str | None] = {}

    def declare(self, key: str, entry: Entry) -> bool:
        """Keeps a frame; False, with a finding, where the name is taken in its scope."""
        known = self.entries.get(key)
        if known is not None:
            problem = (
                f"{known.element} on line {known.line} has this name already, expected names that differ in a model"
            )
            entry.error("name", problem, "Rename one of the two.")
            return False
        self.entries[key] = entry
        return True

    def find(self, scope: Scope, name: str, *, world: bool = False) -> str | None:
        """The key that a name stands for in a scope; None where there is none. `world`: the world may be named."""
        if name == "__model__":
            return scope.home if scope.home != WORLD else None
        if name == WORLD:
            return WORLD if world or scope.home == WORLD else None
        for key in (scope.key(name), scope.key(name.removesuffix("::__model__"))):
            if key in self.entries and any(owner == scope.home for owner in self._owners(key)):
                return key
        return None

    def unknown(self, entry: Entry, what: str, name: str) -> None:
        """Reports a name that does not exist."""
        start = f"{entry.scope.prefix}::" if entry.scope.prefix else ""
        near = [key.removeprefix(start) for key in self.entries if key.startswith(start)] if self._few(entry) else []
        remedy = did_you_mean(name[:100], near[:1000]).strip()
        problem = f"{what} names {short(name)}, expected a link, joint, frame or model of this scope"
        entry.error("name", problem, remedy or "Declare it, or correct the name.")

    @staticmethod
    def _few(entry: Entry) -> bool:
        return not entry.findings.untold and len(entry.findings.found) < 50

    # ── settling ──────────────────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> None:
        """Looks up all names and computes all poses; findings for names that are not there, and for rings."""
        for key, entry in self.entries.items():
            self._targets[key] = self._looked_up(entry, entry.scope, "relative_to", entry.relative_to, entry.default)
            if entry.placement and entry.inside is not None:
                self._placements[key] = self._looked_up(entry, entry.inside, "placement_frame", entry.placement, key)
        for key in self.entries:
            self._place(key)

    def _looked_up(self, entry: Entry, scope: Scope, what: str, name: str, default: str) -> str:
        if not name:
            return default
        found = self.find(scope, name)
        if found is None:
            self.unknown(entry, what, name)
        return default if found is None else found

    def _owners(self, key: str) -> Iterator[str]:
        """The owner of a frame, its owner, and so on up to the world."""
        while key in self.entries:
            key = self.entries[key].owner
            yield key

    def _between(self, key: str, owner: str) -> list[str]:
        """The frames from `key` up to below `owner`, whose local poses multiply to the pose of `key` in `owner`."""
        path = []
        while key != owner and key in self.entries:
            path.append(key)
            key = self.entries[key].owner
        return path

    def _place(self, start: str) -> None:
        """Computes the local pose of a frame and of all it needs, with a stack in place of recursion."""
        stack, open_keys = [start], dict[str, None]()
        while stack:
            key = stack[-1]
            if key in self._local:
                stack.pop()
                open_keys.pop(key, None)
                continue
            entry, target = self.entries[key], self._targets[key]
            needs = self._between(target, entry.owner)
            placement = self._placements.get(key)
            if placement is not None and placement != key:
                needs = needs + self._between(placement, key)
            waiting = [need for need in needs if need not in self._local]
            ring = [need for need in waiting if need in open_keys or need == key]
            if ring:
                self._report_ring([*open_keys, key], ring[0])
                self._local[key] = entry.pose
            elif waiting:
                open_keys[key] = None
                stack += waiting
            else:
                self._local[key] = self._local_pose(key, entry, target, placement)

    def _local_pose(self, key: str, entry: Entry, target: str, placement: str | None) -> Pose:
        pose = entry.pose
        if target != entry.owner:
            pose = compose(self._inside(target, entry.owner), pose)
        if placement is not None and placement != key:
            pose = compose(pose, inverse(self._inside(placement, key)))
        return pose

    def _inside(self, key: str, owner: str) -> Pose:
        """The pose of a frame in one of its owners."""
        pose = IDENTITY
        for step in reversed(self._between(key, owner)):
            pose = self._local[step] if pose is IDENTITY else compose(pose, self._local[step])
        return pose

    def _report_ring(self, opened: list[str], first: str) -> None:
        ring = opened[opened.index(first) :]
        entry = self.entries[ring[-1]]
        shown = " -> ".join(repr(key) for key in [*ring[:6], *(["..."] if len(ring) > 6 else []), first])
        problem = f"poses are relative to each other in a ring, {shown}, expected one that is placed in its model"
        entry.error("structure", problem, "Take relative_to away from one of them.")

    # ── asking ────────────────────────────────────────────────────────────────────────────────────────────────────

    def between(self, a: str, b: str) -> Pose:
        """T_ab: frame b seen from frame a, both keys, at the initial configuration."""
        if a == b:
            return IDENTITY
        if self._targets.get(b) == a and b not in self._placements:
            return self.entries[b].pose  # as it is written
        if self._targets.get(a) == b and a not in self._placements:
            return inverse(self.entries[a].pose)
        above = [a, *self._owners(a)]
        places = set(above)
        shared = next(owner for owner in (b, *self._owners(b)) if owner in places)
        return tidied(relative(self._inside(a, shared), self._inside(b, shared)))

    def body(self, key: str) -> str | None:
        """The key of the link that a frame moves with, or the world; None where there is none."""
        return self._bodies.get(key)

    def attach(self) -> None:
        """Finds what every frame moves with; findings for names that are not there, and for rings. Before `settle`."""
        for entry in self.entries.values():
            if entry.attached_to == PENDING:
                problem = "it has no links, expected at least one"
                entry.error("structure", problem, "Add a link, or declare the model static.")
                entry.attached_to = WORLD
            if entry.attached_to is not None and entry.attached_to.startswith(NAMED):
                name, scope = entry.attached_to.removeprefix(NAMED), entry.inside or entry.scope
                found = self.find(scope, name)
                if found is None:
                    self.unknown(entry, entry.attribute, name)
                entry.attached_to = entry.owner if found is None else found
                if entry.inside is None:
                    entry.default = entry.attached_to
        self._bodies[WORLD] = WORLD
        for start in self.entries:
            path, key = dict[str, None](), start
            while key not in self._bodies and key not in path:
                path[key] = None
                following = self.entries[key].attached_to
                if following is None:
                    self._bodies[key] = key
                else:
                    key = following
            if key not in self._bodies:
                entry = self.entries[key]
                problem = (
                    f"by {entry.attribute} it moves with itself, expected a chain that ends at a link or the world"
                )
                entry.error("structure", problem, "Attach it to a link.")
            self._bodies |= dict.fromkeys(path, self._bodies.get(key))


def tidied(pose: Pose) -> Pose:
    """A pose without rounding errors: entries of the rotation within a rounding or two of 0, 1 or -1 become exact."""

    def clean(x: float) -> float:
        return round(x) + 0.0 if abs(x - round(x)) <= DUST else x

    size = max(map(abs, pose.p))
    return Pose(
        tuple(tuple(clean(x) for x in row) for row in pose.R),
        tuple(0.0 if abs(x) <= DUST * size else x for x in pose.p),
    )
