"""A job as a program in C99 that needs only the standard library, with a Makefile.

name_model.c, .h     the march, its start and the rates of the model, from the C backend
name_data.c, .h      the tables of the job
name.c, .h           the library form: a model that can be advanced
name_run.c, .h       a whole run
name_program.c, .h   the command line
name_user.c, user.h, user.c   code of the user, where there is some: how it is called, its names, and the code itself
name_scene.c, .h, name_scene_data.c, .h   shapes for EasyDyn's viewer, where the job has a drawing
name_controllers.c   controllers in C, where there are some; see `controllers_in_c`
main.c, Makefile
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.spelling import RESERVED, C, block_comment, number
from kinemorph.codegen.backends.identifiers import comment
from kinemorph.programs.controllers_in_c import controller_texts, foreign_names
from kinemorph.programs.drivers import compiled_files, driver_texts, named, program_name
from kinemorph.programs.job import Job
from kinemorph.programs.job_tables import JobTables, job_tables
from kinemorph.programs.user_files import c as user_code
from kinemorph.programs.user_files.written_once import user_texts

# names of functions and files that a model must not have: those of the driver, and of the C library
TAKEN = frozenset(
    {"simulator", "main", "data", "run", "place", "end", "store", "through", "ratio", "look", "explain", "user"}
    | {"all_finite", "next_tick", "rested", "ends_in_van", "open_scene", "write_nodes"}
)
WIDTH = 110  # characters in a line of numbers
LONGEST = 4095  # characters in a string literal: C99 promises no more
PER_LINE = 20  # characters of a longer text

MAKEFILE = """CC = cc
CFLAGS = -std=c99 -O2

simulator: {sources} {headers}
\t$(CC) $(CFLAGS) -o $@ {sources} -lm

clean:
\trm -f simulator

