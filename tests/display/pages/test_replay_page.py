"""The replay's page under people's hands: keys, pointers, menus, plots; small, in the dark, without WebGL."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.display.cameras import camera_of
from kinemorph.display.replays.packing import pack
from kinemorph.display.replays.replay import replay
from kinemorph.mechanics.constraints.closures import constraint_error
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from support.tools.browsing import Browser

PATIENCE = 20_000  # [ms]; pictures are slow without a graphics card
# where the center of mass of a body is on the screen [pixels]
ON_SCREEN = """([f, b]) => {
  const figure = kinemorph.scene.figures[f], { position } = kinemorph.pose(f, b), m = kinemorph.camera.matrix;
  const [x, y, z] = position.map((value, k) => value + figure.offset[k]);
  const w = m[3] * x + m[7] * y + m[11] * z + m[15];
  const { width, height } = document.querySelector(".stage .area").getBoundingClientRect();
  const u = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w, v = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
  return [0.5 * width * (1 + u), 0.5 * height * (1 - v)];
}"""
# what is cut off: elements of the bar that are not within the window, and a page wider than it
CUT_OFF = """() => [...document.querySelectorAll("[role=toolbar] > :not([hidden])")].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 0 && (box.right > innerWidth + 1 || box.bottom > innerHeight + 1);
}).map((one) => one.className).concat(document.documentElement.scrollWidth > innerWidth ? ["page"] : [])"""


@pytest.fixture(scope="module")
def swings() -> dict[str, Trajectory]:
    lowest = Guard("lowest", lambda q: q[0])
    robot = library.double_pendulum()
    return {f"from {q} rad": simulate(robot, 2.0, q=[q, 0.3], output_step=0.02, events=[lowest]) for q in (1.0, 1.4)}


@pytest.fixture(scope="module")
def path(swings: dict[str, Trajectory], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replay(swings, camera="right", fps=25.0).save(tmp_path_factory.mktemp("page") / "swings.html")


@pytest.fixture(scope="module")
def stage(browser: Browser, path: Path) -> Iterator[Any]:
    """The page of two runs, side by side."""
    with browser.page(640, 480) as page:
        yield opened(page, path)


def opened(page: Any, path: Path) -> Any:
    page.goto(path.as_uri())
    page.evaluate("kinemorph.ready")
    return page


def waits_for(page: Any, what: str) -> None:
    page.wait_for_function(what, timeout=PATIENCE)


@pytest.mark.slow
def test_keys_play_step_and_turn(stage: Any, swings: dict[str, Trajectory]) -> None:
    stage.keyboard.press(" ")
    waits_for(stage, "kinemorph.time > 0.1")
    stage.keyboard.press(" ")
    assert not stage.evaluate("kinemorph.playing")
    stage.keyboard.press("Home")
    stage.keyboard.press("ArrowRight")
    assert stage.evaluate("kinemorph.time") == pytest.approx(0.04)
    stage.keyboard.press("Shift+ArrowRight")
    stage.keyboard.press("ArrowLeft")
    assert stage.evaluate("kinemorph.time") == pytest.approx(0.40)
    stage.keyboard.press("5")
    waits_for(stage, "kinemorph.camera.elevation === 90")
    stage.keyboard.press("0")
    waits_for(stage, "kinemorph.camera.elevation === 0")
    stage.keyboard.press("w")
    stage.keyboard.press("a")
    assert stage.evaluate("[kinemorph.camera.elevation > 0, kinemorph.camera.azimuth !== 0]") == [True, True]
    stage.keyboard.press("0")
    stage.keyboard.press("Home")
    stage.keyboard.press("n")
    first, second = sorted(event.t for run in swings.values() for event in run.events)[:2]
    assert stage.evaluate("kinemorph.time") == pytest.approx(first)
    stage.keyboard.press("n")
    stage.keyboard.press("n")
    stage.keyboard.press("p")
    assert stage.evaluate("kinemorph.time") == pytest.approx(second)
    stage.keyboard.press("?")
    assert stage.get_by_role("dialog", name="Keys").is_visible()
    stage.keyboard.press("Escape")
    assert not stage.get_by_role("dialog", name="Keys").is_visible()
    assert stage.complaints == []


def test_a_drag_on_the_plot_scrubs_and_its_legend_tells_values(stage: Any, swings: dict[str, Trajectory]) -> None:
    box = stage.locator(".paper").bounding_box()
    stage.mouse.move(box["x"] + 60, box["y"] + 20)
    stage.mouse.down()
    stage.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20)
    stage.mouse.up()
    t = stage.evaluate("kinemorph.time")
    assert t == pytest.approx(1.0, abs=0.15)
    waits_for(stage, f"document.querySelector('output').textContent.startsWith('t = {t:.2f} s')")
    told = stage.locator(".legend b").first.inner_text()
    values = [float(word) for word in told.removesuffix(" J").split(" | ")]
    expected = [np.interp(t, run.t, run["energy.kinetic"]) for run in swings.values()]
    assert values == pytest.approx(expected, abs=0.05)
    assert stage.locator(".marks button").first.get_attribute("title").startswith("lowest at 0.")


def test_events_are_where_the_runs_have_them_and_a_frame_is_followed_as_its_body(
    stage: Any, swings: dict[str, Trajectory]
) -> None:
    expected = [[event.t, event.name] for run in swings.values() for event in run.events]
    assert stage.evaluate("kinemorph.scene.events.map(({ t, name }) => [t, name])") == expected and expected
    run = next(iter(swings.values()))
    header = pack(
        run_scene := replay(run, follow="tip", fps=5.0).scene, camera_of(None, "tip", run_scene.figures[0].robot)
    )
    length = int.from_bytes((whole := zlib.decompress(base64.b64decode(header)))[:4], "little")
    assert json.loads(whole[4 : 4 + length])["camera"]["follow"] == run_scene.figures[0].bodies.index("link2") == 1


# a clock that goes on when it is told: `advance` tells every picture that was asked for what time it is [ms]
MOCKED = """(() => {
  let now = 1000, asked = [];
  performance.now = () => now;
  window.requestAnimationFrame = (show) => asked.push(show);
  window.asked = () => asked.length;
  window.advance = (step) => { now += step; const due = asked; asked = []; for (const show of due) show(now); };
})()"""


@pytest.mark.slow
def test_time_goes_as_fast_as_the_clock_says_and_round_and_round(
    swings: dict[str, Trajectory], page: Any, tmp_path: Path
) -> None:
    made = replay(next(iter(swings.values())), fps=25.0)
    later = replace(made, scene=replace(made.scene, times=made.scene.times + 5.0))  # from 5 s to 7 s
    page.add_init_script(MOCKED)
    page.goto(later.save(tmp_path / "later.html").as_uri())
    page.wait_for_function("window.asked() > 0", polling=20)
    page.evaluate("advance(0), kinemorph.ready")

    def after(*steps: float) -> float:
        found: float = page.evaluate("(steps) => (steps.forEach(advance), kinemorph.time)", list(steps))
        return found

    assert after(100.0) == 5.0
    page.evaluate("kinemorph.play()")
    assert after(10.0, 20.0, 70.0) == pytest.approx(5.1)
    page.evaluate("kinemorph.setSpeed(0.1)")
    assert after(*[100.0] * 5) == pytest.approx(5.15)
    page.evaluate("kinemorph.setSpeed(2)")
    assert after(*[100.0] * 5) == pytest.approx(6.15)
    assert after(10_000.0) == pytest.approx(6.65)  # a page that was hidden does not leap
    assert after(200.0) == 7.0 and not page.evaluate("kinemorph.playing")
    page.evaluate("kinemorph.setLoop(true), kinemorph.play()")
    assert after(*[150.0] * 5) == pytest.approx(6.5)
    assert after(*[150.0] * 3) == pytest.approx(5.4) and page.evaluate("kinemorph.playing")
    assert page.complaints == []


def test_the_pointer_learns_names_of_what_is_shown_turns_and_comes_nearer(stage: Any) -> None:
    stage.evaluate("kinemorph.setTime(0), kinemorph.view(null)")
    stage.evaluate("new Promise(requestAnimationFrame)")
    azimuth, distance = stage.evaluate("[kinemorph.camera.azimuth, kinemorph.camera.distance]")
    x, y = stage.evaluate(ON_SCREEN, [1, 1])
    stage.mouse.move(x, y)
    waits_for(stage, "!document.querySelector('[role=status]').hidden")
    assert stage.locator("[role=status]").inner_text().startswith("from 1.4 rad: link")
    stage.locator("summary[aria-label=Layers]").click()
    stage.get_by_role("checkbox", name="shapes", exact=True).click()
    assert not stage.get_by_role("checkbox", name="shapes", exact=True).is_checked()
    stage.keyboard.press("Escape")
    stage.mouse.move(x + 1, y)
    stage.wait_for_timeout(400)
    assert stage.locator("[role=status]").is_hidden()
    stage.evaluate("kinemorph.setLayer('shapes', true)")
    stage.mouse.move(x, y)
    waits_for(stage, "!document.querySelector('[role=status]').hidden")
    stage.mouse.down()
    stage.mouse.move(x + 60, y + 20)
    stage.mouse.up()
    stage.mouse.wheel(0, -200)
    assert stage.evaluate("kinemorph.camera.azimuth") < azimuth - 10.0
    waits_for(stage, f"kinemorph.camera.distance < {0.9 * distance}")
    assert stage.complaints == []


@pytest.mark.slow
def test_small_and_dark_pages_lack_nothing(stage: Any, page: Any, tmp_path: Path) -> None:
    opened(page, replay(library.four_bar()).save(tmp_path / "posed.html"))
    for one in (stage, page):
        one.emulate_media(color_scheme="dark")
        assert one.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(27, 31, 36)"
        for width, height in ((480, 700), (700, 420), (320, 480)):
            one.set_viewport_size({"width": width, "height": height})
            one.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert one.evaluate(CUT_OFF) == []
            assert one.locator(".area").bounding_box()["height"] > 0.3 * height
            box = one.locator(".area").bounding_box()
            waits_for(one, f"Math.abs(document.querySelector('canvas').width - {box['width']}) <= 1.0")  # at rest
            canvas = one.evaluate("(({ width, height }) => [width, height])(document.querySelector('canvas'))")
            assert canvas == pytest.approx([box["width"], box["height"]], abs=1.0)
            assert one.evaluate("kinemorph.camera.aspect") == pytest.approx(box["width"] / box["height"], rel=0.01)
    assert stage.complaints == [] and page.complaints == []


@pytest.mark.slow
def test_buttons_move_a_mechanism_and_its_loop_stays_closed(page: Any, tmp_path: Path) -> None:
    robot = library.four_bar()
    opened(page, replay(robot, q=[0.6, 0.2, 1.4]).save(tmp_path / "posed.html"))  # open, by 0.26 m
    tree, seen = resolve(robot), []

    def shape() -> list[float]:
        found: list[float] = page.evaluate("[...kinemorph.scene.figures[0].q]")
        assert np.abs(constraint_error(tree, found)).max() < 1e-8
        seen.append(found)
        return found

    first = shape()
    assert first == pytest.approx([0.6, 0.2, 1.4], abs=0.3)
    for word in ("zero", "random", "random", "reset"):
        page.get_by_role("button", name=word).click()
        shape()
    assert seen.pop() == pytest.approx(first, abs=1e-9)
    assert min(np.abs(np.subtract(a, b)).max() for a, b in pairwise(seen)) > 1e-3
    assert page.complaints == []


def test_without_webgl_a_sentence_stands_in_and_the_plot_goes_on(page: Any, path: Path) -> None:
    page.add_init_script(
        "const own = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        "  return kind === 'webgl2' ? null : own.call(this, kind, ...rest); };"
    )
    opened(page, path)
    assert page.evaluate("kinemorph.webgl") is False
    assert "WebGL2 is missing" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Play", exact=True).click()
    waits_for(page, "kinemorph.time > 0.1")
    assert page.locator(".paper").is_visible() and page.complaints == []


@pytest.mark.slow
def test_a_linkage_posed_at_random_is_closed_and_stays_above_the_floor(page: Any, tmp_path: Path) -> None:
    robot = library.four_bar()
    opened(page, replay(robot).save(tmp_path / "linkage.html"))
    scene = "kinemorph.scene.figures[0].q"
    first = page.evaluate(f"[...{scene}]")
    for button in ("random", "zero"):
        page.get_by_role("button", name=button).click()
        assert not np.allclose(page.evaluate(f"[...{scene}]"), first)
        assert np.abs(derive(robot).constraint_error(page.evaluate(f"[...{scene}]"))).max() < 1e-8
    floor = page.evaluate("kinemorph.scene.floor")
    page.evaluate("kinemorph.setJoint('q1', -Math.PI / 2)")  # the crank hangs down
    assert page.evaluate("kinemorph.scene.floor") < floor - 0.2
    page.get_by_role("button", name="reset").click()
    assert page.evaluate("kinemorph.scene.floor") == pytest.approx(floor, abs=1e-6)


@pytest.mark.slow
def test_a_blink_plays_slowly_and_large_energies_are_short(page: Any, tmp_path: Path) -> None:
    robot = library.pendulum(mass=1e9, length=1e3)
    opened(page, replay(simulate(robot, 0.002, q=[1.0], output_step=1e-4)).save(tmp_path / "blink.html"))
    assert page.evaluate("kinemorph.speed") == pytest.approx(1e-3)
    assert page.get_by_role("combobox", name="Speed").input_value() == "0.001"
    assert page.evaluate("kinemorph.scene.times.length") == 21
    assert all(len(text) < 14 for text in page.locator(".legend b").all_inner_texts())
