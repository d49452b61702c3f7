"""What code reaches besides its arguments: values, modules, packages and files; and what of it cannot be followed.

`of_function` follows a function by names: attributes of the user's modules count one by one, as `helper.gain`. A module
that is used in another way, such as `getattr(helper, name)`, or imported within a function, counts by its whole source
and by the modules that it imports (`of_source`). Such a module is not run.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from kinemorph.studies.experiments.origins import FileContent, is_own, package_text, place_of

Chain = tuple[str, ...]  # names joined by dots: ("helper", "gain")
Named = Iterator[tuple[str, Any]]
OPAQUE = {  # what runs code that is not named, or reads what may change
    *("eval", "exec", "globals", "__import__", "import_module", "spec_from_file_location", "run_path", "run_module"),
    *("CDLL", "LoadLibrary", "system", "popen", "Popen", "check_output", "environ", "getenv", "urlopen"),
}
OPAQUE_OF = {("sys", "modules"), ("subprocess", "run"), ("pickle", "loads"), ("marshal", "loads")}
READS = {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "loadmat", "load_trajectory", "listdir", "glob"}
READS_OF_PATHS = {"open", "read_text", "read_bytes", "glob", "rglob", "iterdir"}  # methods of what is not known
WRITES = {"write_text", "write_bytes", "save", "savetxt", "savez", "savez_compressed", "to_csv", "tofile", "dump"}
OF_OPEN_FILES = {"json", "pickle", "tomllib", "yaml", "marshal"}  # their `load` takes what was opened
IMPORTS = ("import_module", "__import__")
MODEL_FILES = (".urdf", ".xacro", ".sdf", ".world", ".xml", ".mjcf")
INCLUDES = re.compile(rb"filename=|\bfile=|<uri>|<[^>]*include")


class Whole(str):
    """The name of a module that counts by its whole source."""


class Reads:
    """What source names: chains of names with their lines, imported modules, texts, calls, and what it writes."""

    def __init__(self, tree: ast.AST, package: str) -> None:
        self.chains: dict[Chain, int] = {}
        self.bound: dict[str, Chain] = {}  # names that imports bind, with what they stand for
        self.imports, self.texts = set[str](), set[str]()
        self.written: set[Any] = set()  # constants in calls that write files
        self.calls: Counter[Chain] = Counter()
        parts: set[ast.AST] = set()  # nodes that belong to a chain already seen
        for node in ast.walk(tree):  # from the outside to the inside
            if isinstance(node, (ast.Name, ast.Attribute)) and node not in parts:
                chain, inner = _chain(node)
                parts |= inner
                self.chains.setdefault(chain, node.lineno)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.texts.add(node.value)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self.imports.add(alias.name)
                    top = alias.name.partition(".")[0]
                    self.bound[alias.asname or top] = tuple((alias.name if alias.asname else top).split("."))
            elif isinstance(node, ast.ImportFrom):
                inside = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
                module = ".".join(filter(None, [*inside, node.module]))
                self.imports |= {f"{module}.{alias.name}" for alias in node.names}  # perhaps modules
                self.bound |= {one.asname or one.name: (*module.split("."), one.name) for one in node.names}
            elif isinstance(node, ast.Call):
                chain, inner = _chain(node.func)
                given = [getattr(one, "value", None) for one in (*node.args, *(word.value for word in node.keywords))]
                texts = [one for one in given if isinstance(one, str)]
                modes = [{*text} for text in texts if chain[-1] == "open" and {*text} <= {*"rwaxbt+"}]
                if chain[-1] in IMPORTS and texts:
                    self.imports.add(texts[0])
                    parts |= {node.func, *inner}
                elif chain[-1] in WRITES or any(mode & {*"wax+"} for mode in modes):
                    self.written |= {getattr(one, "value", None) for one in ast.walk(node)}
                    parts |= {node.func}
                else:
                    self.calls[chain] += 1


def _chain(node: ast.AST) -> tuple[Chain, set[ast.AST]]:
    """The names that an expression joins by dots, after "" where they begin with no name; and its inner nodes."""
    names, inner = [], set[ast.AST]()
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
        inner.add(node)
    return (node.id if isinstance(node, ast.Name) else "", *names[::-1]), inner


def of_function(function: types.FunctionType, tree: ast.AST | None, missed: Callable[[str], None]) -> Named:
    """(name, value) of what a function reaches; `missed` takes the names of what is not followed."""
    known, code = function.__globals__, function.__code__
    where = f"'{function.__qualname__}' ({os.path.basename(code.co_filename)}"
    names = _global_names(code)
    for decorator in getattr(tree, "decorator_list", ()):
        names |= {node.id for node in ast.walk(decorator) if isinstance(node, ast.Name)}
    if tree is None:
        missed(f"{where}), whose source is missing or was edited since it was imported")
    reads = Reads(tree or ast.Pass(), str(known.get("__package__") or ""))
    chains = [*reads.chains] if tree else [(name,) for name in names]
    here = [chain for chain in chains if chain[0] in names & known.keys() - reads.bound.keys()]
    found = {name: value for name, value in (_followed(chain, known[chain[0]]) for chain in here) if name[:2] != "__"}
    given = [*_given(function)]
    yield from given
    yield from sorted(((f"global {name}", value) for name, value in found.items()), key=lambda pair: pair[0])
    values = [value for _, value in given] + [*found.values()]
    yield from _beyond(reads, known, values, os.path.dirname(code.co_filename), where, missed)


def of_source(name: Whole, tree: ast.AST, place: str, missed: Callable[[str], None]) -> Named:
    """(name, value) of what the source of a module reaches: modules, packages and files."""
    folder, file = os.path.split(place)
    reads = Reads(tree, name if file == "__init__.py" else name.rpartition(".")[0])
    yield from _beyond(reads, {}, [], folder, f"module '{name}' ({file}", missed)


def _global_names(code: types.CodeType) -> set[str]:
    """The names that code, and code in it, may read from the global names of its module."""
    inner = [_global_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {*code.co_names}.union(*inner)


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


def files_among(texts: Iterable[Any], folders: Iterable[str]) -> list[tuple[str, FileContent]]:
    """("file NAME", its content) for texts and paths that name a file in one of some folders."""
    places, found = [*folders], []
    for text in sorted(filter(_is_path, texts)):
        path = next(filter(os.path.isfile, (os.path.join(one, text) for one in places)), None)
        if path and ("." in text or os.sep in text):
            found.append((f"file {os.path.basename(text) if os.path.isabs(text) else text}", FileContent(path)))
    return found


def _is_path(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) < 1000 and text.isprintable()


def _beyond(
    reads: Reads, known: Mapping[str, Any], values: list[Any], folder: str, where: str, missed: Callable[[str], None]
) -> Named:
    """The imports and the files of code; texts name files in the current folder, beside the code, or below others."""
    for name in sorted({part for one in reads.imports for part in accumulate(one.split("."), "{}.{}".format)}):
        if package_text(name):
            yield "package", package_text(name)
        elif is_own(name) and place_of(name) is not None:
            yield "module", Whole(name)
    texts = reads.texts | {os.fspath(one) for one in values if isinstance(one, (str, os.PathLike))}
    below = [os.path.join(root, text) for root in ("", folder) for text in sorted(filter(_is_path, texts))]
    files = files_among(texts, ("", folder, *filter(os.path.isdir, below)))
    for name, path in files:
        text = name.removeprefix("file ")
        if text in reads.written:
            missed(f"'{text}', which is written, in {where})")
        else:
            yield name, path
    opened, needed = [], 0
    for chain, line in reads.chains.items():
        meant = _meant(chain, reads, known)
        what = f"{'.'.join(filter(None, chain))} in {where}, line {line})"
        if meant and not is_own(meant[0]) and (OPAQUE.intersection(meant) or meant[:2] in OPAQUE_OF):
            missed(what)
        elif not meant and len(chain) > 1 and chain[-1] in READS_OF_PATHS:
            opened.append(what)
            needed += reads.calls[chain]
        elif meant and not is_own(meant[0]) and (meant[-1] in READS or meant[-1].startswith("read_")):
            opened.append(what)
            needed += 0 if meant[0] in OF_OPEN_FILES else reads.calls[chain]
    if needed > len(files) or not files:
        for what in opened:
            missed(what)
    for name, path in files:
        if path.endswith(MODEL_FILES) and INCLUDES.search(Path(path).read_bytes()):
            missed(f"what {name.removeprefix('file ')} includes")


def _meant(chain: Chain, reads: Reads, known: Mapping[str, Any]) -> Chain:
    """The module and the names that a chain stands for; nothing for what belongs to an object that is not known."""
    value = known.get(chain[0])
    if chain[0] in reads.bound:
        return (*reads.bound[chain[0]], *chain[1:])
    if isinstance(value, types.ModuleType):
        return (value.__name__, *chain[1:])
    if value is not None:
        kind = type(value).__module__
        named = None if is_own(kind) or not hasattr(value, "__qualname__") else getattr(value, "__module__", None)
        return (str(named), getattr(value, "__name__", chain[0]), *chain[1:]) if named else ()
    return ("builtins", *chain) if hasattr(builtins, chain[0]) else ()
