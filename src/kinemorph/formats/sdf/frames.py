"""Computes the poses of SDF frames: of links, joints, models and <frame>s, which are relative to each other by name.

A pose is relative to a named frame, and a frame moves with the frame that it is attached to. These references are
followed without recursion, cycles are reported, and every name is looked up in its scope, the model or world that
contains it:

    relative_to, if not given:   link, nested model -> the frame of its model     joint -> its child
                                 frame -> the frame that it is attached to         model -> the world
    attached_to, if not given:   frame -> the frame of its model                   joint -> its child
                                 model -> its canonical link, static model -> the world

A model with a placement frame is placed so that this frame inside it is at the model's pose. Poses are stored relative
to the model that contains the frame, so that models far from the origin lose no digits. Source: sdformat.org, "Pose
frame semantics".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, relative
from kinemorph.formats.findings import Findings
from kinemorph.model.input_reader import short
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean

DUST = 4.5e-16  # two rounding errors: what a product of rotations has instead of an exact zero

NAMED = "\0"  # begins an `attached_to` that is a name, and not yet a key
PENDING = ""  # an `attached_to` that is not known yet: of a model without links


@dataclass(frozen=True)
class Scope:
    """A model or world in which names are looked up: the key of a name is `prefix::name`. `home` is the key of the
    frame of this model, which is called __model__.
    """

    prefix: str
    home: str

    def key(self, name: str) -> str:
        """The key `prefix::name` of a name in this scope."""
        return f"{self.prefix}::{name}" if self.prefix else name


@dataclass
class Entry:
    """One frame: its pose relative to `relative_to`, and the frame `attached_to` that it moves with.

    `owner` is the key of the frame of its model.
    """

    owner: str
    scope: Scope  # in which names are looked up
    pose: Pose
    relative_to: str  # a name; `default` is used if it is empty
    default: str  # a key
    attached_to: str | None  # a key, or NAMED and a name; None for a link, which is a body itself
    line: int
    element: str
    findings: Findings
    placement: str = ""  # for a model: the name of its placement frame
    inside: Scope | None = None  # for a model: its own scope, in which placement frame and canonical link are looked up
    attribute: str = "attached_to"  # the attribute or element that gives `attached_to`, for messages

    def error(self, rule: str, problem: str, remedy: str) -> None:
        """Records an error about this frame."""
        self.findings.error(rule, self.line, self.element, problem, remedy)


class Frames:
    """All frames of a file and of the files that it includes, by key.

    Call `declare` for all frames, then `attach` and `settle`, then `between` and `body`.
    """

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._local: dict[str, Pose] = {}  # in the owner's frame
        self._targets: dict[str, str] = {}  # keys of the frames that poses are relative to
        self._placements: dict[str, str] = {}
        self._bodies: dict[str, str | None] = {}

    def declare(self, key: str, entry: Entry) -> bool:
        """Adds a frame; False if its name is used already in its scope, which is recorded as a finding."""
        known = self.entries.get(key)
        if known is not None:
            place = known.findings.where(known.line)
            problem = f"{known.element} on {place} has this name already, expected different names in a model"
            entry.error("name", problem, "Rename one of the two.")
            return False
        self.entries[key] = entry
        return True

    def find(self, scope: Scope, name: str, *, world: bool = False) -> str | None:
        """The key of the frame that a name means in a scope; None if there is none. `world`: whether "world" is
        allowed inside a model.
        """
        if name == "__model__":
            return scope.home if scope.home != WORLD else None
        if name == WORLD:
            return WORLD if world or scope.home == WORLD else None
        for key in (scope.key(name), scope.key(name.removesuffix("::__model__"))):
            if key in self.entries and any(owner == scope.home for owner in self._owners(key)):
                return key
        return None

    def unknown(self, entry: Entry, what: str, name: str) -> None:
        """Reports that a frame refers to a name that does not exist; `what` is the attribute that names it."""
        start = f"{entry.scope.prefix}::" if entry.scope.prefix else ""
        near = [key.removeprefix(start) for key in self.entries if key.startswith(start)] if self._few(entry) else []
        remedy = did_you_mean(name[:100], near[:1000]).strip()
        expected = "the name of a link, joint, frame or model in the same model or world"
        problem = f"{what} is {short(name)}, expected {expected}"
        entry.error("name", problem, remedy or "Correct the name, or add this frame.")

    @staticmethod
    def _few(entry: Entry) -> bool:
        """Whether there are so few findings that a search for similar names takes little time."""
        return not entry.findings.unlisted and len(entry.findings.found) < 50

    # ── settling ──────────────────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> None:
        """Looks up the names in `relative_to` and computes all poses; findings for unknown names and for cycles."""
        for key, entry in self.entries.items():
            self._targets[key] = self._looked_up(entry, entry.scope, "relative_to", entry.relative_to, entry.default)
            if entry.placement and entry.inside is not None:
                self._placements[key] = self._looked_up(entry, entry.inside, "placement_frame", entry.placement, key)
        for key in self.entries:
            self._place(key)

    def _looked_up(self, entry: Entry, scope: Scope, what: str, name: str, default: str) -> str:
        """The key of a name in a scope; `default` if it is empty or, with a finding, unknown."""
        if not name:
            return default
        found = self.find(scope, name)
        if found is None:
            self.unknown(entry, what, name)
        return default if found is None else found

    def _owners(self, key: str) -> Iterator[str]:
        """The keys of the models that contain a frame, from the innermost to the world."""
        while key in self.entries:
            key = self.entries[key].owner
            yield key

    def _between(self, key: str, owner: str) -> list[str]:
        """The keys of frames whose local poses, multiplied from the last to the first, give the pose of `key` in the
        frame `owner` of a model that contains it.
        """
        path = []
        while key != owner and key in self.entries:
            path.append(key)
            key = self.entries[key].owner
        return path

    def _place(self, start: str) -> None:
        """Computes the local pose of a frame and of all frames that it depends on, without recursion."""
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
        """The pose of a frame in the frame of its model, from its pose relative to `target`."""
        pose = entry.pose
        if target != entry.owner:
            pose = compose(self._inside(target, entry.owner), pose)
        if placement is not None and placement != key:
            pose = compose(pose, inverse(self._inside(placement, key)))
        return pose

    def _inside(self, key: str, owner: str) -> Pose:
        """The pose of a frame in the frame `owner` of a model that contains it."""
        pose = IDENTITY
        for step in reversed(self._between(key, owner)):
            pose = self._local[step] if pose is IDENTITY else compose(pose, self._local[step])
        return pose

    def _report_ring(self, opened: list[str], first: str) -> None:
        """Reports a cycle of poses: the frames in `opened` from `first` on."""
        ring = opened[opened.index(first) :]
        entry = self.entries[ring[-1]]
        shown = " -> ".join(repr(key) for key in [*ring[:6], *(["..."] if len(ring) > 6 else []), first])
        problem = f"poses are relative to each other in a cycle: {shown}"
        entry.error("structure", problem, "Remove relative_to from one of these frames.")

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def between(self, a: str, b: str) -> Pose:
        """T_ab, the pose of frame b in frame a at the initial configuration; a and b are keys."""
        if a == b:
            return IDENTITY
        if self._targets.get(b) == a and b not in self._placements:
            return self.entries[b].pose  # the numbers of the file
        if self._targets.get(a) == b and a not in self._placements:
            return inverse(self.entries[a].pose)
        above = [a, *self._owners(a)]
        places = set(above)
        shared = next(owner for owner in (b, *self._owners(b)) if owner in places)
        return tidied(relative(self._inside(a, shared), self._inside(b, shared)))

    def body(self, key: str) -> str | None:
        """The key of the link that a frame moves with, or "world"; None if there is none."""
        return self._bodies.get(key)

    def attach(self) -> None:
        """Finds the link that every frame moves with; findings for unknown names and for cycles. To be called before
        `settle`.
        """
        for entry in self.entries.values():
            if entry.attached_to == PENDING:
                problem = "the model has no links, expected at least one"
                entry.error("structure", problem, "Add a link, or write <static>true</static>.")
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
                    f"{entry.attribute} leads back to this frame in a cycle, expected a link or the world at its end"
                )
                entry.error("structure", problem, f"Name a link in {entry.attribute}.")
            self._bodies |= dict.fromkeys(path, self._bodies.get(key))


def tidied(pose: Pose) -> Pose:
    """A pose without rounding errors: entries of the rotation that are almost 0, 1 or -1 become exact."""

    def clean(x: float) -> float:
        return round(x) + 0.0 if abs(x - round(x)) <= DUST else x

    size = max(map(abs, pose.p))
    return Pose(
        tuple(tuple(clean(x) for x in row) for row in pose.R),
        tuple(0.0 if abs(x) <= DUST * size else x for x in pose.p),
    )
