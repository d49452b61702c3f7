"""Requests of the panels Equations, Analysis, Exports and Report: wrong arguments, parts, cancelling, and the same in
Python and as a command, which are carried out here.
"""

from __future__ import annotations

import os
import re
import shlex
import time
import warnings

import pytest

from kinemorph.errors import UnsupportedError
from kinemorph.formats.loading import saved_texts
from kinemorph.model.library.choosing import choose
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.studio import requests
from kinemorph.studio.jobs.page_tasks import KEPT, Made
from kinemorph.studio.panels import exports, report
from kinemorph.studio.session import Session
from kinemorph.studio.transfers.downloads import KEPT as OFFERED
from kinemorph.studio.transfers.downloads import LARGEST, Offers
from support.studio.noted_page import NotedPage
from support.tools.command_line import run

MODELS = ("double_pendulum", "four_bar", "organism9", "hexapod24")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in MODELS:
        for file, text in saved_texts(choose(name), "toml", name).items():
            (folder / file).write_text(text)
    opened = Session(folder)
    yield opened
    opened.stop()


@pytest.fixture
def page():
    return NotedPage()


def ask(session, page, name, **arguments):
    return requests.answer(session, page, name, arguments)


def done(session, page, name, **arguments):
    """The data of a task that is started by a request."""
    ended = page.end_of(ask(session, page, name, **arguments)["task"])
    assert ended["state"] == "done", ended
    return ended


def test_choices_follow_the_model(session, page):
    """A four-bar has constraints and no modules; nine modules have bases, dyads and virtual joints."""
    bar = ask(session, page, "equation_choices", document="four_bar.toml")
    assert bar["modules"] is None and "constraint_jacobian" in [key for key, *_ in bar["quantities"]]
    nine = ask(session, page, "equation_choices", document="organism9.toml")
    assert nine["modules"]["now"] == {"base": "m0", "dyads": "halves", "root": "free"}
    assert len(nine["modules"]["bases"]) == 9
    offered = ask(session, page, "export_choices", document="organism9.toml")
    assert [key for key, _ in offered["pictures"]] == ["robot", "plan", "poles"]
    chapters = ask(session, page, "report_choices", document="organism9.toml")["chapters"]
    assert [key for key, _ in chapters][-1] == "verification"


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("write_equations", {"quantities": []}, "no quantity is chosen"),
        ("write_equations", {"quantities": "M"}, "expected a list"),
        ("write_equations", {"quantities": ["mass_matrix"], "modules": {"__class__": 1}}, "expected texts for base"),
        ("unfold_equations", {"task": 10**9, "group": 0, "equation": 0}, "no longer kept. Start it again."),
        ("equation_text", {"task": -1, "form": "latex"}, "no longer kept"),
        ("verify_model", {"states": 10**9}, "expected 1 to 200 states"),
        ("verify_model", {"states": 0.5}, "expected a whole number"),
        ("find_poles", {"low": 1.0}, "expected both or none"),
        ("show_mode", {"task": 10**9, "number": 1}, "no longer kept"),
        ("export_model", {"export": "shell", "options": {}}, "expected one of: code, program"),
        ("export_model", {"export": "program", "options": {"user": "x"}}, "expected options target, run"),
        ("export_model", {"export": "code", "options": {"functions": "mass_matrix"}}, "option 'functions'"),
        ("export_model", {"export": "code", "options": {"functions": [1]}}, "expected the name of a function"),
        ("write_report", {"to": "docx"}, "expected one of: pdf, html"),
        ("write_report", {"chapters": [{}]}, "expected the key of a chapter"),
        ("write_report", {"runs": ["../../etc/passwd"]}, "there is no saved run"),
        ("write_report", {"runs": [10**9]}, "there is no run with the number"),
    ],
)
def test_wrong_arguments_are_answered_with_sentences(session, page, name, arguments, sentence):
    if name not in ("unfold_equations", "equation_text"):
        arguments = {"document": "double_pendulum.toml", **arguments}
    with pytest.raises(UnsupportedError) as raised:
        ask(session, page, name, **arguments)
    assert sentence in str(raised.value)


def test_old_results_are_forgotten(session):
    for number in range(1000, 1000 + KEPT + 1):
        made = Made()
        made.task, made.data = number, {"n": number}
        session.tasks.keep(made)
    assert session.tasks.kept(1000 + KEPT) == {"n": 1000 + KEPT}
    with pytest.raises(UnsupportedError, match="no longer kept"):
        session.tasks.kept(1000)


