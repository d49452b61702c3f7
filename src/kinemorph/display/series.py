"""What to plot: columns of a run chosen by name, group or pattern, and sorted into blocks of one unit each.

A column is named "q.elbow": the group before the dot, then the coordinate. The states of elements form the group "x"
and outputs the group "y", both under their own names. A block holds the columns of one group with one unit, so that
they can share an axis; a block with too many columns for one axis is split into families by the first word in which
their names differ: leg1_hip, leg1_knee, ... Columns of any group can be drawn over those of a block with the same unit.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.model.input_reader import short
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean, listed, quoted

Run: TypeAlias = Trajectory | BatchRun

GROUPS = ("q", "v", "a", "u", "tau", "x", "y", "m", "energy")  # the word before the dot; x and y have none
CLEAR = 8  # the most lines that share an axis and differ in color
PANEL, APART = 6, 10.0  # the most lines of a panel, and the largest ratio of their sizes
MANY = 12  # with more columns of q than this, velocities are plotted only on request
DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s^2": "deg/s^2", "rad/s²": "deg/s²"}
BALANCE = "energy.balance"  # about 1e-12 of the other energies, so it has a block of its own
FLOWS = ("energy.supplied", "energy.dissipated")
# last words of names of columns that the program gives, not the user: they are said in the reader's language
SPOKEN = (
    *("energy", "energy balance", "bearing force", "bearing moment", "acceleration", "current", "depth", "force"),
    *("friction", "gap", "length", "load", "normal", "phase", "position", "power", "reaction", "speed", "tension"),
    *("torque", "touching", "velocity", "voltage"),
)
DIGITS = re.compile(r"\d+")
NUMBERED = re.compile(r"^(.*?)(\d+)$")


@dataclass(frozen=True)
class Family:
    """Columns that share an axis: the word that their names share, their names, and a short label for each.

    `over` are the names of columns of other groups that are drawn over them, with the same unit.
    """

    word: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    over: tuple[str, ...] = ()

    @property
    def over_names(self) -> dict[str, str]:
        """The legend entry of each column in `over`: its first word if the color shows the joint, else its name."""
        alone = len(self.names) == 1
        return {name: name if alone or self.beneath(name) is None else name.partition(".")[0] for name in self.over}

    def beneath(self, name: str) -> int | None:
        """The index of the column that the column `name` is drawn over: "q.knee" for "path.knee"; else None."""
        words = name.split(".")
        return next((k for k, own in enumerate(self.names) if label_of(own) in words), None)

    @property
    def numbered(self) -> bool:
        """Whether the labels are one word with different numbers: q1, q2, q3."""
        found = [NUMBERED.match(label) for label in self.labels]
        return len(found) > 2 and all(found) and len({match[1] for match in found if match}) == 1


@dataclass(frozen=True)
class Block:
    """Columns of one group and one unit, in one family (one axis) or several (one small axis each).

    `alike`   whether the axes of all families have one range of values
    """

    group: str
    unit: str
    families: tuple[Family, ...]
    alike: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns of the block."""
        return tuple(name for family in self.families for name in family.names)

    @property
    def pattern(self) -> str:
        """The pattern of all names, "cpg.*.phase", where they share their first or last word; otherwise empty."""
        front, back = _shared(self.names)
        return ".".join([*front, "*", *back]) if len(self.names) > 1 and (front or back) else ""


def flat(wishes: str | Sequence[str | Sequence[str]]) -> tuple[str, ...]:
    """The names in `wishes`, which may be one name, or names and lists of names. Raises UnsupportedError for others."""
    if isinstance(wishes, str):
        return (wishes,)
    if not isinstance(wishes, Sequence):
        raise UnsupportedError(f"{wishes!r:.60} is given as a column, expected a name such as 'q.elbow'.")
    return tuple(name for wish in wishes for name in flat(wish))


