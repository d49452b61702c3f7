"""One program as several: with room for something else between them, and what repeats written once.

What a loop computes may lie between two stretches of straight-line code: the first gives what the loop takes, the
second takes what it gives. And the same may be done to several groups of inputs (`repeats`). Traced together, all of
that is one graph and shares what it has in common. `staged` cuts it, into outputs that are wanted early and the others,
and both by what operations depend on:

    common    on no copy           computed once, first
    copies    on one copy alone    one program, in a loop over the copies
    joint     on several           computed once, last

Every operation is in one part only; what later parts need of it is carried there in an array. What only some copies
need is computed for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from kinemorph.blocks import Item
from kinemorph.codegen.graph import LEAVES, Graph
from kinemorph.codegen.loops import Affine, LoopBuilder, View, affine
from kinemorph.codegen.program import Port, Program
from kinemorph.codegen.repeats import COMMON, JOINT, Merged, Place, Repeat, merged, node_again, whole

EARLY, LATE = 0, 1


@dataclass(frozen=True)
class Part:
    """A program, the places of its ports, and for how many copies it runs (0 where it is not in a loop)."""

    program: Program
    outs: tuple[Place, ...]
    ins: tuple[Place, ...]
    count: int

    def write(self, loop: LoopBuilder, arrays: Mapping[str, View]) -> None:
        """Runs it, on arrays by name."""
        if not self.count:
            self._call(loop, arrays, affine(0))
            return
        with loop.repeat(self.count) as k:
            self._call(loop, arrays, k)

    def _call(self, loop: LoopBuilder, arrays: Mapping[str, View], k: Affine) -> None:
        def view(place: Place) -> View:
            array = arrays[place.array]
            return View(array.array, (place.size,), array.offset + k * place.stride + place.start)

        loop.call(self.program, list(map(view, self.outs)), list(map(view, self.ins)))


@dataclass(frozen=True)
class Staged:
    """The parts of the early and of the late stage, in the order they run, and the arrays that carry values."""

    stages: tuple[tuple[Part, ...], tuple[Part, ...]]
    carried: tuple[Port, ...]

    @property
    def ops(self) -> int:
        """Operations in all parts, each counted once however often it runs."""
        return sum(part.program.ops for parts in self.stages for part in parts)

    def write(self, loop: LoopBuilder, stage: int, arrays: Mapping[str, View]) -> None:
        """Runs a stage, on arrays by the names of the program's ports and of those that carry values."""
        for part in self.stages[stage]:
            part.write(loop, arrays)


def staged(program: Program, early: Sequence[str], repeats: Sequence[Repeat] = ()) -> Staged:
    """The outputs named `early` as one stage and all others as another, cut by what repeats."""
    cut = _Cut(program, early, repeats)
    for key in reversed(cut.keys):
        cut.look_for_sources(key)
    parts = {key: cut.part(key) for key in cut.keys if cut.outputs(key)}
    stages = [tuple(part for (at, _), part in parts.items() if at == stage) for stage in (EARLY, LATE)]
    return Staged((stages[EARLY], stages[LATE]), tuple(cut.array(key) for key in cut.keys if cut.drafts[key].carried))


# ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Key = tuple[int, int]  # of a part: its stage, and COMMON, JOINT or the number of its repeat
Written = tuple[Place, list[int]]  # references, and the place they are written to


@dataclass
class _Draft:
    """What a part has to do: outputs to write, nodes to carry (with their places in the array), nodes it is given."""

    written: list[Written] = field(default_factory=list)
    carried: dict[int, int] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)


