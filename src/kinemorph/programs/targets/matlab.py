"""A job as a program for MATLAB and GNU Octave, with nothing to install: function files in one folder.

name_steps.m, name_start.m, name_rate.m    the march, its start and the rates of the model, from the MATLAB backend
name_data.m                                the tables of the job, as one structure
name.m                                     a whole run
name_names.m, ..., user_*.m                code of the user, where there is some
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.backends.identifiers import comment
from kinemorph.codegen.backends.text.matlab import LANGUAGE, OWNER, RESERVED, export_matlab
from kinemorph.programs.controllers_in_c import refuse_controllers
from kinemorph.programs.drivers import driver_texts, program_name
from kinemorph.programs.job import Job
from kinemorph.programs.job_tables import DomainRow, GimbalRow, JobTables, Mark, job_tables
from kinemorph.programs.user_files import matlab as user_code
from kinemorph.programs.user_files.written_once import user_texts

# names of functions that a model must not have: those that the driver calls
TAKEN = frozenset(
    {
        *("cell", "cellfun", "char", "fclose", "fopen", "fprintf", "isfield", "isfinite", "isempty", "ischar", "isnan"),
        *("lcm", "repmat", "round", "simulator", "sprintf", "strcmp", "strrep", "struct", "find", "any", "all", "run"),
        "user",
    }
)
RECORDS: dict[str, Any] = {"marks": Mark, "domains": DomainRow, "gimbals": GimbalRow}  # tables of records
WIDTH = 100  # characters in a line of numbers


def write_matlab(job: Job) -> dict[str, str]:
    """{file name: text} of the program of a job for MATLAB and GNU Octave."""
    refuse_controllers(job, "MATLAB")
    name = program_name(job.name, TAKEN, RESERVED, longest=OWNER - len("_program"))
    return {
        **export_matlab(job.programs(), name, foreign=user_code.asked_names(name)),
        f"{name}_data.m": _data_text(job_tables(job), name),
        **driver_texts("matlab", name),
        **user_texts(job, name, user_code),
    }


def _data_text(tables: JobTables, name: str) -> str:
    """The text of the function that returns the tables; arrays are columns."""
    lines = [
        f"function data = {name}_data()",
        f"%{name.upper()}_DATA  The data of the program {comment(tables.name)}. Emitted by Kinemorph.",
    ]
    for table, values in tables._asdict().items():
        lines.append(f"    data.{table} = {_value(table, values)};")
    return "\n".join([*lines, "end", ""])


def _value(table: str, values: Any) -> str:
    """One table as an expression of MATLAB."""
    if isinstance(values, str):
        return quoted(values)
    if isinstance(values, dict):
        pairs = [f"{quoted(key)}, {quoted(x) if isinstance(x, str) else _number(x)}" for key, x in values.items()]
        return "struct(" + _wrapped(pairs, ", ") + ")"
    if table in RECORDS:
        fields = ((field, [_entry(getattr(row, field)) for row in values]) for field in RECORDS[table]._fields)
        return "struct(" + ", ".join(f"'{field}', {{{', '.join(entries)}}}" for field, entries in fields) + ")"
    if table in ("columns", "kinds", "variables", "owners", "curves"):
        rows = [row if isinstance(row, tuple) else (row,) for row in values]
        width = 2 if table == "columns" else 1
        cells = [", ".join(map(quoted, row)) for row in rows]
        return "{" + _wrapped(cells, "; ") + "}" if rows else f"cell(0, {width})"
    if table in ("clocks", "moves"):
        lines = [" ".join(map(_number, row)) for row in values]
        return "[" + _wrapped(lines, "; ") + "]" if lines else f"zeros(0, {3 if table == 'clocks' else 2})"
    return "[" + _wrapped([_number(x) for x in values], "; ") + "]" if values else "zeros(0, 1)"


def _wrapped(entries: Sequence[str], separator: str) -> str:
    """Entries with separators between them, in lines that are continued."""
    text, line = "", ""
    for k, entry in enumerate(entries):
        line += entry + (separator if k + 1 < len(entries) else "")
        if len(line) > WIDTH and k + 1 < len(entries):
            text, line = f"{text}{line}...\n        ", ""
    return text + line


def _entry(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    return LANGUAGE.number(value) if isinstance(value, float) else str(value)


def quoted(text: str) -> str:
    """A text as a character array of MATLAB; control characters, which mark gaps, are written by their codes."""
    parts = [part for part in re.split(r"([\x00-\x1f])", text) if part]
    if not parts:
        return "''"
    if len(parts) == 1 and ord(parts[0][0]) >= 32:
        return "'" + text.replace("'", "''") + "'"
    written = (f"char({ord(part)})" if ord(part[0]) < 32 else "'" + part.replace("'", "''") + "'" for part in parts)
    return "[" + ", ".join(written) + "]"