def check_run(run: Any) -> None:
    """Raises UnsupportedError where something else than a run, or a batch of runs, is given."""
    if not isinstance(run, Trajectory | BatchRun):
        raise UnsupportedError(
            f"trajectory is {short(run)}; expected a Trajectory or a BatchRun. Simulate a model first: "
            "run = kinemorph.simulate(model)."
        )


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def chosen(trajectory: Run, wanted: Sequence[str]) -> list[Column]:
    """The columns that `wanted` selects by names, groups or patterns such as "q.leg1*", in this order, each once.

    Where `wanted` is empty: q, v (of robots with few joints), states of elements, and energies where they are known.
    """
    check_run(trajectory)
    known = {name: column for name, column in trajectory.columns.items() if name != "t"}
    found: dict[str, Column] = {}
    for wish in wanted or _defaults(trajectory, known):
        hits = _meant(trajectory, known, wish)
        if not hits and (hits := _meant(trajectory, trajectory.on_request, wish)):
            known = {**trajectory.on_request, **known}
        if not hits:
            groups = ", ".join(dict.fromkeys(group_of(trajectory, name) for name in known))
            hint = did_you_mean(wish, [*known, *GROUPS]) or did_you_mean(wish, trajectory.on_request)
            raise UnsupportedError(
                f"the run has no column '{wish}'.{hint} Name a column such as "
                f"'{next(iter(known), 't')}', a group ({groups}) or a pattern such as 'q.*'."
            )
        found |= {name: known[name] for name in hits}
    if not wanted:  # supplied and dissipated energies that stay zero are left out
        found = {
            name: column
            for name, column in found.items()
            if name not in FLOWS or np.nan_to_num(values(trajectory, name)).any()
        }
    return list(found.values())


def group_of(trajectory: Run, name: str) -> str:
    """The group of a column: the word before the dot, "x" for a state of an element, "y" for an output."""
    head, dot, _ = name.partition(".")
    if (dot and head in GROUPS) or (name in trajectory.on_request and name not in trajectory.columns):
        return head
    plants = [trajectory.plant] if isinstance(trajectory, BatchRun) else [part.plant for part in trajectory.segments]
    return "x" if any(name == column.name for plant in plants for column in plant.x) else "y"


def _meant(trajectory: Run, known: dict[str, Column], wish: str) -> list[str]:
    if wish in known:
        return [wish]
    grouped = [name for name in known if group_of(trajectory, name) == wish]
    grouped = grouped or [name for name in known if name.startswith(f"{wish}.")]  # all columns of one element
    return grouped or [name for name in known if fnmatch.fnmatchcase(name, wish)]


