"""How large a model file may be. What is beyond is refused with a sentence, before it can cost time or memory."""

from __future__ import annotations

FILE_SIZE = 64_000_000  # bytes of a model file
NESTING = 256  # elements inside one another, brackets inside one another
ELEMENTS = 1_000_000  # XML elements, TOML keys
BODIES = 10_000
INCLUDES = 1_000  # files that a model pulls in, counted each time
NAME_LENGTH = 1_000  # characters
FINDINGS = 200  # told one by one; the rest is counted
