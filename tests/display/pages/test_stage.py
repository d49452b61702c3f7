"""Stages in a page with a strict content security policy: several at once, picked, marked, moved, changed, closed."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kinemorph.bench.modules.models import grown
from kinemorph.display.cameras import Camera
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.replays.packing import packed_bytes
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.stage.bundle import bundle, display_file, modules, style
from kinemorph.model import library
from kinemorph.model.robot import Robot
from kinemorph.simulation.simulate import simulate
from support.tools.browsing import Browser
from support.tools.staged_pages import open_stages

# a name that a script defines at its top
NAME = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
# where a point of the world is on the page [pixels]
SEEN = """([x, y, z]) => {
  const m = stage.camera.matrix, box = stage.element.querySelector("canvas").getBoundingClientRect();
  const w = m[3] * x + m[7] * y + m[11] * z + m[15];
  const u = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w, v = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
  return [box.left + 0.5 * box.width * (1 + u), box.top + 0.5 * box.height * (1 - v)];
}"""
LENGTH = 1.1  # of the second link of the double pendulum [m]
# the policy of the page forbids what Playwright's wait_for_function does
NEXT = """async () => {
  while (!stage.frameMilliseconds.length) await new Promise((done) => setTimeout(done, 10));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def placed(robot: Robot, q: Any) -> tuple[list[float], list[float]]:
    """Positions (3 nb) and quaternions (4 nb) of all bodies."""
    poses = Poses(robot, q)
    positions = [x for name in robot.body_names for x in poses.p[name][0]]
    return positions, [x for name in robot.body_names for x in quaternions_of(poses.R[name][0])]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return library.double_pendulum()


@pytest.fixture(scope="module")
def data(robot: Robot) -> dict[str, bytes]:
    """A robot, the robot again with nothing new, the first half of a run, and another robot."""
    known: set[str] = set()
    run = simulate(robot, 0.5, q=[0.8, 0.4], output_step=0.05)
    first = scene_of(robot, q=[0.5, 0.6])
    return {
        "robot": packed_bytes(first, Camera(), known),
        "again": packed_bytes(first, Camera(), known),
        "run": packed_bytes(scene_of(run, fps=20.0), Camera(), known),
        "arm": packed_bytes(scene_of(library.scara()), Camera(), known),
    }


@pytest.fixture(scope="module")
def stages(browser: Browser, data: dict[str, bytes]) -> Iterator[Any]:
    """A page with two stages: `first` shows the robot, `stage` too; and `counts`, calls of the second one's context."""
    with browser.page(900, 500) as page:
        open_stages(page, data)
        page.evaluate("async () => { window.first = await km.open('robot'); window.stage = await km.open('robot'); }")
        yield page


def test_two_stages_share_a_page_with_a_strict_policy(stages: Any) -> None:
    assert stages.evaluate("document.querySelectorAll('[id]').length") == 0
    assert stages.get_by_role("button", name="Keys").count() == 2
    stages.evaluate("first.setJoint('q1', 1.2)")
    assert stages.evaluate("[first.scene.figures[0].q[0], stage.scene.figures[0].q[0]]") == pytest.approx([1.2, 0.5])
    stages.evaluate("const host = first.element.parentElement; first.close(); host.remove();")
    assert stages.get_by_role("button", name="Keys").count() == 1
    assert stages.complaints == []


def test_a_click_finds_the_body_the_point_and_the_port(stages: Any, robot: Robot) -> None:
    stages.evaluate("km.picks.length = 0")
    middle = np.array(placed(robot, [0.5, 0.6])[0][3:6])  # the second link begins at the elbow
    turn = Poses(robot, [0.5, 0.6]).R["link2"][0]
    point = middle + turn @ [0.0, 0.0, -0.5 * LENGTH]
    stages.mouse.click(*stages.evaluate(SEEN, point.tolist()))
    (picked,) = stages.evaluate("km.picks")
    assert (picked["figure"], picked["body"], picked["part"], picked["port"]) == (0, "link2", "link2", None)
    assert np.linalg.norm(np.array(picked["point"]) - point) < 0.05  # on the link, which is 2 cm thick
    stages.mouse.click(5, 5)
    assert stages.evaluate("km.picks.at(-1).body") is None and stages.evaluate("km.picks.at(-1).event") == "pointerup"
    ports = [{"name": "m1:3", "label": "port 3 of m1", "figure": 0, "body": "link2", "position": [0.0, 0.0, -LENGTH]}]
    ports += [{"name": "x", "figure": 0, "body": "no such body", "position": [0.0, 0.0, 0.0], "free": True}]
    ports = [{"normal": [0.0, 0.0, -1.0], "free": True, **port} for port in ports]
    stages.evaluate("(ports) => stage.setPorts(ports)", ports)
    stages.evaluate(DRAWN)
    button = stages.get_by_role("button", name="port 3 of m1, free")
    assert stages.get_by_role("group", name="Ports").get_by_role("button").count() == 1
    button.focus()
    stages.keyboard.press("Enter")
    picked = stages.evaluate("km.picks.at(-1)")
    assert (picked["port"], picked["body"], picked["event"]) == ("m1:3", "link2", "click")
    assert picked["point"] == pytest.approx((middle + turn @ [0.0, 0.0, -LENGTH]).tolist(), abs=1e-5)
    stages.mouse.click(*stages.evaluate(SEEN, picked["point"]))
    assert stages.evaluate("km.picks.at(-1).port") == "m1:3"
    assert stages.complaints == []


def test_marks_are_seen(stages: Any, robot: Robot) -> None:
    """The color of the second link changes with a highlight, with a ghost over it, and back again."""
    middle = np.array(placed(robot, [0.5, 0.6])[0][3:6])
    x, y = stages.evaluate(SEEN, (middle + Poses(robot, [0.5, 0.6]).R["link2"][0] @ [0.0, 0.0, -0.3]).tolist())

    def color(act: str) -> np.ndarray:
        stages.evaluate(f"stage.frameMilliseconds.length = 0; {act}")
        stages.evaluate(NEXT)
        shot = stages.screenshot(clip={"x": x - 1, "y": y - 1, "width": 3, "height": 3})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=float).mean(axis=(0, 1))

    plain = color("stage.setPorts([])")
    lit = color("stage.highlight([{ figure: 0, body: 'link2' }])")
    again = color("stage.highlight([{ figure: 0, body: 'link1' }])")
    stages.evaluate("async () => { window.seen = await km.scene('robot'); }")
    ghost = color("stage.setGhost(seen, { color: [0, 0, 1, 1] })")
    none = color("stage.setGhost(null)")
    assert np.abs(again - plain).max() < 8.0 and np.abs(none - plain).max() < 8.0
    assert np.abs(lit - plain).max() > 20.0
    assert (ghost - plain)[2] > 20.0  # it is blue


