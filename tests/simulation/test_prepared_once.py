"""What runs are made from is made once for each model: contacts, hulls of meshes and the plant."""

from __future__ import annotations

import inspect
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, System, library, simulate, simulate_batch
from kinemorph.elements import Contact, HuntCrossley
from kinemorph.errors import GroundWarning, OptionWarning, UnsupportedError
from kinemorph.live import LiveRun
from kinemorph.model.body import Body
from kinemorph.model.shapes import Box, MeshFile
from kinemorph.model.system import Settings
from kinemorph.plants.robot_plant import plant
from kinemorph.programs import make_job
from kinemorph.simulation import planned_run
from kinemorph.simulation.planned_run import prepared_run, run_planned
from kinemorph.simulation.running import buried_start


def boxed() -> System:
    builder = RobotBuilder("boxed").add(Body.box("hull", 1.0, (0.2, 0.2, 0.2)))
    return System(builder.joint("root", "free", "world", "hull").build())


def test_a_plan_equips_a_system_once_for_each_choice() -> None:
    system = boxed()
    first, again = (prepared_run(system, {"time": time}) for time in (1.0, 2.0))
    assert first.system is again.system and again.until == 2.0 and first.notes == again.notes
    placed = prepared_run(system, {"time": 1.0, "q": {"root.z": 1.0}})
    assert placed.system is not first.system and placed.system.settings.q == ()
    assert prepared_run(system, {"time": 1.0, "ground": True}).system.settings.ground is True
    assert prepared_run(system).system.settings.ground is None


def test_a_mesh_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """A system that had run kept the hull of the file as it was."""
    pytest.importorskip("trimesh")
    path = tmp_path / "part.obj"
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 -{}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    part = replace(Body.box("part", 1.0, (0.2, 0.2, 0.2)), collisions=(MeshFile("part.obj", str(path)),))
    builder = RobotBuilder("part").add(part).joint("root", "free", "world", "part")
    system, deepest = System(builder.build(), settings=Settings(ground=True)), []
    for length in (0.25, 0.375):
        path.write_text(corners.format(length))
        os.utime(path, ns=(0, int(1e9 * length)))
        made = prepared_run(system, {"time": 1.0}).system.elements[0].shape
        deepest.append(min(z for *_, z in made.vertices))
    assert deepest == [-0.25, -0.375]


def test_each_choice_of_a_plan_has_a_system_of_its_own() -> None:
    rod = Body.box("rod", 1.0, (0.2, 0.2, 0.2))
    builder = RobotBuilder("arm").add(replace(rod, collisions=rod.shapes))
    builder.joint("j", "revolute", "world", "rod", axis=(0, 1, 0), lower=-0.5, upper=0.5, friction=0.3)
    system = System(builder.build(), settings=Settings(ground=True))
    for off in ("limits", "friction", "contacts"):
        with_it, without = (
            [type(one).__name__ for one in prepared_run(system, {"time": 1.0, off: on}).system.elements]
            for on in (True, False)
        )
        assert {*with_it} - {*without} == {{"limits": "JointLimits", "friction": "JointFriction"}.get(off, "Contact")}


def test_starts_that_passed_are_not_checked_again_and_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    contact = Contact("feet", "hull", HuntCrossley(1e5), shape=Box((0.2, 0.2, 0.2)))
    system = System(boxed().robot, (contact,))
    asked: list[str] = []
    depths = buried_start._depths
    monkeypatch.setattr(buried_start, "_depths", lambda one, *more: asked.append(one.name) or depths(one, *more))
    for z, calls in ((1.0, 0), (0.0999, 1), (0.0999, 1), (0.0998, 2)):
        simulate(system, 1e-3, q={"root.z": z}, output_step=1e-3)
        assert len(asked) == calls
    for _ in range(2):
        with pytest.warns(GroundWarning, match="'feet' by about 70 mm"):
            simulate(system, 1e-3, q={"root.z": 0.03}, output_step=1e-3)


@pytest.mark.parametrize(("make", "most"), [(plant, 25), (System, 28)])
def test_a_repeated_run_passes_few_files(make: Any, most: int) -> None:
    """It passed 39 of a plant and 41 of a system: what a plant cannot need is found by its first run."""
    model, root, passed = make(library.pendulum()), os.path.dirname(kinemorph.__file__), set()
    simulate(model, 0.1)
    sys.setprofile(lambda frame, event, _: passed.add(frame.f_code.co_filename) if event == "call" else None)
    simulate(model, 0.1)
    sys.setprofile(None)
    files = sorted(os.path.relpath(name, root) for name in passed if name.startswith(root))
    assert 15 < len(files) <= most, files