.PHONY: clean
"""


def c_name(job: Job) -> str:
    """The name of a job with which all names in its program begin."""
    return program_name(job.name, TAKEN, RESERVED)


def write_c(job: Job) -> dict[str, str]:
    """{file name: text} of the program of a job in C."""
    name = c_name(job)
    texts = library_texts(job, name) | {"main.c": driver_texts("c", name)["main.c"]}
    return texts | {"Makefile": makefile(texts, name)}


def library_texts(job: Job, name: str, *, exchange: bool = False) -> dict[str, str]:
    """{file name: text} of everything but the function `main`: the model, its tables, and the driver.

    With `exchange`, name_exchange.c and .h are added, for integrators of others.
    """
    programs = job.programs(f"{name}_", exchange=exchange)
    texts = export_c(programs, f"{name}_model", file=f"{name}_model", foreign=all_foreign_names(job, name))
    texts |= controller_texts(job, name) | scene_texts(job, name)
    driver = driver_texts("c", name) | (driver_texts("exchange", name) if exchange else {})
    texts |= data_texts(job_tables(job), name) | {file: driver[file] for file in driver if file != "main.c"}
    return texts | user_texts(job, name, user_code)


def all_foreign_names(job: Job, name: str) -> dict[str, str]:
    """The names in C of the functions that a program calls and does not define: code of the user, and controllers."""
    return user_code.asked_names(name) | foreign_names(job, name)


def makefile(texts: Mapping[str, str], name: str) -> str:
    """The text of the Makefile of a program with these files."""
    files = sorted(texts)
    others = [file for file in files if file.endswith(".h") or "/" in file]
    listed = {"sources": compiled_files(texts), "headers": others}
    return named(MAKEFILE.format(**{kind: " ".join(some) for kind, some in listed.items()}), name)


def scene_texts(job: Job, name: str) -> dict[str, str]:
    """{file name: text} of the functions that draw scenes, and of the shapes; none where the job has no drawing."""
    drawing = job.drawing
    if drawing is None:
        return {}
    opening = block_comment([f"The shapes of the program {comment(job.name)}. Emitted by Kinemorph."])
    capitals = name.upper()
    counts = {"carriers": drawing.carriers}
    counts |= {key: len(getattr(drawing, key)) for key in ("nodes", "edges", "sides")}
    header = [*opening, f"#ifndef {capitals}_SCENE_DATA_H", f"#define {capitals}_SCENE_DATA_H", ""]
    header += [f"#define {capitals}_{key.upper()} {count}" for key, count in counts.items()]
    arrays: list[tuple[str, str | list[str]]] = [
        ("const char *const simulator_scene_title", quoted(drawing.title)),
        ("const int simulator_node_carriers[]", [str(carrier) for carrier, *_ in drawing.nodes]),
        ("const double simulator_nodes[][3]", [_row(map(_real, row)) for _, *row in drawing.nodes]),
        ("const int simulator_edges[][3]", [_row(map(str, row)) for row in drawing.edges] or ["{0, 0, 0}"]),
        ("const int simulator_sides[][4]", [_row(map(str, row)) for row in drawing.sides] or ["{0, 0, 0, 0}"]),
    ]
    source = [*opening, f'#include "{name}_scene.h"', ""]
    for declared, values in arrays:
        source += [_table(named(declared, name), values), ""]
    return driver_texts("scene_c", name) | {
        f"{name}_scene_data.h": "\n".join([*header, "", "#endif", ""]),
        f"{name}_scene_data.c": "\n".join(source),
    }


def _row(entries: Iterable[str]) -> str:
    return "{" + ", ".join(entries) + "}"


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def data_texts(tables: JobTables, name: str) -> dict[str, str]:
    """{file name: text} of the sizes of a job as macros, and of its tables as constants.

    The tables are declared in the driver. Texts of the model are not searched for the word `simulator`.
    """
    opening = block_comment([f"The data of the program {comment(tables.name)}. Emitted by Kinemorph."])
    sizes = {"columns": tables.columns, "curves": tables.curves, "kinds": tables.kinds, "sentences": tables.sentences}
    macros: dict[str, str] = {key: str(value) for key, value in tables.sizes.items()}
    macros |= {key: str(len(values)) for key, values in sizes.items()}
    macros |= {key: str(int(x)) if key in FLAGS else _real(x) for key, x in tables.constants.items()}
    macros |= {key: str(value) for key, value in tables.statuses.items()}
    macros |= {f"{kind}_kind" if kind in macros else kind: str(k) for k, kind in enumerate(tables.kinds)}
    macros |= {f"says_{key}": f"{name}_sentences[{k}]" for k, key in enumerate(tables.sentences)}
    capitals = name.upper()
    header = [*opening, f"#ifndef {capitals}_DATA_H", f"#define {capitals}_DATA_H", ""]
    header += [f"#define {capitals}_{key.upper()} {value}" for key, value in macros.items()]
    source = [*opening, f'#include "{name}_tables.h"', "", "#include <math.h>", ""]
    for declared, values in _arrays(tables):
        source += [_table(named(declared, name), values), ""]
    return {f"{name}_data.h": "\n".join([*header, "", "#endif", ""]), f"{name}_data.c": "\n".join(source)}


FLAGS = ("fixed", "adaptive", "robot", "impulses", "most_quick", "most_switches")  # constants that are whole numbers


def _arrays(tables: JobTables) -> list[tuple[str, str | list[str]]]:
    """(declaration, entries or the whole value) of each table; a table without entries has one that is not used."""
    texts, reals = "const char *const simulator_{}[]", "const double simulator_{}[]"
    marks = [
        f"{{{quoted(m.name)}, {m.kind}, {m.jumps}, {_real(m.shortest)}, {m.least}, {m.stays}}}" for m in tables.marks
    ]
    domains = [f"{{{_real(d.low)}, {_real(d.high)}, {d.steep}, {quoted(d.sentence)}}}" for d in tables.domains]
    gimbals = [f"{{{g.second}, {_real(g.angle)}, {quoted(g.sentence)}}}" for g in tables.gimbals]
    moves = [f"{{{first}, {count}}}" for first, count in tables.moves]
    clocks = [f"{{{', '.join(map(_real, clock))}}}" for clock in tables.clocks]
    numbers = {name: getattr(tables, name) for name in ("memory", "u", "p", "limits", "times")}
    words = {"names": [n for n, _ in tables.columns], "units": [u for _, u in tables.columns]}
    words |= {name: list(getattr(tables, name)) for name in ("curves", "variables", "owners", "kinds")}
    words["sentences"] = list(tables.sentences.values())
    return [
        ("const char *const simulator_model_name", quoted(tables.name)),
        ("const char *const simulator_method", quoted(tables.method)),
        ("const char *const simulator_header", quoted(tables.header)),
        *((reals.format(name), _listed(values)) for name, values in numbers.items()),
        ("const double simulator_clocks[][3]", clocks or ["{0.0, 0.0, 0.0}"]),
        ("const int simulator_moves[][2]", moves or ["{0, 0}"]),
        *((texts.format(name), _quoted(values)) for name, values in words.items()),
        ("const simulator_mark simulator_marks[]", marks or ['{"", 0, 0, 0.0, 0, 0}']),
        ("const simulator_domain simulator_domains[]", domains or ['{0.0, 0.0, 0, ""}']),
        ("const simulator_gimbal simulator_gimbals[]", gimbals or ['{0, 0.0, ""}']),
    ]


def _real(value: float) -> str:
    return number(value, C["float64"])


def _listed(values: Sequence[float]) -> list[str]:
    return [_real(value) for value in values] or ["0.0"]


def _quoted(texts: Sequence[str]) -> list[str]:
    return [quoted(text) for text in texts] or ['""']


def _table(declared: str, entries: str | Sequence[str]) -> str:
    """The definition of a value, or of an array with as many entries in a line as fit."""
    if isinstance(entries, str):
        return f"{declared} = {entries};"
    lines, line = [f"{declared} = {{"], "   "
    for entry in entries:
        if len(line) + len(entry) > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return "\n".join([*lines, line, "};"])


def quoted(text: str) -> str:
    """A text as a constant of C in ASCII; other characters are their bytes in UTF-8.

    It is a string literal, or an array of characters where it is longer than LONGEST.
    """
    safe = {ord("\\"): r"\\", ord('"'): r"\"", ord("?"): r"\?"}  # two question marks could begin a trigraph
    letters = [safe.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in text.encode()]
    if len(letters) <= LONGEST:
        return '"' + "".join(letters) + '"'
    entries = ["'\\''" if letter == "'" else f"'{letter}'" for letter in letters] + ["0"]
    lines = (", ".join(entries[k : k + PER_LINE]) for k in range(0, len(entries), PER_LINE))
    return "(const char[]){" + ",\n        ".join(lines) + "}"
