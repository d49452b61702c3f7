"""Tables of texts that can be written for a terminal and as text, Markdown, LaTeX and HTML.

    grid = Grid("sides", ("i", "j"), [["0", "1"]], right=("i", "j"))
    print(grid.text())

Symbols with an index are given as `v0`, `T_ij` or `v0=m2`; LaTeX and HTML show the index as a subscript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kinemorph.codegen.reading.names import latex_text
from kinemorph.errors import UnsupportedError

if TYPE_CHECKING:
    from rich.table import Table

Data = dict[str, Any]  # what `--json` prints
Format = Literal["text", "markdown", "latex", "html"]
SYMBOL = re.compile(r"([A-Za-z])(?:(\d+)|_(\w+))")  # a letter with an index: v0, T_ij
VERDICTS = dict.fromkeys(("passed", "ok", "met"), "green") | dict.fromkeys(("skipped", "missing", "missed"), "yellow")
VERDICTS["failed"] = "bold red"


class Facts(NamedTuple):
    """A list of (name, value) pairs, shown one below the other; a value may have several lines."""

    rows: Sequence[tuple[str, object]]

    def text(self) -> str:
        """The facts as plain text, their values below each other."""
        width = max((len(what) for what, _ in self.rows), default=0)
        lines = [f"{what:{width}}   {value}".replace("\n", "\n" + " " * (width + 3)) for what, value in self.rows]
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """The facts as a list in Markdown."""
        return "".join(f"* {what}: {value}\n" for what, value in self.rows)

    def for_terminal(self) -> Table:
        """The facts as a table of the library rich, with two columns and no header."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 3))
        for what, value in self.rows:
            table.add_row(Text(what, style="cyan"), str(value))
        return table


