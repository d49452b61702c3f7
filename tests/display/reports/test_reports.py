"""Whole reports: their sources, their languages, their sizes, and the verb that writes them.

`pytest --update-golden` writes the golden sources again. Requirements 001-12, 001-13, 003-12 of SEEDS.md.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
import warnings
import zipfile
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kinemorph
from kinemorph.cli import app
from kinemorph.display.faces.document import Document, Figure, Paragraph
from kinemorph.display.faces.languages.french import FRENCH
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters import KEYS, chosen_chapters
from kinemorph.display.reports.errata_used import ERRATA, PAPERS
from kinemorph.display.reports.report import make_document, report
from kinemorph.display.reports.subject import subject_of
from kinemorph.display.reports.writers import typst
from kinemorph.errors import KinemorphError, LanguageWarning, ModelError, UnsupportedError
from support.cases.report_cases import CASES, subject
from support.tools.document_texts import names_in, texts_of, words_in

GOLDEN = Path(__file__).parent / "golden"
UNSIGNED = tuple(key for key in KEYS if key != "verification")  # the signature has rounding errors and versions
CITED = words_in(" ".join([*PAPERS.values(), *(erratum.place for erratum in ERRATA)]))
FILES = words_in("model.toml verdict.json")
UNITS = words_in("kg mm km cm rad deg Hz Nm ms min SI Pa")
SYMBOLS = words_in("tau qd qdd Ad ID FD rho Vd dt dT dC Ixx Iyy Izz Ixy Ixz Iyz DS DP ij ix xj")
SMALL = re.compile(r"[−+]?\d(?:[.,]\d+)?·10⁻(?:[6-9]|¹\S|²\S|³\S)")  # numbers that are rounding errors
LONG = re.compile(r'"((?:[^"\\]|\\.){400,})"', re.DOTALL)
QUICK = [("double_pendulum", "en"), ("double_pendulum", "fr")]
OTHERS = [(name, code) for name in CASES for code in ("en", "fr") if (name, code) not in QUICK]
EVERY = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS)]


@cache
def document(name: str, code: str, chapters: tuple[str, ...] = UNSIGNED) -> Document:
    """The document of a case, without its signature unless it is asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanguageWarning)
        return make_document(subject(name), Words(code), chapters)


def normal(source: str) -> str:
    """A source without rounding errors, and with digests for long texts such as listings."""
    source = LONG.sub(lambda found: f'"sha256 {hashlib.sha256(found[1].encode()).hexdigest()[:16]}"', source)
    return SMALL.sub("0", source)


@pytest.mark.parametrize(("name", "code"), EVERY)
def test_sources_are_the_golden_ones(name: str, code: str, request: pytest.FixtureRequest) -> None:
    written = normal(typst.source(document(name, code), Words(code))["main.typ"].decode())
    path = GOLDEN / f"{name}_{code}.typ"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8"), "run this test with --update-golden and read what has changed"


@pytest.mark.parametrize(
    "name", ["double_pendulum", *(pytest.param(name, marks=pytest.mark.slow) for name in list(CASES)[1:])]
)
def test_a_french_report_has_no_english_word_of_ours(name: str) -> None:
    known = {word for text in FRENCH.values() for word in words_in(text)} | names_in(subject(name))
    known |= UNITS | SYMBOLS | FILES | CITED
    strange = {
        (key, word): text
        for key, text in texts_of(document(name, "fr"))
        for word in words_in(text)
        if word not in known
    }
    assert not strange, sorted(strange.items())


