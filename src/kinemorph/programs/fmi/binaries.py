"""Shared libraries of an FMU: for this computer by its C compiler, for other systems by zig (extra `fmu`).

Only the library for this computer can be run here. Those for other systems are cross-compiled.
"""

from __future__ import annotations

import importlib.util
import platform
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kinemorph.codegen.backends.c.library import compiler, has_compiler
from kinemorph.errors import CompileError, UnsupportedError
from kinemorph.programs.drivers import as_bytes, compiled_files
from kinemorph.words import did_you_mean

FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-s")


class System(NamedTuple):
    """A system that FMUs have libraries for: zig's name of it, its folder by FMI 3.0, the ending of libraries."""

    target: str
    folder: str
    ending: str


SYSTEMS: dict[str, System] = {
    "linux": System("x86_64-linux-gnu.2.17", "x86_64-linux", "so"),
    "linux-arm": System("aarch64-linux-gnu.2.17", "aarch64-linux", "so"),
    "windows": System("x86_64-windows-gnu", "x86_64-windows", "dll"),
    "mac": System("x86_64-macos", "x86_64-darwin", "dylib"),
    "mac-arm": System("aarch64-macos", "aarch64-darwin", "dylib"),
}
FOLDERS_2 = {"linux": "linux64", "windows": "win64"}  # by FMI 2.0, which has no folders for ARM


def this_system() -> str:
    """The name of the system of this computer, a key of SYSTEMS; empty where FMUs have no library for it."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    if not arm and platform.machine().lower() not in ("x86_64", "amd64"):
        return ""
    own = {"Linux": "linux", "Windows": "windows", "Darwin": "mac"}.get(platform.system(), "")
    name = f"{own}-arm" if arm else own
    return name if name in SYSTEMS else ""


def has_zig() -> bool:
    """Whether zig, which compiles for other systems, is installed: pip install kinemorph[fmu]."""
    return importlib.util.find_spec("ziglang") is not None


def buildable() -> list[str]:
    """The systems for which libraries can be built here: all of them with zig, else this one with a compiler."""
    own = this_system()
    return list(SYSTEMS) if has_zig() else [own] if own and has_compiler() else []


def checked_systems(systems: str | Sequence[str] | None) -> list[str]:
    """The systems to build libraries for: those named, "this" for this computer, or None for all that can be built.

    Raises UnsupportedError for a name that is unknown, and for a system that no compiler here builds for.
    """
    if systems is None:
        return buildable()
    named = [systems] if isinstance(systems, str) else list(systems)
    found = []
    for name in named:
        known = (*SYSTEMS, "this")
        if name not in known:
            raise UnsupportedError(
                f"system '{name}' is unknown.{did_you_mean(name, known)} Choose from {', '.join(known)}."
            )
        own = this_system() if name == "this" else name
        if own not in buildable() and name != "this":
            raise UnsupportedError(
                f"system '{name}': no compiler here builds libraries for it. Install zig: `pip install kinemorph[fmu]`."
            )
        found += [own] if own in buildable() else []
    return found


def binaries(sources: Mapping[str, str], identifier: str, systems: Sequence[str], version: int) -> dict[str, bytes]:
    """{path in the FMU: bytes} of the libraries built from the texts of the C files, for FMI 2 or 3."""
    with tempfile.TemporaryDirectory(prefix="kinemorph-") as place:
        folder = Path(place)
        for name, text in sources.items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_bytes(as_bytes(text))
        files = compiled_files(sources)
        built = {name: _built(folder, name, files, identifier) for name in systems}
    if version == 3:
        return {
            f"binaries/{SYSTEMS[name].folder}/{identifier}.{SYSTEMS[name].ending}": content
            for name, content in built.items()
        }
    found = {
        f"binaries/{FOLDERS_2[name]}/{identifier}.{SYSTEMS[name].ending}": content
        for name, content in built.items()
        if name in FOLDERS_2
    }
    macs = [content for name, content in built.items() if name.startswith("mac")]
    if macs:
        found[f"binaries/darwin64/{identifier}.dylib"] = universal(macs) if len(macs) > 1 else macs[0]
    return found


def _built(folder: Path, system: str, files: Sequence[str], identifier: str) -> bytes:
    """The bytes of the library for one system: by the C compiler for this computer, if there is one, else by zig."""
    row = SYSTEMS[system]
    own = system == this_system() and has_compiler()
    command = compiler() if own else [sys.executable, "-m", "ziglang", "cc", "-target", row.target]
    library = f"{system}.{row.ending}"
    named = [f"-Wl,-install_name,@rpath/{identifier}.dylib"] if row.ending == "dylib" else []
    done = subprocess.run(
        [*command, *FLAGS, *named, "-o", library, *files, "-lm"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise CompileError(
            f"FMU '{identifier}', library for {system}: '{' '.join(command[:4])}' does not accept the code. "
            f"Check the variable CC. The compiler says: {done.stderr[:2000]}"
        )
    return (folder / library).read_bytes()


def universal(parts: Sequence[bytes]) -> bytes:
    """A library for several processors of macOS: the libraries one after the other, behind a table of their places."""
    page = 1 << 14
    rows, places, at = [], [], page
    for part in parts:
        cpu, kind = struct.unpack_from("<II", part, 4)
        rows.append(struct.pack(">IIIII", cpu, kind, at, len(part), 14))
        places.append(at)
        at += -(-len(part) // page) * page
    found = bytearray(places[-1] + len(parts[-1]))
    table = struct.pack(">II", 0xCAFEBABE, len(parts)) + b"".join(rows)
    found[: len(table)] = table
    for place, part in zip(places, parts, strict=True):
        found[place : place + len(part)] = part
    return bytes(found)
