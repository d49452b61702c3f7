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
