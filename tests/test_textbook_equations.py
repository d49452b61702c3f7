"""The printed equations of the double pendulum and the crane are the textbook's, term for term.

The right-hand sides below were typed by hand from Lagrange's equations of uniform rods (double pendulum, relative
angles) and of a point mass below a cart (crane); SymPy shows that printed minus typed is zero, and counts operations.
"""

from __future__ import annotations

import pytest
import sympy

from kinemorph.display.equations.equations_of_motion import equations_of_motion
from kinemorph.model import library

TEXTBOOK = {
    "double_pendulum": {
        "tau1": "(m1*l1**2/3 + m2*l1**2 + m2*l2**2/3 + m2*l1*l2*cos(q2))*a1 + (m2*l2**2/3 + m2*l1*l2*cos(q2)/2)*a2"
        " - m2*l1*l2*sin(q2)*v1*v2 - m2*l1*l2*sin(q2)*v2**2/2"
        " + (m1/2 + m2)*g*l1*sin(q1) + m2*g*l2*sin(q1 + q2)/2",
        "tau2": "(m2*l2**2/3 + m2*l1*l2*cos(q2)/2)*a1 + m2*l2**2/3*a2 + m2*l1*l2*sin(q2)*v1**2/2"
        " + m2*g*l2*sin(q1 + q2)/2",
    },
    "crane": {
        "tau1": "(m1 + m2)*a1 + m2*l1*cos(q2)*a2 - m2*l1*sin(q2)*v2**2",
        "tau2": "m2*l1*cos(q2)*a1 + m2*l1**2*a2 + m2*g*l1*sin(q2)",
    },
}


def printed(name: str, formulation: str) -> dict[str, sympy.Expr]:
    written = equations_of_motion(library.build(name), formulation=formulation)
    lines = [line.split(" = ", 1) for line in written.text.splitlines() if line.strip()]
    return {left: sympy.sympify(right, rational=True) for left, right in lines}


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "closed_form"])
@pytest.mark.parametrize("name", TEXTBOOK)
def test_printed_equations_are_the_textbook_ones(name, formulation):
    ours = printed(name, formulation)
    assert ours.keys() == TEXTBOOK[name].keys()
    for entry, typed in TEXTBOOK[name].items():
        theirs = sympy.sympify(typed, rational=True)
        assert sympy.simplify(ours[entry] - theirs) == 0, entry
        assert sympy.count_ops(ours[entry]) <= 1.5 * sympy.count_ops(theirs), entry


def test_a_wrong_sign_is_noticed():
    ours = printed("crane", "newton_euler")["tau1"]
    wrong = sympy.sympify(TEXTBOOK["crane"]["tau1"].replace("- m2", "+ m2"), rational=True)
    assert sympy.simplify(ours - wrong) != 0
