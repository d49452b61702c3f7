"""The signature of a report: what is attached can be computed again, and what was changed is named."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph.analysis import signature as signatures
from kinemorph.analysis.signature import Row, Signature, changes
from kinemorph.analysis.verification import exported_code
from kinemorph.analysis.verification.sampling import drawn
from kinemorph.analysis.verification.verdict import Check
from kinemorph.deriving.dynamics import derive
from kinemorph.display.faces.document import Attachment, Document
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters import verification
from kinemorph.display.reports.signing.pdf_attachments import PdfProblem, pdf_attachments
from kinemorph.display.reports.signing.report_files import read_report
from kinemorph.display.reports.signing.sealed import digest, seal_of, sealed
from kinemorph.display.reports.signing.verdicts import MODEL_FILE, VERDICT_FILE, model_text, read_verdict
from kinemorph.display.reports.signing.verify_report import verify_report
from kinemorph.display.reports.subject import Subject, subject_of
from kinemorph.display.reports.writers import html
from kinemorph.elements import AppliedEffort, TorsionSpring
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.formats.loading import load_text
from kinemorph.model import library
from kinemorph.model.system import System
from kinemorph.simulation.simulate import simulate
from support.cases.report_cases import CASES, subject
from support.tools.command_line import run

HOSTILE = '#read("x") \\input{x} <script>alert(1)</script> */ ]]> \N{GRINNING FACE} {a} $x$'
LINK = r'(<a download="{}" href="data:[^"]*;base64,)([^"]*)"'


def signed_page(about: Subject, path: Path) -> Path:
    """The last chapter of a report as a page."""
    words = Words("en")
    section = verification.chapter(about, words)
    assert section is not None
    ((place, data),) = html.files(Document("title", "en", (section,), section.attachments), path, words)
    place.write_bytes(data)
    return place


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a pendulum with a spring and a run of it, as a page with the last chapter alone."""
    robot = library.pendulum()
    joint = robot.joints[0].name
    system = System(replace(robot, name=HOSTILE), (TorsionSpring("spring", joint, 3.0),))
    motion = simulate(system, 0.2, q=[0.4], step=0.01, method="rk4")
    return signed_page(subject_of(system, motion), tmp_path_factory.mktemp("reports") / "pendulum.html")


def rewritten(page: Path, target: Path, name: str, change: Callable[[bytes], bytes], *, seal: bool = False) -> Path:
    """A copy of a page with one attached file changed; with `seal` it gets a new seal as well."""
    text = page.read_text("utf-8")
    found = re.search(LINK.format(re.escape(name)), text)
    assert found
    inside = base64.b64encode(change(base64.b64decode(found[2]))).decode()
    text = text.replace(found[2], inside)
    if seal:
        text = sealed(text[: text.rindex("\n<!-- kinemorph report")].encode(), "html").decode()
    target.write_text(text, "utf-8")
    return target


def heavier(model: bytes) -> bytes:
    """A model file with its first mass changed by 1e-6."""
    found = re.search(rb"mass\s*= ([\d.]+)|value = ([\d.]+), unit = \"kg\"", model)
    assert found
    digits = found[1] or found[2]
    place = found.start(1) if found[1] else found.start(2)
    return model[:place] + repr(float(digits) + 1e-6).encode() + model[place + len(digits) :]