def test_a_cord_leads_from_a_point_of_a_body_to_its_target(stages: Any, robot: Robot) -> None:
    point, target = [0.0, 0.0, -0.3], [0.4, 0.1, 0.2]
    pulled = np.array(placed(robot, [0.5, 0.6])[0][3:6]) + Poses(robot, [0.5, 0.6]).R["link2"][0] @ point
    cord = {"figure": 0, "body": "link2", "point": point, "target": target}
    stages.evaluate("async (cord) => { stage.setScene(await km.scene('robot')); stage.setCord(cord); }", cord)
    stages.evaluate(DRAWN)
    area = stages.evaluate(
        "(() => { const b = stage.element.querySelector('.area').getBoundingClientRect(); return [b.left, b.top]; })()"
    )
    line = stages.evaluate(
        "['x1', 'y1', 'x2', 'y2'].map((k) => Number(stage.element.querySelector('.cord line').getAttribute(k)))"
    )
    assert not stages.evaluate("stage.element.querySelector('.cord').hasAttribute('hidden')")
    ends = [np.array(stages.evaluate(SEEN, list(map(float, end)))) - area for end in (pulled, target)]
    np.testing.assert_allclose(line, np.concatenate(ends), atol=0.2)
    for gone in ("{ ...cord, body: 'link9' }", "null"):
        stages.evaluate(f"(cord) => stage.setCord({gone})", cord)
        stages.evaluate(DRAWN)
        assert stages.evaluate("stage.element.querySelector('.cord').hasAttribute('hidden')")


def test_live_poses_move_bodies_until_the_time_is_set(stages: Any, robot: Robot) -> None:
    positions, quaternions = placed(robot, [-1.0, 0.3])
    stages.evaluate("([p, q]) => stage.setPoses(0, p, q)", [positions, quaternions])
    stages.evaluate(DRAWN)
    assert stages.evaluate("stage.pose(0, 'link2').position") == pytest.approx(positions[3:6], abs=1e-6)
    said = "(() => { try { stage.setPoses(0, [1], [1]); } catch (error) { return error.message; } })()"
    assert "2 bodies: expected 6 numbers" in stages.evaluate(said)


