"""Divides one program into several parts: stages with other code between them, and loops over equal groups of inputs.

A loop may have to run between two stages of straight-line code: the early stage computes the inputs of the loop, the
late stage uses its outputs. And the same operations may apply to several *copies* of a group of inputs, such as the
coordinates of each leg of a robot; all copies of one group are a *repeat*. The program is then traced with one copy,
and a `Spot` says where the entries of copy k are stored. `Sums` gives sums over all copies. All of this is traced as
one graph, so common subexpressions are shared. `staged` divides the graph into the two stages, and each stage by what
its operations depend on:

    common    depend on no copy      computed once
    copies    depend on a copy       one program, in a loop over the copies
    sums      add up the copies      in a loop over the quantities to add up

A sum needs all copies, so sums divide a stage into rounds: common, copies, sums, then the common operations and copies
that depend on these sums. (The legs push the body of a robot, and the body then moves the legs.) Every operation is in
one part only; results that later parts need are stored in an array. Copies are independent of each other, so the passes
of both loops may run in SIMD lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, NamedTuple

from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View, affine
from kinemorph.errors import CompileError
from kinemorph.vocabulary.blocks import Item

COMMON = -1  # the kind of a part that depends on no copy; parts of copies have the number of their repeat as kind
EARLY, LATE = 0, 1
# names of ports of the traced program, by repeat: inputs that stand for sums over copies; outputs that one copy adds
SUM, SUMMAND = "sum {}", "summand {}"


class CopiesMeet(CompileError):
    """Raised if copies (equal groups of inputs, such as legs) depend on each other other than by sums over all copies.

    Then no loop over the copies can compute them one by one.
    """


class Spot(NamedTuple):
    """Where an entry of a port is stored in its array: at index `place`.

    If it belongs to one of several copies of a group of inputs, such as one leg, it is at place + k stride for copy k.
    """

    place: int
    repeat: int = COMMON
    stride: int = 0


class Place(NamedTuple):
    """`size` numbers of an array from index `start` on; in pass k of a loop over copies from start + k stride on."""

    array: str
    start: int
    stride: int
    size: int


class Sums:
    """Sums over all `count` copies of a group of inputs (a repeat), while a program is traced with one copy.

    `given` are inputs of the program that stand for the sums; `summands` are the expressions that one copy adds.
    """

    def __init__(self, given: Sequence[Any], count: int) -> None:
        self.summands: list[Any] = []
        self._given, self._count = given, count
        self._known: dict[int, Any] = {}

    def __call__(self, x: Any) -> Any:
        """The sum over all copies of x, the expression of one copy; a number is multiplied by the number of copies."""
        if not isinstance(x, Expr):
            return self._count * x
        if abs(x.ref) not in self._known:
            if len(self.summands) == len(self._given):
                raise CompileError(
                    f"one more sum over copies is requested, but all inputs that stand for sums ({len(self._given)}) "
                    "are in use. Give more inputs to Sums."
                )
            self._known[abs(x.ref)] = self._given[len(self.summands)]
            self.summands.append(Expr(x.graph, abs(x.ref)))
        total = self._known[abs(x.ref)]
        return total if x.ref > 0 else -total


@dataclass(frozen=True)
class Part:
    """A part of a divided program: a program, where its inputs and outputs are stored in arrays, and how often it runs.

    It is called once, or in a loop with a given number of passes (0: no loop).
    """

    program: Program
    outs: tuple[Place, ...]
    ins: tuple[Place, ...]
    count: int

    def write(self, loop: LoopBuilder, arrays: Mapping[str, View]) -> None:
        """Writes the call of this part, with a loop around it if it has one; `arrays` are views of arrays by name."""
        if not self.count:
            self._call(loop, arrays, affine(0))
            return
        with loop.repeat(self.count, apart=True) as k:
            self._call(loop, arrays, k)

    def _call(self, loop: LoopBuilder, arrays: Mapping[str, View], k: Affine) -> None:
        def view(place: Place) -> View:
            array = arrays[place.array]
            return View(array.array, (place.size,), array.offset + k * place.stride + place.start)

        loop.call(self.program, list(map(view, self.outs)), list(map(view, self.ins)))


@dataclass(frozen=True)
class Staged:
    """A divided program: the parts of the early and of the late stage, in the order they run.

    `carried` are the arrays that pass values from part to part.
    """

    stages: tuple[tuple[Part, ...], tuple[Part, ...]]
    carried: tuple[Port, ...]

    def write(self, loop: LoopBuilder, stage: int, arrays: Mapping[str, View]) -> None:
        """Writes the calls of a stage, EARLY or LATE. `arrays` are views by name: of ports, and of `carried` arrays.

        Entries of outputs that belong to a copy and are structurally zero are not written.
        """
        for part in self.stages[stage]:
            part.write(loop, arrays)


def staged(
    program: Program,
    early: Sequence[str],
    counts: Sequence[int] = (),
    spots: Mapping[str, Sequence[Spot]] | None = None,
) -> Staged:
    """Divides a program into an early stage, which computes the outputs named `early`, and a late stage for the others.

    A repeat is a group of inputs that occurs several times with the same operations, such as the coordinates of a leg;
    `counts` are the numbers of copies of each repeat. `spots` gives, for each port that has entries of copies, where
    each of its entries is stored.
    """
    cut = _Cut(program, early, counts, spots or {})
    for key in reversed(cut.keys):
        cut.look_for_sources(key)
    stages: tuple[list[Part], list[Part]] = ([], [])
    for key in cut.keys:
        stages[key.stage].extend(cut.parts(key))
    return Staged(
        (tuple(stages[EARLY]), tuple(stages[LATE])), tuple(port for key in cut.keys for port in cut.arrays(key))
    )


# ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Written = tuple[Place, list[int]]  # a place, and the references that are written to it


class Key(NamedTuple):
    """Identifies a part; parts run in the order of their keys."""

    stage: int
    round: int  # the number of sums, each depending on the one before, that the part needs first
    kind: int  # COMMON, or the repeat of its copies


@dataclass
class _Draft:
    """The contents of a part, while they are collected.

    `written` are output entries to write; `carried` and `added` are the nodes to store for later parts and to add up
    over copies, with their indices; `given` are the nodes that it gets from inputs and other parts.
    """

    written: list[Written] = field(default_factory=list)
    carried: dict[int, int] = field(default_factory=dict)
    added: dict[int, int] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)


class _Cut:
    """Divides a program into parts; the arguments are those of `staged`."""

    def __init__(
        self, program: Program, early: Sequence[str], counts: Sequence[int], spots: Mapping[str, Sequence[Spot]]
    ) -> None:
        self.program, self.graph, self.counts = program, program.graph, counts
        left = iter(program.refs)
        self.refs = {port.name: list(islice(left, port.size)) for port in program.outputs}
        self.summands: dict[int, tuple[int, int]] = {}  # input that stands for a sum -> (repeat, summand)
        self.inputs: dict[int, tuple[Place, int]] = {}  # other inputs -> where they are stored: (place, index in it)
        self.kind: dict[int, int] = {}  # node -> the kind of its part
        self.round: dict[int, int] = {}  # node -> the round of its part
        self.key: dict[int, Key] = {}  # node that is not a leaf -> its part
        self._place_inputs(spots)
        self._find_keys(early)
        rounds, kinds = range(max(self.round.values(), default=0) + 1), range(COMMON, len(counts))
        self.keys = [Key(stage, number, kind) for stage in (EARLY, LATE) for number in rounds for kind in kinds]
        self.drafts = {key: _Draft() for key in self.keys}
        for port in program.outputs:
            if port.name not in map(SUMMAND.format, range(len(counts))):
                stage = EARLY if port.name in early else LATE
                self._share_out(port, stage, spots.get(port.name) or _as_they_are(port))

    def _place_inputs(self, spots: Mapping[str, Sequence[Spot]]) -> None:
        """Finds which inputs stand for sums, and where the others are stored."""
        nodes = (self.graph.index["input", k] for k in range(sum(port.size for port in self.program.inputs)))
        repeats = {SUM.format(repeat): repeat for repeat in range(len(self.counts))}
        for port in self.program.inputs:
            own = list(islice(nodes, port.size))
            if port.name in repeats:
                repeat = repeats[port.name]
                added = self.refs[SUMMAND.format(repeat)]
                self.summands |= {i: (repeat, ref) for i, ref in zip(own, added, strict=False)}
                continue
            for run, place in _runs(port.name, list(zip(own, spots.get(port.name) or _as_they_are(port), strict=True))):
                self.inputs |= {i: (place, entry) for entry, (i, _) in enumerate(run)}
                self.kind |= {i: spot.repeat for i, spot in run}

    def _find_keys(self, early: Sequence[str]) -> None:
        """Assigns every operation to a part."""
        nodes, kind, waits = self.graph.nodes, self.kind, self.round
        self.wanted = self._wanted(early)
        for i in self.program.order:
            op, *args = nodes[i]
            if op in ("const", "input"):
                kind.setdefault(i, COMMON)  # sums are common too
                waits.setdefault(i, 0)
                continue
            for arg in map(abs, args):
                if arg in self.summands:  # the summand is computed before operations that use the sum
                    waits[arg] = 1 + waits[abs(self.summands[arg][1])]
            kinds = {kind[abs(arg)] for arg in args} - {COMMON}
            if len(kinds) > 1:
                raise self._mixed()
            kind[i] = kinds.pop() if kinds else COMMON
            waits[i] = max(waits[abs(arg)] for arg in args)
            self.key[i] = Key(EARLY if i in self.wanted else LATE, waits[i], kind[i])
            if type(op) is Item:  # only numbers are stored, so the entries of a block stay in its part
                self.key[i] = self.key[args[0]]
        for total, (_, ref) in self.summands.items():  # also for sums that no operation uses
            waits[total] = 1 + waits[abs(ref)]

    def _wanted(self, early: Sequence[str]) -> set[int]:
        """All nodes that the outputs named `early` depend on, directly or through sums."""
        wanted: set[int] = set()
        refs = [ref for name in early for ref in self.refs[name]]
        while refs:
            fresh = set(self.graph.reachable(refs)) - wanted
            wanted |= fresh
            refs = [self.summands[i][1] for i in fresh if i in self.summands]
        return wanted

    def _mixed(self) -> CopiesMeet:
        """The error for operations that mix copies other than by sums."""
        return CopiesMeet(
            f"program '{self.program.name}': an operation depends on several copies, or a common output on one copy. "
            "Combine copies only with `Sums`."
        )

    # ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _share_out(self, port: Port, stage: int, spots: Sequence[Spot]) -> None:
        """Assigns each entry of an output port to the part that writes it."""
        entries: dict[Key, list[tuple[int, Spot]]] = {}
        for ref, spot in zip(self.refs[port.name], spots, strict=True):
            if self.kind[abs(ref)] not in (COMMON, spot.repeat):
                raise self._mixed()
            if spot.repeat == COMMON or ref:
                entries.setdefault(Key(stage, self.round[abs(ref)], spot.repeat), []).append((ref, spot))
        for key, items in entries.items():
            runs = _runs(port.name, items)
            self.drafts[key].written += [(place, [ref for ref, _ in run]) for run, place in runs]

    def outputs(self, key: Key) -> list[Written]:
        """Everything that a part writes: entries of outputs, then nodes for later parts, then nodes to add up."""
        draft = self.drafts[key]
        rows = [(CARRIED, draft.carried), (ADDED, draft.added)]
        return [*draft.written, *((self._row(key, what), list(nodes)) for what, nodes in rows if nodes)]

    # ── what comes from other parts ───────────────────────────────────────────────────────────────────────────────

    def look_for_sources(self, key: Key) -> None:
        """Finds the nodes that a part needs from earlier parts, and makes those parts store them.

        It has to be called for the last part first.
        """
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
                _placed(self.drafts[self._adding(i)].added, abs(self.summands[i][1]))
            elif i not in self.inputs:
                _placed(self.drafts[self.key[i]].carried, i)

    def _adding(self, total: int) -> Key:
        """The part that computes the terms of a sum over copies; `total` is the input that stands for the sum."""
        repeat, ref = self.summands[total]
        i = abs(ref)
        if self.kind[i] == repeat and i in self.key:
            return self.key[i]
        return Key(EARLY if total in self.wanted else LATE, self.round[i], repeat)

    def arrays(self, key: Key) -> list[Port]:
        """The arrays that a part fills for later parts: values of nodes, terms of sums over copies, and these sums.

        The first two have one row for each copy.
        """
        draft, rows = self.drafts[key], max(self._count(key), 1)
        ports = [Port(_named(CARRIED, key), (rows, len(draft.carried)))] if draft.carried else []
        if draft.added:
            ports += [
                Port(_named(ADDED, key), (rows, len(draft.added))),
                Port(_named(TOTALS, key), (len(draft.added),)),
            ]
        return ports

    def _row(self, key: Key, what: str) -> Place:
        """The place of a copy's row in the array of a part's stored nodes (`what` CARRIED) or summands (ADDED)."""
        size = len(self.drafts[key].carried if what == CARRIED else self.drafts[key].added)
        return Place(_named(what, key), 0, size if self._count(key) else 0, size)

    def _count(self, key: Key) -> int:
        """The number of copies of a part; 0 if it is computed once."""
        return self.counts[key.kind] if key.kind != COMMON else 0

    # ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def parts(self, key: Key) -> list[Part]:
        """The part with this key, and after it the part that adds up the terms of all copies, if there are sums.

        The list is empty if the part writes nothing.
        """
        draft, written = self.drafts[key], self.outputs(key)
        if not written:
            return []
        graph = Graph()
        sources = {i: self._source(i) for i in draft.given}
        ins = list(dict.fromkeys(place for place, _ in sources.values()))
        inputs = {place: [graph.input(f"{place.array}[{k}]") for k in range(place.size)] for place in ins}
        refs = {i: inputs[place][entry].ref * self._sign(i) for i, (place, entry) in sources.items()}
        for i in self.graph.reachable((ref for _, entries in written for ref in entries), refs.keys()):
            op, *args = self.graph.nodes[i]
            if op == "const":
                refs[i] = graph.constant(args[0])
            else:
                refs[i] = graph.intern((op, *(refs[arg] if arg >= 0 else -refs[-arg] for arg in args)))
        outs = [place for place, _ in written]
        program = Program(
            f"{self.program.name}, {_named(CARRIED, key)}",
            tuple(Port(f"in{k}", (place.size,)) for k, place in enumerate(ins)),
            tuple(Port(f"out{k}", (place.size,)) for k, place in enumerate(outs)),
            graph,
            tuple(refs[ref] if ref >= 0 else -refs[-ref] for _, entries in written for ref in entries),
        )
        part = Part(program, tuple(outs), tuple(ins), self._count(key))
        return [part, self._adding_up(key)] if draft.added else [part]

    def _sign(self, i: int) -> int:
        """The sign of the summand: -1 if input node i stands for minus a sum over copies, 1 for all other nodes."""
        return -1 if i in self.summands and self.summands[i][1] < 0 else 1

    def _source(self, i: int) -> tuple[Place, int]:
        """Where a part reads the value of node i, which another part computes: (place in an array, index in it)."""
        if i in self.inputs:
            return self.inputs[i]
        if i not in self.summands:
            return self._row(self.key[i], CARRIED), self.drafts[self.key[i]].carried[i]
        key = self._adding(i)
        added = self.drafts[key].added
        return Place(_named(TOTALS, key), 0, 0, len(added)), added[abs(self.summands[i][1])]

    def _adding_up(self, key: Key) -> Part:
        """The part that adds up the summands of all copies, one column per pass.

        It adds neighbors in pairs, then these sums, so that few additions depend on each other.
        """
        count, size = self._count(key), len(self.drafts[key].added)
        graph = Graph()
        values = [graph.input(f"x[{k}]") for k in range(count)]
        while len(values) > 1:
            values = [sum(values[k + 1 : k + 2], values[k]) for k in range(0, len(values), 2)]
        ports = tuple(Port(f"in{k}", ()) for k in range(count))
        name = f"{self.program.name}, {_named(TOTALS, key)}"
        program = Program(name, ports, (Port("out0", ()),), graph, (values[0].ref,))
        ins = tuple(Place(_named(ADDED, key), k * size, 1, 1) for k in range(count))
        return Part(program, (Place(_named(TOTALS, key), 0, 1, 1),), ins, size)


CARRIED, ADDED, TOTALS = "copies {}", "summands {}", "sums {}"


def _named(what: str, key: Key) -> str:
    """The name of an array that a part fills; `what` is CARRIED, ADDED or TOTALS."""
    of = "common" if key.kind == COMMON else what.format(key.kind)
    return f"{of}{f' after {key.round}' if key.round else ''}, {('early', 'late')[key.stage]}"


def _placed(places: dict[int, int], i: int) -> None:
    """Gives node i the next free index in an array, if `places` has none for it yet."""
    places.setdefault(i, len(places))


def _as_they_are(port: Port) -> list[Spot]:
    """The spots of a port whose entries are stored in order, without copies."""
    return [Spot(k) for k in range(port.size)]


def _runs(array: str, entries: Sequence[tuple[int, Spot]]) -> Iterable[tuple[list[tuple[int, Spot]], Place]]:
    """Groups of entries that are stored one after the other, each with its place in the array."""
    for _, group in groupby(enumerate(entries), lambda item: (item[1][1].place - item[0], *item[1][1][1:])):
        run = [entry for _, entry in group]
        first = run[0][1]
        yield run, Place(array, first.place, first.stride, len(run))
