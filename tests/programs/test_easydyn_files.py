"""Files in EasyDyn's formats, which programs write: the same as those that a run in Python saves and animates.

SEEDS 001-12: results for gnuplot (.res), scenes (.vol) and their frames (.van).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, RobotBuilder, System
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.easyanim import write_van
from kinemorph.display.scenes.program_scene import with_scene
from kinemorph.elements import Contact, EasyDynNormal, Plane, SpringLeg
from kinemorph.errors import ModelWarning, UnsupportedError
from kinemorph.model.parameter import TIME
from kinemorph.model.shapes import MeshFile
from kinemorph.programs import make_job, write_program
from kinemorph.simulation.results.body_poses import body_poses
from support.cases.c_programs import needs_cc
from support.cases.program_cases import Case
from support.tools.command_line import parsed
from support.tools.program_languages import (
    ROUGH,
    WRITERS,
    Program,
    c_program,
    has_language,
    python_program,
    run_program,
)

UNTIL, OPTIONS = 0.2, {"q": [0.5, 0.2], "output_step": 0.02}


def swing() -> System:
    """Two links with a spring and a damper between them; a second spring holds the lower link from the ground."""
    inside = kinemorph.elements.Spring("inside", "link1", "link2", 10.0, damping=0.1, point_b=(0.0, 0.0, -0.4))
    outside = kinemorph.elements.Spring("outside", "world", "link2", 10.0, point_a=(0.0, 0.0, 0.4))
    return System(kinemorph.library.double_pendulum(), (inside, outside))


@pytest.fixture(scope="module", params=[pytest.param("c", marks=needs_cc), "python"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program of the swing with its shapes, after a run that has written files of all kinds into its folder."""
    job, folder = with_scene(make_job(swing(), UNTIL, **OPTIONS)), tmp_path_factory.mktemp("swing")
    program = c_program(job, folder, ROUGH) if request.param == "c" else python_program(job, folder)
    run_program(program, "--res", str(folder / "it's.res"), "--van", str(folder / "found.van"))
    return program


@pytest.fixture(scope="module")
def run() -> kinemorph.Trajectory:
    return kinemorph.simulate(swing(), UNTIL, **OPTIONS)


def test_a_res_file_has_the_columns_of_a_saved_run(written: Program, run: kinemorph.Trajectory, tmp_path: Path) -> None:
    """The .res file of a program, and a script that plots it."""
    file = written.folder / "it's.res"
    run.save(tmp_path / "saved.res")
    wanted, found = np.loadtxt(tmp_path / "saved.res"), np.loadtxt(file)
    titles = file.read_text().splitlines()[0].split("  ")
    known = (tmp_path / "saved.res").read_text().splitlines()[1].split("  ")
    count = 1 + 3 * 2 + 2  # t, then q, v, a and u; states that count energy follow, with other names in a run
    assert titles[:count] == known[:count] and all(title.startswith("x.") for title in titles[count:])
    assert np.abs(found[:, :count] - wanted[:, :count]).max() < 1e-9
    script = (written.folder / "it's.plt").read_text()
    assert "it''s.res' using 1:2 with lines title 'q.q1 [rad]', \\\n" in script and "using 1:5" in script
    for title in titles[1:]:  # R5, 001-14: rates and accelerations as well, each kind with a pause, or as PostScript
        assert f"title '{title}'" in script
    assert script.count("pause -1") == 5 and "set terminal postscript" in script and "it''s.ps'" in script
    _plotted(written.folder / "it's.plt")
    _plotted(tmp_path / "saved.plt")
    saved = (tmp_path / "saved.plt").read_text()
    assert all(f"'{group}.q1 [" in saved for group in ("q", "v", "a", "tau"))


