"""The panel Live in a browser: pulls by drags and by keys, set points, docking by clicks, keeping (000-27, 000-28)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import System, library, load_trajectory, save
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.elements import PD
from kinemorph.model.modules import Assembly, Module, cube
from kinemorph.simulation.planned_run import prepared_run
from support.tools.browsing import Browser

pytestmark = pytest.mark.slow
PLACE = """([body, point]) => {
  const { stage } = window.kinemorph.studio, { position, quaternion: [w, x, y, z] } = stage.pose(0, body);
  const [a, b, c] = point, t = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  const p = [a + w * t[0] + y * t[2] - z * t[1], b + w * t[1] + z * t[0] - x * t[2], c + w * t[2] + x * t[1] - y * t[0]]
    .map((value, k) => value + position[k]);
  const m = stage.camera.matrix, at = (row) => m[row] * p[0] + m[row + 4] * p[1] + m[row + 8] * p[2] + m[row + 12];
  const area = stage.element.querySelector("canvas").getBoundingClientRect();
  return [area.left + 0.5 * (1 + at(0) / at(3)) * area.width, area.top + 0.5 * (1 - at(1) / at(3)) * area.height];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("project")
    robot = library.build("double_pendulum")
    save(System(robot, (PD("hold", robot.joint_names, 2.0, 0.3, reference=0.3),)), found / "pendulum.toml")
    modules = (Module("a", cube(), IDENTITY), Module("b", cube(), Pose(IDENTITY.R, (0.106, 0.0, 0.0))))
    save(Assembly("cubes", modules).system(gravity=(0.0, 0.0, 0.0)), found / "cubes.toml")
    return found


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Any]:
    pytest.importorskip("starlette", reason="the extra [studio] is not installed")
    from kinemorph.studio.open_studio import open_studio

    with open_studio(folder, open=False) as found:
        yield found
        runs = found.session.live_runs
        pools = [*runs._idle, *(run.pool for run in runs.runs.values())]
        processes = [process for pool in pools for process in pool.processes]
    assert processes and not any(Path(f"/proc/{process}").exists() for process in processes)


@pytest.fixture(scope="module")
def page(studio: Any, browser: Browser) -> Iterator[Any]:
    with browser.page(1300, 900) as found:
        found.goto(studio.url)
        found.get_by_role("tab", name="Live").click()
        yield found
        assert found.complaints == []


def begin(page: Any, document: str) -> None:
    """Shows a document and starts its live run, which is paused then."""
    page.get_by_role("combobox", name="Document").select_option(document)
    page.wait_for_function("(name) => window.kinemorph.studio.state?.document === name", arg=document)
    page.get_by_role("button", name="Start live run").click()
    page.get_by_role("button", name="Resume").wait_for(timeout=60000)
    page.wait_for_function("window.kinemorph.studio.stage?.webgl")


def seconds(page: Any, name: str = "Time of the run") -> float:
    return float(page.get_by_role("timer", name=name).inner_text().split()[0])


def until(condition: Any, what: str, most: float = 15.0) -> None:
    end = time.monotonic() + most
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def live_run(studio: Any, document: str) -> Any:
    return studio.session.live_runs.of(document)


