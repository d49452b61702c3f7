"""One program as several: with room for something else between them, and what repeats written once.

What a loop computes may lie between two stretches of straight-line code: the first gives what the loop takes, the
second takes what it gives. And the same may be done to several *copies* of a group of inputs, as to the coordinates of
each leg of a robot: then the program is traced with one of them, and says where those of copy k stand (`Spot`). What
all copies add up to it takes from `Sums`. Traced together, all of that is one graph and shares what it has in common.
`staged` cuts it, into outputs that are wanted early and the others, and both by what operations depend on:

    common    on no copy           computed once
    copies    on a copy            one program, in a loop over the copies
    sums      of what copies add   in a loop over what is added up

Sums wait for all copies, so they part the program into rounds: common, copies, sums, then common and copies that depend
on those, as legs push the body of a robot, which then takes them along. Every operation is in one part only; what later
parts need of it is carried there in an array. Copies know nothing of each other, so both loops may run abreast.
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

COMMON = -1  # kind of a part; copies have the number of their repeat
EARLY, LATE = 0, 1
SUM, SUMMAND = "sum {}", "summand {}"  # ports: sums over the copies of a repeat are given, what one adds is an output


class CopiesMeet(CompileError):
    """Copies depend on each other outside of sums, so they cannot run in one loop."""


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
            if len(self.summands) == len(self._given):
                raise CompileError(
                    f"more sums over copies are taken than there are inputs that stand for them, {len(self._given)}. "
                    "Give more such inputs to Sums."
                )
            self._known[abs(x.ref)] = self._given[len(self.summands)]
            self.summands.append(Expr(x.graph, abs(x.ref)))
        total = self._known[abs(x.ref)]
        return total if x.ref > 0 else -total


@dataclass(frozen=True)
class Part:
    """A program, the places of its ports, and how often it runs in a loop (0 where it is in none)."""

    program: Program
    outs: tuple[Place, ...]
    ins: tuple[Place, ...]
    count: int

    def write(self, loop: LoopBuilder, arrays: Mapping[str, View]) -> None:
        """Writes the call of this part, on arrays by name."""
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
    """The parts of the early and of the late stage, in the order they run, and the arrays that carry values."""

    stages: tuple[tuple[Part, ...], tuple[Part, ...]]
    carried: tuple[Port, ...]

    def write(self, loop: LoopBuilder, stage: int, arrays: Mapping[str, View]) -> None:
        """Writes the calls of a stage, on arrays by the names of the program's ports and of those that carry values.

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
    stages: tuple[list[Part], list[Part]] = ([], [])
    for key in cut.keys:
        stages[key.stage].extend(cut.parts(key))
    return Staged(
        (tuple(stages[EARLY]), tuple(stages[LATE])), tuple(port for key in cut.keys for port in cut.arrays(key))
    )


# ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Written = tuple[Place, list[int]]  # references, and the place they are written to


class Key(NamedTuple):
    """Identifies a part; parts run in the order of their keys."""

    stage: int
    round: int  # how many sums it waits for, one after the other
    kind: int  # COMMON, or the repeat of its copies


@dataclass
class _Draft:
    """What a part has to do: outputs to write, nodes to carry and to add up (with their places), nodes it is given."""

    written: list[Written] = field(default_factory=list)
    carried: dict[int, int] = field(default_factory=dict)
    added: dict[int, int] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)


