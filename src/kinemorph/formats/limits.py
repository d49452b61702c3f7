"""Limits of model files. Larger ones are refused with a message, before they can cost time or memory."""

from __future__ import annotations

FILE_SIZE = 64_000_000  # bytes of a model file
TOML_SIZE = 16_000_000  # characters of a TOML file
NESTING = 256  # elements inside one another, brackets inside one another
ELEMENTS = 1_000_000  # XML elements, TOML values
ATTRIBUTES = 10_000  # of one XML element
TOML_KEYS = 400_000  # keys and headers of tables
TOML_PARTS = 4_000_000  # parts of the paths of all keys: a.b = 1 below [c] has c, c.a and c.a.b
BODIES = 10_000
INCLUDES = 1_000  # files that a model names, or that they name in turn
NAME_LENGTH = 1_000  # characters
FINDINGS = 200  # listed one by one; the rest is counted
NAMED_BYTES = 1_000_000_000  # of all files that a model names together
COMPILE_SECONDS = 3.0  # processor time of MuJoCo's compiler, and one second more for every COMPILE_RATE bytes it reads
COMPILE_RATE = 4_000_000  # bytes
COMPILE_MEMORY = 2 * 1024**3  # bytes, where the platform can limit them
TEXT_LENGTH = 500  # characters of a name, a reason or a remedy in a message
