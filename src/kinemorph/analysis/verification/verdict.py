"""The results of checks: each has a name, a status, a value and a tolerance.

A check passes where its value is finite and at most its tolerance. A check that does not apply to a model is skipped,
with the reason, and does not count.
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
    """A check that passes where `worst` is at most the tolerance; it fails where `worst` is nan."""
    status: Status = "passed" if worst <= tolerance else "failed"
    if not math.isfinite(worst):
        note = f"the value is {worst}, not a finite number" + (f"; {note}" if note else "")
    return Check(name, says, status, worst, tolerance, note)


def table(checks: Sequence[Check]) -> list[str]:
    """One line per check: status, name, value and tolerance, and the rule; then a line with its note, if it has one."""
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
    """The results of several checks. As a bool it is True where no check failed."""

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

    def as_dict(self) -> dict[str, Any]:
        """All results as nested dicts and lists, ready for JSON."""
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
        """A line with the counts, then one line per check: status, name, value and tolerance, and the rule."""
        failed, skipped = len(self.failures), len(self.skipped)
        total = f"{len(self.checks) - failed - skipped} passed, {failed} failed, {skipped} skipped"
        over = f"{self.states} random states, seed {self.seed}"
        lines = [f"{self.robot} ({self.formulation}, {self.backend}): {total}, over {over}"]
        return "\n".join(lines + table(self.checks))
