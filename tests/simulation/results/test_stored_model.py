"""Files of runs hold their model (finding D14): what needs it works without model=, and what has none says why."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Trajectory, library, load, load_text, load_trajectory, simulate
from kinemorph.errors import ModelWarning, StorageError, UnsupportedError
from kinemorph.loops import Baumgarte
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.modules import Dock, Undock, assemble

CLOSED = [0.6, 0.02989836, 1.6066907]  # of the four-bar linkage
SPRUNG = """
kinemorph = 1
name = "sprung"
[parameters]
k = 30.0
[bodies.rod]
mass = 1.0
com = [0.5, 0.0, 0.0]
inertia = [0.01, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
parent = "world"
child = "rod"
axis = [0, 1, 0]
[elements.spring]
kind = "torsion spring"
joint = "hinge"
stiffness = "k"
"""


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return simulate(library.double_pendulum(), 0.1, q=[0.5, 0.2], output_step=0.05)


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_a_loaded_run_is_shown_and_computed_without_its_model(run: Trajectory, tmp_path: Path, ending: str) -> None:
    back = load_trajectory(run.save(tmp_path / f"run.{ending}"))
    assert back.segments[0].plant.system == System(library.double_pendulum())
    assert np.array_equal(back.reactions("q2"), run.reactions("q2"))
    assert np.array_equal(back["position.link2.x"], run["position.link2.x"])
    assert np.array_equal(back.momentum, run.momentum) and np.array_equal(back.body_poses(), run.body_poses())
    assert back.replay().scene.figures
    other = library.double_pendulum((2.2, 1.8))  # what is given takes the place of what is in the file
    with pytest.warns(ModelWarning):
        again = load_trajectory(tmp_path / f"run.{ending}", other)
    assert not np.allclose(again.reactions("q2"), run.reactions("q2"))


def test_a_given_model_with_other_numbers_is_told_by_name(run: Trajectory, tmp_path: Path) -> None:
    path, table = run.save(tmp_path / "run.npz"), run.save(tmp_path / "run.csv")
    with pytest.warns(ModelWarning) as told:
        load_trajectory(path, library.double_pendulum((2.2, 1.8)))
    assert str(told[0].message) == (
        f"'{path}': the given model 'double_pendulum' is not that of the run in this file: value of 'm1', value of "
        "'m2' differ. What is computed from it now does not fit the motion. Leave model out to use that of the file."
    )
    sprung, stiff = load_text(SPRUNG, "toml"), load_text(SPRUNG.replace("k = 30", "k = 40"), "toml")
    heavy = load_text(SPRUNG.replace("mass = 1.0", "mass = 1.5"), "toml")
    kept = simulate(sprung, 0.05, p={"k": 20.0}, q=[0.3]).save(tmp_path / "sprung.npz")
    with pytest.warns(ModelWarning, match="mass of 'rod' differs. What"):
        load_trajectory(kept, heavy)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        load_trajectory(kept, stiff)  # whose parameter has the value of the run
        load_trajectory(path, library.double_pendulum())
        load_trajectory(table, library.double_pendulum((2.2, 1.8)))  # a table has names alone


def test_the_same_run_gives_the_same_bytes_with_its_model(run: Trajectory, tmp_path: Path) -> None:
    first = run.save(tmp_path / "a.npz").read_bytes()
    assert load_trajectory(tmp_path / "a.npz").save(tmp_path / "b.npz").read_bytes() == first


def test_the_options_of_the_run_are_those_of_its_model(tmp_path: Path) -> None:
    system = load_text(SPRUNG, "toml")
    cases: list[tuple[Any, dict[str, Any]]] = [
        (system, {"p": {"k": 20.0}, "q": [0.3]}),  # a parameter is an input of the plant
        (library.double_pendulum(), {"locked": "q2", "q": [0.3, 0.0]}),
        (library.four_bar(), {"loops": "partitioning", "q": CLOSED}),  # which keeps its choice in the memory
        (library.four_bar(), {"loops": Baumgarte(3.0, 4.0), "q": CLOSED}),
    ]
    for model, options in cases:
        run = simulate(model, 0.05, output_step=0.05, **options)
        back = load_trajectory(run.save(tmp_path / "run.npz"))
        plant, before = back.segments[0].plant, run.segments[0].plant
        assert (plant.p, plant.m, plant.locked, plant.loops) == (before.p, before.m, before.locked, before.loops)
        joint = plant.robot.joint_names[0]  # type: ignore[union-attr]
        assert back.reactions(joint) == pytest.approx(run.reactions(joint), abs=1e-12)


def test_what_a_file_cannot_hold_is_said(run: Trajectory, tmp_path: Path) -> None:
    pushed = simulate(library.pendulum(), 0.1, forces=lambda t: [0.1], output_step=0.1)
    cases = {
        "because functions in Python take part in it, which no file can contain": pushed.save(tmp_path / "a.npz"),
        "because a table holds no model": run.save(tmp_path / "a.csv"),
        "because a model file cannot express element 'balance': its type Sampled is not known in model files": (
            simulate(library.segway(), 0.02).save(tmp_path / "s.npz")
        ),
    }
    for sentence, path in cases.items():
        back = load_trajectory(path)
        with pytest.raises(UnsupportedError, match=sentence):
            back.reactions(library.pendulum().joint_names[0])
        with pytest.raises(UnsupportedError, match=f"{sentence}.*Give the model: load_trajectory"):
            back.body_poses()
    assert load_trajectory(tmp_path / "a.npz", library.pendulum()).body_poses().shape[0] == 2


def changed(path: Path, **models: Any) -> Path:
    """The file of a run with another entry for its model."""
    with zipfile.ZipFile(path) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    kept = {name.removesuffix(".npy"): np.load(path)[name.removesuffix(".npy")] for name in arrays}
    meta = json.loads(str(kept.pop("meta")))
    meta["models"] = [models]
    np.savez(path, meta=np.array(json.dumps(meta)), **kept)
    return path


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bodies = [", "the model in it has an error"),
        ("kinemorph = 1\nname = 'empty'\n", "the model in it has an error"),
        (7, "the model in it is no text of at most 64000000 characters. Give model= to load it"),
        (SPRUNG, "is a run of 'double_pendulum', whose q are .'q1', 'q2'.; those of the given model 'sprung'"),
    ],
)
def test_a_damaged_model_gives_a_sentence(run: Trajectory, tmp_path: Path, text: Any, sentence: str) -> None:
    path = changed(run.save(tmp_path / "run.npz"), text=text)
    with pytest.raises(StorageError, match=sentence):
        load_trajectory(path)
    assert np.array_equal(load_trajectory(path, library.double_pendulum()).q, run.q)  # model= takes its place


def test_nothing_in_a_file_is_compiled_when_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Security: the text of a model is data, also where it names code."""

    def refuse(*given: Any, **options: Any) -> None:
        raise AssertionError("a program was started")

    path = simulate(load_text(SPRUNG, "toml"), 0.02, output_step=0.02).save(tmp_path / "run.npz")
    monkeypatch.setattr("subprocess.Popen", refuse)
    (tmp_path / "evil.c").write_text("#error never compiled")
    code = 'kind = "c controller"\nsource = "evil.c"\nfunction = "run"\nreads = "q.hinge"\ndrives = "hinge"\n'
    text = f'{SPRUNG}[elements.code]\n{code}every = "10 ms"\nmemory = {{ i = 0.0 }}\n'
    with pytest.raises(
        StorageError, match=r"is a run of 'sprung', whose m are .*; those of the given model 'sprung' are"
    ):
        load_trajectory(changed(path, text=text))  # it has been read, and has other names


def test_a_mesh_is_named_from_the_folder_of_the_run(tmp_path: Path) -> None:
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    lines = ["solid part"]
    for face in faces:
        lines += [
            "facet normal 0 0 1",
            "outer loop",
            *(f"vertex {x} {y} {z}" for x, y, z in (corners[k] for k in face)),
        ]
        lines += ["endloop", "endfacet"]
    (tmp_path / "part.stl").write_text("\n".join([*lines, "endsolid part"]))
    text = SPRUNG + '[[bodies.rod.shapes]]\nkind = "mesh"\nfile = "part.stl"\n'
    (tmp_path / "arm.toml").write_text(text)
    run = simulate(load(tmp_path / "arm.toml"), 0.02, output_step=0.02)
    back = load_trajectory(run.save(tmp_path / "runs" / "run.npz"))
    robots: list[Robot] = [one.segments[0].robot for one in (run, back) if one.segments[0].robot is not None]
    assert robots[0].bodies[0].shapes[0].path == robots[1].bodies[0].shapes[0].path  # type: ignore[union-attr]


def test_a_docked_run_goes_on_from_its_file(tmp_path: Path) -> None:
    start = assemble([("left", 3, "m1", 4)], modules={"left": "B", 1: "B"}, base="left")
    system = start.system(gravity=(0.0, 0.0, 0.0))
    events = [Undock("left", 3, at=0.02), Dock("m1", 5, "left", 3, at=0.03, distance=0.2, angle=2.5, turn=1)]
    run = simulate(system, 0.04, v={"left_root.wz": 0.5, "m1_hinge": 0.3}, events=events)
    back = load_trajectory(run.save(tmp_path / "run.npz"))
    assert np.array_equal(simulate(system, 0.06, start=back).q, simulate(system, 0.06, start=run).q)
    table = load_trajectory(run.save(tmp_path / "run.csv"))
    with pytest.raises(
        UnsupportedError,
        match=r"start: the run of 'organism' docks, and comes from a file without its model, because a table holds no "
        r"model; so what is docked at its end is not known. Give the system with which it began: load_trajectory\(path",
    ):
        simulate(system, 0.06, start=table)
