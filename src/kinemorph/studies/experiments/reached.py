"""What code reaches besides its arguments: values, modules, packages and files; and what of it cannot be followed.

`of_function` follows a function by names: attributes of the user's modules count one by one, as `helper.gain`. A module
that is used in another way, such as `getattr(helper, name)`, or imported within a function, counts by its whole source
and by the modules that it imports (`of_module`). Such a module is not run.
"""

from __future__ import annotations

import ast
import builtins
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import resolve_name
from itertools import accumulate
from typing import Any, NamedTuple

from kinemorph.studies.experiments.origins import file_text, is_own, place_of
from kinemorph.studies.experiments.source_texts import all_code

Chain = tuple[str, ...]  # names joined by dots: ("helper", "gain")
Named = Iterator[tuple[str, Any]]
OPAQUE = {  # what runs code that is not named, or reads what is not there before the study
    *("eval", "exec", "globals", "__import__", "import_module", "spec_from_file_location", "run_path", "run_module"),
    *("CDLL", "LoadLibrary", "system", "popen", "Popen", "check_output", "environ", "getenv", "urlopen"),
}
OPAQUE_OF = {("sys", "modules"), ("subprocess", "run"), ("pickle", "loads"), ("marshal", "loads")}
READS = {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "loadmat", "load_trajectory", "listdir", "glob"}
READS_OF_PATHS = {"open", "read_text", "read_bytes", "glob", "rglob", "iterdir"}  # of objects that are not known
WRITES = {"write_text", "write_bytes", "save", "savetxt", "savez", "savez_compressed", "to_csv", "tofile", "dump"}
IMPORTS = {"import_module", "__import__"}


class Whole(NamedTuple):
    """A module that counts by its whole source."""

    name: str


class Package(NamedTuple):
    """An installed package, which counts by its version."""

    name: str


class Where(NamedTuple):
    """Code that is followed: what it is called, its file, and what takes the names of what is not followed."""

    name: str
    file: str
    missed: Callable[[str], None]

    def miss(self, what: str, line: int = 0) -> None:
        """Names something that is not followed."""
        self.missed(f"{what} in {self.name} ({os.path.basename(self.file)}{f', line {line}' if line else ''})")


class Reads(ast.NodeVisitor):
    """What a piece of source names: chains of names with their lines, imported modules, texts."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.chains: dict[Chain, int] = {}
        self.bound: dict[str, Chain] = {}  # names that imports bind, with what they stand for
        self.imports: set[str] = set()
        self.perhaps: set[str] = set()  # imported names that may be modules
        self.texts: set[str] = set()
        self.writes = False  # whether a file is opened to be written
        self.blind = False  # whether there is no source, so that names are not joined to chains

    def without_source(self, code: types.CodeType, names: Iterable[str]) -> None:
        """Takes the names and the texts of bytecode."""
        self.blind = True
        self.chains = dict.fromkeys(((name,) for name in sorted(names)), code.co_firstlineno)
        self.imports = {name for name in names if is_own(name) and place_of(name) is not None}
        self.texts = {text for part in all_code(code) for text in part.co_consts if isinstance(text, str)}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A chain of names; what is not a name at its beginning is visited."""
        names, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            self.chains.setdefault((base.id, *names[::-1]), node.lineno)
        else:
            self.chains.setdefault(("", *names[::-1]), node.lineno)
            self.visit(base)

    def visit_Name(self, node: ast.Name) -> None:
        """A name by itself."""
        self.chains.setdefault((node.id,), node.lineno)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A text."""
        if isinstance(node.value, str):
            self.texts.add(node.value)

    def visit_Import(self, node: ast.Import) -> None:
        """`import a.b as c`."""
        for alias in node.names:
            self.imports.add(alias.name)
            self.bound[alias.asname or alias.name.partition(".")[0]] = tuple(alias.name.split("."))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from a import b`, where b may be a module."""
        try:
            base = resolve_name("." * node.level + (node.module or ""), self.package) if node.level else node.module
        except ImportError:
            return
        for alias in node.names:
            self.imports.add(str(base))
            self.perhaps.add(f"{base}.{alias.name}")
            self.bound[alias.asname or alias.name] = (*str(base).split("."), alias.name)

    def visit_Call(self, node: ast.Call) -> None:
        """A call; that of import_module with a text is an import, and `open` may write."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        self.writes |= name == "open" and any({*text} <= {*"rwaxbt+"} and {*text} & {*"wax+"} for text in texts)
        if name in IMPORTS and texts:
            self.imports.add(texts[0])
        else:
            self.generic_visit(node)


def of_function(function: types.FunctionType, tree: ast.AST | None, missed: Callable[[str], None]) -> Named:
    """(name, value) of what a function reaches; `missed` takes the names of what is not followed."""
    known, code = function.__globals__, function.__code__
    names = {name for part in all_code(code) for name in part.co_names}
    reads = Reads(known.get("__package__") or "")
    if tree is not None:
        reads.visit(tree)
    else:
        reads.without_source(code, names)
    given = [*_given(function)]
    here = [chain for chain in reads.chains if chain[0] in names and chain[0] in known and chain[0] not in reads.bound]
    found = {name: value for name, value in (_followed(chain, known[chain[0]]) for chain in here) if name[:2] != "__"}
    yield from given
    yield from sorted(((f"global {name}", value) for name, value in found.items()), key=lambda pair: pair[0])
    yield from _imported(reads)
    where = Where(f"'{function.__qualname__}'", code.co_filename, missed)
    yield from _files_and_missed(reads, known, [v for _, v in given] + [*found.values()], where)


def of_module(name: str, tree: ast.AST, place: str, missed: Callable[[str], None]) -> Named:
    """(name, value) of what the source of a module reaches: modules, packages and files."""
    reads = Reads(name if os.path.basename(place) == "__init__.py" else name.rpartition(".")[0])
    reads.visit(tree)
    yield from _imported(reads)
    yield from _files_and_missed(reads, {}, [], Where(f"module '{name}'", place, missed))


def files_among(texts: Iterable[Any], folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """("file NAME", its content) for texts and paths that name a file in one of some folders."""
    places = [*folders]
    for text in sorted({os.fspath(text) for text in texts if isinstance(text, (str, os.PathLike))}):
        if is_path(text) and ("." in text or os.sep in text):
            found = next((path for path in (os.path.join(one, text) for one in places) if os.path.isfile(path)), None)
            if found:
                yield f"file {os.path.basename(text) if os.path.isabs(text) else text}", file_text(found)


def is_path(text: object) -> bool:
    """Whether a text may be a path."""
    return isinstance(text, str) and 0 < len(text) < 1000 and text.isprintable()


def _given(function: types.FunctionType) -> Named:
    """The defaults of a function, and the variables of functions around it."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    for name, value in zip(names[::-1], (function.__defaults__ or ())[::-1], strict=False):
        yield f"default {name}", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield f"default {name}", value
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"enclosed {name}", cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _followed(chain: Chain, value: Any) -> tuple[str, Any]:
    """What a chain of names stands for, as far as it leads through the user's modules; its first name is `value`."""
    names = [chain[0]]
    for name in chain[1:]:
        if not (isinstance(value, types.ModuleType) and is_own(value.__name__) and hasattr(value, name)):
            break
        value = getattr(value, name)
        names.append(name)
    return ".".join(names), value


