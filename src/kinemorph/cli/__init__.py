"""The command line `kinemorph`. Every verb has a file, which parses options, calls the library and prints results.

application     the command with its exit codes; how verbs are registered and how they print
verbs/          one file per verb; those whose results are looked at are in verbs/pages/
options/        groups of options that several verbs share
output_files    checks and writes the files that verbs produce
emitted_files   where `derive` writes the files of an emitted form
orbit_analyses  the analyses of motions that repeat, for `analyze`
installation    the facts that `doctor` reports
demo/           the contents of the folder that `demo` writes
"""

from kinemorph.cli.application import app, main

__all__ = ["app", "main"]
