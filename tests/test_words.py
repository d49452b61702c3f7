"""Phrases of messages: lists of names, counts, and guesses at misspelled names."""

from __future__ import annotations

import pytest

from kinemorph.words import as_sentence, counted, did_you_mean, guarded, listed, quoted, unguarded

ROBOTS = (
    "pendulum",
    "double_pendulum",
    "crane",
    "chain",
    "scara",
    "puma",
    "hexapod24",
    "humanoid",
    "four_bar",
    "klann",
)
PARTS = (
    "root",
    "trunk",
    "left_hip",
    "left_knee",
    "right_hip",
    "right_knee",
    "q.hinge",
    "mass_matrix",
    "damping",
    "xyz",
)


def test_names_are_listed_and_counted() -> None:
    assert listed([1, "b", "c"]) == "1, b, c" and listed([]) == "none"
    assert listed("abcde", 2) == "a, b and 3 more"
    assert quoted("ab") == "'a', 'b'"
    assert [counted(n, "body", "bodies") for n in (0, 1, 2)] == ["0 bodies", "1 body", "2 bodies"]
    assert counted(2, "joint") == "2 joints"


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("pumma", "puma"),
        ("PUMA", "puma"),
        ("uma", "puma"),
        ("pendulm", "pendulum"),
        ("humanoid1", "humanoid"),
        ("fourbar", "four_bar"),
        ("hexapod", "hexapod24"),
        ("crank", "crane"),
        ("hip", "left_hip"),
        ("hinge", "q.hinge"),
        ("hing", "q.hinge"),
        ("mass", "mass_matrix"),
        ("dampening", "damping"),
        ("xzy", "xyz"),
        ("lrft_hip", "left_hip"),
        ("keft_knee", "left_knee"),
    ],
)
def test_misspelled_names_are_guessed(name: str, guess: str) -> None:
    assert did_you_mean(name, (*ROBOTS, *PARTS)) == f" Did you mean '{guess}'?"


@pytest.mark.parametrize("name", ["", "foot", "train", "q", "arm", "camera", "chassis", "spot", "z", 7])
def test_other_names_are_not_guessed(name: object) -> None:
    assert did_you_mean(name, (*ROBOTS, *PARTS)) == ""


def test_numbered_names_and_long_lists_are_not_guessed() -> None:
    assert did_you_mean("q4", ("q1", "q2", "q3")) == ""
    assert did_you_mean("nam1", [f"name{k}" for k in range(2000)]) == ""


def test_a_sentence_keeps_the_case_of_names() -> None:
    assert as_sentence("docking of module 'M1'") == "Docking of module 'M1'"
    assert as_sentence("") == ""


def test_cells_that_spreadsheets_would_compute_have_an_apostrophe() -> None:
    """Finding R11; reading a cell gives the text again, also where it has apostrophes of its own."""
    for text in ("=1+1", "+a", "-q.x", "@SUM(A1)", "\tx", "'=1", "''@x"):
        assert guarded(text) == f"'{text}" and unguarded(guarded(text)) == text
    for text in ("q.x [rad]", "'quoted'", "", "a=b"):
        assert guarded(text) == text and unguarded(text) == text