def _plotted(script: Path) -> None:
    """Writes the PostScript file of a script, where gnuplot is installed."""
    if shutil.which("gnuplot"):
        done = subprocess.run(
            ["gnuplot", "-e", "postscript=1", script.name],
            cwd=script.parent,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr  # a warning says that a column of zeros has no range
        assert script.with_suffix(".ps").read_text().startswith("%!PS")


def test_scenes_are_those_of_animate(written: Program, run: kinemorph.Trajectory) -> None:
    """Shapes and frames of links, springs that stretch, and bolts on the ground, beside `animate` at the same times."""
    kinemorph.animate(run, written.folder / "wanted.van", fps=50.0)
    same_scene(written.folder)
    message = run_program(written, "--van", "x.vol", code=2)[1]
    assert "--van is 'x.vol'; expected the name of a file that ends in .van." in message


def same_scene(folder: Path, bound: float = 1e-6) -> None:
    """Compares found.van and found.vol with wanted.van and wanted.vol: texts, and numbers of seven digits."""
    for ending in (".vol", ".van"):
        found, wanted = ((folder / f"{name}{ending}").read_text(encoding="ascii") for name in ("found", "wanted"))
        assert found.count("\n") == wanted.count("\n")
        for one, other in zip(found.splitlines(), wanted.splitlines(), strict=True):
            if one != other:
                pairs = list(zip(one.split(), other.split(), strict=True))
                assert all(a == b for a, b in pairs[:-3]) and len(pairs) >= 3
                assert all(abs(float(a) - float(b)) <= bound for a, b in pairs[-3:])


@needs_cc
def test_coordinates_without_rates_of_their_own_are_refused(tmp_path: Path) -> None:
    """A program without shapes has no scenes."""
    builder = kinemorph.RobotBuilder("top").add(kinemorph.Body.sphere("top", 1.0, 0.1))
    job = make_job(builder.joint("ball", "spherical", "world", "top").build(), 0.1)
    program = c_program(job, tmp_path, ROUGH)
    message = run_program(program, "--res", "top.res", code=2)[1]
    assert message.startswith("error: --res has q, its rate and its acceleration") and "Use --output." in message
    message = run_program(program, "--van", "top.van", code=2)[1]
    assert message == "error: --van has no effect: this program has no shapes. Write it again with its scene.\n"


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    plant = kinemorph.plants.first_order(lambda t, x: [-x[0]], {"a": "1"}, start=[1.0])
    with pytest.raises(UnsupportedError, match="has no robot, and so no shapes to draw"):
        with_scene(make_job(plant, 1.0))
    box = Body.box("box", 1.0, (0.1, 0.1, 0.1))
    lost = replace(box, shapes=(*box.shapes, MeshFile(str(tmp_path / "lost.stl"))))
    with pytest.warns(ModelWarning, match=r"a mesh is not drawn: mesh .*lost\.stl': the file was not found"):
        with_scene(make_job(RobotBuilder("r").add(lost).joint("hinge", "revolute", "world", "box").build(), 1.0))
    job = with_scene(make_job(kinemorph.library.pendulum(), 1.0))
    for target in ("matlab", "fmu3"):
        with pytest.raises(UnsupportedError, match=f"the target '{target}' writes no scenes"):
            write_program(job, target, tmp_path)


# ── other carriers ────────────────────────────────────────────────────────────────────────────────────────────────────


def leg() -> Case:
    """A ball on a massless leg with a spring, which flies, stands and flies."""
    ball = RobotBuilder('runner "%d" ??/').add(Body.sphere("ball", 1.0, 0.1))
    robot = ball.joint("free", "free", "world", "ball").build()
    hop = System(robot, (SpringLeg("leg", "ball", 2e3, 0.5, direction=(0.2, 0.0, -1.0)),))
    return Case(hop, 0.8, {"q": [0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0], "v": {"free.vx": 0.5}})


def slope() -> Case:
    """A ball is held on a slope, which is drawn around it."""
    ball = RobotBuilder("ball").add(Body.sphere("ball", 1.0, 0.1))
    robot = ball.joint("free", "free", "world", "ball").build()
    ground = Plane((0.0, 0.0, 0.0), (0.2, 0.0, 1.0))
    skin = Contact("skin", "ball", EasyDynNormal(1e4, 1e4), radius=0.1, ground=ground)
    return Case(System(robot, (skin,)), 0.1, {"locked": "free"})


def driven() -> Case:
    """A hinge that the time drives carries one that swings."""
    builder = RobotBuilder("carousel").add(Body.box("arm", 1.0, (0.5, 0.1, 0.1)), Body.box("bob", 1.0, (0.1, 0.1, 0.4)))
    builder.joint("drive", "revolute", "world", "arm", axis=(0.0, 0.0, 1.0), driven=2.0 * TIME)
    return Case(builder.joint("swing", "revolute", "arm", "bob", axis=(0.0, 1.0, 0.0)).build(), 0.5, {"q": [0.3]})


CASES: dict[str, Callable[[], Case]] = {"leg": leg, "slope": slope, "driven": driven}


@pytest.mark.slow
@needs_cc
@pytest.mark.parametrize("name", CASES)
def test_every_carrier_is_where_it_is_in_python(name: str, tmp_path: Path) -> None:
    """Legs in flight and in stance, bodies that the time drives, and free bodies."""
    case = CASES[name]()
    options: Any = {**case.options, "output_step": 0.02}
    run = kinemorph.simulate(case.model, case.until, **options)
    program = c_program(with_scene(make_job(case.model, case.until, **options)), tmp_path)
    samples, _ = run_program(program, "--van", str(tmp_path / "found.van"))
    assert np.array_equal(samples[:, 0], run.t)
    write_van(scene_of(run, times=run.t), tmp_path / "wanted.van")
    same_scene(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp", "python"])
def test_a_length_that_is_set_moves_the_bodies(language: str, tmp_path: Path) -> None:
    """Nodes keep their places on their bodies, whose poses are those of a run with this value."""
    if has_language(language):
        pytest.skip(has_language(language))
    robot, options = kinemorph.library.double_pendulum(), {"q": [0.5, 0.2], "output_step": 0.02}
    job = with_scene(make_job(robot, 0.1, parameters="all", **options))
    run_program(WRITERS[language](job, tmp_path), "--van", str(tmp_path / "found.van"), "--set", "p.l1=1.5")
    plant = kinemorph.plants.plant(robot, parameters="all")
    poses = body_poses(kinemorph.simulate(plant, 0.1, p={"l1": 1.5}, **options), names=job.drawing.bodies)
    nodes, size = np.array(job.drawing.nodes), len(job.drawing.nodes)
    found = np.loadtxt(tmp_path / "found.van").reshape(len(poses), size, 3)
    carrier, places = nodes[:, 0].astype(int), nodes[:, 1:]
    whole = np.concatenate([poses, np.broadcast_to(np.eye(4), (len(poses), 1, 4, 4))], axis=1)  # the world is the last
    T = whole[:, carrier]
    assert np.abs(found - (np.einsum("nkij,kj->nki", T[..., :3, :3], places) + T[..., :3, 3])).max() < 1e-6


@pytest.mark.slow
@needs_cc
def test_the_verb_puts_shapes_into_a_program(tmp_path: Path) -> None:
    data = parsed("program", "pendulum", "--scene", "--output", str(tmp_path))
    assert "pendulum_scene.c" in str(data)
