"""The example notebook runs as it stands, in a kernel of this interpreter, and every cell shows what it promises."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import lxml.html
import nbformat
import numpy as np
import pytest
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

import kinemorph
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.replays import notebook_frame
from kinemorph.display.replays.replay import Replay, replay

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "15_notebook.ipynb"
LARGEST = 720_000  # letters of all outputs together; two thirds are the pages of two replays


class ThisInterpreter(KernelSpecManager):
    """Knows one kernel, and needs none to be installed."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name=kernel_name, language="python")


@pytest.fixture(scope="module")
def executed() -> Any:
    """The notebook with its outputs."""
    read = nbformat.read(NOTEBOOK, 4)
    with tempfile.TemporaryDirectory(prefix="km") as folder:  # a short name: sockets have no room for long ones
        places = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
        source = str(Path(kinemorph.__file__).resolve().parents[1])
        manager = AsyncKernelManager(
            kernel_spec_manager=ThisInterpreter(),
            transport="tcp" if os.name == "nt" else "ipc",
            connection_file=str(Path(folder) / "k.json"),
        )
        client = NotebookClient(read, timeout=120, startup_timeout=60, km=manager)
        try:
            client.execute(env={**os.environ, **places, "PYTHONPATH": source}, cwd=folder)
        finally:
            run_sync(manager.shutdown_kernel)(now=True)
    assert not run_sync(manager.is_alive)()
    return read


def test_the_notebook_is_stored_without_outputs() -> None:
    read = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(read)
    assert read.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in read.cells:
        assert not cell.metadata and not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.slow
def test_every_cell_shows_what_it_is_there_for(executed: Any) -> None:
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert all(len(cell.outputs) == 1 and cell.outputs[0].output_type == "execute_result" for cell in cells)
    shown = [cell.outputs[0].data for cell in cells]
    html = [data.get("text/html", "") for data in shown]
    for word in ("Robot", "System", "Dynamics of", "Run of", "Audit of"):
        assert any('class="kinemorph-card"' in card and f">{word}</span>" in card for card in html), word
    assert sum("data:image/png" in card for card in html) == 4  # robot, system, dynamics, run
    assert sum(card.startswith("<iframe srcdoc=") for card in html) == 2
    assert sum("image/png" in data for data in shown) == 2  # plots
    assert sum("text/latex" in data for data in shown) == 2  # dynamics, equations
    assert all("text/plain" in data for data in shown)
    assert "grows ever faster" in html[-1] and "#e5484d" in html[-1]  # the run that fails
    assert sum(len(text) for data in shown for text in data.values()) < LARGEST


# ── replays in a frame ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def spinning() -> Replay:
    """Of a rod that turns by more than a quarter of a turn from one picture to the next."""
    run = kinemorph.simulate(kinemorph.library.build("pendulum"), 1.0, q=[0.0], v=[100.0], output_step=0.02)
    return replay(run, fps=60.0, title="</iframe><script>alert(1)</script>")


def test_a_frame_holds_the_page_and_nothing_gets_out(spinning: Replay) -> None:
    (inside,) = lxml.html.fragment_fromstring(spinning._repr_html_(), create_parent=True)
    assert inside.tag == "iframe" and inside.get("srcdoc") == spinning.html
    assert inside.get("sandbox") == "allow-scripts allow-downloads"  # no access to the notebook around it


def test_fewer_pictures_are_some_of_all_with_the_last(spinning: Replay) -> None:
    whole = spinning.scene
    few = notebook_frame.thinned(whole, 7)
    numbers = np.searchsorted(whole.times, few.times)
    assert numbers.tolist() == [*range(0, len(whole.times) - 1, 7), len(whole.times) - 1]
    before, after = whole.figures[0], few.figures[0]
    assert np.array_equal(after.q, before.q[numbers]) and np.array_equal(after.positions, before.positions[numbers])
    near = np.einsum("nbi,nbi->nb", after.quaternions, before.quaternions[numbers])
    assert np.abs(near) == pytest.approx(np.ones_like(near))
    for one, other in zip(few.series, whole.series, strict=True):
        assert np.array_equal(one.values, other.values[numbers], equal_nan=True)


def test_a_large_replay_is_thinned_and_says_so(spinning: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    base = replace(spinning, scene=notebook_frame.thinned(spinning.scene, 60)).size  # the page and its shapes
    monkeypatch.setattr(notebook_frame, "MOST_BYTES", base + (spinning.size - base) // 2)
    html = spinning._repr_html_()
    shown = notebook_frame.fitting(spinning)
    assert shown is not None and base < shown.size <= notebook_frame.MOST_BYTES
    assert "frames per second instead of 60" in html and "replay.save(" in html
    scene = shown.scene
    assert scene.times[0] == 0.0 and scene.times[-1] == spinning.scene.times[-1]
    kept = np.searchsorted(spinning.scene.times, scene.times)
    whole, thin = spinning.scene.figures[0], scene.figures[0]
    np.testing.assert_array_equal(thin.positions, whole.positions[kept])
    arm = np.array([0.0, 0.0, -1.0])
    np.testing.assert_allclose(rotated(thin.quaternions, arm), rotated(whole.quaternions[kept], arm), atol=1e-12)
    assert (np.sum(thin.quaternions[1:] * thin.quaternions[:-1], axis=-1) >= 0.0).all()  # no turn the long way round
    assert all(len(series.values) == len(kept) for series in scene.series)


def test_a_replay_that_stays_large_is_not_put_in(spinning: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_frame, "MOST_BYTES", 10_000)
    html = spinning._repr_html_()
    assert "<iframe" not in html and "replay.open()" in html and "0.01 MB" in html
    still = replay(kinemorph.library.build("pendulum"))
    assert "<iframe" not in still._repr_html_()


def test_a_run_has_its_replay(tmp_path: Path) -> None:
    run = kinemorph.simulate(kinemorph.library.build("pendulum"), 2.0, q=[1.0])
    made = run.replay(tmp_path / "run.html", fps=30.0)
    assert isinstance(made, Replay) and (tmp_path / "run.html").read_text(encoding="utf-8") == made.html
    assert len(made.scene.times) == 61


def test_a_run_has_its_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr("kinemorph.display.viewer.view.view", lambda *what, **how: given.append((what, how)))
    run = kinemorph.simulate(kinemorph.library.build("pendulum"), 0.1, q=[1.0])
    run.view(port=8123)
    assert given == [((run,), {"port": 8123})]


def test_pictures_show_themselves_and_can_be_pickled() -> None:
    import pickle

    figure = kinemorph.draw(kinemorph.library.build("pendulum"), size=(2.0, 2.0))
    shown = figure._repr_png_()
    assert shown.startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(figure))._repr_png_() == shown
