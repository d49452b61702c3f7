"""The command `kinemorph`: one function per verb; each parses, calls, prints.

application   the command with its exit codes, and how verbs print
choosing      ROBOT: a built-in robot or a model file, and how files are read
model_files   info, export, new
checking      check
modelling     derive, verify, doctor, demo, bench
running       simulate
showing       show
analyzing     analyze
assembling    assemble
pacing        gait
reading       what is written after options: numbers, values by name
plotting      the options that ask for plots
seeing        the options that ask for replays, moving pictures, the viewer
"""

from kinemorph.cli import analyzing, assembling, checking, model_files, modelling, pacing, running, showing
from kinemorph.cli.application import app, main

__all__ = [
    "analyzing",
    "app",
    "assembling",
    "checking",
    "main",
    "model_files",
    "modelling",
    "pacing",
    "running",
    "showing",
]
