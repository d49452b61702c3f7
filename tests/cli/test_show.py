"""The verb show: models and saved runs as numbers, replays, films, in a browser and in the live viewer."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.cli.options import scene_options
from kinemorph.display import browsers
from kinemorph.simulation.files.storage import load_trajectory
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case

ARM = """<robot name="arm"><link name="base"/><link name="upper">
<inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="lost.stl"/></geometry></visual></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "swing.npz"
    assert run("simulate", "double_pendulum", "--time", "0.5", "--save", str(path)).exit_code == 0
    return path


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_is_told_in_short_and_how_to_see_it() -> None:
    result = run("show", "four_bar")
    assert result.exit_code == 0
    for fact in ("four_bar", "of the cut tree +3", "loops +1", "2.3 kg", "revolute"):
        assert re.search(fact, result.stdout), fact
    assert all(option in result.stderr for option in ("--open", "--html four_bar.html", "--view", "--png"))
    quiet = run("show", "four_bar", "--json")
    assert quiet.stderr == "" and json.loads(quiet.stdout)["files"] == []


def test_a_model_is_written_as_a_page_and_as_a_picture(tmp_path: Path) -> None:
    page, picture = tmp_path / "new" / "arm.html", tmp_path / "arm.png"
    data = parsed("show", "puma", "--html", str(page), "--png", str(picture), "--camera", "iso", "--q", "joint2=40deg")
    assert data["files"] == [str(page), str(picture)] and (data["name"], data["dof"]) == ("puma", 6)
    assert "<html" in page.read_text()[:400] and picture.stat().st_size > 10_000
    other = tmp_path / "other.png"
    parsed("show", "puma", "--png", str(other), "--camera", "10,120", "--q", "joint2=40deg")
    assert other.read_bytes() != picture.read_bytes()


def test_a_loop_is_closed_about_the_coordinate_that_is_given(tmp_path: Path) -> None:
    result = run("show", "four_bar", "--q", "q1=0.8", "--html", str(tmp_path / "x.html"))
    assert result.exit_code == 0 and "stay open" not in result.stderr, result.stderr
    result = run("show", "four_bar", "--q", "q1=0.8,q2=1,q3=1", "--html", str(tmp_path / "x.html"))
    assert result.exit_code == 0 and "loops stay open, 'closure' by" in result.stderr


def test_models_stand_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "two.html"
    result = run("show", "pendulum", "--compare", "crane", "--html", str(page))
    assert result.exit_code == 0 and f"wrote {page}" in result.stderr


def test_a_mesh_that_is_missing_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    page = tmp_path / "arm.html"
    result = run("show", str(tmp_path / "arm.urdf"), "--html", str(page))
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("lost.stl") >= 1 and page.stat().st_size > 10_000


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_saved_run_is_given_in_figures(saved: Path) -> None:
    data = parsed("show", str(saved))
    assert (data["name"], data["samples"], data["outcome"]["kind"]) == ("double_pendulum", 51, "finished")
    rows = {row["name"]: row for row in data["columns"]}
    column = load_trajectory(saved)["q.q1"]
    assert rows["q.q1"]["largest"] == column.max() and rows["q.q1"]["last"] == column[-1]
    assert [row["name"] for row in parsed("show", str(saved), "--columns", "v")["columns"]] == ["v.q1", "v.q2"]
    assert "energy.kinetic" in run("show", str(saved)).stdout


def test_a_run_is_plotted_compared_and_replayed(saved: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("plot.png", "phase.png", "run.html")]
    result = run(
        *("show", str(saved), "--plot", str(files[0]), "--columns", "q", "--compare", str(saved), "--difference"),
        *("--phase", str(files[1]), "--joint", "q2", "--html", str(files[2]), "--trace", "link2", "--camera", "left"),
        *("--fps", "30"),
    )
    assert result.exit_code == 0, result.stderr
    assert all(path.stat().st_size > 1000 for path in files)
    assert "built-in robot" not in result.stderr  # the model is in the file


def test_a_run_is_painted(saved: Path, tmp_path: Path) -> None:
    files = [tmp_path / "run.gif", tmp_path / "run.mp4"]
    looks = ("--speed", "2", "--fps", "10", "--camera", "top", "--trace", "link2", "--follow", "link1")
    result = run("show", str(saved), "--gif", str(files[0]), "--mp4", str(files[1]), *looks)
    assert result.exit_code == 0, result.stderr
    assert files[0].read_bytes()[:4] == b"GIF8" and files[1].read_bytes()[4:8] == b"ftyp"


