"""Folders of robot files that nobody here wrote: which of them are read, whether the peers agree, what acts.

    python tests/support/peers/robots_read.py docs/robots_read.md [--log FILE] [--stand-ins FILE] FOLDER [FOLDER ...]

Every URDF, xacro, SDF and MJCF file below the folders is judged by `file_verdicts.judged`. Each file has a time limit,
in a process that may die of it. Nothing is fetched; a folder is a collection, called by its name. Files below `.git`,
`build` and the like are passed over. Verdicts are added to the log, a line of JSON for each; files that are in it
already are not judged again. The list of stand-ins names files, one in a line, that replace missing assets of the
collections; the page says how many there are.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.peers.file_verdicts import CLOSE, STATES, Verdict, judged
from support.peers.robot_folders import ANSWER, Answering, NoAnswer, answer_from_stdin, robot_files

SECONDS = 120.0  # the most time for one file
VERDICTS = ("agree", "disagree", "kinematic", "peer cannot", "no peer", "right", "strict", "died")


def verdict_on(path: str, format: str, root: str) -> Verdict:
    """The verdict on a file, for the process that answers."""
    return judged(Path(path), format, Path(root))


def asked(answering: Answering, path: Path, format: str, root: Path) -> Verdict:
    """The verdict on a file by a process that may die of it."""
    try:
        return Verdict(*answering.ask(str(path), format, str(root)))
    except NoAnswer as why:
        return Verdict(path.relative_to(root.parent).as_posix(), format, "died", str(why))


PAGE = """# Robot files of others, read and compared

