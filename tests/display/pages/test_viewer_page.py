"""The viewer's page in a browser: what a hand does there reaches the program, and reports that are late are dropped."""

from typing import Any

import numpy as np
import pytest

import kinemorph as km
from kinemorph.display.looks.poses import Poses
from kinemorph.display.viewer.view import Viewer, view
from kinemorph.errors import ShapeError, UnsupportedError
from support.pages.viewers import assert_posed, until
from support.tools.browsing import Browser

pytest.importorskip("starlette")


WALKED = "viewer.stage.scene.figures[0].traces[0].walked"
SHOWN = "[...viewer.stage.scene.figures[0].q]"
# what the page says and does is tested, not its pixels: without a graphics card they would take most of the time
UNDRAWN = """for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced", "clear"])
  WebGL2RenderingContext.prototype[name] = () => {};"""


def opened(page: Any, address: str) -> None:
    page.add_init_script(UNDRAWN)
    page.goto(address)
    page.wait_for_selector("html[data-ready=true]")


def test_a_hand_on_a_slider_moves_the_robot_and_all_other_pages(browser: Browser, kept: list[Viewer]) -> None:
    robot = km.library.four_bar()
    viewer = view(robot)
    kept.append(viewer)
    with browser.page() as page, browser.page() as frame:
        opened(page, viewer.url)
        assert "token" not in page.url
        opened(frame, viewer._server.frame_url)
        viewer.set_joint("q1", 1.0)
        for one in (page, frame):
            assert until(lambda one=one: one.evaluate(SHOWN) == viewer.q.tolist())
        box = page.get_by_role("spinbutton", name="q1")
        box.fill("45")
        box.press("Enter")
        assert until(lambda: viewer.q[0] == pytest.approx(np.radians(45.0)))
        assert_posed(viewer, robot, viewer.q)
        assert until(lambda: frame.evaluate(SHOWN) == viewer.q.tolist())
        viewer.trace("coupler")
        ends = []
        for angle in (1.2, 1.0, 0.8):
            viewer.set_joint("q1", angle)
            ends.append(Poses(robot, viewer.q).p["coupler"][0])
            assert until(lambda: frame.evaluate(SHOWN) == viewer.q.tolist())
        np.testing.assert_allclose(np.reshape(frame.evaluate(WALKED), (-1, 4))[-3:, :3], ends, atol=1e-5)
        viewer.set_joint("q3", 0.2)
        told = page.get_by_role("status").filter(has_text="q3 stops here")
        told.wait_for()
        page.get_by_role("button", name="reset").click()
        assert until(lambda: viewer.message == "")
        assert all(address.startswith((f"http://127.0.0.1:{viewer.port}/", "data:")) for address in page.requests)
        assert page.complaints == [] and frame.complaints == []
        viewer.stop()
        page.get_by_role("status").filter(has_text="connection to the program is lost").wait_for()


def test_a_hand_plays_and_scrubs(
    pendulum: km.Robot, swing: km.Trajectory, browser: Browser, kept: list[Viewer]
) -> None:
    viewer = view(swing, trace="tip")
    kept.append(viewer)
    with browser.page() as page:
        opened(page, viewer.url)
        viewer.speed = 4.0
        assert until(lambda: page.evaluate("viewer.stage.speed") == 4.0)
        page.get_by_role("button", name="Play").click()
        assert until(lambda: viewer.time == 1.0 and not viewer.playing)
        assert_posed(viewer, pendulum, swing.at(1.0).q)
        assert until(lambda: not page.evaluate("viewer.stage.playing"))  # it has a clock of its own, which may lag
        page.get_by_role("slider", name="Time").fill("0.25")
        assert until(lambda: viewer.time == 0.25)
        viewer.time = 0.5
        assert until(lambda: page.evaluate("viewer.stage.time") == 0.5)
        shown = page.evaluate("viewer.stage.pose(0, 'link2')")
        position, quaternion = viewer.pose(0, "link2")
        np.testing.assert_allclose(shown["position"], position, atol=1e-4)
        assert abs(np.dot(shown["quaternion"], quaternion)) == pytest.approx(1.0, abs=1e-6)
        page.get_by_role("slider", name="Time").press("l")
        assert until(lambda: viewer.loop)
        viewer.trace("link1")
        assert until(lambda: page.evaluate("viewer.stage.scene.figures[0].traces.length") == 2)
        viewer.hide("shapes")
        assert until(lambda: not page.evaluate("viewer.stage.layers.shapes"))
        assert page.complaints == []


