"""The tables of explicit Runge-Kutta methods: consistent, and refused where they are not explicit."""

from __future__ import annotations

from typing import Any

import pytest

from kinemorph.errors import CompileError
from kinemorph.simulation.integrators.explicit import FAMILY
from kinemorph.simulation.integrators.tableau import Tableau

EXACT = [method for method in FAMILY if method.name != "dop853"]  # which is published in decimals


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_rows_add_up(method: Any) -> None:
    tableau = method.tableau
    for row, moment in zip(tableau.a, tableau.c, strict=True):
        assert sum(row) == pytest.approx(moment, abs=1e-15)
    assert sum(tableau.b) == pytest.approx(1.0, abs=1e-15) and sum(tableau.error) == pytest.approx(0.0, abs=1e-15)


def test_tables_that_fit_no_explicit_method_are_refused() -> None:
    with pytest.raises(CompileError, match="each stage"):
        Tableau(a=((),), b=(0.5, 0.5), c=(0.0, 1.0), order=2)
    with pytest.raises(CompileError, match="row 1"):
        Tableau(a=((1.0,),), b=(1.0,), c=(1.0,), order=1)
