"""The verdict on a derived model: named checks, each with a value and its tolerance.

A check passes where its value is finite and at most its tolerance. A check that does not apply to a model is skipped,
with the reason; it counts neither for nor against.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kinemorph.shown import Shown

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Check:
    """One check and its result.

    `worst` is the largest relative error over all states (or another value, see `says`), None where the check was
    skipped; `note` is the reason for a skip, the place of a failure, or a number worth knowing.
    """

    name: str
    says: str
    status: Status
    worst: float | None = None
    tolerance: float | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check was made and passed."""
        return self.status == "passed"

    def as_dict(self) -> dict[str, Any]:
        """The check as JSON takes it: a value that is not finite becomes None, and the note says so."""
        worst = self.worst if self.worst is not None and math.isfinite(self.worst) else None
        return {
            "name": self.name,
            "says": self.says,
            "status": self.status,
            "worst": worst,
            "tolerance": self.tolerance,
            "note": self.note,
        }


def judged(name: str, says: str, worst: float, tolerance: float, note: str = "") -> Check:
    """A check whose value is compared with the tolerance; nan fails."""
    status: Status = "passed" if worst <= tolerance else "failed"
    if not math.isfinite(worst):
        note = f"the value is {worst}, not a finite number" + (f"; {note}" if note else "")
    return Check(name, says, status, worst, tolerance, note)


def table(checks: Sequence[Check]) -> list[str]:
    """One line per check: verdict, name, value and tolerance, what it checks; its note below."""
    width = max((len(check.name) for check in checks), default=0)
    lines = []
    for check in checks:
        sign = "<=" if check.passed else "> "
        error = "" if check.worst is None else f"{check.worst:8.1e} {sign} {check.tolerance:.0e}"
        mark = check.status.upper() if check.status == "failed" else check.status
        text = check.note if check.status == "skipped" else check.says
        lines.append(f"  {mark:7}  {check.name:{width}}  {error:20}  {text}")
        if check.note and check.status != "skipped":
            lines.append(f"  {'':7}  {'':{width}}  {'':20}  {check.note}")
    return lines


class Judged(Shown, ABC):
    """The results of several checks; true where none failed."""

    checks: tuple[Check, ...]

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
        """The checks that do not apply, each with its reason."""
        return tuple(check for check in self.checks if check.status == "skipped")

    def __getitem__(self, name: str) -> Check:
        """A check by name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"there is no check '{name}'; expected one of: {', '.join(c.name for c in self.checks)}")


@dataclass(frozen=True)
class Verification(Judged):
    """All checks of one derived model. Made by `verify`; true where no check failed."""

    robot: str
    formulation: str
    backend: str
    states: int
    seed: int
    checks: tuple[Check, ...]

    def as_dict(self) -> dict[str, Any]:
        """The verdict as nested dicts and lists that JSON takes."""
        return {
            "robot": self.robot,
            "formulation": self.formulation,
            "backend": self.backend,
            "states": self.states,
            "seed": self.seed,
            "passed": self.passed,
            "checks": [check.as_dict() for check in self.checks],
        }

    def __str__(self) -> str:
        """One line per check: verdict, name, value and tolerance, what it checks."""
        failed, skipped = len(self.failures), len(self.skipped)
        total = f"{len(self.checks) - failed - skipped} passed, {failed} failed, {skipped} skipped"
        over = f"{self.states} random states, seed {self.seed}"
        lines = [f"{self.robot} ({self.formulation}, {self.backend}): {total}, over {over}"]
        return "\n".join(lines + table(self.checks))