HOLD = """const { ask } = viewer.connection;
window.held = [];
viewer.connection.ask = (...asked) => new Promise((done, failed) => {
  held.push(() => ask(...asked).then(done, failed));
});"""  # what the page asks from now on is under way until `held` is called


def test_a_report_that_arrives_after_a_newer_command_of_the_program_is_dropped(
    swing: km.Trajectory, browser: Browser, kept: list[Viewer]
) -> None:
    """The user scrubs and hides a layer; while the report is under way, the program sets the time, not the layers."""
    viewer = view(swing)
    kept.append(viewer)
    with browser.page() as page:
        opened(page, viewer.url)
        page.evaluate(f"() => {{ {HOLD} }}")
        page.evaluate("viewer.stage.setTime(0.75); viewer.stage.setLayer('shapes', false)")
        assert until(lambda: page.evaluate("held.length") == 1)
        page.evaluate("viewer.stage.setLoop(true)")  # to be reported after the first one
        viewer.time = 0.25
        assert until(lambda: page.evaluate("viewer.stage.time") == 0.25)
        assert not page.evaluate("viewer.stage.layers.shapes")  # the program has set another thing
        page.evaluate("held.shift()()")
        assert until(lambda: page.evaluate("viewer.changed.size === 0 || held.length > 0"))
        page.evaluate("held.splice(0).forEach((send) => send())")
        assert until(lambda: not viewer.layers["shapes"])
        assert viewer.time == 0.25 == page.evaluate("viewer.stage.time")
        assert viewer.loop == page.evaluate("viewer.stage.loop") and not viewer.loop
        page.evaluate("held.length = 0; viewer.stage.setTime(0.5)")  # the page knows the newest command now
        assert until(lambda: page.evaluate("held.length") == 1)
        page.evaluate("held.shift()()")
        assert until(lambda: viewer.time == 0.5)
        assert page.complaints == []


def test_reports_of_pages_that_do_not_know_the_newest_state_are_dropped(pendulum: km.Robot, kept: list[Viewer]) -> None:
    """Of two pages that change the same, the first one to arrive counts; what nobody else has changed counts always."""
    viewer = view(pendulum, q=[0.1, 0.2])
    kept.append(viewer)
    one = two = viewer._state()["revisions"]
    one = one | viewer._change({"q": [[0.3, 0.2]], "known": one})["revisions"]
    assert viewer._change({"q": [[0.5, 0.5]], "layers": {"shapes": False}, "known": two}) == {
        "revisions": {"layers": 1}
    }
    assert viewer.q.tolist() == [0.3, 0.2] and not viewer.layers["shapes"]
    assert viewer._change({"layers": {"shapes": True}, "known": one}) == {"revisions": {}}
    assert viewer._change({"q": [[0.4, 0.2]], "known": one}) == {"revisions": {"q": 2}}
    viewer.set_joint("q1", 0.6)
    viewer.show("inertia")
    viewer.speed = 2.0
    assert viewer._state()["revisions"] == {"q": 3, "clock": 1, "layers": 2}
    assert viewer._change({"q": [[0.0, 0.0]], "clock": {"speed": 1.0}, "known": {}}) == {"revisions": {}}
    assert viewer.q.tolist() == [0.6, 0.2] and viewer.speed == 2.0


def test_what_a_page_sends_is_checked(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    before = viewer._state()
    for wrong in (
        {"q": [[0.0, "x"]]}, {"q": [[0.0, 1e400]]}, {"q": [[0.0]]}, {"q": []}, {"q": "x"}, {"layers": {"x": True}},
        {"layers": [1]}, {"clock": {"time": "x"}}, {"clock": {"speed": 0}}, {"clock": {"speed": 1e400}},
    ):  # fmt: skip
        with pytest.raises((ShapeError, UnsupportedError)):
            viewer._change(wrong)
    assert viewer._state() == before
