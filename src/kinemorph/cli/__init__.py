"""The command `kinemorph`: one function per verb; each parses, calls and prints.

application     the command with its exit codes, and how verbs print
verbs/          the verbs
options/        options that several verbs share
emitted_forms   what `derive` writes, in any of its forms
doctor          what `doctor` finds out about the installation
demo/           what `demo` makes
"""

from kinemorph.cli import verbs
from kinemorph.cli.application import app, main

__all__ = ["app", "main", "verbs"]
