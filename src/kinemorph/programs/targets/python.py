"""A job as a program in Python that needs only NumPy: a module of the model, one of its tables, and the driver.

name_model.py    the march, its start and the rates of the model, from the Python backend
name_data.py     the tables of the job
name.py          the library form, a whole run, and the command line
name_scene_data.py   shapes for EasyDyn's viewer, where the job has a drawing
name_user.py, name_names.py, user.py    code of the user, where there is some
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pprint import pformat
from typing import Any

from kinemorph.codegen.backends.identifiers import comment
from kinemorph.codegen.backends.text.python import LANGUAGE, export_python
from kinemorph.programs.controllers_in_c import refuse_controllers
from kinemorph.programs.drivers import driver_texts, program_name
from kinemorph.programs.job import Job
from kinemorph.programs.job_tables import JobTables, job_tables
from kinemorph.programs.user_files import python as user_code
from kinemorph.programs.user_files.written_once import user_texts

# names of modules that a model must not have: those that the driver imports
TAKEN = frozenset(
    {"argparse", "csv", "math", "sys", "fractions", "numpy", "np", "simulator", "data", "model_functions", "user"}
)
WIDTH = 110  # characters in a line


def write_python(job: Job) -> dict[str, str]:
    """{file name: text} of the program of a job in Python."""
    refuse_controllers(job, "Python")
    name = program_name(job.name, TAKEN, LANGUAGE.reserved)
    return {
        **export_python(job.programs(), f"{name}_model", user=f"{name}_user"),
        f"{name}_data.py": _data_text(job_tables(job)),
        **_scene_texts(job, name),
        **driver_texts("python", name),
        **user_texts(job, name, user_code),
    }


def _data_text(tables: JobTables) -> str:
    """The text of the module of tables."""
    return _module(f"The data of the program {comment(tables.name)}. Emitted by Kinemorph.", tables._asdict())


def _scene_texts(job: Job, name: str) -> dict[str, str]:
    """{file name: text} of the shapes of a job; none where it has no drawing."""
    if job.drawing is None:
        return {}
    opening = f"The shapes of the program {comment(job.name)}. Emitted by Kinemorph."
    tables = {table: getattr(job.drawing, table) for table in ("title", "nodes", "edges", "sides")}
    return {f"{name}_scene_data.py": _module(opening, tables)}


def _module(opening: str, tables: Mapping[str, Any]) -> str:
    """The text of a module of tables, each of which is a literal."""
    lines = [f'"""{opening}"""']
    for table, values in tables.items():
        lines += ["", f"{table.upper()} = {_literal(values)}"]
    return "\n".join([*lines, ""])


def _literal(values: Any) -> str:
    """A table as a literal of Python; names of records are left out."""
    if isinstance(values, tuple):
        values = tuple(tuple(one) if isinstance(one, tuple) else one for one in values)
    text = pformat(values, width=WIDTH, compact=True, sort_dicts=False)
    return re.sub(r"\binf\b(?=[,)\]])", 'float("inf")', text) if "inf" in text and not isinstance(values, str) else text
