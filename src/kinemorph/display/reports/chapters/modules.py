"""The modules of a modular robot: its plan, its graph, and the matrices and lists of the MODUROB paper."""

from __future__ import annotations

from kinemorph.display.canvas import in_language
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Block, Figure, Grid, Heading, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.assembly_tables import assembly_tables
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.traversal import traverse
from kinemorph.model.sheets.assembly_sheet import module_table

WIDEST, LONGEST = 30, 100  # columns and rows of a table that is printed; larger ones are only counted


def chapter(subject: Subject, words: Words) -> Section | None:
    """The tables of an assembly; None for a robot without modules."""
    assembly = subject.assembly
    if assembly is None or not assembly.modules:
        return None
    from kinemorph.display.charts.draw_modules import draw_modules
    from kinemorph.display.charts.draw_plan import draw_plan

    with in_language(words):
        plan, graph = draw_plan(assembly, title=""), draw_modules(assembly, title="")
    first = assembly_tables(assembly)
    blocks: list[Block] = [
        Paragraph(
            words(
                "The robot is made of {modules} modules, joined by {dockings} dockings. Modules are numbered from the "
                "base {base} on, path by path.",
                modules=len(assembly.modules),
                dockings=len(assembly.dockings),
                base=words.quoted(assembly.base),
            )
        ),
        Figure(plan, words("Plan of the modules in their initial configuration."), _width(plan)),
        Figure(graph, words("Graph of the modules: arrows lead away from the base."), _width(graph)),
        *written(module_table(assembly), words),
        Heading(words("Matrices")),
    ]
    for grid, title in zip(
        (first.aim, first.chen_aim, first.adjacency, first.incidence, first.dtl, first.idtl, first.paths),
        (
            "AIM_SB: assembly incidence matrix with dyad classes",
            "AIM: assembly incidence matrix of Chen and Yang",
            "Adjacency matrix",
            "Signed incidence matrix",
            "DTL: direct transformations",
            "IDTL: indirect transformations",
            "Paths from the base to the ends",
        ),
        strict=True,
    ):
        if len(grid.columns) > WIDEST or len(grid.rows) > LONGEST:
            sizes = {"n": len(grid.columns), "m": len(grid.rows)}
            text = words("{title}: {n} columns and {m} rows, too many for a page.", title=words(title), **sizes)
            blocks.append(Paragraph(text, "note"))
        else:
            blocks.append(Table(_told(grid, words, title, _numbers(assembly, words) if grid.note else "")))
    return Section("modules", words("Modules"), blocks)


def _width(figure: object) -> float:
    """The width of a picture on the page, by its width in inches."""
    inches: float = figure.get_figwidth()  # type: ignore[attr-defined]
    return min(1.0, inches / 7.0)


def _numbers(assembly: Assembly, words: Words) -> str:
    """A sentence with the numbers of all modules, and with the dockings that close rings."""
    walk = traverse(assembly)
    names = ", ".join(f"{number} = {name}" for name, number in walk.numbers.items())
    rings = ", ".join(f"{one.i} – {one.j}" for one in walk.chords)
    told = words("Numbers of the modules: {names}.", names=names)
    return f"{told} {words('Rings are closed by {names}.', names=rings)}" if rings else told


def _told(grid: Grid, words: Words, title: str, note: str) -> Grid:
    """A table of an assembly with another title and note, and words in its head and last row in the language."""
    known = {"Type", "Dyads", "Joints", "from", "to", "sides", "path", "modules"}

    def of(cell: str) -> str:
        if cell.startswith("Path "):
            return words("Path {n}", n=cell.removeprefix("Path "))
        return words(cell, context="modules") if cell in known else cell

    rows = [[of(row[0]), *row[1:]] for row in grid.rows]
    columns = tuple(map(of, grid.columns))
    named = dict(zip(grid.columns, columns, strict=True))
    return grid._replace(
        title=words(title),
        columns=columns,
        rows=rows,
        right=tuple(named[name] for name in grid.right),
        groups=tuple((of(name), count) for name, count in grid.groups),
        note=note,
    )