class _Cut:
    """A program on its way into parts. References of joint parts are those of the program, all others of `merged`."""

    def __init__(self, program: Program, early: Sequence[str], repeats: Sequence[Repeat]) -> None:
        self.program, self.repeats = program, repeats
        self.merged: Merged = merged(program, repeats)
        self.keys = [(stage, kind) for stage in (EARLY, LATE) for kind in (COMMON, *range(len(repeats)), JOINT)]
        self.drafts = {key: _Draft() for key in self.keys}
        self.key: dict[int, Key] = {}  # node of `merged` -> its part
        self.joint: dict[int, Key] = {}  # joint node -> its part
        self._assign(early)
        left = iter(program.refs)
        for port in program.outputs:
            stage = EARLY if port.name in early else LATE
            for kind, place, refs in self._shared_out(port, list(islice(left, port.size))):
                self.drafts[stage, kind].written.append((place, refs))

    def _assign(self, early: Sequence[str]) -> None:
        """Finds the part of every operation."""
        nodes, names = self.program.graph.nodes, [port.name for port in self.program.outputs for _ in range(port.size)]
        first = self.program.graph.reachable(
            ref for name, ref in zip(names, self.program.refs, strict=True) if name in early
        )
        wanted = set(first)
        for i in self.program.order:
            if nodes[i][0] in LEAVES:
                continue
            stage, kind = EARLY if i in wanted else LATE, self.merged.repeat_of(i)
            if kind == JOINT:
                self.joint[i] = (stage, JOINT)
            else:
                there = abs(self.merged.refs[i])
                self.key[there] = min(self.key.get(there, (LATE, kind)), (stage, kind))
        for graph, keys in ((self.program.graph, self.joint), (self.merged.graph, self.key)):
            for i in keys:  # only numbers are carried, so entries of a block's value stay with it
                if type(graph.nodes[i][0]) is Item:
                    keys[i] = keys[graph.nodes[i][1]]

    # ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _shared_out(self, port: Port, refs: Sequence[int]) -> Iterator[tuple[int, Place, list[int]]]:
        """Who writes what of an output.

        The common part fills an array as far as it can; copies write what stands at regular distances, copy by copy;
        the rest is left to the joint part.
        """
        owners = [self.merged.owner[abs(ref)] for ref in refs]
        left = [entry for entry, owner in enumerate(owners) if owner != COMMON]
        if len(left) < len(refs):
            known = [self.merged.ref(ref) if owner == COMMON else 0 for ref, owner in zip(refs, owners, strict=True)]
            yield COMMON, whole(port), known
        for number, repeat in enumerate(self.repeats):
            entries: list[list[tuple[int, int]]] = [[] for _ in range(repeat.count)]
            for entry in left:
                if self.merged.repeat_of(abs(refs[entry])) == number:
                    k = self.merged.copies[owners[entry]][1]
                    entries[k].append((entry, self.merged.ref(refs[entry])))
            for place, run in _runs(port.name, entries):
                yield number, place, run
                done = {place.start + k * place.stride + e for k in range(repeat.count) for e in range(place.size)}
                left = [entry for entry in left if entry not in done]
        for first, size in _stretches(left):
            yield JOINT, Place(port.name, first, 0, size), list(refs[first : first + size])

    def outputs(self, key: Key) -> list[Written]:
        """All that a part writes, what it carries last."""
        draft = self.drafts[key]
        carried = [(self._row(key), list(draft.carried))] if draft.carried else []
        return [*draft.written, *carried]

    # ── what comes from other parts ───────────────────────────────────────────────────────────────────────────────

    def look_for_sources(self, key: Key) -> None:
        """Finds what a part is given, and asks the parts before it to carry that. All later parts have asked before."""
        draft = self.drafts[key]
        graph, own = (self.program.graph, self.joint) if key[1] == JOINT else (self.merged.graph, self.key)
        seen = set[int]()
        stack = [abs(ref) for _, refs in self.outputs(key) for ref in refs]
        while stack:
            i = stack.pop()
            if i in seen or graph.nodes[i][0] == "const":
                continue
            seen.add(i)
            if own.get(i) == key:
                stack += map(abs, graph.nodes[i][1:])
            else:
                draft.given.append(i)
        draft.given.sort()
        for i in draft.given:
            source = self._source(key, i)
            if source is not None:
                carried = self.drafts[source[0]].carried
                carried.setdefault(source[1], len(carried))

    def _source(self, key: Key, i: int) -> tuple[Key, int] | None:
        """The part that a node comes from, and the node there; None for inputs."""
        if key[1] == JOINT:
            if i in self.joint:
                return self.joint[i], i
            if self.program.graph.nodes[i][0] == "input":
                return None
            i = abs(self.merged.refs[i])
        return (self.key[i], i) if i in self.key else None

    def array(self, key: Key) -> Port:
        """The array in which a part carries values on, one row for each copy."""
        what = {COMMON: "common", JOINT: "joint"}.get(key[1], f"copies {key[1]}")
        return Port(f"{what}, {('early', 'late')[key[0]]}", (max(self._count(key), 1), len(self.drafts[key].carried)))

    def _row(self, key: Key) -> Place:
        """A copy's row of it."""
        array = self.array(key)
        return Place(array.name, 0, array.shape[1] if self._count(key) else 0, array.shape[1])

    def _count(self, key: Key) -> int:
        return self.repeats[key[1]].count if key[1] >= 0 else 0

    def _place(self, key: Key, i: int) -> tuple[Place, int, int]:
        """Where a part finds a node that it is given: place, entry there, sign."""
        source = self._source(key, i)
        if source is None:
            if key[1] != JOINT:
                return *self.merged.inputs[i], 1
            place, entry = self.merged.inputs[self.merged.refs[i]]
            k = self.merged.copies[self.merged.owner[i]][1] if self.merged.owner[i] >= 0 else 0
            port = next(port for port in self.program.inputs if port.name == place.array)
            return whole(port), place.start + k * place.stride + entry, 1
        (there, node) = source
        entry = self.drafts[there].carried[node]
        if key[1] != JOINT or there[1] < 0:
            sign = -1 if key[1] == JOINT and there[1] == COMMON and self.merged.refs[i] < 0 else 1
            return self._row(there), entry, sign
        array = self.array(there)
        k = self.merged.copies[self.merged.owner[i]][1]
        return whole(array), k * array.shape[1] + entry, -1 if self.merged.refs[i] < 0 else 1

    # ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def part(self, key: Key) -> Part:
        """The part in a graph of its own."""
        source, graph = self.program.graph if key[1] == JOINT else self.merged.graph, Graph()
        given = {i: self._place(key, i) for i in self.drafts[key].given}
        ins = list(dict.fromkeys(place for place, _, _ in given.values()))
        inputs = {
            place: [graph.input(f"{place.array}[{place.start + entry}]").ref for entry in range(place.size)]
            for place in ins
        }
        refs = {i: sign * inputs[place][entry] for i, (place, entry, sign) in given.items()}
        written = self.outputs(key)
        for i in source.reachable((ref for _, entries in written for ref in entries), given.keys()):
            op, *args = source.nodes[i]
            if op == "const":
                refs[i] = graph.constant(args[0])
            else:
                refs[i] = node_again(graph, op, [refs[arg] if arg >= 0 else -refs[-arg] for arg in args])
        outs = [place for place, _ in written]
        return Part(
            Program(
                f"{self.program.name}, {self.array(key).name}",
                tuple(Port(f"in{k}", (place.size,)) for k, place in enumerate(ins)),
                tuple(Port(f"out{k}", (place.size,)) for k, place in enumerate(outs)),
                graph,
                tuple(refs[ref] if ref >= 0 else -refs[-ref] for _, entries in written for ref in entries),
            ),
            tuple(outs),
            tuple(ins),
            self._count(key),
        )


def _runs(name: str, entries: Sequence[Sequence[tuple[int, int]]]) -> Iterable[Written]:
    """Of (entry, reference) in an output, copy by copy: those that one loop can write, as many at once as stand side
    by side.
    """
    if len(set(map(len, entries))) > 1:
        return
    regular = []
    for (start, ref), *others in zip(*entries, strict=True):
        stride = others[0][0] - start if others else 0
        if all(other == (start + (k + 1) * stride, ref) for k, other in enumerate(others)):
            regular.append((start, stride, ref))
    for _, run in groupby(enumerate(regular), lambda item: (item[1][0] - item[0], item[1][1])):
        starts, strides, refs = zip(*(one for _, one in run), strict=True)
        yield Place(name, starts[0], strides[0], len(starts)), list(refs)


def _stretches(entries: Sequence[int]) -> list[tuple[int, int]]:
    """(first, how many) of whole numbers that follow each other."""
    runs = (list(run) for _, run in groupby(enumerate(entries), lambda item: item[1] - item[0]))
    return [(run[0][1], len(run)) for run in runs]
