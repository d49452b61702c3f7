"""Limits of model files. A file beyond a limit gives an error before it takes much time or memory."""

from __future__ import annotations

FILE_SIZE = 64_000_000  # bytes of a model file
TOML_SIZE = 16_000_000  # characters of a TOML file
CAGEM_SIZE = 1_000_000  # characters of a CAGeM file
NESTING = 256  # depth of XML elements or TOML brackets inside one another
ELEMENTS = 1_000_000  # XML elements, TOML values
ATTRIBUTES = 10_000  # of one XML element
TOML_KEYS = 400_000  # keys and headers of tables
TOML_PARTS = 4_000_000  # parts of the paths of all keys: a.b = 1 below [c] has c, c.a and c.a.b
BODIES = 10_000
INCLUDES = 1_000  # files that a model names, directly or through other files
NAME_LENGTH = 1_000  # characters
FINDINGS = 200  # findings that are listed; further ones are only counted
NAMED_BYTES = 1_000_000_000  # of all files together that a model names
COMPILE_SECONDS = 3.0  # processor time of MuJoCo's compiler; one second is added for every COMPILE_RATE bytes it reads
COMPILE_RATE = 4_000_000  # bytes
COMPILE_MEMORY = 2 * 1024**3  # bytes, if the operating system can limit memory
TEXT_LENGTH = 500  # characters of a name, a reason or a remedy in a message