{total} URDF, xacro, SDF and MJCF files of {count} collections were read here, and by a peer that reads the same file by
its own parser: Pinocchio (URDF, xacro), MuJoCo (MJCF) and Drake (SDF, and URDF with
rotors in Drake's own elements{drake}). M, bias forces and accelerations are
compared at {states} random states, as trees: without loops, couplings, contacts and drives.
[mjcf_read.md](mjcf_read.md) has the errors of each MJCF file of the packages around MuJoCo.

**{share:.1f} % of the files that a peer reads with finite accelerations are refused here** ({strict} of {read}).
**{acting} of {compared} files whose drives, springs, dampers or mimic joints can be compared act as at home.**

{table}

| column | meaning |
|---|---|
| agree | read here and by the peer, and equal to {close:g} of the largest entry |
| disagree | read here and by the peer, and not equal; listed below |
| kinematic | read here for kinematics, because nothing that moves has a mass; the peer's accelerations are not finite |
| peer cannot | read here; the peer refuses it, or its accelerations are not finite |
| no peer | read here; nothing moves, or no peer is installed for the format |
| right | refused here and by the peer: a part that is no model, a file or package that is missing, a mistake |
| strict | refused here, while the peer reads it with finite accelerations; listed below |
| died | no answer within {seconds:g} s, or an error inside the program; listed below |
| acts | files that act as at home, of those where this can be compared |

What acts is compared by the accelerations of the first instant, at random states, to {close:g} of the largest entry
(URDF and SDF: times the condition number of M). MJCF: actuators at random controls and activations, springs, dampers,
tendons, gravity compensation and fluid, with MuJoCo's constraints off. URDF and xacro: joint damping, and mimic joints
as Pinocchio itself eliminates them; Pinocchio has no drives. SDF: joint damping, springs, rotor inertias and gears as
Drake has them; Drake's friction, limits and mimic joints act in discrete time alone, and are not compared.

{named} files are read only if the collection's folder is named in `package_dirs`.{stand_ins}

## Refused, by cause

{causes}

## What does not act

Warnings by rule, with the number of files that have them: {dropped}.

Files that do not act as at home, with the first of their warnings:

{others}

## Refused, different or without an answer

{rows}

Made by `python tests/support/peers/robots_read.py docs/robots_read.md FOLDER ...` with {versions}. The collections are
not part of this project.
"""


def acts(row: Verdict) -> bool:
    """Whether all that was compared of what acts is as at home."""
    return row.acts is not None and row.acts < CLOSE


def table(collections: dict[str, list[Verdict]]) -> str:
    """The counts of verdicts by collection."""
    lines = ["| collection | files | " + " | ".join(VERDICTS) + " | acts |", "|---|" + "---:|" * (len(VERDICTS) + 2)]
    every = [row for rows in collections.values() for row in rows]
    for name, rows in [*collections.items(), ("**total**", every)]:
        counts = Counter(row.verdict for row in rows)
        compared = sum(row.acts is not None for row in rows)
        cells = [len(rows), *(counts[one] for one in VERDICTS), f"{sum(map(acts, rows))} of {compared}"]
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def causes(rows: list[Verdict]) -> str:
    """The counts of refusals by cause."""
    right, strict = (Counter(row.cause for row in rows if row.verdict == one) for one in ("right", "strict"))
    lines = ["| cause | right | strict |", "|---|---:|---:|"]
    lines += [f"| {cause} | {right[cause]} | {strict[cause]} |" for cause, _ in (right + strict).most_common()]
    return "\n".join(lines)


def listing(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of texts."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows])


def versions() -> str:
    """The packages that are peers, and those that bring collections, with their versions."""
    found = []
    for name in ("pin", "mujoco", "drake", "xacro", "example-robot-data"):
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def page(collections: dict[str, list[Verdict]], stand_ins: int) -> str:
    """The tables as a page of the docs."""
    rows = [row for found in collections.values() for row in found]
    counts = Counter(row.verdict for row in rows)
    read = counts["agree"] + counts["disagree"] + counts["strict"]
    rules = Counter(rule for row in rows for rule in {text.partition(":")[0] for text in row.dropped})
    listed = [(row.file, row.verdict, row.reason) for row in rows if row.verdict in ("strict", "disagree", "died")]
    still = [row for row in rows if row.acts is not None and not acts(row)]
    others = [(row.file, f"{row.acts:.1e}", _first_dropped(row)) for row in still]
    told = f" {stand_ins} assets that are missing in the copies were replaced by a small box or a gray image."
    return PAGE.format(
        total=len(rows),
        count=len(collections),
        drake="" if find_spec("pydrake") else ", which was not installed",
        states=STATES,
        table=table(collections),
        close=CLOSE,
        seconds=SECONDS,
        share=100.0 * counts["strict"] / max(read, 1),
        strict=counts["strict"],
        read=read,
        acting=sum(map(acts, rows)),
        compared=sum(row.acts is not None for row in rows),
        named=sum(row.named for row in rows),
        stand_ins=told if stand_ins else "",
        causes=causes(rows),
        dropped=", ".join(f"{rule} {count}" for rule, count in rules.most_common()),
        others=listing(("file", "error", "warning"), others),
        rows=listing(("file", "verdict", "reason"), listed),
        versions=versions(),
    )


def _first_dropped(row: Verdict) -> str:
    """The warning that names what does not act."""
    return next((text for text in row.dropped if text.startswith("dropped")), "none")


def main() -> None:
    """Judges all files of the folders, and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--stand-ins", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    given = parser.parse_args()
    before = [Verdict(*json.loads(line)) for line in given.log.open()] if given.log and given.log.exists() else []
    known = {row.file: row for row in before}
    answering = Answering(__file__, SECONDS)
    collections: dict[str, list[Verdict]] = {}
    for folder in given.folders:
        rows = collections.setdefault(folder.name, [])
        for path, format in robot_files(folder.resolve()):
            name = path.relative_to(folder.resolve().parent).as_posix()
            rows.append(known.get(name) or asked(answering, path, format, folder.resolve()))
            if given.log and name not in known:
                with given.log.open("a") as log:
                    log.write(json.dumps(rows[-1]) + "\n")
        print(folder.name, dict(Counter(row.verdict for row in rows)), file=sys.stderr, flush=True)
    stand_ins = len(given.stand_ins.read_text().split("\n")) - 1 if given.stand_ins else 0
    given.target.write_text(page(collections, stand_ins), encoding="utf-8")


if __name__ == "__main__":
    answer_from_stdin(verdict_on) if sys.argv[1:2] == [ANSWER] else main()
