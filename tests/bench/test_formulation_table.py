"""`kinemorph verify --table`: every formulation with its error, its operations and its times."""

from __future__ import annotations

import pytest

from kinemorph.analysis.verification import formulation_errors
from kinemorph.bench.speed import formulations
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from support.tools.command_line import parsed, run


@pytest.mark.slow
def test_every_formulation_is_compared_with_the_recursion() -> None:
    data = parsed("verify", "pendulum", "--table", "--states", "3")
    rows = {row["formulation"]: row for row in data["formulations"]}
    assert list(rows) == list(FORMULATIONS) and data["passed"] and data["cpu"]
    robot = library.pendulum()
    for name, row in rows.items():
        assert row["id_ops"] == derive(robot, name, backend="interpreter").inverse_dynamics.ops  # type: ignore[arg-type]
        assert all(row[key] > 0.0 for key in ("derive_s", "compile_s", "id_us", "fd_us"))
        assert (row["error"] is None) if name == "newton_euler" else (row["error"] < 1e-13)


@pytest.mark.slow
def test_a_wrong_formulation_fails_and_a_slow_one_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    row = FORMULATIONS["incidence"]
    wrong = row._replace(inverse_dynamics=lambda *state: [1.001 * x for x in row.inverse_dynamics(*state)])
    few = {"newton_euler": FORMULATIONS["newton_euler"], "incidence": wrong, "dalembert": FORMULATIONS["dalembert"]}
    monkeypatch.setattr(formulation_errors, "FORMULATIONS", few)
    monkeypatch.setitem(FORMULATIONS, "incidence", wrong)
    limits = {"incidence": 60}  # none for the recursion
    monkeypatch.setattr(formulation_errors, "size_limit", lambda name: limits.get(name, 0))
    result = run("verify", "pendulum", "--table", "--states", "2")
    assert result.exit_code == 1 and "1.0e-03" in result.stdout
    assert "left out: 1 degrees of freedom, more than 0" in result.stdout and "reference" in result.stdout


def test_what_cannot_be_compared_is_one_sentence() -> None:
    plate = RobotBuilder("plate").add(Body("plate", 1.0)).root("plate").build()
    with pytest.raises(UnsupportedError, match="'plate' has no movable joint"):
        formulations.formulation_costs(plate)
    both = run("verify", "pendulum", "--table", "--formulation", "lagrange")
    assert both.exit_code == 2 and "--table compares all of them" in both.stderr