def test_offers_are_bounded():
    """Downloads in memory stay below a size; the newest one is always there, also where it is larger than that."""
    offers = Offers()
    for size in (LARGEST // 2, LARGEST // 2, LARGEST // 2, 2 * LARGEST, 10):
        newest = offers.add(b"x" * size, "text/plain", "a.txt")["address"].removeprefix("/download/")
        assert newest in offers.offered
        assert len(offers.offered) == 1 or sum(len(one.content) for one in offers.offered.values()) <= LARGEST
    assert len(offers.offered) == 1
    for _ in range(100):
        offers.add(b"x", "text/plain", "a.txt")
    assert len(offers.offered) == OFFERED


@pytest.mark.slow
def test_equations_come_in_parts_and_as_text(session, page):
    """What the page gets first is a part; the rest comes by questions, and the text to copy is whole."""
    first = done(session, page, "write_equations", document="organism9.toml", quantities=["mass_matrix"])["data"]
    assert "texts" not in first
    (group,) = first["groups"]
    more = ask(session, page, "unfold_equations", task=first["task"], group=0, equation=len(group["equations"]))
    assert len(more["equations"]) == min(group["more"], 60)
    latex = ask(session, page, "equation_text", task=first["task"], form="latex")["text"]
    assert latex.startswith("\\begin{aligned}") and latex.count("\\begin") == latex.count("\\end")
    with pytest.raises(UnsupportedError, match="expected one of: latex, typst, text"):
        ask(session, page, "equation_text", task=first["task"], form="word")


@pytest.mark.slow
def test_modes_are_shown_as_a_motion(session, page):
    found = done(session, page, "find_poles", document="double_pendulum.toml")["data"]
    assert "shapes" not in found and len(found["poles"]) == 2
    ask(session, page, "show_mode", document="double_pendulum.toml", task=found["task"], number=2)
    (scene,) = [message for message in page.messages if message.get("push") == "scene"]
    assert scene["motion"] == "mode" and len(scene["payload"]) > 1000
    with pytest.raises(UnsupportedError, match="expected a mode number from 1 to 2"):
        ask(session, page, "show_mode", document="double_pendulum.toml", task=found["task"], number=3)
    with pytest.raises(UnsupportedError, match="the model has changed"):
        ask(session, page, "show_mode", document="organism9.toml", task=found["task"], number=1)


@pytest.mark.slow
def test_cancelled_within_a_second(session, page):
    """The Coriolis matrix of a hexapod takes a minute to simplify; it ends within a second of being cancelled."""
    session.workers.wait_until_warm()
    task = ask(session, page, "write_equations", document="hexapod24.toml", quantities=["coriolis_matrix"])["task"]
    time.sleep(3.0)
    start = time.perf_counter()
    ask(session, page, "cancel_task", task=task)
    assert page.end_of(task)["state"] == "cancelled"
    assert time.perf_counter() - start < 1.0


@pytest.mark.slow
def test_failures_are_sentences(session, page):
    ended = page.end_of(
        ask(session, page, "export_model", document="four_bar.toml", export="model", options={"format": "dh"})["task"]
    )
    assert ended["state"] == "failed" and "closes a loop" in ended["sentence"]


@pytest.mark.slow
def test_a_report_is_offered_to_save_and_to_show(session, page):
    given = {"document": "double_pendulum.toml", "to": "html", "chapters": ["description"]}
    ended = done(session, page, "write_report", **given)
    saved, shown = (one["address"].removeprefix("/download/") for one in (ended["file"], ended["data"]["shown"]))
    assert not session.offers.offered[saved].shown and session.offers.offered[shown].shown
    assert session.offers.offered[saved].content == session.offers.offered[shown].content


# ── the same in Python and as a command ───────────────────────────────────────────────────────────────────────────────

EQUATIONS = [
    ("double_pendulum", {"quantities": ["inverse_dynamics"], "formulation": "lagrange"}),
    ("double_pendulum", {"quantities": ["mass_matrix", "bias_forces"], "symbols": False}),
    ("double_pendulum", {"quantities": ["gravity_forces", "coriolis_matrix"], "names": "joints"}),
    ("four_bar", {"quantities": ["constraint_jacobian", "constraint_bias", "center_of_mass"]}),
    ("four_bar", {"quantities": ["relative_matrices"], "symbols": False}),
    (
        "organism9",
        {"quantities": ["gravity_forces"], "modules": {"dyads": "adapted", "root": ["x", "ry"], "base": "m3"}},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), EQUATIONS)
def test_equations_are_the_same_in_python_and_as_a_command(
    session, page, name, arguments, tmp_path, monkeypatch, capsys
):
    """The LaTeX that Python and the command print is the LaTeX that the page copies."""
    document = f"{name}.toml"
    found = done(session, page, "write_equations", document=document, **arguments)["data"]
    latex = ask(session, page, "equation_text", task=found["task"], form="latex")["text"]
    blocks = re.findall(r"\\begin{aligned}.*?\\end{aligned}", latex, re.DOTALL)
    printed = _carried_out(found["same"], session, document, tmp_path, monkeypatch)
    assert blocks and latex in capsys.readouterr().out
    assert not printed or all(block in printed for block in blocks)


TASKS = [
    ("verify_model", {"states": 3, "seed": 1, "formulation": "closed_form"}),
    ("count_freedoms", {}),
    ("find_equilibrium", {"stable": True}),
    ("find_poles", {"low": 0.1, "high": 2.0}),
    ("write_report", {"chapters": ["description"], "language": "fr", "title": "a 'title'"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), TASKS)
def test_the_same_in_python_and_as_a_command_run(session, page, name, arguments, tmp_path, monkeypatch):
    """What panels show as Python and as a command is carried out without an error, in a folder with the file."""
    found = done(session, page, name, document="double_pendulum.toml", **arguments)["data"]
    assert _carried_out(found["same"], session, "double_pendulum.toml", tmp_path, monkeypatch) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("export", "options", "document"),
    [
        ("code", {"form": "matlab", "functions": ["jacobian"], "frame": "tip", "precision": "float32"}, MODELS[0]),
        ("program", {"target": "python"}, MODELS[0]),
        ("model", {"format": "urdf"}, MODELS[0]),
        ("picture", {"picture": "plan", "ending": "png"}, "organism9"),
        ("picture", {"picture": "poles", "ending": "png"}, MODELS[0]),
        ("picture", {"picture": "robot", "ending": "png"}, MODELS[0]),
        ("replay", {}, MODELS[0]),
    ],
)
def test_exports_are_the_same_in_python_and_as_a_command(session, export, options, document, tmp_path, monkeypatch):
    _carried_out(exports._same(f"{document}.toml", export, options), session, f"{document}.toml", tmp_path, monkeypatch)


def _carried_out(same, session, document, folder, monkeypatch):
    """What the commands print; Python is carried out before them."""
    (folder / document).write_text((session.folder / document).read_text())
    monkeypatch.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(same["python"], "same", "exec"), {})
    printed = ""
    for line in same["command"].splitlines():
        words = shlex.split(line)
        assert words[0] == "kinemorph"
        result = run(*words[1:])
        assert result.exit_code == 0, (line, result.stderr)
        printed += result.stdout
    return printed