def _imported(reads: Reads) -> Named:
    """The modules and packages that are imported; one that is not there counts as missing."""
    perhaps = {name for name in reads.perhaps if is_own(name.rpartition(".")[0]) and place_of(name) is not None}
    names = {part for name in reads.imports | perhaps for part in accumulate(name.split("."), "{}.{}".format)}
    for name in sorted(names):  # with the packages that they are in
        if not is_own(name):
            yield "package", Package(name.partition(".")[0])
        else:
            yield (f"module {name}", "not found") if place_of(name) is None else ("module", Whole(name))


def _files_and_missed(reads: Reads, known: Mapping[str, Any], values: list[Any], where: Where) -> Named:
    """The files that texts of code name, in the current folder, beside the code, or in folders that it names."""
    texts = {*reads.texts, *(os.fspath(one) for one in values if isinstance(one, (str, os.PathLike)))}
    roots = ("", os.path.dirname(where.file))
    below = [os.path.join(root, text) for root in roots for text in sorted(texts) if is_path(text)]
    files = [*files_among(texts, (*roots, *filter(os.path.isdir, below)))]
    if reads.writes or any(chain[-1] in WRITES for chain in reads.chains):
        for name, _ in files:
            where.miss(f"'{name.removeprefix('file ')}', which may be written,")
    else:
        yield from files
    for chain, line in reads.chains.items():
        meant = _meant(chain, reads, known)
        if meant is None:
            opaque = reads.blind and chain[-1] in OPAQUE
            read = chain[-1] in READS_OF_PATHS and (reads.blind or len(chain) > 1)
        elif is_own(meant[0]):
            continue
        else:
            opaque = bool(OPAQUE.intersection(meant)) or meant[:2] in OPAQUE_OF
            read = meant[-1] in READS or meant[-1].startswith("read_")
        if opaque or (read and not files):
            where.miss(".".join(filter(None, chain)), line)


def _meant(chain: Chain, reads: Reads, known: Mapping[str, Any]) -> Chain | None:
    """The module and the names that a chain stands for; None for what belongs to an object that is not known."""
    first, *more = chain
    if first in reads.bound:
        return (*reads.bound[first], *more)
    if first in known:
        value = known[first]
        if isinstance(value, types.ModuleType):
            return (value.__name__, *more)
        module = getattr(value, "__module__", None) if hasattr(value, "__qualname__") else None
        return (module, getattr(value, "__name__", first), *more) if isinstance(module, str) else None
    return ("builtins", *chain) if hasattr(builtins, first) else None