def test_a_new_scene_keeps_the_camera_and_the_meshes(stages: Any) -> None:
    count = """async (name) => {
      const gl = stage.element.querySelector("canvas").getContext("webgl2"), own = gl.bufferData.bind(gl);
      let bytes = 0;
      gl.bufferData = (kind, what, use) => { bytes += what.byteLength; own(kind, what, use); };
      stage.setScene(await km.scene(name), { keepCamera: true });
      gl.bufferData = own;
      return [bytes, stage.camera.azimuth];
    }"""
    stages.evaluate("stage.setPorts([]), stage.highlight([])")
    stages.evaluate("stage.camera.azimuth = 33")
    same, azimuth = stages.evaluate(count, "again")
    other, after = stages.evaluate(count, "arm")
    assert azimuth == after == 33
    assert 0 < same < 1_000 and other > 10_000  # instances only; then the meshes of another robot
    assert stages.evaluate("stage.scene.figures[0].bodies") == list(library.scara().body_names)


def test_a_run_grows_while_it_is_shown(stages: Any, robot: Robot) -> None:
    stages.evaluate("async () => stage.setScene(await km.scene('run'), { keepCamera: false })")
    rows = np.array([[0.1, 0.2], [0.7, -0.3]])
    frames = {"times": [0.55, 0.6], "coordinates": [rows.ravel().tolist()], "events": [{"t": 0.58, "name": "end"}]}
    frames["series"] = [[1.0, 2.0]] * stages.evaluate("stage.scene.series.length")
    stages.evaluate("stage.setTime(9)")
    stages.evaluate("(frames) => stage.appendFrames(frames)", frames)
    assert stages.evaluate("stage.time") == pytest.approx(0.6)  # it was at the end, and still is
    expected = placed(robot, rows[1])[0]
    assert stages.evaluate("stage.pose(0, 'link2').position") == pytest.approx(expected[3:6], abs=1e-5)
    stages.evaluate("stage.setTime(0.575)")
    between = placed(robot, rows.mean(axis=0))[0]
    assert stages.evaluate("stage.pose(0, 'link2').position") == pytest.approx(between[3:6], abs=1e-5)
    assert stages.get_by_role("slider", name="Time").get_attribute("max") == "0.6"
    assert stages.complaints == []


def test_surfaces_are_sent_once(data: dict[str, bytes], robot: Robot) -> None:
    assert len(data["again"]) < 0.5 * len(data["robot"])
    assert packed_bytes(scene_of(robot, q=[0.5, 0.6]), Camera(), set()) == data["robot"]  # keys depend on content only


def test_pages_forget_surfaces_that_are_not_used(page: Any, robot: Robot) -> None:
    """As many edits of a size would fill the memory of a page otherwise."""
    known: set[str] = set()
    scenes = [scene_of(library.pendulum(length=length)) for length in (1.0, 1.1, 1.2)] + [scene_of(robot)]
    data = {str(k): packed_bytes(scene, Camera(), known, most=3) for k, scene in enumerate(scenes)}
    open_stages(page, data)
    kept = page.evaluate("""async () => {
      for (let k = 0; k < 4; k++) await km.scene(String(k));
      return [...km.known.keys()].sort();
    }""")
    assert kept == sorted(known)  # the page has what the server believes it has
    assert known == {key for key in known if key in keys_of(scenes[-1])}
    assert page.complaints == []


def keys_of(scene: Any) -> set[str]:
    """The content keys of the surfaces of a scene."""
    known: set[str] = set()
    packed_bytes(scene, Camera(), known)
    return known


def test_slow_pictures_become_coarser_and_quick_ones_finer(page: Any) -> None:
    script = bundle("stage/stage.js")
    names = "judgePicture, judgeRest, levelNow, makeQuality, restDelay, triesFiner"
    page.set_content(f"<script>window.km = (() => {{ {script} return {{ {names} }}; }})();</script>")
    level = """([times, first]) => {
      const quality = { level: first, sum: 0, count: 0, times: [], quick: 0, rest: 0, patience: 15 };
      for (const time of times) km.judgePicture(quality, time);
      return quality.level;
    }"""
    assert page.evaluate(level, [[20.0] * 500, 2]) == 2  # as it should be
    assert page.evaluate(level, [[60.0] * 6, 0]) == 1
    assert page.evaluate(level, [[500.0], 0]) == 2
    assert page.evaluate(level, [[60.0] * 12, 0]) == 0  # level 1 was of no use
    assert page.evaluate(level, [[60.0] * 6 + [40.0] * 6 + [20.0] * 60, 0]) == 2
    assert page.evaluate(level, [[2.0] * 6 * 14, 3]) == 3
    assert page.evaluate(level, [[2.0] * 6 * 15, 3]) == 2
    rest = """() => {
      const gl = { getParameter: () => "a card", getExtension: () => null }, quality = km.makeQuality(gl);
      const scale = () => km.levelNow(quality, true).scale, seen = [scale()], waits = [];
      quality.level = 3;
      for (const time of [900, 900]) km.judgeRest(quality, time);   // the processor is busy with something else
      for (seen.push(scale()); km.triesFiner(quality, true); seen.push(scale())) {
        waits.push(km.restDelay(quality, 0, true));
        km.judgeRest(quality, 20);
      }
      return [seen, waits];
    }"""
    assert page.evaluate(rest) == [[2, 1, 1, 2], [16000, 16000]]  # sharp again, without a reload; FINDINGS S4