def test_a_body_is_dragged_and_steered_by_keys_and_the_run_is_kept(page: Any, studio: Any, folder: Path) -> None:
    begin(page, "pendulum.toml")
    page.get_by_role("button", name="Single step").click()
    until(lambda: seconds(page) == 0.01, "one step of 10 ms")
    page.get_by_role("button", name="Resume").click()
    until(lambda: seconds(page) > 0.5, "the clock runs")
    assert seconds(page, "Late by") < 200.0  # [ms]; on a machine that draws pictures without a graphics card
    page.get_by_role("button", name="Pause").click()
    until(lambda: live_run(studio, "pendulum.toml").status["paused"], "it is paused")
    page.get_by_role("button", name="Reset live run").click()
    until(lambda: seconds(page) == 0.0, "reset")
    page.wait_for_timeout(300)

    x, y = page.evaluate(PLACE, ["link2", [0.0, 0.0, -0.3]])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 20, steps=3)
    page.mouse.move(x + 80, y - 60, steps=5)
    inputs = lambda: live_run(studio, "pendulum.toml").status["inputs"]  # noqa: E731
    until(lambda: inputs()["hand.share"] > 0.0, "the drag pulls")
    assert inputs()["hand.body"] == 1.0
    assert page.locator(".stage .cord line").is_visible()
    until(lambda: page.get_by_role("textbox", name="Target x").input_value() == f"{inputs()['hand.x']:.3f}", "target")
    page.mouse.up()
    until(lambda: inputs()["hand.share"] == 0.0, "the end of the drag lets go")
    page.locator(".stage .cord").wait_for(state="hidden")

    page.get_by_role("combobox", name="Body").select_option("link1")
    steer = page.get_by_role("button", name="Move target with arrow keys")
    steer.focus()
    before = page.evaluate("window.kinemorph.studio.stage.pose(0, 'link1').position")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    until(lambda: inputs()["hand.share"] > 0.0 and inputs()["hand.z"] > before[2] + 1e-3, "keys pull")
    assert inputs()["hand.body"] == 0.0 and inputs()["hand.x"] > before[0] + 1e-3
    page.get_by_role("button", name="Resume").click()
    slider = page.get_by_role("slider", name="hold reference.q1")
    slider.focus()
    page.keyboard.press("End")
    until(lambda: inputs()["hold reference.q1"] > 3.0, "the slider sets the set point")
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    until(lambda: live_run(studio, "pendulum.toml").status["speed"] == 0.25, "speed")
    page.get_by_role("button", name="Let go").click()
    until(lambda: inputs()["hand.share"] == 0.0, "let go")
    page.get_by_role("button", name="Keep as run").click()
    until(lambda: page.get_by_text(re.compile("The live run is kept as")).count() > 0, "kept")
    (kept,) = studio.session.results.of("pendulum.toml")
    from kinemorph import load

    run = load_trajectory(kept.path, prepared_run(load(folder / "pendulum.toml")).system)
    turned_over = np.abs(np.diff(run.energy.supplied)).sum() + run.energy.dissipated[-1]
    assert run["u.hand.share"].max() > 0.0 and np.abs(run.energy.balance).max() < 1e-6 * turned_over
    page.get_by_role("button", name="Reset live run").click()
    until(lambda: seconds(page) == 0.0, "reset")
    page.get_by_role("button", name="Stop live run").click()
    page.get_by_role("button", name="Resume").wait_for(state="hidden")


def test_two_organisms_dock_by_clicks_on_their_ports(page: Any, studio: Any) -> None:
    begin(page, "cubes.toml")
    page.get_by_role("button", name="port 3 of a, free").click()
    assert "a side 3 is chosen" in page.get_by_role("group", name="Dock and undock").inner_text()
    page.get_by_role("button", name="port 4 of b, free").press("Enter")  # it faces the other cube
    until(lambda: "Energy lost" in page.get_by_role("group", name="Dock and undock").inner_text(), "docked", 60.0)
    ports = live_run(studio, "cubes.toml").ready["ports"]
    assert {(port["module"], port["side"]) for port in ports if port["docked"]} == {("a", 3), ("b", 4)}
    page.get_by_role("button", name="port 3 of a, taken").wait_for(state="attached")
    page.get_by_role("combobox", name="Docked").select_option("a side 3 – b side 4")
    page.get_by_role("button", name="Undock").click()
    until(lambda: not any(p["docked"] for p in live_run(studio, "cubes.toml").ready["ports"]), "undocked", 60.0)
    page.get_by_role("combobox", name="Port", exact=True).select_option("a side 1")
    page.get_by_role("combobox", name="Onto port").select_option("b side 1")
    page.get_by_role("button", name="Dock", exact=True).click()
    until(lambda: "is refused" in page.get_by_role("group", name="Dock and undock").inner_text(), "refused", 60.0)