def test_hostile_names_stay_one_argument(session):
    """A document whose name would be several words or a script in a shell is one quoted word of the command."""
    name = "a b; rm -rf $(x) 'q' \"r\".toml"
    told = report._same(name, "html", "en", None, [], {"title": "`x`", "author": "", "date": ""})
    words = shlex.split(told["command"])
    assert words[2] == name and "`x`" in words
    assert os.path.basename(name) in compile(told["python"], "same", "exec").co_consts


@pytest.mark.slow
def test_a_report_contains_a_run_of_the_studio(session, page):
    """000-32: a run that was computed in the studio is a chapter of the report, with its name."""
    run = session.results.start("double_pendulum.toml", "", {"time": 0.2, "step": 0.01, "method": "rk4"})
    until = time.monotonic() + 60.0
    while not run.is_kept and time.monotonic() < until:
        time.sleep(0.05)
    offered = ask(session, page, "report_choices", document="double_pendulum.toml")["runs"]
    assert [run.number, run.label] in offered
    given = {"document": "double_pendulum.toml", "to": "html", "chapters": ["curves"], "runs": [run.number]}
    ended = done(session, page, "write_report", **given)
    content = session.offers.offered[ended["file"]["address"].removeprefix("/download/")].content.decode()
    assert 'id="section-curves"' in content and "<svg" in content
    assert f"runs/{run.number}.npz" in ended["data"]["same"]["command"]


@pytest.mark.slow
def test_clusters_of_a_gait_are_plotted(tmp_path):
    from kinemorph.elements import CoupledMaps, with_gait

    system = with_gait(choose("chain:4"), CoupledMaps("wave", ("q1", "q2", "q3", "q4")))
    (text,) = saved_texts(system, "toml", "wave").values()
    (tmp_path / "wave.toml").write_text(text)
    session, page = Session(tmp_path), NotedPage()
    try:
        acting = {
            one["name"]: one["clusters"] for one in ask(session, page, "acting", document="wave.toml")["elements"]
        }
        assert acting["wave"] and sum(acting.values()) == 1
        with pytest.raises(UnsupportedError, match="expected a gait of coupled maps: wave"):
            ask(session, page, "plot_clusters", document="wave.toml", element="gravity")
        task = ask(session, page, "plot_clusters", document="wave.toml", element="wave")["task"]
        end = page.end_of(task)
        assert (
            end["state"] == "done" and end["file"]["name"] == "wave-wave-clusters.png" and end["file"]["size"] > 10_000
        )
        assert "count=4" in end["data"]["same"]["python"]
    finally:
        session.stop()


def test_the_default_run_is_the_same_in_python_and_as_a_command(session, page, monkeypatch):
    monkeypatch.chdir(session.folder)
    same = ask(session, page, "same_run", document="double_pendulum.toml")
    told: dict[str, object] = {}
    exec(same["python"], told)
    by_script = (session.folder / "double_pendulum.npz").read_bytes()
    run(*shlex.split(same["command"])[1:])
    by_command = load_trajectory(session.folder / "double_pendulum.npz")
    assert told["run"].t[-1] == by_command.t[-1] == 1.0
    assert by_script and told["run"].q.tobytes() == by_command.q.tobytes()
