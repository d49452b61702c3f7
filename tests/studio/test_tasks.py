"""What workers do for panels: equations, analyses, exports and reports, on modules, a closed chain and an arm."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from kinemorph.display.painting.draw_modes import swung
from kinemorph.errors import KinemorphError, ParseError
from kinemorph.formats.loading import saved_texts
from kinemorph.model.library.choosing import choose
from kinemorph.studio.tasks.analysis_tasks import MOST_MODES, count_freedoms, find_equilibrium, find_poles, verify_model
from kinemorph.studio.tasks.equation_tasks import write_equations
from kinemorph.studio.tasks.export_tasks import export_model
from kinemorph.studio.tasks.report_tasks import write_report
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import WORK, Cancelled, Report, work_named

MODELS = {"organism9": "toml", "four_bar": "toml", "puma": "urdf"}  # the paper's modules, a closed chain, an arm
REPORT = {"to": "html", "language": "en", "results": [], "files": {}, "title": "", "author": "", "date": ""}
EQUATIONS = {"formulation": "newton_euler", "symbols": True, "names": "numbers", "room": 60.0}


class Sent:
    """A report as a worker has it, and the parts that were sent."""

    def __init__(self) -> None:
        self.parts = []
        self.report = Report(1, lambda header, payload: self.parts.append((header, payload)))

    @property
    def file(self):
        """The header and the bytes of the only part."""
        ((header, payload),) = self.parts
        return header["part"], payload


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name == "four_bar" else pytest.mark.slow) for name in MODELS],
)
def data(request, tmp_path_factory):
    """The data of a task about each of the models."""
    form = MODELS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.warns() if form == "urdf" else nullcontext():
        texts = saved_texts(choose(request.param), form, request.param)
    for name, text in texts.items():
        (folder / name).write_text(text)
    first = next(iter(texts))
    return {"text": texts[first], "path": str(folder / first), "folder": str(folder)}


def as_json(value):
    """The value after a journey through JSON, as the server gets it."""
    return json.loads(json.dumps(value, allow_nan=False))


def test_equations_of_each_model(data):
    """000-13: mass matrix and gravity forces of nine modules, a four-bar and an arm."""
    sent = Sent()
    found = as_json(
        write_equations({**data, **EQUATIONS, "quantities": ["mass_matrix", "gravity_forces"]}, sent.report)
    )
    assert [group["title"] for group in found["groups"]] == ["Mass matrix M(q)", "Gravity forces G(q)"]
    assert all(group["equations"] for group in found["groups"])


def test_modules_with_other_dyads_and_virtual_joints(data):
    """000-14: dyads, root and virtual joints are chosen for the equations without a change of the file."""
    chosen = {**data, "modules": {"dyads": "adapted", "root": ["x", "ry"]}}
    system, whole = task_model(chosen), task_model(data)
    if whole.assembly is None:
        assert system.robot == whole.robot
        return
    assert system.robot.nv == 10 and whole.robot.nv == 15  # eight hinges and two virtual joints; nine and a free root
    found = write_equations({**chosen, **EQUATIONS, "quantities": ["gravity_forces"]}, Sent().report)
    assert any("virtual_x" in one["says"] for one in found["symbols"].values())


def test_analyses_of_each_model(data):
    """000-19: mobility, equilibrium and poles agree with each other and with what is known of the model."""
    sent = Sent()
    freedom = as_json(count_freedoms({**data, "q": None}, sent.report))
    robot = task_model(data).robot
    assert freedom["dof"] == (1 if robot.loops else robot.nv)
    rest = as_json(find_equilibrium({**data, "q": None, "stable": False}, sent.report))
    assert len(rest["configuration"]) == robot.nq and rest["message"]
    found = as_json(find_poles({**data, "window": None}, sent.report))
    assert len(found["poles"]) >= freedom["dof"]
    assert len(found["shapes"]) == len(found["captions"]) == min(len(found["poles"]), MOST_MODES)
    last, units = found["shapes"][-1], [one["unit"] for one in found["coordinates"]]
    phases = 2.0 * np.pi * np.arange(8) / 8
    period = swung(
        robot, np.array(found["q"]), np.array(last["real"]) + 1j * np.array(last["imaginary"]), units, phases
    )
    joints = [robot.q_slice(joint.name).start for joint in robot.joints if joint.nq == 1]
    both = period[:4, joints] + period[4:, joints]  # a mode swings to both sides of the configuration q
    assert np.abs(both - 2.0 * np.array(found["q"])[joints]).max() < 1e-9 < np.abs(period[:4] - period[4:]).max()
    assert np.abs(np.sum(found["energies"]["shares"], axis=1) - 1.0).max() < 1e-9


def test_verification_reports_every_check():
    """000-20: every check has a verdict, and progress names it before it is made."""
    (text,) = saved_texts(choose("pendulum"), "toml", "pendulum").values()
    told = []

    class Told(Report):
        def __call__(self, doing, *, fraction=None, **more):
            told.append((doing, fraction))

    given = {
        "text": text,
        "path": "/nowhere/double_pendulum.toml",
        "formulation": "newton_euler",
        "states": 3,
        "seed": 1,
    }
    found = as_json(verify_model(given, Told(1, lambda header, payload: None)))
    assert found["passed"] and [row["name"] for row in found["checks"]] == [name for name, _ in told]
    assert [fraction for _, fraction in told] == sorted(fraction for _, fraction in told)


def test_work_that_is_cancelled_ends():
    """A report raises as soon as the job is cancelled, and the functions let it through."""
    (text,) = saved_texts(choose("pendulum"), "toml", "pendulum").values()
    report = Report(1, lambda header, payload: None)
    report.cancelled = True
    for kind, more in [
        ("write_equations", {**EQUATIONS, "quantities": ["mass_matrix"]}),
        ("find_poles", {"window": None}),
    ]:
        with pytest.raises(Cancelled):
            work_named(kind, WORK)({"text": text, "path": "/nowhere/p.toml", **more}, report)


@pytest.mark.parametrize(
    ("export", "options"),
    [
        ("code", {"form": "c", "functions": ["mass_matrix"]}),
        ("model", {"format": "toml"}),
        pytest.param("program", {"target": "python"}, marks=pytest.mark.slow),
        pytest.param("picture", {"picture": "robot", "ending": "svg"}, marks=pytest.mark.slow),
        pytest.param("replay", {}, marks=pytest.mark.slow),
    ],
)
def test_exports_are_sent_as_one_file(data, export, options):
    """Every export of every model is one file with its media type; several files are a zip archive."""
    sent = Sent()
    found = as_json(export_model({**data, "export": export, "options": options}, sent.report))
    header, content = sent.file
    assert content and header["file"] and found["files"]
    if header["media"] == "application/zip":
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            assert {one.filename: one.file_size for one in opened.infolist()} == found["files"]
    else:
        assert found["files"] == {header["file"]: len(content)}


@pytest.mark.slow
def test_reports_are_sent_with_their_media_type(data):
    """000-32: chapters of a report in French as HTML, with progress."""
    sent = Sent()
    chapters = ["description", "equations"]
    found = write_report(
        {**data, **REPORT, "language": "fr", "title": "<b>titre</b>", "chapters": chapters}, sent.report
    )
    header, content = sent.file
    assert header["media"].startswith("text/html") and found["to"] == "html"
    text = content.decode()
    assert '<html lang="fr">' in text and "<b>titre" not in text and "&lt;b&gt;titre" in text


def test_texts_that_are_no_models_give_sentences():
    report = Report(1, lambda header, payload: None)
    for text in ["", "[robot", 'name = "a"\n[bodies.b]\nmass = -1.0\n']:
        with pytest.raises(ParseError, match=r"\.") as raised:
            write_equations(
                {"text": text, "path": "/nowhere/a.toml", **EQUATIONS, "quantities": ["mass_matrix"]}, report
            )
        assert "Traceback" not in str(raised.value)
    (text,) = saved_texts(choose("pendulum"), "toml", "pendulum").values()
    given = {"text": text, "path": "/nowhere/a.toml"}
    with pytest.raises(KinemorphError, match="form is 'fortran'; expected one of"):
        export_model({**given, "export": "code", "options": {"form": "fortran"}}, report)
    with pytest.raises(KinemorphError, match="there is no chapter 'nothing'"):
        write_report({**given, **REPORT, "chapters": ["nothing"]}, report)
    assert not list(Path("/nowhere").glob("*"))