def test_an_untouched_report_passes(page: Path) -> None:
    result = run("verify", "--report", str(page), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0 and found["passed"] and not found["changes"] and not found["failed"]
    assert found["rows"] > 30


def test_a_mass_changed_by_one_millionth_is_named_row_by_row(page: Path, tmp_path: Path) -> None:
    changed = rewritten(page, tmp_path / "changed.html", MODEL_FILE, heavier)
    result = run("verify", "--report", str(changed), "--json")
    assert result.exit_code == 1
    rows = {row["row"] for row in json.loads(result.stdout)["changes"]}
    of_masses = {f"values: {name}" for name in ("mass_matrix", "inverse_dynamics", "bias_forces", "energy")}
    assert rows >= {"document", MODEL_FILE, "values: rates of the system", *of_masses}


def test_a_forged_seal_and_forged_digests_do_not_hide_the_mass(page: Path, tmp_path: Path) -> None:
    first = rewritten(page, tmp_path / "first.html", MODEL_FILE, heavier)

    def forged(verdict: bytes) -> bytes:
        data = json.loads(verdict)
        data["digests"]["model"] = digest(read_report(first).files[MODEL_FILE])
        del data["digest"]
        data["digest"] = digest((json.dumps(data, indent=1, sort_keys=True) + "\n").encode())
        return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode()

    last = rewritten(first, tmp_path / "last.html", VERDICT_FILE, forged, seal=True)
    rows = [row for row, _ in verify_report(last).changes]
    assert rows and all(row.startswith("values: ") for row in rows)


def test_an_edited_figure_and_an_edited_verdict_are_told(page: Path, tmp_path: Path) -> None:
    edited = page.read_bytes().replace(b"passed", b"Passed", 1)
    assert seal_of(page.read_bytes()) == "intact" and seal_of(edited) == "broken"

    def worse(verdict: bytes) -> bytes:
        data = json.loads(verdict)
        data["rows"][0]["worst"] = 1e-17
        return json.dumps(data).encode()

    found = verify_report(rewritten(page, tmp_path / "edited.html", VERDICT_FILE, worse))
    assert [row for row, _ in found.changes] == ["document", VERDICT_FILE]
    told = str(found).splitlines()
    assert told[:2] == [f"Report {found.file}", f"2 rows do not hold, of {found.rows} rows."]
    assert f"{VERDICT_FILE}  it was changed after it was written: its digest does not fit." in told
    assert str(verify_report(page)).splitlines()[1] == f"All rows hold, of {found.rows} rows."


def test_what_is_no_report_is_one_sentence(page: Path, tmp_path: Path) -> None:
    def newer(verdict: bytes) -> bytes:
        return json.dumps(json.loads(verdict) | {"version": 99}).encode()

    def writing(verdict: bytes) -> bytes:  # options that `simulate` has, but that no report may use
        data = json.loads(verdict)
        data["runs"][0]["options"] = {"until": 1.0, "save": str(tmp_path / "stolen.npz")}
        return json.dumps(data).encode()

    cases = {
        "cannot read": tmp_path / "missing.pdf",
        "it ends in '.txt'": tmp_path / "report.txt",
        "its beginning or its end is missing": tmp_path / "empty.pdf",
        "no verdict is attached": tmp_path / "bare.html",
        "is not an HTML page": tmp_path / "text.html",
        "the archive is damaged": tmp_path / "archive.zip",
        "install a newer kinemorph": rewritten(page, tmp_path / "newer.html", VERDICT_FILE, newer),
        "some of its entries are missing": rewritten(page, tmp_path / "writing.html", VERDICT_FILE, writing),
        "cannot be read": rewritten(page, tmp_path / "model.html", MODEL_FILE, lambda _: b"[bodies"),
    }
    texts = {"empty.pdf": "%PDF-1.7", "bare.html": "<html></html>", "text.html": "a", "archive.zip": "PK"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for message, path in cases.items():
        with pytest.raises(KinemorphError, match=re.escape(message)):
            verify_report(path)
    assert not (tmp_path / "stolen.npz").exists()
    both = run("verify", "pendulum", "--report", str(page))
    assert both.exit_code == 2 and "Leave one of the two out" in both.stderr


def test_a_pdf_gives_its_attached_files_and_damage_is_a_sentence(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="writing a PDF needs the extra `report`")
    from kinemorph.display.reports.writers import typst

    files = read_report(page).files
    attached = [Attachment(name, data, "application/json", "café (1)") for name, data in files.items()]
    target = tmp_path / "report.pdf"
    ((path, data),) = typst.files(Document("title", "en", (), attached), target, Words("en"))
    assert path == target and seal_of(data) == "intact" and pdf_attachments(data) == files
    target.write_bytes(data)
    assert read_report(target).files == files
    places = random.Random(1)
    for _ in range(200):
        broken = bytearray(data)
        for _ in range(3):
            broken[places.randrange(len(broken))] = places.randrange(256)
        try:
            pdf_attachments(bytes(broken[: places.randrange(len(broken))] if places.random() < 0.3 else broken))
        except PdfProblem:
            continue


def test_what_a_file_cannot_hold_is_told() -> None:
    robot = library.pendulum()
    whole, told = model_text(System(replace(robot, name=HOSTILE)))
    assert load_text(whole, "toml").name == HOSTILE and not told
    pushed = System(robot, (AppliedEffort("push", robot.joints[0].name, effort=lambda t: t),))
    text, (sentence,) = model_text(pushed)
    assert text and "Python function" in sentence
    nothing, (sentence,) = model_text(System(replace(robot, name="x" * 10_000)))
    assert not nothing and "10000 characters" in sentence


def test_values_differ_by_rounding_on_another_computer_and_not_by_more() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=24)

    def with_values(values: np.ndarray) -> Signature:  # type: ignore[type-arg]
        check = Check("mass_matrix", "", "passed", None, 1e-9)
        return Signature((Row("values", check, (8,), tuple(values)),), 8, 0)

    before = with_values(numbers)
    assert not changes(before, with_values(numbers * (1.0 + 1e-13 * rng.normal(size=24))))
    assert changes(before, with_values(numbers * (1.0 + 1e-7)))
    assert changes(before, with_values(numbers[:16])) and changes(before, with_values(np.nan * numbers))


def test_wrong_exported_code_fails_and_a_missing_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = drawn(derive(library.pendulum(), backend="interpreter"), 2, 0)

    def wrong(export: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
        return lambda *given: {name: text.replace("sin(", "cos(") for name, text in export(*given).items()}

    monkeypatch.setattr(exported_code, "export_python", wrong(exported_code.export_python))
    assert exported_code.exported_python_error(sample).worst > 1e-3
    if exported_code.has_compiler():
        monkeypatch.setattr(exported_code, "export_c", wrong(exported_code.export_c))
        assert exported_code.exported_c_error(sample)().worst > 1e-3
    monkeypatch.setattr(exported_code, "has_compiler", lambda: False)
    with pytest.raises(UnsupportedError, match="not checked: this computer has no C compiler"):
        exported_code.exported_c_error(sample)


def test_the_rows_of_a_verdict_are_read_as_they_were_written(page: Path) -> None:
    verdict = read_verdict(read_report(page).files[VERDICT_FILE])
    assert verdict.intact and {row.part for row in verdict.signature.rows} == set(signatures.PARTS)
    assert all(Row.from_dict(row.as_dict()) == row for row in verdict.signature.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_report_passes_untouched_and_names_a_changed_mass(name: str, tmp_path: Path) -> None:
    whole = signed_page(subject(name), tmp_path / "whole.html")
    found = verify_report(whole)
    assert found, found.changes
    if name == "organism9":  # its file has modules, whose masses are those of their types
        return
    changed = verify_report(rewritten(whole, tmp_path / "changed.html", MODEL_FILE, heavier)).changes
    assert any(row.startswith("values: ") for row, _ in changed), changed
