"""Robot files of others, loaded, saved in each format that is written, and loaded again: is it the same machine?

    python tests/support/peers/round_trips.py docs/round_trips.md [--minutes N] FOLDER [FOLDER ...]

Every file below the folders that loads is saved as MJCF, URDF with its sidecar, SDF with its sidecar, and TOML. What
comes back is compared by `support.robots.same_system`: M, h, forces at random inputs, accelerations with all
constraints, contacts, limits, starts and sensors. Folders, files and processes are those of `robot_folders`. A file is
one collection's by the name of its folder. Files are taken in random order; with --minutes, as many as the time allows.
All answers are kept in a file with the ending .json beside the page, and files in it are not asked for again.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.peers.robot_folders import ANSWER, Answering, NoAnswer, answer_from_stdin, robot_files

SECONDS = 120.0  # the most time for one file
FORMATS = {"mjcf": ".xml", "urdf": ".urdf", "sdf": ".sdf", "toml": ".toml"}
VERDICTS = ("equal", "told", "different", "refused")
REFUSED = "refused"
# what differs, and words of the warnings of which one must have been given
OF_MASS = ("armature", "mass", "inertia")
OF_FORCE = ("elements of kind", "damping", "springs", "fluid")
CAUSES = {
    "coordinates": ("helical joints", "joints whose names end in"),
    "M": OF_MASS,
    "h": OF_MASS,
    "masses": OF_MASS,
    "forces": OF_FORCE,
    "acceleration": (*OF_MASS, *OF_FORCE, "loops", "couplings"),
    "rows": ("elements of kind Constraint",),
    "contacts": ("normal force", "shapes of kind", "terrain", "vertices of meshes"),
    "limits": ("limits",),
    "friction": ("friction",),
    "sensors": ("elements of kind",),
    "starts": ("starts",),
    REFUSED: ("MuJoCo will give an error",),
}


class Return(NamedTuple):
    """What came of one file in one format.

    equal       the same machine to 1e-12
    told        not the same; what the format cannot say was named when it was saved
    different   not the same, and nothing was said
    refused     not saved, or not loaded again; `told` has the sentence
    """

    verdict: str
    differences: dict[str, float]
    told: tuple[str, ...]


def returned(file: str, _: str, folder: str) -> dict[str, Return] | None:
    """What comes of a file in a collection's folder, by format; None if it does not load."""
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options

    warnings.simplefilter("ignore")
    path, root = Path(file), Path(folder)
    found = examine(path, options=Options(package_dirs=(root,)))
    if found.system is None:
        return None
    above = [one for one in path.parents if one.is_relative_to(root)]  # where names of packages may begin
    with tempfile.TemporaryDirectory() as new:
        places = {name: Path(new) / name / f"robot{ending}" for name, ending in FORMATS.items()}
        return {name: _trip(found.system, place, name, above) for name, place in places.items()}


def _trip(system: object, path: Path, format: str, folders: Sequence[Path]) -> Return:
    from kinemorph.errors import KinemorphError
    from kinemorph.formats.loading import load, save
    from support.robots.same_system import differences

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            save(system, path, format=format)
        except KinemorphError as error:
            return Return(REFUSED, {}, (f"save: {error}".replace(f"{path.parent}/", "")[:300],))
    told = tuple(sorted({str(one.message).split(": ", 1)[-1][:200] for one in said if "[dropped]" in str(one.message)}))
    try:
        again = load(path, package_dirs=folders)
    except KinemorphError as error:
        why = f"load: {error}".replace(f"{path.parent}/", "")[:300]
        foreseen = any(word in text for word in CAUSES[REFUSED] for text in told)
        return Return("told" if foreseen else REFUSED, {REFUSED: 1.0} if foreseen else {}, (why, *told))
    return judged(differences(system, again), told)


def judged(found: dict[str, float], told: Sequence[str]) -> Return:
    """The verdict on these differences, after these warnings: every difference needs a warning that names its cause."""
    named = [any(word in text for word in CAUSES.get(what, ()) for text in told) for what in found]
    return Return("equal" if not found else "told" if all(named) else "different", found, tuple(told))


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = """# Robot files of others, saved and loaded again

{there} URDF, xacro, SDF and MJCF files are in {folders}.
{files} were tried: {total} load, and {died} gave no answer in {seconds:g} s.
Each was saved as MJCF, URDF with sidecar, SDF with sidecar and TOML, and loaded again.
Compared to 1e-12 of the largest entry, at {states} random states: M, bias forces, generalized forces of
all elements at random inputs, accelerations with all constraints (divided by the condition number of M), constraint
rows of elements, the contacts of `elements.contacts` with their laws and grounds, limits and friction of joints,
masses, starts and sensors. Saved models name the same mesh files.

Each cell of a format has the counts {verdicts}.

{table}

| verdict | meaning |
|---|---|
| equal | the same machine |
| told | something differs or is refused by MuJoCo, and a warning named the cause when the model was saved |
| different | something differs without a warning; listed below |
| refused | not saved or not loaded again; listed below |

Made by `python tests/support/peers/round_trips.py docs/round_trips.md FOLDER ...`. The collections are not part of this
project.

## What was told

Of the files with the verdict "told", by format: what differs, and in how many files.

{told}

## Different or refused

MuJoCo keeps the vertices of meshes without a file of their own in single precision and in another frame, as a warning
says since; a mesh file with numbers that are not finite is refused by MuJoCo only.

| file | format | verdict | what |
|---|---|---|---|
{rows}
"""

