"""Scripts of gnuplot that plot a .res file, as EasyDyn's generator writes them: one plot for each kind of columns."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.plants.user_laws import Column

KINDS = ("q", "v", "a", "u", "tau", "energy")  # the words before the dot that have plots of their own
HEAD = """# Plots {res}: gnuplot {plt}
# As a PostScript file: gnuplot -e "postscript=1" {plt}
set xlabel 't [s]'
set key noenhanced
if (exists("postscript")) set terminal postscript color
if (exists("postscript")) set output {ps}
"""
PAUSE = 'if (!exists("postscript")) pause -1 {told}\n'


def script_name(path: str) -> str:
    """The name of the script of a .res file: x.plt for x.res."""
    return f"{path.removesuffix('.res')}.plt"


def gnuplot_script(path: str, columns: Sequence[Column]) -> str:
    """The script that plots the columns of the file `path`, of which the first is the time.

    Each plot has the columns of one kind (q, its rate v, acceleration a, inputs u, forces tau, energy, other states)
    and of one unit. gnuplot pauses after each of them, unless it writes PostScript.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for number, column in enumerate(columns, 1):
        if number > 1:
            kind = column.name.partition(".")[0]
            title = f"{column.name} [{column.unit or '-'}]"
            line = f"{_quoted(path)} using 1:{number} with lines title {_quoted(title)}"
            parts.setdefault((kind if kind in KINDS else "states", column.unit), []).append(line)
    text = HEAD.format(res=path, plt=script_name(path), ps=_quoted(script_name(path)[:-4] + ".ps"))
    for (kind, unit), lines in parts.items():
        text += f"set ylabel {_quoted(f'{kind} [{unit or chr(45)}]')} noenhanced\nplot " + ", \\\n     ".join(lines)
        text += "\n" + PAUSE.format(told=_quoted(f"{kind} over time: press Enter to continue"))
    return text


def _quoted(text: str) -> str:
    """A text between single quotes, in which gnuplot doubles them."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
