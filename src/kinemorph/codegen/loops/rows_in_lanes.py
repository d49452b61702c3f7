"""Which buffers of a loop program can be stored as vectors, because only loops whose passes run in lanes use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kinemorph.codegen.loops.loop_program import Affine, For, If, LoopProgram, Statement, View, While, views_of

Row = tuple[int, int, int]  # numbers in the row of one pass, number of passes, number of lanes


def passes_of(loop: For) -> int:
    """The number of passes of a loop with constant bounds."""
    assert isinstance(loop.stop, Affine)
    return (loop.stop - loop.start).constant


def rows_in_lanes(program: LoopProgram, lanes: Callable[[For], int]) -> dict[str, Row]:
    """The buffers that can be stored as vectors, by name: only loops in SIMD lanes use them, and pass k uses row k.

    `lanes(loop)` is the number of lanes of a loop.
    """
    sizes = {port.name: port.size for port in program.buffers}
    found: dict[str, set[Row | None]] = {}
    for view, loop in looks(program.body, lanes):
        if view.array in sizes:
            found.setdefault(view.array, set()).add(_row(view, loop, sizes[view.array], lanes))
    return {name: row for name, rows in found.items() for row in rows if len(rows) == 1 and row}


def looks(body: Sequence[Statement], lanes: Callable[[For], int]) -> Iterator[tuple[View, For | None]]:
    """All views in a body, each with the loop that contains it if that loop runs in SIMD lanes, else with None."""
    for statement in body:
        match statement:
            case For() if lanes(statement) > 1:
                yield from ((view, statement) for call in statement.body for view in views_of(call))
                continue
            case For() | While():
                yield from looks(statement.body, lanes)
            case If():
                yield from looks((*statement.then, *statement.otherwise), lanes)
        yield from ((view, None) for view in views_of(statement))


def _row(view: View, loop: For | None, size: int, lanes: Callable[[For], int]) -> Row | None:
    """The row that contains a view, if the passes of a loop divide the whole buffer into rows; else None."""
    if loop is None or loop.start != Affine(0):
        return None
    row = view.offset.coefficient(loop.counter)
    parted = row * passes_of(loop) == size and len(view.offset.terms) == 1
    inside = 0 <= view.offset.constant <= row - view.size
    return (row, passes_of(loop), lanes(loop)) if parted and inside else None
