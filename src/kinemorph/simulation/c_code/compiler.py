"""From the C of a model to an executable: a server that calls its functions (server.c).

It is compiled once for the same content: the digest under which the cache keeps it is made of the sources after the
preprocessor, so that a changed header counts too. The compiler is `cc`, or what the environment variable CC says.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kinemorph.codegen.backends.c.library import compiler
from kinemorph.codegen.work_clock import at_work
from kinemorph.disk_cache import EXECUTABLE, code_cache
from kinemorph.errors import ControllerError
from kinemorph.simulation.c_code.unit import CSource, CUnit
from kinemorph.words import quoted

LONGEST = 120.0  # [s] that the compiler may take
BEYOND_DRIVES, BEYOND_MEMORY = 113, 114  # exit statuses of the server: a function wrote behind an array
OPTIONS = ("-O2", "-include", "functions.h")
SAID = 200  # characters of a message of the compiler that are repeated
ERROR = re.compile(r"\b(fatal )?error\b", re.IGNORECASE)
UNDEFINED = re.compile(r"undefined (?:reference|symbol)[^`'\"]*[`'\":]\s*_?(\w+)|\"_(\w+)\", referenced from")


def compiled_server(unit: CUnit) -> bytes:
    """The executable of the server, from the cache or newly compiled. Raises ControllerError with the reason."""
    names = ", ".join(source.name for source in unit.sources)
    with at_work("compiling", names), tempfile.TemporaryDirectory(prefix="kinemorph-") as place:
        making = Compiler(unit, Path(place))
        digest, cache = making.digest(), code_cache()
        code = cache.read(digest, EXECUTABLE) if cache else None
        if code is None:
            code = making.linked()
            if cache:
                cache.write(digest, code, EXECUTABLE)
        return code


class Compiler:
    """Compiles the C of a model in a folder that exists for this purpose."""

    def __init__(self, unit: CUnit, folder: Path) -> None:
        self.unit, self.folder = unit, folder
        self.who = f"controller {quoted([function.controller for function in unit.functions])}"
        self.words = compiler()
        self.program = shutil.which(self.words[0])
        if self.program is None:
            raise ControllerError(
                f"{self.who} is C, which needs a C compiler, and there is no '{' '.join(self.words)}'. Install one, "
                "such as gcc or clang, or name it in the environment variable CC."
            )
        texts = {"functions.h": unit.prototypes, "table.h": _table(unit), "server.c": _server()}
        texts |= {source.path: source.text for source in unit.sources if not source.in_file}
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))

    def digest(self) -> str:
        """The digest of everything that the executable is made from."""
        facts = os.stat(str(self.program))
        found = hashlib.sha256(f"{self.words} {self.program} {facts.st_size} {facts.st_mtime_ns}\n".encode())
        for text in (_server(), _table(self.unit), self.unit.prototypes):
            found.update(text.encode() + b"\0")
        for source in self.unit.sources:
            done = self._run([*_options(source), "-E", "-P", source.path])
            if done.returncode:
                raise ControllerError(self._refused(source, done))
            found.update(f"{_options(source)} {source.path}\0".encode("utf-8", "surrogateescape") + done.stdout)
        return found.hexdigest()

    def linked(self) -> bytes:
        """The executable of the server with all sources."""
        objects = []
        for k, source in enumerate(self.unit.sources):
            objects.append(f"{k}.o")
            done = self._run([*_options(source), "-c", source.path, "-o", objects[-1]])
            if done.returncode:
                raise ControllerError(self._refused(source, done))
        done = self._run(["-O2", "-o", "server", "server.c", *objects, "-lm"])
        if done.returncode:
            raise ControllerError(self._not_linked(done))
        return (self.folder / "server").read_bytes()

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        """Runs the compiler in the folder, with messages in English."""
        command = [str(self.program), *self.words[1:], *words]
        try:
            return subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST,
                check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            reason = f"takes longer than {LONGEST:g} s"
        except OSError as error:
            reason = f"cannot be started ({error.strerror})"
        raise ControllerError(f"{self.who}: the compiler '{' '.join(self.words)}' {reason}. Name another one in CC.")

    def _refused(self, source: CSource, done: subprocess.CompletedProcess[bytes]) -> str:
        """The sentence where a source does not compile, with the first message of the compiler."""
        said = _first_message(done)
        remedy = "Correct the source."
        for function in self.unit.functions:
            if "conflicting types" in said and re.search(rf"\W{function.name}\W", said):
                remedy = f"Write it as `{function.prototype}`."
        return f"{self.who}: the source '{source.name}' does not compile: {said.rstrip('.')}. {remedy}"

    def _not_linked(self, done: subprocess.CompletedProcess[bytes]) -> str:
        """The sentence where the sources do not make a program, such as where a function is missing."""
        said = done.stderr.decode(errors="replace")
        missing = {name for pair in UNDEFINED.findall(said) for name in pair if name}
        for function in self.unit.functions:
            if function.name in missing:
                names = quoted([source.name for source in self.unit.sources])
                return (
                    f"controller '{function.controller}': the function '{function.name}' is not in {names}. Write it "
                    f"as `{function.prototype}`, or name the source that has it."
                )
        if re.search(r"multiple definition of .main|duplicate symbol.*main", said):
            return f"{self.who}: the sources define `main`, which belongs to the simulation. Leave it out of them."
        return (
            f"{self.who}: the sources do not make a program: {_first_message(done).rstrip('.')}. Name all sources that "
            "are needed in `source`."
        )


def _options(source: CSource) -> list[str]:
    return [*OPTIONS, *(f"-D{macro}" for macro in source.defines), *(f"-I{folder}" for folder in source.include)]


def _first_message(done: subprocess.CompletedProcess[bytes]) -> str:
    """The first line that the compiler wrote about an error, without folders; else the first line at all."""
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    line = next((line for line in lines if ERROR.search(line) or "undefined" in line), lines[0] if lines else "")
    line = re.sub(r"(?<![\w.])/(?:[^\s:/]+/)+", "", line)  # folders
    return line[:SAID] if line else f"the compiler gave up with status {done.returncode}"


def _server() -> str:
    return (Path(__file__).parent / "server.c").read_text(encoding="utf-8")


def _table(unit: CUnit) -> str:
    """The table of functions in C, for server.c."""
    most = max(f.memory + max(f.reads, f.outputs) for f in unit.functions)
    limits = [f.time_limit if math.isfinite(f.time_limit) else 0.0 for f in unit.functions]
    rows = (
        f"    {{{f.name}, {f.reads}, {f.outputs}, {f.memory}, {limit!r}}},"
        for f, limit in zip(unit.functions, limits, strict=True)
    )
    return "\n".join(
        [
            f"enum {{ MOST_NUMBERS = {most}, BEYOND_DRIVES = {BEYOND_DRIVES}, BEYOND_MEMORY = {BEYOND_MEMORY} }};",
            "static const server_function server_table[] = {",
            *rows,
            "};\n",
        ]
    )