# by collection and file: what came of it in each format; None if it does not load, a text if there was no answer
Answers = dict[str, dict[str, dict[str, Return] | str | None]]


def table(answers: Answers) -> str:
    """The counts of verdicts by collection and format."""
    lines = ["| collection | files | load | " + " | ".join(FORMATS) + " |", "|---|---:|---:|" + "---:|" * len(FORMATS)]
    total: Counter[str] = Counter()
    for name, files in answers.items():
        trips = [one for one in files.values() if isinstance(one, dict)]
        counts = Counter(f"{format} {one.verdict}" for by in trips for format, one in by.items())
        counts.update(files=len(files), load=len(trips))
        total += counts
        lines.append(_row(name, counts))
    return "\n".join([*lines, _row("**total**", total)])


def _row(name: str, counts: Counter[str]) -> str:
    """One row of the table; a cell of a format has the counts of all verdicts."""
    cells = [" / ".join(str(counts[f"{format} {verdict}"]) for verdict in VERDICTS) for format in FORMATS]
    return "| " + " | ".join([name, str(counts["files"]), str(counts["load"]), *cells]) + " |"


def page(answers: Answers, there: int) -> str:
    """The tables as a page of the docs; `there` is the number of files in the folders."""
    from support.robots.same_system import STATES

    files = {name: one for all_of in answers.values() for name, one in all_of.items()}
    trips = [(file, format, one) for file, by in files.items() if isinstance(by, dict) for format, one in by.items()]
    lost = Counter((format, what) for _, format, one in trips if one.verdict == "told" for what in one.differences)
    told = [f"| {format} | {what} | {count} |" for (format, what), count in sorted(lost.items())]
    rows = [
        f"| {file} | {format} | {one.verdict} | {_said(one)} |"
        for file, format, one in trips
        if one.verdict in ("different", REFUSED)
    ]
    rows += [f"| {file} | - | no answer | {why} |" for file, why in files.items() if isinstance(why, str)]
    return PAGE.format(
        total=sum(isinstance(one, dict) for one in files.values()),
        files="All of them" if len(files) == there else f"{len(files)} of them, drawn at random,",
        folders=textwrap.fill(", ".join(answers), 100),
        states=STATES,
        verdicts=" / ".join(VERDICTS),
        table=table(answers),
        told="\n".join(["| format | what differs | files |", "|---|---|---:|", *told]),
        rows="\n".join(rows),
        there=there,
        died=sum(isinstance(one, str) for one in files.values()),
        seconds=SECONDS,
    )


def _said(one: Return) -> str:
    texts = [f"{name} {error:.1e}" for name, error in one.differences.items()] or list(one.told)
    return ", ".join(texts).replace("|", "/").replace("\n", " ")[:200]


def _known(path: Path) -> Answers:
    """The answers of an earlier run."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {
        folder: {
            file: {format: Return(*trip) for format, trip in one.items()} if isinstance(one, dict) else one
            for file, one in files.items()
        }
        for folder, files in found.items()
    }


def main() -> None:
    """Takes the files of the folders in random order, and writes the page; see the top of this file."""
    target, *rest = sys.argv[1:]
    minutes = float(rest.pop(rest.index("--minutes") + 1)) if "--minutes" in rest else float("inf")
    folders = [Path(one).resolve() for one in rest if one != "--minutes"]
    every = [(path, format, folder) for folder in folders for path, format in robot_files(folder)]
    random.Random(3).shuffle(every)
    answering, log = Answering(__file__, SECONDS), Path(target).with_suffix(".json")
    answers: Answers = {folder.name: {} for folder in folders} | _known(log)
    end = time.monotonic() + 60.0 * minutes
    for path, format, folder in every:
        name = path.relative_to(folder.parent).as_posix()
        if time.monotonic() > end or name in answers[folder.name]:
            continue
        try:
            answer = answering.ask(str(path), format, str(folder))
            answers[folder.name][name] = answer and {key: Return(*one) for key, one in answer.items()}
            print(name, answer and {key: one[0] for key, one in answer.items()}, file=sys.stderr, flush=True)
        except NoAnswer as why:
            answers[folder.name][name] = str(why)
            print(name, why, file=sys.stderr, flush=True)
        log.write_text(json.dumps(answers), encoding="utf-8")
    Path(target).write_text(page(answers, len(every)), encoding="utf-8")


if __name__ == "__main__":
    answer_from_stdin(returned) if sys.argv[1:2] == [ANSWER] else main()