def test_a_run_of_a_file_needs_the_file_and_then_shows_its_elements(tmp_path: Path) -> None:
    assert run("new", str(tmp_path / "mine.toml"), "--kind", "cart").exit_code == 0
    model, kept, page = tmp_path / "mine.toml", tmp_path / "mine.csv", tmp_path / "mine.html"
    assert run("simulate", str(model), "--time", "0.2", "--save", str(kept)).exit_code == 0
    refused = run("show", str(kept), "--html", str(page))
    assert refused.exit_code == 2 and "--html needs the robot of run 'mine'" in refused.stderr
    assert parsed("show", str(kept), "--html", str(page), "--robot", str(model))["files"] == [str(page)]


@pytest.mark.parametrize("ending", [".res", ".csv"])
def test_columns_that_a_table_lacks_are_computed_from_the_model_that_is_named(ending: str, tmp_path: Path) -> None:
    """Reactions of joints are not in a table: --robot names their model, and the message without it says so."""
    assert run("new", str(tmp_path / "mine.toml"), "--kind", "cart").exit_code == 0
    model, kept = tmp_path / "mine.toml", tmp_path / f"mine{ending}"
    assert run("simulate", str(model), "--time", "0.2", "--save", str(kept)).exit_code == 0
    refused = run("show", str(kept), "--columns", "reaction.*")
    assert refused.exit_code == 2 and refused.stderr == (
        "error: --columns needs the robot of run 'mine', which is not a built-in one. Name it with --robot.\n"
    )
    found = parsed("show", str(kept), "--columns", "reaction.*,q", "--robot", str(model))["columns"]
    wanted = kinemorph.simulate(kinemorph.load(model), 0.2)
    name = next(name for name in wanted.on_request if name.startswith("reaction.") and np.ptp(wanted[name]) > 0.0)
    (row,) = [row for row in found if row["name"] == name]
    assert row["last"] == pytest.approx(wanted[name][-1], rel=1e-4)


# ── browsers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes browsers the only ones there are: scripts that write down what they are asked to open."""

    def install(*names: str, display: bool = True) -> Path:
        folder, asked = tmp_path / "bin", tmp_path / "asked.txt"
        folder.mkdir()
        for name in names:
            script = folder / name
            script.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$last" >> {asked}\n')
            script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.delenv("BROWSER", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.setenv("DISPLAY", ":99") if display else monkeypatch.delenv("DISPLAY", raising=False)
        for name, value in (("_tryorder", None), ("_browsers", {}), ("_os_preferred_browser", None)):
            monkeypatch.setattr(webbrowser, name, value)  # Python looks for browsers once
        return asked

    return install


needs_scripts = pytest.mark.skipif(sys.platform != "linux", reason="browsers are found in other ways here")


@needs_scripts
def test_a_page_is_opened_in_a_browser_with_windows(installed: Callable[..., Path], tmp_path: Path) -> None:
    asked, page = installed("firefox", "lynx"), tmp_path / "a page.html"
    assert browsers.graphical_browser() == "firefox"
    assert run("show", "pendulum", "--html", str(page), "--open").exit_code == 0
    deadline = time.monotonic() + 10.0
    while not asked.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert asked.read_text().strip() == page.as_uri()


@needs_scripts
@pytest.mark.parametrize("names", [(), ("lynx", "w3m", "www-browser")])
def test_without_such_a_browser_the_page_is_said_where_it_is(
    names: tuple[str, ...], installed: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = installed(*names, display=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = run("show", "pendulum", "--open", "--json")
    (page,) = json.loads(result.stdout)["files"]
    assert result.exit_code == 0 and Path(page).is_file() and Path(page).parent.parent == tmp_path
    assert f"there is no graphical browser here: open {page} yourself" in result.stderr
    assert not asked.exists() and browsers.graphical_browser() is None
    assert parsed("doctor")["browser"] is None


@needs_scripts
def test_a_browser_that_is_named_is_taken_unless_it_is_one_for_terminals(
    installed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed("mine", "lynx", display=False)
    monkeypatch.setenv("BROWSER", "mine")
    assert browsers.graphical_browser() == "mine"
    for name, value in (("_tryorder", None), ("_browsers", {})):
        monkeypatch.setattr(webbrowser, name, value)
    monkeypatch.setenv("BROWSER", "lynx")
    assert browsers.graphical_browser() is None and not browsers.open_page("http://127.0.0.1:1/")


# ── the live viewer ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process")
def test_the_viewer_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "kinemorph", "show", "pendulum", "--view", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(kinemorph.__file__).resolve().parent.parent)}
    # a run of the tests in the background would hand on that Ctrl-C is ignored
    heeded = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), "env": environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **heeded) as shown:
        try:
            lines = []
            while not lines or lines[-1].rstrip() != "}":
                lines.append(shown.stdout.readline())  # type: ignore[union-attr]
                assert lines[-1], shown.stderr.read()  # type: ignore[union-attr]
            data = json.loads("".join(lines))
            entry = urllib.request.Request(data["url"].partition("?")[0])
            entry.add_header("Authorization", f"Bearer {data['url'].partition('token=')[2]}")
            with urllib.request.urlopen(entry, timeout=10.0) as page:
                assert page.status == 200
            shown.send_signal(signal.SIGINT)
            _, messages = shown.communicate(timeout=20.0)
        finally:
            shown.kill()
    assert shown.returncode == 0 and data["url"] in messages and "until Ctrl-C" in messages
    assert "Traceback" not in messages


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("show", "pendulum", "--view", "--port", str(port))
    assert result.exit_code == 2 and str(port) in result.stderr and result.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "extra"), [(("--view",), "view"), (("--mp4", "x.mp4"), "video")], ids=["view", "mp4"]
)
def test_an_extra_that_is_missing_is_told_before_any_work(
    arguments: tuple[str, ...], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scene_options, "find_spec", lambda name: None)
    result = run("show", "no_such_file.npz", *arguments)
    assert result.exit_code == 2 and f"pip install 'kinemorph[{extra}]'" in result.stderr
    assert os.listdir() == []


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────

