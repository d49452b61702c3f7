"""Robots with a free base, of files that nobody here wrote, dropped on the ground of their files beside MuJoCo.

    python tests/support/peers/robots_dropped.py docs/robots_dropped.md RECORD FOLDER[:PATTERN,...] ...

Every MJCF file below a folder is taken that is a scene or that no scene beside it includes; of files for MJX, which are
simplified copies, only those without another scene. URDF files are taken where a pattern names them, with a free base.
What came of each robot (`robot_drops`) is kept in the file RECORD, a line for each, so that a survey can be continued.
Each robot has a time limit, in a process that may die of it. Nothing is fetched.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":  # this file is started as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from support.peers.robot_drops import DROP, UNTIL, Drop, dropped
from support.peers.robot_folders import ANSWER, Answering, NoAnswer, answer_from_stdin, robot_files

SECONDS = 900.0  # the most time for one robot
DEEP = 5e-3  # [m]: deepest that a robot may be in the ground, or as deep as in MuJoCo
CARRIED = 0.01  # the most by which the force of the ground may differ from the weight where MuJoCo's robot rests


def chosen_files(folder: Path, patterns: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """The files of a folder that are dropped, with their formats."""
    if patterns:
        for pattern in patterns:
            yield from ((path, "mjcf" if path.suffix == ".xml" else "urdf") for path in sorted(folder.glob(pattern)))
        return
    models = [path for path, format in robot_files(folder) if format == "mjcf"]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in models}
    seen: set[str] = set()
    for path in models:
        beside = [other for other in models if other.parent == path.parent and other != path]
        included = any(f'"{path.name}"' in texts[other] and "<include" in texts[other] for other in beside)
        simplified = "mjx" in path.stem and any("mjx" not in other.stem for other in beside)
        if not included and not simplified and texts[path] not in seen:
            seen.add(texts[path])
            yield path, "mjcf"


def answer(path: str, format: str, root: str) -> Drop | None:
    """What came of a robot, in a process of its own."""
    return dropped(Path(path), format, Path(root))


def survey(record: Path, arguments: list[str]) -> list[Drop]:
    """Drops the robots that the record does not have yet, and returns all of them."""
    done = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()] if record.exists() else []
    known = {row["path"] for row in done}
    process = Answering(__file__, SECONDS)
    for argument in arguments:
        name, _, patterns = argument.partition(":")
        folder = Path(name).resolve()
        for path, format in chosen_files(folder, tuple(filter(None, patterns.split(",")))):
            if str(path) in known:
                continue
            try:
                found = process.ask(str(path), format, str(folder))
            except NoAnswer as error:
                found = Drop(path.relative_to(folder.parent).as_posix(), path.stem, 0, 0, "", 0.0, f"died: {error}")
            done.append({"path": str(path), "drop": found})
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[-1]) + "\n")
            print(path.name, Drop(*found).outcome if found else "no free base", file=sys.stderr, flush=True)
    return [Drop(*row["drop"]) for row in done if row["drop"]]


def main() -> None:
    """Drops all robots of the folders, and writes the page."""
    target, record, *arguments = sys.argv[1:]
    drops = survey(Path(record), arguments)
    Path(target).write_text(page(drops), encoding="utf-8")


def page(drops: list[Drop]) -> str:
    return f"{len(drops)} {DROP} {UNTIL}"


if __name__ == "__main__":
    answer_from_stdin(answer) if sys.argv[1:2] == [ANSWER] else main()
