"""Notebook cards of analyses: verifications, audits, poles and equilibria."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.analysis.audit import Audit
from kinemorph.analysis.small_motions.equilibrium import Equilibrium
from kinemorph.analysis.small_motions.poles import Poles
from kinemorph.analysis.verification.verdict import Check, Verification
from kinemorph.display.html import MOST_ROWS, card, escaped, mark, note, number, table
from kinemorph.display.notebooks.model_cards import counted, pictured
from kinemorph.display.notebooks.thumbnails import robot_picture

STATUS = {"passed": "good", "failed": "bad", "skipped": "doubt"}
UNSTABLE = 1e-9  # a larger real part of a pole counts as growth, not as rounding [1/s]


def verification_card(verdict: Verification) -> str:
    """The card of a Verification: one row per check, failed checks first."""
    over = f"{counted(verdict.states, 'random state')}, seed {verdict.seed}"
    line = [*_counts(verdict.checks), verdict.formulation.replace("_", "-"), verdict.backend, over]
    return card("Verification of", verdict.robot, line, [_verdict(verdict.passed), _checks(verdict.checks)])


def audit_card(audit: Audit) -> str:
    """The card of an Audit: one row per check, failed checks first."""
    return card("Audit of", audit.name, _counts(audit.checks), [_verdict(audit.passed), _checks(audit.checks)])


def _verdict(passed: bool) -> str:
    return f"<div>{mark('all checks passed', 'good') if passed else mark('some checks failed', 'bad')}</div>"


def _counts(checks: Sequence[Check]) -> list[str]:
    counts = {status: sum(check.status == status for check in checks) for status in STATUS}
    return [f"{count} {status}" for status, count in counts.items() if count]


def _checks(checks: Sequence[Check]) -> str:
    order = ("failed", "passed", "skipped")
    rows = []
    for check in sorted(checks, key=lambda check: order.index(check.status)):
        figure = "" if check.worst is None or check.tolerance is None else f"{check.worst:.1e} of {check.tolerance:.0e}"
        says = check.says if check.status == "passed" else check.note or check.says
        rows.append([mark(check.status, STATUS[check.status]), escaped(check.name), figure, escaped(says, 140)])
    return table("", ("verdict", "check", "worst of tolerance", "what it says"), rows)


def poles_card(poles: Poles) -> str:
    """The card of poles: growth, frequency and damping of each; growing ones are marked."""
    rows = []
    for row in poles.rows()[:MOST_ROWS]:
        grows = row["alpha"] > UNSTABLE
        period = number(1.0 / row["frequency"], 3) if row["frequency"] > 0.0 else "\N{EN DASH}"
        figures = [number(row[name]) for name in ("omega", "frequency")]
        alpha = mark(number(row["alpha"]), "bad") if grows else number(row["alpha"])
        rows.append([f"{row['number']:.0f}", alpha, *figures, period, number(row["damping_ratio"], 3)])
    columns = ("", "alpha [1/s]", "omega [rad/s]", "frequency [Hz]", "period [s]", "damping ratio")
    growing = int((poles.alpha > UNSTABLE).sum())
    word = f"{growing} of {len(poles)} grow: unstable" if growing else ""
    robot = poles.plant.robot
    picture, why = (
        pictured(robot_picture(robot, poles.q), f"{robot.name} where it was linearized") if robot else ("", "")
    )
    parts = [note(word, "bad") if word else "", table("", columns, rows, count=len(poles)), _said(poles.note), why]
    return card("Poles of", poles.plant.name, [counted(len(poles), "pole")], parts, picture=picture)


def equilibrium_card(found: Equilibrium) -> str:
    """The card of an Equilibrium: whether it was found and is stable, and its configuration."""
    plant = found.plant
    judged = {True: ("stable", "good"), False: ("not stable", "bad"), None: ("stability not decided", "doubt")}
    word = mark(*judged[found.stable]) if found.converged else mark("not found", "bad")
    rows = [
        [escaped(column.name), number(float(value), 6), escaped(column.unit)]
        for column, value in zip(plant.q[: MOST_ROWS + 1], found.q[: MOST_ROWS + 1], strict=True)
    ]
    robot = plant.robot
    picture, why = pictured(robot_picture(robot, found.q), f"{robot.name} at rest") if robot else ("", "")
    parts = [
        f"<div>{word} {escaped(found.message, 400)}</div>",
        _said("" if found.reason.rstrip(".") in found.message else found.reason),
        table("configuration", ("coordinate", "value", "unit"), rows, count=len(plant.q)),
        why,
    ]
    line = [counted(found.iterations, "iteration"), f"largest force left {number(found.worst, 2)} N m or N"]
    return card("Equilibrium of", plant.name, line, parts, picture=picture)


def _said(text: str) -> str:
    return note(text) if text else ""
