"""Foreign calls of loop programs: functions defined elsewhere, called by the interpreter, C, Python and MATLAB."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph.codegen.backends.c.cuda import export_cuda
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.library import has_compiler
from kinemorph.codegen.backends.text.matlab import export_matlab
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.loops.printing import format_loops
from kinemorph.errors import CompileError, UnsupportedError


def sums(name: str = "user_turn", rows: int = 3) -> LoopProgram:
    """A loop program that lets a foreign function turn the pairs of an array in place, and sum up their products.

    (x, y) becomes (-y, x) where the condition of the row is positive; the input overlaps the output.
    """
    loop = LoopBuilder("sums", {"pairs": (rows, 2), "on": (rows,)}, {"turned": (rows, 2), "total": ()})
    product = loop.buffer("product")
    loop.copy(loop["turned"], loop["pairs"])
    loop.let(loop["total"], lambda: 0.0)
    with loop.repeat(rows) as i, loop.if_(loop["on"][i]):
        loop.foreign(name, [loop["turned"][i]], [loop["turned"][i], product])
        loop.let(loop["total"], lambda a, b: a + b, loop["total"], product)
    return loop.program()


def caller() -> LoopProgram:
    """A loop program that calls `sums`: the foreign function is inside a program that is called."""
    inner = sums()
    loop = LoopBuilder("caller", {"pairs": (3, 2), "on": (3,)}, {"turned": (3, 2), "total": ()})
    loop.call(inner, [loop["turned"], loop["total"]], [loop["pairs"], loop["on"]])
    return loop.program()


def turn(pair: np.ndarray) -> tuple[np.ndarray, float]:
    """The foreign function in Python."""
    return np.array([-pair[1], pair[0]]), pair[0] * pair[1]


PAIRS, ON = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]]), np.array([1.0, 0.0, 2.0])
TURNED, TOTAL = np.array([[-2.0, 1.0], [3.0, 5.0], [-11.0, 7.0]]), 2.0 + 77.0


def test_the_interpreter_calls_a_table() -> None:
    function = build(caller(), "interpreter", foreign={"user_turn": turn})
    turned, total = function(PAIRS, ON)
    assert np.array_equal(turned, TURNED) and total == TOTAL
    seen: list[float] = []
    watched = build(sums(), "interpreter", foreign={"user_turn": lambda x: (seen.append(x[0]), turn(x))[1]})
    turned, total = watched(np.stack([PAIRS, PAIRS]), np.stack([ON, 0.0 * ON]))
    assert seen == [1.0, 7.0]  # it is not called for states that take another branch
    assert np.array_equal(turned, np.stack([TURNED, PAIRS])) and np.array_equal(total, [TOTAL, 0.0])
    with pytest.raises(CompileError, match=r"'user_turn', and no callable"):
        build(caller(), "interpreter")


def test_python_source_calls_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = export_python([caller()], "foreign_model", user="foreign_user").values()
    (tmp_path / "foreign_model.py").write_text(text)
    wrong = "def user_turn(pair):\n    return pair\n"
    (tmp_path / "foreign_user.py").write_text(
        "def user_turn(pair):\n    x, y = pair\n    pair[0] = 99.0\n    return [-y, x], x * y\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    model = importlib.import_module("foreign_model")
    turned, total = model.caller(np.stack([PAIRS, PAIRS]), np.stack([ON, 0.0 * ON]))
    assert np.array_equal(turned, np.stack([TURNED, PAIRS])) and np.array_equal(total, [TOTAL, 0.0])
    exec(wrong, vars(sys.modules["foreign_user"]))
    with pytest.raises(ValueError, match=r"user_turn returned arrays of sizes \(2,\); expected the sizes \(2, 1\)"):
        model.caller(PAIRS, ON)
    assert "import user\n" in next(iter(export_python([caller()], "other").values()))


MAIN = """
#include <stdio.h>
#include "foreign_model.h"
void arm_turn(const double *pair, double *turned, double *product);
void arm_turn(const double *pair, double *turned, double *product)
{
    turned[0] = -pair[1];
    turned[1] = pair[0];
    product[0] = pair[0] * pair[1];
}
int main(void)
{
    const double pairs[6] = {1.0, 2.0, 3.0, 5.0, 7.0, 11.0}, on[3] = {1.0, 0.0, 2.0};
    double turned[6], total;
    caller(pairs, on, turned, &total);
    for (int k = 0; k < 6; ++k) printf("%g ", turned[k]);
    printf("%g\\n", total);
    return 0;
}
"""


@pytest.mark.skipif(not has_compiler(), reason="no C compiler is installed")
def test_c_source_calls_an_extern_function(tmp_path: Path) -> None:
    texts = export_c([caller()], "foreign_model", foreign={"user_turn": "arm_turn"}) | {"main.c": MAIN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined"]
    subprocess.run(["cc", *strict, "-o", "run", "foreign_model.c", "main.c", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout
    assert [float(x) for x in printed.split()] == [*TURNED.ravel(), TOTAL]


OCTAVE = shutil.which("octave-cli") or shutil.which("octave")


def test_matlab_source_calls_a_function_file(tmp_path: Path) -> None:
    (text,) = export_matlab([caller()], "model", foreign={"user_turn": "user_roll"}).values()
    assert "] = user_roll(turned(" in text
    if OCTAVE is None:
        return
    (tmp_path / "model_caller.m").write_text(text)
    (tmp_path / "user_roll.m").write_text("function [y, p] = user_roll(x)\n y = [-x(2), x(1)]; p = x(1) * x(2);\nend\n")
    command = "[y, s] = model_caller([1 2; 3 5; 7 11], [1 0 2]); printf('%g ', y', s)"
    printed = subprocess.run([OCTAVE, "--eval", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [float(x) for x in printed.stdout.split()] == [*TURNED.ravel(), TOTAL]


def test_the_function_is_part_of_the_key_and_of_the_text() -> None:
    assert sums().key == sums().key != sums("user_roll").key
    assert "turned[2 i0 : +2], product[0] = foreign user_turn(turned[2 i0 : +2])" in format_loops(sums())
    assert list(caller().foreign) == ["user_turn"] and caller().foreign["user_turn"].sizes == ((2,), (2, 1))


def test_backends_that_cannot_call_it_say_so() -> None:
    for backend in ("llvm", "c"):
        with pytest.raises(UnsupportedError, match=f"'user_turn', which the backend '{backend}' cannot call"):
            build(replace(caller(), name=f"of_{backend}"), backend)
    with pytest.raises(UnsupportedError, match="'user_turn', which CUDA cannot call"):
        export_cuda([caller()], "model")


def test_wrong_calls_are_refused() -> None:
    loop = LoopBuilder("wrong", {"x": (3,)}, {"y": (3,)})
    with pytest.raises(CompileError, match="expected letters, digits and single underscores"):
        loop.foreign("system('x')", [loop["x"]], [loop["y"]])
    with pytest.raises(CompileError, match="has no outputs"):
        loop.foreign("user_turn", [loop["x"]], [])
    with pytest.raises(CompileError, match="'x' cannot be written to"):
        loop.foreign("user_turn", [loop["y"]], [loop["x"]])
    loop.foreign("user_turn", [loop["x"]], [loop["y"]])
    with pytest.raises(CompileError, match=r"sizes \(\(3,\), \(3,\)\) and of sizes \(\(3,\), \(1,\)\)"):
        loop.foreign("user_turn", [loop["x"]], [loop["y"][0]])
    with pytest.raises(CompileError, match="'user_other', which may keep memory"), loop.repeat(3, apart=True) as i:
        loop.foreign("user_other", [loop["x"][i]], [loop["y"][i]])
