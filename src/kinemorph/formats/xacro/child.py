"""Expands one xacro text in a separate process: this file is run as a script, never imported by the package.

xacro evaluates ${...} as Python code. It may do this only here: with limits on time and memory, without environment
variables, and under an audit hook that allows reading files in given folders, and no other access to the system. The
script reads JSON from stdin and writes JSON to stdout.

Arguments: the largest memory [byte], the largest processor time [s], and the folder in which xacro is installed.
"""

from __future__ import annotations

import json
import os
import sys
import xml.dom.expatbuilder
from typing import Any

# audit events of the interpreter that a model must not cause
FORBIDDEN = (
    "subprocess.", "os.system", "os.exec", "os.fork", "os.spawn", "os.posix_spawn", "os.startfile", "os.kill",
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate",
    "os.putenv", "os.unsetenv", "os.utime", "os.lockf", "os.setxattr", "os.removexattr", "os.add_dll_directory",
    "shutil.", "socket.", "ctypes.", "urllib.", "ftplib.", "http.", "smtplib.", "webbrowser.", "pty.", "mmap.",
    "signal.", "sys.setprofile", "sys.settrace", "tempfile.", "code.__new__", "gc.get_", "marshal.", "pickle.",
    "winreg.", "msvcrt.", "_winapi.",
)  # fmt: skip
OUTSIDE = "outside the folders that a model may read: its own folder, and those in package_dirs (--package-dir)"
PLACE = "_place"  # an attribute of the expanded text: the number of the place in the files of macros, from 1
MOST_PLACES = 65_000  # lines that libxml2 can store
FRAMES = ("gi_frame", "cr_frame", "ag_frame", "tb_frame")  # attributes through which code could reach this guard


