"""Whole programs: a model, its method and its initial state as source code that runs without Python.

A program is the march of `simulation`, which is compiled for every run, written in another language, with a main
function around it. There is no second integrator: the program takes the same steps as `simulate`.

job            what a program computes, as data, and what cannot leave Python
job_tables     the data of a job that every program carries: sizes, names, initial memory, limits
drawing        the shapes that a program draws for EasyDyn's viewer, as data, and how they move
user_code      what code of a user adds to a program, as data, and how the model takes it
user_files     the files between a program and code of its user, and templates of that code
sentences      the messages of a run as templates, in which a program fills in numbers and names
program_files  `write_program`: the files of a job in one of the languages
targets        one file for each language, all with the same function
drivers        what surrounds the march in each language, as source files that are copied as they are

from kinemorph.programs import make_job, write_program
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "Job": "kinemorph.programs.job",
    "UserCode": "kinemorph.programs.user_code",
    "make_job": "kinemorph.programs.job",
    "write_program": "kinemorph.programs.program_files",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.programs.job import Job as Job
    from kinemorph.programs.job import make_job as make_job
    from kinemorph.programs.program_files import write_program as write_program
    from kinemorph.programs.user_code import UserCode as UserCode
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
