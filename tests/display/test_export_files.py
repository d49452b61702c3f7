"""Exports as bytes: code, programs, models, pictures and replays, with what could not be carried over."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import load
from kinemorph.display.exports.emitted_forms import FORMS
from kinemorph.display.exports.export_files import (
    Exported,
    archive,
    as_download,
    available_pictures,
    code_files,
    model_files,
    picture_files,
    program_files,
    replay_files,
    written_formats,
)
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.formats.assemble import reassembled
from kinemorph.model.library.choosing import choose
from kinemorph.programs.program_files import TARGETS

MODELS = [
    "four_bar",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("double_pendulum", "organism9")),
]


@pytest.mark.parametrize("name", MODELS)
def test_every_form_of_code_is_exported(name):
    """000-16: formulas and source code in every form, each with its bytes; two files become one archive."""
    for form in (form for form, row in FORMS.items() if row.write and form != "llvm"):
        made = code_files(choose(name), form, ["mass_matrix"])
        assert all(made.files.values()), form
        file, data, _ = as_download(made, name)
        assert file.endswith(".zip") == (len(made.files) > 1) and data
    ((_, text),) = code_files(choose(name), "python").files.items()
    assert "inverse_dynamics" in {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", MODELS)
def test_models_are_read_back(name, tmp_path):
    """A model that is exported in a format has the same joints, or a note names what is left out."""
    system = choose(name)
    for form in written_formats():
        try:
            made = model_files(system, form)
        except KinemorphError as error:
            assert form in ("dh", "cagem") and "TOML" in str(error)  # refused with the remedy
            continue
        folder = tmp_path / form
        folder.mkdir()
        for file, data in made.files.items():
            (folder / file).write_bytes(data)
        if form == "toml":
            assert load(folder / next(iter(made.files))).robot.joint_names == system.robot.joint_names
            assert not made.notes
        if form == "urdf" and system.assembly is not None:
            assert any("dockings" in note for note in made.notes)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(target, marks=() if target == "python" else pytest.mark.slow)
        for target in TARGETS
        if not target.startswith("fmu")
    ],
)
def test_programs_are_exported(target):
    """000-18: a program in every language; the four-bar starts with its loop closed, though no state is given."""
    made = program_files(choose("four_bar"), target, 0.1)
    assert len(made.files) > 1
    _, data, media = as_download(made, "four_bar")
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert {file: opened.read(file) for file in opened.namelist()} == made.files
    assert media == "application/zip" and data == as_download(made, "four_bar")[1] == archive(made.files)


@pytest.mark.slow
def test_a_program_carries_out_a_run_of_the_file(tmp_path):
    """000-18: the exported Python program takes the steps of the run [runs.fast], to the last printed digit."""
    fast = {"method": "heun", "step": 0.01, "time": 0.5, "q": [0.3, 0.2]}
    system = replace(choose("double_pendulum"), runs={"fast": fast})
    for file, data in program_files(system, "python", run="fast").files.items():
        (tmp_path / file).write_bytes(data)
    told = subprocess.run([sys.executable, "double_pendulum.py"], cwd=tmp_path, capture_output=True, text=True)
    rows = np.array([line.split(",") for line in told.stdout.splitlines()[1:]], dtype=float)
    run = system.run("fast")
    assert np.array_equal(rows[:, 0], run.t)
    assert np.abs(rows[:, 1:] - np.hstack([run.q, run.v])).max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("target", ["fmu2", "fmu3"])
def test_functional_mockup_units_are_exported(target):
    ((file, data),) = program_files(choose("double_pendulum"), target, 0.1).files.items()
    assert file.endswith(".fmu")
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert "modelDescription.xml" in opened.namelist()


@pytest.mark.slow
def test_pictures_and_replays_are_exported():
    organism = choose("organism9")
    assert set(available_pictures(organism)) == {"robot", "plan", "poles"}
    assert set(available_pictures(choose("four_bar"))) == {"robot", "equations", "poles"}
    (png,) = picture_files(organism, "plan", "png").files.values()
    (svg,) = picture_files(organism, "plan", "svg").files.values()
    assert png.startswith(b"\x89PNG") and b"<svg" in svg
    (page,) = replay_files(organism).files.values()
    assert page.lower().startswith(b"<!doctype html>")


def test_wrong_choices_are_named():
    system = choose("pendulum")
    for function, wrong in [(code_files, "fortran"), (model_files, "usd"), (program_files, "rust")]:
        with pytest.raises(UnsupportedError, match=rf"is '{wrong}'; expected one of: \w+"):
            function(system, wrong)
    with pytest.raises(UnsupportedError, match="picture is 'plan'; expected one of"):
        picture_files(system, "plan")
    assert as_download(Exported({"a.txt": b"1"}), "x") == ("a.txt", b"1", "text/plain; charset=utf-8")


def test_modules_are_assembled_again_with_other_dyads_and_roots():
    """The mass of an organism does not depend on how it is divided into bodies or joined to the world."""
    system = choose("organism9")
    whole = system.robot.total_mass
    adapted = reassembled(system, dyads="adapted", root=("x", "ry"))
    assert adapted.robot.total_mass == pytest.approx(whole, rel=1e-12)
    assert set(system.assembly.names) <= set(adapted.robot.body_names)  # each module is one body
    assert [name for name in adapted.robot.joint_names if name.startswith("virtual_")] == ["virtual_x", "virtual_ry"]
    fixed = reassembled(system, root="fixed", base="m3")
    assert np.isclose(fixed.robot.total_mass, whole) and fixed.robot.nv == system.robot.nv - 6
    assert reassembled(system) is system
    with pytest.raises(KinemorphError, match="expected an Assembly"):
        reassembled(choose("pendulum"), root="free")