def confine(memory: int, seconds: int) -> None:
    """Limits memory [byte] and processor time [s] of this process, if the operating system can."""
    try:
        import resource
    except ImportError:
        return
    limits = (("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 0))
    for kind, limit in limits:
        try:
            resource.setrlimit(getattr(resource, kind), (limit, limit))
        except (ValueError, OSError, AttributeError):
            continue


class Guard:
    """The audit hook. It allows reading files in the folders `roots` and in Python's `own` folders, and nowhere else.

    `outside` lists files that were refused.
    """

    def __init__(self, roots: list[str], own: list[str]) -> None:
        self.roots = [os.path.realpath(root) for root in roots]
        self.own = [os.path.realpath(root) for root in own]
        self.outside: list[str] = []

    def inside(self, path: str, roots: list[str]) -> bool:
        """Whether a path is in one of the folders after links are followed."""
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raises PermissionError for an audit event that is not allowed."""
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int):
                return
            name = os.fsdecode(path)
            writes = isinstance(flags, int) and flags & (
                os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            )
            if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
                raise PermissionError(f"the file '{name}' is opened for writing, but a model may only read files")
            if not self.inside(name, [*self.roots, *self.own]):
                self.outside.append(name)
                raise PermissionError(f"the file '{name}' is {OUTSIDE}")
        elif event in ("os.listdir", "os.scandir", "os.chdir", "glob.glob"):
            name = os.fsdecode(arguments[0] or ".") if not isinstance(arguments[0], int) else "?"
            place = os.path.dirname(name) if event == "glob.glob" else name
            if not self.inside(place or ".", [*self.roots, *self.own]):
                self.outside.append(name)
                raise PermissionError(f"the folder '{name}' is {OUTSIDE}")
        elif event == "object.__getattr__" and arguments[1] in FRAMES:
            raise PermissionError(f"the attribute '{arguments[1]}' may not be used in a model")
        elif event.startswith(FORBIDDEN):
            raise PermissionError(f"the operation '{event}' is not allowed in a model")


class Arguments(dict[str, str]):
    """The arguments that are given to a model, by name. `read` are the names that the model declares or reads."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.read: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return super().__getitem__(name)


class Places:
    """The places (file, line) of elements, which get the number of their place as an attribute; macros copy it.

    Elements of xacro itself have none: they may not have other attributes than their own.
    """

    def __init__(self, xacro: Any) -> None:
        self.xacro = xacro
        self.found: dict[tuple[str, int], int] = {}

    def number(self, builder: type) -> None:
        """Lets a builder of XML documents number the places of the elements that it reads."""
        start = builder.start_element_handler  # type: ignore[attr-defined]

        def handler(reading: Any, name: str, attributes: Any) -> None:
            start(reading, name, attributes)
            node = reading.curNode
            if not node.tagName.startswith("xacro:") and len(self.found) < MOST_PLACES:
                place = (str((self.xacro.filestack or [""])[-1]), int(reading.getParser().CurrentLineNumber))
                node.setAttribute(PLACE, str(self.found.setdefault(place, len(self.found) + 1)))

        builder.start_element_handler = handler  # type: ignore[attr-defined]


def _plain(package: str) -> bool:
    """Whether the name of a package is the name of a folder, and not a path."""
    return package not in ("", ".", "..") and not set(package) & set("/\\\0")


def expanded(xacro: Any, substitutions: Any, given: dict[str, Any], guard: Guard) -> dict[str, Any]:
    """{"text": the expanded text, "places": (file, line) of the numbers in it}.

    If it fails: {"error": the reason, "file": the file where it occurred, ...}.

    Where an argument is given that the model does not have: {"unknown": these names, "declared": those that it has}.
    """

    def find(package: str) -> str:
        for folder in given["packages"]:
            path = os.path.join(folder, package)
            if os.path.basename(folder) == package and os.path.isdir(folder):
                path = folder
            if os.path.isdir(path) and guard.inside(path, guard.roots):
                return path
        found = [folder for name, folder in given["named"] if name == package]
        for folder in given["beside"] if _plain(package) else ():
            path = os.path.join(folder, package)
            found += [path] if any(os.path.isfile(os.path.join(path, mark)) for mark in given["marks"]) else []
        if found:
            guard.roots.append(os.path.realpath(found[0]))
            return str(found[0])
        raise LookupError(f"the package '{package}' is not found")

    substitutions._eval_find = find
    substitutions._eval_dict["find"] = find
    mappings = Arguments(given["arguments"])
    places = Places(xacro)
    places.number(xml.dom.expatbuilder.ExpatBuilderNS)
    try:
        xacro.init_stacks(given["file"])
        document = xacro.parse(given["text"], given["file"])
        xacro.process_doc(document, mappings=mappings, verbosity=0)
        unknown = [name for name in given["arguments"] if name not in mappings.read]
        if unknown:
            return {"unknown": unknown, "declared": sorted(mappings.read)}
        return {"text": document.toprettyxml(indent="  "), "places": list(places.found)}
    except MemoryError:
        return {"error": "the expansion needs more memory than allowed", "file": given["file"]}
    except BaseException as error:
        files = [file for file in (xacro.filestack or []) if file]
        reason = str(error) or type(error).__name__
        cause = getattr(error, "exc", None)
        if cause is not None and str(cause) not in reason:
            reason = f"{reason}: {cause}"
        found = {"error": reason, "file": files[-1] if files else given["file"], "outside": guard.outside[:1]}
        return found | {"declared": sorted(mappings.read)}


def prepare(folder: str) -> None:
    """Imports xacro, which is installed in `folder`."""
    sys.path.append(folder)
    import xacro
    import xacro.substitution_args

    assert xacro.substitution_args


def main(memory: str, seconds: str, folder: str) -> None:
    """Reads the request from stdin, expands the text, and writes the answer to stdout."""
    confine(int(memory), int(seconds))
    prepare(folder)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # messages that xacro prints go to stderr, so that stdout has only the answer
    given = json.load(sys.stdin)
    import sysconfig

    import xacro
    import xacro.substitution_args as substitutions

    sys.setrecursionlimit(5000)
    own = [folder, *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib"))]
    guard = Guard(given["roots"], [place for place in own if place])
    sys.addaudithook(guard)
    result = expanded(xacro, substitutions, given, guard)
    answer.write(json.dumps(result))
    answer.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