def _defaults(trajectory: Run, known: dict[str, Column]) -> list[str]:
    groups = dict.fromkeys(group_of(trajectory, name) for name in known)
    count = sum(name.startswith("q.") for name in known)
    return [
        group for group in ("q", "v", "x", "energy") if group in groups and not (group == "v" and count > MANY)
    ] or list(known)


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def chosen_blocks(trajectory: Run, wanted: Sequence[str], beside: Sequence[Run] = ()) -> tuple[list[Block], int]:
    """(the columns that `wanted` selects, see `chosen`, as blocks of one group and unit in the same order; how many
    were left out because they are of contacts that never touch, also in the runs `beside`).

    A column that is named in full is never left out, nor is the last one.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    found = chosen(trajectory, wanted)
    idle = {
        column.name for column in found if column.name not in wanted and _never_touches(column, (trajectory, *beside))
    }
    idle = idle if len(idle) < len(found) else set()
    for column in (one for one in found if one.name not in idle):
        group = "energy balance" if column.name == BALANCE else group_of(trajectory, column.name)
        parts.setdefault((group, column.unit), []).append(column.name)
    return [Block(group, unit, _families(names)) for (group, unit), names in parts.items()], len(idle)


def _never_touches(column: Column, runs: Sequence[Run]) -> bool:
    """Whether a column is the normal force of a contact, and zero at all times of all runs."""
    if column.unit != "N" or not column.name.endswith(".normal"):
        return False
    return not any(np.nan_to_num(values(run, column.name)).any() for run in runs if column.name in run.columns)


def panel_blocks(trajectory: Run, names: Sequence[str]) -> list[Block]:
    """The columns as blocks of one group and unit, whose families are panels that can be read.

    A panel has at most PANEL lines, whose sizes (the largest absolute values) differ by a factor of at most APART: the
    angle of a rotor of 1000 rad and that of a body of 0.01 rad are in different panels.
    """
    known = {**trajectory.on_request, **trajectory.columns}
    parts: dict[tuple[str, str], list[str]] = {}
    for name in names:
        parts.setdefault((group_of(trajectory, name), known[name].unit), []).append(name)
    return [Block(group, unit, _panels(trajectory, part), False) for (group, unit), part in parts.items()]


def _panels(trajectory: Run, names: Sequence[str]) -> tuple[Family, ...]:
    """The panels of columns with one unit: those of one leg or motor, then the others, the largest values first."""
    size = {name: float(np.abs(np.nan_to_num(values(trajectory, name))).max(initial=0.0)) for name in names}
    back = "".join(f".{word}" for word in _shared([label_of(name) for name in names])[1])

    def short(name: str) -> str:
        return label_of(name).removesuffix(back)

    panels: list[Family] = []
    others: list[str] = []
    for word, part in _by_word(names).items():
        peaks = [size[name] for name in part]
        if 2 < len(part) <= PANEL and max(peaks) <= APART * min(peaks):
            panels.append(
                Family(word, tuple(part), tuple(short(name)[len(word) :].lstrip("_.") or name for name in part))
            )
        else:
            others += part
    clusters: list[list[str]] = []
    for name in sorted(others, key=lambda name: -size[name]):
        if clusters and size[name] * APART >= size[clusters[-1][0]]:
            clusters[-1].append(name)
        else:
            clusters.append([name])
    for cluster in clusters:
        stems: dict[str, list[str]] = {}
        for name in (name for name in names if name in cluster):
            stems.setdefault(DIGITS.sub("", label_of(name)), []).append(name)
        few = [name for part in stems.values() if len(part) < 3 for name in part]
        for part in (*(part for part in stems.values() if len(part) > 2), few):
            panels += [Family("", some, tuple(map(short, some))) for some in _chunks(part)]
    if len(panels) > 1 and len(panels) % 2:  # one would be alone in the last row of two
        longest = max(panels, key=lambda panel: len(panel.names))
        half, place = -(-len(longest.names) // 2), panels.index(longest)
        parts = (slice(half), slice(half, None))
        cut = [replace(longest, names=longest.names[part], labels=longest.labels[part]) for part in parts]
        panels[place : place + 1] = [panel for panel in cut if panel.names]
    return tuple(panels)


def _by_word(names: Sequence[str]) -> dict[str, list[str]]:
    """The names by their first word, such as that of a leg, where there are more than one."""
    words: dict[str, list[str]] = {}
    for name in names:
        label = label_of(name)
        words.setdefault(
            label.partition("." if "." in label and "_" not in label.partition(".")[0] else "_")[0], []
        ).append(name)
    return words if len(words) > 1 else {"": list(names)}


def _chunks(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Names in as few parts of at most PANEL as possible, all about as long."""
    count = -(-len(names) // PANEL)
    cuts = [round(k * len(names) / max(count, 1)) for k in range(count + 1)]
    return [tuple(names[a:b]) for a, b in pairwise(cuts)]


def overlaid(trajectory: Trajectory, blocks: Sequence[Block], wanted: Sequence[str]) -> list[Block]:
    """The blocks with the columns that `wanted` selects (see `chosen`) drawn over columns of the same unit.

    A column is drawn over the column of the same joint, if there is one. Of a group or pattern, only the column with
    the shortest name is drawn over each joint, "gait.knee" and not "gait.knee.phase". A column that is named in full is
    refused if no axis has its unit.
    """
    families = [(block.unit, family) for block in blocks for family in block.families]
    named: list[tuple[int, str]] = []  # (index of the family, name of the column)
    joints: dict[tuple[int, int], str] = {}  # (index of the family, of the column below) -> name of the column
    others: list[tuple[int, str]] = []
    for column in chosen(trajectory, wanted) if wanted else ():
        places = {k: family.beneath(column.name) for k, (unit, family) in enumerate(families) if unit == column.unit}
        if not places and column.name in wanted:
            raise UnsupportedError(
                f"overlay: '{column.name}' is in {column.unit or 'no unit'}, but the axes are in "
                f"{listed(dict.fromkeys(block.unit or 'no unit' for block in blocks))}; expected a column of the same "
                "unit. Plot a column with this unit, too."
            )
        place, below = next(((k, at) for k, at in places.items() if at is not None), (min(places, default=0), None))
        if column.name in wanted:
            named.append((place, column.name))
        elif below is not None:
            best = joints.get((place, below), column.name)
            joints[place, below] = min(best, column.name, key=lambda name: name.count("."))
        elif places and column.unit:
            others.append((place, column.name))
    over = [*named, *((place, name) for (place, _), name in joints.items()), *([] if joints else others)]
    if wanted and not over:
        raise UnsupportedError(
            f"overlay: no column of {quoted(wanted)} has the unit of an axis; expected one or more. Name other columns."
        )
    made = iter(
        replace(family, over=tuple(name for place, name in over if place == k))
        for k, (_, family) in enumerate(families)
    )
    return [replace(block, families=tuple(next(made) for _ in block.families)) for block in blocks]


def _shared(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """(first words, last words) that all names share, where dots separate words; at least one word is left over."""
    words = [name.split(".") for name in names]
    most = min(map(len, words), default=1) - 1
    front: list[str] = []
    while len(front) < most and len({one[len(front)] for one in words}) == 1:
        front.append(words[0][len(front)])
    back: list[str] = []
    while len(front) + len(back) < most and len({one[-1 - len(back)] for one in words}) == 1:
        back.insert(0, words[0][-1 - len(back)])
    return front, back


def _families(names: Sequence[str]) -> tuple[Family, ...]:
    front, back = _shared([label_of(name) for name in names]) if len(names) > 1 else ([], [])
    labels = []
    for name in names:
        parts = label_of(name).split(".")
        labels.append(".".join(parts[len(front) : len(parts) - len(back)]))
    single = Family("", tuple(names), tuple(_shortened(labels)))
    if len(names) <= CLEAR or single.numbered:
        return (single,)
    words: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        words.setdefault(label.partition("." if "." in label else "_")[0], []).append(place)
    alone = [places[0] for places in words.values() if len(places) == 1]
    families = [_family(word, places, names, labels) for word, places in words.items() if len(places) > 1]
    if len(families) < 2:
        return (single,)
    rest = [names[place] for place in alone], [labels[place] for place in alone]
    return (*families, *([Family("others", tuple(rest[0]), tuple(_shortened(rest[1])))] if alone else []))


def _family(word: str, places: Sequence[int], names: Sequence[str], labels: Sequence[str]) -> Family:
    short = [labels[place].removeprefix(word).lstrip("_.") or labels[place] for place in places]
    return Family(word, tuple(names[place] for place in places), tuple(_shortened(short)))


def _shortened(labels: Sequence[str]) -> list[str]:
    """The labels without the last word where all share it: hip_joint, knee_joint -> hip, knee."""
    heads = [label.rpartition("_") for label in labels]
    if len(labels) == 1:
        return list(labels)
    return [head for head, _, _ in heads] if len({tail for _, _, tail in heads}) == 1 and heads[0][0] else list(labels)


def label_of(name: str) -> str:
    """A column's name without its group."""
    head, dot, tail = name.partition(".")
    return tail if dot and head in GROUPS else name


def scaled(unit: str, degrees: bool) -> tuple[str, float]:
    """(unit of the axis, factor for the values): degrees for angles in radians where `degrees` is true."""
    return (DEGREES[unit], 180.0 / np.pi) if degrees and unit in DEGREES else (unit, 1.0)


def values(trajectory: Run, name: str) -> Array:
    """A column's samples, shape (n,), or (B, n) where the columns are those of a batch."""
    found: Array = np.asarray(trajectory[name], dtype=float)
    return found
