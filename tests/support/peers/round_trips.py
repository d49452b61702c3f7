"""Robot files of others, loaded, saved in each format that is written, and loaded again: is it the same machine?

    python tests/support/peers/round_trips.py docs/round_trips.md [--minutes N] FOLDER [FOLDER ...]

Every file below the folders that loads is saved as MJCF, URDF with its sidecar, SDF with its sidecar, and TOML. What
comes back is compared by `support.robots.same_system`: M, h, forces at random inputs, accelerations with all
constraints, contacts, limits, starts and sensors. Folders, files and processes are those of `robot_folders`. A file is
one collection's by the name of its folder. Files are taken in random order; with --minutes, as many as the time allows.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.peers.robot_folders import ANSWER, Answering, NoAnswer, answer_from_stdin, robot_files

SECONDS = 120.0  # the most time for one file
FORMATS = {"mjcf": ".xml", "urdf": ".urdf", "sdf": ".sdf", "toml": ".toml"}
VERDICTS = ("equal", "told", "different", "refused")
REFUSED = "refused"


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
    _remember_hulls()
    path, root = Path(file), Path(folder)
    found = examine(path, options=Options(package_dirs=(root,)))
    if found.system is None:
        return None
    above = [one for one in path.parents if one.is_relative_to(root)]  # where names of packages may begin
    with tempfile.TemporaryDirectory() as new:
        places = {name: Path(new) / name / f"robot{ending}" for name, ending in FORMATS.items()}
        return {name: _trip(found.system, place, name, above) for name, place in places.items()}


def _remember_hulls() -> None:
    """Computes the hull of the same points only once; the five systems of one file have the same meshes."""
    from kinemorph.model.elements.contact import contacts_from_shapes as made

    known: dict[tuple[bytes, float], object] = {}
    whole = getattr(made.hull_points, "whole", made.hull_points)

    def hull_points(points: np.ndarray, tolerance: float) -> object:
        key = (points.tobytes(), tolerance)
        if key not in known:
            known[key] = whole(points, tolerance)
        return known[key]

    hull_points.whole = whole
    made.hull_points = hull_points


def _trip(system: object, path: Path, format: str, folders: Sequence[Path]) -> Return:
    from kinemorph.errors import KinemorphError
    from kinemorph.formats.loading import load, save
    from support.robots.same_system import differences

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            save(system, path, format=format)
        except KinemorphError as error:
            return Return(REFUSED, {}, (f"save: {error}"[:300],))
    told = tuple(sorted({str(one.message).split(": ", 1)[-1][:200] for one in said if "[dropped]" in str(one.message)}))
    try:
        again = load(path, package_dirs=folders)
    except KinemorphError as error:
        return Return(REFUSED, {}, (f"load: {error}"[:300],))
    found = differences(system, again)
    return Return("equal" if not found else "told" if told else "different", found, told)


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = """# Robot files of others, saved and loaded again

{there} URDF, xacro, SDF and MJCF files are in {folders}. {files} of them, drawn at random, were tried: {total} load,
and {died} gave no answer in {seconds:g} s. Each was saved as MJCF, URDF with sidecar, SDF with sidecar and TOML, and
loaded again. Compared to 1e-12 of the largest entry, at {states} random states: M, bias forces, generalized forces of
all elements at random inputs, accelerations with all constraints (divided by the condition number of M), constraint
rows of elements, the contacts of `elements.contacts` with their laws and grounds, limits and friction of joints,
masses, starts and sensors. Saved models name the same mesh files.

{table}

| verdict | meaning |
|---|---|
| equal | the same machine |
| told | something differs, and a warning named it when the model was saved |
| different | something differs without a warning; listed below |
| refused | not saved or not loaded again; listed below |

Made by `python tests/support/peers/round_trips.py docs/round_trips.md FOLDER ...`. The collections are not part of this
project.

## What was told

Of the files with the verdict "told", by format: what differs, and in how many files.

{told}

## Different or refused

| file | format | verdict | what |
|---|---|---|---|
{rows}
"""

Found = dict[str, dict[str, dict[str, Return]]]  # by collection, file and format


def table(found: Found, files: Counter[str]) -> str:
    """The counts of verdicts by collection and format."""
    heads = [f"{format} {verdict}" for format in FORMATS for verdict in VERDICTS]
    lines = ["| collection | files | load | " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) + 2)]
    total: Counter[str] = Counter()
    for name, returns in found.items():
        counts = Counter(f"{format} {one.verdict}" for trips in returns.values() for format, one in trips.items())
        total += counts
        row = [name, files[name], len(returns), *(counts[head] for head in heads)]
        lines.append("| " + " | ".join(map(str, row)) + " |")
    loads = sum(map(len, found.values()))
    lines.append(
        "| " + " | ".join(map(str, ["**total**", files.total(), loads, *(total[head] for head in heads)])) + " |"
    )
    return "\n".join(lines)


def page(found: Found, files: Counter[str], died: Sequence[str], there: int) -> str:
    """The tables as a page of the docs; `there` is the number of files in the folders."""
    from support.robots.same_system import STATES

    trips = [
        (file, format, one) for all_of in found.values() for file, by in all_of.items() for format, one in by.items()
    ]
    lost = Counter((format, what) for _, format, one in trips if one.verdict == "told" for what in one.differences)
    told = [f"| {format} | {what} | {count} |" for (format, what), count in sorted(lost.items())]
    rows = [
        f"| {file} | {format} | {one.verdict} | {_said(one)} |"
        for file, format, one in trips
        if one.verdict in ("different", REFUSED)
    ]
    return PAGE.format(
        total=sum(map(len, found.values())),
        files=files.total(),
        folders=", ".join(found),
        states=STATES,
        table=table(found, files),
        told="\n".join(["| format | what differs | files |", "|---|---|---:|", *told]),
        rows="\n".join(rows),
        there=there,
        died=len(died),
        seconds=SECONDS,
    )


def _said(one: Return) -> str:
    texts = [f"{name} {error:.1e}" for name, error in one.differences.items()] or list(one.told)
    return ", ".join(texts).replace("|", "/").replace("\n", " ")[:200]


def main() -> None:
    """Takes the files of the folders in random order, and writes the page; with .json, all that it is made of."""
    target, *rest = sys.argv[1:]
    minutes = float(rest.pop(rest.index("--minutes") + 1)) if "--minutes" in rest else float("inf")
    folders = [Path(one).resolve() for one in rest if one != "--minutes"]
    every = [(path, format, folder) for folder in folders for path, format in robot_files(folder)]
    random.Random(3).shuffle(every)
    answering, found, died = Answering(__file__, SECONDS), Found({folder.name: {} for folder in folders}), list[str]()
    files: Counter[str] = Counter()
    end = time.monotonic() + 60.0 * minutes
    for path, format, folder in every:
        if time.monotonic() > end:
            break
        files[folder.name] += 1
        name = path.relative_to(folder.parent).as_posix()
        try:
            answer = answering.ask(str(path), format, str(folder))
        except NoAnswer as why:
            died.append(f"{name}: {why}")
            print(died[-1], file=sys.stderr, flush=True)
            continue
        if answer is not None:
            trips = {key: Return(*one) for key, one in answer.items()}
            found[folder.name][name] = trips
            print(name, {key: one.verdict for key, one in trips.items()}, file=sys.stderr, flush=True)
    Path(target).with_suffix(".json").write_text(json.dumps([found, files, died], indent=1), encoding="utf-8")
    Path(target).write_text(page(found, files, died, len(every)), encoding="utf-8")


if __name__ == "__main__":
    answer_from_stdin(returned) if sys.argv[1:2] == [ANSWER] else main()
