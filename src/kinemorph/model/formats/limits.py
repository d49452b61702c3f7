"""How large a model file may be. What is beyond is refused with a sentence, before it can cost time or memory."""

from __future__ import annotations

FILE_SIZE = 64_000_000  # bytes of a model file
TOML_SIZE = 16_000_000  # characters of a TOML file
NESTING = 256  # elements inside one another, brackets inside one another
ELEMENTS = 1_000_000  # XML elements, TOML keys
BODIES = 10_000
NAME_LENGTH = 1_000  # characters
FINDINGS = 200  # told one by one; the rest is counted
TEXT_LENGTH = 500  # characters of a name, a reason or a remedy in a message
