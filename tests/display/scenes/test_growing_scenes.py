"""Scenes of runs that are still computed: all parts together show the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import System, Trajectory, library, simulate
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display.scenes import growing
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.growing import Frames, GrowingScene
from kinemorph.display.scenes.scene import Scene
from kinemorph.model.modules import Assembly, Module, cube
from kinemorph.modules import Dock, Undock
from kinemorph.simulation.running import ledger
from kinemorph.simulation.stepping import stepper


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few samples each."""
    monkeypatch.setattr(stepper, "FIRST_TRIES", 3)
    monkeypatch.setattr(stepper, "SLICE", 0.0)
    monkeypatch.setattr(ledger, "EVERY", 0.0)


def grown(system: System, columns: Any = None, **options: Any) -> tuple[Trajectory, list[Scene | Frames]]:
    """A run, and all that its growing scene made of its parts."""
    scene, found = GrowingScene(system, columns), list[Scene | Frames]()
    run = simulate(system, watch=lambda part: found.extend(scene.grow(part)), **options)
    return run, found


@pytest.mark.usefixtures("slow")
def test_a_scene_and_the_frames_after_it_are_the_samples_of_the_run() -> None:
    run, (first, *rest) = grown(System(library.double_pendulum()), q=[2.0, 0.5], until=1.0)
    assert isinstance(first, Scene) and len(first.times) > 1 and len(rest) > 5
    frames = [one for one in rest if isinstance(one, Frames)]
    assert len(frames) == len(rest)
    assert np.concatenate([first.times, *(one.times for one in frames)]).tolist() == run.t.tolist()
    q = np.concatenate([first.figures[0].q, *(one.coordinates for one in frames)])
    assert np.array_equal(q, run.q)
    for k, one in enumerate(first.series):
        values = np.concatenate([one.values, *(more.series[k] for more in frames)])
        assert values == pytest.approx(run[one.name], rel=1e-12, abs=1e-12)
    whole = scene_of(run)
    assert [one.name for one in first.series] == [one.name for one in whole.series][:2]
    assert first.figures[0].name == whole.figures[0].name and first.figures[0].bodies == whole.figures[0].bodies


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_a_run_with_very_many_samples_gets_a_bounded_number_of_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "MOST", 50)
    run, found = grown(System(library.pendulum()), ["q.q1"], q=[1.0], until=2.0, output_step=1e-3)
    times = np.concatenate([one.times for one in found])
    assert len(run) == 2001 and 30 < len(times) < 150 and np.all(np.diff(times) > 0.0)
    assert isinstance(found[0], Scene) and [one.name for one in found[0].series] == ["q.q1"]


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_modules_that_dock_begin_another_scene_and_no_sample_or_event_is_lost() -> None:
    """The parts of a run with docking events are its samples and events; the run's own guards are not among them."""
    modules = (
        Module("m0", cube(), Pose(IDENTITY.R, (0.0, 0.0, 0.0))),
        Module("m1", cube(), Pose(IDENTITY.R, (0.22, 0.0, 0.0))),
    )
    system = Assembly("duo", modules).system(gravity=(0.0, 0.0, 0.0))
    events = [Dock("m0", 3, "m1", 4), Undock("m0", 3, at=0.8)]
    parts: list[Trajectory] = []
    scene, found = GrowingScene(system), list[Scene | Frames]()

    def watch(part: Trajectory) -> None:
        parts.append(part)
        found.extend(scene.grow(part))

    run = simulate(system, 1.0, v={"m1_root.vx": -0.2}, events=events, watch=watch)
    assert [event.kind for event in run.events] == ["dock", "undock"]
    assert [event for part in parts for event in part.events] == list(run.events)
    assert np.concatenate([part.t for part in parts]).tolist() == run.t.tolist()
    shown = np.concatenate([one.times for one in found])
    assert set(shown) <= set(run.t) and len(run) - len(shown) <= 2  # a system that lasts for one sample is not shown
    scenes = [one for one in found if isinstance(one, Scene)]
    assert len(scenes) == 3 and all(set(one.figures[0].bodies) == set(scenes[0].figures[0].bodies) for one in scenes)
