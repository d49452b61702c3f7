"""The command `kinemorph`: one file per verb, which parses, calls and prints.

application     the command with its exit codes, how verbs are registered and how they print
verbs/          the verbs
options/        groups of options that several verbs share
output_files    files that verbs write
emitted_forms   the forms in which `derive` writes functions
installation    the facts that `doctor` reports
demo/           the contents of the folder that `demo` writes
"""

from importlib import import_module

from kinemorph.cli.application import VERBS, app, main

for _verb in VERBS:
    import_module(f"kinemorph.cli.verbs.{_verb}")

__all__ = ["app", "main"]