def test_scripts_parse_no_markup_and_share_one_scope() -> None:
    paths = modules("replays/page/main.js")
    counts = Counter(name for path in paths for name in NAME.findall(display_file(path)))
    assert [name for name, count in counts.items() if count > 1] == []
    for path in files("kinemorph.display").joinpath("stage").iterdir():
        if path.name.endswith(".js"):
            assert f"stage/{path.name}" in paths, "a script that nothing imports"
    selectors = re.findall(r"^\s*([^@{}\n][^{}\n]*)\{", style(), re.MULTILINE)
    assert [one for one in selectors if not one.startswith(".stage")] == []
    text = bundle("replays/page/main.js")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|getElementById"
    assert re.findall(forbidden, text) == []
    assert re.findall(r"^(?:import|export)\b.*", text, re.MULTILINE) == []


# ── slow ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_two_hundred_stages_leave_no_context(page: Any, data: dict[str, bytes]) -> None:
    """A browser drops the oldest of more than 16 contexts and complains: none may be left by a closed stage."""
    open_stages(page, data)
    page.evaluate("async () => { window.kept = await km.open('robot'); }")
    page.evaluate("""async () => {
      const scene = await km.scene('again');
      for (let k = 0; k < 200; k++) {
        const host = document.createElement("div");
        document.body.append(host);
        km.openStage(host, scene).close();
        host.remove();
      }
    }""")
    page.wait_for_timeout(500)
    assert page.complaints == [] and page.evaluate("kept.webgl")
    assert page.evaluate("document.querySelectorAll('canvas').length") == 1 + page.evaluate(
        "kept.element.querySelectorAll('.plots canvas').length"
    )


@pytest.mark.slow
def test_a_change_of_200_modules_is_drawn_at_once(page: Any) -> None:
    known: set[str] = set()
    scenes = {str(count): scene_of(grown("tree", count).robot()) for count in (200, 199)}
    data = {name: packed_bytes(scene, Camera(), known) for name, scene in scenes.items()}
    open_stages(page, data)
    page.evaluate("async () => { window.stage = await km.open('200', { panel: false }); }")
    spent = page.evaluate("""async () => {
      const messages = [], spent = [];
      for (const name of ["199", "200"]) messages.push(await (await fetch(`/data/${name}`)).arrayBuffer());
      for (let k = 0; k < 16; k++) {
        const began = performance.now(), scene = await km.unpackBytes(messages[k % 2], km.known);
        stage.setScene(scene, { keepCamera: true });
        const script = performance.now() - began;
        stage.frameMilliseconds.length = 0;
        while (!stage.frameMilliseconds.length) await new Promise((done) => setTimeout(done, 10));
        spent.push(script + stage.frameMilliseconds[0]);
      }
      return spent;
    }""")
    print(f"200 modules: {np.median(spent):.1f} ms of script from the message to the picture, at most {max(spent):.1f}")
    assert np.median(spent) < 60.0


@pytest.mark.slow
def test_fifty_live_bodies_take_two_milliseconds_of_script(page: Any) -> None:
    robot = library.chain(50)
    data = {"chain": packed_bytes(scene_of(robot), Camera(), set())}
    open_stages(page, data)
    page.evaluate("async () => { window.stage = await km.open('chain', { panel: false }); }")
    frames = [placed(robot, np.full(robot.nq, 0.02 * k)) for k in range(30)]
    spent = page.evaluate(
        """async (frames) => {
          const spent = [];
          for (const [p, q] of [...frames, ...frames]) {
            const began = performance.now();
            stage.setPoses(0, Float32Array.from(p), Float32Array.from(q));
            const script = performance.now() - began;
            stage.frameMilliseconds.length = 0;
            while (!stage.frameMilliseconds.length) await new Promise((done) => setTimeout(done, 5));
            spent.push(script + stage.frameMilliseconds[0]);
          }
          return spent;
        }""",
        frames,
    )
    print(f"50 live bodies: {np.median(spent):.2f} ms of script for a picture")
    assert np.median(spent) < 2.0
