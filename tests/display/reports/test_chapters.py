"""The chapters of a report that are not formulas: what they show, when they show nothing, and their language."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.analysis.signature import VALUES
from kinemorph.analysis.verification.laws import LAWS
from kinemorph.display.canvas import in_language, said
from kinemorph.display.charts.draw_modules import WORDS
from kinemorph.display.charts.figures import KIND_LETTERS
from kinemorph.display.charts.plot import plot
from kinemorph.display.charts.runs import ENDINGS
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Facts, Figure, Listing, Paragraph, Section, Table
from kinemorph.display.faces.languages.french import FRENCH
from kinemorph.display.faces.languages.sentences import key_of, sentence
from kinemorph.display.faces.languages.words import LanguageWarning, Words
from kinemorph.display.reports.chapters import (
    conventions,
    curves,
    description,
    elements,
    energy_audit,
    equilibrium,
    errata,
    inertias,
    listings,
    modules,
    poles,
)
from kinemorph.display.reports.errata_used import ERRATA, errata_used
from kinemorph.display.reports.subject import Subject, subject_of
from kinemorph.elements import PD, Contact, EasyDynNormal, TorsionSpring
from kinemorph.formats.loading import load_text
from kinemorph.model import library
from kinemorph.model.conventions.statement import conventions as all_conventions
from kinemorph.model.elements import ELEMENT_KINDS
from kinemorph.model.system import System
from kinemorph.simulation.simulate import simulate

DOCS = Path(__file__).parents[3] / "docs"
SOURCES = Path(kinemorph.__file__).parent
WITHOUT_PICTURES = (conventions, inertias, elements, listings, errata)


@pytest.fixture(scope="module")
def subject() -> Subject:
    """A four-bar linkage with a spring and a run of it: loops, elements, an energy balance."""
    robot = library.four_bar()
    system = System(robot, (TorsionSpring("return spring", robot.joints[0].name, 5.0),))
    return subject_of(system, simulate(system, 0.1, q={robot.joints[0].name: 1.0}))


def shown(section: Section | None) -> Iterator[str]:
    """All texts of a section: its title, paragraphs, tables and captions, but no code."""
    assert section is not None
    yield section.title
    for block in section.blocks:
        if isinstance(block, Paragraph):
            yield from (piece for piece in block.pieces if isinstance(piece, str))
        elif isinstance(block, Table):
            yield from (block.grid.title, block.grid.note, *block.grid.columns)
            yield from (cell for row in block.grid.rows for cell in row)
        elif isinstance(block, (Figure, Listing)):
            yield block.caption


def test_bodies_and_joints_are_those_of_the_robot(subject: Subject) -> None:
    section = inertias.chapter(subject, Words("fr"))
    assert section is not None
    joints, bodies = (block.grid for block in section.blocks if isinstance(block, Table))
    robot = subject.robot
    assert [row[0] for row in bodies.rows] == [*robot.body_names]
    total = sum(float(row[1].replace(",", ".")) for row in bodies.rows)
    assert total == pytest.approx(robot.total_mass, rel=1e-5)
    assert [row[0] for row in joints.rows] == [one.name for one in (*robot.joints, *robot.loops)]
    assert {row[1] for row in joints.rows} == {"pivot"}


def test_the_listed_model_is_the_model_and_the_listed_program_repeats_the_run(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = listings.chapter(subject, Words("en"))
    assert section is not None
    code = {block.language: block.code for block in section.blocks if isinstance(block, Listing)}
    again = load_text(code["toml"], "toml")
    assert again.robot == subject.robot and again.elements == subject.model.elements
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.toml").write_text(code["toml"], "utf-8")
    names: dict[str, Any] = {}
    exec(re.sub(r"print\(kinemorph.verify.*\n|run.plot.*\n", "", code["python"]), names)  # these two take long
    (run,) = subject.runs.values()
    assert np.abs(names["run"].q - run.q).max() < 1e-7 and (tmp_path / "run.npz").exists()


def test_errata_are_those_of_the_page_and_of_the_parts_in_use(subject: Subject) -> None:
    page = (DOCS / "errata.md").read_text("utf-8")
    assert all(re.search(rf"\| {one.id}[ †]", page) for one in ERRATA)
    used = {one.id for one in errata_used(subject.model)}
    assert {"E000-1", "E003-4"} <= used and not used & {"E000-14", "E001-7", "E001-9"}
    assert "E000-16" in {one.id for one in errata_used(library.organism9())}


def test_elements_that_are_alike_share_a_row() -> None:
    robot = library.hexapod24()
    feet = [Contact(f"foot {k}", f"foot{k}", EasyDynNormal(5e4, 5e5)) for k in range(1, 7)]
    hips = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
    section = elements.chapter(subject_of(System(robot, (*feet, PD("hold", hips, kp=60.0, kd=1.5)))), Words("en"))
    assert section is not None
    acting, data, *_ = (block.grid for block in section.blocks if isinstance(block, Table))
    assert [row[1] for row in acting.rows] == ["contact", "pd"]
    assert ["hold", "kp", "60"] in [list(row[:3]) for row in data.rows]


def test_chapters_that_do_not_apply_are_left_out_and_failures_are_sentences() -> None:
    falling = subject_of(library.rigid_ball().robot)
    words = Words("fr")
    for one in (modules, curves, energy_audit, elements):
        assert one.chapter(falling, words) is None
    told = " ".join(shown(equilibrium.chapter(falling, words)))
    assert "Aucun équilibre" in told and "Traceback" not in told


def test_the_seam_of_pictures_translates_them(subject: Subject) -> None:
    (run,) = subject.runs.values()
    with in_language(Words("fr")):
        figure = plot(run, "energy", title="")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[:3] == ["cinétique", "potentielle", "fournie"]
    assert figure.axes[0].get_ylabel() == "énergie [J]"
    assert plot(run, "energy").axes[0].get_ylabel() == "energy [J]"


def test_sentences_with_numbers_and_names() -> None:
    key, values = key_of("left out: 15 degrees of freedom, more than 12")
    assert key == "left out: {a} degrees of freedom, more than {b}" and values == {"a": "15", "b": "12"}
    assert sentence(Words("en"), "momentum of 'q1'") == "momentum of 'q1'"
    assert sentence(Words("fr"), "momentum of 'q1'").endswith("q1\N{NO-BREAK SPACE}»")


def literals(tree: ast.AST, functions: tuple[str, ...]) -> Iterator[str]:
    """The texts that are passed to functions of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = node.args[1:] if name == "counted" else node.args[:1]
            for one in given if name in functions else ():
                context = next((str(ast.literal_eval(k.value)) for k in node.keywords if k.arg == "context"), "")
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield f"{one.value} @{context}" if context else one.value


