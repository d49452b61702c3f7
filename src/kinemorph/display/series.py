"""What to plot: columns of a run chosen by name, group or pattern, and put together into blocks of one unit each.

A column is named "q.elbow": the group before the dot, then the coordinate. Further states are group "x", outputs are
group "y", both under their own names. A block holds the columns of one group with one unit, so that they may share an
axis; one with too many for an axis falls into families by the first word of their names: leg1_hip, leg1_knee, ...
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean

Run: TypeAlias = Trajectory | BatchRun

GROUPS = ("q", "v", "a", "u", "tau", "x", "y", "m", "energy")  # before the dot, or found by their members
CLEAR = 8  # lines that share an axis and differ in color
MANY = 12  # columns of q from which on velocities are shown only when they are asked for
DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s^2": "deg/s^2", "rad/s²": "deg/s²"}
BALANCE = "energy.balance"  # some 1e-12 of the others, so it has a block of its own
FLOWS = ("energy.supplied", "energy.dissipated")
NUMBERED = re.compile(r"^(.*?)(\d+)$")


@dataclass(frozen=True)
class Family:
    """Columns that share an axis: a word for them and, for each, a short label."""

    word: str
    names: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def numbered(self) -> bool:
        """Whether the labels count: q1, q2, q3."""
        found = [NUMBERED.match(label) for label in self.labels]
        return len(found) > 2 and all(found) and len({match[1] for match in found if match}) == 1


@dataclass(frozen=True)
class Block:
    """Columns of one group and one unit, in one family, or in several that are drawn as small multiples."""

    group: str
    unit: str
    families: tuple[Family, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(name for family in self.families for name in family.names)


# ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def chosen(trajectory: Run, wanted: Sequence[str]) -> list[Column]:
    """The columns that names, groups or patterns such as "q.leg1*" mean, each once, in the order of the wishes.

    Without a wish: q, v (of robots with few joints), further states, and energies where they are known.
    """
    known = {name: column for name, column in trajectory.columns.items() if name != "t"}
    found: dict[str, Column] = {}
    for wish in wanted or _defaults(trajectory, known):
        hits = _meant(trajectory, known, wish)
        if not hits:
            groups = ", ".join(dict.fromkeys(group_of(trajectory, name) for name in known))
            raise UnsupportedError(
                f"the run has no column '{wish}'.{did_you_mean(wish, [*known, *GROUPS])} Name a column such as "
                f"'{next(iter(known), 't')}', a group ({groups}) or a pattern such as 'q.*'."
            )
        found |= {name: known[name] for name in hits}
    if not wanted:  # energies that nothing supplies or dissipates tell nothing
        found = {
            name: column
            for name, column in found.items()
            if name not in FLOWS or np.nan_to_num(values(trajectory, name)).any()
        }
    return list(found.values())


def group_of(trajectory: Run, name: str) -> str:
    """The group of a column."""
    head, dot, _ = name.partition(".")
    if dot and head in GROUPS:
        return head
    plants = [trajectory.plant] if isinstance(trajectory, BatchRun) else [part.plant for part in trajectory.segments]
    return "x" if any(name == column.name for plant in plants for column in plant.x) else "y"


def _meant(trajectory: Run, known: dict[str, Column], wish: str) -> list[str]:
    if wish in known:
        return [wish]
    grouped = [name for name in known if group_of(trajectory, name) == wish]
    grouped = grouped or [name for name in known if name.startswith(f"{wish}.")]  # all that an element shows
    return grouped or [name for name in known if fnmatch.fnmatchcase(name, wish)]


def _defaults(trajectory: Run, known: dict[str, Column]) -> list[str]:
    groups = dict.fromkeys(group_of(trajectory, name) for name in known)
    count = sum(name.startswith("q.") for name in known)
    return [
        group for group in ("q", "v", "x", "energy") if group in groups and not (group == "v" and count > MANY)
    ] or list(known)


# ── putting together ──────────────────────────────────────────────────────────────────────────────────────────────────


def chosen_blocks(trajectory: Run, wanted: Sequence[str]) -> list[Block]:
    """Blocks of the chosen columns that share group and unit, in the order in which they are first named."""
    parts: dict[tuple[str, str], list[str]] = {}
    for column in chosen(trajectory, wanted):
        group = "energy balance" if column.name == BALANCE else group_of(trajectory, column.name)
        parts.setdefault((group, column.unit), []).append(column.name)
    return [Block(group, unit, _families(names)) for (group, unit), names in parts.items()]


def _families(names: Sequence[str]) -> tuple[Family, ...]:
    labels = [label_of(name) for name in names]
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
    """Labels without a last word that all of them share: hip_joint, knee_joint -> hip, knee."""
    heads = [label.rpartition("_") for label in labels]
    return [head for head, _, _ in heads] if len({tail for _, _, tail in heads}) == 1 and heads[0][0] else list(labels)


def label_of(name: str) -> str:
    """A column's name without its group."""
    head, dot, tail = name.partition(".")
    return tail if dot and head in GROUPS else name


def scaled(unit: str, degrees: bool) -> tuple[str, float]:
    """(unit, factor) for an axis, in degrees if wanted and if it is an angle."""
    return (DEGREES[unit], 180.0 / np.pi) if degrees and unit in DEGREES else (unit, 1.0)


def values(trajectory: Run, name: str) -> Array:
    """A column's samples, shape (n,), or (B, n) where the columns are those of a batch."""
    found: Array = np.asarray(trajectory[name], dtype=float)
    return found
