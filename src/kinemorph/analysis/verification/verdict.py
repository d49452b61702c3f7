"""The results of checks: each has a name, a status, a value and a tolerance.

A check passes where its value is finite and at most its tolerance. A check that does not apply to a model is skipped,
with the reason, and does not count.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kinemorph.sheet import Facts, Field, Note, Part, Sheet, Table, Verdict, fields, said
from kinemorph.shown import Shown

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Check:
    """One check and its result.

    `says`    the rule that is checked, as a sentence
    `worst`   the largest relative error over all states, or another value that `says` names; None where skipped
    `note`    the reason why the check was skipped, the state and entry of the largest error, or a remark
    """

    name: str
    says: str
    status: Status
    worst: float | None = None
    tolerance: float | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check passed; False where it failed or was skipped."""
        return self.status == "passed"

    def as_dict(self) -> dict[str, Any]:
        """The check as a dict for JSON; a `worst` that is not finite becomes None, and the note tells its value."""
        return check_table((self,)).data()["checks"][0]  # type: ignore[no-any-return]


def judged(name: str, says: str, worst: float, tolerance: float, note: str = "") -> Check:
    """A check that passes where `worst` is at most the tolerance; it fails where `worst` is nan."""
    status: Status = "passed" if worst <= tolerance else "failed"
    if not math.isfinite(worst):
        note = f"the value is {worst}, not a finite number" + (f"; {note}" if note else "")
    return Check(name, says, status, worst, tolerance, note)


COLUMNS = (
    Field("name", "check", form="sentence"),
    *fields("status worst tolerance"),
    *(Field("says", "", form="sentence"), Field("note", "", form="sentence")),
    Field("", "what it says", form="sentence"),
)


def check_table(checks: Sequence[Check]) -> Table:
    """One row per check; those that failed are marked. The rule of a check that was skipped gives way to the reason."""
    rows = []
    for one in checks:
        told = one.note if one.status == "skipped" else one.says
        rows.append((one.name, one.status, one.worst, one.tolerance, one.says, one.note, told))
    return Table("checks", COLUMNS, rows, marked=[k for k, one in enumerate(checks) if one.status == "failed"])


def check_parts(checks: Sequence[Check]) -> tuple[Part, ...]:
    """The table of checks, what is known about those that failed, and how many passed."""
    failed = (Note(f"{one.name}: {one.note}.", "warning") for one in checks if one.status == "failed" and one.note)
    return check_table(checks), *failed, counts(checks)


def counts(checks: Sequence[Check]) -> Verdict:
    """Whether all checks passed, and how many of each status there are."""
    found = Counter(one.status for one in checks)
    numbers = {"passed": found["passed"], "failed": found["failed"], "skipped": found["skipped"]}
    told = said("{passed} passed, {failed} failed, {skipped} skipped, of {n} checks.", n=len(checks), **numbers)
    return Verdict(not found["failed"], told, "passed")


class Judged(Shown, ABC):
    """The results of several checks. As a bool it is True where no check failed."""

    checks: tuple[Check, ...]

    @abstractmethod
    def sheet(self) -> Sheet:
        """What there is to show: the checks, and how many of them passed."""

    def as_dict(self) -> dict[str, Any]:
        """All results as nested dicts and lists, ready for JSON."""
        return self.sheet().data()

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.passed

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    @property
    def skipped(self) -> tuple[Check, ...]:
        """The checks that do not apply to the model; the `note` of each tells why."""
        return tuple(check for check in self.checks if check.status == "skipped")

    def __getitem__(self, name: str) -> Check:
        """The check with this name; KeyError where there is none."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"there is no check '{name}'. Choose from: {', '.join(c.name for c in self.checks)}")


@dataclass(frozen=True)
class Verification(Judged):
    """All checks of one derived model, made by `verify`. As a bool it is True where no check failed."""

    robot: str
    formulation: str
    backend: str
    states: int
    seed: int
    checks: tuple[Check, ...]

    def sheet(self) -> Sheet:
        """How the model was derived and checked, one row per check, and how many of them passed."""
        how = (Field("formulation", "formulation", form="name"), Field("backend", "backend", form="name"))
        values = (self.formulation, self.backend, self.states, self.seed)
        facts = Facts(tuple(zip((*how, *fields("states seed")), values, strict=True)))
        return Sheet("Verification of", self.robot, (facts, *check_parts(self.checks)), "robot")
