"""A job as a program in C99 that needs only the standard library, with a Makefile.

name_model.c, .h     the march, its start and the rates of the model, from the C backend
name_data.c, .h      the tables of the job
name.c, .h           the library form: a model that can be advanced
name_run.c, .h       a whole run
name_program.c, .h   the command line
main.c, Makefile
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.spelling import RESERVED, C, block_comment, number
from kinemorph.codegen.backends.identifiers import comment
from kinemorph.programs.drivers import driver_texts, named, program_name
from kinemorph.programs.job import Job
from kinemorph.programs.job_tables import JobTables, job_tables

# names of functions and files that a model must not have: those of the driver, and of the C library
TAKEN = frozenset({"simulator", "main", "data", "run", "place", "end", "store", "through", "ratio", "look", "explain"})
WIDTH = 110  # characters in a line of numbers

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


def library_texts(job: Job, name: str) -> dict[str, str]:
    """{file name: text} of everything but the function `main`: the model, its tables, and the driver."""
    programs = job.programs(f"{name}_")
    texts = export_c(programs, f"{name}_model", file=f"{name}_model")
    driver = driver_texts("c", name)
    return texts | data_texts(job_tables(job), name) | {file: driver[file] for file in driver if file != "main.c"}


def makefile(texts: Iterable[str], name: str) -> str:
    """The text of the Makefile of a program with these files."""
    files = sorted(texts)
    listed = {"sources": [f for f in files if f.endswith(".c")], "headers": [f for f in files if f.endswith(".h")]}
    return named(MAKEFILE.format(**{kind: " ".join(some) for kind, some in listed.items()}), name)


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def data_texts(tables: JobTables, name: str) -> dict[str, str]:
    """{file name: text} of the tables of a job as constants, and of the header that declares them."""
    opening = block_comment([f"The data of the program {comment(tables.name)}. Emitted by Kinemorph."])
    macros = {**tables.sizes, "columns": len(tables.columns), "curves": len(tables.curves)}
    header = [*opening, "#ifndef SIMULATOR_DATA_H", "#define SIMULATOR_DATA_H", ""]
    header += ["#define SIMULATOR_ROOM(n) ((n) > 0 ? (n) : 1) /* an array has at least one entry */", ""]
    header += [f"#define SIMULATOR_{key.upper()} {value}" for key, value in macros.items()]
    header += [f"#define SIMULATOR_{key.upper()} {number(value, C['float64'])}" for key, value in _reals(tables)]
    header += [f"#define SIMULATOR_{key.upper()} {int(tables.constants[key])}" for key in FLAGS]
    header += ["", "/* why a march returns */"]
    header += [f"#define SIMULATOR_{key.upper()} {value}" for key, value in tables.statuses.items()]
    header += ["", "/* kinds of events */"]
    header += [
        f"#define SIMULATOR_{kind.upper()}{'_KIND' * (kind == 'rest')} {k}" for k, kind in enumerate(tables.kinds)
    ]
    header += ["", "/* sentences with gaps: the characters 1 to 8 */"]
    header += [
        f"#define SIMULATOR_SAYS_{key.upper()} simulator_sentences[{k}]" for k, key in enumerate(tables.sentences)
    ]
    arrays = _arrays(tables)
    header += ["", "typedef struct simulator_mark {", "    const char *name;", "    int kind;", "    int jumps;"]
    header += ["    double shortest;", "    int least;", "    int stays;", "} simulator_mark;", ""]
    header += ["typedef struct simulator_domain {", "    double low, high;", "    int steep;"]
    header += ["    const char *sentence;", "} simulator_domain;", ""]
    header += ["typedef struct simulator_gimbal {", "    int second;", "    double angle;"]
    header += ["    const char *sentence;", "} simulator_gimbal;", ""]
    header += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    header += [f"extern {declared};" for declared, _ in arrays]
    header += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    source = [*opening, '#include "simulator_data.h"', "", "#include <math.h>", ""]
    for declared, values in arrays:
        source += [f"{declared} = {values};" if isinstance(values, str) else _table(declared, values), ""]
    return {
        f"{name}_data.h": named("\n".join(header), name),
        f"{name}_data.c": named("\n".join(source), name),
    }


FLAGS = ("fixed", "adaptive", "robot", "impulses", "most_quick", "most_switches")  # constants that are whole numbers


def _reals(tables: JobTables) -> list[tuple[str, float]]:
    return [(key, value) for key, value in tables.constants.items() if key not in FLAGS]


def _arrays(tables: JobTables) -> list[tuple[str, str | list[str]]]:
    """(declaration, entries or the whole value) of each table; a table without entries has one that is not used."""
    texts, reals = "const char *const", "const double"
    sentences = list(tables.sentences.values())
    marks = [
        f"{{{quoted(m.name)}, {m.kind}, {m.jumps}, {_real(m.shortest)}, {m.least}, {m.stays}}}" for m in tables.marks
    ]
    domains = [f"{{{_real(d.low)}, {_real(d.high)}, {d.steep}, {quoted(d.sentence)}}}" for d in tables.domains]
    gimbals = [f"{{{g.second}, {_real(g.angle)}, {quoted(g.sentence)}}}" for g in tables.gimbals]
    moves = [f"{{{first}, {count}}}" for first, count in tables.moves]
    clocks = [f"{{{', '.join(map(_real, clock))}}}" for clock in tables.clocks]
    return [
        (f"{reals} simulator_memory[SIMULATOR_MEMORY]", _listed(tables.memory)),
        (f"{reals} simulator_u[SIMULATOR_ROOM(SIMULATOR_NU)]", _listed(tables.u)),
        (f"{reals} simulator_p[SIMULATOR_ROOM(SIMULATOR_NP)]", _listed(tables.p)),
        (f"{reals} simulator_limits[6]", _listed(tables.limits)),
        (f"{reals} simulator_times[SIMULATOR_ROOM(SIMULATOR_TIMES)]", _listed(tables.times)),
        (f"{reals} simulator_clocks[SIMULATOR_ROOM(SIMULATOR_CLOCKS)][3]", clocks or ["{0.0, 0.0, 0.0}"]),
        ("const int simulator_moves[SIMULATOR_ROOM(SIMULATOR_NQ)][2]", moves or ["{0, 0}"]),
        (f"{texts} simulator_names[SIMULATOR_ROOM(SIMULATOR_COLUMNS)]", _quoted([n for n, _ in tables.columns])),
        (f"{texts} simulator_units[SIMULATOR_ROOM(SIMULATOR_COLUMNS)]", _quoted([u for _, u in tables.columns])),
        (f"{texts} simulator_curves[SIMULATOR_ROOM(SIMULATOR_CURVES)]", _quoted(tables.curves)),
        (f"{texts} simulator_variables[SIMULATOR_ROOM(SIMULATOR_NS)]", _quoted(tables.variables)),
        (f"{texts} simulator_owners[SIMULATOR_ROOM(SIMULATOR_NM)]", _quoted(tables.owners)),
        (f"{texts} simulator_kinds[{len(tables.kinds)}]", _quoted(tables.kinds)),
        (f"{texts} simulator_sentences[{len(sentences)}]", _quoted(sentences)),
        ("const simulator_mark simulator_marks[SIMULATOR_ROOM(SIMULATOR_GUARDS)]", marks or ['{"", 0, 0, 0.0, 0, 0}']),
        (
            "const simulator_domain simulator_domains[SIMULATOR_ROOM(SIMULATOR_DOMAINS)]",
            domains or ['{0.0, 0.0, 0, ""}'],
        ),
        ("const simulator_gimbal simulator_gimbals[SIMULATOR_ROOM(SIMULATOR_GIMBALS)]", gimbals or ['{0, 0.0, ""}']),
        (f"{texts} simulator_model_name", quoted(tables.name)),
        (f"{texts} simulator_method", quoted(tables.method)),
        (f"{texts} simulator_header", quoted(tables.header)),
    ]


def _real(value: float) -> str:
    return number(value, C["float64"])


def _listed(values: Sequence[float]) -> list[str]:
    return [_real(value) for value in values] or ["0.0"]


def _quoted(texts: Sequence[str]) -> list[str]:
    return [quoted(text) for text in texts] or ['""']


def _table(declared: str, entries: Sequence[str]) -> str:
    """The definition of an array, with as many entries in a line as fit."""
    lines, line = [f"{declared} = {{"], "   "
    for entry in entries:
        if len(line) + len(entry) > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return "\n".join([*lines, line, "};"])


def quoted(text: str) -> str:
    """A text as a string literal of C in ASCII; other characters are their bytes in UTF-8."""
    safe = {ord("\\"): r"\\", ord('"'): r"\"", ord("?"): r"\?"}  # two question marks could begin a trigraph
    return '"' + "".join(safe.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in text.encode()) + '"'