class Grid(NamedTuple):
    """A table of texts.

    `right`     names of the columns that are aligned to the right, usually those with numbers
    `groups`    (name, number of columns that it spans) pairs, written above the columns
    `heads`     number of columns on the left that are labels
    `tails`     number of columns on the right that are separated by a line
    `feet`      number of rows at the end that are separated by a line
    `note`      a sentence below the table
    `marked`    rows that stand out
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()
    groups: tuple[tuple[str, int], ...] = ()
    heads: int = 0
    tails: int = 0
    feet: int = 0
    note: str = ""
    marked: Sequence[int] = ()

    def for_terminal(self) -> Table:
        """The table as a table of the library rich, without its title; words of VERDICTS have their color."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for column in self.columns:
            table.add_column(column, justify="right" if column in self.right else "left", overflow="fold")
        for k, row in enumerate(self.rows):
            looks = [VERDICTS.get(cell.partition(":")[0], "red" if k in self.marked else "") for cell in row]
            table.add_row(*(Text(cell, style=look) for cell, look in zip(row, looks, strict=True)))
        return table

    def text(self) -> str:
        """The table as plain text with aligned columns, and lines below the header and above the last `feet` rows."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        for start, end, name in self._spans():  # a long group name widens the last of its columns
            widths[end - 1] += max(0, len(name) - _room(widths[start:end]))
        above = [name.ljust(_room(widths[start:end])) for start, end, name in self._spans()]
        written = [
            "  ".join(
                cell.rjust(width) if column in self.right else cell.ljust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            )
            for line in lines
        ]
        rule = "-" * _room(widths)
        if self.feet:
            written.insert(-self.feet, rule)
        written.insert(1, rule)
        told = [*[self.title] * bool(self.title), *["  ".join(above)] * bool(self.groups), *written, *self._notes()]
        return "\n".join(line.rstrip() for line in told) + "\n"

    def markdown(self) -> str:
        """The table in Markdown; as it has one header line, the name of a group is put before its first column name."""
        named = {start: f"{name}: " for start, _, name in self._spans() if name}
        columns = [named.get(k, "") + column for k, column in enumerate(self.columns)]
        rule = ["---:" if column in self.right else "---" for column in self.columns]
        lines = [[cell.replace("|", r"\|") for cell in line] for line in (columns, rule, *self.rows)]
        below = [line for note in self._notes() for line in (note, "")]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(line)} |" for line in lines), "", *below])

    def latex(self) -> str:
        """The table as a LaTeX `tabular` that needs no package; title and note are LaTeX comments around it."""
        sorts = ["r" if column in self.right else "l" for column in self.columns]
        end = len(sorts) - self.tails
        parts = ["".join(part) for part in (sorts[: self.heads], sorts[self.heads : end], sorts[end:]) if part]
        lines = [f"% {self.title}", rf"\begin{{tabular}}{{{'|'.join(parts)}}}"]
        if self.groups:
            above = [rf"\multicolumn{{{end - start}}}{{l}}{{{_latex(name)}}}" for start, end, name in self._spans()]
            lines.append(_latex_row(above))
        lines += [_latex_row(map(_latex, self.columns)), r"\hline"]
        rows = [_latex_row(map(_latex, row)) for row in self.rows]
        if self.feet:
            rows.insert(-self.feet, r"\hline")
        return "\n".join([*lines, *rows, r"\end{tabular}", *(f"% {note}" for note in self._notes())]) + "\n"

    def html(self) -> str:
        """The table as an HTML `table` with a caption."""
        lines = ["<table>", f"<caption>{escape(self.title)}</caption>", "<thead>"]
        if self.groups:
            lines.append(
                _html_row(f'<th colspan="{end - start}">{_html(name)}</th>' for start, end, name in self._spans())
            )
        lines += [_html_row(f"<th>{_html(name)}</th>" for name in self.columns), "</thead>", "<tbody>"]
        rows = [_html_row(self._html_cell(k, cell) for k, cell in enumerate(row)) for row in self.rows]
        if self.feet:
            rows[-self.feet :] = ["</tbody>", "<tfoot>", *rows[-self.feet :]]
        end = "</tfoot>" if self.feet else "</tbody>"
        return "\n".join([*lines, *rows, end, "</table>", *(f"<p>{_html(note)}</p>" for note in self._notes())]) + "\n"

    def written(self, form: Format) -> str:
        """The table in the format "text", "markdown", "latex" or "html"."""
        if form not in WRITERS:
            raise UnsupportedError(f"the format of a table is {form!r}; expected one of: {', '.join(WRITERS)}.")
        return WRITERS[form](self)

    def _spans(self) -> list[tuple[int, int, str]]:
        """The groups as (index of the first column, index after the last column, name)."""
        spans, start = [], 0
        for name, count in self.groups:
            spans.append((start, start + count, name))
            start += count
        return spans

    def _notes(self) -> list[str]:
        return [self.note] if self.note else []

    def _html_cell(self, place: int, cell: str) -> str:
        tag = "th" if place < self.heads else "td"
        align = ' style="text-align:right"' if self.columns[place] in self.right else ""
        return f"<{tag}{align}>{_html(cell)}</{tag}>"


Parts = list[Grid | Facts | str]  # the parts of a report for a terminal, one below the other
WRITERS = {"text": Grid.text, "markdown": Grid.markdown, "latex": Grid.latex, "html": Grid.html}


def _room(widths: Sequence[int]) -> int:
    """The total width of columns with two spaces between them."""
    return sum(widths) + 2 * (len(widths) - 1)


def _latex(text: str) -> str:
    """The LaTeX of a cell: symbols with an index in math mode, special characters escaped."""
    parts = [SYMBOL.fullmatch(part) for part in text.split("=")]
    if all(parts):
        return "$" + " = ".join(f"{part[1]}_{{{part[2] or part[3]}}}" for part in parts if part) + "$"
    return latex_text(text)


def _html(text: str) -> str:
    """The HTML of a cell: symbols with an index as a subscript, special characters escaped."""
    parts = [SYMBOL.fullmatch(part) for part in text.split("=")]
    if all(parts):
        return " = ".join(f"{part[1]}<sub>{part[2] or part[3]}</sub>" for part in parts if part)
    return escape(text)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _html_row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"
