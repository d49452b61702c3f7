"""Draws the rooms of the package into docs/architecture.md, out of the code and the import rule.

    python tests/tables/rooms.py

Rooms stand in the order of the first contract of pyproject.toml, each with the first sentence of its docstring, what
it imports, and its parts. A test compares the page with what this script would write.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "kinemorph"
PAGE = ROOT / "docs" / "architecture.md"
OPENED, CLOSED = "<!-- rooms: drawn by tests/tables/rooms.py -->\n", "<!-- end of rooms -->"


def main() -> None:
    """Writes the page anew."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page with the rooms as they are now."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(OPENED)
    return f"{before}{OPENED}{drawing()}{CLOSED}{rest.partition(CLOSED)[2]}"


def drawing() -> str:
    """All rooms from top to bottom."""
    lines = ["```text"]
    for layer in layers():
        rooms = [name for name in layer if (PACKAGE / name).is_dir()]
        lines += [line for name in rooms for line in room(name)] + [""] * bool(rooms)
    return "\n".join([*lines[:-1], "```", ""])


def layers() -> list[list[str]]:
    """The rooms by layer, the topmost first: rooms of one layer never meet."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    rows = contracts["contracts"][0]["layers"]
    return [[name.strip().removeprefix("kinemorph.") for name in row.split("|")] for row in rows]


def room(name: str) -> list[str]:
    """A room: what it is, what it imports, and a line for each of its parts."""
    order = [other for layer in layers() for other in layer if (PACKAGE / other).is_dir()]
    below = sorted(imported(PACKAGE / name) & {*order} - {name}, key=order.index)
    lines = [f"{name + '/':<14} {sentence(PACKAGE / name)}", f"{'':<14} ──► {', '.join(below) or 'the floor only'}"]
    parts = sorted(path.parent for path in (PACKAGE / name).glob("*/__init__.py"))
    return lines + [f"    {part.name + '/':<15} {sentence(part)}" for part in parts]


def imported(folder: Path) -> set[str]:
    """The rooms that the files of a folder import."""
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    return {room for text in texts for room in re.findall(r"^\s*from kinemorph\.(\w+)", text, re.MULTILINE)}


def sentence(folder: Path) -> str:
    """The first sentence of a package's docstring, in one line."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    return docstring.split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    main()