BAD = [
    ("show", "MODEL"),
    ("show pendulm", "Did you mean 'pendulum'"),
    ("show missing.npz", "does not exist"),
    ("show missing.urdf", "missing.urdf"),
    ("show broken.npz", "broken.npz"),
    ("show broken.urdf", "broken.urdf"),
    ("show pendulum --html x.txt", ".html"),
    ("show pendulum --html taken/x.html", "cannot be written"),
    ("show pendulum --png x.jpg", ".png"),
    ("show pendulum --gif x.gif", "kinemorph simulate"),
    ("show pendulum --mp4 x.mp4", "kinemorph simulate"),
    ("show pendulum --plot x.png", "'pendulum' is a model"),
    ("show pendulum --columns q", "'pendulum' is a model"),
    ("show pendulum --robot puma", "'pendulum' is a model"),
    ("show pendulum --html x.html --trace link1", "'pendulum' is a model"),
    ("show pendulum --html x.html --q 1,2", "expected (1,)"),
    ("show pendulum --html x.html --q elbow=1", "no coordinate 'elbow'"),
    ("show pendulum --html x.html --camera lefft", "'left'"),
    ("show pendulum --html x.html --camera 10", "camera"),
    ("show pendulum --html x.html --camera 1,2,3", "elevation and azimuth"),
    ("show pendulum --html x.html --camera 100,0", "-90 to 90"),
    ("show pendulum --html x.html --follow nobody", "nobody"),
    ("show pendulum --html x.html --compare swing.npz", "runs with runs"),
    ("show pendulum --png x.png --compare crane", "one model"),
    ("show pendulum --camera left", "--html"),
    ("show pendulum --port 8080", "--view"),
    ("show pendulum --view --port 0", "--port"),
    ("show pendulum --base free", "built-in robot"),
    ("show swing.npz --joint q1", "--phase"),
    ("show swing.npz --columns q9", "no column 'q9'"),
    ("show swing.npz --compare swing.npz", "--plot or --html"),
    ("show swing.npz --compare crane --html x.html", "runs with runs"),
    ("show swing.npz --difference --plot x.png", "--compare"),
    ("show swing.npz --robot puma", "leave --robot out"),
    ("show swing.npz --robot puma --gif x.gif", "double_pendulum"),
    ("show swing.npz --speed 2", "--gif, --mp4"),
    ("show swing.npz --gif x.gif --speed 0", "--speed is 0"),
    ("show swing.npz --html x.html --fps -1", "--fps is -1"),
    ("show swing.npz --html x.html --trace tipp", "'tipp'"),
    ("show swing.npz --png x.png", "is a run"),
    ("show swing.npz --q 1", "is a run"),
    ("show swing.npz --animate x.gif", "--animate"),
]


@each_case(("line", "named"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_is_a_sentence_on_stderr_and_exit_code_2(
    line: str, named: str, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    Path("broken.npz").write_bytes(b"not a run")
    Path("broken.urdf").write_text("<robot name='x'><link>")
    Path("swing.npz").write_bytes(saved.read_bytes())
    result = run(*line.split())
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert named in result.stderr
    assert all(one.startswith(("error: ", "note: ")) for one in result.stderr.splitlines())
    assert not list(tmp_path.glob("x.*"))
