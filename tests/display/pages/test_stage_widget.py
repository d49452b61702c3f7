"""The widget of notebooks: what Python sets moves the picture, what the user changes comes back to Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.display.replays.replay import replay
from kinemorph.errors import MissingExtraError, ShapeError, UnsupportedError
from kinemorph.model import library
from support.tools.browsing import Browser
from support.tools.staged_pages import open_stages

anywidget = pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'kinemorph[notebook]'")

# the part of a notebook that keeps a widget's state in the page; `sent` are the changes that it sends to the kernel
MODEL = """async (state) => {
  const { default: widget } = await import("/widget.js");
  const listeners = new Map(), changed = {};
  const buffer = await (await fetch("/data/scene")).arrayBuffer();
  window.sent = [];
  window.model = {
    state: { ...state, _scene: new DataView(buffer) },
    get: (name) => model.state[name],
    set: (name, value) => { model.state[name] = changed[name] = value; model.tell(name); },
    tell: (name) => { for (const listener of listeners.get(`change:${name}`) ?? []) listener(); },
    on: (name, listener) => listeners.set(name, [...(listeners.get(name) ?? []), listener]),
    off: (name, listener) => listeners.set(name, listeners.get(name).filter((one) => one !== listener)),
    save_changes: () => { sent.push({ ...changed }); for (const name in changed) delete changed[name]; },
    listening: () => [...listeners.values()].flat().length,
    // a change that the kernel sends
    take: (news) => { Object.assign(model.state, news); for (const name in news) model.tell(name); },
  };
  const el = document.createElement("div");
  document.body.append(el);
  window.end = await widget.render({ model, el });
}"""


class Cell:
    """A widget in a page, without a notebook: its messages are carried by hand."""

    def __init__(self, page: Any, widget: Any) -> None:
        self.page, self.widget = page, widget
        data = {"scene": bytes(widget._scene)}
        open_stages(page, data, {"/widget.js": str(widget._esm)})
        page.evaluate(MODEL, self.state())
        widget.observe(self.push, ["_coordinates", "layers", "time", "playing", "speed", "loop"])

    def state(self) -> dict[str, Any]:
        names = ("_coordinates", "layers", "time", "playing", "speed", "loop", "height")
        return json.loads(json.dumps({name: getattr(self.widget, name) for name in names}))

    def push(self, change: Any) -> None:
        self.page.evaluate("(news) => model.take(news)", {change["name"]: change["new"]})

    def pull(self) -> None:
        """Takes over what the page has sent to the kernel."""
        self.widget.unobserve(self.push, ["_coordinates", "layers", "time", "playing", "speed", "loop"])
        for news in self.page.evaluate("sent.splice(0)"):
            self.widget.set_state(news)
        self.widget.observe(self.push, ["_coordinates", "layers", "time", "playing", "speed", "loop"])


@pytest.fixture(scope="module")
def cell(browser: Browser) -> Iterator[Cell]:
    with browser.page(700, 600) as page:
        yield Cell(page, replay(library.double_pendulum(), q=[0.4, 0.2]).widget(height=420))


def test_python_moves_the_robot_and_reads_its_sliders(cell: Cell) -> None:
    page = cell.page
    assert page.locator(".stage").bounding_box()["height"] == pytest.approx(420.0)
    cell.widget.q = [1.1, -0.6]
    found = page.get_by_role("spinbutton", name="q1").input_value()
    assert float(found) == pytest.approx(np.degrees(1.1), abs=0.06)
    slider = page.get_by_role("slider", name="q2")
    assert float(slider.input_value()) == pytest.approx(np.degrees(-0.6), abs=1e-3)
    slider.evaluate("(one) => { one.value = 90; one.dispatchEvent(new Event('input')); }")
    cell.pull()
    assert cell.widget.q == pytest.approx([1.1, np.pi / 2.0], abs=1e-3)
    cell.widget.layers = {**cell.widget.layers, "joints": True}
    page.locator("summary[aria-label=Layers]").click()
    box = page.get_by_role("checkbox", name="joint axes")
    assert box.is_checked()
    box.click()
    cell.pull()
    assert cell.widget.layers["joints"] is False
    assert page.complaints == []


def test_a_wrong_configuration_is_answered_here(cell: Cell) -> None:
    with pytest.raises(ShapeError):
        cell.widget.q = [1.0]


@pytest.mark.slow
def test_a_run_plays_and_the_cell_can_be_closed(browser: Browser) -> None:
    run = kinemorph.simulate(library.pendulum(), 0.6, q=[1.0], output_step=0.05)
    with browser.page(700, 600) as page:
        cell = Cell(page, run.replay(fps=20.0).widget())
        cell.widget.time = 0.3
        assert page.get_by_role("slider", name="Time").input_value() != ""
        cell.widget.play()
        page.evaluate("async () => { while (model.get('playing')) await new Promise((done) => setTimeout(done, 20)); }")
        cell.pull()
        assert cell.widget.playing is False and cell.widget.time == pytest.approx(0.6)
        with pytest.raises(UnsupportedError, match="a run, which has its own motion"):
            cell.widget.q = [0.0]
        page.evaluate("() => end()")
        assert page.evaluate("model.listening()") == 0 and page.locator("canvas").count() == 0
        assert page.complaints == []


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "kinemorph.display.notebooks.stage_widget", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'kinemorph\[notebook\]'"):
        replay(library.pendulum()).widget()