def test_a_translation_that_is_the_english_text_is_one_in_french_too() -> None:
    """Words that both languages have, names and symbols; a key that was copied would show here."""
    same = {key for key, text in FRENCH.items() if text == key.partition(" @")[0]}
    both = words_in(
        "contact conventions convention description effort errata figure force formulation kinemorph llvm matrices "
        "module modules parent phase phases poses position quaternions robot signal source stable tendon tension total "
        "type verdict versions"
    )
    for key in same:
        assert words_in(re.sub(r"\{\w+\}", "", key)) <= both | SYMBOLS, key


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("name", CASES)
def test_a_whole_report_has_few_pages_and_the_same_bytes(
    name: str, code: str, tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    pytest.importorskip("typst")
    words, about = Words(code), subject(name)
    _ = about.signed, about.equilibrium  # analyses are not writing
    start = time.process_time()  # of this process alone, whatever else the computer does
    made = make_document(about, words)
    first = dict(typst.files(made, tmp_path / "a.pdf", words))
    seconds = time.process_time() - start
    again = dict(typst.files(make_document(about, words), tmp_path / "a.pdf", words))
    assert first == again
    data = first[tmp_path / "a.pdf"]
    count = len(typst.pages(made, words, 10.0))
    record_property("seconds", round(seconds, 2))
    print(f"{name} {code}: {count} pages, {len(data) / 1e3:.0f} kB, {seconds:.1f} s")
    assert count <= 40 and seconds < 5.0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("name", CASES)
def test_the_latex_source_of_a_whole_report_compiles(name: str, code: str, tmp_path: Path) -> None:
    about = subject(name)
    path = report(about.model, *about.runs.values(), path=tmp_path / "r.zip", language=code)  # type: ignore[arg-type]
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


# ── the function and the verb ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_function_chooses_the_format_by_the_ending_and_refuses_others(tmp_path: Path) -> None:
    robot = kinemorph.library.double_pendulum()
    chapters = ("conventions",)
    page = report(robot, path=tmp_path / "a.html", chapters=chapters, title="Title", author="Me", date="2026")
    text = page.read_text("utf-8")
    assert "<h1>Title</h1>" in text and "<p>Me</p>" in text and "<p>2026</p>" in text
    source = report(robot, path=tmp_path / "b.tex", chapters=chapters, to="latex")
    assert source.read_text("utf-8").startswith("\\documentclass") and (tmp_path / "figures").is_dir()
    folder = report(robot, path=tmp_path / "c", chapters=chapters, to="latex", language="fr")
    assert (folder / "report.tex").is_file()
    with pytest.raises(UnsupportedError, match=r"ends in '\.odt'; expected one of"):
        report(robot, path=tmp_path / "a.odt")
    with pytest.raises(UnsupportedError, match="but the format is 'html'"):
        report(robot, path=tmp_path / "a.pdf", to="html")
    with pytest.raises(UnsupportedError, match=r"no chapter 'conventoins'.*Did you mean 'conventions'"):
        report(robot, path=tmp_path / "a.html", chapters=("conventoins",))
    with pytest.raises(UnsupportedError, match="one model, but 2 are given"):
        report(robot, robot)
    with pytest.raises(
        ModelError, match="model is 3, an int; expected a Robot, a System, a Dynamics, an Assembly or a Tr"
    ):
        report(3)


def test_chapters_come_in_the_order_that_is_asked_for() -> None:
    assert list(chosen_chapters(("errata", "conventions"))) == ["errata", "conventions"]
    assert list(chosen_chapters()) == list(KEYS)


def test_a_missing_extra_names_its_command_and_other_formats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(KinemorphError, match=r"pip install 'kinemorph\[report\]'.*--to html, --to latex"):
        report(kinemorph.library.double_pendulum(), path=tmp_path / "a.pdf")


def test_a_run_that_failed_is_reported_with_what_it_computed(tmp_path: Path) -> None:
    robot = kinemorph.library.double_pendulum()
    run = kinemorph.simulate(robot, 1.0, inputs=lambda t, q, v: [1.0 / (0.05 - t) if t > 0.04 else 0.0, 0.0])
    assert not run.outcome.ok
    for language in ("en", "fr"):  # R1: where, when and why, before the curves, with no English in French
        made = make_document(subject_of(robot, run), Words(language), ("curves",))
        first = made.sections[0].blocks[0]
        assert isinstance(first, Paragraph) and first.tone == "warning"
        told = " ".join(text for _, text in texts_of(made))
        assert "Figure" not in told and not any(figure_texts(block, "diverges") for block in made.sections[0].blocks)
        if language == "en":
            assert run.outcome.message in first.pieces[0] and "failed at 0.0" in first.pieces[0]
        else:
            said, source, quoted = first.pieces  # the message is about a function of the user: it is quoted
            assert "a échoué à 0,0" in said and source == FRENCH["The program says: "].replace(" :", "\u00a0:")
            assert quoted.text == run.outcome.message


def figure_texts(block: object, text: str) -> bool:
    """Whether a figure has this text in its picture."""
    picture = block.picture if isinstance(block, Figure) else None
    return any(text in one.get_text() for one in getattr(picture, "texts", ()))


def test_the_verb_writes_reports_of_models_and_saved_runs(tmp_path: Path) -> None:
    run = kinemorph.simulate(kinemorph.library.double_pendulum(), 0.1, q=[0.5, 0.0])
    saved = run.save(tmp_path / "swing.npz")
    page = tmp_path / "page.html"
    told = CliRunner().invoke(
        app, ["report", str(saved), "--output", str(page), "--language", "fr", "--chapters", "description,curves"]
    )
    assert told.exit_code == 0, told.output
    assert page.is_file() and 'lang="fr"' in page.read_text("utf-8")
    listed = CliRunner().invoke(app, ["report", "--list-chapters"])
    assert listed.exit_code == 0 and all(key in listed.output for key in KEYS)
    wrong = CliRunner().invoke(app, ["report", "scara", str(saved), "--output", str(page)])
    assert wrong.exit_code == 2


def test_a_file_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    path = tmp_path / "file" / "a.html"
    told = CliRunner().invoke(app, ["report", "double_pendulum", "--output", str(path)])
    assert told.exit_code == 2 and f"'{tmp_path / 'file'}' is not a folder" in told.output


def test_the_formulation_of_a_report_is_named_and_its_equations_are_printed(tmp_path: Path) -> None:
    """--formulation acts on the chapter of equations: its sentence, its formulas, and the command for long ones."""
    pages = {}
    for name in ("newton_euler", "lagrange"):
        path = tmp_path / f"{name}.html"
        told = ["report", "chain:6", "--chapters", "equations", "--formulation", name, "--output", str(path)]
        assert CliRunner().invoke(app, told).exit_code == 0
        pages[name] = path.read_text()
    assert "by the recursion of Newton and Euler" in pages["newton_euler"]
    assert "Lagrange" not in pages["newton_euler"] and "--formulation" not in pages["newton_euler"]
    assert "are derived by Lagrange&#x27;s equations." in pages["lagrange"]
    assert "--formulation lagrange --emit latex --function mass_matrix" in pages["lagrange"]
    counts = [re.findall(r"<td[^>]*>(\d+)</td>", page) for page in pages.values()]
    assert counts[0] != counts[1]  # operations of the equations that each formulation has made
    wrong = CliRunner().invoke(app, ["report", "pendulum", "--formulation", "lagranje"])
    assert wrong.exit_code == 2 and "'lagranje'" in wrong.stderr and "lagrange" in wrong.stderr
