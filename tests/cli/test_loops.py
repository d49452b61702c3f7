"""`kinemorph derive` of robots with loops: reduced and fast dynamics in other languages, and options that say no."""

from __future__ import annotations

import pytest

from support.tools.command_line import parsed, run

SPLIT = ("--independent", "q1", "--actuated", "q1", "--at", "0.6,0.03,1.6")
FUNCTIONS = ("--function", "fast_dynamics", "--function", "reduced_dynamics")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "c",
            "void four_bar_fast_dynamics(const double *restrict q, const double *restrict v_q, double *restrict out)",
        ),
        ("cuda", "four_bar_reduced_dynamics"),
        ("python", "def reduced_dynamics(q, v_q, tau):"),
        ("matlab", "function out = four_bar_reduced_dynamics(q, v_q, tau)"),
    ],
)
def test_reduced_and_fast_dynamics_are_written(form: str, text: str) -> None:
    result = run("derive", "four_bar", *FUNCTIONS, *SPLIT, "--emit", form)
    assert result.exit_code == 0 and text in result.stdout, result.stderr


def test_actuation_has_its_joints() -> None:
    data = parsed("derive", "four_bar", "--function", "actuation", "--actuated", "q1", "--emit", "graph")
    assert data["functions"][0]["outputs"] == {"tau": [1], "residual": [3], "rank": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--independent", "q1"), "Give --function with one of: actuation, fast_dynamics"),
        ((*FUNCTIONS, "--at", "a,b"), "--at is 'a,b'; expected numbers separated by commas"),
        ((*FUNCTIONS, "--independent", "q7"), "has no joint 'q7'"),
        (("--function", "actuation"), "Name them with --actuated"),
        ((*FUNCTIONS, "--epsilon", "-1"), "epsilon is -1.0 s; expected a finite number above 0"),
    ],
)
def test_what_cannot_be_split_is_said(arguments: tuple[str, ...], message: str) -> None:
    result = run("derive", "four_bar", *arguments, "--emit", "graph")
    assert result.exit_code != 0 and message in " ".join(result.stderr.split())


def test_tables_say_what_was_counted_and_closed() -> None:
    shown = [run("analyze", "four_bar", *what).stdout for what in (("mobility",), ("assembly", "--lock", "q1"))]
    lines = [" ".join(line.split()) for line in "".join(shown).splitlines()]
    assert [line for line in lines if line.strip("─ ")] == SHOWN.strip().splitlines()


SHOWN = """
Mobility of four_bar
Robot 'four_bar' has 1 degree of freedom: 3 of the cut tree minus 2 independent rows (of 5). Loop
'closure': 3 of 5 rows redundant: point.z, parallel.x, parallel.y; planar mechanism.
degrees of freedom with loops closed 1
independent joints q1
condition of the others 2.25
constraint rows 5
independent rows 2
smallest singular value, without units 0.5338
singular no
Constraints
constraint rows redundant rows
closure 5 point.z, parallel.x, parallel.y
Where this was found
coordinate value unit
q1 0 rad
q2 -0.8725738534 rad
q3 -1.745147707 rad
Closed configurations of four_bar
2 closed configurations with q1 held, and there is no other within limits.
number branch q1 [rad] q2 [rad] q3 [rad]
0 + 0 -0.87257385 -1.7451477
1 - 0 0.87257385 1.7451477
"""
