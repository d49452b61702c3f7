"""Row D12: exporters lay four folders deep; a Dynamics writes itself, with the names of its parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy

from kinemorph import derive, library
from kinemorph.errors import UnsupportedError

DYNAMICS = derive(library.pendulum(), parameters="all", backend="interpreter")


@pytest.mark.parametrize(
    ("language", "name", "files", "text"),
    [
        ("c", "arm.c", ["arm.c", "arm.h"], "inverse_dynamics"),
        ("cpp", "arm.c", ["arm.c", "arm.h"], "inverse_dynamics"),
        ("cuda", "arm.cu", ["arm.cu", "arm.cuh"], "__global__"),
        ("python", "arm.py", ["arm.py"], "def "),
        ("matlab", "folder", ["pendulum_inverse_dynamics.m", "pendulum_mass_matrix.m"], "function"),
        ("sympy", "arm.py", ["arm.py"], "from sympy import"),
    ],
)
def test_a_dynamics_writes_itself_in_a_language(
    tmp_path: Path, language: str, name: str, files: list[str], text: str
) -> None:
    written = DYNAMICS.export(language, tmp_path / "new" / name, functions=["mass_matrix", "inverse_dynamics"])
    assert sorted(path.name for path in written) == files and text in written[0].read_text(encoding="utf-8")


def test_sympy_has_the_names_of_parameters() -> None:
    m, l, g, q, a = sympy.symbols("m1 l1 g q1 a1", real=True)
    assert DYNAMICS.to_sympy("mass_matrix", constants="exact") == sympy.Matrix([[m * l**2]])
    torque = DYNAMICS.to_sympy(constants="exact")
    assert sympy.simplify(torque[0] - (m * l**2 * a + m * g * l * sympy.sin(q))) == 0
    numbers = derive(library.pendulum(), backend="interpreter").to_sympy("mass_matrix")
    assert np.array(numbers, dtype=float) == pytest.approx(np.array([[1.0]]))


def test_unknown_languages_and_functions_are_refused_with_a_list(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"language is 'fortran'; expected one of 'c', 'cpp', 'cuda', "):
        DYNAMICS.export("fortran", tmp_path)
    with pytest.raises(UnsupportedError, match=r"no function 'mass' to write; .* Did you mean 'mass_matrix'\?"):
        DYNAMICS.export("c", tmp_path, functions=["mass"])
    assert not list(tmp_path.iterdir())
