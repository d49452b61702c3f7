"""Emitted MATLAB computes what the interpreter computes: run by GNU Octave where that is, and as Python everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.codegen.backends.text.matlab import LANGUAGE, export_matlab
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.errors import UnsupportedError
from kinemorph.model.configuration import random_configuration
from kinemorph.vocabulary.ops import OPS
from support.cases.emitted import (
    ATTACKS,
    arguments_for,
    blocks_program,
    meant,
    negated,
    nested_program,
    newton_program,
    program_of,
    random_program,
    same,
)
from support.tools.each_case import each_case
from support.tools.matlab_in_python import loaded

GOLDEN = Path(__file__).parents[1] / "golden"


# ── what the text computes ────────────────────────────────────────────────────────────────────────────────────────────


@each_case("op", OPS)
def test_every_op_is_the_interpreters(op: str) -> None:
    plain = program_of(op)
    arguments = arguments_for(op, 20)
    for program in (plain, negated(plain)):
        function = loaded(replace(program, name="f"))
        got = [function(*numbers)[0] for numbers in zip(*arguments, strict=True)]
        fits = same(got, meant(program, *arguments)[0])
        worst = np.argmin(fits)
        assert fits.all(), f"{op}{tuple(a[worst] for a in arguments)} = {got[worst]}"


@each_case("seed", range(10))
def test_random_programs(seed: int) -> None:
    program = random_program(seed)
    rng = np.random.default_rng(seed)
    q, M = rng.normal(size=4), rng.normal(size=(1, 3))
    for got, expected in zip(loaded(program)(q, M), meant(program, q, M), strict=True):
        assert same(got, expected, ulps=1e6).all()


@pytest.mark.parametrize("make", [blocks_program, newton_program, nested_program])
def test_blocks_and_loops(make: Any) -> None:
    program = make()
    rng = np.random.default_rng(3)
    for sign in (1.0, -1.0):
        arrays = [sign * np.abs(rng.normal(size=port.shape)) * 3.0 + 0.1 for port in program.inputs]
        for got, expected in zip(loaded(program)(*arrays), meant(program, *arrays), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "forward_kinematics"])
def test_functions_of_a_robot(name: str) -> None:
    robot = library.hexapod24()
    program = getattr(derive(robot, backend="interpreter"), name).program
    rng = np.random.default_rng(0)
    arrays = [random_configuration(robot, rng), *rng.normal(size=(2, robot.nv))][: len(program.inputs)]
    (got,) = loaded(program)(*arrays)
    np.testing.assert_allclose(got, meant(program, *arrays)[0], rtol=1e-12, atol=1e-12)


def test_rows_are_taken_for_columns_and_wrong_sizes_are_named() -> None:
    program = derive(library.puma(), backend="interpreter").gravity_forces.program
    q = np.arange(6.0)
    np.testing.assert_array_equal(loaded(program)(q.reshape(1, 6))[0], loaded(program)(q)[0])
    with pytest.raises(ValueError, match="input q has 5 entries; expected 6"):
        loaded(program)(q[:5])


def test_single_precision_is_asked_for_in_the_text() -> None:
    ((_, text),) = export_matlab([program_of("sin")], "x", precision="float32").items()
    assert "single(reshape(x0, 1, 1))" in text and "zeros(1, 1, 'single')" in text
    with pytest.raises(UnsupportedError, match="'half'"):
        export_matlab([program_of("sin")], "x", precision="half")


# ── the text itself ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_stable(request: pytest.FixtureRequest) -> None:
    robot = library.double_pendulum()
    program = derive(robot, backend="interpreter").mass_matrix.program
    written = export_matlab([program], robot.name)
    path = GOLDEN / "double_pendulum_mass_matrix.m"
    if request.config.getoption("--update-golden"):
        path.write_text(written[path.name])
    assert written == {path.name: path.read_text()}


STATEMENT = re.compile(
    r"(function |    )|%[ -~]*|end|"
    r" *(if|while|elseif) [\w(){}<>=~&| .+*-]+| *else| *end| *for \w+ = [\w+*: -]+|"
    r" *error\('input \w+ has %d entries; expected \d+', numel\(\w+\)\);|"
    r" *[\[\w(), +*:\]-]+ = [\w()\[\];,.^+*/<>=~: '-]+;|function [\[\w, \]]+ = \w+\([\w, ]*\)"
)


@each_case("attack", ATTACKS)
def test_names_of_a_model_do_nothing_in_the_text(attack: str) -> None:
    plain = program_of("pow")
    ports = (Port(attack, ()), Port(attack + attack, ()))
    renamed = Program(f"{attack}.{attack}[{attack}]", ports, (Port(attack, ()),), plain.graph, plain.refs)
    files = export_matlab([renamed, replace(renamed)], attack)
    assert len(files) == 2
    for file, text in files.items():
        assert text.isascii() and re.fullmatch(r"[A-Za-z]\w{0,62}\.m", file)
        assert text.startswith("function ") and f"= {file.removesuffix('.m')}(" in text.splitlines()[0]
        for line in text.splitlines():
            assert not line or STATEMENT.fullmatch(line), line
        assert all(len(word) <= 63 for word in re.findall(r"\w+", re.sub(r"%.*", "", text)))
        assert not set(re.findall(r"\w+", text.splitlines()[0].partition(" ")[2])) & set(LANGUAGE.reserved)
    assert loaded(renamed, attack)(2.0, 3.0)[0] == 8.0


# ── GNU Octave ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(shutil.which("octave") is None, reason="GNU Octave is not installed")
def test_octave_agrees(tmp_path: Path) -> None:
    robot = library.puma()
    dynamics = derive(robot, backend="interpreter")
    programs = [dynamics.mass_matrix.program, dynamics.inverse_dynamics.program, blocks_program(), nested_program()]
    rng = np.random.default_rng(0)
    commands, expected = [], []
    for (file, text), program in zip(export_matlab(programs, "puma").items(), programs, strict=True):
        (tmp_path / file).write_text(text)
        arrays = [np.abs(rng.normal(size=port.shape)) + 0.1 for port in program.inputs]
        given = ", ".join(f"reshape([{spelled(a)}], {np.atleast_1d(a).shape[0]}, [])" for a in arrays)
        names = [f"r{k}" for k in range(len(program.outputs))]
        commands.append(f"[{', '.join(names)}] = {file.removesuffix('.m')}({given});")
        commands += [f"printf('%.17g\\n', {name});" for name in names]
        expected += [np.ravel(out, order="F") for out in meant(program, *arrays)]
    command = ["octave", "--no-gui", "--norc", "--eval", "\n".join(commands)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    got = np.array([float(line) for line in done.stdout.split()])
    np.testing.assert_allclose(got, np.concatenate(expected), rtol=1e-12, atol=1e-12)


def spelled(numbers: np.ndarray) -> str:
    return " ".join(map(repr, np.ravel(numbers, order="F").tolist()))
