"""Organisms on the ground: weight, momentum, torques within their limits, the same way at half the step."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import kinemorph
from kinemorph.cli.demo.crawl_demo import crawl_demo, crawl_numbers
from kinemorph.display.charts.crawl_pictures import center_of_mass_path, draw_crawl
from kinemorph.display.painting.draw import write_still
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.elements import PD, Contact, MinimumJerk, Profile, Rhythmic
from kinemorph.model.library.modular import LENGTH, crawler
from kinemorph.model.modules import (
    Assembly,
    Docking,
    Module,
    ModuleType,
    active_wheel,
    backbone,
    ground_contacts,
    hinge_drives,
    hinges,
    put_down,
    scout,
)
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from support.cases.paper_organism import paper_organism

Array = npt.NDArray[np.float64]
LIMIT = 7.0  # [N m]


def chain(*kinds: ModuleType) -> Assembly:
    modules = tuple(Module(f"m{k}", kind) for k, kind in enumerate(kinds))
    return put_down(
        Assembly("chain", modules, tuple(Docking(f"m{k}", 3, f"m{k + 1}", 4) for k in range(len(kinds) - 1)))
    )


def forces(run: Trajectory, system: System) -> Array:
    """What the ground exerts on all contacts together, (n, 3) [N]."""
    names = [element.name for element in system.elements if isinstance(element, Contact)]
    return np.array([[run[f"{name}.force_{axis}"] for axis in "xyz"] for name in names]).sum(axis=0).T


@pytest.fixture(scope="module")
def pair() -> System:
    """Two Backbones that lie still, bend, lie still, and are to bend faster than their motors can."""
    organism = chain(backbone(), backbone())
    bends = MinimumJerk(
        "gait", (0.4, 0.5, 0.9, 0.92), ((0.0, 0.0), (0.5, -1.3), (0.5, -1.3), (0.0, 0.0)), hinges(organism)
    )
    return organism.system([bends, *hinge_drives(organism, bends), *ground_contacts(organism)])


@pytest.fixture(scope="module")
def run(pair: System) -> Trajectory:
    return kinemorph.simulate(pair, 1.0, step=2e-4, output_step=2e-4)


def test_two_modules_rest_bend_and_rest_again(pair: System, run: Trajectory) -> None:
    weight = 9.81 * 2.0
    pressed = forces(run, pair)
    assert pressed[run.t < 0.4][-1] == pytest.approx([0.0, 0.0, weight], abs=1e-4)
    assert pressed[run.t < 0.9][-1, 2] == pytest.approx(weight, rel=1e-3)

    # from rest on the impulse of weight and ground is the momentum, to the accuracy of the steps
    bending = (run.t > 0.35) & (run.t < 0.9)
    push = pressed[bending][:-1] - [0.0, 0.0, weight]
    impulse = np.cumsum(0.5 * (push[1:] + push[:-1]), axis=0) * 2e-4
    path = center_of_mass_path(pair.robot, run.q[bending])
    momentum = 2.0 * (path[2:] - path[:-2]) / 4e-4
    assert np.abs(momentum).max(axis=0)[[0, 2]].min() > 0.2  # [N s]
    np.testing.assert_allclose(impulse, momentum, atol=3e-3)

    torques = np.abs([run[f"drive.{name}"] for name in ("m0_hinge", "m1_hinge")])
    assert torques.max() == LIMIT  # asked for more than that


def test_two_modules_do_the_same_at_other_steps(pair: System, run: Trajectory) -> None:
    ends = [kinemorph.simulate(pair, 0.8, step=h).q[-1] for h in (1e-3, 5e-4)]
    finest = run.q[np.argmin(np.abs(run.t - 0.8))]
    assert np.abs(finest - run.q[0]).max() > 1.0
    coarse, fine = (float(np.abs(end - finest).max()) for end in ends)
    assert coarse < 1e-3 and fine < 0.5 * coarse


def test_a_picture_of_a_run_and_a_time_outside_of_it(run: Trajectory, tmp_path: Path) -> None:
    from matplotlib.image import imread

    figure = draw_crawl(run, title="two modules")
    assert [axes.get_ylabel() for axes in figure.axes] == ["y [m]", "angle [deg]", "torque [N m]"]
    levels = {float(np.asarray(line.get_ydata())[0]) for line in figure.axes[2].lines if len(line.get_ydata()) == 2}  # type: ignore[arg-type]
    assert levels == {-LIMIT, LIMIT}
    said = [*(text.get_text() for text in figure.texts), *(axes.get_title() for axes in figure.axes)]
    assert sum(" m in " in text for text in said) == 1  # the distance is written once
    picture = imread(write_still(run, tmp_path / "still.png", 0.6, size=3.0))
    assert float((picture[..., :3] < 0.8).mean()) > 0.02
    with pytest.raises(UnsupportedError, match=r"t is 2 s; expected a time of the run 'chain', from 0 to 1 s"):
        write_still(run, tmp_path / "late.png", 2.0)


def test_gaits_of_the_crawler_are_named() -> None:
    with pytest.raises(ModelError, match=r"crawler: gait is 'trot', expected 'rhythmic' or 'maps'"):
        crawler("trot")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"crawler: friction is 0, expected a number above 0"):
        crawler(friction=0.0)


# ── longer ones ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_nine_modules_weigh_nine_kilograms_on_the_ground() -> None:
    organism = put_down(paper_organism())
    still = Rhythmic("gait", hinges(organism), 0.0)
    system = organism.system([still, *hinge_drives(organism, still), *ground_contacts(organism)])
    run = kinemorph.simulate(system, 1.0)
    assert forces(run, system)[-1] == pytest.approx([0.0, 0.0, 9.0 * 9.81], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("gait", "least", "apart"), [("rhythmic", 1.7, 0.006), ("maps", 2.9, 0.015)])
def test_the_organism_crawls_more_than_its_length_and_the_same_way_at_half_the_step(
    gait: str, least: float, apart: float
) -> None:
    """Displacements of the center of mass in 60 s; differences fall with the step."""
    system = crawler(gait)  # type: ignore[arg-type]
    ways = []
    for h in (1e-3, 5e-4, 2.5e-4):
        run = kinemorph.simulate(system, 60.0, step=h, output_step=0.02)
        assert run.outcome.ok
        figures = crawl_numbers(system, run)
        assert figures["displacement"] > least > LENGTH
        assert figures["peak_torque"] <= LIMIT and figures["peak_speed"] < 3.0
        path = center_of_mass_path(system.robot, run.q)
        ways.append(path[-1, :2] - path[0, :2])
    differences = [float(np.linalg.norm(way - ways[-1])) for way in ways[:2]]
    assert np.linalg.norm(ways[1] - ways[0]) < apart * np.linalg.norm(ways[0])
    assert differences[1] < 0.6 * differences[0]


@pytest.mark.slow
@pytest.mark.parametrize("other", [backbone(), scout()], ids=["backbones", "scouts"])
def test_a_snake_moves_by_a_wave(other: ModuleType) -> None:
    """Six modules in a row: the wave runs backward, the snake forward, straight."""
    snake = chain(*(backbone(), other) * 3)
    gait = Rhythmic("gait", hinges(snake), np.radians(20.0), 0.5, np.radians(-60.0))
    system = snake.system([gait, *hinge_drives(snake, gait), *ground_contacts(snake)])
    run = kinemorph.simulate(system, 10.0)
    path = center_of_mass_path(system.robot, run.q)
    assert path[-1, 0] - path[0, 0] > 0.35 and abs(path[-1, 1] - path[0, 1]) < 1e-6
    assert crawl_numbers(system, run)["peak_torque"] <= LIMIT


@pytest.mark.slow
def test_an_active_wheel_drives_and_drags_a_module_along() -> None:
    """6 rad/s at a radius of 0.05 m: 0.9 m in 3 s, without slip."""
    car = put_down(Assembly("car", (Module("m0", active_wheel()), Module("m1", backbone()))).dock("m0", 5, "m1", 4))
    wheels = PD("wheels", ("m0_left_wheel", "m0_right_wheel"), 2.0, 0.1, "spin", lower=-1.0, upper=1.0)
    hold = PD("hold", hinges(car), 60.0, 1.5, 0.0, lower=-LIMIT, upper=LIMIT)
    system = car.system([Profile("spin", lambda t: 6.0 * t), wheels, hold, *ground_contacts(car)])
    path = center_of_mass_path(system.robot, kinemorph.simulate(system, 3.0).q)
    assert np.linalg.norm(path[-1, :2] - path[0, :2]) == pytest.approx(0.9, rel=0.03)


@pytest.mark.slow
def test_an_arm_of_modules_follows_by_computed_torque() -> None:
    """On a fixed root every joint follows the gait: the error is but that of the start."""
    arm = chain(backbone(), backbone(), backbone())
    gait = Rhythmic("gait", hinges(arm), 0.3, 0.5)
    system = arm.system([gait, *hinge_drives(arm, gait, law="computed torque")], root="fixed")
    run = kinemorph.simulate(system, 4.0)
    for joint in hinges(arm):
        np.testing.assert_allclose(run[f"q.{joint}"], run[f"gait.{joint}"], atol=1e-6)


@pytest.mark.slow
def test_the_demo_assembles_verifies_crawls_and_draws(tmp_path: Path) -> None:
    told: list[str] = []
    data = crawl_demo(tmp_path / "out", told.append)
    assert data["passed"] and data["crawl"]["lengths"] > 3.0 and data["modules"] == 9
    assert any(message.startswith("crawling: ") for message in told)
    for file in data["files"]:
        assert Path(file).stat().st_size > 500
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["crawl"]["limit"] == LIMIT
    assert "v8      0   0   0   0   0   0   0   5  B" in (tmp_path / "out" / "tables.txt").read_text()