class _Cut:
    """A program while it is divided into parts."""

    def __init__(
        self, program: Program, early: Sequence[str], counts: Sequence[int], spots: Mapping[str, Sequence[Spot]]
    ) -> None:
        self.program, self.graph, self.counts = program, program.graph, counts
        left = iter(program.refs)
        self.refs = {port.name: list(islice(left, port.size)) for port in program.outputs}
        self.summands: dict[int, tuple[int, int]] = {}  # input that is a sum -> its repeat, and what a copy adds
        self.inputs: dict[int, tuple[Place, int]] = {}  # other inputs -> where they stand
        self.kind: dict[int, int] = {}  # node -> the kind of its part
        self.round: dict[int, int] = {}  # node -> the round of its part
        self.key: dict[int, Key] = {}  # node that is no leaf -> its part
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
        """Finds the part of every operation."""
        nodes, kind, waits = self.graph.nodes, self.kind, self.round
        self.wanted = self._wanted(early)
        for i in self.program.order:
            op, *args = nodes[i]
            if op in ("const", "input"):
                kind.setdefault(i, COMMON)  # a sum is, too
                waits.setdefault(i, 0)
                continue
            for arg in map(abs, args):
                if arg in self.summands:  # what it adds up comes before all that depends on it
                    waits[arg] = 1 + waits[abs(self.summands[arg][1])]
            kinds = {kind[abs(arg)] for arg in args} - {COMMON}
            if len(kinds) > 1:
                raise self._mixed()
            kind[i] = kinds.pop() if kinds else COMMON
            waits[i] = max(waits[abs(arg)] for arg in args)
            self.key[i] = Key(EARLY if i in self.wanted else LATE, waits[i], kind[i])
            if type(op) is Item:  # only numbers are carried, so the entries of a block's value stay with it
                self.key[i] = self.key[args[0]]
        for total, (_, ref) in self.summands.items():  # also of those that no operation takes
            waits[total] = 1 + waits[abs(ref)]

    def _wanted(self, early: Sequence[str]) -> set[int]:
        """All nodes that the outputs named `early` depend on, through sums as well."""
        wanted: set[int] = set()
        refs = [ref for name in early for ref in self.refs[name]]
        while refs:
            fresh = set(self.graph.reachable(refs)) - wanted
            wanted |= fresh
            refs = [self.summands[i][1] for i in fresh if i in self.summands]
        return wanted

    def _mixed(self) -> CopiesMeet:
        return CopiesMeet(
            f"program '{self.program.name}': what is computed once depends on a copy, or one copy on others. "
            "Take sums over copies by `Sums`."
        )

    # ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _share_out(self, port: Port, stage: int, spots: Sequence[Spot]) -> None:
        """Says which part writes which entries of an output."""
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
        """All that a part writes, what it carries and what is added up last."""
        draft = self.drafts[key]
        rows = [(CARRIED, draft.carried), (ADDED, draft.added)]
        return [*draft.written, *((self._row(key, what), list(nodes)) for what, nodes in rows if nodes)]

    # ── what comes from other parts ───────────────────────────────────────────────────────────────────────────────

    def look_for_sources(self, key: Key) -> None:
        """Finds the values that a part needs, and has earlier parts carry them. Later parts come first."""
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
        """The part whose copies add up to a sum."""
        repeat, ref = self.summands[total]
        i = abs(ref)
        if self.kind[i] == repeat and i in self.key:
            return self.key[i]
        return Key(EARLY if total in self.wanted else LATE, self.round[i], repeat)

    def arrays(self, key: Key) -> list[Port]:
        """The arrays that a part fills for others: what it carries and what is added up, a row for each copy; sums."""
        draft, rows = self.drafts[key], max(self._count(key), 1)
        ports = [Port(_named(CARRIED, key), (rows, len(draft.carried)))] if draft.carried else []
        if draft.added:
            ports += [
                Port(_named(ADDED, key), (rows, len(draft.added))),
                Port(_named(TOTALS, key), (len(draft.added),)),
            ]
        return ports

    def _row(self, key: Key, what: str) -> Place:
        """A copy's row of what it carries or what is added up."""
        size = len(self.drafts[key].carried if what == CARRIED else self.drafts[key].added)
        return Place(_named(what, key), 0, size if self._count(key) else 0, size)

    def _count(self, key: Key) -> int:
        return self.counts[key.kind] if key.kind != COMMON else 0

    # ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def parts(self, key: Key) -> list[Part]:
        """The part in its own graph, and the part that sums over its copies; none where there is nothing to do."""
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
        return -1 if i in self.summands and self.summands[i][1] < 0 else 1

    def _source(self, i: int) -> tuple[Place, int]:
        """Where a part finds a node that it is given: place and entry."""
        if i in self.inputs:
            return self.inputs[i]
        if i not in self.summands:
            return self._row(self.key[i], CARRIED), self.drafts[self.key[i]].carried[i]
        key = self._adding(i)
        added = self.drafts[key].added
        return Place(_named(TOTALS, key), 0, 0, len(added)), added[abs(self.summands[i][1])]

    def _adding_up(self, key: Key) -> Part:
        """Adds up columns: neighbors first, then their sums, so that little waits for the one before."""
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
    """The name of an array that a part fills."""
    of = "common" if key.kind == COMMON else what.format(key.kind)
    return f"{of}{f' after {key.round}' if key.round else ''}, {('early', 'late')[key.stage]}"


def _placed(places: dict[int, int], i: int) -> None:
    """Gives a node a place behind the others, where it has none."""
    places.setdefault(i, len(places))


def _as_they_are(port: Port) -> list[Spot]:
    """The spots of a port whose entries fill its array in order."""
    return [Spot(k) for k in range(port.size)]


def _runs(array: str, entries: Sequence[tuple[int, Spot]]) -> Iterable[tuple[list[tuple[int, Spot]], Place]]:
    """Entries that stand side by side, and the place they make."""
    for _, group in groupby(enumerate(entries), lambda item: (item[1][1].place - item[0], *item[1][1][1:])):
        run = [entry for _, entry in group]
        first = run[0][1]
        yield run, Place(array, first.place, first.stride, len(run))