def test_kept_options_of_steps_are_those_of_equal_options_only() -> None:
    made = plant(library.double_pendulum())
    asked: list[dict[str, Any]] = [
        {},
        {"rtol": 1e-4},
        {"rtol": 1e-4, "max_step": 0.01},
        {"method": "rk4", "step": 0.02},
    ]
    for options in (*asked, *asked[::-1], {"step": 1}, {"step": 1.0}):
        run, fresh = (simulate(one, 1.0, v=[1.0, 0.5], **options) for one in (made, plant(library.double_pendulum())))
        assert np.array_equal(run.q, fresh.q) and run.settings == fresh.settings
        assert type(run.settings["step"]) is type(options.get("step"))
    for _ in range(2):
        with pytest.warns(OptionWarning, match="rtol=0.001 has no effect: all steps of method 'rk4' have the size"):
            simulate(made, 0.1, method="rk4", step=0.02, rtol=1e-3)


def test_signatures_list_all_options_and_other_names_are_refused() -> None:
    for function, least in ((simulate, 26), (simulate_batch, 23), (make_job, 24), (LiveRun, 17)):
        listed = inspect.signature(function).parameters
        assert len(listed) >= least and "options" not in listed
        assert listed["locked"].default == () and listed["rtol"].annotation == "float | None"
    robot = library.pendulum()
    with pytest.raises(
        TypeError, match=r"simulate\(\) got an unexpected keyword argument 'metod'. Did you mean 'method'\?"
    ):
        simulate(robot, 0.1, metod="rk4")
    for function in (simulate_batch, make_job):
        with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'callback'"):
            function(robot, 0.1, callback=print)
    before = simulate(robot, 0.1)
    with pytest.raises(UnsupportedError, match=r"which a batch cannot continue\. Use simulate for each"):
        simulate_batch(robot, 0.2, start=before)
    with pytest.raises(UnsupportedError, match=r"which a program cannot continue\. Leave it out"):
        make_job(robot, 0.2, start=before)


def slower(seconds: float) -> Any:
    def wait(*_: Any, **__: Any) -> None:
        time.sleep(seconds)

    return wait


def test_times_of_the_run_of_checks_and_of_preparation_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(boxed().robot, (Contact("feet", "hull", HuntCrossley(1e5), shape=Box((0.2, 0.2, 0.2))),))
    given = {"q": {"root.z": 1.0}}
    simulate(system, 0.1, **given)
    for module, name in (("prepared", "warn_before"), ("simulate", "warn_after")):
        monkeypatch.setattr(sys.modules[f"kinemorph.simulation.{module}"], name, slower(0.03))
    monkeypatch.setattr(planned_run, "missing_contacts", lambda _: slower(0.02)() or ())
    run = simulate(system, 0.1, watch=slower(0.03), **given)
    whole = run_planned(boxed(), {"time": 0.1})
    many = simulate_batch(system, 0.1, **given)
    for found, checks, least in ((run, 0.06, 0.0), (whole, 0.06, 0.02), (many, 0.03, 0.0)):
        told = found.statistics
        assert checks <= told.check_seconds < checks + 0.02 and least <= told.preparation_seconds < least + 0.05
        assert 0.0 < told.seconds < 0.02


def test_contacts_that_are_left_out_of_the_check_do_not_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    contact = Contact("feet", "hull", HuntCrossley(1e5), shape=Box((0.2, 0.2, 0.2)))
    made, rng = plant(System(boxed().robot, (contact,))), np.random.default_rng(3)
    starts = rng.normal(size=(200, 7))
    starts[:, 2] = rng.uniform(0.05, 0.25, 200)
    starts[:, 3:] /= np.linalg.norm(starts[:, 3:], axis=1)[:, None]
    found = [buried_start.buried_start(made, q[None]) for q in starts]
    assert 20 < sum(one is not None for one in found) < 180
    monkeypatch.setattr(buried_start, "_near_ground", lambda checked, *more: [True] * len(checked.contacts))
    other = plant(System(boxed().robot, (contact,)))
    assert [buried_start.buried_start(other, q[None]) for q in starts] == found