def test_every_text_of_pictures_laws_and_kinds_is_in_the_french_table() -> None:
    keys = [*all_conventions(), *all_conventions().values(), *ENDINGS.values(), *WORDS.values(), *KIND_LETTERS]
    keys += [*VALUES.values(), *ELEMENT_KINDS, *(text for law in LAWS for text in map(key_of_text, law[:2]))]
    for folder in ("display/charts", "display/painting", "display/reports/chapters"):
        for file in sorted((SOURCES / folder).glob("*.py")):
            names = ("words", "counted") if "reports" in folder else ("said",)
            keys += literals(ast.parse(file.read_text("utf-8")), names)
    assert [key for key in keys if key not in FRENCH] == []


def key_of_text(text: str) -> str:
    return key_of(text)[0]


def test_tables_in_french_have_no_english_text(subject: Subject) -> None:
    english, french = Words("en"), Words("fr")
    own = {name for one in (*subject.robot.joints, *subject.robot.loops) for name in (one.name, one.parent, one.child)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanguageWarning)
        for one in WITHOUT_PICTURES:
            plain, told = (list(shown(one.chapter(subject, words))) for words in (english, french))
            same = {text for text in {*plain} & {*told} if re.search(r"[a-z]{4}", text)} - own
            known = {key for key, text in FRENCH.items() if key == text}
            assert {text for text in same if text in FRENCH} <= known, (one.__name__, same)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "organism9", "segway", "rabbit", "whipple_bicycle", "hexapod24"])
def test_all_chapters_of_many_models_in_french(name: str) -> None:
    model: Any = getattr(library, name)()
    system = model if isinstance(model, System) else System(model)
    motion = simulate(system, 0.05, q=np.array(system.settings.q) if system.settings.q else None)
    about = subject_of(system, motion)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LanguageWarning)
        for one in (*WITHOUT_PICTURES, modules, equilibrium, poles, curves, energy_audit):
            section = one.chapter(about, Words("fr"))
            assert section is None or list(shown(section))


def test_the_equilibrium_names_sampled_controllers_and_joints_beyond_their_limits() -> None:
    """A pendulum that a sampled controller lifts hangs down at its equilibrium, where its limits do not let it be."""
    text = """
    kinemorph = 1
    name = "lifted"
    parameters = { J = { value = 0.1, unit = "kg m^2" }, kp = 3.0 }
    bodies.rod = { mass = 1, com = [0.3, 0, 0], inertia = ["J", "J", "J"] }
    joints.hinge = { kind = "revolute", parent = "world", child = "rod", axis = "y", lower = -1, upper = 1 }
    elements.lift = { kind = "pd", joints = "hinge", kp = "kp", kd = 1, every = "1 ms" }
    """
    given = subject_of(load_text(text, "toml"))
    told = " ".join(shown(equilibrium.chapter(given, Words("en"))))
    assert "held between samples: lift." in told and "Beyond theirs are: hinge." in told
    assert "held between samples: lift." in " ".join(shown(poles.chapter(given, Words("en"))))
    told = " ".join(shown(description.chapter(given, Words("fr"))))
    assert "1 degré de liberté." in told and "kg m²" in told and "kp" in told
    acting = next(block.grid for block in elements.chapter(given, Words("en")).blocks if isinstance(block, Table))
    assert [row[2] for row in acting.rows] == ["hinge"]


def test_numbers_in_pictures_have_the_sign_of_decimals_and_long_chains_grow_downward() -> None:
    with in_language(Words("fr")):
        assert said("grid {step} m", step=0.25) == "quadrillage 0,25 m"
    assert said("grid {step} m", step=0.25) == "grid 0.25 m"
    for chain, tall in ((library.chain(3), False), (library.chain(10), True)):
        tree = description.chapter(subject_of(chain), Words("en")).blocks[3]
        places = {text.get_text(): text.get_position() for text in tree.picture.axes[0].texts}
        (x0, y0), (x1, y1) = places["world"], places[chain.body_names[-1]]
        assert (abs(y1 - y0) > abs(x1 - x0)) is tall


def test_degrees_of_freedom_count_with_closed_loops() -> None:
    """A planar four-bar has 3 - 2 = 1 degree of freedom; a chain has as many as it has joints."""
    for robot, count in ((library.four_bar(), "1"), (library.double_pendulum(), "2")):
        (facts,) = written(description.model_facts(subject_of(robot)), Words("en"))
        assert isinstance(facts, Facts)
        free = "degrees of freedom with loops closed" if robot.loops else "degrees of freedom"
        assert dict(facts.rows)[free] == count
