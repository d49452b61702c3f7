"""Equations as data for pages: the same as the written MathML, folded without loss, and safe whatever names contain."""

from __future__ import annotations

import json
import re

import pytest

from kinemorph import equations_of_motion
from kinemorph.codegen.backends.text.mathml import mathml_formula
from kinemorph.codegen.backends.text.mathml_elements import ATTRIBUTES, LOOKS, TAGS, Element, written
from kinemorph.codegen.reading.names import latex_name
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics, write_equations
from kinemorph.display.equations.shown_equations import (
    QUANTITIES,
    available_quantities,
    folded,
    shown_equations,
    unfolded,
)
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.choosing import choose
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.vocabulary.typography.marks import Named

HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'c&amp;<img src=x onerror=alert(1)>",
    "tab\tnew\nline\x07bell",
    "\u202eright to left\u2066",
    "]]><!--",
    "ממשק שמאל",
    "x" * 10_000,
]


def as_element(node):
    """The element of a node as a page gets it."""
    if isinstance(node, str):
        return node
    tag, attributes, children = node
    own = {name: value for name, value in attributes.items() if name not in ("class", "data-symbol")}
    assert tag in TAGS and own.keys() <= ATTRIBUTES - {"style"}, (tag, attributes)
    assert attributes.get("class", "left") in LOOKS
    return Element(tag, tuple(own.items()), tuple(map(as_element, children)), attributes.get("class", ""))


def lines_of(data):
    """The MathML of all lines, one text for each."""
    return [
        written(as_element(line["math"]))
        for group in data["groups"]
        for equation in group["equations"]
        for line in equation["lines"]
    ]


def table_rows(mathml):
    """The rows of the tables in a MathML text as it is written to files."""
    return [line for line in mathml.splitlines() if line.startswith("<mtr>")]


@pytest.mark.parametrize("name", ["double_pendulum", "crane", "four_bar"])
@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange"])
def test_data_are_the_written_mathml(name, formulation):
    """000-13, 000-16: all lines of the data together are the MathML that is written to files."""
    system = choose(name)
    data = json.loads(json.dumps(shown_equations(system, formulation=formulation, room=40.0)))
    whole = equations_of_motion(system, "matrices", formulation=formulation)
    assert lines_of(data) == table_rows(whole.mathml)
    for form in ("latex", "typst", "text"):
        assert data["texts"][form] == getattr(whole, form)


def everything_unfolded(whole):
    """The folded data after a reader has clicked all that can be unfolded."""
    shown = folded(whole)
    for g, group in enumerate(shown["groups"]):
        while group["more"]:
            more = unfolded(whole, g, len(group["equations"]))
            assert more["equations"]
            group["equations"] += more["equations"]
            group["more"] = more["more"]
        for e, equation in enumerate(group["equations"]):
            while equation["more"]["lines"]:
                more = unfolded(whole, g, e, len(equation["lines"]))
                assert equation["more"]["terms"] == sum(one["terms"] for one in more["lines"]) + more["more"]["terms"]
                equation["lines"] += more["lines"]
                equation["more"] = more["more"]
    return shown


def test_folding_loses_nothing():
    """What is shown at first and what every click adds are together the whole, line by line and term by term."""
    whole = shown_equations(choose("organism9"), ["bias_forces", "gravity_forces", "relative_matrices"], room=40.0)
    first = folded(whole)
    assert sum(len(group["equations"]) for group in first["groups"]) < sum(
        len(group["equations"]) for group in whole["groups"]
    )
    assert any(equation["more"]["terms"] for group in first["groups"] for equation in group["equations"])
    assert lines_of(everything_unfolded(whole)) == lines_of(whole)


def test_terms_are_counted_by_hand():
    """The terms of tau_1 of a pendulum: m l^2 a + m g l sin q are two, as is counted by hand."""
    whole = shown_equations(choose("pendulum"), ["inverse_dynamics"])
    (equation,) = whole["groups"][0]["equations"]
    assert equation["name"] == "tau1"
    assert sum(line["terms"] for line in equation["lines"]) == 2


def test_places_that_do_not_exist_are_refused():
    whole = shown_equations(choose("pendulum"), ["inverse_dynamics"])
    for place in [(5, 0), (0, 9, 0), (-1, 0), (0, 0, -3)]:
        with pytest.raises(UnsupportedError, match=r"there is no equation .* Write the equations again"):
            unfolded(whole, *place)
    with pytest.raises(UnsupportedError, match=r"has no quantity 'constraint_jacobian'; expected one of"):
        shown_equations(choose("pendulum"), ["constraint_jacobian"])


def symbols_in(node):
    """The plain names of all symbols in a node."""
    if isinstance(node, str):
        return set()
    return {node[1].get("data-symbol", "")}.union(*map(symbols_in, node[2])) - {""}


def test_symbols_say_what_they_are_and_light_up():
    """Every coordinate and parameter in the formulas is explained, and points to its joint, body and module."""
    whole = shown_equations(choose("organism9"), ["mass_matrix"])
    lines = [line for group in whole["groups"] for equation in group["equations"] for line in equation["lines"]]
    found = set().union(*(symbols_in(line["math"]) for line in lines))
    unexplained = found - set(whole["symbols"])
    assert unexplained and all(re.fullmatch(r"x\d+|M_?\d+_?\d+", name) for name in unexplained)  # shared parts, entries
    assert {name for name in whole["symbols"] if not name.startswith("tau")} <= found
    hinge = next(one for one in whole["symbols"].values() if one["says"].startswith("coordinate m3_hinge"))
    assert {"kind": "joint", "name": "m3_hinge"} in hinge["lights"]
    assert {"kind": "module", "name": "m3"} in hinge["lights"]


def test_every_quantity_is_written_where_it_exists():
    """000-13: mass matrix, Coriolis and gravity forces, efforts, constraints, position matrices, graph matrices."""
    four_bar = choose("four_bar")
    assert set(available_quantities(four_bar.robot, "incidence")) == set(QUANTITIES)
    data = shown_equations(four_bar, list(QUANTITIES), formulation="incidence")
    assert all(group["equations"] for group in data["groups"])
    assert not {"constraint_jacobian", "block_matrices"} & set(available_quantities(choose("pendulum").robot))
    numbers = shown_equations(four_bar, ["mass_matrix"], symbols=False)
    assert not any(one["says"].startswith("parameter") for one in numbers["symbols"].values())


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_a_model_come_out_as_text(name):
    """A name is the text of an element or the value of data-symbol, never a tag or another attribute."""
    builder = RobotBuilder(name)
    length = Parameter("l", 0.5, "m", "")
    mass = Parameter(name, 2.0, "kg")
    builder.body(name, mass=mass, com=(0.0, 0.0, -length), inertia=(0.1, 0.1, 0.1))
    builder.joint(name, "revolute", "world", name, axis=(0.0, 1.0, 0.0))
    if not name.isprintable():
        with pytest.raises(ModelError, match="expected printable text"):
            builder.build()
        assert mathml_formula(Named(latex_name(name), name)).isprintable()
        return
    system = System(builder.build())
    data = json.loads(json.dumps(shown_equations(system, ["inverse_dynamics", "position_matrices"])))
    assert all("<script" not in line and "<img" not in line for line in lines_of(data))  # also checks tags, attributes
    whole = write_equations(dynamics := symbolic_dynamics(system), [dynamics.inverse_dynamics.program])
    assert lines_of(shown_equations(system, ["inverse_dynamics"], room=40.0)) == table_rows(whole.mathml)
