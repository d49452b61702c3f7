"""The assemblies of the tables of modules: the organism of the paper, and chains and trees of any size, as grids."""

from __future__ import annotations

import random
from collections.abc import Callable

from kinemorph.formats.assemble import assemble
from kinemorph.model.modules import Assembly

# the nine Backbones of Meister and Gutenkunst's Table III: module, module, side, side
ORGANISM = (
    *((0, 1, 3, 2), (1, 2, 5, 3), (0, 3, 5, 2), (3, 4, 4, 3)),
    *((4, 5, 5, 2), (0, 6, 2, 5), (6, 7, 4, 2), (7, 8, 4, 5)),
)
AROUND = ((1, 0), (0, 1), (-1, 0), (0, -1))  # steps to the neighbors of a cell
FRONTS = ">^<v"  # directions of a module's front
SIZES = (25, 50, 100, 200)
QUICK_SIZES = (25, 50)


def organism() -> Assembly:
    """The assembly of nine Backbone modules of the paper."""
    return assemble(ORGANISM, name="organism")


def chain_grid(count: int) -> str:
    """The text of a grid with `count` Backbone modules in a row."""
    return " ".join(f"B>{k}" for k in range(count))


def tree_grid(count: int, seed: int = 0) -> str:
    """The text of a grid with a random tree of `count` Backbone modules, the same for the same seed.

    Fronts point in any direction. A cell is filled only if exactly one of its neighbors is filled, so that there are no
    loops.
    """
    chance = random.Random(seed)
    taken = {(0, 0): "B>0"}
    cells = [(0, 0)]
    while len(cells) < count:
        (x, y), (dx, dy) = chance.choice(cells), chance.choice(AROUND)
        cell = x + dx, y + dy
        if cell in taken or sum((cell[0] + i, cell[1] + j) in taken for i, j in AROUND) > 1:
            continue
        taken[cell] = f"B{chance.choice(FRONTS)}{len(cells)}"
        cells.append(cell)
    columns = range(min(x for x, _ in cells), max(x for x, _ in cells) + 1)
    rows = range(max(y for _, y in cells), min(y for _, y in cells) - 1, -1)
    return "\n".join(" ".join(taken.get((x, y), ".") for x in columns) for y in rows)


GRIDS: dict[str, Callable[[int], str]] = {"chain": chain_grid, "tree": tree_grid}


def grown(kind: str, count: int) -> Assembly:
    """The assembly of a "chain" or a "tree" of `count` Backbone modules."""
    return assemble(GRIDS[kind](count), name=f"{kind}{count}")
