"""The command `kinemorph`: one function per verb; each parses, calls, prints.

application   the command with its exit codes, and how verbs print
modelling     info, derive, verify, doctor, demo, bench
running       simulate, show
analyzing     analyze
reading       what is written after options: numbers, values by name
"""

from kinemorph.cli import analyzing, modelling, running
from kinemorph.cli.application import app, main

__all__ = ["analyzing", "app", "main", "modelling", "running"]
