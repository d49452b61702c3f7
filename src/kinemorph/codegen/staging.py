"""One program as several: with room for something else between them, and what repeats written once.

What a loop computes may lie between two stretches of straight-line code: the first gives what the loop takes, the
second takes what it gives. And the same may be done to several *copies* of a group of inputs, as to the coordinates of
each leg of a robot: then the program is traced with one of them, and says where those of copy k stand (`Spot`). What
all copies add up to it takes from `Sums`. Traced together, all of that is one graph and shares what it has in common.
`staged` cuts it, into outputs that are wanted early and the others, and both by what operations depend on:

    common    on no copy           computed once, first
    copies    on a copy            one program, in a loop over the copies
    joint     on sums of copies    computed once, last

Every operation is in one part only; what later parts need of it is carried there in an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, NamedTuple

from kinemorph.blocks import Item
from kinemorph.codegen.graph import Expr, Graph
from kinemorph.codegen.loops import Affine, LoopBuilder, View, affine
from kinemorph.codegen.program import Port, Program
from kinemorph.errors import CompileError

COMMON, JOINT = -1, -2  # kinds of parts; copies have the number of their repeat
EARLY, LATE = 0, 1
SUM, SUMMAND = "sum {}", "summand {}"  # ports: sums over the copies of a repeat are given, what one adds is an output


class Spot(NamedTuple):
    """Where an entry of a port stands in its array: at `place`, of copy k of a repeat at place + k stride."""

    place: int
    repeat: int = COMMON
    stride: int = 0


class Place(NamedTuple):
    """`size` numbers of an array from `start` on; of copy k, from start + k stride on."""

    array: str
    start: int
    stride: int
    size: int


class Sums:
    """Sums over all copies of a repeat, while a program is traced with one copy: `given` are inputs that stand for
    them, `summands` what the copy adds.
    """

    def __init__(self, given: Sequence[Any], count: int) -> None:
        self.summands: list[Any] = []
        self._given, self._count = given, count
        self._known: dict[int, Any] = {}

    def __call__(self, x: Any) -> Any:
        """The sum of x over all copies."""
        if not isinstance(x, Expr):
            return self._count * x
        if abs(x.ref) not in self._known:
            self._known[abs(x.ref)] = self._given[len(self.summands)]
            self.summands.append(Expr(x.graph, abs(x.ref)))
        total = self._known[abs(x.ref)]
        return total if x.ref > 0 else -total


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

    def write(self, loop: LoopBuilder, stage: int, arrays: Mapping[str, View]) -> None:
        """Runs a stage, on arrays by the names of the program's ports and of those that carry values.

        Entries of outputs that belong to a copy and are zero are left as they are.
        """
        for part in self.stages[stage]:
            part.write(loop, arrays)


def staged(
    program: Program,
    early: Sequence[str],
    counts: Sequence[int] = (),
    spots: Mapping[str, Sequence[Spot]] | None = None,
) -> Staged:
    """The outputs named `early` as one stage and all others as another.

    `counts` are the numbers of copies of each repeat; `spots` says for ports with entries of copies where all their
    entries stand.
    """
    cut = _Cut(program, early, counts, spots or {})
    for key in reversed(cut.keys):
        cut.look_for_sources(key)
    parts = {key: cut.part(key) for key in cut.keys if cut.outputs(key)}
    stages = [tuple(part for (at, _), part in parts.items() if at == stage) for stage in (EARLY, LATE)]
    return Staged((stages[EARLY], stages[LATE]), tuple(cut.array(key) for key in cut.keys if cut.drafts[key].carried))


# ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Key = tuple[int, int]  # of a part: its stage and its kind
Written = tuple[Place, list[int]]  # references, and the place they are written to


@dataclass
class _Draft:
    """What a part has to do: outputs to write, nodes to carry (with their places in the array), nodes it is given."""

    written: list[Written] = field(default_factory=list)
    carried: dict[int, int] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)


class _Cut:
    """A program on its way into parts."""

    def __init__(
        self, program: Program, early: Sequence[str], counts: Sequence[int], spots: Mapping[str, Sequence[Spot]]
    ) -> None:
        self.program, self.graph, self.counts = program, program.graph, counts
        self.keys = [(stage, kind) for stage in (EARLY, LATE) for kind in (COMMON, *range(len(counts)), JOINT)]
        self.drafts = {key: _Draft() for key in self.keys}
        left = iter(program.refs)
        self.refs = {port.name: list(islice(left, port.size)) for port in program.outputs}
        self.summands: dict[int, tuple[int, int]] = {}  # input that is a sum -> its repeat, and what a copy adds
        self.inputs: dict[int, tuple[Place, int]] = {}  # other inputs -> where they stand
        self.kind: dict[int, int] = {}  # node -> the kind of its part
        self.key: dict[int, Key] = {}  # node that is no leaf -> its part
        self._place_inputs(spots)
        self._find_keys(early)
        for port in program.outputs:
            if port.name not in map(SUMMAND.format, range(len(counts))):
                stage = EARLY if port.name in early else LATE
                self._share_out(port, stage, spots.get(port.name) or _as_they_are(port))

    def _place_inputs(self, spots: Mapping[str, Sequence[Spot]]) -> None:
        nodes = (self.graph.index["input", k] for k in range(sum(port.size for port in self.program.inputs)))
        for port in self.program.inputs:
            own = list(islice(nodes, port.size))
            for repeat in range(len(self.counts)):
                if port.name == SUM.format(repeat):
                    added = self.refs[SUMMAND.format(repeat)]
                    self.summands |= {i: (repeat, ref) for i, ref in zip(own, added, strict=False)}
            if not self.summands.keys() & own:
                for run, place in _runs(
                    port.name, list(zip(own, spots.get(port.name) or _as_they_are(port), strict=True))
                ):
                    self.inputs |= {i: (place, entry) for entry, (i, _) in enumerate(run)}
                    self.kind |= {i: spot.repeat for i, spot in run}
        self.kind |= dict.fromkeys(self.summands, JOINT)

    def _find_keys(self, early: Sequence[str]) -> None:
        """Finds the part of every operation."""
        nodes, kind = self.graph.nodes, self.kind
        wanted = set(self.graph.reachable(ref for name in early for ref in self.refs[name]))
        wanted.update(self.graph.reachable(ref for i, (_, ref) in self.summands.items() if i in wanted))
        for i in self.program.order:
            op, *args = nodes[i]
            if op == "const":
                kind[i] = COMMON
            elif op != "input":
                kinds = {kind[abs(arg)] for arg in args} - {COMMON}
                if len(kinds) > 1:
                    raise self._mixed()
                kind[i] = kinds.pop() if kinds else COMMON
                self.key[i] = (EARLY if i in wanted else LATE, kind[i])
                if type(op) is Item:  # only numbers are carried, so the entries of a block's value stay with it
                    self.key[i] = self.key[args[0]]

    def _mixed(self) -> CompileError:
        return CompileError(
            f"program '{self.program.name}': what is computed once depends on a copy, or one copy on others. "
            "Take sums over copies by `Sums`."
        )

    # ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _share_out(self, port: Port, stage: int, spots: Sequence[Spot]) -> None:
        """Says which part writes which entries of an output."""
        entries: dict[int, list[tuple[int, Spot]]] = {}
        for ref, spot in zip(self.refs[port.name], spots, strict=True):
            kind = self.kind[abs(ref)]
            if kind not in ((COMMON, JOINT) if spot.repeat == COMMON else (COMMON, spot.repeat)):
                raise self._mixed()
            if spot.repeat == COMMON or ref:
                entries.setdefault(kind if spot.repeat == COMMON else spot.repeat, []).append((ref, spot))
        for kind, items in entries.items():
            runs = _runs(port.name, items)
            self.drafts[stage, kind].written += [(place, [ref for ref, _ in run]) for run, place in runs]

    def outputs(self, key: Key) -> list[Written]:
        """All that a part writes, what it carries last."""
        draft = self.drafts[key]
        carried = [(self._row(key), list(draft.carried))] if draft.carried else []
        return [*draft.written, *carried]

    # ── what comes from other parts ───────────────────────────────────────────────────────────────────────────────

    def look_for_sources(self, key: Key) -> None:
        """Finds what a part is given, and asks the parts before it to carry that. All later parts have asked before."""
        draft, nodes = self.drafts[key], self.graph.nodes
        stack = [abs(ref) for _, refs in self.outputs(key) for ref in refs]
        seen: set[int] = set()
        while stack:
            i = stack.pop()
            if i in seen or nodes[i][0] == "const":
                continue
            seen.add(i)
            if self.key.get(i) == key:
                stack += map(abs, nodes[i][1:])
            else:
                draft.given.append(i)
        draft.given.sort()
        for i in draft.given:
            if i in self.summands:
                repeat, ref = self.summands[i]
                self._carry((key[0], repeat), abs(ref))
            elif i not in self.inputs:
                self._carry(self.key[i], i)

    def _carry(self, key: Key, i: int) -> None:
        carried = self.drafts[key].carried
        carried.setdefault(i, len(carried))

    def array(self, key: Key) -> Port:
        """The array in which a part carries values on, one row for each copy."""
        what = {COMMON: "common", JOINT: "joint"}.get(key[1], f"copies {key[1]}")
        return Port(f"{what}, {('early', 'late')[key[0]]}", (max(self._count(key), 1), len(self.drafts[key].carried)))

    def _row(self, key: Key) -> Place:
        """A copy's row of it."""
        array = self.array(key)
        return Place(array.name, 0, array.shape[1] if self._count(key) else 0, array.shape[1])

    def _count(self, key: Key) -> int:
        return self.counts[key[1]] if key[1] >= 0 else 0

    # ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def part(self, key: Key) -> Part:
        """The part, in a graph of its own."""
        graph, draft, written = Graph(), self.drafts[key], self.outputs(key)
        sources: dict[int, list[tuple[Place, int]]] = {i: self._sources(key, i) for i in draft.given}
        ins = list(dict.fromkeys(place for terms in sources.values() for place, _ in terms))
        inputs = {place: [graph.input(f"{place.array}[{k}]") for k in range(place.size)] for place in ins}
        refs: dict[int, int] = {}
        for i, terms in sources.items():
            values = [inputs[place][entry] for place, entry in terms]
            total = sum(values[1:], values[0])
            refs[i] = -total.ref if i in self.summands and self.summands[i][1] < 0 else total.ref
        for i in self.graph.reachable((ref for _, entries in written for ref in entries), refs.keys()):
            op, *args = self.graph.nodes[i]
            if op == "const":
                refs[i] = graph.constant(args[0])
            else:
                refs[i] = graph.intern((op, *(refs[arg] if arg >= 0 else -refs[-arg] for arg in args)))
        outs = [place for place, _ in written]
        program = Program(
            f"{self.program.name}, {self.array(key).name}",
            tuple(Port(f"in{k}", (place.size,)) for k, place in enumerate(ins)),
            tuple(Port(f"out{k}", (place.size,)) for k, place in enumerate(outs)),
            graph,
            tuple(refs[ref] if ref >= 0 else -refs[-ref] for _, entries in written for ref in entries),
        )
        return Part(program, tuple(outs), tuple(ins), self._count(key))

    def _sources(self, key: Key, i: int) -> list[tuple[Place, int]]:
        """Where a part finds a node that it is given: place and entry; several where the node is their sum."""
        if i in self.inputs:
            return [self.inputs[i]]
        if i not in self.summands:
            return [(self._row(self.key[i]), self.drafts[self.key[i]].carried[i])]
        repeat, ref = self.summands[i]
        array = self.array((key[0], repeat))
        entry = self.drafts[key[0], repeat].carried[abs(ref)]
        whole = Place(array.name, 0, 0, array.size)
        return [(whole, k * array.shape[1] + entry) for k in range(self.counts[repeat])]


def _as_they_are(port: Port) -> list[Spot]:
    """The spots of a port that is its array."""
    return [Spot(k) for k in range(port.size)]


def _runs(array: str, entries: Sequence[tuple[int, Spot]]) -> Iterable[tuple[list[tuple[int, Spot]], Place]]:
    """Entries that stand side by side, and the place they make."""
    for _, group in groupby(enumerate(entries), lambda item: (item[1][1].place - item[0], *item[1][1][1:])):
        run = [entry for _, entry in group]
        first = run[0][1]
        yield run, Place(array, first.place, first.stride, len(run))
